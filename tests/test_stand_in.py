"""`install_as_tensorflow`, each check in a process of its own: it changes how Python imports."""

import subprocess
import sys
from pathlib import Path

import pytest

INSTALL = "import gradtape; gradtape.install_as_tensorflow()\n"


def python(code: str, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run `code`, with `folder` on the search path."""
    if folder is not None:
        code = f"import sys; sys.path.insert(0, {str(folder)!r})\n{code}"
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        capture_output=True,
        encoding="utf-8",
        timeout=60,
    )


def check(code: str, folder: Path | None = None) -> None:
    """Run statements whose last lines are assertions."""
    result = python(code, folder)
    assert (result.returncode, result.stderr) == (0, "")


@pytest.fixture
def extended(tmp_path):
    """A folder for gradtape's `__path__`: a package that counts its loads, and a foreign one."""
    (tmp_path / "extra").mkdir()
    (tmp_path / "extra/__init__.py").write_text("import builtins; builtins.loads += 1")
    (tmp_path / "extra/deep.py").write_text("import builtins; builtins.loads += 1; from . import x")
    (tmp_path / "extra/x.py").write_text("value = 5")
    (tmp_path / "foreign").mkdir()
    (tmp_path / "foreign/__init__.py").write_text("")
    (tmp_path / "foreign/layers.py").write_text("import builtins; builtins.loads += 1")
    (tmp_path / "lent.py").write_text("import sys, foreign; sys.modules[__name__] = foreign")
    (tmp_path / "broken.py").write_text("import a_library_nobody_has")
    return tmp_path


def extend(folder: Path) -> str:
    return (
        f"import builtins; builtins.loads = 0\n{INSTALL}gradtape.__path__.append({str(folder)!r})\n"
    )


@pytest.mark.parametrize(
    "statement",
    [
        "import tensorflow; assert tensorflow is gradtape",
        "import tensorflow as tf; assert tf is gradtape",
        "from tensorflow import constant; assert constant is gradtape.constant",
        "from tensorflow import math; assert math is gradtape.math",
        "import tensorflow.math; assert tensorflow.math is gradtape.math",
        "import tensorflow.nn as nn; assert nn is gradtape.nn",
        "from tensorflow.nn import relu; assert relu is gradtape.nn.relu",
        "from tensorflow.math import *; assert tanh is gradtape.math.tanh",
        "import importlib; assert importlib.import_module('tensorflow.nn') is gradtape.nn",
        "import importlib.util; assert importlib.util.find_spec('tensorflow') is not None",
    ],
)
def test_every_form_of_import_gives_gradtape(statement):
    check(INSTALL + statement)


def test_modules_keep_their_own_name_and_spec(extended):
    check(
        extend(extended)
        + "import sys, gradtape.extra, tensorflow.extra as e, tensorflow.math as m\n"
        + "assert (e.__name__, e.__spec__.name) == ('gradtape.extra', 'gradtape.extra')\n"
        + "assert (m.__name__, gradtape.__spec__.name) == ('gradtape.math', 'gradtape')\n"
        + "assert sys.modules['tensorflow.math'] is sys.modules['gradtape.math']"
    )


@pytest.mark.parametrize(
    "order", [("tensorflow", "gradtape"), ("gradtape", "tensorflow")], ids=["alias first", "last"]
)
def test_a_nested_module_is_loaded_once(extended, order):
    check(
        extend(extended)
        + "".join(f"import {name}.extra.deep\n" for name in order)
        + "assert tensorflow.extra.deep is gradtape.extra.deep\n"
        + "assert tensorflow.extra.deep.x.value == 5\n"
        + "assert builtins.loads == 2, builtins.loads"
    )


def test_a_package_lent_by_another_library_is_not_loaded_twice(extended):
    check(
        extend(extended)
        + "import tensorflow.lent.layers as layers\n"
        + "import foreign.layers\n"
        + "assert layers is foreign.layers\n"
        + "assert builtins.loads == 1, builtins.loads",
        extended,
    )


def test_a_module_made_at_run_time_is_found():
    check(
        INSTALL
        + "import sys, types\n"
        + "made = sys.modules['gradtape.made'] = types.ModuleType('gradtape.made')\n"
        + "import tensorflow.made\n"
        + "assert sys.modules['tensorflow.made'] is made"
    )


def test_calling_twice_is_harmless():
    check(
        INSTALL
        + "import sys\nfinders = list(sys.meta_path)\n"
        + "gradtape.install_as_tensorflow()\nassert sys.meta_path == finders\n"
        + "import tensorflow\ngradtape.install_as_tensorflow()\n"
        + "assert sys.meta_path == finders and tensorflow is gradtape"
    )


def test_without_the_call_tensorflow_is_left_alone():
    result = python("import gradtape, sys; print('tensorflow' in sys.modules, sys.meta_path)")
    assert result.stdout.startswith("False")
    assert "_AliasFinder" not in result.stdout


def test_other_missing_modules_are_reported_by_python_itself():
    result = python(INSTALL + "import tensorflow_text")
    assert result.stderr.splitlines()[-1] == (
        "ModuleNotFoundError: No module named 'tensorflow_text'"
    )


def test_a_tensorflow_imported_before_is_refused_with_the_remedy(tmp_path):
    (tmp_path / "tensorflow.py").write_text("")
    result = python("import tensorflow\n" + INSTALL, tmp_path)
    assert result.returncode == 1
    message = result.stderr.splitlines()[-1]
    assert message.startswith("RuntimeError: install_as_tensorflow() must run before the first")
    assert str(tmp_path / "tensorflow.py") in message
    assert "gradtape run script.py" in message


def test_a_tensorflow_on_the_path_but_not_imported_is_passed_over(tmp_path):
    (tmp_path / "tensorflow.py").write_text("raise RuntimeError('the wrong one')")
    check(INSTALL + "import tensorflow; assert tensorflow is gradtape", tmp_path)


@pytest.mark.parametrize(
    ("statement", "missing"),
    [
        ("import tensorflow.python", "tensorflow.python"),
        ("import tensorflow.python.framework.ops", "tensorflow.python"),
        ("from tensorflow.python.eager import context", "tensorflow.python"),
        ("import tensorflow.math.nothing", "tensorflow.math.nothing"),
    ],
)
def test_a_module_gradtape_lacks_is_named(statement, missing):
    result = python(
        f"{INSTALL}try:\n    {statement}\n"
        "except ModuleNotFoundError as error:\n    print(error.name, '|', error)"
    )
    assert (result.returncode, result.stderr) == (0, "")
    name, _, message = result.stdout.partition(" | ")
    assert name == missing
    assert message.startswith(f"No module named {missing!r}")


def test_a_misspelt_module_suggests_the_nearest():
    result = python(INSTALL + "import tensorflow.maths")
    assert result.stderr.splitlines()[-1] == (
        "ModuleNotFoundError: No module named 'tensorflow.maths': gradtape answers for tensorflow "
        "here, and it has no module 'gradtape.maths'. Did you mean 'tensorflow.math'?"
    )


def test_a_name_gradtape_lacks_is_an_import_error():
    result = python(INSTALL + "from tensorflow import no_such_name")
    assert result.stderr.splitlines()[-1].startswith(
        "ImportError: cannot import name 'no_such_name'"
    )


def test_an_error_inside_a_module_is_not_mistaken_for_its_absence(extended):
    result = python(extend(extended) + "import tensorflow.broken")
    assert result.stderr.splitlines()[-1] == (
        "ModuleNotFoundError: No module named 'a_library_nobody_has'"
    )

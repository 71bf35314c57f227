"""The `gradtape` command, run as a user runs it: in a process of its own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gradtape import cli
from gradtape._version import __version__


@pytest.fixture
def gradtape(tmp_path):
    """Run `python -m gradtape` in an empty folder; the fixture's `write` puts scripts there."""

    def run(*args: str, python_options: tuple[str, ...] = (), **environment: str):
        command = [sys.executable, "-W", "error", *python_options, "-m", "gradtape", *args]
        return subprocess.run(
            command,
            cwd=tmp_path,
            env={**os.environ, "PYTHONIOENCODING": "utf-8", **environment},
            capture_output=True,
            encoding="utf-8",
            timeout=60,
        )

    return run


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_version_names_program_and_version(gradtape):
    result = gradtape("--version")
    assert (result.returncode, result.stdout) == (0, f"gradtape {__version__}\n")


def test_help_lists_the_commands(gradtape):
    result = gradtape("--help")
    assert result.returncode == 0
    assert "run" in result.stdout
    assert "run a TensorFlow script on gradtape" in result.stdout


def test_no_command_shows_the_help_and_is_a_usage_error(gradtape):
    result = gradtape()
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith("usage: gradtape")


def test_unknown_command_is_a_usage_error(gradtape):
    result = gradtape("rum", "script.py")
    assert result.returncode == 2
    assert "'rum'" in result.stderr


def test_run_makes_tensorflow_mean_gradtape(gradtape, tmp_path):
    write(
        tmp_path,
        "script.py",
        """
import tensorflow as tf
x = tf.Variable(3.0)
with tf.GradientTape() as tape:
    y = x * x
print(tf.__name__, float(tape.gradient(y, x)))
""",
    )
    result = gradtape("run", "script.py")
    assert (result.stderr, result.stdout, result.returncode) == ("", "gradtape 6.0\n", 0)


def test_run_gives_the_script_what_python_gives_it(gradtape, tmp_path):
    script = """
import json, sys
main = sys.modules["__main__"]
print(json.dumps({
    "name": __name__, "file": __file__, "doc": __doc__, "package": __package__,
    "main": main.__dict__ is globals(), "argv": sys.argv, "path": sys.path[0],
    "spec": __spec__, "loader": type(__loader__).__name__,
}))
"""
    write(tmp_path, "folder/script.py", '"""What it is for."""' + script)
    args = ["folder/script.py", "--flag", "a b", "--", "--version"]
    result = gradtape("run", *args)
    expected = subprocess.run(
        [sys.executable, *args], cwd=tmp_path, capture_output=True, encoding="utf-8", check=True
    )
    assert (result.stderr, result.stdout) == ("", expected.stdout)
    assert '"argv": ["folder/script.py", "--flag", "a b", "--", "--version"]' in result.stdout


def test_run_imports_the_neighbours_of_the_script_and_not_of_the_caller(gradtape, tmp_path):
    write(tmp_path, "neighbour.py", "where = 'beside the caller'")
    write(tmp_path, "folder/neighbour.py", "where = 'beside the script'")
    write(tmp_path, "folder/script.py", "import neighbour\nprint(neighbour.where)")
    assert gradtape("run", "folder/script.py").stdout == "beside the script\n"


def test_run_keeps_the_search_path_in_safe_mode(gradtape, tmp_path):
    write(tmp_path, "folder/script.py", "import sys\nprint(sys.path)")
    result = gradtape("run", "folder/script.py", python_options=("-P",))
    assert result.returncode == 0
    assert str(tmp_path / "folder") not in result.stdout


def test_run_lets_the_script_pickle_its_own_classes(gradtape, tmp_path):
    script = "import pickle\nclass C: pass\nprint(type(pickle.loads(pickle.dumps(C()))) is C)"
    write(tmp_path, "script.py", script)
    assert gradtape("run", "script.py").stdout == "True\n"


def test_run_keeps_the_script_alive_for_its_exit_handlers(gradtape, tmp_path):
    script = "import atexit\nword = 'bye'\natexit.register(lambda: print(word))"
    write(tmp_path, "script.py", script)
    assert gradtape("run", "script.py").stdout == "bye\n"


def test_run_reads_the_declared_encoding(gradtape, tmp_path):
    (tmp_path / "script.py").write_bytes("# coding: latin-1\nprint('é')".encode("latin-1"))
    assert gradtape("run", "script.py").stdout == "é\n"


@pytest.mark.parametrize(
    ("statement", "code", "stderr"),
    [
        ("pass", 0, ""),
        ("raise SystemExit", 0, ""),
        ("raise SystemExit(7)", 7, ""),
        ("raise SystemExit('stopped')", 1, "stopped\n"),
    ],
)
def test_run_passes_the_exit_code_on(gradtape, tmp_path, statement, code, stderr):
    write(tmp_path, "script.py", statement)
    result = gradtape("run", "script.py")
    assert (result.returncode, result.stderr) == (code, stderr)


def test_run_shows_the_frames_of_the_script_first(gradtape, tmp_path):
    script = write(tmp_path, "script.py", "def fail():\n    1 / 0\n\nfail()\n")
    result = gradtape("run", "script.py")
    assert result.returncode == 1
    lines = result.stderr.splitlines()
    assert lines[0] == "Traceback (most recent call last):"
    assert lines[1] == f'  File "{script}", line 4, in <module>'
    assert lines[-1] == "ZeroDivisionError: division by zero"
    assert "cli.py" not in result.stderr


def test_run_shows_both_of_two_chained_errors(gradtape, tmp_path):
    script = "try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    raise ValueError('why') from e\n"
    write(tmp_path, "script.py", script)
    stderr = gradtape("run", "script.py").stderr
    assert "ZeroDivisionError: division by zero" in stderr
    assert "direct cause" in stderr
    assert stderr.endswith("ValueError: why\n")


def test_run_shows_a_syntax_error_without_frames(gradtape, tmp_path):
    script = write(tmp_path, "script.py", "x = 1\ny = = 2\n")
    result = gradtape("run", "script.py")
    assert result.returncode == 1
    assert result.stderr.startswith(f'  File "{script}", line 2\n')
    assert result.stderr.endswith("SyntaxError: invalid syntax\n")


def test_run_calls_the_excepthook_of_the_script(gradtape, tmp_path):
    script = (
        "import sys\nsys.excepthook = lambda kind, e, tb: print('hooked', kind.__name__)\n1 / 0"
    )
    write(tmp_path, "script.py", script)
    result = gradtape("run", "script.py")
    assert (result.returncode, result.stdout) == (1, "hooked ZeroDivisionError\n")


def test_run_interrupted_gives_the_conventional_exit_code(gradtape, tmp_path):
    write(tmp_path, "script.py", "raise KeyboardInterrupt")
    result = gradtape("run", "script.py")
    assert result.returncode == 130
    assert result.stderr.endswith("KeyboardInterrupt\n")


def test_run_without_a_script_is_a_usage_error(gradtape):
    result = gradtape("run")
    assert result.returncode == 2
    assert "script" in result.stderr


def test_run_says_which_file_is_missing(gradtape):
    result = gradtape("run", "nowhere.py")
    expected = "gradtape run: cannot open 'nowhere.py': No such file or directory\n"
    assert (result.returncode, result.stderr) == (2, expected)


def test_run_does_not_take_a_folder_for_a_script(gradtape, tmp_path):
    (tmp_path / "folder").mkdir()
    result = gradtape("run", "folder")
    assert result.returncode == 2
    assert result.stderr.startswith("gradtape run: cannot open 'folder': ")


def test_missing_file_leaves_the_calling_process_as_it_was(capsys, tmp_path):
    before = (list(sys.argv), list(sys.path), list(sys.meta_path), sys.modules["__main__"])
    assert cli.main(["run", str(tmp_path / "nowhere.py")]) == 2
    assert "nowhere.py" in capsys.readouterr().err
    assert (sys.argv, sys.path, sys.meta_path, sys.modules["__main__"]) == before

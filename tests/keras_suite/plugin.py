"""Has Keras's own tests, which its wheel contains, run with gradtape for the backend.

Those in `known_failures.txt` are expected to fail, each for the reason that stands beside it; where
that begins with "sometimes: " they may pass. With `--on jax` the same tests run on that backend of
Keras instead, to learn which of them pass there.
"""

import builtins
import functools
import importlib
import json
import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest

_LISTED = Path(__file__).with_name("known_failures.txt")

# Where tests ask for the backend's name to choose a class, or the way to name a device.
_NAMES_IN_PLACES = {
    ("image_test.py", "test_gaussian_blur_even_kernel_size"): "numpy",
    ("nn_test.py", "test_dot_product_attention"): "numpy",  # skips flash attention alone
    ("stft_spectrogram_test.py", "test_spectrogram_channels_first"): "gradtape",
    ("trainer_test.py", "<module>"): "numpy",
    ("trainer_test.py", "__getitem__"): "tensorflow",
}

# Folders whose tests use TensorFlow for datasets, and for strings and tables of them: `import
# tensorflow` gives gradtape there. In some they take the ways of TensorFlow throughout.
_WITH_DATASETS = (
    "keras/src/distribution",
    "keras/src/layers/preprocessing",
    "keras/src/random",
    "keras/src/trainers",
    "keras/src/utils",
)
_ALL_IN_TENSORFLOW = ("keras/src/layers/preprocessing", "keras/src/trainers/data_adapters")

# Where tests make or look at sparse tensors, or take gradients, each way that a backend has for
# it: there they take TensorFlow's, with gradtape for TensorFlow.
_IN_TENSORFLOW = {
    "core_test.py": "test_convert_to_tensor_ragged test_convert_to_tensor_sparse "
    "test_custom_gradient test_shape_ragged test_shape_sparse",
    "dense_test.py": "test_dense_sparse test_quantize_float8",
    "einsum_dense_test.py": "test_quantize_float8",
    "embedding_test.py": "test_correctness_sparse",
    "flatten_test.py": "test_flatten",
    "merging_test.py": "test_sparse",
    "numpy_test.py": "create_indexed_slices create_sparse_tensor test_bincount "
    "test_concatenate_sparse test_divide_no_nan_gradients test_matmul_sparse test_take_ragged "
    "test_take_sparse",
    "optimizer_sparse_test.py": "test_sparse_correctness test_sparse_gradients",
    "permute_test.py": "test_permute",
    "quantizers_test.py": "test_fake_quant_with_min_max_vars",
    "test_case.py": "assertRagged assertSparse create_eager_tensors",
    "trainer_test.py": "sparse_generator",
}
for _file, _functions in _IN_TENSORFLOW.items():
    for _function in _functions.split():
        _NAMES_IN_PLACES[_file, _function] = "tensorflow"

# Reasons to skip that hold for backends other than the three by name, but not for gradtape.
_NO_REASONS = (
    "support `custom_gradient`",
    "does not support gradients",
    "Only tensorflow supports raggeds",
)

# PyTorch's compiler for graphics cards aborts a process that TensorFlow is in too.
sys.modules["triton"] = None  # pyright: ignore[reportArgumentType]

# Keras's tests take this one function from a conftest that its wheel leaves out.
sys.modules.setdefault("conftest", sys.modules[__name__])


def skip_if_backend(name, reason):
    """Marks a test that Keras skips on the backend of that name."""
    from keras.src import backend

    return pytest.mark.skipif(backend.backend() == name, reason=reason)


def pytest_addoption(parser):
    parser.addoption("--on", default="gradtape", help="the backend to run on (default: gradtape)")
    parser.addoption("--record", help="a file to append each test's outcome to, as JSON lines")


def pytest_configure(config):
    if config.getoption("--on") == "gradtape":
        from gradtape.keras_finder import load_keras

        load_keras()
        _tell_tests_the_name()
    else:
        os.environ["KERAS_BACKEND"] = config.getoption("--on")
    if config.getoption("--record") and not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Recorder(config.getoption("--record")))


def _tell_tests_the_name():
    """Has tests see "gradtape" for the backend's name, and all of Keras else what it was.

    In Keras gradtape goes by the name "numpy", for which tests skip what needs gradients.
    """
    import gradtape

    names = ("keras.src.backend", "keras.backend", "keras.config")
    modules: list[Any] = [importlib.import_module(name) for name in names]
    in_keras, import_module = modules[0].backend, builtins.__import__

    def name_in(code):
        folder, file = os.path.split(code.co_filename)
        if not (file.endswith("_test.py") or folder.endswith("testing")):
            return in_keras()
        usual = "tensorflow" if _is_below(folder, _ALL_IN_TENSORFLOW) else "gradtape"
        return _NAMES_IN_PLACES.get((file, code.co_name), usual)

    def backend():
        return name_in(sys._getframe(1).f_code)

    def takes_gradtape(code):
        folder, file = os.path.split(code.co_filename)
        is_test = file.endswith("_test.py") and _is_below(folder, _WITH_DATASETS)
        return is_test or name_in(code) == "tensorflow"

    def import_for_caller(name, *args, **kwargs):
        if name == "tensorflow" and takes_gradtape(sys._getframe(1).f_code):
            return gradtape
        return import_module(name, *args, **kwargs)

    for module in modules:
        module.backend = backend
    builtins.__import__ = import_for_caller


def _is_below(folder, folders):
    return any([each in Path(folder).as_posix() for each in folders])


class _Recorder:
    """Writes one line for each test: its id below keras/src, how it ended and why."""

    def __init__(self, path):
        self._path = path
        self._reports = {}

    def pytest_runtest_logreport(self, report):
        phases = self._reports.setdefault(report.nodeid, [])
        phases.append(report)
        if report.when == "teardown":
            self._write(report.nodeid, self._reports.pop(report.nodeid))

    def pytest_collectreport(self, report):
        if report.outcome != "passed":
            self._write(report.nodeid, [report])

    def _write(self, node, phases):
        order = ("passed", "skipped", "failed")
        worst = max(phases, key=lambda report: order.index(report.outcome))
        outcome, why = worst.outcome, ""
        if outcome == "skipped" and isinstance(worst.longrepr, tuple):
            why = worst.longrepr[2]
        elif outcome != "passed":
            why = str(worst.longrepr)[-1500:]
        # That a failure was expected, or was expected in vain, is not for the record.
        if outcome == "skipped" and hasattr(worst, "wasxfail"):
            outcome = "failed"
        elif outcome == "failed" and why.startswith("[XPASS(strict)]"):
            outcome = "passed"
        seconds = sum(getattr(report, "duration", 0.0) for report in phases)
        line = {"id": node.partition("keras/src/")[2], "outcome": outcome, "why": why,
                "seconds": round(seconds, 3)}  # fmt: skip
        with open(self._path, "a", encoding="utf-8") as record:
            record.write(json.dumps(line) + "\n")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Skips tests that use a package that is not installed."""
    report = yield
    error = call.excinfo.value if call.excinfo else None
    if _lacks_a_package(error):
        report.outcome = "skipped"
        report.longrepr = (str(item.path), item.location[1], f"Skipped: {error}")
    return report


def _lacks_a_package(error):
    """Whether a package is not there, in Python's words or in those Keras has for it."""
    return (
        isinstance(error, ModuleNotFoundError)
        or (isinstance(error, ImportError) and _lacks_a_package(error.__context__))
        or "requires installing TensorFlow" in str(error)
    )


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    """Skips files that import a package that is not installed."""
    report = yield
    missing = re.search("ModuleNotFoundError: (.*)", str(report.longrepr or ""))
    if report.outcome == "failed" and missing:
        report.outcome = "skipped"
        report.longrepr = (str(collector.path), 0, f"Skipped: {missing[1]}")
    return report


def known_failures():
    """From the ids of tests to reasons; an id ending in `*` stands for all that start so."""
    lines = _LISTED.read_text(encoding="utf-8").splitlines()
    pairs = [line.split("\t") for line in lines if line and not line.startswith("#")]
    return dict(pairs)


def pytest_pycollect_makeitem(obj):
    """Takes addresses out of ids: they differ from process to process."""
    marks = getattr(obj, "pytestmark", [])
    for i, mark in enumerate(marks):
        names = mark.kwargs.get("ids")
        if mark.name == "parametrize" and callable(names):
            kwargs = {**mark.kwargs, "ids": functools.partial(_name_without_addresses, names)}
            marks[i] = pytest.mark.parametrize(*mark.args, **kwargs).mark


def _name_without_addresses(names, value):
    name = names(value)
    return re.sub("0x[0-9a-f]+", "0x0", name) if isinstance(name, str) else name


def pytest_collection_modifyitems(config, items):
    if config.getoption("--on") == "gradtape":
        for item in items:
            item.own_markers[:] = [mark for mark in item.own_markers if not _is_no_reason(mark)]
        _expect_known_failures(items)


def _is_no_reason(mark):
    reason = mark.kwargs.get("reason", "")
    return mark.name == "skipif" and any(part in reason for part in _NO_REASONS)


def _expect_known_failures(items):
    known = known_failures()
    starts = [(name[:-1], reason) for name, reason in known.items() if name.endswith("*")]
    for item in items:
        name = item.nodeid.partition("keras/src/")[2]
        reason = known.get(name)
        for start, shared in starts:
            if name.startswith(start):
                reason = shared
        if reason is not None:
            strict = not reason.startswith("sometimes: ")
            item.add_marker(pytest.mark.xfail(reason=reason, strict=strict))

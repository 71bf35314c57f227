"""tf.experimental.numpy: TensorFlow's names, and answers as TensorFlow and NumPy give them."""

import inspect
import subprocess
import sys
import types

import numpy as np
import pytest

import gradtape as tf
from numpy_names.calls import OPERANDS, groups
from numpy_names.storage import FILE, answer, decode, load
from test_public_names import signature_of

tnp = tf.experimental.numpy
ANSWERS = load()
EXPRESSIONS = [text for group in groups().values() for text in group]
TENSORS = {name: tf.constant(array) for name, array in OPERANDS.items()}

# Functions in which TensorFlow departs from NumPy by accident, and gradtape does not: dtypes that
# get lost or wider, squares that overflow, truth of imaginary numbers, infinities that are not
# close to themselves, scalars where arrays are due.
AS_IN_NUMPY = """
all allclose angle around einsum float_power hypot isclose isinf isneginf isposinf linspace log10
log2 logaddexp2 logical_and logical_not logical_xor logspace meshgrid signbit
"""

# Of these only the values are NumPy's, which takes float16 for small integers and does not know of
# lists of weak numbers.
WIDER = ("angle", "hypot", "logaddexp2")

RELATIVE = {"float16": 2e-3, "float32": 2e-6, "complex64": 2e-6}


def ours(text):
    return answer(lambda: eval(text, {"np": tnp, **TENSORS}))


def numpys(text):
    with np.errstate(all="ignore"):
        return answer(lambda: eval(text, {"np": np, **OPERANDS}))


def function_of(text):
    return text.removeprefix("np.").partition("(")[0]


def difference(found, wanted, *, dtypes=True):
    """What is wrong with an answer that is not an error; None if nothing is."""
    if isinstance(found, list) and isinstance(wanted, list):
        if len(found) != len(wanted):
            return f"{len(found)} results, not {len(wanted)}"
        pairs = zip(found, wanted, strict=True)
        return next((d for d in (difference(*p, dtypes=dtypes) for p in pairs) if d), None)
    if isinstance(found, list) or isinstance(wanted, list):
        return f"{found} instead of {wanted}"
    if not {"dtype", "error"} & (found.keys() | wanted.keys()):
        return None if found == wanted else f"{found} instead of {wanted}"
    if "error" in found and "error" in wanted:
        return None
    if "error" in found or "error" in wanted:
        return f"{found} instead of {wanted}"
    found, wanted = _as_array(found, wanted), _as_array(wanted, found)
    if found["shape"] != wanted["shape"]:
        return f"shape {found['shape']} instead of {wanted['shape']}"
    if dtypes and found["dtype"] != wanted["dtype"]:
        return f"{found['dtype']} instead of {wanted['dtype']}"
    coarser = max(RELATIVE.get(one["dtype"], 1e-12) for one in (found, wanted))
    x, y = decode(found), decode(wanted)
    if not dtypes and wanted["dtype"] == "float16":
        x, y = x[np.isfinite(y)], y[np.isfinite(y)]  # NumPy overflows where gradtape is wider
    close = np.allclose(x, y, rtol=coarser, atol=coarser, equal_nan=True)
    return None if close else f"{x} instead of {y}"


def _as_array(one, other):
    """A Python number as an array of the other answer's dtype."""
    if "python" not in one:
        return one
    return {"dtype": other.get("dtype", "float64"), "shape": [], "values": [one["python"]]}


def _problem_against_tensorflow(text):
    found, wanted = ours(text), ANSWERS[text]
    is_error = [isinstance(one, dict) and "error" in one for one in (found, wanted)]
    if all(is_error):
        return None
    if is_error[1]:
        # TensorFlow has no kernel or has a mistake there: then NumPy's answer is the right one.
        return difference(found, numpys(text), dtypes=False)
    problem = difference(found, wanted)
    if problem and function_of(text) in AS_IN_NUMPY.split():
        return difference(found, numpys(text), dtypes=function_of(text) not in WIDER)
    return problem


@pytest.mark.parametrize("topic", groups())
def test_answers_are_tensorflows(topic):
    problems = {text: _problem_against_tensorflow(text) for text in groups()[topic]}
    assert {text: p for text, p in problems.items() if p} == {}


@pytest.mark.beyond_tensorflow
def test_where_numpy_is_followed_tensorflow_differs():
    differing = {
        function_of(text)
        for text in EXPRESSIONS
        if not (isinstance(ANSWERS[text], dict) and "error" in ANSWERS[text])
        and difference(ours(text), ANSWERS[text])
    }
    assert differing == set(AS_IN_NUMPY.split())


# A scalar tensor counts as a scalar; NumPy's arrays of rank 0 do not.
NOT_AS_IN_NUMPY = {"np.isscalar(s32)"}


@pytest.mark.parametrize("topic", groups())
def test_answers_are_numpys(topic):
    problems = {}
    for text in set(groups()[topic]) - NOT_AS_IN_NUMPY:
        found, wanted = ours(text), numpys(text)
        if text.startswith("np.shape("):
            found = tuple(eval(text, {"np": tnp, **TENSORS}))
            wanted = eval(text, {"np": np, **OPERANDS})
            problems[text] = None if found == wanted else f"{found}, {wanted}"
        elif not any(isinstance(one, dict) and "error" in one for one in (found, wanted)):
            is_half = isinstance(wanted, dict) and wanted.get("dtype") == "float16"
            if "nextafter" not in text or not is_half:  # the next float16 is farther away
                problems[text] = difference(found, wanted, dtypes=False)
    assert {text: p for text, p in problems.items() if p} == {}


def test_enough_is_compared_with_numpy():
    both = [
        text
        for text in EXPRESSIONS
        if not any(isinstance(a, dict) and "error" in a for a in (ours(text), numpys(text)))
    ]
    assert len(both) > 1800
    called = {function_of(text) for text in EXPRESSIONS}
    uncalled = {name for name, item in vars(tnp).items() if inspect.isfunction(item)} - called
    assert {name for name in uncalled if not name.startswith("_")} == {
        "experimental_enable_numpy_behavior",
        "vander",
    } - called


# Names --------------------------------------------------------------------------------------------


def _names(module, prefix=""):
    for name, item in sorted(vars(module).items()):
        if name.startswith("_"):
            continue
        if isinstance(item, types.ModuleType):
            yield from _names(item, f"{name}.")
        else:
            yield f"{prefix}{name}{signature_of(item) if inspect.isfunction(item) else ''}"


def test_names_and_parameters_are_tensorflows():
    wanted = (FILE.parent / "names.txt").read_text(encoding="utf-8").splitlines()
    assert sorted(_names(tnp)) == sorted(wanted)


def test_functions_are_documented():
    for name, item in vars(tnp).items():
        if inspect.isfunction(item) and not name.startswith("_"):
            assert (inspect.getdoc(item) or "").partition("\n")[0].endswith("."), name


def test_types_are_numpys():
    assert tnp.ndarray is tf.Tensor
    assert (tnp.float32, tnp.int_, tnp.bool_) == (np.float32, np.int64, np.bool_)
    assert isinstance(tnp.ones(2), tnp.ndarray)


def test_missing_name_names_the_nearest():
    with pytest.raises(AttributeError, match=r"no attribute 'arrange'.* Did you mean 'arange'\?"):
        tnp.arrange  # noqa: B018


LAZY = """
import sys
import gradtape as tf
assert not [name for name in sys.modules if "numpy_api" in name], "loaded with gradtape"
{statement}
assert tnp.sum([1, 2]).numpy() == 3
"""


@pytest.mark.parametrize(
    "statement",
    [
        "tnp = tf.experimental.numpy",
        "import gradtape.experimental.numpy as tnp",
        "from gradtape.experimental import numpy as tnp",
        "tf.install_as_tensorflow(); import tensorflow.experimental.numpy as tnp",
    ],
)
def test_it_is_loaded_when_first_used(statement):
    subprocess.run([sys.executable, "-c", LAZY.format(statement=statement)], check=True)


# Random numbers -----------------------------------------------------------------------------------


def test_random_numbers_are_those_of_tf_random():
    tnp.random.seed(7)
    found = [
        tnp.random.randn(2, 2),
        tnp.random.uniform(1.0, 3.0, (3,)),
        tnp.random.rand(2),
        tnp.random.randint(5, size=(4,)),
        tnp.random.poisson(3.0, 2),
        tnp.random.standard_normal(2),
        tnp.random.random(),
    ]
    tf.random.set_seed(7)
    wanted = [
        tf.random.normal([2, 2], dtype=tf.float64),
        tf.random.uniform([3], 1.0, 3.0, tf.float64),
        tf.random.uniform([2], dtype=tf.float64),
        tf.random.uniform([4], 0, 5, tf.int64),
        tf.random.poisson([2], 3.0, tf.int64),
        tf.random.normal([2], dtype=tf.float64),
        tf.random.uniform([], dtype=tf.float64),
    ]
    for x, y in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(x, y, strict=True)


def test_uniform_broadcasts_its_bounds():
    found = tnp.random.uniform([0.0, 10.0], [[1.0], [20.0]])
    assert found.shape == (2, 2)
    assert 10.0 <= found[1, 1] <= 20.0


def test_bad_seeds_and_dtypes_are_refused():
    with pytest.raises(ValueError, match="Only integers are supported"):
        tnp.random.seed([1, 2])
    with pytest.raises(ValueError, match="Argument `dtype` got an invalid value"):
        tnp.random.randint(3, dtype=np.int8)

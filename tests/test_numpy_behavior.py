"""experimental_enable_numpy_behavior, which changes the whole library: each mode in a process."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import gradtape as tf

HERE = Path(__file__).resolve().parent / "numpy_names"
RECORDED = json.loads((HERE / "promotion.json").read_text(encoding="utf-8"))

# An integer beside arrays counts as an array, as in NumPy, and so the arrays are not side by side.
AS_IN_NUMPY = {"t[0, :, [1, 0]].shape.as_list()": [2, 3]}
# gradtape's tensors are never weak, as those of Python numbers are in TensorFlow in these modes.
WITHOUT_WEAK_TENSORS = {
    "all": {"tf.constant([1.0, 2.0]) * tf.Variable([1, 2])": "float32"},
    "safe": {
        "tf.add(i, x)": "TypeError",
        "tf.maximum(i, x)": "TypeError",
        "tf.multiply(i, x)": "TypeError",
        "float64 array * complex64": "complex128",
        "float64 array * int64": "float64",
        "float64 array * uint64": "float64",
    },
}


def run(*arguments):
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("mode", RECORDED)
def test_operators_methods_and_indexing_are_tensorflows(mode):
    found = json.loads(run(str(HERE / "promotion.py"), "gradtape", mode))
    wanted = {**RECORDED[mode], **AS_IN_NUMPY, **WITHOUT_WEAK_TENSORS.get(mode, {})}
    if mode in ("all", "safe"):  # TensorFlow's * with booleans is a logical and, whatever the other
        wanted = {text: kind for text, kind in wanted.items() if "bool" not in text}
    assert {text: (found[text], kind) for text, kind in wanted.items() if found[text] != kind} == {}


SCRIPT = """
import numpy as np
import gradtape as tf
from gradtape.core.exports import PUBLIC
original = tf.Tensor.__add__
tnp = tf.experimental.numpy
tnp.experimental_enable_numpy_behavior()

x = tf.Variable([1.0, 2.0, 3.0])
with tf.GradientTape() as tape:
    y = (x * tf.constant([1, 2, 3]) + tf.constant(2.0, tf.float64)).reshape(3, 1).T.mean()
    z = y + (x * 1.0)[[0, 0, 2]].astype(np.float64).max()
print(y.dtype.name, tape.gradient(z, x).numpy().tolist())
print((x @ tf.ones([3, 1], tf.int32)).shape, (np.ones((2, 3)) @ x).shape)
truth = tf.constant([True])
print((np.ones(3) * x).dtype.name, (x[:2] == None), (truth * truth).dtype)

tnp.experimental_enable_numpy_behavior(dtype_conversion_mode="off")
print(tf.Tensor.__add__ is original)
try:
    tf.constant(1) + tf.constant(1.0)
except tf.errors.InvalidArgumentError:
    print("refused")
print(tf.constant([[1.0]]).T.shape)

plain = tf.add
tnp.experimental_enable_numpy_behavior(dtype_conversion_mode="all")
print(tf.add(tf.constant(1), tf.constant(1.0)).dtype.name, tf.math.pow(2, tf.constant(1.5)).numpy())
print(tf.add is not plain, PUBLIC["add"] is tf.add)  # what is loaded later is published from there
tnp.experimental_enable_numpy_behavior()
print(tf.add is plain)
try:
    tnp.experimental_enable_numpy_behavior(dtype_conversion_mode="some")
except ValueError as error:
    print(error)
"""


def test_gradients_flow_and_modes_can_be_changed():
    assert run("-c", SCRIPT).splitlines() == [
        "float64 [0.3333333432674408, 0.6666666865348816, 2.0]",
        "(1,) (2,)",
        "float64 False <dtype: 'bool'>",
        "True",
        "refused",
        "(1, 1)",
        "float32 2.828427",
        "True True",
        "True",
        "dtype_conversion_mode is one of ('off', 'legacy', 'safe', 'all'). Received: 'some'",
    ]


INDEXING = """
import numpy as np
import gradtape as tf
tf.experimental.numpy.experimental_enable_numpy_behavior()
array = np.arange(120.0).reshape(2, 3, 4, 5)
tensor = tf.constant(array)
mask = array[0, :, :, 0] > 30.0
keys = [
    ([1, 0],),
    (slice(None), [0, 2], slice(None), [1, 4]),
    (slice(None), [0, 2], slice(1, 3), 4),
    (..., [0, 2], [1]),
    (0, slice(None), [3, 3]),
    (None, slice(None), [[0], [2]], [1, 2]),
    (slice(None), mask),
    (slice(None), mask, slice(None, None, 2)),
    (array > 60.0,),
    ([-1], slice(None), np.array([0, -2])),
    (slice(None), np.zeros((0,), np.int64)),
    ([True, False], slice(1, None)),
]
for key in keys:
    np.testing.assert_array_equal(tensor[key], array[key], strict=True)
with tf.GradientTape() as tape:
    tape.watch(tensor)
    y = tf.reduce_sum(tensor[:, [0, 0], 1, [2, 2]])
gradient = tape.gradient(y, tensor).numpy()
assert gradient[:, 0, 1, 2].tolist() == [2.0, 2.0] and gradient.sum() == 4.0
for bad in (([0.5],), (0, 0, 0, 0, [0])):
    try:
        tensor[bad]
    except IndexError as error:
        print(error)
"""


def test_indexing_is_numpys():
    assert run("-c", INDEXING).splitlines() == [
        "arrays used as indices must be of integer (or boolean) type",
        "too many indices: the tensor has 4 dimensions, the key 5",
    ]


def test_nothing_is_installed_before():
    with pytest.raises(AttributeError, match=r"A tensor is not a NumPy array: use tf\.transpose"):
        _ = tf.constant([[1.0]]).T
    with pytest.raises(tf.errors.InvalidArgumentError):
        _ = tf.constant(1) + tf.constant(1.0)
    assert "astype" not in vars(tf.Tensor)

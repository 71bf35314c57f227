"""tf.raw_ops: TensorFlow's op types, called by TensorFlow's argument names."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import gradtape as tf
from gradtape.core.op import OPS
from test_public_names import signature_of

RECORDED = Path(__file__).resolve().parent / "data" / "tensorflow_raw_ops.txt"

# Op types of TensorFlow whose rows are only the differentiable part of them: they take what was
# drawn, or the variable's value, as an input.
PARTS = {"RandomGamma", "RandomPoissonV2", "ReadVariableOp", "StatelessShuffle"}


def recorded():
    """For each raw op of TensorFlow its parameters as text, and the names of its results."""
    found = {}
    for line in RECORDED.read_text(encoding="utf-8").splitlines():
        call, _, results = line.rpartition(" ->")
        name, _, parameters = call.partition("(")
        found[name] = (f"({parameters}", results.replace(",", " ").split())
    return found


TENSORFLOW = recorded()
RAW = [name for name, op in OPS.items() if op.raw is not False]


def _keyword_only(signature):
    return signature.replace("(", "(*, ", 1)


@pytest.mark.parametrize("name", RAW)
def test_parameters_and_defaults_are_tensorflows(name):
    assert name in TENSORFLOW, f"{name} is no op type of TensorFlow: its row needs raw=False"
    assert signature_of(getattr(tf.raw_ops, name)) == _keyword_only(TENSORFLOW[name][0])


def test_every_row_that_is_an_op_type_is_there():
    assert {name for name in OPS if name in TENSORFLOW} - set(RAW) == PARTS & set(OPS)
    assert dir(tf.raw_ops) == sorted(RAW)


def test_a_call_with_every_kind_of_argument():
    x = tf.constant([[1.0, 2.0], [3.0, 5.0]])
    total = tf.raw_ops.Sum(input=x, axis=tf.constant([1]), keep_dims=True, name="total")
    assert total.numpy().tolist() == [[3.0], [8.0]]
    assert tf.raw_ops.Sum(input=x, axis=0).numpy().tolist() == [4.0, 7.0]
    assert tf.raw_ops.Cast(x=x, DstT=tf.int32).dtype is tf.int32
    assert tf.raw_ops.Cast(x=x, DstT="float64").dtype is tf.float64
    assert tf.raw_ops.Pack(values=[x, x], axis=-1).shape == (2, 2, 2)
    assert tf.raw_ops.ConcatV2(values=[x, x], axis=tf.constant(1)).shape == (2, 4)
    found = tf.raw_ops.TopKV2(input=x, k=tf.constant(1))
    assert found.values.numpy().tolist() == [[2.0], [5.0]]
    assert found.indices.dtype is tf.int32
    assert isinstance(tf.raw_ops.Unpack(value=x, num=2), list)


def test_numbers_take_the_dtype_of_tensors_beside_them():
    x = tf.constant(1.0, tf.float64)
    assert tf.raw_ops.AddV2(x=2.0, y=x).dtype is tf.float64
    assert tf.raw_ops.AddV2(x=x, y=np.float64(2.0)).dtype is tf.float64


def test_gradients_pass():
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = tf.raw_ops.Mul(x=v, y=v)
    assert tape.gradient(y, v).numpy().tolist() == [2.0, 4.0]


def test_positional_arguments_are_refused():
    with pytest.raises(TypeError, match=r"AddV2 only takes keyword args \(possible keys: \['x', "):
        tf.raw_ops.AddV2(1.0, 2.0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"x": 1.0}, r"AddV2\(\) missing a required .*argument: 'y'"),
        ({"x": 1.0, "y": 2.0, "z": 3.0}, r"AddV2\(\) got an unexpected keyword argument 'z'"),
    ],
)
def test_wrong_arguments_are_refused(arguments, message):
    with pytest.raises(TypeError, match=message):
        tf.raw_ops.AddV2(**arguments)


def test_only_the_default_where_nothing_else_can_be_done():
    with pytest.raises(tf.errors.InvalidArgumentError, match="Truncate can only be False here"):
        tf.raw_ops.Cast(x=1.0, DstT=tf.bfloat16, Truncate=True)


def test_missing_op_names_the_nearest():
    with pytest.raises(AttributeError, match=r"no attribute 'AddV3'\. Did you mean 'AddV2'\?"):
        tf.raw_ops.AddV3  # noqa: B018


def test_functions_are_made_when_first_asked_for():
    program = (
        "import gradtape as tf, sys; assert 'gradtape.raw_ops' not in sys.modules; "
        "m = tf.raw_ops; assert 'Tan' not in vars(m); assert m.Tan is vars(m)['Tan']"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_arrays_count_as_tensors_beside_numbers():
    x = np.array([[1.0, 2.0]])
    given = tf.raw_ops.Cumsum(x=x, axis=1)
    assert given.dtype == tf.float64
    image = np.arange(4, dtype=np.float32).reshape(1, 2, 2, 1)
    top = np.array([[[[3.0]]]], np.float32)
    found = tf.raw_ops.MaxPoolGradGrad(
        orig_input=image, orig_output=top, grad=image, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1],
        padding="VALID",
    )  # fmt: skip
    assert found.numpy().tolist() == [[[[3.0]]]]

"""tf.TensorSpec: descriptions of tensors, how they compare, combine and print."""

import copy
import pickle

import numpy as np
import pytest

import gradtape as tf


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        (tf.TensorSpec([2, 2]), "TensorSpec(shape=(2, 2), dtype=tf.float32, name=None)"),
        (
            tf.TensorSpec([None, 3], tf.int32, "n"),
            "TensorSpec(shape=(None, 3), dtype=tf.int32, name='n')",
        ),
        (tf.TensorSpec(None), "TensorSpec(shape=<unknown>, dtype=tf.float32, name=None)"),
        (
            tf.TensorSpec(shape=(), dtype="float64", name="x"),
            "TensorSpec(shape=(), dtype=tf.float64, name='x')",
        ),
        (tf.TensorSpec(5, np.bool_), "TensorSpec(shape=(5,), dtype=tf.bool, name=None)"),
    ],
)
def test_text(spec, text):
    assert repr(spec) == str(spec) == text


def test_attributes():
    spec = tf.TensorSpec([2], tf.float64, "q")
    assert spec.shape == tf.TensorShape([2])
    assert spec.dtype is tf.float64
    assert spec.name == "q"
    assert spec.value_type is tf.Tensor


@pytest.mark.parametrize(("attribute", "value"), [("shape", [3]), ("dtype", 1), ("name", "z")])
def test_is_read_only(attribute, value):
    with pytest.raises(AttributeError, match=f"property '{attribute}' of 'TensorSpec' object"):
        setattr(tf.TensorSpec([2]), attribute, value)


@pytest.mark.parametrize("dtype", [None, "nope", object()])
def test_bad_dtype(dtype):
    with pytest.raises(TypeError, match=r"^Cannot convert the argument `type_value`: "):
        tf.TensorSpec([2], dtype)


def test_bad_shape():
    with pytest.raises(ValueError, match=r"^Dimension -1 must be >= 0$"):
        tf.TensorSpec([-1])


def test_from_tensor():
    x = tf.constant([[1.0, 2.0]])
    assert tf.TensorSpec.from_tensor(x) == tf.TensorSpec([1, 2])
    assert tf.TensorSpec.from_tensor(x, "x") == tf.TensorSpec([1, 2], name="x")


@pytest.mark.parametrize("value", [3.0, [1.0], np.ones(2), None])
def test_from_tensor_wants_a_tensor(value):
    with pytest.raises(ValueError, match=r"^`tensor` should be a tf\.Tensor, but got type <cl"):
        tf.TensorSpec.from_tensor(value)


def test_from_tensor_refuses_variables():
    with pytest.raises(ValueError, match=r"but got type <class '.*ResourceVariable'>\.$"):
        tf.TensorSpec.from_tensor(tf.Variable(1.0))


def test_from_spec():
    spec = tf.TensorSpec([2], tf.int32, "q")
    assert tf.TensorSpec.from_spec(spec) == spec
    assert tf.TensorSpec.from_spec(spec, name="w") == tf.TensorSpec([2], tf.int32, "w")


@pytest.mark.parametrize(
    ("spec", "compatible"),
    [
        (tf.TensorSpec([2, 2]), True),
        (tf.TensorSpec([2, None]), True),
        (tf.TensorSpec(None), True),
        (tf.TensorSpec([2, 2], name="other"), True),
        (tf.TensorSpec([3, 2]), False),
        (tf.TensorSpec([2, 2], tf.int32), False),
    ],
)
def test_is_compatible_with_tensor_or_spec(spec, compatible):
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    assert spec.is_compatible_with(x) is compatible
    assert spec.is_compatible_with(tf.TensorSpec([2, 2])) is compatible


@pytest.mark.parametrize("value", [3.0, [1.0, 2.0], np.ones(2, np.float32), None, "a"])
def test_is_compatible_with_nothing_else(value):
    assert tf.TensorSpec(None).is_compatible_with(value) is False


@pytest.mark.parametrize(
    ("narrow", "wide", "expected"),
    [
        (tf.TensorSpec([2, 3]), tf.TensorSpec([None, 3]), True),
        (tf.TensorSpec([2]), tf.TensorSpec([2], name="a"), True),
        (tf.TensorSpec([2], name="a"), tf.TensorSpec([2], name="a"), True),
        (tf.TensorSpec([2], name="a"), tf.TensorSpec([2], name="b"), False),
        (tf.TensorSpec([2], name="a"), tf.TensorSpec([2]), False),
        (tf.TensorSpec([None, 3]), tf.TensorSpec([2, 3]), False),
        (tf.TensorSpec([2]), tf.TensorSpec([2], tf.int32), False),
        (tf.TensorSpec([2]), 3, False),
    ],
)
def test_is_subtype_of(narrow, wide, expected):
    assert narrow.is_subtype_of(wide) is expected


@pytest.mark.parametrize(
    ("first", "second", "common"),
    [
        (tf.TensorSpec([2, 3]), tf.TensorSpec([2, 4]), tf.TensorSpec([2, None])),
        (tf.TensorSpec([2, 3]), tf.TensorSpec([2]), tf.TensorSpec(None)),
        (tf.TensorSpec([2], name="a"),) * 3,
    ],
)
def test_most_specific(first, second, common):
    assert first.most_specific_compatible_type(second) == common
    assert first.most_specific_common_supertype([second]) == common


@pytest.mark.parametrize("other", [tf.TensorSpec([2], tf.int32), tf.TensorSpec([2], name="b"), 3])
def test_nothing_in_common(other):
    spec = tf.TensorSpec([2])
    assert spec.most_specific_common_supertype([other]) is None
    with pytest.raises(ValueError, match=r"^No TypeSpec is compatible with both TensorSpec"):
        spec.most_specific_compatible_type(other)


def test_equality_and_hash():
    spec = tf.TensorSpec([2, None], tf.float32, "a")
    assert spec == tf.TensorSpec((2, None), "float32", "a")
    assert hash(spec) == hash(tf.TensorSpec((2, None), "float32", "a"))
    for other in (
        tf.TensorSpec([2, None]),
        tf.TensorSpec([2, 3], name="a"),
        tf.TensorSpec([2, None], tf.int32, "a"),
        None,
        3,
    ):
        assert spec != other


@pytest.mark.parametrize(
    "duplicate", [copy.copy, copy.deepcopy, lambda spec: pickle.loads(pickle.dumps(spec))]
)
def test_copies(duplicate):
    spec = tf.TensorSpec([2, None], tf.int64, "a")
    assert duplicate(spec) == spec
    assert duplicate(tf.TensorSpec(None)) == tf.TensorSpec(None)

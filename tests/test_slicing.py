"""Slices: tensor[...], tf.slice, tf.strided_slice, iteration, and assignment to parts."""

import re

import numpy as np
import pytest

import gradtape as tf
from composites import check_batch, check_gradient
from expressions import check_error
from gradtape.batching import batch_level

InvalidArgumentError = tf.errors.InvalidArgumentError
ARRAY = np.arange(24.0).reshape(2, 3, 4)


def names():
    return {
        "tf": tf,
        "np": np,
        "x": tf.constant([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]),
        "v": tf.Variable([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]),
        "s": tf.constant(5.0),
        "one": tf.constant(1),
    }


@pytest.mark.parametrize("kind", [tf.constant, tf.Variable], ids=["tensor", "variable"])
@pytest.mark.parametrize(
    "key",
    [
        "0", "-1", "1, 2", "1, 2, 3", "0, ..., 1", "..., 0", "...", "()", "None", "None, 1",
        ":, None, 1:, None", "1:", "::-1", ":, 2:0:-1", ":, ::2, ::-3", "1:1", "5:", "-10:10",
        ":, 10:0:-1", "0:1, 0:1, 0:1", "..., None", "1, None, ..., None, 2",
    ],
)  # fmt: skip
def test_basic_keys_are_numpys(kind, key):
    part = eval(f"x[{key}]", {"x": kind(ARRAY)})
    expected = eval(f"x[{key}]", {"x": ARRAY})
    assert isinstance(part, tf.Tensor)
    assert part.shape == expected.shape
    np.testing.assert_array_equal(part, expected)


VALUES = {
    "x[[0, 1]]": 2.0,  # a list is a tuple
    "x[[0, slice(None)]]": [1, 2, 3],
    "x[one]": [4, 5, 6],
    "x[one, tf.constant(0, tf.int32)]": 4.0,
    "x[tf.constant(1, tf.int16)]": [4, 5, 6],
    "x[tf.Variable(1)]": [4, 5, 6],
    "x[np.int64(1), np.array(2)]": 6.0,
    "x[one:2]": [[4, 5, 6]],
    "x[:one, ::tf.constant(2)]": [[1, 3]],
    "x[x > 2]": [3, 4, 5, 6],
    "x[np.array([True, False])]": [[1, 2, 3]],
    "v[v > 2]": [3, 4, 5, 6],
    "v[tf.constant([False, True])]": [[4, 5, 6]],
    "tf.constant(['a', 'b'])[0]": b"a",
    "tf.constant([['a', 'b']])[0, 1:]": [b"b"],
    "tf.constant([True, False])[1]": False,
    "s[None]": [5.0],
    "s[...]": 5.0,
    # tf.slice
    "tf.slice(x, [0, 1], [2, -1])": [[2, 3], [5, 6]],
    "tf.slice(v, tf.constant([0, 1]), [1, 1])": [[2]],
    "tf.slice(input_=[1, 2, 3], begin=[3], size=[0], name='part')": [],
    # tf.strided_slice
    "tf.strided_slice(x, [0], [1])": [[1, 2, 3]],
    "tf.strided_slice(x, [0, -1], [2, -4], [1, -1])": [[3, 2, 1], [6, 5, 4]],
    "tf.strided_slice(x, [0, 1], [1, 2], shrink_axis_mask=1)": [2],
    "tf.strided_slice(x, [0, 1], [1, 2], shrink_axis_mask=3)": 2.0,
    "tf.strided_slice(x, [0, 1], [1, 2], begin_mask=2)": [[1, 2]],
    "tf.strided_slice(x, [0, 1], [1, 2], end_mask=2)": [[2, 3]],
    "tf.strided_slice(x, [0, 1], [1, 2], new_axis_mask=1)": [[[4, 5, 6]]],
    "tf.strided_slice(x, [0, 1], [1, 2], ellipsis_mask=1)": [[2], [5]],
    "tf.strided_slice(x, [0, 1], [1, 2], ellipsis_mask=1, shrink_axis_mask=2)": [2, 5],
    # A new axis wins over a single index.
    "tf.strided_slice(x, [0, 1], [0, 2], new_axis_mask=1, shrink_axis_mask=1)": [[[4, 5, 6]]],
    "tf.strided_slice(v, [0], [1], var=v)": [[1, 2, 3]],
}


@pytest.mark.parametrize("expression", VALUES)
def test_value(expression):
    assert np.asarray(eval(expression, names())).tolist() == VALUES[expression]


_VALID = "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar"

ERRORS = {
    "x['a']": (TypeError, f"{_VALID} tf.int32/tf.int64 tensors are valid indices, got 'a'"),
    "v[1.0]": (TypeError, "valid indices, got 1.0"),
    "x[np.array([0, 1])]": (TypeError, "valid indices, got array([0, 1])"),
    "x[tf.constant([0, 1])]": (TypeError, "valid indices, got <tf.Tensor: shape=(2,)"),
    "x[tf.constant(1, tf.uint8)]": (TypeError, "got <tf.Tensor: shape=(), dtype=uint8"),
    "x[:, tf.constant([True])]": (TypeError, "got <tf.Tensor: shape=(1,), dtype=bool"),
    "x[0:'b']": (TypeError, "valid indices, got 'b'"),
    "x[tf.constant(0.5):]": (TypeError, "valid indices, got <tf.Tensor"),
    "x[[True, False]]": (InvalidArgumentError, "Value for attr 'Index' of bool"),
    "x[True]": (ValueError, "mask cannot be scalar."),
    "v[tf.constant(True)]": (ValueError, "mask cannot be scalar."),
    "x[tf.constant([True, False, True])]": (ValueError, "Shapes (2,) and (3,) are incompatible"),
    "x[2**40]": (InvalidArgumentError, "slice index 1099511627776 of dimension 0 out of bounds."),
    "x[None, :, -4]": (InvalidArgumentError, "slice index -1 of dimension 1 out of bounds."),
    "v[2]": (InvalidArgumentError, "slice index 2 of dimension 0 out of bounds."),
    "s[:]": (InvalidArgumentError, "Attempting to slice scalar input."),
    "x[:, ::0]": (InvalidArgumentError, "strides[1] must be non-zero"),
    "tf.slice(x, [0], [1])": (
        InvalidArgumentError,
        "Expected begin and size arguments to be 1-D tensors of size 2, but got shapes [1] and [1]",
    ),
    "tf.slice(x, [0, 1], [2, 3])": (InvalidArgumentError, "Expected size[1] in [0, 2], but got 3"),
    "tf.slice(x, [0, 0], [-2, 1])": (
        InvalidArgumentError, "Expected size[0] in [0, 2], but got -2"
    ),
    "tf.slice(x, [0, -1], [2, 1])": (
        InvalidArgumentError, "Expected begin[1] in [0, 3], but got -1"
    ),
    "tf.slice(x, [0.0, 1.0], [1, 1])": (InvalidArgumentError, "Value for attr 'Index' of float"),
    "tf.strided_slice(x, [0, 0], [2])": (
        InvalidArgumentError, "equal size tensors, but got shapes [2], [1], and [2] instead."
    ),
    "tf.strided_slice(x, [1], [0], [-1], shrink_axis_mask=1)": (
        InvalidArgumentError, "only stride 1 allowed on non-range indexing."
    ),
    "tf.strided_slice(x, [0, 1], [1, 2], ellipsis_mask=3)": (
        InvalidArgumentError, "Multiple ellipses in slice spec not allowed"
    ),
    "tf.strided_slice(x, [0, 0, 0], [1, 1, 1])": (
        InvalidArgumentError, "Index out of range using input dim 2; input has only 2 dims"
    ),
    "list(s)": (TypeError, "Cannot iterate over a scalar tensor."),
    "iter(tf.Variable(1.0))": (TypeError, "Cannot iterate over a scalar tensor."),
}  # fmt: skip


@pytest.mark.parametrize("expression", ERRORS)
def test_error(expression):
    error, message = ERRORS[expression]
    check_error(expression, error, message, names())


@pytest.mark.beyond_tensorflow
def test_indices_of_different_dtypes():
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    assert x[tf.constant(1), tf.constant(0, tf.int64)].numpy() == 3.0


POINT = np.random.default_rng(0).uniform(0.5, 2.0, (3, 4))

SLICES = {
    "row": lambda x: (x * x)[1],
    "element": lambda x: (x * x)[2, -1],
    "negative steps": lambda x: (x * x)[::-2, 3:0:-1],
    "new axes": lambda x: (x * x)[..., None, 1],
    "the same twice": lambda x: x[0] * x[0:1],
    "rows": lambda x: sum(row * i for i, row in enumerate(x)),
    "slice": lambda x: tf.slice(x * x, [1, 0], [-1, 2]),
    "strided_slice": lambda x: tf.strided_slice(x * x, [0, 3], [3, 0], [2, -1]),
}


@pytest.mark.parametrize("function", SLICES.values(), ids=SLICES)
class TestDifferentiation:
    def test_gradient(self, function):
        check_gradient(function, POINT)

    @pytest.mark.beyond_tensorflow
    def test_batch(self, function):
        check_batch(function, POINT)


def test_gradient_of_a_mask():
    check_gradient(lambda x: x[x > 1.0] ** 2, POINT)


def test_slices_of_variables_have_dense_gradients():
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as tape:
        y = v[0] * 2.0 + v[1:][0] + list(v)[1]
    g = tape.gradient(y, v)
    assert isinstance(g, tf.Tensor)
    assert g.numpy().tolist() == [[2, 2], [2, 2]]


def test_a_seed_of_another_shape(gradient_of):
    def row(x):
        return x[0]

    seed = tf.constant([1.0, 2.0])
    with pytest.raises(InvalidArgumentError, match=r"shape of dy was \[2\] instead of \[3\]"):
        gradient_of(row, np.ones((2, 3), np.float32), output_gradients=seed)


@pytest.mark.beyond_tensorflow
class TestUnknownIndices:
    """Indices that differ within a batch."""

    ROWS = np.arange(24.0).reshape(4, 2, 3)

    @pytest.mark.parametrize(
        "pick",
        [
            lambda x, i: x[i],
            lambda x, i: x[1:, i],
            lambda x, i: x[None, ..., i, :],
            lambda x, i: x[..., i, None, 0],
            lambda x, i: x[i, 0, i],
        ],
        ids=["first", "after a slice", "after an ellipsis", "before a new axis", "twice"],
    )
    def test_pick_like_a_loop(self, pick):
        indices = np.array([1, 0, -1, 1])
        with batch_level() as level:
            i = level.wrap(tf.constant(indices))
            shared = level.unwrap(pick(tf.constant(self.ROWS[:2]), i))
            own = level.unwrap(pick(level.wrap(tf.constant(np.stack([self.ROWS] * 4))), i))
        expected = [pick(self.ROWS[:2], index) for index in indices]
        np.testing.assert_array_equal(shared, expected)
        np.testing.assert_array_equal(own, [pick(self.ROWS, index) for index in indices])


class TestAssigning:
    @pytest.fixture
    def v(self):
        return tf.Variable([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])

    @pytest.mark.parametrize(
        ("assign", "expected"),
        [
            (lambda v: v[0].assign([7, 8, 9]), [[7, 8, 9], [4, 5, 6]]),
            (lambda v: v[:, 1].assign(0.0), [[1, 0, 3], [4, 0, 6]]),
            (lambda v: v[0, 1].assign(5), [[1, 5, 3], [4, 5, 6]]),
            (lambda v: v[0, 1].assign([[5.0]]), [[1, 5, 3], [4, 5, 6]]),
            (lambda v: v[0].assign([[7, 8, 9]]), [[7, 8, 9], [4, 5, 6]]),
            (lambda v: v[0:2].assign([[[7.0], [8.0]]]), [[7, 7, 7], [8, 8, 8]]),
            (lambda v: v[::-1].assign([[1, 2, 3], [4, 5, 6]]), [[4, 5, 6], [1, 2, 3]]),
            (lambda v: v[:, ::2].assign([[7, 8], [9, 0]]), [[7, 2, 8], [9, 5, 0]]),
            (lambda v: v[..., -1].assign(np.array([7, 8])), [[1, 2, 7], [4, 5, 8]]),
            (lambda v: v[:, None].assign(1.0), [[1, 1, 1], [1, 1, 1]]),
            (lambda v: v[tf.constant(1)].assign(0.0), [[1, 2, 3], [0, 0, 0]]),
            (lambda v: v[0].assign(v[1]), [[4, 5, 6], [4, 5, 6]]),
            (lambda v: v[::-1].assign(v), [[4, 5, 6], [1, 2, 3]]),
            (lambda v: v[1:1].assign([1.0, 2.0]), [[1, 2, 3], [4, 5, 6]]),
            (lambda v: v[()].assign(1.0), [[1, 1, 1], [1, 1, 1]]),
        ],
    )
    def test_changes_the_part(self, v, assign, expected):
        result = assign(v)
        assert v.numpy().tolist() == expected
        assert type(result).__name__ == "_UnreadVariable"
        assert result.numpy().tolist() == expected

    @pytest.mark.parametrize(
        ("assign", "error", "text"),
        [
            (lambda v: v[0].assign([1, 2]), InvalidArgumentError, "shape [2] into final shape [3]"),
            (
                lambda v: v[0].assign([[1, 2, 3], [4, 5, 6]]),
                InvalidArgumentError,
                "Cannot broadcast input shape [2,3] into final shape [3]",
            ),
            (lambda v: v[0, 0].assign([1, 2]), InvalidArgumentError, "[2] into final shape []"),
            (lambda v: v[5].assign(0.0), InvalidArgumentError, "slice index 5 of dimension 0"),
            (lambda v: v[0].assign(tf.constant([1, 2, 3])), ValueError, "requested dtype float32"),
            (lambda v: v[0].assign("a"), TypeError, "Cannot convert 'a' to EagerTensor of dtype"),
            (lambda v: v[0].assign_add(1.0), AttributeError, "no attribute 'assign_add'"),
            (lambda v: v[v > 2].assign(0.0), AttributeError, "no attribute 'assign'"),
            (lambda v: v[0:1][0].assign(0.0), AttributeError, "no attribute 'assign'"),
        ],
    )
    def test_refusal_changes_nothing(self, v, assign, error, text):
        with pytest.raises(error, match=re.escape(text)):
            assign(v)
        assert v.numpy().tolist() == [[1, 2, 3], [4, 5, 6]]

    def test_scalars(self):
        v = tf.Variable(1.0)
        v[...].assign(2.0)
        assert v.shape == ()
        assert v.numpy() == 2.0
        v[None].assign([3.0])
        assert v.numpy() == 3.0

    def test_what_was_read_before_is_unchanged(self, v):
        whole, part = tf.identity(v), v[0]
        v[0].assign(0.0)
        assert whole.numpy().tolist() == [[1, 2, 3], [4, 5, 6]]
        assert part.numpy().tolist() == [1, 2, 3]

    def test_ends_gradients(self, v):
        x = tf.constant([1.0, 2.0, 3.0])
        with tf.GradientTape() as tape:
            tape.watch(x)
            before = tf.reduce_sum(v * v)
            v[0].assign(x * 2.0)
            after = tf.reduce_sum(v * v)
        g = tape.gradient([before, after], [v, x])
        assert g[0].numpy().tolist() == [[6, 12, 18], [16, 20, 24]]
        assert g[1] is None

    @pytest.mark.beyond_tensorflow
    def test_happens_in_place_when_nobody_else_looks(self, v):
        buffer = v._handle.tensor._value.ctypes.data
        v[0].assign([7.0, 8.0, 9.0])
        assert v._handle.tensor._value.ctypes.data == buffer

    @pytest.mark.beyond_tensorflow
    def test_part_of_strided_slice(self, v):
        tf.strided_slice(v, [0], [1], var=v).assign([[9.0, 9.0, 9.0]])
        assert v.numpy().tolist() == [[9, 9, 9], [4, 5, 6]]

"""scatter_nd, segment sums, tensor_scatter_nd_* and the scattered updates of variables."""

import re

import numpy as np
import pytest

import gradtape as tf
from composites import check_batch, check_gradient

InvalidArgumentError = tf.errors.InvalidArgumentError


def names():
    x = tf.constant([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    return {"tf": tf, "np": np, "x": x, "v": tf.Variable(x), "s": tf.constant(5.0)}


VALUES = {
    "tf.scatter_nd([[1], [3], [1]], [5.0, 6.0, 7.0], [5])": [0, 12, 0, 6, 0],
    "tf.scatter_nd([[0], [1]], [[1, 2], [3, 4]], tf.constant([3, 2]))": [[1, 2], [3, 4], [0, 0]],
    "tf.scatter_nd([[0]], ['a'], [2])": [b"a", b""],
    "tf.scatter_nd([[0]], [True], [2])": [True, False],
    "tf.scatter_nd(tf.zeros([0, 1], tf.int32), tf.zeros([0]), [2])": [0, 0],
    "tf.scatter_nd([[9], [1]], [1.0, 2.0], [2], bad_indices_policy='IGNORE')": [0, 2],
    "tf.scatter_nd(indices=[[0]], updates=[1.0], shape=[2], name='n')": [1, 0],
    "tf.math.unsorted_segment_sum(x, [0, 0], 2)": [[5, 7, 9], [0, 0, 0]],
    "tf.math.unsorted_segment_sum(v, [0, -1], tf.constant(2))": [[1, 2, 3], [0, 0, 0]],
    "tf.math.unsorted_segment_sum(x, [[0, 1, 0], [1, 1, 0]], 2)": [10, 11],
    "tf.math.unsorted_segment_sum([1, 2], 0, num_segments=2)": [[1, 2], [0, 0]],
    "tf.tensor_scatter_nd_update(x, [[0, 1]], [9])": [[1, 9, 3], [4, 5, 6]],
    "tf.tensor_scatter_nd_update(x, [[0, 1], [0, 1]], [9, 8])": [[1, 8, 3], [4, 5, 6]],
    "tf.tensor_scatter_nd_update(['a', 'b'], [[0]], ['z'])": [b"z", b"b"],
    "tf.tensor_scatter_nd_add(v, [[0, 1], [0, 1]], [9, 8])": [[1, 19, 3], [4, 5, 6]],
    "tf.tensor_scatter_nd_sub(x, [[0], [0]], [[1, 1, 1], [1, 1, 1]])": [[-1, 0, 1], [4, 5, 6]],
    "tf.tensor_scatter_nd_min(x, [[0, 1], [0, 1]], [9, -8])": [[1, -8, 3], [4, 5, 6]],
    "tf.tensor_scatter_nd_max(x, [[0], [1]], [[9, 8, 0], [9, 0, 8]])": [[9, 8, 3], [9, 5, 8]],
    "tf.tensor_scatter_nd_max(x, [[0, 1], [7, 7]], [9, 8], 'IGNORE')": [[1, 9, 3], [4, 5, 6]],
}  # fmt: skip


@pytest.mark.parametrize("expression", VALUES)
def test_value(expression):
    assert np.asarray(eval(expression, names())).tolist() == VALUES[expression]


ERRORS = {
    "tf.scatter_nd([0], 1.0, [3])": "Updates shape must have rank at least one. Found:[]",
    "tf.scatter_nd([[0]], [1.0], [0])": (
        "Indices and updates specified for empty output.  indices shape: [1,1]"
    ),
    "tf.scatter_nd([[0]], [1.0], [])": "Indices and updates specified for empty output",
    "tf.scatter_nd([[-1]], [5.0], [3])": "indices[0] = [-1] does not index into shape [3]",
    "tf.math.unsorted_segment_sum(x, [0, 2], 2)": "segment_ids[1] = 2 is out of range [0, 2)",
    "tf.math.unsorted_segment_sum(x, [0, 1], -1)": "num_segments == -1 must not be negative",
    "tf.tensor_scatter_nd_update(s, [[0]], [9])": (
        "Inner dimensions of output shape must match inner dimensions of updates shape. Output: []"
    ),
    "tf.tensor_scatter_nd_add(x, [[0, 1]], tf.constant([9]))": (
        "cannot compute TensorScatterAdd as input #2(zero-based) was expected to be a float tensor"
    ),
}


@pytest.mark.parametrize("expression", ERRORS)
def test_error(expression):
    with pytest.raises(InvalidArgumentError, match=re.escape(ERRORS[expression])):
        eval(expression, names())


POINT = np.random.default_rng(0).uniform(0.5, 2.0, (3, 2))
PLACES = [[2], [0]]

COMPOSITES = {
    "scatter_nd": lambda x: tf.scatter_nd([[3], [0], [3]], x * x, [4, 2]),
    "unsorted_segment_sum": lambda x: tf.math.unsorted_segment_sum(x * x, [1, -1, 1], 2),
    "update": lambda x: tf.tensor_scatter_nd_update(x * x, PLACES, x[:2]),
    "add": lambda x: tf.tensor_scatter_nd_add(x * x, [[2], [2]], x[:2]),
    "sub": lambda x: tf.tensor_scatter_nd_sub(x * x, [[2], [2]], x[:2]),
    "min": lambda x: tf.tensor_scatter_nd_min(x * x, PLACES, x[:2]),
    "max": lambda x: tf.tensor_scatter_nd_max(x * x, PLACES, x[:2]),
}


@pytest.mark.parametrize("function", COMPOSITES.values(), ids=COMPOSITES)
class TestDifferentiation:
    def test_gradient(self, function):
        check_gradient(function, POINT)

    @pytest.mark.beyond_tensorflow
    def test_batch(self, function):
        check_batch(function, POINT)


@pytest.mark.parametrize("function", [tf.tensor_scatter_nd_min, tf.tensor_scatter_nd_max])
def test_equal_elements_share_the_gradient(gradient_of, function):
    x, u = gradient_of(
        lambda x, u: function(x, [[0], [0], [1]], u), [5.0, 2.0], tf.constant([5.0, 5.0, 2.0])
    )
    np.testing.assert_allclose(x, [1 / 3, 1 / 2], rtol=1e-6)
    np.testing.assert_allclose(u, [1 / 3, 1 / 3, 1 / 2], rtol=1e-6)


@pytest.mark.beyond_tensorflow
def test_gradient_of_places_that_are_ignored():
    places = [[3], [9], [3]]
    check_gradient(lambda x: tf.scatter_nd(places, x, [4, 2], bad_indices_policy="IGNORE"), POINT)


@pytest.mark.beyond_tensorflow
def test_gradient_of_gather_nd_at_one_place(gradient_of):
    g = gradient_of(lambda x: tf.gather_nd(x, [0, 1]), [[1.0, 2.0], [3.0, 4.0]])
    assert g.numpy().tolist() == [[0, 1], [0, 0]]


class TestVariables:
    @pytest.fixture
    def v(self):
        return tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])

    @staticmethod
    def slices(values, indices):
        return tf.IndexedSlices(tf.constant(values), tf.constant(indices))

    @pytest.mark.parametrize(
        ("name", "expected"),
        [
            ("add", [[4, 7], [3, 4], [5, 6]]),
            ("sub", [[-2, -3], [3, 4], [5, 6]]),
            ("mul", [[2, 12], [3, 4], [5, 6]]),
            ("div", [[0.5, 1 / 3], [3, 4], [5, 6]]),
            ("min", [[1, 2], [3, 4], [5, 6]]),
            ("max", [[2, 3], [3, 4], [5, 6]]),
            ("update", [[2, 3], [3, 4], [5, 6]]),
        ],
    )
    def test_rows_named_twice(self, v, name, expected):
        slices = self.slices([[1.0, 2.0], [2.0, 3.0]], [0, 0])
        result = getattr(v, f"scatter_{name}")(slices, use_locking=False, name="s")
        np.testing.assert_allclose(v, expected, rtol=1e-6)
        assert type(result).__name__ == "_UnreadVariable"

    @pytest.mark.parametrize(
        "ids",
        [
            [3, 1, 4, 0],
            [3, 1, 4, 0, 3, 1],
            [3, 1, 4, 0, 2, 5, 6, 7, 3, 1, 4, 0, 3],
            [2] * 9,
            [*range(8), *range(8), 0, 1, 0, 1, 0],
        ],
    )
    def test_wide_rows_named_several_times(self, ids):
        random = np.random.default_rng(len(ids))
        table = random.standard_normal((8, 20), np.float32)
        rows = random.standard_normal((len(ids), 20), np.float32)
        v = tf.Variable(table)
        v.scatter_sub(self.slices(rows, ids))
        np.subtract.at(table, ids, rows)  # one after the other, rounded each time
        np.testing.assert_array_equal(v, table)

    def test_one_number_for_all_rows(self, v):
        v.scatter_add(self.slices(1.0, [0, 2]))
        assert v.numpy().tolist() == [[2, 3], [3, 4], [6, 7]]

    def test_indices_of_any_shape(self, v):
        v.scatter_add(self.slices([[[1.0, 1.0]]], [[2]]))
        v.scatter_sub(self.slices([1.0, 1.0], 0))
        assert v.numpy().tolist() == [[0, 1], [3, 4], [6, 7]]

    def test_integers_are_divided_towards_zero(self):
        v = tf.Variable([-7, 7])
        v.scatter_div(tf.IndexedSlices(tf.constant([2, -2]), tf.constant([0, 1])))
        assert v.numpy().tolist() == [-3, -3]

    @pytest.mark.parametrize(
        ("name", "expected"),
        [
            ("add", [[1, 13], [3, 4], [5, 6]]),
            ("sub", [[1, -9], [3, 4], [5, 6]]),
            ("update", [[1, 6], [3, 4], [5, 6]]),
            ("min", [[1, 2], [3, 4], [5, 6]]),
            ("max", [[1, 6], [3, 4], [5, 6]]),
        ],
    )
    def test_places_named_twice(self, v, name, expected):
        getattr(v, f"scatter_nd_{name}")([[0, 1], [0, 1]], [5, 6.0])
        assert v.numpy().tolist() == expected

    def test_batch_scatter_update(self, v):
        v.batch_scatter_update(self.slices([[9.0], [8.0], [7.0]], [[0], [1], [0]]))
        assert v.numpy().tolist() == [[9, 2], [3, 8], [7, 6]]

    @pytest.mark.parametrize(
        ("update", "error", "text"),
        [
            (
                lambda v, s: v.scatter_add(s([[1.0, 1.0]], [-1])),
                InvalidArgumentError,
                "indices[0] = -1 is not in [0, 3) [Op:ResourceScatterAdd]",
            ),
            (
                lambda v, s: v.scatter_mul(s([1.0, 1.0, 1.0], [0])),
                InvalidArgumentError,
                "Must have updates.shape = indices.shape + params.shape[1:] or updates.shape = []",
            ),
            (lambda v, s: v.scatter_add(s([[1, 1]], [0])), ValueError, "requested dtype float32"),
            (
                lambda v, s: v.scatter_update(5.0),
                TypeError,
                "Argument `sparse_delta` must be a `tf.IndexedSlices`. Received arg: 5.0",
            ),
            (
                lambda v, s: v.scatter_nd_add([[0, 5]], [5.0]),
                InvalidArgumentError,
                "indices[0] = [0, 5] does not index into shape [3,2] [Op:ResourceScatterNdAdd]",
            ),
            (
                lambda v, s: v.scatter_nd_update([[0]], [[5.0]]),
                InvalidArgumentError,
                "Dimensions [1,2) of input[shape=[3,2]] must match dimensions [1,2) of updates",
            ),
            (
                lambda v, s: v.scatter_nd_add([[0, 1]], tf.constant([5])),
                ValueError,
                "Tensor conversion requested dtype float32 for Tensor with dtype int32",
            ),
        ],
    )
    def test_refusal_changes_nothing(self, v, update, error, text):
        with pytest.raises(error, match=re.escape(text)):
            update(v, self.slices)
        assert v.numpy().tolist() == [[1, 2], [3, 4], [5, 6]]

    @pytest.mark.beyond_tensorflow
    def test_no_batch_is_updated_if_one_is_refused(self, v):
        with pytest.raises(InvalidArgumentError, match=r"indices\[2,0\] = \[2, 7\] does not index"):
            v.batch_scatter_update(self.slices([[9.0], [8.0], [7.0]], [[0], [1], [7]]))
        assert v.numpy().tolist() == [[1, 2], [3, 4], [5, 6]]

    @pytest.mark.beyond_tensorflow
    def test_rows_that_are_too_short(self, v):
        with pytest.raises(InvalidArgumentError, match=r"Must have updates\.shape"):
            v.scatter_add(self.slices([[1.0]], [0]))

    def test_what_was_read_before_is_unchanged(self, v):
        before = v.read_value()
        v.scatter_add(self.slices([[1.0, 1.0]], [0]))
        assert before.numpy().tolist() == [[1, 2], [3, 4], [5, 6]]

    def test_a_value_that_is_not_contiguous(self):
        v = tf.Variable(tf.zeros([2, 3]))
        v.assign(tf.transpose([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]))
        v.scatter_add(self.slices([[10.0, 10.0, 10.0]], [1]))
        v.scatter_nd_add([[0, 2]], [100.0])
        assert v.numpy().tolist() == [[1, 3, 105], [12, 14, 16]]

    def test_reads(self, v):
        assert v.sparse_read([[2], [0]]).numpy().tolist() == [[[5, 6]], [[1, 2]]]
        with tf.GradientTape() as tape:
            y = 2.0 * v.sparse_read([0, 0]) + v.gather_nd([[1, 1]])
        g = tf.convert_to_tensor(tape.gradient(y, v))
        assert g.numpy().tolist() == [[4, 4], [0, 4], [0, 0]]

    def test_updates_end_gradients(self, v):
        x = tf.constant([[1.0, 2.0]])
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = v.scatter_add(tf.IndexedSlices(x * 2.0, tf.constant([0]))) * 3.0
        g = tape.gradient(y, [v, x])
        assert g[0].numpy().tolist() == [[3, 3], [3, 3], [3, 3]]
        assert g[1] is None
        assert tape.watched_variables() == (v,)

    @pytest.mark.beyond_tensorflow
    @pytest.mark.parametrize(
        "update",
        [
            lambda v, s: v.scatter_add(s([[1.0, 1.0]], [0])),
            lambda v, s: v.scatter_update(s([[1.0, 1.0]], [0])),
            lambda v, s: v.scatter_nd_max([[0, 1]], [5.0]),
        ],
    )
    def test_updates_happen_in_place_when_nobody_else_looks(self, v, update):
        buffer = v._handle.tensor._value.ctypes.data
        update(v, self.slices)
        assert v._handle.tensor._value.ctypes.data == buffer

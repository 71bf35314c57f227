"""tf.Variable: construction, assignment in all its forms, and how a tape sees it."""

import copy
import pickle

import numpy as np
import pytest

import gradtape as tf

InvalidArgumentError = tf.errors.InvalidArgumentError


@pytest.fixture
def v():
    return tf.Variable([1.0, 2.0, 3.0])


class TestConstruction:
    def test_types(self, v):
        assert type(v).__name__ == "ResourceVariable"
        assert isinstance(v, tf.Variable)
        assert not isinstance(v, tf.Tensor)
        assert tf.is_tensor(v)

    @pytest.mark.parametrize(
        ("value", "dtype", "array"),
        [
            (3.0, tf.float32, 3.0),
            (3, tf.int32, 3),
            (True, tf.bool, True),
            ("text", tf.string, b"text"),
            ([1, 2.0], tf.float32, [1.0, 2.0]),
            (range(3), tf.int32, [0, 1, 2]),
            (np.ones(2), tf.float64, [1.0, 1.0]),
            (tf.constant([1, 2], tf.int64), tf.int64, [1, 2]),
            (lambda: [4.0], tf.float32, [4.0]),
            (tf.Variable([5.0]), tf.float32, [5.0]),
        ],
        ids=[
            "float",
            "int",
            "bool",
            "str",
            "list",
            "range",
            "ndarray",
            "tensor",
            "callable",
            "var",
        ],
    )
    def test_initial_values(self, value, dtype, array):
        v = tf.Variable(value)
        assert v.dtype == dtype
        assert np.asarray(v).tolist() == array

    def test_initial_value_is_copied(self):
        array, other = np.array([1.0, 2.0]), tf.Variable([1.0, 2.0])
        v, w = tf.Variable(array), tf.Variable(other)
        array[:] = 0.0
        other.assign([0.0, 0.0])
        assert v.numpy().tolist() == w.numpy().tolist() == [1.0, 2.0]

    def test_initial_tensor_is_not_changed_by_assignment(self):
        t = tf.constant([1.0, 2.0])
        v = tf.Variable(t)
        v.assign_add([1.0, 1.0])
        v[0].assign(9.0)
        assert t.numpy().tolist() == [1.0, 2.0]

    @pytest.mark.parametrize(
        ("name", "full_name"), [(None, "Variable:0"), ("x0", "x0:0"), ("a/b", "a/b:0")]
    )
    def test_names(self, name, full_name):
        assert tf.Variable(1.0, name=name).name == full_name

    def test_a_name_scope_prefixes_the_name(self):
        with tf.name_scope("scope"):
            assert tf.Variable(1.0, name="q").name == "scope/q:0"

    @pytest.mark.parametrize("trainable", [True, False])
    def test_trainable(self, trainable):
        assert tf.Variable(1.0).trainable is True
        assert tf.Variable(1.0, trainable=trainable).trainable is trainable
        assert tf.Variable(1.0, trainable).trainable is trainable

    @pytest.mark.parametrize("arguments", [(), (None,)])
    def test_without_a_value(self, arguments):
        with pytest.raises(ValueError, match="initial_value"):
            tf.Variable(*arguments)

    @pytest.mark.parametrize(
        ("value", "error", "message"),
        [
            (3.5, TypeError, r"Cannot convert 3\.5 to EagerTensor of dtype int32"),
            (tf.constant(3.5), ValueError, "requested dtype int32 for Tensor with dtype float32"),
        ],
        ids=["float", "tensor"],
    )
    def test_a_value_of_another_dtype(self, value, error, message):
        with pytest.raises(error, match=message):
            tf.Variable(value, dtype=tf.int32)

    def test_a_shape_that_does_not_fit(self):
        with pytest.raises(ValueError, match=r"shape \(\(2,\)\) is not compatible with.*\[3\]"):
            tf.Variable([1.0, 2.0], shape=[3])

    def test_an_open_dimension(self):
        v = tf.Variable([1.0, 2.0], shape=[None])
        assert v.shape.as_list() == [None]
        v.assign([1.0, 2.0, 3.0])
        assert v.numpy().tolist() == [1.0, 2.0, 3.0]
        with pytest.raises(ValueError, match="Shape mismatch"):
            v.assign([[1.0]])

    @pytest.mark.parametrize(
        ("value", "text"),
        [
            (3.0, "<tf.Variable 'x0:0' shape=() dtype=float32, numpy=3.0>"),
            (
                [1, 2],
                "<tf.Variable 'x0:0' shape=(2,) dtype=int32, numpy=array([1, 2], dtype=int32)>",
            ),
            (
                [[1.0], [2.0]],
                "<tf.Variable 'x0:0' shape=(2, 1) dtype=float32, numpy=\n"
                "array([[1.],\n       [2.]], dtype=float32)>",
            ),
        ],
        ids=["scalar", "vector", "matrix"],
    )
    def test_repr_and_str(self, value, text):
        v = tf.Variable(value, name="x0")
        assert repr(v) == str(v) == text


class TestAttributes:
    @pytest.mark.parametrize("name", ["trainable", "name", "shape", "dtype"])
    def test_read_only(self, v, name):
        with pytest.raises(AttributeError):
            setattr(v, name, None)

    def test_new_ones_may_be_set(self, v):
        v.note = "mine"
        assert v.note == "mine"

    @pytest.mark.parametrize("name", ["op", "graph"])
    def test_graph_attributes(self, v, name):
        with pytest.raises(AttributeError, match=f"{name} is undefined when eager"):
            getattr(v, name)

    def test_graph_methods(self, v):
        with pytest.raises(RuntimeError, match="not supported when eager"):
            _ = v.initial_value
        with pytest.raises(RuntimeError, match="not supported when eager"):
            v.eval()

    def test_is_initialized_is_a_tensor(self, v):
        assert bool(v.is_initialized()) is True
        assert v.is_initialized().dtype == tf.bool

    def test_a_constraint_is_kept_and_not_applied(self):
        v = tf.Variable(1.0, constraint=tf.abs)
        v.assign(-2.0)
        assert v.constraint is tf.abs
        assert float(v) == -2.0


class TestAssign:
    @pytest.mark.parametrize(
        ("method", "want"),
        [
            ("assign", [10.0, 20.0, 30.0]),
            ("assign_add", [11.0, 22.0, 33.0]),
            ("assign_sub", [-9.0, -18.0, -27.0]),
        ],
    )
    @pytest.mark.parametrize(
        "convert", [list, tf.constant, np.array, tf.Variable], ids=["list", "tensor", "np", "var"]
    )
    def test_values(self, v, method, want, convert):
        getattr(v, method)(convert([10.0, 20.0, 30.0]))
        assert v.numpy().tolist() == want
        assert v.dtype == tf.float32

    def test_returns_a_live_alias(self, v):
        alias = v.assign([4.0, 5.0, 6.0])
        assert isinstance(alias, tf.Variable)
        v.assign([7.0, 8.0, 9.0])
        assert alias.numpy().tolist() == [7.0, 8.0, 9.0]

    def test_the_result_is_differentiable_as_a_read(self, v):
        with tf.GradientTape() as tape:
            y = v.assign([4.0, 5.0, 6.0]) ** 2
        assert tape.gradient(y, v).numpy().tolist() == [8.0, 10.0, 12.0]

    @pytest.mark.parametrize("method", ["assign", "assign_add", "assign_sub"])
    def test_without_reading(self, v, method):
        assert getattr(v, method)([4.0, 5.0, 6.0], read_value=False) is None

    def test_of_a_value_computed_from_itself(self, v):
        v.assign(v[::-1])
        v.assign(v * 2.0 + v)
        assert v.numpy().tolist() == [9.0, 6.0, 3.0]

    @pytest.mark.parametrize("value", [[1.0, 2.0], 1.0, [[1.0, 2.0, 3.0]]])
    def test_of_another_shape(self, v, value):
        shape = ", ".join(map(str, np.shape(value)))
        with pytest.raises(ValueError, match=rf"Shape mismatch.*\(3,\).*shape \({shape},?\)"):
            v.assign(value)
        for method in ("assign_add", "assign_sub"):
            with pytest.raises(InvalidArgumentError, match="Cannot update variable with shape"):
                getattr(v, method)(value)
        assert v.numpy().tolist() == [1.0, 2.0, 3.0]

    @pytest.mark.parametrize("method", ["assign", "assign_add", "assign_sub"])
    def test_of_a_tensor_of_another_dtype(self, v, method):
        with pytest.raises(ValueError, match="requested dtype float32 for Tensor with dtype int32"):
            getattr(v, method)(tf.constant([1, 2, 3]))
        assert v.numpy().tolist() == [1.0, 2.0, 3.0]

    @pytest.mark.parametrize(
        ("initial", "value", "message"),
        [
            ([1, 2], [1.5, 2.5], r"Cannot convert \[1\.5, 2\.5\] to EagerTensor of dtype int32"),
            (1.0, "abc", "Cannot convert 'abc' to EagerTensor of dtype float"),
        ],
    )
    def test_of_python_values_that_do_not_convert(self, initial, value, message):
        v = tf.Variable(initial)
        with pytest.raises(TypeError, match=message):
            v.assign(value)
        assert np.asarray(v).tolist() == initial

    def test_augmented_assignment_is_refused(self, v):
        with pytest.raises(RuntimeError, match=r"Use `variable\.assign_add\(value\)` to modify"):
            v += 1.0
        with pytest.raises(RuntimeError, match=r"Use `variable\.assign_sub\(value\)` to modify"):
            v -= 1.0
        with pytest.raises(RuntimeError, match=r"Use `var\.assign\(var \* value\)` to modify"):
            v *= 2.0

    def test_arithmetic_gives_a_tensor(self, v):
        assert type(v + 1.0).__name__ == "EagerTensor"


SLICE_ASSIGNMENTS = {
    "row": (lambda v: v[0].assign([9.0, 8.0]), [[9, 8], [3, 4], [5, 6]]),
    "element": (lambda v: v[0, 1].assign(9.0), [[1, 9], [3, 4], [5, 6]]),
    "last row": (lambda v: v[-1].assign([9.0, 8.0]), [[1, 2], [3, 4], [9, 8]]),
    "column": (lambda v: v[:, 0].assign([7.0, 8.0, 9.0]), [[7, 2], [8, 4], [9, 6]]),
    "broadcast": (lambda v: v[:, 0].assign(9.0), [[9, 2], [9, 4], [9, 6]]),
    "step": (lambda v: v[::2].assign([[7.0, 7.0], [9.0, 9.0]]), [[7, 7], [3, 4], [9, 9]]),
    "negative step": (lambda v: v[::-1, 0].assign([7.0, 8.0, 9.0]), [[9, 2], [8, 4], [7, 6]]),
    "ellipsis": (lambda v: v[..., 1].assign([7.0, 8.0, 9.0]), [[1, 7], [3, 8], [5, 9]]),
    "everything": (lambda v: v[:].assign(tf.zeros([3, 2])), [[0, 0]] * 3),
}


class TestSliceAssign:
    @pytest.mark.parametrize(("assign", "want"), SLICE_ASSIGNMENTS.values(), ids=SLICE_ASSIGNMENTS)
    def test_values(self, assign, want):
        v = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
        result = assign(v)
        assert v.numpy().tolist() == want
        assert result.numpy().tolist() == want

    def test_of_another_shape(self, v):
        message = r"Cannot broadcast input shape \[2\] into final shape \[3\]"
        with pytest.raises(InvalidArgumentError, match=message):
            v[:].assign([9.0, 9.0])
        assert v.numpy().tolist() == [1.0, 2.0, 3.0]

    def test_item_assignment_is_refused(self, v):
        with pytest.raises(TypeError, match="does not support item assignment"):
            v[0] = 1.0

    def test_slices_taken_before_are_unchanged(self, v):
        before = v[:2]
        v[0].assign(9.0)
        assert before.numpy().tolist() == [1.0, 2.0]


SCATTER = {
    "update": [10.0, 2.0, 0.5],
    "add": [11.0, 2.0, 3.5],
    "sub": [-9.0, 2.0, 2.5],
    "mul": [10.0, 2.0, 1.5],
    "div": [0.1, 2.0, 6.0],
    "min": [1.0, 2.0, 0.5],
    "max": [10.0, 2.0, 3.0],
}


class TestScatter:
    @pytest.mark.parametrize(("name", "want"), SCATTER.items(), ids=SCATTER)
    def test_slices(self, v, name, want):
        slices = tf.IndexedSlices(tf.constant([10.0, 0.5]), tf.constant([0, 2]))
        result = getattr(v, f"scatter_{name}")(slices)
        np.testing.assert_allclose(v, want, rtol=1e-6)
        np.testing.assert_allclose(result, want, rtol=1e-6)

    @pytest.mark.parametrize("name", ["update", "add", "sub", "min", "max"])
    def test_nd(self, v, name):
        getattr(v, f"scatter_nd_{name}")([[0], [2]], [10.0, 0.5])
        np.testing.assert_allclose(v, SCATTER[name], rtol=1e-6)

    def test_repeated_indices_add_up(self, v):
        v.scatter_add(tf.IndexedSlices(tf.constant([10.0, 5.0]), tf.constant([0, 0])))
        assert v.numpy().tolist() == [16.0, 2.0, 3.0]

    def test_an_index_out_of_range_changes_nothing(self, v):
        slices = tf.IndexedSlices(tf.constant([10.0]), tf.constant([3]))
        with pytest.raises(InvalidArgumentError, match=r"indices\[0\] = 3 is not in \[0, 3\)"):
            v.scatter_update(slices)
        assert v.numpy().tolist() == [1.0, 2.0, 3.0]

    def test_what_is_not_indexed_slices(self, v):
        with pytest.raises(TypeError, match=r"`sparse_delta` must be a `tf\.IndexedSlices`"):
            v.scatter_add([1.0])

    def test_reads(self, v):
        assert v.sparse_read([2, 0]).numpy().tolist() == [3.0, 1.0]
        assert v.gather_nd([[2], [0]]).numpy().tolist() == [3.0, 1.0]


class TestProtocol:
    def test_iteration_and_no_length(self, v):
        assert [float(item) for item in v] == [1.0, 2.0, 3.0]
        with pytest.raises(TypeError, match="has no len"):
            len(v)

    def test_not_an_index(self):
        with pytest.raises(TypeError):
            _ = [1, 2, 3][tf.Variable(1)]

    def test_no_format_specification(self):
        with pytest.raises(TypeError, match="unsupported format string"):
            f"{tf.Variable(1.0):.2f}"

    def test_hash_and_ref(self, v):
        with pytest.raises(TypeError, match=r"unhashable. Instead, use variable\.ref\(\)"):
            hash(v)
        assert v.ref() == v.ref()
        assert {v.ref(): 1}[v.ref()] == 1
        assert v.ref().deref() is v

    def test_equality_is_elementwise(self, v):
        assert (v == [1.0, 5.0, 3.0]).numpy().tolist() == [True, False, True]
        assert (v != [1.0, 5.0, 3.0]).numpy().tolist() == [False, True, False]
        with pytest.raises(ValueError, match="None"):
            _ = v == None  # noqa: E711

    def test_copy_shares_and_deepcopy_does_not(self):
        v = tf.Variable(1.0, name="q")
        shared, separate = copy.copy(v), copy.deepcopy(v)
        v.assign(2.0)
        assert (float(shared), float(separate)) == (2.0, 1.0)
        assert separate.name == "q:0"

    def test_pickle(self):
        v = pickle.loads(pickle.dumps(tf.Variable([1.0, 2.0], name="q", trainable=False)))
        assert isinstance(v, tf.Variable)
        assert v.numpy().tolist() == [1.0, 2.0]
        assert (v.name, v.trainable) == ("q:0", False)

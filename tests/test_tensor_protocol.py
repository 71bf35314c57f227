"""What Python and NumPy may do with a tensor, and that none of it changes the tensor."""

import copy
import math
import operator
import pickle

import numpy as np
import pytest

import gradtape as tf

InvalidArgumentError = tf.errors.InvalidArgumentError
AMBIGUOUS = "truth value of an array with more than one element is ambiguous"


@pytest.fixture
def t():
    return tf.constant([1.0, 2.0, 3.0])


@pytest.fixture
def m():
    return tf.constant([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])


# value -> repr, str, format
TEXTS = {
    "float": (
        0.1,
        "<tf.Tensor: shape=(), dtype=float32, numpy=0.10000000149011612>",
        "tf.Tensor(0.1, shape=(), dtype=float32)",
        "0.10000000149011612",
    ),
    "int": (
        3,
        "<tf.Tensor: shape=(), dtype=int32, numpy=3>",
        "tf.Tensor(3, shape=(), dtype=int32)",
        "3",
    ),
    "string": (
        "a",
        "<tf.Tensor: shape=(), dtype=string, numpy=b'a'>",
        "tf.Tensor(b'a', shape=(), dtype=string)",
        "b'a'",
    ),
    "complex": (
        1 + 2j,
        "<tf.Tensor: shape=(), dtype=complex128, numpy=(1+2j)>",
        "tf.Tensor((1+2j), shape=(), dtype=complex128)",
        "(1+2j)",
    ),
    "vector": (
        [1.0, 2.0],
        "<tf.Tensor: shape=(2,), dtype=float32, numpy=array([1., 2.], dtype=float32)>",
        "tf.Tensor([1. 2.], shape=(2,), dtype=float32)",
        "[1. 2.]",
    ),
    "matrix": (
        [[1, 2], [3, 4]],
        "<tf.Tensor: shape=(2, 2), dtype=int32, numpy=\n"
        "array([[1, 2],\n       [3, 4]], dtype=int32)>",
        "tf.Tensor(\n[[1 2]\n [3 4]], shape=(2, 2), dtype=int32)",
        "[[1 2]\n [3 4]]",
    ),
    "one row": (
        [[1.0, 2.0]],
        "<tf.Tensor: shape=(1, 2), dtype=float32, numpy=array([[1., 2.]], dtype=float32)>",
        "tf.Tensor([[1. 2.]], shape=(1, 2), dtype=float32)",
        "[[1. 2.]]",
    ),
    "empty": (
        [],
        "<tf.Tensor: shape=(0,), dtype=float32, numpy=array([], dtype=float32)>",
        "tf.Tensor([], shape=(0,), dtype=float32)",
        "[]",
    ),
}


class TestText:
    @pytest.mark.parametrize(("value", "as_repr", "as_str", "as_format"), TEXTS.values(), ids=TEXTS)
    def test_repr_str_and_format(self, value, as_repr, as_str, as_format):
        tensor = tf.constant(value)
        assert repr(tensor) == as_repr
        assert str(tensor) == as_str
        assert f"{tensor}" == as_format

    def test_format_specifications(self, t):
        assert f"{tf.constant(3.14159):.2f}" == "3.14"
        assert "%f %d" % (tf.constant(3.0), tf.constant(3)) == "3.000000 3"  # noqa: UP031
        with pytest.raises(TypeError, match="unsupported format string"):
            f"{t:.2f}"

    def test_dtype_and_shape(self, m):
        assert (repr(m.dtype), str(m.dtype)) == ("tf.float32", "<dtype: 'float32'>")
        assert (repr(m.shape), str(m.shape)) == ("TensorShape([2, 3])", "(2, 3)")
        assert (m.ndim, m.shape.rank) == (2, 2)


class TestToPython:
    def test_numbers(self):
        assert int(tf.constant(3.7)) == 3
        assert float(tf.constant(3)) == 3.0
        assert complex(tf.constant(1 + 2j)) == 1 + 2j
        assert math.sqrt(tf.constant(4.0)) == 2.0

    @pytest.mark.parametrize("convert", [int, float])
    def test_only_scalars_are_numbers(self, convert):
        with pytest.raises(TypeError, match="only 0-dimensional arrays"):
            convert(tf.constant([3.0]))

    @pytest.mark.parametrize(
        ("value", "truth"), [(0.0, False), ([[2.0]], True), ([], False), ("", False), ("a", True)]
    )
    def test_truth(self, value, truth):
        assert bool(tf.constant(value)) is truth

    def test_truth_of_several_elements(self, t):
        with pytest.raises(ValueError, match=AMBIGUOUS):
            bool(t)

    def test_and_or_not_follow_truth(self):
        yes, no = tf.constant(True), tf.constant(False)
        assert (yes and no) is no
        assert (yes or no) is yes
        assert (not no) is True

    def test_an_integer_scalar_is_an_index(self):
        assert list(range(tf.constant(3))) == [0, 1, 2]
        assert [10, 20, 30][tf.constant(1)] == 20
        assert operator.index(tf.constant(2)) == 2

    @pytest.mark.parametrize(("value", "error"), [(1.0, AttributeError), ([1], TypeError)])
    def test_nothing_else_is_an_index(self, value, error):
        with pytest.raises((error, TypeError)):
            operator.index(tf.constant(value))

    def test_length_and_iteration(self, m):
        assert len(m) == 2
        first, second = m
        assert (first.numpy().tolist(), second.numpy().tolist()) == ([1, 2, 3], [4, 5, 6])
        with pytest.raises(TypeError, match=r"Scalar tensor has no `len\(\)`"):
            len(tf.constant(1.0))
        with pytest.raises(TypeError, match="Cannot iterate over a scalar tensor"):
            iter(tf.constant(1.0)).__next__()

    def test_iteration_is_differentiable(self, gradient_of):
        gradient = gradient_of(lambda t: sum(i * row for i, row in enumerate(t)), [4.0, 5.0, 6.0])
        assert gradient.numpy().tolist() == [0.0, 1.0, 2.0]

    @pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy], ids=["copy", "deepcopy"])
    @pytest.mark.parametrize("value", [1.0, [1, 2], [["a", "b"]], 1 + 2j, True])
    def test_copies(self, duplicate, value):
        tensor = tf.constant(value)
        assert duplicate(tensor).dtype == tensor.dtype
        assert np.array_equal(duplicate(tensor).numpy(), tensor.numpy())

    @pytest.mark.parametrize("dtype", [tf.float32, tf.bfloat16, tf.int8, tf.complex64, tf.bool])
    def test_pickle(self, dtype):
        tensor = tf.cast(tf.constant([[0.0, 1.0]]), dtype)
        again = pickle.loads(pickle.dumps(tensor))
        assert (again.dtype, again.shape) == (dtype, tensor.shape)
        assert again.numpy().tolist() == tensor.numpy().tolist()


class TestEqualityAndHash:
    def test_hash_and_ref(self, t):
        with pytest.raises(TypeError, match=r"unhashable. Instead, use tensor\.ref\(\) as the key"):
            hash(t)
        assert t.ref() == t.ref()
        assert t.ref() != tf.constant([1.0, 2.0, 3.0]).ref()
        assert {t.ref(): "found"}[t.ref()] == "found"
        assert t.ref().deref() is t
        scalar = tf.constant(1.0)
        assert repr(scalar.ref()) == f"<Reference wrapping {scalar!r}>"

    def test_is_elementwise_with_broadcasting(self, t, m):
        assert (t == [1.0, 0.0, 3.0]).numpy().tolist() == [True, False, True]
        assert (t != 2.0).numpy().tolist() == [True, False, True]
        assert (m == t).numpy().tolist() == [[True, True, True], [False, False, False]]

    def test_shapes_that_do_not_broadcast_are_just_unequal(self, t):
        assert (t == tf.constant([1.0, 2.0])).numpy() == np.False_
        assert (t != tf.constant([1.0, 2.0])).numpy() == np.True_

    def test_none(self, t):
        assert (t == None) is False  # noqa: E711
        assert (t != None) is True  # noqa: E711

    def test_dtypes_that_do_not_fit(self, t):
        with pytest.raises(InvalidArgumentError, match=r"Equal.*float tensor.*int32 tensor"):
            _ = t == tf.constant([1, 2, 3])
        with pytest.raises(TypeError, match=r"Cannot convert 1\.0 to EagerTensor of dtype int32"):
            _ = tf.constant(1) == 1.0

    def test_membership_is_by_value(self, t):
        assert tf.constant(1.0) in [tf.constant(1.0)]
        assert tf.Variable(1.0) in [tf.Variable(1.0)]
        assert t in [t]
        assert 1.0 in t
        assert 9.0 not in t
        with pytest.raises(ValueError, match=AMBIGUOUS):
            _ = t in [tf.constant([1.0, 2.0, 3.0])]


class TestOperators:
    @pytest.mark.parametrize(
        ("function", "want"),
        [
            (lambda t: 1.0 - t, [0.0, -1.0, -2.0]),
            (lambda t: 6.0 / t, [6.0, 3.0, 2.0]),
            (lambda t: 2.0**t, [2.0, 4.0, 8.0]),
            (lambda t: 7.0 // t, [7.0, 3.0, 2.0]),
            (lambda t: 7.0 % t, [0.0, 1.0, 1.0]),
            (lambda t: -t, [-1.0, -2.0, -3.0]),
            (lambda t: abs(-t), [1.0, 2.0, 3.0]),
            (lambda t: t > 2.0, [False, False, True]),
            (lambda t: t >= 2.0, [False, True, True]),
            (lambda t: sum([t, t]), [2.0, 4.0, 6.0]),
            (lambda t: [[1.0, 2.0, 3.0]] @ t[:, None], [[14.0]]),
        ],
    )
    def test_values(self, t, function, want):
        assert function(t).numpy().tolist() == want

    def test_bits_and_logic(self):
        six, three, yes = tf.constant(6), tf.constant(3), tf.constant(True)
        assert [int(six & three), int(six | three), int(six ^ three), int(~six)] == [2, 7, 5, -7]
        assert not any(bool(no) for no in (yes & False, yes ^ True, ~yes))
        assert bool(yes | False)
        with pytest.raises(InvalidArgumentError):
            _ = tf.constant(1.0) & tf.constant(2.0)

    @pytest.mark.parametrize(
        "function",
        [lambda t: t << t, lambda t: +t, lambda t: divmod(t, t)],
        ids=["<<", "+", "divmod"],
    )
    def test_what_tensors_do_not_have(self, function):
        with pytest.raises(TypeError):
            function(tf.constant(3))

    @pytest.mark.parametrize("name", ["foo", "T", "reshape", "name", "op", "graph"])
    def test_missing_attributes_are_named(self, t, name):
        with pytest.raises(AttributeError, match=f"'{name}'|{name} is undefined"):
            getattr(t, name)

    def test_set_shape_checks(self, t):
        assert t.set_shape([3]) is None
        with pytest.raises(ValueError, match=r"\(3,\) is not compatible with.*\(4,\)"):
            t.set_shape([4])


INDEXING = [
    "x[0]", "x[-1]", "x[0, 1]", "x[1:, ::2]", "x[5:]", "x[:, ::-1]", "x[..., 0]", "x[...]",
    "x[:, None]", "x[None]", "x[0:1, ..., None]", "x[np.int64(1)]", "x[2:0]", "x[-9:9]",
    "x[:, -2:]", "x[::-1, ::-2]",
]  # fmt: skip
TENSOR_INDEXING = {
    "scalar tensor": (lambda x: x[tf.constant(1)], [4.0, 5.0, 6.0]),
    "int64 tensor": (lambda x: x[tf.constant(1, tf.int64), 0], 4.0),
    "variable": (lambda x: x[tf.Variable(1)], [4.0, 5.0, 6.0]),
    "slice of tensors": (lambda x: x[tf.constant(0) : tf.constant(1)], [[1.0, 2.0, 3.0]]),
    "mask": (lambda x: x[x > 2.0], [3.0, 4.0, 5.0, 6.0]),
    "mask of rows": (lambda x: x[tf.constant([False, True])], [[4.0, 5.0, 6.0]]),
    "NumPy mask": (lambda x: x[np.array([False, True])], [[4.0, 5.0, 6.0]]),
    "list like a tuple": (lambda x: x[[0, 1]], 2.0),
}
BAD_INDICES = {
    "string": (lambda x: x["a"], TypeError, "valid indices, got 'a'"),
    "float": (lambda x: x[1.5], TypeError, r"valid indices, got 1\.5"),
    "float tensor": (lambda x: x[tf.constant(1.0)], TypeError, "valid indices, got"),
    "vector": (lambda x: x[tf.constant([0, 1])], TypeError, "valid indices, got"),
    "True": (lambda x: x[True], ValueError, "mask cannot be scalar"),
    "too large": (lambda x: x[2], InvalidArgumentError, "slice index 2 of dimension 0 out of"),
    "too small": (lambda x: x[-3], InvalidArgumentError, "of dimension 0 out of bounds"),
    "second axis": (lambda x: x[0, 3], InvalidArgumentError, "slice index 3 of dimension 1 out"),
    "too many": (lambda x: x[0, 0, 0], InvalidArgumentError, "input has only 2 dims"),
    "scalar": (lambda x: x[0, 0][0], InvalidArgumentError, "slice scalar input"),
    "two ellipses": (lambda x: x[..., ...], InvalidArgumentError, "Multiple ellipses"),
    "step zero": (lambda x: x[::0], InvalidArgumentError, r"strides\[0\] must be non-zero"),
}


class TestIndexing:
    @pytest.mark.parametrize("expression", INDEXING)
    def test_as_numpy(self, m, expression):
        got = eval(expression, {"x": m, "np": np})
        want = eval(expression, {"x": m.numpy(), "np": np})
        assert got.shape == want.shape
        assert np.array_equal(got.numpy(), want)

    @pytest.mark.parametrize(("index", "want"), TENSOR_INDEXING.values(), ids=TENSOR_INDEXING)
    def test_with_tensors(self, m, index, want):
        assert index(m).numpy().tolist() == want

    @pytest.mark.parametrize(("index", "error", "message"), BAD_INDICES.values(), ids=BAD_INDICES)
    def test_bad_indices(self, m, index, error, message):
        with pytest.raises(error, match=message):
            index(m)

    def test_items_cannot_be_set_or_deleted(self, t):
        with pytest.raises(TypeError, match="does not support item assignment"):
            t[0] = 1.0
        with pytest.raises(TypeError, match="item deletion"):
            del t[0]

    def test_is_differentiable(self, gradient_of):
        gradient = gradient_of(lambda x: x[1:, ::2] * [[2.0, 3.0]], [[1.0, 2.0, 3.0]] * 2)
        assert gradient.numpy().tolist() == [[0.0, 0.0, 0.0], [2.0, 0.0, 3.0]]


class TestNumPy:
    def test_numpy_gives_arrays_scalars_and_bytes(self, t):
        assert type(t.numpy()) is np.ndarray
        assert type(tf.constant(1.0).numpy()) is np.float32
        assert tf.constant("a").numpy() == b"a"
        assert tf.constant(["a", "b"]).numpy().tolist() == [b"a", b"b"]

    def test_conversion(self, t):
        assert np.asarray(t, np.float64).dtype == np.float64
        assert np.array(t).flags.writeable
        assert np.from_dlpack(t).tolist() == [1.0, 2.0, 3.0]
        assert t.__dlpack_device__() == (1, 0)

    def test_functions_give_arrays(self, t):
        assert type(np.sin(t)) is np.ndarray
        assert np.mean(t) == 2.0
        assert type(np.matmul(np.ones([2, 3]), t)) is np.ndarray

    def test_operators_give_tensors_and_are_recorded(self, gradient_of):
        array = np.array([1.0, 2.0, 3.0])
        for product in (lambda t: array * t, lambda t: np.float32(1.0) * (t * array)):
            gradient = gradient_of(product, [4.0, 5.0, 6.0])
            assert gradient.dtype == tf.float32
            assert gradient.numpy().tolist() == [1.0, 2.0, 3.0]
        assert isinstance(np.ones([2, 2], np.float32) @ tf.ones([2, 2]), tf.Tensor)


ALIASES = {
    "numpy": lambda t: t.numpy(),
    "asarray": np.asarray,
    "array without copy": lambda t: np.array(t, copy=None),
    "dlpack": np.from_dlpack,
    "slice": lambda t: np.asarray(t[1:]),
    "reshape": lambda t: np.asarray(tf.reshape(t, [3, 1])),
    "identity": lambda t: np.asarray(tf.identity(t)),
    "cast": lambda t: np.asarray(tf.cast(t, t.dtype)),
    "rows": lambda t: np.asarray(next(iter(t[None]))),
}


class TestNothingChangesATensor:
    @pytest.mark.parametrize("alias", ALIASES.values(), ids=ALIASES)
    def test_writing_to_an_alias(self, t, alias):
        array = alias(t)
        try:
            array[...] = 9.0
        except ValueError:
            assert not array.flags.writeable
        assert t.numpy().tolist() == [1.0, 2.0, 3.0]

    @pytest.mark.parametrize("alias", ALIASES.values(), ids=ALIASES)
    def test_an_alias_cannot_be_made_writeable(self, t, alias):
        array = alias(t)
        try:
            array.flags.writeable = True
        except ValueError:
            return
        array[...] = 9.0
        assert t.numpy().tolist() == [1.0, 2.0, 3.0]

    @pytest.mark.parametrize("create", [tf.constant, tf.convert_to_tensor])
    def test_changing_the_array_it_was_made_from(self, create):
        array = np.array([1.0, 2.0, 3.0])
        tensor = create(array)
        view = create(array[1:])
        array[:] = 9.0
        assert tensor.numpy().tolist() == [1.0, 2.0, 3.0]
        assert view.numpy().tolist() == [2.0, 3.0]

    def test_assigning_to_the_variable_it_was_read_from(self):
        v = tf.Variable([1.0, 2.0])
        aliases = [v.read_value(), v.value(), tf.convert_to_tensor(v), np.asarray(v), v.numpy()]
        v.assign([8.0, 9.0])
        v[0].assign(7.0)
        v.assign_add([1.0, 1.0])
        assert [np.asarray(alias).tolist() for alias in aliases] == [[1.0, 2.0]] * 5

    @pytest.mark.beyond_tensorflow
    def test_array_method_gives_a_copy_or_a_read_only_array(self, t):
        assert not np.shares_memory(t.__array__(copy=True), np.asarray(t))
        array = t.__array__()
        assert not (array.flags.writeable and np.shares_memory(array, np.asarray(t)))
        with pytest.raises(ValueError, match="copy"):
            np.array(t, dtype=np.float64, copy=False)

"""TensorArray: what can be written, read and joined, and gradients through all of it."""

import pytest

import gradtape as tf


def make(size=3, dtype=tf.float32, **options):
    return tf.TensorArray(dtype, size, **options)


def gradient(function, x):
    x = tf.constant(x)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = function(x)
    return tape.gradient(y, x).numpy().tolist()


def test_facts():
    array = make(2, "float32", tensor_array_name="n", name="m")
    assert (array.dtype, array.dynamic_size, int(array.size())) == (tf.float32, False, 2)
    assert array.element_shape.rank is None
    assert array.handle is None
    assert array.flow.dtype == tf.int32
    assert array.identity() is array
    assert int(make(tf.constant(2)).size()) == 2
    array.close()
    assert int(array.size()) == 0


def test_size_must_be_given():
    with pytest.raises(ValueError, match="Size must be declared"):
        tf.TensorArray(tf.float32)


def test_what_is_not_written_is_zero():
    array = make()
    assert array.write(1, [1, 2]) is array
    assert array.element_shape == [2]
    assert array.stack().numpy().tolist() == [[0, 0], [1, 2], [0, 0]]
    assert make(2, element_shape=[2]).concat().numpy().tolist() == [0, 0, 0, 0]


def test_zeros_of_unknown_shape():
    for array in (make(2), make(2, infer_shape=False).write(0, [1.0])):
        with pytest.raises(ValueError, match="partially known TensorShape <unknown>"):
            array.stack()


def test_reading_clears_unless_told_otherwise():
    array = make(1).write(0, 1.0)
    assert array.stack().numpy().tolist() == [1.0]
    assert float(array.read(0)) == 1.0
    with pytest.raises(tf.errors.InvalidArgumentError, match="Could not read index 0 twice"):
        array.read(0)
    assert float(array.write(0, 2.0).read(0)) == 2.0
    kept = make(1, clear_after_read=False).write(0, 1.0)
    assert float(kept.read(0)) == float(kept.read(tf.constant(0))) == 1.0


@pytest.mark.parametrize(
    ("joined", "wanted"),
    [
        (lambda array: array.stack(), [[0, 0], [3, 6]]),
        (lambda array: array.gather([1, 0]), [[3, 6], [0, 0]]),
        (lambda array: array.concat(), [0, 0, 3, 6]),
    ],
)
def test_zeros_stand_for_what_reading_cleared(joined, wanted):
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        array = make(2).write(0, x * 2.0).write(1, x * 3.0)
        assert array.read(0).numpy().tolist() == [2, 4]
        found = joined(array)
    assert found.numpy().tolist() == wanted
    assert tape.gradient(found, x).numpy().tolist() == [3, 3]
    assert array.read(0).numpy().tolist() == [0, 0]


@pytest.mark.parametrize(
    ("use", "error", "message"),
    [
        (lambda a: a.read(5), tf.errors.OutOfRangeError, "read from index 5 but array size is: 3"),
        (lambda a: a.read(-1), tf.errors.OutOfRangeError, "Reading from negative indices"),
        (lambda a: a.write(3, 1.0), tf.errors.OutOfRangeError, "not resizeable and size is: 3"),
        (lambda a: a.write(-1, 1.0), tf.errors.OutOfRangeError, "Writing to negative indices"),
        (lambda a: a.gather([1, 3]), tf.errors.OutOfRangeError, "read from index 3"),
        (lambda a: a.gather(1), TypeError, "list of indices"),
        (lambda a: a.scatter([0, 5], [1.0, 2.0]), tf.errors.OutOfRangeError, "write to index 5"),
        (lambda a: a.scatter([0], [1.0, 2.0]), tf.errors.InvalidArgumentError, "1 indices for 2"),
        (
            lambda a: a.write(0, tf.constant(2)),
            tf.errors.InvalidArgumentError,
            "TensorArray dtype is float32 but Op is trying to write dtype int32",
        ),
        (
            lambda a: a.write(0, "a"),
            tf.errors.InvalidArgumentError,
            "trying to write dtype string",
        ),
        (lambda a: a.write(0, 1.0).write(1, [1.0]), ValueError, "Incompatible shape for value"),
        (lambda a: a.unstack(tf.zeros(4)), ValueError, "Cannot unstack 4 tensors .* size 3"),
        (lambda a: a.unstack(1.0), ValueError, "not in range"),
        (lambda a: a.unstack(tf.zeros(3)).concat(), tf.errors.InvalidArgumentError, "scalar shape"),
        (
            lambda a: a.split([1.0, 2.0], [1, 2]),
            tf.errors.InvalidArgumentError,
            "sum of lengths is 3 and value's shape is: \\[2\\]",
        ),
        (lambda a: a.split(1.0, [1]), tf.errors.InvalidArgumentError, "at least a vector"),
        (lambda a: a.split([1.0], [[1]]), tf.errors.InvalidArgumentError, "lengths to be a vector"),
        (lambda a: a.split(tf.zeros(4), [1] * 4), tf.errors.InvalidArgumentError, "3 vs. 4"),
        (lambda a: a.grad("x"), NotImplementedError, "not supported when executing eagerly"),
    ],
)
def test_refused(use, error, message):
    with pytest.raises(error, match=message):
        use(make())


def test_declared_shape_is_checked():
    with pytest.raises(ValueError, match=r"Incompatible shape for value \(\(1,\)\), expected"):
        make(2, element_shape=[2]).write(0, [1.0])
    assert make(2, element_shape=[None]).write(0, [1.0]).stack().shape == [2, 1]


def test_dynamic_size_grows():
    array = make(0, dynamic_size=True)
    assert array.stack().shape == [0]
    assert int(array.write(0, 1.0).write(4, 2.0).size()) == 5
    assert array.stack().numpy().tolist() == [1.0, 0.0, 0.0, 0.0, 2.0]
    assert int(make(1, dynamic_size=True).unstack(tf.zeros(3)).size()) == 3
    with pytest.raises(tf.errors.OutOfRangeError):
        array.read(5)


def test_whole_tensors_in_and_out():
    assert make(2).unstack([1.0, 2.0]).gather([1, 0, 1]).numpy().tolist() == [2.0, 1.0, 2.0]
    assert make(3).scatter([0, 2], [5.0, 6.0]).stack().numpy().tolist() == [5.0, 0.0, 6.0]
    assert make(2).unstack([[1.0], [2.0]]).concat().numpy().tolist() == [1.0, 2.0]
    parts = make(2, infer_shape=False).split([1.0, 2.0, 3.0], [1, 2])
    assert parts.concat().numpy().tolist() == [1.0, 2.0, 3.0]
    assert parts.read(1).numpy().tolist() == [2.0, 3.0]


def test_shapes_may_differ_without_infer_shape():
    array = make(2, infer_shape=False).write(0, [1.0]).write(1, [2.0, 3.0])
    assert array.concat().numpy().tolist() == [1.0, 2.0, 3.0]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Shapes of all inputs must match"):
        array.stack()


@pytest.mark.parametrize(
    ("function", "x", "expected"),
    [
        (lambda x: make(2).write(0, x).write(1, x * x).stack(), 3.0, 7.0),
        (lambda x: make(2).unstack(x).read(1), [3.0, 4.0], [0.0, 1.0]),
        (lambda x: make(2).unstack(x).gather([1, 1]), [3.0, 4.0], [0.0, 2.0]),
        (
            lambda x: make(4).scatter([3, 1], x).stack() * [1.0, 2.0, 3.0, 4.0],
            [3.0, 4.0],
            [4.0, 2.0],
        ),
        (
            lambda x: make(2, infer_shape=False).split(x, [1, 2]).concat() * 2.0,
            [3.0, 4.0, 5.0],
            [2.0, 2.0, 2.0],
        ),
    ],
)
def test_gradients(function, x, expected):
    assert gradient(function, x) == expected


def test_spec():
    spec = tf.TensorArraySpec([2], tf.float32)
    assert repr(spec) == "TensorArraySpec(TensorShape([2]), tf.float32, False, True)"
    assert spec == tf.TensorArraySpec.from_value(make(1).write(0, [1.0, 2.0]))
    assert hash(spec) == hash(tf.TensorArraySpec([2]))
    assert spec.is_compatible_with(tf.TensorArraySpec([None]))
    assert spec.is_compatible_with(make(1, element_shape=[2]))
    assert not spec.is_compatible_with(tf.TensorArraySpec([3]))
    assert not spec.is_compatible_with(tf.TensorArraySpec([2], tf.int32))
    assert not spec.is_compatible_with(tf.constant([1.0, 2.0]))
    assert spec.value_type is tf.TensorArray
    with pytest.raises(TypeError, match="to be a TensorArray"):
        tf.TensorArraySpec.from_value(3)

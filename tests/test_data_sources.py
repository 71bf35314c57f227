"""Sources and elements of datasets: structures, composites, messages, what is kept in memory."""

import collections
import dataclasses
import types

import numpy as np
import pytest

import gradtape as tf

D = tf.data.Dataset

# Values that are kept -----------------------------------------------------------------------------


@pytest.mark.parametrize("make", [D.from_tensors, D.from_tensor_slices], ids=["whole", "slices"])
def test_later_changes_of_an_array_do_not_show(make):
    array = np.arange(4)
    dataset = make(array)
    array[:] = 99
    assert np.ravel(list(dataset.as_numpy_iterator())).tolist() == [0, 1, 2, 3]


def test_later_changes_of_a_variable_do_not_show():
    variable = tf.Variable([1.0, 2.0])
    dataset = D.from_tensor_slices(variable)
    variable.assign([5.0, 6.0])
    assert list(dataset.as_numpy_iterator()) == [1.0, 2.0]


def test_a_tensor_is_not_copied():
    tensor = tf.zeros([1000, 10])
    for dataset in (D.from_tensor_slices(tensor), D.from_tensor_slices(tensor).batch(4)):
        assert np.shares_memory(next(dataset.as_numpy_iterator()), tensor._value)


def test_arrays_of_a_numpy_iterator_are_not_writable():
    for array in D.from_tensor_slices([[1, 2], [3, 4]]).batch(2).as_numpy_iterator():
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 5


# Structures ---------------------------------------------------------------------------------------


def test_dictionaries_keep_the_order_of_their_keys():
    element = {"z": [1, 2], "a": ({"y": [3, 4], "b": [5, 6]}, [7, 8])}
    dataset = D.from_tensor_slices(element)
    for found in (dataset.element_spec, next(iter(dataset)), next(dataset.as_numpy_iterator())):
        assert list(found) == ["z", "a"]
        assert list(found["a"][0]) == ["y", "b"]
    first = next(dataset.as_numpy_iterator())
    assert first == {"z": 1, "a": ({"y": 3, "b": 5}, 7)}


def test_named_tuples_and_ordered_dictionaries_stay_what_they_are():
    point = collections.namedtuple("point", "y x")
    element = collections.OrderedDict(b=point([1, 2], [3.0, 4.0]), a=["u", "v"])
    second = list(D.from_tensor_slices(element).as_numpy_iterator())[1]
    assert type(second) is collections.OrderedDict
    assert second == collections.OrderedDict(b=point(2, 4.0), a=b"v")
    assert type(second["b"]) is point


@dataclasses.dataclass
class _Labelled:
    value: object
    label: str

    def __tf_flatten__(self):
        return (self.label,), (self.value,)

    @classmethod
    def __tf_unflatten__(cls, metadata, components):
        return cls(components[0], metadata[0])


def test_data_classes_that_can_be_flattened():
    dataset = D.from_tensor_slices(_Labelled([1, 2], "kept")).batch(2)
    assert dataset.element_spec == _Labelled(tf.TensorSpec([None], tf.int32), "kept")
    (element,) = dataset.as_numpy_iterator()
    assert element.label == "kept"
    assert element.value.tolist() == [1, 2]


def test_classes_made_by_attrs():
    class Pair:  # what the package of that name makes of a class
        __attrs_attrs__ = (types.SimpleNamespace(name="x"), types.SimpleNamespace(name="y"))

        def __init__(self, x, y):
            self.x, self.y = x, y

    dataset = D.from_tensor_slices(Pair([1, 2], ["a", "b"])).batch(2)
    assert type(dataset.element_spec) is Pair
    assert dataset.element_spec.y == tf.TensorSpec([None], tf.string)
    (pair,) = dataset.as_numpy_iterator()
    assert (pair.x.tolist(), pair.y.tolist()) == ([1, 2], [b"a", b"b"])


def test_other_data_classes_are_refused():
    @dataclasses.dataclass
    class Plain:
        value: int

    with pytest.raises(ValueError, match="unsupported type"):
        D.from_tensors(Plain(1))


def test_sparse_tensor_values_become_sparse_tensors():
    value = tf.SparseTensor([[0, 1], [1, 0]], [1.5, 2.5], [2, 3]).eval()
    dataset = D.from_tensor_slices(value)
    assert dataset.element_spec == tf.SparseTensorSpec([3], tf.float32)
    assert [row.tolist() for row in dataset.as_numpy_iterator()] == [[0, 1.5, 0], [2.5, 0, 0]]


# Extension types ----------------------------------------------------------------------------------


class Masked(tf.experimental.BatchableExtensionType):
    values: tf.Tensor
    mask: tf.Tensor


class Rows(tf.experimental.BatchableExtensionType):
    rows: tf.RaggedTensor
    kind: str = "some"


class Whole(tf.experimental.ExtensionType):
    values: tf.Tensor


MASKED = Masked([[1, 2], [3, 4], [5, 6]], [[True, False], [True, True], [False, False]])


def test_slices_and_batches_of_an_extension_type():
    slices = D.from_tensor_slices((MASKED, [7, 8, 9]))
    assert slices.element_spec[0] == Masked.Spec(
        tf.TensorSpec([2], tf.int32), tf.TensorSpec([2], tf.bool)
    )
    assert [m.values.numpy().tolist() for m, _ in slices] == [[1, 2], [3, 4], [5, 6]]
    batches = slices.batch(2)
    assert batches.element_spec[0] == Masked.Spec(
        tf.TensorSpec([None, 2], tf.int32), tf.TensorSpec([None, 2], tf.bool)
    )
    found = [(type(m), m.mask.numpy().tolist(), n.numpy().tolist()) for m, n in batches]
    assert found == [
        (Masked, [[True, False], [True, True]], [7, 8]),
        (Masked, [[False, False]], [9]),
    ]


def test_ragged_fields_are_ragged_again_in_batches():
    rows = Rows(tf.ragged.constant([[1], [2, 3], []]), "kept")
    slices = D.from_tensor_slices(rows)
    assert slices.element_spec.rows == tf.RaggedTensorSpec([None], tf.int32, 0)
    assert [each.rows.numpy().tolist() for each in slices] == [[1], [2, 3], []]
    (batch,) = slices.batch(3)
    assert batch.rows.to_list() == [[1], [2, 3], []]
    assert batch.kind == "kept"


def test_an_extension_type_as_one_element():
    dataset = D.from_tensors(Whole([1, 2]))
    assert dataset.element_spec == Whole.Spec(tf.TensorSpec([2], tf.int32))
    (element,) = dataset
    assert type(element) is Whole
    with pytest.raises(AttributeError, match=r"Whole\.Spec.*_unbatch"):
        D.from_tensor_slices(Whole([1, 2]))
    with pytest.raises(AttributeError, match=r"Whole\.Spec.*_batch"):
        dataset.batch(2).element_spec  # noqa: B018 - asking is what fails


def test_no_arrays_of_an_extension_type():
    with pytest.raises(TypeError, match=r"not supported for datasets that produce.*Masked"):
        list(D.from_tensors(MASKED).as_numpy_iterator())


# Iterators and messages ---------------------------------------------------------------------------


def test_gradients_do_not_pass_through_a_dataset():
    x = tf.Variable(2.0)
    with tf.GradientTape(persistent=True) as tape:
        dataset = D.from_tensors(x * 3.0).map(lambda y: y * x)
        (value,) = dataset
        tape.watch(value)
        doubled = value * 2.0
    assert float(value) == 12.0
    assert tape.gradient(value, x) is None
    assert tape.gradient(doubled, x) is None
    assert float(tape.gradient(doubled, value)) == 2.0


def test_text_of_iterators():
    assert "OwnedIterator object at 0x" in repr(iter(D.range(2)))
    assert repr(D.range(2).as_numpy_iterator()).startswith("NumpyIterator(iterator=<")


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: D.from_tensor_slices(3), ValueError, "Unbatching a tensor is only supported"),
        (lambda: D.from_tensor_slices(()), ValueError, "`element` should not be empty"),
        (
            lambda: D.from_tensor_slices(([1, 2], [3])),
            ValueError,
            "Dimensions 2 and 1 are not compatible",
        ),
        (lambda: D.range(), ValueError, "should be between 1 and 3 but was 0"),
        (lambda: D.range(1, 2, 0), tf.errors.InvalidArgumentError, "step must be a non-zero"),
        (lambda: D.range([3]), tf.errors.InvalidArgumentError, "stop must be a scalar"),
        (lambda: D.range([3], 4), tf.errors.InvalidArgumentError, "start must be a scalar"),
        (
            lambda: next(iter(D.range(3, output_type=tf.string))),
            tf.errors.InvalidArgumentError,
            "Unsupported data type: string",
        ),
        (lambda: iter(D.range(0)).get_next(), tf.errors.OutOfRangeError, "End of sequence"),
        (
            lambda: D.range(0).get_single_element(),
            tf.errors.InvalidArgumentError,
            "Dataset was empty",
        ),
        (
            lambda: D.range(2).get_single_element(),
            tf.errors.InvalidArgumentError,
            "Dataset had more than one element",
        ),
        (lambda: len(D.counter()), TypeError, "The dataset is infinite"),
        (lambda: D.range(3).apply(lambda _: 5), TypeError, "must return a `tf.data.Dataset`"),
        (
            lambda: D.from_tensor_slices(tf.SparseTensor([[1, 0], [0, 1]], [1.0, 2.0], [2, 3])),
            tf.errors.InvalidArgumentError,
            r"indices\[1\] = \[0,1\] is out of order",
        ),
        (
            lambda: D.from_tensor_slices(D.range(3)),
            ValueError,
            "Slicing dataset elements is not supported for rank 0",
        ),
    ],
)
def test_messages(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_a_long_range_is_made_in_pieces():
    numbers = np.fromiter(D.range(10_000, -10_000, -2).as_numpy_iterator(), np.int64)
    assert (numbers == np.arange(10_000, -10_000, -2)).all()
    assert int(next(iter(D.range(10**15).skip(3)))) == 3


def test_batches_of_datasets_can_be_taken_apart():
    datasets = D.from_tensor_slices([D.range(2), D.range(3), D.range(1)])
    assert datasets.element_spec == tf.data.DatasetSpec(tf.TensorSpec((), tf.int64))
    batch = next(iter(datasets.batch(2)))
    assert not hasattr(batch, "__iter__")
    assert [len(list(each)) for each in datasets] == [2, 3, 1]

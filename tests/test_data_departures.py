"""Where datasets do more than TensorFlow's, or something else: what docs/data.md says of it."""

import numpy as np
import pytest

import gradtape as tf

D = tf.data.Dataset
pytestmark = pytest.mark.beyond_tensorflow


def values(dataset):
    return [np.asarray(x).tolist() for x in dataset.as_numpy_iterator()]


def test_random_ops_go_on_and_follow_the_seed():
    dataset = D.range(3).map(lambda x: tf.random.uniform([]))
    tf.random.set_seed(5)
    first, second = values(dataset), values(dataset)
    assert not set(first) & set(second)
    tf.random.set_seed(5)
    assert [values(dataset), values(dataset)] == [first, second]


def test_stateless_random_ops_are_the_same_in_every_iteration():
    dataset = D.range(3).map(lambda x: tf.random.stateless_uniform([], [x, 1]))
    assert values(dataset) == values(dataset)


def test_sizes_that_depend_on_values_are_open_unless_they_are_told():
    def told(x):
        y = tf.fill([x + 1], x)
        y.set_shape([2])
        return y

    assert D.range(3).map(lambda x: tf.zeros([x, 2])).element_spec.shape.as_list() == [None, None]
    assert D.range(1, 2).map(told).element_spec.shape.as_list() == [2]
    ensured = D.range(1, 2).map(lambda x: tf.ensure_shape(tf.fill([x + 1], x), [2]))
    assert ensured.element_spec.shape.as_list() == [2]
    assert values(ensured) == [[1, 1]]


def test_python_control_flow_in_code_without_a_source():
    function = eval("lambda x: -x if x > 1 and x != 3 else x * 10")
    assert values(D.range(5).map(function)) == [0, 10, -2, 30, -4]


def test_lengths_and_arrays_inside_of_a_function():
    @tf.function
    def total(dataset):
        return len(dataset) + sum(dataset.as_numpy_iterator())

    assert int(total(D.range(4))) == 10


def test_batches_of_uneven_batches_of_ragged_rows():
    rows = D.from_tensor_slices(tf.ragged.constant([[1], [2, 3], [], [4], [5]]))
    assert [x.to_list() for x in rows.batch(2).batch(3)] == [[[[1], [2, 3]], [[], [4]], [[5]]]]


def test_at_knows_enumerate_and_rebatch_refuses_negative_sizes():
    pair = tf.data.experimental.at(D.range(10, 14).enumerate(), 2)
    assert [int(x) for x in pair] == [2, 12]
    with pytest.raises(tf.errors.InvalidArgumentError):
        D.range(4).batch(2).rebatch(-3)


def test_a_failed_save_leaves_nothing_or_what_was_there(tmp_path):
    path = str(tmp_path / "saved")
    failing = D.range(3).map(lambda x: 1 // (x - 2))
    with pytest.raises(tf.errors.InvalidArgumentError):
        failing.save(path)
    with pytest.raises(tf.errors.NotFoundError):
        D.load(path)
    D.range(2).save(path)
    with pytest.raises(tf.errors.InvalidArgumentError):
        failing.save(path)
    assert values(D.load(path)) == [0, 1]


def test_snapshots_are_written_without_snappy(tmp_path):
    dataset = D.range(3).snapshot(str(tmp_path / "snapshot"), compression="SNAPPY")
    assert [values(dataset), values(dataset)] == [[0, 1, 2]] * 2


def test_options_are_kept_and_change_nothing():
    options = tf.data.Options()
    options.autotune.enabled = False
    options.threading.private_threadpool_size = 3
    dataset = D.range(3).with_options(options)
    assert dataset.options().threading.private_threadpool_size == 3
    assert values(dataset) == [0, 1, 2]


@pytest.mark.parametrize("name", ["service", "distributed_save", "make_saveable_from_iterator"])
def test_what_is_not_there_says_so(name):
    with pytest.raises(AttributeError, match=name):
        getattr(tf.data.experimental, name)


def test_tensor_arrays_are_refused():
    with pytest.raises(ValueError, match="TensorArray"):
        D.from_tensors(tf.TensorArray(tf.float32, 1))

"""Creators of variables, their modes, and methods that count and load."""

import pytest

import gradtape as tf


def doubling(next_creator, **kwargs):
    kwargs["initial_value"] *= 2
    return next_creator(**kwargs)


def test_creators_are_called_from_the_innermost_out():
    seen = []

    def noting(word):
        def creator(next_creator, **kwargs):
            seen.append((word, kwargs["initial_value"]))
            return doubling(next_creator, **kwargs)

        return creator

    with tf.variable_creator_scope(noting("outer")), tf.variable_creator_scope(noting("inner")):
        variable = tf.Variable(1.0, False, name="v")
    assert seen == [("inner", 1.0), ("outer", 2.0)]
    assert (float(variable), variable.trainable, variable.name) == (4.0, False, "v:0")
    assert float(tf.Variable(1.0)) == 1.0


def test_creators_get_every_argument():
    names = []

    def creator(next_creator, **kwargs):
        names.extend(kwargs)
        return next_creator(**kwargs)

    with tf.variable_creator_scope(creator):
        assert isinstance(tf.Variable(1.0), tf.Variable)
    assert sorted(names) == [
        "aggregation", "caching_device", "constraint", "dtype",
        "experimental_enable_variable_lifting", "import_scope", "initial_value", "name", "shape",
        "synchronization", "trainable", "validate_shape", "variable_def",
    ]  # fmt: skip


def test_scope_ends_with_an_error():
    with pytest.raises(ZeroDivisionError), tf.variable_creator_scope(doubling):
        raise ZeroDivisionError
    assert float(tf.Variable(1.0)) == 1.0


def test_modes():
    usual = tf.Variable(1.0)
    assert usual.aggregation is tf.VariableAggregation.NONE
    assert usual.synchronization is tf.VariableSynchronization.AUTO
    on_read = tf.VariableSynchronization.ON_READ
    assert not tf.Variable(1.0, synchronization=on_read).trainable
    assert tf.Variable(1.0, synchronization=on_read, trainable=True).trainable
    assert tf.Variable(1.0, synchronization=3).synchronization is on_read
    summed = tf.Variable(1.0, aggregation=tf.VariableAggregation.SUM)
    assert summed.aggregation is tf.VariableAggregation.SUM
    with pytest.raises(ValueError, match="Invalid variable aggregation mode: sum"):
        tf.Variable(1.0, aggregation="sum")


def test_count_up_to():
    variable = tf.Variable(1)
    assert [int(variable.count_up_to(3)) for _ in range(2)] == [1, 2]
    with pytest.raises(tf.errors.OutOfRangeError, match="Reached limit of 3"):
        variable.count_up_to(3)
    assert int(variable) == 3
    with pytest.raises(tf.errors.InvalidArgumentError, match="float is not in the list"):
        tf.Variable(1.0).count_up_to(3)


def test_load_and_read_without_copy():
    variable = tf.Variable([1.0, 2.0])
    assert variable.load([3.0, 4.0]) is None
    assert variable.read_value_no_copy().numpy().tolist() == [3.0, 4.0]

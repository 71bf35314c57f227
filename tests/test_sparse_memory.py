"""The gradient of a lookup holds the rows looked up, and nothing of the size of the table."""

import tracemalloc

import numpy as np
import pytest

import gradtape as tf

ROWS, WIDTH, COUNT = 100_000, 64, 256
TABLE_BYTES = ROWS * WIDTH * 4


@pytest.fixture
def table():
    return tf.Variable(tf.zeros([ROWS, WIDTH]) + 1.0)


@pytest.fixture
def ids():
    numbers = np.random.default_rng(0).integers(0, ROWS, COUNT)
    numbers[-8:] = numbers[:8]
    return tf.constant(numbers)


def allocated(function):
    """The peak of what a call allocates; NumPy reports its arrays to tracemalloc."""
    function()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        function()
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()


def training_step(lookup, update, table, ids):
    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.square(lookup(table, ids)))
        gradient = tape.gradient(loss, table)
        assert isinstance(gradient, tf.IndexedSlices)
        update(table, gradient)

    return step


LOOKUPS = {
    "embedding_lookup": tf.nn.embedding_lookup,
    "gather": tf.gather,
    "gather_nd": lambda table, ids: tf.gather_nd(table, ids[:, None]),
    "max_norm": lambda table, ids: tf.nn.embedding_lookup(table, ids, max_norm=1.0),
}
UPDATES = {
    "scatter_sub": lambda table, slices: table.scatter_sub(
        tf.IndexedSlices(0.1 * slices.values, slices.indices)
    ),
    "assign_sub": lambda table, slices: table.assign_sub(0.1 * slices),
    "clipped": lambda table, slices: table.scatter_sub(tf.clip_by_norm(slices, 1.0)),
}


@pytest.mark.parametrize("lookup", LOOKUPS.values(), ids=LOOKUPS)
@pytest.mark.parametrize("update", UPDATES.values(), ids=UPDATES)
def test_a_training_step_allocates_only_rows(lookup, update, table, ids):
    # The rows, their gradient, what the ops between make of them: some twenty times the rows.
    assert allocated(training_step(lookup, update, table, ids)) < TABLE_BYTES / 10


def test_a_dense_gradient_would_be_noticed(table, ids):
    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.square(tf.gather(table, ids)))
        return tf.convert_to_tensor(tape.gradient(loss, table))

    assert allocated(step) >= TABLE_BYTES


def test_repeated_ids_are_subtracted_one_after_another(table):
    indices = tf.constant([7, 3, 7, 7])
    rows = np.outer([1.0, 2.0, 4.0, 8.0], np.ones(WIDTH)).astype(np.float32)
    table.scatter_sub(tf.IndexedSlices(rows, indices))
    expected = np.ones((10, WIDTH), np.float32)
    expected[7] -= 13
    expected[3] -= 2
    np.testing.assert_array_equal(table[:10], expected)

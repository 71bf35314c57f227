"""Variables in functions: read and written in program order, by every call, as in eager code."""

import sys
import threading

import numpy as np
import pytest

import gradtape as tf


def run_both(make, *argument_lists):
    """What calls give, and what variables hold afterwards, eagerly and as a graph.

    Args:
        make: makes new variables and a function that uses them; returns both.
        argument_lists: the arguments of each call.
    """
    found = []
    for decorate in (lambda function: function, tf.function):
        variables, function = make()
        function = decorate(function)
        results = [function(*arguments) for arguments in argument_lists]
        leaves = [*tf.nest.flatten(results), *[v.read_value() for v in variables]]
        found.append([np.asarray(x).tolist() for x in leaves if x is not None])
    eager, graph = found
    assert graph == eager
    return graph


# Order --------------------------------------------------------------------------------------------


def test_reads_see_the_writes_before_them():
    def make():
        v = tf.Variable(1.0)

        def step(x):
            before = v + 0.0
            v.assign(x)
            between = v + 0.0
            v.assign_add(1.0)
            v.assign_sub(3.0)
            return before, between, v.read_value(), v.assign(v * 2.0) + 0.0

        return [v], step

    assert run_both(make, [5.0], [6.0], [tf.constant(7.0)]) == [
        1.0, 5.0, 3.0, 6.0, 6.0, 6.0, 4.0, 8.0, 8.0, 7.0, 5.0, 10.0, 10.0,
    ]  # fmt: skip


def test_variables_exchange_their_values():
    def make():
        v, w = tf.Variable([1.0, 2.0]), tf.Variable([3.0, 4.0])

        def swap():
            old = v.read_value()
            v.assign(w)
            w.assign(old)

        return [v, w], swap

    assert run_both(make, [], [], []) == [[3.0, 4.0], [1.0, 2.0]]


def test_writes_in_branches_and_loops():
    def make():
        v = tf.Variable(0)

        def step(x):
            if x > 0:
                v.assign(x)
            for _ in range(3):
                v.assign_add(v)
            while v > 20:
                v.assign_sub(7)
            return v + 0

        return [v], step

    run_both(make, *[[tf.constant(x)] for x in (1, -1, 3, 5, -2, 0)])


def test_functions_called_by_functions_share_variables():
    v = tf.Variable(1.0)

    @tf.function
    def add(x):
        v.assign_add(x)
        return v * 10.0

    @tf.function
    def twice(x):
        v.assign(v * 2.0)
        first = add(x)
        v.assign(v * 2.0)
        return first, add(x), v.read_value()

    assert [r.numpy() for r in twice(tf.constant(1.0))] == [30.0, 70.0, 7.0]
    assert add(tf.constant(3.0)).numpy() == 100.0
    assert [r.numpy() for r in twice(tf.constant(0.0))] == [200.0, 400.0, 40.0]


def test_a_variable_is_captured_by_reference():
    v = tf.Variable(1.0)
    double = tf.function(lambda: v * 2.0)
    assert double().numpy() == 2.0
    v.assign(5.0)
    assert double().numpy() == 10.0


def test_results_keep_their_values_when_variables_change():
    v = tf.Variable(np.zeros((200, 100), np.float32))

    @tf.function
    def add(x):
        old = v.read_value()
        v.assign_add(x)
        return old, v.read_value(), v[:2], tf.transpose(v)

    ones = tf.ones([200, 100])
    kept = add(ones)
    values = [x.numpy() for x in kept]
    for _ in range(3):
        add(ones)
        v.assign_add(ones)
    for tensor, value in zip(kept, values, strict=True):
        np.testing.assert_array_equal(tensor.numpy(), value)
    assert v.numpy().min() == v.numpy().max() == 7.0


def test_what_is_assigned_keeps_its_value_when_the_variable_changes():
    v = tf.Variable(np.zeros((200, 100), np.float32))
    put = tf.function(lambda x: v.assign(x))
    add = tf.function(lambda x: v.assign_add(x))
    given = tf.fill([200, 100], 3.0)
    put(given)
    add(given)
    assert (given.numpy() == 3.0).all()
    assert (v.numpy() == 6.0).all()


def test_an_update_by_the_variable_itself():
    def make():
        v = tf.Variable(np.arange(40_000.0).reshape(200, 200))

        def step():
            v.assign_add(tf.transpose(v))
            v.assign_sub(v * 0.25)

        return [v], step

    run_both(make, [], [], [])


# Kinds --------------------------------------------------------------------------------------------


def test_integers_strings_and_truth_values():
    def make():
        s, b, i = tf.Variable("a"), tf.Variable(False), tf.Variable([1, 2, 3])

        def step(text):
            s.assign(tf.strings.join([s, text]))
            b.assign(tf.logical_not(b))
            i[0:2].assign([7, 8])
            i.assign_add([1, 1, 1])
            i.scatter_update(tf.IndexedSlices([9], [2]))
            return s.read_value(), b.read_value(), i.read_value()

        return [s, b, i], step

    found = run_both(make, [tf.constant("x")], [tf.constant("y")])
    assert found[3:6] == [b"axy", False, [8, 9, 9]]


def test_a_variable_without_a_shape_takes_any():
    def make():
        v = tf.Variable([1.0, 2.0], shape=tf.TensorShape(None))

        def step(x):
            before = tf.size(v)
            v.assign(x)
            return before, tf.size(v), tf.reduce_sum(v)

        return [v], step

    values = [[1.0], [1.0, 2.0], [[3.0], [4.0]], [1.0]]
    found = run_both(make, *[[tf.constant(x)] for x in values])
    assert found[:6] == [2, 1, 1.0, 1, 2, 3.0]


def test_count_up_to():
    v = tf.Variable(0, dtype=tf.int64)
    count = tf.function(lambda: v.count_up_to(2))
    assert [count().numpy(), count().numpy()] == [0, 1]
    with pytest.raises(tf.errors.OutOfRangeError, match="Reached limit of 2"):
        count()
    assert v.numpy() == 2


def test_parts_are_assigned():
    def make():
        v = tf.Variable(tf.zeros([3, 4]))

        def step(x, k):
            v[0].assign(x)
            v[1:, ::2].assign(tf.ones([2, 2]) * x[0])
            v[k, -1].assign(9.0)
            return v.read_value()

        return [v], step

    x = tf.constant([1.0, 2.0, 3.0, 4.0])
    run_both(make, [x, tf.constant(1)], [x * 2.0, tf.constant(2)], [x, tf.constant(1)])


# Scattered updates --------------------------------------------------------------------------------

_SCATTERS = [
    "scatter_add", "scatter_sub", "scatter_mul", "scatter_div", "scatter_min", "scatter_max",
    "scatter_update",
]  # fmt: skip


@pytest.mark.parametrize("name", _SCATTERS)
@pytest.mark.parametrize("rows", [4, 400])
def test_scattered_rows(name, rows):
    def make():
        v = tf.Variable(np.arange(1.0, 1 + 100 * rows).reshape(rows, 100))

        def step(indices, updates):
            taken = tf.gather(v, indices)
            getattr(v, name)(tf.IndexedSlices(updates, indices))
            getattr(v, name)(tf.IndexedSlices(taken[:1], indices[:1]))
            return taken

        return [v], step

    updates = tf.constant(np.linspace(2.0, 3.0, 300).reshape(3, 100))
    calls = [tf.constant([0, 2, 0]), tf.constant([3, 3, 1]), tf.constant([1, 0, 2])]
    run_both(make, *[[indices, updates] for indices in calls])


@pytest.mark.parametrize("name", ["add", "sub", "update", "min", "max"])
def test_scattered_places(name):
    def make():
        v = tf.Variable(np.arange(12.0).reshape(3, 4))

        def step(places, updates):
            getattr(v, f"scatter_nd_{name}")(places, updates)
            return v.read_value()

        return [v], step

    updates = tf.constant([5.0, 6.0, 7.0], tf.float64)
    calls = [[[0, 1], [2, 2], [0, 1]], [[1, 1], [1, 2], [0, 0]]]
    run_both(make, *[[tf.constant(places), updates] for places in calls])


def test_rows_of_batches_are_updated():
    def make():
        v = tf.Variable(tf.zeros([2, 3]))

        def step(updates, indices):
            v.batch_scatter_update(tf.IndexedSlices(updates, indices))

        return [v], step

    updates = tf.constant([[5.0], [6.0]])
    found = run_both(make, [updates, tf.constant([[0], [2]])], [updates, tf.constant([[1], [1]])])
    assert found == [[[5.0, 5.0, 0.0], [0.0, 6.0, 6.0]]]


def test_a_large_table_is_updated_in_place():
    table = tf.Variable(np.ones((20_000, 64), np.float32))

    @tf.function
    def step(indices):
        with tf.GradientTape() as tape:
            rows = tf.gather(table, indices)
            loss = tf.reduce_sum(rows * rows)
        gradient = tape.gradient(loss, table)
        table.scatter_sub(tf.IndexedSlices(gradient.values * 0.25, gradient.indices))
        table.scatter_nd_add(indices[:, None], rows)
        return loss

    indices = tf.constant([1, 5, 1])
    step(indices)
    address = table._handle.tensor._value.ctypes.data
    for _ in range(3):
        step(indices)
    assert table._handle.tensor._value.ctypes.data == address
    assert table.numpy()[[0, 5, 1], 0].tolist() == [1.0, 5.0625, 16.0]
    kept = table.read_value()
    before = kept.numpy()
    step(indices)
    np.testing.assert_array_equal(kept.numpy(), before)


def test_an_index_outside_is_an_error_at_the_call():
    v, w = tf.Variable(tf.zeros([3])), tf.Variable(0.0)

    @tf.function
    def step(indices):
        w.assign_add(1.0)
        v.scatter_add(tf.IndexedSlices(tf.ones([1]), indices))
        w.assign_add(10.0)

    step(tf.constant([1]))
    text = r"indices\[0\] = 3 is not in \[0, 3\) \[Op:ResourceScatterAdd\]"
    with pytest.raises(tf.errors.InvalidArgumentError, match=text):
        step(tf.constant([3]))
    assert (v.numpy().tolist(), w.numpy()) == ([0.0, 1.0, 0.0], 12.0)


# Errors -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("taped", [False, True])
def test_after_an_error_variables_hold_what_was_written_before_it(taped):
    def make():
        v, w = tf.Variable(0.0), tf.Variable(0.0)

        def step(x):
            v.assign(x)
            v.assign_add(1.0)
            tf.debugging.assert_positive(x)
            v.assign(5.0)
            w.assign(x)
            return v * w

        return v, w, step

    found = []
    for decorate in (lambda function: function, tf.function):
        v, w, step = make()
        step = decorate(step)
        seen = []
        for number in (-3.0, 2.0, -7.0, -8.0, 4.0):
            x = tf.constant(number)
            with tf.GradientTape() as tape:
                if taped:
                    tape.watch(x)
                try:
                    step(x)
                except tf.errors.InvalidArgumentError:
                    seen.append("failed")
            seen += [v.numpy(), w.numpy()]
        found.append(seen)
    assert found[0] == found[1]
    assert found[1][:3] == ["failed", -2.0, 0.0]


def test_a_value_of_another_shape_is_refused():
    v = tf.Variable(1.0)
    put = tf.function(lambda x: v.assign(x))
    with pytest.raises(ValueError, match="Shape mismatch"):
        put(tf.constant([1.0, 2.0]))
    put(tf.constant(3.0))
    assert v.numpy() == 3.0


# Making variables ---------------------------------------------------------------------------------


def test_a_variable_is_made_once():
    class Counter:
        v = None

        @tf.function
        def __call__(self, x):
            if self.v is None:
                self.v = tf.Variable(2.0)
            self.v.assign_add(x)
            return self.v * 1.0

    counter = Counter()
    assert [counter(tf.constant(1.0)).numpy() for _ in range(3)] == [3.0, 4.0, 5.0]
    assert counter.v is not None
    assert counter.v.numpy() == 5.0


def test_a_variable_made_at_every_call_is_refused():
    @tf.function
    def call():
        return tf.Variable(1.0) + 1.0

    with pytest.raises(ValueError, match=r"only supports singleton tf\.Variables created on the"):
        call()


def test_a_variable_made_later_is_refused():
    made = []

    @tf.function
    def call(x):
        if x.shape.rank and not made:
            made.append(tf.Variable(1.0))
        return x

    call(tf.constant(1.0))
    with pytest.raises(ValueError, match=r"only supports singleton tf\.Variables created on the"):
        call(tf.constant([1.0]))


# Gradients ----------------------------------------------------------------------------------------


def test_a_written_variable_is_a_source_of_its_own():
    v = tf.Variable(2.0)

    def from_itself(x):
        v.assign(v * 2.0)
        return v * x

    def from_outside(x):
        v.assign(x * 2.0)
        return v * x

    for function in (from_itself, from_outside):
        found = []
        graph = tf.function(function)
        nested = tf.function(lambda x, graph=graph: graph(x) * 1.0)
        for call in (function, graph, graph, nested):
            v.assign(2.0)
            x = tf.constant(3.0)
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = call(x)
            found.append([g.numpy() for g in tape.gradient(y, [x, v])])
        assert found == [found[0]] * 4


# Threads ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 30_000])
def test_no_update_is_lost_among_threads(size):
    v, count = tf.Variable(tf.zeros([size])), tf.Variable(0)

    @tf.function
    def step(x):
        count.assign(count + 1)
        v.assign_add(x + 0.0 * tf.random.uniform([]))
        return count + 0

    ones = tf.ones([size])
    threads = [threading.Thread(target=lambda: [step(ones) for _ in range(50)]) for _ in range(8)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert count.numpy() == 400
    assert v.numpy().tolist() == [400.0] * size

"""What is kept alive, and for how long: by tapes, by gradients, and by variables.

Arrays here are 1 MB each, so that Python's own small objects do not matter; tracemalloc sees
every buffer that NumPy allocates.
"""

import gc
import tracemalloc

import numpy as np
import pytest

import gradtape as tf

MB = 1 << 20
SHAPE = (512, 512)
IMAGE = (512, 256, 2)


@pytest.fixture
def held():
    """A function that gives the megabytes allocated since the test began, and the peak so far."""
    gc.collect()
    tracemalloc.start()
    base = tracemalloc.get_traced_memory()[0]

    def held():
        current, peak = tracemalloc.get_traced_memory()
        return (current - base) / MB, (peak - base) / MB

    yield held
    tracemalloc.stop()


@pytest.fixture
def no_gc():
    """Switches the garbage collector off, so that only reference counts free memory."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def chain(x, length):
    for _ in range(length):
        x = tf.tanh(x)
    return x


@pytest.mark.beyond_tensorflow
class TestTapesFree:
    def test_a_one_shot_tape_is_empty_after_gradient(self, held, no_gc):
        x = tf.Variable(tf.ones(SHAPE))
        with tf.GradientTape() as tape:
            y = chain(x, 20)
        assert held()[0] > 20  # x, and what each tanh saved
        gradient = tape.gradient(y, x)
        assert held()[0] < 3.5  # x, y and the gradient, though the tape is still there
        assert gradient.shape == SHAPE

    def test_a_one_shot_tape_frees_as_it_goes(self, held, no_gc):
        x = tf.Variable(tf.ones(IMAGE))
        with tf.GradientTape() as tape:
            y = chain(tf.image.adjust_contrast(x, 0.5), 20)
        before = held()[0]
        # The walk fails at its very end: what it has passed by then is free already.
        with pytest.raises(LookupError):
            tape.gradient(y, x)
        assert before - held()[0] > 15

    def test_a_persistent_tape_keeps_everything_until_it_is_deleted(self, held, no_gc):
        x = tf.Variable(tf.ones(SHAPE))
        with tf.GradientTape(persistent=True) as tape:
            y = chain(x, 20)
        for _ in range(2):
            gradient = tape.gradient(y, x)
        assert held()[0] > 20
        del tape
        assert held()[0] < 3.5
        assert gradient.shape == y.shape == SHAPE

    def test_a_tape_that_was_never_used(self, held, no_gc):
        x = tf.Variable(tf.ones(SHAPE))
        with tf.GradientTape() as tape:
            chain(x, 20)
        assert held()[0] > 20
        del tape
        assert held()[0] < 1.5

    def test_reset(self, held, no_gc):
        x = tf.Variable(tf.ones(SHAPE))
        with tf.GradientTape() as tape:
            chain(x, 20)
            assert held()[0] > 20
            tape.reset()
            assert held()[0] < 1.5

    def test_results_do_not_keep_what_they_came_from(self, held, no_gc):
        def result():
            x = tf.Variable(tf.ones(SHAPE))
            with tf.GradientTape() as outer:
                with tf.GradientTape() as inner:
                    y = chain(x, 10)
                first = inner.gradient(y, x)
            return outer.gradient(first, x)

        second = result()
        assert held()[0] < 1.5
        assert second.shape == SHAPE


# Ops whose adjoint reads neither input nor output.
KEEP_NOTHING = {
    "add": lambda h: h + h,
    "add a constant": lambda h: h + 1.0,
    "subtract": lambda h: h - 1.0,
    "negative": tf.negative,
    "identity": tf.identity,
    "reduce_sum": lambda h: tf.reduce_sum(h, 0),
    "reduce_mean": lambda h: tf.reduce_mean(h, 1),
    "cumsum": tf.cumsum,
    "reshape": lambda h: tf.reshape(h, [-1]),
    "transpose": tf.transpose,
    "concat": lambda h: tf.concat([h, h], 0),
    "stack": lambda h: tf.stack([h, h]),
    "pad": lambda h: tf.pad(h, [[1, 1], [0, 0]]),
    "slice": lambda h: h[:100],
    "cast": lambda h: tf.cast(h, tf.float64),
    "broadcast_to": lambda h: tf.broadcast_to(h, [2, *SHAPE]),
}
# Ops whose adjoint reads the output (or less), never the input.
KEEP_OUTPUT = {
    "relu": tf.nn.relu,
    "exp": tf.exp,
    "sqrt": tf.sqrt,
    "sigmoid": tf.sigmoid,
    "tanh": tf.tanh,
    "softmax": tf.nn.softmax,
}


@pytest.mark.beyond_tensorflow
class TestRecordsKeepOnlyWhatTheAdjointReads:
    @staticmethod
    def record(function):
        """A tape that recorded function(h) for an h that nobody else holds, and the result."""
        x = tf.ones(SHAPE)
        with tf.GradientTape() as tape:
            tape.watch(x)
            h = x + 1.0
            y = function(h)
        return tape, y

    @pytest.mark.parametrize("function", KEEP_NOTHING.values(), ids=KEEP_NOTHING)
    def test_nothing(self, function, held, no_gc):
        tape, y = self.record(function)
        del y
        assert held()[0] < 0.1
        del tape

    @pytest.mark.parametrize("function", KEEP_OUTPUT.values(), ids=KEEP_OUTPUT)
    def test_no_input(self, function, held, no_gc):
        tape, y = self.record(function)
        assert held()[0] < 1.5
        del tape, y

    def test_what_is_needed_is_kept(self, held, no_gc):
        tape, y = self.record(tf.square)
        del y
        assert held()[0] > 0.9
        del tape

    def test_nothing_of_ops_on_unwatched_tensors(self, held, no_gc):
        x = tf.ones(SHAPE)
        with tf.GradientTape() as tape:
            chain(x, 20)
            assert held()[0] < 1.5
        del tape

    def test_nothing_while_stopped(self, held, no_gc):
        x = tf.Variable(tf.ones(SHAPE))
        with tf.GradientTape() as tape, tape.stop_recording():
            chain(x, 20)
            assert held()[0] < 1.5


def one_shot(v):
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.nn.relu(v * v + 1.0))
    tape.gradient(y, v)


def persistent(v):
    with tf.GradientTape(persistent=True) as tape:
        y = tf.tanh(v) * v
        with tape.stop_recording():
            tape.gradient(y, v)
    tape.gradient(y, v)


def second_order(v):
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = tf.exp(v) * v
        first = inner.gradient(y, v)
    outer.gradient(first, v)


def sparse(v):
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.gather(v, [0, 1, 0]))
    v.assign_sub(tape.gradient(y, v))


def unused(v):
    with tf.GradientTape() as tape:
        tape.watch(v)
        _ = v * v


def training(v):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((tf.tanh(v) - 0.5) ** 2)
    v.assign_sub(0.1 * tape.gradient(loss, v))


@pytest.mark.beyond_tensorflow
@pytest.mark.parametrize("step", [one_shot, persistent, second_order, sparse, unused, training])
class TestManyRounds:
    def test_make_no_reference_cycles(self, step, no_gc):
        v = tf.Variable([1.0, 2.0, 3.0])
        step(v)
        gc.collect()
        for _ in range(100):
            step(v)
        assert gc.collect() == 0

    def test_do_not_grow(self, step, held, no_gc):
        v = tf.Variable([1.0, 2.0, 3.0])
        for _ in range(300):  # fills NumPy's caches of small buffers
            step(v)
        before = held()[0]
        for _ in range(300):
            step(v)
        assert (held()[0] - before) * MB < 4096


UPDATES = {
    "assign": lambda v, t: v.assign(t),
    "assign_add": lambda v, t: v.assign_add(t),
    "assign_sub": lambda v, t: v.assign_sub(t),
    "slice assign": lambda v, t: v[:].assign(t),
    "scatter_update": lambda v, t: v.scatter_update(tf.IndexedSlices(t, range(len(t)))),
}


@pytest.mark.beyond_tensorflow
@pytest.mark.parametrize("name", ["assign", "assign_add", "assign_sub", "slice assign"])
def test_an_update_happens_in_place_when_nobody_else_holds_the_buffer(name, held, no_gc):
    v, t = tf.Variable(tf.ones(SHAPE)), tf.ones(SHAPE)
    update = UPDATES[name]
    update(v, t)
    tracemalloc.reset_peak()
    before = held()[0]
    for _ in range(3):
        update(v, t)
    current, peak = held()
    assert peak - before < 0.5
    assert current - before < 0.1


HOLDERS = {
    "read_value": lambda v: v.read_value(),
    "convert_to_tensor": tf.convert_to_tensor,
    "identity": tf.identity,
    "np.asarray": np.asarray,
    "dlpack": lambda v: np.from_dlpack(v.read_value()),
    "reshape": lambda v: tf.reshape(v, [2, 1]),
    "slice": lambda v: v[:],
    "transpose": tf.transpose,
    "rows": list,
    "another variable": tf.Variable,
    "numpy": lambda v: v.numpy(),
}


@pytest.mark.parametrize("update", UPDATES.values(), ids=UPDATES)
class TestAnUpdateLeavesOthersAlone:
    @pytest.mark.parametrize("hold", HOLDERS.values(), ids=HOLDERS)
    def test_who_holds_the_value(self, update, hold):
        v = tf.Variable([1.0, 2.0])
        holder = hold(v)
        update(v, tf.constant([10.0, 20.0]))
        assert np.ravel(holder).tolist() == [1.0, 2.0]
        assert v.numpy().tolist() != [1.0, 2.0]

    def test_a_tape_that_recorded_it(self, update):
        v = tf.Variable([1.0, 2.0])
        with tf.GradientTape() as tape:
            y = v * v * v
        update(v, tf.constant([10.0, 20.0]))
        assert tape.gradient(y, v).numpy().tolist() == [3.0, 12.0]

    @pytest.mark.parametrize("make", [tf.constant, np.array], ids=["tensor", "ndarray"])
    def test_what_was_assigned_before(self, update, make):
        v, given = tf.Variable([0.0, 0.0]), make([1.0, 2.0])
        v.assign(given)
        update(v, tf.constant([10.0, 20.0]))
        assert np.asarray(given).tolist() == [1.0, 2.0]

    def test_the_value_it_is_given(self, update):
        v, t = tf.Variable([1.0, 2.0]), tf.constant([10.0, 20.0])
        update(v, t)
        after = v.numpy()
        v.assign_add([5.0, 5.0])
        assert t.numpy().tolist() == [10.0, 20.0]
        assert v.numpy().tolist() == (after + 5.0).tolist()

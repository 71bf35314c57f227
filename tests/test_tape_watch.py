"""What a tape watches: by request, and by access to trainable variables."""

import collections
import copy
import threading

import numpy as np
import pytest

import gradtape as tf

Pair = collections.namedtuple("Pair", ["first", "second"])


def test_watch_returns_none():
    with tf.GradientTape() as tape:
        assert tape.watch(tf.constant(1.0)) is None


@pytest.mark.parametrize(
    "nest",
    [
        lambda a, b: [a, b],
        lambda a, b: (a, [b]),
        lambda a, b: {"b": b, "a": a},
        lambda a, b: Pair(a, {"deep": [b]}),
    ],
    ids=["list", "tuple", "dict", "namedtuple"],
)
def test_nested_structures(nest):
    a, b = tf.constant(2.0), tf.Variable(5.0, trainable=False)
    with tf.GradientTape() as tape:
        tape.watch(nest(a, b))
        y = a * b
    assert [float(gradient) for gradient in tape.gradient(y, [a, b])] == [5.0, 2.0]


@pytest.mark.parametrize("nothing", [[], (), {}])
def test_an_empty_structure_is_nothing_to_watch(nothing):
    with tf.GradientTape() as tape:
        tape.watch(nothing)
    assert tape.watched_variables() == ()


@pytest.mark.parametrize(
    ("value", "type_name"),
    [
        (None, "NoneType"),
        (3.0, "float"),
        ([1.0, 2.0], "float"),
        (np.array([1.0, 2.0]), "ndarray"),
        ("abc", "str"),
    ],
)
def test_what_is_not_a_tensor(value, type_name):
    message = f"of type '{type_name}', not tf.Tensor or tf.Variable"
    with tf.GradientTape() as tape, pytest.raises(ValueError, match=message):
        tape.watch(value)


def test_leaves_before_a_bad_one_are_watched():
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        with pytest.raises(ValueError, match=r"Passed in object 1\.0 of type 'float'"):
            tape.watch([x, 1.0])
        y = x * x
    assert float(tape.gradient(y, x)) == 6.0


@pytest.mark.parametrize("value", [3, True, "text"])
def test_a_tensor_without_derivatives_is_ignored(value, logs):
    x = tf.constant(value)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.identity(x)
    assert tape.gradient(y, x) is None
    assert len(logs) == 1


def test_sees_only_what_runs_afterwards():
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        early = x * x
        tape.watch(x)
        late = 2.0 * x
        y = early + late
    assert float(tape.gradient(y, x)) == 2.0


def test_an_operation_already_recorded_counts_for_an_input_watched_later():
    v, c = tf.Variable(2.0), tf.constant(5.0)
    with tf.GradientTape() as tape:
        y = v * c
        tape.watch(c)
    assert float(tape.gradient(y, c)) == 2.0


def test_watching_twice_counts_once():
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        tape.watch([x, x])
        y = x * x
    assert float(tape.gradient(y, x)) == 6.0


def test_watching_an_intermediate_does_not_cut_the_graph():
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
        tape.watch(y)
        z = y * y
    dx, dy = tape.gradient(z, [x, y])
    assert (float(dx), float(dy)) == (108.0, 18.0)


class TestNoActiveTape:
    """watch takes effect only where some tape is recording on the calling thread."""

    x = tf.constant(3.0)

    def test_after_the_block(self):
        with tf.GradientTape() as tape:
            pass
        tape.watch(self.x)
        with tape:
            y = self.x * self.x
        assert tape.gradient(y, self.x) is None

    def test_while_the_only_tape_is_stopped(self):
        with tf.GradientTape() as tape:
            with tape.stop_recording():
                tape.watch(self.x)
            y = self.x * self.x
        assert tape.gradient(y, self.x) is None

    def test_from_another_thread(self):
        with tf.GradientTape() as tape:
            thread = threading.Thread(target=tape.watch, args=(self.x,))
            thread.start()
            thread.join()
            y = self.x * self.x
        assert tape.gradient(y, self.x) is None

    def test_another_active_tape_makes_it_count(self):
        with tf.GradientTape() as tape:
            pass
        with tf.GradientTape():
            tape.watch(self.x)
        with tape:
            y = self.x * self.x
        assert float(tape.gradient(y, self.x)) == 6.0


class TestVariables:
    def test_trainable_ones_are_watched_on_access(self):
        trained, fixed = tf.Variable(2.0), tf.Variable(5.0, trainable=False)
        with tf.GradientTape() as tape:
            y = trained * fixed
        dtrained, dfixed = tape.gradient(y, [trained, fixed])
        assert float(dtrained) == 5.0
        assert dfixed is None
        assert [v is trained for v in tape.watched_variables()] == [True]

    def test_others_on_request(self):
        fixed = tf.Variable(5.0, trainable=False)
        with tf.GradientTape() as tape:
            tape.watch(fixed)
            y = fixed * fixed
        assert float(tape.gradient(y, fixed)) == 10.0
        assert len(tape.watched_variables()) == 1

    def test_none_on_access_if_so_asked(self):
        a, b = tf.Variable(2.0), tf.Variable(5.0)
        with tf.GradientTape(watch_accessed_variables=False) as tape:
            tape.watch(a)
            y = a * b
        da, db = tape.gradient(y, [a, b])
        assert float(da) == 5.0
        assert db is None
        assert [v is a for v in tape.watched_variables()] == [True]

    @pytest.mark.parametrize(("value", "dtype"), [(3, tf.int32), (True, tf.bool)])
    def test_integers_and_booleans_are_watched_silently(self, value, dtype, logs):
        v = tf.Variable(value, dtype=dtype)
        with tf.GradientTape() as tape:
            y = tf.identity(v)
        assert [w is v for w in tape.watched_variables()] == [True]
        assert tape.gradient(y, v) is None
        assert logs == []


ACCESSES = {
    "arithmetic": lambda v: v * 1.0,
    "read_value": lambda v: v.read_value(),
    "value": lambda v: v.value(),
    "numpy": lambda v: v.numpy(),
    "asarray": np.asarray,
    "repr": repr,
    "str": str,
    "f-string": lambda v: f"{v}",
    "index": lambda v: v[0],
    "iteration": list,
    "equality": lambda v: v == v,
    "shape op": tf.shape,
    "convert_to_tensor": tf.convert_to_tensor,
    "deepcopy": copy.deepcopy,
    "assign": lambda v: v.assign([3.0, 4.0]),
    "assign_add": lambda v: v.assign_add([3.0, 4.0]),
    "assign_sub": lambda v: v.assign_sub([3.0, 4.0]),
    "slice assign": lambda v: v[0].assign(3.0),
    "scatter": lambda v: v.scatter_update(tf.IndexedSlices([3.0], [0])),
}
NOT_ACCESSES = {
    "shape": lambda v: v.shape,
    "dtype": lambda v: v.dtype,
    "name": lambda v: v.name,
    "ref": lambda v: v.ref(),
    "is_initialized": lambda v: v.is_initialized(),
    "trainable": lambda v: v.trainable,
}


@pytest.mark.parametrize("access", ACCESSES.values(), ids=ACCESSES)
def test_what_counts_as_access(access):
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        access(v)
    assert len(tape.watched_variables()) == 1
    assert tape.watched_variables()[0] is v


@pytest.mark.parametrize("access", NOT_ACCESSES.values(), ids=NOT_ACCESSES)
def test_what_does_not_count_as_access(access):
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        access(v)
    assert tape.watched_variables() == ()


@pytest.mark.parametrize("convert", [float, int, bool])
def test_python_conversions_count_as_access(convert):
    v = tf.Variable(1.0)
    with tf.GradientTape() as tape:
        assert convert(v) == 1
    assert len(tape.watched_variables()) == 1


@pytest.mark.parametrize("access", ACCESSES.values(), ids=ACCESSES)
def test_no_access_counts_while_stopped_or_switched_off(access):
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as stopped, stopped.stop_recording():
        access(v)
    with tf.GradientTape(watch_accessed_variables=False) as switched_off:
        access(v)
    assert stopped.watched_variables() == ()
    assert switched_off.watched_variables() == ()


class TestWatchedVariables:
    def test_is_a_tuple_in_order_of_construction_without_repeats(self):
        variables = [tf.Variable(float(i), name=f"v{i}") for i in range(4)]
        with tf.GradientTape() as tape:
            for i in (2, 0, 3, 1, 0):
                _ = variables[i] * 2.0
        watched = tape.watched_variables()
        assert isinstance(watched, tuple)
        assert [v.name for v in watched] == ["v0:0", "v1:0", "v2:0", "v3:0"]

    def test_is_empty_before_entering(self):
        assert tf.GradientTape().watched_variables() == ()

    def test_survives_the_gradient_call(self):
        v = tf.Variable(2.0)
        with tf.GradientTape() as tape:
            y = v * v
        tape.gradient(y, v)
        assert [w is v for w in tape.watched_variables()] == [True]

    def test_keeps_the_variables_alive(self):
        with tf.GradientTape() as tape:
            _ = tf.Variable(7.0) * 1.0
        assert [float(v) for v in tape.watched_variables()] == [7.0]

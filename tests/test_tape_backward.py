"""The backward pass: which sources have a gradient, and what the arguments of gradient() mean."""

import collections
import copy
import threading

import numpy as np
import pytest

import gradtape as tf

Pair = collections.namedtuple("Pair", ["first", "second"])


@pytest.fixture
def x():
    return tf.constant([1.0, 2.0, 3.0])


def square_tape(x, **options):
    """A tape that watched x and recorded y = x * x."""
    with tf.GradientTape(**options) as tape:
        tape.watch(x)
        y = x * x
    return tape, y


class TestIdentity:
    """A source is an object, not a value."""

    @pytest.mark.parametrize(
        "lookalike",
        [
            lambda x: tf.constant([1.0, 2.0, 3.0]),
            lambda x: tf.identity(x),
            lambda x: x[:],
        ],
        ids=["equal", "identity", "slice"],
    )
    def test_an_equal_tensor_is_another_source(self, x, lookalike):
        tape, y = square_tape(x)
        assert tape.gradient(y, lookalike(x)) is None

    @pytest.mark.parametrize("same", [tf.convert_to_tensor, copy.copy], ids=["convert", "copy"])
    def test_the_same_object_under_another_name(self, x, same):
        tape, y = square_tape(x)
        assert same(x) is x
        assert tape.gradient(y, same(x)).numpy().tolist() == [2.0, 4.0, 6.0]

    def test_a_variable_is_one_source_however_it_is_reached(self):
        v = tf.Variable([1.0, 2.0])
        with tf.GradientTape(persistent=True) as tape:
            y = v * v
        assert tape.gradient(y, copy.copy(v)).numpy().tolist() == [2.0, 4.0]
        for other in (copy.deepcopy(v), v.read_value(), v[0]):
            assert tape.gradient(y, other) is None

    def test_a_read_that_the_operation_used(self):
        v = tf.Variable([1.0, 2.0])
        with tf.GradientTape() as tape:
            first = v[0]
            y = first * first * 3.0
        assert float(tape.gradient(y, first)) == 6.0

    def test_an_unwatched_operand_of_a_recorded_operation(self):
        v, c = tf.Variable(2.0), tf.constant(5.0)
        with tf.GradientTape() as tape:
            y = v * c
        assert tape.gradient(y, c) is None


class TestTargetIsSource:
    @pytest.mark.parametrize(
        ("value", "ones"), [(4.0, 1.0), ([4.0, 5.0], [1.0, 1.0]), (4, 1), (False, True)]
    )
    def test_gradient_is_ones_of_the_same_dtype(self, value, ones):
        u = tf.constant(value)
        with tf.GradientTape() as tape:
            pass
        gradient = tape.gradient(u, u)
        assert gradient.dtype == u.dtype
        assert gradient.numpy().tolist() == ones

    def test_a_string_has_none(self):
        u = tf.constant("text")
        with tf.GradientTape() as tape:
            pass
        assert tape.gradient(u, u) is None

    def test_a_variable_too(self):
        v = tf.Variable([2.0, 3.0])
        with tf.GradientTape() as tape:
            pass
        assert tape.gradient(v, v).numpy().tolist() == [1.0, 1.0]

    def test_the_seed_itself_comes_back(self, x):
        seed = tf.constant([7.0, 8.0, 9.0])
        with tf.GradientTape() as tape:
            tape.watch(x)
        assert tape.gradient(x, x, output_gradients=seed) is seed


class TestSums:
    def test_a_target_that_is_not_scalar_counts_as_its_sum(self):
        v = tf.Variable(2.0)
        with tf.GradientTape() as tape:
            y = v * [3.0, 4.0]
        assert float(tape.gradient(y, v)) == 7.0

    @pytest.mark.parametrize(
        "targets",
        [
            lambda y, z: [y, z],
            lambda y, z: {"y": y, "z": z},
            lambda y, z: Pair(y, (z,)),
            lambda y, z: (z, y, tf.constant(5.0)),
        ],
        ids=["list", "dict", "nested", "with an unrelated one"],
    )
    def test_several_targets_add_up(self, targets):
        v = tf.Variable(2.0)
        with tf.GradientTape() as tape:
            y, z = v * v, 1.0 / v
        assert float(tape.gradient(targets(y, z), v)) == 3.75

    def test_the_same_target_twice_counts_twice(self, x):
        tape, y = square_tape(x)
        assert tape.gradient([y, y], x).numpy().tolist() == [4.0, 8.0, 12.0]

    def test_a_target_below_another(self, x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x
            z = y * y
        assert tape.gradient([y, z], x).numpy().tolist() == [6.0, 36.0, 114.0]

    def test_broadcasting_is_summed_back_to_the_source(self, gradient_of):
        row, column = np.ones([1, 3], np.float32), np.ones([2, 1], np.float32)
        drow, dcolumn, dscalar = gradient_of(lambda r, c, s: r + c * s, row, column, 2.0)
        assert drow.numpy().tolist() == [[2.0] * 3]
        assert dcolumn.numpy().tolist() == [[6.0], [6.0]]
        assert float(dscalar) == 6.0


def test_sources_do_not_cut_each_other(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
        z = y * y
    dx, dy = tape.gradient(z, [x, y])
    assert dx.numpy().tolist() == [4.0, 32.0, 108.0]
    assert dy.numpy().tolist() == [2.0, 8.0, 18.0]


def test_an_output_that_was_not_used_counts_as_zeros(gradient_of):
    dx = gradient_of(lambda x: tf.split(x, 2)[0] * 3.0, [1.0, 2.0, 3.0, 4.0])
    assert dx.numpy().tolist() == [3.0, 3.0, 0.0, 0.0]


PATH_ENDS = {
    "argmax": tf.argmax,
    "greater": lambda x: x > 1.0,
    "equal": lambda x: tf.equal(x, 1.0),
    "shape": tf.shape,
    "where": lambda x: tf.where(x > 1.0),
    "round": tf.round,
    "floor": tf.floor,
    "ceil": tf.math.ceil,
    "floordiv": lambda x: x // 2.0,
    "cast to int": lambda x: tf.cast(tf.cast(x, tf.int32), tf.float32),
    "stop_gradient": tf.stop_gradient,
}


@pytest.mark.parametrize("function", PATH_ENDS.values(), ids=PATH_ENDS)
def test_where_the_path_ends_by_definition(function, x, gradient_of):
    assert gradient_of(function, x) is None
    zeros = gradient_of(function, x, unconnected_gradients="zero")
    assert zeros.numpy().tolist() == [0.0, 0.0, 0.0]


def test_stop_gradient_starts_a_new_source(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        stopped = tf.stop_gradient(x)
        tape.watch(stopped)
        y = x * stopped
    dx, dstopped = tape.gradient(y, [x, stopped])
    assert dx.numpy().tolist() == dstopped.numpy().tolist() == [1.0, 2.0, 3.0]


def test_control_flow_is_recorded_as_it_ran():
    def power(x, n):
        y = tf.constant(1.0)
        for i in range(n):
            if 1 < i < 5:
                y = y * x
        return y

    x, gradients = tf.constant(2.0), []
    for n in (6, 5, 4):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = power(x, n)
        gradients.append(float(tape.gradient(y, x)))
    assert gradients == [12.0, 12.0, 4.0]


def test_gradient_may_be_asked_for_in_another_thread(x):
    tape, y = square_tape(x)
    results = []
    thread = threading.Thread(target=lambda: results.append(tape.gradient(y, x)))
    thread.start()
    thread.join()
    assert results[0].numpy().tolist() == [2.0, 4.0, 6.0]


class TestSourceStructures:
    @pytest.mark.parametrize(
        "sources",
        [
            lambda v, w: [v, w],
            lambda v, w: (v, w),
            lambda v, w: {"z": v, "a": w},
            lambda v, w: collections.OrderedDict([("z", v), ("a", w)]),
            lambda v, w: Pair(v, w),
            lambda v, w: [{"deep": (v, [w])}],
            lambda v, w: [v, v, w],
        ],
        ids=["list", "tuple", "dict", "OrderedDict", "namedtuple", "nested", "repeated"],
    )
    def test_come_back_as_they_went_in(self, sources):
        v, w = tf.Variable(2.0), tf.Variable(5.0)
        gradient_by_source = {v.ref(): 5.0, w.ref(): 2.0}
        with tf.GradientTape() as tape:
            y = v * w
        structure = sources(v, w)
        got = tape.gradient(y, structure)
        want = tf.nest.map_structure(lambda source: gradient_by_source[source.ref()], structure)
        assert type(got) is type(structure)
        if isinstance(structure, dict):
            assert list(got) == list(structure)
        assert tf.nest.map_structure(float, got) == want

    @pytest.mark.parametrize("empty", [[], (), {}])
    def test_empty(self, x, empty):
        tape, y = square_tape(x)
        assert tape.gradient(y, empty) == empty

    def test_values_of_a_dict_come_back_as_a_list(self):
        v = tf.Variable(2.0)
        with tf.GradientTape() as tape:
            y = v * v
        gradients = tape.gradient(y, {"v": v}.values())
        assert isinstance(gradients, list)
        assert float(gradients[0]) == 4.0

    def test_no_target_no_gradient(self, x):
        tape, _ = square_tape(x)
        assert tape.gradient([], [x, x]) == [None, None]


class TestBadTargetsAndSources:
    @pytest.mark.parametrize(
        ("bad", "error"),
        [
            (3.0, AttributeError),
            ("a", TypeError),
            (np.ones(3, np.float32), AttributeError),
            (np.float32(1.0), AttributeError),
            ([None], TypeError),
        ],
        ids=["float", "str", "ndarray", "NumPy scalar", "None in a list"],
    )
    def test_neither_tensor_nor_variable(self, x, bad, error):
        tape, y = square_tape(x, persistent=True)
        with pytest.raises(error):
            tape.gradient(bad, x)
        with pytest.raises(error):
            tape.gradient(y, bad)
        assert tape.gradient(y, x).numpy().tolist() == [2.0, 4.0, 6.0]

    @pytest.mark.parametrize(
        "sources", [lambda x: None, lambda x: {x.ref()}, lambda x: (x for _ in range(2))]
    )
    def test_not_a_structure(self, x, sources):
        tape, y = square_tape(x)
        with pytest.raises(TypeError):
            tape.gradient(y, sources(x))

    def test_target_none(self, x):
        tape, _ = square_tape(x)
        with pytest.raises(TypeError, match="`target` should be a list or nested structure"):
            tape.gradient(None, x)

    def test_no_arguments(self, x):
        tape, _ = square_tape(x)
        with pytest.raises(TypeError, match="'target' and 'sources'"):
            tape.gradient()


class TestOutputGradients:
    @pytest.mark.parametrize(
        ("seed", "want"),
        [
            (lambda: tf.constant([1.0, 10.0, 100.0]), [2.0, 40.0, 600.0]),
            (lambda: [tf.constant([1.0, 10.0, 100.0])], [2.0, 40.0, 600.0]),
            (lambda: np.array([1.0, 10.0, 100.0], np.float32), [2.0, 40.0, 600.0]),
            (lambda: tf.Variable([1.0, 10.0, 100.0]), [2.0, 40.0, 600.0]),
            (lambda: 2.0, [4.0, 8.0, 12.0]),
            (lambda: tf.constant([2.0]), [4.0, 8.0, 12.0]),
            (list, [2.0, 4.0, 6.0]),
        ],
        ids=["tensor", "list", "ndarray", "variable", "scalar", "broadcast", "empty"],
    )
    def test_weigh_the_target(self, x, seed, want):
        tape, y = square_tape(x)
        assert tape.gradient(y, x, output_gradients=seed()).numpy().tolist() == want

    def test_a_list_of_numbers_is_one_gradient_per_target(self, x):
        tape, y = square_tape(x)
        gradient = tape.gradient(y, x, output_gradients=[3.0, 10.0, 100.0])
        assert gradient.numpy().tolist() == [6.0, 12.0, 18.0]

    def test_one_for_each_of_several_targets(self, x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            targets = {"b": x * x, "a": x + x}
        seeds = {"a": tf.constant([1.0, 0.0, 0.0]), "b": tf.constant([0.0, 0.0, 1.0])}
        assert tape.gradient(targets, x, seeds).numpy().tolist() == [2.0, 0.0, 6.0]

    def test_missing_ones_are_ones(self, x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            targets = [x * x, x + x]
        gradient = tape.gradient(targets, x, output_gradients=[tf.zeros([3])])
        assert gradient.numpy().tolist() == [2.0, 2.0, 2.0]

    def test_none_entries(self, x):
        tape, y = square_tape(x)
        with pytest.raises(ValueError, match="None"):
            tape.gradient(y, x, output_gradients=[None])

    @pytest.mark.parametrize(
        ("seed", "message"),
        [
            (tf.constant([1.0, 2.0]), "Incompatible shapes"),
            (tf.constant([1.0, 2.0, 3.0], tf.float64), "double tensor.*float tensor"),
            (np.ones(3, np.float64), "double tensor.*float tensor"),
        ],
        ids=["shape", "dtype", "NumPy dtype"],
    )
    def test_of_the_wrong_shape_or_dtype(self, x, seed, message):
        tape, y = square_tape(x)
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            tape.gradient(y, x, output_gradients=seed)


class TestUnconnectedGradients:
    def test_the_enum(self):
        members = tf.UnconnectedGradients
        assert (members.NONE.value, members.ZERO.value) == ("none", "zero")
        assert repr(members.NONE) == "<UnconnectedGradients.NONE: 'none'>"
        assert str(members.ZERO) == "UnconnectedGradients.ZERO"

    @pytest.mark.parametrize("none", [tf.UnconnectedGradients.NONE, "none"])
    def test_none(self, x, none):
        tape, y = square_tape(x)
        assert tape.gradient(y, tf.Variable(1.0), unconnected_gradients=none) is None

    @pytest.mark.parametrize("zero", [tf.UnconnectedGradients.ZERO, "zero"])
    @pytest.mark.parametrize("value", [[[0.5, 1.5]], 3, True, 1 + 2j, np.float64(2.0), "text"])
    def test_zero_takes_shape_and_dtype_of_the_source(self, x, zero, value):
        tape, y = square_tape(x)
        source = tf.constant(value)
        gradient = tape.gradient(y, source, unconnected_gradients=zero)
        assert gradient.dtype == source.dtype
        assert gradient.shape == source.shape
        assert not np.any(gradient.numpy() != tf.zeros_like(source).numpy())

    def test_connected_sources_are_unaffected(self, x):
        tape, y = square_tape(x)
        other = tf.constant(1.0)
        dx, dother = tape.gradient(y, [x, other], unconnected_gradients="zero")
        assert dx.numpy().tolist() == [2.0, 4.0, 6.0]
        assert float(dother) == 0.0

    @pytest.mark.parametrize("bad", ["ZERO", None, 0, True])
    def test_unknown_values(self, x, bad):
        tape, y = square_tape(x)
        with pytest.raises(ValueError, match=f"Unknown value for unconnected_gradients: {bad!r}"):
            tape.gradient(y, x, unconnected_gradients=bad)

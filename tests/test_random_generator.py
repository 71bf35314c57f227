"""Generators: TensorFlow's numbers and states, ways to make and reset them, threads, errors."""

import copy
import threading

import numpy as np
import pytest

import gradtape as tf
from random_reference import REFERENCE, assert_same

Generator = tf.random.Generator
InvalidArgument = tf.errors.InvalidArgumentError


@pytest.fixture
def generator():
    return Generator.from_seed(1)


@pytest.fixture(autouse=True)
def _no_global_generator_afterwards():
    yield
    tf.random.set_global_generator(None)


def state_of(generator):
    return generator.state.numpy().tolist()


@pytest.mark.parametrize(
    "run", REFERENCE["generators"], ids=lambda run: f"{run['constructor']}-{run['kwargs']}"
)
def test_numbers_and_states(run):
    generator = getattr(Generator, run["constructor"])(**run["kwargs"])
    assert state_of(generator) == run["state"]
    for record in run["calls"]:
        result = getattr(generator, record["function"])(**record["kwargs"])
        assert_same(result.numpy(), record["result"])
        assert state_of(generator) == record["state"]


def test_state_is_a_variable(generator):
    state = generator.state
    assert isinstance(state, tf.Variable)
    assert (state.name, state.trainable, state.dtype) == ("StateVar:0", False, tf.int64)
    assert generator.algorithm == 1
    assert generator.key.numpy() == 0
    state.assign([5, 6, 7])
    expected = Generator.from_state([5, 6, 7], alg="philox").normal([4])
    np.testing.assert_array_equal(generator.normal([4]), expected)
    assert generator.key.numpy() == 7


def test_drawing_is_not_recorded_but_parameters_are(generator):
    mean = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        samples = generator.normal([3], mean=mean) + generator.uniform([3], maxval=mean)
    assert tape.watched_variables() == (mean,)
    uniform = Generator.from_state([1 + 3 * 256, 0, 0], "philox").uniform([3])
    expected = 3.0 + np.sum(uniform.numpy(), dtype=np.float64)
    np.testing.assert_allclose(tape.gradient(samples, mean), expected, rtol=1e-6)


@pytest.mark.parametrize(
    ("seed", "state"),
    [
        (True, [1, 0, 0]),
        (2**200, [0, 0, 0]),
        (-1, [-1, -1, -1]),
        (1.5, [0, 0, 1]),
        ([], [0, 0, 0]),
        (np.int64(5), [0, 0, 5]),
        (tf.constant([5, 6]), [0, 5, 6]),
        (np.array([1, 2, 3, 2**63], np.uint64), [1, 2, 3]),
        (np.array([2**63], np.uint64), [0, 0, -(2**63)]),
        ([[1, 2], [3, 4]], [1, 2, 3]),
    ],
)
def test_seeds(seed, state):
    assert state_of(Generator.from_seed(seed)) == state
    assert tf.random.create_rng_state(seed, "philox").numpy().tolist() == state
    generator = Generator.from_seed(9)
    generator.reset_from_seed(seed)
    assert state_of(generator) == state


def test_algorithms():
    for alg in ("philox", "auto_select", 1, 3, tf.random.Algorithm.PHILOX, None):
        assert Generator.from_seed(1, alg=alg).algorithm == 1
    three_fry = Generator.from_seed(1, alg="threefry")
    assert (three_fry.algorithm, state_of(three_fry)) == (2, [1, 0])
    with pytest.raises(tf.errors.UnimplementedError, match="don't support the ThreeFry algorithm"):
        three_fry.normal([3])
    assert [each.name for each in tf.random.Algorithm] == ["PHILOX", "THREEFRY", "AUTO_SELECT"]


def test_unpredictable_states_differ():
    first, second = (Generator.from_non_deterministic_state() for _ in range(2))
    assert state_of(first) != state_of(second)
    assert first.state.shape == [3]


def test_a_variable_as_state_is_shared():
    state = tf.Variable([1, 2, 3], dtype=tf.int64)
    generator = Generator(state=state, alg="philox")
    assert generator.state is state
    generator.normal([2])
    assert state.numpy().tolist() == [1 + 512, 2, 3]


def test_copies(generator):
    twin, shallow, deep = Generator(generator), copy.copy(generator), copy.deepcopy(generator)
    numbers = generator.normal([5]).numpy()
    np.testing.assert_array_equal(twin.normal([5]), numbers)
    np.testing.assert_array_equal(deep.normal([5]), numbers)
    assert not np.array_equal(shallow.normal([5]), numbers)
    assert state_of(shallow) == state_of(generator)


def test_reset(generator):
    numbers = generator.normal([5]).numpy()
    generator.reset([1, 0, 0])
    np.testing.assert_array_equal(generator.normal([5]), numbers)
    generator.reset(tf.Variable([5, 6, 7], dtype=tf.int64))
    assert state_of(generator) == [5, 6, 7]
    generator.reset_from_key_counter(1, [5, 6])
    assert state_of(generator) == [5, 6, 1]


def test_a_state_read_before_keeps_its_value(generator):
    before = generator.state.value()
    skipped = generator.skip(2)
    generator.normal([3])
    assert before.numpy().tolist() == skipped.numpy().tolist() == [1, 0, 0]


# Words carry as in TensorFlow, where a negative step may lead back or carry over.
@pytest.mark.parametrize(
    ("state", "delta", "after"),
    [
        ([5, 6, 1], 2, [517, 6, 1]),
        ([517, 6, 1], -1, [261, 6, 1]),
        ([5, 0, 1], -1, [-251, 0, 1]),
        ([2**32 + 5, 0, 1], -1, [4294967045, 1, 1]),
        ([5, 6, 1], 1.5, [261, 6, 1]),
        ([5, 6, 1], tf.constant(2), [517, 6, 1]),
        ([5, 6, 1], 2**62, [5, 6, 1]),
        ([-1, 0, 1], 1, [255, 1, 1]),
        ([-1, -1, 1], 1, [255, 0, 1]),
        ([-1, -1, 1], 2**55, [2**63 - 1, 0, 1]),
        ([-1, -1, 1], 2**56 - 1, [-257, -1, 1]),
    ],
)
def test_skip(generator, state, delta, after):
    generator.reset(state)
    assert generator.skip(delta).numpy().tolist() == state
    assert state_of(generator) == after


def test_split(generator):
    generator.reset([1029, 6, 1])
    first, second = generator.split(2)
    assert state_of(generator) == [1029 + 512, 6, 1]
    assert state_of(first)[:2] == state_of(second)[:2] == [0, 0]
    assert [state_of(each)[2] for each in generator.split(3)] == [
        3922731854412303124,
        3793070780614318856,
        7553633341441197322,
    ]
    assert not np.array_equal(first.normal([3]), second.normal([3]))
    assert generator.split(0) == []


def test_make_seeds(generator):
    seeds = generator.make_seeds(2)
    assert (seeds.shape, seeds.dtype) == ([2, 2], tf.int64)
    assert generator.make_seeds().shape == [2, 1]
    tf.random.stateless_normal([3], seeds[:, 0])


@pytest.mark.parametrize(
    ("shape", "parameters", "each"),
    [([2], 1, 2), ([3, 2], 2, 3), ([4, 3, 2], 2, 12), ([4, 3, 2], 6, 4), ([0], 1, 0)],
)
def test_binomial_advances_by_parameters_and_samples(generator, shape, parameters, each):
    counts = {1: 5.0, 2: [5.0, 6.0], 6: [[5.0], [6.0], [7.0]]}[parameters]
    probs = [0.5, 0.5] if parameters == 6 else 0.5
    assert generator.binomial(shape, counts, probs).shape == shape
    assert state_of(generator) == [1 + 12800 * (each + 3) * parameters, 0, 0]


def test_binomial_precision_follows_the_parameters(generator):
    near_10 = 0.5 - 1e-12
    single = Generator.from_seed(1).binomial([8], 20.0, near_10)
    double = Generator.from_seed(1).binomial([8], np.float64(20), np.float64(near_10))
    np.testing.assert_array_equal(single, [9, 12, 14, 11, 8, 17, 9, 9])
    np.testing.assert_array_equal(double, [10, 12, 11, 9, 10, 10, 7, 7])


def test_full_range_by_two_limits_of_none(generator):
    numbers = generator.uniform([4], None, None, tf.int32).numpy()
    generator.reset_from_seed(1)
    np.testing.assert_array_equal(generator.uniform_full_int([4], tf.int32), numbers)
    assert generator.uniform_full_int([2]).dtype == tf.uint64


def test_global_generator(generator):
    shared = tf.random.get_global_generator()
    assert tf.random.get_global_generator() is shared
    before = state_of(shared)
    tf.random.set_seed(5)
    tf.random.set_seed(None)
    assert state_of(shared) == before
    tf.random.set_global_generator(generator)
    assert tf.random.get_global_generator() is generator
    assert tf.random.experimental.get_global_generator is tf.random.get_global_generator
    assert tf.random.experimental.Generator is Generator


def test_threads_get_different_numbers(generator):
    results = [[] for _ in range(4)]
    start = threading.Barrier(len(results))

    def draw(numbers):
        start.wait()
        numbers += [generator.uniform_full_int([]).numpy().item() for _ in range(50)]

    threads = [threading.Thread(target=draw, args=(numbers,)) for numbers in results]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    together = [number for numbers in results for number in numbers]
    expected = Generator.from_seed(1)
    alone = [expected.uniform_full_int([]).numpy().item() for _ in range(200)]
    assert sorted(together) == sorted(alone)
    assert state_of(generator) == state_of(expected)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: Generator(), AssertionError, "needs copy_from, or state and alg"),
        (lambda: Generator(state=[1, 2, 3]), AssertionError, "needs copy_from, or state and alg"),
        (
            lambda: Generator(Generator.from_seed(1), alg="philox"),
            AssertionError,
            "either copy_from, or state and alg",
        ),
        (
            lambda: Generator(state=[1, 2], alg="philox"),
            ValueError,
            "Shapes (2,) and [3] are incompatible",
        ),
        (
            lambda: Generator(state=[[1, 2, 3]], alg="philox"),
            ValueError,
            "Shapes (1, 3) and [3] are incompatible",
        ),
        (
            lambda: Generator(state=[1, 2, 3], alg="bad"),
            ValueError,
            "Argument `alg` got unsupported value bad. Supported values are philox",
        ),
        (lambda: Generator.from_seed(1, alg=99), ValueError, "got unsupported value 99"),
        (
            lambda: Generator.from_seed("a"),
            tf.errors.UnimplementedError,
            "Cast string to int64 is not supported",
        ),
        (
            lambda: Generator.from_key_counter(1, [2], "philox"),
            ValueError,
            "Shapes (1,) and [2] are incompatible",
        ),
        (
            lambda: Generator.from_key_counter([1], [2, 3], "philox"),
            ValueError,
            "Shapes (1,) and [] are incompatible",
        ),
    ],
)
def test_generators_that_cannot_be_made(make, error, message):
    with pytest.raises(error) as caught:
        make()
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda g: g.reset([1, 2]), ValueError, "Shapes (2,) and [3] are incompatible"),
        (lambda g: g.skip([1, 2]), InvalidArgument, "must have shape [], not [2]"),
        (lambda g: g.normal(3), InvalidArgument, "shape must be a vector of {int32,int64}"),
        (
            lambda g: g.normal([-2]),
            InvalidArgument,
            "Dimension -2 must be >= 0 [Op:StatelessRandomNormalV2]",
        ),
        (lambda g: g.normal([2], dtype=tf.int32), TypeError, "Cannot convert 0.0 to EagerTensor"),
        (
            lambda g: g.normal([2], [1.0, 2.0, 3.0]),
            InvalidArgument,
            "Incompatible shapes: [2] vs. [3] [Op:AddV2]",
        ),
        (
            lambda g: g.uniform([2], dtype=tf.int32),
            ValueError,
            "For integer dtype <dtype: 'int32'>, minval and maxval must be both `None` or both "
            "non-`None`; got minval=0 and maxval=None",
        ),
        (
            lambda g: g.uniform([2], maxval=3, dtype=tf.uint8),
            InvalidArgument,
            "Value for attr 'dtype' of uint8 is not in the list of allowed values: int32, int64, "
            "uint32, uint64",
        ),
        (
            lambda g: g.uniform([2], maxval=3, dtype=tf.uint32),
            tf.errors.NotFoundError,
            "Could not find device for node: {{node StatelessRandomUniformIntV2}}",
        ),
        (
            lambda g: g.uniform([2], 3, 3, tf.int32),
            InvalidArgument,
            "Need minval < maxval, got 3 >= 3",
        ),
        (
            lambda g: g.uniform([2], maxval=1, dtype=tf.bool),
            TypeError,
            "Cannot convert 0 to EagerTensor of dtype bool",
        ),
        (
            lambda g: g.uniform_full_int([2], dtype=tf.int16),
            InvalidArgument,
            "Value for attr 'dtype' of int16 is not in the list of allowed values: int32, int64, "
            "uint32, uint64",
        ),
        (
            lambda g: g.binomial([2], [5.0, 6.0, 7.0], 0.5),
            InvalidArgument,
            "Shape passed in must end with broadcasted shape. [Op:StatefulRandomBinomial]",
        ),
        (lambda g: g.binomial([2], 5, 0.5), InvalidArgument, "No OpKernel was registered"),
        (
            lambda g: g.binomial([2], 20.0, np.float64(0.5)),
            InvalidArgument,
            "input #4(zero-based) was expected to be a float tensor but is a double tensor",
        ),
        (lambda g: g.split(-1), InvalidArgument, "Dimension -1 must be >= 0"),
        (lambda g: g.make_seeds(-1), InvalidArgument, "Dimension -1 must be >= 0"),
    ],
)
def test_errors_change_nothing(generator, call, error, message):
    with pytest.raises(error) as caught:
        call(generator)
    assert message in str(caught.value)
    assert state_of(generator) == [1, 0, 0]

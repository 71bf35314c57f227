"""Random ops: TensorFlow's numbers for every seed, forms of arguments, gradients."""

import numpy as np
import pytest

import gradtape as tf
from gradtape.core import distributions
from random_reference import REFERENCE, assert_same, describe


@pytest.fixture(autouse=True)
def _unseeded_afterwards():
    yield
    tf.random.set_seed(None)


def named(name):
    """The function `tf.random.<name>`, where the name may have dots."""
    function = tf.random
    for part in name.split("."):
        function = getattr(function, part)
    return function


# TensorFlow's numbers -----------------------------------------------------------------------------


@pytest.mark.parametrize("record", REFERENCE["stateless"], ids=describe)
def test_stateless_functions(record):
    assert_same(named(record["function"])(**record["kwargs"]).numpy(), record["result"])


@pytest.mark.parametrize(
    "sequence",
    REFERENCE["stateful"],
    ids=lambda s: f"{s['set_seed']}-{describe(s['calls'][0])}",
)
def test_sequences_after_set_seed(sequence):
    tf.random.set_seed(sequence["set_seed"])
    for record in sequence["calls"]:
        assert_same(named(record["function"])(**record["kwargs"]).numpy(), record["result"])


@pytest.mark.parametrize("count", [1, 3, 4, 17, 32])
def test_few_normal_samples_are_the_first_of_many(count):
    for counter in range(0, 4000, 97):
        many = distributions.normal(7, counter, 2000, np.float32)
        few = distributions.normal(7, counter, count, np.float32)
        assert few.tobytes() == many[:count].tobytes()


def test_logarithms_of_the_smallest_uniform_samples():
    words = np.zeros(64, np.uint32)
    words[::3] = np.arange(22)
    many = distributions.normals_from_words(words, np.dtype(np.float32))
    few = distributions.normals_from_words(words[:8], np.dtype(np.float32))
    assert few.tobytes() == many[:8].tobytes()
    assert np.isfinite(many).all()


# Poisson rates just below 10: where they are float32 they are 10, and another method is used.
@pytest.mark.parametrize(
    ("function", "rate", "expected"),
    [
        (tf.random.poisson, 10 - 1e-9, [2, 10, 11, 12, 7, 14, 10, 13]),
        (tf.random.poisson, np.float32(10 - 1e-9), [11, 14, 5, 10, 14, 11, 17, 11]),
        (tf.random.poisson, 10, [11, 14, 5, 10, 14, 11, 17, 11]),
        (tf.random.stateless_poisson, 10 - 1e-9, [14, 12, 15, 18, 7, 13, 10, 10]),
        (tf.random.stateless_poisson, np.float64(10 - 1e-9), [14, 10, 14, 12, 12, 13, 10, 12]),
    ],
)
def test_precision_in_which_poisson_rates_are_taken(function, rate, expected):
    tf.random.set_seed(3)
    seed = 1 if function is tf.random.poisson else [1, 2]
    samples = function(shape=[8], lam=rate, seed=seed)
    np.testing.assert_array_equal(samples, expected)


def test_gamma_parameters_broadcast():
    tf.random.set_seed(0)
    samples = tf.random.gamma([2], [[0.5], [3.0]], beta=[2.0, 3.0])
    expected = [
        [[0.04818621, 0.01833593], [1.4482433, 0.59115183]],
        [[0.64215887, 0.31874904], [2.5161989, 1.4157549]],
    ]
    np.testing.assert_allclose(samples, expected, rtol=1e-6)


# Arguments ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "shape",
    [
        [2, 1],
        (2, 1),
        np.array([2, 1]),
        tf.constant([2, 1]),
        tf.TensorShape([2, 1]),
        [tf.constant(2), 1],
        [np.int64(2), 1],
    ],
    ids=repr,
)
def test_forms_of_shapes(shape):
    assert tf.random.normal(shape).shape == [2, 1]
    assert tf.random.uniform(shape, maxval=3, dtype=tf.int64).shape == [2, 1]
    assert tf.random.truncated_normal(shape, dtype=tf.float16).dtype == tf.float16
    assert tf.random.gamma(shape, [1.0, 2.0, 3.0]).shape == [2, 1, 3]
    assert tf.random.poisson(shape, 4.0, dtype=tf.int32).shape == [2, 1]
    assert tf.random.stateless_binomial(shape, [1, 2], 5.0, 0.5).dtype == tf.int32


@pytest.mark.parametrize("shape", [[], [0], [3, 0]])
def test_scalars_and_empty_tensors(shape):
    for function in (tf.random.normal, tf.random.uniform, tf.random.truncated_normal):
        assert function(shape).shape == shape
    assert tf.random.uniform([0], 5, 3, tf.int32).shape == [0]
    assert tf.random.gamma(shape, 2.0).shape == shape
    assert tf.random.poisson(shape, [2.0, 12.0]).shape == [*shape, 2]
    assert tf.random.stateless_binomial(shape, [1, 2], 5.0, 0.5).shape == shape
    assert tf.random.shuffle(tf.zeros(shape)).shape == shape
    assert tf.random.categorical(tf.zeros([0, 2]), 3).shape == [0, 3]
    assert tf.random.categorical([[1.0, 2.0]], 0).shape == [1, 0]
    assert type(tf.random.normal([]).numpy()) is np.float32


def test_parameters_may_be_larger_than_the_samples():
    np.testing.assert_array_equal(
        tf.random.stateless_uniform([1], [1, 2], maxval=[1.0, 2.0]),
        np.array([0.8440604, 1.6881208], np.float32),
    )
    assert tf.random.normal([1], mean=[1.0, 2.0, 3.0]).shape == [3]


def test_seeds_of_stateless_functions():
    expected = tf.random.stateless_uniform([4], [1, 2]).numpy()
    for seed in ((1, 2), np.array([1, 2]), tf.constant([1, 2], tf.int64), tf.Variable([1, 2])):
        np.testing.assert_array_equal(tf.random.stateless_uniform([4], seed), expected)
    for alg in ("philox", "auto_select", 1, 3, None, tf.random.Algorithm.PHILOX):
        np.testing.assert_array_equal(tf.random.stateless_uniform([4], [1, 2], alg=alg), expected)


def test_split_and_fold_in_keep_the_dtype_of_seed_and_data():
    wide = tf.constant([1, 2], tf.int64)
    assert tf.random.split(wide, 2).numpy().tolist() == [
        [7464880146280614444, 1591045637757961278],
        [-1057468755545501549, 2524363516007002203],
    ]
    assert tf.random.split([1, 2], 0).shape == [0, 2]
    folded = tf.random.fold_in([1, 2], tf.constant(5, tf.int64))
    assert (folded.dtype, folded.numpy().tolist()) == (tf.int64, [7464880146280614444, 5])
    assert tf.random.fold_in(wide, 5).numpy().tolist() == [1105988140, 5]
    assert tf.random.experimental.stateless_split is tf.random.split
    assert tf.random.experimental.stateless_fold_in is tf.random.fold_in


def test_shuffling_nothing_draws_nothing():
    tf.random.set_seed(None)
    assert tf.random.shuffle(np.zeros((2, 0), np.int64), seed=1).shape == (2, 0)
    shuffled = tf.random.shuffle(tf.range(5, dtype=tf.int64), seed=1)
    assert shuffled.numpy().tolist() == [2, 4, 0, 3, 1]


def test_shuffle_keeps_rows_together():
    rows = tf.reshape(tf.range(40), [20, 2])
    for shuffled in (
        tf.random.shuffle(rows),
        tf.random.experimental.stateless_shuffle(rows, [1, 2]),
    ):
        array = shuffled.numpy()
        assert (array[:, 1] == array[:, 0] + 1).all()
        assert sorted(array[:, 0]) == list(range(0, 40, 2))
        assert array[:, 0].tolist() != list(range(0, 40, 2))
    assert sorted(tf.random.shuffle(["a", "b", "c"]).numpy()) == [b"a", b"b", b"c"]
    assert tf.random.shuffle(3).numpy() == 3
    assert tf.random.experimental.stateless_shuffle(3, [1, 2]).numpy() == 3


# Gradients ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("function", "point", "expected"),
    [
        (lambda x: tf.random.uniform([3], maxval=x), 2.0, 1.0339323),
        (lambda x: tf.random.uniform([3], minval=x, maxval=5.0), 2.0, 1.9660677),
        (lambda x: tf.random.normal([3], mean=x), 2.0, 3.0),
        (lambda x: tf.random.normal([3], stddev=x), 2.0, 1.5142897),
        (lambda x: tf.random.truncated_normal([3], stddev=x), 2.0, 1.5142897),
        (lambda x: tf.random.stateless_uniform([3], [1, 2], maxval=x), 2.0, 2.0323291),
        (lambda x: x * tf.random.normal([3]), 2.0, 1.5142897),
        (lambda x: tf.random.gamma([3], x), 2.0, 2.974072),
        (lambda x: tf.random.gamma([3], x), [0.5, 2.0, 40.0], [2.9331286, 4.1948133, 2.960417]),
        (lambda x: tf.random.gamma([3], 2.0, beta=x), 2.0, -1.2920358),
        (
            lambda x: tf.random.gamma([2], x, beta=[2.0, 3.0]),
            [[0.5], [3.0]],
            [[2.023647], [1.8809128]],
        ),
        (lambda x: tf.random.stateless_gamma([3], [1, 2], x), 2.0, 3.7368243),
        (
            lambda x: tf.random.stateless_gamma([2, 3], [1, 2], x, beta=[1.0, 2.0, 3.0]),
            2.0,
            4.3111448,
        ),
        (lambda x: tf.nn.dropout(x, 0.3), [1.0] * 3, [0.0, 0.0, 1 / 0.7]),
        (lambda x: tf.nn.dropout(tf.ones([6]), x), 0.5, 12.0),
    ],
)
def test_gradients(gradient_of, function, point, expected):
    tf.random.set_seed(0)
    np.testing.assert_allclose(gradient_of(function, point), expected, rtol=2e-6)


def test_gamma_gradient_is_that_of_the_quantile():
    scipy_special = pytest.importorskip("scipy.special")
    tf.random.set_seed(4)
    alpha = tf.constant([0.3, 1.0, 7.0, 60.0], tf.float64)
    with tf.GradientTape() as tape:
        tape.watch(alpha)
        samples = tf.random.gamma([1], alpha, dtype=tf.float64)
    found = tape.gradient(samples, alpha)
    a, step = alpha.numpy(), 1e-5
    probability = scipy_special.gammainc(a, samples.numpy()[0])
    above, below = (scipy_special.gammaincinv(a + d, probability) for d in (step, -step))
    np.testing.assert_allclose(found, (above - below) / (2 * step), rtol=1e-6)


def test_gamma_has_no_second_derivative_in_alpha():
    alpha = tf.constant(2.0)
    with tf.GradientTape() as outer:
        outer.watch(alpha)
        with tf.GradientTape() as inner:
            inner.watch(alpha)
            samples = tf.random.gamma([3], alpha)
        gradient = inner.gradient(samples, alpha)
    with pytest.raises(LookupError, match="no entry for: RandomGammaGrad"):
        outer.gradient(gradient, alpha)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: tf.random.shuffle(x),
        lambda x: tf.cast(tf.random.categorical([x], 2), tf.float32),
        lambda x: tf.random.stateless_poisson([4, 3], [1, 2], x, dtype=tf.float32),
        lambda x: tf.random.stateless_binomial([3], [1, 2], 4.0, x, output_dtype=tf.float32),
    ],
)
def test_gradients_that_end(gradient_of, function):
    assert gradient_of(function, [0.2, 0.5, 0.9]) is None


@pytest.mark.parametrize(
    ("function", "op_name"),
    [
        (lambda x: tf.random.poisson([2], x), "RandomPoissonV2"),
        (lambda x: tf.random.experimental.stateless_shuffle(x, [1, 2]), "StatelessShuffle"),
    ],
)
def test_gradients_that_nobody_has_registered(gradient_of, function, op_name):
    with pytest.raises(LookupError, match=f"gradient registry has no entry for: {op_name}"):
        gradient_of(function, [2.0, 1.0, 4.0])


def test_variables_as_parameters():
    mean = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        samples = tf.random.normal([3, 2], mean=mean)
    np.testing.assert_array_equal(tape.gradient(samples, mean), [3.0, 3.0])


def test_index_shuffle():
    shuffle = tf.random.experimental.index_shuffle
    assert [int(shuffle(i, [1, 2], 9)) for i in range(10)] == [5, 0, 1, 4, 3, 6, 9, 8, 7, 2]
    np.testing.assert_array_equal(shuffle([0, 1, 2], [1, 2], 9), [5, 0, 1])
    far = tf.constant([0, 1, 2], tf.int64)
    np.testing.assert_array_equal(
        shuffle(far, [1, 2], tf.constant(2**40, tf.int64)),
        [560705115234, 560635926003, 560570897984],
    )
    assert shuffle(tf.constant(3, tf.uint32), [1, 2], tf.constant(7, tf.uint32)).dtype == tf.uint32


@pytest.mark.parametrize("max_index", [0, 1, 6, 255, 256, 1000, 70_000])
def test_index_shuffle_is_a_permutation(max_index):
    shuffled = tf.random.experimental.index_shuffle(tf.range(max_index + 1), [7, 8], max_index)
    np.testing.assert_array_equal(np.sort(shuffled), np.arange(max_index + 1))

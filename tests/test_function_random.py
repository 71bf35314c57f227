"""Random numbers of functions are those of eager code, bit for bit, over many calls."""

import numpy as np
import pytest

import gradtape as tf

_VECTOR = [tf.constant([1.0, 2.0]), tf.constant([3.0, 0.5])]
_RATES = [tf.constant(0.2), tf.constant(0.7)]
_LIMITS = [tf.constant(5), tf.constant(9)]
_SEEDS = [tf.constant([1, 2]), tf.constant([3, 4])]
_CLASSES = [tf.constant([[1], [2]], tf.int64), tf.constant([[3], [4]], tf.int64)]
_IMAGES = [tf.reshape(tf.range(48.0), [4, 4, 3]), tf.ones([4, 4, 3])]


def arrays_of(function, arguments, seed=5, rounds=3):
    """Everything some calls give, and a number drawn after them."""
    tf.random.set_seed(seed)
    results = [function(x) for _ in range(rounds) for x in arguments]
    leaves = tf.nest.flatten([*results, tf.random.uniform([2])], expand_composites=True)
    return [np.asarray(x) for x in leaves]


def assert_same(found, expected):
    assert len(found) == len(expected)
    for a, b in zip(found, expected, strict=True):
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        np.testing.assert_array_equal(a, b)


_OPS = {
    "normal": (lambda x: tf.random.normal([3, 2], x), _VECTOR),
    "normal with a seed": (
        lambda x: tf.random.normal([2], x, seed=3) + tf.random.normal([2], seed=3), _VECTOR,
    ),
    "truncated normal": (lambda x: tf.random.truncated_normal([2], x, seed=1), _VECTOR),
    "uniform": (lambda x: tf.random.uniform([3, 2], -1.0, x), _VECTOR),
    "integers": (lambda n: tf.random.uniform([4], maxval=n, dtype=tf.int32), _LIMITS),
    "gamma": (lambda x: tf.random.gamma([3], x, beta=x), _VECTOR),
    "poisson": (lambda x: tf.random.poisson([3], x), _VECTOR),
    "categorical": (lambda x: tf.random.categorical(x[None], 5), _VECTOR),
    "shuffle": (lambda x: tf.random.shuffle(tf.concat([x, x, x], 0)), _VECTOR),
    "dropout": (lambda x: tf.nn.dropout(tf.tile(x, [5]), 0.5), _VECTOR),
    "dropout of a rate": (lambda rate: tf.nn.dropout(tf.ones([20]), rate), _RATES),
    "dropout of nothing": (lambda x: tf.nn.dropout(x, 0) + tf.random.normal([2]), _VECTOR),
    "stateless": (lambda seed: tf.random.stateless_normal([3], seed), _SEEDS),
    "stateless with a step": (lambda n: tf.random.stateless_uniform([3], [n, 1]), _LIMITS),
    "stateless gamma": (lambda seed: tf.random.stateless_gamma([3, 2], seed, [1.0, 2.0]), _SEEDS),
    "stateless binomial": (
        lambda seed: tf.random.stateless_binomial([3, 2], seed, [9.0, 20.0], 0.3), _SEEDS,
    ),
    "stateless shuffle": (
        lambda seed: tf.random.experimental.stateless_shuffle(tf.range(9), seed), _SEEDS,
    ),
    "split": (lambda seed: tf.random.split(seed, 3), _SEEDS),
    "fold_in": (lambda seed: tf.random.fold_in(seed, 7), _SEEDS),
    "set_seed": (lambda x: (tf.random.set_seed(4), tf.random.normal([2]) * x)[1], _VECTOR),
    "log-uniform candidates": (
        lambda classes: tf.random.log_uniform_candidate_sampler(classes, 1, 3, True, 20), _CLASSES,
    ),
    "learned candidates": (
        lambda classes: tf.random.learned_unigram_candidate_sampler(classes, 1, 3, True, 20, 1),
        _CLASSES,
    ),
    "sampled softmax": (
        lambda classes: tf.nn.sampled_softmax_loss(
            tf.reshape(tf.range(80.0), [20, 4]), tf.zeros([20]), classes, tf.ones([2, 4]), 5, 20
        ),
        _CLASSES,
    ),
    "flip": (tf.image.random_flip_left_right, _IMAGES),
    "crop": (lambda image: tf.image.random_crop(image, [2, 3, 3]), _IMAGES),
    "stateless crop": (
        lambda seed: tf.image.stateless_random_crop(_IMAGES[0], [2, 3, 3], seed), _SEEDS,
    ),
    "brightness": (lambda image: tf.image.random_brightness(image, 0.3), _IMAGES),
    "vectorized_map": (
        lambda x: tf.vectorized_map(lambda row: row + tf.random.normal([2]), x[:, None] * x),
        _VECTOR,
    ),
    "branches": (
        lambda x: tf.random.normal([2]) if tf.random.uniform([]) > 0.5 else x, _VECTOR,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", _OPS)
def test_agrees_with_eager_code(name):
    function, arguments = _OPS[name]
    assert_same(arrays_of(tf.function(function), arguments), arrays_of(function, arguments))


@pytest.mark.parametrize("name", [name for name in _OPS if name not in ("flip", "branches")])
def test_is_traced_once(name):
    function, arguments = _OPS[name]
    traces = []

    def counted(x):
        traces.append(1)
        return function(x)

    arrays_of(tf.function(counted), arguments, rounds=10)
    assert len(traces) == 1


def test_integers_need_limits_in_order_at_every_call():
    draw = tf.function(lambda n: tf.random.uniform([2], 3, n, tf.int32))
    draw(tf.constant(9))
    with pytest.raises(tf.errors.InvalidArgumentError, match="Need minval < maxval, got 3 >= 2"):
        draw(tf.constant(2))


def test_a_stateless_seed_has_two_numbers():
    draw = tf.function(lambda seed: tf.random.stateless_normal([2], seed))
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"seed must have shape \[2\]"):
        draw(tf.constant([1, 2, 3]))


def test_without_a_seed_calls_differ():
    draw = tf.function(lambda: tf.random.uniform([4]))
    tf.random.set_seed(None)
    first, second, third = [draw().numpy() for _ in range(3)]
    assert not np.array_equal(first, second)
    assert not np.array_equal(second, third)


def test_numbers_that_nobody_uses_are_drawn():
    def draw(x):
        tf.random.normal([3])
        return tf.random.normal([3]) * x

    arguments = [tf.constant(1.0)]
    assert_same(arrays_of(tf.function(draw), arguments), arrays_of(draw, arguments))


def test_a_call_that_starts_over_draws_once():
    def draw(x):
        y = tf.random.normal([])
        if x > 0:
            y += tf.random.normal([])
        return y

    arguments = [tf.constant(float(x)) for x in (1, -1, 2, -3, 4, 5)]
    assert_same(arrays_of(tf.function(draw), arguments), arrays_of(draw, arguments))


def test_functions_in_functions_draw_in_order():
    def noise(x):
        return x + tf.random.normal([2])

    def both(inner):
        return lambda x: inner(tf.random.normal([2]) + inner(x)) * tf.random.normal([2])

    eager = arrays_of(both(noise), _VECTOR)
    assert_same(arrays_of(tf.function(both(tf.function(noise))), _VECTOR), eager)
    assert_same(arrays_of(both(tf.function(noise)), _VECTOR), eager)


def test_initial_values_are_drawn_once_and_what_follows_finds_the_seeds_as_in_eager_code():
    def model():
        made = {}

        def call(x):
            for name in ("first", "second"):
                if name not in made:
                    made[name] = tf.Variable(tf.random.normal([2]))
                x = tf.nn.dropout(x * made[name], 0.5)
            return x

        return call

    assert_same(arrays_of(tf.function(model()), _VECTOR), arrays_of(model(), _VECTOR))


# Generators ---------------------------------------------------------------------------------------


def test_generators_advance_at_every_call():
    generator = tf.random.Generator.from_seed(3)

    def draw(x):
        return [
            generator.normal([2], x),
            generator.uniform([3]),
            generator.uniform([2], 0, 10, tf.int32),
            generator.uniform_full_int([2]),
            generator.truncated_normal([2]),
            generator.binomial([2], x + 5, 0.5),
            generator.make_seeds(2),
            generator.state + 0,
            generator.key,
            generator.skip(3),
        ]

    found = []
    for function in (draw, tf.function(draw)):
        generator.reset_from_seed(3)
        found.append([*arrays_of(function, _VECTOR), generator.state.numpy()])
    assert_same(*found)


def test_generators_are_reset_at_every_call():
    generator = tf.random.Generator.from_seed(3)

    def draw(seed):
        state = tf.concat([seed, seed[:1]], 0)
        generator.reset(state)
        first = generator.normal([2])
        generator.reset_from_key_counter(state[0], state[:2])
        return first, generator.normal([2])

    assert_same(arrays_of(tf.function(draw), _SEEDS), arrays_of(draw, _SEEDS))


def test_a_generator_made_in_a_function():
    class Noise:
        generator = None

        @tf.function
        def __call__(self):
            if self.generator is None:
                self.generator = tf.random.Generator.from_seed(1)
            return self.generator.normal([2])

    noise, expected = Noise(), tf.random.Generator.from_seed(1)
    for _ in range(3):
        np.testing.assert_array_equal(noise().numpy(), expected.normal([2]).numpy())


# Gradients ----------------------------------------------------------------------------------------


def with_gradient(function):
    def call(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = function(x)
        return y, tape.gradient(y, x)

    return call


def test_gradients_use_the_numbers_of_their_call():
    def noisy(x):
        return tf.nn.dropout(x * tf.random.normal([2], x, x), 0.5) * tf.random.gamma([], x)

    eager = arrays_of(with_gradient(noisy), _VECTOR)
    assert_same(arrays_of(with_gradient(tf.function(noisy)), _VECTOR), eager)
    assert_same(arrays_of(tf.function(with_gradient(noisy)), _VECTOR), eager)


def test_numbers_drawn_by_a_gradient_function_come_with_each_gradient():
    @tf.custom_gradient
    def noisy(x):
        forward = tf.random.normal([2])
        return x * forward, lambda g: g * tf.random.normal([2]) * forward

    eager = arrays_of(with_gradient(noisy), _VECTOR)
    assert_same(arrays_of(with_gradient(tf.function(noisy)), _VECTOR), eager)
    assert_same(arrays_of(tf.function(with_gradient(noisy)), _VECTOR), eager)


def test_recompute_grad_draws_the_same_numbers_again():
    generator = tf.random.Generator.from_seed(1)

    @tf.recompute_grad
    def inner(x):
        return tf.nn.dropout(tf.tanh(x * tf.random.normal([2])), 0.5)

    @tf.recompute_grad
    def segment(x):
        return inner(x * generator.normal([2])) + tf.random.uniform([2]) * x

    def model(x):
        return segment(segment(x)) * tf.random.normal([])

    def run(function):
        generator.reset_from_seed(1)
        return [*arrays_of(function, _VECTOR), generator.state.numpy()]

    eager = run(with_gradient(model))
    assert_same(run(with_gradient(tf.function(model))), eager)
    assert_same(run(tf.function(with_gradient(model))), eager)


class Layer:
    """Makes its weights when it is first called."""

    weights = None

    def __call__(self, x):
        if self.weights is None:
            self.weights = tf.Variable(tf.random.normal([2, 2]))
        return tf.nn.dropout(x @ self.weights, 0.5)


class CompiledLayer(Layer):
    __call__ = tf.function(Layer.__call__)


def eagerly(function):
    return function


_WAYS = [(CompiledLayer, eagerly), (Layer, tf.function), (CompiledLayer, tf.function)]


@pytest.mark.parametrize(("kind", "decorate"), _WAYS)
def test_layers_that_make_variables_draw_as_in_eager_code(kind, decorate):
    def run(kind, decorate):
        first, second = kind(), kind()
        call = decorate(lambda x: second(first(x)) + tf.random.normal([]))
        return arrays_of(call, [tf.ones([1, 2])])

    assert_same(run(kind, decorate), run(Layer, eagerly))


@pytest.mark.parametrize(("kind", "decorate"), _WAYS)
def test_variables_made_under_a_tape_get_gradients(kind, decorate):
    def run(kind, decorate):
        layer = kind()
        function = decorate(lambda x: layer(x))

        def call(x):
            with tf.GradientTape() as tape:
                y = function(x)
            return y, tape.gradient(y, layer.weights)

        return arrays_of(call, [tf.ones([1, 2])])

    assert_same(run(kind, decorate), run(Layer, eagerly))


def test_under_any_recorder_a_call_draws_once():
    calls = []

    def noisy(x):
        x = tf.py_function(lambda a: (calls.append(1), a)[1], [x], tf.float32)
        return x * x * tf.random.uniform([], seed=3)

    def derivatives(function):
        def call(x):
            with tf.autodiff.ForwardAccumulator(x, tf.ones([2])) as accumulator:
                y = function(x)
            tangent = accumulator.jvp(y)
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = function(x)
            jacobian = tape.jacobian(y, x)
            with tf.GradientTape() as outer:
                outer.watch(x)
                with tf.GradientTape() as tape:
                    tape.watch(x)
                    y = function(x)
                first = tape.gradient(y, x)
            return tangent, jacobian, first, outer.gradient(first, x)

        return call

    eager = arrays_of(derivatives(noisy), _VECTOR)
    count = len(calls)
    assert_same(arrays_of(derivatives(tf.function(noisy)), _VECTOR), eager)
    assert len(calls) == 2 * count

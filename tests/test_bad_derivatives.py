"""Bad input to derivatives: TensorFlow's exception class, and what to do about it."""

import pytest

import gradtape as tf

InvalidArgumentError = tf.errors.InvalidArgumentError


@tf.RegisterGradient("TestDoubleDtype")
def _double_dtype(op, g):
    return tf.cast(g, tf.float64)


@tf.custom_gradient
def by_rule(x):
    return x * 2.0, lambda g: tf.cast(g, tf.float64) * 2.0


def by_override(x):
    with tf.autodiff.gradient_override({"Sin": "TestDoubleDtype"}):
        return tf.sin(x)


def derivative(body, how="gradient"):
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = body(x)
    return getattr(tape, how)(y, x)


@pytest.mark.parametrize("how", ["gradient", "jacobian"])
@pytest.mark.parametrize("rule", [by_rule, by_override])
class TestDtypeOfACustomGradient:
    def test_it_cannot_be_added_to_others(self, rule, how):
        with pytest.raises(InvalidArgumentError, match="cannot compute Add"):
            derivative(lambda x: rule(x) + x, how)

    def test_it_cannot_be_passed_on(self, rule, how):
        with pytest.raises(InvalidArgumentError, match=r"float32 tensor for input #0.*tf\.cast"):
            derivative(lambda x: rule(tf.exp(x)), how)

    def test_but_it_can_be_a_result(self, rule, how):
        assert derivative(rule, how).dtype == tf.float64


class TestBatchJacobian:
    @pytest.mark.parametrize(
        ("shape", "function", "error", "message"),
        [
            ((2, 3), tf.reduce_sum, IndexError, r"Shape \(\) must have rank at least 2"),
            ((2, 3), lambda x: x[:, 0], ValueError, r"Shape \(2,\) must have rank at least 2"),
            ((2,), lambda x: x[:, None], ValueError, r"Shape \(2,\) must have rank at least 2"),
            (
                (2, 3), lambda x: tf.concat([x, x], 0), ValueError,
                r"target shape \(\(4, 3\)\) and source shape \(\(2, 3\)\) to match",
            ),
        ],
    )  # fmt: skip
    def test_ranks_and_sizes(self, shape, function, error, message):
        x = tf.ones(shape)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = function(x)
        with pytest.raises(error, match=message):
            tape.batch_jacobian(y, x)


@pytest.mark.parametrize("target", [None, "a"])
def test_a_target_that_is_no_tensor(target):
    with pytest.raises(AttributeError, match=r"gradient target must be a tensor.*Received: "):
        derivative(lambda x: target, "jacobian")


@pytest.mark.parametrize(
    "body",
    [
        tf.floor,
        lambda x: tf.cast(x, tf.int32),
        lambda x: tf.cast(tf.argmax(x), tf.float32),
        lambda x: tf.cast(tf.math.is_nan(x), tf.float32),
    ],
)
def test_the_jacobian_of_a_path_that_ends_is_none(body):
    assert derivative(body, "jacobian") is None


class TestAccumulator:
    def test_a_tensor_never_watched_has_no_tangent(self):
        x, other = tf.ones(2), tf.ones(3)
        with tf.autodiff.ForwardAccumulator(x, tf.ones(2)) as accumulator:
            y = other * 2.0
        assert accumulator.jvp([other, y]) == [None, None]
        zeros = accumulator.jvp(y, unconnected_gradients="zero")
        assert zeros.numpy().tolist() == [0.0, 0.0, 0.0]

    @pytest.mark.parametrize("shape", [(3,), (2, 2)])
    def test_a_tangent_of_another_shape(self, shape):
        with pytest.raises(ValueError, match=r"of shape \(.*\) for a primal of shape \(2,\)"):
            tf.autodiff.ForwardAccumulator(tf.ones(2), tf.ones(shape))

    def test_a_primal_that_is_no_tensor(self):
        with pytest.raises(AttributeError, match=r"gradient primal must be a tensor.*3\.0"):
            tf.autodiff.ForwardAccumulator(3.0, tf.ones(()))


@pytest.mark.parametrize(
    ("result", "error"),
    [
        (lambda g: g, TypeError),
        (lambda g: None, TypeError),
        (lambda g: (g,), ValueError),
        (lambda g: (g, [g], g), ValueError),
    ],
)
def test_a_rule_with_variables_that_returns_no_pair(result, error):
    v = tf.Variable(1.0)

    @tf.custom_gradient
    def scaled(x):
        return x * v, lambda g, variables=None: result(g)

    with pytest.raises(error, match=r"gradient function of scaled.* must return a pair"):
        derivative(scaled)


def test_batch_jacobian_says_which_argument_and_what_to_do():
    x = tf.ones((3, 2))
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        vector, other = tf.reduce_sum(x, 1), tf.reshape(x, (2, 3))
    with pytest.raises(ValueError, match=r"Shape \(3,\) must .* a `target` .* Use `jacobian`"):
        tape.batch_jacobian(vector, x)
    with pytest.raises(ValueError, match=r"target shape \(\(2, 3\)\) and source .* Use `jacobian`"):
        tape.batch_jacobian(other, x)

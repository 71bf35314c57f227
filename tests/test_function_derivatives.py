"""The user's own gradients, maps and functional derivatives in functions, as without them."""

import pytest

import gradtape as tf
from function_programs import M, X, assert_same_without_functions, collection

PROGRAMS, program = collection()
# Those that use what TensorFlow does not have.
OWN_PROGRAMS, own_program = collection()


@pytest.mark.parametrize("make", PROGRAMS)
def test_a_program_gives_the_same_with_and_without_functions(make):
    assert_same_without_functions(make)


@pytest.mark.parametrize("make", OWN_PROGRAMS)
def test_a_program_of_gradtape_gives_the_same_with_and_without_functions(make):
    assert_same_without_functions(make)


def gradients_of(f, *, variables=()):
    """A step that takes first, second and third derivatives of `f`, in several ways."""

    def step():
        x = tf.constant(X)
        with tf.GradientTape() as alone:
            alone.watch(x)
            y = f(x)
        first = alone.gradient(y, [x, *variables])
        with tf.GradientTape(persistent=True) as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = f(x)
            g = inner.gradient(y, x)
        second = [] if g is None else outer.gradient(g, [x, *variables])
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = f(x)
            z = f(y)
        return y, first, second, tape.gradient(z, x), tape.jacobian(y, [x, *variables])

    return step


def inside_and_around(f, function, *, variables=()):
    """The derivatives of a function of `f`, and of a function that differentiates `f`."""

    @function
    def slope(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        return tape.gradient(y, x)

    @function
    def nested(x):
        return wrapped(x * 2.0) + wrapped(x)

    wrapped = function(f)
    steps = [gradients_of(each, variables=variables) for each in (wrapped, slope, nested)]
    return lambda: [step() for step in steps]


# The user's own gradients -------------------------------------------------------------------------


@program
def custom_gradient(function):
    @tf.custom_gradient
    def log1pexp(x):
        e = tf.exp(x)
        return tf.math.log(1 + e), lambda g: g * (1 - 1 / (1 + e))

    return inside_and_around(lambda x: log1pexp(x) * x, function)


@program
def custom_gradient_of_several(function):
    @tf.custom_gradient
    def pair(x, y):
        product = x * y
        return (product, x + y), lambda g, h: (g * y * 10.0 + h, g * x + h * product)

    def f(x):
        a, b = pair(x, tf.sin(x))
        return a * b

    return inside_and_around(f, function)


@program
def custom_gradient_with_variables(function):
    v = tf.Variable([1.0, 2.0, 3.0])

    @tf.custom_gradient
    def scaled(x):
        def grad(g, variables=()):
            return g * variables[0] * 2.0, [g * x]

        return x * v, grad

    return inside_and_around(lambda x: scaled(x) * x, function, variables=[v])


@program
def custom_gradient_in_a_custom_gradient(function):
    @tf.custom_gradient
    def slope(x, g):
        return g * tf.cos(x), lambda h: (-h * g * tf.sin(x) * 100.0, h * tf.cos(x))

    @tf.custom_gradient
    def sine(x):
        return tf.sin(x), lambda g: slope(x, g)

    return inside_and_around(lambda x: sine(x) * x, function)


@program
def custom_gradient_outside_of_numpy(function):
    @tf.custom_gradient
    def negated(x):
        return tf.identity(x), lambda g: -g

    f = function(lambda x: negated(x * x))
    g = function(lambda x: tf.stop_gradient(f(x)) + f(x * 3.0))
    return gradients_of(g)


@program
def custom_gradient_of_a_function(function):
    inner = function(lambda x: tf.exp(x) * x)

    @tf.custom_gradient
    def f(x):
        y = inner(x)
        return y, lambda g: g * inner(y)

    return inside_and_around(f, function)


@program
def grad_pass_through(function):
    rounded = tf.grad_pass_through(lambda x: tf.round(x))
    return inside_and_around(lambda x: rounded(x * 3.0) * x, function)


@program
def recompute_grad(function):
    v = tf.Variable([1.0, -2.0, 0.5])

    @tf.recompute_grad
    def segment(x):
        return tf.tanh(tf.sin(x) * v)

    return inside_and_around(lambda x: segment(segment(x)), function, variables=[v])


@program
def recompute_grad_of_a_function(function):
    v = tf.Variable([1.0, -2.0, 0.5])
    segment = tf.recompute_grad(function(lambda x: tf.tanh(tf.sin(x) * v)))
    return inside_and_around(lambda x: segment(x) * x, function, variables=[v])


@own_program
def one_tensor_for_several_arguments(function):
    segment = tf.recompute_grad(lambda a, b: a * b * b)
    pair = function(lambda a, b: segment(a, b))
    by_hand = gradients_of(function(lambda x: segment(x, x)))
    by_function = gradients_of(function(lambda x: pair(x, x)))
    return lambda: (by_hand(), by_function())


@own_program
def effects_in_gradient_functions(function):
    generator, seen = tf.random.Generator.from_seed(5), []

    @tf.custom_gradient
    def noisy(x):
        noise = generator.normal([3])

        def grad(g):
            tf.py_function(lambda total: seen.append(float(total)), [tf.reduce_sum(g)], [])
            return g * generator.normal([3]) + noise

        return x * noise, grad

    f = function(lambda x: noisy(x) * 3.0)

    def step():
        x = tf.constant(X)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        return y, tape.gradient(y, x), generator.normal([2]), list(seen)

    return step


@own_program
def recompute_grad_with_random_numbers(function):
    segment = tf.recompute_grad(lambda x, y: tf.nn.dropout(tf.tanh(x) * y, 0.5))
    f = function(lambda x: segment(x * 2.0, x * 2.0) * x)

    def step():
        tf.random.set_seed(3)
        x = tf.constant(X)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        return y, tape.gradient(y, x)

    return step


@program
def stop_gradient(function):
    return inside_and_around(lambda x: tf.stop_gradient(x) * x * x, function)


@program
def python_functions(function):
    def f(x):
        y = tf.py_function(lambda a: a * a, [x], tf.float32)
        return tf.ensure_shape(y, [3]) * x

    def step():
        x = tf.constant(X)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = traced(x)
        return y, tape.gradient(y, x)

    traced = function(f)
    return step


# Maps over elements and functional derivatives ----------------------------------------------------


@program
def vectorized_maps(function):
    v = tf.Variable(2.0)
    f = function(lambda row: tf.reduce_sum(tf.sin(row) * v))

    @function
    def mapped(m):
        return tf.vectorized_map(f, m)

    def step():
        m = tf.constant(M)
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(m)
            y, z = tf.vectorized_map(f, m), mapped(m)
        found = [tape.gradient(each, [m, v]) for each in (y, z)]
        return y, z, found, tape.jacobian(z, m)

    return step


@program
def gradients_in_vectorized_maps(function):
    f = function(lambda row: tf.reduce_sum(tf.sin(row) * row))

    def slope(row):
        with tf.GradientTape() as tape:
            tape.watch(row)
            y = f(row)
        return tape.gradient(y, row)

    mapped = function(lambda m: tf.vectorized_map(slope, m))
    return lambda: (tf.vectorized_map(slope, tf.constant(M)), mapped(tf.constant(M)))


@own_program
def functional_derivatives(function):
    v = tf.Variable([1.0, 2.0, -1.0])
    vector = function(lambda x: tf.sin(x) * x[0] * v)
    scalar = function(lambda x: tf.reduce_sum(x**3 * v) * tf.reduce_prod(x))
    d = tf.autodiff

    def step():
        x, w = tf.constant(X), tf.constant(X[::-1].copy())
        value, pullback = d.vjp(vector, x)
        return [
            value, pullback(w), pullback(x), d.jvp(vector, x, w), d.jacfwd(vector, x),
            d.jacrev(vector, x), d.jacobian(vector, x), d.hessian(scalar, x), d.hvp(scalar, x, w),
            d.hessian_diag(scalar, x), d.value_and_gradient(scalar, x),
            d.per_example_gradient(lambda e: tf.reduce_sum(scalar(e)), v, tf.stack([x, w])),
        ]  # fmt: skip

    return step


@own_program
def functional_derivatives_inside(function):
    d = tf.autodiff

    def scalar(x):
        return tf.reduce_sum(x**3) * tf.reduce_prod(x)

    @function
    def all_of_them(x, w):
        value, pullback = d.vjp(tf.sin, x)
        return [
            value, pullback(w), d.jvp(tf.sin, x, w), d.jacfwd(tf.sin, x), d.jacrev(tf.sin, x),
            d.hessian(scalar, x), d.hvp(scalar, x, w), d.hessian_diag(scalar, x),
        ]  # fmt: skip

    def step():
        x, w = tf.constant(X), tf.constant(X[::-1].copy())
        with tf.GradientTape() as tape:
            tape.watch(x)
            found = all_of_them(x, w)
        return found, tape.gradient(found[-2], x)

    return step


@own_program
def custom_gradient_with_keywords(function):
    @tf.custom_gradient
    def scaled(x, *, factor):
        return x * factor, lambda g: (g * factor * 3.0, g * x * 5.0)

    return inside_and_around(lambda x: scaled(x, factor=tf.sin(x)), function)


@own_program
def nan_safe_tapes(function):
    f = function(lambda x: tf.where(x > 0, tf.sqrt(x), 0.0))

    @function
    def inside(x):
        with tf.GradientTape(nan_safe=True) as tape:
            tape.watch(x)
            y = f(x)
        return tape.gradient(y, x)

    def step():
        x = tf.constant([0.0, 4.0, -1.0])
        with tf.GradientTape(nan_safe=True) as safe:
            safe.watch(x)
            y = f(x)
        with tf.GradientTape() as other:
            other.watch(x)
            z = f(x)
        return safe.gradient(y, x), other.gradient(z, x), inside(x)

    return step


@own_program
def gradient_overrides(function):
    f = function(lambda x: tf.nn.relu(x) * x)

    def guided(x):
        with tf.autodiff.gradient_override({"Relu": "FunctionTestRelu"}):
            return f(x) + tf.nn.relu(-x)

    g = function(guided)
    steps = [gradients_of(each) for each in (guided, g, function(lambda x: g(x) * f(x)))]
    return lambda: [step() for step in steps]


@tf.RegisterGradient("FunctionTestRelu")
def _negative_slope(op, grad):
    return -grad * op.outputs[0] * 2.0

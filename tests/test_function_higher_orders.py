"""Higher orders across the boundary of a function, and accumulators: as without tf.function."""

import pytest

import gradtape as tf
from function_programs import M, X, assert_same_without_functions, collection

PROGRAMS, program = collection()


@pytest.mark.parametrize("make", PROGRAMS)
def test_a_program_gives_the_same_with_and_without_functions(make):
    assert_same_without_functions(make)


# Higher orders across the boundary ----------------------------------------------------------------


@program
def tapes_in_tapes_around(function):
    v = tf.Variable(2.0)
    f = function(lambda x: tf.reduce_sum(x**4 * v))

    def step():
        x = tf.constant(X)
        with tf.GradientTape(persistent=True) as third:
            third.watch(x)
            with tf.GradientTape() as second:
                second.watch(x)
                with tf.GradientTape() as first:
                    first.watch(x)
                    y = f(x)
                g = first.gradient(y, x)
            h = second.gradient(g, x)
        return g, h, third.gradient(h, x), third.gradient(h, v), third.jacobian(h, x)

    return step


@program
def an_outer_tape_that_follows_the_seed_alone(function):
    f = function(lambda x: tf.sin(x) * x)

    def step():
        x, s = tf.constant(X), tf.constant(2.0)
        with tf.GradientTape() as outer:
            outer.watch(s)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = f(x)
            g = inner.gradient(y, x, output_gradients=tf.ones_like(x) * s)
        return outer.gradient(g, s)

    return step


@program
def a_source_that_is_watched_later(function):
    f = function(lambda x: x * x)

    def step():
        x = tf.constant(X)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = f(x)
        with tf.GradientTape() as outer:
            outer.watch(x)
            g = inner.gradient(y, x)
        return outer.gradient(g, x)

    return step


@program
def the_gradient_inside_and_a_tape_around(function):
    @function
    def slope(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x**3
        return tape.gradient(y, x)

    def step():
        x = tf.constant(X)
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as tape:
                tape.watch(x)
                g = slope(x)
            h = tape.gradient(g, x)
        with tf.GradientTape() as alone:
            alone.watch(x)
            g = slope(x)
        return g, h, outer.gradient(h, x), alone.gradient(g, x)

    return step


@program
def functions_in_functions(function):
    v = tf.Variable(1.5)
    inner = function(lambda x: tf.sin(x) * v)

    @function
    def outer(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = inner(x) * inner(2.0 * x)
        return y, tape.gradient(y, [x, v])

    def step():
        x = tf.constant(X)
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y, (g, of_v) = outer(x)
        return y, g, of_v, tape.gradient(y, x), tape.gradient(g, [x, v]), tape.gradient(of_v, v)

    return step


@program
def a_gradient_taken_inside_another_function(function):
    f = function(lambda x: tf.reduce_sum(tf.exp(x) * x))

    @function
    def newton(x):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = f(x)
            g = inner.gradient(y, x)
        return x - tf.linalg.solve(outer.jacobian(g, x), g[:, tf.newaxis])[:, 0]

    return lambda: newton(tf.constant(X))


@program
def jacobians_around(function):
    v = tf.Variable([1.0, -2.0])
    f = function(lambda m: (tf.sin(m @ m[:2]) * v, tf.reduce_sum(m)))

    def step():
        m = tf.constant(M)
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(m)
            y, total = f(m)
        return (
            tape.jacobian(y, [m, v]),
            tape.jacobian(total, [m, v]),
            tape.batch_jacobian(y, m),
            tape.jacobian(y, m, experimental_use_pfor=False),
            tape.jacobian(y, m, parallel_iterations=2),
        )

    return step


@program
def guards_under_a_tape(function):
    v = tf.Variable(2.0)

    @function
    def f(x):
        if tf.reduce_sum(x) > 0:
            return x * v
        return -x * x

    def step():
        found = []
        for sign in (1.0, -1.0, -1.0, 1.0):
            x = tf.constant(X) * sign
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = f(x)
            found += [y, tape.gradient(y, [x, v])]
        return found

    return step


@program
def random_numbers_under_a_tape(function):
    generator = tf.random.Generator.from_seed(3)
    f = function(lambda x: x * x * generator.normal([3]))

    def step():
        x = tf.constant(X)
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = f(x)
            g = tape.gradient(y, x)
        return y, g, tape.gradient(g, x), generator.normal([2])

    return step


@program
def steps_of_steps(function):
    w = tf.Variable([1.0, 2.0, 3.0])

    @function
    def improved(x, u):
        with tf.GradientTape() as tape:
            tape.watch(u)
            loss = tf.reduce_sum((x * u) ** 2)
        return u - 0.1 * tape.gradient(loss, u)

    def loss_after_three(x):
        u = tf.identity(w)
        for _ in range(3):
            u = improved(x, u)
        return tf.reduce_sum(u * x)

    @function
    def slope(x):
        with tf.GradientTape() as tape:
            y = loss_after_three(x)
        return tape.gradient(y, w)

    def step():
        with tf.GradientTape() as tape:
            y = loss_after_three(tf.constant(X))
        return tape.gradient(y, w), slope(tf.constant(X))

    return step


# Accumulators -------------------------------------------------------------------------------------


@program
def an_accumulator_around(function):
    v = tf.Variable(2.0)
    f = function(lambda x: (tf.sin(x) * v, tf.cast(x, tf.int32), tf.stop_gradient(x)))

    def step():
        x = tf.constant(X)
        with tf.autodiff.ForwardAccumulator((x, v), (tf.ones_like(x), tf.constant(0.5))) as acc:
            out = f(x)
        return acc.jvp(list(out))

    return step


@program
def an_accumulator_inside(function):
    @function
    def f(x):
        with tf.autodiff.ForwardAccumulator(x, tf.ones_like(x) * x) as acc:
            y = tf.exp(x) * x
        return acc.jvp(y)

    def step():
        x = tf.constant(X)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        return y, tape.gradient(y, x)

    return step


@program
def forward_over_reverse(function):
    f = function(lambda x: tf.reduce_sum(tf.sin(x) ** 2))

    @function
    def hvp(x, d):
        with tf.autodiff.ForwardAccumulator(x, d) as acc:
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = f(x)
            g = tape.gradient(y, x)
        return g, acc.jvp(g)

    def step():
        x, d = tf.constant(X), tf.constant(X[::-1].copy())
        with tf.autodiff.ForwardAccumulator(x, d) as acc:
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = f(x)
            g = tape.gradient(y, x)
        return acc.jvp(g), hvp(x, d)

    return step

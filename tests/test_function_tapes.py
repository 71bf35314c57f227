"""Tapes inside of functions and around calls of them: as without tf.function."""

import pytest

import gradtape as tf
from function_programs import M, X, assert_same_without_functions, collection

PROGRAMS, program = collection()


@pytest.mark.parametrize("make", PROGRAMS)
def test_a_program_gives_the_same_with_and_without_functions(make):
    assert_same_without_functions(make)


# Tapes inside -------------------------------------------------------------------------------------


@program
def tape_inside(function):
    @function
    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(tf.sin(x) * x)
        return y, tape.gradient(y, x)

    return lambda: f(tf.constant(X))


@program
def persistent_tape_inside(function):
    @function
    def f(x):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = x * x * x
            z = tf.exp(y)
        return tape.gradient(y, x), tape.gradient(z, x), tape.gradient(z, y), tape.gradient(x, y)

    return lambda: f(tf.constant(X))


@program
def persistent_tape_used_in_its_context(function):
    @function
    def f(x):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = x * x * x
            g = tape.gradient(y, x)
        return g, tape.gradient(g, x)

    return lambda: f(tf.constant(X))


@program
def nested_tapes_inside(function):
    @function
    def f(x):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = tf.tanh(x) ** 2
            g = inner.gradient(y, x)
        return g, outer.gradient(g, x)

    return lambda: f(tf.constant(X))


@program
def stop_recording_inside(function):
    @function
    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x
            with tape.stop_recording():
                z = x * 10.0
            y = y * z
        return tape.gradient(y, x)

    return lambda: f(tf.constant(X))


@program
def jacobians_inside(function):
    @function
    def f(x, m):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch([x, m])
            y = tf.linalg.matvec(m, x[:2]) * x
            z = tf.sin(m) * m
        return tape.jacobian(y, [x, m]), tape.batch_jacobian(z, m), tape.jacobian(z, x)

    return lambda: f(tf.constant(X), tf.constant(M))


@program
def jacobians_row_by_row_inside(function):
    @function
    def f(x, m):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch([x, m])
            y = tf.stack([x[0] * 2.0, x[1] * x[2], tf.sin(x[0])])
            z = tf.sin(m) * m
        return (
            tape.jacobian(y, x, experimental_use_pfor=False),
            tape.batch_jacobian(z, m, experimental_use_pfor=False),
        )

    return lambda: f(tf.constant(X), tf.constant(M))


@program
def hessian_inside(function):
    @function
    def f(x):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = tf.reduce_prod(x) + tf.reduce_sum(x**3)
            g = inner.gradient(y, x)
        return outer.jacobian(g, x)

    return lambda: f(tf.constant(X))


@program
def none_and_zero_inside(function):
    @function
    def f(x):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = x * 2.0
        other = tf.constant([1.0, 2.0])
        return tape.gradient(y, other), tape.gradient(y, [x, other], unconnected_gradients="zero")

    return lambda: f(tf.constant(X))


@program
def sparse_gradient_inside(function):
    table = tf.Variable(M)

    @function
    def f(ids):
        with tf.GradientTape() as tape:
            y = tf.nn.embedding_lookup(table, ids) ** 2
        return tape.gradient(y, table)

    return lambda: f(tf.constant([0, 2, 0]))


@program
def training_inside(function):
    w, b = tf.Variable(M), tf.Variable([0.1, -0.2])

    @function
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.nn.relu(x @ w + b) ** 2)
        grads = tape.gradient(loss, [w, b])
        for variable, g in zip([w, b], grads, strict=True):
            variable.assign_sub(0.1 * g)
        return loss

    return lambda: (step(tf.constant([X, -X])), w.numpy(), b.numpy())


# A tape around a call -----------------------------------------------------------------------------


@program
def tape_around(function):
    v = tf.Variable(2.0)
    f = function(lambda x: tf.sin(x) * v + x)

    def step():
        x = tf.constant(X)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x) * 3.0
        v.assign_add(1.0)
        return y, tape.gradient(y, [x, v]), [u.name for u in tape.watched_variables()]

    return step


@program
def persistent_tape_around(function):
    f = function(lambda x: (x * x, tf.exp(x)))

    def step():
        x = tf.constant(X)
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            a, b = f(x)
            c = a * b
        return [tape.gradient(y, x) for y in (a, b, c, [a, c])], tape.jacobian(c, x)

    return step


@program
def persistent_tape_around_used_in_its_context(function):
    v = tf.Variable(1.5)
    f = function(lambda x: x * x * x * v)

    def step():
        x = tf.constant(X)
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = f(x)
            g = tape.gradient(y, x)
        return g, tape.gradient(g, [x, v])

    return step


@program
def outputs_that_depend_on_other_things(function):
    w = tf.Variable(3.0)

    @function
    def f(x, u):
        return {
            "x": x * x,
            "w": w * u,
            "both": x * w,
            "stopped": tf.stop_gradient(x * 2.0),
            "integer": tf.cast(x, tf.int32),
            "constant": tf.constant(7.0),
            "nothing": None,
            "itself": x,
        }

    def step():
        x, u = tf.constant(2.5), tf.constant(1.25)
        with tf.GradientTape(persistent=True) as tape:
            tape.watch([x, u])
            out = f(x, u)
        keys = ("x", "w", "both", "stopped", "integer", "constant", "itself")
        singles = [tape.gradient(out[key], [x, u, w]) for key in keys]
        return out, singles, tape.gradient([out["x"], out["w"]], [x, u, w])

    return step


@program
def outputs_with_infinite_slopes(function):
    f = function(lambda x: (x * 2.0, tf.sqrt(x), tf.math.log(x)))

    def step():
        x = tf.constant([0.0, 4.0])
        with tf.GradientTape() as tape:
            tape.watch(x)
            y, *_ = f(x)
        return tape.gradient(y, x)

    return step


@program
def whole_numbers_of_a_differentiable_op(function):
    f = function(lambda x: tf.math.top_k(x, 2))

    def step():
        x = tf.constant(X)
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            values, indices = f(x)
        return tape.gradient(values, x), tape.gradient(indices, x)

    return step


@program
def variables_as_arguments(function):
    v, u = tf.Variable([1.0, 2.0]), tf.Variable(5.0, trainable=False)
    f = function(lambda a, b: a * a * b)

    def step():
        with tf.GradientTape() as tape:
            y = f(v, u)
        return tape.gradient(y, [v, u]), len(tape.watched_variables())

    return step


@program
def variables_that_are_not_watched(function):
    v = tf.Variable(2.0)
    f = function(lambda x: x * v)

    def step():
        x = tf.constant(3.0)
        with tf.GradientTape(watch_accessed_variables=False) as tape:
            tape.watch(x)
            y = f(x)
        return tape.gradient(y, [x, v]), len(tape.watched_variables())

    return step


@program
def a_variable_assigned_between_forward_and_gradient(function):
    v = tf.Variable(2.0)
    f = function(lambda x: x * v * v)

    def step():
        x = tf.constant(3.0)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
            v.assign(100.0)
            z = f(x)
        v.assign(2.0)
        return tape.gradient([y, z], [x, v])

    return step


@program
def a_variable_assigned_inside(function):
    v = tf.Variable(2.0)

    @function
    def f(x):
        before = v * x
        v.assign(x * 2.0)
        return before, v * 3.0, v + x

    def step():
        x = tf.constant(1.5)
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            out = f(x)
        return out, [tape.gradient(y, [x, v]) for y in out]

    return step


@program
def a_variable_assigned_inside_by_a_function_in_a_function(function):
    v = tf.Variable(2.0)

    @function
    def inner(x):
        v.assign(x * 2.0)
        return v * 3.0

    @function
    def outer(x):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = inner(x) + v * x
        return y, tape.gradient(y, [x, v])

    return lambda: outer(tf.constant(1.5))


@program
def a_sparse_gradient_of_a_captured_variable(function):
    table = tf.Variable(M)
    f = function(lambda ids: tf.gather(table, ids) * 2.0)

    def step():
        with tf.GradientTape(persistent=True) as tape:
            y = f(tf.constant([0, 2, 0]))
            z = f(tf.constant([1, 1, 1]))
            dense = tf.reduce_sum(table * table)
        sparse = tape.gradient(y, table)
        return sparse, tape.gradient([y, z], table), tape.gradient([y, dense], table)

    return step


@program
def sparse_gradients_out_of_a_function(function):
    f = function(lambda g: (g.values * 2.0, tf.convert_to_tensor(g)))
    g = function(lambda t: tf.IndexedSlices(t * 2.0, tf.constant([1, 0, 1]), tf.constant([4, 2])))

    def step():
        m = tf.constant(M)
        with tf.GradientTape() as tape:
            tape.watch(m)
            slices = g(m)
            y = f(slices)
        return slices, y, tape.gradient(y, m)

    return step


@program
def complex_numbers(function):
    f = function(lambda z: z * z * tf.constant(2 + 1j, tf.complex64))

    def step():
        z = tf.constant([1 + 2j, -0.5j], tf.complex64)
        with tf.GradientTape() as tape:
            tape.watch(z)
            y = tf.math.real(f(z)) + tf.abs(f(z))
        return tape.gradient(y, z)

    return step


@program
def gradients_given_in_other_shapes(function):
    f = function(lambda x: x * x)

    def step():
        x = tf.constant(X)
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = f(x)
        return (
            tape.gradient(y, x, output_gradients=tf.constant(2.0)),
            tape.gradient(y, x, output_gradients=tf.constant(X)),
        )

    return step


@program
def captured_constants(function):
    c = tf.constant(3.0)
    f = function(lambda: c * c)
    g = function(lambda x: x * (c * c))

    @function
    def inside(x):
        with tf.GradientTape() as tape:
            tape.watch(c)
            y = g(x) * c
        return tape.gradient(y, c)

    def step():
        x = tf.constant(2.0)
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(c)
            out = f(), g(x), g(f())
        with tf.autodiff.ForwardAccumulator(c, tf.constant(1.0)) as acc:
            y = g(x)
        return [tape.gradient(y, c) for y in out], acc.jvp(y), inside(x)

    return step


@program
def sources_between_calls(function):
    f, g = function(lambda x: x * x), function(lambda a, b: tf.sin(a) * b * b)

    def step():
        x = tf.constant(X)
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = f(x)
            z = g(y, y)
        return tape.gradient(z, [y, x]), tape.gradient(y, z), tape.jacobian(z, [x, y])

    return step


@program
def variables_made_by_the_first_call(function):
    class Model(tf.Module):
        def __init__(self):
            super().__init__()
            self.w = None

        @function
        def __call__(self, x):
            if self.w is None:
                self.w = tf.Variable([1.0, 2.0, 3.0])
            return x * self.w

    model = Model()

    def step():
        with tf.GradientTape() as tape:
            y = model(tf.constant(X))
        return y, tape.gradient(y, model.w), len(tape.watched_variables())

    return step

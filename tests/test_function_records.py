"""What a call of a function leaves on a tape, and the errors around tapes and functions."""

import weakref

import numpy as np
import pytest

import gradtape as tf

M = np.array([[1.0, -2.0], [0.5, 3.0], [-1.0, 0.25]], np.float32)


# What a call keeps --------------------------------------------------------------------------------


def call_on_tape(f, x, **options):
    """A tape with one call of `f` at `x`, and what it returned."""
    with tf.GradientTape(**options) as tape:
        tape.watch(x)
        y = f(x)
    return tape, y


def kept_by(tape):
    """The arrays that the only record of a tape keeps for its gradient."""
    (record,) = tape._inner.records
    return record[1]["call"].residuals


LARGE = 50_000


@pytest.mark.parametrize(
    ("f", "count"),
    [
        (lambda x: x + 1.0, 0),
        (lambda x: -x * 3.0 + tf.reverse(x, [0]), 0),
        (lambda x: tf.reduce_sum(tf.reshape(x, [2, -1]), axis=0), 0),
        (lambda x: tf.nn.relu(x + 1.0), 1),
        (lambda x: tf.nn.relu(tf.nn.relu(x * 2.0) + 1.0) * 3.0, 2),
        (lambda x: tf.exp(x) * np.ones(LARGE, np.float32), 1),
        (lambda x: x * x, 1),
    ],
)
def test_a_call_is_one_record_that_keeps_what_the_gradient_needs(f, count):
    function = tf.function(f)
    for _ in range(2):
        tape, _ = call_on_tape(function, tf.ones([LARGE]))
        assert [array.shape for array in kept_by(tape)] == [(LARGE,)] * count


def test_both_graphs_are_well_formed():
    v = tf.Variable([1.0, 2.0, 3.0])

    @tf.function
    def f(x):
        v.assign_add(x)
        return tf.sin(x) * v, tf.gather(v, [0, 0]), tf.nn.relu(x) + x

    x = tf.constant([0.5, -1.5, 2.0])
    tape, outputs = call_on_tape(f, x)
    (record,) = tape._inner.records
    call = record[1]["call"]
    call.derivative.forward.graph.verify()
    for some in ((0, 1, 2), (1,), (0, 2)):
        grads = [y.numpy() if i in some else None for i, y in enumerate(outputs)]
        backward = call.derivative.backward(call.residuals, grads)
        backward.graph.verify()
        assert len(backward.graph.inputs) == len(call.residuals) + len(some)


def test_arguments_and_residuals_are_freed_as_soon_as_they_can_be():
    function = tf.function(lambda x: tf.reduce_sum(tf.nn.relu(x + 1.0)))
    x = tf.ones([LARGE])
    argument = weakref.ref(x._value)
    tape, y = call_on_tape(function, x)
    (residual,) = [weakref.ref(array) for array in kept_by(tape)]
    source = tf.Variable(0.0)
    del x
    assert argument() is None
    assert residual() is not None
    assert tape.gradient(y, source) is None  # uses the tape up
    assert residual() is None
    tape, y = call_on_tape(function, tf.ones([LARGE]))
    (residual,) = [weakref.ref(array) for array in kept_by(tape)]
    del tape
    assert residual() is None


def test_a_trace_keeps_no_values_for_the_users_gradient_functions():
    seen = []

    @tf.custom_gradient
    def f(x):
        e = tf.exp(x)
        seen.append(weakref.ref(e._value._real))
        return e * 2.0, lambda g: g * e

    function = tf.function(lambda x: f(x) * 3.0)
    x = tf.ones([LARGE])
    function(x)
    assert seen[-1]() is None
    tape, y = call_on_tape(function, x)
    g = tape.gradient(y, x)
    np.testing.assert_allclose(g, np.full(LARGE, 3 * np.e), rtol=1e-6)
    assert len(seen) == 1


def test_the_gradient_is_traced_once_and_not_run_in_python():
    runs = []

    @tf.custom_gradient
    def f(x):
        def grad(g):
            runs.append(g)
            return g * x

        return x * x, grad

    function = tf.function(f)
    for number in (1.0, 2.0, 3.0):
        x = tf.constant(number)
        tape, y = call_on_tape(function, x)
        assert tape.gradient(y, x).numpy() == number
    assert len(runs) == 1


@pytest.mark.beyond_tensorflow
def test_only_the_outputs_that_are_asked_for_are_differentiated():
    function = tf.function(lambda x: (tf.sqrt(x), x * 2.0))
    x = tf.constant([0.0, 4.0])
    tape, (a, b) = call_on_tape(function, x, persistent=True)
    assert tape.gradient(b, x).numpy().tolist() == [2, 2]
    assert tape.gradient(a, x).numpy().tolist() == [np.inf, 0.25]


# Errors -------------------------------------------------------------------------------------------


@pytest.mark.beyond_tensorflow
def test_an_op_without_a_gradient_matters_where_it_is_differentiated():
    function = tf.function(lambda x: (x * 2.0, tf.image.adjust_contrast(x, 2.0)))
    x = tf.ones([2, 2, 3])
    tape, (doubled, adjusted) = call_on_tape(function, x, persistent=True)
    np.testing.assert_array_equal(tape.gradient(doubled, x), np.full((2, 2, 3), 2))
    with pytest.raises(LookupError, match="no entry for: AdjustContrastv2"):
        tape.gradient(adjusted, x)


@pytest.mark.beyond_tensorflow
def test_an_error_in_a_gradient_function_comes_when_it_is_called():
    @tf.custom_gradient
    def f(x):
        def grad(g):
            raise ArithmeticError("not today")

        return x * 2.0, grad

    function = tf.function(f)
    x = tf.constant(1.0)
    for _ in range(2):
        tape, y = call_on_tape(function, x)
        assert y.numpy() == 2
        with pytest.raises(ArithmeticError, match="not today"):
            tape.gradient(y, x)


@pytest.mark.beyond_tensorflow
def test_tensors_and_tapes_that_leak_out_of_a_function():
    leaked = {}

    @tf.function
    def f(x):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = x * x
        leaked.update(tape=tape, x=x, y=y)
        return y

    x = tf.constant(2.0)
    f(x)
    tape, _ = call_on_tape(lambda x: x * x, x, persistent=True)
    for attempt in (
        lambda: leaked["tape"].gradient(leaked["y"], leaked["x"]),
        lambda: tape.gradient(leaked["y"], x),
        lambda: call_on_tape(f, leaked["x"]),
    ):
        with pytest.raises(TypeError, match="is out of scope and cannot be used here"):
            attempt()


def test_a_tape_from_outside_that_is_used_up_inside():
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
        assert tf.function(lambda x: tape.gradient(y, x))(x) is None
    with tf.GradientTape() as other:
        other.watch(x)
        z = x * 3.0
    assert other.gradient(z, x).numpy() == 3
    with pytest.raises(RuntimeError, match="A non-persistent GradientTape can only be used"):
        tape.gradient(y, x)


def test_row_by_row_jacobians_need_no_persistent_tape_inside():
    @tf.function
    def f(m):
        found = []
        for method in ("jacobian", "batch_jacobian"):
            with tf.GradientTape() as tape:
                tape.watch(m)
                y = m * m
            found.append(getattr(tape, method)(y, m, experimental_use_pfor=False))
        return found

    jacobian, by_example = f(tf.constant(M))
    assert tuple(jacobian.shape) == (3, 2, 3, 2)
    np.testing.assert_array_equal(by_example, [np.diag(row) for row in 2 * M])
    np.testing.assert_array_equal(np.einsum("ijij->ij", jacobian), 2 * M)


def test_a_gradient_of_another_dtype_is_refused():
    x = tf.constant([1.0, 2.0])
    for function in (lambda x: x * 2.0, tf.function(lambda x: x * 2.0)):
        tape, y = call_on_tape(function, x)
        with pytest.raises(tf.errors.InvalidArgumentError, match="expected to be a double tensor"):
            tape.gradient(y, x, output_gradients=tf.ones([2], tf.float64))


def test_a_tensor_that_is_given_twice_counts_once():
    segment = tf.recompute_grad(lambda a, b: a * b * b)
    x = tf.constant(2.0)
    for function in (segment, tf.function(segment), tf.function(lambda a, b: segment(a, b))):
        tape, y = call_on_tape(lambda x, call=function: call(x, x), x)
        assert tape.gradient(y, x).numpy() == 12


def test_a_gradient_of_another_shape_meets_the_ops_as_they_were_written():
    f = tf.function(lambda x: tf.reshape(x, [3]) * 2.0)
    doubled = tf.grad_pass_through(lambda x: tf.stack([x, x]))
    x = tf.constant([1.0, 2.0, 3.0])
    tape, y = call_on_tape(lambda x: doubled(f(x)), x)
    with pytest.raises(tf.errors.InvalidArgumentError, match="requested shape has 3"):
        tape.gradient(y, x)


@pytest.mark.parametrize("times_before", [0, 1, 2])
@pytest.mark.parametrize("persistent", [False, True])
def test_a_function_without_a_result_runs_once_under_a_tape(times_before, persistent):
    v = tf.Variable([1.0, 2.0])

    @tf.function
    def update(g):
        v.assign_sub(g)

    for _ in range(times_before):
        assert update(tf.zeros([2])) is None
    with tf.GradientTape(persistent=persistent) as tape:
        y = tf.reduce_sum(v**3)
        assert update(tf.ones([2])) is None
    assert v.numpy().tolist() == [0.0, 1.0]
    assert tape.gradient(y, v).numpy().tolist() == [3.0, 12.0]

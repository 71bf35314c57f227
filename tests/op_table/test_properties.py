"""Properties that hold for any shapes, dtypes, axes and compositions of ops."""

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import gradtape as tf
from gradtape.core.op import OPS, Spec

from .arrays import assert_close, derivative, inner, numpy_dtype, random_like
from .programs import programs
from .strategies import arrays, axes_of, broadcastable_arrays, shapes

# The same examples in every run.
examples = settings(max_examples=50, deadline=None, derandomize=True, database=None)

BINARY = {
    "AddV2": (tf.add, np.add),
    "Sub": (tf.subtract, np.subtract),
    "Mul": (tf.multiply, np.multiply),
    "Maximum": (tf.maximum, np.maximum),
    "Minimum": (tf.minimum, np.minimum),
    "SquaredDifference": (tf.math.squared_difference, lambda x, y: (x - y) ** 2),
}
UNARY = {
    "Square": (tf.square, np.square),
    "Neg": (tf.negative, np.negative),
    "Abs": (tf.abs, np.abs),
    "Exp": (tf.exp, np.exp),
    "Tanh": (tf.tanh, np.tanh),
    "Sin": (tf.sin, np.sin),
}
REDUCTIONS = {
    "reduce_sum": np.sum,
    "reduce_mean": np.mean,
    "reduce_prod": np.prod,
    "reduce_max": np.max,
    "reduce_min": np.min,
}
FLOATS = ("float16", "bfloat16", "float32", "float64")
INTEGERS = ("int8", "int32", "int64", "uint8")


def check_elementwise(name, function_and_reference, inputs, dtype):
    """Value, inferred shape and dtype, and shapes of gradients for inputs cast to `dtype`."""
    function, reference = function_and_reference
    dtype = numpy_dtype(dtype)
    inputs = [x.astype(dtype) for x in inputs]
    tensors = [tf.constant(x) for x in inputs]
    with tf.GradientTape() as tape:
        tape.watch([t for t in tensors if t.dtype.is_differentiable])
        out = function(*tensors)
    inferred = OPS[name].infer(*[Spec(x.shape, x.dtype) for x in inputs])
    assert (inferred.shape, inferred.dtype) == (out._value.shape, out._value.dtype)
    assert out._value.dtype == dtype
    exact = dtype.kind in "iu"
    expected = reference(*[x if exact else x.astype(np.float64) for x in inputs])
    assert_close(np.asarray(out), expected, rounding=8)
    for gradient, x in zip(tape.gradient(out, tensors), inputs, strict=True):
        if exact:
            assert gradient is None
        else:
            assert (gradient._value.shape, gradient._value.dtype) == (x.shape, x.dtype)


@pytest.mark.parametrize("name", BINARY)
@examples
@given(inputs=broadcastable_arrays(2), dtype=st.sampled_from(FLOATS))
def test_binary_ops_on_floats(name, inputs, dtype):
    check_elementwise(name, BINARY[name], inputs, dtype)


@pytest.mark.parametrize("name", BINARY)
@examples
@given(inputs=broadcastable_arrays(2, low=0.0, high=2.0), dtype=st.sampled_from(INTEGERS))
def test_binary_ops_on_integers(name, inputs, dtype):
    x, y = np.trunc(inputs[0] * 4) + 8, np.trunc(inputs[1] * 4)
    check_elementwise(name, BINARY[name], (x, y), dtype)


@pytest.mark.parametrize("name", UNARY)
@examples
@given(x=shapes().flatmap(arrays), dtype=st.sampled_from(FLOATS))
def test_unary_ops_on_floats(name, x, dtype):
    check_elementwise(name, UNARY[name], (x,), dtype)


@pytest.mark.parametrize("name", REDUCTIONS)
@examples
@given(data=st.data(), keepdims=st.booleans(), dtype=st.sampled_from(FLOATS))
def test_reductions(name, data, keepdims, dtype):
    x = data.draw(shapes(min_side=1).flatmap(arrays)).astype(numpy_dtype(dtype))
    axis = data.draw(axes_of(x.ndim) | st.none())
    tensor = tf.constant(x)
    with tf.GradientTape() as tape:
        tape.watch(tensor)
        out = getattr(tf, name)(tensor, axis=axis, keepdims=keepdims)
    expected = REDUCTIONS[name](x.astype(np.float64), axis=axis, keepdims=keepdims)
    assert out.dtype == tensor.dtype
    assert_close(np.asarray(out), expected, rounding=64)
    gradient = tape.gradient(out, tensor)
    assert (gradient._value.shape, gradient._value.dtype) == (x.shape, x.dtype)


@pytest.mark.parametrize("name", ["reduce_sum", "reduce_mean", "reduce_prod"])
@examples
@given(data=st.data(), keepdims=st.booleans())
def test_gradients_of_reductions_agree_with_differences(name, data, keepdims):
    x = data.draw(shapes(min_side=1, max_dims=3).flatmap(arrays))
    axis = data.draw(axes_of(x.ndim) | st.none())

    def function(t):
        return getattr(tf, name)(t, axis=axis, keepdims=keepdims)

    check_directional_derivative(function, x)


# Moves of elements: each is linear, so the gradient is known exactly.


@st.composite
def rearrangements(draw, shape):
    """A function that moves elements about, and its name, for values of a shape."""
    rank = len(shape)
    kinds = ["reshape", "expand", "broadcast"]
    if rank:
        kinds += ["transpose", "reverse", "concat", "gather"]
    kind = draw(st.sampled_from(kinds))
    if kind == "reshape":
        count = math.prod(shape)
        side = draw(st.sampled_from([d for d in (1, 2, 3) if count % d == 0]))
        return lambda t: tf.reshape(t, [side, count // side])
    if kind == "expand":
        axis = draw(st.integers(-rank - 1, rank))
        return lambda t: tf.expand_dims(t, axis)
    if kind == "broadcast":
        return lambda t: tf.broadcast_to(t, (2, *shape))
    axis = draw(st.integers(-rank, rank - 1))
    if kind == "transpose":
        order = draw(st.permutations(range(rank)))
        return lambda t: tf.transpose(t, order)
    if kind == "reverse":
        return lambda t: tf.reverse(t, [axis])
    if kind == "concat":
        return lambda t: tf.concat([t, 2.0 * t], axis)
    picks = draw(st.lists(st.integers(0, shape[axis] - 1), min_size=1, max_size=3))
    return lambda t: tf.gather(t, picks, axis=axis)


@examples
@given(data=st.data())
def test_gradient_of_a_chain_of_rearrangements_is_its_transpose(data):
    x = data.draw(shapes(min_side=1, max_dims=3).flatmap(arrays))
    steps, out = [], tf.constant(x)
    for _ in range(data.draw(st.integers(1, 5))):
        steps.append(data.draw(rearrangements(tuple(out.shape))))
        out = steps[-1](out)
        if out._value.size > 500:
            break

    def chain(t):
        for step in steps:
            t = step(t)
        return t

    tensor = tf.constant(x)
    with tf.GradientTape() as tape:
        tape.watch(tensor)
        out = chain(tensor)
    rng = np.random.default_rng(0)
    seed, direction = random_like(rng, out._value), random_like(rng, x)
    gradient = tape.gradient(out, tensor, output_gradients=tf.constant(seed))
    gradient = np.asarray(tf.convert_to_tensor(gradient))
    assert gradient.shape == x.shape
    moved = np.asarray(chain(tf.constant(direction)))
    assert inner(gradient, direction) == pytest.approx(inner(seed, moved), rel=1e-12, abs=1e-12)


# Random programs ----------------------------------------------------------------------------------


@examples
@given(program=programs())
def test_gradients_of_random_programs_agree_with_differences(program):
    check_directional_derivative(program, program.point)


@examples
@given(program=programs())
def test_second_order_of_random_programs(program):
    x = program.point
    rng = np.random.default_rng(0)
    u, v = random_like(rng, x), random_like(rng, x)

    def gradient(point):
        tensor = tf.constant(point)
        with tf.GradientTape() as tape:
            tape.watch(tensor)
            out = program(tensor)
        return tape.gradient(out, tensor, unconnected_gradients="zero").numpy()

    def products(point):
        """The gradient, and the Hessian times u and times v, from nested tapes."""
        tensor = tf.constant(point)
        with tf.GradientTape(persistent=True) as outer:
            outer.watch(tensor)
            with tf.GradientTape() as inner_tape:
                inner_tape.watch(tensor)
                out = program(tensor)
            first = inner_tape.gradient(out, tensor, unconnected_gradients="zero")
        second = [
            outer.gradient(first, tensor, tf.constant(w), unconnected_gradients="zero")
            for w in (u, v)
        ]
        return first.numpy(), *[h.numpy() for h in second]

    first, hu, hv = products(x)
    assert_close(first, gradient(x), rounding=1000)
    scale = 1.0 + np.abs(hu).sum() + np.abs(hv).sum()
    assert inner(hu, v) == pytest.approx(inner(hv, u), rel=0, abs=1e-11 * scale)
    difference = derivative(lambda t: inner(u, gradient(x + t * v)))
    assert inner(hu, v) == pytest.approx(difference, rel=0, abs=1e-7 * scale)


def check_directional_derivative(function, x):
    """The gradient of a projection of the result, in a random direction, against differences."""
    tensor = tf.constant(x)
    with tf.GradientTape() as tape:
        tape.watch(tensor)
        out = function(tensor)
    rng = np.random.default_rng(0)
    seed, direction = random_like(rng, out._value), random_like(rng, x)
    gradient = tape.gradient(
        out, tensor, output_gradients=tf.constant(seed), unconnected_gradients="zero"
    ).numpy()
    assert gradient.shape == x.shape
    difference = derivative(
        lambda t: inner(seed, np.asarray(function(tf.constant(x + t * direction))))
    )
    scale = 1.0 + np.sum(np.abs(seed * np.asarray(out))) + np.sum(np.abs(gradient * direction))
    assert inner(gradient, direction) == pytest.approx(difference, rel=0, abs=1e-8 * scale)

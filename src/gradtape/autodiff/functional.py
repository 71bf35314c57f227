"""Derivatives of functions: what a tape and an accumulator give, asked for by name.

Everywhere `x` (or `primals`) is the point: a tensor, variable, dictionary or whatever else the
function takes as its one argument; a list or tuple stands for several arguments. Results have the
structure of the point.
"""

import math

import numpy as np

from ..batching import on_all_rows, vectorized_map
from ..core import nest
from ..core.indexed_slices import IndexedSlices
from ..core.tensor import EagerTensor, Tensor
from ..core.variable import Variable, variable_of
from ..ops.broadcasting import reshape
from ..ops.joining import concat_row
from ..ops.manipulation import transpose_row
from ..ops.reduction import reduce_sum
from .accumulator import ForwardAccumulator
from .backward import OnTensors
from .points import (
    as_point,
    as_real_point,
    as_tensors,
    check_result,
    checked_chunk,
    fitting,
    one_scalar,
    one_tensor,
)
from .tape import GradientTape, UnconnectedGradients

# First derivatives --------------------------------------------------------------------------------


def value_and_gradient(
    function, *args, unconnected_gradients: UnconnectedGradients | str = UnconnectedGradients.NONE
):
    """The value of `function` and its gradient with respect to every argument.

    Args:
        function: from tensors to a tensor (or structure, whose elements are summed).
        *args: tensors, variables or structures of them; those of integers have no gradient.
        unconnected_gradients: `"none"` or `"zero"`, for arguments the value does not depend on.

    Returns:
        The value, and the gradient: for one argument by itself, for several as a tuple.

    Example:
        >>> tf.autodiff.value_and_gradient(lambda x: x * x, 3.0)[1]
        <tf.Tensor: shape=(), dtype=float32, numpy=6.0>
    """
    args = as_tensors("value_and_gradient", "args", args)
    tape = GradientTape(watch_accessed_variables=False)
    value = _recorded(tape, function, args)
    check_result("value_and_gradient", value)
    return value, _single(tape.gradient(value, args, unconnected_gradients=unconnected_gradients))


def vjp(
    function,
    *primals,
    unconnected_gradients: UnconnectedGradients | str = UnconnectedGradients.NONE,
):
    """The value of `function`, and the map from cotangents of it to those of its arguments.

    Args:
        function: from tensors to a tensor or structure.
        *primals: tensors, variables or structures of them; those of integers have no gradient.
        unconnected_gradients: `"none"` or `"zero"`, for arguments the value does not depend on.

    Returns:
        The value, and `pullback(cotangent)`, which may be called any number of times. It takes
        what has the structure and shapes of the value; its result is for one argument by itself,
        for several a tuple.
    """
    primals = as_tensors("vjp", "primals", primals)
    tape = GradientTape(persistent=True, watch_accessed_variables=False)
    value = _recorded(tape, function, primals)
    check_result("vjp", value)

    def pullback(cotangent):
        """The gradient of the inner product of the value and `cotangent`."""
        seeds = fitting("vjp", "cotangent", cotangent, "the function's value", value)
        found = tape.gradient(value, primals, seeds, unconnected_gradients=unconnected_gradients)
        return _single(found)

    return value, pullback


def jvp(function, primals, tangents):
    """The value of `function`, and its derivative in the direction `tangents`.

    Args:
        function: from tensors to a tensor or structure.
        primals: the point; a list or tuple for several arguments.
        tangents: the direction, in the structure and shapes of `primals`.

    Returns:
        The value and its derivative, zeros where it does not depend on the point.

    Raises:
        ValueError: `tangents` do not fit `primals`, or the point is not of floating numbers.
    """
    point = as_point("jvp", "primals", primals)
    tangents = fitting("jvp", "tangents", tangents, "`primals`", point)
    with ForwardAccumulator(point, tangents) as accumulator:
        value = _call(function, point)
    check_result("jvp", value)
    return value, accumulator.jvp(value, unconnected_gradients="zero")


def jacrev(function, x, *, parallel_iterations=None):
    """The Jacobian of `function` at `x` by reverse mode: good for few outputs.

    Args:
        function: from tensors to a tensor.
        x: the point; a list or tuple for several arguments.
        parallel_iterations: how many elements of the result to take at a time; all if None.

    Returns:
        For each tensor of `x` one of shape `result.shape + x.shape`. For complex numbers, as on a
        tape, the conjugate of the derivative.

    Raises:
        ValueError: the point or the result is not of floating numbers.
    """
    point = as_point("jacrev", "x", x)
    rows = checked_chunk("jacrev", parallel_iterations)
    return _jacobian_on_tape(*_recorded_tensor("jacrev", function, point), point, rows)


def jacfwd(function, x, *, parallel_iterations=None):
    """The Jacobian of `function` at `x` by forward mode: good for few inputs.

    Args:
        function: from tensors to a tensor.
        x: the point; a list or tuple for several arguments.
        parallel_iterations: how many elements of `x` to take at a time; all if None.

    Returns:
        For each tensor of `x` one of shape `result.shape + x.shape`. For complex numbers, the
        derivative itself.

    Raises:
        ValueError: the point or the result is not of floating numbers.
    """
    point = as_point("jacfwd", "x", x)
    chunk = checked_chunk("jacfwd", parallel_iterations)
    return nest.map_structure(lambda leaf: _columns(function, point, leaf, chunk), point)


def jacobian(function, x, mode="auto", *, parallel_iterations=None):
    """The Jacobian of `function` at `x`.

    Args:
        function: from tensors to a tensor.
        x: the point; a list or tuple for several arguments.
        mode: "reverse" (as `jacrev`), "forward" (as `jacfwd`), or "auto": forward where there are
            fewer inputs than outputs and all of them are real, else reverse.
        parallel_iterations: how many rows or columns to take at a time; all if None.

    Returns:
        For each tensor of `x` one of shape `result.shape + x.shape`.

    Raises:
        ValueError: there is no such mode; the point or the result is not of floating numbers.
    """
    if mode not in ("auto", "forward", "reverse"):
        raise ValueError(
            f"jacobian takes mode='auto', 'forward' or 'reverse'. Received: mode={mode!r}"
        )
    if mode == "forward":
        return jacfwd(function, x, parallel_iterations=parallel_iterations)
    if mode == "reverse":
        return jacrev(function, x, parallel_iterations=parallel_iterations)
    point = as_point("jacobian", "x", x)
    chunk = checked_chunk("jacobian", parallel_iterations)
    tape, y = _recorded_tensor("jacobian", function, point)
    leaves = nest.flatten(point)
    real = all([not t.dtype.is_complex for t in (y, *leaves)])
    if real and sum([_size(leaf) for leaf in leaves]) < _size(y):
        del tape  # what it holds is not needed any more
        return nest.map_structure(lambda leaf: _columns(function, point, leaf, chunk), point)
    return _jacobian_on_tape(tape, y, point, chunk)


def per_example_gradient(function, variables, *examples):
    """The gradient of each example's loss, for a whole batch at once.

    Args:
        function: from one example (without its batch axis) to a scalar loss.
        variables: tensors or variables the function uses, in any structure.
        *examples: tensors or structures of them, whose first axis counts the examples.

    Returns:
        Gradients in the structure of `variables`, each with the batch axis first; zeros where the
        loss does not depend on a variable.

    Raises:
        ValueError: the batches differ in size, or a loss is not a scalar.
        TypeError: one of `variables` is not a tensor or variable.

    Example:
        >>> w = tf.Variable([1.0, 2.0])
        >>> x = tf.constant([[1.0, 0.0], [0.0, 3.0]])
        >>> tf.autodiff.per_example_gradient(lambda e: tf.reduce_sum(w * e) ** 2, w, x).numpy()
        array([[ 2.,  0.],
               [ 0., 36.]], dtype=float32)
    """
    for leaf in nest.flatten(variables):
        if not isinstance(variable_of(leaf), (Tensor, Variable)):
            raise TypeError(
                "per_example_gradient takes tensors or variables as `variables`, the very ones "
                f"that the function uses. Received: {leaf!r} of type {type(leaf).__name__!r}."
            )
    examples = as_tensors("per_example_gradient", "examples", examples)
    shapes = [tuple(leaf.shape) for leaf in nest.flatten(examples)]
    if not shapes or not all(shapes) or len({shape[0] for shape in shapes}) > 1:
        raise ValueError(
            "per_example_gradient takes examples whose first axes have one length, the size of "
            f"the batch. Received: examples of shapes {shapes}"
        )

    def gradient(example):
        with GradientTape(watch_accessed_variables=False) as tape:
            tape.watch(variables)
            loss = one_scalar("per_example_gradient", function(*example))
        return _dense(tape.gradient(loss, variables, unconnected_gradients="zero"))

    return vectorized_map(gradient, examples)


# Second derivatives -------------------------------------------------------------------------------


def hessian(function, x, *, parallel_iterations=None):
    """The second derivatives of a scalar function at `x`.

    Args:
        function: from real tensors to a scalar.
        x: the point; a list or tuple for several arguments.
        parallel_iterations: how many rows to take at a time; all if None.

    Returns:
        For one tensor a tensor of shape `x.shape + x.shape`. For several, in their structure, the
        rows of each: again a structure, with a block of shape `a.shape + b.shape` for each pair.

    Raises:
        ValueError: the function is not a scalar, or the point is not of real floating numbers.
    """
    point = as_real_point("hessian", x)
    rows = checked_chunk("hessian", parallel_iterations)
    several = not isinstance(point, (Tensor, Variable))
    with GradientTape(persistent=several, watch_accessed_variables=False) as outer:
        outer.watch(point)
        gradient = _gradient("hessian", function, point, point)
    return nest.map_structure(lambda g: _jacobian_on_tape(outer, g, point, rows), gradient)


def hvp(function, x, vector):
    """The product of the Hessian of a scalar function at `x` with a vector, at gradient cost.

    Args:
        function: from tensors to a scalar.
        x: the point; a list or tuple for several arguments.
        vector: the direction, in the structure and shapes of `x`.

    Returns:
        The product, in the structure of `x`.

    Raises:
        ValueError: the function is not a scalar, or `vector` does not fit `x`.

    Example:
        >>> x = tf.constant([1.0, 2.0])
        >>> tf.autodiff.hvp(lambda x: tf.reduce_sum(x**3), x, tf.constant([1.0, 0.0])).numpy()
        array([6., 0.], dtype=float32)
    """
    point = as_point("hvp", "x", x)
    vector = fitting("hvp", "vector", vector, "`x`", point)
    return _along("hvp", function, point, point, vector)


def hessian_diag(function, x, *, parallel_iterations=None):
    """The diagonal of the Hessian of a scalar function, without ever holding the whole.

    Args:
        function: from real tensors to a scalar.
        x: the point; a list or tuple for several arguments.
        parallel_iterations: how many elements of `x` to take at a time, which bounds the memory;
            all if None.

    Returns:
        The second derivatives by each element, in the structure and shapes of `x`.

    Raises:
        ValueError: the function is not a scalar, or the point is not of real floating numbers.
    """
    point = as_real_point("hessian_diag", x)
    chunk = checked_chunk("hessian_diag", parallel_iterations)

    def diagonal(leaf):
        def second_derivative(direction):
            product = _along("hessian_diag", function, point, leaf, direction)
            return reduce_sum(direction * product)

        return reshape(_over_directions(second_derivative, leaf, chunk), shape=tuple(leaf.shape))

    return nest.map_structure(diagonal, point)


def _gradient(name, function, point, sources):
    with GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(sources)
        y = one_scalar(name, _call(function, point))
    return _dense(tape.gradient(y, sources, unconnected_gradients="zero"))


def _along(name, function, point, sources, direction):
    """The Hessian times `direction`: as it is symmetric, the gradient of their inner product.

    Two tapes take half the time of an accumulator around a tape.
    """
    outer = GradientTape(watch_accessed_variables=False)
    gradient = _recorded(outer, lambda *_: _gradient(name, function, point, sources), [sources])
    return outer.gradient(
        gradient, sources, output_gradients=direction, unconnected_gradients="zero"
    )


# Rows and columns ---------------------------------------------------------------------------------


def _recorded(tape, function, args):
    with tape:
        tape.watch([leaf for leaf in nest.flatten(args) if leaf.dtype.is_differentiable])
        return function(*args)


def _recorded_tensor(name, function, point):
    """A tape with the function's run at `point`, and its result, which must be one tensor."""
    tape = GradientTape(watch_accessed_variables=False)
    y = _recorded(tape, lambda *_: _call(function, point), [point])
    return tape, one_tensor(name, y)


def _jacobian_on_tape(tape, y, point, rows):
    return tape.jacobian(y, point, unconnected_gradients="zero", parallel_iterations=rows)


def _columns(function, point, leaf, chunk):
    """The Jacobian by one tensor of the point, a column for each of its elements."""

    def column(direction):
        with ForwardAccumulator(leaf, direction) as accumulator:
            y = one_tensor("jacfwd", _call(function, point))
        return accumulator.jvp(y, unconnected_gradients="zero")

    columns = _over_directions(column, leaf, chunk)
    outer = columns._value.shape[1:]
    moved = transpose_row(columns, perm=(*range(1, len(outer) + 1), 0))
    return reshape(moved, shape=outer + tuple(leaf.shape))


def _over_directions(function, leaf, chunk):
    """What `function` gives for each unit vector in the shape of `leaf`, along a first axis."""
    size, shape = _size(leaf), tuple(leaf.shape)
    step = max(1, size if chunk is None else chunk)
    parts = []
    for start in range(0, max(1, size), step):
        rows = np.eye(min(step, size - start), size, start, dtype=leaf.dtype.numpy_dtype)
        directions = EagerTensor(rows.reshape(len(rows), *shape))
        parts.append(on_all_rows(function, directions))
    return parts[0] if len(parts) == 1 else concat_row(parts, axis=0)


def _size(tensor):
    return math.prod(tuple(tensor.shape))


def _call(function, point):
    return function(*point) if isinstance(point, (list, tuple)) else function(point)


def _dense(gradients):
    """Sparse gradients as tensors, since further derivatives are asked of them."""
    if not any([isinstance(g, IndexedSlices) for g in nest.flatten(gradients)]):
        return gradients
    return nest.map_structure(
        lambda g: OnTensors.densify(g) if isinstance(g, IndexedSlices) else g, gradients
    )


def _single(gradients):
    return gradients[0] if len(gradients) == 1 else gradients


PUBLIC = (
    value_and_gradient, vjp, jvp, jacrev, jacfwd, jacobian, hessian, hvp, hessian_diag,
    per_example_gradient,
)  # fmt: skip

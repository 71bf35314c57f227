"""Functions applied along the first axis of tensors: map_fn, scan, foldl, foldr."""

import contextlib
from typing import Any

from .core import dtypes, nest
from .core.active import thread
from .core.containers import is_composite
from .core.convert import convert_to_tensor
from .core.errors import InvalidArgumentError, OutOfRangeError
from .core.exports import export
from .core.ragged_spec import RaggedTensorSpec
from .core.ragged_tensor import RaggedTensor
from .core.spec import TensorSpec
from .core.tensor import Tensor
from .graph.structured import NotStructuredError
from .graph.structured_loops import loop_over
from .ops.creation import zeros
from .ops.joining import concat, stack, unstack
from .ops.manipulation import expand_dims
from .ops.ragged import stack as stack_ragged


@export("map_fn")
def map_fn(
    fn,
    elems,
    dtype=None,
    parallel_iterations=None,
    back_prop=True,
    swap_memory=False,
    infer_shape=True,
    name=None,
    fn_output_signature=None,
):
    """Calls `fn` with each part that `elems` has along its first axis, and stacks the results.

    Args:
        fn: from a part, or a structure of parts, to a tensor or structure of tensors.
        elems: a dense or ragged tensor, or a structure of them, with first axes of one length.
        dtype: older name of `fn_output_signature`.
        parallel_iterations: accepted for compatibility, as are the following two.
        back_prop: gradients always pass; use tf.stop_gradient to end them.
        swap_memory: nothing is moved to other devices.
        infer_shape: accepted for compatibility; results must always have one shape.
        fn_output_signature: dtypes, TensorSpecs or RaggedTensorSpecs in the structure of what `fn`
            returns, where that is not the structure and dtypes of `elems`.

    Raises:
        TypeError: `fn` cannot be called, or returns another structure.
        ValueError: `elems` holds scalars, or tensors of different lengths.
        InvalidArgumentError: a result has another dtype than expected.
    """
    _check_callable(fn)
    signature = dtype if fn_output_signature is None else fn_output_signature
    leaves = _leaves(elems, ragged=True)
    if signature is None:
        structure = elems
        specs = [_open_spec(leaf) for leaf in leaves]
    else:
        structure = signature
        specs = [_spec(item) for item in nest.flatten(signature)]

    def result_for(parts):
        result = fn(nest.pack_sequence_as(elems, list(parts)))
        nest.assert_same_structure(structure, result)
        return nest.flatten(result)

    if thread.trace is not None and all([isinstance(spec, TensorSpec) for spec in specs]):
        with contextlib.suppress(NotStructuredError):
            found = loop_over(lambda *parts: _declared(result_for(parts), specs), [], leaves)
            return nest.pack_sequence_as(structure, found)
    columns: list = [[] for _ in specs]
    for parts in zip(*[_parts_of(leaf) for leaf in leaves], strict=True):
        for column, spec, value in zip(columns, specs, result_for(parts), strict=True):
            column.append(_as_declared(value, spec, column))
    joined = [_joined(column, spec) for column, spec in zip(columns, specs, strict=True)]
    return nest.pack_sequence_as(structure, joined)


def _open_spec(leaf):
    """What is expected of results where only `elems` say what they are."""
    if hasattr(leaf, "_unstacked"):
        return leaf._type_spec._unbatch()
    if isinstance(leaf, RaggedTensor):
        return RaggedTensorSpec(None, leaf.dtype, leaf.ragged_rank)
    return TensorSpec(None, leaf.dtype)


def _spec(item):
    if isinstance(item, (TensorSpec, RaggedTensorSpec)) or hasattr(item, "_stacked"):
        return item
    return TensorSpec(None, dtypes.as_dtype(item))


def _declared(values, specs):
    return [_as_declared(value, spec, ()) for value, spec in zip(values, specs, strict=True)]


def _as_declared(value, spec, column):
    """A result of `fn` as a tensor of the dtype, and the shape, that results must have."""
    if hasattr(spec, "_stacked"):
        if not isinstance(value, spec.value_type):
            raise ValueError(f"Expected a value described by {spec}. Received: {value!r}.")
        return value
    ragged = isinstance(spec, RaggedTensorSpec)
    if not isinstance(value, (Tensor, RaggedTensor) if ragged else Tensor):
        value = convert_to_tensor(value, dtype_hint=spec.dtype)
    if value.dtype is not spec.dtype:
        raise InvalidArgumentError(
            None,
            None,
            f"TensorArray dtype is {spec.dtype.name} but Op is trying to write dtype "
            f"{value.dtype.name} ",
        )
    if ragged:
        return value
    expected = column[0].shape if column else spec.shape
    if not expected.is_compatible_with(value.shape):
        raise ValueError(f"Incompatible shape for value ({value.shape}), expected ({expected})")
    return value


def _joined(column, spec):
    if hasattr(spec, "_stacked"):
        return spec._stacked(column)
    if isinstance(spec, RaggedTensorSpec):
        if column:
            return stack_ragged(column)
        return RaggedTensor.from_row_splits(zeros((0,), spec.dtype), [0])
    if column:
        return stack(column)
    inner = tuple(spec.shape) if spec.shape.is_fully_defined() else ()
    return zeros((0, *inner), spec.dtype)


@export("scan")
def scan(
    fn,
    elems,
    initializer=None,
    parallel_iterations=10,
    back_prop=True,
    swap_memory=False,
    infer_shape=True,
    reverse=False,
    name=None,
):
    """Carries a value along the first axis of `elems`, and stacks all the values it takes.

    Args:
        fn: from the value and a part of `elems` to the next value, of the same structure.
        elems: a tensor, or a structure of tensors with first axes of one length.
        initializer: the value before the first part; if not given, the first part is the value
            there, and has the value's structure.
        parallel_iterations: accepted for compatibility, as are the following three.
        back_prop: gradients always pass; use tf.stop_gradient to end them.
        swap_memory: nothing is moved to other devices.
        infer_shape: values must always have one shape.
        reverse: whether to go from the last part to the first.

    Raises:
        TypeError: `fn` cannot be called, or returns another structure.
        ValueError: `elems` holds scalars, or tensors of different lengths.
        OutOfRangeError: without an initializer, `elems` is empty.
    """
    _check_callable(fn)
    structure = elems if initializer is None else initializer
    if thread.trace is not None:
        with contextlib.suppress(NotStructuredError):
            stacked = _scan_in_trace(fn, elems, initializer, reverse, stacks=True)
            return nest.pack_sequence_as(structure, stacked)
    values = _carried(fn, elems, initializer, reverse)
    first = next(values)
    specs = [TensorSpec(None, leaf.dtype) for leaf in first]
    columns: list = [[] for _ in specs]
    for leaves in values if initializer is not None else _and_then(first, values):
        for column, spec, value in zip(columns, specs, leaves, strict=True):
            column.append(_as_declared(value, spec, column))
    if reverse:
        columns = [column[::-1] for column in columns]
    joined = [_joined(column, spec) for column, spec in zip(columns, specs, strict=True)]
    return nest.pack_sequence_as(structure, joined)


def _and_then(first, rest):
    yield first
    yield from rest


@export("foldl")
def foldl(
    fn,
    elems,
    initializer=None,
    parallel_iterations=10,
    back_prop=True,
    swap_memory=False,
    name=None,
):
    """Carries a value along the first axis of `elems`; returns the last. See `scan`."""
    return _fold(fn, elems, initializer, False)


@export("foldr")
def foldr(
    fn,
    elems,
    initializer=None,
    parallel_iterations=10,
    back_prop=True,
    swap_memory=False,
    name=None,
):
    """Carries a value along the first axis of `elems`, from its end; returns the last."""
    return _fold(fn, elems, initializer, True)


def _fold(fn, elems, initializer, reverse):
    _check_callable(fn)
    structure = elems if initializer is None else initializer
    if thread.trace is not None:
        with contextlib.suppress(NotStructuredError):
            last = _scan_in_trace(fn, elems, initializer, reverse, stacks=False)
            return nest.pack_sequence_as(structure, last)
    leaves: list = []
    for leaves in _carried(fn, elems, initializer, reverse):  # noqa: B007 - the last is wanted
        pass
    return nest.pack_sequence_as(structure, leaves)


def _carried(fn, elems, initializer, reverse):
    """The values `fn` carries along, the first included, each as the list of its leaves."""
    rows = [_parts_of(leaf) for leaf in _leaves(elems)]
    parts_in_order = zip(*[reversed(row) if reverse else row for row in rows], strict=True)
    if initializer is None:
        structure = elems
        first = next(parts_in_order, None)
        if first is None:
            raise OutOfRangeError(None, None, "Tried to read from index 0 but array size is: 0 ")
        carried = list(first)
    else:
        structure = initializer
        carried = [convert_to_tensor(value) for value in nest.flatten(initializer)]
    step = _step(fn, elems, structure, carried)
    yield carried
    for parts in parts_in_order:
        carried = step(carried, parts)
        yield carried


def _step(fn, elems, structure, first):
    """`fn` on lists of leaves: from what is carried and parts to what is carried next."""
    expected = [leaf.dtype for leaf in first]

    def step(carried, parts):
        value = fn(
            nest.pack_sequence_as(structure, carried), nest.pack_sequence_as(elems, list(parts))
        )
        nest.assert_same_structure(structure, value)
        return [
            value if isinstance(value, Tensor) else convert_to_tensor(value, dtype_hint=dtype)
            for value, dtype in zip(nest.flatten(value), expected, strict=True)
        ]

    return step


def _scan_in_trace(fn, elems, initializer, reverse, *, stacks):
    """`scan`, or if nothing is stacked a fold, as one op of a traced function.

    Raises:
        NotStructuredError: it has to be traced part by part.
    """
    leaves = _leaves(elems)
    if initializer is None:
        if leaves[0].shape[0] < 2:
            raise NotStructuredError
        structure = elems
        start = [leaf[-1 if reverse else 0] for leaf in leaves]
        leaves = [leaf[:-1] if reverse else leaf[1:] for leaf in leaves]
    else:
        structure = initializer
        start = [convert_to_tensor(value) for value in nest.flatten(initializer)]
    step = _step(fn, elems, structure, start)
    count = len(start)

    def turn(*tensors):
        carried = step(list(tensors[:count]), tensors[count:])
        return [*carried, *carried] if stacks else carried

    found = loop_over(turn, start, leaves, reverse=reverse)
    if not stacks:
        return found
    found = found[count:]
    if initializer is None:
        ends = [expand_dims(first, 0) for first in start]
        pairs = zip(found, ends, strict=True) if reverse else zip(ends, found, strict=True)
        found = [concat(list(pair), 0) for pair in pairs]
    return found


def _check_callable(fn):
    if not callable(fn):
        raise TypeError(f"The provided function {fn!r} is not callable.")


def _leaves(elems, ragged=False):
    """The tensors in `elems`, whose first axes must have one length."""
    leaves: list[Any] = [
        leaf
        if ragged and (isinstance(leaf, RaggedTensor) or hasattr(leaf, "_unstacked"))
        else convert_to_tensor(_checked_to_be_mapped(leaf) if ragged else leaf)
        for leaf in nest.flatten(elems)
    ]
    if not leaves:
        raise ValueError(
            "elems must be a Tensor or (possibly nested) sequence of Tensors. Got "
            f"{elems!r}, which does not contain any Tensors."
        )
    lengths = [_length_of(leaf) for leaf in leaves]
    for length in lengths:
        if length is None:
            raise ValueError("Elements in elems must be 1+ dimensional Tensors, not scalars")
        if length != lengths[0]:
            raise ValueError(f"Dimensions {lengths[0]} and {length} are not compatible")
    return leaves


def _checked_to_be_mapped(leaf):
    if hasattr(leaf, "_type_spec"):
        raise TypeError(f"map_fn can not consume {leaf._type_spec} inputs: got {leaf}")
    return leaf


def _length_of(leaf):
    """The length of the first axis; None if there is none."""
    if hasattr(leaf, "_unstacked"):
        return leaf._batch_length()
    return leaf.shape[0] if leaf.ndim else None


def _parts_of(leaf):
    if hasattr(leaf, "_unstacked"):
        return leaf._unstacked()
    return [leaf[i] for i in range(leaf._nrows)] if is_composite(leaf) else unstack(leaf)

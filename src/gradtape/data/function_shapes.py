"""Which sizes of a graph's results are certain, although it was traced on values of one call.

A trace has seen the sizes of one call. Those that follow from the shapes of its inputs are the same
in every call with these shapes. Others follow from values: of a mask, or of a file. From the ops
that give such sizes on, this finds out which ones depend on them, by changing them.
"""

import re
from typing import Any

from ..core.dtypes import int64
from ..core.op import Spec
from ..core.ragged_spec import RaggedTensorSpec
from ..core.shapes import TensorShape
from ..core.sparse_tensor import SparseTensorSpec
from ..core.spec import TensorSpec
from ..graph.guards import NUMBER, SHAPE, TRUTH
from ..graph.ir import APPLY, EFFECT, GUARD, READ, RULE
from .elements import leaf_specs, with_leaf_specs
from .specs import DatasetSpec

# Ops with sizes that are certain in spite of values: for each result, how many from the left
# are not.
_OPEN_FROM_LEFT = {
    "Where": (1,),
    "Unique": (1, 0),
    "UniqueWithCounts": (1, 0, 1),
}
# Effects of which TensorFlow does not even know the ranks of results.
_OF_ANY_RANK = frozenset(("EagerPyFunc", "PyFunc", "ParseTensor", "DecodeImage"))
# Effects that give each element of an input something for itself.
_OF_SAME_SHAPE = frozenset(
    ("DecodeBase64", "DecodeCSV", "DecodeCompressed", "EncodeBase64", "EncodeJpeg", "EncodePng",
     "LookupTableFindV2", "ReadFile", "SerializeTensor")
)  # fmt: skip
_UNKNOWN: Any = object()
SAME_VALUE: Any = object()


def certain_shapes(graph, inputs, all_ways_known=False):
    """What is certain of the shapes of a graph's outputs: a TensorShape each.

    Where its Python code has looked at values, what came after that may depend on them in any way.

    Args:
        graph: the graph.
        inputs: specs of those of its inputs that do not always have the shape they had; SAME_VALUE
            for those that even always have the value they had.
        all_ways_known: whether there are traces for all outcomes of questions that were asked.
    """
    looks = (NUMBER,) if all_ways_known else (NUMBER, TRUTH)
    guarded = {
        id(node.inputs[0])
        for node in graph.nodes
        if node.kind == GUARD and node.attrs["how"] == SHAPE
    }
    shapes, settled, has_looked = {}, set(), False
    for value, spec in zip(graph.inputs, inputs, strict=True):
        if spec is SAME_VALUE:
            settled.add(id(value))
        elif spec is not None:
            shapes[id(value)] = tuple(spec.shape.as_list())
    for node in graph.nodes:
        if node.kind == GUARD:
            if node.attrs["how"] in looks and id(node.inputs[0]) not in settled:
                has_looked = True
            continue
        given = [_shape_in(shapes, value) for value in node.inputs]
        found = _SHAPES_OF[node.kind](node, given, guarded)
        for value, shape in zip(node.outputs, found, strict=True):
            if has_looked and shape is not _UNKNOWN:
                shape = (None,) * len(shape)
            shapes[id(value)] = shape if value.stated is None else _with_stated(shape, value)
    # A constant made after a look is as uncertain as anything else; it cannot be told when.
    return [
        _as_tensor_shape(
            (None,) * len(value.shape)
            if has_looked and value.is_constant
            else _shape_in(shapes, value)
        )
        for value in graph.outputs
    ]


def widened(specs, others):
    """For each pair of specs one that describes what both do."""
    both = zip(specs, others, strict=True)
    return [a if a == b else a.most_specific_common_supertype([b]) for a, b in both]


def with_certain_shapes(spec, counts, shapes):
    """A structure of specs with sizes where those are certain.

    Args:
        spec: the structure, as of one call.
        counts: of how many tensors each leaf consists.
        shapes: theirs, as far as they are certain.
    """
    remaining, found = iter(shapes), []
    for leaf, count in zip(leaf_specs(spec), counts, strict=True):
        own = [next(remaining) for _ in range(count)]
        if isinstance(leaf, TensorSpec):
            leaf = TensorSpec(own[0], leaf.dtype)
        elif isinstance(leaf, RaggedTensorSpec):
            leaf = _with_rows(leaf, own[1] if leaf.ragged_rank else None)
        elif not all([shape.is_fully_defined() for shape in own]):
            leaf = opened(leaf)
        found.append(leaf)
    return with_leaf_specs(spec, found)


def _with_rows(spec, splits):
    """The spec of a ragged tensor of which the shape of the outermost row splits is certain."""
    opened_spec = opened(spec)
    if splits is None or not splits.is_fully_defined():
        return opened_spec
    shape = [splits[0] - 1, *opened_spec.shape.as_list()[1:]]
    return RaggedTensorSpec(shape, spec.dtype, spec.ragged_rank, spec.row_splits_dtype)


def component_specs(spec):
    """Specs of the tensors that a leaf consists of, as `certain_shapes` takes them.

    None for a tensor itself, and SAME_VALUE for the shape of a sparse tensor, if it is known.
    """
    if isinstance(spec, TensorSpec):
        return [None]
    if isinstance(spec, RaggedTensorSpec):
        sizes = [None] if spec.shape.rank is None else spec.shape.as_list()
        rows = None if sizes[0] is None else sizes[0] + 1
        inner = sizes[spec.ragged_rank + 1 :]
        splits = [[rows], *[[None]] * (spec.ragged_rank - 1)]
        flat = TensorSpec([None, *inner], spec.dtype)
        return [flat, *[TensorSpec(each, spec.row_splits_dtype) for each in splits]]
    if isinstance(spec, SparseTensorSpec):
        rank = spec.shape.rank
        shapes = ([None, rank], int64), ([None], spec.dtype), ([rank], int64)
        *parts, shape = [TensorSpec(shape, dtype) for shape, dtype in shapes]
        return [*parts, SAME_VALUE if spec.shape.is_fully_defined() else shape]
    return []


def with_open_sizes(spec, any_rank=False, *, inside_datasets=False):
    """A structure of specs that say nothing of sizes, or not even of ranks."""
    leaves = [
        DatasetSpec(with_open_sizes(leaf.element_spec, inside_datasets=True), leaf._dataset_shape)
        if inside_datasets and isinstance(leaf, DatasetSpec)
        else opened(leaf, any_rank)
        for leaf in leaf_specs(spec)
    ]
    return with_leaf_specs(spec, leaves)


def opened(spec, any_rank=False):
    """A spec that says nothing of sizes."""
    if isinstance(spec, TensorSpec):
        return TensorSpec(_open_shape(spec.shape, any_rank), spec.dtype)
    if isinstance(spec, RaggedTensorSpec):
        shape = _open_shape(spec.shape, False)
        return RaggedTensorSpec(shape, spec.dtype, spec.ragged_rank, spec.row_splits_dtype)
    if isinstance(spec, SparseTensorSpec):
        return SparseTensorSpec(_open_shape(spec.shape, any_rank), spec.dtype)
    return spec


def _open_shape(shape, any_rank):
    return None if any_rank or shape.rank is None else [None] * shape.rank


def _with_stated(shape, value):
    """A shape with the sizes that a user has said it has."""
    stated = value.stated
    if stated.rank is not None:
        known = [None] * stated.rank if shape is _UNKNOWN else shape
        both = zip(known, stated.as_list(), strict=True)
        return tuple([size if said is None else said for size, said in both])
    return shape


def _shape_in(shapes, value):
    return shapes.get(id(value), value.shape)


def _as_tensor_shape(shape):
    return TensorShape(None if shape is _UNKNOWN else list(shape))


# By kinds of nodes --------------------------------------------------------------------------------


def _of_op(node, given, guarded):
    is_open = any([shape is _UNKNOWN or None in shape for shape in given])
    by_values = any([id(value) in guarded for value in node.outputs])
    if not is_open and (not by_values or _follows_from_constants(node)):
        return [value.shape for value in node.outputs]
    if any([shape is _UNKNOWN for shape in given]):
        return _probed(node, given)
    if by_values:
        counts = _OPEN_FROM_LEFT.get(node.op.name, (None,) * len(node.outputs))
        return [
            _opened(value.shape, count) if id(value) in guarded else value.shape
            for value, count in zip(node.outputs, counts, strict=True)
        ]
    return _probed(node, given)


def _follows_from_constants(node):
    """Whether inference gives the shapes if it sees the values of constants, and no others."""
    inputs = [v.constant if v.is_constant else Spec(v.shape, v.dtype) for v in node.inputs]
    found = _inferred(node, inputs)
    return found is not None and found == [value.shape for value in node.outputs]


def _probed(node, given):
    """Shapes of results, where those of inputs are not certain: what changes with them is not."""
    if node.op.name == "Reshape":
        return [_reshaped(given[0], node.inputs[0].shape, node.outputs[0].shape)]
    results = [value.shape for value in node.outputs]
    for change in _CHANGES:
        inputs = [
            v.constant if v.is_constant else Spec(_changed(shape, v.shape, change), v.dtype)
            for v, shape in zip(node.inputs, given, strict=True)
        ]
        found = _inferred(node, inputs)
        if found is None and change is _nothing:
            continue  # an op that does not take that says nothing of other sizes
        if found is None or len(found) != len(results):
            if any([shape is _UNKNOWN for shape in given]):
                return [_UNKNOWN] * len(results)
            return [_opened(shape) for shape in results]
        results = [_common(a, b) for a, b in zip(results, found, strict=True)]
    return results


def _nothing(size):
    return 0


_CHANGES = (lambda size: size + 1, lambda size: 2 * size + 3, _nothing)


def _reshaped(shape, real, goal):
    """The shape of a tensor in another one, which is kept as numbers, whatever they came from.

    Sizes are told apart only where nothing but axes of size 1 comes or goes.
    """
    if shape is _UNKNOWN:
        return _UNKNOWN if goal else ()
    kept = [size for size, r in zip(shape, real, strict=True) if r != 1 or size is None]
    if [r for r in real if r != 1] != [size for size in goal if size != 1] or 1 in [
        r for size, r in zip(shape, real, strict=True) if size is None
    ]:
        return _opened(goal)
    remaining = iter(kept)
    return tuple([1 if size == 1 else next(remaining) for size in goal])


def _changed(shape, real, change):
    if shape is _UNKNOWN:
        return (change(2), *real)
    return tuple([change(r) if size is None else size for size, r in zip(shape, real, strict=True)])


def _common(a, b):
    if a is _UNKNOWN or len(a) != len(b):
        return _UNKNOWN
    return tuple([m if m == n else None for m, n in zip(a, b, strict=True)])


def _inferred(node, inputs):
    try:
        found = node.op.infer(*inputs, **node.attrs)
    except Exception:  # it is asked in ways that it is not made for
        return None
    found = [found] if isinstance(found, Spec) else list(found)
    if any([not all([type(size) is int for size in each.shape]) for each in found]):
        return None
    return [each.shape for each in found]


def _opened(shape, count=None):
    count = len(shape) if count is None else count
    return (None,) * count + tuple(shape[count:])


def _of_effect(node, given, guarded):
    name = re.sub(r"_\d+$", "", node.name)
    if node.attrs["fixed"]:
        return [value.shape for value in node.outputs]
    if name in _OF_ANY_RANK:
        return [_UNKNOWN] * len(node.outputs)
    is_open = any([shape is _UNKNOWN or None in shape for shape in given])
    if name in _OF_SAME_SHAPE and not is_open:
        return [value.shape for value in node.outputs]
    # A function may tell how many axes from the left are open.
    counts = getattr(node.attrs["function"], "open_axes", (None,) * len(node.outputs))
    return [_opened(value.shape, count) for value, count in zip(node.outputs, counts, strict=True)]


def _of_read(node, given, guarded):
    declared = node.attrs["variable"].shape
    if declared.rank is None:
        return [_UNKNOWN]
    return [tuple(declared.as_list())]


def _of_rule(node, given, guarded):
    return given[-len(node.outputs) :]


_SHAPES_OF = {APPLY: _of_op, EFFECT: _of_effect, READ: _of_read, RULE: _of_rule}

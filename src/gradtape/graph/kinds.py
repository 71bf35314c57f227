"""Kinds of arguments: what TensorFlow counts as one signature of a function.

A kind is a tree of the form of the arguments. Its leaves are specs for tensors and composites, and
the values themselves for what a trace takes as it is. One kind may cover others: where a size is
not said, or a number may be any.
"""

import weakref
from typing import Any, NamedTuple

import numpy as np

from ..core import dtypes
from ..core.containers import is_namedtuple_class
from ..core.convert import to_value
from ..core.ragged_spec import RaggedTensorSpec
from ..core.sparse_tensor import SparseTensorSpec
from ..core.spec import TensorSpec
from ..core.tensor import Tensor
from ..core.variable import Variable
from ..ops.ragged_functions import type_spec_from_value
from .keys import PLAIN, opened, plain_key
from .number_inputs import may_vary

# What stands for the class of the kind of a whole call: its keys are the names of parameters.
CALL = "call"


class Branch(NamedTuple):
    """A container of kinds."""

    cls: Any
    keys: tuple
    children: tuple


class VariableKind(NamedTuple):
    """Variables of one dtype and shape."""

    shape: Any
    dtype: Any
    trainable: bool

    def __repr__(self):
        return f"VariableSpec(shape={self.shape}, dtype={self.dtype!r}, trainable={self.trainable})"


class AnyNumber(NamedTuple):
    """Python numbers of one class, whatever their value."""

    cls: type

    def __repr__(self):
        return self.cls.__name__


class CompositeKind(NamedTuple):
    """Composites of a class that has no spec of its own, by their parts."""

    cls: type
    parts: tuple

    def __repr__(self):
        return f"{self.cls.__name__}Spec({', '.join([repr(part) for part in self.parts])})"


class ObjectKind:
    """One object, which is not kept alive."""

    __slots__ = ("_id", "_reference", "_text")

    def __init__(self, item):
        self._id = id(item)
        try:
            self._reference = weakref.ref(item)
        except TypeError:
            self._reference = lambda: item
        self._text = f"<{type(item).__module__}.{type(item).__qualname__} object>"

    def get(self):
        return self._reference()

    def __eq__(self, other):
        if type(other) is not ObjectKind:
            return NotImplemented
        item = self._reference()
        return self._id == other._id and item is not None and item is other._reference()

    def __hash__(self):
        return self._id

    def __repr__(self):
        return self._text


def is_spec(item):
    """Whether `item` describes values: a TensorSpec, or a spec of composites."""
    return isinstance(item, (TensorSpec, RaggedTensorSpec, SparseTensorSpec)) or hasattr(
        type(item), "_component_specs"
    )


def kind_of(item):
    """The kind of a value; a spec is taken for what it describes."""
    if isinstance(item, Tensor):
        return TensorSpec(item.shape, item.dtype)
    if type(item) in PLAIN or is_spec(item):
        return item
    if isinstance(item, Variable):
        return VariableKind(item.shape, item.dtype, item.trainable)
    if isinstance(item, (np.ndarray, np.generic)):
        value = to_value(item)
        return TensorSpec(value.shape, dtypes.of_numpy(value.dtype))
    if getattr(item, "_is_composite", False):
        try:
            return type_spec_from_value(item)
        except (TypeError, ValueError):
            return CompositeKind(type(item), tuple([kind_of(x) for x in item._components()]))
    container = opened(item)
    if container is None:
        return ObjectKind(item)
    children = tuple([kind_of(child) for child in container.children(item)])
    return Branch(type(item), tuple(container.keys(item)), children)


# Comparison ---------------------------------------------------------------------------------------


def covers(general, special):
    """Whether every call of the kind `special` is also of the kind `general`."""
    if isinstance(general, Branch):
        return _alike(general, special) and all(
            [covers(a, b) for a, b in zip(general.children, special.children, strict=True)]
        )
    if isinstance(general, TensorSpec):
        return isinstance(special, TensorSpec) and special.is_subtype_of(general)
    if isinstance(general, AnyNumber):
        return special == general or (type(special) is general.cls and may_vary(special))
    if is_spec(general):
        if hasattr(general, "is_subtype_of"):
            return special.is_subtype_of(general) if is_spec(special) else False
        return general.is_compatible_with(special) and special.shape.is_subtype_of(general.shape)
    return _same_leaf(general, special)


def relaxed(own, other, numbers=True):
    """The narrowest kind that covers both; None if there is none.

    Args:
        own: a kind.
        other: another.
        numbers: whether two Python numbers are covered by any number.
    """
    if isinstance(own, Branch):
        if not _alike(own, other):
            return None
        pairs = zip(own.children, other.children, strict=True)
        children = tuple([relaxed(a, b, numbers) for a, b in pairs])
        missing = [
            child is None and not (a is None and b is None)
            for child, a, b in zip(children, own.children, other.children, strict=True)
        ]
        return None if any(missing) else Branch(own.cls, own.keys, children)
    if isinstance(own, TensorSpec):
        return own.most_specific_common_supertype([other]) if is_spec(other) else None
    if is_spec(own):
        if covers(own, other):
            return own
        return _relaxed_composite(own, other)
    if isinstance(own, AnyNumber):
        return own if covers(own, other) else None
    if isinstance(other, AnyNumber):
        return other if covers(other, own) else None
    if _same_leaf(own, other):
        return own
    if numbers and type(own) is type(other) and may_vary(own) and may_vary(other):
        return AnyNumber(type(own))
    return None


def with_any_numbers(kind, varies):
    """A kind in which those numbers may be any of which `varies`, in turn, says so."""
    if isinstance(kind, Branch):
        children = tuple([with_any_numbers(child, varies) for child in kind.children])
        return Branch(kind.cls, kind.keys, children)
    is_number = type(kind) is int or type(kind) is float
    return AnyNumber(type(kind)) if is_number and next(varies) else kind


def _relaxed_composite(own, other):
    widen = getattr(own, "most_specific_common_supertype", None)
    if type(own) is not type(other) or widen is None:
        return None
    return widen([other])


def _alike(own, other):
    return isinstance(other, Branch) and own.cls is other.cls and own.keys == other.keys


def _same_leaf(own, other):
    if type(own) in PLAIN and type(other) in PLAIN:
        return plain_key(own) == plain_key(other)
    return type(own) is type(other) and own == other


# Facts --------------------------------------------------------------------------------------------


def leaves_of(kind, path=""):
    """Pairs of a path such as `d['a'][0]` and the leaf found there."""
    if not isinstance(kind, Branch):
        return [(path, kind)]
    found = []
    if kind.cls is CALL:
        for name, child in zip(kind.keys, kind.children, strict=True):
            found += leaves_of(child, name)
        return found
    by_name = hasattr(kind.cls, "_fields") or hasattr(kind.cls, "__attrs_attrs__")
    for key, child in zip(kind.keys, kind.children, strict=True):
        step = f".{key}" if by_name else f"[{key!r}]"
        found += leaves_of(child, f"{path}{step}")
    return found


def tensor_specs_of(kind):
    """The specs of all tensors in a kind, in order; None where those of a composite are unknown."""
    if isinstance(kind, Branch):
        return [spec for child in kind.children for spec in tensor_specs_of(child)]
    if isinstance(kind, TensorSpec):
        return [kind]
    if isinstance(kind, CompositeKind):
        return [spec for part in kind.parts for spec in tensor_specs_of(part)]
    if isinstance(kind, RaggedTensorSpec):
        shape = kind.shape
        sizes = [] if shape.rank is None else shape.as_list()
        inner = [None, *sizes[kind.ragged_rank + 1 :]]
        splits = [TensorSpec([None], kind.row_splits_dtype) for _ in range(kind.ragged_rank)]
        return [TensorSpec(inner, kind.dtype), *splits]
    if isinstance(kind, SparseTensorSpec):
        rank = kind.shape.rank
        return [
            TensorSpec([None, rank], dtypes.int64),
            TensorSpec([None], kind.dtype),
            TensorSpec([rank], dtypes.int64),
        ]
    if is_spec(kind):
        return [spec for part in kind._component_specs for spec in tensor_specs_of(part)]
    return []


def with_open_sizes(spec):
    """The spec of a composite whose sizes are not certain."""
    rank = spec.shape.rank if isinstance(spec, (RaggedTensorSpec, SparseTensorSpec)) else None
    if rank is None:
        return spec
    if isinstance(spec, SparseTensorSpec):
        return SparseTensorSpec([None] * rank, spec.dtype)
    return RaggedTensorSpec([None] * rank, spec.dtype, spec.ragged_rank, spec.row_splits_dtype)


def kind_text(kind):
    """A kind as TensorFlow prints it."""
    if isinstance(kind, Branch):
        return _branch_text(kind)
    if type(kind) in PLAIN:
        return f"Literal[{kind!r}]"
    return repr(kind)


def _branch_text(kind):
    texts = [kind_text(child) for child in kind.children]
    pairs = ", ".join([f"[{key!r}, {text}]" for key, text in zip(kind.keys, texts, strict=True)])
    if issubclass(kind.cls, dict):
        return f"Dict[{pairs}]"
    if kind.keys and isinstance(kind.keys[0], str):
        return f"{kind.cls.__name__}[{pairs}]"
    return f"{kind.cls.__name__.capitalize()}[{', '.join(texts)}]"


def as_structure(kind, path, named=True):
    """A kind as a structure with specs in it; each TensorSpec bears its path for a name."""
    if isinstance(kind, Branch):
        children = [
            as_structure(child, f"{path}_{key}", named)
            for key, child in zip(kind.keys, kind.children, strict=True)
        ]
        return _rebuilt(kind, children)
    if isinstance(kind, TensorSpec) and named:
        return TensorSpec.from_spec(kind, kind.name or path)
    return kind.get() if isinstance(kind, ObjectKind) else kind


def _rebuilt(kind, children):
    cls: Any = kind.cls
    if issubclass(cls, dict):
        return dict(zip(kind.keys, children, strict=True))
    if is_namedtuple_class(cls):
        return cls(*children)
    if cls is list or cls is tuple:
        return cls(children)
    try:
        return cls(*children)
    except (TypeError, ValueError):  # a class that takes its parts in some other way
        return tuple(children)

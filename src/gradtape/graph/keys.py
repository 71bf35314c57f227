"""How values are told apart that a trace takes as they are."""

import copy
import dataclasses
import itertools
import math
import weakref
from types import BuiltinFunctionType, MethodType, NoneType

import numpy as np

from ..core.containers import Container, container_of
from ..core.dtypes import DType
from ..core.shapes import TensorShape
from ..core.tensor import Tensor

# Types whose values are told apart by equality.
PLAIN = frozenset(
    (bool, int, float, complex, str, bytes, NoneType, type(Ellipsis), type, BuiltinFunctionType,
     DType, TensorShape, np.dtype)
)  # fmt: skip


def plain_key(item):
    """A key that tells apart what Python counts as equal: 1, 1.0 and True, 0.0 and -0.0."""
    kind = type(item)
    if kind is float:
        return kind, _float_key(item)
    if kind is complex:
        return kind, _float_key(item.real), _float_key(item.imag)
    return kind, item


def _float_key(number):
    if number != number:
        return "nan"
    return number if number else math.copysign(1.0, number) * 0.5, not number


def opened(item):
    """How to open a container, composites and dataclasses that hold tensors among them, or None."""
    container = container_of(item, True)
    if container is None and dataclasses.is_dataclass(item) and _holds_tensors(item):
        return _DATACLASS
    return container


def _holds_tensors(item):
    if isinstance(item, type):
        return False
    for child in _field_values(item):
        if isinstance(child, (Tensor, np.ndarray, np.generic)):
            return True
        inner = opened(child)
        if inner is not None and any([_is_tensor(x) for x in inner.children(child)]):
            return True
    return False


def _is_tensor(item):
    if isinstance(item, (Tensor, np.ndarray, np.generic)):
        return True
    container = opened(item)
    return container is not None and any([_is_tensor(x) for x in container.children(item)])


def _field_values(item):
    return [getattr(item, field.name) for field in dataclasses.fields(item)]


def _with_fields(item, values):
    twin = copy.copy(item)
    for field, value in zip(dataclasses.fields(item), values, strict=True):
        object.__setattr__(twin, field.name, value)
    return twin


_DATACLASS = Container(
    _field_values,
    _with_fields,
    lambda item: [field.name for field in dataclasses.fields(item)],
)


class Identities:
    """Keys for objects that are told apart by identity; one is forgotten with its object.

    Args:
        forget: a weak reference to what is called with the key of an object that is gone.
    """

    def __init__(self, forget):
        self._forget = forget
        self._watches = {}
        self._numbers = itertools.count()

    def __call__(self, item):
        """The key of an object.

        Raises:
            TypeError: it can neither be watched nor compared.
        """
        kind = type(item)
        if kind is set or kind is frozenset:
            return kind, frozenset([self._part(each) for each in item])
        if kind is slice:
            return kind, *[self._part(each) for each in (item.start, item.stop, item.step)]
        if kind is MethodType:  # made anew each time it is asked for
            return kind, self(item.__self__), self(item.__func__)
        own = getattr(kind, "_identity", None)
        if own is not None:
            item = own(item)
        watch = self._watches.get(id(item))
        if watch is not None and watch[0]() is item:
            return watch[1]
        # Another object may have the same id one day, but not the same number.
        key, place = ("object", next(self._numbers)), id(item)
        try:
            self._watches[place] = weakref.ref(item, lambda _: self._drop(place, key)), key
            return key
        except TypeError:
            pass
        try:  # without an identity to watch, it has to have an equality
            hash(item)
        except TypeError:
            raise TypeError(
                f"Could not generate a generic TraceType for {item!r}.Please verify that it is "
                "immutable/hashable. Otherwise, consider implementing the Tracing Protocol for it."
            ) from None
        return kind, item

    def _part(self, item):
        return plain_key(item) if type(item) in PLAIN else self(item)

    def _drop(self, place, key):
        watch = self._watches.get(place)
        if watch is not None and watch[1] is key:
            del self._watches[place]
        forget = self._forget()
        if forget is not None:
            forget(key)


class Weak:
    """An object in the outline of a call, which does not keep it alive."""

    __slots__ = ("_reference",)

    def __init__(self, item):
        is_method = type(item) is MethodType
        self._reference = weakref.WeakMethod(item) if is_method else weakref.ref(item)

    def get(self):
        return self._reference()


def weakly(item):
    """`item`, held weakly if that can be."""
    own = getattr(type(item), "_weakly", None)
    if own is not None:
        return own(item)
    try:
        return Weak(item)
    except TypeError:
        return item

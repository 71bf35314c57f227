"""The fields of extension types: which annotations they may have, and values made to fit them."""

import types
import typing
from collections import abc
from typing import Any, NamedTuple

from .core.convert import convert_to_tensor
from .core.dtypes import DType, as_dtype
from .core.shapes import TensorShape, as_shape
from .core.spec import TensorSpec
from .core.tensor import Tensor

_PLAIN = (int, float, str, bytes, bool, type(None))

RESERVED = frozenset(
    ["self", "Spec", "__dict__", "__doc__", "__module__", "__weakref__", "_components",
     "_consumers", "_differentiable_components", "_from_components", "_is_composite",
     "_shape_invariant_to_type_spec", "_to_components", "_type_spec"]
)  # fmt: skip

NO_DEFAULT: Any = object()


class Field(NamedTuple):
    """A field's name, its annotation and the value it has if none is given."""

    name: str
    annotation: Any
    default: Any


class ImmutableDict(abc.Mapping):
    """A mapping that stays as it is; what fields annotated as mappings hold."""

    __slots__ = ("_items",)

    def __init__(self, *args, **kwargs):
        self._items = dict(*args, **kwargs)

    def __getitem__(self, key):
        return self._items[key]

    def __contains__(self, key):
        return key in self._items

    def __iter__(self):
        return iter(self._items)

    def __len__(self):
        return len(self._items)

    def __repr__(self):
        return f"ImmutableDict({self._items!r})"


def is_composite_class(item):
    """Whether something is a class of values made of tensors."""
    return isinstance(item, type) and getattr(item, "_is_composite", False)


def field(name, annotation, default):
    """A field whose annotation and default value have been checked.

    Raises:
        TypeError: there are no fields of such a type, or the default value has another one.
    """
    try:
        check_annotation(annotation)
    except TypeError as error:
        raise TypeError(f"In field {name!r}: {error}") from None
    if default is not NO_DEFAULT:
        default = Fitting(defaults=True).fit(default, annotation, f"default value for {name}")
    return Field(name, annotation, default)


def check_annotation(annotation, as_key=False):
    """Raises a TypeError unless fields may be annotated so; names not known yet are let pass."""
    if isinstance(annotation, (str, typing.ForwardRef)) or annotation is None:
        return
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if annotation in _PLAIN or annotation is DType:
        return
    if annotation in (Tensor, TensorShape) or is_composite_class(annotation):
        if as_key:
            raise TypeError(
                f"Mapping had a key {annotation.__name__!r} with type {type(annotation).__name__!r}"
            )
    elif origin is tuple or _is_union(origin):
        for argument in arguments:
            if argument is not Ellipsis:
                check_annotation(argument, as_key)
    elif origin is abc.Mapping:
        check_annotation(arguments[0], True)
        check_annotation(arguments[1], as_key)
    else:
        shown = annotation.__name__ if isinstance(annotation, type) else annotation
        raise TypeError(f"Unsupported type annotation {shown!r}")


def _is_union(origin):
    return origin is typing.Union or origin is types.UnionType


class Fitting:
    """Makes values fit the annotations of fields: of values, of their specs, or of defaults.

    Args:
        specs: whether a spec is wanted wherever a field holds tensors.
        defaults: whether values for tensors wait, to be converted when they are used.
    """

    def __init__(self, specs=False, defaults=False):
        self._specs = specs
        self._defaults = defaults

    def fit_all(self, fields, values):
        """Makes the values in a dictionary, one for each field, fit.

        Raises:
            ValueError: there are others, or fewer.
            TypeError: one of them does not fit.
        """
        names = {each.name for each in fields}
        if names != values.keys():
            extra = values.keys() - names
            if extra:
                raise ValueError(f"Got unexpected fields: {extra}")
            raise ValueError(f"Missing required fields: {names - values.keys()}")
        for each in fields:
            values[each.name] = self.fit(values[each.name], each.annotation, each.name)

    def fit(self, value, annotation, where) -> Any:
        """The value in the form that an annotation asks for."""
        if annotation is None:
            annotation = type(None)
        if annotation is Tensor:
            return self._tensor(value, where)
        if annotation in _PLAIN:
            return _instance(value, annotation, where)
        if is_composite_class(annotation):
            return self._composite(value, annotation, where)
        if annotation is TensorShape:
            return _converted(as_shape, value, "tf.TensorShape", where)
        if annotation is DType:
            return _converted(as_dtype, value, "tf.DType", where)
        origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
        if origin is tuple:
            return self._tuple(value, arguments, where)
        if origin is abc.Mapping:
            return self._mapping(value, arguments, where)
        if _is_union(origin):
            for argument in arguments:
                try:
                    return self.fit(value, argument, where)
                except TypeError:
                    continue
            raise _unfit(where, repr(annotation), value)
        raise TypeError(f"{where}: Unsupported type annotation {annotation!r}")

    def _tensor(self, value, where):
        if self._specs:
            if not isinstance(value, TensorSpec):
                raise _unfit(where, "a TensorSpec", value)
            return value
        if isinstance(value, Tensor) or self._defaults:
            return value
        try:
            return convert_to_tensor(value)
        except (TypeError, ValueError):
            raise _unfit(where, "a Tensor", value) from None

    def _composite(self, value, cls, where):
        if not self._specs:
            return _instance(value, cls, where)
        described = getattr(value, "value_type", None)
        if isinstance(value, type) or not (
            isinstance(described, type) and issubclass(described, cls)
        ):
            raise _unfit(where, f"a TypeSpec for {cls.__name__!r}", value)
        return value

    def _tuple(self, value, arguments, where):
        if not isinstance(value, abc.Sequence):
            raise _unfit(where, "tuple", value)
        if len(arguments) == 2 and arguments[1] is Ellipsis:
            arguments = arguments[:1] * len(value)
        elif len(value) != len(arguments):
            raise _unfit(where, f"tuple with length {len(arguments)}", value)
        pairs = zip(value, arguments, strict=True)
        return tuple(
            [self.fit(item, wanted, f"{where}[{i}]") for i, (item, wanted) in enumerate(pairs)]
        )

    def _mapping(self, value, arguments, where):
        if not isinstance(value, abc.Mapping):
            raise _unfit(where, "mapping", value)
        key_type, item_type = arguments
        return ImmutableDict(
            {
                self.fit(key, key_type, f"{where}[<key>]"): self.fit(
                    item, item_type, f"{where}[{key!r}]"
                )
                for key, item in value.items()
            }
        )


def _instance(value, cls, where):
    if not isinstance(value, cls):
        raise _unfit(where, repr(cls.__name__), value)
    return value


def _converted(convert, value, wanted, where):
    try:
        return convert(value)
    except TypeError:
        raise _unfit(where, repr(wanted), value) from None


def _unfit(where, wanted, value):
    return TypeError(f"{where}: expected {wanted}, got {type(value).__name__!r}")

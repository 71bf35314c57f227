"""tf.experimental.ExtensionType: classes of the user's own that are made of tensors."""

import abc
import functools
import inspect
import typing
from collections.abc import Mapping
from typing import Any

from .core import nest
from .core.exports import PUBLIC
from .core.tensor import Tensor
from .extension_fields import NO_DEFAULT, RESERVED, Fitting, ImmutableDict, field
from .ops.ragged_functions import type_spec_from_value
from .type_specs import TypeSpec

_BUILDING = "_is_being_built"


def _made(cls, fields):
    """An object of a class with given fields, made without its constructor."""
    made = object.__new__(cls)
    made.__dict__.update(fields)
    return made


def _is_part(leaf):
    return isinstance(leaf, Tensor) or getattr(leaf, "_is_composite", False)


class _Fields:
    """What values and their specs share: fields set by the constructor, and by nothing else."""

    _called = ""

    def __setattr__(self, name, value):
        self._check_building(name)
        self.__dict__[name] = value

    def __delattr__(self, name):
        self._check_building(name)
        del self.__dict__[name]

    def _check_building(self, name):
        known = [each.name for each in type(self)._fields()]
        if _BUILDING not in self.__dict__ or name not in known:
            raise AttributeError(
                f"Cannot mutate attribute `{name}` outside the custom constructor of "
                f"{self._called}."
            )

    @classmethod
    def _fields(cls) -> tuple:
        raise NotImplementedError

    def _fitting(self) -> Fitting:
        return Fitting()

    def _finish(self):
        self._fitting().fit_all(type(self)._fields(), self.__dict__)
        self.__validate__()

    def __validate__(self):
        """Called when all fields are set; raises if they do not go together."""


class ExtensionType(_Fields, abc.ABC):
    """A base for immutable classes whose annotated fields are tensors and plain values.

    Fields may be int, float, str, bytes, bool, None, tf.Tensor, tf.TensorShape, tf.DType, any class
    made of tensors, and tuples, mappings, unions and optionals of these. Values are converted to
    what the annotation says. A method `__validate__` may check them.

    Example:
        >>> class Masked(ExtensionType):
        ...     values: Tensor
        ...     mask: Tensor
        >>> Masked([1.0, 2.0], [True, False]).mask.shape
        TensorShape([2])
    """

    _is_composite = True
    _is_sparse_update = False
    _called = "ExtensionType"

    def __init_subclass__(cls, is_base=False, **kwargs):
        super().__init_subclass__(**kwargs)
        if is_base:
            return
        _check_names(cls)
        if "__init__" in cls.__dict__:
            _wrap_constructor(cls)
        else:
            _add_constructor(cls, cls._fields())
        cls.Spec = _spec_class(cls)

    def __init__(self, *args, **kwargs):
        if type(self) is ExtensionType:
            raise AssertionError(
                "Cannot create an instance of ExtensionType because ExtensionType is an abstract "
                "base class."
            )

    if typing.TYPE_CHECKING:
        Spec: Any

    @classmethod
    def _fields(cls):
        known = cls.__dict__.get("_known_fields")
        if known is not None:
            return known
        try:
            annotations = typing.get_type_hints(cls)
            complete = True
        except (NameError, AttributeError):  # a class that is named before it is defined
            annotations = {}
            for base in reversed(cls.__mro__):
                annotations.update(inspect.get_annotations(base))
            complete = False
        fields = tuple(
            [
                field(name, annotation, getattr(cls, name, NO_DEFAULT))
                for name, annotation in annotations.items()
            ]
        )
        if complete:
            cls._known_fields = fields
        return fields

    @property
    def _type_spec(self):
        return self.Spec.from_value(self)

    # As a composite --------------------------------------------------------------------------

    def _leaves(self):
        return nest.flatten([self.__dict__[each.name] for each in type(self)._fields()])

    def _components(self):
        return [leaf for leaf in self._leaves() if _is_part(leaf)]

    def _from_components(self, components):
        return _rebuilt(self, type(self), components)

    def _leaf_texts(self):
        """What two values have in common that nest takes for structures of one form."""
        return [_leaf_text(leaf) for leaf in self._leaves()]

    def _differentiable_components(self, role):
        how = getattr(type(self), "__composite_gradient__", None)
        if how is None:
            raise ValueError(
                f"Type {type(self).__name__} is not supported as a gradient source or gradient "
                "target."
            )
        parts = how.get_gradient_components(self) if role == "target" else self
        return nest.flatten(parts, expand_composites=True)

    # Comparison and text -----------------------------------------------------------------------

    def __eq__(self, other):
        if type(self) is not type(other) or self._type_spec != other._type_spec:
            return False
        pairs = zip(*[nest.flatten(one, expand_composites=True) for one in (self, other)],
                    strict=True)  # fmt: skip
        same = [PUBLIC["reduce_all"](PUBLIC["equal"](a, b)) for a, b in pairs]
        return PUBLIC["reduce_all"](same) if same else PUBLIC["constant"](True)

    def __ne__(self, other):
        equal = self == other
        return PUBLIC["logical_not"](equal) if isinstance(equal, Tensor) else not equal

    def __repr__(self):
        shown = [f"{each.name}={getattr(self, each.name)!r}" for each in type(self)._fields()]
        return f"{type(self).__qualname__}({', '.join(shown)})"


def _leaf_text(leaf):
    if isinstance(leaf, Tensor):
        return leaf.dtype.name
    if not _is_part(leaf):
        return repr(leaf)
    own = getattr(leaf, "_leaf_texts", None)
    texts = own() if own else [part.dtype.name for part in leaf._components()]
    return f"{type(leaf).__name__}({', '.join(texts)})"


def _rebuilt(holder, cls, parts, is_part=_is_part):
    """An object of `cls` with the fields of `holder`, whose parts are replaced in order."""
    names = [each.name for each in type(holder)._fields()]
    own = [holder.__dict__[name] for name in names]
    remaining = iter(parts)
    leaves = [next(remaining) if is_part(leaf) else leaf for leaf in nest.flatten(own)]
    if list(remaining):
        raise ValueError(f"There are more components than {cls.__name__} is made of.")
    return _made(cls, zip(names, nest.pack_sequence_as(own, leaves), strict=True))


def _check_names(cls):
    annotations = inspect.get_annotations(cls)
    spec = cls.__dict__.get("Spec")
    if spec is not None and not isinstance(spec, type):
        raise ValueError(f"{cls.__qualname__}.Spec must be a nested class; got {spec}.")
    for name in annotations:
        if name in RESERVED:
            raise ValueError(
                f"The field annotations for {cls.__name__} are invalid. Field '{name}' is reserved."
            )
    for name, value in cls.__dict__.items():
        is_special = (name.startswith("__") and name.endswith("__")) or name.startswith("_abc_")
        is_method = callable(value) or isinstance(value, (property, classmethod, staticmethod))
        if not (name in annotations or is_special or is_method):
            raise ValueError(
                f"The field annotations for {cls.__name__} are invalid. Field {name} is missing a "
                "type annotation."
            )


def _wrap_constructor(cls):
    written = cls.__init__

    @functools.wraps(written)
    def construct(self, *args, **kwargs):
        if _BUILDING in self.__dict__:  # called by a subclass's constructor, which finishes
            written(self, *args, **kwargs)
            return
        self.__dict__[_BUILDING] = True
        written(self, *args, **kwargs)
        del self.__dict__[_BUILDING]
        self._finish()

    cls.__init__ = construct


def _add_constructor(cls, fields):
    """A constructor with a parameter for each field; those that must follow defaults by name."""
    parameters, has_default = [], False
    kind: Any = inspect.Parameter.POSITIONAL_OR_KEYWORD
    for each in fields:
        optional = each.default is not NO_DEFAULT
        if has_default and not optional:
            kind = inspect.Parameter.KEYWORD_ONLY
        has_default |= optional
        default = each.default if optional else inspect.Parameter.empty
        parameters.append(
            inspect.Parameter(each.name, kind, default=default, annotation=each.annotation)
        )
    signature = inspect.Signature(parameters, return_annotation=cls)

    def construct(self, *args, **kwargs):
        given = signature.bind(*args, **kwargs)
        given.apply_defaults()
        self.__dict__.update(given.arguments)
        self._finish()

    own: Any = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    construct.__signature__ = signature.replace(parameters=[own, *parameters])  # pyright: ignore[reportFunctionMemberAccess]
    construct.__name__ = "__init__"
    cls.__init__ = construct


# Specs --------------------------------------------------------------------------------------------


class ExtensionTypeSpec(_Fields, TypeSpec):
    """Describes values of an extension type: a spec for each tensor, and the other fields."""

    _called = "ExtensionTypeSpec"

    @classmethod
    def _fields(cls):
        return cls.value_type._fields()

    def _fitting(self):
        return Fitting(specs=True)

    @classmethod
    def from_value(cls, value):
        """The spec that describes `value` exactly."""
        parts = value._components()
        return _rebuilt(value, cls, [type_spec_from_value(part) for part in parts])

    def _serialize(self):
        names = [each.name for each in type(self)._fields()]
        return tuple([(name, _plain(self.__dict__[name])) for name in names])

    @property
    def _component_specs(self):
        return tuple([x for x in nest.flatten(tuple(self._field_values())) if _is_spec(x)])

    def _field_values(self):
        return [self.__dict__[each.name] for each in type(self)._fields()]

    def _to_components(self, value):
        return tuple(value._components())

    def _from_components(self, components):
        return _rebuilt(self, self.value_type, components, _is_spec)

    def __reduce__(self):
        return _unpickled, (self.value_type, self._serialize())

    def __repr__(self):
        shown = [f"{name}={value!r}" for name, value in self._serialize()]
        return f"{type(self).__qualname__}({', '.join(shown)})"


def _is_spec(leaf):
    return isinstance(leaf, TypeSpec)


def _plain(item):
    """A field with plain dictionaries for mappings."""
    if isinstance(item, Mapping):
        return {key: _plain(value) for key, value in item.items()}
    return tuple([_plain(each) for each in item]) if isinstance(item, tuple) else item


def _immutable(item):
    if isinstance(item, dict):
        return ImmutableDict({key: _immutable(value) for key, value in item.items()})
    return tuple([_immutable(each) for each in item]) if isinstance(item, tuple) else item


def _unpickled(value_type, fields):
    return _made(value_type.Spec, {name: _immutable(value) for name, value in fields})


def _spec_class(cls):
    """The class `cls.Spec`, with what the user's own nested class `Spec` adds to it."""
    names = {each.name for each in cls._fields()}
    contents: dict[str, Any] = {"value_type": cls, "__module__": cls.__module__}
    qualified = f"{cls.__qualname__}.Spec"
    written = cls.__dict__.get("Spec")
    for name, item in vars(written).items() if written is not None else ():
        if name in names:
            raise ValueError(
                f"TypeSpec {qualified} defines a variable '{name}' which shadows a field in "
                f"{cls.__qualname__}"
            )
        if name not in ("__module__", "__dict__", "__weakref__", "__qualname__"):
            contents[name] = item
    base = cls._spec_base
    if base is ExtensionTypeSpec and "__batch_encoder__" in {*contents, *vars(cls)}:
        raise ValueError(
            "__batch_encoder__ should only be defined for BatchableExtensionType classes."
        )
    spec = type(f"{cls.__name__}.Spec", (base,), contents)
    spec.__qualname__ = qualified
    if "__init__" in contents:
        _wrap_constructor(spec)
    else:
        _add_constructor(spec, [each._replace(default=NO_DEFAULT) for each in cls._fields()])
    return spec


ExtensionType._spec_base = ExtensionTypeSpec  # pyright: ignore[reportAttributeAccessIssue]


def as_dict(value):
    """The fields of an extension type's value, by name; nested ones stay values."""
    return {each.name: getattr(value, each.name) for each in type(value)._fields()}

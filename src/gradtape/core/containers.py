"""Which classes are containers of nested structures, and how each is opened and rebuilt."""

import collections
from collections import abc
from collections.abc import Callable
from typing import Any, NamedTuple


class Container(NamedTuple):
    """How one class of containers is taken apart and put together again."""

    children: Callable[[Any], list]
    rebuild: Callable[[Any, list], Any]
    keys: Callable[[Any], Any]


# Classes found to be leaves, with composites counted as leaves and as containers respectively; for
# a structure whose leaves all have such a class one C-level subset test replaces the walk.
leaf_classes: set[type] = set()
opened_leaf_classes: set[type] = set()
_containers: dict[type, Container] = {}

# Programs that keep creating classes must not make the tables above keep them all alive.
_MAX_REMEMBERED_CLASSES = 4096


def container_of(structure, expand_composites) -> Container | None:
    """How to open `structure`, or None if it is a leaf."""
    cls = type(structure)
    if cls in (opened_leaf_classes if expand_composites else leaf_classes):
        return None
    container = _containers.get(cls)
    if container is None:
        container = _classify(cls)
        _remember(cls, container)
        if container is _COMPOSITE and not expand_composites:
            return None
    return container


def _remember(cls, container):
    # A composite must be known as a leaf whenever it is known as a container, also to a thread
    # that looks in between: hence the order of both the clearing and the adding.
    if len(leaf_classes) + len(_containers) >= _MAX_REMEMBERED_CLASSES:
        for table in (_containers, leaf_classes, opened_leaf_classes):
            table.clear()
    if container is None or container is _COMPOSITE:
        leaf_classes.add(cls)
    if container is None:
        opened_leaf_classes.add(cls)
    else:
        _containers[cls] = container


def _classify(cls) -> Container | None:
    if cls in (list, tuple):
        return Container(list, _rebuild_sequence, _indices)
    if getattr(cls, "_is_composite", False):
        return _COMPOSITE
    if issubclass(cls, (str, bytes)):
        return None
    if is_namedtuple_class(cls):
        return Container(list, _rebuild_positional, lambda value: cls._fields)
    if issubclass(cls, abc.Mapping):
        mutable = issubclass(cls, abc.MutableMapping)
        rebuild = _rebuild_mutable_mapping if mutable else _rebuild_immutable_mapping
        return Container(_mapping_children, rebuild, sorted)
    if issubclass(cls, (range, abc.MappingView)):
        return Container(list, lambda value, children: children, _indices)
    if issubclass(cls, abc.Sequence):
        return Container(list, _rebuild_sequence, _indices)
    if hasattr(cls, "__attrs_attrs__"):
        names = [attribute.name for attribute in cls.__attrs_attrs__]
        return Container(
            lambda value: [getattr(value, name) for name in names],
            _rebuild_positional,
            lambda value: names,
        )
    if hasattr(cls, "__tf_flatten__") and hasattr(cls, "__tf_unflatten__"):
        return Container(
            lambda value: list(value.__tf_flatten__()[1]),
            lambda value, children: cls.__tf_unflatten__(
                value.__tf_flatten__()[0], tuple(children)
            ),
            lambda value: range(len(value.__tf_flatten__()[1])),
        )
    return None


def is_composite(value):
    return getattr(type(value), "_is_composite", False)


def is_namedtuple_class(cls):
    fields = getattr(cls, "_fields", None)
    return (
        issubclass(cls, tuple)
        and isinstance(fields, tuple)
        and all(isinstance(field, str) for field in fields)
    )


_COMPOSITE = Container(
    lambda value: list(value._components()),
    lambda value, children: value._from_components(children),
    lambda value: range(len(value._components())),
)


def _indices(value):
    return range(len(value))


def _rebuild_sequence(value, children):
    return type(value)(children)


def _rebuild_positional(value, children):
    return type(value)(*children)


def _mapping_children(value):
    return [value[key] for key in sorted(value)]


def _in_own_order(mapping, children):
    """Pairs of key and child in the mapping's key order, from children in sorted key order."""
    by_key = dict(zip(sorted(mapping), children, strict=True))
    return [(key, by_key[key]) for key in mapping]


def _rebuild_mutable_mapping(value, children):
    is_defaultdict = isinstance(value, collections.defaultdict)
    result = type(value)(value.default_factory) if is_defaultdict else type(value)()
    for key, child in _in_own_order(value, children):
        result[key] = child
    return result


def _rebuild_immutable_mapping(value, children):
    try:
        return type(value)(_in_own_order(value, children))
    except TypeError as cause:
        raise TypeError(
            f"Error creating an object of type {type(value)} like {value}. Note that it must "
            "accept a single positional argument representing an iterable of key-value pairs, in "
            f"addition to self. Cause: {cause}"
        ) from cause

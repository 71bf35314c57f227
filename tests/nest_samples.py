"""Containers of every kind, for the tests of nested structures."""

import collections
import dataclasses
import types
from collections import abc

Point = collections.namedtuple("Point", "x y")
OtherPoint = collections.namedtuple("OtherPoint", "x y")
DICT = {"b": 1, "a": 2}


class SubList(list):
    pass


class SubTuple(tuple):
    pass


class SubDict(dict):
    pass


class FrozenMap(abc.Mapping):
    def __init__(self, pairs):
        self.data = dict(pairs)

    def __getitem__(self, key):
        return self.data[key]

    def __iter__(self):
        return iter(self.data)

    def __len__(self):
        return len(self.data)


class CustomSequence(abc.Sequence):
    def __init__(self, items):
        self.items = list(items)

    def __getitem__(self, index):
        return self.items[index]

    def __len__(self):
        return len(self.items)


class Attrs:
    """What the attrs library makes of a class with the fields `b` and `a`."""

    __attrs_attrs__ = (types.SimpleNamespace(name="b"), types.SimpleNamespace(name="a"))

    def __init__(self, b, a):
        self.b = b
        self.a = a

    def __repr__(self):
        return f"Attrs(b={self.b!r}, a={self.a!r})"


@dataclasses.dataclass
class Plain:
    x: object


@dataclasses.dataclass
class Opened:
    x: object
    y: object
    tag: str = "t"

    def __tf_flatten__(self):
        return (self.tag,), (self.x, self.y)

    @classmethod
    def __tf_unflatten__(cls, metadata, components):
        return cls(*components, tag=metadata[0])

"""Fingerprints of datasets: equal for those that are made alike."""

import dis
import hashlib
import os
import types

import numpy as np

from ..core.containers import is_composite
from ..core.dtypes import DType
from ..core.shapes import TensorShape
from ..core.tensor import EagerTensor
from .dataset import Dataset, method

# What is like nothing else is not the same in another run of the program either.
_RUN = os.urandom(8)
# Classes whose `repr` says all.
_SAYING_ALL = bool, int, float, complex, str, bytes, range, slice, DType, TensorShape, type(...)


@method
def fingerprint(self):
    """A number that datasets have in common only if they are made alike.

    Returns:
        A uint64 scalar. Datasets that are made in other ways may have the same elements.
    """
    return EagerTensor(np.uint64(fingerprint_number(self)))


def fingerprint_number(dataset):
    """The fingerprint of a dataset as an int."""
    parts = hashlib.blake2b(digest_size=8)
    _Description(parts.update).add(dataset)
    return int.from_bytes(parts.digest())


class _Description:
    """Says in bytes what a dataset is made of: its class, and what it was made with."""

    def __init__(self, write):
        self._write = write
        self._places = {}
        self._kept = []

    def add(self, thing):
        place = self._places.get(id(thing))
        if place is not None:
            self._say("again", place)
        elif thing is None or isinstance(thing, _SAYING_ALL):
            self._say(type(thing).__name__, repr(thing))
        elif isinstance(thing, types.ModuleType):
            self._say("module", thing.__name__)
        elif isinstance(thing, (tuple, list, dict, set, frozenset)):
            items = thing.items() if isinstance(thing, dict) else thing
            items = sorted(items, key=repr) if isinstance(thing, (set, frozenset)) else items
            self._say(type(thing).__qualname__, len(thing))
            for item in items:
                self.add(item)
        elif isinstance(thing, (np.ndarray, np.generic)):
            self._add_array(np.asarray(thing))
        else:
            self._places[id(thing)] = len(self._places)
            self._kept.append(thing)  # a new object must not get its id
            self._add_object(thing)

    def _say(self, *words):
        self._write("\0".join([*map(str, words), "\n"]).encode())

    def _add_array(self, array):
        self._say("array", array.dtype, array.shape)
        self._write(repr(array.tolist()).encode() if array.dtype == object else array.tobytes())

    def _add_object(self, thing):
        if isinstance(thing, Dataset):
            self._say("dataset", type(thing).__name__)
            self.add(thing._made_with)
        elif isinstance(thing, EagerTensor):
            self._add_array(np.asarray(thing._value))
        elif isinstance(thing, types.FunctionType):
            self._add_function(thing)
        elif isinstance(thing, types.CodeType):
            self._say("code", thing.co_code, thing.co_names, thing.co_varnames)
            self.add(thing.co_consts)
        elif isinstance(thing, types.MethodType):
            self.add((thing.__func__, thing.__self__))
        elif isinstance(thing, (type, types.BuiltinFunctionType)):
            self._say(thing.__module__, thing.__qualname__)
        elif is_composite(thing):
            self.add((type(thing), thing._components()))
        elif hasattr(thing, "_serialize"):
            self.add((type(thing), thing._serialize()))
        else:
            self._say(type(thing), _RUN, id(thing))

    def _add_function(self, function):
        self._say("function")
        self.add(function.__code__)
        self.add((function.__defaults__, function.__kwdefaults__))
        for cell in function.__closure__ or ():
            try:
                self.add(cell.cell_contents)
            except ValueError:  # nothing in it yet
                self._say("empty")
        if (function.__module__ or "").partition(".")[0] == __name__.partition(".")[0]:
            return  # the library's own functions: their globals do not change
        for name in _globals_of(function.__code__):
            self.add((name, function.__globals__.get(name)))


def _globals_of(code):
    """The names of global variables that code uses, and code in it."""
    names = {i.argval for i in dis.get_instructions(code) if i.opname == "LOAD_GLOBAL"}
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names.update(_globals_of(constant))
    return sorted(names)

"""One element of all elements with the same key: group_by_reducer."""

import itertools
from typing import Any

import numpy as np

from ..core.dtypes import int64
from ..core.exports import export
from ..core.spec import TensorSpec
from .dataset import Dataset
from .elements import packer
from .functions import ElementFunction
from .states import StateFunction, first_element

_KEY = TensorSpec((), int64)


@export("data.experimental.Reducer")
class Reducer:
    """How elements with the same key become one, for `group_by_reducer`.

    Args:
        init_func: gives the first state, from the key.
        reduce_func: gives the next state, from a state and an element.
        finalize_func: gives the result, from the last state.
    """

    def __init__(self, init_func, reduce_func, finalize_func):
        self._functions = init_func, reduce_func, finalize_func

    @property
    def init_func(self):
        return self._functions[0]

    @property
    def reduce_func(self):
        return self._functions[1]

    @property
    def finalize_func(self):
        return self._functions[2]


class GroupByReducerDataset(Dataset):
    def __init__(self, source, key_func, reducer):
        super().__init__(source)
        self._input = source
        what = "tf.data.experimental.group_by_reducer()"
        self._key_of = ElementFunction(
            key_func, lambda: source.element_spec, first=lambda: first_element(source), what=what
        )
        if self._key_of.is_known:
            self._check_key(self._key_of.spec)
        self._start = ElementFunction(
            reducer.init_func, lambda: _KEY, first=lambda: (np.int64(0),), what=what
        )
        state = packer(self._start.spec)(self._start(np.int64(0)))
        self._reduce = StateFunction(state, reducer.reduce_func, source, what, has_result=False)
        self._finish = ElementFunction(
            reducer.finalize_func,
            lambda: self._reduce.state_spec,
            first=lambda: next(self._states()),
            what=what,
        )

    def _check_key(self, spec):
        if not spec.is_compatible_with(_KEY):
            raise ValueError(
                "Invalid `key_func`. Expected `key_func` to return a scalar tf.int64 tensor, but "
                f"instead `key_func` returns {spec}."
            )

    @property
    def element_spec(self):
        return self._finish.spec

    def _states(self):
        """The states that all elements lead to, in the order of their keys."""
        states = {}
        for element in self._input._elements():
            found: Any = self._key_of(*element)[0]
            key = int(found)
            if key not in states:
                states[key] = self._start(np.int64(key))
            states[key] = self._reduce(states[key], element)
        return iter([states[key] for key in sorted(states)])

    def _elements(self):
        return _Late(lambda: itertools.starmap(self._finish, self._states()))


class _Late:
    """An iterator that is made when the first item is asked for."""

    def __init__(self, make):
        self._make = make
        self._items = None

    def __iter__(self):
        return self

    def __next__(self):
        if self._items is None:
            self._items = self._make()
        return next(self._items)


@export("data.experimental.group_by_reducer")
def group_by_reducer(key_func, reducer):
    """Makes one element of all elements with the same key.

    Args:
        key_func: gives an int64 scalar, the key of an element.
        reducer: a `Reducer`.

    Returns:
        A function for `Dataset.apply`.

    Raises:
        ValueError: a key is no int64 scalar.
        TypeError: the dtypes of states differ.
    """
    return lambda dataset: GroupByReducerDataset(dataset, key_func, reducer)

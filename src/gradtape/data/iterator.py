"""Iterators over datasets. In a function being traced, each step is an effect of its graph."""

import abc
import threading

from ..core.active import thread
from ..core.effects import perform
from ..core.errors import OutOfRangeError
from ..core.exports import export
from ..core.ragged_spec import RaggedTensorSpec
from ..core.sparse_tensor import SparseTensorSpec
from ..core.spec import TensorSpec
from ..core.tensor import EagerTensor
from .elements import NoneTensorSpec, as_numpy, leaf_specs, packer
from .optional import Optional, OptionalValue
from .specs import (
    ElementsComposite,
    IteratorSpec,
    as_results,
    box,
    from_results,
    leave_trace,
    unboxed,
)


@export("data.Iterator")
class Iterator(abc.ABC):
    """Goes through the elements of a dataset, one at a time."""

    @property
    @abc.abstractmethod
    def element_spec(self):
        """The structure of an element, with specs in the place of tensors."""

    @abc.abstractmethod
    def get_next(self):
        """The next element.

        Raises:
            OutOfRangeError: there is none.
        """

    @abc.abstractmethod
    def get_next_as_optional(self) -> Optional:
        """The next element as an Optional, which is empty if there is none."""


class _AnyIterator(ElementsComposite, Iterator):
    """What the iterators outside and inside of functions have in common."""

    _spec_class = IteratorSpec

    @classmethod
    def _from_tensor(cls, tensor, element_spec):
        if type(tensor) is EagerTensor:
            found = unboxed(tensor._value)
            if isinstance(found, OwnedIterator):
                return found
        return TracedIterator(tensor, element_spec)

    def __iter__(self):
        leave_trace()
        return self

    def __next__(self):
        raise NotImplementedError

    def next(self):
        """As `next(iterator)`."""
        return self.__next__()

    def get_next(self):
        try:
            return self.__next__()
        except StopIteration:
            raise _out_of_range() from None

    def _get_next_by_effect(self):
        """The next element where a function's graph is to get one at every call."""
        if thread.trace is not None:
            # At the end Python decides what to do: `next` may have been given a default.
            thread.trace.graph.handles_errors = True
        try:
            results = perform("IteratorGetNext", _pulled, self._components(), variables=None)
        except OutOfRangeError:
            raise _EndError(None, None, _END) from None
        return from_results(results)

    def get_next_as_optional(self):
        (found,) = perform(
            "IteratorGetNextAsOptional", _pulled_optional, self._components(), variables=None,
            fixed=True,
        )  # fmt: skip
        return OptionalValue._from_tensor(found, self.element_spec)


IteratorSpec.value_type = _AnyIterator


class OwnedIterator(_AnyIterator):
    """What `iter(dataset)` gives."""

    def __init__(self, dataset):
        leave_trace()
        self._dataset = dataset
        self._pull = dataset._elements().__next__
        self._pack = None
        self._lock = threading.RLock()  # threads may share an iterator
        # Steps of an iterator that a call of a function has made are not repeated in that call.
        self._made_in = thread.effects

    @property
    def element_spec(self):
        return self._dataset.element_spec

    def __next__(self):
        if thread.trace is not None or thread.effects is not self._made_in:
            return self._get_next_by_effect()
        try:
            leaves = self._next_leaves()
        except StopIteration:
            if thread.in_function:
                raise _EndError(None, None, _END) from None
            raise
        return self._packed(leaves) if self._pack is None else self._pack(leaves)

    def _packed(self, leaves):
        """The element of some leaves; its structure may be known only when one was there."""
        if self._pack is None:
            self._pack = packer(self._dataset.element_spec)
        return self._pack(leaves)

    def _next_leaves(self):
        """The next element; what computes it is no business of tapes and calls going on."""
        outside = None
        if thread.recorders or thread.effects is not None:
            outside = thread.recorders, thread.effects
            thread.recorders, thread.effects = (), None
        self._lock.acquire()  # `with` would take several times as long
        try:
            return self._pull()
        finally:
            self._lock.release()
            if outside is not None:
                thread.recorders, thread.effects = outside


class TracedIterator(_AnyIterator):
    """An iterator that is an argument of a function being traced."""

    def __init__(self, tensor, element_spec):
        self._tensor = tensor
        self._spec = element_spec

    @property
    def element_spec(self):
        return self._spec

    def _components(self):
        return [self._tensor]

    def __next__(self):
        return self._get_next_by_effect()


_END = "End of sequence [Op:IteratorGetNext] name: "


def _out_of_range():
    return OutOfRangeError(None, None, _END)


class _EndError(OutOfRangeError, StopIteration):
    """The end as `next` tells it in a function, where either of the two errors is expected."""


def _pulled(holder):
    iterator = unboxed(holder)
    try:
        leaves = iterator._next_leaves()
    except StopIteration:
        raise _out_of_range() from None
    return as_results(iterator._packed(leaves))


def _pulled_optional(holder):
    try:
        return (box(unboxed(holder)._next_leaves()),)
    except StopIteration:
        return (box(None),)


@export("data.experimental.get_next_as_optional")
def get_next_as_optional(iterator):
    """The next element of an iterator as an Optional, which is empty if there is none."""
    return iterator.get_next_as_optional()


@export("data.NumpyIterator")
class NumpyIterator:
    """What `as_numpy_iterator` gives: elements with arrays in the place of tensors."""

    def __init__(self, dataset):
        self._iterator = OwnedIterator(dataset)
        self._pack = None

    def __iter__(self):
        return self

    def __next__(self):
        leaves = self._iterator._next_leaves()
        if self._pack is None:
            spec = self._iterator.element_spec
            check_numpy(spec)
            self._pack = packer(spec, as_numpy)
        return self._pack(leaves)

    def next(self):
        """As `next(iterator)`."""
        return self.__next__()

    def __repr__(self):
        return f"NumpyIterator(iterator={self._iterator!r})"


def check_numpy(spec):
    """Raises a TypeError unless all leaves of elements can be arrays."""
    for leaf in leaf_specs(spec):
        if not isinstance(leaf, (TensorSpec, RaggedTensorSpec, SparseTensorSpec, NoneTensorSpec)):
            raise TypeError(
                "`tf.data.Dataset.as_numpy_iterator()` is not supported for datasets that produce "
                f"values of type {leaf.value_type}"
            )

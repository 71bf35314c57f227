"""Functions applied to each element: map, filter, take_while, scan."""

import builtins
import itertools

from ..core.dtypes import bool_
from ..core.errors import InvalidArgumentError
from ..core.exports import export
from ..core.spec import TensorSpec
from .arguments import keeps_order, parallel_calls, warn_of_deterministic
from .dataset import UNKNOWN, Dataset, SameElements, method
from .functions import ElementFunction
from .parallel import ParallelCalls
from .states import StateFunction, first_element


class MapDataset(Dataset):
    def __init__(self, source, function, what="Dataset.map()"):
        super().__init__(source)
        self._input = source
        self._function = ElementFunction(
            function,
            lambda: source.element_spec,
            first=lambda: first_element(source),
            what=what,
            end_error=InvalidArgumentError,
        )
        if self._function.gives_nothing:
            raise InvalidArgumentError(
                None,
                None,
                "Length for attr 'output_types' of 0 must be at least minimum 1 "
                "[Op:MapDataset] name: ",
            )

    @property
    def element_spec(self):
        return self._function.spec

    def _elements(self):
        return itertools.starmap(self._function, self._input._elements())

    def _count(self):
        return self._input._count()


class ParallelMapDataset(MapDataset):
    def __init__(self, source, function, count, in_order):
        super().__init__(source, function)
        self._parallel, self._in_order = count, in_order

    def _elements(self):
        in_order = keeps_order(self, self._in_order)
        return ParallelCalls(self._function, self._input._elements(), self._parallel, in_order)


@method
def map(
    self,
    map_func,
    num_parallel_calls=None,
    deterministic=None,
    synchronous=None,
    use_unbounded_threadpool=False,
    name=None,
):
    """Calls a function with each element; what it returns are the new elements.

    Args:
        map_func: is called with an element, or with its parts if it is a tuple.
        num_parallel_calls: how many calls may run at a time; tf.data.AUTOTUNE to find out. None:
            one after the other.
        deterministic: whether results keep the order of the elements, if calls are parallel. None:
            as the dataset's options say.
        synchronous: whether everything has to run on the thread that iterates.

    Raises:
        ValueError: calls are to be parallel and synchronous.
        InvalidArgumentError: a number of parallel calls below 1.
    """
    if num_parallel_calls is None:
        if deterministic is not None:
            warn_of_deterministic()
        return MapDataset(self, map_func)
    if synchronous:
        raise ValueError(
            "`synchronous` is not supported with `num_parallel_calls`, but "
            "`num_parallel_calls` was set to ",
            num_parallel_calls,
        )
    count = parallel_calls(num_parallel_calls, "ParallelMapDatasetV2")
    in_order = None if deterministic is None else bool(deterministic)
    return ParallelMapDataset(self, map_func, count, in_order)


class _ByPredicate(SameElements):
    """Elements chosen by a function that says True or False of each."""

    def __init__(self, source, predicate, what):
        super().__init__(source)
        self._predicate = ElementFunction(
            predicate, lambda: source.element_spec, first=lambda: first_element(source), what=what
        )
        if self._predicate.is_known:
            _check_predicate(self._predicate.spec)

    def _holds(self, leaves):
        return self._predicate(*leaves)[0]

    def _count(self):
        return UNKNOWN


def _check_predicate(spec):
    if not spec.is_compatible_with(TensorSpec((), bool_)):
        raise ValueError(
            "Invalid `predicate`. `predicate` must return a `tf.bool` scalar tensor, but its "
            f"return type is {spec}."
        )


class FilterDataset(_ByPredicate):
    def __init__(self, source, predicate):
        super().__init__(source, predicate, "Dataset.filter()")

    def _elements(self):
        return builtins.filter(self._holds, self._input._elements())


@method
def filter(self, predicate, name=None):
    """The elements of which a function says True.

    Raises:
        ValueError: the function does not return a bool scalar.
    """
    return FilterDataset(self, predicate)


class TakeWhileDataset(_ByPredicate):
    def __init__(self, source, predicate):
        super().__init__(source, predicate, "Dataset.take_while()")

    def _elements(self):
        return _While(self._holds, self._input._elements())


class _While:
    """itertools.takewhile that ends for good, and survives errors."""

    def __init__(self, holds, items):
        self._holds, self._items = holds, items

    def __iter__(self):
        return self

    def __next__(self):
        item = next(self._items)
        if self._holds(item):
            return item
        self._items = iter(())
        raise StopIteration


@method
def take_while(self, predicate, name=None):
    """The elements up to the first one of which a function says False.

    Raises:
        ValueError: the function does not return a bool scalar.
    """
    return TakeWhileDataset(self, predicate)


class ScanDataset(Dataset):
    def __init__(self, source, initial_state, function):
        super().__init__(source)
        self._input = source
        self._function = StateFunction(initial_state, function, source, "Dataset.scan()", True)

    @property
    def element_spec(self):
        return self._function.result_spec

    def _elements(self):
        return _Scan(self._function, self._input._elements())

    def _count(self):
        return self._input._count()


class _Scan:
    def __init__(self, function, items):
        self._function, self._items = function, items
        self._state = function.start

    def __iter__(self):
        return self

    def __next__(self):
        self._state, result = self._function(self._state, next(self._items))
        return result


@method
def scan(self, initial_state, scan_func, name=None):
    """Calls a function with a state and each element; it returns the next state and a result.

    Args:
        initial_state: a structure of tensors, the first state.
        scan_func: `scan_func(state, element)`, a pair of the new state and a result, which is
            the new element.

    Raises:
        TypeError: the function returns something else, or a state of other dtypes.

    Example:
        >>> sums = Dataset.range(1, 4).scan(np.int64(0), lambda total, x: (total + x, total + x))
        >>> [int(x) for x in sums]
        [1, 3, 6]
    """
    return ScanDataset(self, initial_state, scan_func)


@export("data.experimental.scan")
def experimental_scan(initial_state, scan_func):
    """`Dataset.scan` as a function for `Dataset.apply`."""
    return lambda dataset: dataset.scan(initial_state, scan_func)


@export("data.experimental.take_while")
def experimental_take_while(predicate):
    """`Dataset.take_while` as a function for `Dataset.apply`."""
    return lambda dataset: dataset.take_while(predicate)


@export("data.experimental.map_and_batch")
def map_and_batch(
    map_func, batch_size, num_parallel_batches=None, drop_remainder=False, num_parallel_calls=None
):
    """`Dataset.map` and `Dataset.batch` as one function for `Dataset.apply`.

    Raises:
        ValueError: both numbers of parallel things are given.
    """
    if num_parallel_batches is None and num_parallel_calls is None:
        num_parallel_calls = 1
    elif num_parallel_calls is not None and num_parallel_batches is not None:
        raise ValueError(
            "`map_and_batch` allows only one of `num_parallel_batches` and `num_parallel_calls` "
            "to be set, but `num_parallel_batches` was set to "
            f"{num_parallel_batches} and `num_parallel_calls` was set to {num_parallel_calls}."
        )

    def apply(dataset):
        mapped = dataset.map(map_func, num_parallel_calls or num_parallel_batches * batch_size)
        return mapped.batch(batch_size, drop_remainder)

    return apply

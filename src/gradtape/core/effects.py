"""Effects: what happens at every call of a function, and not only when it is traced.

Printing, drawing random numbers, calling Python functions, reading files: outside of a function
such a thing is simply done; while one is traced it is done and becomes part of the graph.
"""

import functools

import numpy as np

from . import nest
from .active import thread
from .convert import convert_to_tensor
from .tensor import EagerTensor, Tensor
from .variable import Variable


def perform(name, function, tensors=(), *, variables=(), rehearsable=False, fixed=False):
    """Calls a function for what it does.

    Args:
        name: what it is called in print.
        function: from arrays to a tuple of arrays.
        tensors: its arguments, eager or traced.
        variables: those it may look at or change; None for any.
        rehearsable: whether calling it once more, with other arguments, does no harm.
        fixed: whether the shapes of its results are the same at every call.

    Returns:
        The results, as a list of tensors.

    Raises:
        TypeError: an argument stands for all elements of a vectorized_map.
    """
    for x in tensors:
        if hasattr(x, "_inner"):
            raise TypeError(f"{name} needs the value of a tensor, but {x!r} stands for several.")
    if thread.trace is not None:
        return thread.trace.effect(
            name, function, tensors, variables=variables, rehearsable=rehearsable, fixed=fixed
        )
    arrays = [x._known() for x in tensors]
    done, thread.effects = thread.effects, None
    try:
        results = function(*arrays) if done is None else done.run(function, arrays)
    finally:
        thread.effects = done
    return [EagerTensor(each) for each in results]


def is_deferred():
    """Whether effects are to be done by `perform`: they may come again, or not come again."""
    return thread.trace is not None or thread.effects is not None


def real_value(tensor):
    """The array of an eager or traced tensor in this very call: nothing to base a graph on."""
    return getattr(tensor._value, "_real", tensor._value)


def boxed(thing):
    """An array with any object for its only element, by which effects pass it on."""
    box = np.empty((), object)
    box[()] = thing
    return box


def performed(name, *, pure=False):
    """A decorator for functions that look at the values of tensors: in a graph, an effect each.

    Args:
        name: TensorFlow's op type.
        pure: whether the result follows from the arguments alone.
    """

    def decorate(function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            if not is_deferred():
                return function(*args, **kwargs)
            leaves = nest.flatten((args, kwargs), expand_composites=True)
            tensors = [convert_to_tensor(x) for x in leaves if isinstance(x, (Tensor, Variable))]
            if pure and all([type(x) is EagerTensor for x in tensors]):
                return function(*args, **kwargs)

            def run(*arrays):
                values = iter(arrays)
                given = [
                    EagerTensor(next(values)) if isinstance(x, (Tensor, Variable)) else x
                    for x in leaves
                ]
                own_args, own_kwargs = nest.pack_sequence_as(
                    (args, kwargs), given, expand_composites=True
                )
                result = function(*own_args, **own_kwargs)
                flat = nest.flatten(result, expand_composites=True)
                found = [x._value for x in flat if isinstance(x, Tensor)]
                return (*found, boxed(result))

            *found, box = perform(name, run, tensors, rehearsable=pure)
            result = real_value(box).item()
            flat, found = nest.flatten(result, expand_composites=True), iter(found)
            flat = [next(found) if isinstance(x, Tensor) else x for x in flat]
            return nest.pack_sequence_as(result, flat, expand_composites=True)

        return wrapper

    return decorate

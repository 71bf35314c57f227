"""How variables come to be: their modes, and functions that take part in creating them."""

import contextlib
import enum
import inspect
import threading
from collections.abc import Callable
from typing import Any


class VariableSynchronization(enum.Enum):
    """When the copies of a variable that is spread over devices are brought together."""

    AUTO = 0
    NONE = 1
    ON_WRITE = 2
    ON_READ = 3


class VariableAggregation(enum.Enum):
    """How they are brought together."""

    NONE = 0
    SUM = 1
    MEAN = 2
    ONLY_FIRST_REPLICA = 3


def checked_modes(synchronization, aggregation, name):
    """Both as members of their classes, the defaults where they are None.

    Raises:
        ValueError: there is no such mode.
    """
    modes = []
    for kind, value, word in (
        (VariableSynchronization, synchronization, "synchronization"),
        (VariableAggregation, aggregation, "aggregation"),
    ):
        try:
            modes.append(kind(0 if value is None else value))
        except ValueError:
            raise ValueError(
                f"Invalid variable {word} mode: {value} for variable: {name}"
            ) from None
    return tuple(modes)


class _Thread(threading.local):
    creators: tuple = ()


_thread = _Thread()


@contextlib.contextmanager
def variable_creator_scope(variable_creator):
    """Lets a function create the variables of a block of code.

    Args:
        variable_creator: is called as `variable_creator(next_creator, **kwargs)` with the arguments
            of tf.Variable, and returns a variable; usually that of `next_creator(**kwargs)`, which
            is the creator of the scope around this one or in the end the class itself.
    """
    outer = _thread.creators
    _thread.creators = (*outer, variable_creator)
    try:
        yield
    finally:
        _thread.creators = outer


class CreatedInScopes(type):
    """The class of classes whose instances are made by the creators of the scopes around.

    Such a class says with `_concrete()` which class its instances have.
    """

    def __call__(cls, *args, **kwargs):
        creators = _thread.creators
        if not creators:
            return super().__call__(*args, **kwargs)
        init = cls._concrete().__init__  # pyright: ignore[reportAttributeAccessIssue]
        bound = inspect.signature(init).bind(None, *args, **kwargs)
        bound.apply_defaults()
        given = {name: value for name, value in bound.arguments.items() if name != "self"}
        create: Callable[..., Any] = super().__call__
        for creator in creators:
            create = _with_next(creator, create)
        return create(**given)


def _with_next(creator, next_creator):
    return lambda **kwargs: creator(next_creator, **kwargs)

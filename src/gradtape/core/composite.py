"""Composite: values made of several tensors that take part in ops in their own way.

Dispatch hands an op over to a composite among its inputs just as it does to a batched tensor:
`_dispatch` looks up, by the op's name, what the class does with it. So the functions that convert
their arguments with `operand` work on composites without knowing any of them. Functions that are no
single op are `open_to_composites` where a composite has its own way with them.
"""

import functools
from collections.abc import Callable
from typing import Any, ClassVar

from .exports import complete


class Composite:
    """A value made of tensors; each subclass has a table `_handlers` of what ops do with it.

    A handler is called as `handler(op, inputs, attrs)`. Ops without one go to `_other_op`.
    """

    _is_composite = True
    _is_sparse_update = False
    _dispatch_level = 1
    _level = 1 << 30  # acts before any batched tensor inside of it does
    __array_priority__ = 100
    __slots__ = ("__weakref__",)
    _handlers: ClassVar[dict[str, Callable[..., Any]]]
    _functions: ClassVar[dict[str, Callable[..., Any]]]
    # The public name of a class that files loaded on demand add methods to, until they are loaded.
    _incomplete: ClassVar[str | None] = None

    def __new__(cls, *args, **kwargs):
        if cls._incomplete is not None:
            complete(cls._incomplete)
            cls._incomplete = None
        return object.__new__(cls)

    def _dispatch(self, op, inputs, attrs):
        handler = self._handlers.get(op.name)
        return self._other_op(op, inputs, attrs) if handler is None else handler(op, inputs, attrs)

    def _other_op(self, op, inputs, attrs):
        raise self._no_tensor()

    def _differentiable_components(self, role):
        """The tensors that stand for it as a target, or all components of it as a source."""
        raise ValueError(
            f"Type {type(self).__name__} is not supported as a gradient source or gradient target."
        )

    def _to_tensor(self, dtype):
        raise self._no_tensor()

    @property
    def _value(self):
        """What an op reads that knows only tensors."""
        raise self._no_tensor()

    def _no_tensor(self):
        return ValueError(
            f"Attempt to convert a value ({self!r}) with an unsupported type ({type(self)}) "
            "to a Tensor."
        )

    def __init_subclass__(cls):
        cls._handlers = {}
        cls._functions = {}


def open_to_composites(function):
    """A public function that a composite given first may carry out itself, by its `_functions`."""

    @functools.wraps(function)
    def opened(*args, **kwargs):
        first = args[0] if args else next(iter(kwargs.values()), None)
        if isinstance(first, Composite):
            own = first._functions.get(function.__name__)
            if own is not None:
                return own(*args, **kwargs)
        return function(*args, **kwargs)

    return opened


def own_function(composite, name):
    """What a composite does in place of a public function; an error if it has no way with it."""
    own = composite._functions.get(name)
    if own is None:
        raise composite._no_tensor()
    return own

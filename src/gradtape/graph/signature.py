"""How calls are taken apart: arguments bound to parameters, tensors told apart by shape and dtype.

All else is told apart by value or identity, and is part of the key under which a trace is known.
"""

import functools
import inspect

import numpy as np

from ..core.convert import convert_to_tensor
from ..core.tensor import Tensor
from ..core.variable import Variable
from .derivative import outline_of
from .keys import PLAIN, Weak, opened, plain_key, weakly
from .kinds import CALL, Branch, kind_of, kind_text
from .number_inputs import as_input, as_number, may_vary

_ANY = "any"
_POSITIONAL = inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD


class Call:
    """The arguments of one call, taken apart.

    Args:
        args, kwargs: in the order of the function's signature, defaults filled in.
        names: of the parameters given by position.
        remember: the key of an object that is told apart by identity.
        varying: positions in the key at which numbers are inputs.

    Attributes:
        key: equal for calls that one trace serves.
        tensors: what varies among those.
        names: what to call each tensor.
        has_numbers: whether some tensors stand for Python numbers.
    """

    __slots__ = ("_parts", "_varying", "args", "has_numbers", "key", "kwargs", "names", "tensors")

    def __init__(self, args, kwargs, names, remember, varying=frozenset()):
        self.args, self.kwargs = args, kwargs
        self.tensors, self.names = [], []
        self.has_numbers = False
        self._varying = varying
        self._parts = []
        for i, item in enumerate(args):
            self._take(item, names[i] if i < len(names) else "args", remember)
        if kwargs:
            self._parts.append(("keywords", tuple(kwargs)))
            for name, item in kwargs.items():
                self._take(item, name, remember)
        self.key = tuple(self._parts)

    def _take(self, item, name, remember):
        """Adds what tells `item` apart to the key, and its tensors to this call's."""
        kind, parts = type(item), self._parts
        if isinstance(item, Tensor):
            value = item._value
            parts.append((value.dtype, value.shape))
            self.tensors.append(item)
            self.names.append(name)
        elif kind in PLAIN:
            if len(parts) in self._varying and may_vary(item):
                parts.append((kind, _ANY))
                self.tensors.append(as_input(item))
                self.names.append(name)
                self.has_numbers = True
            else:
                parts.append(plain_key(item))
        elif isinstance(item, Variable):
            parts.append(("variable", item._handle.id))
        elif isinstance(item, (np.ndarray, np.generic)):
            self._take(convert_to_tensor(item), name, remember)
        else:
            container = opened(item)
            if container is None:
                parts.append(remember(item))
                return
            children = container.children(item)
            keys = container.keys(item)
            is_composite = getattr(item, "_is_composite", False)
            if is_composite and hasattr(item, "_key_class"):
                kind = item._key_class()
            parts.append((kind, keys if isinstance(keys, (range, int)) else tuple(keys)))
            if is_composite:
                parts.append(_static_facts(item))
            for child in children:
                self._take(child, name, remember)

    def outline(self):
        """The arguments, without what varies and without keeping objects alive."""
        varies = self.varying_numbers()
        args, values = tuple(self.args), tuple(self.kwargs.values())
        return _outline(args, varies), tuple(self.kwargs), _outline(values, varies)

    def varying_numbers(self):
        """Says of each number among the arguments, in turn, whether it is an input."""
        return iter([part[1] is _ANY for part in self._parts if is_number_part(part)])


def is_number_part(part):
    """Whether a part of a key stands for an int or a float, known or not."""
    return part[0] is int or part[0] is float


def _static_facts(item):
    """What two composites of one class must have in common besides their tensors."""
    texts = getattr(item, "_leaf_texts", None)
    return "facts", () if texts is None else tuple(texts())


class _NumberPlace:
    """Where a number that is an input stands in the outline of a call."""

    __slots__ = ("cls",)

    def __init__(self, cls):
        self.cls = cls


def _outline(item, varies):
    """A part of an outline; `varies` says of each number in turn whether it is an input."""
    if isinstance(item, Tensor):
        return outline_of(item)
    if isinstance(item, (np.ndarray, np.generic)):
        return outline_of(convert_to_tensor(item))
    if type(item) in PLAIN:
        if type(item) in (int, float) and next(varies):
            return _NumberPlace(type(item))
        return item
    if isinstance(item, Variable):
        return item
    container = opened(item)
    if container is None:
        return weakly(item)
    children = [_outline(child, varies) for child in container.children(item)]
    return container.rebuild(item, children)


def filled(outline, tensors):
    """The arguments that an outline was made of, with these tensors, taken in order."""
    if isinstance(outline, Tensor):
        return next(tensors)
    kind = type(outline)
    if kind in PLAIN or isinstance(outline, Variable):
        return outline
    if kind is _NumberPlace:
        return as_number(next(tensors), outline.cls)
    if isinstance(outline, Weak):
        return outline.get()
    container = opened(outline)
    if container is None:
        return outline
    children = [filled(child, tensors) for child in container.children(outline)]
    return container.rebuild(outline, children)


class Parameters:
    """The parameters of a Python function, to which arguments are bound.

    Args:
        function: the function.
        skip: how many leading parameters are given elsewhere, as `self` is.
        signature: that of the function, if it is known.

    Attributes:
        signature: those parameters.
        names: of those that are given by position.
    """

    def __init__(self, function, skip=0, signature=None):
        if signature is None:
            signature = _signature_of(function)
        parameters = list(signature.parameters.values())
        if parameters and parameters[0].kind in _POSITIONAL:
            parameters = parameters[skip:]
        self.signature = signature.replace(parameters=parameters)
        self.names = [p.name for p in parameters if p.kind in _POSITIONAL]
        # What is not written in Python may tell a default from the same value given.
        self._fills_in = _is_python(function)
        kinds = [p.kind for p in parameters]
        self.takes_keywords = inspect.Parameter.VAR_KEYWORD in kinds
        # Without *args and such, arguments are bound by name alone.
        usual = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY
        self._is_usual = self._fills_in and all([kind in usual for kind in kinds])
        self._by_keyword = [p.name for p in parameters if p.kind is usual[1]]
        self._defaults = {p.name: p.default for p in parameters if p.default is not p.empty}

    def bind(self, args, kwargs, text=None):
        """The arguments by position and by keyword, defaults filled in.

        Args:
            args, kwargs: what the caller gave.
            text: gives the signature as errors show it, if that is not `text()`.

        Raises:
            TypeError: they do not fit the signature.
        """
        quickly = self._bound_by_name(args, kwargs) if self._is_usual else None
        if quickly is not None:
            return quickly
        try:
            bound = self.signature.bind(*args, **kwargs)
        except TypeError as error:
            raise binding_error(error, args, kwargs, (text or self.text)()) from None
        if self._fills_in:
            bound.apply_defaults()
        return bound.args, self.in_order(bound.kwargs)

    def _bound_by_name(self, args, kwargs):
        """What `bind` gives, in the usual cases; None in others, and if something is wrong."""
        names, count = self.names, len(args)
        if not kwargs and count == len(names) and not self._by_keyword:
            return args, kwargs
        if count > len(names):
            return None
        given = {**self._defaults, **kwargs}
        used = 0
        found = list(args)
        by_keyword = {}
        for name in names[:count]:
            if name in kwargs:
                return None
        for name in (*names[count:], *self._by_keyword):
            if name not in given:
                return None
            used += name in kwargs
            if name in names:
                found.append(given[name])
            else:
                by_keyword[name] = given[name]
        return (tuple(found), by_keyword) if used == len(kwargs) else None

    def in_order(self, kwargs):
        """Keyword arguments in an order that is the same for all calls."""
        if self.takes_keywords:
            named = [name for name in kwargs if name in self.signature.parameters]
            return {name: kwargs[name] for name in (*named, *sorted(kwargs.keys() - {*named}))}
        return kwargs

    def text(self, kinds=None):
        """The parameters as TensorFlow prints them, with the kinds of some by name."""
        shown = []
        for parameter in self.signature.parameters.values():
            name = parameter.name
            kind = None if kinds is None else kinds.get(name)
            has_default = parameter.default is not inspect.Parameter.empty
            annotation = inspect.Parameter.empty if kind is None else _Shown(kind_text(kind))
            default = _Shown("<captured_default_value>") if has_default else parameter.default
            shown.append(parameter.replace(annotation=annotation, default=default))
        return str(inspect.Signature(shown))

    def kind_of_call(self, args, kwargs):
        """The kind of bound arguments: a Branch by the names of the parameters."""
        names = self.names_of(len(args), kwargs)
        children = [kind_of(item) for item in (*args, *kwargs.values())]
        return Branch(CALL, tuple(names), tuple(children))

    def names_of(self, count, keywords):
        """A name for each bound argument; those of `*rest` are `rest_0`, `rest_1`, …"""
        names = self.names[:count]
        names += [f"{self.rest_name}_{i}" for i in range(count - len(names))]
        return [*names, *keywords]

    @property
    def rest_name(self):
        """The name of `*args`; None if there is no such parameter."""
        variable = inspect.Parameter.VAR_POSITIONAL
        parameters = self.signature.parameters.values()
        return next((p.name for p in parameters if p.kind is variable), None)


def _is_python(function):
    while isinstance(function, functools.partial):
        function = function.func
    called = getattr(function, "__func__", function)
    if not hasattr(called, "__code__"):
        called = vars(type(called)).get("__call__")
    return function is None or hasattr(called, "__code__") or isinstance(function, type)


def _signature_of(function):
    try:
        return inspect.signature(function)
    except (TypeError, ValueError):  # not every built-in function tells
        return inspect.signature(lambda *args, **kwargs: None)


class _Shown:
    """A text that is its own repr."""

    def __init__(self, text):
        self._text = text

    def __repr__(self):
        return self._text


def binding_error(cause, args, kwargs, signature, more=""):
    """TensorFlow's error for arguments that do not fit."""
    return TypeError(
        f"Binding inputs to tf.function failed due to `{cause}`. Received args: {args} and "
        f"kwargs: {kwargs} for signature: {signature}.{more}"
    )

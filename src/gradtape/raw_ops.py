"""tf.raw_ops: each op of the table by TensorFlow's op type and argument names.

The functions are made when they are first asked for, from what the row says of its arguments: its
`raw` (see `core.op`) or, without one, the names of its inputs and attributes.
"""

import ast
import collections
import inspect
import re
import sys
from typing import Any as _Any  # `Any` is an op type

import numpy as np

from .core import dtypes, op as op_table
from .core.convert import convert_to_tensor, operand, operands
from .core.dispatch import apply
from .core.errors import invalid_argument
from .core.exports import export
from .core.op import OPS, find_op
from .core.shapes import TensorShape
from .namespaces import missing_attribute

export("raw_ops", sys.modules[__name__])

_REQUIRED = inspect.Parameter.empty
_HINT = "_"
_DTYPES = ("DstT", "dtype", "out_type", "type")  # arguments that name a dtype, without a default
_Argument = collections.namedtuple("_Argument", "name own default")


def __getattr__(name) -> _Any:
    op = None if name.startswith("_") else find_op(name)
    if op is None or op.raw is False:
        raise missing_attribute(sys.modules[__name__], name)
    function = globals()[name] = _make(op)
    return function


def __dir__():
    op_table.declare_the_rest()
    return sorted([name for name, op in OPS.items() if op.raw is not False])


def _make(op):
    """The function of one op, which takes keywords alone."""
    if callable(op.raw):
        signature, compute = _signature_of(op.raw), op.raw
    else:
        arguments, results = _parse(op)
        signature = _signature([(a.name, a.default) for a in arguments if a.name])
        compute = _computing(op, arguments, results)
    keys = list(signature.parameters)

    def raw_op(*args, **kwargs):
        if args:
            raise TypeError(
                f"{op.name} only takes keyword args (possible keys: {keys}). Please pass these "
                "args as kwargs instead."
            )
        try:
            bound = signature.bind(**kwargs)
        except TypeError as error:
            raise TypeError(f"{op.name}() {error}") from None
        bound.apply_defaults()
        given = bound.arguments
        del given["name"]
        return compute(**given)

    raw_op.__name__ = raw_op.__qualname__ = op.name
    raw_op.__doc__ = f"Applies the op `{op.name}`; its arguments are keywords."
    raw_op.__signature__ = signature  # pyright: ignore[reportFunctionMemberAccess]
    return raw_op


def _signature(pairs):
    """Keyword-only parameters with these defaults, and `name`."""
    kind = inspect.Parameter.KEYWORD_ONLY
    pairs = [(name, _shown(default)) for name, default in pairs if name != "name"]
    return inspect.Signature(
        [inspect.Parameter(name, kind, default=default) for name, default in [*pairs, _NAME]]
    )


_NAME = ("name", None)


def _shown(default):
    """A default as TensorFlow has it: lists and text, where rows have tuples and bytes."""
    if isinstance(default, tuple):
        return list(default)
    return default.decode() if isinstance(default, bytes) else default


def _signature_of(function):
    parameters = inspect.signature(function).parameters.values()
    return _signature([(p.name, p.default) for p in parameters])


# What a row says ----------------------------------------------------------------------------------


def _parse(op):
    """The arguments of a row in TensorFlow's order, and the names of its results."""
    if op.raw is None:
        own = [_Argument(name.lstrip("*"), name.lstrip("*"), _REQUIRED) for name in op.inputs]
        return own + _attributes(op), ()
    text, _, results = op.raw.partition("->")
    items = [item.strip() for item in re.split(r",(?![^\[]*\])", text)]
    return [_argument(item) for item in items if item], tuple(results.replace(",", " ").split())


def _attributes(op):
    """The attributes of a row, which its infer takes as keywords."""
    parameters = inspect.signature(op.infer).parameters.values()
    own = [p for p in parameters if p.kind is inspect.Parameter.KEYWORD_ONLY]
    return [_Argument(p.name, p.name, p.default) for p in own]


def _argument(item):
    """One argument: `name:own=default`, of which `:own` and `=default` may be left out."""
    names, is_optional, default = item.partition("=")
    name, differs, own = names.partition(":")
    return _Argument(name, own if differs else name, _value(default) if is_optional else _REQUIRED)


def _value(text):
    text = text.strip()
    if text.startswith("tf."):
        return dtypes.as_dtype(text.removeprefix("tf."))
    return ast.literal_eval(text)


# Calling it ---------------------------------------------------------------------------------------


def _computing(op, arguments, results):
    inputs = [name.lstrip("*") for name in op.inputs]
    fixed = {a.own: a.default for a in arguments if not a.name}
    names = {a.own: a.name for a in arguments if a.own in inputs}
    attributes = [a for a in arguments if a.name and a.own not in (*inputs, _HINT)]
    many_axes = any([a.own == "keepdims" for a in arguments])  # a reduction's axes are a tuple
    kind = collections.namedtuple(op.name, results) if len(results) > 1 else None

    def compute(**given):
        attrs = dict(fixed)
        for argument in attributes:
            value = _static(op.name, argument, given[argument.name])
            if argument.own:
                attrs[argument.own] = value
            elif value != argument.default:
                raise invalid_argument(
                    op.name,
                    f"The argument {argument.name} can only be {argument.default!r} here. "
                    f"Received: {value!r}",
                )
        if many_axes and type(attrs.get("axis")) is int:
            attrs["axis"] = (attrs["axis"],)
        out = apply(op, _tensors(op, [given[names[own]] for own in inputs]), attrs)
        if op.outputs == 1:
            return out
        return list(out) if op.outputs < 0 else tuple(out) if kind is None else kind(*out)

    return compute


def _is_floating(value):
    return hasattr(value, "dtype") and dtypes.as_dtype(value.dtype).is_differentiable


def _tensors(op, values):
    """The inputs as tensors; Python numbers take the dtype of tensors beside them."""
    if op.variadic:
        (values,) = values
        if not isinstance(values, (list, tuple)):
            raise TypeError(
                f"Expected list for argument of op {op.name!r}, not {type(values).__name__}."
            )
        return operands(*values) if values else ()
    if op.accepts is not None:
        return operands(*values)
    floating = next((v for v in values if _is_floating(v)), None)
    return tuple([operand(v, floating if type(v) is float else None) for v in values])


def _static(op_name, argument, value):
    """An attribute as rows take it: numbers and tuples of them, names, NumPy's dtypes."""
    if isinstance(argument.default, dtypes.DType) or isinstance(value, (dtypes.DType, np.dtype)):
        dtype = dtypes.as_dtype(value)
        return dtype.numpy_dtype if argument.own else dtype
    if argument.name in _DTYPES:
        return dtypes.as_dtype(value).numpy_dtype
    if isinstance(argument.default, bytes):
        return value.encode() if isinstance(value, str) else value
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, TensorShape):
        return tuple(value.as_list())
    if isinstance(value, (list, tuple)) and not value:
        return ()
    if isinstance(value, (list, tuple)) and all([isinstance(v, str) for v in value]):
        return tuple(value)
    array = np.asarray(convert_to_tensor(value))
    if array.size and array.dtype.kind == "f" and argument.default is _REQUIRED:
        word = dtypes.of_numpy(array.dtype).runtime_word
        raise invalid_argument(
            op_name, f"The argument {argument.name} takes integers. Received: a {word} tensor"
        )
    return _tuples(array.tolist())


def _tuples(value):
    return tuple([_tuples(item) for item in value]) if isinstance(value, list) else value

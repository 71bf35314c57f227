"""NumPy's own functions as recorded ops: what `tf.config.numpy_dispatch(True)` installs.

NumPy asks the classes of its arguments for `__array_ufunc__` and `__array_function__`. While the
switch is on tensors and variables have them, and answer with the function of the same name in
tf.experimental.numpy.
"""

import inspect

import numpy as np

import gradtape as tf

from ..core.tensor import Tensor
from ..core.variable import Variable
from . import creation, pairs, products, reductions  # noqa: F401 - they enter functions
from .more_functions import LINALG, MORE, PLAIN, UFUNCS
from .names import NAMES
from .promotion import is_tensor, numpy_dtype, promoted_dtype

_CLASSES = (Tensor, Variable)
_ORDER_OF_KINDS = "biufc"
_REDUCE = {
    "add": "sum",
    "multiply": "prod",
    "maximum": "max",
    "minimum": "min",
    "logical_and": "all",
    "logical_or": "any",
}
_ACCUMULATE = {"add": "cumsum", "multiply": "cumprod"}
_HARMLESS = {"casting", "order", "subok"}  # they change no value that is not an error


def install():
    """Makes NumPy's functions on tensors and variables recorded ops."""
    for cls in _CLASSES:
        for name, method in _METHODS.items():
            setattr(cls, name, method)


def remove():
    """Makes them give arrays again."""
    for cls in _CLASSES:
        for name in _METHODS:
            if name in vars(cls):
                delattr(cls, name)


def _refused(what, reason):
    return TypeError(
        f"{what} on a tensor cannot be recorded while tf.config.numpy_dispatch is on: {reason}. "
        "Use an op of tf or tf.experimental.numpy, or pass tensor.numpy() to end the gradient here."
    )


# ufuncs -------------------------------------------------------------------------------------------


def _array_ufunc(self, ufunc, method, *inputs, **kwargs):
    shown = f"np.{ufunc.__name__}" + ("" if method == "__call__" else f".{method}")
    for name in ("out", "where"):
        if kwargs.get(name) is not None and kwargs[name] is not True:
            raise _refused(shown, f"the argument `{name}` is not supported, tensors are immutable")
    options = {k: v for k, v in kwargs.items() if k not in (*_HARMLESS, "out", "where")}
    inputs = _in_dtype_of_tensors(inputs)
    if options.get("dtype") is not None and method == "__call__":
        dtype = numpy_dtype(options.pop("dtype"))
        inputs = [tf.cast(x, dtype) if is_tensor(x) else np.asarray(x, dtype) for x in inputs]
    if method == "reduce":
        return _along_axis(_REDUCE, ufunc, shown, inputs, options, {"axis", "dtype", "keepdims"})
    if method == "accumulate":
        return _along_axis(_ACCUMULATE, ufunc, shown, inputs, options, {"axis", "dtype"})
    function = UFUNCS.get(ufunc.__name__) or NAMES.get(ufunc.__name__)
    if function is None:
        raise _refused(shown, "there is no op for it")
    options.pop("dtype", None)
    if options:
        raise _refused(shown, f"the argument `{min(options)}` is not supported")
    if method == "__call__":
        return function(*inputs)
    if method == "outer":
        first, second = [NAMES["asarray"](x) for x in inputs]
        return function(tf.reshape(first, [*first.shape, *[1] * second.ndim]), second)
    raise _refused(shown, "there is no op for it")


def _along_axis(table, ufunc, shown, inputs, options, known):
    name = table.get(ufunc.__name__)
    if name is None:
        raise _refused(shown, "there is no op for it")
    given = {k: v for k, v in options.items() if v is not np._NoValue}
    options = {k: v for k, v in given.items() if v is not None or k == "axis"}
    unknown = set(options) - known
    if name in ("max", "min", "all", "any"):
        unknown |= set(options) & {"dtype"}
    if unknown:
        raise _refused(shown, f"the argument `{min(unknown)}` is not supported")
    return NAMES[name](*inputs[:1], **{"axis": inputs[1] if len(inputs) > 1 else 0, **options})


def _in_dtype_of_tensors(inputs):
    """Arrays in the dtype of the tensors beside them, if they are of no higher kind.

    So `array * tensor` gives the same with the switch on as with it off.
    """
    dtype = promoted_dtype(*[x for x in inputs if is_tensor(x)])
    if dtype.kind not in "fc":
        return list(inputs)
    return [
        x.astype(dtype)
        if isinstance(x, (np.ndarray, np.generic))
        and x.dtype.kind in _ORDER_OF_KINDS
        and _ORDER_OF_KINDS.index(x.dtype.kind) <= _ORDER_OF_KINDS.index(dtype.kind)
        else x
        for x in inputs
    ]


# Functions ----------------------------------------------------------------------------------------


def _array_function(self, func, types, args, kwargs):
    module = func.__module__.removeprefix("numpy").lstrip(".")
    shown = f"np.{module}.{func.__name__}" if module else f"np.{func.__name__}"
    if shown in PLAIN:
        args, kwargs = tf.nest.map_structure(_as_array, (list(args), kwargs))
        return func(*args, **kwargs)
    table = {"": {**NAMES, **MORE}, "linalg": LINALG}.get(module, {})
    function = table.get(func.__name__)
    if function is None:
        raise _refused(shown, "there is no op for it")
    given, named = _translated(shown, func, function, args, kwargs)
    return function(*given, **named)


def _as_array(x):
    return np.asarray(x) if is_tensor(x) else x


def _translated(shown, func, function, args, kwargs):
    """The arguments of NumPy's function, in the order of the parameters of ours."""
    wanted = list(inspect.signature(function).parameters.values())
    try:
        signature = inspect.signature(func)
    except ValueError:  # a function written in C
        return _by_name(shown, wanted, list(args), kwargs)
    bound = signature.bind(*args, **kwargs)
    given, named = [], {}
    for name, parameter in signature.parameters.items():
        if parameter.kind is parameter.VAR_POSITIONAL:
            given.extend(bound.arguments.get(name, ()))
        elif parameter.kind is parameter.VAR_KEYWORD:
            named.update(bound.arguments.get(name, {}))
        elif parameter.default is parameter.empty:
            given.append(bound.arguments[name])
        elif _is_given(bound.arguments, name, parameter.default):
            named[name] = bound.arguments[name]
        elif name in [p.name for p in wanted if p.default is p.empty]:
            named[name] = parameter.default
    return _by_name(shown, wanted, given, named)


def _is_given(arguments, name, default):
    value = arguments.get(name, default)
    return value is not default and value is not np._NoValue and not _is_default(value, default)


def _is_default(value, default):
    kinds = (bool, int, float, str, type(None))
    return isinstance(value, kinds) and isinstance(default, kinds) and value == default


def _by_name(shown, wanted, given, named):
    names = [p.name for p in wanted]
    takes_any = [p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in wanted]
    if any(takes_any):
        unknown = set(named) - {"indexing", "optimize", "constant_values", "mode"}
    else:
        unknown = set(named) - set(names)
    unknown -= _HARMLESS
    if unknown or (len(given) > len(names) and not any(takes_any)):
        what = f"the argument `{min(unknown)}`" if unknown else "so many arguments"
        raise _refused(shown, f"{what} is not supported")
    return given, {k: v for k, v in named.items() if k not in _HARMLESS}


_METHODS = {"__array_ufunc__": _array_ufunc, "__array_function__": _array_function}

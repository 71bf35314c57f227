"""The public names: which function stands behind `tf.math.add`, said where it is written."""

import types
from typing import Any

PUBLIC: dict[str, Any] = {}

# Set where parts are loaded on demand: loads what has a public name.
_load = None


def set_load(function):
    """Tells `public` how names that are not there yet are loaded."""
    global _load
    _load = function


def public(name):
    """What stands behind a public name, loaded if it was not."""
    if name not in PUBLIC and _load is not None:
        _load(name)
    return PUBLIC[name]


def complete(name):
    """Loads all that belongs to a public name, also where the name itself is there already."""
    if _load is not None:
        _load(name)


def export(names, value=None):
    """Publishes a function (or `value`) under dotted names such as `"math.add add"`.

    Example:
        >>> @export("math.double double")
        ... def double(x, name=None):
        ...     return x + x
    """

    def publish(item):
        for name in names.split():
            if name in PUBLIC:
                raise ValueError(f"The public name {name!r} is taken twice.")
            PUBLIC[name] = item
        return item

    return publish if value is None else publish(value)


def with_parameters(function, names, public_name):
    """A copy of `function` whose leading parameters bear other names, those its callers know."""
    code = function.__code__
    variables = names + code.co_varnames[len(names) :]
    renamed = types.FunctionType(
        code.replace(co_varnames=variables, co_name=public_name, co_qualname=public_name),
        function.__globals__,
        public_name,
        function.__defaults__,
        function.__closure__,
    )
    renamed.__kwdefaults__ = function.__kwdefaults__
    renamed.__doc__ = function.__doc__
    return renamed

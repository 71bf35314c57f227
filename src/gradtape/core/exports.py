"""The public names: which function stands behind `tf.math.add`, said where it is written."""

import types

PUBLIC: dict[str, object] = {}


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

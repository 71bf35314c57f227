"""input_signature: what a function's arguments have to be, said where it is decorated."""

import inspect
from collections.abc import Mapping

from ..core import nest
from ..core.convert import convert_to_tensor, operand
from ..core.spec import TensorSpec
from ..core.tensor import Tensor
from ..core.variable import Variable
from .keys import PLAIN, opened, plain_key
from .kinds import CALL, Branch, covers, is_spec, kind_of, kind_text
from .signature import Parameters, binding_error

_POSITIONAL = inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD


class _CastError(TypeError):
    """An argument is not what its spec says."""


class InputSignature:
    """The specs of a function's arguments, and how arguments are made to fit them.

    Args:
        specs: what the user gave: a list or tuple of specs and structures of them.
        parameters: the Parameters of the function.

    Attributes:
        specs: the specs, as a tuple.
        parameters: those that calls are bound to; `*args` has become as many as there are specs.

    Raises:
        TypeError: the specs do not fit the parameters.
    """

    def __init__(self, specs, parameters):
        if not isinstance(specs, (list, tuple)):
            raise TypeError(f"input_signature must be either a tuple or a list, got {type(specs)}.")
        wrong = [leaf for leaf in nest.flatten(list(specs)) if not is_spec(leaf)]
        if wrong:
            raise TypeError(
                "input_signature must be a possibly nested sequence of TensorSpec objects, got "
                f"invalid args {wrong} with types {[type(leaf) for leaf in wrong]}."
            )
        self.specs = tuple(specs)
        fixed = _fixed_parameters(parameters.signature, len(specs))
        self.parameters = Parameters(None, signature=fixed)
        self._kinds = self._kinds_by_name(fixed)

    def _kinds_by_name(self, signature):
        remaining = list(self.specs)
        kinds = {}
        for name, parameter in signature.parameters.items():
            has_default = parameter.default is not inspect.Parameter.empty
            if parameter.kind in _POSITIONAL and remaining:
                kinds[name] = kind_of(remaining.pop(0))
            elif has_default:
                kinds[name] = kind_of(parameter.default)
            elif parameter.kind in _POSITIONAL:
                raise TypeError(f"input_signature missing type constraint for {name}")
            else:
                raise TypeError(
                    f"Since input_signature is defined, keyword-only parameter `{name}` must have "
                    "a default value"
                )
        if remaining:
            raise TypeError(f"input_signature contains {len(remaining)} extra type constraints.")
        return kinds

    def fit(self, args, kwargs):
        """The arguments bound, and converted to what the specs say.

        Raises:
            TypeError: they cannot be; the message says which one and what came.
        """
        by_position, by_keyword = self.parameters.bind(args, kwargs, self.text)
        values = [*by_position, *by_keyword.values()]
        for i, (name, kind) in enumerate(self._kinds.items()):
            try:
                values[i] = fit(values[i], kind)
            except (TypeError, ValueError) as error:
                more = f" The argument at fault is {name!r}."
                raise binding_error(error, args, kwargs, self.text(), more) from None
        count = len(by_position)
        return tuple(values[:count]), dict(zip(by_keyword, values[count:], strict=True))

    def kind(self):
        """The kind of all calls."""
        return Branch(CALL, tuple(self._kinds), tuple(self._kinds.values()))

    def text(self):
        return self.parameters.text(self._kinds)


def _fixed_parameters(signature, count):
    """The signature with `*args` as separate parameters and without `**kwargs`."""
    found = []
    for parameter in signature.parameters.values():
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            only = inspect.Parameter.POSITIONAL_ONLY
            found = [p.replace(kind=only) for p in found]
            extra = range(max(0, count - len(found)))
            found += [inspect.Parameter(f"{parameter.name}_{i}", only) for i in extra]
        elif parameter.kind is not inspect.Parameter.VAR_KEYWORD:
            found.append(parameter)
    return inspect.Signature(found)


def fit(value, kind):
    """`value` as something of a kind.

    Raises:
        TypeError, ValueError: it is not and cannot be converted.
    """
    if isinstance(kind, Branch):
        return _fit_container(value, kind)
    if isinstance(kind, TensorSpec):
        return _fit_tensor(value, kind)
    if is_spec(kind):
        own = value if is_spec(value) else kind_of(value)
        if not (is_spec(own) and kind.is_compatible_with(own)):
            raise _CastError(f"Can not cast {kind_text(own)} to {kind!r}")
        return value
    own = kind_of(value)
    same = plain_key(own) == plain_key(kind) if type(kind) in PLAIN else covers(kind, own)
    if not same:
        raise _CastError(f"Can not cast {value!r} to {kind_text(kind)}")
    return value


def _fit_tensor(value, spec):
    if isinstance(value, TensorSpec):
        if not (value.dtype == spec.dtype and value.shape.is_subtype_of(spec.shape)):
            raise _CastError(f"Can not cast {value!r} to {spec!r}")
        return value
    if is_spec(value):
        raise _CastError(f"Can not cast {value!r} to {spec!r}")
    if isinstance(value, Tensor):
        tensor = value
    elif isinstance(value, Variable):
        tensor = operand(value)
    else:
        tensor = convert_to_tensor(value, spec.dtype)
    if tensor.dtype != spec.dtype or not tensor.shape.is_subtype_of(spec.shape):
        raise _CastError(f"Can not cast {TensorSpec(tensor.shape, tensor.dtype)!r} to {spec!r}")
    return tensor


def _fit_container(value, kind):
    if issubclass(kind.cls, Mapping):
        if not isinstance(value, Mapping):
            raise _CastError(f"Can not cast {value!r} to a Dict type.")
        if set(value) != set(kind.keys):
            raise _CastError(f"{value!r} has different keys with the TraceType {kind_text(kind)}.")
    elif type(value) is not kind.cls:
        raise _CastError(f"Can not cast {value!r} to {kind.cls.__name__} type.")
    container = opened(value)
    children = [] if container is None else container.children(value)
    if container is None or len(children) != len(kind.children):
        raise _CastError(
            f"Can not cast {value!r} to {kind_text(kind)}: {len(kind.children)} elements are "
            f"expected, and there are {len(children)}."
        )
    pairs = zip(children, kind.children, strict=True)
    return container.rebuild(value, [fit(child, each) for child, each in pairs])

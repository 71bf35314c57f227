"""tf.experimental.dispatch_for_…: public functions that do something else with some types.

Nothing is asked of a public function until somebody registers a target for it. Then it is replaced,
under all its public names, by one that looks at its arguments first, and put back when its last
target is gone. References to the function that were taken before stay what they are.
"""

import functools
import inspect
import sys
import types
import typing
from typing import Any, NamedTuple

from . import on_demand
from .core.exports import PUBLIC
from .namespaces import publish

_UNARY = (
    "zeros_like ones_like debugging.check_numerics abs math.softplus sign math.real math.imag "
    "math.angle round cast saturate_cast sigmoid math.log_sigmoid math.conj math.reciprocal_no_nan "
    "math.erfinv math.ndtri math.erfcinv math.ceil sqrt exp math.rsqrt acos floor bitwise.invert "
    "acosh asin asinh atan atanh cos cosh math.digamma math.erf math.erfc math.expm1 "
    "math.is_finite math.is_inf math.is_nan math.lgamma math.log math.log1p logical_not negative "
    "math.nextafter math.reciprocal math.rint sin sinh square tan tanh nn.relu6 nn.leaky_relu "
    "nn.gelu nn.log_softmax nn.elu nn.relu nn.selu nn.softsign nn.silu strings.regex_full_match "
    "strings.regex_replace strings.length strings.substr strings.to_number strings.to_hash_bucket "
    "as_string io.decode_base64 io.encode_base64 strings.lower strings.upper "
    "strings.unicode_transcode strings.strip strings.to_hash_bucket_fast "
    "strings.to_hash_bucket_strong strings.unicode_script math.special.dawsn math.special.expint "
    "math.special.fresnel_cos math.special.fresnel_sin math.special.spence math.bessel_i0 "
    "math.bessel_i0e math.bessel_i1 math.bessel_i1e math.special.bessel_k0 math.special.bessel_k0e "
    "math.special.bessel_k1 math.special.bessel_k1e math.special.bessel_j0 math.special.bessel_j1 "
    "math.special.bessel_y0 math.special.bessel_y1 clip_by_value image.random_brightness "
    "image.stateless_random_brightness image.adjust_brightness image.adjust_gamma "
    "image.convert_image_dtype io.decode_compressed"
)
_BINARY = (
    "divide multiply subtract scalar_mul pow complex truediv math.divide_no_nan "
    "math.multiply_no_nan math.floordiv math.logical_xor equal not_equal add math.xdivy "
    "math.xlog1py bitwise.bitwise_and bitwise.bitwise_or bitwise.bitwise_xor bitwise.left_shift "
    "bitwise.right_shift atan2 math.floormod greater greater_equal less less_equal logical_and "
    "logical_or maximum minimum realdiv math.squared_difference truncatediv truncatemod math.xlogy "
    "math.zeta nn.sigmoid_cross_entropy_with_logits"
)
_ASSERTIONS = (
    "debugging.assert_equal debugging.assert_none_equal debugging.assert_near "
    "debugging.assert_less debugging.assert_less_equal debugging.assert_greater "
    "debugging.assert_greater_equal"
)

_FITS, _FITS_BY_TYPE = 1, 2  # the second for composites, without which nothing is dispatched


class _Target(NamedTuple):
    function: Any  # what is called instead
    origin: Any  # what was registered
    signatures: list
    takes_name: bool | None  # None if it takes the arguments just as they came


class _Api:
    """A public function that has targets."""

    def __init__(self, function):
        self.function = function
        self.signature = inspect.signature(function)
        self.parameters = list(self.signature.parameters)
        self.names = [name for name, item in PUBLIC.items() if item is function]
        self.name = self.names[0].rpartition(".")[2] if self.names else function.__name__
        self.targets: list[_Target] = []
        self.opened = self._opened()

    def _opened(self):
        function, targets = self.function, self.targets

        @functools.wraps(function)
        def dispatched(*args, **kwargs):
            found = [t for t in targets if any(_matches(s, args, kwargs) for s in t.signatures)]
            if len(found) > 1:
                raise ValueError(
                    f"Multiple dispatch targets that were registered with tf.dispatch_for "
                    f"({found[0].function} and {found[1].function}) match the arguments to "
                    f"{self.name}"
                )
            if found:
                result = self._call(found[0], args, kwargs)
                if result is not NotImplemented:
                    return result
            return function(*args, **kwargs)

        return dispatched

    def _call(self, target, args, kwargs):
        if target.takes_name is None:
            return target.function(*args, **kwargs)
        given = self.signature.bind(*args, **kwargs)
        given.apply_defaults()
        if not target.takes_name:
            given.arguments.pop("name", None)
        return target.function(*given.args, **given.kwargs)

    def publish(self, function):
        for name in self.names:
            PUBLIC[name] = function
        publish(sys.modules[__package__ or ""], dict.fromkeys(self.names, function))


_apis: dict[Any, _Api] = {}  # by the function itself and by what takes its place
_elementwise: dict[Any, Any] = {}  # handlers, by their kind and types


def _api(function):
    known = _apis.get(function)
    if known is None:
        api = _Api(function)
        if not api.names:
            raise ValueError(f"{function} does not support dispatch.")
        known = _apis[function] = _apis[api.opened] = api
    return known


def _add(api, target):
    if not api.targets:
        api.publish(api.opened)
    api.targets.append(target)


# What arguments are dispatched --------------------------------------------------------------------


def _matches(signature, args, kwargs):
    best = 0
    for position, name, check in signature:
        if position < len(args):
            value = args[position]
        elif name in kwargs:
            value = kwargs[name]
        else:
            return False
        fit = check(value)
        if not fit:
            return False
        best = max(best, fit)
    return best == _FITS_BY_TYPE


def _check_of(annotation) -> Any:
    """The function that says how well a value fits an annotation."""
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is None and isinstance(annotation, type):
        return lambda value: _fit(value, annotation)
    checks = [_check_of(argument) for argument in arguments]
    if origin is list:
        return lambda value: _fit_of_all(value, checks[0])
    if origin is typing.Union or origin is types.UnionType:
        return lambda value: max([check(value) for check in checks])
    raise ValueError(
        f"Type annotation {annotation} is not currently supported by dispatch. Supported "
        "annotations: type names, List[...], and Union[...]"
    )


def _fit(value, cls):
    if not isinstance(value, cls):
        return 0
    return _FITS_BY_TYPE if getattr(value, "_is_composite", False) else _FITS


def _fit_of_all(values, check):
    if not isinstance(values, (list, tuple)) or not values:
        return 0
    fits = [check(value) for value in values]
    return max(fits) if all(fits) else 0


def _signature(annotations, parameters):
    signature = []
    for key, annotation in annotations.items():
        if key not in (parameters if isinstance(key, str) else range(len(parameters))):
            raise ValueError(f"signature includes annotation for unknown parameter {key!r}.")
        position = parameters.index(key) if isinstance(key, str) else key
        signature.append((position, parameters[position], _check_of(annotation)))
    return signature


# Registering --------------------------------------------------------------------------------------


def dispatch_for_api(api, *signatures):
    """Makes the decorated function what a public function does with arguments of some types.

    Args:
        api: the public function, such as `tf.concat`.
        signatures: dictionaries from the names, or positions, of parameters to types, `List`s and
            `Union`s of them; the annotations of the decorated function if there are none.

    Raises:
        ValueError: the function is not public, the decorated one has other parameters, or there is
            no signature.
    """
    opened = _api(api)

    def register(target):
        own = inspect.signature(target)
        takes_name = "name" in own.parameters or "name" not in opened.parameters
        if not takes_name:
            kind: Any = inspect.Parameter.POSITIONAL_OR_KEYWORD
            name = inspect.Parameter("name", kind, default=None)
            own = own.replace(parameters=[*own.parameters.values(), name])
        if list(own.parameters) != opened.parameters:
            raise ValueError(
                f"Dispatch function's signature {own} does not match API's signature "
                f"{opened.signature}."
            )
        chosen = signatures or [_annotations(target)]
        compiled = [_signature(each, opened.parameters) for each in chosen]
        _add(opened, _Target(target, target, compiled, takes_name))
        return target

    return register


def _annotations(target):
    hints = typing.get_type_hints(target)
    hints.pop("return", None)
    if not hints:
        raise ValueError(
            "The dispatch_for_api decorator must be called with at least one signature, or applied "
            "to a function that has type annotations on its parameters."
        )
    return hints


def dispatch_for_unary_elementwise_apis(x_type):
    """Makes the decorated function what all elementwise functions of one tensor do with a type.

    It is called as `handler(api_func, x)`, where `api_func(values)` computes the function.

    Raises:
        ValueError: the type has a handler already.
    """
    return _for_elementwise("unary elementwise", _UNARY, x_type)


def dispatch_for_binary_elementwise_apis(x_type, y_type):
    """Makes the decorated function what all elementwise functions of two tensors do with types.

    It is called as `handler(api_func, x, y)`.

    Raises:
        ValueError: the types have a handler already.
    """
    return _for_elementwise("binary elementwise", _BINARY, x_type, y_type)


def dispatch_for_binary_elementwise_assert_apis(x_type, y_type):
    """Makes the decorated function what tf.debugging.assert_equal and the like do with types.

    It is called as `handler(api_func, x, y)`.

    Raises:
        ValueError: the types have a handler already.
    """
    return _for_elementwise("binary elementwise assert", _ASSERTIONS, x_type, y_type)


def _for_elementwise(kind, names, *classes):
    def register(handler):
        key = (kind, *classes)
        known = _elementwise.get(key)
        if known is not None:
            shown = classes[0] if len(classes) == 1 else classes
            raise ValueError(
                f"A {kind} dispatch handler ({known}) has already been registered for {shown}."
            )
        _elementwise[key] = handler
        for name in names.split():
            if on_demand.provide(name):
                _add_elementwise(_api(PUBLIC[name]), handler, classes)
        return handler

    return register


def _add_elementwise(api, handler, classes):
    leading = api.parameters[: len(classes)]
    signature = _signature(dict(zip(leading, classes, strict=True)), api.parameters)

    def target(*args, **kwargs):
        given = api.signature.bind(*args, **kwargs).arguments
        values = [given.pop(name) for name in leading]
        function = functools.partial(_with_rest, api.opened, given) if given else api.opened
        return handler(function, *values)

    target.__name__ = target.__qualname__ = f"elementwise_dispatch_target_for_{api.name}"
    _add(api, _Target(target, handler, [signature], None))


def _with_rest(function, rest, *values):
    return function(*values, **rest)


def unregister_dispatch_for(dispatch_target):
    """Takes back all that a function was registered for.

    Raises:
        ValueError: it was not registered.
    """
    found = False
    for api in {id(each): each for each in _apis.values()}.values():
        kept = [target for target in api.targets if target.origin is not dispatch_target]
        if len(kept) != len(api.targets):
            found = True
            api.targets[:] = kept
            if not kept:
                api.publish(api.function)
    for key in [key for key, handler in _elementwise.items() if handler is dispatch_target]:
        del _elementwise[key]
        found = True
    if not found:
        raise ValueError(
            f"Function {dispatch_target} was not registered using a `@dispatch_for_*` decorator."
        )

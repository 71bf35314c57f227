"""Cases of gradtape.ops.convolution."""

import itertools
from typing import Any

import numpy as np

from gradtape.core.errors import InvalidArgumentError, UnimplementedError

from ..case import Case, Failure, Sample
from ..draws import Draws

draw = Draws(__name__)


def _steps(strides: Any = 1, padding: Any = "VALID", dilations: Any = 1, data_format="NHWC"):
    """Attributes of a convolution, from what holds for each spatial axis."""

    def each(value):
        count = len(data_format) - 2
        values = value if isinstance(value, tuple) else (value,) * count
        return (1, 1, *values) if data_format[1] == "C" else (1, *values, 1)

    if isinstance(padding, tuple):
        none = ((0, 0),)
        padding = none * 2 + padding if data_format[1] == "C" else none + padding + none
    return {
        "strides": each(strides),
        "padding": padding,
        "data_format": data_format,
        "dilations": each(dilations),
    }


def _paddings(sizes, windows, strides, padding, dilations):
    pairs = []
    for i, (size, window) in enumerate(zip(sizes, windows, strict=True)):
        extent = (window - 1) * dilations[i] + 1
        if padding == "SAME":
            total = max((-(-size // strides[i]) - 1) * strides[i] + extent - size, 0)
            pairs.append((total // 2, total - total // 2))
        else:
            pairs.append((0, 0) if padding == "VALID" else padding[i])
    return pairs


def _terms(input_shape, windows, strides, padding, data_format, dilations):
    """Where each element of each window lies: (place, element, position in the input)."""

    def inner(values):
        return values[2:] if data_format[1] == "C" else values[1:-1]

    sizes, strides, dilations = inner(input_shape), inner(strides), inner(dilations)
    padding = inner(padding) if isinstance(padding, tuple) else padding
    pads = _paddings(sizes, windows, strides, padding, dilations)
    counts = [
        max(0, (n + a + b - (k - 1) * d - 1) // s + 1)
        for n, (a, b), k, d, s in zip(sizes, pads, windows, dilations, strides, strict=True)
    ]
    found = []
    for place in itertools.product(*[range(n) for n in counts]):
        for element in itertools.product(*[range(k) for k in windows]):
            position = tuple(
                [
                    p * s + e * d - a
                    for p, s, e, d, (a, _) in zip(
                        place, strides, element, dilations, pads, strict=True
                    )
                ]
            )
            if all(0 <= i < n for i, n in zip(position, sizes, strict=True)):
                found.append((place, element, position))
    return counts, found


def _last(x, data_format):
    return np.moveaxis(x, 1, -1) if data_format[1] == "C" else x


def _first(x, data_format):
    return np.moveaxis(x, -1, 1) if data_format[1] == "C" else x


def _at(position):
    return (slice(None), *position)


def _spread(filter, groups):
    """A grouped filter as one for all channels, zero where groups do not meet."""
    if groups == 1:
        return filter
    depth, outputs = filter.shape[-2], filter.shape[-1] // groups
    whole = np.zeros((*filter.shape[:-2], depth * groups, filter.shape[-1]), filter.dtype)
    for i in range(groups):
        columns = slice(i * outputs, (i + 1) * outputs)
        whole[..., i * depth : (i + 1) * depth, columns] = filter[..., columns]
    return whole


def _depthwise_filter(filter):
    return _spread(filter.reshape(*filter.shape[:-2], 1, -1), filter.shape[-2])


def _convolution(input, filter, strides, padding, data_format, dilations):
    counts, terms = _terms(input.shape, filter.shape[:-2], strides, padding, data_format, dilations)
    x = _last(input, data_format)
    whole = _spread(filter, x.shape[-1] // filter.shape[-2])
    out = np.zeros((len(x), *counts, filter.shape[-1]), x.dtype)
    for place, element, position in terms:
        out[_at(place)] += x[_at(position)] @ whole[element]
    return _first(out, data_format)


def _input_gradient(filter, out_backprop, input_sizes, strides, padding, data_format, dilations):
    _, terms = _terms(input_sizes, filter.shape[:-2], strides, padding, data_format, dilations)
    g = _last(out_backprop, data_format)
    out = np.zeros(input_sizes, g.dtype)
    x = _last(out, data_format)
    whole = _spread(filter, x.shape[-1] // filter.shape[-2])
    for place, element, position in terms:
        x[_at(position)] += g[_at(place)] @ whole[element].T
    return out


def _filter_gradient(input, out_backprop, filter_sizes, strides, padding, data_format, dilations):
    _, terms = _terms(input.shape, filter_sizes[:-2], strides, padding, data_format, dilations)
    x, g = _last(input, data_format), _last(out_backprop, data_format)
    groups = x.shape[-1] // filter_sizes[-2]
    out = np.zeros(filter_sizes, x.dtype)
    for place, element, position in terms:
        product = x[_at(position)].T @ g[_at(place)]
        rows = np.split(product, groups)
        columns = np.split(np.stack(rows), groups, axis=-1)
        out[element] += np.concatenate([columns[i][i] for i in range(groups)], -1)
    return out


def _depthwise(input, filter, **steps):
    return _convolution(input, _depthwise_filter(filter), **steps)


def _depthwise_input(filter, out_backprop, **steps):
    return _input_gradient(_depthwise_filter(filter), out_backprop, **steps)


def _depthwise_filter_gradient(input, out_backprop, filter_sizes, **steps):
    grouped = (*filter_sizes[:-2], 1, filter_sizes[-2] * filter_sizes[-1])
    return _filter_gradient(input, out_backprop, grouped, **steps).reshape(filter_sizes)


# Shapes of inputs and filters, with what goes between them.
_PLANE = [
    ((1, 3, 4, 2), (2, 2, 2, 2), _steps()),
    ((2, 4, 3, 1), (3, 2, 1, 2), _steps(padding="SAME")),
    ((1, 5, 4, 1), (2, 2, 1, 2), _steps(strides=2, padding="SAME")),
    ((1, 5, 4, 1), (2, 2, 1, 1), _steps(strides=(2, 1), padding="VALID")),
    ((1, 4, 4, 1), (2, 2, 1, 1), _steps(padding="SAME", dilations=2)),
    ((1, 5, 5, 1), (2, 2, 1, 1), _steps(strides=2, dilations=(2, 1))),
    ((1, 3, 3, 1), (2, 2, 1, 1), _steps(padding=((1, 2), (0, 1)))),
    ((1, 2, 2, 1), (1, 2, 1, 1), _steps(padding=((1, 0), (2, 1)))),
    ((1, 3, 3, 1), (2, 1, 1, 5), _steps(strides=1)),
    ((1, 3, 2, 2), (1, 1, 2, 3), _steps()),
    ((1, 3, 3, 2), (1, 1, 2, 2), _steps(strides=2)),
    ((1, 2, 3, 4), (2, 2, 2, 2), _steps(padding="SAME")),
    ((1, 2, 3, 3), (2, 2, 2, 1), _steps(padding="SAME", data_format="NCHW")),
    ((1, 4, 2, 2), (2, 1, 2, 2), _steps(data_format="NCHW")),
    ((1, 2, 2, 1), (3, 3, 1, 1), _steps()),
    ((0, 3, 3, 1), (2, 2, 1, 2), _steps()),
]
_SPACE = [
    ((1, 3, 2, 2, 2), (2, 2, 1, 2, 1), _steps(data_format="NDHWC")),
    ((1, 3, 3, 2, 1), (2, 2, 2, 1, 2), _steps(2, "SAME", data_format="NDHWC")),
    ((1, 3, 3, 2, 1), (2, 2, 1, 1, 1), _steps(dilations=(2, 1, 1), data_format="NDHWC")),
    ((1, 2, 2, 2, 2), (2, 1, 2, 2, 1), _steps(padding="SAME", data_format="NCDHW")),
]
_CHANNELWISE = [
    ((1, 3, 3, 2), (2, 2, 2, 1), _steps()),
    ((2, 3, 3, 2), (2, 2, 2, 2), _steps(padding="SAME")),
    ((1, 5, 4, 1), (2, 3, 1, 2), _steps(strides=2, padding="SAME")),
    ((1, 4, 4, 1), (2, 2, 1, 2), _steps(dilations=2)),
    ((1, 2, 3, 2), (2, 2, 2, 1), _steps(padding=((1, 0), (0, 2)))),
    ((1, 2, 3, 3), (2, 2, 2, 2), _steps(padding="SAME", data_format="NCHW")),
    ((0, 3, 3, 2), (2, 2, 2, 1), _steps()),
]


def _output_shape(reference, input_shape, filter_shape, steps):
    return reference(np.zeros(input_shape), np.zeros(filter_shape), **steps).shape


def _forward_samples(table):
    return [Sample((draw.uniform(*x), draw.uniform(*w)), steps) for x, w, steps in table]


def _input_samples(table, reference):
    return [
        Sample(
            (draw.uniform(*w), draw.uniform(*_output_shape(reference, x, w, steps))),
            {"input_sizes": x, **steps},
        )
        for x, w, steps in table
    ]


def _filter_samples(table, reference):
    return [
        Sample(
            (draw.uniform(*x), draw.uniform(*_output_shape(reference, x, w, steps))),
            {"filter_sizes": w, **steps},
        )
        for x, w, steps in table
    ]


def _refused(x, w, steps, match, error: type[Exception] = InvalidArgumentError):
    return Failure((draw.uniform(*x), draw.uniform(*w)), steps, error, match)


_DTYPES = [
    Failure(
        (draw.uniform(1, 2, 2, 1), draw.integers(1, 1, 1, 1)),
        _steps(),
        InvalidArgumentError,
        r"input #1\(zero-based\) was expected to be a double tensor but is a int64 tensor",
    ),
    Failure(
        (draw.booleans(1, 2, 2, 1), draw.booleans(1, 1, 1, 1)),
        _steps(),
        InvalidArgumentError,
        "bool is not in the list of allowed values",
    ),
]
_IMAGE, _FILTER = (1, 3, 3, 1), (2, 2, 1, 1)

CASES = [
    Case(
        op="Conv2D",
        samples=[
            *_forward_samples(_PLANE),
            Sample(
                (
                    draw.integers(1, 3, 3, 2, dtype=np.int32),
                    draw.integers(2, 2, 2, 3, dtype=np.int32),
                ),
                _steps(padding="SAME"),
            ),
        ],
        reference=_convolution,
        failures=[
            *_DTYPES,
            _refused((3, 3, 1), _FILTER, _steps(), r"input must be 4-dimensional: \[3,3,1\]"),
            _refused(_IMAGE, (2, 2, 1), _steps(), r"filter must be 4-dimensional: \[2,2,1\]"),
            _refused(_IMAGE, (2, 2, 3, 1), _steps(), "divisible by filter depth: 1 vs 3"),
            _refused((1, 3, 3, 4), (2, 2, 2, 3), _steps(), "divisible by number of groups: 3 vs 2"),
            _refused(_IMAGE, (0, 2, 1, 1), _steps(), "filter must not have zero elements"),
            _refused(_IMAGE, _FILTER, _steps(strides=0), "strides should be larger than 0"),
            _refused(_IMAGE, _FILTER, _steps(dilations=0), "rates should be larger than 0"),
            _refused(_IMAGE, _FILTER, _steps(padding="same"), "'padding' of \"same\" is not in"),
            _refused(
                _IMAGE, _FILTER, _steps(padding=((-1, 0), (0, 0))), "paddings must be nonnegative"
            ),
            _refused(
                _IMAGE, _FILTER, {**_steps(), "padding": ((1, 0),) * 4}, "batch or depth dimensions"
            ),
            _refused(
                _IMAGE, _FILTER, {**_steps(), "data_format": "NWC"}, "'data_format' of \"NWC\""
            ),
            _refused(
                _IMAGE,
                _FILTER,
                {**_steps(), "strides": (2, 1, 1, 1)},
                "does not yet support strides in the batch and depth",
                UnimplementedError,
            ),
            _refused(
                _IMAGE,
                _FILTER,
                {**_steps(), "dilations": (1, 1, 1, 2)},
                "does not yet support dilations in the batch and depth",
                UnimplementedError,
            ),
        ],
    ),
    Case(
        op="Conv2DBackpropInput",
        samples=_input_samples(_PLANE, _convolution),
        reference=_input_gradient,
        failures=[
            _refused(
                (3, 3, 2, 3),
                (1, 2, 2, 3),
                {"input_sizes": (1, 5, 4, 2), **_steps(2, "SAME")},
                "actual = 2, computed = 3 spatial_dim: 1 input: 5 filter: 3",
            ),
            _refused(
                (3, 3, 2, 4),
                (1, 2, 2, 3),
                {"input_sizes": (1, 4, 4, 2), **_steps(2, "SAME")},
                "must have the same out_depth",
            ),
            _refused(
                (3, 3, 2, 3),
                (1, 2, 2, 3),
                {"input_sizes": (2, 4, 4, 2), **_steps(2, "SAME")},
                "must have the same batch size. Input batch: 2, outbackprop batch: 1",
            ),
            _refused(
                (3, 3, 2, 3),
                (1, 2, 2, 3),
                {"input_sizes": (4, 4, 2), **_steps(2, "SAME")},
                "requires input_sizes to contain 4 values, but got: 3",
            ),
            _refused(
                (3, 3, 2, 3),
                (1, 2, 2, 3),
                {"input_sizes": (1, 4, 4, 3), **_steps(2, "SAME")},
                "divisible by filter depth",
            ),
        ],
    ),
    Case(
        op="Conv2DBackpropFilter",
        samples=_filter_samples(_PLANE, _convolution),
        reference=_filter_gradient,
        failures=[
            _refused(
                _IMAGE,
                (1, 3, 2, 1),
                {"filter_sizes": _FILTER, **_steps()},
                "actual = 3, computed = 2",
            ),
        ],
    ),
    Case(
        op="Conv3D",
        samples=_forward_samples(_SPACE),
        reference=_convolution,
        failures=[
            _refused(_IMAGE, _FILTER, _steps(data_format="NDHWC"), "input must be 5-dimensional"),
            _refused(
                (1, 3, 3, 3, 1),
                (1, 1, 1, 1, 1),
                _steps(padding="no", data_format="NDHWC"),
                '\'padding\' of "no" is not in the list of allowed values: "SAME", "VALID"\n',
            ),
        ],
    ),
    Case(
        op="Conv3DBackpropInputV2",
        samples=_input_samples(_SPACE, _convolution),
        reference=_input_gradient,
    ),
    Case(
        op="Conv3DBackpropFilterV2",
        samples=_filter_samples(_SPACE, _convolution),
        reference=_filter_gradient,
    ),
    Case(
        op="DepthwiseConv2dNative",
        samples=_forward_samples(_CHANNELWISE),
        reference=_depthwise,
        failures=[
            *_DTYPES,
            _refused((1, 3, 3, 2), (2, 2, 3, 1), _steps(), "must have the same depth: 2 vs 3"),
        ],
    ),
    Case(
        op="DepthwiseConv2dNativeBackpropInput",
        samples=_input_samples(_CHANNELWISE, _depthwise),
        reference=_depthwise_input,
    ),
    Case(
        op="DepthwiseConv2dNativeBackpropFilter",
        samples=_filter_samples(_CHANNELWISE, _depthwise),
        reference=_depthwise_filter_gradient,
    ),
]

"""Cases of gradtape.ops.pooling."""

import itertools
from typing import Any

import numpy as np

from gradtape.core.errors import InvalidArgumentError, UnimplementedError

from ..case import Case, Failure, Sample
from ..draws import Draws

draw = Draws(__name__)


def _steps(ksize, strides, padding: Any = "VALID", data_format="NHWC"):
    return {"ksize": ksize, "strides": strides, "padding": padding, "data_format": data_format}


def _windows(shape, ksize, strides, padding):
    """The places of the windows along each axis, and the part of the axis each of them sees."""
    axes = []
    for i, (n, k, s) in enumerate(zip(shape, ksize, strides, strict=True)):
        if padding == "SAME":
            count = -(-n // s)
            before = max((count - 1) * s + k - n, 0) // 2
        else:
            before, after = (0, 0) if padding == "VALID" else padding[i]
            count = max((n + before + after - k) // s + 1, 0)
        axes.append(
            [slice(max(p * s - before, 0), min(p * s - before + k, n)) for p in range(count)]
        )
    counts = [len(axis) for axis in axes]
    places = itertools.product(*[range(n) for n in counts])
    return counts, {p: tuple([axis[i] for axis, i in zip(axes, p, strict=True)]) for p in places}


def _position(x, region):
    """Where the first largest element of a part of `x` is."""
    part = x[region]
    inside = np.unravel_index(np.argmax(part), part.shape)
    return tuple([r.start + i for r, i in zip(region, inside, strict=True)])


def _max(input, ksize, strides, padding, data_format="NHWC"):
    counts, regions = _windows(input.shape, ksize, strides, padding)
    out = np.zeros(counts, input.dtype)
    for place, region in regions.items():
        out[place] = input[region].max()
    return out


def _max_gradient(orig_input, orig_output, grad, ksize, strides, padding, data_format):
    _, regions = _windows(orig_input.shape, ksize, strides, padding)
    out = np.zeros(orig_input.shape, grad.dtype)
    for place, region in regions.items():
        out[_position(orig_input, region)] += grad[place]
    return out


def _max_second(orig_input, orig_output, grad, ksize, strides, padding, data_format):
    counts, regions = _windows(orig_input.shape, ksize, strides, padding)
    out = np.zeros(counts, grad.dtype)
    for place, region in regions.items():
        out[place] = grad[_position(orig_input, region)]
    return out


def _max_and_position(input, ksize, strides, padding, Targmax, include_batch_in_index):
    counts, regions = _windows(input.shape, ksize, strides, padding)
    positions = np.zeros(counts, Targmax)
    for place, region in regions.items():
        batch, *rest = _position(input, region)
        found = (batch if include_batch_in_index else 0, *rest)
        positions[place] = np.ravel_multi_index(found, input.shape)
    return _max(input, ksize, strides, padding), positions


def _mean(x, ksize, strides, padding, data_format):
    counts, regions = _windows(x.shape, ksize, strides, padding)
    out = np.zeros(counts, x.dtype)
    for place, region in regions.items():
        out[place] = x[region].mean()
    return out


def _mean_gradient(grad, orig_input_shape, ksize, strides, padding, data_format):
    _, regions = _windows(orig_input_shape, ksize, strides, padding)
    out = np.zeros(orig_input_shape, grad.dtype)
    for place, region in regions.items():
        out[region] += grad[place] / out[region].size
    return out


_PLANE = [
    ((1, 4, 4, 2), _steps((1, 2, 2, 1), (1, 2, 2, 1))),
    ((2, 3, 3, 1), _steps((1, 2, 2, 1), (1, 1, 1, 1), "SAME")),
    ((1, 5, 4, 1), _steps((1, 3, 2, 1), (1, 2, 3, 1), "SAME")),
    ((1, 5, 5, 1), _steps((1, 3, 3, 1), (1, 1, 2, 1))),
    ((1, 5, 5, 1), _steps((1, 1, 1, 1), (1, 2, 2, 1))),
    ((1, 2, 4, 3), _steps((1, 1, 2, 2), (1, 1, 2, 1), "SAME", "NCHW")),
    ((1, 2, 2, 1), _steps((1, 3, 3, 1), (1, 1, 1, 1))),
    ((0, 3, 3, 1), _steps((1, 2, 2, 1), (1, 1, 1, 1))),
]
_MAX_ONLY = [
    ((1, 3, 3, 1), _steps((1, 2, 2, 1), (1, 1, 2, 1), ((0, 0), (1, 0), (1, 1), (0, 0)))),
    ((1, 2, 1, 4), _steps((1, 1, 1, 2), (1, 1, 1, 2))),
]
_SPACE = [
    ((1, 3, 2, 4, 1), _steps((1, 2, 2, 2, 1), (1, 1, 2, 2, 1), "SAME", "NDHWC")),
    ((1, 2, 2, 3, 2), _steps((1, 2, 1, 2, 1), (1, 1, 1, 1, 1), "VALID", "NDHWC")),
    ((1, 2, 2, 2, 2), _steps((1, 1, 2, 2, 2), (1, 1, 1, 1, 2), "VALID", "NCDHW")),
]


def _samples(table):
    return [Sample((draw.distinct(*shape),), steps) for shape, steps in table]


def _parts(table, second):
    samples = []
    for shape, steps in table:
        x = draw.distinct(*shape)
        out = _max(x, **steps)
        samples.append(Sample((x, out, draw.uniform(*(shape if second else out.shape))), steps))
    return samples


def _mean_parts(table):
    return [
        Sample(
            (draw.uniform(*_windows(shape, s["ksize"], s["strides"], s["padding"])[0]),),
            {"orig_input_shape": shape, **s},
        )
        for shape, s in table
    ]


_IMAGE = draw.uniform(1, 3, 3, 1)
_ONES = (1, 1, 1, 1)


def _refusals():
    return [
        Failure((draw.uniform(3, 3, 1),), _steps(_ONES, _ONES), InvalidArgumentError, "4-dim"),
        Failure(
            (_IMAGE,), _steps((1, 0, 0, 1), _ONES), InvalidArgumentError,
            "ksize must be positive. The specified or inferred ksize is: 1,0,0,1",
        ),
        Failure(
            (_IMAGE,), _steps(_ONES, (1, 0, 1, 1)), InvalidArgumentError, "Stride must be > 0"
        ),
        Failure(
            (_IMAGE,), _steps((2, 1, 1, 1), _ONES), UnimplementedError, "on the batch dimension"
        ),
        Failure(
            (_IMAGE,), _steps(_ONES, _ONES, "same"), InvalidArgumentError, "'padding' of \"same\""
        ),
        Failure(
            (_IMAGE,), _steps(_ONES, _ONES, "SAME", "NWC"), InvalidArgumentError, "'data_format'"
        ),
        Failure(
            (draw.booleans(1, 2, 2, 1),), _steps(_ONES, _ONES), InvalidArgumentError,
            "bool is not in the list of allowed values",
        ),
    ]  # fmt: skip


def _argmax_attrs(ksize, strides, padding="VALID", dtype: type = np.int64, batch=False):
    return {
        "ksize": ksize, "strides": strides, "padding": padding, "Targmax": np.dtype(dtype),
        "include_batch_in_index": batch,
    }  # fmt: skip


CASES = [
    Case(
        op="MaxPool",
        samples=[
            *_samples(_PLANE + _MAX_ONLY),
            Sample((draw.integers(1, 3, 3, 2),), _steps((1, 2, 2, 1), _ONES, "SAME")),
            Sample((draw.integers(1, 3, 3, 2, dtype=np.uint8),), _steps((1, 2, 2, 1), _ONES)),
        ],
        reference=_max,
        failures=[
            *_refusals(),
            Failure(
                (_IMAGE,),
                _steps((1, 2, 2, 1), _ONES, ((0, 0), (2, 0), (0, 0), (0, 0))),
                InvalidArgumentError,
                "adding 2 needs to be smaller than the window size 2",
            ),
        ],
    ),
    Case(
        op="MaxPoolGrad",
        samples=_parts(_PLANE + _MAX_ONLY, second=False),
        reference=_max_gradient,
        differentiable=("orig_input", "grad"),
        failures=[
            Failure(
                (_IMAGE, _IMAGE[:, :2, :2], _IMAGE),
                _steps((1, 2, 2, 1), _ONES),
                InvalidArgumentError,
                r"Expected grad shape to be \[1,2,2,1\], but got \[1,3,3,1\]",
            ),
            Failure(
                (_IMAGE, _IMAGE, _IMAGE[:, :2, :2]),
                _steps((1, 2, 2, 1), _ONES),
                InvalidArgumentError,
                r"Expected orig_output shape to be \[1,2,2,1\]",
            ),
        ],
    ),
    Case(
        op="MaxPoolGradGrad",
        samples=_parts(_PLANE + _MAX_ONLY, second=True),
        reference=_max_second,
        differentiable=("orig_input", "grad"),
    ),
    Case(op="MaxPool3D", samples=_samples(_SPACE), reference=_max),
    Case(
        op="MaxPool3DGrad",
        samples=_parts(_SPACE, second=False),
        reference=_max_gradient,
        differentiable=("orig_input", "grad"),
    ),
    Case(
        op="MaxPool3DGradGrad",
        samples=_parts(_SPACE, second=True),
        reference=_max_second,
        differentiable=("orig_input", "grad"),
    ),
    Case(
        op="MaxPoolWithArgmax",
        samples=[
            Sample((draw.distinct(2, 3, 3, 2),), _argmax_attrs((1, 2, 2, 1), _ONES, "SAME")),
            Sample(
                (draw.distinct(2, 4, 4, 1),),
                _argmax_attrs((1, 2, 2, 1), (1, 2, 2, 1), dtype=np.int32, batch=True),
            ),
            Sample((draw.integers(1, 3, 3, 1),), _argmax_attrs((1, 2, 2, 1), _ONES)),
        ],
        reference=_max_and_position,
        failures=[
            Failure(
                (_IMAGE[0],), _argmax_attrs((1, 2, 2, 1), _ONES), InvalidArgumentError, "4-dim"
            ),
        ],
    ),
    Case(
        op="AvgPool",
        samples=_samples(_PLANE),
        reference=_mean,
        failures=[
            *_refusals(),
            Failure(
                (draw.integers(1, 2, 2, 1),),
                _steps(_ONES, _ONES),
                InvalidArgumentError,
                "int64 is not in the list of allowed values",
            ),
            Failure(
                (draw.uniform(1, 2, 2, 2),),
                _steps((1, 1, 1, 2), _ONES),
                UnimplementedError,
                "Non-spatial pooling is not yet supported",
            ),
        ],
    ),
    Case(
        op="AvgPoolGrad",
        samples=_mean_parts(_PLANE),
        reference=_mean_gradient,
        failures=[
            Failure(
                (_IMAGE,),
                {"orig_input_shape": (1, 3, 3, 1), **_steps((1, 2, 2, 1), _ONES)},
                InvalidArgumentError,
                r"Expected grad shape to be \[1,2,2,1\]",
            ),
        ],
    ),
    Case(op="AvgPool3D", samples=_samples(_SPACE[:2]), reference=_mean),
    Case(op="AvgPool3DGrad", samples=_mean_parts(_SPACE), reference=_mean_gradient),
]

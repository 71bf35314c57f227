"""Cases of gradtape.ops.quantization."""

import numpy as np

from gradtape.core.errors import InvalidArgumentError
from gradtape.core.op import NON_DIFFERENTIABLE

from ..case import Case, Failure, Sample
from ..draws import Draws

draw = Draws(__name__)

# A quantised value is constant but for its jumps: its gradient is not that of differences.
PLAIN = {"num_bits": 8, "narrow_range": False}
NARROW = {"num_bits": 4, "narrow_range": True}
LOW, HIGH = np.array(-1.0), np.array(1.5)


def _steps(low, high, num_bits, narrow_range):
    """All the numbers a range is rounded to; zero is one of them."""
    count = 2**num_bits - 1 - narrow_range
    scale = (high - low) / count
    zero = np.clip(-low / scale, 0, count)
    return (np.arange(count + 1) - np.floor(zero + 0.5)) * scale


def _nearest(x, low, high, num_bits, narrow_range):
    steps = _steps(low, high, num_bits, narrow_range)
    return steps[np.abs(x - steps).argmin()]


def _fake_quant(inputs, min, max, num_bits, narrow_range):
    out = np.empty(inputs.shape)
    low, high = np.broadcast_to(min, inputs.shape), np.broadcast_to(max, inputs.shape)
    for i in np.ndindex(inputs.shape):
        out[i] = _nearest(inputs[i], low[i], high[i], num_bits, narrow_range)
    return out


def _range(min, max, num_bits, narrow_range):
    ends = [
        _steps(low, high, num_bits, narrow_range)[[0, -1]]
        for low, high in zip(np.ravel(min), np.ravel(max), strict=True)
    ]
    low, high = np.array(ends).reshape(-1, 2).T
    return low.reshape(np.shape(min)), high.reshape(np.shape(max))


def _mode(**changes):
    return {
        "signed_input": True, "num_bits": 4, "range_given": True, "round_mode": "HALF_TO_EVEN",
        "narrow_range": False, "straight": False, **changes,
    }  # fmt: skip


def _quantized(
    input, input_min, input_max, signed_input, num_bits, range_given, round_mode, narrow_range,
    straight,
):  # fmt: skip
    last = 2 ** (num_bits - signed_input) - 1
    first = -(last + (not narrow_range)) if signed_input else 0
    step = input_max / last
    if first * input_min > 0:
        step = max(step, input_min / first)
    x = np.clip(input, first * step, last * step) if range_given else input
    if round_mode == "HALF_UP":
        return np.floor(x / step + 0.5) * step
    return np.rint(x / step) * step


def _raw_quantized(input, input_min, input_max, straight, **attrs):
    """The call whose gradients end outside of the range: TensorFlow has no other."""
    call = {"input": input, "input_min": input_min, "input_max": input_max, **attrs}
    return None if straight else call


CASES = [
    Case(
        op="FakeQuantRange",
        state=NON_DIFFERENTIABLE,
        samples=[
            Sample((LOW, HIGH), PLAIN),
            Sample((np.array([-1.0, -2.0]), np.array([3.0, 0.5])), NARROW),
            Sample((np.array([0.5]), np.array([3.0])), PLAIN),
            Sample((np.zeros(0), np.zeros(0)), PLAIN),
            # Nothing is outside of an empty range.
            Sample(
                (np.array(0.0), np.array(0.0)),
                PLAIN,
                expected=(np.array(-np.inf), np.array(np.inf)),
            ),
        ],
        reference=_range,
        dtypes=(),
        failures=[
            Failure((np.array(1), np.array(2)), PLAIN, InvalidArgumentError, "int64 is not in"),
        ],
    ),
    Case(
        op="FakeQuantWithMinMaxVars",
        skip_second_order="zero: it is a staircase, with the gradient of a line",
        samples=[
            Sample((draw.uniform(2, 3), LOW, HIGH), PLAIN, gradient=False),
            Sample((draw.uniform(5), LOW, HIGH), NARROW, gradient=False),
            Sample(
                (draw.uniform(2, 2), np.array([-1.0, -0.5]), np.array([1.0, 1.5])),
                NARROW,
                gradient=False,
            ),
            Sample((draw.uniform(), LOW, HIGH), PLAIN, gradient=False),
            Sample((np.zeros(0), LOW, HIGH), PLAIN, gradient=False),
            Sample(
                (np.array([1.0, -1.0]), np.array(0.0), np.array(0.0)),
                PLAIN,
                gradient=False,
                expected=np.zeros(2),
            ),
        ],
        reference=_fake_quant,
        dtypes=(),
        failures=[
            Failure(
                (draw.uniform(2), LOW, HIGH),
                {**PLAIN, "num_bits": 17},
                InvalidArgumentError,
                "num_bits must be between 2 and 16",
            ),
            Failure(
                (draw.integers(2), np.array(0), np.array(1)),
                PLAIN,
                InvalidArgumentError,
                "int64 is not in the list",
            ),
            Failure(
                (draw.uniform(2), LOW, np.float32(1)), PLAIN, InvalidArgumentError, "as input #2"
            ),
        ],
    ),
    Case(
        op="QuantizeAndDequantizeV4",
        skip_second_order="zero: it is a staircase, with the gradient of a line",
        samples=[
            Sample((draw.uniform(2, 3), LOW, HIGH), _mode(), gradient=False),
            Sample((draw.uniform(5), LOW, HIGH), _mode(narrow_range=True), gradient=False),
            Sample((draw.uniform(5), LOW, HIGH), _mode(signed_input=False), gradient=False),
            Sample((draw.uniform(5), LOW, HIGH), _mode(round_mode="HALF_UP"), gradient=False),
            Sample((draw.uniform(5), LOW, HIGH), _mode(range_given=False), gradient=False),
            Sample((draw.uniform(5), LOW, HIGH), _mode(straight=True), gradient=False),
            Sample((np.zeros(0), LOW, HIGH), _mode(), gradient=False),
        ],
        reference=_quantized,
        raw=_raw_quantized,
        dtypes=(),
        failures=[
            Failure((draw.uniform(2), HIGH, LOW), _mode(), InvalidArgumentError, "Invalid range"),
            Failure(
                (draw.uniform(2), LOW, HIGH),
                _mode(num_bits=0),
                InvalidArgumentError,
                "num_bits is out of range: 0",
            ),
            Failure(
                (draw.uniform(2), LOW, HIGH),
                _mode(round_mode="X"),
                InvalidArgumentError,
                "'round_mode' of",
            ),
            Failure(
                (draw.integers(2), np.array(0), np.array(1)),
                _mode(),
                InvalidArgumentError,
                "int64 is not in",
            ),
        ],
    ),
]

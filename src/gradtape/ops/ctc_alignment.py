"""All alignments of frames with labels at once: what connectionist temporal classification sums.

An example's states are its labels with blanks before, between and behind them. From frame to frame
an alignment stays in its state, goes on to the next, or leaves out the blank between two different
labels. `likelihood` is the logarithm of the sum over all alignments of the products of what the
frames emit; `occupancy` is its derivative: how probable each state is in each frame.

Both take, besides the emissions (frames, examples, states),

    entry    for each state 0, or NEVER where the blank before it may not be left out
    final    for each state 0, or UNFINISHED where the alignment should not end
    live     for each frame of an example whether it counts

Kernels and rules are the same code, on arrays or tensors.
"""

import math

import numpy as np

from ..core.errors import invalid_argument
from ..core.op import Spec
from .arithmetic import add, maximum, mul, sub
from .broadcasting import reshape, sum_
from .elementwise import exp, log
from .extremes import max_
from .families import dtype_of, opaque, shape_of
from .indexing import gather_row
from .joining import all_batched, pack, unpack
from .manipulation import transpose_row
from .selection import select, zero_of

NEVER = -1e30
# The logarithm of what TensorFlow gives to an alignment that ends before or behind its last label.
UNFINISHED = math.log(1e-307)


def _neighbours(x, by):
    """What stands `by` states before each state, and 0 or NEVER as there is such a state."""
    count = shape_of(x)[-1]
    places = np.arange(count) - by
    edge = np.where((places >= 0) & (places < count), 0.0, NEVER).astype(dtype_of(x))
    return gather_row(x, places.clip(0, count - 1), axis=-1, batch_dims=0), edge


def _along(x, entry, way):
    """The sums that come to each state by going on 0, 1 or 2 states, or -1 or -2 to go back."""
    if way == 0:
        return x
    if way == -2:
        x = add(x, entry)
    x, edge = _neighbours(x, way)
    x = add(x, edge)
    return add(x, entry) if way == 2 else x


def _step(x, tangent, entry, sign):
    """The logarithms of the sums over the ways to each state, and their tangents if there are."""
    ways = (0, sign, 2 * sign)
    terms = [_along(x, entry, way) for way in ways]
    top = maximum(maximum(terms[0], terms[1]), terms[2])
    powers = [exp(sub(term, top)) for term in terms]
    total = add(add(powers[0], powers[1]), powers[2])
    value = add(top, log(total))
    if tangent is None:
        return value, None
    change = mul(exp(sub(terms[0], value)), tangent)
    for term, way in zip(terms[1:], ways[1:], strict=True):
        moved, _ = _neighbours(tangent, way)
        change = add(change, mul(exp(sub(term, value)), moved))
    return value, change


def _forward(frames, tangents, entry, live, start):
    """For each frame, sums over all alignments that lead to each state."""
    value, tangent = start, None if tangents[0] is None else np.zeros_like(start)
    sums = []
    for frame, change, counts in zip(frames, tangents, live, strict=True):
        reached, moved = _step(value, tangent, entry, 1)
        value = select(counts, add(frame, reached), value)
        if change is not None:
            tangent = select(counts, add(change, moved), tangent)
        sums.append((value, tangent))
    return sums


def _backward(frames, tangents, entry, final, live):
    """For each frame, sums over all alignments that go on from each state."""
    none = None if tangents[0] is None else zero_of(final)
    value, tangent = final, None if none is None else mul(final, none)
    sums = [(value, tangent)]
    for frame, change, counts in zip(frames[:0:-1], tangents[:0:-1], live[:0:-1], strict=True):
        change = None if change is None else add(change, tangent)
        left, moved = _step(add(frame, value), change, entry, -1)
        value = select(counts, left, final)
        if moved is not None:
            tangent = select(counts, moved, none)
        sums.append((value, tangent))
    return sums[::-1]


def _start(emissions, elsewhere):
    """Before the first frame all are in the first blank."""
    start = np.full(shape_of(emissions)[1:], elsewhere, dtype_of(emissions))
    start[:, 0] = 0.0
    return start


def _columns(live):
    examples = shape_of(live)[1]
    return [reshape(each, shape=(examples, 1)) for each in unpack(live, axis=0)]


def _log_sum(x):
    top = max_(x, axis=(1,), keepdims=True)
    return add(top, log(sum_(exp(sub(x, top)), axis=(1,), keepdims=True)))


def _likelihood(emissions, entry, final, live):
    start = _start(emissions, NEVER)
    sums = _forward(list(emissions), [None] * len(live), entry, _columns(live), start)
    return _log_sum((sums[-1][0] if sums else start) + final).reshape(-1)


def _occupancies(emissions, tangents, entry, final, live):
    """The probability of each state in each frame or, with tangents, how these change."""
    frames, counted = unpack(emissions, axis=0), _columns(live)
    tangents = [None] * len(frames) if tangents is None else unpack(tangents, axis=0)
    # TensorFlow's gradient, unlike its loss, is as lenient at the start as at the end.
    before = _forward(frames, tangents, entry, counted, _start(emissions, UNFINISHED))
    behind = _backward(frames, tangents, entry, final, counted)
    results = []
    for (first, change), (second, other), counts in zip(before, behind, counted, strict=True):
        both = add(first, second)
        result = exp(sub(both, _log_sum(both)))
        if change is not None:
            moved = add(change, other)
            result = mul(result, sub(moved, sum_(mul(result, moved), axis=(1,), keepdims=True)))
        results.append(select(counts, result, zero_of(result)))
    return pack(results, axis=0)


def _occupancy(emissions, entry, final, live):
    if not emissions.size:
        return np.zeros_like(emissions)
    return _occupancies(emissions, None, entry, final, live)


def _second_derivative(g, emissions, entry, final, live):
    """The matrix of second derivatives is symmetric: its adjoint is the tangent."""
    if not math.prod(shape_of(emissions)):
        return g
    return _occupancies(emissions, g, entry, final, live)


def _check(emissions, entry, final, live):
    shapes = [x.shape for x in (emissions, entry, final, live)]
    frames, examples, states = emissions.shape
    if shapes[1:] != [(examples, states), (examples, states), (frames, examples)]:
        raise invalid_argument("CTCLoss", f"The shapes do not fit. Received: {shapes}")


def _infer_likelihood(emissions, entry, final, live):
    _check(emissions, entry, final, live)
    return Spec(emissions.shape[1:2], emissions.dtype)


def _infer_occupancy(emissions, entry, final, live):
    _check(emissions, entry, final, live)
    return Spec(emissions.shape, emissions.dtype)


def _batch(op, values, flags, attrs):
    """More examples, side by side."""
    emissions, entry, final, live = all_batched(values, flags)
    size, frames, examples, states = shape_of(emissions)
    many = size * examples
    out = op.call(
        reshape(transpose_row(emissions, perm=(1, 0, 2, 3)), shape=(frames, many, states)),
        reshape(entry, shape=(many, states)),
        reshape(final, shape=(many, states)),
        reshape(transpose_row(live, perm=(1, 0, 2)), shape=(frames, many)),
    )
    if op is likelihood.op:
        return reshape(out, shape=(size, examples))
    return transpose_row(reshape(out, shape=(frames, size, examples, states)), perm=(1, 0, 2, 3))


def _likelihood_adjoint(g, emissions, entry, final, live):
    rows = reshape(g, shape=(*shape_of(g), 1))
    return mul(rows, occupancy(emissions, entry, final, live))


likelihood = opaque(
    "CTCLikelihood",
    _likelihood,
    inputs="emissions entry final live",
    infer=_infer_likelihood,
    vjp={"emissions": _likelihood_adjoint},
    batch=_batch,
    raw=False,
)

occupancy = opaque(
    "CTCOccupancy",
    _occupancy,
    inputs="emissions entry final live",
    infer=_infer_occupancy,
    vjp={"emissions": _second_derivative},
    batch=_batch,
    raw=False,
)

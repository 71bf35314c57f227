"""Cases of gradtape.ops.state."""

import numpy as np

import gradtape as tf
from gradtape.core.op import NON_DIFFERENTIABLE

from ..case import Case, Failure, Sample
from ..draws import Draws
from ..places import vary_places

draw = Draws(__name__)

_INVALID = tf.errors.InvalidArgumentError
_ROWS = np.array([2, 0, 2])
_PLACES = np.array([[2, 1], [0, 0], [2, 1]])


def _attrs(how):
    return {"op_name": "ResourceScatter", "how": how}


def _combined(old, new, how):
    if how == "div" and np.asarray(old).dtype.kind == "i":
        return np.trunc(old / new).astype(old.dtype)
    return {
        "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide,
        "min": np.minimum, "max": np.maximum, "put": lambda a, b: b,
    }[how](old, new)  # fmt: skip


def _rows(variable, indices, updates, op_name, how):
    out = np.array(variable)
    updates = np.broadcast_to(updates, indices.shape + variable.shape[1:])
    for place in np.ndindex(indices.shape):
        out[indices[place]] = _combined(out[indices[place]], updates[place], how)
    return out


def _places(variable, indices, updates, op_name, how):
    out = np.array(variable)
    for place in np.ndindex(indices.shape[:-1]):
        where = tuple(indices[place])
        out[where] = _combined(out[where], updates[place], how)
    return out


CASES = [
    Case(
        op="ScatterRows",
        samples=[
            *[
                Sample((draw.positive(3, 2), _ROWS, draw.positive(3, 2)), _attrs(how))
                for how in ("add", "sub", "mul", "div", "min", "max", "put")
            ],
            Sample((draw.positive(3, 9), _ROWS, draw.positive(3, 9)), _attrs("add")),
            Sample((draw.positive(3, 2), _ROWS, draw.positive()), _attrs("add")),
            Sample((draw.positive(3), np.int64(1), draw.positive()), _attrs("put")),
            Sample((np.array([-7, 7]), np.array([0, 1, 0]), np.array([2, -2, 2])), _attrs("div")),
            Sample((draw.positive(3), np.empty((0,), int), np.empty(0)), _attrs("add")),
            Sample((draw.strings(3), _ROWS, draw.strings(3)), _attrs("put")),
        ],
        reference=_rows,
        state=NON_DIFFERENTIABLE,
        vary=vary_places,
        failures=[
            Failure(
                (draw.positive(3), np.array([3]), draw.positive(1)), _attrs("add"),
                _INVALID, r"indices\[0\] = 3 is not in \[0, 3\)",
            ),
            Failure(
                (draw.positive(3, 2), _ROWS, draw.positive(3, 3)), _attrs("add"),
                _INVALID, r"updates.shape \[3,3\], indices.shape \[3\], params.shape \[3,2\]",
            ),
            Failure(
                (np.array([1]), np.array([0]), np.array([0])), _attrs("div"),
                _INVALID, "Integer division by zero",
            ),
        ],
    ),
    Case(
        op="ScatterPlaces",
        samples=[
            *[
                Sample((draw.positive(3, 2), _PLACES, draw.positive(3)), _attrs(how))
                for how in ("add", "sub", "min", "max", "put")
            ],
            Sample((draw.positive(3, 2), _PLACES[:, :1], draw.positive(3, 2)), _attrs("add")),
            Sample((draw.positive(2, 3, 2), _PLACES[1:2], draw.positive(1, 2)), _attrs("put")),
        ],
        reference=_places,
        state=NON_DIFFERENTIABLE,
        vary=vary_places,
        failures=[
            Failure(
                (draw.positive(3, 2), np.array([[0, 2]]), draw.positive(1)), _attrs("add"),
                _INVALID, r"indices\[0\] = \[0, 2\] does not index into shape \[3,2\]",
            ),
            Failure(
                (draw.positive(3, 2), _PLACES, draw.positive(2)), _attrs("add"),
                _INVALID, "must match",
            ),
        ],
    ),
]  # fmt: skip

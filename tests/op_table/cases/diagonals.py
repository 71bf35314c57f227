"""Cases of gradtape.ops.diagonals."""

import numpy as np

from gradtape.core.errors import InvalidArgumentError

from ..case import Case, Failure, Sample
from ..draws import Draws

draw = Draws(__name__)

ALIGNMENTS = ("LEFT_RIGHT", "RIGHT_LEFT", "LEFT_LEFT", "RIGHT_RIGHT")


def _place(rows, columns, k, align):
    """For each packed element the row and column it belongs to, or None: one by one."""
    lengths = {d: sum([0 <= i + d < columns for i in range(rows)]) for d in range(k[0], k[1] + 1)}
    longest = max(lengths.values())
    above, below = align.split("_")
    places = {}
    for position, d in enumerate(range(k[1], k[0] - 1, -1)):
        side = above if d >= 0 else below
        offset = longest - lengths[d] if side == "RIGHT" else 0
        for i in range(lengths[d]):
            places[position, offset + i] = (i - min(d, 0), i + max(d, 0))
    return places, (k[1] - k[0] + 1, longest)


def _diag_part(input, k, align):
    rows, columns = input.shape[-2:]
    places, size = _place(rows, columns, k, align)
    packed = np.zeros((*input.shape[:-2], *size), input.dtype)
    for (position, i), (row, column) in places.items():
        packed[..., position, i] = input[..., row, column]
    return packed[..., 0, :] if k[0] == k[1] else packed


def _put(matrices, diagonal, k, align):
    rows, columns = matrices.shape[-2:]
    places, _ = _place(rows, columns, k, align)
    packed = diagonal[..., None, :] if k[0] == k[1] else diagonal
    for (position, i), (row, column) in places.items():
        matrices[..., row, column] = packed[..., position, i]
    return matrices


def _diag(diagonal, k, num_rows, num_cols, align):
    lead = diagonal.shape[:-1] if k[0] == k[1] else diagonal.shape[:-2]
    return _put(np.zeros((*lead, num_rows, num_cols), diagonal.dtype), diagonal, k, align)


def _attrs(k, align="RIGHT_LEFT"):
    return {"k": k, "align": align}


def _sized(k, rows, columns, align="RIGHT_LEFT"):
    return {"k": k, "num_rows": rows, "num_cols": columns, "align": align}


def _band_part(input, num_lower, num_upper):
    rows, columns = np.indices(input.shape[-2:])
    inside = (num_lower < 0) | (rows - columns <= num_lower)
    inside &= (num_upper < 0) | (columns - rows <= num_upper)
    return np.where(inside, input, np.zeros((), input.dtype))


CASES = [
    Case(
        op="MatrixDiagPartV3",
        samples=[
            Sample((draw.uniform(3, 3),), _attrs((0, 0))),
            Sample((draw.uniform(2, 2, 4),), _attrs((1, 1))),
            Sample((draw.uniform(4, 2),), _attrs((-2, -2))),
            *[Sample((draw.uniform(3, 4),), _attrs((-2, 1), align)) for align in ALIGNMENTS],
            Sample((draw.uniform(2, 4, 3),), _attrs((-3, -1))),
            Sample((draw.uniform(3, 4),), _attrs((1, 3))),
            Sample((np.zeros((2, 0, 3)),), _attrs((0, 0))),
            Sample((draw.complex_uniform(2, 3),), _attrs((0, 1))),
            Sample((draw.integers(3, 2),), _attrs((-1, 0))),
        ],
        reference=_diag_part,
        raw=lambda input, k, align: {
            "input": input,
            "k": np.array(k, np.int32),
            "padding_value": np.zeros((), input.dtype),
            "align": align,
        },
        failures=[
            Failure((draw.uniform(3),), _attrs((0, 0)), InvalidArgumentError, "at least 2-dim"),
            Failure((draw.uniform(2, 3),), _attrs((3, 3)), InvalidArgumentError, "out of bound: 3"),
            Failure((draw.uniform(2, 3),), _attrs((0, 0), "x"), InvalidArgumentError, "align"),
        ],
    ),
    Case(
        op="MatrixDiagV3",
        samples=[
            Sample((draw.uniform(3),), _sized((0, 0), 3, 3)),
            Sample((draw.uniform(2, 2),), _sized((1, 1), 3, 3)),
            Sample((draw.uniform(2),), _sized((-1, -1), 3, 4)),
            *[Sample((draw.uniform(4, 3),), _sized((-2, 1), 3, 4, align)) for align in ALIGNMENTS],
            Sample((draw.uniform(2, 2, 3),), _sized((-1, 0), 3, 3)),
            Sample((np.zeros((2, 0)),), _sized((0, 0), 0, 0)),
            Sample((draw.complex_uniform(2, 3),), _sized((0, 1), 3, 3)),
            Sample((draw.integers(3),), _sized((0, 0), 3, 3)),
        ],
        reference=_diag,
        raw=lambda diagonal, k, num_rows, num_cols, align: {
            "diagonal": diagonal,
            "k": np.array(k, np.int32),
            "num_rows": np.array(num_rows, np.int32),
            "num_cols": np.array(num_cols, np.int32),
            "padding_value": np.zeros((), diagonal.dtype),
            "align": align,
        },
        failures=[
            Failure((draw.uniform(2),), _sized((0, 0), 2, 2, "x"), InvalidArgumentError, "'align'"),
        ],
    ),
    Case(
        op="MatrixSetDiagV3",
        samples=[
            Sample((draw.uniform(3, 3), draw.uniform(3)), _attrs((0, 0))),
            Sample((draw.uniform(2, 2, 4), draw.uniform(2, 2)), _attrs((1, 1))),
            *[
                Sample((draw.uniform(3, 4), draw.uniform(4, 3)), _attrs((-2, 1), align))
                for align in ALIGNMENTS
            ],
            Sample((np.zeros((0, 2, 2)), np.zeros((0, 2))), _attrs((0, 0))),
            Sample((draw.complex_uniform(2, 3), draw.complex_uniform(2)), _attrs((0, 0))),
            Sample((draw.integers(2, 3), draw.integers(2)), _attrs((0, 0))),
        ],
        reference=lambda input, diagonal, k, align: _put(input.copy(), diagonal, k, align),
        failures=[
            Failure(
                (draw.uniform(3), draw.uniform(3)), _attrs((0, 0)), InvalidArgumentError,
                "input must be at least 2-dim",
            ),
            Failure(
                (draw.uniform(3, 3), draw.uniform(2)), _attrs((0, 0)), InvalidArgumentError,
                "Expected diagonal shape: .3.",
            ),
            Failure(
                (draw.uniform(3, 3), draw.uniform(1, 3)), _attrs((0, 1)), InvalidArgumentError,
                "number of diagonals provided in `diag`",
            ),
            Failure(
                (draw.uniform(2, 2), draw.uniform(2)), _attrs((5, 5)), InvalidArgumentError,
                "out of bound: 5",
            ),
            Failure(
                (draw.uniform(2, 2), draw.integers(2)), _attrs((0, 0)), InvalidArgumentError,
                "expected to be a double tensor but is a int64",
            ),
        ],
    ),
    Case(
        op="MatrixBandPart",
        samples=[
            Sample((draw.uniform(3, 4),), {"num_lower": 1, "num_upper": 0}),
            Sample((draw.uniform(4, 3),), {"num_lower": -1, "num_upper": 1}),
            Sample((draw.uniform(2, 3, 3),), {"num_lower": 0, "num_upper": -1}),
            Sample((draw.uniform(3, 4),), {"num_lower": -1, "num_upper": -1}),
            Sample((draw.uniform(3, 4),), {"num_lower": 3, "num_upper": 4}),
            Sample((np.zeros((2, 0)),), {"num_lower": 0, "num_upper": 0}),
            Sample((draw.complex_uniform(2, 2),), {"num_lower": 0, "num_upper": 0}),
            Sample((draw.integers(2, 2),), {"num_lower": 0, "num_upper": 0}),
            Sample((draw.booleans(2, 2),), {"num_lower": 0, "num_upper": -1}),
        ],
        reference=_band_part,
        failures=[
            Failure(
                (draw.uniform(3, 4),), {"num_lower": 5, "num_upper": 0}, InvalidArgumentError,
                r"number of rows \(3\) got: 5",
            ),
            Failure(
                (draw.uniform(3, 4),), {"num_lower": 0, "num_upper": 5}, InvalidArgumentError,
                r"number of columns \(4\) got: 5",
            ),
            Failure(
                (draw.uniform(3),), {"num_lower": 0, "num_upper": 0}, InvalidArgumentError,
                "at least 2-dim",
            ),
        ],
    ),
]  # fmt: skip

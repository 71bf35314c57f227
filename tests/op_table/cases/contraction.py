"""Cases of gradtape.ops.contraction."""

import itertools

import numpy as np

from gradtape.core.errors import InvalidArgumentError

from ..case import Case, Failure, Sample
from ..draws import Draws

draw = Draws(__name__)


def _flags(a=False, b=False):
    return {"transpose_a": a, "transpose_b": b}


def _product(a, b, transpose_a, transpose_b):
    a = np.swapaxes(a, -1, -2) if transpose_a else a
    b = np.swapaxes(b, -1, -2) if transpose_b else b
    return np.einsum("...ij,...jk->...ik", a, b)


def _every_transpose(lead_a, lead_b):
    """Products of (2, 3) and (3, 4) matrices, each given straight and transposed."""
    return [
        Sample(
            (
                draw.uniform(*lead_a, *((3, 2) if a else (2, 3))),
                draw.uniform(*lead_b, *((4, 3) if b else (3, 4))),
            ),
            _flags(a, b),
        )
        for a, b in itertools.product((False, True), repeat=2)
    ]


def _dtype_failures(*shape):
    return [
        Failure(
            (draw.uniform(*shape), draw.integers(*shape)),
            _flags(),
            InvalidArgumentError,
            r"input #1\(zero-based\) was expected to be a double tensor but is a int64 tensor",
        ),
        Failure(
            (draw.booleans(*shape), draw.booleans(*shape)),
            _flags(),
            InvalidArgumentError,
            "bool is not in the list of allowed values",
        ),
        Failure(
            (draw.strings(*shape), draw.strings(*shape)),
            _flags(),
            InvalidArgumentError,
            "string is not in the list of allowed values",
        ),
    ]


CASES = [
    Case(
        op="MatMul",
        samples=[
            *_every_transpose((), ()),
            Sample((draw.uniform(1, 1), draw.uniform(1, 2)), _flags()),
            Sample((draw.uniform(2, 3), draw.uniform(3, 1)), _flags()),
            Sample((draw.uniform(2, 0), draw.uniform(0, 3)), _flags()),
            Sample((draw.uniform(0, 2), draw.uniform(2, 3)), _flags()),
            Sample((draw.complex_uniform(2, 3), draw.complex_uniform(2, 3)), _flags(b=True)),
            Sample((draw.integers(2, 3), draw.integers(3, 2)), _flags()),
            Sample(
                (draw.integers(2, 3, dtype=np.int8), draw.integers(2, 2, dtype=np.int8)),
                _flags(a=True),
            ),
        ],
        reference=_product,
        failures=[
            *_dtype_failures(2, 2),
            Failure(
                (draw.uniform(2, 3), draw.uniform(2, 3)),
                _flags(),
                InvalidArgumentError,
                r"Matrix size-incompatible: In\[0\]: \[2,3\], In\[1\]: \[2,3\]",
            ),
            Failure(
                (draw.uniform(2, 3), draw.uniform(3, 2)),
                _flags(a=True),
                InvalidArgumentError,
                "Matrix size-incompatible",
            ),
            Failure(
                (draw.uniform(2, 3), draw.uniform(3)),
                _flags(),
                InvalidArgumentError,
                r"In\[0\] and In\[1\] has different ndims: \[2,3\] vs. \[3\]",
            ),
            Failure(
                (draw.uniform(3), draw.uniform(3)),
                _flags(),
                InvalidArgumentError,
                r"In\[0\] and In\[1\] ndims must be == 2: 1",
            ),
        ],
    ),
    Case(
        op="BatchMatMulV2",
        raw=lambda a, b, transpose_a, transpose_b: {
            "x": a,
            "y": b,
            "adj_x": transpose_a,
            "adj_y": transpose_b,
        },
        samples=[
            *_every_transpose((2,), (2,)),
            *_every_transpose((2,), ()),
            *_every_transpose((), (2,)),
            *_every_transpose((2, 1), (3,)),
            *_every_transpose((), ()),
            Sample((draw.uniform(0, 2, 3), draw.uniform(3, 2)), _flags()),
            Sample((draw.uniform(2, 2, 0), draw.uniform(0, 2)), _flags()),
            Sample((draw.uniform(0, 2, 3), draw.uniform(1, 3, 2)), _flags()),
            Sample((draw.complex_uniform(2, 2, 3), draw.complex_uniform(3, 2)), _flags()),
            Sample((draw.complex_uniform(2, 1, 2), draw.complex_uniform(2, 1, 2)), _flags(a=True)),
            Sample((draw.integers(2, 2, 3), draw.integers(3, 2)), _flags()),
            Sample((draw.integers(2, 1, 3), draw.integers(2, 3, 1)), _flags()),
        ],
        reference=_product,
        failures=[
            *_dtype_failures(2, 2, 2),
            Failure(
                (draw.uniform(2, 2, 3), draw.uniform(3, 3, 2)),
                _flags(),
                InvalidArgumentError,
                r"must have compatible batch dimensions: \[2,2,3\] vs. \[3,3,2\]",
            ),
            Failure(
                (draw.uniform(2, 2, 3), draw.uniform(2, 3)),
                _flags(),
                InvalidArgumentError,
                r"Matrix size-incompatible: In\[0\]: \[2,2,3\], In\[1\]: \[2,3\]",
            ),
            Failure(
                (draw.uniform(2, 2, 3), draw.uniform(3)),
                _flags(),
                InvalidArgumentError,
                r"In\[1\] ndims must be >= 2: 1",
            ),
        ],
    ),
]

"""What a case says of an op: samples to try it on, a reference, and inputs it must refuse.

A case is written once, in the file named after the row's, and drives every check in `checks`:

    from ..case import Case, Failure, Sample
    from ..draws import Draws

    draw = Draws(__name__)

    CASES = [
        Case(
            op="Sum",
            samples=[
                Sample((draw.uniform(2, 3),), {"axis": (0,), "keepdims": False}),
                Sample((draw.uniform(0, 3),), {"axis": (0,), "keepdims": True}),
                Sample((draw.complex_uniform(3),), {"axis": (-1,), "keepdims": False}),
                Sample((draw.integers(3, 2, dtype=np.int32),), {"axis": (1,), "keepdims": False}),
            ],
            reference=lambda x, axis, keepdims: np.sum(x, axis, x.dtype, keepdims=keepdims),
            failures=[
                Failure(
                    (draw.uniform(2),), {"axis": (1,), "keepdims": False},
                    InvalidArgumentError, "Invalid reduction dimension",
                ),
            ],
        ),
    ]

Attributes are those of the row, normalised, not the public function's arguments: `apply(op, inputs,
attrs)` is what is tested. `draws` makes arrays, `samples` the samples and failures that suit any
elementwise op, `strategies` Hypothesis strategies.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from hypothesis.strategies import SearchStrategy

from gradtape.core.op import DIFFERENTIABLE


@dataclass(frozen=True)
class Sample:
    """Inputs and attributes an op is tried on.

    Attributes:
        inputs: one array for each input (for an op of any number of inputs, as many as it gets).
            float64 and complex128 arrays are what gradients are checked in; they are cast to the
            other dtypes the op takes for a further comparison of values. Arrays of other dtypes are
            indices, conditions and the like, and stay as they are; except that if all inputs are
            int64 and the row says which dtypes it accepts, they are cast to each accepted integer
            dtype. Keep them small (up to about 30 elements) and, where gradients are checked, 0.01
            away from kinks, jumps and the edge of the domain.
        attrs: the row's attributes.
        expected: the value, where it is better written down than computed by the reference.
        gradient: False to compare values only: at a kink, with NaN, where differences mean nothing.
        batch_inputs: overrides the case's for this sample.
        raw: the keyword arguments of the same call by `tf.raw_ops`, where the case's `raw` or the
            row's cannot tell them; arrays are tensors.
    """

    inputs: Sequence[Any]
    attrs: dict[str, Any] = field(default_factory=dict)
    expected: Any = None
    gradient: bool = True
    batch_inputs: Sequence[int | str] | None = None
    raw: dict[str, Any] | None = None

    def __post_init__(self):
        object.__setattr__(self, "inputs", tuple(np.asarray(x) for x in self.inputs))


@dataclass(frozen=True)
class Failure:
    """Inputs and attributes an op must refuse.

    Attributes:
        inputs: one array for each input.
        attrs: the row's attributes.
        error: the exception class, TensorFlow's.
        match: a regular expression that occurs in the message.
    """

    inputs: Sequence[Any]
    attrs: dict[str, Any]
    error: type[Exception]
    match: str

    def __post_init__(self):
        object.__setattr__(self, "inputs", tuple(np.asarray(x) for x in self.inputs))


@dataclass(frozen=True, kw_only=True, repr=False)
class Case:
    """Everything the checks need to know of one op.

    Attributes:
        op: the row's name, TensorFlow's op type.
        samples: what to try it on: ranks 0 to 4, size 0 where that means something, broadcasting,
            negative axes, every attribute; at least one complex sample if the row accepts complex
            numbers, and one of int64 if it accepts integers (a test demands both).
        reference: `reference(*inputs, **attrs)`, by NumPy or SciPy, not by gradtape; gives an
            array of the dtype the op must give too, or a tuple of them for an op with several
            outputs. Other floating dtypes are compared with what it gives in float64 for the
            rounded inputs.
        verify: instead of a reference, `verify(outputs, inputs, attrs)` asserts what must hold of a
            value that cannot be foretold; `outputs` is a tuple of arrays.
        failures: what it must refuse.
        dtypes: names of the floating and complex dtypes, besides float64 and complex128, in which
            values are compared; None for those the row accepts, and if it does not say, for all.
        state: DIFFERENTIABLE, NON_DIFFERENTIABLE (gradients end: None) or UNREGISTERED (asking for
            one is a LookupError), from `gradtape.core.op`; must be the row's.
        differentiable: names of the inputs that have gradients; None for every floating and complex
            one. The others' gradients must be None.
        direction: `direction(rng, x, position)`, a random direction to step from input `x`, for ops
            whose domain is not open (symmetric matrices, say); None for a normal one.
        skip_second_order: why the second derivative is not checked, in words; "" if it is.
        tolerance: how many times less accurate values and gradients may be than those of a well
            conditioned op; more than 1 needs a comment that says why.
        batch_inputs: names, or positions, of the inputs that may carry a batch axis; None for all.
        vary: `vary(x, k)`, the k-th (0 to 2) of the different values that are stacked to a batch;
            None scales floating arrays and rolls others.
        random: the op draws random numbers: what its value is must come from `verify`, and results
            of two calls are compared in shape and dtype only.
        generated: a Hypothesis strategy for further samples, whose value, inferred shape and dtype,
            and shapes of gradients are checked; see `strategies`.
        raw: `raw(*inputs, **attrs)`, the keyword arguments of the same call by `tf.raw_ops`, for a
            row whose own `raw` is a function; None if those are called like the row's inputs and
            attributes. It returns None for what TensorFlow's op cannot do. With them TensorFlow's
            answers are recorded; see `answers`.
    """

    op: str
    samples: Sequence[Sample]
    reference: Callable[..., Any] | None = None
    verify: Callable[..., None] | None = None
    failures: Sequence[Failure] = ()
    dtypes: Sequence[str] | None = None
    state: str = DIFFERENTIABLE
    differentiable: Sequence[str] | None = None
    direction: Callable[..., Any] | None = None
    skip_second_order: str = ""
    tolerance: float = 1.0
    batch_inputs: Sequence[int | str] | None = None
    vary: Callable[..., Any] | None = None
    random: bool = False
    generated: SearchStrategy[Sample] | None = None
    raw: Callable[..., dict[str, Any] | None] | None = None

    def __post_init__(self):
        if (self.reference is None) == (self.verify is None):
            raise ValueError(f"The case of {self.op} needs either `reference` or `verify`.")
        if self.random and self.verify is None:
            raise ValueError(f"The case of {self.op} is random: give `verify`.")
        if not self.samples:
            raise ValueError(f"The case of {self.op} has no samples.")

    def __repr__(self):
        return f"Case({self.op})"

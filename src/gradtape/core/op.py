"""Op: everything gradtape knows of one operation, and the registry of all of them.

Derivative rules are plain functions whose parameter names say what they read, so that recording
can keep exactly that. The vocabulary:

    g            the gradient (or, for a tangent rule, the tangent) that comes in; the name is free
    x            an input, by the name the row gives it
    x_shape      an input's shape, without keeping the input alive; likewise `x_dtype`
    out          the output (a tuple for an op with several)
    out_shape    the output's shape
    *, axis      keyword-only: attributes of the op

A row whose inputs are written `*values` has a variable number of them; there `values` and
`values_shape` are tuples, and the rule returns one gradient for each. A rule for all inputs at
once may ask, keyword-only, for `wanted`: a list that says which gradients will be used.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np


class Spec(NamedTuple):
    """The shape and dtype of a value that is not at hand; infer returns these."""

    shape: tuple
    dtype: np.dtype

    @property
    def ndim(self):
        return len(self.shape)


# How gradients pass through an op.
DIFFERENTIABLE = "differentiable"
NON_DIFFERENTIABLE = "non-differentiable"  # by definition: the path ends, the gradient is None
UNREGISTERED = "unregistered"  # differentiable, but nobody has written the rule: LookupError


@dataclass(slots=True, eq=False)
class Op:
    """One row of the op table, completed by its family.

    Attributes:
        name: TensorFlow's op type, the key of the gradient registry and of messages.
        inputs: names of the tensor inputs; one name starting with `*` for any number.
        kernel: the value, from arrays and attributes to an array (or a tuple of them).
        infer: shapes and dtypes from those of the inputs; raises the op's errors.
        vjp: for each input the adjoint rule, or None; or one joint rule for all inputs.
        jvp: `jvp(tangents, inputs, out, attrs)`, the output's tangent; None derives it from vjp.
        batch: `batch(op, values, flags, attrs)`, the op with one more leading axis.
        state: whether gradients pass, end, or are missing.
        outputs: number of outputs if fixed and more than one; -1 if attributes decide; 1 else.
        checked: infer looks at every eager call; otherwise only when the kernel has failed.
        accepts: for ops on equal dtypes, those allowed; looked at in every eager call.
        holomorphic: the rules are written for real numbers and extend to complex ones by
            conjugating before and after.
        takes_sparse: the adjoint accepts IndexedSlices for `g`.
        by_user: the gradient is a function of the user's, and its results are looked at; what is
            saved first are the inputs, or their dtypes.
        call: the function that applies the op to tensors or, inside rules, to arrays.
        on_tensors: for elementwise ops of one or two inputs, the fast way to apply them.
        broadcasts: for ops whose inputs broadcast, the function that sums a gradient back to
            its input's shape.
        raw: how `tf.raw_ops` calls it: TensorFlow's arguments in order, each with the row's name
            for it where that differs and its default: `"input:x, axis, keep_dims:keepdims=False"`.
            A name that the row does not have is followed by `:_` if it does not change the result,
            by `:` if only its default is supported; `:axis=-1` is an attribute of the row that
            TensorFlow's op does not have; `-> values, indices` names several results.
            None if both use the same names; False if TensorFlow has no such op type; or a function
            with TensorFlow's parameters where more than names differ.
    """

    name: str
    inputs: tuple[str, ...]
    kernel: Callable[..., Any]
    infer: Callable[..., Any]
    vjp: Any = None
    jvp: Callable[..., Any] | None = None
    batch: Callable[..., Any] | None = None
    state: str = DIFFERENTIABLE
    outputs: int = 1
    checked: bool = False
    holomorphic: bool = True
    takes_sparse: bool = False
    by_user: bool = False
    broadcasts: Callable[..., Any] | None = None
    accepts: frozenset | None = None
    raw: Any = None
    call: Any = None
    on_tensors: Any = field(default=None, repr=False)
    record: Any = field(default=None, repr=False)
    tensor_rules: Any = field(default=None, repr=False)
    array_rules: Any = field(default=None, repr=False)

    @property
    def joint(self):
        """Whether one rule gives the gradients of all inputs at once."""
        return self.state == UNREGISTERED or callable(self.vjp)

    @property
    def variadic(self):
        return self.inputs[0].startswith("*")

    def __repr__(self):
        return f"<Op {self.name}>"


OPS: dict[str, Op] = {}


def declare_the_rest():
    """Imports the rows that are loaded on demand; set by what knows of them."""


def find_op(name):
    """The op of that name, or None; looked for everywhere."""
    if name not in OPS:
        declare_the_rest()
    return OPS.get(name)


class Recorder:
    """What can be active on a thread and see the ops that are applied.

    The two kinds differ in what an op does for them: on a tape it records itself, in its own
    compiled way; any other recorder is told.
    """

    __slots__ = ()
    is_tape = False
    # Whether it looks at every op, whatever it follows.
    sees_everything = False
    # Whether it only looks: nothing is differentiated for its sake.
    is_silent = False
    # Whether it was taken off its thread while a trace hid it.
    is_stopped = False

    def record(self, op, attrs, inputs, out):
        """Sees that `op` gave `out`."""

    def record_rule(self, op, attrs, inputs, old, out):
        """Sees that a rule of the user's, `op`, gave `out` in the place of the tensors `old`.

        Returns:
            Whether that is all it has to be told.
        """
        return False

    def variable_read(self, variable):
        """Sees that a variable is read or written."""

    def tensor_leaves(self, tensor):
        """Sees that a tensor's value is taken as a NumPy array."""

    def tracks(self, ids):
        """Whether it follows a tensor with one of these ids."""
        return False


def register(op):
    """Adds `op` to the table and returns the function that applies it."""
    if op.name in OPS:
        raise ValueError(f"Op {op.name!r} is registered twice: each op is one row.")
    OPS[op.name] = op
    return op.call

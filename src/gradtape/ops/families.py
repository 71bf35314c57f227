"""Families of ops, named by their mathematics: each derives what its rows need not say.

    linear           the tangent is the op itself; the adjoint is its transpose
    multilinear      linear in each input: matmul, einsum, convolution
    opaque           everything is written out
    non_differentiable   gradients end here, by definition
    unregistered     differentiable, but without a rule until the user registers one

`elementwise` has a file of its own. A function that is a composition of ops needs no row at all.

Rules read what their parameter names say (see `core.op`). A batch rule is called as
`batch(op, values, flags, attrs)`: `values` are the inputs, those with a true flag carrying one
more leading axis, and so does the result. Kernels get arrays or NumPy scalars.
"""

from ..core.dispatch import apply, make_call
from ..core.op import NON_DIFFERENTIABLE, UNREGISTERED, Op, register
from ..core.rules import call_rule
from ..core.tensor import Tensor


def _row(name, inputs, kernel, infer, **fields):
    op = Op(name, tuple(inputs.split()), kernel, infer, **fields)
    op.call = make_call(op)
    return register(op)


def linear(name, kernel, *, infer, transpose, batch, inputs="x", **fields):
    """An op that is linear in its first input; further inputs, as indices, have no derivative.

    Args:
        transpose: the adjoint rule; for a row with inputs `*values`, of all of them at once.
    """
    names = inputs.split()
    if names[0].startswith("*"):
        vjp, jvp = transpose, _jvp_of_all
    else:
        vjp, jvp = (transpose,) + (None,) * (len(names) - 1), _jvp_of_first
    return _row(
        name, inputs, kernel, infer, vjp=vjp, jvp=jvp, batch=batch,
        **{"holomorphic": False, "checked": True, **fields},
    )  # fmt: skip


def _jvp_of_first(op, tangents, inputs, out, attrs):
    return apply(op, (tangents[0], *inputs[1:]), attrs)


def _jvp_of_all(op, tangents, inputs, out, attrs):
    from .creation import zeros_like

    filled = [zeros_like(x) if t is None else t for t, x in zip(tangents, inputs, strict=True)]
    return apply(op, tuple(filled), attrs)


def multilinear(name, kernel, *, infer, batch, inputs=None, **rules):
    """An op that is linear in each input by itself, written for real numbers.

    Args:
        rules: by input name, the adjoint with respect to that input (None where there is none).
    """
    fields = {key: rules.pop(key) for key in ("checked", "outputs", "raw") if key in rules}
    if inputs is None:
        inputs = " ".join(rules)
    vjp = rules["vjp"] if "vjp" in rules else tuple([rules[n] for n in inputs.split()])
    return _row(
        name, inputs, kernel, infer, vjp=vjp, jvp=_jvp_of_each, batch=batch,
        **{"checked": True, **fields},
    )  # fmt: skip


def _jvp_of_each(op, tangents, inputs, out, attrs):
    from .arithmetic import add

    total = None
    for i, tangent in enumerate(tangents):
        if tangent is not None:
            term = apply(op, (*inputs[:i], tangent, *inputs[i + 1 :]), attrs)
            total = term if total is None else add(total, term)
    return total


def opaque(name, kernel, *, inputs, infer, vjp, batch, jvp=None, **fields):
    """An op with every rule written out.

    Args:
        vjp: a dict from input names to adjoint rules, or one joint rule that returns the
            gradients of all inputs as a sequence.
        jvp: the tangent of the output, with the parameters `(tangents, inputs, out, attrs)`; if
            None it is derived by transposing the adjoint.
    """
    if isinstance(vjp, dict):
        unknown = set(vjp) - set(inputs.split())
        if unknown:
            raise ValueError(f"Op {name!r} has no inputs {sorted(unknown)}: they are {inputs}.")
        vjp = tuple([vjp.get(each) for each in inputs.split()])
    tangent = None if jvp is None else (lambda op, *arguments: jvp(*arguments))
    return _row(
        name, inputs, kernel, infer, vjp=vjp, jvp=tangent, batch=batch,
        **{"checked": True, **fields},
    )  # fmt: skip


def non_differentiable(name, kernel, *, inputs, infer, batch, **fields):
    """An op through which no gradient passes, by definition: the path ends and gives None."""
    return _row(
        name, inputs, kernel, infer, batch=batch, state=NON_DIFFERENTIABLE,
        **{"checked": True, **fields},
    )  # fmt: skip


def unregistered(name, kernel, *, inputs, infer, batch, **fields):
    """An op that could be differentiated but has no registered gradient: asking is an error."""
    return _row(
        name, inputs, kernel, infer, batch=batch, state=UNREGISTERED, **{"checked": True, **fields}
    )


def shape_of(x):
    """The shape of a tensor or array, as a tuple."""
    return x._value.shape if isinstance(x, Tensor) else x.shape


def dtype_of(x):
    """The NumPy dtype of a tensor or array."""
    return x._value.dtype if isinstance(x, Tensor) else x.dtype


__all__ = [
    "call_rule", "dtype_of", "linear", "multilinear", "non_differentiable", "opaque", "shape_of",
    "unregistered",
]  # fmt: skip

"""Einsum: contractions written as equations."""

import functools
import re
import string

from ..core import dtypes
from ..core.convert import operands
from ..core.dispatch import apply
from ..core.errors import invalid_argument
from ..core.exports import export
from ..core.op import Spec
from .broadcasting import broadcast_to, not_allowed, reshape, words
from .diagonals import diag_part
from .einsum_kernel import contract, terms_of
from .families import multilinear, shape_of
from .manipulation import transpose_row
from .pointwise import dtype_mismatch


@functools.lru_cache(maxsize=4096)
def _out_shape(equation, shapes):
    terms, out = terms_of(equation)
    sizes = {}
    for i, (labels, shape) in enumerate(zip(terms, shapes, strict=True)):
        if len(labels) != len(shape):
            raise _wrong_rank(i, len(labels), len(shape))
        for axis, (label, size) in enumerate(zip(labels, shape, strict=True)):
            if sizes.setdefault(label, size) != size:
                raise _wrong_size(sizes[label], axis, shape)
    return tuple([sizes[label] for label in out])


def _wrong_rank(position, expected, rank):
    return invalid_argument(
        "Einsum", f"Expected input {position} to have rank {expected} but got: {rank}"
    )


def _wrong_size(expected, axis, shape):
    return invalid_argument(
        "Einsum",
        f"Expected dimension {expected} at axis {axis} of the input shaped {words(shape)} but got "
        f"dimension {shape[axis]}",
    )


def _infer(*inputs, equation):
    dtype = inputs[0].dtype
    for i, x in enumerate(inputs):
        if x.dtype != dtype:
            raise dtype_mismatch("Einsum", i, dtype, x.dtype)
    if dtype not in dtypes.NUMERIC:
        raise not_allowed("Einsum", dtype)
    return Spec(_out_shape(equation, tuple([x.shape for x in inputs])), dtype)


def _vjp(g, inputs, *, equation, wanted):
    """Each input's gradient is the contraction of `g` with the other inputs."""
    terms, out = terms_of(equation)
    grads = []
    for i, labels in enumerate(terms):
        if not wanted[i]:
            grads.append(None)
            continue
        others = [x for k, x in enumerate(inputs) if k != i]
        sources = [out, *[term for k, term in enumerate(terms) if k != i]]
        found = "".join([c for c in labels if any(c in term for term in sources)])
        d = einsum_row([g, *others], equation=f"{','.join(sources)}->{found}")
        if found != labels:  # what was summed over in this input alone
            shape = shape_of(inputs[i])
            thin = tuple([n if c in found else 1 for c, n in zip(labels, shape, strict=True)])
            d = broadcast_to(reshape(d, shape=thin), shape=shape)
        grads.append(d)
    return grads


def _batch(op, values, flags, attrs):
    terms, out = terms_of(attrs["equation"])
    label = _unused_letters(attrs["equation"])[0]
    terms = [label + term if flag else term for term, flag in zip(terms, flags, strict=True)]
    return op.call(values, equation=f"{','.join(terms)}->{label}{out}")


einsum_row = multilinear(
    "Einsum",
    contract,
    inputs="*inputs",
    infer=_infer,
    batch=_batch,
    vjp=_vjp,
    raw=lambda inputs, equation: einsum(equation, *inputs),
)

# The public function: makes any equation into one of those ----------------------------------------

_TERM = r"[a-zA-Z]*(\.\.\.)?[a-zA-Z]*"
_EQUATION = re.compile(f"{_TERM}(,{_TERM})*(->{_TERM})?")


@export("einsum linalg.einsum")
def einsum(equation, *inputs, **kwargs):
    """Contracts tensors as an equation such as `"ij,jk->ik"` says.

    A label that an input has twice takes its diagonal. `...` stands for any number of axes that
    broadcast. Without `->` the output has those, and then, in alphabetical order, the labels that
    occur once.

    Args:
        equation: the labels of the inputs' axes and, after `->`, of the output's.
        *inputs: the tensors.
        **kwargs: `optimize`, `greedy` and `name` are accepted; the order of products is always
            the one that costs least.

    Raises:
        ValueError: the equation is not well formed, or has another number of inputs.
        InvalidArgumentError: the equation does not fit the inputs' shapes or dtypes.
    """
    unknown = [key for key in kwargs if key not in ("name", "optimize", "greedy")]
    if unknown:
        raise TypeError(
            f"Invalid keyword arguments for einsum: {', '.join(unknown)}. Valid arguments: name, "
            "optimize, greedy."
        )
    tensors = operands(*inputs) if inputs else ()
    explicit, dots, repeats = _explicit(equation, tuple([len(x._value.shape) for x in tensors]))
    if dots or repeats:
        terms, out = terms_of(explicit)
        terms = list(terms)
        tensors = _broadcast(list(tensors), terms, dots)
        if repeats:
            tensors = [_diagonals(x, terms, i) for i, x in enumerate(tensors)]
        explicit = f"{','.join(terms)}->{out}"
    return apply(einsum_row.op, tuple(tensors), {"equation": explicit})


@functools.lru_cache(maxsize=1024)
def _explicit(equation, ranks):
    """An equation as the user wrote it, with all axes of its inputs labelled.

    Returns:
        The equation, the labels that `...` stands for, and whether a label occurs twice in a term.
    """
    written = equation.replace(" ", "")
    if not _EQUATION.fullmatch(written):
        raise ValueError(f"Subscripts have incorrect format: {equation}")
    left, arrow, out = written.partition("->")
    terms = left.split(",")
    if len(terms) != len(ranks):
        raise ValueError(
            f'Got {len(ranks)} inputs for equation "{equation}", expecting {len(terms)}'
        )
    missing = [_missing_axes(i, *each) for i, each in enumerate(zip(terms, ranks, strict=True))]
    dots = "".join(_unused_letters(written)[: max(missing)])
    terms = [
        term.replace("...", dots[len(dots) - count :])
        for term, count in zip(terms, missing, strict=True)
    ]
    joined = "".join(terms)
    if not arrow:
        out = "..." + "".join([c for c in sorted(joined) if joined.count(c) == 1 and c not in dots])
    _check_output(equation, out, joined, dots)
    repeats = any(len(set(term)) < len(term) for term in terms)
    return f"{','.join(terms)}->{out.replace('...', dots)}", dots, repeats


def _missing_axes(position, term, rank):
    """How many axes of an input `...` stands for."""
    named = len(term.replace("...", ""))
    if "..." in term:
        if rank < named:
            raise _wrong_rank(position, f"at least {named}", rank)
    elif rank != named:
        raise _wrong_rank(position, named, rank)
    return rank - named


def _unused_letters(equation):
    return [c for c in string.ascii_letters if c not in equation]


def _check_output(equation, out, joined, dots):
    for label in out.replace("...", ""):
        if out.count(label) > 1:
            raise ValueError(
                f"Output subscripts contain a label appearing more than once: {equation}"
            )
        if label not in joined:
            raise ValueError(
                f"Output subscripts contain the label {label} not present in the input subscripts."
            )
    if dots and "..." not in out:
        raise invalid_argument(
            "Einsum",
            f"Output contains {len(dots)} broadcasting dimension(s) but no ellipsis (...) was "
            "found in the output subscripts.",
        )


def _broadcast(tensors, terms, dots):
    """Takes from inputs those axes of `...` that are 1 where others are not; changes `terms`."""
    for label in dots:
        having = [i for i, term in enumerate(terms) if label in term]
        sizes = {i: tensors[i]._value.shape[terms[i].index(label)] for i in having}
        if len(set(sizes.values()) - {1}) > 1:
            shapes = " vs. ".join([words(tensors[i]._value.shape) for i in having])
            raise invalid_argument("Einsum", f"Invalid broadcasting dimensions: {shapes}")
        if len(set(sizes.values())) > 1:
            for i in having:
                if sizes[i] == 1:
                    tensors[i] = _without(tensors[i], terms[i].index(label))
                    terms[i] = terms[i].replace(label, "")
    return tensors


def _without(x, axis):
    shape = x._value.shape
    return apply(reshape.op, (x,), {"shape": shape[:axis] + shape[axis + 1 :]})


def _diagonals(x, terms, position):
    """The diagonal of an input along axes of one label, for each such label; changes `terms`."""
    labels = terms[position]
    while len(set(labels)) < len(labels):
        axis = next(k for k, c in enumerate(labels) if c in labels[:k])
        first = labels.index(labels[axis])
        shape = x._value.shape
        if shape[first] != shape[axis]:
            raise _wrong_size(shape[first], axis, shape)
        others = [k for k in range(len(labels)) if k not in (first, axis)]
        x = diag_part(apply(transpose_row.op, (x,), {"perm": (*others, first, axis)}))
        labels = "".join([labels[k] for k in (*others, first)])
    terms[position] = labels
    return x

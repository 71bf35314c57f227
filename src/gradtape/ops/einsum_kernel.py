"""How Einsum is carried out: as products of matrices, in the order that costs least.

Equations are explicit here: every axis has a label, and no label stands twice in a term.
"""

import functools
import math

import numpy as np

from .broadcasting import sum_, working_dtype


@functools.lru_cache(maxsize=1024)
def terms_of(equation):
    """The labels of each input and of the output of an equation."""
    left, out = equation.split("->")
    return tuple(left.split(",")), out


def contract(*inputs, equation):
    """The kernel of Einsum."""
    terms, out = terms_of(equation)
    dtype = inputs[0].dtype
    working = working_dtype(dtype)
    inputs = [np.asarray(x, working) for x in inputs]
    if len(inputs) == 1:
        result = _single(inputs[0], terms[0], out)
    elif len(inputs) == 2:
        result = _pair(inputs[0], inputs[1], terms[0], terms[1], out)
    else:
        result = _several(inputs, list(terms), out, equation)
    return result if working is dtype else result.astype(dtype)


def _permutation(have, wanted):
    """The order of axes that turns one order of labels into another; None if they are equal."""
    order = tuple([have.index(c) for c in wanted])
    return None if order == tuple(range(len(order))) else order


@functools.lru_cache(maxsize=1024)
def _single_plan(labels, out):
    gone = tuple([i for i, c in enumerate(labels) if c not in out])
    return gone, _permutation([c for c in labels if c in out], out)


def _single(x, labels, out):
    """Sums over the labels that the output does not have, and reorders the others."""
    gone, order = _single_plan(labels, out)
    if gone:
        x = sum_.op.kernel(x, gone, False)
    return x if order is None else x.transpose(order)


@functools.lru_cache(maxsize=1024)
def _pair_plan(left, right, out):
    """How two inputs are multiplied as matrices (batch, rows, inner) and (batch, inner, columns).

    Returns:
        For each input how to arrange it; whether there is a batch, and an inner label; and the
        order of the product's axes.
    """
    batch = [c for c in left if c in right and c in out]
    inner = [c for c in left if c in right and c not in out]
    rows = [c for c in left if c not in right and c in out]
    columns = [c for c in right if c not in left and c in out]
    return (
        _arrangement(left, batch, rows, inner),
        _arrangement(right, batch, inner, columns),
        bool(batch),
        bool(inner),
        _permutation(batch + rows + columns, out),
    )


def _arrangement(labels, batch, first, second):
    """What makes an input into matrices with the axes (batch, first, second).

    Returns:
        The axes to sum over first, the order of the others, how many of them are `batch` and how
        many come next, and whether the matrices come out transposed: where `second` comes before
        `first` already, that saves a copy.
    """
    kept = [c for c in labels if c in batch or c in first or c in second]
    gone = tuple([i for i, c in enumerate(labels) if c not in kept])
    is_transposed = bool(first) and bool(second) and kept == batch + second + first
    if is_transposed:
        return gone, None, len(batch), len(second), True
    return gone, _permutation(kept, batch + first + second), len(batch), len(first), False


def _matrices(x, arrangement):
    """The input as matrices, and the sizes of `batch`, `first` and `second`."""
    gone, order, batch, middle, is_transposed = arrangement
    if gone:
        x = sum_.op.kernel(x, gone, False)
    if order is not None:
        x = x.transpose(order)
    shape = x.shape
    groups = shape[:batch], shape[batch : batch + middle], shape[batch + middle :]
    x = x.reshape([math.prod(group) for group in groups])
    if is_transposed:
        return x.swapaxes(1, 2), groups[0], groups[2], groups[1]
    return x, *groups


def _pair(x, y, left, right, out):
    """The product of two inputs, summed over the labels that the output does not have."""
    plan_x, plan_y, has_batch, has_inner, order = _pair_plan(left, right, out)
    a, batch, rows, _ = _matrices(x, plan_x)
    b, _, _, columns = _matrices(y, plan_y)
    if not has_inner:
        product = a * b
    elif has_batch:
        product = np.matmul(a, b)
    else:
        product = np.dot(a[0], b[0])
    product = product.reshape(batch + rows + columns)
    return product if order is None else product.transpose(order)


@functools.lru_cache(maxsize=1024)
def _path(equation, shapes):
    """The order of products that costs least: tuples of positions in what is left."""
    arrays = [np.broadcast_to(np.float32(0), shape) for shape in shapes]
    method = "optimal" if len(shapes) < 6 else "greedy"
    return np.einsum_path(equation, *arrays, optimize=method)[0][1:]


def _several(inputs, terms, out, equation):
    for step in _path(equation, tuple([x.shape for x in inputs])):
        chosen = [(inputs.pop(i), terms.pop(i)) for i in sorted(step, reverse=True)]
        x, labels = chosen.pop()
        while chosen:
            y, others = chosen.pop()
            needed = set(out).union(*terms, *[rest for _, rest in chosen])
            kept = "".join(dict.fromkeys([c for c in labels + others if c in needed]))
            x, labels = _pair(x, y, labels, others, kept), kept
        inputs.append(x)
        terms.append(labels)
    return _single(inputs[0], terms[0], out)

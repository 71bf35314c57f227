"""Combining the rows of embedding matrices that sparse ids name."""

import numpy as np

from ..core.dispatch import apply
from ..core.exports import export
from ..core.sparse_tensor import SparseTensor
from ..core.tensor import EagerTensor
from .arithmetic import mul, real_div
from .broadcasting import reshape
from .casting import cast
from .elementwise import sqrt, square
from .embedding import embedding_lookup
from .manipulation import reshape_public
from .scatter import segment_sum
from .selection import select
from .sparse import fill_empty_rows, reshape as reshape_sparse, retain, sparse_of

_COMBINERS = ("mean", "sqrtn", "sum")


@export("nn.embedding_lookup_sparse")
def embedding_lookup_sparse(
    params, sp_ids, sp_weights, combiner=None, max_norm=None, name=None, allow_fast_lookup=False
):
    """For each row of a sparse matrix of ids, the sum or mean of the embeddings they name.

    Args:
        params: the embedding matrix, or a list of its consecutive parts.
        sp_ids: a sparse matrix of integers without empty rows between others.
        sp_weights: a sparse matrix of weights with the same places; all 1 if None.
        combiner: `"sum"`, `"mean"` (the default) or `"sqrtn"`: the sum, divided by nothing, by the
            sum of weights, or by the root of the sum of their squares.
        max_norm: the greatest norm an embedding may have; longer ones are scaled down.
        allow_fast_lookup: accepted for compatibility.

    Raises:
        ValueError: there is no such combiner.
        TypeError: the ids or the weights are not sparse.
    """
    combiner = _checked_combiner(combiner or "mean")
    if not isinstance(sp_ids, SparseTensor):
        raise TypeError(f"sp_ids must be SparseTensor, got {type(sp_ids)}")
    if sp_weights is not None and not isinstance(sp_weights, SparseTensor):
        raise TypeError("sp_weights must be either None or SparseTensor")
    rows = sp_ids._places[:, 0]
    count = int(rows.max()) + 1 if len(rows) else 0
    found = embedding_lookup(params, sp_ids.values, max_norm)
    if sp_weights is None:
        weights = EagerTensor(np.ones(len(rows), found.dtype.numpy_dtype))
    else:
        weights = cast(sp_weights.values, found.dtype)
        found = mul(found, _column(weights, found.ndim))
    total = _summed(found, rows, count)
    if combiner == "sum":
        return total
    if combiner == "sqrtn":
        weights = square(weights)
    divisor = _summed(weights, rows, count)
    if combiner == "sqrtn":
        divisor = sqrt(divisor)
    # A row without ids has the sum 0, and stays so.
    empty = np.bincount(rows, minlength=count) == 0
    divisor = select(EagerTensor(empty), np.ones((), found.dtype.numpy_dtype)[()], divisor)
    return real_div(total, _column(divisor, found.ndim))


def _checked_combiner(combiner):
    if combiner not in _COMBINERS:
        raise ValueError(f"combiner must be one of 'mean', 'sqrtn' or 'sum', got {combiner}")
    return combiner


def _column(vector, rank):
    return apply(reshape.op, (vector,), {"shape": (vector.shape[0],) + (1,) * (rank - 1)})


def _summed(rows, ids, count):
    return apply(segment_sum.op, (rows, EagerTensor(ids)), {"num_segments": count})


@export("nn.safe_embedding_lookup_sparse")
def safe_embedding_lookup_sparse(
    embedding_weights, sparse_ids, sparse_weights=None, combiner="mean", default_id=None,
    max_norm=None, name=None, allow_fast_lookup=False,
):  # fmt: skip
    """`embedding_lookup_sparse` that bears bad ids, empty rows and further leading axes.

    Args:
        embedding_weights: the embedding matrix, or a list of its consecutive parts.
        sparse_ids: sparse integers; negative ones are left out.
        sparse_weights: sparse weights with the same places; ids whose weight is not positive are
            left out (unless the combiner is `"sum"`).
        combiner: as in `embedding_lookup_sparse`.
        default_id: the id of empty rows; their result is 0 if None.
        max_norm: the greatest norm an embedding may have.
        allow_fast_lookup: accepted for compatibility.

    Raises:
        ValueError: there are no embedding weights.
    """
    if embedding_weights is None or (
        isinstance(embedding_weights, (list, tuple)) and not embedding_weights
    ):
        raise ValueError(f"Missing embedding_weights {embedding_weights}.")
    sizes = sparse_ids._sizes
    flat = (int(np.prod(sizes[:-1])), sizes[-1])
    ids = reshape_sparse(sparse_ids, flat)
    weights = None if sparse_weights is None else sparse_of(
        ids._places, sparse_weights.values, flat
    )  # fmt: skip
    good = ids.values._value >= 0
    if weights is not None and combiner != "sum":
        good &= np.asarray(weights.values._value > 0)
    ids = retain(ids, good)
    weights = None if weights is None else retain(weights, good)
    filled, is_empty = fill_empty_rows(ids, default_id or 0)
    if weights is not None:
        weights, _ = fill_empty_rows(weights, 1.0)
    result = embedding_lookup_sparse(embedding_weights, filled, weights, combiner, max_norm)
    if default_id is None:
        zero = np.zeros((), result.dtype.numpy_dtype)[()]
        result = select(_column(is_empty, result.ndim), zero, result)
    return reshape_public(result, (*sizes[:-1], *result.shape[1:]))

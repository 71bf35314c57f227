"""Rows of embedding matrices, whole or in parts."""

import numpy as np

from ..core.convert import convert_to_tensor, operand
from ..core.dispatch import apply
from ..core.exports import export
from ..core.tensor import EagerTensor
from .broadcasting import reshape
from .indexing import check_index_dtype, check_range, gather, gather_row, index_operand
from .joining import concat

_ROWS = {"axis": 0, "batch_dims": 0}


@export("nn.embedding_lookup")
def embedding_lookup(params, ids, max_norm=None, name=None):
    """The rows of an embedding matrix for ids of any shape.

    Args:
        params: the matrix, a tensor or variable; or a list of its consecutive parts.
        ids: integers.
        max_norm: the greatest norm a row may have; longer ones are scaled down.

    Raises:
        ValueError: `params` is empty.
        InvalidArgumentError: an id is out of range.
    """
    if params is None:
        raise ValueError("params must be specified")
    parts = list(params) if isinstance(params, (list, tuple)) else [params]
    if not parts:
        raise ValueError("Length of params is currently 0. Need at least one param.")
    parts = [operand(part) for part in parts]
    ids = index_operand(ids)
    if len(parts) == 1:
        rows = apply(gather_row.op, (parts[0], ids), _ROWS)
    else:
        rows = _rows_of_parts(parts, ids)
    if max_norm is None:
        return rows
    from .clipping import clip_by_norm

    return clip_by_norm(rows, max_norm, axes=list(range(ids.ndim, rows.ndim)))


def _rows_of_parts(parts, ids):
    """Gathers from each part what it holds, and puts the rows in the order of the ids."""
    numbers = np.asarray(convert_to_tensor(ids)).reshape(-1)
    check_index_dtype("GatherV2", numbers.dtype)
    ends = np.cumsum([part.shape[0] for part in parts])
    check_range("GatherV2", np.asarray(convert_to_tensor(ids)), ends[-1])
    owner = np.searchsorted(ends, numbers, side="right")
    found, order = [], []
    for i, part in enumerate(parts):
        mine = np.flatnonzero(owner == i)
        first = ends[i] - part.shape[0]
        found.append(gather(part, EagerTensor(numbers[mine] - first)))
        order.append(mine)
    places = EagerTensor(np.argsort(np.concatenate(order)))
    rows = apply(
        gather_row.op, (concat(found, 0), places), {"axis": -found[0].ndim, "batch_dims": 0}
    )
    return apply(reshape.op, (rows,), {"shape": (*ids.shape, *parts[0].shape[1:])})

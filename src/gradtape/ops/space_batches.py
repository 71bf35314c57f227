"""Dilated ops by way of blocks: space is split into interleaved parts that go with the batch."""

import numpy as np

from ..core.convert import convert_to_tensor
from ..core.exports import export
from .arguments import integers
from .blocks import batch_to_space, required_space_to_batch_paddings, space_to_batch
from .families import shape_of


@export("nn.with_space_to_batch")
def with_space_to_batch(
    input, dilation_rate, padding, op, filter_shape=None, spatial_dims=None, data_format=None
):
    """Applies an op to elements that are `dilation_rate` apart.

    Args:
        input: a tensor.
        dilation_rate: a step for each axis of space.
        padding: "SAME" or "VALID".
        op: a function of the tensor, the number of axes of space, and the padding.
        filter_shape: the shape of the op's filter; needed with "SAME".
        spatial_dims: the axes of space, increasing; from 1 on if None, or from 2 on if
            `data_format` starts with "NC".
        data_format: where the channels are.

    Raises:
        ValueError: the arguments do not fit each other.
    """
    x = convert_to_tensor(input)
    rates = integers(dilation_rate, "SpaceToBatchND", "Tblock_shape").reshape(-1)
    if (rates < 1).any():
        raise ValueError(f"`dilation_rate` must be positive. Received: {rates.tolist()}")
    count = len(rates)
    first = 2 if data_format is not None and data_format.startswith("NC") else 1
    axes = list(range(first, first + count)) if spatial_dims is None else sorted(spatial_dims)
    if len(axes) != count or len(set(axes)) != count or min(axes, default=1) < 1:
        raise ValueError(f"`spatial_dims` must be {count} axes from 1 on. Received: {spatial_dims}")
    if x.ndim <= max(axes, default=0):
        raise ValueError(f"`input` must have more than {max(axes)} axes. Received: {x.shape}")
    padding = padding.upper()
    if padding not in ("SAME", "VALID"):
        raise ValueError(f'`padding` must be "SAME" or "VALID". Received: {padding}')
    if (rates == 1).all():
        return op(x, count, padding)
    base = np.zeros((count, 2), np.int32)
    if padding == "SAME":
        if filter_shape is None:
            raise ValueError("`filter_shape` must be specified for SAME padding")
        window = integers(filter_shape, "SpaceToBatchND", "Tpaddings")[:count]
        extra = (window - 1) * rates
        base = np.stack([extra // 2, extra - extra // 2], axis=1).astype(np.int32)
    sizes = np.array([shape_of(x)[axis] for axis in axes], np.int32)
    paddings, crops = required_space_to_batch_paddings(sizes, rates.astype(np.int32), base)
    # Axes between those of space are blocks of one.
    last = max(axes)
    places = np.array(axes) - 1
    all_rates = np.ones(last, np.int32)
    all_rates[places] = rates
    all_paddings, all_crops = np.zeros((last, 2), np.int32), np.zeros((last, 2), np.int32)
    all_paddings[places], all_crops[places] = np.asarray(paddings), np.asarray(crops)
    result = op(space_to_batch(x, all_rates, all_paddings), count, "VALID")
    return batch_to_space(result, all_rates, all_crops)

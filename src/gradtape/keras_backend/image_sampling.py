"""Values of arrays between their elements, and beyond their borders."""

import itertools
import math

import gradtape as tf

from .core import cast, convert_to_tensor
from .floating import at_least_single


def _clipped(index, size):
    return tf.clip_by_value(index, 0, size - 1)


def _wrapped(index, size):
    return tf.math.floormod(index, size)


def _mirrored(index, size):
    """There and back again, the elements at the borders once."""
    if size == 1:
        return tf.zeros_like(index)
    place = tf.math.floormod(index, 2 * size - 2)
    return tf.minimum(place, 2 * size - 2 - place)


def _reflected(index, size):
    """There and back again, the elements at the borders twice."""
    place = tf.math.floormod(index, 2 * size)
    return tf.minimum(place, 2 * size - 1 - place)


_PLACES = {
    "constant": _clipped,
    "nearest": _clipped,
    "wrap": _wrapped,
    "mirror": _mirrored,
    "reflect": _reflected,
}
MAP_COORDINATES_FILL_MODES = set(_PLACES)


def map_coordinates(inputs, coordinates, order, fill_mode="constant", fill_value=0.0):
    """The values of `inputs` at coordinates, whose first axis goes over the axes of `inputs`."""
    inputs, coordinates = convert_to_tensor(inputs), convert_to_tensor(coordinates)
    if coordinates.shape[0] != inputs.shape.rank:
        raise ValueError(
            "First dim of `coordinates` must be the same as the rank of `inputs`. "
            f"Received inputs with shape: {inputs.shape} and coordinate "
            f"leading dim of {coordinates.shape[0]}"
        )
    if coordinates.shape.rank < 2:
        raise ValueError(
            "Invalid coordinates rank: expected at least rank 2."
            f" Received input with shape: {coordinates.shape}"
        )
    if fill_mode not in MAP_COORDINATES_FILL_MODES:
        raise ValueError(
            "Invalid value for argument `fill_mode`. Expected one of "
            f"{MAP_COORDINATES_FILL_MODES}. Received: fill_mode={fill_mode}"
        )
    if order not in (0, 1):
        raise ValueError(
            f"Invalid value for argument `order`. Expected one of {[0, 1]}. Received: order={order}"
        )
    # A batch of one, with one channel.
    batch = inputs[None, ..., None]
    places = [tf.reshape(each, [1, -1]) for each in tf.unstack(coordinates)]
    found = sampled(batch, places, order, fill_mode, fill_value)
    return tf.reshape(found, coordinates.shape[1:])


def sampled(batch, coordinates, order, fill_mode, fill_value):
    """The channels of each array in a batch at places given by coordinates.

    Args:
        batch: a tensor (batch, *sizes, channels).
        coordinates: for each of the sizes, a tensor (batch, places).
        order: 0 for the nearest element, 1 for linear interpolation.
        fill_mode: how arrays continue beyond their borders.
        fill_value: what they continue with if that is "constant".

    Returns:
        A tensor (batch, places, channels) of the dtype of `batch`.
    """
    sizes = tuple(batch.shape[1:-1])
    dtype = at_least_single(batch, *coordinates)
    fill_value = convert_to_tensor(fill_value, dtype)
    flat = cast(tf.reshape(batch, [batch.shape[0], math.prod(sizes), batch.shape[-1]]), dtype)
    neighbours = [_neighbours(cast(x, dtype), order) for x in coordinates]
    total = tf.constant(0.0, dtype)
    for corner in itertools.product(*neighbours):
        place, weight, is_inside = 0, None, None
        for (index, part), size in zip(corner, sizes, strict=True):
            place = place * size + _PLACES[fill_mode](index, size)
            weight = part if weight is None else weight * part
            inside = (index >= 0) & (index < size)
            is_inside = inside if is_inside is None else is_inside & inside
        values = tf.gather(flat, place, axis=1, batch_dims=1)
        if fill_mode == "constant":
            values = tf.where(tf.expand_dims(is_inside, -1), values, fill_value)
        total = total + tf.expand_dims(weight, -1) * values
    if not batch.dtype.is_floating:
        total = _rounded(total)
    return cast(total, batch.dtype)


def _neighbours(coordinate, order):
    """The indices of the elements around a coordinate, each with its weight."""
    if order == 0:
        return [(cast(_rounded(coordinate), "int32"), tf.ones_like(coordinate))]
    below = tf.floor(coordinate)
    index, fraction = cast(below, "int32"), coordinate - below
    return [(index, 1 - fraction), (index + 1, fraction)]


def _rounded(x):
    """The nearest whole numbers; of two, the one farther from zero (`tf.round`: the even one)."""
    whole = tf.floor(tf.abs(x))
    return tf.sign(x) * tf.where(tf.abs(x) - whole < 0.5, whole, whole + 1)

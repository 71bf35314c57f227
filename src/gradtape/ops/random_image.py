"""Images changed at random, with TensorFlow's numbers for the same seeds."""

import functools

import numpy as np

from ..core import dtypes
from ..core.convert import convert_to_tensor
from ..core.dispatch import thread
from ..core.errors import InvalidArgumentError
from ..core.exports import export
from .broadcasting import reshape
from .casting import cast
from .colors import adjust_hue, adjust_saturation
from .crops import image_or_images
from .elementwise import rint
from .families import shape_of
from .image import adjust_brightness, adjust_contrast
from .indexing import gather
from .permutation import reverse
from .random import uniform
from .slicing import slice_
from .stateless_random import stateless_uniform


def draws(seed):
    return functools.partial(uniform, seed=seed)


def stateless_draws(seed):
    return functools.partial(stateless_uniform, seed=seed)


def _flipped(image, axis, draw):
    image = image_or_images(image)
    if image.ndim == 3:
        return reverse(image, [axis]) if draw([], minval=0, maxval=1.0) < 0.5 else image
    count = shape_of(image)[0]
    chances = draw([count], minval=0, maxval=1.0)
    flips = cast(rint(reshape(chances, shape=(count, 1, 1, 1))), image.dtype)
    return flips * reverse(image, [axis]) + (1 - flips) * image


@export("image.random_flip_left_right")
def random_flip_left_right(image, seed=None):
    """The image, or each of a batch, mirrored with a chance of one half."""
    return _flipped(image, -2, draws(seed))


@export("image.random_flip_up_down")
def random_flip_up_down(image, seed=None):
    """The image, or each of a batch, upside down with a chance of one half."""
    return _flipped(image, -3, draws(seed))


@export("image.stateless_random_flip_left_right")
def stateless_random_flip_left_right(image, seed):
    """The image, or each of a batch, mirrored or not as the two numbers of `seed` say."""
    return _flipped(image, -2, stateless_draws(seed))


@export("image.stateless_random_flip_up_down")
def stateless_random_flip_up_down(image, seed):
    """The image, or each of a batch, upside down or not as the two numbers of `seed` say."""
    return _flipped(image, -3, stateless_draws(seed))


def _brighter(image, max_delta, draw):
    if max_delta < 0:
        raise ValueError("max_delta must be non-negative.")
    return adjust_brightness(image, draw([], minval=-max_delta, maxval=max_delta))


@export("image.random_brightness")
def random_brightness(image, max_delta, seed=None):
    """Adds one random number, at most `max_delta` from 0, to all pixels.

    Raises:
        ValueError: `max_delta` is negative.
    """
    return _brighter(image, max_delta, draws(seed))


@export("image.stateless_random_brightness")
def stateless_random_brightness(image, max_delta, seed):
    """Adds one number, at most `max_delta` from 0 and decided by `seed`, to all pixels.

    Raises:
        ValueError: `max_delta` is negative.
    """
    return _brighter(image, max_delta, stateless_draws(seed))


def _factor(lower, upper, draw):
    if upper <= lower:
        raise ValueError("upper must be > lower.")
    if lower < 0:
        raise ValueError("lower must be non-negative.")
    return draw([], minval=lower, maxval=upper)


@export("image.random_contrast")
def random_contrast(image, lower, upper, seed=None):
    """Changes the contrast by a random factor.

    Raises:
        ValueError: the bounds are negative or not in order.
    """
    return adjust_contrast(image, _factor(lower, upper, draws(seed)))


@export("image.stateless_random_contrast")
def stateless_random_contrast(image, lower, upper, seed):
    """Changes the contrast by a factor that `seed` decides.

    Raises:
        ValueError: the bounds are negative or not in order.
    """
    return adjust_contrast(image, _factor(lower, upper, stateless_draws(seed)))


@export("image.random_saturation")
def random_saturation(image, lower, upper, seed=None):
    """Changes the saturation by a random factor.

    Raises:
        ValueError: the bounds are negative or not in order.
    """
    return adjust_saturation(image, _factor(lower, upper, draws(seed)))


@export("image.stateless_random_saturation")
def stateless_random_saturation(image, lower, upper, seed=None):
    """Changes the saturation by a factor that `seed` decides.

    Raises:
        ValueError: the bounds are negative or not in order.
    """
    return adjust_saturation(image, _factor(lower, upper, stateless_draws(seed)))


def _turn(max_delta, draw):
    if max_delta > 0.5:
        raise ValueError("max_delta must be <= 0.5.")
    if max_delta < 0:
        raise ValueError("max_delta must be non-negative.")
    return draw([], minval=-max_delta, maxval=max_delta)


@export("image.random_hue")
def random_hue(image, max_delta, seed=None):
    """Turns the hue at random, by at most `max_delta` of the colour circle.

    Raises:
        ValueError: `max_delta` is not between 0 and 0.5.
    """
    return adjust_hue(image, _turn(max_delta, draws(seed)))


@export("image.stateless_random_hue")
def stateless_random_hue(image, max_delta, seed):
    """Turns the hue by what `seed` decides, at most `max_delta` of the colour circle.

    Raises:
        ValueError: `max_delta` is not between 0 and 0.5.
    """
    return adjust_hue(image, _turn(max_delta, stateless_draws(seed)))


def _cropped(value, size, draw):
    value = convert_to_tensor(value)
    size = convert_to_tensor(size, dtypes.int32).numpy()
    shape = np.array(shape_of(value), np.int32)
    if size.shape != shape.shape or (shape < size).any():
        raise InvalidArgumentError(
            None, None, f"Need value.shape >= size, got  {shape.tolist()} {size.tolist()}"
        )
    places = draw([len(shape)], minval=0, maxval=dtypes.int32.max, dtype=dtypes.int32)
    if thread.trace is None:
        return slice_(value, places.numpy() % (shape - size + 1), size)
    # In a graph the place differs from call to call, and so is no number to slice by.
    for axis in np.flatnonzero(shape != size).tolist():
        first = places[axis] % int(shape[axis] - size[axis] + 1)
        value = gather(value, first + np.arange(size[axis], dtype=np.int32), axis=axis)
    return value


@export("image.random_crop")
def random_crop(value, size, seed=None, name=None):
    """A window of the given size, anywhere in a tensor.

    Raises:
        InvalidArgumentError: the tensor is smaller than that.
    """
    return _cropped(value, size, draws(seed))


@export("image.stateless_random_crop")
def stateless_random_crop(value, size, seed, name=None):
    """A window of the given size in a tensor, where `seed` decides.

    Raises:
        InvalidArgumentError: the tensor is smaller than that.
    """
    return _cropped(value, size, stateless_draws(seed))

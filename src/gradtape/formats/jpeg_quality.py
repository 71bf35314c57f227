"""Images as JPEG compression of a random quality leaves them."""

from ..core import dtypes
from ..core.exports import export
from ..ops.random_image import draws, stateless_draws
from .pictures import adjust_jpeg_quality


def _jpeg_quality(lowest, highest, draw):
    """A random quality, from `lowest` up to below `highest`."""
    if not (0 <= lowest <= 100 and 0 <= highest <= 100):
        raise ValueError("jpeg encoding range must be between 0 and 100.")
    if lowest >= highest:
        raise ValueError("`min_jpeg_quality` must be less than `max_jpeg_quality`.")
    return draw([], minval=lowest, maxval=highest, dtype=dtypes.int32)


@export("image.random_jpeg_quality")
def random_jpeg_quality(image, min_jpeg_quality, max_jpeg_quality, seed=None):
    """The image after JPEG compression of a random quality.

    Raises:
        ValueError: the bounds are not in order, or not between 0 and 100.
        ImportError: Pillow is not installed.
    """
    quality = _jpeg_quality(min_jpeg_quality, max_jpeg_quality, draws(seed))
    return adjust_jpeg_quality(image, quality)


@export("image.stateless_random_jpeg_quality")
def stateless_random_jpeg_quality(image, min_jpeg_quality, max_jpeg_quality, seed):
    """The image after JPEG compression of a quality that `seed` decides.

    Raises:
        ValueError: the bounds are not in order, or not between 0 and 100.
        ImportError: Pillow is not installed.
    """
    quality = _jpeg_quality(min_jpeg_quality, max_jpeg_quality, stateless_draws(seed))
    return adjust_jpeg_quality(image, quality)

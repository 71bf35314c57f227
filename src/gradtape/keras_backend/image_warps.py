"""Images bent out of shape: by affine, perspective and elastic transforms."""

import numpy as np
from keras.src.random.seed_generator import draw_seed

import gradtape as tf

from .core import cast, convert_to_tensor
from .floating import at_least_single
from .image_layout import check_choice, check_rank, on_batch
from .image_sampling import MAP_COORDINATES_FILL_MODES, sampled

AFFINE_TRANSFORM_INTERPOLATIONS = {"nearest": 0, "bilinear": 1}  # and their orders
AFFINE_TRANSFORM_FILL_MODES = MAP_COORDINATES_FILL_MODES


def affine_transform(
    images,
    transform,
    interpolation="bilinear",
    fill_mode="constant",
    fill_value=0,
    data_format=None,
):
    """Images with each pixel taken from where `transform` sends its place.

    The eight numbers (a0, a1, a2, b0, b1, b2, c0, c1) send x to (a0 x + a1 y + a2) / k and y to
    (b0 x + b1 y + b2) / k, where k = c0 x + c1 y + 1.
    """
    check_choice("interpolation", interpolation, set(AFFINE_TRANSFORM_INTERPOLATIONS))
    check_choice("fill_mode", fill_mode, AFFINE_TRANSFORM_FILL_MODES)
    images, transform = convert_to_tensor(images), convert_to_tensor(transform)
    check_rank(images)
    if transform.shape.rank not in (1, 2):
        raise ValueError(
            "Invalid transform rank: expected rank 1 (single transform) "
            "or rank 2 (batch of transforms). Received input with shape: "
            f"transform.shape={transform.shape}"
        )
    return _projected(images, transform, interpolation, fill_mode, fill_value, data_format)


def perspective_transform(
    images, start_points, end_points, interpolation="bilinear", fill_value=0, data_format=None
):
    """Images with four points moved to others, and all the rest as if seen from another side."""
    check_choice("interpolation", interpolation, set(AFFINE_TRANSFORM_INTERPOLATIONS))
    images = convert_to_tensor(images)
    check_rank(images)
    start_points = convert_to_tensor(start_points, "float32")
    end_points = convert_to_tensor(end_points, "float32")
    for name, points in (("start_points", start_points), ("end_points", end_points)):
        if points.shape.rank not in (2, 3) or tuple(points.shape[-2:]) != (4, 2):
            raise ValueError(
                f"Invalid {name} shape: expected (4,2) for a single image"
                f" or (N,4,2) for a batch. Received shape: {points.shape}"
            )
    if start_points.shape != end_points.shape:
        raise ValueError(
            "start_points and end_points must have the same shape."
            f" Received start_points.shape={start_points.shape}, "
            f"end_points.shape={end_points.shape}"
        )
    transform = compute_homography_matrix(start_points, end_points)
    return _projected(images, transform, interpolation, "constant", fill_value, data_format)


def compute_homography_matrix(start_points, end_points):
    """The eight numbers that send end points to start points (see `affine_transform`)."""
    start_points, end_points = convert_to_tensor(start_points), convert_to_tensor(end_points)
    dtype = at_least_single(start_points, end_points)
    starts, ends = cast(start_points, dtype), cast(end_points, dtype)
    # Each coordinate of each start point is an equation in the eight numbers: three for x or three
    # for y times the end point, less the last two times it, with the divisor brought to this side.
    ends_and_1 = tf.concat([ends, tf.ones_like(ends[..., :1])], axis=-1)
    numerator = tf.einsum("...pn,ij->...ipjn", ends_and_1, tf.eye(2, dtype=dtype))
    divisor = -tf.einsum("...pi,...pn->...ipn", starts, ends)
    many = tuple(ends.shape[:-2])
    equations = tf.concat(
        [tf.reshape(numerator, [*many, 8, 6]), tf.reshape(divisor, [*many, 8, 2])], axis=-1
    )
    right_sides = tf.reshape(tf.linalg.matrix_transpose(starts), [*many, 8, 1])
    return tf.squeeze(tf.linalg.solve(equations, right_sides), -1)


def _projected(images, transform, interpolation, fill_mode, fill_value, data_format):
    dtype = at_least_single(transform)
    transform = tf.reshape(cast(transform, dtype), [-1, 8])
    # Each number in a column, to be multiplied with a row of places.
    a0, a1, a2, b0, b1, b2, c0, c1 = [each[:, None] for each in tf.unstack(transform, axis=-1)]

    def project(batch):
        y, x = _places(batch, dtype)
        divisor = c0 * x + c1 * y + 1
        sources = [(b0 * x + b1 * y + b2) / divisor, (a0 * x + a1 * y + a2) / divisor]
        return _drawn_from(batch, sources, interpolation, fill_mode, fill_value)

    return on_batch(project, images, data_format)


def _places(batch, dtype):
    """The y and x of the pixels of images, each in one row."""
    y, x = np.indices(tuple(batch.shape[1:3])).reshape(2, -1)
    return tf.constant(y, dtype), tf.constant(x, dtype)


def _drawn_from(batch, sources, interpolation, fill_mode, fill_value):
    """Images with each pixel taken from the place that `sources` give for it."""
    sources = [tf.broadcast_to(each, [batch.shape[0], each.shape[-1]]) for each in sources]
    order = AFFINE_TRANSFORM_INTERPOLATIONS[interpolation]
    return tf.reshape(sampled(batch, sources, order, fill_mode, fill_value), batch.shape)


def elastic_transform(
    images,
    alpha=20.0,
    sigma=5.0,
    interpolation="bilinear",
    fill_mode="reflect",
    fill_value=0.0,
    seed=None,
    data_format=None,
):
    """Images with each pixel taken from nearby, the displacements random but smooth.

    Args:
        images: one image or a batch.
        alpha: how far pixels are displaced.
        sigma: over how many pixels displacements are smooth.
        interpolation: "nearest" or "bilinear".
        fill_mode: how images continue beyond their borders.
        fill_value: what they continue with if that is "constant".
        seed: the seed of the displacements.
        data_format: where the channels are.
    """
    check_choice("interpolation", interpolation, set(AFFINE_TRANSFORM_INTERPOLATIONS))
    check_choice("fill_mode", fill_mode, AFFINE_TRANSFORM_FILL_MODES)
    images = convert_to_tensor(images)
    check_rank(images)
    dtype = at_least_single(images)
    alpha, sigma = convert_to_tensor(alpha, dtype), convert_to_tensor(sigma, dtype)
    seed = draw_seed(seed)

    def displace(batch):
        count, height, width, _ = batch.shape
        noise = tf.random.stateless_normal([2, count, height, width], seed, dtype=dtype) * sigma
        down, across = _smoothing(height, sigma), _smoothing(width, sigma)
        smooth = tf.matmul(tf.matmul(down, noise), across, transpose_b=True)
        moves = tf.unstack(alpha * tf.reshape(smooth, [2, count, height * width]))
        sources = [place + move for place, move in zip(_places(batch, dtype), moves, strict=True)]
        return _drawn_from(batch, sources, interpolation, fill_mode, fill_value)

    return on_batch(displace, images, data_format)


def _smoothing(size, sigma):
    """The matrix that blurs vectors as `gaussian_blur` does, over six times `sigma`.

    It needs `sigma` as a tensor only: a kernel would have to have a size that is known.
    """
    radius = tf.floor(tf.floor(6 * sigma) / 2)
    distances = np.abs(np.subtract.outer(np.arange(size), np.arange(size)))
    # Far beyond the border, where a bell curve this wide is flat over the image.
    reach = np.abs(np.arange(-4 * size, 4 * size + 1))

    def bell(distance):
        distance = tf.constant(distance, sigma.dtype)
        return tf.where(distance <= radius, tf.exp(-0.5 * tf.square(distance / sigma)), 0.0)

    return bell(distances) / tf.reduce_sum(bell(reach))

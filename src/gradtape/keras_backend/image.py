"""Operations on images, one (height, width, channels) or a batch, channels last or first."""

from .image_color import hsv_to_rgb, rgb_to_grayscale, rgb_to_hsv
from .image_filters import gaussian_blur, sobel_edges
from .image_resize import (
    RESIZE_INTERPOLATIONS,
    SCALE_AND_TRANSLATE_METHODS,
    resize,
    scale_and_translate,
)
from .image_sampling import MAP_COORDINATES_FILL_MODES, map_coordinates
from .image_warps import (
    AFFINE_TRANSFORM_FILL_MODES,
    AFFINE_TRANSFORM_INTERPOLATIONS,
    affine_transform,
    compute_homography_matrix,
    elastic_transform,
    perspective_transform,
)

__all__ = [
    "AFFINE_TRANSFORM_FILL_MODES",
    "AFFINE_TRANSFORM_INTERPOLATIONS",
    "MAP_COORDINATES_FILL_MODES",
    "RESIZE_INTERPOLATIONS",
    "SCALE_AND_TRANSLATE_METHODS",
    "affine_transform",
    "compute_homography_matrix",
    "elastic_transform",
    "gaussian_blur",
    "hsv_to_rgb",
    "map_coordinates",
    "perspective_transform",
    "resize",
    "rgb_to_grayscale",
    "rgb_to_hsv",
    "scale_and_translate",
    "sobel_edges",
]

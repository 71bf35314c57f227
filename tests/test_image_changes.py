"""tf.image: resize, crops, colours, quality, boxes and random changes; numbers are TensorFlow's."""

import numpy as np
import pytest

import gradtape as tf

image = tf.image
SQUARES = np.arange(12, dtype=np.float32).reshape(3, 4, 1) ** 2
COLOURS = np.array([[0.9, 0.5, 0.2], [0.1, 0.35, 0.95], [0.5, 0.5, 0.5]], np.float32)
PICTURE = COLOURS.reshape(1, 3, 3)

RESIZED = {
    "bilinear": [[4.5, 9.5, 17.8333], [54.5, 75.5, 99.8333]],
    "nearest": [[0.0, 4.0, 9.0], [64.0, 100.0, 121.0]],
    "bicubic": [[2.20497, 6.25, 14.3388], [56.8329, 79.4763, 106.163]],
    "area": [[6.25, 11.8333, 20.4167], [51.5833, 70.5, 92.4167]],
    "lanczos3": [[0.0955733, 3.39286, 11.3688], [57.4134, 80.55, 108.365]],
    "lanczos5": [[-1.64722, 0.684505, 8.24338], [59.4305, 82.1201, 110.037]],
    "gaussian": [[4.9605, 10.0304, 18.2658], [54.1883, 74.3635, 97.7043]],
    "mitchellcubic": [[3.50693, 8.09817, 16.3007], [55.3225, 76.6173, 101.523]],
}
ANTIALIASED = {
    "bilinear": [[7.2, 13.0, 21.6], [50.2, 68.0, 88.6]],
    "bicubic": [[4.21878, 9.74924, 18.5728], [50.4896, 70.4876, 93.7787]],
    "gaussian": [[10.242, 16.7599, 25.5703], [48.0768, 64.6275, 83.4708]],
}
GRADIENTS = {
    "bilinear": [
        [0.05625, 0.0825, 0.115833, 0.222917],
        [0.245833, 0.261667, 0.310555, 0.490278],
        [0.68125, 0.7025, 0.815833, 1.24792],
    ],
    "bicubic": [
        [0.0054491, 0.0367045, 0.0605098, 0.160503],
        [0.19875, 0.229799, 0.265193, 0.429284],
        [0.734722, 0.819099, 0.927105, 1.43821],
    ],
    "lanczos3": [
        [-0.0548582, -0.0415584, -0.0180882, 0.0508872],
        [0.193074, 0.28781, 0.34778, 0.463271],
        [0.642446, 0.917459, 1.0765, 1.359],
    ],
}


def close(got, wanted):
    np.testing.assert_allclose(got.numpy(), np.array(wanted), rtol=2e-5, atol=2e-5)


class TestResize:
    @pytest.mark.parametrize("method", RESIZED)
    def test_methods(self, method):
        got = image.resize(SQUARES, (2, 3), method)
        assert got.dtype is tf.float32
        close(got[..., 0], RESIZED[method])

    @pytest.mark.parametrize("method", ANTIALIASED)
    def test_antialias(self, method):
        close(image.resize(SQUARES, (2, 3), method, antialias=True)[..., 0], ANTIALIASED[method])

    def test_pixels_at_the_edge_of_a_kernel_count_by_float32_rounding(self):
        got = image.resize(np.arange(20.0).reshape(1, 20, 1), (1, 7), "gaussian")
        close(got[0, 2:5, 0], [6.666729, 9.5, 12.333271])

    @pytest.mark.parametrize("method", GRADIENTS)
    def test_gradients(self, method):
        x = tf.constant(SQUARES)
        with tf.GradientTape() as tape:
            tape.watch(x)
            loss = tf.reduce_sum(image.resize(x, (2, 3), method) ** 2) / 100
        close(tape.gradient(loss, x)[..., 0], GRADIENTS[method])

    def test_dtypes(self):
        pixels = SQUARES.astype(np.uint8)
        assert image.resize(pixels, (2, 2)).dtype is tf.float32
        assert image.resize(pixels, (2, 2), "nearest").dtype is tf.uint8
        assert image.resize(SQUARES.astype(np.float64), (2, 2)).dtype is tf.float32

    def test_aspect_ratio(self):
        assert image.resize(SQUARES, (6, 6), preserve_aspect_ratio=True).shape == (4, 6, 1)

    def test_raw_ops_place_pixels_otherwise(self):
        x = np.array([0.0, 10.0], np.float32).reshape(1, 1, 2, 1)
        corners = tf.raw_ops.ResizeBilinear(images=x, size=[1, 3], align_corners=True)
        assert corners.numpy().ravel().tolist() == [0, 5, 10]
        legacy = tf.raw_ops.ResizeBilinear(images=x, size=[1, 4])
        assert legacy.numpy().ravel().tolist() == [0, 5, 10, 10]

    def test_bad_arguments(self):
        with pytest.raises(ValueError, match="either 3 or 4 dimensions"):
            image.resize(np.ones((2, 2)), (2, 2))
        with pytest.raises(ValueError, match="1-D int32 Tensor"):
            image.resize(SQUARES, (2.0, 2.0))
        with pytest.raises(ValueError, match="2 elements"):
            image.resize(SQUARES, 2)
        with pytest.raises(ValueError, match="not implemented: square"):
            image.resize(SQUARES, (2, 2), "square")
        with pytest.raises(tf.errors.InvalidArgumentError, match="positive"):
            image.resize(SQUARES, (0, 2))


class TestCrops:
    def test_windows(self):
        window = image.crop_to_bounding_box(SQUARES, 1, 1, 2, 2)
        assert window.numpy()[..., 0].tolist() == [[25, 36], [81, 100]]
        padded = image.pad_to_bounding_box(window, 1, 0, 3, 3)
        assert padded.numpy()[..., 0].tolist() == [[0, 0, 0], [25, 36, 0], [81, 100, 0]]
        assert image.central_crop(SQUARES, 0.5).numpy()[..., 0].tolist() == [
            [1, 4],
            [25, 36],
            [81, 100],
        ]

    def test_crop_or_pad(self):
        got = image.resize_with_crop_or_pad(SQUARES, 5, 2).numpy()[..., 0]
        assert got.tolist() == [[0, 0], [1, 4], [25, 36], [81, 100], [0, 0]]
        assert image.resize_with_pad(SQUARES, 4, 4).shape == (4, 4, 1)

    def test_turns(self):
        for k in range(-1, 5):
            assert (image.rot90(SQUARES, k).numpy() == np.rot90(SQUARES, k)).all()
        assert (image.transpose(SQUARES).numpy() == SQUARES.transpose(1, 0, 2)).all()

    def test_bad_windows(self):
        with pytest.raises(ValueError, match="width must be >= target"):
            image.crop_to_bounding_box(SQUARES, 0, 2, 2, 3)
        with pytest.raises(ValueError, match="offset_height must be >= 0"):
            image.crop_to_bounding_box(SQUARES, -1, 0, 2, 2)
        with pytest.raises(ValueError, match="height must be <= target"):
            image.pad_to_bounding_box(SQUARES, 2, 0, 4, 4)
        with pytest.raises(ValueError, match="central_fraction must be within"):
            image.central_crop(SQUARES, 1.5)

    def test_standardization(self):
        close(
            image.per_image_standardization(PICTURE),
            [[[1.2, 0.0, -0.9], [-1.2, -0.45, 1.35], [0.0, 0.0, 0.0]]],
        )

    def test_glimpse(self):
        got = image.extract_glimpse(SQUARES[None], (2, 2), [[0.0, 0.0]], noise="zero")
        assert got.numpy()[0, ..., 0].tolist() == [[1, 4], [25, 36]]
        outside = image.extract_glimpse(
            SQUARES[None], (2, 2), [[2.0, 3.0]], centered=False, normalized=False, noise="zero"
        )
        assert outside.numpy()[0, ..., 0].tolist() == [[121, 0], [0, 0]]


class TestColours:
    @pytest.mark.parametrize(
        ("convert", "wanted"),
        [
            (
                image.rgb_to_hsv,
                [[0.0714286, 0.777778, 0.9], [0.617647, 0.894737, 0.95], [0.0, 0.0, 0.5]],
            ),
            (image.hsv_to_rgb, [[0.2, 0.1, 0.16], [0.95, 0.817, 0.6175], [0.25, 0.5, 0.5]]),
            (
                image.rgb_to_yiq,
                [
                    [0.5854, 0.334763, -0.0087782],
                    [0.34365, -0.341781, 0.133832],
                    [0.5, 0.0, -1.83e-05],
                ],
            ),
            (
                image.yiq_to_rgb,
                [
                    [1.50216, 0.634553, 0.687476],
                    [1.02438, -0.610048, 1.33166],
                    [1.28841, 0.0403915, 0.798745],
                ],
            ),
            (
                image.rgb_to_yuv,
                [[0.5854, -0.18966, 0.275993], [0.34365, 0.298391, -0.21375], [0.5, 0.0, 0.0]],
            ),
            (
                image.yuv_to_rgb,
                [
                    [1.12798, 0.586554, 1.91603],
                    [1.18289, -0.589716, 0.811222],
                    [1.06994, 0.0123679, 1.51603],
                ],
            ),
        ],
    )
    def test_conversions(self, convert, wanted):
        close(convert(COLOURS), wanted)

    def test_adjustments(self):
        close(
            image.adjust_hue(PICTURE, 0.2), [[[0.46, 0.9, 0.2], [0.87, 0.1, 0.95], [0.5, 0.5, 0.5]]]
        )
        close(
            image.adjust_saturation(PICTURE, 0.5),
            [[[0.9, 0.7, 0.55], [0.525, 0.65, 0.95], [0.5, 0.5, 0.5]]],
        )
        close(
            image.adjust_gamma(PICTURE, 2.0, 0.5),
            [[[0.405, 0.125, 0.02], [0.005, 0.06125, 0.45125], [0.125, 0.125, 0.125]]],
        )

    def test_bad_arguments(self):
        with pytest.raises(ValueError, match="delta must be in the interval"):
            image.adjust_hue(PICTURE, 2.0)
        with pytest.raises(ValueError, match="non-negative"):
            image.adjust_gamma(PICTURE, -1)
        with pytest.raises(tf.errors.InvalidArgumentError, match="3 channels"):
            image.adjust_saturation(PICTURE[..., :2], 2.0)


class TestQuality:
    def test_measures(self):
        a = ((np.arange(576) * 37 % 101) / 101).astype(np.float32).reshape(24, 24, 1)
        b = np.roll(a, 1, 0) * np.float32(0.5) + a * np.float32(0.5)
        close(image.psnr(a, b, 1.0), 13.8466)
        close(image.ssim(a, b, 1.0), 0.673141)
        scales = image.ssim_multiscale(a, b, 1.0, power_factors=(0.5, 0.5), filter_size=5)
        close(scales, 0.723355)
        close(image.total_variation(tf.constant(a)), 438.753)

    def test_sobel(self):
        close(
            image.sobel_edges(tf.constant(SQUARES[None]))[0, :, :, 0],
            [
                [[0.0, 0.0], [0.0, 48.0], [0.0, 64.0], [0.0, 0.0]],
                [[288.0, 0.0], [320.0, 80.0], [384.0, 96.0], [416.0, 0.0]],
                [[0.0, 0.0], [0.0, 112.0], [0.0, 128.0], [0.0, 0.0]],
            ],
        )

    def test_gradients_of_pixels(self):
        down, right = image.image_gradients(tf.constant(SQUARES[None]))
        assert down.numpy()[0, 0, :, 0].tolist() == [16, 24, 32, 40]
        assert right.numpy()[0, 0, :, 0].tolist() == [1, 3, 5, 0]

    def test_small_images_are_refused(self):
        with pytest.raises(tf.errors.InvalidArgumentError, match="as large as the filter"):
            image.ssim(SQUARES, SQUARES, 1.0)


class TestRandomChanges:
    def test_with_a_seed(self):
        tf.random.set_seed(5)
        close(
            image.random_brightness(PICTURE, 0.3, seed=2),
            [
                [
                    [0.608856, 0.208856, -0.0911438],
                    [-0.191144, 0.0588562, 0.658856],
                    [0.208856, 0.208856, 0.208856],
                ]
            ],
        )
        close(image.random_crop(SQUARES, (1, 2, 1), seed=2), [[[1.0], [4.0]]])
        close(
            image.random_hue(PICTURE, 0.3, seed=2),
            [[[0.9, 0.2, 0.747324], [0.1, 0.95, 0.521107], [0.5, 0.5, 0.5]]],
        )
        firsts = [image.random_flip_left_right(SQUARES, seed=s).numpy()[0, 0, 0] for s in range(6)]
        assert firsts == [9.0, 9.0, 0.0, 9.0, 0.0, 9.0]

    def test_stateless(self):
        close(
            image.stateless_random_brightness(PICTURE, 0.3, seed=(1, 2)),
            [
                [
                    [1.10644, 0.706436, 0.406436],
                    [0.306436, 0.556436, 1.15644],
                    [0.706436, 0.706436, 0.706436],
                ]
            ],
        )
        close(image.stateless_random_crop(SQUARES, (1, 2, 1), seed=(1, 2)), [[[36.0], [49.0]]])
        close(
            image.stateless_random_saturation(PICTURE, 0.3, 2.0, seed=(1, 2)),
            [[[0.9, 0.385714, 0.0], [0.0, 0.279412, 0.95], [0.5, 0.5, 0.5]]],
        )
        close(
            image.stateless_random_contrast(PICTURE, 0.3, 2.0, seed=(1, 2)),
            [
                [
                    [1.19396, 0.536745, -0.057216],
                    [-0.193961, 0.27651, 1.24396],
                    [0.5, 0.536745, 0.463255],
                ]
            ],
        )

    def test_bad_bounds(self):
        with pytest.raises(ValueError, match="upper must be > lower"):
            image.random_contrast(PICTURE, 2.0, 1.0)
        with pytest.raises(ValueError, match=r"max_delta must be <= 0\.5"):
            image.random_hue(PICTURE, 0.7)
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"Need value\.shape >= size"):
            image.random_crop(SQUARES, (9, 9, 1))


BOXES = np.array(
    [[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, 0.6, 1, 1.6], [0.9, 1, 0, 0], [2, 2, 3, 3]], np.float32
)
SCORES = np.array([0.9, 0.8, 0.7, 0.95, 0.3], np.float32)


class TestBoxes:
    def test_suppression(self):
        assert image.non_max_suppression(BOXES, SCORES, 4).numpy().tolist() == [3, 2, 4]
        assert image.non_max_suppression(BOXES, SCORES, 2).numpy().tolist() == [3, 2]

    def test_soft_suppression(self):
        kept, scores = image.non_max_suppression_with_scores(BOXES, SCORES, 4, soft_nms_sigma=0.5)
        assert kept.numpy().tolist() == [3, 2, 1, 4]
        close(scores, [0.95, 0.662774, 0.412104, 0.3])

    def test_classes_together(self):
        scores = np.stack([SCORES, 1 - SCORES], -1)[None]
        got = image.combined_non_max_suppression(BOXES[None, :, None], scores, 2, 3)
        close(got.nmsed_boxes, [[[0.9, 1.0, 0.0, 0.0], [0.0, 0.6, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0]]])
        close(got.nmsed_scores, [[0.95, 0.7, 0.7]])
        close(got.nmsed_classes, [[0.0, 0.0, 1.0]])
        assert got.valid_detections.numpy().tolist() == [3]

    def test_padded(self):
        kept, count = image.non_max_suppression_padded(
            tf.constant(BOXES), tf.constant(SCORES), 4, pad_to_max_output_size=True
        )
        assert (kept.numpy().tolist(), int(count)) == ([3, 2, 4, 0], 3)

    def test_crop_and_resize(self):
        boxes = [[0.1, 0.2, 0.8, 0.9], [1.0, 1.0, -0.5, 0.0]]
        got = image.crop_and_resize(SQUARES[None], boxes, [0, 0], (2, 2), extrapolation_value=-1.0)
        close(got[..., 0], [[[4.76, 15.02], [53.08, 86.86]], [[121.0, 64.0], [-1.0, -1.0]]])
        with pytest.raises(tf.errors.OutOfRangeError, match="outside"):
            image.crop_and_resize(SQUARES[None], boxes, [0, 1], (2, 2))

    def test_drawing(self):
        blank = np.zeros((1, 4, 4, 3), np.float32)
        got = image.draw_bounding_boxes(
            blank, [[[0.3, 0.3, 1.0, 0.7]]], np.array([[1.0, 2.0, 3.0]])
        )
        assert got.numpy()[..., 1].tolist() == [
            [[2.0, 2.0, 2.0, 0.0], [2.0, 0.0, 2.0, 0.0], [2.0, 0.0, 2.0, 0.0], [2.0, 2.0, 2.0, 0.0]]
        ]

    def test_bad_threshold(self):
        with pytest.raises(tf.errors.InvalidArgumentError, match="iou_threshold must be in"):
            image.non_max_suppression(BOXES, SCORES, 4, 1.5)

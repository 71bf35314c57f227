"""Products, linear algebra, windows, images, spectra and random numbers beside NumPy's."""

import numpy as np

from workloads.numpy_formulations import MILLION, Comparison, define_inputs, normal, uniform

Array = np.ndarray


def well_conditioned(count: int, size: int):
    """Return a maker of symmetric positive definite matrices."""

    def make(random: np.random.Generator) -> Array:
        factors = random.standard_normal((count, size, size), np.float32)
        return factors @ factors.swapaxes(-1, -2) / size + np.eye(size, dtype=np.float32)

    return make


def mostly_zero(random: np.random.Generator) -> Array:
    """Return a 1000 by 1000 matrix in which one element of a hundred is not zero."""
    return random.standard_normal((1000, 1000), np.float32) * (random.random((1000, 1000)) < 0.01)


define_inputs(
    batches=normal(100, 100, 100),
    other_batches=normal(100, 100, 100),
    definite=well_conditioned(100, 100),
    one_definite=well_conditioned(1, 1000),
    right_sides=normal(100, 100, 10),
    diagonals=normal(3, 333_333),
    diagonal=normal(1000),
    long_side=normal(333_333, 1),
    images=uniform(0, 1, 10, 182, 183, 3),
    image=uniform(0, 1, 500, 666, 3),
    planes=normal(8, 56, 56, 40),
    filters=normal(3, 3, 40, 8),
    signal=normal(1000, 1000),
    thin=normal(1000, 16),
    sparse=mostly_zero,
)


# Formulations -------------------------------------------------------------------------------------


def band_part(x: Array) -> Array:
    """Return the lower triangle, copied a row at a time: no mask of a million elements."""
    y = np.zeros_like(x)
    for i in range(len(x)):
        y[i, : i + 1] = x[i, : i + 1]
    return y


def diag(x: Array) -> Array:
    y = np.zeros((len(x), len(x)), x.dtype)
    y.reshape(-1)[:: len(x) + 1] = x
    return y


def set_diag(m: Array, x: Array) -> Array:
    y = m.copy()
    y.reshape(-1)[:: len(x) + 1] = x
    return y


def tridiagonal_product(diagonals: Array, column: Array) -> Array:
    """Return a tridiagonal matrix times a column."""
    upper, main, lower = diagonals
    x = column[:, 0]
    y = main * x
    term = upper[:-1] * x[1:]
    y[:-1] += term
    np.multiply(lower[1:], x[:-1], out=term)
    y[1:] += term
    return y[:, None]


def im2col_convolution(x: Array, filters: Array) -> Array:
    n, height, width, depth = x.shape
    padded = np.zeros((n, height + 2, width + 2, depth), x.dtype)
    padded[:, 1:-1, 1:-1] = x
    columns = np.empty((n, height, width, 3, 3, depth), x.dtype)
    for i in range(3):
        for j in range(3):
            columns[..., i, j, :] = padded[:, i : i + height, j : j + width]
    product = columns.reshape(-1, 9 * depth) @ filters.reshape(9 * depth, -1)
    return product.reshape(n, height, width, -1)


def depthwise(x: Array, filters: Array) -> Array:
    _, height, width, _ = x.shape
    y = x[:, : height - 2, : width - 2] * filters[0, 0, :, 0]
    term = np.empty_like(y)
    for i in range(3):
        for j in range(3):
            if i or j:
                np.multiply(
                    x[:, i : i + height - 2, j : j + width - 2], filters[i, j, :, 0], out=term
                )
                y += term
    return y


def max_pool(x: Array) -> Array:
    y = np.maximum(x[:, ::2, ::2], x[:, ::2, 1::2])
    np.maximum(y, x[:, 1::2, ::2], out=y)
    return np.maximum(y, x[:, 1::2, 1::2], out=y)


def avg_pool(x: Array) -> Array:
    y = x[:, ::2, ::2] + x[:, ::2, 1::2]
    y += x[:, 1::2, ::2]
    y += x[:, 1::2, 1::2]
    y *= np.float32(0.25)
    return y


def resize_nearest(x: Array) -> Array:
    rows = np.arange(250) * 500 // 250 + 1
    columns = np.arange(333) * 666 // 333 + 1
    return x[rows][:, columns]


def resize_bilinear(x: Array) -> Array:
    """Return the image at half its size, where every pixel is the mean of four."""
    y = x[::2, ::2] + x[::2, 1::2]
    y += x[1::2, ::2]
    y += x[1::2, 1::2]
    y *= np.float32(0.25)
    return y


def grayscale(x: Array) -> Array:
    return x @ np.array([[0.2989], [0.587], [0.114]], np.float32)


def adjust_contrast(x: Array) -> Array:
    mean = x.mean((0, 1), keepdims=True)
    y = x - mean
    y *= 2
    y += mean
    return y


def rgb_to_hsv(x: Array) -> Array:
    red, green, blue = x[..., 0], x[..., 1], x[..., 2]
    value = np.maximum(np.maximum(red, green), blue)
    spread = value - np.minimum(np.minimum(red, green), blue)
    y = np.empty_like(x)
    factor = 1 / (6 * np.where(spread == 0, np.float32(1), spread))
    hue = np.where(
        value == red,
        (green - blue) * factor,
        np.where(
            value == green,
            (blue - red) * factor + np.float32(1 / 3),
            (red - green) * factor + np.float32(2 / 3),
        ),
    )
    hue[spread == 0] = 0
    hue += hue < 0
    y[..., 0] = hue
    y[..., 1] = np.where(value > 0, spread / np.where(value > 0, value, 1), 0)
    y[..., 2] = value
    return y


def standardized(x: Array) -> Array:
    mean = x.mean((-1, -2, -3), keepdims=True)
    y = x - mean
    squares = np.einsum("nhwc,nhwc->n", y, y)[:, None, None, None] / y[0].size
    y /= np.maximum(np.sqrt(squares), np.float32(1 / np.sqrt(y[0].size)))
    return y


def total_variation(x: Array) -> Array:
    down, across = x[:, 1:] - x[:, :-1], x[:, :, 1:] - x[:, :, :-1]
    np.abs(down, out=down)
    np.abs(across, out=across)
    return down.sum((1, 2, 3)) + across.sum((1, 2, 3))


def stft(x: Array) -> Array:
    window = 0.5 - 0.5 * np.cos(2 * np.pi / 256 * np.arange(256))
    frames = np.lib.stride_tricks.sliding_window_view(x, 256)[::128]
    return np.fft.rfft(frames * window.astype(np.float32))


def sparse_product(rows: Array, columns: Array, values: Array, thin: Array) -> Array:
    """Return a sparse matrix, whose entries are in order of rows, times a dense one."""
    starts = np.flatnonzero(np.concatenate([[True], rows[1:] != rows[:-1]]))
    y = np.zeros((1000, thin.shape[1]), thin.dtype)
    products = thin.take(columns, 0)
    products *= values[:, None]
    y[rows[starts]] = np.add.reduceat(products, starts, axis=0)
    return y


# The generator that TensorFlow's random numbers come from too.
GENERATOR = np.random.Generator(np.random.Philox(1))


def by_matrix(x: Array) -> Array:
    kernel = np.array(
        [[0.299, -0.14714119, 0.61497538], [0.587, -0.28886916, -0.51496512],
         [0.114, 0.43601035, -0.10001026]], np.float32,
    )  # fmt: skip
    return x @ kernel


define_inputs(
    sparse_rows=lambda random: np.sort(random.integers(0, 1000, 10_000)).astype(np.int64),
    sparse_columns=lambda random: random.integers(0, 1000, 10_000).astype(np.int64),
    sparse_values=normal(10_000),
    complex_matrix=lambda random: normal(1000, 2000)(random).view(np.complex64),
)

# Rows ---------------------------------------------------------------------------------------------

COMPARISONS: dict[str, Comparison] = {
    "matmul": Comparison("m n", lambda tf, x, y: tf.matmul(x, y), np.matmul),
    "matmul, transposed": Comparison(
        "m n", lambda tf, x, y: tf.matmul(x, y, transpose_b=True), lambda x, y: x @ y.T
    ),
    "matmul, batches": Comparison(
        "batches other_batches", lambda tf, x, y: tf.matmul(x, y), np.matmul
    ),
    "matvec": Comparison("m row", lambda tf, x, y: tf.linalg.matvec(x, y), np.matmul),
    "tensordot": Comparison(
        "batches other_batches",
        lambda tf, x, y: tf.tensordot(x, y, 2),
        lambda x, y: x.reshape(100, -1) @ y.reshape(-1, 100),
    ),
    "einsum ij,jk->ik": Comparison("m n", lambda tf, x, y: tf.einsum("ij,jk->ik", x, y), np.matmul),
    "einsum bij,bkj->bik": Comparison(
        "batches other_batches",
        lambda tf, x, y: tf.einsum("bij,bkj->bik", x, y),
        lambda x, y: x @ y.swapaxes(-1, -2),
    ),
    "einsum ij,ij->i": Comparison(
        "m n",
        lambda tf, x, y: tf.einsum("ij,ij->i", x, y),
        lambda x, y: np.einsum("ij,ij->i", x, y),
    ),
    "einsum ij->ji": Comparison("m", lambda tf, x: tf.einsum("ij->ji", x), lambda x: x.T),
    "band_part": Comparison("m", lambda tf, x: tf.linalg.band_part(x, -1, 0), band_part),
    "diag": Comparison("diagonal", lambda tf, x: tf.linalg.diag(x), diag),
    "diag_part": Comparison("m", lambda tf, x: tf.linalg.diag_part(x), lambda x: x.diagonal()),
    "set_diag": Comparison("m diagonal", lambda tf, m, x: tf.linalg.set_diag(m, x), set_diag),
    "trace": Comparison("m", lambda tf, x: tf.linalg.trace(x), np.trace),
    "cross": Comparison(
        "diagonals diagonals",
        lambda tf, x, y: tf.linalg.cross(tf.transpose(x), tf.transpose(y)),
        lambda x, y: np.cross(x.T, y.T),
    ),
    "cholesky": Comparison("definite", lambda tf, x: tf.linalg.cholesky(x), np.linalg.cholesky),
    "cholesky, one": Comparison(
        "one_definite", lambda tf, x: tf.linalg.cholesky(x), np.linalg.cholesky
    ),
    "inv": Comparison("definite", lambda tf, x: tf.linalg.inv(x), np.linalg.inv),
    "inv, one": Comparison("one_definite", lambda tf, x: tf.linalg.inv(x), np.linalg.inv),
    "det": Comparison("definite", lambda tf, x: tf.linalg.det(x), np.linalg.det),
    "slogdet": Comparison("definite", lambda tf, x: tf.linalg.slogdet(x), np.linalg.slogdet),
    "solve": Comparison(
        "definite right_sides", lambda tf, x, y: tf.linalg.solve(x, y), np.linalg.solve
    ),
    "qr": Comparison("definite", lambda tf, x: tf.linalg.qr(x)[1], lambda x: np.linalg.qr(x)[1]),
    "svd": Comparison(
        "definite",
        lambda tf, x: tf.linalg.svd(x)[0],
        lambda x: np.linalg.svd(x, full_matrices=False)[1],
    ),
    "svd, values": Comparison(
        "definite",
        lambda tf, x: tf.linalg.svd(x, compute_uv=False),
        lambda x: np.linalg.svd(x, compute_uv=False),
    ),
    "eigh": Comparison(
        "definite", lambda tf, x: tf.linalg.eigh(x)[0], lambda x: np.linalg.eigh(x)[0]
    ),
    "tridiagonal_matmul": Comparison(
        "diagonals long_side",
        lambda tf, d, x: tf.linalg.tridiagonal_matmul(d, x),
        tridiagonal_product,
    ),
    "conv2d": Comparison(
        "planes filters",
        lambda tf, x, f: tf.nn.conv2d(x, f, 1, "SAME"),
        im2col_convolution,
    ),
    "depthwise_conv2d": Comparison(
        "planes filters",
        lambda tf, x, f: tf.nn.depthwise_conv2d(x, f[..., :1], [1, 1, 1, 1], "VALID"),
        depthwise,
    ),
    "max_pool2d": Comparison("planes", lambda tf, x: tf.nn.max_pool2d(x, 2, 2, "VALID"), max_pool),
    "avg_pool2d": Comparison("planes", lambda tf, x: tf.nn.avg_pool2d(x, 2, 2, "VALID"), avg_pool),
    "image.resize, nearest": Comparison(
        "image", lambda tf, x: tf.image.resize(x, [250, 333], "nearest"), resize_nearest
    ),
    "image.resize, bilinear": Comparison(
        "image", lambda tf, x: tf.image.resize(x, [250, 333]), resize_bilinear
    ),
    "image.flip_left_right": Comparison(
        "image", lambda tf, x: tf.image.flip_left_right(x), lambda x: x[:, ::-1].copy()
    ),
    "image.rot90": Comparison(
        "image", lambda tf, x: tf.image.rot90(x), lambda x: np.rot90(x).copy()
    ),
    "image.rgb_to_grayscale": Comparison(
        "images", lambda tf, x: tf.image.rgb_to_grayscale(x), grayscale
    ),
    "image.rgb_to_yuv": Comparison("images", lambda tf, x: tf.image.rgb_to_yuv(x), by_matrix),
    "image.rgb_to_hsv": Comparison("images", lambda tf, x: tf.image.rgb_to_hsv(x), rgb_to_hsv),
    "image.adjust_brightness": Comparison(
        "images",
        lambda tf, x: tf.image.adjust_brightness(x, 0.1),
        lambda x: x + np.float32(0.1),
    ),
    "image.adjust_contrast": Comparison(
        "image", lambda tf, x: tf.image.adjust_contrast(x, 2.0), adjust_contrast
    ),
    "image.per_image_standardization": Comparison(
        "images", lambda tf, x: tf.image.per_image_standardization(x), standardized
    ),
    "image.total_variation": Comparison(
        "images", lambda tf, x: tf.image.total_variation(x), total_variation
    ),
    "fft": Comparison("complex_x", lambda tf, x: tf.signal.fft(x), np.fft.fft),
    "rfft": Comparison("signal", lambda tf, x: tf.signal.rfft(x), np.fft.rfft),
    "fft2d": Comparison(
        "complex_matrix", lambda tf, x: tf.signal.fft2d(x), lambda x: np.fft.fft2(x)
    ),
    "stft": Comparison("x", lambda tf, x: tf.signal.stft(x, 256, 128), stft),
    "random.normal": Comparison(
        "",
        lambda tf: tf.random.normal([MILLION]),
        lambda: GENERATOR.standard_normal(MILLION, np.float32),
        agrees=False,
    ),
    "random.uniform": Comparison(
        "",
        lambda tf: tf.random.uniform([MILLION]),
        lambda: GENERATOR.random(MILLION, np.float32),
        agrees=False,
    ),
    "random.uniform, int": Comparison(
        "",
        lambda tf: tf.random.uniform([MILLION], maxval=1000, dtype=tf.int32),
        lambda: GENERATOR.integers(0, 1000, MILLION, np.int32),
        agrees=False,
    ),
    "random.shuffle": Comparison(
        "x", lambda tf, x: tf.random.shuffle(x), lambda x: GENERATOR.permutation(x), agrees=False
    ),
    "dropout": Comparison(
        "x",
        lambda tf, x: tf.nn.dropout(x, 0.5),
        lambda x: x * ((GENERATOR.random(MILLION, np.float32) >= 0.5) * np.float32(2)),
        agrees=False,
    ),
    "sparse_dense_matmul": Comparison(
        "sparse_rows sparse_columns sparse_values thin",
        lambda tf, rows, columns, values, thin: tf.sparse.sparse_dense_matmul(
            tf.SparseTensor(tf.stack([rows, columns], 1), values, [1000, 1000]), thin
        ),
        sparse_product,
    ),
    "sparse.from_dense": Comparison(
        "sparse",
        lambda tf, x: tf.sparse.from_dense(x).values,
        lambda x: x.reshape(-1)[np.flatnonzero(x)],
    ),
}

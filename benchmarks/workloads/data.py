"""Inputs and initial parameters of every workload, the same float32 arrays for every contender."""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np


@dataclass(frozen=True)
class Chain:
    """A chain of elementwise ops, five to a round, on a scalar or a vector."""

    start: np.ndarray
    rounds: int


@dataclass(frozen=True)
class CheapChain:
    """A chain of scalar multiplications and additions, for the length of the tape alone."""

    start: np.ndarray
    ops: int


@dataclass(frozen=True)
class Mlp:
    """A ReLU network with integer labels, trained by plain gradient descent on one batch."""

    inputs: np.ndarray
    labels: np.ndarray
    weights: list[np.ndarray]
    biases: list[np.ndarray]
    learning_rate: float = 0.01

    def parameters(self) -> list[np.ndarray]:
        """Return weight and bias of the first layer, then of the second, and so on."""
        pairs = zip(self.weights, self.biases, strict=True)
        return [array for pair in pairs for array in pair]


@dataclass(frozen=True)
class Rnn:
    """A tanh recurrence over a sequence of batches."""

    inputs: list[np.ndarray]
    state: np.ndarray
    input_weights: np.ndarray
    state_weights: np.ndarray
    bias: np.ndarray


@dataclass(frozen=True)
class Block:
    """A pre-norm transformer block; `parameters` are named and in a fixed order."""

    tokens: np.ndarray
    heads: int
    parameters: dict[str, np.ndarray]
    epsilon: float = 1e-5


@dataclass(frozen=True)
class Cnn:
    """Two 3x3 convolutions, each with ReLU and 2x2 max pool, and a dense layer; plain descent.

    Images are (batch, height, width, channels), filters (height, width, inputs, outputs).
    """

    images: np.ndarray
    labels: np.ndarray
    filters: list[np.ndarray]
    filter_biases: list[np.ndarray]
    weights: np.ndarray
    bias: np.ndarray
    learning_rate: float = 0.01


@dataclass(frozen=True)
class Embedding:
    """A table of which few rows are looked up, some of them twice, and what they should be."""

    table: np.ndarray
    ids: np.ndarray
    wanted: np.ndarray
    learning_rate: float = 0.01


@dataclass(frozen=True)
class Images:
    """Images of bytes with labels, to be shuffled and batched; scaled one by one if asked for."""

    images: np.ndarray
    labels: np.ndarray
    scaled: bool
    batch: int = 32
    buffer: int = 1024


@dataclass(frozen=True)
class TanhMap:
    """Two tanh layers from vectors to vectors of the same length, and a batch of vectors."""

    inputs: np.ndarray
    weights: list[np.ndarray]
    biases: list[np.ndarray]
    rows_in_flight: int | None = None


@dataclass(frozen=True)
class Rosenbrock:
    """A point of the many-dimensional Rosenbrock function."""

    point: np.ndarray


def chain(shape: tuple[int, ...], rounds: int = 40) -> Chain:
    """Return a chain of 5 x `rounds` ops that starts from values between 0.3 and 0.9."""
    return Chain(
        np.linspace(0.9, 0.3, int(np.prod(shape)), dtype=np.float32).reshape(shape), rounds
    )


def cheap_chain(ops: int) -> CheapChain:
    """Return a chain of `ops` cheap scalar ops."""
    return CheapChain(np.array(0.5, np.float32), ops)


def mlp(sizes: Sequence[int], batch: int) -> Mlp:
    """Return a network with the given layer sizes, He-initialised, and one random batch."""
    random = np.random.default_rng(0)
    pairs = list(itertools.pairwise(sizes))
    return Mlp(
        inputs=random.standard_normal((batch, sizes[0]), np.float32),
        labels=random.integers(0, sizes[-1], batch),
        weights=[normal(random, fan_in, fan_out, gain=2.0) for fan_in, fan_out in pairs],
        biases=[np.zeros(fan_out, np.float32) for _, fan_out in pairs],
    )


def digits_mlp(hidden: int) -> Mlp:
    """Return a network for the digits of the examples, all of them its inputs."""
    with np.load(DIGITS) as digits:
        images = digits["images"].reshape(len(digits["images"]), -1)
        labels = digits["labels"].astype(np.int64)
    network = mlp((images.shape[1], hidden, 10), batch=1)
    return replace(network, inputs=images.astype(np.float32) / 16, labels=labels)


def rnn(steps: int, batch: int, inputs: int, hidden: int) -> Rnn:
    """Return a recurrence and a random sequence for it."""
    random = np.random.default_rng(1)
    return Rnn(
        inputs=[random.standard_normal((batch, inputs), np.float32) for _ in range(steps)],
        state=np.zeros((batch, hidden), np.float32),
        input_weights=normal(random, inputs, hidden),
        state_weights=normal(random, hidden, hidden),
        bias=np.zeros(hidden, np.float32),
    )


def block(batch: int, length: int, width: int, heads: int, feed_forward: int) -> Block:
    """Return a transformer block and a random batch of token vectors."""
    random = np.random.default_rng(2)

    def zeros(size: int) -> np.ndarray:
        return np.zeros(size, np.float32)

    parameters = {"norm1_scale": np.ones(width, np.float32), "norm1_shift": zeros(width)}
    for name in ("query", "key", "value", "output"):
        parameters[f"{name}_weights"] = normal(random, width, width)
        parameters[f"{name}_bias"] = zeros(width)
    parameters |= {
        "norm2_scale": np.ones(width, np.float32),
        "norm2_shift": zeros(width),
        "expand_weights": normal(random, width, feed_forward, gain=2.0),
        "expand_bias": zeros(feed_forward),
        "contract_weights": normal(random, feed_forward, width),
        "contract_bias": zeros(width),
    }
    tokens = random.standard_normal((batch, length, width), np.float32)
    return Block(tokens, heads, parameters)


def cnn(batch: int, size: int, channels: Sequence[int], classes: int) -> Cnn:
    """Return a network with the given numbers of channels, and one random batch."""
    random = np.random.default_rng(5)
    filters = [
        normal(random, 9 * fan_in, fan_out, gain=2.0).reshape(3, 3, fan_in, fan_out)
        for fan_in, fan_out in itertools.pairwise(channels)
    ]
    features = (size // 4) ** 2 * channels[-1]
    return Cnn(
        images=random.standard_normal((batch, size, size, channels[0]), np.float32),
        labels=random.integers(0, classes, batch),
        filters=filters,
        filter_biases=[np.zeros(count, np.float32) for count in channels[1:]],
        weights=normal(random, features, classes),
        bias=np.zeros(classes, np.float32),
    )


def embedding(rows: int, width: int, count: int) -> Embedding:
    """Return a table and `count` ids, of which one in eight is a repetition."""
    random = np.random.default_rng(6)
    ids = random.integers(0, rows, count)
    ids[-(count // 8) :] = ids[: count // 8]
    return Embedding(
        table=random.standard_normal((rows, width), np.float32),
        ids=ids,
        wanted=random.standard_normal((count, width), np.float32),
    )


def images(count: int, *, scaled: bool) -> Images:
    """Return images of 28 x 28."""
    random = np.random.default_rng(0)
    pixels = random.integers(0, 256, (count, 28, 28), np.uint8)
    return Images(pixels, random.integers(0, 10, count), scaled)


def tanh_map(width: int, batch: int, rows_in_flight: int | None = None) -> TanhMap:
    """Return two random layers of `width` and a random batch."""
    random = np.random.default_rng(3)
    return TanhMap(
        inputs=random.standard_normal((batch, width), np.float32),
        weights=[normal(random, width, width) for _ in range(2)],
        biases=[random.standard_normal(width, np.float32) * np.float32(0.1) for _ in range(2)],
        rows_in_flight=rows_in_flight,
    )


def rosenbrock(size: int) -> Rosenbrock:
    """Return a random point not far from the minimum, where every element is 1."""
    random = np.random.default_rng(4)
    return Rosenbrock(1 + np.float32(0.3) * random.standard_normal(size, np.float32))


def normal(random: np.random.Generator, fan_in: int, fan_out: int, gain: float = 1.0) -> np.ndarray:
    """Return a random (fan_in, fan_out) matrix that keeps the variance of its input."""
    matrix = random.standard_normal((fan_in, fan_out), np.float32)
    return matrix * np.float32(np.sqrt(gain / fan_in))


@dataclass(frozen=True)
class Workload:
    """What a worker is asked to build: the contender's method `kind`, given `make_data()`."""

    title: str
    kind: str
    make_data: Callable[
        [],
        Chain | CheapChain | Mlp | Rnn | Block | Cnn | Embedding | TanhMap | Rosenbrock | Images,
    ]
    steps: int = 1  # that one call makes


def fitted(title: str, kind: str, make_data: Callable[[], Mlp | Cnn], examples: int) -> Workload:
    """Return the workload of a call of Keras's `fit`, which ends every epoch with a small batch."""
    return Workload(title, kind, make_data, steps=EPOCHS * -(-examples // BATCH))


EMBEDDING_ROWS, EMBEDDING_WIDTH = 100_000, 64
DIGITS = Path(__file__).resolve().parents[2] / "examples" / "data" / "digits.npz"
DIGIT_COUNT, IMAGE_COUNT = 1797, 520
# Of Keras's `fit`.
BATCH, EPOCHS = 32, 4

TIMED = {
    "scalar_chain": Workload("scalar chain, 200 ops", "chain", lambda: chain(())),
    "vector_chain": Workload("64-vector chain, 200 ops", "chain", lambda: chain((64,))),
    "mlp_small": Workload(
        "MLP 16-32-32-4 step, batch 32", "mlp", lambda: mlp((16, 32, 32, 4), batch=32)
    ),
    "mlp_large": Workload(
        "MLP 784-256-128-10 step, batch 128", "mlp", lambda: mlp((784, 256, 128, 10), batch=128)
    ),
    "rnn": Workload(
        "50-step tanh RNN", "rnn", lambda: rnn(steps=50, batch=16, inputs=8, hidden=32)
    ),
    "transformer": Workload(
        "transformer block 8 x 64 x 128",
        "block",
        lambda: block(batch=8, length=64, width=128, heads=4, feed_forward=512),
    ),
    "cnn": Workload(
        "CNN 1-32-64 step, 32 images of 28 x 28",
        "cnn",
        lambda: cnn(batch=32, size=28, channels=(1, 32, 64), classes=10),
    ),
    "embedding": Workload(
        "embedding step, 256 ids of 100,000 x 64",
        "embedding",
        lambda: embedding(EMBEDDING_ROWS, EMBEDDING_WIDTH, count=256),
    ),
    "jacobian": Workload(
        "Jacobian of two tanh layers 256-256-256", "jacobian", lambda: tanh_map(256, batch=1)
    ),
    "batch_jacobian": Workload(
        "64 Jacobians of two tanh layers 32-32-32", "batch_jacobian", lambda: tanh_map(32, batch=64)
    ),
    "hessian": Workload("Hessian of the 64-dim Rosenbrock", "hessian", lambda: rosenbrock(64)),
    "mlp_function": Workload(
        "MLP 16-32-32-4 step as a function",
        "mlp_function",
        lambda: mlp((16, 32, 32, 4), batch=32),
    ),
    "chain_function": Workload(
        "scalar chain, 200 ops, as a function", "chain_function", lambda: chain(())
    ),
    "first_call": Workload(
        "first call of an MLP 784-256-128-10 function",
        "first_call",
        lambda: mlp((784, 256, 128, 10), batch=128),
    ),
    "fit_mlp": fitted(
        "Keras `fit`, digits MLP 64-64-10", "fit_mlp", lambda: digits_mlp(64), DIGIT_COUNT
    ),
    "fit_dataset": fitted(
        "Keras `fit`, the same MLP on a `tf.data` dataset",
        "fit_dataset",
        lambda: digits_mlp(64),
        DIGIT_COUNT,
    ),
    "fit_cnn": fitted(
        "Keras `fit`, CNN 1-32-64, images of 28 x 28",
        "fit_cnn",
        lambda: cnn(IMAGE_COUNT, size=28, channels=(1, 32, 64), classes=10),
        IMAGE_COUNT,
    ),
    "pipeline_batches": Workload(
        "`tf.data`: a batch of 32 of 9,600 shuffled images",
        "pipeline",
        lambda: images(9_600, scaled=False),
        steps=300,
    ),
    "pipeline_map": Workload(
        "`tf.data`: such a batch, each image scaled by `map`",
        "pipeline",
        lambda: images(9_600, scaled=True),
        steps=300,
    ),
    "keras_step": Workload(
        "Keras MLP 16-32-32-4, eager step with a tape",
        "eager_step",
        lambda: mlp((16, 32, 32, 4), batch=32),
    ),
}

SIZES = (16, 32, 32, 4)
JACOBIAN_ROWS, ROWS_IN_FLIGHT = 1024, 128

PROBES = {
    "tape_1000": Workload("tape of 1,000 ops", "cheap_chain", lambda: cheap_chain(1_000)),
    "tape_1000000": Workload(
        "tape of 1,000,000 ops", "cheap_chain", lambda: cheap_chain(1_000_000)
    ),
    "linear_model": Workload("linear model 8-4 step", "mlp", lambda: mlp((8, 4), batch=16)),
    "mlp_2_layers": Workload("2-layer MLP step", "mlp", lambda: mlp((256,) * 3, batch=256)),
    "mlp_64_layers": Workload("64-layer MLP step", "mlp", lambda: mlp((256,) * 65, batch=256)),
    "mlp_64_layers_function": Workload(
        "64-layer MLP step as a function", "mlp_function", lambda: mlp((256,) * 65, batch=256)
    ),
    "gradient": Workload("one gradient of an MLP", "gradient", lambda: mlp(SIZES, batch=32)),
    "hvp": Workload("one product with its Hessian", "hvp", lambda: mlp(SIZES, batch=32)),
    "batch_gradient": Workload("gradient of a batch", "gradient", lambda: mlp(SIZES, batch=128)),
    "per_example": Workload(
        "gradient of each example", "per_example", lambda: mlp(SIZES, batch=128)
    ),
    "all_rows": Workload(
        "Jacobian, all rows at once", "rows", lambda: tanh_map(JACOBIAN_ROWS, batch=1)
    ),
    "some_rows": Workload(
        "Jacobian, some rows at a time",
        "rows",
        lambda: tanh_map(JACOBIAN_ROWS, batch=1, rows_in_flight=ROWS_IN_FLIGHT),
    ),
    "kept": Workload("64 layers, everything kept", "kept", lambda: mlp((64,) * 65, batch=1024)),
    "recomputed": Workload(
        "64 layers in 8 segments, recomputed", "recomputed", lambda: mlp((64,) * 65, batch=1024)
    ),
}


def described(name: str) -> Workload:
    """Return the workload of that name, timed or probed."""
    return TIMED.get(name) or PROBES[name]

"""Write random_reference.json: what TensorFlow draws for given seeds.

Run it where TensorFlow 2.21 is installed: `python make_random_reference.py`. Results are stored as
the base64 text of their bytes, or as the SHA-256 of these where they are many: both are exact.
"""

import base64
import hashlib
import json
import os
from pathlib import Path

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import numpy as np
import tensorflow as tf  # pyright: ignore[reportMissingModuleSource]

# Rows of a large categorical batch are shared out among threads, which changes their numbers.
tf.config.threading.set_intra_op_parallelism_threads(1)

FLOATS = ("float16", "bfloat16", "float32", "float64")
SEEDS = ([1, 2], [0, 0], [-7, 2**31 - 1])
MANY = 200_000
GAMMA_SHAPES = [0.01, 0.3, 0.9, 1.0, 2.5, 30.0]
POISSON_RATES = [0.0, 0.5, 3.0, 9.99, 10.0, 25.0, 1000.0]
BINOMIAL_COUNTS = [10.0, 3.0, 1.0, 100.0, 1000.0, 50.0, 0.0, 5.0]
BINOMIAL_PROBS = [0.5, 0.2, 0.5, 0.3, 0.7, 0.9, 0.5, 1.0]
LOGITS = [
    [-2.3, -1.6, -1.2, -0.9],
    [0.0, 0.0, 0.0, 0.0],
    [3.0, -1.0, -2.5, -80.0],
]


def encode(result):
    array = np.asarray(result)
    data = np.ascontiguousarray(array).tobytes()
    encoded = {"dtype": array.dtype.name, "shape": list(array.shape)}
    if array.size > 64:
        return encoded | {"sha256": hashlib.sha256(data).hexdigest()}
    return encoded | {"base64": base64.b64encode(data).decode()}


def call(owner, name, /, **kwargs):
    """One call and its result; a record that a test can repeat."""
    function = owner
    for part in name.split("."):
        function = getattr(function, part)
    return {"function": name, "kwargs": kwargs, "result": encode(function(**kwargs))}


def stateless():
    records = []

    def add(name, **kwargs):
        records.append(call(tf.random, name, **kwargs))

    for seed in SEEDS:
        for dtype in FLOATS:
            for shape in ([1], [7], [2, 3]) if seed == SEEDS[0] else ([5],):
                add("stateless_uniform", shape=shape, seed=seed, dtype=dtype)
                add("stateless_normal", shape=shape, seed=seed, dtype=dtype)
                add("stateless_truncated_normal", shape=shape, seed=seed, dtype=dtype)
        for dtype in ("int32", "int64", "uint32", "uint64"):
            add("stateless_uniform", shape=[5], seed=seed, dtype=dtype, minval=None, maxval=None)
    for dtype in ("float16", "bfloat16", "float32"):
        for name in ("stateless_uniform", "stateless_normal", "stateless_truncated_normal"):
            add(name, shape=[MANY], seed=[3, 4], dtype=dtype)
    for dtype in ("int32", "int64"):
        limits = np.iinfo(dtype)
        for low, high in ((0, 10), (-5, 1000), (int(limits.min), int(limits.max)), (3, 4)):
            add("stateless_uniform", shape=[6], seed=[3, 4], dtype=dtype, minval=low, maxval=high)
    for low, high in ((-1.0, 1.0), (0.1, 0.7), (0.0, 0.3)):
        add("stateless_uniform", shape=[20], seed=[3, 4], minval=low, maxval=high)
    add("stateless_normal", shape=[20], seed=[3, 4], mean=0.3, stddev=2.5)
    add("stateless_truncated_normal", shape=[20], seed=[3, 4], mean=0.3, stddev=2.5)
    for dtype in ("float16", "float32", "float64"):
        add("stateless_gamma", shape=[4, 6], seed=[5, 6], alpha=GAMMA_SHAPES, dtype=dtype)
    add("stateless_gamma", shape=[2000, 6], seed=[7, 8], alpha=GAMMA_SHAPES)
    add("stateless_gamma", shape=[3, 2], seed=[5, 6], alpha=[0.5, 3.0], beta=[2.0, 0.3])
    for dtype in ("int32", "int64", "float32", "float64"):
        add("stateless_poisson", shape=[3, 7], seed=[5, 6], lam=POISSON_RATES, dtype=dtype)
    add("stateless_poisson", shape=[2000, 7], seed=[7, 8], lam=POISSON_RATES)
    binomial = {"counts": BINOMIAL_COUNTS, "probs": BINOMIAL_PROBS}
    for dtype in ("int32", "float64"):
        add("stateless_binomial", shape=[3, 8], seed=[5, 6], **binomial, output_dtype=dtype)
    add("stateless_binomial", shape=[2000, 8], seed=[7, 8], **binomial)
    for count in (1, 2, 7, 3000):
        add("stateless_categorical", logits=LOGITS, num_samples=count, seed=[9, 10])
    add("stateless_categorical", logits=LOGITS, num_samples=5, seed=[9, 10], dtype="int32")
    for size in (1, 2, 5, 9, 30, 1000):
        value = list(range(size))
        add("experimental.stateless_shuffle", value=value, seed=[11, 12])
    for seed in SEEDS:
        add("split", seed=seed, num=3)
        add("fold_in", seed=seed, data=5)
    return records


def stateful():
    """Sequences of calls after `set_seed`: the op seeds drawn, and streams that continue."""
    sequences = []

    def sequence(seed, *calls):
        tf.random.set_seed(seed)
        records = [call(tf.random, name, **kwargs) for name, kwargs in calls]
        sequences.append({"set_seed": seed, "calls": records})

    basic = [(name, {"shape": [5]}) for name in ("normal", "uniform", "truncated_normal")]
    for seed in (0, 1, 42, -1, -5, 2**31 - 1, 2**31, 2**40, 2**70):
        sequence(seed, *basic, *basic)
    for seed in (None, 0, 5):
        for op_seed in (0, 7, -3, 2**31 - 1, 2**40):
            seeded = [(name, kwargs | {"seed": op_seed}) for name, kwargs in basic]
            sequence(seed, *seeded, *basic[:1] if seed == 5 else (), *seeded)
    for dtype in FLOATS:
        typed = [(name, kwargs | {"seed": 7, "dtype": dtype}) for name, kwargs in basic]
        sequence(5, *typed, *typed)
    for dtype in ("int32", "int64"):
        integers = ("uniform", {"shape": [3], "minval": -5, "maxval": 99, "dtype": dtype})
        seeded_integers = (integers[0], integers[1] | {"seed": 7})
        sequence(5, integers, integers, seeded_integers, seeded_integers)
    for size in (1, 2, 5, 9, 10, 30):
        shuffle = ("shuffle", {"value": list(range(size)), "seed": 7})
        sequence(5, shuffle, shuffle, shuffle)
    for count in (1, 3, 8):
        draw = ("categorical", {"logits": LOGITS, "num_samples": count})
        seeded_draw = (draw[0], draw[1] | {"seed": 7})
        sequence(5, draw, draw, seeded_draw, seeded_draw)
    gamma = ("gamma", {"shape": [2], "alpha": GAMMA_SHAPES[1:], "seed": 7})
    poisson = ("poisson", {"shape": [2], "lam": POISSON_RATES, "seed": 7})
    sequence(5, gamma, poisson, gamma, poisson)
    sequence(5, ("gamma", {"shape": [3], "alpha": 2.0}), ("poisson", {"shape": [3], "lam": 4.0}))
    return sequences


def generators():
    """Generators: the state they start from, and results and state after each call."""
    runs = []

    def run(constructor, arguments, *calls):
        generator = getattr(tf.random.Generator, constructor)(**arguments)
        record = {"constructor": constructor, "kwargs": arguments, "calls": []}
        record["state"] = generator.state.numpy().tolist()
        for name, kwargs in calls:
            one = call(generator, name, **kwargs)
            record["calls"].append(one | {"state": generator.state.numpy().tolist()})
        runs.append(record)

    seeds = (
        0,
        1,
        -1,
        2**40,
        2**63,
        2**64,
        2**128 + 5,
        -(2**63),
        [5],
        [1, 2],
        [1, 2, 3],
        [4, 3, 2, 1],
    )
    for seed in seeds:
        run("from_seed", {"seed": seed}, ("normal", {"shape": [3]}))
    state = {"state": [-3, 6, 7], "alg": "philox"}
    key_counter = {"key": 7, "counter": [5, 6], "alg": "philox"}
    ops = (
        ("normal", {"shape": [5]}),
        ("normal", {"shape": [2, 2], "mean": 1.0, "stddev": 3.0, "dtype": "float64"}),
        ("uniform", {"shape": [5]}),
        ("uniform", {"shape": [3], "minval": 3, "maxval": 90, "dtype": "int32"}),
        ("uniform", {"shape": [3], "minval": -3.0, "maxval": 9.0, "dtype": "bfloat16"}),
        ("truncated_normal", {"shape": [9]}),
        ("uniform_full_int", {"shape": [3]}),
        ("uniform_full_int", {"shape": [3], "dtype": "int32"}),
        ("binomial", {"shape": [3, 2], "counts": [10.0, 100.0], "probs": [0.3, 0.6]}),
        ("make_seeds", {"count": 3}),
        ("normal", {"shape": []}),
    )
    run("from_state", state, *ops)
    # Blocks whose first uniform sample is 0 in float32, and below 1e-7 in float64.
    for counter, dtype in ((3574739, "float32"), (497387, "float64")):
        zero = {"key": 0, "counter": [counter, 0], "alg": "philox"}
        run("from_key_counter", zero, ("normal", {"shape": [4], "dtype": dtype}))
    run("from_key_counter", key_counter, *ops)
    return runs


def main():
    reference = {
        "tensorflow": tf.__version__,
        "stateless": stateless(),
        "stateful": stateful(),
        "generators": generators(),
    }
    target = Path(__file__).with_name("random_reference.json")
    lines = [f'"tensorflow": {json.dumps(reference.pop("tensorflow"))}']
    for section, records in reference.items():
        body = ",\n".join(
            json.dumps(record, separators=(",", ":"), allow_nan=False) for record in records
        )
        lines.append(f'"{section}": [\n{body}\n]')
    target.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()

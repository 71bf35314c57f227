"""The random kernels against published vectors and TensorFlow's recorded numbers."""

import numpy as np
import pytest

from gradtape.core import distributions, random_seed, samplers
from gradtape.core.philox import key_and_counter_from_seed, random_words, random_words_at
from random_reference import REFERENCE, assert_same, describe


@pytest.fixture(autouse=True)
def _unseeded_afterwards():
    yield
    random_seed.set_seed(None)


def _words_of(*words):
    return sum(word << 32 * place for place, word in enumerate(words))


# Known answers published with the Random123 library.
@pytest.mark.parametrize(
    ("counter", "key", "expected"),
    [
        (0, 0, "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
        (2**128 - 1, 2**64 - 1, "408f276d 41c83b0e a20bc7c6 6d5451fd"),
        (
            _words_of(0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
            _words_of(0xA4093822, 0x299F31D0),
            "d16cfe09 94fdcceb 5001e420 24126ea1",
        ),
    ],
)
def test_published_vectors(counter, key, expected):
    words = random_words(key, counter, 1)
    assert words.dtype == np.uint32
    assert " ".join(f"{word:08x}" for word in words) == expected
    offsets = np.full(1000, 5)
    assert (random_words_at(key, counter - 5, offsets) == words).all()


@pytest.mark.parametrize("counter", [0, 2**32 - 50, 2**64 - 50, 2**96 - 50, 2**128 - 50])
def test_the_stream_does_not_depend_on_how_it_is_cut(counter):
    key = 0x0123456789ABCDEF
    whole = random_words(key, counter, 40_000).reshape(-1, 4)
    for start, blocks in ((0, 0), (0, 1), (45, 10), (30, 128), (30, 129), (16_000, 20_000)):
        part = random_words(key, counter + start, blocks)
        assert (part == whole[start : start + blocks].reshape(-1)).all()
    for offsets in (np.arange(60)[::-1], np.arange(0, 40_000, 7), np.empty(0, np.int64)):
        assert (random_words_at(key, counter, offsets) == whole[offsets]).all()


def _flat(parameter):
    return np.asarray(parameter, np.float64).reshape(-1)


def _by_kernel(record):
    """A recorded stateless call, computed by the kernel below it."""
    kwargs = dict(record["kwargs"])
    key, counter = key_and_counter_from_seed(*kwargs.pop("seed"))
    dtype = record["result"]["dtype"]
    if dtype == "bfloat16":
        dtype = distributions.BFLOAT16
    shape = kwargs.pop("shape", [])
    count = int(np.prod(shape))
    match record["function"], kwargs:
        case "stateless_uniform", {"minval": None}:
            flat = distributions.uniform_full_int(key, counter, count, dtype)
        case "stateless_uniform", {"minval": int(low), "maxval": high}:
            flat = distributions.uniform_int(key, counter, count, low, high, dtype)
        case "stateless_uniform", {"dtype": _}:
            flat = distributions.uniform(key, counter, count, dtype)
        case "stateless_normal", {"dtype": _}:
            flat = distributions.normal(key, counter, count, dtype)
        case "stateless_truncated_normal", {"dtype": _}:
            flat = distributions.truncated_normal(key, counter, count, dtype)
        case "stateless_poisson", {"lam": lam}:
            rows = samplers.poisson(key, counter, count // len(lam), _flat(lam))
            flat = samplers.round_to(rows.T, dtype)
        case "stateless_binomial", {"counts": trials, "probs": probs}:
            per_row = count // len(trials)
            rows = samplers.binomial(key, counter, per_row, _flat(trials), _flat(probs))
            flat = samplers.round_to(rows.T, dtype)
        case "stateless_categorical", {"logits": logits, "num_samples": per_row}:
            logits = np.array(logits, np.float32)
            return samplers.categorical(key, counter, per_row, logits).astype(dtype)
        case "experimental.stateless_shuffle", {"value": value}:
            return np.array(value, dtype)[samplers.permutation(key, counter, len(value))]
        case "split", {"num": num}:
            shape = [num, 2]
            flat = distributions.uniform_full_int(key, counter, 2 * num, dtype)
        case _:
            return None
    return flat.reshape(shape)


_KERNEL_CALLS = [r for r in REFERENCE["stateless"] if _by_kernel(r) is not None]


def test_most_recorded_stateless_calls_are_a_single_kernel():
    assert len(_KERNEL_CALLS) > 0.85 * len(REFERENCE["stateless"])


@pytest.mark.parametrize("record", _KERNEL_CALLS, ids=describe)
def test_stateless_kernels(record):
    assert_same(_by_kernel(record), record["result"])


@pytest.mark.parametrize(
    "record",
    [r for r in REFERENCE["stateless"] if r["function"] == "stateless_gamma"],
    ids=describe,
)
def test_gamma(record):
    kwargs, result = record["kwargs"], record["result"]
    key, counter = key_and_counter_from_seed(*kwargs["seed"])
    alpha = np.array(kwargs["alpha"], result["dtype"])
    rows = samplers.gamma(key, counter, kwargs["shape"][0], alpha.astype(np.float64))
    samples = samplers.round_to(rows.T, result["dtype"])
    samples /= np.array(kwargs.get("beta", 1.0), samples.dtype)
    assert_same(np.maximum(samples, np.finfo(samples.dtype).tiny), result)


def _normals_of_generators():
    """Recorded first calls of generators that are standard normal samples."""
    for run in REFERENCE["generators"]:
        first = run["calls"][0]
        if first["function"] == "normal" and "mean" not in first["kwargs"]:
            yield pytest.param(run["state"], first, id=f"state={run['state']}")


@pytest.mark.parametrize(("state", "record"), list(_normals_of_generators()))
def test_normal_from_chosen_keys_and_counters(state, record):
    low, high, key = (word % 2**64 for word in state)
    dtype, count = record["result"]["dtype"], record["kwargs"]["shape"][0]
    samples = distributions.normal(key, low | high << 64, count, dtype)
    assert_same(samples, record["result"])


def _stateful_by_kernel(record):
    """A recorded stateful call of a basic distribution, in the state of the seeds now."""
    name, kwargs, dtype = record["function"], dict(record["kwargs"]), record["result"]["dtype"]
    op_seed = kwargs.pop("seed", None)
    if name == "shuffle":
        value = np.array(kwargs["value"], dtype)
        key, counter = random_seed.reserve(name, op_seed, -(-(value.size - 1) // 4))
        return value[samplers.permutation(key, counter, value.size)]
    if name == "categorical":
        logits, per_row = np.array(kwargs["logits"], np.float32), kwargs["num_samples"]
        blocks = len(logits) * -(-per_row // 4) * 4 * 2 * distributions.BLOCKS_PER_SAMPLE
        key, counter = random_seed.reserve(name, op_seed, blocks)
        return samplers.categorical(key, counter, per_row, logits)
    count = int(np.prod(kwargs["shape"]))
    blocks = count * distributions.BLOCKS_PER_SAMPLE
    if name in ("gamma", "poisson"):
        parameters = _flat(kwargs.get("alpha", kwargs.get("lam")))
        parameters = parameters.astype(np.float32).astype(np.float64)
        key, counter = random_seed.reserve(name, op_seed, blocks * parameters.size)
        rows = getattr(samplers, name)(key, counter, count, parameters)
        return samplers.round_to(rows.T, dtype).reshape(record["result"]["shape"])
    key, counter = random_seed.reserve((name, dtype), op_seed, blocks)
    if "minval" in kwargs:
        low, high = kwargs["minval"], kwargs["maxval"]
        return distributions.uniform_int(key, counter, count, low, high, dtype)
    kernel = getattr(distributions, name)
    return kernel(key, counter, count, distributions.BFLOAT16 if dtype == "bfloat16" else dtype)


@pytest.mark.parametrize(
    "sequence",
    REFERENCE["stateful"],
    ids=lambda s: f"{s['set_seed']}-{describe(s['calls'][0])}",
)
def test_stateful_sequences(sequence):
    random_seed.set_seed(sequence["set_seed"])
    for record in sequence["calls"]:
        assert_same(_stateful_by_kernel(record), record["result"])


def test_set_seed_starts_streams_again():
    draws = []
    for _ in range(2):
        random_seed.set_seed(3)
        draws.append([random_seed.reserve("op", seed, 8) for seed in (7, 7, None, 7)])
    first, second, drawn, third = draws[0]
    assert draws[1] == draws[0]
    assert first[0] == second[0] == third[0] == drawn[0]
    assert (second[1] - first[1], third[1] - first[1]) == (8, 16)
    assert drawn[1] >> 64 != first[1] >> 64


def test_without_seeds_numbers_are_unpredictable_and_do_not_overlap():
    random_seed.set_seed(None)
    assert random_seed.seeds() == (None, None)
    key, first = random_seed.reserve("op", None, 100)
    assert random_seed.reserve("other", None, 1) == (key, first + 100)
    fresh = random_seed._SeedState().reserve("op", None, 1)
    assert fresh != (key, first)


def test_streams_differ_between_ops_of_the_same_seed():
    random_seed.set_seed(3)
    start = random_seed.reserve("a", 7, 8)
    assert random_seed.reserve("b", 7, 8) == start
    assert random_seed.reserve("a", 7, 8) == (start[0], start[1] + 8)


@pytest.mark.parametrize(
    ("global_seed", "op_seed", "expected"),
    [
        (None, None, (None, None)),
        (None, 3, (87654321, 3)),
        (None, -1, (87654321, 2147483646)),
        (0, 0, (0, 2147483647)),
        (0, 2**31 - 1, (0, 2147483647)),
        (2**31, np.int32(3), (1, 3)),
        (True, np.array(9), (1, 9)),
        (1.5, None, (1, 1099911448)),
        (-1, None, (2147483646, 577090037)),
    ],
)
def test_seed_pairs(global_seed, op_seed, expected):
    random_seed.set_seed(global_seed)
    assert random_seed.seeds(op_seed) == expected


@pytest.mark.parametrize("bad", ["3", b"3", [3], object()])
def test_a_seed_that_is_no_number_changes_nothing(bad):
    random_seed.set_seed(11)
    with pytest.raises(TypeError, match="seed must be an integer"):
        random_seed.set_seed(bad)
    with pytest.raises(TypeError, match="seed must be an integer"):
        random_seed.reserve("op", bad, 1)
    after = random_seed.seeds()
    random_seed.set_seed(11)
    assert random_seed.seeds() == after


def test_categorical_never_draws_infinite_or_nan_logits():
    inf, nan = np.inf, np.nan
    logits = np.array([[0, nan, 1, -inf], [nan] * 4, [inf, 0, 0, 0], [-inf] * 4], np.float32)
    samples = samplers.categorical(1, 2, 500, logits)
    assert [set(row) for row in samples.tolist()] == [{0, 2}, {4}, {1, 2, 3}, {4}]


def test_parameters_without_a_distribution():
    inf, nan = np.inf, np.nan
    gamma = samplers.gamma(1, 2, 3, np.array([nan, -1.0, 0.0, inf]))
    np.testing.assert_array_equal(gamma[:, 0], [nan, nan, 0.0, inf])
    poisson = samplers.poisson(1, 2, 3, np.array([nan, -1.0, 0.0, inf]))
    np.testing.assert_array_equal(poisson[:, 0], [nan, 0.0, 0.0, inf])
    trials = np.array([nan, 10.0, -1.0, 10.0, 10.0, inf, inf])
    probs = np.array([0.5, nan, 0.5, -1.0, 2.0, 0.5, 0.0])
    binomial = samplers.binomial(1, 2, 3, trials, probs)
    np.testing.assert_array_equal(binomial[:, 0], [nan, nan, 0.0, 0.0, 10.0, inf, 0.0])


def test_samples_beyond_an_integer_type_saturate():
    samples = np.array([np.nan, np.inf, 1e30, -np.inf, 5.0])
    for dtype in (np.int32, np.int64):
        rounded = samplers.round_to(samples, dtype)
        limits = np.iinfo(dtype)
        assert rounded[0] == 0
        assert rounded[1] == rounded[2]
        assert limits.max - 1024 <= rounded[1] <= limits.max
        assert rounded[3] == limits.min
        assert rounded[4] == 5


@pytest.mark.parametrize("size", [*range(12), 100, 513, 5000])
@pytest.mark.parametrize("key", [0, 5, 2**64 - 1])
def test_permutations_are_those_of_swaps_one_after_another(size, key):
    words = random_words(key, 77, -(-size // 4)).tolist()
    order = list(range(size))
    for place in range(size - 1):
        partner = place + words[place] % (size - place)
        order[place], order[partner] = order[partner], order[place]
    found = samplers.permutation(key, 77, size)
    assert found.dtype == np.int64
    assert found.tolist() == order

"""What shuffled, sampled, cached and saved datasets do that their elements alone do not tell."""

import collections
import gc
import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import gradtape as tf

D = tf.data.Dataset


def numbers(dataset):
    return [int(x) for x in dataset]


@pytest.fixture
def without_seed():
    tf.random.set_seed(None)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


class Counted:
    """A dataset of 0, 1, ..., that counts how many elements were taken, and how often it began."""

    def __init__(self, size, fails_at=None):
        self.taken = self.begun = 0

        def generate():
            self.begun += 1
            for number in range(size):
                self.taken += 1
                if number == fails_at:
                    raise ValueError("no such element")
                yield number

        self.dataset = D.from_generator(generate, output_signature=tf.TensorSpec([], tf.int64))


# Shuffled -----------------------------------------------------------------------------------------


@pytest.mark.usefixtures("without_seed")
def test_shuffle_without_seeds_differs_each_time():
    orders = {tuple(numbers(D.range(50).shuffle(50))) for _ in range(5)}
    assert len(orders) == 5
    dataset = D.range(50).shuffle(50)
    assert numbers(dataset) != numbers(dataset)
    kept = D.range(50).shuffle(50, reshuffle_each_iteration=False)
    assert numbers(kept) == numbers(kept)


@pytest.mark.usefixtures("without_seed")
def test_an_op_seed_alone_makes_the_order_known():
    assert numbers(D.range(50).shuffle(50, seed=3)) == numbers(D.range(50).shuffle(50, seed=3))


def test_set_seed_starts_over():
    orders = []
    for _ in range(2):
        tf.random.set_seed(4)
        orders.append([numbers(D.range(20).shuffle(20)) for _ in range(2)])
    assert orders[0] == orders[1]
    assert orders[0][0] != orders[0][1]


@pytest.mark.parametrize("size", [1, 2, 7, 99, 100, 101, 1000])
def test_every_element_comes_once(size):
    assert sorted(numbers(D.range(100).shuffle(size))) == list(range(100))


@pytest.mark.parametrize("size", [3, 40, 100])
def test_no_element_comes_before_it_was_in_the_buffer(size):
    for place, number in enumerate(numbers(D.range(100).shuffle(size))):
        assert number < place + size


def test_places_are_equally_likely():
    found = collections.Counter()
    dataset = D.range(4).shuffle(4, seed=1)
    for _ in range(2400):
        found[tuple(numbers_of_rows(dataset))] += 1
    assert len(found) == 24
    assert all(60 <= count <= 145 for count in found.values())


def numbers_of_rows(dataset):
    return [int(leaves[0]) for leaves in dataset._elements()]


def test_shuffle_takes_one_element_more_for_each_it_gives():
    counted = Counted(100)
    iterator = iter(counted.dataset.shuffle(10))
    assert counted.taken == 0
    for given in range(1, 6):
        next(iterator)
        assert counted.taken == 9 + given


def test_elements_in_the_buffer_survive_an_error():
    dataset = D.range(6).map(lambda x: 12 // (x - 2)).shuffle(6, seed=1)
    iterator = iter(dataset)
    with pytest.raises(tf.errors.InvalidArgumentError):
        next(iterator)
    assert sorted(numbers(iterator)) == [-12, -6, 4, 6, 12]


@pytest.mark.parametrize("size", [4, 30, 300])
@pytest.mark.parametrize("repeated", [1, 3])
def test_rows_come_in_the_order_of_elements(size, repeated):
    rows = D.from_tensor_slices(np.arange(100)).shuffle(size, seed=5).repeat(repeated)
    assert rows._rows() is not None
    batched = np.concatenate([batch.numpy() for batch in rows.batch(7)])
    elements = D.range(100).shuffle(size, seed=5).repeat(repeated)
    assert batched.tolist() == numbers(elements)


def test_iterators_in_threads_share_no_seeds():
    dataset = D.range(30).shuffle(30, seed=2)
    orders = []
    threads = [
        threading.Thread(target=lambda: orders.append(tuple(numbers(dataset)))) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    tf.random.set_seed(None)
    again = D.range(30).shuffle(30, seed=2)
    assert len(set(orders)) == 8
    assert len({tuple(numbers(again)) for _ in range(8)}) == 8


def test_wrong_buffer_size_says_what_is_right():
    with pytest.raises(tf.errors.InvalidArgumentError, match="buffer_size must be greater than"):
        D.range(3).shuffle(0)


# Sampled ------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("without_seed")
def test_random_numbers_without_seeds_differ():
    assert numbers(D.random().take(4)) != numbers(D.random().take(4))
    kept = D.random().take(4)
    assert numbers(kept) == numbers(kept)


def test_weights_are_kept_to():
    dataset = D.sample_from_datasets(
        [D.from_tensors(0).repeat(), D.from_tensors(1).repeat()], [0.25, 0.75], seed=5
    )
    assert 0.7 < np.mean(numbers(dataset.take(2000))) < 0.8


@pytest.mark.usefixtures("without_seed")
@pytest.mark.parametrize("initial", [None, [0.9, 0.1]])
def test_resampled_classes_come_as_often_as_wanted(initial):
    rows = (np.random.default_rng(3).random(4000) < 0.1).astype(np.int32)
    dataset = D.from_tensor_slices(rows).rejection_resample(lambda x: x, [0.5, 0.5], initial)
    classes = [int(c) for c, _ in dataset]
    assert len(classes) > 500
    assert 0.45 < np.mean(classes) < 0.55


def test_much_rejection_is_told_ten_times(capsys):
    rows = (np.arange(300) % 20 == 0).astype(np.int32)
    dataset = D.from_tensor_slices(rows).rejection_resample(
        lambda x: x, [0.05, 0.95], [0.95, 0.05], seed=1
    )
    assert len(list(dataset)) > 5
    told = capsys.readouterr().err
    assert told.count("Proportion of examples rejected by sampler is high: ") == 10


# Cached -------------------------------------------------------------------------------------------


def test_cache_begins_its_input_once():
    counted = Counted(5)
    dataset = counted.dataset.cache()
    next(iter(dataset))
    for _ in range(3):
        assert numbers(dataset) == [0, 1, 2, 3, 4]
    assert counted.begun == 2


def test_cache_takes_elements_when_they_are_asked_for():
    counted = Counted(5)
    iterator = iter(counted.dataset.cache())
    next(iterator)
    assert counted.taken == 1


def test_cache_in_files_is_left_by_an_iterator_that_did_not_end(folder):
    dataset = D.range(5).cache("kept")
    iterator = iter(dataset)
    next(iterator)
    assert "kept_0.lockfile" in os.listdir()
    with pytest.raises(tf.errors.AlreadyExistsError, match="lockfile"):
        next(iter(dataset))
    del iterator
    gc.collect()
    assert os.listdir() == []
    assert numbers(dataset) == [0, 1, 2, 3, 4]
    assert sorted(os.listdir()) == ["kept.data-00000-of-00001", "kept.index"]


def test_cache_in_files_is_read_by_another_program(folder):
    assert numbers(D.range(5).cache("kept")) == [0, 1, 2, 3, 4]
    code = "import gradtape as tf\nprint([int(x) for x in tf.data.Dataset.range(2).cache('kept')])"
    source = Path(tf.__file__).resolve().parents[1]
    found = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(source)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout.strip() == "[0, 1, 2, 3, 4]"


def test_cache_in_files_that_are_no_cache(folder):
    Path("kept.index").write_bytes(b"something else")
    with pytest.raises(tf.errors.DataLossError):
        numbers(D.range(5).cache("kept"))


def test_cache_in_files_with_a_broken_byte(folder):
    numbers(D.range(5).cache("kept"))
    path = Path("kept.data-00000-of-00001")
    data = bytearray(path.read_bytes())
    data[20] ^= 1
    path.write_bytes(data)
    with pytest.raises(tf.errors.DataLossError):
        numbers(D.range(5).cache("kept"))


# Saved --------------------------------------------------------------------------------------------


def test_an_error_while_saving_leaves_what_was_there(folder):
    D.range(3).save("saved")
    before = sorted(Path("saved").rglob("*"))
    with pytest.raises(tf.errors.InvalidArgumentError):
        D.range(9).map(lambda x: 6 // (x - 5)).save("saved")
    assert sorted(Path("saved").rglob("*")) == before
    assert numbers(D.load("saved")) == [0, 1, 2]


def test_an_error_while_saving_leaves_nothing_to_load(folder):
    with pytest.raises(tf.errors.InvalidArgumentError):
        D.range(9).map(lambda x: 6 // (x - 5)).save("saved")
    with pytest.raises(tf.errors.NotFoundError):
        D.load("saved")


def test_structures_come_back(folder):
    pair = collections.namedtuple("Pair", "left right")
    dataset = D.from_tensor_slices(
        {"a": [1, 2], "b": pair(["x", ""], ([True, False], [[1.0], [2.0]]))}
    )
    dataset.save("saved")
    (first, _), spec = list(D.load("saved")), D.load("saved").element_spec
    assert sorted(spec) == ["a", "b"]
    assert spec["a"] == dataset.element_spec["a"]
    assert tuple(spec["b"]) == tuple(dataset.element_spec["b"])
    assert type(first["b"]).__name__ == "Pair"
    assert first["b"].left.numpy() == b"x"


def test_saved_by_tensorflow(folder):
    """Bytes as TensorFlow 2.21 wrote them for a dataset of one ragged row."""
    run = Path("saved/7/00000000.shard")
    run.mkdir(parents=True)
    Path("saved/dataset_spec.pb").write_bytes(
        b"\x92\x02;\x08\x03\x12#\xa2\x03 \n\x10\xfa\x01\r\x12\x0b\x08\xff\xff\xff\xff\xff\xff\xff"
        b"\xff\xff\x01\n\x03\x80\x02\x03\n\x02`\x00\n\x03\x80\x02\t\x1a\x10RaggedTensorSpec \x01"
    )
    Path("saved/snapshot.metadata").write_bytes(b"\x12\x017 \x02*\x01\x150\x01\xc0>\x01")
    with tf.io.TFRecordWriter(str(run / "00000000.snapshot")) as writer:
        writer.write(
            b'\x08\x15\x12\x00"$#\n\x13RaggedTensorVariant\x1a\x0c\x08\x03\x12\x04\x12\x02\x08\x02'
            b":\x02\x02\x03"
        )
    dataset = D.load("saved")
    assert dataset.element_spec == tf.RaggedTensorSpec([None], tf.int32, 0)
    assert [row.numpy().tolist() for row in dataset] == [[2, 3]]
    assert int(dataset.cardinality()) == 1


def test_a_saved_file_cut_short(folder):
    D.range(3).save("saved")
    (path,) = Path("saved").rglob("*.snapshot")
    path.write_bytes(path.read_bytes()[:-3])
    with pytest.raises(tf.errors.DataLossError):
        numbers(D.load("saved"))


def test_elements_that_cannot_be_saved(folder):
    with pytest.raises((TypeError, tf.errors.UnimplementedError)):
        D.range(4).window(2).save("saved")
    with pytest.raises(tf.errors.NotFoundError):
        D.load("saved")


def test_load_waits(folder, monkeypatch):
    monkeypatch.setattr("time.sleep", lambda seconds: D.range(2).save("saved"))
    assert numbers(D.load("saved", wait=True)) == [0, 1]


def test_snapshot_begins_its_input_once(folder):
    counted = Counted(4)
    dataset = counted.dataset.snapshot("kept")
    next(iter(dataset))
    for _ in range(3):
        assert numbers(dataset) == [0, 1, 2, 3]
    assert counted.begun == 2


def test_snapshot_is_shared_by_datasets_made_alike(folder):
    def make(added):
        return D.range(3).map(lambda x: x + added)

    D.range(3).shuffle(3)
    assert numbers(make(1).snapshot("kept")) == [1, 2, 3]
    assert numbers(make(2).snapshot("kept")) == [2, 3, 4]
    (path,) = [p for p in Path("kept").rglob("*.snapshot") if _first_number(p) == 1]
    assert make(1).fingerprint() == make(1).fingerprint()
    assert make(1).fingerprint() != make(2).fingerprint()
    assert str(int(make(1).fingerprint())) in path.parts


def _first_number(path):
    record = next(iter(tf.data.TFRecordDataset(str(path))))
    return int(tf.io.parse_tensor(record, tf.int64))


def test_fingerprints_do_not_change_with_use():
    dataset = D.range(6).map(lambda x: x + 1).shuffle(3, seed=1).cache().batch(2)
    before = dataset.fingerprint()
    list(dataset)
    assert dataset.fingerprint() == before


_added = 1


def test_fingerprints_see_what_functions_use(monkeypatch):
    def add(x):
        return x + _added

    before = D.range(3).map(add).fingerprint()
    assert D.range(3).map(add).fingerprint() == before
    monkeypatch.setitem(globals(), "_added", 2)
    assert D.range(3).map(add).fingerprint() != before

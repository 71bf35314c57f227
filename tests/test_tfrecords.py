"""TFRecord files and the messages they hold: checksums, sizes, speed, what is written and when."""

import copy
import gzip
import pickle
import random
import struct
import time
import zlib

import pytest

import gradtape as tf
from gradtape.formats.checksums import crc32c, masked_crc

SIZES = [0, 1, 3, 4, 5, 47, 48, 49, 50, 1023, 1024, 1025, 2048, 2049, 5000, 262143, 262144, 262145,
         262200, 600001]  # fmt: skip


def plain_crc(data):
    """CRC-32C by its definition, a table of single bytes."""
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = (byte >> 1) ^ (0x82F63B78 * (byte & 1))
        table.append(byte)
    crc = 0xFFFFFFFF
    for byte in data:
        crc = table[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    return crc ^ 0xFFFFFFFF


def test_checksum_of_the_digits():
    assert crc32c(b"123456789") == 0xE3069283


def test_checksum_of_zeros_and_ones():
    assert crc32c(bytes(32)) == 0x8A9136AA
    assert crc32c(b"\xff" * 32) == 0x62A8AB43


@pytest.mark.parametrize("size", SIZES)
def test_checksums_of_all_sizes_follow_the_definition(size):
    data = random.Random(size).randbytes(size)
    assert crc32c(data) == plain_crc(data)


def test_a_changed_bit_changes_the_checksum():
    data = bytearray(random.Random(1).randbytes(3000))
    before = masked_crc(data)
    data[1500] ^= 4
    assert masked_crc(data) != before


def test_many_records_are_written_and_read_quickly(tmp_path):
    path = tmp_path / "many"
    record = random.Random(2).randbytes(1000)
    start = time.process_time()
    with tf.io.TFRecordWriter(str(path)) as writer:
        for _ in range(10000):
            writer.write(record)
    count = sum([1 for _ in tf.data.TFRecordDataset(str(path))])
    assert count == 10000
    assert path.stat().st_size == 10000 * (1000 + 16)
    assert time.process_time() - start < 3


def test_records_are_there_after_a_flush(tmp_path):
    writer = tf.io.TFRecordWriter(str(tmp_path / "a"))
    writer.write(b"one")
    writer.flush()
    assert [x.numpy() for x in tf.data.TFRecordDataset(str(tmp_path / "a"))] == [b"one"]
    writer.close()


def test_a_dropped_writer_closes_its_file(tmp_path):
    tf.io.TFRecordWriter(str(tmp_path / "a")).write(b"one")
    assert len((tmp_path / "a").read_bytes()) == 19


def test_a_path_object_is_a_path(tmp_path):
    with tf.io.TFRecordWriter(tmp_path / "a") as writer:
        writer.write(b"one")
    assert len((tmp_path / "a").read_bytes()) == 19


@pytest.mark.parametrize(
    ("kind", "inflate"), [("GZIP", gzip.decompress), ("ZLIB", zlib.decompress)]
)
def test_compression_is_what_it_is_called(tmp_path, kind, inflate):
    with tf.io.TFRecordWriter(str(tmp_path / "a"), kind) as writer:
        writer.write(b"x" * 1000)
    data = (tmp_path / "a").read_bytes()
    assert len(data) < 100
    assert inflate(data)[:8] == struct.pack("<Q", 1000)


def test_levels_of_compression_differ(tmp_path):
    text = " ".join([str(i * i) for i in range(3000)]).encode()
    sizes = []
    for level in (0, 1, 9):
        options = tf.io.TFRecordOptions("ZLIB", compression_level=level)
        with tf.io.TFRecordWriter(str(tmp_path / "a"), options) as writer:
            writer.write(text)
        sizes.append((tmp_path / "a").stat().st_size)
        assert [x.numpy() for x in tf.data.TFRecordDataset(str(tmp_path / "a"), "ZLIB")] == [text]
    assert sizes[0] > len(text) > sizes[1] > sizes[2]


def test_a_broken_record_says_where_it_is(tmp_path):
    path = tmp_path / "a"
    with tf.io.TFRecordWriter(str(path)) as writer:
        writer.write(b"one")
        writer.write(b"two")
    path.write_bytes(path.read_bytes().replace(b"two", b"tow"))
    elements = iter(tf.data.TFRecordDataset(str(path)))
    assert next(elements).numpy() == b"one"
    with pytest.raises(tf.errors.DataLossError, match=r"corrupted record at 19 in .*a "):
        next(elements)


def test_a_length_beyond_reason_does_not_take_memory(tmp_path):
    length = struct.pack("<Q", 1 << 62)
    (tmp_path / "a").write_bytes(length + masked_crc(length) + b"data")
    with pytest.raises(tf.errors.DataLossError):
        next(iter(tf.data.TFRecordDataset(str(tmp_path / "a"))))


# Messages -----------------------------------------------------------------------------------------


def an_example():
    return tf.train.Example(
        features=tf.train.Features(
            feature={
                "i": tf.train.Feature(int64_list=tf.train.Int64List(value=[1, -2, 300])),
                "f": tf.train.Feature(float_list=tf.train.FloatList(value=[0.5, 1e10])),
                "b": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"", b"\xff"])),
            }
        )
    )


@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))]
)
def test_copies_are_equal_and_apart(copied):
    original = an_example()
    other = copied(original)
    assert other == original
    other.features.feature["i"].int64_list.value.append(4)
    assert list(original.features.feature["i"].int64_list.value) == [1, -2, 300]
    assert other != original


def test_messages_given_are_copied():
    values = tf.train.Int64List(value=[1])
    feature = tf.train.Feature(int64_list=values)
    values.value.append(2)
    assert feature.int64_list.value == [1]


def test_a_message_comes_back_from_its_bytes():
    original = an_example()
    assert tf.train.Example.FromString(original.SerializeToString()) == original
    assert tf.train.Example.FromString(original.SerializeToString(deterministic=True)) == original


def test_deterministic_bytes_do_not_depend_on_the_order_of_keys():
    one, other = tf.train.Features(), tf.train.Features()
    for features, keys in ((one, "abc"), (other, "cab")):
        for key in keys:
            features.feature[key].int64_list.value.append(ord(key))
    assert one == other
    assert one.SerializeToString() != other.SerializeToString()
    assert one.SerializeToString(deterministic=True) == other.SerializeToString(deterministic=True)


def test_a_part_that_was_looked_at_only_is_not_there():
    example = tf.train.Example()
    assert len(example.features.feature) == 0
    assert not example.HasField("features")
    example.features.feature["x"].float_list.value.append(1)
    assert example.HasField("features")
    assert example.features.feature["x"].WhichOneof("kind") == "float_list"


def test_parsing_in_a_function_sees_the_values_of_each_call():
    features = {"i": tf.io.FixedLenFeature([3], tf.int64), "b": tf.io.VarLenFeature(tf.string)}

    @tf.function
    def total(serialized):
        parsed = tf.io.parse_single_example(serialized, features)
        return tf.reduce_sum(parsed["i"]), tf.size(parsed["b"].values)

    example = an_example()
    first = [x.numpy() for x in total(tf.constant(example.SerializeToString()))]
    example.features.feature["i"].int64_list.value[0] = 11
    example.features.feature["b"].bytes_list.value.append(b"z")
    second = [x.numpy() for x in total(tf.constant(example.SerializeToString()))]
    assert first == [299, 2]
    assert second == [309, 3]


def test_a_missing_feature_is_missing_in_a_dataset_too():
    features = {"i": tf.io.FixedLenFeature([2], tf.int64)}
    dataset = tf.data.Dataset.from_tensor_slices([b"", b""])
    dataset = dataset.map(lambda x: tf.io.parse_single_example(x, features))
    assert dataset.element_spec == {"i": tf.TensorSpec([2], tf.int64)}
    with pytest.raises(
        tf.errors.InvalidArgumentError, match=r"i .*required but could not be found"
    ):
        next(iter(dataset))

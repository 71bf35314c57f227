"""Datasets of files: when files are opened and closed, how much is read, what errors say."""

import gc
import gzip
import sqlite3
import tracemalloc

import pytest

import gradtape as tf
from gradtape.data import file_reading

READERS = {
    "lines": tf.data.TextLineDataset,
    "records": tf.data.TFRecordDataset,
    "fixed": lambda path, *args: tf.data.FixedLengthRecordDataset(path, 4),
    "csv": lambda path: tf.data.experimental.CsvDataset(path, [""]),
}


@pytest.fixture
def opened(monkeypatch):
    """The files opened by datasets, in order."""
    files = []
    original = file_reading.open_file

    def spy(*args):
        files.append(original(*args))
        return files[-1]

    for module in ("files", "records", "csv_files"):
        monkeypatch.setattr(f"gradtape.data.{module}.open_file", spy)
    return files


def write(path, kind):
    if kind == "records":
        with tf.io.TFRecordWriter(path) as writer:
            for _ in range(5):
                writer.write(b"data")
    else:
        path.write_bytes(b"abc\n" * 5)
    return str(path)


@pytest.mark.parametrize("kind", READERS)
def test_files_are_opened_when_they_are_read_and_closed_when_dropped(tmp_path, opened, kind):
    dataset = READERS[kind](write(tmp_path / "a", kind))
    assert not opened
    elements = iter(dataset)
    assert not opened
    next(elements)
    assert [file.closed for file in opened] == [False]
    del elements
    gc.collect()
    assert [file.closed for file in opened] == [True]


def test_files_are_opened_one_after_the_other_and_closed(tmp_path, opened):
    paths = [write(tmp_path / name, "lines") for name in "abc"]
    elements = iter(tf.data.TextLineDataset(paths))
    for _ in range(6):
        next(elements)
    assert [file.closed for file in opened] == [True, False]
    assert len(list(elements)) == 9
    del elements
    assert [file.closed for file in opened] == [True, True, True]


def test_as_many_files_are_open_as_are_read_in_turn(tmp_path, opened):
    paths = [write(tmp_path / name, "lines") for name in "abcd"]
    elements = iter(tf.data.TextLineDataset(paths, num_parallel_reads=2))
    for _ in range(10):
        next(elements)
    assert [file.closed for file in opened] == [False, False]
    assert len(list(elements)) == 10


@pytest.mark.parametrize("compression", ["", "GZIP"])
def test_a_large_file_is_never_held_whole(tmp_path, compression):
    data = b"a line of text that is repeated\n" * 500_000
    path = tmp_path / "large"
    path.write_bytes(gzip.compress(data, 1) if compression else data)
    dataset = tf.data.TextLineDataset(str(path), compression)
    size = len(data)
    del data
    tracemalloc.start()
    elements = iter(dataset)
    for _ in range(20_000):
        next(elements)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < size / 8


def test_every_iteration_reads_the_file_anew(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"one\n")
    dataset = tf.data.TextLineDataset(str(path))
    assert [x.numpy() for x in dataset] == [b"one"]
    path.write_bytes(b"two\nthree\n")
    assert [x.numpy() for x in dataset] == [b"two", b"three"]


def test_a_file_that_appears_is_read_after_the_error(tmp_path):
    path = tmp_path / "late"
    elements = iter(tf.data.TextLineDataset(str(path)))
    with pytest.raises(tf.errors.NotFoundError, match="late; No such file"):
        next(elements)
    path.write_bytes(b"there\n")
    assert next(elements).numpy() == b"there"


def test_list_files_looks_at_once_and_says_what_it_did_not_find(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"")
    dataset = tf.data.Dataset.list_files(str(tmp_path / "*.txt"), shuffle=False)
    (tmp_path / "b.txt").write_bytes(b"")
    assert len(list(dataset)) == 1
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"No files matched pattern: .*\.csv"):
        tf.data.Dataset.list_files(str(tmp_path / "*.csv"))


def test_list_files_comes_in_another_order_each_time(tmp_path):
    for i in range(30):
        (tmp_path / str(i)).write_bytes(b"")
    dataset = tf.data.Dataset.list_files(str(tmp_path / "*"), seed=3)
    first, second = [[x.numpy() for x in dataset] for _ in range(2)]
    assert first != second
    assert sorted(first) == sorted(second)


def test_fixed_length_records_say_what_does_not_fit(tmp_path):
    (tmp_path / "a").write_bytes(b"0123456789")
    dataset = tf.data.FixedLengthRecordDataset(str(tmp_path / "a"), 4, header_bytes=1)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"body length 9 .* \(4 bytes\)"):
        next(iter(dataset))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"1\n", "Expect 2 fields but have 1 in record"),
        (b"1,x\n", "not a valid int32: x"),
        (b"1,\n", "required but missing"),
        (b'1,"2\n', "without closing quoted field"),
        (b'1,2"\n', "Unquoted fields cannot have quotes"),
        (b'1,"2"3\n', "Quote inside a string has to be escaped"),
    ],
)
def test_csv_errors_say_what_is_wrong(tmp_path, text, message):
    (tmp_path / "a").write_bytes(text)
    dataset = tf.data.experimental.CsvDataset(str(tmp_path / "a"), [tf.int32, tf.int32])
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        next(iter(dataset))


def test_a_quoted_field_may_be_longer_than_the_buffer(tmp_path):
    field = "line\n" * 1000
    (tmp_path / "a").write_text(f'"{field}",2\n3,4\n')
    dataset = tf.data.experimental.CsvDataset(str(tmp_path / "a"), ["", 0], buffer_size=16)
    assert [x.numpy() for x, _ in dataset] == [field.encode(), b"3"]


def test_columns_come_in_the_order_of_the_file(tmp_path):
    (tmp_path / "a").write_text("z,y,x\n1,2,3\n")
    dataset = tf.data.experimental.make_csv_dataset(
        str(tmp_path / "a"), 1, num_epochs=1, label_name="y"
    )
    ((features, label),) = list(dataset)
    assert list(features) == ["z", "x"]
    assert [features[key].numpy().tolist() for key in features] == [[1], [3]]
    assert label.numpy().tolist() == [2]


def test_a_database_is_closed_when_its_rows_are_dropped(tmp_path):
    path = str(tmp_path / "db")
    connection = sqlite3.connect(path)
    connection.execute("create table t (x integer)")
    connection.executemany("insert into t values (?)", [(i,) for i in range(100)])
    connection.commit()
    elements = iter(tf.data.experimental.SqlDataset("sqlite", path, "select * from t", tf.int64))
    assert next(elements).numpy() == 0
    del elements
    connection.execute("pragma locking_mode = exclusive")
    connection.execute("drop table t")
    connection.close()


def test_a_query_cannot_change_a_database(tmp_path):
    path = str(tmp_path / "db")
    connection = sqlite3.connect(path)
    connection.execute("create table t (x integer)")
    connection.close()
    dataset = tf.data.experimental.SqlDataset("sqlite", path, "delete from t", ())
    with pytest.raises(tf.errors.UnknownError, match="readonly"):
        next(iter(dataset))


def test_a_query_that_fails_leaves_no_connection(tmp_path, monkeypatch):
    path, opened, connect = str(tmp_path / "db"), [], sqlite3.connect
    connect(path).close()

    def spy(*args, **kwargs):
        opened.append(connect(*args, **kwargs))
        return opened[-1]

    monkeypatch.setattr(sqlite3, "connect", spy)
    for query, kinds in [("select 1 from nowhere", tf.int64), ("select 1, 2", tf.int64)]:
        with pytest.raises(tf.errors.OpError):
            next(iter(tf.data.experimental.SqlDataset("sqlite", path, query, kinds)))
    assert len(opened) == 2
    for connection in opened:
        with pytest.raises(sqlite3.ProgrammingError, match="closed"):
            connection.execute("select 1")


def test_patterns_find_hidden_files_and_keep_what_is_found_twice(tmp_path):
    (tmp_path / ".hidden").write_bytes(b"")
    (tmp_path / "a").write_bytes(b"")
    patterns = [str(tmp_path / "*"), str(tmp_path / "a")]
    expected = [str(tmp_path / name).encode() for name in (".hidden", "a", "a")]
    assert [x.numpy() for x in tf.data.Dataset.list_files(patterns, shuffle=False)] == expected
    assert tf.io.matching_files(patterns).numpy().tolist() == expected

"""tf.print: the text for every kind of value, and where it goes."""

import sys

import numpy as np
import pytest

import gradtape as tf


@pytest.fixture
def printed(tmp_path):
    """A function that prints to a file and returns what is there."""

    def text(*inputs, **options):
        path = tmp_path / "out.txt"
        tf.print(*inputs, output_stream=f"file://{path}", **options)
        found = path.read_text(encoding="utf-8")
        path.unlink()
        return found

    return text


MIXED = [1.5, 2.0, 1e10, 1e-10, 1e6, 123456789.0, 0.1, float("inf"), float("nan"), -0.0]


@pytest.mark.parametrize(
    ("inputs", "expected"),
    [
        ((), ""),
        (("a",), "a"),
        ((tf.constant("a"),), "a"),
        (("x:", tf.constant("a")), 'x: "a"'),
        ((tf.constant(["a", "b"]),), '["a" "b"]'),
        ((tf.constant("h\u00e9llo"), 1), '"h\u00e9llo" 1'),
        ((b"abc", 1), "b'abc' 1"),
        ((1, 2.5, None, True, 1 + 2j), "1 2.5 None True (1+2j)"),
        ((np.array([1, 2]),), "array([1, 2])"),
        ((tf.constant(2.0), tf.constant(True), tf.constant(3, tf.uint8)), "2 1 3"),
        ((tf.constant([True, False]),), "[1 0]"),
        ((tf.Variable([1.0, 2.0]),), "[1 2]"),
        ((tf.constant(1 / 3, tf.float16), tf.constant(1 / 3)), "0.333251953 0.333333343"),
        ((tf.constant(1 / 3, tf.bfloat16),), "0.333984375"),
        ((tf.constant(1 / 3, tf.float64), tf.constant(1e10, tf.float64)),
         "0.33333333333333331 10000000000"),
        ((tf.constant(1e15, tf.float64), tf.constant(123456.789, tf.float64)), "1e+15 123456.789"),
        (([1, 2], {"z": 1, "y": "q"}, ["it's"]), "[1, 2] {'y': 'q', 'z': 1} [\"it's\"]"),
        (({"a": tf.constant(1), "b": [tf.constant([1, 2]), 2, "s"]},),
         "{'a': 1, 'b': [[1 2], 2, 's']}"),
        (((tf.constant(1),), [tf.constant("s")]), '(1,) ["s"]'),
        ((tf.TensorShape([1, 2]), tf.float32), "TensorShape([1, 2]) tf.float32"),
        ((tf.range(6),), "[0 1 2 3 4 5]"),
        ((tf.range(7),), "[0 1 2 ... 4 5 6]"),
        ((tf.constant([[1, 2], [3, 4]]),), "[[1 2]\n [3 4]]"),
        ((tf.reshape(tf.range(8), [2, 2, 2]),), "[[[0 1]\n  [2 3]]\n\n [[4 5]\n  [6 7]]]"),
        ((tf.zeros(0), tf.zeros([0, 2])), "[] []"),
    ],
)  # fmt: skip
def test_text(printed, inputs, expected):
    assert printed(*inputs) == expected + "\n"


def test_summarize(printed):
    square = tf.reshape(tf.range(100), [10, 10])
    assert printed(square, summarize=1) == "[[0 ... 9]\n ...\n [90 ... 99]]\n"
    assert printed(tf.range(5), summarize=2) == "[0 1 ... 3 4]\n"
    assert printed(tf.range(9), summarize=-1) == "[0 1 2 3 4 5 6 7 8]\n"
    text = "[1.5 2 1e+10 1e-10 1e+06 123456792 0.1 inf nan -0]\n"
    assert printed(tf.constant(MIXED), summarize=-1) == text


def test_sep_and_end(printed):
    assert printed(tf.constant(1.0), "a", sep="--", end="!") == "1--a!"


def test_streams(capsys):
    tf.print("to stderr")
    tf.print("to stdout", output_stream=sys.stdout)
    assert capsys.readouterr() == ("to stdout\n", "to stderr\n")


def test_levels(caplog, monkeypatch):
    monkeypatch.setattr(tf.get_logger(), "propagate", True)
    with caplog.at_level("INFO", tf.get_logger().name):
        tf.print("told", 1, output_stream="warning")
    assert [r.levelname for r in caplog.records] == ["WARNING"]
    assert "told 1" in caplog.text


def test_files_are_appended_to(tmp_path):
    path = tmp_path / "log.txt"
    for i in range(2):
        tf.print(i, output_stream=f"file://{path}")
    assert path.read_text() == "0\n1\n"


@pytest.mark.parametrize("stream", ["nowhere", 3])
def test_unknown_streams(stream):
    with pytest.raises(ValueError, match=f"Unsupported output stream.*{stream}"):
        tf.print("a", output_stream=stream)


def test_unknown_keywords():
    with pytest.raises(ValueError, match=r"Unrecognized keyword arguments .*{'foo': 3}"):
        tf.print("a", foo=3)

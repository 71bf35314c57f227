"""tf.test: assertions on tensors, numerical derivatives."""

import os
import unittest

import numpy as np
import pytest

import gradtape as tf


class Example(tf.test.TestCase):
    def runTest(self):  # noqa: N802 - unittest's name
        """Nothing: its assertions are what is tested."""


Example.__test__ = False  # pytest need not run it
case = Example()
nan = float("nan")

PASSING = [
    ("AllEqual", ([1, 2], tf.constant([1, 2]))),
    ("AllEqual", ([nan], tf.constant([nan]))),
    ("AllEqual", (["a"], tf.constant([b"a"]))),
    ("AllEqual", (tf.ragged.constant([[1], [2, 3]]), [[1], [2, 3]])),
    ("AllClose", ([1, 2.0], [1, 2.000001])),
    ("AllClose", ({"a": 1.0, "b": [tf.constant(2.0)]}, {"a": 1.0, "b": [2.0]})),
    ("AllClose", ((1.0, [2.0, 3.0]), (1.0, [2.0, 3.0]))),
    ("AllClose", (tf.Variable([1.0]), np.array([1.0]))),
    ("AllClose", ([1.0], [1.5], 0.0, 0.6)),
    ("AllCloseAccordingToType", (tf.constant([1.0], tf.float16), [1.0005])),
    ("AllCloseAccordingToType", (tf.constant([1.0], tf.bfloat16), [1.005])),
    ("NotAllClose", ([1.0], [1.1])),
    ("NotAllEqual", ([1], [2])),
    ("ShapeEqual", (np.zeros((2, 1)), tf.zeros((2, 1)))),
    ("DTypeEqual", (tf.zeros(1), np.float32)),
    ("AllInRange", ([1, 3], 1, 3)),
    ("AllInSet", ([1, 5, 1], [1, 5])),
    ("AllGreater", ([1, 5], 0)),
    ("AllLess", ([1, 5], 6)),
    ("AllGreaterEqual", ([1, 5], 1)),
    ("AllLessEqual", ([1, 5], 5)),
    ("Near", (1.0, 1.4, 0.5)),
    ("ArrayNear", ([1.0], [1.05], 0.1)),
    ("NDArrayNear", (np.zeros(2), np.full(2, 0.1), 0.2)),
    ("StartsWith", ("gradient", "grad")),
    ("Len", ([1, 2], 2)),
    ("Empty", ([],)),
    ("NotEmpty", ([1],)),
]

FAILING = [
    ("AllEqual", ([1, 2], tf.constant([1, 3])), "not equal"),
    ("AllEqual", ([1, 2], [1]), "hape mismatch"),
    ("AllClose", ([1, 2.0], [1, 2.1]), "a is different from b"),
    ("AllClose", ((1.0, [2.0]), (1.0, [2.1])), r"a\[1\] is different from b\[1\]"),
    ("AllClose", ({"a": 1.0}, {"b": 1.0}), "mismatched keys"),
    ("AllClose", ([1.0, 2.0], [1.0]), "hape mismatch"),
    ("AllClose", (1.0, nan), "Not equal to tolerance"),
    ("AllCloseAccordingToType", (tf.constant([1.0]), [1.0005]), "Not equal to tolerance"),
    ("NotAllClose", ([1.0], [1.0]), "close at all elements"),
    ("NotAllEqual", ([1], [1]), "equal at all elements"),
    ("ShapeEqual", (np.zeros(2), tf.zeros(3)), "2"),
    ("DTypeEqual", (tf.zeros(1), np.float64), "float32.*!=.*float64"),
    ("AllInRange", ([1, 5], 0, 3), "1 of the 2 element"),
    ("AllInRange", ([1, 3], 0, 3, False, True), r"outside the range \[0, 3\)"),
    ("AllInSet", ([1, 5], [1]), "not in the set"),
    ("AllGreater", ([1, 5], 1), "not greater than 1"),
    ("AllLessEqual", ([1, 5], 4), "not less than or equal to 4"),
    ("Near", (1, 2, 0.5), "1.000000 != 2.000000"),
    ("ArrayNear", ([1.0], [1.2], 0.1), "1.000000 != 1.200000"),
    ("StartsWith", ("gradient", "tape"), "does not start with"),
    ("Len", ([1], 2), "2"),
    ("Empty", ([1],), ""),
]


@pytest.mark.parametrize(("name", "arguments"), PASSING)
def test_passing(name, arguments):
    assert getattr(case, f"assert{name}")(*arguments) is None


@pytest.mark.parametrize(("name", "arguments", "message"), FAILING)
def test_failing(name, arguments, message):
    with pytest.raises(AssertionError, match=message or None):
        getattr(case, f"assert{name}")(*arguments)


def test_a_dict_and_something_else():
    with pytest.raises(ValueError, match="Can't compare dict to non-dict, a vs b"):
        case.assertAllClose({"a": 1.0}, [1.0])


class TestErrors:
    def test_of_ops(self):
        with case.assertRaisesOpError("Matrix size-incompatible"):
            tf.matmul(tf.ones((2, 3)), tf.ones((2, 3)))

    def test_predicates(self):
        with case.assertRaisesWithPredicateMatch(ValueError, lambda error: "wrong" in str(error)):
            raise ValueError("all wrong")

    def test_other_texts_and_none(self):
        expected = case.assertRaisesWithPredicateMatch
        with pytest.raises(AssertionError), expected(ValueError, "right"):
            raise ValueError("all wrong")
        with pytest.raises(AssertionError), expected(ValueError, "right"):
            pass


class TestEvaluate:
    def test_structures(self):
        got = case.evaluate({"a": tf.constant(1), "b": [tf.Variable([2.0])]})
        assert got["a"] == 1
        assert got["a"].dtype == np.int32
        assert isinstance(got["b"][0], np.ndarray)

    def test_other_things(self):
        with pytest.raises(ValueError, match="Unsupported type 'int'"):
            case.evaluate(3)


def test_runs_and_has_a_directory():
    seen = []

    class Inner(tf.test.TestCase):
        def test_files(self):
            seen.append(self.get_temp_dir())
            with open(os.path.join(seen[0], "file"), "w") as file:
                file.write("text")
            with self.session():
                self.assertAllEqual(tf.constant([1]), [1])

        def test_fails(self):
            self.assertAllEqual(tf.constant([1]), [2])

    suite = unittest.defaultTestLoader.loadTestsFromTestCase(Inner)
    result = unittest.TestResult()
    suite.run(result)
    assert (len(result.failures), len(result.errors)) == (1, 0)
    assert "test_fails" in str(result.failures[0][0])
    assert seen


def test_threads():
    thread = case.checkedThread(lambda: case.assertAllEqual([1], [2]))
    thread.start()
    with pytest.raises(AssertionError, match="Error in checkedThread"):
        thread.join()


class TestComputeGradient:
    def test_of_two(self):
        by_tape, by_differences = tf.test.compute_gradient(
            lambda x, y: x * y, [tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0])]
        )
        for got in (by_tape, by_differences):
            assert [each.dtype for each in got] == [np.float32, np.float32]
            np.testing.assert_allclose(got[0], [[3, 0], [0, 4]], rtol=1e-4)
            np.testing.assert_allclose(got[1], [[1, 0], [0, 2]], rtol=1e-4)

    def test_of_a_wider_result(self):
        x = tf.constant([[1.0, 2.0]], tf.float64)
        by_tape, by_differences = tf.test.compute_gradient(lambda x: tf.tile(x * x, [2, 1]), [x])
        np.testing.assert_allclose(by_tape[0], [[2, 0], [0, 4], [2, 0], [0, 4]])
        np.testing.assert_allclose(by_differences[0], by_tape[0], atol=1e-9)

    def test_complex(self):
        by_tape, by_differences = tf.test.compute_gradient(
            lambda x: x * x, [tf.constant([1 + 2j], tf.complex128)]
        )
        np.testing.assert_allclose(by_tape[0], [[2, -4], [4, 2]])
        np.testing.assert_allclose(by_differences[0], [[2, -4], [4, 2]], rtol=1e-6)

    def test_step(self):
        _, (slope,) = tf.test.compute_gradient(tf.abs, [tf.constant([0.5])], delta=1.0)
        np.testing.assert_allclose(slope, [[0.5]])

    def test_errors(self):
        with pytest.raises(ValueError, match="list or tuple"):
            tf.test.compute_gradient(tf.abs, tf.constant([0.5]))
        with pytest.raises(AssertionError, match="int32 of argument 0"):
            tf.test.compute_gradient(tf.abs, [1])

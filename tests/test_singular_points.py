"""Every row of the tables in docs/singular_points.md, and what the tables cannot say."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradtape as tf

PAGE = Path(__file__).resolve().parent.parent / "docs" / "singular_points.md"
NAMES = {"tf": tf, "np": np, "inf": math.inf, "nan": math.nan, "none": None}


def read_rows(last_column):
    """Cells of the rows of all tables on the page whose last column has this title."""
    rows, inside = [], False
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip().strip("`") for cell in line.strip("|").split(" |")]
        if not line.startswith("|"):
            inside = False
        elif cells[0] == "function":
            inside = cells[-1] == last_column
        elif inside and not line.startswith("|---"):
            rows.append(cells)
    return rows


def literal(text):
    return eval(text, NAMES)  # the page is part of the project


def conventions():
    for expression, point, first, second, tensorflow in read_rows("TensorFlow"):
        marks = [pytest.mark.beyond_tensorflow] if tensorflow else []
        yield pytest.param(
            expression, point, first, second, id=f"{expression} at {point}", marks=marks
        )


def nan_safe_rows():
    for row in read_rows("second, nan_safe"):
        yield pytest.param(*row, id=f"{row[0]} at {row[1]}")


def source(point):
    value = np.asarray(literal(point))
    return tf.constant(value, tf.complex64 if value.dtype.kind == "c" else tf.float32)


def derivatives(function, x, **options) -> Any:
    """The first and the second derivative, both recorded."""
    with tf.GradientTape(**options) as outer:
        outer.watch(x)
        with tf.GradientTape(**options) as inner:
            inner.watch(x)
            y = function(x)
        first = inner.gradient(y, x)
    return first, None if first is None else outer.gradient(first, x)


def only_first(function, x, **options):
    """The first derivative, computed on raw arrays."""
    with tf.GradientTape(**options) as tape:
        tape.watch(x)
        y = function(x)
    return tape.gradient(y, x)


def untaken_log(x):
    return tf.where(x > 0, tf.math.log(x), 0.0)


@pytest.mark.parametrize("expression", [row[0] for row in read_rows("second, nan_safe")[:16]])
def test_forward_mode_drops_the_branch_not_taken(expression):
    row = next(row for row in read_rows("second, nan_safe") if row[0] == expression)
    x = source(row[1])
    with tf.autodiff.ForwardAccumulator(x, tf.ones_like(x)) as accumulator:
        y = function_of(expression)(x)
    check(accumulator.jvp(y), row[4])


def check(got, text):
    want = literal(text)
    if want is None:
        assert got is None
    else:
        np.testing.assert_allclose(got, np.asarray(want, got.numpy().dtype), rtol=5e-6)


def function_of(expression):
    return literal(f"lambda x: {expression}")


def test_tables_are_read():
    assert len(read_rows("TensorFlow")) > 80
    assert len(read_rows("second, nan_safe")) > 20


@pytest.mark.parametrize(("expression", "point", "first", "second"), list(conventions()))
def test_convention(expression, point, first, second):
    function, x = function_of(expression), source(point)
    got_first, got_second = derivatives(function, x)
    check(got_first, first)
    check(got_second, second)
    check(only_first(function, x), first)


@pytest.mark.beyond_tensorflow
class TestNanSafe:
    @pytest.mark.parametrize(
        ("expression", "point", "default", "default_second", "first", "second"),
        list(nan_safe_rows()),
    )
    def test_row(self, expression, point, default, default_second, first, second):
        function, x = function_of(expression), source(point)
        check(only_first(function, x), default)
        for got, want in zip(derivatives(function, x), (default, default_second), strict=True):
            check(got, want)
        check(only_first(function, x, nan_safe=True), first)
        got_first, got_second = derivatives(function, x, nan_safe=True)
        check(got_first, first)
        check(got_second, second)

    def test_reaches_recomputed_functions(self):
        function = tf.recompute_grad(untaken_log)
        first, second = derivatives(function, tf.constant([0.0, 4.0]), nan_safe=True)
        assert only_first(function, tf.constant([0.0, 4.0]), nan_safe=True).numpy()[0] == 0.0
        assert first.numpy().tolist() == [0.0, 0.25]
        assert second.numpy().tolist() == [0.0, -0.0625]
        assert np.isnan(only_first(function, tf.constant([0.0, 4.0])).numpy()[0])

    @pytest.mark.parametrize("recorded_by", ["the rule", "the function"])
    def test_reaches_tapes_of_custom_rules(self, recorded_by):
        @tf.custom_gradient
        def function(x):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = untaken_log(x)

            def grad(g):
                if recorded_by == "the function":
                    return tape.gradient(y, x, g)
                with tf.GradientTape() as again:
                    again.watch(x)
                    z = untaken_log(x)
                return again.gradient(z, x, g)

            return y, grad

        x = tf.constant([0.0, 4.0])
        assert only_first(function, x, nan_safe=True).numpy().tolist() == [0.0, 0.25]
        assert np.isnan(only_first(function, x).numpy()[0])

    def test_is_over_after_the_gradient(self):
        x = tf.constant([0.0, 4.0])
        only_first(untaken_log, x, nan_safe=True)
        assert np.isnan(only_first(untaken_log, x).numpy()[0])

    def test_accumulator_around_a_tape(self):
        x = tf.constant([0.0, 4.0])
        with tf.autodiff.ForwardAccumulator(x, tf.ones(2)) as accumulator:
            first = only_first(untaken_log, x, nan_safe=True)
        assert accumulator.jvp(first).numpy().tolist() == [0.0, -0.0625]

    @pytest.mark.parametrize("pfor", [True, False])
    def test_jacobian(self, pfor):
        x = tf.constant([0.0, 4.0])
        with tf.GradientTape(persistent=True, nan_safe=True) as tape:
            tape.watch(x)
            y = tf.where(x > 0, tf.math.log(x), 0.0)
        found = tape.jacobian(y, x, experimental_use_pfor=pfor)
        assert found.numpy().tolist() == [[0.0, 0.0], [0.0, 0.25]]

    def test_batch_jacobian(self):
        x = tf.constant([[0.0, 4.0], [2.0, 0.0]])
        with tf.GradientTape(nan_safe=True) as tape:
            tape.watch(x)
            y = tf.where(x > 0, 1 / x, 1.0)
        found = tape.batch_jacobian(y, x).numpy().tolist()
        assert found == [[[0.0, 0.0], [0.0, -0.0625]], [[-0.25, 0.0], [0.0, 0.0]]]

    def test_hessian_by_jacobian(self):
        x = tf.constant([0.0, 4.0])
        with tf.GradientTape(nan_safe=True) as outer:
            outer.watch(x)
            with tf.GradientTape(nan_safe=True) as inner:
                inner.watch(x)
                y = tf.where(x > 0, tf.math.log(x), 0.0)
            first = inner.gradient(y, x)
        assert outer.jacobian(first, x).numpy().tolist() == [[0.0, 0.0], [0.0, -0.0625]]

    def test_third_order(self):
        x = tf.constant([0.0, 2.0])
        with tf.GradientTape(nan_safe=True) as tape:
            tape.watch(x)
            _, second = derivatives(
                lambda x: tf.where(x > 0, tf.math.log(x), 0.0), x, nan_safe=True
            )
        assert tape.gradient(second, x).numpy().tolist() == [0.0, 0.25]

    def test_zeros_count_before_broadcasting_is_undone(self):
        """The scalar's gradient is a sum, one term of which would be NaN."""
        scale, x = tf.constant(2.0), tf.constant([0.0, 4.0])
        with tf.GradientTape(nan_safe=True) as tape:
            tape.watch(scale)
            y = tf.where(x > 0, scale / x, 0.0)
        assert tape.gradient(y, scale).numpy() == 0.25

    @pytest.mark.parametrize("dtype", [tf.float16, tf.bfloat16, tf.float64, tf.complex64])
    def test_dtypes(self, dtype):
        x = tf.constant([0.0, 4.0], dtype)
        function = lambda x: tf.where(tf.abs(x) > 0, tf.math.log(x), tf.zeros_like(x))  # noqa: E731
        first, second = derivatives(function, x, nan_safe=True)
        assert first.dtype == second.dtype == dtype
        assert first.numpy().tolist() == [0.0, 0.25]
        assert second.numpy().tolist() == [0.0, -0.0625]
        assert only_first(function, x, nan_safe=True).numpy().tolist() == [0.0, 0.25]

    @pytest.mark.parametrize("part", [tf.abs, tf.math.angle], ids=["abs", "angle"])
    def test_from_complex_to_real_numbers(self, part):
        """The first element is NaN itself, and not taken."""
        x = tf.constant([complex(math.nan, 1.0), 2.0], tf.complex64)
        taken = tf.constant([False, True])
        found = [
            only_first(lambda x: tf.where(taken, part(x), 0.0), x, nan_safe=nan_safe).numpy()
            for nan_safe in (False, True)
        ]
        assert np.isnan(found[0]).tolist() == [True, False]
        assert found[1].tolist() == [0.0, found[0][1]]

    def test_scalars(self):
        x = tf.constant(0.0)
        function = lambda x: tf.where(x > 0, tf.math.log(x), 0.0)  # noqa: E731
        assert only_first(function, x, nan_safe=True).numpy() == 0.0
        assert [d.numpy() for d in derivatives(function, x, nan_safe=True)] == [0.0, 0.0]

    def test_sparse_gradients(self):
        table = tf.Variable([0.0, 4.0, 1.0])
        with tf.GradientTape(nan_safe=True) as tape:
            rows = tf.gather(table, [0, 1, 1])
            y = tf.where(rows > 0, tf.math.log(rows), 0.0)
        found = tape.gradient(y, table)
        assert isinstance(found, tf.IndexedSlices)
        assert tf.convert_to_tensor(found).numpy().tolist() == [0.0, 0.5, 0.0]

    def test_nan_that_comes_in_stays(self):
        x = tf.constant([1.0, 2.0])
        with tf.GradientTape(nan_safe=True) as tape:
            tape.watch(x)
            y = tf.math.log(x)
        found = tape.gradient(y, x, output_gradients=tf.constant([math.nan, 0.0]))
        np.testing.assert_array_equal(found, [math.nan, 0.0])

    def test_nan_of_a_product_of_matrices_stays(self):
        x, infinite = tf.constant([[1.0]]), tf.constant([[math.inf]])
        with tf.GradientTape(nan_safe=True) as tape:
            tape.watch(x)
            y = tf.matmul(x, infinite) * 0.0
        assert np.isnan(tape.gradient(y, x).numpy()).all()

    def test_is_asked_for_by_keyword(self):
        with pytest.raises(TypeError):
            tf.GradientTape(False, True, True)  # pyright: ignore[reportCallIssue]


class TestSecondOrderOfSlices:
    """IndexedSlices as first derivatives, differentiated again, also in 16 bits."""

    @pytest.mark.parametrize("dtype", [tf.float16, tf.bfloat16, tf.float32])
    def test_values(self, dtype):
        table = tf.Variable(tf.ones([4, 2], dtype))
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                y = tf.reduce_sum(tf.gather(table, [0, 2, 0]) ** 3)
            first = inner.gradient(y, table)
            values = first.values
        second = outer.gradient(values, table)
        assert isinstance(first, tf.IndexedSlices)
        assert isinstance(second, tf.IndexedSlices)
        assert second.dtype == dtype
        want = [[12.0, 12.0], [0.0, 0.0], [6.0, 6.0], [0.0, 0.0]]
        assert tf.convert_to_tensor(second).numpy().tolist() == want

    @pytest.mark.parametrize("dtype", [tf.float16, tf.bfloat16, tf.float32])
    def test_together_with_dense_gradients(self, dtype):
        table = tf.Variable(tf.ones([4, 2], dtype))
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                y = tf.reduce_sum(tf.gather(table, [0, 2, 0]) ** 3) + tf.reduce_sum(table * table)
            first = inner.gradient(y, table)
        second = outer.gradient(first, table)
        assert first.numpy().tolist() == [[8.0, 8.0], [2.0, 2.0], [5.0, 5.0], [2.0, 2.0]]
        assert second.numpy().tolist() == [[14.0, 14.0], [2.0, 2.0], [8.0, 8.0], [2.0, 2.0]]


class TestSumsIn16Bits:
    @pytest.mark.parametrize(("dtype", "total"), [(tf.float16, 5000.0), (tf.bfloat16, 4992.0)])
    def test_gradient_of_a_broadcast_scalar(self, dtype, total):
        """5000 terms of 1: added in 16 bits, the sum would stop at 2048 or 256."""
        b, x = tf.constant(1.0, dtype), tf.ones([5000], dtype)
        assert float(only_first(lambda b: b * x, b)) == total
        first, second = derivatives(lambda b: b * b * x / 2, b)
        assert (first.dtype, second.dtype) == (dtype, dtype)
        assert (float(first), float(second)) == (total, total)

    @pytest.mark.beyond_tensorflow
    def test_norm_does_not_overflow(self):
        x = tf.constant([300.0, 400.0], tf.float16)
        assert float(tf.norm(x)) == 500.0
        np.testing.assert_allclose(only_first(tf.norm, x), [0.6, 0.8], rtol=1e-3)

"""Every way to differentiate, for complex, 16-bit and sparse gradients.

Expectations are analytic. On tapes the derivative of a holomorphic function is conjugated, as in
TensorFlow; in forward mode it is not.
"""

import numpy as np
import pytest

import gradtape as tf

autodiff = tf.autodiff
REAL = ["float16", "bfloat16", "float32", "float64"]
COMPLEX = ["complex64", "complex128"]
TOLERANCE = {
    "float16": 2e-3, "bfloat16": 2e-2, "float32": 1e-5, "float64": 1e-12,
    "complex64": 1e-5, "complex128": 1e-12,
}  # fmt: skip


def cube(x):
    return x * x * x


@tf.custom_gradient
def cube_by_rule(x):
    return x * x * x, lambda g: g * tf.math.conj(3 * x * x)


cube_again = tf.recompute_grad(cube)
FUNCTIONS = [cube, cube_by_rule, cube_again]


def point(dtype):
    value = np.array([[0.5, -1.25], [2.0, 0.75]])
    if "complex" in dtype:
        value = value + 1j * np.array([[1.0, 0.5], [-0.25, 2.0]])
    return tf.cast(tf.constant(value), dtype)


def wide(tensor):
    return np.asarray(tf.cast(tensor, tf.complex128))


def slopes(x, conjugate):
    found = 3 * wide(x) ** 2
    return found.conj() if conjugate else found


def diagonal(values):
    """The Jacobian of an elementwise function of shape (2, 2)."""
    return np.diag(values.reshape(-1)).reshape(2, 2, 2, 2)


def recorded(function, x, **options):
    with tf.GradientTape(**options) as tape:
        tape.watch(x)
        y = function(x)
    return tape, y


# Each gives the slopes of an elementwise function at x, or its Jacobian; the name says which mode.


def by_gradient(f, x):
    tape, y = recorded(f, x)
    return tape.gradient(y, x)


def by_jacobian(f, x):
    tape, y = recorded(f, x)
    return tape.jacobian(y, x)


def by_looped_jacobian(f, x):
    tape, y = recorded(f, x, persistent=True)
    return tape.jacobian(y, x, experimental_use_pfor=False)


def by_batch_jacobian(f, x):
    tape, y = recorded(f, x)
    return tf.linalg.diag_part(tape.batch_jacobian(y, x))


def by_tape_in_map(f, x):
    return tf.vectorized_map(lambda row: by_gradient(f, row), x)


def by_tape_around_map(f, x):
    return by_gradient(lambda x: tf.vectorized_map(f, x), x)


def by_vjp(f, x):
    value, pullback = autodiff.vjp(f, x)
    return pullback(tf.ones_like(value))


def by_value_and_gradient(f, x):
    return autodiff.value_and_gradient(f, x)[1]


def by_jacrev(f, x):
    return autodiff.jacrev(f, x)


def forward_by_accumulator(f, x):
    with autodiff.ForwardAccumulator(x, tf.ones_like(x)) as accumulator:
        y = f(x)
    return accumulator.jvp(y)


def forward_by_jvp(f, x):
    return autodiff.jvp(f, x, tf.ones_like(x))[1]


def forward_by_jacfwd(f, x):
    return autodiff.jacfwd(f, x)


def forward_around_map(f, x):
    return forward_by_accumulator(lambda x: tf.vectorized_map(f, x), x)


WAYS = [
    by_gradient, by_jacobian, by_looped_jacobian, by_batch_jacobian, by_tape_in_map,
    by_tape_around_map, by_vjp, by_value_and_gradient, by_jacrev, forward_by_accumulator,
    forward_by_jvp, forward_by_jacfwd, forward_around_map,
]  # fmt: skip


@pytest.mark.parametrize("dtype", REAL + COMPLEX)
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
@pytest.mark.parametrize("function", FUNCTIONS, ids=["plain", "custom", "recomputed"])
def test_first_order(function, way, dtype):
    x = point(dtype)
    found = way(function, x)
    # The rule of a custom gradient is on its own: forward mode transposes what it says.
    conjugate = not way.__name__.startswith("forward")
    want = slopes(x, conjugate)
    want = diagonal(want) if found.shape.rank == 4 else want
    assert found.dtype.name == dtype
    np.testing.assert_allclose(wide(found), want, rtol=TOLERANCE[dtype], atol=1e-12)


def sum_of_cubes(f):
    return lambda x: tf.reduce_sum(f(x))


@pytest.mark.parametrize("dtype", REAL)
@pytest.mark.parametrize("function", FUNCTIONS, ids=["plain", "custom", "recomputed"])
def test_second_order(function, dtype):
    x = point(dtype)
    loss = sum_of_cubes(function)
    second = 6 * wide(x)
    found = {
        "hessian": (autodiff.hessian(loss, x), diagonal(second)),
        "hvp": (autodiff.hvp(loss, x, tf.ones_like(x)), second),
        "hessian_diag": (autodiff.hessian_diag(loss, x), second),
    }
    for name, (got, want) in found.items():
        assert got.dtype.name == dtype, name
        np.testing.assert_allclose(wide(got), want, rtol=TOLERANCE[dtype], atol=1e-12, err_msg=name)


@pytest.mark.parametrize("dtype", COMPLEX)
def test_complex_hvp_is_the_gradient_of_the_gradient(dtype):
    x = point(dtype)
    v = tf.cast(tf.constant([[1.0 + 0j, 2j], [1 - 1j, 0j]]), dtype)
    found = autodiff.hvp(sum_of_cubes(cube), x, v)
    with tf.GradientTape() as outer:
        outer.watch(x)
        first = by_gradient(sum_of_cubes(cube), x)
    np.testing.assert_allclose(wide(found), wide(outer.gradient(first, x, v)), rtol=1e-5)


@pytest.mark.parametrize("name", ["hessian", "hessian_diag"])
def test_complex_hessians_are_refused(name):
    with pytest.raises(ValueError, match=f"{name} takes real tensors as `x`"):
        getattr(autodiff, name)(sum_of_cubes(cube), point("complex64"))


@pytest.mark.parametrize("dtype", REAL + COMPLEX)
def test_per_example_gradient(dtype):
    w, examples = point(dtype)[0], point(dtype)
    found = autodiff.per_example_gradient(
        lambda example: tf.reduce_sum(example * w * w), w, examples
    )
    want = (2 * wide(examples) * wide(w)).conj()
    assert found.dtype.name == dtype
    np.testing.assert_allclose(wide(found), want, rtol=TOLERANCE[dtype])


class TestSixteenBits:
    """Sums over what was broadcast add up in float32: 16 bits would stop at 2048 or 256."""

    COUNT = 5000

    def found(self, dtype):
        ones, b = tf.ones([self.COUNT], dtype), tf.constant(1.0, dtype)

        def shifted(b):
            return ones * b

        def total(b):
            return tf.reduce_sum(shifted(b))

        @tf.custom_gradient
        def by_rule(b):
            return shifted(b), lambda g: tf.reduce_sum(g * ones)

        _, pullback = autodiff.vjp(shifted, b)
        return {
            "gradient": by_gradient(shifted, b),
            "jacobian": by_jacobian(total, b),
            "jacrev": autodiff.jacrev(total, b),
            "jacfwd": autodiff.jacfwd(total, b),
            "jvp": autodiff.jvp(total, b, tf.ones_like(b))[1],
            "vjp": pullback(ones),
            "hvp": autodiff.hvp(lambda b: tf.reduce_sum(shifted(b) * b) / 2, b, tf.ones_like(b)),
            "custom_gradient": by_gradient(by_rule, b),
            "recompute_grad": by_gradient(tf.recompute_grad(shifted), b),
            "vectorized_map": tf.vectorized_map(lambda b: by_gradient(shifted, b), b[None])[0],
            "tape around vectorized_map": by_gradient(
                lambda b: tf.vectorized_map(lambda one: one * b, ones), b
            ),
        }

    @pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
    def test_accumulation(self, dtype):
        want = float(tf.cast(tf.constant(float(self.COUNT)), dtype))
        found = self.found(dtype)
        assert {name: float(d) for name, d in found.items()} == dict.fromkeys(found, want)
        assert {d.dtype.name for d in found.values()} == {dtype}


class TestSparse:
    """Gradients of tables that are looked up: sparse on a tape, dense in Jacobians."""

    PLACES = (0, 2, 0)
    COUNTS = np.array([[2.0, 2.0], [0.0, 0.0], [1.0, 1.0]])

    @pytest.fixture
    def table(self):
        return tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])

    def look_up(self, table):
        return tf.gather(table, self.PLACES)

    def test_gradients_are_sparse(self, table):
        with tf.GradientTape() as tape:
            y = self.look_up(table)
        by_tape = tape.gradient(y, table)
        by_vjp = autodiff.vjp(self.look_up, table)[1](tf.ones((3, 2)))
        by_value = autodiff.value_and_gradient(self.look_up, table)[1]
        for found in (by_tape, by_vjp, by_value):
            assert isinstance(found, tf.IndexedSlices)
            np.testing.assert_array_equal(tf.convert_to_tensor(found), self.COUNTS)

    def test_custom_gradient_may_return_slices(self, table):
        @tf.custom_gradient
        def look_up(x):
            def grad(g):
                return tf.IndexedSlices(g, tf.constant(self.PLACES), tf.constant([3, 2]))

            return tf.gather(x, self.PLACES), grad

        x = table.read_value()
        np.testing.assert_array_equal(tf.convert_to_tensor(by_gradient(look_up, x)), self.COUNTS)
        np.testing.assert_array_equal(by_jacobian(look_up, x), self.jacobian())
        np.testing.assert_array_equal(forward_by_accumulator(look_up, x), np.ones((3, 2)))

    def jacobian(self):
        rows = np.zeros((3, 2, 3, 2))
        for i, place in enumerate(self.PLACES):
            for j in range(2):
                rows[i, j, place, j] = 1
        return rows

    def test_recompute_grad(self, table):
        with tf.GradientTape() as tape:
            y = tf.recompute_grad(lambda: self.look_up(table))()
        np.testing.assert_array_equal(tf.convert_to_tensor(tape.gradient(y, table)), self.COUNTS)

    def test_jacobians_are_dense(self, table):
        with tf.GradientTape(persistent=True) as tape:
            y = self.look_up(table)
            square = tf.gather(table, [0, 1, 2]) ** 2
        np.testing.assert_array_equal(tape.jacobian(y, table), self.jacobian())
        np.testing.assert_array_equal(
            tape.jacobian(y, table, experimental_use_pfor=False), self.jacobian()
        )
        each = tape.batch_jacobian(square, table)
        np.testing.assert_array_equal(each, [np.diag(2 * row) for row in table.numpy()])
        np.testing.assert_array_equal(autodiff.jacrev(self.look_up, table), self.jacobian())
        np.testing.assert_array_equal(autodiff.jacfwd(self.look_up, table), self.jacobian())

    def test_forward(self, table):
        tangent = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
        value, found = autodiff.jvp(self.look_up, table, tangent)
        np.testing.assert_array_equal(found, value)

    def test_second_order(self, table):
        def loss(x):
            return tf.reduce_sum(self.look_up(x) ** 3)

        second = 6 * self.COUNTS * table.numpy()
        hessian = autodiff.hessian(loss, table).numpy()
        np.testing.assert_array_equal(hessian.reshape(6, 6), np.diag(second.reshape(-1)))
        ones = tf.ones((3, 2))
        for found in (autodiff.hvp(loss, table, ones), autodiff.hessian_diag(loss, table)):
            np.testing.assert_array_equal(tf.convert_to_tensor(found), second)

    def test_per_example_gradient(self, table):
        found = autodiff.per_example_gradient(
            lambda place: tf.reduce_sum(tf.gather(table, place)), table, tf.constant([0, 2])
        )
        want = np.zeros((2, 3, 2))
        want[0, 0] = want[1, 2] = 1
        np.testing.assert_array_equal(found, want)

    def test_inside_and_around_vectorized_map(self, table):
        places = tf.constant([[0, 2], [0, 0]])

        def gradient(places):
            with tf.GradientTape() as tape:
                y = tf.reduce_sum(tf.gather(table, places))
            return tf.convert_to_tensor(tape.gradient(y, table))

        found = tf.vectorized_map(gradient, places)
        np.testing.assert_array_equal(found[:, :, 0], [[1, 0, 1], [2, 0, 0]])
        with tf.GradientTape() as tape:
            y = tf.vectorized_map(lambda place: tf.gather(table, place), places)
        found = tf.convert_to_tensor(tape.gradient(y, table))
        np.testing.assert_array_equal(found[:, 0], [3, 0, 1])

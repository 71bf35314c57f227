"""GradientTape.jacobian: one batched sweep that gives what TensorFlow gives."""

import tracemalloc

import numpy as np
import pytest

import gradtape as tf
from op_table.arrays import assert_close
from op_table.calls import (
    GRADIENT_ROUNDING,
    call,
    continuous,
    differentiable_positions,
    passes_gradients,
    tensors_of,
)
from op_table.cases import all_cases

X = np.array([1.0, 2.0, 3.0], np.float32)


def jacobian_of(function, *points, persistent=False, **options):
    """The jacobian of `function(*points)`: one for one point, else a list."""
    sources = [tf.convert_to_tensor(point) for point in points]
    with tf.GradientTape(persistent=persistent) as tape:
        tape.watch(sources)
        target = function(*sources)
    found = tape.jacobian(target, sources, **options)
    return found[0] if len(points) == 1 else found


def assert_tensor(got, want, dtype="float32"):
    want = np.asarray(want)
    assert (tuple(got.shape), got.dtype.name) == (want.shape, dtype)
    np.testing.assert_allclose(got.numpy(), want, rtol=1e-5, atol=1e-6)


class TestShapes:
    def test_is_the_targets_shape_and_then_the_sources(self):
        x = np.arange(6, dtype=np.float32).reshape(2, 3)
        w = np.arange(12, dtype=np.float32).reshape(3, 4)
        of_x, of_w = jacobian_of(tf.matmul, x, w)
        assert_tensor(of_x, np.einsum("ik,lj->ijkl", np.eye(2), w))
        assert_tensor(of_w, np.einsum("il,jk->ijlk", x, np.eye(4)))

    def test_of_a_scalar_has_the_shape_of_the_source(self):
        assert_tensor(jacobian_of(lambda x: tf.reduce_sum(x * x), X), 2 * X)

    def test_of_scalars_is_a_scalar(self):
        assert_tensor(jacobian_of(lambda x: x * x, np.float32(3)), 6.0)

    def test_of_a_scalar_source_has_the_shape_of_the_target(self):
        assert_tensor(jacobian_of(lambda x: x * tf.constant(X), np.float32(3)), X)

    @pytest.mark.parametrize("shape", [(0,), (0, 2), (2, 0)])
    def test_of_a_target_without_elements(self, shape):
        found = jacobian_of(lambda x: tf.zeros(shape) * x[0], X)
        assert_tensor(found, np.zeros((*shape, 3)))

    def test_of_a_source_without_elements(self):
        found = jacobian_of(lambda x: tf.reduce_sum(x, 0) + 1.0, np.zeros((0, 2), np.float32))
        assert_tensor(found, np.zeros((2, 0, 2)))

    def test_of_target_and_source_without_elements(self):
        found = jacobian_of(lambda x: x * 2.0, np.zeros((0, 2), np.float32))
        assert_tensor(found, np.zeros((0, 2, 0, 2)))

    @pytest.mark.beyond_tensorflow  # which mistakes the shape there
    def test_a_loop_over_no_elements(self):
        options = {"persistent": True, "experimental_use_pfor": False}
        found = jacobian_of(lambda x: x[:0] * 2.0, X, **options)
        assert_tensor(found, np.zeros((0, 3)))

    def test_keeps_the_structure_of_the_sources(self):
        x, d = tf.constant(X), tf.constant([1.0, 2.0], tf.float64)
        with tf.GradientTape() as tape:
            tape.watch([x, d])
            y = x[:2] * tf.cast(d, tf.float32)
        found = tape.jacobian(y, {"a": x, "b": (d,)})
        assert type(found["b"]) is tuple
        assert_tensor(found["a"], [[1, 0, 0], [0, 2, 0]])
        assert_tensor(found["b"][0], [[1, 0], [0, 2]], "float64")

    def test_of_no_sources(self):
        x = tf.constant(X)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x
        assert tape.jacobian(y, []) == []

    def test_of_the_same_source_twice(self):
        v = tf.Variable(X)
        with tf.GradientTape() as tape:
            y = v * v
        for each in tape.jacobian(y, [v, v]):
            assert_tensor(each, np.diag(2 * X))

    def test_of_a_variable_by_itself(self):
        v = tf.Variable(X)
        with tf.GradientTape() as tape:
            v.read_value()
        assert_tensor(tape.jacobian(v, v), np.eye(3))

    def test_of_a_watched_tensor_by_itself(self):
        assert_tensor(jacobian_of(lambda x: x, X), np.eye(3))


class TestUnconnected:
    def test_is_none_for_each_source_that_is_not_reached(self):
        of_x, of_other = jacobian_of(lambda x, other: x * 2.0, X, np.float64(1))
        assert_tensor(of_x, 2 * np.eye(3))
        assert of_other is None

    @pytest.mark.parametrize("zero", ["zero", tf.UnconnectedGradients.ZERO])
    def test_or_zeros_of_the_sources_dtype(self, zero):
        other = np.zeros((2, 1))
        found = jacobian_of(lambda x, other: x * 2.0, X, other, unconnected_gradients=zero)
        assert_tensor(found[1], np.zeros((3, 2, 1)), "float64")

    def test_of_an_integer_target(self):
        assert jacobian_of(lambda x: tf.cast(x, tf.int32), X) is None
        found = jacobian_of(lambda x: tf.cast(x, tf.int32), X, unconnected_gradients="zero")
        assert_tensor(found, np.zeros((3, 3)))

    def test_of_a_constant(self):
        assert jacobian_of(lambda x: tf.constant([1.0, 2.0]), X) is None

    def test_rows_that_do_not_depend_on_the_source_are_zero(self):
        found = jacobian_of(lambda x: tf.concat([x, tf.ones(2)], 0), X)
        assert_tensor(found, np.eye(5, 3))
        found = jacobian_of(lambda x: tf.stack([tf.reduce_sum(x), 5.0]), X)
        assert_tensor(found, [[1, 1, 1], [0, 0, 0]])

    def test_rows_that_are_all_the_same(self):
        @tf.custom_gradient
        def stubborn(x):
            return x * 2.0, lambda upstream: tf.constant([5.0, 6.0, 7.0])

        assert_tensor(jacobian_of(stubborn, X), [[5, 6, 7]] * 3)

    def test_the_same_for_a_loop(self):
        options = {"persistent": True, "experimental_use_pfor": False}
        found = jacobian_of(lambda x, y: x * 2.0, X, np.float32(1), **options)
        assert_tensor(found[0], 2 * np.eye(3))
        assert found[1] is None


class TestDtypes:
    @pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64"])
    def test_is_of_the_sources_dtype(self, dtype):
        found = jacobian_of(lambda x: tf.cast(x, dtype) ** 2, X)
        assert_tensor(found, np.diag(2 * X))

    def test_of_a_complex_product(self):
        z = np.array([1 + 2j, 2 - 1j])
        found = jacobian_of(lambda z: z * z, z)
        assert_tensor(found, np.diag(np.conj(2 * z)), "complex128")

    def test_of_a_function_that_is_not_holomorphic(self):
        z = np.array([3 + 4j, 4 - 3j])
        assert_tensor(jacobian_of(tf.abs, z), np.diag(z / 5), "complex128")
        found = jacobian_of(lambda z: tf.math.conj(z) * z, z)
        assert_tensor(found, np.diag(2 * z), "complex128")

    def test_of_complex_numbers_by_real_ones(self):
        z = tf.constant([2 + 1j, 1 - 1j, 3j], tf.complex64)
        found = jacobian_of(lambda x: tf.complex(x, x) * z, X)
        assert_tensor(found, np.diag([1, 2, -3]))


class TestSparse:
    def test_a_gathers_rows_become_dense(self):
        found = jacobian_of(lambda x: tf.gather(x, [0, 0, 2]), X)
        assert isinstance(found, tf.Tensor)
        assert_tensor(found, [[1, 0, 0], [1, 0, 0], [0, 0, 1]])

    def test_beside_a_dense_path(self):
        m = np.arange(6, dtype=np.float32).reshape(3, 2)
        found = jacobian_of(lambda m: tf.gather(m, [2, 0]) ** 2 + tf.reduce_sum(m), m)
        want = np.ones((2, 2, 3, 2))
        for row, picked in enumerate([2, 0]):
            for column in range(2):
                want[row, column, picked, column] += 2 * m[picked, column]
        assert_tensor(found, want)

    def test_two_gathers_of_a_variable(self):
        v = tf.Variable(X)
        with tf.GradientTape() as tape:
            y = tf.nn.embedding_lookup(v, [1, 1]) + tf.gather(v, [0, 1])
        found = tape.jacobian(y, v)
        assert isinstance(found, tf.Tensor)
        assert_tensor(found, [[1, 1, 0], [0, 2, 0]])


class TestTapes:
    def test_uses_up_a_tape(self):
        x = tf.constant(X)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x
        tape.jacobian(y, x)
        for use in (tape.jacobian, tape.gradient, tape.batch_jacobian):
            with pytest.raises(RuntimeError, match=r"can only be used to ?compute one set of"):
                use(y, x)

    def test_a_persistent_tape_gives_it_again(self):
        x = tf.constant(X)
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = x * x
            z = y * y
        assert_tensor(tape.jacobian(y, x), np.diag(2 * X))
        assert_tensor(tape.jacobian(z, x), np.diag(4 * X**3))
        assert_tensor(tape.jacobian(z, y), np.diag(2 * X**2))
        assert_tensor(tape.gradient(z, x), 4 * X**3)

    def test_in_its_context_a_one_shot_tape_stops_recording(self, logs):
        x = tf.constant(X)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x
            assert_tensor(tape.jacobian(y, x), np.diag(2 * X))
            assert not tape._recording
        assert logs == []

    def test_in_its_context_a_persistent_tape_warns_and_records(self, logs):
        x = tf.constant(X)
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            first = tape.jacobian(x**3, x)
        # TensorFlow also complains of its own retracing.
        warnings = [line for line in logs if "retracing" not in line]
        assert len(warnings) == 1
        assert warnings[0].startswith(
            "WARNING:Calling GradientTape.gradient on a persistent tape inside its context is "
        )
        want = np.zeros((3, 3, 3))
        want[range(3), range(3), range(3)] = 6 * X
        assert_tensor(tape.jacobian(first, x), want)

    def test_hessian_by_nested_tapes(self):
        x = tf.constant(X)
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = tf.reduce_sum(x) ** 3 + tf.reduce_prod(x)
            gradient = inner.gradient(y, x)
        want = 36.0 + np.array([[0, 3, 2], [3, 0, 1], [2, 1, 0]])
        assert_tensor(outer.jacobian(gradient, x), want)

    def test_gradient_of_a_jacobian(self):
        x = tf.constant(X)
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = x**3
            found = inner.jacobian(y, x)
        assert_tensor(outer.gradient(found, x), 6 * X)

    @pytest.mark.parametrize("chunks", [None, pytest.param(1, marks=pytest.mark.beyond_tensorflow)])
    def test_jacobian_of_a_jacobian_of_a_jacobian(self, chunks):
        x = tf.constant([1.0, 2.0])
        options = {"parallel_iterations": chunks}
        with tf.GradientTape(persistent=True) as outer:
            outer.watch(x)
            with tf.GradientTape(persistent=True) as middle:
                middle.watch(x)
                with tf.GradientTape(persistent=True) as inner:
                    inner.watch(x)
                    y = x[0] ** 2 * x[1] ** 2
                first = inner.jacobian(y, x)
            second = middle.jacobian(first, x, **options)
        third = outer.jacobian(second, x, **options)
        assert_tensor(second, [[8, 8], [8, 2]])
        assert_tensor(third, [[[0, 8], [8, 4]], [[8, 4], [4, 0]]])

    def test_a_non_persistent_tape_without_batching(self):
        x = tf.constant(X)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x
        message = (
            "GradientTape must be created with persistent=True to compute the jacobian with eager "
            "execution enabled and with  experimental_use_pfor set to False."
        )
        with pytest.raises(RuntimeError) as error:
            tape.jacobian(y, x, experimental_use_pfor=False)
        assert str(error.value) == message
        assert_tensor(tape.jacobian(y, x), np.diag(2 * X))


def _network(x):
    hidden = tf.tanh(tf.matmul(x, tf.reshape(tf.linspace(-1.0, 1.0, 12), (3, 4))))
    return tf.nn.softmax(tf.gather(hidden, [1, 0, 1])) * tf.reduce_logsumexp(x)


class TestChunks:
    POINT = np.linspace(-1, 1, 6, dtype=np.float32).reshape(2, 3)

    @pytest.mark.parametrize("chunk", [2, 5, 12, 100, np.int64(3)])
    def test_give_the_same(self, chunk):
        whole = jacobian_of(_network, self.POINT)
        found = jacobian_of(_network, self.POINT, persistent=True, parallel_iterations=chunk)
        assert_tensor(found, whole.numpy())

    def test_a_loop_gives_the_same(self):
        whole = jacobian_of(_network, self.POINT)
        options = {"persistent": True, "experimental_use_pfor": False}
        assert_tensor(jacobian_of(_network, self.POINT, **options), whole.numpy())

    @pytest.mark.beyond_tensorflow
    @pytest.mark.parametrize("persistent", [False, True])
    @pytest.mark.parametrize("chunk", [1, 2])
    def test_of_one_row_or_on_a_one_shot_tape(self, chunk, persistent):
        whole = jacobian_of(_network, self.POINT)
        options = {"persistent": persistent, "parallel_iterations": chunk}
        assert_tensor(jacobian_of(_network, self.POINT, **options), whole.numpy())

    @pytest.mark.beyond_tensorflow
    def test_a_loop_takes_sources_of_several_dtypes(self):
        options = {"persistent": True, "experimental_use_pfor": False}
        found = jacobian_of(
            lambda x, d: x * tf.cast(d, tf.float32), X, np.ones(3), **options
        )  # fmt: skip
        assert_tensor(found[0], np.eye(3))
        assert_tensor(found[1], np.diag(X), "float64")

    @pytest.mark.parametrize("chunk", [0, -1])
    def test_must_be_positive(self, chunk):
        with pytest.raises(ValueError, match=r"vectorizing|parallel_iterations=-?[01]"):
            jacobian_of(lambda x: x * x, X, persistent=True, parallel_iterations=chunk)
        options = {"persistent": True, "experimental_use_pfor": False}
        with pytest.raises(TypeError, match="'parallel_iterations' must be a positive integer"):
            jacobian_of(lambda x: x * x, X, parallel_iterations=chunk, **options)

    def test_must_be_whole(self):
        with pytest.raises(TypeError, match=r"1\.5"):
            jacobian_of(lambda x: x * x, X, persistent=True, parallel_iterations=1.5)

    @pytest.mark.beyond_tensorflow
    @pytest.mark.parametrize("chunk", [16, 64])
    def test_bound_the_memory(self, chunk):
        rows = 256
        for_all, result = _peak_memory(rows, None)
        for_chunk, _ = _peak_memory(rows, chunk)
        promised = (for_all - result) * chunk / rows
        assert for_chunk - result == pytest.approx(promised, rel=0.1)


def _peak_memory(rows, chunk):
    """What computing a jacobian takes at most, in bytes, and what the jacobian takes."""
    x = tf.ones((8, 8))
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        hidden = tf.sin(tf.matmul(x, tf.fill((8, 2000), 0.01)))
        y = tf.matmul(hidden, tf.fill((2000, rows // 8), 0.01))
    tracemalloc.start()
    try:
        found = tape.jacobian(y, x, parallel_iterations=chunk)
        return tracemalloc.get_traced_memory()[1], found.numpy().nbytes
    finally:
        tracemalloc.stop()


class TestBadArguments:
    @pytest.mark.parametrize("target", [None, 1.0, [tf.constant(X)]])
    def test_a_target_that_is_not_one_tensor(self, target):
        with pytest.raises(AttributeError):
            jacobian_of(lambda x: target, X)

    @pytest.mark.beyond_tensorflow
    def test_which_the_error_names(self):
        with pytest.raises(AttributeError, match=r"target must be a tensor .* Received: 1\.0"):
            jacobian_of(lambda x: 1.0, X)

    def test_a_source_that_is_not_a_tensor(self):
        x = tf.constant(X)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x
        with pytest.raises(AttributeError):
            tape.jacobian(y, [1.0])
        assert_tensor(tape.jacobian(y, x), np.diag(2 * X))

    def test_which_leaves_a_tape_recording(self):
        x = tf.constant(X)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x
            with pytest.raises(AttributeError):
                tape.jacobian([y], x)
            y = y * x
        assert_tensor(tape.jacobian(y, x), np.diag(3 * X**2))

    @pytest.mark.beyond_tensorflow  # which wraps the error in one of its tracing
    @pytest.mark.parametrize("use_pfor", [True, False])
    def test_an_op_without_a_gradient(self, use_pfor):
        image = np.ones((2, 2, 3), np.float32)
        options = {"persistent": True, "experimental_use_pfor": use_pfor}
        with pytest.raises(LookupError, match="no entry for: AdjustContrastv2"):
            jacobian_of(lambda x: tf.image.adjust_contrast(x, 2.0), image, **options)

    def test_an_unknown_choice_for_unconnected_gradients(self):
        with pytest.raises(ValueError, match=r"vectorizing|Unknown value for unconnected_"):
            jacobian_of(lambda x: x * x, X, unconnected_gradients="bad")


@pytest.mark.beyond_tensorflow
@pytest.mark.parametrize(
    ("case", "sample"),
    [
        pytest.param(case, sample, id=f"{case.op}-{number}")
        for case in all_cases()
        for number, sample in enumerate(case.samples)
        if sample.gradient and passes_gradients(case, sample)
    ],
)
def test_every_op_gives_the_same_batched_looped_and_in_chunks(case, sample):
    inputs = list(tensors_of(sample.inputs))
    sources = [inputs[i] for i in differentiable_positions(case, sample)]
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(sources)
        outputs = continuous(call(case, inputs, sample.attrs))
    for target in outputs:
        looped = tape.jacobian(target, sources, experimental_use_pfor=False)
        for chunk in (None, 2):
            batched = tape.jacobian(target, sources, parallel_iterations=chunk)
            for got, want, source in zip(batched, looped, sources, strict=True):
                assert got.shape == target.shape + source.shape
                assert got.dtype == source.dtype
                rounding = GRADIENT_ROUNDING * case.tolerance
                assert_close(got.numpy(), want.numpy(), rounding=rounding)

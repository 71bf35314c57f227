"""Derivatives of functions by name, against tapes' jacobians and against differences."""

import re

import numpy as np
import pytest

import gradtape as tf

pytestmark = pytest.mark.beyond_tensorflow

ad = tf.autodiff


def float64(value):
    return tf.constant(value, tf.float64)


def same(found, expected, tolerance=1e-12):
    """Whether two structures of tensors agree, dtypes and shapes included."""
    tf.nest.assert_same_structure(found, expected)
    for a, b in zip(tf.nest.flatten(found), tf.nest.flatten(expected), strict=True):
        b = np.asarray(b)
        assert (a.shape.as_list(), a.dtype.as_numpy_dtype) == (list(b.shape), b.dtype.type)
        np.testing.assert_allclose(a.numpy(), b, rtol=tolerance, atol=tolerance)
    return True


def differences(function, *points, step=1e-6):
    """The Jacobian of a function of arrays by central differences, for each point."""
    found = []
    for i, point in enumerate(points):
        columns = []
        for k in range(point.size):
            move = np.zeros(point.size)
            move[k] = step
            up, down = [
                function(*points[:i], point + sign * move.reshape(point.shape), *points[i + 1 :])
                for sign in (1, -1)
            ]
            columns.append((np.asarray(up) - np.asarray(down)) / (2 * step))
        found.append(np.stack(columns, axis=-1).reshape(*columns[0].shape, *point.shape))
    return found


POINT = np.array([[0.3, -0.7], [1.1, 0.4], [0.2, 0.9]])


def wide(x):
    """Fewer outputs than inputs."""
    return tf.sin(tf.reduce_sum(x * x, axis=0))


def tall(x):
    """More outputs than inputs."""
    return tf.stack([tf.exp(x) * x[0, 1], tf.sin(x) * tf.reduce_sum(x)])


def loss(x):
    return tf.reduce_sum(tf.sin(x) * x[0]) + tf.reduce_prod(x)


def two(a, b):
    """A scalar of two arguments of different shapes."""
    return tf.reduce_sum(tf.exp(a) * b[0]) * tf.reduce_sum(b * b)


A, B = np.array([0.1, 0.5, -0.3]), np.array([0.7, 1.2])


class TestValueAndGradient:
    def test_one_argument(self):
        value, gradient = ad.value_and_gradient(loss, float64(POINT))
        assert same(value, loss(float64(POINT)).numpy())
        (expected,) = differences(lambda x: loss(float64(x)).numpy(), POINT)
        assert same(gradient, expected, 1e-8)

    def test_several_arguments_give_a_tuple(self):
        value, gradient = ad.value_and_gradient(two, float64(A), float64(B))
        expected = differences(lambda a, b: two(float64(a), float64(b)).numpy(), A, B)
        assert same(gradient, tuple(expected), 1e-8)
        assert value.shape == ()

    def test_structures(self):
        _, gradient = ad.value_and_gradient(
            lambda d: d["w"] * d["b"][0], {"w": tf.constant(2.0), "b": [tf.constant(5.0)]}
        )
        assert same(gradient, {"w": np.float32(5.0), "b": [np.float32(2.0)]})

    def test_python_numbers_and_variables(self):
        v = tf.Variable(3.0)
        value, (by_v, by_number) = ad.value_and_gradient(lambda a, b: a * a * b, v, 2.0)
        assert [float(t) for t in (value, by_v, by_number)] == [18.0, 12.0, 9.0]

    def test_integers_have_no_gradient_and_no_warning(self, logs):
        x, labels = tf.constant([1.0, 2.0]), tf.constant([1, 0])
        _, gradients = ad.value_and_gradient(lambda x, i: tf.gather(x, i) ** 2, x, labels)
        assert same(gradients[0] + 0.0, np.array([2.0, 4.0], np.float32))
        assert gradients[1] is None
        assert logs == []

    def test_unconnected(self):
        arguments = (lambda a, b: a * 2.0, tf.constant(1.0), tf.constant([1.0, 2.0]))
        assert ad.value_and_gradient(*arguments)[1][1] is None
        found = ad.value_and_gradient(*arguments, unconnected_gradients="zero")[1]
        assert same(found[1], np.zeros(2, np.float32))

    def test_a_gather_gives_indexed_slices(self):
        v = tf.Variable([[1.0], [2.0]])
        _, gradient = ad.value_and_gradient(lambda t: tf.gather(t, [1]), v)
        assert isinstance(gradient, tf.IndexedSlices)

    def test_inside_a_tape(self):
        x = tf.constant(2.0)
        with tf.GradientTape() as tape:
            tape.watch(x)
            _, gradient = ad.value_and_gradient(lambda t: t**3, x)
        assert float(tape.gradient(gradient, x)) == 12.0


class TestVjp:
    def test_the_pullback_is_the_transposed_jacobian(self):
        value, pullback = ad.vjp(wide, float64(POINT))
        (jacobian,) = differences(lambda x: wide(float64(x)).numpy(), POINT)
        for cotangent in np.eye(2):
            expected = np.tensordot(cotangent, jacobian, 1)
            assert same(pullback(float64(cotangent)), expected, 1e-8)
        assert same(value, wide(float64(POINT)).numpy())

    def test_several_arguments_and_results(self):
        value, pullback = ad.vjp(lambda a, b: {"p": a * b, "s": [a + b]}, 2.0, 3.0)
        assert same(value, {"p": np.float32(6), "s": [np.float32(5)]})
        assert same(pullback({"p": 1.0, "s": [10.0]}), (np.float32(13), np.float32(12)))

    def test_a_cotangent_of_another_shape(self):
        _, pullback = ad.vjp(wide, float64(POINT))
        expected = "vjp takes a `cotangent` in the shape of the function's value, (2,). Received: "
        with pytest.raises(ValueError, match=re.escape(expected + "shape (3,)")):
            pullback(tf.ones(3, tf.float64))

    def test_a_cotangent_of_another_structure(self):
        _, pullback = ad.vjp(lambda x: [x, x], 1.0)
        with pytest.raises(ValueError, match="vjp takes a `cotangent` in the structure of the fun"):
            pullback([1.0])

    def test_unconnected(self):
        assert ad.vjp(lambda a, b: a, 1.0, 2.0)[1](1.0)[1] is None
        pullback = ad.vjp(lambda a, b: a, 1.0, 2.0, unconnected_gradients="zero")[1]
        assert float(pullback(1.0)[1]) == 0.0


class TestJvp:
    def test_is_the_jacobian_times_the_tangent(self):
        tangent = np.arange(6.0).reshape(3, 2)
        value, found = ad.jvp(tall, float64(POINT), float64(tangent))
        (jacobian,) = differences(lambda x: tall(float64(x)).numpy(), POINT)
        assert same(found, np.tensordot(jacobian, tangent, 2), 1e-8)
        assert same(value, tall(float64(POINT)).numpy())

    def test_a_list_is_several_arguments(self):
        value, found = ad.jvp(lambda a, b: a * b, [2.0, 3.0], [1.0, 10.0])
        assert (float(value), float(found)) == (6.0, 23.0)

    def test_a_tuple_matches_a_list(self):
        assert float(ad.jvp(lambda a, b: a * b, (2.0, 3.0), [1.0, 10.0])[1]) == 23.0

    def test_a_dictionary_is_one_argument(self):
        _, found = ad.jvp(lambda d: [d["a"] * d["b"]], {"a": 2.0, "b": 3.0}, {"b": 1.0, "a": 0.0})
        assert same(found, [np.float32(2.0)])

    def test_a_result_that_does_not_depend_on_the_point(self):
        assert same(ad.jvp(lambda x: tf.ones(2), 1.0, 1.0)[1], np.zeros(2, np.float32))

    def test_a_tangent_of_another_shape(self):
        expected = "jvp takes a `tangents` in the shape of `primals`, (3, 2). Received: shape (2,)."
        with pytest.raises(ValueError, match=re.escape(expected)):
            ad.jvp(tall, float64(POINT), tf.ones(2, tf.float64))

    def test_a_missing_tangent(self):
        with pytest.raises(ValueError, match="jvp takes a `tangents` in the structure of `primals"):
            ad.jvp(lambda a, b: a * b, [2.0, 3.0], [1.0])

    def test_an_integer_point(self):
        with pytest.raises(ValueError, match=r"jvp differentiates by .* in `primals`.*dtype int32"):
            ad.jvp(lambda x: x, 3, 1)


class TestJacobians:
    @pytest.mark.parametrize("function", [wide, tall, loss])
    @pytest.mark.parametrize("rows", [None, 1, 2, 100])
    def test_agree_with_differences_and_each_other(self, function, rows):
        (expected,) = differences(lambda x: function(float64(x)).numpy(), POINT)
        reverse = ad.jacrev(function, float64(POINT), parallel_iterations=rows)
        assert same(reverse, expected, 1e-8)
        options = {"parallel_iterations": rows}
        assert same(ad.jacfwd(function, float64(POINT), **options), reverse.numpy())
        for mode in ("auto", "forward", "reverse"):
            found = ad.jacobian(function, float64(POINT), mode=mode, **options)
            assert same(found, reverse.numpy())

    @pytest.mark.parametrize("jacobian", [ad.jacrev, ad.jacfwd, ad.jacobian])
    def test_structures(self, jacobian):
        def outer(a, b):
            return tf.tensordot(a * a, b, 0)

        by_a = np.einsum("ik,j,i->ijk", np.eye(3), B, 2 * A)
        by_b = np.einsum("i,jk->ijk", A * A, np.eye(2))
        assert same(jacobian(outer, [float64(A), float64(B)]), [by_a, by_b])
        assert same(jacobian(outer, (float64(A), float64(B))), (by_a, by_b))
        of_dict = jacobian(lambda d: outer(d["a"], d["b"]), {"a": float64(A), "b": float64(B)})
        assert same(of_dict, {"a": by_a, "b": by_b})

    @pytest.mark.parametrize("jacobian", [ad.jacrev, ad.jacfwd, ad.jacobian])
    def test_degenerate_shapes(self, jacobian):
        assert same(jacobian(tf.sin, float64(0.0)), np.float64(1.0))
        assert jacobian(tf.sin, tf.zeros((0, 2))).shape == (0, 2, 0, 2)
        assert jacobian(tf.reduce_sum, tf.zeros((0, 2))).shape == (0, 2)
        assert jacobian(lambda x: x[:0], tf.zeros(2)).shape == (0, 2)
        assert same(jacobian(lambda x: tf.ones(2), tf.zeros(3)), np.zeros((2, 3), np.float32))

    @pytest.mark.parametrize("jacobian", [ad.jacrev, ad.jacfwd, ad.jacobian])
    def test_variables(self, jacobian):
        v = tf.Variable([1.0, 2.0])
        assert same(jacobian(lambda x: x * x, v), np.diag(np.array([2.0, 4.0], np.float32)))

    @pytest.mark.parametrize("jacobian", [ad.jacrev, ad.jacfwd, ad.jacobian])
    def test_inside_a_tape(self, jacobian):
        x = float64(A)
        with tf.GradientTape() as tape:
            tape.watch(x)
            trace = tf.linalg.trace(jacobian(lambda t: t**3, x))
        assert same(tape.gradient(trace, x), 6 * A)

    def test_of_a_jacobian(self):
        second = ad.jacfwd(lambda t: ad.jacrev(loss, t), float64(POINT))
        assert same(second, ad.hessian(loss, float64(POINT)).numpy())
        assert same(ad.jacfwd(lambda t: ad.jacfwd(loss, t), float64(POINT)), second.numpy())
        assert same(ad.jacrev(lambda t: ad.jacfwd(loss, t), float64(POINT)), second.numpy())

    def test_auto_takes_the_cheaper_mode(self):
        calls = []

        def counted(x, function):
            calls.append(type(x).__name__)
            return function(x)

        for function, runs in ((wide, 1), (tall, 2)):
            calls.clear()
            ad.jacobian(lambda x, f=function: counted(x, f), float64(POINT))
            assert len(calls) == runs  # a forward sweep runs the function anew

    def test_forward_mode_gives_the_complex_derivative_and_reverse_its_conjugate(self):
        z = tf.constant([1 + 2j, 0.5 - 1j], tf.complex128)
        expected = np.diag(np.exp(z.numpy()))
        assert same(ad.jacfwd(tf.exp, z), expected)
        assert same(ad.jacrev(tf.exp, z), expected.conj())
        twice = ad.jacobian(lambda z: tf.concat([tf.exp(z), tf.exp(z)], 0), z)
        assert same(twice, np.tile(expected.conj(), (2, 1)))

    @pytest.mark.parametrize("name", ["jacrev", "jacfwd", "jacobian"])
    @pytest.mark.parametrize(
        ("function", "x", "error", "message"),
        [
            (tf.sin, 3, ValueError, "one of shape () and dtype int32. Convert it with tf.cast"),
            (tf.sin, [], ValueError, "needs at least one tensor in `x`"),
            (lambda x: [x], 3.0, TypeError, "takes a function that returns one tensor"),
            (lambda x: None, 3.0, TypeError, "It returned: None of type 'NoneType'"),
            (tf.argmax, float64(A), ValueError, "and dtype int64, which has no derivative"),
        ],
    )
    def test_bad_input(self, name, function, x, error, message):
        with pytest.raises(error, match=re.escape(message)) as caught:
            getattr(ad, name)(function, x)
        assert "jac" in str(caught.value).split()[0]

    @pytest.mark.parametrize("rows", [0, -1, 1.5])
    @pytest.mark.parametrize("name", ["jacrev", "jacfwd", "jacobian", "hessian", "hessian_diag"])
    def test_bad_parallel_iterations(self, name, rows):
        with pytest.raises(ValueError, match=f"{name} takes a positive integer.*Received: {rows}"):
            getattr(ad, name)(tf.reduce_sum, float64(A), parallel_iterations=rows)

    def test_a_bad_mode(self):
        with pytest.raises(ValueError, match=r"jacobian takes mode='auto', .* mode='sideways'"):
            ad.jacobian(tf.sin, 1.0, mode="sideways")


class TestHessians:
    @pytest.mark.parametrize("rows", [None, 1, 4])
    def test_agree_with_differences(self, rows):
        def gradient(x):
            return ad.value_and_gradient(loss, float64(x))[1].numpy()

        (expected,) = differences(gradient, POINT)
        hessian = ad.hessian(loss, float64(POINT), parallel_iterations=rows)
        assert same(hessian, expected, 1e-8)
        diagonal = np.diagonal(hessian.numpy().reshape(6, 6)).reshape(3, 2)
        found = ad.hessian_diag(loss, float64(POINT), parallel_iterations=rows)
        assert same(found, diagonal)
        vector = np.arange(6.0).reshape(3, 2)
        found = ad.hvp(loss, float64(POINT), float64(vector))
        assert same(found, np.tensordot(hessian.numpy(), vector, 2))

    def test_of_several_arguments_have_blocks(self):
        def joined(x):
            return two(x[:3], x[3:])

        whole = ad.hessian(joined, float64(np.concatenate([A, B]))).numpy()
        blocks = [[whole[:3, :3], whole[:3, 3:]], [whole[3:, :3], whole[3:, 3:]]]
        assert same(ad.hessian(two, [float64(A), float64(B)]), blocks)
        of_dict = ad.hessian(lambda d: two(d["a"], d["b"]), {"a": float64(A), "b": float64(B)})
        assert same(of_dict["b"]["a"], blocks[1][0])
        diagonal = np.diagonal(whole)
        found = ad.hessian_diag(two, [float64(A), float64(B)])
        assert same(found, [diagonal[:3], diagonal[3:]])
        vector = np.arange(5.0)
        found = ad.hvp(two, [float64(A), float64(B)], [float64(vector[:3]), float64(vector[3:])])
        assert same(found, [(whole @ vector)[:3], (whole @ vector)[3:]])

    def test_of_linear_and_constant_functions_are_zero(self):
        x = float64(A)
        for function in (lambda t: tf.reduce_sum(3.0 * t), lambda t: float64(1.0)):
            assert same(ad.hessian(function, x), np.zeros((3, 3)))
            assert same(ad.hessian_diag(function, x), np.zeros(3))
            assert same(ad.hvp(function, x, x), np.zeros(3))

    def test_degenerate_shapes(self):
        assert same(ad.hessian(lambda x: x**3, float64(2.0)), np.float64(12.0))
        assert same(ad.hessian_diag(lambda x: x**3, float64(2.0)), np.float64(12.0))
        assert ad.hessian(tf.reduce_sum, tf.zeros((0, 2))).shape == (0, 2, 0, 2)
        assert ad.hessian_diag(tf.reduce_sum, tf.zeros((0, 2))).shape == (0, 2)
        assert ad.hvp(tf.reduce_sum, tf.zeros((0, 2)), tf.zeros((0, 2))).shape == (0, 2)

    def test_through_a_sparse_gradient(self):
        table = tf.Variable([[1.0, 2.0], [3.0, 4.0]], dtype=tf.float64)

        def picked(t):
            return tf.reduce_sum(tf.gather(t, [1, 1]) ** 3)

        diagonal = np.array([[0.0, 0.0], [36.0, 48.0]])
        assert same(ad.hessian_diag(picked, table), diagonal)
        assert same(ad.hvp(picked, table, tf.ones((2, 2), tf.float64)), diagonal)
        assert same(ad.hessian(picked, table)[1, 0, 1], np.array([36.0, 0.0]))

    def test_of_captured_variables(self):
        v = tf.Variable([1.0, 2.0])
        found = ad.hvp(lambda _: tf.reduce_sum(v**3), v, tf.constant([1.0, 1.0]))
        assert same(found, np.array([6.0, 12.0], np.float32))

    def test_a_third_derivative(self):
        x = float64(A)
        with tf.GradientTape() as tape:
            tape.watch(x)
            trace = tf.reduce_sum(ad.hessian_diag(lambda t: tf.reduce_sum(t**4), x))
        assert same(tape.gradient(trace, x), 24 * A)

    def test_the_diagonal_never_holds_the_whole(self):
        sizes = []

        def watched(x):
            sizes.append(x.shape)
            return tf.reduce_sum(x**3)

        ad.hessian_diag(watched, tf.ones(10), parallel_iterations=4)
        assert len(sizes) == 3

    @pytest.mark.parametrize("name", ["hessian", "hessian_diag", "hvp"])
    @pytest.mark.parametrize(
        ("function", "error", "message"),
        [
            (tf.sin, ValueError, "{} takes a function with a scalar result. It returned: a tensor"),
            (lambda x: 3.0, TypeError, "{} takes a function that returns one tensor. It returned"),
        ],
    )
    def test_functions_that_are_not_scalar(self, name, function, error, message):
        vector = (float64(A),) if name == "hvp" else ()
        with pytest.raises(error, match=re.escape(message.format(name))):
            getattr(ad, name)(function, float64(A), *vector)

    @pytest.mark.parametrize("name", ["hessian", "hessian_diag"])
    def test_complex_points(self, name):
        with pytest.raises(ValueError, match=f"{name} takes real tensors as `x`.*Use hvp"):
            getattr(ad, name)(tf.abs, tf.constant(1 + 2j))

    def test_a_vector_of_another_shape(self):
        expected = "hvp takes a `vector` in the shape of `x`, (3,). Received: shape (2,)."
        with pytest.raises(ValueError, match=re.escape(expected)):
            ad.hvp(tf.reduce_sum, float64(A), float64(B))


class TestPerExampleGradient:
    @pytest.fixture
    def model(self):
        rng = np.random.default_rng(0)
        shapes = [(4, 5), (5,), (5, 3), (3,)]
        weights = [tf.Variable(rng.standard_normal(shape)) for shape in shapes]
        x = tf.constant(rng.standard_normal((7, 4)))
        labels = tf.constant(rng.integers(0, 3, 7))

        def loss(x, label):
            hidden = tf.tanh(x[None] @ weights[0] + weights[1])
            logits = hidden @ weights[2] + weights[3]
            return tf.nn.sparse_softmax_cross_entropy_with_logits(label[None], logits)[0]

        return weights, x, labels, loss

    def test_agrees_with_a_loop(self, model):
        weights, x, labels, loss = model
        rows = []
        for i in range(7):
            with tf.GradientTape() as tape:
                y = loss(x[i], labels[i])
            rows.append(tape.gradient(y, weights))
        expected = [np.stack([row[k].numpy() for row in rows]) for k in range(4)]
        assert same(ad.per_example_gradient(loss, weights, x, labels), expected)

    def test_an_embedding(self):
        table = tf.Variable(np.arange(6.0).reshape(3, 2))

        def loss(place):
            return tf.reduce_sum(tf.gather(table, place) ** 2)

        found = ad.per_example_gradient(loss, {"table": table}, tf.constant([2, 0]))
        expected = np.zeros((2, 3, 2))
        expected[0, 2] = [8.0, 10.0]
        expected[1, 0] = [0.0, 2.0]
        assert same(found, {"table": expected})

    def test_structured_examples_and_an_unused_variable(self):
        w, unused = tf.Variable(2.0), tf.Variable([1.0, 1.0])
        batch = {"x": tf.constant([1.0, 3.0])}
        found = ad.per_example_gradient(lambda e: w * w * e["x"], [w, unused], batch)
        assert same(found, [np.array([4.0, 12.0], np.float32), np.zeros((2, 2), np.float32)])

    def test_an_empty_batch(self):
        w = tf.Variable([1.0, 2.0])
        found = ad.per_example_gradient(lambda e: tf.reduce_sum(w * e), w, tf.zeros((0, 2)))
        assert found.shape == (0, 2)

    @pytest.mark.parametrize(
        ("examples", "shapes"),
        [
            ((np.zeros((3, 2)), np.zeros(4)), "[(3, 2), (4,)]"),
            ((np.zeros((3, 2)), np.zeros((1, 2))), "[(3, 2), (1, 2)]"),
            ((np.float64(1.0),), "[()]"),
            ((), "[]"),
        ],
    )
    def test_batches_that_do_not_fit(self, examples, shapes):
        expected = f"per_example_gradient takes examples whose first axes have one length.*{shapes}"
        with pytest.raises(ValueError, match=re.escape(expected).replace(r"\.\*", ".*")):
            ad.per_example_gradient(lambda *e: e[0], tf.Variable(1.0), *examples)

    def test_a_loss_that_is_not_scalar(self):
        w = tf.Variable([1.0, 2.0])
        with pytest.raises(ValueError, match="per_example_gradient takes a function with a scalar"):
            ad.per_example_gradient(lambda e: w * e, w, tf.ones((3, 2)))

    def test_variables_that_are_values(self):
        with pytest.raises(
            TypeError, match=r"takes tensors or variables as `variables`.*2.0 of typ"
        ):
            ad.per_example_gradient(lambda e: e, [2.0], tf.ones(3))


@pytest.mark.parametrize(
    ("name", "arguments"),
    [("value_and_gradient", (object(),)), ("vjp", (object(),)), ("jvp", (object(), 1.0))],
)
def test_arguments_that_are_not_tensors(name, arguments):
    with pytest.raises((TypeError, ValueError), match=f"{name} takes tensors, variables or what"):
        getattr(ad, name)(tf.sin, *arguments)


@pytest.mark.parametrize("name", ["value_and_gradient", "vjp"])
def test_functions_that_return_nothing(name):
    with pytest.raises(TypeError, match=f"{name} takes a function that returns a tensor.*None"):
        getattr(ad, name)(lambda x: None, 1.0)


def test_jacfwd_and_jacrev_of_a_function_that_draws_agree():
    def noisy(x):
        return x * tf.random.normal([3])

    x = tf.constant([1.0, 2.0, 3.0])
    tf.random.set_seed(1)
    forward = tf.autodiff.jacfwd(noisy, x)
    tf.random.set_seed(1)
    reverse = tf.autodiff.jacrev(noisy, x)
    np.testing.assert_allclose(forward, reverse, rtol=1e-6)

"""gradient_override: a context in which ops have another gradient."""

import threading

import pytest

import gradtape as tf

pytestmark = pytest.mark.beyond_tensorflow
override = tf.autodiff.gradient_override


@tf.RegisterGradient("TestGuidedRelu")
def _guided_relu(op, g):
    positive = tf.cast(g > 0.0, g.dtype) * tf.cast(op.outputs[0] > 0.0, g.dtype)
    return g * positive


@tf.RegisterGradient("TestTimesHundred")
def _times_hundred(op, g):
    return g * 100.0


@tf.RegisterGradient("TestSquareTimesX")
def _square_times_x(op, g):
    return g * op.inputs[0] ** 3


@tf.RegisterGradient("TestBothFactors")
def _both_factors(op, g):
    return tf.reduce_sum(g) * 5.0 * tf.ones_like(op.inputs[0]), None


@tf.RegisterGradient("TestNumber")
def _number(op, g):
    return 7.0


@tf.RegisterGradient("TestSeenOperation")
def _seen_operation(op, g):
    seen.append((op.type, len(op.inputs), len(op.outputs)))
    return g


@tf.RegisterGradient("TestMeetsSlices")
def _meets_slices(op, g):
    return tf.IndexedSlices(g[:1] * 5.0, tf.constant([0]), tf.constant([2]))


@tf.RegisterGradient("TestTooMany")
def _too_many(op, g):
    return g, g


tf.no_gradient("TestEndsHere")
seen = []


@pytest.fixture
def x():
    return tf.constant([1.0, 2.0])


def gradient(function, x, **options):
    with tf.GradientTape() as tape:
        tape.watch(x)
        z = function(x)
    return tape.gradient(z, x, **options)


def test_ops_inside_use_the_other_gradient(x):
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        before = tf.square(x)
        with override({"Square": "TestTimesHundred"}):
            inside = tf.square(x)
        after = tf.square(x)
    assert inside.numpy().tolist() == [1.0, 4.0]
    assert tape.gradient(before, x).numpy().tolist() == [2.0, 4.0]
    assert tape.gradient(inside, x).numpy().tolist() == [100.0, 100.0]
    assert tape.gradient(after, x).numpy().tolist() == [2.0, 4.0]


def test_guided_backpropagation():
    x = tf.constant([-1.0, 1.0, 2.0])
    with override({"Relu": "TestGuidedRelu"}):
        found = gradient(tf.nn.relu, x, output_gradients=tf.constant([1.0, -1.0, 3.0]))
    assert found.numpy().tolist() == [0.0, 0.0, 3.0]


def test_operators_and_methods_count_as_the_ops_they_are(x):
    with override({"Mul": "TestBothFactors"}):
        assert gradient(lambda a: a * 3.0, x).numpy().tolist() == [10.0, 10.0]


def test_an_op_that_broadcasts(x):
    y = tf.constant([[1.0], [2.0], [3.0]])
    with override({"Mul": "TestBothFactors"}):
        assert gradient(lambda a: a * y, x).numpy().tolist() == [30.0, 30.0]


def test_what_the_function_is_told(x):
    seen.clear()
    with override({"Square": "TestSeenOperation"}):
        gradient(tf.square, x)
    assert seen == [("Square", 1, 1)]


def test_python_numbers_and_none():
    x = tf.constant(3.0)
    with override({"Square": "TestNumber"}):
        assert float(gradient(tf.square, x)) == 7.0
    with override({"Square": "TestEndsHere"}):
        assert gradient(tf.square, x) is None


def test_indexed_slices(x):
    with override({"Square": "TestMeetsSlices"}):
        sparse = gradient(tf.square, x)
        dense = gradient(lambda a: tf.square(a * 2.0), x)
    assert sparse.indices.numpy().tolist() == [0]
    assert sparse.values.numpy().tolist() == [5.0]
    assert dense.numpy().tolist() == [10.0, 0.0]


def test_the_wrong_number_of_gradients(x):
    with override({"Square": "TestTooMany"}), tf.GradientTape() as tape:
        tape.watch(x)
        z = tf.square(x)
    with pytest.raises(tf.errors.InternalError, match=r"Square .*Expected 1 but received 2"):
        tape.gradient(z, x)


def test_second_order(x):
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            with override({"Square": "TestSquareTimesX"}):
                z = tf.square(x)
        first = inner.gradient(z, x)
    assert first.numpy().tolist() == [1.0, 8.0]
    assert outer.gradient(first, x).numpy().tolist() == [3.0, 12.0]


def test_jacobian(x):
    with override({"Square": "TestSquareTimesX"}), tf.GradientTape() as tape:
        tape.watch(x)
        z = tf.square(x)
    assert tape.jacobian(z, x).numpy().tolist() == [[1.0, 0.0], [0.0, 8.0]]


def test_inside_vectorized_map(x):
    with override({"Square": "TestSquareTimesX"}), tf.GradientTape() as tape:
        tape.watch(x)
        z = tf.vectorized_map(tf.square, x)
    assert tape.gradient(z, x).numpy().tolist() == [1.0, 8.0]


def test_forward_mode(x):
    with (
        override({"Square": "TestSquareTimesX"}),
        tf.autodiff.ForwardAccumulator(x, tf.constant([1.0, 10.0])) as accumulator,
    ):
        z = tf.square(x)
    assert accumulator.jvp(z).numpy().tolist() == [1.0, 80.0]


def test_nested_contexts(x):
    with override({"Square": "TestTimesHundred"}):
        with override({"Square": "TestSquareTimesX", "Exp": "TestTimesHundred"}):
            assert gradient(tf.square, x).numpy().tolist() == [1.0, 8.0]
            assert gradient(tf.exp, x).numpy().tolist() == [100.0, 100.0]
        assert gradient(tf.square, x).numpy().tolist() == [100.0, 100.0]
    assert gradient(tf.square, x).numpy().tolist() == [2.0, 4.0]


def test_one_context_entered_twice(x):
    context = override({"Square": "TestTimesHundred"})
    with context:
        with context:
            pass
        assert gradient(tf.square, x).numpy().tolist() == [100.0, 100.0]
    assert gradient(tf.square, x).numpy().tolist() == [2.0, 4.0]


def test_an_error_inside_ends_the_context(x):
    with pytest.raises(ZeroDivisionError), override({"Square": "TestTimesHundred"}):
        raise ZeroDivisionError
    assert gradient(tf.square, x).numpy().tolist() == [2.0, 4.0]


def test_other_threads_are_not_affected(x):
    found = []

    def elsewhere():
        found.append(gradient(tf.square, x).numpy().tolist())

    with override({"Square": "TestTimesHundred"}):
        thread = threading.Thread(target=elsewhere)
        thread.start()
        thread.join()
        assert gradient(tf.square, x).numpy().tolist() == [100.0, 100.0]
    assert found == [[2.0, 4.0]]


def test_an_op_that_does_not_exist():
    with pytest.raises(LookupError, match="no op of type 'NoSuchOp'"):
        override({"NoSuchOp": "TestTimesHundred"})


def test_a_gradient_nobody_registered():
    with pytest.raises(LookupError, match="gradient registry has no entry for: NoSuchGradient"):
        override({"Square": "NoSuchGradient"})


def test_an_op_that_is_not_differentiable():
    with pytest.raises(ValueError, match=r"Round is not differentiable.*tf\.grad_pass_through"):
        override({"Round": "TestTimesHundred"})


def test_an_op_without_a_gradient_of_its_own():
    image = tf.constant([[[1.0], [3.0]]])
    with override({"AdjustContrastv2": "TestBothFactors"}):
        found = gradient(lambda a: tf.image.adjust_contrast(a, 0.5), image)
    assert found.numpy().ravel().tolist() == [10.0, 10.0]
    with pytest.raises(LookupError, match="no entry for: AdjustContrastv2"):
        gradient(lambda a: tf.image.adjust_contrast(a, 0.5), image)


@tf.RegisterGradient("TestTenfoldMatMul")
def _tenfold_matmul(op, g):
    a, b = op.inputs
    return 10.0 * tf.matmul(g, b, transpose_b=True), 10.0 * tf.matmul(a, g, transpose_a=True)


class TestTapeAroundVectorizedMap:
    """Batch rules may use other ops; the tape must see the one that was overridden."""

    W = ((1.0, 2.0), (3.0, 4.0))

    def product_of_each(self, x, w):
        with override({"MatMul": "TestTenfoldMatMul"}):
            return tf.vectorized_map(lambda matrix: tf.matmul(matrix, w), x)

    def expected(self, x, w):
        with tf.GradientTape() as tape:
            tape.watch([x, w])
            y = 10.0 * tf.matmul(x, w)
        return [g.numpy().tolist() for g in tape.gradient(y, [x, w])]

    def test_an_op_whose_batch_rule_uses_another(self):
        x, w = tf.reshape(tf.range(12.0), (3, 2, 2)), tf.constant(self.W)
        with tf.GradientTape(persistent=True) as tape:
            tape.watch([x, w])
            y = self.product_of_each(x, w)
        assert [g.numpy().tolist() for g in tape.gradient(y, [x, w])] == self.expected(x, w)
        assert y.numpy().tolist() == tf.matmul(x, w).numpy().tolist()
        rows = tf.reduce_sum(tape.jacobian(y, w), axis=[0, 1, 2])
        assert rows.numpy().tolist() == self.expected(x, w)[1]

    def test_in_forward_mode(self):
        x, w = tf.reshape(tf.range(12.0), (3, 2, 2)), tf.constant(self.W)
        with tf.autodiff.ForwardAccumulator(x, tf.ones_like(x)) as accumulator:
            y = self.product_of_each(x, w)
        found = accumulator.jvp(y)
        assert found.numpy().tolist() == (10.0 * tf.matmul(tf.ones_like(x), w)).numpy().tolist()

    def test_nested_maps(self):
        x, w = tf.reshape(tf.range(12.0), (3, 1, 2, 2)), tf.constant(self.W)
        with tf.GradientTape() as tape:
            tape.watch(w)
            y = tf.vectorized_map(lambda some: self.product_of_each(some, w), x)
        assert tape.gradient(y, w).numpy().tolist() == self.expected(x[:, 0], w)[1]

    def test_outside_the_context_nothing_is_overridden(self):
        x, w = tf.reshape(tf.range(12.0), (3, 2, 2)), tf.constant(self.W)
        self.product_of_each(x, w)
        with tf.GradientTape() as tape:
            tape.watch(w)
            y = tf.vectorized_map(lambda matrix: tf.matmul(matrix, w), x)
        assert (10.0 * tape.gradient(y, w)).numpy().tolist() == self.expected(x, w)[1]

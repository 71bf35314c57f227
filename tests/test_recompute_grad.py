"""recompute_grad: the same gradients from less memory, because functions run again."""

import gc
import tracemalloc
import weakref

import numpy as np
import pytest

import gradtape as tf


def values(gradients):
    return [None if g is None else g.numpy().tolist() for g in gradients]


@pytest.fixture
def x():
    return tf.constant([0.5, -1.0, 2.0])


class TestGradients:
    def test_are_those_of_the_function(self, x):
        v = tf.Variable(1.5)

        def f(a, b):
            return tf.tanh(a * v) * b

        found = []
        b = tf.constant([1.0, 2.0, 3.0])
        for function in (f, tf.recompute_grad(f)):
            with tf.GradientTape() as tape:
                tape.watch([x, b])
                z = function(x, b)
            found.append([z.numpy().tolist(), *values(tape.gradient(z, [x, b, v]))])
        assert found[0] == found[1]

    def test_the_function_runs_once_and_once_more_for_each_gradient(self, x):
        calls = []

        @tf.recompute_grad
        def f(a):
            calls.append(1)
            return a * a

        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            z = f(x)
        assert len(calls) == 1
        tape.gradient(z, x)
        assert len(calls) == 2
        tape.gradient(z, x)
        assert len(calls) == 3

    def test_variables_inside(self):
        v, fixed = tf.Variable(2.0), tf.Variable(3.0, trainable=False)

        @tf.recompute_grad
        def f(a):
            return a * v * v * fixed

        a = tf.constant(5.0)
        with tf.GradientTape() as tape:
            tape.watch(a)
            z = f(a)
        assert values(tape.gradient(z, [a, v, fixed])) == [12.0, 60.0, None]
        assert [w.name for w in tape.watched_variables()] == [v.name]

    def test_keywords_reach_the_function(self, x):
        @tf.recompute_grad
        def f(a, scale=1.0, *, negative=False):
            return -a * scale if negative else a * scale

        with tf.GradientTape() as tape:
            tape.watch(x)
            z = f(x, scale=4.0, negative=True)
        assert tape.gradient(z, x).numpy().tolist() == [-4.0, -4.0, -4.0]

    @pytest.mark.beyond_tensorflow
    def test_keywords_get_gradients(self, x):
        @tf.recompute_grad
        def f(a, *, scale):
            return a * scale

        scale = tf.constant(4.0)
        with tf.GradientTape() as tape:
            tape.watch([x, scale])
            z = f(x, scale=scale)
        assert values(tape.gradient(z, [x, scale])) == [[4.0, 4.0, 4.0], 1.5]

    @pytest.mark.beyond_tensorflow
    def test_tensors_of_the_function_around_get_gradients(self, x):
        around = tf.constant(4.0)

        @tf.recompute_grad
        def inner(a):
            return a * around

        @tf.recompute_grad
        def outer(a):
            return inner(a) * 10.0

        for function, expected in [(inner, 1.5), (outer, 15.0)]:
            with tf.GradientTape() as tape:
                tape.watch(around)
                z = function(x)
            assert float(tape.gradient(z, around)) == expected

    @pytest.mark.beyond_tensorflow
    def test_structures_and_unused_outputs(self, x):
        @tf.recompute_grad
        def f(pair):
            a, b = pair["a"], pair["b"]
            return {"product": a * b, "sums": [a + b, 1.0]}

        b = tf.constant(2.0)
        with tf.GradientTape(persistent=True) as tape:
            tape.watch([x, b])
            z = f({"a": x, "b": b})
        assert values(tape.gradient(z["product"], [x, b])) == [[2.0, 2.0, 2.0], 1.5]
        assert values(tape.gradient(z["sums"][0], [x, b])) == [[1.0, 1.0, 1.0], 3.0]

    def test_integer_arguments(self, x):
        @tf.recompute_grad
        def f(a, index):
            return tf.gather(a, index)

        with tf.GradientTape() as tape:
            tape.watch(x)
            z = f(x, tf.constant([2, 0])) * 3.0
        assert tf.convert_to_tensor(tape.gradient(z, x)).numpy().tolist() == [3.0, 0.0, 3.0]

    def test_the_name_and_docstring_are_kept(self):
        def segment(a):
            """Does nothing."""
            return a

        recomputed = tf.recompute_grad(segment)
        assert recomputed.__name__ == "segment"
        assert recomputed.__doc__ == "Does nothing."

    @pytest.mark.beyond_tensorflow
    def test_objects_that_can_be_called(self, x):
        class Scale(tf.Module):
            def __init__(self):
                super().__init__()
                self.factor = tf.Variable(3.0)

            def __call__(self, a):
                return a * self.factor

        layer = Scale()
        with tf.GradientTape() as tape:
            z = tf.recompute_grad(layer)(x)
        assert float(tape.gradient(z, layer.factor)) == 1.5


class TestHigherOrder:
    def test_twice(self):
        @tf.recompute_grad
        def f(a):
            return a**3

        a = tf.constant(2.0)
        with tf.GradientTape() as outer:
            outer.watch(a)
            with tf.GradientTape() as inner:
                inner.watch(a)
                z = f(a)
            first = inner.gradient(z, a)
        assert float(first) == 12.0
        assert float(outer.gradient(first, a)) == 12.0

    @pytest.mark.beyond_tensorflow
    def test_twice_with_a_variable(self):
        """TensorFlow raises NotImplementedError here."""

        @tf.recompute_grad
        def f(a):
            return a**3 * v

        a, v = tf.constant(2.0), tf.Variable(5.0)
        with tf.GradientTape() as outer:
            outer.watch(a)
            with tf.GradientTape() as inner:
                inner.watch(a)
                z = f(a)
            first = inner.gradient(z, a)
        assert float(first) == 60.0
        assert values(outer.gradient(first, [a, v])) == [60.0, 12.0]

    @pytest.mark.beyond_tensorflow
    def test_nested(self):
        inner_function = tf.recompute_grad(lambda a: a**2 * v)

        @tf.recompute_grad
        def f(a):
            return inner_function(a) * a

        a, v = tf.constant(2.0), tf.Variable(5.0)
        with tf.GradientTape() as outer:
            outer.watch(a)
            with tf.GradientTape() as inner:
                inner.watch(a)
                z = f(a)
            first = inner.gradient(z, [a, v])
        assert values(first) == [60.0, 8.0]
        assert float(outer.gradient(first[0], a)) == 60.0

    def test_jacobian(self, x):
        @tf.recompute_grad
        def f(a):
            return a * a

        with tf.GradientTape() as tape:
            tape.watch(x)
            z = f(x)
        assert tape.jacobian(z, x).numpy().tolist() == np.diag([1.0, -2.0, 4.0]).tolist()

    @pytest.mark.beyond_tensorflow
    def test_forward_mode(self, x):
        f = tf.recompute_grad(lambda a: a * a)
        tangent = tf.constant([1.0, 10.0, 100.0])
        with tf.autodiff.ForwardAccumulator(x, tangent) as accumulator:
            z = f(x)
        assert accumulator.jvp(z).numpy().tolist() == [1.0, -20.0, 400.0]

    @pytest.mark.beyond_tensorflow
    @pytest.mark.parametrize("method", ["gradient", "jacobian"])
    def test_inside_vectorized_map(self, x, method):
        v = tf.Variable(1.5)

        def f(a, b):
            return tf.tanh(a * v) * b

        found = []
        b = tf.constant(2.0)
        for function in (f, tf.recompute_grad(f)):
            with tf.GradientTape() as tape:
                tape.watch([x, b])
                z = tf.vectorized_map(lambda a, function=function: function(a, b), x)
            found.append(values(getattr(tape, method)(z, [x, b, v])))
        assert found[0] == found[1]


@pytest.mark.beyond_tensorflow
class TestRandomness:
    """The second run draws the numbers of the first, and the program's stream does not notice."""

    @pytest.mark.parametrize("seed", [None, 7])
    def test_dropout_is_the_same(self, seed):
        tf.random.set_seed(seed)

        @tf.recompute_grad
        def f(a):
            return tf.nn.dropout(a, 0.5)

        ones = tf.ones(200)
        with tf.GradientTape() as tape:
            tape.watch(ones)
            z = f(f(ones))
        gradient = tape.gradient(z, ones).numpy()
        assert gradient.tolist() == z.numpy().tolist()
        assert 0 < np.count_nonzero(gradient) < 200

    def test_what_is_drawn_afterwards_is_the_same(self):
        def drawn(function):
            tf.random.set_seed(3)
            a = tf.ones(4)
            with tf.GradientTape() as tape:
                tape.watch(a)
                z = function(a)
            between = tf.random.normal([3])
            tape.gradient(z, a)
            return between.numpy().tolist(), tf.random.normal([3]).numpy().tolist()

        def f(a):
            return a * tf.random.uniform([4]) * tf.random.normal([4], seed=5)

        assert drawn(tf.recompute_grad(f)) == drawn(f)

    def test_inside_vectorized_map(self):
        f = tf.recompute_grad(lambda a: tf.nn.dropout(a, 0.5))
        ones = tf.ones((20, 10))
        with tf.GradientTape() as tape:
            tape.watch(ones)
            z = tf.vectorized_map(f, ones)
        assert tape.gradient(z, ones).numpy().tolist() == z.numpy().tolist()


class TestErrors:
    def test_in_the_first_run(self, x):
        @tf.recompute_grad
        def f(a):
            raise ZeroDivisionError("inside")

        with tf.GradientTape() as tape:
            tape.watch(x)
            with pytest.raises(ZeroDivisionError, match="inside"):
                f(x)
            z = x * 2.0
        assert tape.gradient(z, x).numpy().tolist() == [2.0, 2.0, 2.0]

    @pytest.mark.beyond_tensorflow
    def test_in_the_second_run(self, x):
        from gradtape.core.dispatch import thread

        runs = []

        @tf.recompute_grad
        def f(a):
            runs.append(1)
            if len(runs) == 2:
                raise ZeroDivisionError("inside")
            return a * tf.random.normal([3])

        def draw():
            return tf.random.normal([2]).numpy().tolist()

        tf.random.set_seed(4)
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            z = f(x)
        expected = tape.gradient(x * 1.0, x)
        assert expected is None
        with pytest.raises(ZeroDivisionError, match="inside"):
            tape.gradient(z, x)
        assert thread.recorders == ()
        after_the_error = draw()
        tf.random.set_seed(4)
        tf.random.normal([3])
        assert after_the_error == draw()


@pytest.mark.beyond_tensorflow
@pytest.mark.parametrize("use", ["gradient", "second gradient", "nothing"])
def test_arguments_are_let_go_without_the_garbage_collector(use):
    f = tf.recompute_grad(lambda a: a * a * v)
    v = tf.Variable([1.0, 2.0])
    gc.collect()
    gc.disable()
    try:
        with tf.GradientTape() as outer, tf.GradientTape() as tape:
            argument = v * 2.0
            alive = weakref.ref(argument)
            z = f(argument)
            del argument
        if use == "second gradient":
            with outer:
                first = tape.gradient(z, v)
            assert outer.gradient(first, v).numpy().tolist() == [24.0, 48.0]
        elif use == "gradient":
            assert tape.gradient(z, v).numpy().tolist() == [12.0, 48.0]
        assert (alive() is None) == (use == "second gradient")
        del tape, outer
        assert alive() is None
    finally:
        gc.enable()


LAYERS, BATCH, WIDTH = 64, 2000, 32


def peak_and_gradients(run, weights):
    """Every byte allocated at the worst moment of the forward and backward pass; the gradients."""
    a = tf.constant(np.linspace(-1.0, 1.0, BATCH * WIDTH, dtype=np.float32), shape=(BATCH, WIDTH))
    gc.collect()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        with tf.GradientTape() as tape:
            tape.watch(a)
            z = run(a)
        gradients = tape.gradient(z, [a, *weights])
        peak = tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()
    return peak, [g.numpy().tobytes() for g in gradients]


def residual(a, weight):
    return a + tf.tanh(tf.matmul(a, weight))


def plain(a, weight):
    return tf.tanh(tf.matmul(a, weight))


def layers_in(segments):
    return segments if isinstance(segments, int) else sum(map(layers_in, segments))


SHRINKING = ((6, 5, 4, 3, 2, 1), (5, 4, 4, 3, 2), (4, 4, 3, 2, 1), (4, 3, 2, 1), 1)


@pytest.mark.beyond_tensorflow
@pytest.mark.parametrize(
    ("layer", "segments"),
    [(residual, (8,) * 8), (plain, SHRINKING)],
    ids=["residual layers in segments of 8", "plain layers in segments of shrinking segments"],
)
def test_64_layers_in_segments_need_a_fourth_of_the_memory(layer, segments):
    """A residual layer keeps two arrays, a segment only its argument.

    Of plain layers, which keep a single one, 64 against 8 + 8 is a fourth at best, and the
    gradients in flight make it about a third. Segments within segments keep fewer; the later ones
    are shorter, since more arguments are waiting when they are run again.
    """
    numbers = np.random.default_rng(0)
    weights = [
        tf.Variable(numbers.normal(0.0, 0.1, (WIDTH, WIDTH)).astype(np.float32))
        for _ in range(LAYERS)
    ]

    def run(a, first, segments):
        if isinstance(segments, int):
            for weight in weights[first : first + segments]:
                a = layer(a, weight)
            return a
        for segment in segments:
            a = tf.recompute_grad(run)(a, first, segment)
            first += layers_in(segment)
        return a

    assert layers_in(segments) == LAYERS
    peak, gradients = peak_and_gradients(lambda a: run(a, 0, LAYERS), weights)
    peak_recomputed, again = peak_and_gradients(lambda a: run(a, 0, segments), weights)
    assert again == gradients
    assert peak_recomputed * 4 <= peak, f"{peak / peak_recomputed:.2f} times lower"


@pytest.mark.beyond_tensorflow
def test_replays_generators_of_the_users_own():
    generator = tf.random.Generator.from_seed(7)

    @tf.recompute_grad
    def noisy(x):
        return x * generator.normal([3])

    x = tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = noisy(x)
    state = generator.state.numpy()
    np.testing.assert_allclose(tape.gradient(y, x), y / x, rtol=1e-6)
    assert generator.state.numpy().tolist() == state.tolist()

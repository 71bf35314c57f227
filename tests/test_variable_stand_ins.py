"""Objects of other libraries that stand for a variable count as that variable to tapes."""

import gradtape as tf


class Wrapped:
    """A variable as another library wraps it."""

    _dispatch_level = -1
    _is_composite = False
    _is_sparse_update = False

    def __init__(self, value):
        self._stands_for = tf.Variable(value)
        self.dtype = self._stands_for.dtype.name

    def _read(self):
        return self._stands_for._read()

    def _to_tensor(self, dtype):
        return self._stands_for._to_tensor(dtype)


def test_gradient_is_that_of_the_variable():
    w = Wrapped([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.square(w))
    gradient, unused = tape.gradient(y, [w, Wrapped(1.0)])
    assert gradient.numpy().tolist() == [2.0, 4.0]
    assert unused is None
    (watched,) = tape.watched_variables()
    assert watched is w._stands_for


def test_watch_and_jacobian():
    w = Wrapped([1.0, 2.0])
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(w)
        y = tf.square(w)
    assert tape.jacobian(y, w).numpy().tolist() == [[2.0, 0.0], [0.0, 4.0]]


def test_forward_accumulator():
    w = Wrapped([1.0, 2.0])
    with tf.autodiff.ForwardAccumulator(w, tf.constant([1.0, 10.0])) as accumulator:
        y = tf.square(w)
    assert accumulator.jvp(y).numpy().tolist() == [2.0, 40.0]


def test_custom_and_recomputed_gradients():
    w = Wrapped([1.0, 2.0])

    @tf.custom_gradient
    def tenfold(x):
        return tf.identity(x), lambda g: 10.0 * g

    with tf.GradientTape(persistent=True) as tape:
        y = tenfold(w)
        z = tf.recompute_grad(lambda x: tf.square(x))(w)
    assert tape.gradient(y, w).numpy().tolist() == [10.0, 10.0]
    assert tape.gradient(z, w).numpy().tolist() == [2.0, 4.0]


def test_numbers_beside_it_take_its_dtype_though_it_is_a_name():
    w = Wrapped(tf.constant([1.0, 2.0], tf.float16))
    for result in (tf.maximum(w, 1.5), tf.maximum(1.5, w), tf.where([True, False], w, 0)):
        assert result.dtype is tf.float16
    assert tf.pow(w, 2).numpy().tolist() == [1.0, 4.0]

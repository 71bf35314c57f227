"""Where a value passes through state or leaves for NumPy and Python, its gradient ends."""

import numpy as np
import pytest

import gradtape as tf

CUTS = {
    "Variable(init)": lambda x: tf.Variable(x * 3.0) * 1.0,
    "numpy()": lambda x: tf.constant((x * 3.0).numpy()),
    "np.asarray": lambda x: tf.constant(np.asarray(x * 3.0)),
    "np function": lambda x: tf.reduce_mean(np.mean(x * 3.0)),
    "float()": lambda x: tf.constant(float(x * 3.0)),
    "item in a list": lambda x: tf.constant([float(x), 2.0]),
    "one_hot on_value": lambda x: tf.one_hot(0, 2, on_value=x, off_value=0.0),
    "range limit": lambda x: tf.range(x * 3.0),
}


@pytest.mark.parametrize("function", CUTS.values(), ids=CUTS)
def test_the_path_ends(function, gradient_of):
    assert gradient_of(function, 2.0) is None
    assert float(gradient_of(function, 2.0, unconnected_gradients="zero")) == 0.0


KEEPS = {
    "fill": (lambda x: tf.fill([3], x), 3.0),
    "linspace stop": (lambda x: tf.linspace(0.0, x, 3), 1.5),
    "linspace start": (lambda x: tf.linspace(x, 4.0, 3), 1.5),
    "stack": (lambda x: tf.stack([x, x * x]), 5.0),
    "convert_to_tensor": (lambda x: tf.convert_to_tensor([x, 1.0]), 1.0),
    "broadcast_to": (lambda x: tf.broadcast_to(x, [2, 3]), 6.0),
    "times NumPy": (lambda x: np.array([1.0, 2.0]) * x, 3.0),
}


@pytest.mark.parametrize(("function", "want"), KEEPS.values(), ids=KEEPS)
def test_the_path_goes_on(function, want, gradient_of):
    assert float(gradient_of(function, 2.0)) == want


def test_random_factors_are_constants(gradient_of):
    noise = []

    def scaled(x):
        noise.append(tf.random.normal([4]))
        return x * noise[0]

    assert float(gradient_of(scaled, 2.0)) == pytest.approx(float(np.sum(noise[0])), abs=1e-6)


ASSIGNMENTS = {
    "assign": lambda v, x: v.assign(x),
    "assign_add": lambda v, x: v.assign_add(x),
    "assign_sub": lambda v, x: v.assign_sub(x),
    "slice assign": lambda v, x: v[:].assign(x),
    "scatter_update": lambda v, x: v.scatter_update(tf.IndexedSlices(x, tf.constant([0, 1]))),
}


@pytest.mark.parametrize("write", ASSIGNMENTS.values(), ids=ASSIGNMENTS)
class TestAssignmentIsAWall:
    def test_nothing_flows_to_what_was_assigned(self, write):
        x, v = tf.Variable([3.0, 4.0]), tf.Variable([1.0, 1.0])
        with tf.GradientTape() as tape:
            write(v, x * 1.0)
            y = v**2
        dx, dv = tape.gradient(y, [x, v])
        assert dx is None
        assert dv.numpy().tolist() == (2.0 * v.numpy()).tolist()

    def test_nor_through_the_result_of_the_assignment(self, write):
        x, v = tf.Variable([3.0, 4.0]), tf.Variable([1.0, 1.0])
        with tf.GradientTape() as tape:
            y = write(v, x * 1.0) ** 2
        dx, dv = tape.gradient(y, [x, v])
        assert dx is None
        assert dv.numpy().tolist() == (2.0 * v.numpy()).tolist()


class TestRecordedValuesSurviveAssignment:
    def test_the_gradient_is_that_of_the_time_of_recording(self):
        v = tf.Variable(3.0)
        with tf.GradientTape() as tape:
            y = v * v
        v.assign(100.0)
        assert float(y) == 9.0
        assert float(tape.gradient(y, v)) == 6.0

    def test_before_and_after(self):
        v = tf.Variable(3.0)
        with tf.GradientTape(persistent=True) as tape:
            before = v * v
            v.assign(5.0)
            after = v * v
        assert float(tape.gradient(before, v)) == 6.0
        assert float(tape.gradient(after, v)) == 10.0
        assert float(tape.gradient([before, after], v)) == 16.0

    @pytest.mark.parametrize(
        "function",
        [tf.square, tf.exp, tf.sigmoid, lambda v: v * v, lambda v: tf.matmul(v, v), lambda v: v[0]],
        ids=["square", "exp", "sigmoid", "mul", "matmul", "index"],
    )
    @pytest.mark.parametrize("write", ["assign", "assign_add", "slice"])
    def test_whatever_the_op_saves(self, function, write):
        initial = np.array([[0.5, -1.0], [2.0, 1.5]], np.float32)

        def gradient(disturb):
            v = tf.Variable(initial)
            with tf.GradientTape() as tape:
                y = function(v)
            if disturb and write == "slice":
                v[0].assign([7.0, 7.0])
            elif disturb:
                getattr(v, write)(tf.fill([2, 2], 7.0))
            return tape.gradient(y, v).numpy()

        assert np.array_equal(gradient(disturb=True), gradient(disturb=False))

    def test_an_optimiser_loop(self):
        v, path = tf.Variable(1.0), []
        for _ in range(4):
            with tf.GradientTape() as tape:
                loss = (v - 3.0) ** 2
            v.assign_sub(0.25 * tape.gradient(loss, v))
            path.append(float(v))
        assert path == [2.0, 2.5, 2.75, 2.875]


def test_a_variable_rebound_to_a_tensor_is_no_source():
    x, gradients = tf.Variable(2.0), []
    for _ in range(2):
        with tf.GradientTape() as tape:
            y = x + 1.0
        gradients.append(tape.gradient(y, x))
        x = x + 1.0
    assert float(gradients[0]) == 1.0
    assert gradients[1] is None

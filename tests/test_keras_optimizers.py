"""Keras's optimizers on gradtape: what they do to variables is what they do on TensorFlow.

Numbers without a formula are what TensorFlow 2.21 with Keras 3.15 has after the same steps.
"""

import tracemalloc
import warnings
from typing import Any

import numpy as np
import pytest

import gradtape as tf

keras: Any = tf.keras
optimizers = keras.optimizers

G = tf.constant([[3.0, 4.0], [0.0, 0.1]])
H = tf.constant([6.0, 8.0])


def variables():
    """One variable of each kind: both may be given to an optimizer."""
    return keras.Variable(np.ones((2, 2), "float32"), name="v"), tf.Variable([2.0, 2.0])


# Settings that all optimizers have ----------------------------------------------------------------

AFTER_TWO_STEPS = [
    ({"clipnorm": 1.0}, [[-0.1998, -0.5997], [1.0, 0.96]], [0.8, 0.4]),
    ({"clipvalue": 0.5}, [[0.0, 0.0], [1.0, 0.8]], [1.0, 1.0]),
    ({"global_clipnorm": 1.0}, [[0.4634, 0.2845], [1.0, 0.9821]], [0.9267, 0.569]),
    ({"weight_decay": 0.1}, [[-4.89, -6.79], [0.81, 0.62]], [-9.78, -13.58]),
    ({"momentum": 0.9}, [[-7.7, -10.6], [1.0, 0.71]], [-15.4, -21.2]),
    (
        {"momentum": 0.9, "nesterov": True},
        [[-12.83, -17.44], [1.0, 0.539]],
        [-25.66, -34.88],
    ),
    ({"loss_scale_factor": 2.0}, [[-2.0, -3.0], [1.0, 0.9]], [-4.0, -6.0]),
    (
        {"clipnorm": 1.0, "weight_decay": 0.1, "momentum": 0.5},
        [[-0.6297, -1.1096], [0.81, 0.762]],
        [0.18, -0.3],
    ),
]


@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize(("settings", "first", "second"), AFTER_TWO_STEPS)
def test_settings_change_steps_as_on_tensorflow(settings, first, second, traced):
    v, w = variables()
    optimizer = optimizers.SGD(1.0, **settings)
    optimizer.build([v, w])

    def step():
        optimizer.apply_gradients([(G, v), (H, w)])

    run: Any = tf.function(step) if traced else step
    run()
    run()
    np.testing.assert_allclose(v, first, atol=6e-5)
    np.testing.assert_allclose(w, second, atol=6e-5)


def test_clipping_nothing_and_the_infinite():
    v = keras.Variable([1.0, 1.0])
    optimizers.SGD(1.0, clipnorm=1.0).apply_gradients([(tf.zeros([2]), v)])
    assert v.numpy().tolist() == [1.0, 1.0]
    optimizers.SGD(1.0, global_clipnorm=1.0).apply_gradients([(tf.constant([np.inf, 0.0]), v)])
    assert np.isnan(v.numpy()).all()


@pytest.mark.parametrize(
    ("frequency", "followed"),
    [
        (None, [(0.7, 0.7), (0.4, 0.55), (0.1, 0.325), (-0.2, 0.0625)]),
        (2, [(0.7, 0.7), (0.55, 0.55), (0.25, 0.4), (0.175, 0.175)]),
        (1, [(0.7, 0.7), (0.55, 0.55), (0.4, 0.4), (0.25, 0.25)]),
    ],
)
def test_moving_averages_overwrite_variables_as_often_as_asked(frequency, followed):
    v = keras.Variable([1.0])
    optimizer = optimizers.SGD(
        0.1, use_ema=True, ema_momentum=0.5, ema_overwrite_frequency=frequency
    )
    for value, average in followed:
        optimizer.apply_gradients([(tf.constant([3.0]), v)])
        np.testing.assert_allclose(v, [value], atol=1e-6)
        np.testing.assert_allclose(optimizer.variables[-1], [average], atol=1e-6)
    optimizer.finalize_variable_values([v])
    np.testing.assert_allclose(v, [followed[-1][1]], atol=1e-6)


@pytest.mark.parametrize("traced", [False, True])
def test_accumulated_gradients_are_applied_as_their_mean(traced):
    v = keras.Variable([1.0, 1.0])
    optimizer = optimizers.SGD(0.1, gradient_accumulation_steps=3)
    optimizer.build([v])

    def step(gradient):
        optimizer.apply_gradients([(gradient, v)])

    run: Any = tf.function(step) if traced else step
    seen = []
    for number in range(1, 8):
        run(tf.constant([1.0, 2.0]) * number)
        seen.append((v.numpy().round(4).tolist(), int(optimizer.iterations)))
    # The means of 1, 2, 3 and of 4, 5, 6 are 2 and 5.
    first, second = [0.8, 0.6], [0.3, -0.4]
    expected = [[1.0, 1.0]] * 2 + [first] * 3 + [second] * 2
    np.testing.assert_allclose([value for value, _ in seen], expected, atol=1e-6)
    assert [count for _, count in seen] == [0, 0, 1, 1, 1, 2, 2]


def test_schedules_and_learning_rates():
    schedule = optimizers.schedules.ExponentialDecay(1.0, 1, 0.5)
    optimizer, v = optimizers.SGD(schedule), tf.Variable(1.0)
    found = []
    for _ in range(3):
        optimizer.apply_gradients([(tf.constant(1.0), v)])
        found.append((float(v), float(optimizer.learning_rate)))
    assert found == [(0.0, 0.5), (-0.5, 0.25), (-0.75, 0.125)]
    with pytest.raises(TypeError, match="hence its learning rate is not settable"):
        optimizer.learning_rate = 0.1
    plain = optimizers.SGD(0.1)
    plain.learning_rate = 0.5
    plain.apply_gradients([(tf.constant(1.0), v)])
    assert float(v) == -1.25


def test_constraints_hold_after_a_step():
    v = keras.Variable([3.0, -4.0])
    v.constraint = keras.constraints.NonNeg()
    optimizers.SGD(1.0).apply_gradients([(tf.ones([2]), v)])
    assert v.numpy().tolist() == [2.0, 0.0]


@pytest.mark.parametrize(
    ("dtype", "after"),
    # In bfloat16 one minus the decay of squares is one, and nothing moves.
    [("float64", [0.9, 1.9]), ("float16", [0.9014, 1.9014]), ("bfloat16", [1.0, 2.0])],
)
def test_other_dtypes_are_kept(dtype, after):
    v = tf.Variable(tf.cast([1.0, 2.0], dtype))
    optimizer = optimizers.Adam(0.1)
    optimizer.apply_gradients([(tf.cast([1.0, 1.0], dtype), v)])
    assert v.dtype.name == dtype
    assert [each.dtype for each in optimizer.variables[2:]] == [dtype, dtype]
    np.testing.assert_allclose(tf.cast(v, "float32"), after, atol=6e-5)


# Errors and warnings, which are Keras's own -------------------------------------------------------


def test_missing_gradients_of_plain_variables_are_named():
    v, w = tf.Variable([1.0], name="one"), tf.Variable([2.0], name="two")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        count = optimizers.SGD(0.5).apply_gradients([(tf.constant([1.0]), v), (None, w)])
    assert int(count) == 1
    assert (float(v[0]), float(w[0])) == (0.5, 2.0)
    assert [str(each.message) for each in caught] == [
        "Gradients do not exist for variables ['two:0'] when minimizing the loss. If using "
        "`model.compile()`, did you forget to provide a `loss` argument?"
    ]


ERRORS = {
    "none": (
        lambda v: optimizers.SGD().apply_gradients([(None, v)]),
        r"No gradients provided for any variable\.",
    ),
    "nothing": (
        lambda v: optimizers.SGD().apply_gradients([]),
        r"not enough values to unpack \(expected 2, got 0\)",
    ),
    "no variables": (
        lambda v: optimizers.SGD().apply([v]),
        r"When passing `grads` without `variables`, the optimizer must already be built on a list "
        r"of variables\. Call `optimizer\.build\(trainable_variables\)` first\. ",
    ),
    "two clips": (
        lambda v: optimizers.SGD(clipnorm=1, clipvalue=1),
        r"Only one of `clipnorm`, `clipvalue` and `global_clipnorm` can be set\. Received: "
        r"clipnorm=1, clipvalue=1, global_clipnorm=None",
    ),
    "unknown argument": (
        lambda v: optimizers.SGD(foo=1),
        r"Argument\(s\) not recognized: \{'foo': 1\}",
    ),
    "unknown optimizer": (
        lambda v: optimizers.get("foo"),
        r"Could not interpret optimizer identifier: foo",
    ),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors_are_those_of_keras(name):
    function, message = ERRORS[name]
    with pytest.raises(ValueError, match=f"^{message}$"):
        function(keras.Variable([1.0]))


def test_a_variable_that_the_optimizer_was_not_built_with():
    v, w = tf.Variable([1.0], name="v"), tf.Variable([2.0], name="w")
    optimizer = optimizers.SGD()
    optimizer.apply_gradients([(tf.constant([1.0]), v)])
    with pytest.raises(ValueError, match=r"^Unknown variable: <tf.Variable 'w:0' shape=\(1,\) "):
        optimizer.apply_gradients([(tf.constant([1.0]), w)])


# Rows of embeddings -------------------------------------------------------------------------------

TABLE = np.arange(15, dtype="float32").reshape(5, 3) / 10
# The third and the fourth row of the table after three steps with 0.1; the fourth is not looked up.
AFTER_THREE_STEPS = {
    "SGD": [[0.3072, 0.3584, 0.4096], [0.9, 1.0, 1.1]],
    "Adam": [[0.303544, 0.402746, 0.502223], [0.9, 1.0, 1.1]],
    "AdamW": [[0.302958, 0.402038, 0.501393], [0.89892, 0.9988, 1.09868]],
    "RMSprop": [[0.069911, 0.131919, 0.204711], [0.9, 1.0, 1.1]],
    "Adagrad": [[0.392039, 0.488356, 0.585738], [0.9, 1.0, 1.1]],
    "Adadelta": [[0.599571, 0.699571, 0.799571], [0.9, 1.0, 1.1]],
    "Adamax": [[0.325816, 0.422152, 0.519389], [0.9, 1.0, 1.1]],
    "Nadam": [[0.362052, 0.459312, 0.557334], [0.9, 1.0, 1.1]],
    "Ftrl": [[0.262296, 0.35293, 0.446359], [0.0, 0.0, 0.0]],
    "Lion": [[0.3, 0.4, 0.5], [0.9, 1.0, 1.1]],
    "Adafactor": [[0.392012, 0.47972, 0.570487], [0.9, 1.0, 1.1]],
    "Lamb": [[0.322019, 0.421355, 0.520917], [0.9, 1.0, 1.1]],
    "Muon": [[0.302958, 0.402038, 0.501393], [0.89892, 0.9988, 1.09868]],
}


def embedding(table=TABLE):
    layer = keras.layers.Embedding(*table.shape)
    layer.build()
    layer.embeddings.assign(table)
    return layer


def step_of(layer, optimizer, ids, traced=False):
    ids = tf.constant(ids)
    optimizer.build(layer.trainable_variables)

    def step():
        with tf.GradientTape() as tape:
            loss = optimizer.scale_loss(tf.reduce_sum(layer(ids) ** 2))
        gradients = tape.gradient(loss, layer.trainable_variables)
        optimizer.apply_gradients(zip(gradients, layer.trainable_variables, strict=True))

    run: Any = tf.function(step) if traced else step
    return run


def test_the_gradient_of_an_embedding_is_rows():
    layer = embedding()
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(layer(tf.constant([[1, 2], [1, 4]])) ** 2)
    (gradient,) = tape.gradient(loss, layer.trainable_variables)
    assert isinstance(gradient, tf.IndexedSlices)
    assert gradient.indices.numpy().tolist() == [1, 2, 1, 4]


@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize("name", AFTER_THREE_STEPS)
def test_rows_are_updated_as_on_tensorflow(name, traced):
    layer = embedding()
    step = step_of(layer, getattr(optimizers, name)(0.1), [[1, 2], [0, 4]], traced)
    for _ in range(3):
        step()
    np.testing.assert_allclose(layer.embeddings[2:4], AFTER_THREE_STEPS[name], rtol=1e-5)


@pytest.mark.beyond_tensorflow
@pytest.mark.parametrize(
    "settings", [{}, {"clipnorm": 0.5}, {"clipnorm": 99.0}, {"clipvalue": 0.5}]
)
@pytest.mark.parametrize("name", ["SGD", "Adam", "Adagrad", "RMSprop"])
def test_rows_looked_up_twice_count_as_one(name, settings):
    # TensorFlow squares and clips them one by one, which is not what a dense gradient would do.
    ids = np.array([[1, 2], [1, 4]])
    layer, plain = embedding(), keras.Variable(TABLE)
    step = step_of(layer, getattr(optimizers, name)(0.1, **settings), ids)
    optimizer = getattr(optimizers, name)(0.1, **settings)
    for _ in range(3):
        step()
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.matmul(tf.one_hot(ids, 5), plain) ** 2)
        optimizer.apply_gradients([(tape.gradient(loss, plain), plain)])
    np.testing.assert_allclose(layer.embeddings, plain, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"clipnorm": 0.1},
        {"clipvalue": 0.1},
        {"global_clipnorm": 0.1},
        {"loss_scale_factor": 2.0},
    ],
)
def test_steps_on_a_large_table_need_little_memory(settings, traced):
    table = np.ones((20_000, 64), "float32")
    layer = embedding(table)
    step = step_of(layer, optimizers.SGD(0.1, **settings), np.arange(100), traced)
    step()
    step()
    tracemalloc.start()
    try:
        step()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 0.2 * table.nbytes
    assert np.all(layer.embeddings.numpy()[:100] < 1)
    assert np.all(layer.embeddings.numpy()[100:] == 1)


# Loss scaling and mixed precision -----------------------------------------------------------------


@pytest.mark.parametrize("traced", [False, True])
def test_the_scale_of_losses_grows_and_shrinks(traced):
    v = keras.Variable([1.0, 1.0])
    optimizer = keras.mixed_precision.LossScaleOptimizer(
        optimizers.SGD(1.0), initial_scale=8.0, dynamic_growth_steps=2
    )
    optimizer.build([v])
    with tf.GradientTape() as tape:
        loss = optimizer.scale_loss(tf.reduce_sum(v * 2))
    assert float(loss) == 32
    scaled = tape.gradient(loss, v)

    def step(gradient):
        optimizer.apply_gradients([(gradient, v)])

    run: Any = tf.function(step) if traced else step
    found = []
    bad = tf.constant([np.inf, 1.0])
    for gradient in (scaled, scaled, bad, scaled, scaled, bad * 0):
        run(gradient)
        state = (v[0], optimizer.dynamic_scale, optimizer.step_counter, optimizer.iterations)
        found.append(tuple([float(tf.convert_to_tensor(each)) for each in state]))
    assert found == [
        (-1.0, 8.0, 1.0, 1.0),
        (-3.0, 16.0, 0.0, 2.0),
        (-3.0, 8.0, 0.0, 2.0),
        (-5.0, 8.0, 1.0, 3.0),
        (-7.0, 16.0, 0.0, 4.0),
        (-7.0, 8.0, 0.0, 4.0),
    ]


@pytest.fixture
def policy(request):
    before = keras.mixed_precision.global_policy()
    keras.mixed_precision.set_global_policy(request.param)
    yield request.param
    keras.mixed_precision.set_global_policy(before)


@pytest.mark.parametrize(
    ("policy", "compute", "scaled"),
    [("mixed_float16", "float16", True), ("mixed_bfloat16", "bfloat16", False)],
    indirect=["policy"],
)
def test_mixed_precision_computes_in_halves_and_keeps_floats(policy, compute, scaled):
    keras.utils.set_random_seed(0)
    x = np.random.default_rng(0).normal(size=(64, 4)).astype("float32")
    model = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(1)])
    assert model(x).dtype.name == compute
    assert {variable.value.dtype.name for variable in model.variables} == {"float32"}
    model.compile(optimizers.SGD(0.1), "mse")
    scales = isinstance(model.optimizer, keras.mixed_precision.LossScaleOptimizer)
    assert scales is scaled
    history = model.fit(x, x.sum(axis=1), batch_size=16, epochs=10, verbose=0).history["loss"]
    assert history[-1] < 1e-3
    scale = float(model.optimizer.dynamic_scale) if scaled else 2.0**15
    # Each step that was left out has halved the scale.
    assert int(model.optimizer.iterations) == 40 - (15 - np.log2(scale))
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.cast(model(x), "float32") ** 2)
    gradients = tape.gradient(loss, model.trainable_variables)
    assert [gradient.dtype.name for gradient in gradients] == ["float32", "float32"]


@pytest.mark.parametrize("policy", ["mixed_float16"], indirect=True)
def test_steps_that_overflow_are_left_out(policy):
    model = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(1)])
    optimizer = keras.mixed_precision.LossScaleOptimizer(
        optimizers.SGD(0.05), initial_scale=2.0**40
    )
    model.compile(optimizer, "mse")
    before = model.get_weights()
    model.fit(np.ones((12, 4)), np.ones((12, 1)), batch_size=4, verbose=0)
    assert float(optimizer.dynamic_scale) == 2.0**37
    assert int(optimizer.iterations) == 0
    for old, new in zip(before, model.get_weights(), strict=True):
        np.testing.assert_array_equal(old, new)


@pytest.mark.parametrize("policy", ["mixed_float16"], indirect=True)
def test_variables_are_cast_inside_of_a_layer_alone(policy):
    seen = []

    class Layer(keras.layers.Layer):
        def build(self, input_shape):
            self.w = self.add_weight(shape=(4, 2), initializer="ones")
            self.exact = self.add_weight(shape=(4, 2), initializer="ones", autocast=False)

        def call(self, x):
            seen.extend([self.w.dtype, self.exact.dtype, tf.matmul(x, self.w).dtype.name])
            return tf.matmul(x, self.w)

    layer = Layer()
    layer(np.ones((1, 4)))
    assert seen == ["float16", "float32", "float16"]
    assert layer.w.dtype == "float32"

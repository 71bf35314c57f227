"""Tapes and Keras: gradients of layers and models as TensorFlow gives them."""

import importlib.util
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradtape as tf

keras: Any = tf.keras
layers = keras.layers

EXAMPLE = Path(__file__).resolve().parent.parent / "examples" / "partial_update.py"
X = np.random.default_rng(0).normal(size=(6, 4)).astype("float32")


def ones(units=2, **options):
    return layers.Dense(units, kernel_initializer="ones", **options)


def values(tensors):
    return [None if each is None else np.asarray(each).tolist() for each in tensors]


# Watching -----------------------------------------------------------------------------------------


def test_gradients_of_a_layer():
    layer = ones(activation="relu")
    x = tf.constant([[1.0, 2.0, 3.0]])
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(layer(x) ** 2)
    gradients = tape.gradient(loss, layer.trainable_variables)
    assert values(gradients) == [[[6, 6], [12, 12], [18, 18]], [6, 6]]
    assert [variable.name for variable in layer.trainable_variables] == ["kernel", "bias"]


def test_watched_variables_are_those_the_layer_holds():
    layer = ones(name="first")
    with tf.GradientTape() as tape:
        layer(X)
    watched = tape.watched_variables()
    assert [variable.name for variable in watched] == ["first/kernel:0", "first/bias:0"]
    assert watched[0] is layer.kernel.value
    assert watched[1] is layer.bias.value


@pytest.mark.beyond_tensorflow
def test_a_kernel_is_watched_itself():
    layer = ones()
    layer.build((1, 4))
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch([layer.kernel])
        y = layer(X[:1])
    kernel, bias = tape.gradient(y, [layer.kernel, layer.bias])
    np.testing.assert_array_equal(kernel, np.stack([X[0], X[0]], axis=1))
    assert bias is None


def test_variables_and_what_they_hold_are_the_same_sources():
    layer = ones()
    layer.build((1, 4))
    with tf.GradientTape(persistent=True, watch_accessed_variables=False) as tape:
        tape.watch(layer.kernel.value)
        y = layer(X[:1])
    np.testing.assert_array_equal(
        tape.gradient(y, layer.kernel), tape.gradient(y, layer.kernel.value)
    )


def test_before_a_layer_is_built_there_is_nothing_to_watch():
    first, second = layers.Dense(32), layers.Dense(32)
    assert first.variables == []
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(first.variables)
        result = second(first(X))
    gradients = tape.gradient(result, first.variables)
    assert gradients == [None, None]
    for optimizer in (keras.optimizers.SGD(), keras.optimizers.Adam()):
        with pytest.raises(ValueError, match=r"^No gradients provided for any variable\.$"):
            optimizer.apply_gradients(zip(gradients, first.variables, strict=True))
    with pytest.raises(AttributeError, match="You must build the layer before accessing `kernel`"):
        _ = layers.Dense(2).kernel


def test_gradients_that_are_missing_are_warned_of_by_path():
    used, unused = ones(name="used"), ones(name="unused")
    used.build((1, 4))
    unused.build((1, 4))
    with tf.GradientTape() as tape:
        y = used(X)
    variables = used.trainable_variables + unused.trainable_variables
    before = unused.kernel.numpy()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        keras.optimizers.SGD(0.1).apply_gradients(
            zip(tape.gradient(y, variables), variables, strict=True)
        )
    assert [str(each.message) for each in caught] == [
        "Gradients do not exist for variables ['unused/kernel', 'unused/bias'] when minimizing the "
        "loss. If using `model.compile()`, did you forget to provide a `loss` argument?"
    ]
    np.testing.assert_array_equal(unused.kernel, before)
    np.testing.assert_allclose(used.bias, [-0.6, -0.6], rtol=1e-6)


# Parts of a model ---------------------------------------------------------------------------------


class MLP(keras.Model):
    def __init__(self):
        super().__init__()
        self.dense1 = layers.Dense(5, activation=tf.nn.relu)
        self.dense2 = layers.Dense(3)

    def call(self, inputs):
        return tf.nn.softmax(self.dense2(self.dense1(inputs)))


def drawn(model, x):
    """A model that is built, with weights that TensorFlow was given too."""
    model(x)
    for seed, variable in enumerate(model.variables):
        draw = np.random.default_rng(seed).normal(size=tuple(variable.shape))
        variable.assign(draw.astype("float32"))
    return model


def test_two_optimizers_on_one_persistent_tape():
    model = drawn(MLP(), X)
    first, second = keras.optimizers.Adam(0.1), keras.optimizers.Adam(0.01)
    labels = np.array([0, 1, 2, 0, 1, 2])
    losses = []
    for _ in range(3):
        with tf.GradientTape(persistent=True) as tape:
            each = keras.losses.sparse_categorical_crossentropy(y_true=labels, y_pred=model(X))
            loss = tf.reduce_mean(each)
        losses.append(float(loss))
        for optimizer, layer in ((first, model.dense1), (second, model.dense2)):
            gradients = tape.gradient(loss, layer.variables)
            optimizer.apply_gradients(grads_and_vars=zip(gradients, layer.variables, strict=True))
    # What TensorFlow 2.21 has after the same steps.
    np.testing.assert_allclose(losses, [2.7391, 2.1596, 1.7364], rtol=1e-4)
    np.testing.assert_allclose(
        model.dense1.bias, [0.6274, 0.5262, 0.0354, -1.3032, 0.6302], atol=2e-4
    )
    np.testing.assert_allclose(model.dense2.bias, [2.0679, -2.5257, 0.3884], atol=2e-4)


@pytest.fixture(scope="module")
def example():
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "tensorflow", tf)
        spec: Any = importlib.util.spec_from_file_location("partial_update", EXAMPLE)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return module


def test_only_the_layer_with_an_optimizer_moves(example):
    rng = np.random.default_rng(1)
    images, labels, *_ = example.load_digits(rng)
    model = example.MLP()
    model(images[:1])
    example.draw_weights(rng, model)
    for moving, resting in (("dense1", "dense2"), ("dense2", "dense1")):
        before = [getattr(model, resting).get_weights(), getattr(model, moving).get_weights()]
        optimizers = {moving: keras.optimizers.SGD(0.1)}
        loss = example.train_step(model, optimizers, images[:64], labels[:64])
        after = example.train_step(model, {}, images[:64], labels[:64])
        assert after < loss
        for old, new in zip(before[0], getattr(model, resting).get_weights(), strict=True):
            np.testing.assert_array_equal(old, new)
        for old, new in zip(before[1], getattr(model, moving).get_weights(), strict=True):
            assert np.any(old != new)


def test_the_example_prints_what_it_prints_on_tensorflow(example, capsys):
    example.main()
    assert capsys.readouterr().out.splitlines() == [
        "variables before the first call: 0",
        "variables after it: 2",
        "dense2 alone: loss 1.123, test accuracy 80.0 %",
        "  dense1 moved by 0.000",
        "  dense2 moved by 8.607",
        "each with its own optimizer: loss 0.061, test accuracy 95.8 %",
        "  dense1 moved by 7.491",
        "  dense2 moved by 2.982",
    ]


# Losses that layers add ---------------------------------------------------------------------------


class Penalty(layers.Layer):
    def call(self, x):
        self.add_loss(0.1 * tf.reduce_sum(x**2))
        return x * 2


class Penalized(keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = ones(kernel_regularizer="l2")
        self.penalty = Penalty()

    def call(self, x):
        return self.penalty(self.dense(x))


def test_added_losses_are_those_of_the_last_call_and_have_gradients():
    model = Penalized()
    for _ in range(2):
        with tf.GradientTape() as tape:
            model(X)
            assert len(model.losses) == 2
            loss = tf.add_n(model.losses)
        sums = X.sum(axis=1)
        np.testing.assert_allclose(loss, 0.2 * (sums**2).sum() + 0.01 * 8, rtol=1e-5)
        kernel, bias = tape.gradient(loss, model.trainable_variables)
        expected = 0.2 * np.stack([sums @ X] * 2, axis=1) + 0.02
        np.testing.assert_allclose(kernel, expected, rtol=1e-4)
        np.testing.assert_allclose(bias, [0.2 * sums.sum()] * 2, rtol=1e-4)


def test_added_losses_take_part_in_fit_and_evaluate():
    model = Penalized()
    model.compile(keras.optimizers.SGD(0.0), "mse")
    targets = np.zeros((6, 2))
    sums = X.sum(axis=1)
    expected = 0.2 * (sums**2).sum() + 0.08 + np.mean((2 * sums) ** 2)
    history = model.fit(X, targets, verbose=0).history
    np.testing.assert_allclose(history["loss"], [expected], rtol=1e-5)
    np.testing.assert_allclose(model.evaluate(X, targets, verbose=0), expected, rtol=1e-5)


# Batch normalization ------------------------------------------------------------------------------


def normalization(**options):
    layer = layers.BatchNormalization(momentum=0.9, **options)
    layer.build((None, 4))
    return layer


def test_batch_normalization_has_averages_that_are_not_trained():
    layer = normalization()
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(layer(X, training=True) ** 3)
    names = [variable.name.split("/")[-1] for variable in tape.watched_variables()]
    assert names == ["gamma:0", "beta:0"]
    gradients = tape.gradient(loss, layer.variables)
    assert [gradient is None for gradient in gradients] == [False, False, True, True]


@pytest.mark.parametrize("traced", [False, True])
def test_batch_normalization_moves_its_averages_in_training_alone(traced):
    layer = normalization()

    def call(x, training):
        return layer(x, training=training)

    run: Any = tf.function(call) if traced else call
    mean, variance = X.mean(axis=0), X.var(axis=0)
    normal = run(tf.constant(X), True)
    np.testing.assert_allclose(normal, (X - mean) / np.sqrt(variance + 1e-3), atol=1e-5)
    np.testing.assert_allclose(layer.moving_mean, 0.1 * mean, atol=1e-6)
    np.testing.assert_allclose(layer.moving_variance, 0.9 + 0.1 * variance, atol=1e-6)
    kept = layer.moving_mean.numpy(), layer.moving_variance.numpy()
    normal = run(tf.constant(X), False)
    np.testing.assert_allclose(normal, (X - kept[0]) / np.sqrt(kept[1] + 1e-3), atol=1e-5)
    np.testing.assert_array_equal(layer.moving_mean, kept[0])
    run(tf.constant(X), True)
    np.testing.assert_allclose(layer.moving_mean, 0.19 * mean, atol=1e-6)


def test_gradients_of_batch_normalization_in_both_modes():
    layer = normalization()
    x = tf.constant(X)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        trained = tf.reduce_sum(layer(x, training=True) ** 3)
        inferred = tf.reduce_sum(layer(x, training=False) ** 3)
    # The statistics of a batch follow its inputs: a common shift of all changes nothing.
    np.testing.assert_allclose(tf.reduce_sum(tape.gradient(trained, x), 0), np.zeros(4), atol=1e-4)
    scale = np.sqrt(layer.moving_variance.numpy() + 1e-3)
    normal = (X - layer.moving_mean.numpy()) / scale
    np.testing.assert_allclose(tape.gradient(inferred, x), 3 * normal**2 / scale, rtol=1e-4)


def test_a_frozen_batch_normalization_infers_in_training_too():
    layer = normalization()
    layer.trainable = False
    before = layer.moving_mean.numpy()
    np.testing.assert_array_equal(layer(X, training=True), layer(X, training=False))
    np.testing.assert_array_equal(layer.moving_mean, before)
    assert layer.trainable_variables == []
    assert len(layer.non_trainable_variables) == 4


# Layers and models written as for TensorFlow ------------------------------------------------------


class Linear(layers.Layer):
    def __init__(self, units):
        super().__init__(name="linear")
        self.units = units

    def build(self, input_shape):
        self.w = self.add_weight(
            name="w", shape=(input_shape[-1], self.units), initializer="ones", trainable=True
        )
        self.calls = self.add_weight(
            name="calls", shape=(), initializer="zeros", trainable=False, dtype="int32"
        )

    def call(self, x):
        self.calls.assign_add(1)
        return tf.nn.relu(tf.matmul(x, self.w)) + tf.reduce_sum(tf.square(self.w))


def test_a_layer_of_tensorflow_ops():
    layer = Linear(3)
    for _ in range(2):
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(layer(X))
    assert [(v.path, v.trainable, v.dtype) for v in layer.variables] == [
        ("linear/w", True, "float32"),
        ("linear/calls", False, "int32"),
    ]
    assert int(layer.calls) == 2
    (gradient,) = tape.gradient(y, layer.trainable_variables)
    positive = X.sum(axis=1) > 0
    expected = X[positive].sum(axis=0)[:, None] + 2 * 18 * np.ones((4, 3))
    np.testing.assert_allclose(gradient, expected, rtol=1e-5)


class Holder(layers.Layer):
    def __init__(self):
        super().__init__()
        self.scale = tf.Variable([2.0, 3.0])
        self.shifts = [tf.Variable(1.0)]

    def call(self, x):
        return x * self.scale[0] + self.shifts[0]


class HolderModel(keras.Model):
    def __init__(self):
        super().__init__()
        self.scale = tf.Variable(2.0)

    def call(self, x):
        return x * self.scale


def test_plain_variables_are_no_weights_of_a_layer_but_have_gradients():
    layer, model = Holder(), HolderModel()
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(model(layer(X)))
    # Keras 3 on TensorFlow does not count them either.
    assert layer.variables == []
    assert model.trainable_variables == []
    scale, shift, outer = tape.gradient(y, [layer.scale, layer.shifts[0], model.scale])
    np.testing.assert_allclose(scale, [2 * X.sum(), 0], rtol=1e-4)
    assert float(shift) == 2 * X.size
    np.testing.assert_allclose(outer, (2 * X + 1).sum(), rtol=1e-5)


def test_layers_in_lists_and_dictionaries_are_tracked():
    class Composite(layers.Layer):
        def __init__(self):
            super().__init__()
            self.stack = [layers.Dense(2) for _ in range(2)]
            self.heads = {"a": layers.Dense(3)}

        def call(self, x):
            for layer in self.stack:
                x = layer(x)
            return self.heads["a"](x)

    layer = Composite()
    with tf.GradientTape() as tape:
        y = layer(X)
    gradients = tape.gradient(y, layer.trainable_variables)
    assert [tuple(g.shape) for g in gradients] == [(4, 2), (2,), (2, 2), (2,), (2, 3), (3,)]


OPS = {
    "+": lambda v: v + 1.0,
    "numpy +": lambda v: np.ones(2, "float32") + v,
    "**": lambda v: 2.0 - v**2,
    "tensordot": lambda v: tf.tensordot(v, v, 1),
    "[]": lambda v: v[0],
    "matmul": lambda v: tf.matmul(tf.ones([1, 2]), v[:, None]),
    "stack": lambda v: tf.stack([v, v]),
    "gather": lambda v: tf.gather(v, [1, 1]),
    "where": lambda v: tf.where(v > 0, v, tf.zeros_like(v)),
    "cast": lambda v: tf.cast(v, tf.float64),
    "add_n": lambda v: tf.add_n([v, v]),
    "einsum": lambda v: tf.einsum("i,i->", v, v),
    "map_fn": lambda v: tf.map_fn(lambda row: row * 2, v),
    "function": lambda v: tf.function(lambda x: x * 2)(v),
    "cond": lambda v: tf.cond(True, lambda: v + 0.0, lambda: v * 2),
}


@pytest.mark.parametrize("name", OPS)
def test_ops_take_variables_of_keras_as_they_take_their_values(name):
    function = OPS[name]
    variable, plain = keras.Variable([1.0, -2.0]), tf.Variable([1.0, -2.0])
    with tf.GradientTape() as tape:
        y = function(variable)
    with tf.GradientTape() as plain_tape:
        expected = function(plain)
    np.testing.assert_array_equal(y, expected)
    gradient = tf.convert_to_tensor(tape.gradient(y, variable))
    wanted = tf.convert_to_tensor(plain_tape.gradient(expected, plain))
    np.testing.assert_array_equal(gradient, wanted)
    assert np.any(gradient.numpy())


# Names --------------------------------------------------------------------------------------------


def test_names_that_keras_has_for_tensorflow_alone():
    assert keras.losses.MSE is keras.losses.mse
    np.testing.assert_allclose(keras.losses.mse([[1.0, 3.0]], [[0.0, 0.0]]), [5.0])
    assert keras.layers.ThresholdedReLU(0.5)(np.array([0.1, 1.0])).numpy().tolist() == [0.0, 1.0]
    assert float(keras.backend.mean(tf.constant([1.0, 3.0]))) == 2.0
    # What they replace there is here, too.
    np.testing.assert_allclose(keras.losses.mean_squared_error([[1.0]], [[3.0]]), [4.0])


def test_modules_that_keras_has_for_tensorflow_alone():
    code = (
        "import gradtape; gradtape.install_as_tensorflow()\n"
        "from tensorflow.keras.preprocessing.text import Tokenizer\n"
        "import gradtape.keras.preprocessing.text as again\n"
        "words = Tokenizer()\n"
        "words.fit_on_texts(['a b a'])\n"
        "print(words.texts_to_sequences(['b a']), again.Tokenizer is Tokenizer)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == "[[2, 1]] True\n", done.stderr

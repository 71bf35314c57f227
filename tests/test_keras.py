"""Keras on gradtape: one package, loaded when it is asked for, whose variables tapes know."""

import subprocess
import sys
import textwrap

import numpy as np
import pytest

import gradtape as tf

RNG = np.random.default_rng(0)


def python(code):
    """Runs code in a process of its own, and returns what it prints."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


# The package --------------------------------------------------------------------------------------


def test_importing_gradtape_does_not_import_keras():
    assert python("import sys, gradtape; print('keras' in sys.modules)") == "False"


def test_there_is_one_keras_under_every_name():
    code = """
        import gradtape as tf
        tf.install_as_tensorflow()
        import gradtape.keras.layers as first
        from tensorflow.keras import layers as second
        import tensorflow.keras.layers as third
        import keras
        print(first is second is third is keras.layers, tf.keras is keras)
        print(tf.optimizers is keras.optimizers, tf.losses is keras.losses)
        print(tf.metrics is keras.metrics, tf.initializers is keras.initializers)
    """
    assert python(code) == "True True\nTrue True\nTrue True"


def test_keras_with_another_backend_is_refused():
    code = """
        import sys, types
        sys.modules["keras"] = types.ModuleType("keras")  # loaded by somebody else
        import gradtape as tf
        try:
            tf.keras
        except ImportError as error:
            print(error)
    """
    assert "put `import gradtape.keras` above every import of Keras" in python(code)


def test_without_keras_the_error_names_the_extra():
    code = """
        import sys
        sys.modules["keras"] = None
        import gradtape as tf
        del sys.modules["keras"]

        class Missing:
            def find_spec(self, name, path=None, target=None):
                if name == "keras":
                    raise ModuleNotFoundError("No module named 'keras'", name="keras")

        sys.meta_path.insert(0, Missing())
        try:
            tf.keras
        except ImportError as error:
            print(error)
    """
    assert 'pip install "gradtape[keras]"' in python(code)


# Variables and tapes ------------------------------------------------------------------------------


def dense(units=2, **options):
    return tf.keras.layers.Dense(units, kernel_initializer="ones", **options)


def test_a_layer_has_no_variables_before_it_is_built():
    layer = dense()
    x = tf.ones([1, 3])
    with tf.GradientTape() as tape:
        tape.watch(layer.variables)
        y = layer(x)
    assert tape.gradient(y, layer.kernel).numpy().tolist() == [[1, 1]] * 3


def test_tapes_watch_trainable_variables_of_layers_by_themselves():
    layer, frozen = dense(), dense()
    frozen.trainable = False
    x = tf.ones([1, 3])
    with tf.GradientTape(persistent=True) as tape:
        y = frozen(layer(x))
    names = [variable.name for variable in tape.watched_variables()]
    assert names == [f"{layer.name}/kernel:0", f"{layer.name}/bias:0"]
    assert tape.gradient(y, frozen.kernel) is None
    gradients = tape.gradient(y, layer.trainable_variables)
    assert [g.numpy().tolist() for g in gradients] == [[[2, 2]] * 3, [2, 2]]


def test_a_watched_kernel_alone_is_followed():
    layer = dense()
    layer.build((1, 3))
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(layer.kernel)
        y = layer(tf.ones([1, 3]))
    gradients = tape.gradient(y, [layer.kernel, layer.bias])
    assert gradients[0].numpy().tolist() == [[1, 1]] * 3
    assert gradients[1] is None


def test_ops_take_keras_variables():
    variable = tf.keras.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.square(variable) * variable)
    assert tape.gradient(y, variable).numpy().tolist() == [3.0, 12.0]
    assert tf.convert_to_tensor(variable).numpy().tolist() == [1.0, 2.0]


def test_jacobians_and_higher_orders_of_layers():
    layer = tf.keras.layers.Dense(2, activation="tanh")
    x = tf.constant([[0.5, -1.0]])
    layer(x)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = layer(x)
        slope = tape.jacobian(y, x)
    assert slope.shape == (1, 2, 1, 2)
    assert outer.gradient(slope, layer.kernel).shape == (2, 2)


# Training -----------------------------------------------------------------------------------------

X = RNG.normal(size=(96, 6)).astype(np.float32)
Y = (X[:, 0] + X[:, 1] > 0).astype(np.int64)


def classifier(**options):
    tf.keras.utils.set_random_seed(1)
    layers = tf.keras.layers
    model = tf.keras.Sequential([
        layers.Input((6,)), layers.Dense(16, activation="relu"), layers.BatchNormalization(),
        layers.Dropout(0.1), layers.Dense(2),
    ])  # fmt: skip
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(tf.keras.optimizers.Adam(0.02), loss, metrics=["accuracy"], **options)
    return model


def test_fit_evaluate_and_predict():
    model = classifier()
    history = model.fit(X, Y, batch_size=20, epochs=15, verbose=0, validation_split=0.25)
    assert history.history["loss"][-1] < 0.5 * history.history["loss"][0]
    assert history.history["val_accuracy"][-1] > 0.8
    loss, accuracy = model.evaluate(X, Y, verbose=0)
    assert loss < 0.4
    assert accuracy > 0.85
    assert model.predict(X[:7], verbose=0).shape == (7, 2)


def test_steps_run_as_functions_give_what_eager_steps_give():
    losses = []
    for eagerly in (False, True):
        model = classifier(run_eagerly=eagerly)
        losses.append(model.fit(X, Y, batch_size=20, epochs=3, verbose=0).history["loss"])
    np.testing.assert_allclose(losses[0], losses[1], rtol=1e-5)


def test_a_last_partial_batch_costs_one_more_trace():
    runs = []

    class Counted(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.dense = tf.keras.layers.Dense(2)

        def call(self, x):
            runs.append(tuple(x.shape))
            return self.dense(x)

    model = Counted()
    model.compile("sgd", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    model.fit(X, Y, batch_size=40, epochs=1, verbose=0)
    first = len(runs)
    model.fit(X, Y, batch_size=40, epochs=4, verbose=0)
    assert {shape[0] for shape in runs} >= {40, 16}
    assert len(runs) == first


def test_a_custom_training_step():
    class Regression(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.dense = tf.keras.layers.Dense(1)

        def call(self, x):
            return self.dense(x)

        def train_step(self, data):
            x, y = data
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.square(self(x, training=True)[:, 0] - y))
            gradients = tape.gradient(loss, self.trainable_variables)
            self.optimizer.apply_gradients(zip(gradients, self.trainable_variables, strict=True))
            return {"loss": loss}

    model = Regression()
    model.compile(optimizer=tf.keras.optimizers.SGD(0.1))
    target = X @ np.arange(6, dtype=np.float32)
    history = model.fit(X, target, epochs=30, verbose=0)
    assert history.history["loss"][-1] < 1e-3
    np.testing.assert_allclose(model.dense.kernel.numpy()[:, 0], np.arange(6), atol=0.1)


def test_two_optimizers_on_parts_of_a_model():
    first, second = dense(4), dense(1)
    fast, slow = tf.keras.optimizers.SGD(0.1), tf.keras.optimizers.SGD(0.001)
    x = tf.constant(X)
    with tf.GradientTape(persistent=True) as tape:
        loss = tf.reduce_mean(tf.square(second(first(x))))
    before = first.kernel.numpy(), second.kernel.numpy()
    of_first = tape.gradient(loss, first.trainable_variables)
    of_second = tape.gradient(loss, second.trainable_variables)
    fast.apply_gradients(zip(of_first, first.trainable_variables, strict=True))
    slow.apply_gradients(zip(of_second, second.trainable_variables, strict=True))
    np.testing.assert_allclose(first.kernel.numpy(), before[0] - 0.1 * of_first[0], rtol=1e-5)
    np.testing.assert_allclose(second.kernel.numpy(), before[1] - 0.001 * of_second[0], rtol=1e-5)


def test_gradients_that_are_missing():
    layer, other = dense(), dense()
    layer.build((1, 3))
    other.build((1, 3))
    with tf.GradientTape() as tape:
        y = layer(tf.ones([1, 3]))
    variables = layer.trainable_variables + other.trainable_variables
    gradients = tape.gradient(y, variables)
    assert [g is None for g in gradients] == [False, False, True, True]
    optimizer = tf.keras.optimizers.SGD(0.1)
    with pytest.warns(UserWarning, match="Gradients do not exist for variables"):
        optimizer.apply_gradients(zip(gradients, variables, strict=True))
    with pytest.raises(ValueError, match="No gradients provided for any variable"):
        optimizer.apply_gradients([(None, layer.kernel)])


def test_mixed_precision():
    layer = dense(dtype="mixed_float16")
    y = layer(tf.ones([1, 3]))
    assert y.dtype == tf.float16
    assert layer.kernel.value.dtype == tf.float32


def test_a_saved_model_predicts_the_same(tmp_path):
    model = classifier()
    model.fit(X, Y, epochs=1, verbose=0)
    model.save(tmp_path / "model.keras")
    model.save_weights(tmp_path / "model.weights.h5")
    again = tf.keras.models.load_model(tmp_path / "model.keras")
    np.testing.assert_array_equal(again.predict(X, verbose=0), model.predict(X, verbose=0))
    other = classifier()
    other.optimizer.build(other.trainable_variables)
    other.load_weights(tmp_path / "model.weights.h5")
    np.testing.assert_array_equal(other.predict(X, verbose=0), model.predict(X, verbose=0))


def test_recurrent_and_convolutional_models_train():
    layers = tf.keras.layers
    images = RNG.normal(size=(32, 8, 8, 1)).astype(np.float32)
    bright = (images.mean(axis=(1, 2, 3)) > 0).astype(np.float32)
    tf.keras.utils.set_random_seed(2)
    models = [
        tf.keras.Sequential([
            layers.Conv2D(4, 3, activation="relu"), layers.MaxPooling2D(), layers.Flatten(),
            layers.Dense(1),
        ]),
        tf.keras.Sequential([layers.Reshape((8, 8)), layers.LSTM(8), layers.Dense(1)]),
        tf.keras.Sequential([layers.Reshape((8, 8)), layers.GRU(8), layers.Dense(1)]),
    ]  # fmt: skip
    for model in models:
        model.compile(tf.keras.optimizers.Adam(0.02), "mse")
        history = model.fit(images, bright, epochs=25, verbose=0).history["loss"]
        assert history[-1] < 0.5 * history[0]

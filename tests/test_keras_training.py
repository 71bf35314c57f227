"""Models of Keras learn on gradtape what they learn on JAX, from the same gradients.

tests/keras_answers/ holds what JAX answered: gradients.npz of first steps, training.json of figures
after a few epochs from several seeds. Without random draws only rounding differs between the two.
"""

import json

import numpy as np
import pytest

import gradtape as tf
import gradtape.keras  # pyright: ignore[reportMissingImports]
import keras_models as models

FIGURES = json.loads((models.ANSWERS / "training.json").read_text())["figures"]
WITH_DRAWS = {"transformer", "vae"}
TRIED_SEEDS = models.SEEDS[:2]


class TapeVAE(models.VAE):
    """A VAE whose step is recorded on a tape."""

    def train_step(self, data):
        with tf.GradientTape() as tape:
            loss = models.loss_of_code(data, self(data, training=True))
        variables = self.trainable_variables
        gradients = tape.gradient(loss, variables)
        self.optimizer.apply_gradients(zip(gradients, variables, strict=True))
        self.loss_tracker.update_state(loss)
        return {"loss": self.loss_tracker.result()}


def recorded_gradients(name):
    """The loss of a model's first step on JAX, and its gradients."""
    with np.load(models.ANSWERS / "gradients.npz") as arrays:
        count = sum(key.startswith(f"{name}.") for key in arrays) - 1
        return arrays[f"{name}.loss"], [arrays[f"{name}.{number}"] for number in range(count)]


def tolerance_of(gradients):
    """How far gradients may be from those recorded, of which the largest counts."""
    return 1e-5 * max(np.abs(gradient).max() for gradient in gradients)


@pytest.mark.parametrize("way", ["eager", "function"])
@pytest.mark.parametrize("name", models.EPOCHS)
def test_gradients_of_one_step_are_those_of_jax(name, way):
    step = models.first_step(name, TapeVAE)

    def loss_and_gradients():
        with tf.GradientTape() as tape:
            loss = step.loss(step.model(step.images, **step.options))
        return loss, tape.gradient(loss, step.model.trainable_variables)

    call = tf.function(loss_and_gradients) if way == "function" else loss_and_gradients
    loss, gradients = call()
    expected_loss, expected = recorded_gradients(name)
    np.testing.assert_allclose(loss, expected_loss, rtol=1e-5)
    atol = tolerance_of(expected)
    for variable, gradient, wanted in zip(
        step.model.trainable_variables, gradients, expected, strict=True
    ):
        np.testing.assert_allclose(gradient, wanted, rtol=0, atol=atol, err_msg=variable.path)


@pytest.mark.parametrize("name", models.CLASSIFIERS)
def test_a_step_of_fit_goes_down_the_gradients_of_jax(name):
    step, rate = models.first_step(name, TapeVAE), 0.5
    data = models.digits(seed=0)
    batch = data.images[: models.BATCH_SIZE], data.labels[: models.BATCH_SIZE]
    step.model.compile(tf.keras.optimizers.SGD(0.0), models.label_loss, metrics=["accuracy"])
    step.model.fit(*batch, verbose=0)  # makes what is not made yet, and changes no weight
    step.model.optimizer.learning_rate = rate
    before = [variable.numpy() for variable in step.model.trainable_variables]
    step.model.fit(*batch, verbose=0, shuffle=False)
    _, expected = recorded_gradients(name)
    atol = tolerance_of(expected)
    for variable, old, gradient in zip(
        step.model.trainable_variables, before, expected, strict=True
    ):
        found = (old - variable.numpy()) / rate
        np.testing.assert_allclose(found, gradient, rtol=0, atol=atol, err_msg=variable.path)


@pytest.mark.parametrize("seed", TRIED_SEEDS)
@pytest.mark.parametrize("name", models.EPOCHS)
def test_training_reaches_what_jax_reaches(name, seed):
    _, found = models.trained(name, seed, TapeVAE)
    expected = FIGURES[name][seed]
    assert found.keys() == expected.keys()
    for figure, value in found.items():
        deviation = np.std([figures[figure] for figures in FIGURES[name]], ddof=1)
        # Where layers draw, this is another run: two runs differ by sqrt(2) deviations. Else it is
        # the same run, which roundings move less than another seed would.
        noise = 3 * np.sqrt(2) * deviation if name in WITH_DRAWS else deviation
        assert abs(value - expected[figure]) <= noise, (figure, value, expected[figure])

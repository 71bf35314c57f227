"""Write what Keras answers on other backends, and have them read what gradtape saves.

Run `make answers`, or, where Keras, JAX, TensorFlow and PyTorch are installed, from the root of the
project:

    PYTHONPATH=src:tests python tests/keras_answers/record.py

It writes gradients.npz and training.json (Keras on JAX trains the models of keras_models.py), and
for each backend a .zip (a model saved with it in both formats, and what follows in `answers.npz`).
Then every backend loads the files that gradtape saves, and must predict and train alike to 1e-5.
"""

import json
import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).resolve().parent
BACKENDS = ("jax", "tensorflow", "torch")
TOLERANCE = 1e-5


def record_training():
    """Gradients of first steps, and figures after training from several seeds, on JAX."""
    import jax  # pyright: ignore[reportMissingImports]
    import keras

    import keras_models as models  # pyright: ignore[reportMissingImports]

    class StatelessVAE(models.VAE):
        """A VAE whose step is a function of its state, as JAX has it."""

        def train_step(self, state, data):
            trainable, others, of_optimizer, of_metrics = state

            def loss_of(trainable):
                called = self.stateless_call(trainable, others, data, training=True)
                return models.loss_of_code(data, called[0]), called[1]

            (loss, others), gradients = jax.value_and_grad(loss_of, has_aux=True)(trainable)
            trainable, of_optimizer = self.optimizer.stateless_apply(
                of_optimizer, gradients, trainable
            )
            of_metrics = self.loss_tracker.stateless_update_state(of_metrics, loss)
            logs = {"loss": self.loss_tracker.stateless_result(of_metrics)}
            return logs, (trainable, others, of_optimizer, of_metrics)

    def gradients_of(step):
        model = step.model
        others = [variable.value for variable in model.non_trainable_variables]

        def loss_of(trainable):
            outputs, _ = model.stateless_call(trainable, others, step.images, **step.options)
            return step.loss(outputs)

        return jax.value_and_grad(loss_of)([v.value for v in model.trainable_variables])

    arrays = {}
    record = {"keras": keras.__version__, "jax": jax.__version__, "figures": {}}
    for name in models.EPOCHS:
        loss, gradients = gradients_of(models.first_step(name, StatelessVAE))
        arrays[f"{name}.loss"] = np.asarray(loss)
        for number, gradient in enumerate(gradients):
            arrays[f"{name}.{number}"] = np.asarray(gradient)
        figures = [models.trained(name, seed, StatelessVAE)[1] for seed in models.SEEDS]
        record["figures"][name] = figures
        print(name, figures)
    np.savez_compressed(FOLDER / "gradients.npz", **arrays)
    (FOLDER / "training.json").write_text(json.dumps(record, indent=1) + "\n")


def save(folder):
    """Saves a model in a folder, beside what follows."""
    import keras_models as models  # pyright: ignore[reportMissingImports]

    np.savez(Path(folder) / "answers.npz", **models.save_model(folder))


def record_files(backend):
    """Keeps the files that a backend saves."""
    with tempfile.TemporaryDirectory() as folder:
        save(folder)
        with zipfile.ZipFile(FOLDER / f"{backend}.zip", "w", zipfile.ZIP_LZMA) as kept:
            for path in sorted(Path(folder).iterdir()):
                kept.write(path, path.name)


def check_files(backend, folder):
    """Loads the files in a folder, and compares what follows with what followed there."""
    import keras_models as models  # pyright: ignore[reportMissingImports]

    answers = np.load(Path(folder) / "answers.npz")
    worst = 0.0
    for file in models.FILES:
        found = models.what_follows(models.load_model(folder, file))
        for name, value in found.items():
            difference = float(np.max(np.abs(value - answers[name])))
            print(f"{file} saved on gradtape, read on {backend}: {name} differ by {difference:.1e}")
            worst = max(worst, difference)
    if worst > TOLERANCE:
        raise SystemExit(f"Keras on {backend} does not read what gradtape saves.")


def run(task, backend, *arguments):
    """Does a task in a process of its own, for Keras has one backend in each."""
    settings = {"TF_CPP_MIN_LOG_LEVEL": "3"}
    if backend != "gradtape":
        settings["KERAS_BACKEND"] = backend
    command = [sys.executable, __file__, task, backend, *arguments]
    subprocess.run(command, env=os.environ | settings, check=True)


def main():
    run("training", "jax")
    with tempfile.TemporaryDirectory() as folder:
        run("save", "gradtape", folder)
        for backend in BACKENDS:
            run("files", backend, folder)


def do(task, backend, *arguments):
    """What a process of its own does."""
    if backend == "gradtape":
        import gradtape.keras  # noqa: F401  # pyright: ignore[reportMissingImports]
    if task == "training":
        record_training()
    elif task == "save":
        save(*arguments)
    else:
        record_files(backend)
        check_files(backend, *arguments)


if __name__ == "__main__":
    do(*sys.argv[1:]) if len(sys.argv) > 1 else main()

"""Keras itself as `gradtape.keras`, with gradtape where Keras looks for its NumPy backend.

Keras has no way to add a backend, but it imports the one it is set to by name. A finder answers for
the name of its NumPy backend with the files of `gradtape.keras_backend`, and for modules below
`gradtape.keras` with Keras's own, so that nothing is ever loaded twice.
"""

import importlib
import importlib.util
import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from .stand_in import alias_spec

_BACKEND, _ALIAS = "keras.src.backend.numpy", "gradtape.keras."
_FOLDER = Path(__file__).with_name("keras_backend")
_FOR_TENSORFLOW = ("keras.src.legacy.backend", "keras.src.legacy.layers")
# Optimizers that Keras has classes of its own for on PyTorch, which files saved there name.
_ON_TORCH = ("adadelta", "adagrad", "adam", "adamax", "adamw", "lion", "nadam", "rmsprop", "sgd")
# What TensorFlow has of Keras at its top level.
NAMES = ("keras", "initializers", "losses", "metrics", "optimizers")


class _Finder:
    """Finds the backend's package, in whose folder Python finds the rest, and Keras's modules."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == _BACKEND:
            return importlib.util.spec_from_file_location(
                name, _FOLDER / "__init__.py", submodule_search_locations=[str(_FOLDER)]
            )
        if name.startswith(_ALIAS):
            return alias_spec(name, f"keras.{name.removeprefix(_ALIAS)}")
        return None


def part_of_keras(name):
    """Keras, or one of its modules."""
    keras = load_keras()
    return keras if name == "keras" else importlib.import_module(f"keras.{name}")


def load_keras():
    """The package `keras`, with gradtape for its backend.

    Raises:
        ImportError: Keras is not installed, or was imported with another backend before.
    """
    loaded = sys.modules.get("keras")
    if loaded is not None:
        backend = sys.modules.get(_BACKEND)
        if backend is None or Path(str(backend.__file__)).parent != _FOLDER:
            raise ImportError(
                "Keras was imported with another backend before gradtape.keras. Import gradtape's "
                "first: replace `import keras` by `from gradtape import keras`, or put `import "
                "gradtape.keras` above every import of Keras."
            )
        return loaded
    os.environ["KERAS_BACKEND"] = "numpy"  # the name that the finder answers for
    if not any([isinstance(each, _Finder) for each in sys.meta_path]):
        sys.meta_path.insert(0, _Finder())
    try:
        import keras
    except ModuleNotFoundError as error:
        if error.name != "keras":
            raise
        raise ImportError(
            "gradtape.keras is the package Keras, which is not installed. Install it with: "
            'pip install "gradtape[keras]"'
        ) from None
    _add_names(keras, importlib.import_module("keras._tf_keras.keras"))
    for name in _FOR_TENSORFLOW:  # these call TensorFlow, on any backend
        module: Any = importlib.import_module(name)
        module.tf = sys.modules["gradtape"]
    for name in _ON_TORCH:
        on_torch = f"keras.src.backend.torch.optimizers.torch_{name}"
        sys.modules.setdefault(on_torch, importlib.import_module(f"keras.src.optimizers.{name}"))
    return keras


def _add_names(module, for_tensorflow):
    """Adds what `tf.keras` has besides: Keras keeps older names, as `losses.mse`, for it alone."""
    for name, value in vars(for_tensorflow).items():
        present = vars(module).get(name)
        if name.startswith("_") or present is value:
            continue
        if present is None:
            setattr(module, name, value)
            if isinstance(value, ModuleType):
                sys.modules[f"{module.__name__}.{name}"] = value
        elif isinstance(present, ModuleType):
            _add_names(present, value)

"""Keras itself as `gradtape.keras`, with gradtape where Keras looks for its NumPy backend.

Keras has no way to add a backend, but it imports the one it is set to by name. A finder answers for
the name of its NumPy backend with the files of `gradtape.keras_backend`, and for modules below
`gradtape.keras` with Keras's own, so that nothing is ever loaded twice.
"""

import importlib
import importlib.util
import os
import sys
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

from .stand_in import alias_spec

_BACKEND, _ALIAS = "keras.src.backend.numpy", "gradtape.keras."
_TENSORFLOWS = "keras.src.backend.tensorflow"
_FOLDER = Path(__file__).with_name("keras_backend")
# Files of Keras that do more where its backend is TensorFlow, which gradtape does too: they take
# strings, and give sparse and ragged tensors.
_AS_ON_TENSORFLOW = (
    "layers.preprocessing.feature_space",
    "layers.preprocessing.hashed_crossing",
    "layers.preprocessing.integer_lookup",
    "layers.preprocessing.string_lookup",
    "layers.preprocessing.text_vectorization",
    "trainers.data_adapters.array_slicing",
)
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
        if name == _TENSORFLOWS:
            loader: Any = _LoaderAsTensorFlow()
            return ModuleSpec(name, loader, is_package=True)
        if name.startswith(f"{_TENSORFLOWS}."):
            return alias_spec(name, _BACKEND + name.removeprefix(_TENSORFLOWS))
        if name.startswith(_ALIAS):
            return alias_spec(name, f"keras.{name.removeprefix(_ALIAS)}")
        return None


class _LoaderAsTensorFlow:
    """Loads the backend under the name of TensorFlow's, which some layers ask for on any backend.

    It is a module of its own: by its name Keras knows that it can count words quickly.
    """

    def create_module(self, spec):
        """Leave it to Python to make an empty module."""

    def exec_module(self, module):
        backend = vars(importlib.import_module(_BACKEND))
        vars(module).update({n: backend[n] for n in backend if not n.startswith("__")})


class _CalledTensorFlow:
    """`keras.src.backend`, which says that its backend is TensorFlow's."""

    def __init__(self, backend):
        self._backend = backend

    def backend(self):
        return "tensorflow"

    def __getattr__(self, name):
        return getattr(self._backend, name)


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
    _answer_for_tensorflow()
    for name in _ON_TORCH:
        on_torch = f"keras.src.backend.torch.optimizers.torch_{name}"
        sys.modules.setdefault(on_torch, importlib.import_module(f"keras.src.optimizers.{name}"))
    return keras


def _answer_for_tensorflow():
    """Gives Keras gradtape where it asks for TensorFlow on any backend.

    That is for datasets, for strings and tables of them, for seeds, and for names in files. Whether
    TensorFlow is installed makes no difference then. Only remote files are read by its `gfile`.
    """
    gradtape: Any = sys.modules["gradtape"]
    utils: Any = importlib.import_module("keras.src.utils.module_utils")
    utils.tensorflow.module, utils.tensorflow._available = gradtape, True
    # There is no other backend to change to where a function of a dataset is traced.
    utils = importlib.import_module("keras.src.utils.backend_utils")
    utils.in_tf_graph = lambda: False
    for name in _AS_ON_TENSORFLOW:
        file: Any = importlib.import_module(f"keras.src.{name}")
        file.backend = _CalledTensorFlow(file.backend)
    # Of TensorFlow's objects in older files these are all that gradtape writes and reads.
    old_files: Any = importlib.import_module("keras.src.legacy.saving.json_utils")
    old_files.tf = SimpleNamespace(
        available=True,
        TensorShape=gradtape.TensorShape,
        DType=gradtape.DType,
        TypeSpec=(),
        compat=SimpleNamespace(v1=SimpleNamespace(Dimension=())),
        __internal__=SimpleNamespace(CompositeTensor=()),
    )


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

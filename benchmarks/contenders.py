"""Who is measured: each contender's environment, library and the class that writes its steps."""

import importlib
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Contender:
    """One way of computing the workloads.

    Args:
        label: The name in tables and plots.
        environment: The virtual environment it runs in.
        library: The module whose version and import time are its own.
        steps: `module:class` of the workloads, under `workloads/`.
        takes_library: Whether the class is given the library's name, since several share it.
    """

    label: str
    environment: str
    library: str
    steps: str
    takes_library: bool = False

    def load(self) -> Any:
        """Import the library and return the object whose methods build the steps."""
        module, class_name = self.steps.split(":")
        steps = getattr(importlib.import_module(f"workloads.{module}"), class_name)
        return steps(self.library) if self.takes_library else steps()


CONTENDERS = {
    "gradtape": Contender(
        "gradtape",
        "gradtape",
        "gradtape",
        "gradtape_derivatives:GradtapeDerivatives",
        takes_library=True,
    ),
    "numpy": Contender("NumPy by hand", "gradtape", "numpy", "numpy_by_hand:NumpyByHand"),
    "torch": Contender("PyTorch eager", "torch", "torch", "torch_eager:TorchEager"),
    "autograd": Contender("autograd", "autograd", "autograd", "autograd_hips:AutogradHips"),
    "tensorflow": Contender(
        "TensorFlow",
        "tensorflow",
        "tensorflow",
        "tensorflow_style:TensorFlowStyle",
        takes_library=True,
    ),
    "jax": Contender("JAX, no jit", "jax", "jax", "jax_eager:JaxEager"),
}

# The same Keras code for all: who computes for it.
KERAS = {
    name: Contender(f"Keras on {label}", name, name, "keras_models:KerasModels", takes_library=True)
    for name, label in {
        "gradtape": "gradtape",
        "torch": "PyTorch",
        "tensorflow": "TensorFlow",
        "jax": "JAX",
    }.items()
}
# Who is compared with whom; in each field, contenders go by the name of their library.
FIELDS = {"libraries": CONTENDERS, "keras": KERAS}

KERAS_KINDS = frozenset({"fit_mlp", "fit_cnn", "fit_dataset", "eager_step"})
# Only TensorFlow's own API has these.
OF_TENSORFLOW = frozenset(
    {"mlp_function", "chain_function", "first_call", "eager_step", "pipeline", "fit_dataset"}
)

# A chain of scalars is where a tape's own cost shows; by hand it would be plain floats, not NumPy.
WITHOUT_NUMPY = frozenset({"scalar_chain"})


def field_of(kind: str) -> str:
    """Return the field whose contenders have such a workload."""
    return "keras" if kind in KERAS_KINDS else "libraries"


def label_of(contender: str, kind: str) -> str:
    """Return a contender's name in tables and plots of such a workload."""
    return FIELDS[field_of(kind)][contender].label


def takes_part(contender: str, workload: str, kind: str) -> bool:
    """Return whether a contender has an entry for a timed workload."""
    if contender == "autograd" and kind == "batch_jacobian":
        return False  # it would be a loop over the examples, each of them a loop over rows
    if contender in ("autograd", "jax") and kind == "cnn":
        return False  # not written for them: the targets name PyTorch and TensorFlow alone
    if contender == "autograd" and kind == "embedding":
        return False  # its gradient of a lookup is a whole table
    if kind in OF_TENSORFLOW:
        return contender in ("gradtape", "tensorflow")
    if contender == "numpy":
        return kind == "chain" and workload not in WITHOUT_NUMPY
    return True

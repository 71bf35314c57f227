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

# A chain of scalars is where a tape's own cost shows; by hand it would be plain floats, not NumPy.
WITHOUT_NUMPY = frozenset({"scalar_chain"})


def takes_part(contender: str, workload: str, kind: str) -> bool:
    """Return whether a contender has an entry for a timed workload."""
    if contender == "autograd" and kind == "batch_jacobian":
        return False  # it would be a loop over the examples, each of them a loop over rows
    if contender in ("autograd", "jax") and kind == "cnn":
        return False  # not written for them: the targets name PyTorch and TensorFlow alone
    if contender == "autograd" and kind == "embedding":
        return False  # its gradient of a lookup is a whole table
    if kind in ("mlp_function", "chain_function", "first_call"):
        return contender in ("gradtape", "tensorflow")
    if contender == "numpy":
        return kind == "chain" and workload not in WITHOUT_NUMPY
    return True

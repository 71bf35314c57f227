"""Write tensorflow_signatures.txt: the parameters of every public function of TensorFlow.

Run it where TensorFlow 2.21 is installed: `python make_tensorflow_signatures.py`. Functions are
listed under each of their names; annotations are left out, defaults that are functions or members
of an enumeration stand by name, and objects that only mean "not given" as None.
"""

import enum
import inspect
import os
import types
from pathlib import Path

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import tensorflow as tf  # pyright: ignore[reportMissingModuleSource]

# Namespaces that are other libraries, older versions, or made of other lists.
LEFT_OUT = {
    "compat.v1",
    "compat.v2",
    "dtensor",
    "estimator",
    "experimental.dtensor",
    "experimental.numpy",
    "keras",
    "lite",
    "losses",
    "metrics",
    "optimizers",
    "initializers",
    "raw_ops",
    "security",
    "tools",
    "tpu",
}


class Shown:
    """A default value whose repr is the given text."""

    def __init__(self, text):
        self._text = text

    def __repr__(self):
        return self._text


def line(name, function):
    parameters = []
    for parameter in inspect.signature(function).parameters.values():
        default = parameter.default
        if inspect.isfunction(default):
            default = Shown(default.__name__)
        elif isinstance(default, enum.Enum):
            default = Shown(str(default))
        elif type(default) is object:
            default = None
        parameters.append(parameter.replace(annotation=inspect.Parameter.empty, default=default))
    return f"{name}{inspect.Signature(parameters)}"


def functions(module, prefix=""):
    """Pairs of dotted name and function, of a module and of the public ones below it."""
    for name in sorted(dir(module)):
        item = getattr(module, name, None)
        dotted = f"{prefix}{name}"
        if name.startswith("_") or dotted in LEFT_OUT:
            continue
        if inspect.isfunction(item):
            yield dotted, item
        elif isinstance(item, types.ModuleType) and item.__name__.startswith("tensorflow."):
            yield from functions(item, f"{dotted}.")


if __name__ == "__main__":
    lines = sorted(line(*pair) for pair in functions(tf))
    text = "".join([f"{one}\n" for one in lines])
    (Path(__file__).parent / "tensorflow_signatures.txt").write_text(text, encoding="utf-8")
    print(f"wrote {len(lines)} functions")

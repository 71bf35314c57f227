"""Write tensorflow_raw_ops.txt: the arguments and results of every op in TensorFlow's `tf.raw_ops`.

Run it where TensorFlow 2.21 is installed: `python make_tensorflow_raw_ops.py`. A result with a star
is a list of tensors.
"""

import inspect
import os
from pathlib import Path

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import tensorflow as tf  # pyright: ignore[reportMissingModuleSource]
from tensorflow.python.framework import (  # pyright: ignore[reportMissingImports]
    op_def_registry,  # pyright: ignore[reportAttributeAccessIssue]
)


def results(name):
    outputs = op_def_registry.get(name).output_arg
    lists = [output.number_attr or output.type_list_attr for output in outputs]
    return ", ".join(
        f"{'*' if many else ''}{out.name}" for out, many in zip(outputs, lists, strict=True)
    )


def line(name):
    parameters = inspect.signature(getattr(tf.raw_ops, name)).parameters.values()
    plain = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in parameters]
    signature = " ".join(str(inspect.Signature(plain)).split())  # one default has several lines
    return f"{name}{signature} -> {results(name)}".rstrip()


if __name__ == "__main__":
    names = [name for name in dir(tf.raw_ops) if op_def_registry.get(name) is not None]
    text = "".join([line(name) + "\n" for name in sorted(names)])
    (Path(__file__).parent / "tensorflow_raw_ops.txt").write_text(text, encoding="utf-8")
    print(f"wrote {len(names)} ops")

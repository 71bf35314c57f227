"""Writes down what TensorFlow answers: run `python make_answers.py` where it is installed."""

import inspect
import json
import subprocess
import sys
import types
from pathlib import Path

import tensorflow as tf
from calls import OPERANDS, groups
from storage import answer, save

HERE = Path(__file__).resolve().parent
tnp = tf.experimental.numpy


def names(module, prefix=""):
    """The public names, functions with their parameters."""
    for name in sorted(dir(module)):
        item = getattr(module, name)
        if name.startswith("_"):
            continue
        if isinstance(item, types.ModuleType):
            yield from names(item, f"{name}.")
        else:
            yield f"{prefix}{name}{inspect.signature(item) if inspect.isfunction(item) else ''}"


def main():
    (HERE / "names.txt").write_text("\n".join(names(tnp)) + "\n", encoding="utf-8")
    # Some of TensorFlow's functions need it themselves.
    tnp.experimental_enable_numpy_behavior()
    operands = {name: tf.constant(array) for name, array in OPERANDS.items()}
    expressions = [expression for group in groups().values() for expression in group]
    known = {"np": tnp, **operands}
    save({text: answer(lambda text=text: eval(text, dict(known))) for text in expressions})
    modes = {}
    for mode in ("legacy", "legacy-float32", "all", "safe"):
        command = [sys.executable, str(HERE / "promotion.py"), "tensorflow", mode]
        printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        modes[mode] = json.loads(printed.splitlines()[-1])
    lines = json.dumps(modes, indent=0, sort_keys=True) + "\n"
    (HERE / "promotion.json").write_text(lines, encoding="utf-8")


if __name__ == "__main__":
    main()

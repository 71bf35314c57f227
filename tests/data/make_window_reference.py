"""Records what TensorFlow answers to the calls in `window_calls.py`; run where it is installed."""

import json
import sys
from pathlib import Path

import numpy as np
import tensorflow as tf  # pyright: ignore[reportMissingImports]

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from window_calls import CONVOLUTIONS, POOLS  # noqa: E402


def main():
    """Write dtype, shape and elements of every answer, one call a line."""
    lines = []
    for name, call in (CONVOLUTIONS | POOLS).items():
        value = call(tf).numpy()
        elements = np.round(value.astype(np.float64), 6).reshape(-1).tolist()
        answer = {"dtype": str(value.dtype), "shape": value.shape, "elements": elements}
        lines.append(f"{json.dumps(name)}: {json.dumps(answer)}")
    HERE.joinpath("window_reference.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()

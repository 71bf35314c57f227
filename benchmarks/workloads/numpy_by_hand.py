"""The chain in NumPy alone, with its derivative written out: what no tape can beat by much."""

from collections.abc import Callable
from typing import Any

import numpy as np

from workloads.data import Chain

Step = Callable[[], tuple[Any, list[Any]]]


class NumpyByHand:
    """Builds steps; each returns its loss and the gradients, in the order of the data's arrays."""

    version = np.__version__

    def to_numpy(self, value: Any) -> np.ndarray:
        """Return a loss or gradient as an array."""
        return np.asarray(value)

    def chain(self, data: Chain) -> Step:
        """Five elementwise ops a round, keeping what the derivative needs; then back again."""
        x = data.start.copy()

        def step():
            y = x
            kept = []
            for _ in range(data.rounds):
                product = y * x
                bent = np.tanh(np.sin(product) + x)
                kept.append((y, product, bent))
                y = bent - 0.1
            slope = np.ones_like(x)
            gradient = np.zeros_like(x)
            for y_before, product, bent in reversed(kept):
                slope = slope * (1 - bent * bent)
                gradient += slope
                slope = slope * np.cos(product)
                gradient += slope * y_before
                slope = slope * x
            gradient += slope
            return y.sum(), [gradient]

        return step

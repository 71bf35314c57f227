"""Batches of places: coordinates that are different in each element and inside in all."""

import numpy as np


def vary_places(x, k):
    """The k-th variation of an input: numbers are scaled, places come in another order."""
    if x.dtype.kind in "fc":
        return x * (1 - 0.05 * k)
    return np.roll(x, k, axis=0) if x.ndim > 1 else x

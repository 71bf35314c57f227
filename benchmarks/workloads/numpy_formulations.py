"""Every op beside the quickest NumPy code for the same result, at a million float32 elements.

A comparison names its inputs, gives the call as a user of gradtape writes it, and the NumPy
formulation: in place where that saves a temporary, by BLAS, `reduceat` or `bincount` where those
are quicker than what first comes to mind. The rows are in `formulations_*.py`, by family. Functions
that NumPy has no formulation of (the gamma, Bessel and zeta functions and their inverses) have no
row.
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

MILLION = 1_000_000


@dataclass(frozen=True)
class Comparison:
    """One op in both ways.

    Args:
        inputs: The names of its inputs, separated by spaces.
        gradtape: The public call; it is given the module and the inputs as tensors.
        numpy: The formulation; it is given the inputs as arrays.
        agrees: Whether the results are equal but for rounding; random numbers are not.
    """

    inputs: str
    gradtape: Callable[..., Any]
    numpy: Callable[..., Any]
    agrees: bool = True


INPUTS: dict[str, Callable[[np.random.Generator], np.ndarray]] = {}


def define_inputs(**makers: Callable[[np.random.Generator], np.ndarray]) -> None:
    """Add inputs that comparisons can name."""
    INPUTS.update(makers)


@functools.cache
def input_array(name: str) -> np.ndarray:
    """Return an input, always the same one for a name."""
    return INPUTS[name](np.random.default_rng(0 if name in "xmt" else len(name) + ord(name[0])))


def normal(*shape: int) -> Callable[[np.random.Generator], np.ndarray]:
    """Return a maker of normally distributed float32 numbers."""
    return lambda random: random.standard_normal(shape, np.float32)


def uniform(low: float, high: float, *shape: int) -> Callable[[np.random.Generator], np.ndarray]:
    """Return a maker of evenly distributed float32 numbers."""
    return lambda random: random.uniform(low, high, shape).astype(np.float32)


def integers(
    high: int, *shape: int, dtype: type = np.int32
) -> Callable[[np.random.Generator], np.ndarray]:
    """Return a maker of integers from 0 to below `high`."""
    return lambda random: random.integers(0, high, shape).astype(dtype)


define_inputs(
    x=normal(MILLION),
    y=normal(MILLION),
    z=normal(MILLION),
    positive=uniform(0.1, 3.0, MILLION),
    small=uniform(-0.99, 0.99, MILLION),
    large=uniform(1.0, 3.0, MILLION),
    m=normal(1000, 1000),
    n=normal(1000, 1000),
    t=normal(100, 100, 100),
    row=normal(1000),
    whole=integers(1000, MILLION),
    divisor=lambda random: random.integers(1, 50, MILLION).astype(np.int32),
    yes=lambda random: random.random(MILLION) < 0.5,
    no=lambda random: random.random(MILLION) < 0.5,
    yes_matrix=lambda random: random.random((1000, 1000)) < 0.999,
    complex_x=lambda random: random.standard_normal(2 * MILLION, np.float32).view(np.complex64),
)


def comparisons() -> dict[str, Comparison]:
    """Return all comparisons by name."""
    from workloads import formulations_arrays, formulations_elements, formulations_products

    families = (formulations_elements, formulations_arrays, formulations_products)
    return {name: row for family in families for name, row in family.COMPARISONS.items()}

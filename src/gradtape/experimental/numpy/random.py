"""tf.experimental.numpy.random: the names of its functions."""

from ...numpy_api.random import (
    poisson as poisson,
    rand as rand,
    randint as randint,
    randn as randn,
    random as random,
    seed as seed,
    standard_normal as standard_normal,
    uniform as uniform,
)

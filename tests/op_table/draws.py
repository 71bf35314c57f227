"""Arrays for samples: the same ones in every run, different ones in every call."""

import zlib

import numpy as np


class Draws:
    """Random arrays for one file of cases; `draw = Draws(__name__)` stands at its top."""

    def __init__(self, name):
        self._rng = np.random.default_rng(zlib.crc32(name.encode()))

    def uniform(self, *shape, low=-2.0, high=2.0):
        """float64 numbers between `low` and `high`."""
        return self._rng.uniform(low, high, shape)

    def positive(self, *shape, low=0.5, high=2.5):
        """float64 numbers well above zero."""
        return self._rng.uniform(low, high, shape)

    def signed(self, *shape, low=0.3, high=2.0):
        """float64 numbers of both signs, none near zero."""
        return self._rng.uniform(low, high, shape) * self._rng.choice([-1.0, 1.0], shape)

    def distinct(self, *shape, gap=0.2):
        """float64 numbers in random order, no two closer than `gap`, none near zero."""
        count = int(np.prod(shape))
        values = gap * (np.arange(count) - count // 2 + 0.5)
        return self._rng.permutation(values).reshape(shape)

    def complex_uniform(self, *shape, low=-2.0, high=2.0):
        """complex128 numbers whose parts lie between `low` and `high`."""
        return self.uniform(*shape, low=low, high=high) + 1j * self.uniform(
            *shape, low=low, high=high
        )

    def complex_signed(self, *shape, low=0.3, high=2.0):
        """complex128 numbers with neither part near zero, and so off every branch cut."""
        return self.signed(*shape, low=low, high=high) + 1j * self.signed(
            *shape, low=low, high=high
        )

    def integers(self, *shape, low=0, high=8, dtype: type = np.int64):
        """Integers from `low` to `high` - 1."""
        return np.asarray(self._rng.integers(low, high, shape)).astype(dtype)

    def booleans(self, *shape):
        """Random truth values."""
        return np.asarray(self._rng.integers(0, 2, shape)).astype(bool)

    def strings(self, *shape):
        """Byte strings of one letter, as a tensor of strings holds them."""
        return np.array([b"a", b"b", b"c", b"d"], object)[self._rng.integers(0, 4, shape)]

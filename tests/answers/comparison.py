"""Compares what gradtape answers with what TensorFlow answered."""

import numpy as np

from op_table.arrays import assert_close

from .storage import decode

# Units in the last place by which values and gradients may differ, in proportion to the largest.
VALUE_ROUNDING = 16
GRADIENT_ROUNDING = 64


def compare(found, recorded, *, factor=1.0):
    """Asserts that an answer is the recorded one: dtypes, shapes, numbers, what is None."""
    assert "error" not in found, found
    _compare_arrays(found["values"], recorded["values"], VALUE_ROUNDING * factor)
    wanted = recorded.get("gradients")
    if not isinstance(wanted, dict):
        assert ("gradients" in found) == (wanted is not None)
    if isinstance(wanted, list):
        assert isinstance(found["gradients"], list), found["gradients"]
        _compare_arrays(found["gradients"], wanted, GRADIENT_ROUNDING * factor)


def _compare_arrays(found, wanted, rounding):
    assert [g is None for g in found] == [g is None for g in wanted]
    for one, other in zip(found, wanted, strict=True):
        if other is not None:
            actual, expected = decode(one), decode(other)
            assert actual.dtype == expected.dtype
            if actual.dtype.kind in "fcV":
                assert_close(actual, expected, rounding=rounding)
            else:
                np.testing.assert_array_equal(actual, expected, strict=True)

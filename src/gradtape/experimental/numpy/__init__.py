"""tf.experimental.numpy: NumPy's functions, recorded by tapes like every op."""

import sys as _sys
from typing import Any as _Any

import numpy as _np

from ...core.tensor import Tensor as _Tensor
from ...namespaces import missing_attribute as _missing_attribute
from ...numpy_api import (  # noqa: F401 - they enter their functions into the table
    behavior as _behavior,
    creation as _creation,
    elementwise as _elementwise,
    pairs as _pairs,
    products as _products,
    promotion as _promotion,
    reductions as _reductions,
    selection as _selection,
    shaping as _shaping,
)
from ...numpy_api.names import NAMES as _NAMES
from . import random as random

globals().update(_NAMES)

ndarray = _Tensor
newaxis = None
e, inf, pi = _np.e, _np.inf, _np.pi
iinfo, inexact, issubdtype = _np.iinfo, _np.inexact, _np.issubdtype

bool_, int_, float_, complex_ = _np.bool_, _np.int64, _np.float64, _np.complex128
object_, string_, unicode_ = _np.object_, _np.bytes_, _np.str_
int8, int16, int32, int64 = _np.int8, _np.int16, _np.int32, _np.int64
uint8, uint16, uint32, uint64 = _np.uint8, _np.uint16, _np.uint32, _np.uint64
float16, float32, float64 = _np.float16, _np.float32, _np.float64
complex64, complex128 = _np.complex64, _np.complex128


def __getattr__(name) -> _Any:
    raise _missing_attribute(_sys.modules[__name__], name)

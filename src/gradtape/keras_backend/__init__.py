"""Keras's backend on gradtape: what Keras finds where it looks for its NumPy backend.

These files are loaded under Keras's own name for that backend (see `gradtape.keras_finder`), so
they refer to one another relatively and to gradtape by name.
"""

from keras.src.backend.common import dtypes as _dtypes
from keras.src.backend.common.name_scope import name_scope

from . import core, image, linalg, math, nn, numpy, random, tensorboard
from .core import (
    IS_THREAD_SAFE,
    SUPPORTS_COMPLEX_DTYPES,
    SUPPORTS_RAGGED_TENSORS,
    SUPPORTS_SPARSE_TENSORS,
    Variable,
    cast,
    compute_output_spec,
    cond,
    convert_to_numpy,
    convert_to_tensor,
    device_scope,
    is_tensor,
    random_seed_dtype,
    shape,
    vectorized_map,
)
from .rnn import bidirectional_gru, bidirectional_lstm, cudnn_ok, gru, lstm, rnn

# By the name of this backend Keras would take doubles beside other floats for float32, as JAX does.
# This is what its table says for TensorFlow.
_dtypes.BIT64_TO_BIT32_DTYPE["float64"] = "float64"

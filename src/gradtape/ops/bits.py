"""The bits of tensors read as another dtype or hashed: bitcast, fingerprint."""

import numpy as np

from ..core import dtypes
from ..core.convert import convert_to_tensor, operand
from ..core.dispatch import apply
from ..core.errors import invalid_argument
from ..core.exports import export
from ..core.op import Spec
from ..core.string_hash import fingerprint as hash_of
from ..core.tensor import EagerTensor
from .broadcasting import not_allowed
from .families import unregistered


def _infer(input, *, type):
    for dtype in (input.dtype, type):
        if dtype not in dtypes.NUMERIC:
            raise not_allowed("Bitcast", dtype)
    have, want = input.dtype.itemsize, type.itemsize
    if have == want:
        return Spec(input.shape, type)
    if have > want:
        return Spec((*input.shape, have // want), type)
    if not input.shape or input.shape[-1] != want // have:
        last = input.shape[-1] if input.shape else "no axis"
        raise invalid_argument(
            "Bitcast",
            f"Cannot bitcast from {of_name(input.dtype)} to {of_name(type)}: the last axis must "
            f"have length {want // have}. Received: {last}",
        )
    return Spec(input.shape[:-1], type)


def of_name(dtype):
    """TensorFlow's name of a NumPy dtype."""
    return dtypes.of_numpy(dtype).name


def _kernel(input, type):
    shape = _infer(input, type=type).shape
    whole = np.ascontiguousarray(input)
    if not whole.size:
        return np.zeros(shape, type)
    return whole.reshape(-1).view(type).reshape(shape)[() if not shape else ...]


bitcast_row = unregistered(
    "Bitcast",
    _kernel,
    inputs="input",
    infer=_infer,
    batch=lambda op, values, flags, attrs: op.call(values[0], **attrs),
)


@export("bitcast")
def bitcast(input, type, name=None):
    """The same bits, as numbers of another dtype.

    Args:
        input: the tensor.
        type: the dtype; of a smaller one there are several to an element, along a new last axis,
            and of a larger one the last axis must hold those that make up one element.

    Raises:
        InvalidArgumentError: the last axis does not hold that many.
    """
    attrs = {"type": dtypes.as_dtype(type).numpy_dtype}
    return apply(bitcast_row.op, (operand(input),), attrs)


@export("fingerprint")
def fingerprint(data, method="farmhash64", name=None):
    """Hashes of 64 bits, as 8 bytes, of what a tensor holds at each place of its first axis.

    Args:
        data: the tensor; of several strings at a place, their hashes are hashed.
        method: `"farmhash64"`.

    Raises:
        InvalidArgumentError: the tensor is a scalar, or there is no such method.
    """
    array = np.asarray(convert_to_tensor(data)._value)
    method = np.asarray(convert_to_tensor(method)._value).item().decode()
    if method != "farmhash64":
        raise invalid_argument("Fingerprint", f"Unsupported fingerprint method: {method}")
    if not array.ndim:
        raise invalid_argument("Fingerprint", "`data` should have at least one dimension: []")
    if array.dtype.kind != "O":
        rows = [row.tobytes() for row in array]
    elif array.ndim == 1:
        rows = array.tolist()
    else:
        rows = [b"".join([_hash_bytes(item) for item in row.flat]) for row in array]
    hashes = b"".join([_hash_bytes(row) for row in rows])
    return EagerTensor(np.frombuffer(hashes, np.uint8).reshape((len(rows), 8)))


def _hash_bytes(data):
    return int(hash_of(data)).to_bytes(8, "little")

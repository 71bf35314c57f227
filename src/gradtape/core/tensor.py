"""Tensor: an immutable value with an identity that recorders key on.

`ops.operators` installs the arithmetic and indexing methods, so that this file knows no op.
A tensor's value is an array or, at rank 0, a NumPy scalar: Python's operators work on scalars
several times faster than NumPy's functions do on arrays of rank 0.
"""

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from . import dtypes
from .active import thread
from .shapes import TensorShape

next_id = itertools.count(1).__next__

# Array attributes people try on tensors, and what to write instead.
_INSTEAD_OF_NUMPY = {
    "T": "tf.transpose(tensor)",
    "astype": "tf.cast(tensor, dtype)",
    "clip": "tf.clip_by_value(tensor, low, high)",
    "data": "tensor.numpy()",
    "item": "tensor.numpy()",
    "max": "tf.reduce_max(tensor)",
    "mean": "tf.reduce_mean(tensor)",
    "min": "tf.reduce_min(tensor)",
    "ravel": "tf.reshape(tensor, [-1])",
    "reshape": "tf.reshape(tensor, shape)",
    "size": "tf.size(tensor)",
    "sum": "tf.reduce_sum(tensor)",
    "tolist": "tensor.numpy().tolist()",
    "transpose": "tf.transpose(tensor)",
}

_DEVICE = "/job:localhost/replica:0/task:0/device:CPU:0"


class Reference:
    """A hashable stand-in for a tensor or variable, equal to others for the same object."""

    __slots__ = ("_referent",)

    def __init__(self, referent):
        self._referent = referent

    def deref(self):
        return self._referent

    def __hash__(self):
        return id(self._referent)

    def __eq__(self, other):
        if not isinstance(other, Reference):
            return NotImplemented
        return self._referent is other._referent

    def __repr__(self):
        return f"<Reference wrapping {self._referent!r}>"


def _undefined_in_eager(name):
    def missing(self):
        raise AttributeError(f"Tensor.{name} is undefined when eager execution is enabled.")

    return property(missing)


class Tensor:
    """A value of one dtype and shape; the common face of eager and batched tensors.

    `_value` always has the `.shape` and `.dtype` that inference and rules read; for an eager
    tensor it is the array itself.
    """

    __slots__ = ("__dict__", "__weakref__", "_id", "_value")

    # Above ndarray's, so that `array * tensor` becomes the tensor's reflected operator.
    __array_priority__ = 100
    _is_composite = False
    _is_sparse_update = False
    # How far dispatch must descend before values are plain arrays: 0 is eager.
    _dispatch_level = 0

    if TYPE_CHECKING:
        _id: int
        _value: Any

        def __add__(self, other: Any) -> "Tensor": ...
        def __radd__(self, other: Any) -> "Tensor": ...
        def __sub__(self, other: Any) -> "Tensor": ...
        def __rsub__(self, other: Any) -> "Tensor": ...
        def __mul__(self, other: Any) -> "Tensor": ...
        def __rmul__(self, other: Any) -> "Tensor": ...
        def __truediv__(self, other: Any) -> "Tensor": ...
        def __rtruediv__(self, other: Any) -> "Tensor": ...
        def __floordiv__(self, other: Any) -> "Tensor": ...
        def __mod__(self, other: Any) -> "Tensor": ...
        def __pow__(self, other: Any) -> "Tensor": ...
        def __rpow__(self, other: Any) -> "Tensor": ...
        def __matmul__(self, other: Any) -> "Tensor": ...
        def __rmatmul__(self, other: Any) -> "Tensor": ...
        def __neg__(self) -> "Tensor": ...
        def __abs__(self) -> "Tensor": ...
        def __invert__(self) -> "Tensor": ...
        def __and__(self, other: Any) -> "Tensor": ...
        def __or__(self, other: Any) -> "Tensor": ...
        def __xor__(self, other: Any) -> "Tensor": ...
        def __lt__(self, other: Any) -> "Tensor": ...
        def __le__(self, other: Any) -> "Tensor": ...
        def __gt__(self, other: Any) -> "Tensor": ...
        def __ge__(self, other: Any) -> "Tensor": ...
        def __getitem__(self, key: Any) -> "Tensor": ...
        def __iter__(self) -> Any: ...

    @property
    def shape(self):
        return TensorShape._from_tuple(self._value.shape)

    @property
    def dtype(self):
        return dtypes.of_numpy(self._value.dtype)

    def get_shape(self):
        return self.shape

    def set_shape(self, shape):
        """Checks that the shape agrees with `shape`; an eager tensor's is always fully known."""
        if not self.shape.is_compatible_with(shape):
            raise ValueError(
                f"Tensor's shape {self.shape} is not compatible with supplied shape "
                f"{TensorShape(shape)}."
            )

    @property
    def ndim(self):
        return len(self._value.shape)

    @property
    def device(self):
        return _DEVICE

    backing_device = device

    name = _undefined_in_eager("name")
    op = _undefined_in_eager("op")
    graph = _undefined_in_eager("graph")

    def ref(self):
        """A hashable reference, for use in sets and as a dictionary key."""
        return Reference(self)

    def __hash__(self):
        raise TypeError("Tensor is unhashable. Instead, use tensor.ref() as the key.")

    def __len__(self):
        shape = self._value.shape
        if not shape:
            raise TypeError("Scalar tensor has no `len()`")
        return shape[0]

    def _known(self):
        """The value as an array for use as a Python value; None if there is no single one."""
        return None

    def _here(self):
        """The tensor that stands for this one, where it comes from a trace that is closed."""
        return self

    def __copy__(self):
        return self

    def __setitem__(self, key, value):
        raise TypeError(f"'{_QUALIFIED_NAME}' object does not support item assignment")

    def __delitem__(self, key):
        raise TypeError(f"'{_QUALIFIED_NAME}' object doesn't support item deletion")

    def __getattr__(self, name):
        instead = _INSTEAD_OF_NUMPY.get(name)
        advice = f". A tensor is not a NumPy array: use {instead}." if instead else ""
        raise AttributeError(f"'{_QUALIFIED_NAME}' object has no attribute '{name}'{advice}")


class EagerTensor(Tensor):
    """A tensor whose value is at hand, as a NumPy array or scalar that nobody may change."""

    __slots__ = ()

    def __init__(self, value):
        self._value = value
        self._id = next_id()

    def _known(self):
        return self._value

    def numpy(self):
        """A copy of the value: an array, or at rank 0 a NumPy scalar (bytes for a string)."""
        if thread.recorders:
            _tell_of_departure(self)
        value = self._value
        return value[()] if value.ndim == 0 else value.copy()

    def __array__(self, dtype=None, copy=None):
        if thread.recorders:
            _tell_of_departure(self)
        value = np.asarray(self._value)
        if copy or (dtype is not None and dtype != value.dtype):
            if copy is False:
                raise ValueError(
                    f"A tensor of dtype {self.dtype.name} cannot be an array of dtype {dtype} "
                    "without a copy."
                )
            return value.astype(dtype or value.dtype)
        if value is self._value:
            # An alias can be made writeable again only while what it looks at is writeable.
            owner = value
            while isinstance(owner, np.ndarray):
                owner.flags.writeable = False
                owner = owner.base
            value = value.view()
        return value

    def __dlpack__(self, **options):
        # A consumer may write into what it is given, so it is given a copy.
        return np.array(self._value).__dlpack__(**options)

    def __dlpack_device__(self):
        return np.asarray(self._value).__dlpack_device__()

    def _item(self, kind):
        value = self._value
        if value.ndim:
            raise TypeError("only 0-dimensional arrays can be converted to Python scalars")
        return kind(value[()])

    def __bool__(self):
        value = self._value
        if value.size > 1:
            raise ValueError(
                "The truth value of an array with more than one element is ambiguous. "
                "Use a.any() or a.all()"
            )
        return bool(value.size) and bool(value.reshape(())[()])

    def __int__(self):
        return self._item(int)

    def __float__(self):
        return self._item(float)

    def __complex__(self):
        return self._item(complex)

    def __index__(self):
        value = self._value
        if value.ndim or value.dtype not in dtypes.INTEGER:
            raise TypeError("only integer scalar arrays can be converted to a scalar index")
        return int(value)

    def __format__(self, spec):
        return format(self.numpy(), spec)

    def __repr__(self):
        return (
            f"<tf.Tensor: shape={self._shape_text()}, dtype={self.dtype.name}, "
            f"numpy={value_repr(self._value)}>"
        )

    def __str__(self):
        value = self.numpy()
        text = str(value)
        if "\n" in text and self._value.ndim:
            text = "\n" + text
        return f"tf.Tensor({text}, shape={self._shape_text()}, dtype={self.dtype.name})"

    def _shape_text(self):
        return str(tuple(self._value.shape))

    def __deepcopy__(self, memo):
        return EagerTensor(self._value)

    def __reduce__(self):
        return _unpickle, (np.array(self._value),)


def _tell_of_departure(tensor):
    """Tells recorders that a tensor becomes a NumPy array, where they can follow it no more."""
    for recorder in thread.recorders:
        recorder.tensor_leaves(tensor)


def _unpickle(array):
    return EagerTensor(array[()] if array.ndim == 0 and array.dtype != object else array)


def value_repr(value):
    """How a tensor's or variable's repr shows its value: Python digits at rank 0."""
    if value.ndim == 0:
        return repr(float(value) if value.dtype == dtypes.bfloat16.numpy_dtype else value.item())
    text = repr(value)
    return "\n" + text if "\n" in text else text


# TensorFlow's own path, which its messages show.
_QUALIFIED_NAME = "tensorflow.python.framework.ops.EagerTensor"

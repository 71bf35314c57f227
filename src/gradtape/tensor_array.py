"""TensorArray: a list of tensors of one dtype, for loops that fill or read one at a time."""

from typing import Any

import numpy as np

from .core import dtypes
from .core.active import thread
from .core.convert import convert_to_tensor
from .core.errors import InvalidArgumentError, OutOfRangeError
from .core.exports import export
from .core.shapes import TensorShape
from .core.tensor import EagerTensor, Tensor
from .graph.structured import NotStructuredError
from .graph.structured_rows import in_body, outside_of_bodies, read_row
from .graph.symbolic import SymbolicTensor
from .ops.arguments import integer, integers
from .ops.broadcasting import words
from .ops.creation import zeros
from .ops.joining import concat, split, stack, unstack


class _Cleared:
    """Stands where a tensor was that has been read, and freed by that."""


_CLEARED = _Cleared()


@export("TensorArray")
class TensorArray:
    """A list of tensors, written and read by position; gradients pass through all its methods.

    Writing changes the array itself, which every method that writes also returns.

    Args:
        dtype: the dtype of all its tensors.
        size: how many it holds at first; required.
        dynamic_size: whether it grows when written behind its end.
        clear_after_read: whether a tensor can be read only once and is freed then; True unless
            said otherwise.
        tensor_array_name: accepted for compatibility.
        handle: must be None.
        flow: accepted for compatibility.
        infer_shape: whether all tensors must have the shape of the first written.
        element_shape: the shape all must have, of which sizes may be None.
        colocate_with_first_write_call: accepted for compatibility.

    Raises:
        ValueError: without a size.

    Example:
        >>> array = TensorArray("float32", size=2)
        >>> array.write(0, 1.0).write(1, 2.0).stack().numpy().tolist()
        [1.0, 2.0]
    """

    _is_composite = False

    def __init__(
        self,
        dtype,
        size=None,
        dynamic_size=None,
        clear_after_read=None,
        tensor_array_name=None,
        handle=None,
        flow=None,
        infer_shape=True,
        element_shape=None,
        colocate_with_first_write_call=True,
        name=None,
    ):
        if handle is not None:
            raise ValueError(f"TensorArray handles exist in graphs only. Received: {handle!r}")
        if size is None:
            raise ValueError(
                "Size must be declared for TensorArrays when eager execution is enabled."
            )
        self._dtype = dtypes.as_dtype(dtype)
        self._dynamic_size = bool(dynamic_size)
        self._clear_after_read = True if clear_after_read is None else bool(clear_after_read)
        self._infer_shape = infer_shape
        self._element_shape = TensorShape(element_shape)
        self._tensors = [None] * integer(size, "TensorArrayV3")
        self._home = thread.trace
        self._whole: Any = None  # all tensors as one, where that is at hand

    @property
    def _tensors(self) -> list:
        if self._rows is None:
            with outside_of_bodies(self._home):
                self._rows = unstack(self._whole)
        return self._rows

    @_tensors.setter
    def _tensors(self, tensors):
        self._rows: Any = tensors

    @property
    def _length(self):
        return self._whole._value.shape[0] if self._rows is None else len(self._rows)

    # Facts --------------------------------------------------------------------------------------

    @property
    def dtype(self):
        """The dtype of the tensors."""
        return self._dtype

    @property
    def dynamic_size(self):
        """Whether the array grows when written behind its end."""
        return self._dynamic_size

    @property
    def element_shape(self):
        """The shape of the tensors, as far as it is known."""
        return self._element_shape

    @property
    def flow(self):
        """A tensor without meaning; what happens first is what is called first."""
        return EagerTensor(np.int32(0))

    @property
    def handle(self):
        return None

    def size(self, name=None):
        """The number of tensors, as a scalar tensor."""
        return EagerTensor(np.int32(self._length))

    def __repr__(self):
        return (
            f"<tf.TensorArray: size={self._length}, dtype={self._dtype.name}, "
            f"element_shape={self._element_shape}>"
        )

    # One at a time ------------------------------------------------------------------------------

    def read(self, index, name=None):
        """The tensor at a position; zeros if none was written there.

        Raises:
            OutOfRangeError: there is no such position.
            InvalidArgumentError: it was read before, and the array clears what is read.
        """
        if type(index) is SymbolicTensor and self._is_outside:
            return read_row(self._all_as_one(), index)
        index = integer(index, "TensorArrayReadV3")
        if index < 0:
            raise _out_of_range(f"Reading from negative indices (index {index}) is not allowed.")
        if index >= self._length:
            raise _out_of_range(
                f"Tried to read from index {index} but array size is: {self._length} "
            )
        tensor = self._tensor(index)
        if tensor is _CLEARED:
            raise _invalid(
                f"Could not read index {index} twice because it was cleared after a previous read "
                "(perhaps try setting clear_after_read = false?)"
            )
        # A body is traced once and runs often: nothing outside of it changes.
        if self._clear_after_read and not self._is_outside:
            self._tensors[index] = _CLEARED
            self._whole = None
        return tensor

    @property
    def _is_outside(self):
        """Whether this is the array of a function in which the body of a loop is being traced."""
        return thread.trace is not None and thread.trace is not self._home and in_body()

    def _check_can_change(self):
        if self._is_outside:
            raise NotStructuredError

    def _all_as_one(self):
        """All tensors joined along a new first axis; zeros stand for those cleared or not written.

        Raises:
            NotStructuredError: there are none, or their shapes differ.
        """
        if self._whole is None:
            known = self._element_shape
            if not self._length or not known.is_fully_defined():
                raise NotStructuredError
            with outside_of_bodies(self._home):
                self._whole = stack([
                    zeros(known, self._dtype) if x is None or x is _CLEARED else x
                    for x in self._tensors
                ])  # fmt: skip
        return self._whole

    def _learn_shape(self, other):
        """Has the shape that the tensors of another array turned out to have."""
        if self._infer_shape:
            self._element_shape = self._element_shape.merge_with(other._element_shape)

    def _become(self, whole):
        """Has the rows of a tensor for its tensors; they are taken apart when that is needed."""
        self._tensors = None
        self._whole = whole
        self._element_shape = whole.shape[1:]

    def write(self, index, value, name=None):
        """Puts a tensor at a position; returns the array.

        Raises:
            OutOfRangeError: there is no such position, and the array does not grow.
            InvalidArgumentError: the dtype is another than the array's.
            ValueError: the shape does not agree.
        """
        self._put(integer(index, "TensorArrayWriteV3"), value)
        return self

    def _put(self, index, value):
        size = self._length
        if index < 0:
            raise _out_of_range(f"Writing to negative indices (index {index}) is not allowed.")
        if index >= size and not self._dynamic_size:
            raise _out_of_range(
                f"Tried to write to index {index} but array is not resizeable and size is: {size} "
            )
        self._check_can_change()
        tensor = self._checked(value)
        if index >= size:
            self._tensors += [None] * (index + 1 - size)
        self._tensors[index] = tensor
        self._whole = None

    def _checked(self, value):
        """The value as a tensor that may be written here."""
        if isinstance(value, Tensor):
            tensor = value
        else:
            tensor = convert_to_tensor(value, dtype_hint=self._dtype)
        self._check_dtype(tensor)
        shape = tensor.shape
        if not self._element_shape.is_compatible_with(shape):
            raise ValueError(
                f"Incompatible shape for value ({shape}), expected ({self._element_shape})"
            )
        if self._infer_shape:
            self._element_shape = self._element_shape.merge_with(shape)
        return tensor

    def _check_dtype(self, tensor):
        if tensor.dtype is not self._dtype:
            raise _invalid(
                f"TensorArray dtype is {self._dtype.name} but Op is trying to write dtype "
                f"{tensor.dtype.name} "
            )

    def _tensor(self, index):
        """What is at a position, where nothing was written zeros."""
        tensor = self._tensors[index]
        if tensor is None:
            tensor = self._tensors[index] = zeros(self._element_shape, self._dtype)
        return tensor

    # All at once --------------------------------------------------------------------------------

    def stack(self, name=None):
        """All tensors, joined along a new first axis; zeros stand for those cleared or not written.

        Raises:
            InvalidArgumentError: their shapes differ.
            ValueError: some were not written, and the shape of the others does not say theirs.
        """
        if self._whole is not None:
            return self._whole
        return self._joined(range(self._length))

    def gather(self, indices, name=None):
        """The tensors at some positions, joined along a new first axis.

        Raises:
            OutOfRangeError: there is no such position.
        """
        size = self._length
        places = integers(indices, "TensorArrayGatherV3", "dtype").tolist()
        if not isinstance(places, list):
            raise TypeError(f"TensorArray.gather takes a list of indices. Received: {indices!r}")
        for index in places:
            if not 0 <= index < size:
                raise _out_of_range(f"Tried to read from index {index} but array size is: {size} ")
        return self._joined(places)

    def _joined(self, places):
        parts = self._readable(places)
        if parts:
            return stack(parts)
        known = self._element_shape
        inner = tuple(known) if known.is_fully_defined() else ()
        return zeros((0, *inner), self._dtype)

    def _readable(self, places):
        for index in places:
            if self._tensors[index] is _CLEARED:  # as if never written, unlike in `read`
                self._tensors[index] = None
        return [self._tensor(index) for index in places]

    def concat(self, name=None):
        """All tensors, joined along their first axis.

        Raises:
            InvalidArgumentError: they are scalars, or differ in another axis.
        """
        parts = self._readable(range(self._length))
        for index, part in enumerate(parts):
            if not part.ndim:
                raise _invalid(
                    f"Concat saw a scalar shape at index {index} but requires at least vectors."
                )
        return concat(parts, 0) if parts else zeros((0,), self._dtype)

    def unstack(self, value, name=None):
        """Writes the parts a tensor has along its first axis; returns the array.

        Raises:
            ValueError: there are more than the array holds, and it does not grow.
        """
        value = convert_to_tensor(value, dtype_hint=self._dtype)
        parts = unstack(value)
        size = self._length
        if len(parts) > size and not self._dynamic_size:
            raise ValueError(
                f"Cannot unstack {len(parts)} tensors into a TensorArray of static size {size} "
            )
        self._check_can_change()
        self._tensors = [self._checked(part) for part in parts]
        self._whole = value if thread.trace is not None and parts else None
        return self

    def scatter(self, indices, value, name=None):
        """Writes the parts a tensor has along its first axis to some positions; see `write`."""
        places = integers(indices, "TensorArrayScatterV3", "dtype").reshape(-1).tolist()
        parts = unstack(convert_to_tensor(value, dtype_hint=self._dtype))
        if len(parts) != len(places):
            raise _invalid(
                f"Expected one index for each part of value. Received: {len(places)} indices for "
                f"{len(parts)} parts"
            )
        for index, part in zip(places, parts, strict=True):
            self._put(index, part)
        return self

    def split(self, value, lengths, name=None):
        """Writes parts of given lengths of a tensor's first axis; returns the array.

        Raises:
            InvalidArgumentError: the lengths do not add up, or are more than the array holds.
        """
        value = convert_to_tensor(value, dtype_hint=self._dtype)
        sizes = integers(lengths, "TensorArraySplitV3", "dtype")
        if not value.ndim:
            raise _invalid(
                f"Expected value to be at least a vector, but received shape: {words(value.shape)} "
            )
        if sizes.ndim != 1:
            raise _invalid(f"Expected lengths to be a vector, received shape: {list(sizes.shape)} ")
        if sizes.sum() != value.shape[0] or (sizes < 0).any():
            raise _invalid(
                "Expected sum of lengths to be equal to values.shape[0], but sum of lengths is "
                f"{sizes.sum()} and value's shape is: {list(value.shape)} "
            )
        count = self._length
        if len(sizes) > count and not self._dynamic_size:
            raise _invalid(
                "TensorArray's size is not equal to the size of lengths "
                f"({count} vs. {len(sizes)}), and the TensorArray is not marked as dynamically "
                "resizeable."
            )
        self._check_can_change()
        self._check_dtype(value)
        self._whole = None
        self._tensors = split(value, sizes.tolist()) if len(sizes) else []
        return self

    def grad(self, source, flow=None, name=None):
        raise NotImplementedError(
            "TensorArray.grad is not supported when executing eagerly; eager's gradient "
            "implementation does not use/need this function to compute gradients of operations "
            "that use TensorArrays."
        )

    def identity(self):
        """The array itself."""
        return self

    def close(self, name=None):
        """Frees all tensors."""
        self._check_can_change()
        self._tensors = []
        self._whole = None


@export("TensorArraySpec")
class TensorArraySpec:
    """Describes TensorArrays: the shape and dtype of their tensors, and how they behave."""

    value_type = TensorArray

    def __init__(
        self, element_shape=None, dtype=dtypes.float32, dynamic_size=False, infer_shape=True
    ):
        self._element_shape = TensorShape(element_shape)
        self._dtype = dtypes.as_dtype(dtype)
        self._dynamic_size = dynamic_size
        self._infer_shape = infer_shape

    @classmethod
    def from_value(cls, value):
        """The spec that describes a TensorArray.

        Raises:
            TypeError: it is not one.
        """
        if not isinstance(value, TensorArray):
            raise TypeError(f"Expected value to be a TensorArray, but got: `{type(value)}`")
        return cls(value.element_shape, value.dtype, value.dynamic_size, value._infer_shape)

    def is_compatible_with(self, other):
        """Whether a TensorArray, or that which a spec describes, may be what this describes."""
        if isinstance(other, TensorArray):
            other = TensorArraySpec.from_value(other)
        return (
            isinstance(other, TensorArraySpec)
            and self._dtype is other._dtype
            and self._dynamic_size == other._dynamic_size
            and self._element_shape.is_compatible_with(other._element_shape)
        )

    def _facts(self):
        return self._element_shape, self._dtype, self._dynamic_size, self._infer_shape

    def __eq__(self, other):
        return isinstance(other, TensorArraySpec) and repr(self) == repr(other)

    def __hash__(self):
        return hash(repr(self))

    def __repr__(self):
        return f"TensorArraySpec({', '.join([repr(fact) for fact in self._facts()])})"


def _out_of_range(message):
    return OutOfRangeError(None, None, message)


def _invalid(message):
    return InvalidArgumentError(None, None, message)

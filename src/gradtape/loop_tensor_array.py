"""LoopTensorArray: a TensorArray inside the body of a traced loop."""

from .core.convert import convert_to_tensor
from .graph.structured import NotStructuredError
from .graph.structured_rows import read_row, write_row
from .tensor_array import TensorArray


class LoopTensorArray(TensorArray):
    """A TensorArray while the body of a loop is traced that carries it: one tensor, row by row.

    What is read is not cleared, as it is not in TensorFlow's graphs.

    Args:
        array: the TensorArray.
        whole: the tensor for its elements; None to find out by a rehearsal what their shape is.
    """

    def __init__(self, array, whole):
        size = array._length
        super().__init__(
            array._dtype, size, clear_after_read=array._clear_after_read,
            infer_shape=array._infer_shape, element_shape=array._element_shape,
        )  # fmt: skip
        self.origin = array
        self.whole = whole
        if whole is not None:
            self._element_shape = whole.shape[1:]

    def _all_as_one(self):
        if self.whole is None:
            raise NotStructuredError
        return self.whole

    def _become(self, whole):
        self.whole = whole

    def read(self, index, name=None):
        return read_row(self._all_as_one(), convert_to_tensor(index))

    def write(self, index, value, name=None):
        row = self._checked(value)
        if self.whole is not None:
            self.whole = write_row(self.whole, convert_to_tensor(index), row)
        return self

    def stack(self, name=None):
        return self._all_as_one()

    def gather(self, indices, name=None):
        return read_row(self._all_as_one(), convert_to_tensor(indices))

    def unstack(self, value, name=None):
        value = convert_to_tensor(value, dtype_hint=self._dtype)
        if value._value.shape[:1] != (self._length,):
            raise NotStructuredError
        self._checked(value[0])
        self.whole = value
        return self

    def _refuse(self, *arguments, **options):
        raise NotStructuredError

    concat = scatter = split = close = _refuse  # pyright: ignore[reportAssignmentType]

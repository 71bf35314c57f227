"""The handle of a variable: the tensor it holds, known to tapes by one id at every time."""

import sys
import threading

import numpy as np

from .tensor import EagerTensor, next_id


class VariableHandle:
    """What variables share with their copies: the value, and the identity that tapes know.

    `tensor._id` is `id` at every time: to a tape all reads of a variable are one source. `lock` is
    held by a function that reads and writes the variable.
    """

    __slots__ = ("id", "lock", "shape", "tensor")

    def __init__(self, value, shape):
        self.id = next_id()
        self.lock = threading.RLock()
        self.shape = shape
        self.set_value(value)

    def set_value(self, value):
        tensor = EagerTensor(value)
        tensor._id = self.id
        self.tensor = tensor

    def own_array(self):
        """The array if nobody else can see it, else None."""
        tensor = self.tensor
        array = tensor._value
        if type(array) is not np.ndarray or array.base is not None or not array.flags.writeable:
            return None
        # Besides the handle and the tensor, only this frame and getrefcount itself hold them.
        alone = sys.getrefcount(tensor) == 3 and sys.getrefcount(array) == 3
        return array if alone else None

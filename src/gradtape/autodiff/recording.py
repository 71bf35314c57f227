"""What a tape has recorded: the ops that were applied, and what it follows."""

from ..core import dtypes
from ..core.op import Recorder
from .departures import note_departure


class Recording(Recorder):
    """What one tape has recorded.

    A record is `(op, attrs, saved, input ids, output id or ids)`; `saved` holds what the op's
    adjoint reads and nothing else.

    `departures` says of tensors that were followed where their values were taken as NumPy arrays,
    and so where a path ends: from tensor ids to `"file:line"`.
    """

    is_tape = True
    __slots__ = (
        "append",
        "broken",
        "departures",
        "has_bfloat16",
        "has_complex",
        "is_persistent",
        "is_stopped",
        "nan_safe",
        "records",
        "tracked",
        "variables",
        "watches_variables",
    )

    def __init__(self, watches_variables, nan_safe=False, is_persistent=False):
        self.records = []
        self.append = self.records.append
        self.tracked = set()
        self.variables = {}
        self.watches_variables = watches_variables
        self.nan_safe = nan_safe
        self.is_persistent = is_persistent
        self.is_stopped = False
        self.broken = False
        self.has_complex = False
        self.has_bfloat16 = False
        self.departures = {}

    def tensor_leaves(self, tensor):
        if tensor._id in self.tracked:
            note_departure(self.departures, tensor)

    def tracks(self, ids):
        return not self.tracked.isdisjoint(ids)

    def note_dtype(self, tensor):
        """Remembers dtypes that need more than plain kernels.

        Rules for complex numbers need conjugates; bfloat16 is not NumPy's own, and beside Python
        numbers it would turn into float32.
        """
        kind = tensor._value.dtype.kind
        if kind == "c":
            self.has_complex = True
        elif kind == "V":
            self.has_bfloat16 = True

    def watch_tensor(self, tensor):
        self.tracked.add(tensor._id)
        self.note_dtype(tensor)

    def variable_read(self, variable):
        """A variable is read or written: trainable ones are watched by themselves."""
        unknown = self.watches_variables and variable._handle.id not in self.variables
        if unknown and variable.trainable:
            self.watch_variable(variable)

    def watch_accessed(self, variables, ids, kinds):
        """What `variable_read` of many variables does, at once.

        Args:
            variables: the trainable ones, by id.
            ids: the ids of those that can be differentiated.
            kinds: the kinds of their dtypes.
        """
        if self.watches_variables:
            self.variables.update(variables)
            self.tracked.update(ids)
            self.has_complex = self.has_complex or "c" in kinds
            self.has_bfloat16 = self.has_bfloat16 or "V" in kinds

    def watch_variable(self, variable):
        handle = variable._handle
        self.variables.setdefault(handle.id, variable._original)
        if handle.tensor._value.dtype in dtypes.DIFFERENTIABLE:
            self.watch_tensor(handle.tensor)

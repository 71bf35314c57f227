"""Users' functions as functions of flat arguments; and leaves as the tensors these consist of."""

from typing import Any

from ..core import nest
from ..core.containers import is_composite
from ..core.ragged_tensor import RaggedTensor
from ..core.sparse_tensor import SparseTensor
from ..core.spec import TensorSpec
from ..core.tensor import EagerTensor
from .dataset import Dataset
from .elements import arguments, as_values, leaf_specs, packer, structure_leaves, unchanged

NOTHING = object()
_DENSE = object()


class FlatCall:
    """A user's function as one of flat arguments and flat results.

    Attributes:
        what: what it is passed to.
        result: what it returned last.
    """

    def __init__(self, function, takes, what):
        self._function = function
        self._takes = takes
        self.what = what
        self.__name__ = getattr(function, "__name__", type(function).__name__)
        self.result = NOTHING
        self._description: Any = None
        self._packers: Any = None

    def __call__(self, values):
        if self._packers is None:
            specs = [take() for take in self._takes]
            self._packers = [(len(leaf_specs(spec)), packer(spec, unchanged)) for spec in specs]
        args, start = [], 0
        for count, pack in self._packers:
            args += arguments(pack(values[start : start + count]))
            start += count
        result = self._function(*args)
        if isinstance(result, list):
            result = tuple(result)
        self.result = result
        leaves = [result] if isinstance(result, Dataset) else structure_leaves(result)
        try:
            if not any([isinstance(leaf, Dataset) for leaf in leaves]):
                return self._described(result)
            # What the elements of a dataset look like may be a matter of running it.
            self._description = None
            parts = [[x] if isinstance(x, Dataset) else as_values(x)[1] for x in leaves]
            return [value for part in parts for value in part]
        except (TypeError, ValueError) as error:
            raise TypeError(
                f"Unsupported return value from function passed to {self.what}: {result}."
            ) from error

    def _described(self, result):
        """The values of a result, of which a description is kept."""
        spec, values = as_values(result)
        counts = [
            0 if value is None else len(nest.flatten(value, expand_composites=True))
            for value in values
        ]
        self._description = spec, counts
        return values

    def describe(self) -> Any:
        """Of what it returned last the spec, and how many tensors each leaf consists of."""
        if self._description is None:
            self._described(self.result)
        return self._description


def key_of(leaf):
    """What tells leaves apart that need graphs of their own: the shapes of their tensors."""
    if not is_composite(leaf):
        return None if leaf is None else leaf.shape
    return type(leaf), *[part._value.shape for part in nest.flatten(leaf, expand_composites=True)]


def is_traceable(leaf):
    """Whether a leaf consists of tensors."""
    return not is_composite(leaf) or isinstance(leaf, (RaggedTensor, SparseTensor))


def is_traceable_spec(spec):
    """Whether a spec describes leaves that consist of tensors."""
    return isinstance(spec, TensorSpec) or spec.value_type in (
        RaggedTensor,
        SparseTensor,
        type(None),
    )


def tensors_of(leaves):
    """The tensors that leaves consist of."""
    found = []
    for leaf in leaves:
        if is_composite(leaf):
            found += nest.flatten(leaf, expand_composites=True)
        elif leaf is not None:
            found.append(EagerTensor(leaf))
    return found


def outline_of(leaves):
    """The leaves without the values of those that are dense."""
    return [leaf if leaf is None or is_composite(leaf) else _DENSE for leaf in leaves]


def rebuilt(outline, tensors):
    """Values of the arguments from their tensors; `outline` has those that are not dense."""
    remaining, values = iter(tensors), []
    for item in outline:
        if item is _DENSE:
            item = next(remaining)
        elif item is not None:
            count = len(nest.flatten(item, expand_composites=True))
            parts = [next(remaining) for _ in range(count)]
            item = nest.pack_sequence_as(item, parts, expand_composites=True)
        values.append(item)
    return values

"""RaggedTensorSpec: what is known of ragged tensors that are not at hand."""

from . import dtypes
from .ragged_tensor import RaggedTensor
from .shapes import as_shape
from .tensor import Tensor


class RaggedTensorSpec:
    """Describes ragged tensors: shape, dtype, number of ragged axes and dtype of row splits."""

    __slots__ = ("_dtype", "_ragged_rank", "_row_splits_dtype", "_shape")

    def __init__(
        self, shape=None, dtype=dtypes.float32, ragged_rank=None, row_splits_dtype=dtypes.int64,
        flat_values_spec=None,
    ):  # fmt: skip
        self._shape = as_shape(shape)
        self._dtype = dtypes.as_dtype(dtype if flat_values_spec is None else flat_values_spec.dtype)
        self._row_splits_dtype = dtypes.as_dtype(row_splits_dtype)
        rank = self._shape.rank
        if ragged_rank is None:
            if rank is None:
                raise ValueError("Must specify ragged_rank or a shape with a known rank.")
            ragged_rank = rank - 1
        if rank is not None and ragged_rank >= max(rank, 1):
            raise ValueError(
                f"Argument `ragged_rank` ({ragged_rank}) must be less than rank ({rank})."
            )
        self._ragged_rank = ragged_rank

    @classmethod
    def from_value(cls, value):
        """The spec that describes `value` exactly."""
        splits = dtypes.of_numpy(value._splits.dtype)
        return cls(value.shape, value.dtype, value.ragged_rank, splits)

    @property
    def shape(self):
        return self._shape

    @property
    def dtype(self):
        return self._dtype

    @property
    def ragged_rank(self):
        return self._ragged_rank

    @property
    def row_splits_dtype(self):
        return self._row_splits_dtype

    @property
    def value_type(self):
        """The class of the values this spec describes."""
        return RaggedTensor if self._ragged_rank > 0 else Tensor

    def is_compatible_with(self, spec_or_value):
        """Whether a ragged tensor, or some of another spec, is described by this one."""
        other = spec_or_value
        if isinstance(other, RaggedTensor):
            other = RaggedTensorSpec.from_value(other)
        return (
            isinstance(other, RaggedTensorSpec)
            and self._key()[1:] == other._key()[1:]
            and self._shape.is_compatible_with(other._shape)
        )

    def most_specific_common_supertype(self, others):
        """The narrowest spec that covers this one and all `others`, or None if there is none."""
        shape = self._shape
        for other in others:
            if not isinstance(other, RaggedTensorSpec) or other._key()[1:] != self._key()[1:]:
                return None
            shape = shape.most_specific_compatible_shape(other._shape)
        return RaggedTensorSpec(shape, *self._key()[1:])

    def _key(self):
        return self._shape, self._dtype, self._ragged_rank, self._row_splits_dtype

    def __eq__(self, other):
        if not isinstance(other, RaggedTensorSpec):
            return NotImplemented
        return self._key() == other._key()

    def __hash__(self):
        return hash(self._key())

    def __reduce__(self):
        return RaggedTensorSpec, self._key()

    def __repr__(self):
        return (
            f"RaggedTensorSpec({self._shape!r}, {self._dtype!r}, {self._ragged_rank}, "
            f"{self._row_splits_dtype!r})"
        )

"""TensorShape: a tensor's shape, of which single dimensions or even the rank may be unknown."""

import math
import operator
from typing import Any

# A shape as stored: a size or None (unknown) per axis, or None when not even the rank is known.
_Dims = tuple[Any, ...] | None


class TensorShape:
    """The sizes of a tensor's axes; `None` stands for an unknown size, or for an unknown rank.

    Args:
        dims: An iterable of sizes (integers or None), one integer, another shape, or None.

    Raises:
        TypeError: A size is neither an integer nor None.
        ValueError: A size is negative.

    Example:
        >>> TensorShape([None, 3]).merge_with([2, None])
        TensorShape([2, 3])
    """

    __slots__ = ("_dims",)
    _dims: _Dims

    def __init__(self, dims):
        if dims is None:
            self._dims = None
        elif isinstance(dims, TensorShape):
            self._dims = dims._dims
        elif isinstance(dims, (list, tuple)):
            self._dims = tuple([_as_dimension(size) for size in dims])
        else:
            self._dims = _dims_from_object(dims)

    @staticmethod
    def _from_tuple(dims: _Dims) -> "TensorShape":
        """A shape around sizes already known to be valid, e.g. those of a NumPy array."""
        shape = _new(TensorShape)
        shape._dims = dims
        return shape

    # What is known

    @property
    def rank(self):
        """The number of axes, or None if unknown."""
        return None if self._dims is None else len(self._dims)

    @property
    def ndims(self):
        """The same as `rank`."""
        return self.rank

    @property
    def dims(self):
        """The sizes as a list of integers and None, or None if the rank is unknown."""
        return None if self._dims is None else list(self._dims)

    def as_list(self):
        """The sizes as a list; a ValueError if the rank is unknown."""
        if self._dims is None:
            raise ValueError("as_list() is not defined on an unknown TensorShape.")
        return list(self._dims)

    def is_fully_defined(self):
        return self._dims is not None and None not in self._dims

    def num_elements(self):
        """The product of all sizes, or None if one of them is unknown."""
        if self._dims is None or None in self._dims:
            return None
        return math.prod(self._dims)

    # Relations between shapes

    def is_compatible_with(self, other):
        """Whether one concrete shape could match both `self` and `other`."""
        other = as_shape(other)
        if self._dims is None or other._dims is None:
            return True
        return len(self._dims) == len(other._dims) and all(
            a is None or b is None or a == b for a, b in zip(self._dims, other._dims, strict=True)
        )

    def is_subtype_of(self, other):
        """Whether every concrete shape that matches `self` also matches the shape `other`."""
        if not isinstance(other, TensorShape):
            return False
        if other._dims is None:
            return True
        return (
            self._dims is not None
            and len(self._dims) == len(other._dims)
            and all(b is None or a == b for a, b in zip(self._dims, other._dims, strict=True))
        )

    def merge_with(self, other):
        """The shape that knows everything `self` or `other` knows."""
        other = as_shape(other)
        if self._dims is None:
            return other
        if other._dims is None:
            return self
        if not self.is_compatible_with(other):
            raise ValueError(f"Shapes {self} and {other} are not compatible")
        pairs = zip(self._dims, other._dims, strict=True)
        return _from_tuple(tuple([b if a is None else a for a, b in pairs]))

    def most_specific_compatible_shape(self, other):
        """The shape that knows only what `self` and `other` agree on."""
        other = as_shape(other)
        if self._dims is None or other._dims is None or len(self._dims) != len(other._dims):
            return _from_tuple(None)
        pairs = zip(self._dims, other._dims, strict=True)
        return _from_tuple(tuple([a if a == b else None for a, b in pairs]))

    def most_specific_common_supertype(self, others):
        """What `self` and all `others` agree on; None if one of them is not a TensorShape."""
        common = self
        for other in others:
            if not isinstance(other, TensorShape):
                return None
            common = common.most_specific_compatible_shape(other)
        return common

    def concatenate(self, other):
        """The axes of `self` followed by those of `other`; unknown if either rank is unknown."""
        other = as_shape(other)
        if self._dims is None or other._dims is None:
            return _from_tuple(None)
        return _from_tuple(self._dims + other._dims)

    def with_rank(self, rank):
        """This shape, known to have `rank` axes."""
        if rank is None:
            return self
        if self._dims is None:
            return _from_tuple((None,) * rank)
        self.assert_has_rank(rank)
        return self

    def with_rank_at_least(self, rank):
        if self._dims is not None and len(self._dims) < rank:
            raise ValueError(f"Shape {self} must have rank at least {rank}")
        return self

    def with_rank_at_most(self, rank):
        if self._dims is not None and len(self._dims) > rank:
            raise ValueError(f"Shape {self} must have rank at most {rank}")
        return self

    # Checks

    def assert_has_rank(self, rank):
        if self._dims is not None and len(self._dims) != rank:
            raise ValueError(f"Shape {self} must have rank {rank}")

    def assert_same_rank(self, other):
        other = as_shape(other)
        if None not in (self.rank, other.rank) and self.rank != other.rank:
            raise ValueError(f"Shapes {self} and {other} must have the same rank")

    def assert_is_fully_defined(self):
        if not self.is_fully_defined():
            raise ValueError(f"Shape {self} is not fully defined")

    def assert_is_compatible_with(self, other):
        if not self.is_compatible_with(other):
            raise ValueError(f"Shapes {self} and {other!s} are incompatible")

    # Sequence behaviour

    def __len__(self):
        if self._dims is None:
            raise ValueError("Cannot take the length of shape with unknown rank.")
        return len(self._dims)

    def __iter__(self):
        if self._dims is None:
            raise ValueError("Cannot iterate over a shape with unknown rank.")
        return iter(self._dims)

    def __bool__(self):
        """Whether the rank is known: a scalar's shape is true, unlike an empty tuple."""
        return self._dims is not None

    def __getitem__(self, key):
        if self._dims is None:
            return self._item_of_unknown_rank(key)
        item = self._dims[key]
        return _from_tuple(item) if isinstance(item, tuple) else item

    def _item_of_unknown_rank(self, key):
        if not isinstance(key, slice):
            operator.index(key)
            return None
        if key.step is not None:
            raise ValueError(
                f"A shape of unknown rank cannot be sliced with a step. Received: {key}"
            )
        start = 0 if key.start is None else key.start
        # Only a slice counted from the front has a length that does not depend on the rank.
        if key.stop is None or start < 0 or key.stop < 0:
            return _from_tuple(None)
        return _from_tuple((None,) * (key.stop - start))

    def __add__(self, other):
        return self.concatenate(other)

    def __radd__(self, other):
        return as_shape(other).concatenate(self)

    # Identity and text

    def __eq__(self, other):
        if other.__class__ is not TensorShape:
            try:
                other = TensorShape(other)
            except (TypeError, ValueError):
                return NotImplemented
        return self._dims == other._dims

    def __hash__(self):
        return hash(self._dims)

    def __reduce__(self):
        return TensorShape, (self.dims,)

    def __repr__(self):
        return f"TensorShape({self.dims})"

    def __str__(self):
        return "<unknown>" if self._dims is None else str(self._dims)


# Bound once: every access of `tensor.shape` makes a shape.
_new = object.__new__
_from_tuple = TensorShape._from_tuple


def as_shape(shape) -> TensorShape:
    """`shape` itself if it is a TensorShape, otherwise one made from it."""
    return shape if isinstance(shape, TensorShape) else TensorShape(shape)


def _as_dimension(value) -> int | None:
    if value is None:
        return None
    try:
        size = int(operator.index(value))
    except TypeError:
        raise TypeError(
            "Dimension value must be integer or None or have an __index__ method, got value "
            f"'{value!r}' with type '{type(value)!r}'"
        ) from None
    if size < 0:
        raise ValueError(f"Dimension {size} must be >= 0")
    return size


def _dims_from_object(value) -> _Dims:
    """Sizes from anything iterable (arrays, tensors, ranges) or from a single size."""
    try:
        sizes = list(value)
    except TypeError:
        return (_as_dimension(value),)
    dims = []
    for size in sizes:
        try:
            dims.append(_as_dimension(size))
        except TypeError:
            raise TypeError(
                f"Failed to convert '{value!r}' to a shape: '{size!r}' could not be converted to "
                "a dimension. A shape should either be single dimension (e.g. 10), or an iterable "
                "of dimensions (e.g. [1, 10, None])."
            ) from None
    return tuple(dims)

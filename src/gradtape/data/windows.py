"""Datasets of consecutive elements as elements: window."""

from .arguments import wrong_number
from .batches import flag
from .dataset import Dataset, VariantDataset, method
from .elements import leaf_specs, with_leaf_specs
from .selection import number
from .specs import DatasetSpec


class Kept(Dataset):
    """A dataset of elements that are there already, as tuples of leaves."""

    def __init__(self, elements):
        super().__init__()
        self._kept = elements

    def _elements(self):
        return iter(self._kept)

    def _count(self):
        return len(self._kept)


def example_dataset(element_spec, example_leaf):
    """A dataset of one element, whose leaves `example_leaf` makes of their specs."""
    leaves = tuple([example_leaf(spec) for spec in leaf_specs(element_spec)])
    return VariantDataset(Kept([leaves]), element_spec)


class WindowDataset(Dataset):
    def __init__(self, source, size, shift, stride, drop_remainder):
        super().__init__(source)
        self._input = source
        self._size, self._shift, self._stride = size, shift, stride
        self._drops = drop_remainder

    @property
    def element_spec(self):
        spec = self._input.element_spec
        return with_leaf_specs(spec, [DatasetSpec(leaf) for leaf in leaf_specs(spec)])

    def _elements(self):
        return _Windows(self._input, self._size, self._shift, self._stride, self._drops)

    def _count(self):
        count = self._input._count()
        if count < 0:
            return count
        if self._drops:
            rest = count - _span(self._size, self._stride)
            return 0 if rest < 0 else rest // self._shift + 1
        return -(-count // self._shift)


def _span(size, stride):
    """How many elements there are from the first one of a window to its last."""
    return (size - 1) * stride + 1


class _Windows:
    """Keeps the elements of the next window, and the errors of those that failed."""

    def __init__(self, source, size, shift, stride, drops):
        self._source = source
        self._elements = source._elements()
        self._shift, self._stride, self._drops = shift, stride, drops
        self._span = _span(size, stride)
        self._buffer = []
        self._is_at_end = False
        self._specs = None

    def __iter__(self):
        return self

    def __next__(self):
        while not self._is_at_end and len(self._buffer) < self._span:
            self._pull()
        buffer = self._buffer
        if not buffer or (self._drops and len(buffer) < self._span):
            raise StopIteration
        window = buffer[:: self._stride]
        for _ in range(self._shift - len(buffer)):
            if self._is_at_end:
                break
            self._pull()
        del buffer[: self._shift]
        for element in window:
            if isinstance(element, Exception):
                raise element
        if self._specs is None:
            self._specs = leaf_specs(self._source.element_spec)
        columns = zip(self._specs, zip(*window, strict=True), strict=True)
        return tuple([VariantDataset(Kept(list(zip(leaves))), spec) for spec, leaves in columns])

    def _pull(self):
        try:
            self._buffer.append(next(self._elements))
        except StopIteration:
            self._is_at_end = True
        except Exception as error:  # it is that of the windows the element belongs to
            self._buffer.append(error)


@method
def window(self, size, shift=None, stride=1, drop_remainder=False, name=None):
    """Makes datasets of consecutive elements: each element is one, or a structure of such.

    Args:
        size: how many elements a window has.
        shift: how many elements further the next window starts; `size` by default.
        stride: how many elements further the next element of a window is.
        drop_remainder: whether to leave out last windows that are smaller than the others.

    Raises:
        InvalidArgumentError: one of the numbers is less than 1.

    Example:
        >>> windows = Dataset.range(5).window(3, shift=1, drop_remainder=True)
        >>> [[int(x) for x in window] for window in windows]
        [[0, 1, 2], [1, 2, 3], [2, 3, 4]]
    """
    return WindowDataset(
        self,
        _positive(size, "size"),
        _positive(size if shift is None else shift, "shift"),
        _positive(stride, "stride"),
        flag(drop_remainder),
    )


def _positive(value, what):
    found = number(value, what, "WindowDataset")
    if found <= 0:
        raise wrong_number("WindowDataset", f"Window {what} must be greater than zero.")
    return found

"""Datasets that deal with what is wrong: ignore_errors, assert_cardinality."""

from ..core import log
from ..core.errors import FailedPreconditionError
from ..core.exports import export
from .arguments import whole_number
from .dataset import INFINITE, UNKNOWN, SameElements, method


class IgnoreErrorsDataset(SameElements):
    def __init__(self, source, log_warning):
        super().__init__(source)
        self._warns = log_warning

    def _elements(self):
        return _WithoutErrors(self._input._elements(), self._warns)

    def _count(self):
        return UNKNOWN


class _WithoutErrors:
    def __init__(self, items, warns):
        self._items, self._warns = items, warns

    def __iter__(self):
        return self

    def __next__(self):
        while True:
            try:
                return next(self._items)
            except StopIteration:
                raise
            except Exception as error:
                if self._warns:
                    log.warn(f"Error raised with error message {error}")


@method
def ignore_errors(self, log_warning=False, name=None):
    """The elements that can be made without an error.

    Args:
        log_warning: whether to log the errors.
    """
    return IgnoreErrorsDataset(self, bool(log_warning))


@export("data.experimental.ignore_errors")
def experimental_ignore_errors(log_warning=False):
    """`Dataset.ignore_errors` as a function for `Dataset.apply`."""
    return lambda dataset: dataset.ignore_errors(log_warning)


class AssertCardinalityDataset(SameElements):
    def __init__(self, source, count):
        super().__init__(source)
        self._expected = count

    def _elements(self):
        return _Counted(self._input._elements(), self._expected)

    def _count(self):
        return self._expected


class _Counted:
    def __init__(self, items, expected):
        self._items, self._expected = items, expected
        self._found = 0

    def __iter__(self):
        return self

    def __next__(self):
        try:
            item = next(self._items)
        except StopIteration:
            if self._expected == self._found:
                raise
            wanted = "an infinite number of" if self._expected == INFINITE else self._expected
            raise _unexpected(f"{wanted} elements but contained only {self._found}") from None
        self._found += 1
        if INFINITE != self._expected < self._found:
            raise _unexpected(f"{self._expected} elements but contained at least {self._found}")
        return item


def _unexpected(text):
    return FailedPreconditionError(
        None,
        None,
        f"Input dataset was expected to contain {text} elements. [Op:IteratorGetNext] name: ",
    )


@export("data.experimental.assert_cardinality")
def assert_cardinality(expected_cardinality):
    """A function for `Dataset.apply`: the same elements, of which there must be so many.

    Args:
        expected_cardinality: a number, or tf.data.INFINITE_CARDINALITY.
    """
    count = whole_number(expected_cardinality)
    return lambda dataset: AssertCardinalityDataset(dataset, count)

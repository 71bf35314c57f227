"""Functions of a state and an element, whose state goes from call to call: reduce and scan."""

from ..core.errors import InvalidArgumentError, OutOfRangeError
from ..core.spec import TensorSpec
from ..type_specs import TypeSpec
from .elements import flattened, leaf_specs, with_leaf_specs
from .function_shapes import widened
from .functions import ElementFunction


class StateFunction:
    """A function from a state and an element to the next state, and perhaps a result.

    Sizes of the state may change from call to call; its dtypes and structure may not.

    Args:
        initial_state: a structure of tensors.
        function: the user's.
        source: the dataset that the elements are from.
        what: what the function is passed to.
        has_result: whether it returns a pair of a state and a result.

    Raises:
        TypeError: it returns a state of another structure or of other dtypes; or no pair.
    """

    def __init__(self, initial_state, function, source, what, has_result):
        self._has_result = has_result
        self._name = "scan_func" if has_result else "reduce_func"
        self._source = source
        self._state_spec, self.start = flattened(initial_state)
        self._size = len(self.start)
        self._function = self._for_state(function, what)
        while self._function.is_known and not self._is_settled():
            self._function = self._for_state(function, what)

    def _for_state(self, function, what):
        spec, source = self._state_spec, self._source
        return ElementFunction(
            function,
            lambda: (spec, source.element_spec),
            first=lambda: (*self.start, *first_element(source)),
            what=what,
            end_error=InvalidArgumentError if self._has_result else OutOfRangeError,
        )

    def _is_settled(self):
        """Whether states it returns are as the one it takes; if not, opens sizes of that."""
        new = self._checked_state(self._function.spec)
        wide = widened(leaf_specs(self._state_spec), leaf_specs(new))
        if wide == leaf_specs(self._state_spec):
            return True
        self._state_spec = with_leaf_specs(self._state_spec, wide)
        return False

    def _checked_state(self, spec):
        if self._has_result:
            if type(spec) is not tuple or len(spec) != 2:
                raise TypeError(
                    "Invalid `scan_func`. `scan_func` should return a pair consisting of new "
                    f"state and the output value but its return type is {spec}."
                )
            spec = spec[0]
        old, new = leaf_specs(self._state_spec), leaf_specs(spec)
        intro = "Invalid `scan_func`. " if self._has_result else ""
        for a, b in zip(old, new, strict=False):
            if type(a) is not type(b):
                raise TypeError(
                    f"{intro}The element classes for the new state must match the initial state. "
                    f"Expected {_class_of(a)}, got {_class_of(b)}."
                )
            if isinstance(a, TensorSpec) and a.dtype != b.dtype:
                raise TypeError(
                    f"{intro}The element types for the new state must match the initial state. "
                    f"Expected {a.dtype!r}, got {b.dtype!r}."
                )
        if len(old) != len(new):
            raise InvalidArgumentError(
                None,
                None,
                f"The number of components of the initial state ({len(old)}) and of those that "
                f"`{self._name}` returns ({len(new)}) differ.",
            )
        return with_leaf_specs(self._state_spec, new)

    @property
    def state_spec(self):
        return self._state_spec

    @property
    def result_spec(self):
        """The structure of results."""
        spec = self._function.spec
        self._checked_state(spec)
        return spec[1]

    def __call__(self, state, element):
        """The next state; with it the result, if there are results."""
        found = self._function(*state, *element)
        if not self._has_result:
            return found
        return found[: self._size], found[self._size :]


def _class_of(spec):
    return spec.value_type if isinstance(spec, TypeSpec) else type(spec)


def first_element(dataset):
    """The leaves of a dataset's first element.

    Raises:
        StopIteration: there is none.
    """
    return next(dataset._elements())

"""All elements as one: reduce."""

from ..core.active import thread
from .dataset import method
from .elements import packer
from .states import StateFunction


@method
def reduce(self, initial_state, reduce_func, name=None):
    """Calls a function with a state and each element; it returns the next state.

    Args:
        initial_state: a structure of tensors, the first state.
        reduce_func: `reduce_func(state, element)`, the new state.

    Returns:
        The last state.

    Raises:
        TypeError: the function returns a state of another structure or of other dtypes.

    Example:
        >>> int(Dataset.range(5).reduce(np.int64(0), lambda total, x: total + x))
        10
    """
    function = StateFunction(initial_state, reduce_func, self, "reduce()", False)
    state = function.start
    recorders, thread.recorders = thread.recorders, ()
    try:
        for element in self._elements():
            state = function(state, element)
    finally:
        thread.recorders = recorders
    return packer(function.state_spec)(state)

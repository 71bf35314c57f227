"""Guards: what a trace relied on, and how a later call finds out whether it still holds.

The outcome of a guard is hashable, so that paths through a function can be told apart by the
outcomes they saw.
"""

import numpy as np

TRUTH, NUMBER, SHAPE = "truth", "number", "shape"


def outcome_of(value, how):
    """What a guard of the kind `how` sees of a value (an array or NumPy scalar)."""
    return OUTCOMES[how](value)


def _number(value):
    """The value itself, told apart by its bits: NaN equals NaN, and -0.0 does not equal 0.0."""
    array = np.asarray(value)
    if array.dtype == object:
        return tuple(array.ravel().tolist())
    return array.tobytes()


def _shape(value):
    return value.shape


OUTCOMES = {TRUTH: bool, NUMBER: _number, SHAPE: _shape}


class Miss:
    """A call saw an outcome for which the path it followed was not traced."""

    __slots__ = ("outcome", "position")

    def __init__(self, position, outcome):
        self.position = position
        self.outcome = outcome


class Effects:
    """Results of the effects of one call, which must not take place again if it starts over."""

    __slots__ = ("_done", "_keys", "_next", "_skips")

    def __init__(self):
        self._done = []
        self._keys = []
        self._next = 0
        self._skips = False

    def start_over(self):
        if self._skips:
            # What the code did after all is what it will do now.
            del self._done[self._next :], self._keys[self._next :]
            self._skips = False
        self._next = 0

    @property
    def any_done(self):
        """Whether there is something that must not take place again."""
        return bool(self._done)

    def mark(self):
        """Where it is now, to go back to."""
        return self._next

    def go_back(self, mark):
        self._next = mark

    def start_over_elsewhere(self):
        """Starts over in code that leaves some of the effects out, as after making variables."""
        self._next = 0
        self._skips = True

    def run(self, function, arrays, key=None):
        """The results of `function`, called unless this call did so already.

        Args:
            function: the effect.
            arrays: its arguments.
            key: what tells effects apart where some may be left out.
        """
        if self._skips:
            self._skip_to(key)
        if self._next == len(self._done):
            try:
                results = function(*arrays)
            except Exception as error:
                results = error
            self._done.append(results)
            self._keys.append(key)
        results = self._done[self._next]
        self._next += 1
        if isinstance(results, Exception):
            raise results
        return results

    def _skip_to(self, key):
        """Forgets what was done before the next effect with this key; all that is left, if none."""
        end = len(self._done)
        found = next((i for i in range(self._next, end) if self._keys[i] == key), end)
        del self._done[self._next : found], self._keys[self._next : found]
        self._skips = found < end

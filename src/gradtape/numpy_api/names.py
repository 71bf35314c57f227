"""The table of tf.experimental.numpy: each function is entered where it is written."""

from typing import Any

NAMES: dict[str, Any] = {}


def numpy_names(names):
    """Enters a function under NumPy's names for it, the first of which it bears from then on."""

    def enter(function):
        for name in names.split():
            NAMES[name] = function
        function.__name__ = function.__qualname__ = names.split()[0]
        return function

    return enter

"""tf.experimental: its parts and names are loaded when they are first used."""

import importlib as _importlib
import sys as _sys
from typing import Any as _Any

from ..core.exports import export as _export
from ..namespaces import find as _find

_PARTS = ("numpy",)

_export("experimental", _sys.modules[__name__])


def __getattr__(name) -> _Any:
    if name in _PARTS:
        return _importlib.import_module(f".{name}", __name__)
    return _find(_sys.modules[__name__], name)


def __dir__():
    return sorted([*globals(), *_PARTS])

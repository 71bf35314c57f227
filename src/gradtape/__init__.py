"""gradtape: TensorFlow's eager autodiff code on NumPy. `import gradtape as tf` is the migration."""

import sys as _sys
from typing import Any as _Any

from . import (
    ops as _ops,  # noqa: F401 - declares the ops
    public as _public,  # noqa: F401 - declares the other names
)
from ._version import __version__ as __version__
from .core.exports import PUBLIC as _PUBLIC
from .core.memory import keep_freed_memory as _keep_freed_memory
from .keras_finder import NAMES as _OF_KERAS, part_of_keras as _part_of_keras
from .namespaces import everything_in as _everything_in, find as _find, publish as _publish
from .on_demand import make_namespaces as _make_namespaces
from .stand_in import install_as_tensorflow as install_as_tensorflow

_keep_freed_memory()
_make_namespaces()
_publish(_sys.modules[__name__], _PUBLIC)


def __getattr__(name: str) -> _Any:
    if name in _OF_KERAS:
        return _part_of_keras(name)
    return _find(_sys.modules[__name__], name)


def __dir__() -> list[str]:
    return sorted({*_everything_in(_sys.modules[__name__]), *_OF_KERAS})

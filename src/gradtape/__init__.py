"""gradtape: TensorFlow's eager autodiff code on NumPy. `import gradtape as tf` is the migration."""

import sys as _sys
from typing import Any as _Any

from . import (
    ops as _ops,  # noqa: F401 - declares the ops
    public as _public,  # noqa: F401 - declares the other names
)
from ._version import __version__ as __version__
from .compat import install_as_tensorflow as install_as_tensorflow
from .core.exports import PUBLIC as _PUBLIC
from .core.memory import keep_freed_memory as _keep_freed_memory
from .namespaces import missing_attribute as _missing_attribute, publish as _publish

_keep_freed_memory()
_publish(_sys.modules[__name__], _PUBLIC)


def __getattr__(name: str) -> _Any:
    raise _missing_attribute(_sys.modules[__name__], name)

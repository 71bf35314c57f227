"""tf.data: input pipelines. Its names are loaded when they are first used.

A dataset is a node that knows its inputs, what its elements look like and how to go through them.
Elements travel between nodes as flat tuples of raw arrays; `elements` says how these make the
structures of tensors a user sees. Each transformation is a class with the method that makes it, in
one place.
"""

import sys as _sys
from typing import Any as _Any

from ..core.exports import export as _export
from ..namespaces import find as _find, make_module as _make_module

_export("data", _sys.modules[__name__])
_make_module(_sys.modules["gradtape"], "data.experimental")


def __getattr__(name) -> _Any:
    return _find(_sys.modules[__name__], name)


def __dir__():
    from ..core.exports import PUBLIC
    from ..on_demand import provide

    provide("data.Dataset")
    return sorted({n.split(".")[1] for n in PUBLIC if n.startswith("data.")})

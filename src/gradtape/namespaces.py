"""Turns the table of public names into modules: gradtape.math, gradtape.nn, …"""

import importlib
import sys
import types
from pathlib import Path


class Namespace(types.ModuleType):
    """A module that finds its names when they are asked for."""

    def __getattr__(self, name):
        return find(self, name)

    def __dir__(self):
        return everything_in(self)


def find(module, name):
    """A public name that is not loaded yet; the error for one that does not exist."""
    from . import on_demand

    path = module.__name__.partition(".")[2]
    if not name.startswith("_") and on_demand.provide(f"{path}.{name}" if path else name):
        return vars(module)[name]
    raise missing_attribute(module, name)


def everything_in(module):
    """All names in a module, those not loaded yet too."""
    from . import on_demand

    on_demand.load_everything()
    return sorted(vars(module))


def missing_attribute(module, name):
    """The AttributeError for a name that `module` does not have; says which one is nearest."""
    if name.startswith("__"):
        return AttributeError(f"module {module.__name__!r} has no attribute {name!r}")
    import difflib

    names = [n for n in dir(module) if not n.startswith("_")]
    near = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    advice = f" Did you mean {near[0]!r}?" if near else ""
    return AttributeError(f"module {module.__name__!r} has no attribute {name!r}.{advice}")


def publish(root, public):
    """Sets every public name on the module it belongs to, making modules where there are none.

    Args:
        root: the top module.
        public: from dotted names such as `"math.add"` to what stands behind them.
    """
    for dotted, item in public.items():
        path, _, name = dotted.rpartition(".")
        setattr(make_module(root, path), name, item)


def make_module(root, path):
    """The module at a dotted path below `root`, made if there is none."""
    module = root
    for part in filter(None, path.split(".")):
        full_name = f"{module.__name__}.{part}"
        child = vars(module).get(part) or sys.modules.get(full_name) or _package(root, full_name)
        if child is None:
            child = Namespace(full_name, f"The names of `tf.{full_name.partition('.')[2]}`.")
            child.__path__ = []  # lets `import gradtape.a.b` look inside
            sys.modules[full_name] = child
        setattr(module, part, child)
        module = child
    return module


def _package(root, full_name):
    """A package with files of its own, as `experimental` is one; None if there is none."""
    folder = Path(root.__file__).parent.joinpath(*full_name.split(".")[1:])
    return importlib.import_module(full_name) if (folder / "__init__.py").is_file() else None

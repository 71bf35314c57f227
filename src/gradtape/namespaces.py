"""Turns the table of public names into modules: gradtape.math, gradtape.nn, …"""

import sys
import types


class Namespace(types.ModuleType):
    """A module whose missing attributes say which existing name is nearest."""

    def __getattr__(self, name):
        raise missing_attribute(self, name)


def missing_attribute(module, name):
    """The AttributeError for a name that `module` does not have."""
    if name.startswith("__"):
        return AttributeError(f"module {module.__name__!r} has no attribute {name!r}")
    import difflib

    names = [n for n in vars(module) if not n.startswith("_")]
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
        setattr(_module(root, path), name, item)


def _module(root, path):
    module = root
    for part in filter(None, path.split(".")):
        full_name = f"{module.__name__}.{part}"
        child = vars(module).get(part) or sys.modules.get(full_name)
        if child is None:
            child = Namespace(full_name, f"The names of `tf.{full_name.partition('.')[2]}`.")
            child.__path__ = []  # lets `import gradtape.a.b` look inside
            sys.modules[full_name] = child
        setattr(module, part, child)
        module = child
    return module

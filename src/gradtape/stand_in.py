"""Answering for `import tensorflow`, so that existing scripts run on gradtape unchanged."""

import importlib
import importlib.util
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

_ALIAS = "tensorflow"
_PACKAGE = "gradtape"


def install_as_tensorflow() -> None:
    """Make `import tensorflow`, and imports from it, give gradtape in this process.

    `tensorflow.a.b` is then the very module `gradtape.a.b`. Calling it again changes nothing.

    Raises:
        RuntimeError: TensorFlow itself is already imported.

    Example:
        import gradtape
        gradtape.install_as_tensorflow()
        import tensorflow as tf  # gradtape
    """
    present = sys.modules.get(_ALIAS)
    if present is not None and present is not sys.modules[_PACKAGE]:
        where = getattr(present, "__file__", None) or "an unknown place"
        raise RuntimeError(
            "install_as_tensorflow() must run before the first `import tensorflow`, but another "
            f"tensorflow is already imported. Received: {where}. Call it at the top of the "
            "program, or start the program with `gradtape run script.py`."
        )
    if not any(isinstance(finder, _AliasFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _AliasFinder())


class _AliasFinder:
    """Finds `tensorflow` and its submodules in gradtape."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname == _ALIAS:
            return alias_spec(fullname, _PACKAGE)
        if not fullname.startswith(_ALIAS + "."):
            return None
        parent_name, _, child = fullname.rpartition(".")
        # The parent's own name, not its alias: a parent that gradtape takes from another package
        # must not be loaded a second time under a name of ours.
        parent = sys.modules[parent_name]
        real_name = f"{parent.__name__}.{child}"
        if real_name not in sys.modules and importlib.util.find_spec(real_name) is None:
            raise ModuleNotFoundError(_missing_message(fullname, parent, child), name=fullname)
        return alias_spec(fullname, real_name)


class _AliasLoader:
    """Loads an alias by putting the real module in its place."""

    def __init__(self, real_name: str) -> None:
        self.real_name = real_name

    def create_module(self, spec: ModuleSpec) -> None:
        """Leave it to Python to make the empty module that is dropped below."""

    def exec_module(self, module: ModuleType) -> None:
        # The import system returns what sys.modules holds afterwards: `module` is dropped, and the
        # real one keeps its own name and spec.
        sys.modules[module.__name__] = importlib.import_module(self.real_name)


def alias_spec(alias: str, real_name: str) -> ModuleSpec:
    """The spec of a module that is another module under one more name."""
    # A loader by its methods only: the base class is in importlib.abc, which is slow to import.
    loader: Any = _AliasLoader(real_name)
    return ModuleSpec(alias, loader)


def _missing_message(fullname: str, parent: ModuleType, child: str) -> str:
    import difflib  # only an error needs it, and importing gradtape should be quick

    alias = fullname.rpartition(".")[0]
    nearest = difflib.get_close_matches(child, _submodules(parent), n=1)
    hint = f" Did you mean '{alias}.{nearest[0]}'?" if nearest else ""
    return (
        f"No module named {fullname!r}: gradtape answers for tensorflow here, and it has no module "
        f"'{parent.__name__}.{child}'.{hint}"
    )


def _submodules(parent: ModuleType) -> list[str]:
    """The public modules of a package: those loaded or made already, and those in its folder."""
    import pkgutil

    prefix = parent.__name__ + "."
    loaded = [name.removeprefix(prefix) for name in sys.modules if name.startswith(prefix)]
    files = [found.name for found in pkgutil.iter_modules(parent.__path__)]
    return [name for name in {*loaded, *files} if "." not in name and not name.startswith("_")]

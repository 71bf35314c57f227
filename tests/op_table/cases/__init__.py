"""The cases, in a file for each file of `gradtape.ops`; every module here has a list CASES."""

import importlib
import pkgutil


def all_cases():
    """The cases of every module in this package, in the modules' order by name."""
    modules = sorted(module.name for module in pkgutil.iter_modules(__path__))
    return [
        case for name in modules for case in importlib.import_module(f"{__name__}.{name}").CASES
    ]

"""The cases, in a file for each file of `gradtape.ops`; every module here has a list CASES."""

import importlib
import pkgutil


def cases_by_module():
    """The cases of each module in this package, the modules by name."""
    modules = sorted(module.name for module in pkgutil.iter_modules(__path__))
    return {name: importlib.import_module(f"{__name__}.{name}").CASES for name in modules}


def all_cases():
    """The cases of every module in this package, in the modules' order by name."""
    return [case for cases in cases_by_module().values() for case in cases]

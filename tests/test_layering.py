"""Imports point one way: core, ops, then autodiff and batching, then everything built on them."""

import ast
import graphlib
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent / "src"
MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted(ROOT.rglob("*.py"))
}

# A module may import from its own layer and from those before it; the rest is the last layer.
LAYERS = [{"core"}, {"ops"}, {"autodiff", "batching", "graph"}, {"compile"}]
DEPENDENCIES = {"numpy", "ml_dtypes"}
# Packages that are optional, and the only modules that may import them.
OPTIONAL = {"keras": ("gradtape.keras_backend", "gradtape.keras_finder")}


def imports_of(module, source, *, at_import_time=False):
    """The dotted names a module imports, functions' own imports included unless told otherwise."""
    is_package = MODULES.get(module, Path()).name == "__init__.py"
    found = set()
    for node in _nodes(ast.parse(source), into_functions=not at_import_time):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = _absolute(module, is_package, node)
            for alias in node.names:
                member = f"{base}.{alias.name}"
                found.add(member if member in MODULES else base)
    return found


def _nodes(tree, *, into_functions):
    pending = [tree]
    while pending:
        node = pending.pop()
        yield node
        if into_functions or not isinstance(node, (ast.FunctionDef, ast.Lambda)):
            pending.extend(ast.iter_child_nodes(node))


def _absolute(module, is_package, node):
    """The module an import statement starts from, relative ones resolved."""
    if not node.level:
        return node.module
    parts = module.split(".")
    parts = parts[: len(parts) - node.level + is_package]
    return ".".join([*parts, node.module] if node.module else parts)


def layer_of(module):
    """The position of a gradtape module's layer."""
    part = module.split(".")[1] if "." in module else ""
    return next((i for i, layer in enumerate(LAYERS) if part in layer), len(LAYERS))


def errors_of(module, source):
    """What is wrong with a module's imports."""
    errors = []
    for name in sorted(imports_of(module, source)):
        top = name.split(".")[0]
        if top == "gradtape":
            if layer_of(name) > layer_of(module) and name != "gradtape._version":
                errors.append(f"{module} imports {name}, of a later layer")
        elif module.startswith(OPTIONAL.get(top, "no module")):
            continue
        elif top not in sys.stdlib_module_names and top not in DEPENDENCIES:
            errors.append(f"{module} imports {name}, which gradtape does not depend on")
    return errors


@pytest.mark.parametrize("module", MODULES)
def test_imports_point_one_way(module):
    assert errors_of(module, MODULES[module].read_text(encoding="utf-8")) == []


def test_modules_do_not_import_each_other_in_a_circle():
    graph = {}
    for module, path in MODULES.items():
        source = path.read_text(encoding="utf-8")
        graph[module] = imports_of(module, source, at_import_time=True) & set(MODULES) - {module}
    order = list(graphlib.TopologicalSorter(graph).static_order())
    assert order.index("gradtape.core.op") < order.index("gradtape.ops") < order.index("gradtape")


@pytest.mark.parametrize(
    ("module", "source", "error"),
    [
        ("gradtape.core.op", "from ..ops import joining", "gradtape.ops.joining, of a later"),
        ("gradtape.core.op", "def f():\n    from .. import public", "gradtape.public, of a later"),
        ("gradtape.ops.logic", "import gradtape.autodiff.tape", "gradtape.autodiff.tape, of a"),
        ("gradtape.autodiff.tape", "from .. import public", "gradtape.public, of a later layer"),
        (
            "gradtape.cli",
            "import scipy.special",
            "scipy.special, which gradtape does not depend on",
        ),
    ],
)
def test_a_wrong_import_is_found(module, source, error):
    assert error in "".join(errors_of(module, source))


def test_only_the_backend_imports_keras():
    assert errors_of("gradtape.keras_backend.nn", "from keras.src import tree") == []
    assert errors_of("gradtape.ops.logic", "import keras") != []


def test_right_imports_are_not_errors():
    source = "import os\nimport numpy as np\nfrom ..core.op import OPS\nfrom . import families\n"
    assert errors_of("gradtape.ops.logic", source) == []

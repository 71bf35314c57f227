"""Writes docs/ops.md, the page about every op: `make docs`, or `python docs/make_ops_page.py`."""

import ast
import inspect
import sys
from pathlib import Path
from types import CodeType, FunctionType

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "ops.md"
sys.path[:0] = [path for path in (str(ROOT / "src"), str(ROOT / "tests")) if path not in sys.path]

import gradtape  # noqa: E402 - these are found through the line above
from gradtape.core.exports import PUBLIC  # noqa: E402
from gradtape.core.op import DIFFERENTIABLE, NON_DIFFERENTIABLE, OPS, UNREGISTERED, Op  # noqa: E402
from gradtape.on_demand import load_everything  # noqa: E402
from gradtape.ops import families, pointwise  # noqa: E402
from op_table.calls import (  # noqa: E402  # pyright: ignore[reportMissingImports]
    continuous,
    gradients,
    run,
    tensors_of,
)
from op_table.cases import all_cases  # noqa: E402  # pyright: ignore[reportMissingImports]
from op_table.checks import checks_of  # noqa: E402  # pyright: ignore[reportMissingImports]

load_everything()
OPS_FOLDER = Path(gradtape.__file__).parent / "ops"
# Where functions that are ops come from: their files, or made of the row by dispatch.
LAYERS = ("gradtape.ops.", "gradtape.core.dispatch")

NONE = "–"
MISSING = "**missing**"

STATES = {
    DIFFERENTIABLE: "has a gradient",
    NON_DIFFERENTIABLE: "ends the path",
    UNREGISTERED: "needs a registered gradient",
}

TANGENTS = {
    pointwise._jvp: "elementwise",
    families._jvp_of_first: "linear",
    families._jvp_of_all: "linear",
    families._jvp_of_each: "multilinear",
    None: "transposed",
}

HEADER = """\
# The ops and their derivatives

Every op of the table, by the file of `src/gradtape/ops` that declares it. This page is generated
from the op table and its test cases; `make docs` writes it anew.

- **op**: TensorFlow's op type, the name in messages and in the gradient registry.
- **public names**: the functions that apply this op and no other; where there are none, those of
  its file that apply it, or those elsewhere that apply it with the fewest others. What is composed
  of several ops has the derivatives of those.
- **vjp**: the inputs that get a gradient.
- **jvp**: where the tangent comes from: the op's family (*elementwise*, *linear*, *multilinear*),
  a rule of its *own*, or the adjoint *transposed*.
- **second order**: gradients of gradients agree with finite differences in the tests.
- **batch**: the op has a rule for one more leading axis, by which Jacobians and `vectorized_map`
  need no loop.
- **gradient**: an op *has a gradient*, *ends the path* on purpose (its gradient is zero or
  undefined by definition, and the answer is `None`), or *needs a registered gradient* (asking is a
  `LookupError` until `tf.RegisterGradient` gives one).

```python
import gradtape as tf

x = tf.Variable([1.0, 2.0])
with tf.GradientTape(persistent=True) as tape:
    passes, ends = tf.tan(x), tf.floor(x)
print(tape.gradient(passes, x) is None, tape.gradient(ends, x) is None)
```

```text
False True
```
"""


def files_of_ops():
    """For each op the name of the file that declares it, by itself or in a function for several."""
    found = {name: op.infer.__module__.rpartition(".")[2] for name, op in OPS.items()}
    for path in sorted(OPS_FOLDER.glob("*.py")):
        for statement in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(statement, ast.Assign | ast.Expr):
                for node in ast.walk(statement):
                    name = _first_argument(node)
                    if name in OPS:
                        found[name] = path.stem
    return found


def _first_argument(node):
    if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
        return node.args[0].value
    return None


def public_names(files):
    """For each op the public names of the functions that stand for it; HEADER says which."""
    functions = {
        name: item
        for name, item in PUBLIC.items()
        if inspect.isfunction(item) and item.__module__.startswith(LAYERS)
    }
    kernels = {op.kernel for op in OPS.values()}
    reached = {name: _ops_reached(item, set(kernels)) for name, item in functions.items()}
    found = {}
    for op_name in OPS:
        applying = [name for name, ops in reached.items() if op_name in ops]
        alone = [name for name in applying if len(reached[name]) == 1]
        module = f"gradtape.ops.{files[op_name]}"
        beside = [name for name in applying if functions[name].__module__ == module]
        fewest = min([len(reached[name]) for name in applying], default=0)
        nearest = [name for name in applying if len(reached[name]) == fewest]
        found[op_name] = alone or beside or nearest
    return found


def _ops_reached(function, seen):
    """Names of the ops a function of the op table applies, itself or through others not `seen`."""
    seen.add(function)
    names = _names_in(function.__code__)
    items = [function.__globals__.get(name) for name in names]
    items += [cell.cell_contents for cell in function.__closure__ or ()]
    reached = set()
    for item in items:
        op = item if isinstance(item, Op) else getattr(item, "op", None)
        if isinstance(op, Op):
            reached.add(op.name)
        elif _is_of_the_table(item) and item not in seen:
            reached |= _ops_reached(item, seen)
    return reached


def _is_of_the_table(item):
    return isinstance(item, FunctionType) and item.__module__.startswith("gradtape.ops.")


def _names_in(code):
    """Global names used by a function's code and by the functions inside it."""
    inside = [_names_in(item) for item in code.co_consts if isinstance(item, CodeType)]
    return set(code.co_names).union(*inside)


def adjoint(op):
    """The inputs that get a gradient, in words."""
    if op.state != DIFFERENTIABLE:
        return NONE
    if callable(op.vjp):
        return "all" if len(op.inputs) > 1 or op.variadic else f"`{op.inputs[0]}`"
    named = [f"`{name}`" for name, rule in zip(op.inputs, op.vjp, strict=True) if rule is not None]
    return ", ".join(named) or MISSING


def tangent(op):
    """Where the tangent comes from."""
    return TANGENTS.get(op.jvp, "own") if op.state == DIFFERENTIABLE else NONE


def second_order(op, case):
    """Whether gradients of gradients are checked; if not, what ends them."""
    if op.state != DIFFERENTIABLE:
        return NONE
    if case is None:
        return MISSING
    if "second_order" in {check.__name__ for check, _, _ in checks_of(case)}:
        return "yes"
    return case.skip_second_order or _what_ends_second_order(case)


def _what_ends_second_order(case):
    """The op without a gradient that an unchecked second derivative meets, if that is why."""
    sample = case.samples[0]
    inputs = tensors_of(sample.inputs)
    seeds = continuous(run(case, inputs, sample.attrs))
    with gradtape.GradientTape() as tape:
        tape.watch(continuous(inputs))
        first = [g for g in gradients(case, inputs, sample.attrs, seeds) if g is not None]
    try:
        tape.gradient(first, list(inputs))
    except LookupError as error:
        return f"needs a registered gradient of `{str(error).rpartition(': ')[2]}`"
    return MISSING


def row(op, case, names):
    """The cells of one op."""
    return (
        f"`{op.name}`",
        ", ".join([f"`{name}`" for name in names]) or NONE,
        adjoint(op),
        tangent(op),
        second_order(op, case),
        "yes" if op.batch is not None else MISSING,
        STATES[op.state],
    )


def rows():
    """The rows of every op, by the file that declares it."""
    files = files_of_ops()
    names = public_names(files)
    cases = {case.op: case for case in all_cases()}
    grouped = {file: [] for file in sorted(set(files.values()))}
    for op in OPS.values():
        grouped[files[op.name]].append(row(op, cases.get(op.name), names[op.name]))
    return grouped


def page():
    """The whole page as text."""
    states = [op.state for op in OPS.values()]
    counts = [f"{states.count(state)} {words}" for state, words in PLURALS.items()]
    parts = [HEADER, f"Of {len(states)} ops {counts[0]}, {counts[1]} and {counts[2]}.\n"]
    for file, entries in rows().items():
        lines = [f"## {file}\n", f"| {' | '.join(COLUMNS)} |", "|---" * len(COLUMNS) + "|"]
        lines += [f"| {' | '.join(cells)} |" for cells in entries]
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)


COLUMNS = ("op", "public names", "vjp", "jvp", "second order", "batch", "gradient")

PLURALS = {
    DIFFERENTIABLE: "have a gradient",
    NON_DIFFERENTIABLE: "end the path on purpose",
    UNREGISTERED: "need a registered gradient",
}


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(f"wrote {PAGE.relative_to(ROOT)}")

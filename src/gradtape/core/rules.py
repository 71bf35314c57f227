"""Compiles an op's derivative rules into straight-line functions for the tape.

A rule says by its parameter names what it reads (see `op`). From that follow `record`, which keeps
exactly those things on a tape, and one backward function per rule in two forms: on tensors, for
gradients that are themselves recorded, and on raw arrays, for all others. They are generated as
source, once and when first needed, because they run for every op of every tape.
"""

import types

from .op import UNREGISTERED


def compile_rules(op):
    """Fills in `op.record`, `op.tensor_rules` and `op.array_rules`, and returns the first.

    The rules are a tuple with one function (or None) per input, or, for a joint rule, a single
    function that returns all gradients. Each is called with `(g, saved, attrs)`.
    """
    if op.state == UNREGISTERED:
        op.record = _compile_record(op, {"inputs": 0, "out": 1})
        return op.record
    rules = (op.vjp,) if op.joint else op.vjp
    layout = _layout(op, rules)
    tensors = tuple([_compile_rule(op, rule, i, layout, False) for i, rule in enumerate(rules)])
    arrays = tuple([_compile_rule(op, rule, i, layout, True) for i, rule in enumerate(rules)])
    op.tensor_rules = tensors[0] if op.joint else tensors
    op.array_rules = arrays[0] if op.joint else arrays
    op.record = _compile_record(op, layout)
    return op.record


def guarded_rules(op, raw, guard):
    """The rules of an elementwise op, with `guard(d, g)` in the place of each result `d`.

    The guard sees `d` before it is summed to its input's shape, element by element beside `g`.
    """
    layout = _layout(op, op.vjp)
    return tuple([_compile_rule(op, rule, i, layout, raw, guard) for i, rule in enumerate(op.vjp)])


def rules_of_rows(op, sum_rows_to):
    """The rules of an elementwise op for many gradients at once, as arrays with a leading axis.

    They are the rules on arrays, since NumPy aligns shapes at their ends; only what was broadcast
    is summed back by `sum_rows_to`, which leaves that axis alone.
    """
    layout = _layout(op, op.vjp)
    return tuple([
        _compile_rule(op, rule, i, layout, True, sum_to=sum_rows_to)
        for i, rule in enumerate(op.vjp)
    ])  # fmt: skip


def unchanged(g):
    """The rule of an input whose gradient is the output's; compiled to nothing at all."""
    return g


def compile_when_recorded(op):
    """Gives `op` a `record` that compiles the real one when it is first called."""

    def record(recorder, attrs, inputs, out):
        compile_rules(op)(recorder, attrs, inputs, out)

    op.record = record


def parameters(rule):
    """The positional parameter names of a rule after `g`, and its keyword-only ones."""
    code = rule.__code__
    count = code.co_argcount
    names = code.co_varnames
    return names[1:count], names[count : count + code.co_kwonlyargcount]


def _layout(op, rules):
    """Positions, in what is saved, of everything some rule reads."""
    layout = {}
    for rule in rules:
        if rule is not None:
            for name in parameters(rule)[0]:
                layout.setdefault(name, len(layout))
    return layout


def _source_of(op, name):
    """The expression that picks `name` from the op's inputs and output while recording."""
    if name == "out" or (name == "inputs" and op.state == UNREGISTERED):
        return name
    if name == "out_shape":
        return "out._value.shape" if op.outputs == 1 else "tuple([o._value.shape for o in out])"
    base, what = name, ""
    for suffix in ("_shape", "_dtype"):
        if name.endswith(suffix) and name.removesuffix(suffix) in _input_names(op):
            base, what = name.removesuffix(suffix), f"._value.{suffix[1:]}"
    if base not in _input_names(op):
        raise ValueError(
            f"A rule of op {op.name!r} reads {name!r}, which is neither `out` nor one of its "
            f"inputs {op.inputs}, nor an input's name with `_shape` or `_dtype`."
        )
    if op.variadic:
        return f"tuple([i{what} for i in inputs])" if what else "inputs"
    return f"inputs[{op.inputs.index(base)}]{what}"


def _input_names(op):
    return tuple(name.lstrip("*") for name in op.inputs)


def _compile_record(op, layout):
    """The function that adds a record of `op` to a tape which follows one of its inputs."""
    parts = [_source_of(op, name) for name in layout]
    lines = [
        "def record(tape, attrs, inputs, out):",
        "    if not tape.is_tape:",
        "        return tape.record(op, attrs, inputs, out)",
        "    tracked = tape.tracked",
    ]
    count = len(op.inputs)
    if op.variadic or count > 3:
        lines += [
            "    ids = tuple([x._id for x in inputs])",
            "    if tracked.isdisjoint(ids):",
            "        return",
        ]
    else:
        lines += [f"    i{n} = inputs[{n}]._id" for n in range(count)]
        unknown = " and ".join([f"i{n} not in tracked" for n in range(count)])
        lines += [f"    if {unknown}:", "        return"]
        lines += [f"    ids = ({''.join([f'i{n}, ' for n in range(count)])})"]
    if op.broadcasts and count > 1:
        shapes = "".join([f"s{n}, " for n in range(count)])
        lines += [f"    s{n} = inputs[{n}]._value.shape" for n in range(count)]
        parts.append(f"None if {' == '.join([f's{n}' for n in range(count)])} else ({shapes})")
    if op.outputs == 1:
        lines += ["    out_id = out._id", "    tracked.add(out_id)"]
    else:
        parts.append("tuple([(o._value.shape, o._value.dtype) for o in out])")
        lines += ["    out_id = tuple([o._id for o in out])", "    tracked.update(out_id)"]
    if not op.holomorphic:  # only such ops lead from real to complex numbers
        lines.append(f"    tape.note_dtype({'out' if op.outputs == 1 else 'out[0]'})")
    saved = f"({', '.join(parts)},)" if parts else "()"
    lines.append(f"    tape.append((op, attrs, {saved}, ids, out_id))")
    return _function("\n".join(lines), "record", {"op": op})


def _compile_rule(op, rule, index, layout, raw, guard=None, sum_to=None):
    if rule is None:
        return None
    names, attrs = parameters(rule)
    if raw and rule is not unchanged:
        rule = on_arrays(rule)
    arguments = ["g"]
    for name in names:
        value = f"saved[{layout[name]}]"
        if raw and not name.endswith(("_shape", "_dtype")):
            several = (op.variadic and name != "out") or (op.outputs != 1 and name == "out")
            value = f"tuple([t._value for t in {value}])" if several else f"{value}._value"
        arguments.append(value)
    arguments += [f"{name}=attrs[{name!r}]" for name in attrs]
    call = "g" if rule is unchanged else f"rule({', '.join(arguments)})"
    if guard is not None and rule is not unchanged:
        call = f"guard({call}, g)"
    lines = [f"    d = {call}"]
    if op.broadcasts and len(op.inputs) > 1:
        lines += [
            f"    shapes = saved[{len(layout)}]",
            f"    return d if shapes is None else sum_to(d, shapes[{index}])",
        ]
    else:
        lines.append("    return d")
    source = "def backward(g, saved, attrs):\n" + "\n".join(lines) + "\n"
    names_in_source = {"rule": rule, "sum_to": sum_to or op.broadcasts, "guard": guard}
    return _function(source, "backward", names_in_source)


def on_arrays(function):
    """A rule with kernels in the place of ops: on arrays, an op is nothing but its kernel.

    The same code with other globals. What is not found there, as a name imported inside the rule,
    stays an op and works too, only with a detour through dispatch.
    """
    module_names = function.__globals__
    bound = _kernels_of_module.get(id(module_names))
    if bound is None:
        bound = {name: _kernel_or_self(item) for name, item in module_names.items()}
        _kernels_of_module[id(module_names)] = bound
    closure = function.__closure__
    if closure is not None:
        closure = tuple([types.CellType(_kernel_or_self(cell.cell_contents)) for cell in closure])
    twin = types.FunctionType(
        function.__code__, bound, function.__name__, function.__defaults__, closure
    )
    twin.__kwdefaults__ = function.__kwdefaults__
    return twin


_kernels_of_module: dict = {}


def _kernel_or_self(item):
    op = getattr(item, "op", None)
    return item if op is None or getattr(op, "variadic", True) else op.kernel


def _function(source, name, names):
    exec(compile(source, "<gradtape rule>", "exec"), names)
    return names[name]


def call_rule(rule, g, op, inputs, out, attrs):
    """Calls one rule with tensors at hand, as forward mode does."""
    names, attr_names = parameters(rule)
    values = {"out": out, "out_shape": None if isinstance(out, tuple) else out._value.shape}
    for name, x in zip(_input_names(op), inputs, strict=not op.variadic):
        values |= {name: x, f"{name}_shape": x._value.shape, f"{name}_dtype": x._value.dtype}
    return rule(g, *[values[name] for name in names], **{name: attrs[name] for name in attr_names})

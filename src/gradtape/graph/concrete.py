"""ConcreteFunction: a function for arguments of one kind."""

import itertools
from typing import Any

from ..core import nest, random_seed
from ..core.active import thread
from ..core.dtypes import of_numpy
from ..core.errors import InvalidArgumentError, OpError
from ..core.shapes import as_shape
from ..core.spec import TensorSpec
from ..core.tensor import EagerTensor, Tensor
from ..core.variable import Variable
from .derivative import outline_of
from .examples import Rehearsal, RehearsalError, with_examples
from .input_specs import fit
from .ir import Value
from .keys import PLAIN
from .kinds import (
    ObjectKind,
    as_structure,
    is_spec,
    kind_of,
    kind_text,
    tensor_specs_of,
    with_open_sizes,
)
from .signature import Call, binding_error
from .specialisations import run_quickly

_MOST_QUICK_KEYS = 64
_next_number = itertools.count(1).__next__


class GraphTensor:
    """An input or output of a graph, as it is listed.

    Attributes:
        name: such as `x:0`.
        shape: the shape, as far as it is the same in all calls.
        dtype: the dtype.
        op: the node that gives it; None for an input.
    """

    __slots__ = ("dtype", "name", "op", "shape")

    def __init__(self, name, shape, dtype, op=None):
        self.name = name if ":" in name else f"{name}:0"
        self.shape = shape
        self.dtype = dtype
        self.op = op

    def __repr__(self):
        return f"<tf.Tensor {self.name!r} shape={self.shape} dtype={self.dtype.name}>"


def concrete_function(function, args, kwargs):
    """The ConcreteFunction of a Function for values and specs."""
    state, signature = function._state, function._signature
    if signature is not None and not args and not kwargs:
        args = signature.specs
    args, kwargs = function._bound(args, kwargs)
    parameters = function._parameters
    kind = parameters.kind_of_call(args, kwargs)
    with state.lock:
        entry = state.entry_for(kind, among_all=True)
        counted = entry is None
        if entry is None:
            entry = state.add_entry(kind if signature is None else signature.kind())
        examples = with_examples(tuple(args)), with_examples(dict(kwargs))
        call = Call(*examples, parameters.names, state.identities, state.varying)
        found = state.known.get(call.key)
        if found is None:
            found = function._add_specialisation(call, entry, counted)
        if found.paths.latest is None and found.paths.by_python is None:
            _rehearse(function, found.paths, call.tensors, kind)
    return ConcreteFunction(function, entry, found)


def _rehearse(function, paths, tensors, kind):
    """Traces a function without calling it; what needs real values is left to the first call."""
    outside = thread.trace, thread.recorders
    thread.trace, thread.recorders = None, ()
    state, random_state = function._state, random_seed.capture()
    try:
        found = paths.traced(tensors, Rehearsal(), not state.was_called)
        state.was_called = True
        if found is not None:
            found[1].release()
    except (RehearsalError, OpError):
        pass
    except Exception:
        if all([spec.shape.is_fully_defined() for spec in tensor_specs_of(kind)]):
            raise
    finally:
        random_state.restore()
        thread.trace, thread.recorders = outside


class Callable:
    """What functions and concrete functions have in common: `tf.types.experimental.Callable`."""


class ConcreteFunction(Callable):
    """A function for arguments of one kind; shapes of tensors may be others than it was traced for.

    Attributes:
        name: what it is called by, as bytes.
    """

    def __init__(self, function, entry, specialisation):
        self._function = function
        self._entry = entry
        self._first = specialisation
        self._quick = {}
        self.name = f"__inference_{function.name}_{_next_number()}".encode()

    # Calling ------------------------------------------------------------------------------------

    def __call__(self, *args, **kwargs):
        if not kwargs and all([type(item) is EagerTensor for item in args]):
            arrays = [item._value for item in args]
            found = self._quick.get(tuple([(array.dtype, array.shape) for array in arrays]))
            if found is not None:
                self._count_call(found)
                return run_quickly(found.paths, args, arrays)
        return self._call_with_care(args, kwargs)

    def _count_call(self, specialisation):
        state = self._function._state
        self._function._traffic.calls += 1
        state.clock = specialisation.used = state.clock + 1

    def _call_with_care(self, args, kwargs):
        function = self._function
        try:
            arguments = self._structured(args, kwargs)
        except (TypeError, ValueError) as error:
            try:
                arguments = self._flat(args, kwargs)
            except TypeError as other:
                more = f"\nFallback to flat signature also failed due to: {other}"
                raise binding_error(error, args, kwargs, self._signature_text(), more) from None
        call = Call(*arguments, function._parameters.names, function._state.identities)
        self._check_dtypes(call.tensors)
        state = function._state
        found = state.known.get(call.key)
        if found is None:
            with state.lock:
                found = state.known.get(call.key)
                if found is None:
                    found = function._add_specialisation(call, self._entry, False)
        self._count_call(found)
        if self._first.paths.latest is None:
            self._first = found
        result = function._run(found, call.tensors)
        if not kwargs and list(map(id, args)) == list(map(id, call.tensors)):
            if len(self._quick) >= _MOST_QUICK_KEYS:
                self._quick.clear()
            self._quick[tuple([(x._value.dtype, x._value.shape) for x in args])] = found
        return result

    def _kinds(self):
        return dict(zip(self._entry.kind.keys, self._entry.kind.children, strict=True))

    def _structured(self, args, kwargs):
        """The arguments by the parameters of the function; plain values may be left out."""
        parameters = self._function._parameters
        kinds = self._kinds()
        left_out = {
            name: kind.get() if isinstance(kind, ObjectKind) else kind
            for name, kind in kinds.items()
            if name not in kwargs
            and name not in parameters.names[: len(args)]
            and name in parameters.signature.parameters
            and (type(kind) in PLAIN or isinstance(kind, ObjectKind))
        }
        bound = parameters.signature.bind(*args, **kwargs, **left_out)
        by_keyword = parameters.in_order(bound.kwargs)
        names = parameters.names_of(len(bound.args), by_keyword)
        for name in kinds:
            if name not in names:
                raise TypeError(f"missing a required argument: {name!r}")
        if len(names) > len(kinds):
            raise TypeError("too many arguments")
        values = [
            _fit_loosely(value, kinds[name])
            for name, value in zip(names, (*bound.args, *by_keyword.values()), strict=True)
        ]
        count = len(bound.args)
        return tuple(values[:count]), dict(zip(names[count:], values[count:], strict=True))

    def _flat(self, args, kwargs):
        """The arguments, given tensors alone: by position, or by the names of the inputs."""
        names = self._input_names()
        title = f"{self._function.name}({', '.join(names)})"
        if len(args) > len(names):
            raise TypeError(f"{title} takes {len(names)} positional arguments, got {len(args)}.")
        given = dict(zip(names, args, strict=False))
        for name, value in kwargs.items():
            if name in given:
                raise TypeError(f"{title} got two values for {name!r}.")
            if name in names:
                given[name] = value
        missing = [name for name in names if name not in given]
        if missing:
            raise TypeError(f"{title} missing required arguments: {', '.join(sorted(missing))}.")
        unknown = [name for name in kwargs if name not in names]
        if unknown:
            raise TypeError(f"{title} got unexpected keyword arguments: {', '.join(unknown)}.")
        for i, name in enumerate(names):
            if not isinstance(given[name], (Tensor, Variable)):
                item = given[name]
                raise TypeError(
                    f"{title}: expected argument #{i}(zero-based) to be a Tensor; got "
                    f"{type(item).__name__} ({item})."
                )
        args, kwargs = self.structured_input_signature
        remaining = iter([given[name] for name in names])
        return _with_tensors(args, remaining), _with_tensors(kwargs, remaining)

    def _check_dtypes(self, tensors):
        specs = tensor_specs_of(self._entry.kind)
        if len(specs) != len(tensors):
            return
        for i, (tensor, spec) in enumerate(zip(tensors, specs, strict=True)):
            if tensor.dtype != spec.dtype:
                name = self.name.decode()
                raise InvalidArgumentError(
                    None,
                    None,
                    f"cannot compute {name} as input #{i}(zero-based) was expected to be a "
                    f"{spec.dtype.runtime_word} tensor but is a {tensor.dtype.runtime_word} tensor "
                    f"[Op:{name}]",
                )

    # The graph ----------------------------------------------------------------------------------

    @property
    def _path(self) -> Any:
        path = self._first.paths.latest
        if path is None:
            raise ValueError(
                f"Function {self._function.name!r} has no graph for these arguments yet: what it "
                "does needs real values. Call it first."
                if self._first.paths.by_python is None
                else f"Function {self._function.name!r} runs as plain Python: "
                f"{self._first.paths.by_python}."
            )
        return path

    @property
    def graph(self):
        """The graph, as it was traced.

        Raises:
            ValueError: it was not: the function cannot run without real arguments, or not as a
                graph.
        """
        return self._path.graph

    @property
    def function_def(self):
        """The graph with its arguments, listed in the vocabulary of TensorFlow's FunctionDef."""
        graph = self.graph
        return {
            "signature": {
                "name": self.name.decode(),
                "input_arg": [_argument(value) for value in graph.inputs],
                "output_arg": [_argument(value) for value in graph.outputs],
            },
            "node_def": graph.as_graph_def()["node"][len(graph.inputs) :],
        }

    @property
    def inputs(self):
        """The inputs of the graph: one for each tensor among the arguments."""
        specs = tensor_specs_of(self._entry.kind)
        names = self._input_names()
        return [GraphTensor(n, s.shape, s.dtype) for n, s in zip(names, specs, strict=True)]

    @property
    def outputs(self):
        """The outputs of the graph."""
        return [self._graph_tensor(value) for value in self.graph.outputs]

    @property
    def variables(self):
        """The variables it reads or writes."""
        return tuple(self._path.variables)

    @property
    def trainable_variables(self):
        return tuple([each for each in self._path.variables if each.trainable])

    @property
    def captured_inputs(self):
        """What it uses besides its arguments and constants: its variables."""
        return list(self._path.variables)

    @property
    def structured_input_signature(self):
        """The arguments it takes, as a pair of args and kwargs with specs for tensors."""
        parameters = self._function._parameters
        kinds = self._kinds()
        by_keyword = _keyword_names(parameters, kinds)
        args = [as_structure(kind, name) for name, kind in kinds.items() if name not in by_keyword]
        return tuple(args), {name: as_structure(kinds[name], name) for name in by_keyword}

    @property
    def structured_outputs(self):
        """What it returns, with descriptions in the place of tensors."""
        path = self._path
        remaining = iter(path.graph.outputs)

        def describe(leaf):
            if leaf is None:
                return None
            if isinstance(leaf, Tensor):
                return self._graph_tensor(next(remaining))
            for _ in leaf._components():
                next(remaining)
            return with_open_sizes(kind_of(leaf)) if self._is_open() else kind_of(leaf)

        return nest.map_structure(describe, self._packed_outlines())

    @property
    def output_shapes(self):
        return nest.map_structure(_shape_of, self.structured_outputs)

    @property
    def output_dtypes(self):
        return nest.map_structure(_dtype_of, self.structured_outputs)

    def _packed_outlines(self):
        path = self._path
        return path.pack([outline_of(_OfValue(value)) for value in path.graph.outputs])

    def _graph_tensor(self, value: Value):
        return GraphTensor(value.name or "const", self._known_shape(value), of_numpy(value.dtype),
                           value.node)  # fmt: skip

    def _known_shape(self, value):
        """The shape of an output; where those of inputs are open its sizes are not certain."""
        return as_shape([None] * len(value.shape) if self._is_open() else value.shape)

    def _is_open(self):
        """Whether tensors of several shapes are arguments of this kind."""
        specs = tensor_specs_of(self._entry.kind)
        return any([not spec.shape.is_fully_defined() for spec in specs])

    def _input_names(self):
        """A name for each tensor among the arguments, each of them once."""
        names = []
        for name, kind in self._kinds().items():
            for spec in tensor_specs_of(kind):
                base = spec.name or name
                count = sum([each == base or each.rpartition("_")[0] == base for each in names])
                names.append(base if not count else f"{base}_{count}")
        return names

    # Text ---------------------------------------------------------------------------------------

    def _output_text(self):
        try:
            result = nest.map_structure(
                lambda x: x if x is None or is_spec(x) else TensorSpec(x.shape, x.dtype),
                self.structured_outputs,
            )
        except ValueError:
            return "<unknown>"
        return kind_text(kind_of(result))

    def _signature_text(self):
        parameters = self._function._parameters
        kinds = self._kinds()
        by_keyword = _keyword_names(parameters, kinds)
        shown = [f"{n}: {kind_text(k)}" for n, k in kinds.items() if n not in by_keyword]
        if any([name not in parameters.signature.parameters for name in kinds]):
            shown += ["/"] if shown else []
        if by_keyword:
            shown += ["*", *[f"{name}: {kind_text(kinds[name])}" for name in by_keyword]]
        return f"({', '.join(shown)}) -> {self._output_text()}"

    def pretty_printed_signature(self, verbose=True):
        """The arguments it takes, what it returns and the variables it uses."""
        parameters = self._function._parameters
        kinds = self._kinds()
        if not verbose:
            return f"{self._function.name}{self._signature_text()}"
        by_keyword = _keyword_names(parameters, kinds)
        is_open = any([n not in parameters.signature.parameters for n in kinds
                       if n not in by_keyword])  # fmt: skip
        lines = ["Input Parameters:"]
        for name, kind in kinds.items():
            how = "KEYWORD_ONLY" if name in by_keyword else "POSITIONAL_OR_KEYWORD"
            if is_open and name not in by_keyword:
                how = "POSITIONAL_ONLY"
            lines.append(f"  {name} ({how}): {kind_text(kind)}")
        if not kinds:
            lines.append("  None")
        lines += ["Output Type:", f"  {self._output_text()}", "Captures:"]
        path = self._first.paths.latest
        captured = [] if path is None else path.variables
        for variable in captured:
            lines.append(
                f"  {id(variable._handle)}: TensorSpec(shape=(), dtype=tf.resource, name=None)"
            )
        return "\n".join(lines if captured else [*lines, "  None"])

    def __str__(self):
        return f"ConcreteFunction {self.pretty_printed_signature()}"

    def __repr__(self):
        return f"<ConcreteFunction {self._signature_text()} at {id(self):#X}>".replace("0X", "0x")


class _OfValue:
    """A value of a graph in the place of a tensor, where only shape and dtype are looked at."""

    def __init__(self, value):
        self._value = value


def _fit_loosely(value, kind):
    """`fit`, without looking at the shapes and dtypes of tensors."""
    if isinstance(kind, TensorSpec) and isinstance(value, (Tensor, Variable)):
        return value.read_value() if isinstance(value, Variable) else value
    return fit(value, kind)


def _keyword_names(parameters, kinds):
    positional = parameters.names
    rest = parameters.rest_name
    return [
        name
        for name in kinds
        if name not in positional and not (rest and name.startswith(f"{rest}_"))
    ]


def _with_tensors(structure, tensors):
    """A structure with tensors, taken in order, in the place of its specs."""

    def replace(leaf):
        return next(tensors) if isinstance(leaf, TensorSpec) else leaf

    return nest.map_structure(replace, structure)


def _argument(value):
    return {"name": value.name, "type": of_numpy(value.dtype).name}


def _shape_of(item):
    return None if item is None else item.shape


def _dtype_of(item):
    return None if item is None else item.dtype

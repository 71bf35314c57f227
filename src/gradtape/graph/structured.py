"""Structured control flow: branches and loops whose bodies are graphs of their own.

A body is traced once, on the values of the call at hand, and then run as a program by the kernel
of one op: loops may take another number of turns, and branches another way, without a new trace.
That is possible where the body computes and does nothing else. Where it looks at values, prints,
draws random numbers or writes to variables, `NotStructuredError` says so, and the caller goes on as
if nothing had happened: turn by turn, with guards.

The ops are not in the table of ops. Their attributes hold graphs, so nobody can call them by name,
and what holds for every row of the table, as a reference in NumPy, has no meaning for them.
"""

import functools
from typing import Any

import numpy as np

from ..autodiff.accumulator import ForwardAccumulator
from ..autodiff.tape import GradientTape
from ..batching import batch_level
from ..core import dtypes
from ..core.active import thread
from ..core.dispatch import make_call
from ..core.indexed_slices import IndexedSlices, make_slices
from ..core.op import Op, Recorder, Spec
from ..core.rules import compile_rules
from ..core.tensor import EagerTensor, Tensor
from ..ops.broadcasting import broadcast_to, reshape
from ..ops.families import shape_of
from ..ops.identity import identity_row
from .interpret import Program
from .passes import optimize
from .replay import replay
from .symbolic import SymbolicTensor
from .trace import Trace


class NotStructuredError(BaseException):
    """A body does more than compute. No Exception, so that the user's code does not catch it."""


class BodyTrace(Trace):
    """The trace of a body, which ends where the body does more than compute.

    What it uses of the trace around it, variables included, becomes an input.
    """

    def __init__(self, name, outer):
        effects = None if outer is None else outer.effects
        super().__init__(name, effects=effects, parent=outer, creates=False)
        self.variables = []
        self._read_outside = {}

    @property
    def outside(self):
        """The trace and the recorders around the body."""
        return self._outside

    def read(self, variable):
        key = variable._handle.id
        if key not in self._read_outside:
            if self.parent is None:
                raise NotStructuredError
            outside = self.parent.read(variable)
            tensor = SymbolicTensor(outside._value._real, self, self.value_of(outside))
            tensor._id = key
            self.variables.append(variable)
            self._read_outside[key] = tensor
        return self._read_outside[key]

    def _refuse(self, *arguments, **options):
        raise NotStructuredError

    guard = effect = write = update = rule = add_variable = _refuse


class _Witness(Recorder):
    """Ends the trace of a body that uses constants which a tape around it follows."""

    def __init__(self, outside):
        self._outside = outside

    def record(self, op, attrs, inputs, out):
        for recorder in self._outside:
            if recorder.is_silent:
                recorder.record(op, attrs, inputs, out)
        ids = [x._id for x in inputs if type(x) is EagerTensor]
        if ids and any([recorder.tracks(ids) for recorder in self._outside]):
            raise NotStructuredError


class Body:
    """The graph of a body.

    Attributes:
        name: what it is called in print.
        graph: from the arguments and then what it captures to its results.
    """

    def __init__(self, graph):
        self.name = graph.name
        self.graph = graph
        self._program = None

    @property
    def program(self) -> Any:
        """The graph made ready to run, when it is run for the first time."""
        if self._program is None:
            self._program = Program(optimize(self.graph))
        return self._program

    @property
    def specs(self):
        """The shapes and dtypes of the results."""
        return [(value.shape, value.dtype) for value in self.graph.outputs]

    def __repr__(self):
        return f"<Body {self.name!r}>"


def replayed(body, tensors) -> Any:
    """The results of a body op by op through dispatch, so that whatever looks on sees plain ops."""
    return replay(body.graph, tensors, None)


def trace_body(name, function, arrays):
    """Traces a body inside the active trace.

    Args:
        name: what to call it.
        function: from tensors to a list of tensors.
        arrays: values for its arguments.

    Returns:
        The Body, and the tensors of traces around it that it captures.

    Raises:
        NotStructuredError: it does more than compute, or fails on these values.
    """
    outer, recorders = thread.trace, thread.recorders
    if _depth(outer) >= _DEEPEST:
        raise NotStructuredError
    first_effect = outer.effects.mark()
    trace = BodyTrace(outer.graph.unique_name(name), outer)
    try:
        with trace:
            thread.recorders = (_Witness(recorders),)
            outputs = function(*[trace.input(_plain(array), "arg") for array in arrays])
            if not all([type(x) in (EagerTensor, SymbolicTensor) for x in outputs]):
                raise NotStructuredError
            _Witness(recorders).record(None, None, outputs, None)
            graph = trace.finish(outputs)
    except Exception as error:
        # It may be that this call never gets here. If it does, the error comes up again.
        raise NotStructuredError from error
    finally:
        outer.effects.go_back(first_effect)
    for variable in trace.variables:
        variable._read()  # tells the tapes around the body
    return Body(graph), list(trace.outer_inputs)


# A branch in which a function calls itself would be traced without end.
_DEEPEST = 12


def _depth(trace):
    """How many bodies around a trace are being traced."""
    depth = 0
    while trace is not None:
        depth += isinstance(trace, BodyTrace)
        trace = trace.parent
    return depth


def _plain(array):
    return array if isinstance(array, (np.ndarray, np.generic)) else np.asarray(array)


def value_now(tensor):
    """The array of a tensor in this call, without relying on it.

    Raises:
        NotStructuredError: a batched tensor has no single value.
    """
    if type(tensor) is SymbolicTensor:
        return tensor._value._real
    if type(tensor) is EagerTensor:
        return tensor._value
    if isinstance(tensor, Tensor):
        raise NotStructuredError
    return tensor


# Ops ----------------------------------------------------------------------------------------------


class Form:
    """What a structured op does: its only attribute, told apart by identity.

    Attributes:
        type: the op type.
        bodies: those it runs.
        specs: shapes and dtypes of the results.
    """

    type: str
    bodies: list
    specs: list

    @property
    def graphs(self):
        """The graphs of its bodies, to be printed and checked with the graph it is in."""
        return [body.graph for body in self.bodies]

    @property
    def name(self):
        """What stands for it in print."""
        return ", ".join([body.name for body in self.bodies])

    def run(self, values):
        """The results for arrays."""
        raise NotImplementedError

    def replay(self, tensors):
        """The results op by op through dispatch, so that whatever looks on sees plain ops."""
        raise NotImplementedError

    def gradients(self, g, values, wanted):
        """The gradients of all inputs, None where there is none; on tensors or on arrays."""
        return gradients_by_replay(self.replay, g, values, wanted, thread.nan_safe)

    def apply(self, values):
        """Applies the op to tensors; inside of rules, to arrays."""
        return op_of(self.type).call(values, form=self)


class Derivable(Form):
    """A form whose gradient is a form too, made when it is first asked for."""

    def __init__(self):
        self._gradient_forms = {}

    def derived(self, arrays, wanted):
        """The GradientForm, traced on these values.

        Raises:
            NotStructuredError: there is none.
        """
        raise NotImplementedError

    def gradients(self, g, values, wanted):
        key = tuple(wanted), thread.nan_safe
        try:
            if key not in self._gradient_forms:
                arrays = [value_now(x) for x in values]
                self._gradient_forms[key] = self.derived(arrays, wanted)
        except NotStructuredError:
            return super().gradients(g, values, wanted)
        form = self._gradient_forms[key]
        results: list = [None] * len(values)
        if form.specs:
            found = iter(form.apply([*values, *[g[i] for i in form.followed]]))
            for i in form.reached:
                results[i] = next(found)
            for i in form.sparse:
                results[i] = make_slices(next(found), next(found), shape_of(values[i]))
        return results


class GradientForm(Form):
    """The gradient of another form, from its inputs and the gradients of its results.

    Attributes:
        followed: positions of the results that gradients are given for.
        reached: positions of the inputs that gradients come for, each one result of this form.
        sparse: positions of inputs whose gradients are rows and where they belong: two results.
    """

    followed: list
    reached: list
    sparse: list = []  # noqa: RUF012 - replaced, never changed

    def __init__(self, form, arrays):
        self.type = f"{form.type}Grad"
        self.bodies = form.bodies
        self.form = form
        self.count = len(arrays)
        self.nan_safe = thread.nan_safe

    def replay(self, tensors):
        values, grads = tensors[: self.count], tensors[self.count :]
        g: list = [None] * len(self.form.specs)
        for i, each in zip(self.followed, grads, strict=True):
            g[i] = each
        wanted = [i in self.reached or i in self.sparse for i in range(self.count)]
        found = gradients_by_replay(
            self.form.replay, g, values, wanted, self.nan_safe, keep=self.sparse
        )
        dense = [
            EagerTensor(np.zeros(shape, dtype)[()]) if found[i] is None else found[i]
            for i, (shape, dtype) in zip(self.reached, self.specs, strict=False)
        ]
        return [*dense, *[x for i in self.sparse for x in (found[i].values, found[i].indices)]]


@functools.cache
def op_of(name):
    """The structured op of a type. Its derivatives and batches come from the form.

    Tangents and batches go op by op, and so do derivatives of gradients: correct at every order.
    """
    op = Op(
        name, ("*values",), _run, _infer, vjp=_gradients, jvp=_tangents, batch=_batch,
        outputs=-1, holomorphic=False,
    )  # fmt: skip
    op.call = make_call(op)
    record_on = compile_rules(op)

    def record(recorder, attrs, inputs, out):
        record_on(recorder, attrs, inputs, out)
        if recorder.is_tape:
            for tensor in out:
                recorder.note_dtype(tensor)

    op.record = record
    return op


def _run(*values, form):
    return tuple([_without_owner(array) for array in form.run(values)])


def _without_owner(array):
    """The array as a view: the next call may return what belongs to somebody else in its place."""
    return array.view() if type(array) is np.ndarray else array


def _infer(*inputs, form):
    return tuple([Spec(shape, dtype) for shape, dtype in form.specs])


def _gradients(g, values, *, form, wanted):
    return form.gradients(g, values, wanted)


def _tangents(op, tangents, inputs, out, attrs):
    twins = _twins(inputs)
    pairs = [(x, t) for x, t in zip(twins, tangents, strict=True) if t is not None]
    with ForwardAccumulator([x for x, _ in pairs], [t for _, t in pairs]) as accumulator:
        outputs = attrs["form"].replay(twins)
    return tuple([accumulator.jvp(x) for x in outputs])


def _batch(op, values, flags, attrs):
    count = next(x._value.shape[0] for x, flag in zip(values, flags, strict=True) if flag)
    with batch_level() as level:
        wrapped = [level.wrap(x) if f else x for x, f in zip(values, flags, strict=True)]
        outputs = attrs["form"].replay(wrapped)
    return tuple([rows_of_all(level, x, count) for x in outputs])


def rows_of_all(level, tensor, count):
    """The results of all elements of a batch level, along a first axis."""
    rows = level.unwrap(tensor)
    if rows is not None:
        return rows
    shape = tensor._value.shape
    return broadcast_to(reshape(tensor, shape=(1, *shape)), shape=(count, *shape))


def _twins(tensors):
    """Tensors of the same values with ids of their own: one tensor may be given in two places."""
    return [identity_row(x) for x in tensors]


def gradients_by_replay(replay, g, values, wanted, nan_safe, keep=()):
    """The gradients of what `replay` computes, by a tape; on tensors or on arrays.

    They are dense, except of those inputs whose positions are in `keep`.
    """
    on_arrays = not any([isinstance(x, Tensor) for x in (*values, *g)])
    twins = _twins([x if isinstance(x, Tensor) else EagerTensor(x) for x in values])
    places = [
        i for i, x in enumerate(twins) if wanted[i] and x._value.dtype in dtypes.DIFFERENTIABLE
    ]
    with GradientTape(watch_accessed_variables=False, nan_safe=nan_safe) as tape:
        tape.watch([twins[i] for i in places])
        outputs = replay(twins)
    pairs = [
        (x, each if isinstance(each, Tensor) else EagerTensor(each))
        for x, each in zip(outputs, g, strict=True)
        if x._value.dtype in dtypes.DIFFERENTIABLE
    ]
    found = tape.gradient(
        [x for x, _ in pairs], [twins[i] for i in places], output_gradients=[d for _, d in pairs]
    )
    results: list = [None] * len(twins)
    for i, d in zip(places, found, strict=True):
        dense: Any = d._to_tensor(None) if isinstance(d, IndexedSlices) and i not in keep else d
        results[i] = dense._value if on_arrays and dense is not None else dense
    return results

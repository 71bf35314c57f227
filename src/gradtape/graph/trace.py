"""Trace: one run of a Python function, from which a graph is made.

The run computes real values, as an eager one does, and writes down what it does. Only what depends
on the arguments, on variables or on effects becomes part of the graph: all else is a constant.
"""

import os
import sys

import numpy as np

from ..autodiff.override import active_gradient
from ..core import random_seed
from ..core.active import thread
from ..core.dispatch import recover
from ..core.errors import OpError
from ..core.op import NON_DIFFERENTIABLE, Spec
from ..core.tensor import EagerTensor
from ..ops.arithmetic import add, sub
from ..ops.identity import stop_gradient_row
from .guards import SHAPE, Effects, outcome_of
from .handlers import any_handles
from .interpret import as_value
from .ir import APPLY, EFFECT, GUARD, READ, RULE, Graph, Node, Value
from .op_log import Captures
from .symbolic import SymbolicTensor, translated

# Ops of which the result follows from shapes and dtypes alone, which a trace has for certain.
_OF_SHAPES = frozenset(("OnesLike", "Rank", "Shape", "ShapeN", "Size", "ZerosLike"))
# What TensorFlow calls the results of Python's operators.
_NAMES = {"AddV2": "add", "Mul": "mul", "Pow": "pow", "RealDiv": "truediv", "Sub": "sub"}
_UPDATES = {np.add: add, np.subtract: sub}
# Code of this package: its files, and functions it writes at run time.
_OURS = (os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep, "<gradtape ")


class TraceTooLongError(RuntimeError):
    """A trace has grown beyond what is worth running as a graph."""


class NotTraceableError(RuntimeError):
    """What the function does can be done by running it, but not by a graph."""


class NeedsOuterTraceError(NotTraceableError):
    """What a function does inside another one has to be traced as a part of that one."""


class Trace:
    """A function being traced; `with trace:` makes it the one of this thread.

    Attributes:
        graph: what has been traced.
        outcomes: those of its guards, in order.
        created: the variables that were made meanwhile; None if none may be made.
        is_open: whether its tensors can be used.
        captures_outer: whether it uses tensors of a trace around it.
        has_failed: whether an op has raised an error that another call may not raise.
        needs_outer: whether it came to something that only the trace around it can do.
        given_up: why there can be no graph, if it came to that. These three are kept because the
            function being traced may handle the error it is told by.
        captures: notices tensors that were there before.
        living: weak references to the values of its tensors.
    """

    def __init__(self, name, *, effects=None, parent=None, creates=True, limit=50_000):
        self.graph = Graph(name)
        self.outcomes = []
        self.created = [] if creates else None
        self.is_open = True
        self.parent = parent
        self.captures_outer = False
        self.effects = Effects() if effects is None else effects
        self.outer_inputs = []
        self.captures = Captures()
        self.living = []
        self._limit = limit
        self._constants = {}
        self._outer = {}
        self._guarded = set()
        self._states = {}
        self._unread = set()
        self._variables = {}
        self._pending = {}
        self._is_rehearsal = False
        self.has_failed = False
        self.needs_outer = False
        self.given_up = None
        self._base = None
        self._code = set()

    def __enter__(self):
        self._outside = thread.trace, thread.recorders
        thread.trace, thread.recorders = self, (self.captures,)
        self._base = sys._getframe(1).f_code
        return self

    def __exit__(self, *error):
        thread.trace, recorders = self._outside
        thread.recorders = tuple([each for each in recorders if not each.is_stopped])
        self.is_open = False

    # Values -------------------------------------------------------------------------------------

    def input(self, array, name):
        """A tensor for an argument whose value in this call is `array`."""
        return SymbolicTensor(array, self, self.graph.add_input(array.shape, array.dtype, name))

    def constant(self, tensor):
        """What tf.constant gives: the tensor itself, which is a constant of the graph."""
        return tensor

    def value_of(self, tensor):
        """The value in the graph of a tensor: traced here, further out, or a constant."""
        if type(tensor) is SymbolicTensor:
            tensor = translated(tensor)
        if type(tensor) is SymbolicTensor:
            if tensor._value._trace is self:
                return tensor._value._traced
            return self._from_outside(tensor)
        found = self._constants.get(tensor._id)
        if found is None:
            self.captures.note(tensor)
            array = tensor._value
            found = Value(array.shape, array.dtype, constant=array, name="const")
            # The tensor is kept too: what it is known by here is its id.
            self._constants[tensor._id] = found, tensor
            return found
        return found[0]

    def _from_outside(self, tensor):
        """A tensor of a function around this one becomes one more input."""
        trace = self.parent
        while trace is not None and trace is not tensor._value._trace:
            trace = trace.parent
        if trace is None or not trace.is_open:
            raise tensor._out_of_scope()
        found = self._outer.get(tensor._id)
        if found is None:
            real = tensor._value._real
            found = self.graph.add_input(real.shape, real.dtype, "captured")
            self._outer[tensor._id] = found
            self.outer_inputs.append(tensor)
            self.captures_outer = True
        return found

    # Ops ----------------------------------------------------------------------------------------

    def apply(self, op, inputs, attrs):
        """Applies `op` to the values of this call and adds it to the graph."""
        if thread.translations:
            inputs = tuple([translated(x) for x in inputs])
        values = [x._value._real if type(x) is SymbolicTensor else x._value for x in inputs]
        sources = [self.value_of(x) for x in inputs]
        try:
            if op.checked or op.accepts is not None:
                op.infer(*values, **attrs)
            result = op.kernel(*values, **attrs)
        except Exception as error:
            result = self._recovered(op, values, attrs, error)
        results = (as_value(result),) if op.outputs == 1 else tuple(result)
        if op.name in _OF_SHAPES:
            out = tuple([EagerTensor(each) for each in results])
        else:
            out = self._add(op, sources, attrs, values, results)
        out = out[0] if op.outputs == 1 else out
        recorders = thread.recorders
        if recorders and op.state is not NON_DIFFERENTIABLE:
            for recorder in recorders:
                if not recorder.is_silent:
                    op.record(recorder, attrs, inputs, out)
        return out

    def _add(self, op, sources, attrs, values, results):
        node = self._node(APPLY, op, sources, attrs, _NAMES.get(op.name, op.name))
        outputs = self.graph.add_node(node, [(each.shape, each.dtype) for each in results])
        foreseen = _foreseen(op, values, attrs)
        node.rechecked = foreseen is None
        node.gradient = active_gradient(op)
        tensors = []
        for i, (traced, real) in enumerate(zip(outputs, results, strict=True)):
            traced.fresh = _is_fresh(real, values)
            tensors.append(SymbolicTensor(real, self, traced))
            if foreseen is None or foreseen[i] != real.shape:
                self.guard(traced, real, SHAPE)
        return tuple(tensors)

    def rule(self, name, inputs, outputs, backward):
        """New tensors with the values of `outputs`, whose gradients `backward` gives."""
        sources = [self.value_of(x) for x in (*inputs, *outputs)]
        reals = [_real(x) for x in outputs]
        node = self._node(RULE, None, sources, {"name": name, "backward": backward}, name)
        traced = self.graph.add_node(node, [(each.shape, each.dtype) for each in reals])
        return [SymbolicTensor(r, self, v) for r, v in zip(reals, traced, strict=True)]

    def _recovered(self, op, values, attrs, error):
        try:
            return recover(op, values, attrs, error)
        except Exception:
            # Another call may not fail, unless it is the shapes that do not fit.
            self.has_failed = self.has_failed or not _fails_by_shapes(op, values, attrs)
            raise

    def _node(self, kind, op, inputs, attrs, name):
        if not self.graph.handles_errors:
            self.graph.handles_errors = any_handles(self._base, _OURS, self._code)
        if len(self.graph.nodes) >= self._limit:
            self.has_failed = True
            raise TraceTooLongError(
                f"More than {self._limit} ops: too many for a graph. Loops over tensors are traced "
                "turn by turn; tf.while_loop and tf.scan make one op of a loop."
            )
        return Node(kind, op, inputs, attrs, self.graph.unique_name(name), user_line())

    def guard(self, traced, real, how):
        """Lets the rest of the trace rely on what `how` sees of a value."""
        if (id(traced), how) in self._guarded:
            return
        if not self.is_open:
            raise TypeError(f"A tensor of function {self.graph.name!r} is out of scope here.")
        self._guarded.add((id(traced), how))
        outcome = outcome_of(real, how)
        node = self._node(GUARD, None, (traced,), {"how": how, "outcome": outcome}, "guard")
        self.graph.add_node(node, ())
        self.outcomes.append(outcome)

    # Effects ------------------------------------------------------------------------------------

    def effect(self, name, function, tensors, *, variables=(), rehearsable=False, fixed=False):
        """Calls `function` now and at every call of the graph, at this place among the effects.

        Args:
            name: what it is called in print.
            function: from arrays to a tuple of arrays.
            tensors: its arguments.
            variables: those it may look at or change; None for any.
            rehearsable: whether calling it once more, with other arguments, does no harm.
            fixed: whether the shapes of its results are the same at every call.

        Returns:
            The results, as tensors.
        """
        if self._is_rehearsal and not rehearsable:
            raise NotTraceableError("its gradient does something besides computing")
        if variables is None and self.parent is not None:
            self.needs_outer = True
            raise NeedsOuterTraceError("only the function around it knows what variables hold")
        tensors = [translated(x) for x in tensors]
        attrs = {
            "function": function,
            "variables": variables,
            "rehearsable": rehearsable,
            "fixed": fixed,
        }
        known = self._known_variables(variables)
        if known:
            # What was read or written here is not what variables hold: it is given to them while
            # the function runs, and what they hold then is among the results.
            attrs["function"] = _with_states(function, known, len(tensors))
            tensors = [*tensors, *[self.read(variable) for variable in known]]
        sources = [self.value_of(x) for x in tensors]
        node = self._node(EFFECT, None, sources, attrs, name)
        outside = thread.trace, thread.recorders
        thread.trace, thread.recorders = None, ()
        before = random_seed.capture() if self._is_rehearsal else None
        try:
            arrays = [_real(x) for x in tensors]
            results = self.effects.run(attrs["function"], arrays, (name, node.where, rehearsable))
        except Exception:
            self.has_failed = True
            raise
        finally:
            if before is not None:
                before.restore()
            thread.trace, thread.recorders = outside
        outputs = self.graph.add_node(node, [(each.shape, each.dtype) for each in results])
        found = [SymbolicTensor(r, self, v) for r, v in zip(results, outputs, strict=True)]
        count = len(results) - len(known)
        for variable, tensor in zip(known, found[count:], strict=True):
            self.write(variable, tensor)
            if not variable.shape.is_fully_defined():
                self.guard(tensor._value._traced, _real(tensor), SHAPE)
        for tensor in () if fixed else found[:count]:
            self.guard(tensor._value._traced, _real(tensor), SHAPE)
        return found[:count]

    def give_up(self, reason):
        """Has the function run as plain Python.

        Raises:
            NotTraceableError: always, to end this run.
        """
        self.given_up = reason
        raise NotTraceableError(reason)

    def begin_rehearsal(self):
        """Has what follows be traced for a later time: variables are read anew by then.

        Returns:
            The writes so far: pairs of a variable and a value.
        """
        writes = [(variable, self.value_of(x)) for variable, x in self._pending.values()]
        self._pending = {}
        self._is_rehearsal = True
        self.effects = Effects()
        self.forget_states()
        return writes

    def forget_states(self):
        """Has variables be read anew from here on."""
        self._states = {}

    def _known_variables(self, variables):
        """Those of the variables that have been read or written here."""
        if variables is None:
            return [self._variables[key] for key in self._states]
        return [v._original for v in variables if v._handle.id in self._states]

    # Variables ----------------------------------------------------------------------------------

    def read(self, variable):
        """What a variable holds at this point, known to tapes by the variable's id."""
        handle = variable._handle
        found = self._states.get(handle.id)
        if found is None:
            real = self._real_state(handle)
            node = self._node(READ, None, (), {"variable": variable._original}, "ReadVariableOp")
            (traced,) = self.graph.add_node(node, [(real.shape, real.dtype)])
            if handle.shape is not None and not handle.shape.is_fully_defined():
                self.guard(traced, real, SHAPE)
            found = self._state(variable, real, traced)
        elif handle.id in self._unread:
            # What was written is a value of its own: to tapes it comes from the variable alone.
            value = found._value
            (held,) = self._add(
                stop_gradient_row.op, [value._traced], {}, [value._real], [value._real]
            )
            held._value._traced.node.holder = variable._original
            found = self._state(variable, value._real, held._value._traced)
        self._unread.discard(handle.id)
        return found

    def _real_state(self, handle):
        if handle.id in self._states:
            return self._states[handle.id]._value._real
        return handle.tensor._value if self.parent is None else self.parent._real_state(handle)

    def _state(self, variable, real, traced):
        handle = variable._handle
        tensor = SymbolicTensor(real, self, traced)
        tensor._id = handle.id
        self._states[handle.id] = tensor
        self._variables[handle.id] = variable._original
        return tensor

    def write(self, variable, tensor):
        """Has a variable hold the value of `tensor` from here on, and get it at the end."""
        self._pending[variable._handle.id] = variable._original, tensor
        self._state(variable, _real(tensor), self.value_of(tensor))
        self._unread.add(variable._handle.id)
        self.note_write(variable, tensor)

    def note_write(self, variable, tensor):
        """Has a variable keep the value of `tensor` if what follows fails."""
        place = len(self.graph.nodes), variable._original, self.value_of(tensor)
        self.graph.history.append(place)

    def update(self, variable, ufunc, delta):
        """`write` of what a variable holds, plus or minus `delta`."""
        recorders, thread.recorders = thread.recorders, ()
        try:
            self.write(variable, _UPDATES[ufunc](self.read(variable), delta))
        finally:
            thread.recorders = recorders

    def add_variable(self, variable):
        """Allows a variable to be made, or not.

        Raises:
            ValueError: those of this function have been made.
        """
        if self.created is None:
            raise ValueError(
                "tf.function only supports singleton tf.Variables created on the first call. Make "
                "sure the tf.Variable is only created once or created outside tf.function. See "
                "https://www.tensorflow.org/guide/function#creating_tfvariables for more "
                "information."
            )
        self.created.append(variable)

    def finish(self, outputs):
        """The graph, with these tensors for its outputs."""
        self.graph.outputs = [self.value_of(x) for x in outputs]
        self.graph.writes = [(v, self.value_of(x)) for v, x in self._pending.values()]
        return self.graph

    def release(self):
        """Lets go of the values of this run.

        Functions of the user's may keep tensors of it, and so the trace, for as long as its graph.
        """
        for reference in self.living:
            value = reference()
            if value is not None:
                value.release()
        for each in (self.living, self._constants, self._states, self._pending, self._outer):
            each.clear()
        self.effects = Effects()

    def commit(self):
        """Gives the variables what this run wrote to them."""
        for variable, tensor in self._pending.values():
            variable._handle.set_value(_real(tensor))


def _real(tensor):
    tensor = translated(tensor)
    return tensor._value._real if type(tensor) is SymbolicTensor else tensor._value


def _with_states(function, variables, count):
    """`function` as one of `count` arrays and what variables hold, to results and the same."""
    handles = [variable._handle for variable in variables]

    def run(*arrays):
        held = [handle.tensor for handle in handles]
        for handle, array in zip(handles, arrays[count:], strict=True):
            handle.set_value(array)
        try:
            results = function(*arrays[:count])
            return (*results, *[handle.tensor._value for handle in handles])
        finally:
            for handle, tensor in zip(handles, held, strict=True):
                handle.tensor = tensor

    return run


def _is_fresh(array, inputs):
    """Whether an array that a kernel returned belongs to nobody else."""
    return (
        type(array) is np.ndarray
        and array.base is None
        and array.flags.writeable
        and not any([array is x for x in inputs])
    )


def _fails_by_shapes(op, values, attrs):
    """Whether the shapes and dtypes alone are an error."""
    try:
        op.infer(*[Spec(v.shape, v.dtype) for v in values], **attrs)
    except (OpError, ValueError):
        return True
    except (AttributeError, TypeError, IndexError):
        return False
    return False


def _foreseen(op, values, attrs):
    """The shapes that inference gives without seeing values; None if it cannot."""
    try:
        found = op.infer(*[Spec(v.shape, v.dtype) for v in values], **attrs)
    except (AttributeError, TypeError, IndexError, OpError, ValueError):
        return None
    found = (found,) if isinstance(found, Spec) else tuple(found)
    if any([not all([type(size) is int for size in each.shape]) for each in found]):
        return None
    return [each.shape for each in found]


def user_line():
    """Where the user's code is now: the innermost frame outside this package."""
    frame = sys._getframe(2)
    while frame is not None and frame.f_code.co_filename.startswith(_OURS):
        frame = frame.f_back
    return None if frame is None else f"{frame.f_code.co_filename}:{frame.f_lineno}"

"""Control flow as functions: cond, case, switch_case, while_loop and what orders ops.

Run eagerly, they are Python's own: a branch is a call, and a loop runs until its condition fails.
"""

import collections
import contextlib
import threading

import numpy as np

from .core import dtypes, nest
from .core.active import thread
from .core.containers import is_composite
from .core.convert import convert_to_tensor
from .core.effects import is_deferred, perform
from .core.errors import InvalidArgumentError
from .core.exports import export
from .core.tensor import EagerTensor, Tensor
from .core.variable import Variable
from .graph.structured import NotStructuredError, trace_body, value_now
from .graph.structured_branches import branch, by_number, by_truth
from .graph.structured_loops import loop_while
from .graph.symbolic import SymbolicTensor
from .loop_tensor_array import LoopTensorArray
from .ops.arguments import integer
from .ops.casting import cast
from .ops.identity import identity
from .ops.joining import stack
from .ops.ordering import argmax
from .ops.reduction import reduce_sum
from .tensor_array import TensorArray


@export("cond")
def cond(pred, true_fn=None, false_fn=None, name=None):
    """Calls `true_fn` if the predicate holds, else `false_fn`, and returns what that returns.

    Args:
        pred: a truth value.
        true_fn: a function without parameters.
        false_fn: another.

    Raises:
        TypeError: one of them is missing or not a function.
    """
    for argument, function in (("true_fn", true_fn), ("false_fn", false_fn)):
        if function is None:
            raise TypeError(f"cond(): '{argument}' argument required")
        if not callable(function):
            raise TypeError(f"'{argument}' must be callable.")
    if thread.trace is not None and _is_traced(pred):
        with contextlib.suppress(NotStructuredError):
            return branch("StatelessIf", convert_to_tensor(pred), by_truth, (true_fn, false_fn))
    return true_fn() if pred else false_fn()  # pyright: ignore[reportOptionalCall]


def _is_traced(x):
    """Whether the value of something may be another when a traced function is called again."""
    return isinstance(x, (SymbolicTensor, Variable))


@export("case")
def case(pred_fn_pairs, default=None, exclusive=False, strict=False, name="case"):
    """Calls the function of the first predicate that holds, and returns what that returns.

    Args:
        pred_fn_pairs: pairs of a boolean scalar tensor and a function without parameters.
        default: the function to call if none holds.
        exclusive: whether at most one may hold, which is checked; with it, `pred_fn_pairs` may be a
            dictionary. Without a default the last one is not checked, as in TensorFlow.
        strict: accepted for compatibility; results are returned as they are.

    Raises:
        TypeError: a predicate is not a tensor, or a function cannot be called.
        InvalidArgumentError: none holds and there is no default, or several hold that exclude each
            other.
    """
    pairs = _pairs(pred_fn_pairs, exclusive)
    if default is not None and not callable(default):
        raise TypeError("'default' must be callable.")
    if exclusive:
        _check_exclusive([pred for pred, _ in (pairs if default is not None else pairs[:-1])])
    return _first_that_holds(pairs, default)


def _check_exclusive(preds):
    """Checks that at most one of some predicates holds, when a function runs as well."""
    if len(preds) < 2:
        return
    held = stack(preds)
    names = ", ".join(["?"] * len(preds))  # as tensors are called where they have no names
    assert_(
        reduce_sum(cast(held, dtypes.int32)) < 2,
        [f"Input error: exclusive=True: more than 1 conditions ({names}) evaluated as True:", held],
        summarize=len(preds),
    )


def _first_that_holds(pairs, default):
    """The case for which a predicate holds: as branches of branches, if they can be traced."""
    preds = [pred for pred, _ in pairs]
    if thread.trace is not None and default is not None and any([_is_traced(p) for p in preds]):
        functions = [*[function for _, function in pairs], default]
        with contextlib.suppress(NotStructuredError):
            # The first that holds has the greatest of all, and the first of equals is taken.
            held = stack([cast(convert_to_tensor(p), dtypes.int32) for p in (*preds, True)])
            return branch("StatelessCase", argmax(held), by_number(len(functions)), functions)
    for pred, function in pairs:
        if pred:
            return function()
    if default is None:
        shown = ", ".join([str(bool(pred)) for pred, _ in pairs])
        raise InvalidArgumentError(
            None, None, f"Input error: None of conditions evaluated as True: {shown}"
        )
    return default()


def _pairs(pred_fn_pairs, exclusive):
    if isinstance(pred_fn_pairs, dict):
        ordered = isinstance(pred_fn_pairs, collections.OrderedDict)
        if not exclusive and not ordered:
            raise ValueError(
                "Unordered dictionaries are not supported for the 'pred_fn_pairs' argument when "
                "`exclusive=False` and eager mode is enabled."
            )
        pred_fn_pairs = [
            (key.deref() if hasattr(key, "deref") else key, function)
            for key, function in pred_fn_pairs.items()
        ]
    if not isinstance(pred_fn_pairs, (list, tuple)):
        raise TypeError(
            f"'pred_fn_pairs' must be a list, tuple, or dict. Received: {type(pred_fn_pairs)}"
        )
    if not pred_fn_pairs:
        raise ValueError("'pred_fn_pairs' must hold at least one pair. Received none.")
    for pair in pred_fn_pairs:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TypeError(f"Each entry in 'pred_fn_pairs' must be a 2-tuple. Received {pair}.")
        pred, function = pair
        if not isinstance(pred, (Tensor, Variable)):
            raise TypeError(f"pred must be a Tensor, got: {pred}")
        if not pred.dtype.is_bool:
            raise TypeError(f"pred must be Tensor of type bool: {pred!r}")
        if not callable(function):
            raise TypeError(f"fn for pred {pred!r} must be callable. Received: {function!r}")
    return pred_fn_pairs


@export("switch_case")
def switch_case(branch_index, branch_fns, default=None, name="switch_case"):
    """Calls one of several functions, chosen by its number, and returns what that returns.

    Args:
        branch_index: an integer scalar tensor.
        branch_fns: the functions, in order; or pairs of number and function, or a dictionary,
            with the numbers from 0 on.
        default: what to call for a number outside; the last function if not given.

    Raises:
        TypeError: the index is not an integer tensor, or a function cannot be called.
        ValueError: the numbers are not those from 0 on.
    """
    branches = _branches(branch_fns)
    if default is not None:
        if not callable(default):
            raise TypeError("'default' must be callable.")
        branches.append(default)
    if not isinstance(branch_index, (Tensor, Variable)):
        raise TypeError(f"'branch_index' must be a Tensor, got {type(branch_index)}")
    if not branch_index.dtype.is_integer:
        raise TypeError(
            f"'branch_index' must be an integer Tensor, got <dtype: '{branch_index.dtype.name}'>"
        )
    if thread.trace is not None and _is_traced(branch_index) and branch_index.shape.rank == 0:
        choose = by_number(len(branches))
        with contextlib.suppress(NotStructuredError):
            return branch("StatelessCase", convert_to_tensor(branch_index), choose, branches)
    index = integer(branch_index, "Case")
    return branches[index if 0 <= index < len(branches) else -1]()


def _branches(branch_fns):
    if isinstance(branch_fns, dict):
        branch_fns = list(branch_fns.items())
    if not isinstance(branch_fns, (list, tuple)):
        raise TypeError("'branch_fns' must be a list, tuple, or dict")
    if not branch_fns:
        raise ValueError("Must provide at least one item in 'branch_fns'")
    if callable(branch_fns[0]):
        branch_fns = list(enumerate(branch_fns))
    for pair in branch_fns:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TypeError(f"Each entry in 'branch_fns' must be a 2-tuple. Received {pair}.")
        if not isinstance(pair[0], int):
            raise TypeError(f"key must be a Python `int`, got {type(pair[0])}")
        if not callable(pair[1]):
            raise TypeError(f"fn for key {pair[0]} must be callable.")
    numbers = [number for number, _ in branch_fns]
    if sorted(numbers) != list(range(len(numbers))):
        found = ",".join([str(number) for number in sorted(numbers)])
        raise ValueError(
            f"branch indices (keys) must form contiguous range of [0 to {len(numbers)}) but found "
            f"{{{found}}}"
        )
    return [function for _, function in sorted(branch_fns, key=lambda pair: pair[0])]


@export("while_loop")
def while_loop(
    cond,
    body,
    loop_vars,
    shape_invariants=None,
    parallel_iterations=10,
    back_prop=True,
    swap_memory=False,
    maximum_iterations=None,
    name=None,
):
    """Replaces the loop variables by what `body` makes of them, as long as `cond` holds.

    Args:
        cond: from the loop variables to a truth value.
        body: from the loop variables to their next values, as a list or tuple.
        loop_vars: a list or tuple of tensors, TensorArrays or nested structures of them.
        shape_invariants: accepted for compatibility; shapes may change freely.
        parallel_iterations: accepted for compatibility, as are the following two.
        back_prop: gradients always pass; use tf.stop_gradient to end them.
        swap_memory: nothing is moved to other devices.
        maximum_iterations: after how many iterations to stop in any case.

    Returns:
        The last values, as tensors, in the list or tuple that `body` returned.

    Raises:
        TypeError: `cond` or `body` cannot be called, or `body` returns no list or tuple.
        ValueError: there are no loop variables, or `body` changes their structure.
    """
    if not callable(cond):
        raise TypeError("'cond' must be callable.")
    if not callable(body):
        raise TypeError("'body' must be callable.")
    if type(parallel_iterations) is int and parallel_iterations < 1:
        raise TypeError("'parallel_iterations' must be a positive integer.")
    if not isinstance(loop_vars, (list, tuple)) or not loop_vars:
        raise ValueError("'loop_vars' must be provided.")
    if thread.trace is not None:
        with contextlib.suppress(NotStructuredError):
            return while_loop_in_trace(cond, body, loop_vars, maximum_iterations)
    limit = None if maximum_iterations is None else integer(maximum_iterations, "While")
    expected = list(loop_vars)
    done = 0
    while (limit is None or done < limit) and cond(*loop_vars):
        loop_vars = checked_turn(expected, body(*loop_vars))
        done += 1
    return nest.map_structure(_as_loop_result, loop_vars)


def checked_turn(expected, loop_vars):
    """What `body` returned, if it is in the structure of the loop variables."""
    if not isinstance(loop_vars, (list, tuple)):
        raise TypeError(
            "The body of a while_loop must return a list or tuple with one value for each of "
            f"the {len(expected)} loop variables. Received: {loop_vars!r}"
        )
    nest.assert_same_structure(expected, list(loop_vars))
    return loop_vars


def while_loop_in_trace(cond, body, loop_vars, maximum_iterations):
    """`while_loop` as one op of a traced function.

    Raises:
        NotStructuredError: it has to be traced turn by turn.
    """
    expected = list(loop_vars)
    leaves = nest.flatten(expected)
    limit = None if maximum_iterations is None else _as_loop_variable(maximum_iterations)
    if limit is not None and (limit.shape.rank != 0 or not limit.dtype.is_integer):
        raise NotStructuredError
    packed = []

    def call(function, tensors):
        given = [
            LoopTensorArray(leaf, tensor) if isinstance(leaf, TensorArray) else tensor
            for leaf, tensor in zip(leaves, tensors, strict=True)
        ]
        return function(*nest.pack_sequence_as(expected, given))

    def turn(*tensors):
        packed.append(checked_turn(expected, call(body, tensors)))
        pairs = zip(leaves, nest.flatten(packed[-1]), strict=True)
        return [_rows_of(leaf, x) if isinstance(leaf, TensorArray) else x for leaf, x in pairs]

    if any([_has_open_shape(leaf) or type(leaf) is float for leaf in leaves]):
        _rehearse(lambda *tensors: call(body, tensors), leaves)
    found = loop_while(
        lambda *tensors: convert_to_tensor(call(cond, tensors)),
        turn,
        [_as_loop_variable(leaf) for leaf in leaves],
        limit,
    )
    results = []
    for leaf, tensor in zip(leaves, found, strict=True):
        if isinstance(leaf, TensorArray):
            leaf._become(tensor)
        results.append(leaf if isinstance(leaf, TensorArray) else tensor)
    return nest.pack_sequence_as(packed[-1], results)


def _has_open_shape(leaf):
    return isinstance(leaf, TensorArray) and not leaf.element_shape.is_fully_defined()


def _rehearse(body, leaves):
    """Runs `body` once to see what becomes of the loop variables; its trace is not used.

    TensorArrays get to know the shape of their elements. Python floats are more precise than
    tensors, so they must become tensors in the first turn.

    Raises:
        NotStructuredError: they do not, or the body does more than compute.
    """
    is_given = [not isinstance(leaf, (TensorArray, float)) for leaf in leaves]
    given = [_as_loop_variable(x) for x, flag in zip(leaves, is_given, strict=True) if flag]
    found = []

    def run(*tensors):
        remaining = iter(tensors)
        values = [
            next(remaining) if flag else leaf if type(leaf) is float else None
            for leaf, flag in zip(leaves, is_given, strict=True)
        ]
        found.extend(nest.flatten(body(*values)))
        return []

    trace_body("rehearsal", run, [value_now(x) for x in given])
    if len(found) != len(leaves):
        raise NotStructuredError
    for leaf, result in zip(leaves, found, strict=True):
        if type(leaf) is float and not isinstance(result, Tensor):
            raise NotStructuredError
        if isinstance(leaf, TensorArray) and isinstance(result, LoopTensorArray):
            leaf._learn_shape(result)


def _rows_of(leaf, result):
    """The tensor for a TensorArray that the body was given and has returned."""
    if not isinstance(result, LoopTensorArray) or result.origin is not leaf:
        raise NotStructuredError
    return result.whole


def _as_loop_variable(leaf):
    if isinstance(leaf, TensorArray):
        if leaf.dynamic_size:
            raise NotStructuredError
        return leaf._all_as_one()
    if is_composite(leaf):
        raise NotStructuredError
    try:
        return convert_to_tensor(leaf)
    except (TypeError, ValueError):
        raise NotStructuredError from None


def _as_loop_result(value):
    if isinstance(value, TensorArray) or is_composite(value):
        return value
    return convert_to_tensor(value)


# Order of ops -------------------------------------------------------------------------------------


@export("group")
def group(*inputs, **kwargs):
    """Nothing: what is in `inputs` has happened already. Returns None."""


@export("no_op")
def no_op(name=None):
    """Does nothing and returns None."""


@export("tuple")
def tuple_(tensors, control_inputs=None, name=None):
    """The tensors themselves: all of them have been computed already."""
    return tensors


@export("control_dependencies")
def control_dependencies(control_inputs):
    """A context in which ops wait for others; functions among `control_inputs` are called first."""
    for item in control_inputs or ():
        if callable(item):
            item()
    return contextlib.nullcontext()


@export("CriticalSection")
class CriticalSection:
    """A section of code that one thread at a time carries out.

    Example:
        >>> CriticalSection().execute(lambda: 3).numpy()
        np.int32(3)
    """

    def __init__(self, name=None, shared_name=None, critical_section_def=None, import_scope=None):
        self._lock = threading.Lock()
        self._owner = None

    def execute(self, fn, exclusive_resource_access=True, name=None):
        """Calls `fn` while no other thread is inside; returns its results as tensors.

        Raises:
            ValueError: `fn` uses this section itself, and would wait for ever.
        """
        if self._owner == threading.get_ident():
            raise ValueError("A CriticalSection cannot be executed inside of itself.")
        with self._lock:
            self._owner = threading.get_ident()
            try:
                return nest.map_structure(lambda x: identity(convert_to_tensor(x)), fn())
            finally:
                self._owner = None


@export("Assert debugging.Assert")
def assert_(condition, data, summarize=None, name=None):
    """Raises unless the condition holds.

    Args:
        condition: a truth value.
        data: tensors to show in the message.
        summarize: how many elements of each to show; 3 if not given, -1 for all.

    Raises:
        InvalidArgumentError: the condition does not hold.
    """
    if not is_deferred() or not isinstance(condition, (Tensor, Variable)):
        _check(condition, data, summarize)
        return

    def check(*arrays):
        held, *shown = map(EagerTensor, arrays)
        _check(held, shown, summarize)
        return ()

    perform("Assert", check, [convert_to_tensor(item) for item in (condition, *data)])


def _check(condition, data, summarize):
    if condition:
        return
    count = 3 if summarize is None else summarize
    shown = "\n".join([_summary(convert_to_tensor(item), count) for item in data])
    raise InvalidArgumentError(
        None, None, f"Expected '{condition!s}' to be true. Summarized data: {shown}"
    )


def _summary(tensor, count):
    flat = np.asarray(tensor).reshape(-1)
    shown = flat if count < 0 else flat[:count]
    words = [str(item) for item in shown]
    return ", ".join(words if len(shown) == len(flat) else [*words, "..."])

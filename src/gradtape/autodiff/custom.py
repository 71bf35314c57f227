"""Gradients by the user's own rule: custom_gradient and grad_pass_through."""

import functools
import inspect

from ..batching import BatchedTensor
from ..core import convert, nest
from ..core.dispatch import NO_ATTRS, thread
from ..core.indexed_slices import IndexedSlices
from ..core.op import Op, Recorder
from ..core.tensor import Tensor
from ..core.variable import Variable, variable_of
from ..ops.broadcasting import broadcast_to, reshape
from ..ops.identity import identity_row
from ..ops.reduction import reduce_sum
from .registry import call_on_arrays


class VariableWatcher(Recorder):
    """A recorder that only notices which trainable variables are used."""

    def __init__(self):
        self.variables = {}

    def variable_read(self, variable):
        if variable.trainable:
            self.variables.setdefault(variable._handle.id, variable._original)

    def others_than(self, given):
        """The variables noticed that are not among `given`, tensors and variables."""
        known = {v._handle.id for v in given if isinstance(v, Variable)}
        return [v for key, v in self.variables.items() if key not in known]


def override(name, inputs, outputs, backward):
    """New tensors with the values of `outputs`, differentiated by `backward` alone.

    On tapes that follow none of the inputs the outputs stay what they were.

    Args:
        name: what to call the op in messages.
        inputs: tensors the rule gives gradients for.
        outputs: tensors.
        backward: from one gradient per output to one gradient (or None) per input.
    """
    if thread.translations:
        backward = _with_translations(backward, thread.translations)
        inputs, outputs = [x._here() for x in inputs], [x._here() for x in outputs]
    batched = [x for x in (*inputs, *outputs) if isinstance(x, BatchedTensor)]
    if batched:
        innermost = max(batched, key=lambda x: x._level)
        return _override_batched(name, inputs, outputs, backward, innermost)
    if thread.trace is not None:
        fresh = thread.trace.rule(name, inputs, outputs, backward)
    else:
        fresh = [_twin(o) for o in outputs]
    _record(thread.recorders, name, inputs, outputs, fresh, backward)
    return fresh


def _with_translations(backward, translations):
    """A rule made inside another one, which holds on to the same tensors of a closed trace."""

    def translated(*grads):
        outside, thread.translations = thread.translations, translations + thread.translations
        try:
            return backward(*grads)
        finally:
            thread.translations = outside

    return translated


def _twin(tensor):
    """A new tensor with the same value that nobody has recorded."""
    recorders, thread.recorders = thread.recorders, ()
    try:
        return identity_row(tensor)
    finally:
        thread.recorders = recorders


def _record(recorders, name, inputs, outputs, fresh, backward):
    """Tells each recorder how `fresh` came about: by the rule, or as copies of `outputs`."""
    op, attrs = _overriding_op(name, len(inputs), len(fresh)), {"backward": backward}
    out = fresh[0] if len(fresh) == 1 else tuple(fresh)
    inputs = tuple(inputs)
    for recorder in recorders:
        if not recorder.record_rule(op, attrs, inputs, outputs, out):
            tell_of_rule(recorder, op, attrs, inputs, outputs, out)


def tell_of_rule(recorder, op, attrs, inputs, old, out):
    """Has a recorder follow a rule, or what the rule takes the place of if it follows no input."""
    if recorder.tracks([x._id for x in inputs]):
        op.record(recorder, attrs, inputs, out)
        return
    for each, new in zip(old, out if type(out) is tuple else (out,), strict=True):
        identity_row.op.record(recorder, NO_ATTRS, (each,), new)


def _override_batched(name, inputs, outputs, backward, innermost):
    """`override` inside a batch level: what is outside the level sees the hidden axis."""
    level, outer = innermost._level, innermost._outer_recorders
    count = innermost._inner._value.shape[0]

    def has_axis(x):
        return isinstance(x, BatchedTensor) and x._level == level

    def with_axis(x):
        if has_axis(x):
            return x._inner
        shape = x._value.shape
        return broadcast_to(reshape(x, shape=(1, *shape)), shape=(count, *shape))

    flags = [has_axis(x) for x in inputs]

    def backward_of_all(*grads):
        recorders = thread.recorders
        thread.recorders = _in_places(recorders, outer)
        try:
            found = backward(*[BatchedTensor(g, level, outer) for g in grads])
        finally:
            thread.recorders = recorders
        dense = [d._to_tensor(None) if isinstance(d, IndexedSlices) else d for d in found]
        return [
            None if d is None else with_axis(d) if flag else reduce_sum(with_axis(d), axis=0)
            for d, flag in zip(dense, flags, strict=True)
        ]

    recorders = thread.recorders
    thread.recorders = recorders[:outer]
    try:
        inner_inputs = [x._inner if flag else x for x, flag in zip(inputs, flags, strict=True)]
        inner = override(name, inner_inputs, [with_axis(o) for o in outputs], backward_of_all)
    finally:
        thread.recorders = recorders
    fresh = [BatchedTensor(each, level, outer) for each in inner]
    _record(recorders[outer:], name, inputs, outputs, fresh, backward)
    return fresh


class _Together(Recorder):
    """Several recorders in the place of one, the last of those in `recorders`."""

    def __init__(self, recorders, first):
        self._all = recorders
        self._members = recorders[first:]

    def record(self, op, attrs, inputs, out):
        ids = [x._id for x in inputs]
        recorders, thread.recorders = thread.recorders, self._all
        try:
            for member in self._members:
                if member.tracks(ids):
                    op.record(member, attrs, inputs, out)
        finally:
            thread.recorders = recorders

    def variable_read(self, variable):
        for member in self._members:
            member.variable_read(variable)

    def tracks(self, ids):
        return any([member.tracks(ids) for member in self._members])


def _in_places(recorders, count):
    """All of `recorders` in exactly `count` places, which tensors take for those outside them.

    A rule uses tensors of a batch level after it has ended, among other recorders than it had.
    """
    if len(recorders) > count:
        return (*recorders[: count - 1], _Together(recorders, count - 1))
    return (*recorders, *[Recorder()] * (count - len(recorders)))


@functools.lru_cache(maxsize=1000)
def _overriding_op(name, count, outputs):
    """An op whose gradient is its attribute `backward`.

    The op refers to itself, so what may hold tensors is not part of it: it would outlive its tape.
    """
    op = Op(
        name, tuple([f"x{i}" for i in range(count)]), _no_kernel, _no_kernel, vjp=_on_tensors,
        outputs=outputs, holomorphic=False, by_user=True,
        tensor_rules=_on_tensors, array_rules=_on_arrays,
    )  # fmt: skip

    def record(recorder, attrs, inputs, out):
        if not recorder.is_tape:
            return recorder.record(op, attrs, inputs, out)
        outs = out if type(out) is tuple else (out,)
        out_ids = tuple([o._id for o in outs])
        recorder.tracked.update(out_ids)
        for tensor in outs:
            recorder.note_dtype(tensor)
        specs = tuple([(o._value.shape, o._value.dtype) for o in outs])
        ids = tuple([x._id for x in inputs])
        dtypes = tuple([x._value.dtype for x in inputs])
        recorder.append((op, attrs, (dtypes, specs), ids, out_ids if outputs != 1 else out_ids[0]))

    op.record = record
    return op


def _on_tensors(g, saved, attrs):
    return attrs["backward"](*(g if type(g) is tuple else (g,)))


def _on_arrays(g, saved, attrs):
    return call_on_arrays(attrs["backward"], g if type(g) is tuple else (g,))


def _no_kernel(*inputs, **attrs):
    raise AssertionError("An overriding op is recorded, never applied.")


def custom_gradient(f=None):
    """Decorator for a function that returns its result and its own gradient function.

    The gradient function takes one gradient per output and returns one per argument, None where
    there is none. If the function uses trainable variables, the gradient function also takes
    `variables=` and returns a pair: gradients of the arguments, and a list for the variables.
    Gradients of arguments given by keyword follow those of the others, in the order of the
    signature; they may be left out as long as some argument is given by position.

    Raises:
        TypeError: variables are used, but the gradient function does not take `variables`.
        ValueError: the gradient function returns the wrong number of gradients, or wrong shapes.

    Example:
        >>> @tf.custom_gradient
        ... def log1pexp(x):
        ...     e = tf.exp(x)
        ...     return tf.math.log(1 + e), lambda g: g * (1 - 1 / (1 + e))
    """
    if f is None:
        return custom_gradient

    @functools.wraps(f)
    def decorated(*args, **kwargs):
        return _call(f, f, args, kwargs, check_shapes=True)

    return decorated


def grad_pass_through(f):
    """The function `f`, through which gradients pass as if it were the identity.

    Args:
        f: a function of one argument; variables it uses get no gradient.
    """

    def with_rule(*args, **kwargs):
        def grad(*grads, variables=()):
            return (grads, [None] * len(variables)) if variables else grads

        return f(*args, **kwargs), grad

    @functools.wraps(f)
    def passed(*args, **kwargs):
        return _call(f, with_rule, args, kwargs, check_shapes=False)

    return passed


def _call(f, with_rule, args, kwargs, *, check_shapes):
    """Calls `with_rule` for the result of `f` and its rule, and has the result follow the rule."""
    name = getattr(f, "__name__", type(f).__name__)
    watcher = VariableWatcher()
    thread.recorders = (*thread.recorders, watcher)
    try:
        result, grad_fn = with_rule(*args, **kwargs)
    finally:
        thread.recorders = tuple([r for r in thread.recorders if r is not watcher])
    if not callable(grad_fn):
        raise TypeError(
            f"{name} must return a pair of its result and a gradient function. Received: "
            f"{grad_fn!r} in place of the function."
        )
    positional = _positional(args)
    keywords = _keywords(f, kwargs)
    by_keyword = [x for x in keywords if isinstance(x, (Tensor, Variable))]
    variables = watcher.others_than(positional + by_keyword)
    if variables and not _takes_variables(grad_fn):
        raise TypeError(
            "@tf.custom_gradient grad_fn must accept keyword argument 'variables', since function "
            f"uses variables: {variables}"
        )
    flat = [convert.convert_to_tensor(r) for r in nest.flatten(result, expand_composites=True)]
    inputs = [
        x._read() if isinstance(x, Variable) else x for x in positional + by_keyword + variables
    ]
    # The rule may outlive its arguments: shapes are kept, and no tensor that it does not name.
    labels = [f"argument #{i}" for i in range(len(positional + by_keyword))]
    labels += [f"variable {v.name}" for v in variables]
    specs = [(label, x._value.shape, x.dtype) for label, x in zip(labels, inputs, strict=True)]
    counts = len(positional), len(by_keyword), len(keywords)
    is_tensor = [isinstance(x, (Tensor, Variable)) for x in keywords]

    def backward(*grads):
        found, of_variables = _ask(name, grad_fn, grads, variables)
        found = _one_per_source(name, found, counts, is_tensor) + of_variables
        return [
            _as_gradient(name, d, spec, check_shapes) for d, spec in zip(found, specs, strict=True)
        ]

    fresh = override(name, inputs, flat, backward)
    return nest.pack_sequence_as(result, fresh, expand_composites=True)


def _positional(args):
    """The arguments a rule gives gradients for: all that are, or can become, tensors."""
    found = []
    for leaf in map(variable_of, nest.flatten(args, expand_composites=True)):
        if isinstance(leaf, (Tensor, Variable)):
            found.append(leaf)
            continue
        try:
            found.append(convert.convert_to_tensor(leaf))
        except (TypeError, ValueError):
            # Objects that have nothing to do with tensors, such as `self`, do not count.
            if leaf is None:
                raise
    return found


def _keywords(f, kwargs):
    """The leaves of arguments given by keyword, in the order of the signature."""
    if not kwargs:
        return []
    try:
        names = list(inspect.signature(f).parameters)
    except (TypeError, ValueError):  # not every built-in function tells
        names = []
    in_order = [name for name in names if name in kwargs]
    in_order += [name for name in kwargs if name not in in_order]
    leaves = nest.flatten([kwargs[name] for name in in_order], expand_composites=True)
    return [variable_of(leaf) for leaf in leaves]


def _takes_variables(grad_fn):
    signature = inspect.signature(grad_fn)
    kinds = [p.kind for p in signature.parameters.values()]
    return "variables" in signature.parameters or inspect.Parameter.VAR_KEYWORD in kinds


def _ask(name, grad_fn, grads, variables):
    """What the user's gradient function returns: for the arguments, and for the variables."""
    if not variables:
        return nest.flatten(grad_fn(*grads)), []
    result = grad_fn(*grads, variables=variables)
    is_sequence = isinstance(result, (list, tuple))
    if not is_sequence or len(result) != 2:
        raise (ValueError if is_sequence else TypeError)(
            f"The gradient function of {name}, which uses variables, must return a pair: gradients "
            f"of the arguments, and a list with one for each of {len(variables)} variables. "
            f"Received: {result!r}"
        )
    found, of_variables = result
    of_variables = nest.flatten(of_variables)
    if len(of_variables) != len(variables):
        raise ValueError(
            "Must return gradient for each variable from @custom_gradient grad_fn. "
            f"Received: {len(of_variables)} for the {len(variables)} variables of {name}."
        )
    return nest.flatten(found), of_variables


def _one_per_source(name, found, counts, is_tensor):
    """Gradients of the positional arguments, then of the tensors given by keyword."""
    positional, by_keyword, keywords = counts
    if len(found) == positional + by_keyword:
        return found
    if len(found) == positional + keywords:
        # As it would be by position, where Python numbers count too.
        rest = zip(found[positional:], is_tensor, strict=True)
        return found[:positional] + [d for d, tensor in rest if tensor]
    if positional and len(found) == positional:
        # Rules written for TensorFlow know nothing of keyword arguments.
        return found + [None] * by_keyword
    raise ValueError(
        f"custom_gradient function expected to return {positional or by_keyword} gradients, but "
        f"returned {len(found)} instead. It is the gradient function of {name}, which was given "
        f"{positional} arguments by position and {by_keyword} tensors by keyword."
    )


def _as_gradient(name, gradient, spec, check_shape):
    label, shape, dtype = spec
    if gradient is None:
        return None
    if not isinstance(gradient, IndexedSlices):
        gradient = convert.convert_to_tensor(gradient, dtype_hint=dtype)
    elif gradient.dense_shape is None:
        return gradient
    if check_shape and gradient.shape != shape:
        raise ValueError(
            f"The gradient function of {name} must return a gradient of the shape of its {label}, "
            f"{shape}. Received: shape {gradient.shape}."
        )
    return gradient

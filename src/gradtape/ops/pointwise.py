"""The elementwise family: ops whose Jacobian is diagonal.

One function per input, multiplying `g` by the local derivative, is therefore both the adjoint
(then summed back over broadcast axes) and the tangent (then broadcast).
"""

import numpy as np

from ..core import dtypes
from ..core.convert import operand, operands
from ..core.dispatch import binary_on_tensors, make_call, unary_on_tensors
from ..core.errors import invalid_argument
from ..core.exports import export, with_parameters
from ..core.op import DIFFERENTIABLE, Op, Spec, register
from ..core.rules import call_rule
from .broadcasting import broadcast_to, not_allowed, sum_to, with_inner_rank, words
from .families import shape_of


def elementwise(
    name, kernel, *, accepts=dtypes.DIFFERENTIABLE, result=None, public="", holomorphic=True,
    state=DIFFERENTIABLE, raw=None, **partials,
):  # fmt: skip
    """Declares an elementwise op.

    Args:
        name: TensorFlow's op type.
        kernel: from one or more arrays of one dtype to their elementwise result.
        accepts: the NumPy dtypes it takes.
        result: the dtype of the result as a function of the inputs' dtype; None if the same.
        public: dotted public names, for which a converting function is made.
        holomorphic: the partials hold for complex numbers too.
        state: NON_DIFFERENTIABLE for comparisons and the like, where gradients end.
        raw: the arguments of `tf.raw_ops`, where they differ from the row's; see `Op`.
        partials: by input name, in order, `g` times the derivative; None where there is none.

    Returns:
        The function that applies the op to tensors or, inside rules, to arrays.
    """
    inputs = tuple(partials)
    op = Op(
        name,
        inputs,
        kernel,
        _infer_for(name, accepts, result),
        vjp=tuple(partials.values()),
        jvp=_jvp if state == DIFFERENTIABLE else None,
        batch=batch_aligned,
        state=state,
        holomorphic=holomorphic,
        broadcasts=sum_to,
        accepts=accepts,
        raw=raw,
    )
    op.call = make_call(op)
    register(op)
    if public:
        _publish(op, public)
    return op.call


def _infer_for(name, accepts, result):
    def infer(*inputs):
        dtype = inputs[0].dtype
        for i, x in enumerate(inputs):
            if x.dtype != dtype:
                raise dtype_mismatch(name, i, dtype, x.dtype)
        if dtype not in accepts:
            raise not_allowed(name, dtype, accepts)
        return Spec(broadcast_shape(name, *inputs), result(dtype) if result else dtype)

    return infer


def dtype_mismatch(op_name, position, expected, got):
    """The error for an input whose dtype differs from the first one's."""
    return invalid_argument(
        op_name,
        f"cannot compute {op_name} as input #{position}(zero-based) was expected to be a "
        f"{dtypes.of_numpy(expected).runtime_word} tensor but is a "
        f"{dtypes.of_numpy(got).runtime_word} tensor",
    )


def broadcast_shape(op_name, *inputs):
    """The common shape of inputs that broadcast; TensorFlow's error if there is none."""
    shape = inputs[0].shape
    if all([x.shape == shape for x in inputs]):
        return shape
    try:
        return np.broadcast_shapes(*[x.shape for x in inputs])
    except ValueError:
        shapes = " vs. ".join([words(x.shape) for x in inputs])
        raise invalid_argument(op_name, f"Incompatible shapes: {shapes}") from None


def _jvp(op, tangents, inputs, out, attrs):
    from .arithmetic import add

    total = None
    for rule, tangent in zip(op.vjp, tangents, strict=True):
        if rule is None or tangent is None:
            continue
        term = call_rule(rule, tangent, op, inputs, out, attrs)
        total = term if total is None else add(total, term)
    if total is not None and shape_of(total) != shape_of(out):
        total = broadcast_to(total, shape=shape_of(out))
    return total


def batch_aligned(op, values, flags, attrs):
    if len(values) == 1:
        return op.call(values[0], **attrs)
    ranks = [len(x._value.shape) - flag for x, flag in zip(values, flags, strict=True)]
    rank = max(ranks)
    # Nothing to align where every batched value has the full rank already.
    if all([own == rank or not flag for own, flag in zip(ranks, flags, strict=True)]):
        return op.on_tensors(*values) if op.on_tensors is not None else op.call(*values, **attrs)
    aligned = [
        with_inner_rank(x, rank) if flag else x for x, flag in zip(values, flags, strict=True)
    ]
    return op.call(*aligned, **attrs)


def _publish(op, public):
    """A public function that converts its arguments: Python values take a tensor's dtype."""
    on_tensors = op.on_tensors
    if len(op.inputs) == 1:
        function = unary_on_tensors(op, lambda x: on_tensors(operand(x)))
    elif len(op.inputs) == 2:
        function = binary_on_tensors(op, lambda x, y: on_tensors(*operands(x, y)))
    else:
        raise ValueError(
            f"Write the public function of {op.name!r}: it has {len(op.inputs)} inputs."
        )
    first_name = public.split()[0].rpartition(".")[2]
    function = with_parameters(function, op.inputs, first_name)
    function.__doc__ = f"Computes the op `{op.name}` element by element."
    export(public, function)

"""How a program calls the kernel of a node whose shapes and dtypes are known.

Python's operators, which rows use because they are quick on scalars, become NumPy's functions on
arrays, which can write into memory they are given; products and views lose what their kernels
decide at every call. Each gives the bits that the row's kernel gives.
"""

import functools
import operator

import numpy as np

from ..ops.broadcasting import working_dtype

_UFUNCS = {
    operator.add: np.add,
    operator.mul: np.multiply,
    operator.neg: np.negative,
    operator.sub: np.subtract,
    operator.truediv: np.true_divide,
}


def ufunc_of(node):
    """The NumPy function that computes a node, if one does and can write into given memory."""
    if len(node.outputs) != 1 or node.attrs:
        return None
    out, kernel = node.outputs[0], node.op.kernel
    if not out.shape or out.dtype == object or any([v.dtype == object for v in node.inputs]):
        return None
    if not isinstance(kernel, np.ufunc):
        kernel = _UFUNCS.get(kernel)
    if kernel is None or kernel.nout != 1 or kernel.nin != len(node.inputs):
        return None
    return kernel


def can_write_into(node):
    """Whether the result of a node can be put into memory that is given."""
    return node.outputs[0].fresh and (ufunc_of(node) is not None or is_plain_product(node))


def is_plain_product(node):
    """Whether a node is a product of two matrices in a dtype that BLAS knows."""
    return (
        node.op.name == "MatMul"
        and working_dtype(node.outputs[0].dtype) is node.outputs[0].dtype
        and node.outputs[0].dtype.kind in "fc"
    )


def call_text(node, used, into, bind):
    """The expression that computes a node.

    Args:
        node: a node of kind APPLY.
        used: the names of its inputs.
        into: the name of memory for the result, or None.
        bind: gives a name to a thing.
    """
    op, attrs = node.op, node.attrs
    arguments = list(used)
    if is_plain_product(node):
        function = bind("k", np.dot)
        flags = attrs["transpose_a"], attrs["transpose_b"]
        arguments = [f"{x}.T" if flag else x for x, flag in zip(used, flags, strict=True)]
    elif op.name in _METHODS and node.inputs[0].shape and node.outputs[0].shape:
        method, attr = _METHODS[op.name]
        return f"{used[0]}.{method}({bind('a', attrs[attr])})"
    elif (ufunc := ufunc_of(node)) is not None:
        function = bind("k", ufunc)
    else:
        function = bind("k", functools.partial(op.kernel, **attrs) if attrs else op.kernel)
    if into is not None:
        # By keyword: NumPy deprecates a third argument of maximum and minimum by position.
        arguments.append(f"out={into}")
    return f"{function}({', '.join(arguments)})"


_METHODS = {"Reshape": ("reshape", "shape"), "Transpose": ("transpose", "perm")}

"""SymbolicTensor: a tensor of a function being traced.

A trace runs on the values of the call that caused it, so every tensor has its real value at hand;
but code that looks at one gets it through a guard, so that a later call with another value does
not follow this trace.
"""

import weakref

import numpy as np

from ..core import dtypes
from ..core.active import thread
from ..core.dispatch import apply
from ..core.shapes import as_shape
from ..core.tensor import Tensor, next_id
from ..ops.identity import identity_row
from .guards import NUMBER, TRUTH

_OUT_OF_SCOPE = (
    "{!r} is out of scope and cannot be used here. Use return values, explicit Python locals or "
    "TensorFlow collections to access it.\nPlease see https://www.tensorflow.org/guide/"
    "function#all_outputs_of_a_tffunction_must_be_return_values for more information.\n\n"
    "It was made while function {!r} was traced, and has no value outside of that."
)


class TracedValue:
    """What stands for the array of a symbolic tensor: its shape and dtype; more is guarded."""

    __slots__ = ("__weakref__", "_real", "_trace", "_traced", "dtype", "shape")

    def __init__(self, real, trace, traced):
        self.shape = real.shape
        self.dtype = real.dtype
        self._real = real
        self._trace = trace
        self._traced = traced

    @property
    def ndim(self):
        return len(self.shape)

    @property
    def size(self):
        return self._real.size

    def known(self):
        """The array itself, on which the trace relies from now on."""
        if thread.translations and not self._trace.is_open:
            tensor = SymbolicTensor(self._real, self._trace, self._traced)
            return tensor._known()
        self._trace.guard(self._traced, self._real, NUMBER)
        return self._real

    def __array__(self, dtype=None, copy=None):
        return self.known().__array__(dtype) if dtype is not None else self.known().__array__()

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.known(), name)

    def release(self):
        """Lets go of the array; shape and dtype stay."""
        self._real = np.broadcast_to(np.zeros((), self.dtype), self.shape)


def _of_the_array(name):
    def method(self, *arguments):
        return getattr(self.known(), name)(*arguments)

    return method


_OPERATORS = (
    "abs add and bool eq float floordiv ge getitem gt index int invert iter le len lt matmul mod "
    "mul ne neg or pow radd rmul rsub rtruediv sub truediv xor"
)
for _name in _OPERATORS.split():
    setattr(TracedValue, f"__{_name}__", _of_the_array(f"__{_name}__"))
TracedValue.__hash__ = None  # pyright: ignore[reportAttributeAccessIssue]


class SymbolicTensor(Tensor):
    """A tensor of a trace."""

    __slots__ = ()
    _dispatch_level = 1
    # Below every batch level: what is batched inside a function is made of what is traced.
    _level = 0.5

    def __init__(self, real, trace, traced):
        self._value = TracedValue(real, trace, traced)
        self._id = next_id()
        trace.living.append(weakref.ref(self._value))

    def _dispatch(self, op, inputs, attrs):
        trace = thread.trace
        if trace is not None:
            return trace.apply(op, inputs, attrs)
        return self._apply_to_stand_ins(op, inputs, attrs)

    def _apply_to_stand_ins(self, op, inputs, attrs):
        """Applies `op` outside of any trace, to tensors that stand for those of a closed one."""
        found = tuple([translated(x) for x in inputs])
        for x in found:
            if type(x) is SymbolicTensor:
                raise x._out_of_scope()
        return apply(op, found, attrs)

    def _out_of_scope(self):
        return TypeError(_OUT_OF_SCOPE.format(self, self._value._trace.graph.name))

    def _usable(self):
        """The value, if the function it belongs to is still being traced."""
        value = self._value
        if not value._trace.is_open:
            raise self._out_of_scope()
        return value

    def _here(self):
        found = translated(self)
        if type(found) is SymbolicTensor:
            found._usable()
        return found

    def _known(self):
        stand_in = translated(self)
        return self._usable().known() if stand_in is self else stand_in._known()

    def set_shape(self, shape):
        """Checks the shape of this call; where shapes are inferred, all calls are taken to fit."""
        super().set_shape(shape)
        traced, stated = self._value._traced, as_shape(shape)
        traced.stated = stated if traced.stated is None else stated.merge_with(traced.stated)

    def numpy(self):
        """The value of this call; the trace is then good for calls with the same value only."""
        value = self._known()
        return value[()] if value.ndim == 0 else value.copy()

    def __array__(self, dtype=None, copy=None):
        return np.array(self._known(), dtype)

    def __bool__(self):
        stand_in = translated(self)
        if stand_in is not self:
            return bool(stand_in)
        value = self._usable()
        real = value._real
        if real.size > 1:
            raise ValueError(
                "The truth value of an array with more than one element is ambiguous. "
                "Use a.any() or a.all()"
            )
        truth = bool(real.size) and bool(real.reshape(())[()])
        if real.size:
            value._trace.guard(value._traced, real, TRUTH)
        return truth

    def _item(self, kind):
        if self._value.shape:
            raise TypeError("only 0-dimensional arrays can be converted to Python scalars")
        return kind(self.numpy())

    def __int__(self):
        return self._item(int)

    def __float__(self):
        return self._item(float)

    def __complex__(self):
        return self._item(complex)

    def __index__(self):
        if self._value.shape or self._value.dtype not in dtypes.INTEGER:
            raise TypeError("only integer scalar arrays can be converted to a scalar index")
        return int(self.numpy())

    def __format__(self, spec):
        return format(str(self), spec)

    def __deepcopy__(self, memo):
        return self

    @property
    def name(self):
        name = self._value._traced.name
        return name if ":" in name else f"{name}:0"

    @property
    def op(self):
        return self._value._traced.node

    @property
    def graph(self):
        return self._value._trace.graph

    def __repr__(self):
        return f"<tf.Tensor {self.name!r} shape={self._shape_text()} dtype={self.dtype.name}>"

    def __str__(self):
        return f'Tensor("{self.name}", shape={self._shape_text()}, dtype={self.dtype.name})'

    def _shape_text(self):
        return str(tuple(self._value.shape))


# Tensors of closed traces -------------------------------------------------------------------------


class translating:  # noqa: N801 - a context, used like a function
    """A context in which tensors stand for those of a trace that is closed.

    Gradient functions of the user hold on to tensors of the trace they were made in. When its graph
    runs elsewhere, op by op, other tensors take their places: copies, so that a tape inside such a
    function can tell them apart although two of them may stem from one tensor.

    Args:
        known: from ids of the graph's values to what they are now.
        graph: the graph, which keeps the values and so their ids.
    """

    __slots__ = ("_copies", "_graph", "_known", "_outside")

    def __init__(self, known, graph):
        self._known = known
        self._graph = graph
        self._copies = {}

    def __enter__(self):
        self._outside = thread.translations
        thread.translations = (*self._outside, self)

    def __exit__(self, *error):
        thread.translations = self._outside

    def find(self, tensor):
        """What stands for a tensor of the closed trace, or None."""
        key = id(tensor._value._traced)
        found = self._known.get(key)
        if found is None or found._id == tensor._id:  # what a variable holds has the variable's id
            return found
        copy = self._copies.get(key)
        if copy is None:
            copy = self._copies[key] = identity_row(found)
        return copy


def translated(tensor):
    """`tensor`, or what stands for it if the trace it belongs to is closed."""
    while type(tensor) is SymbolicTensor and not tensor._value._trace.is_open:
        for each in reversed(thread.translations):
            found = each.find(tensor)
            if found is not None:
                break
        else:
            return tensor
        tensor = found
    return tensor

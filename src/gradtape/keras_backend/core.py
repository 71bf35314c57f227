"""Variables, conversions and control flow, as Keras asks them of a backend."""

import builtins
import contextlib
from typing import Any

import numpy as np
from keras.src import tree
from keras.src.backend.common import KerasVariable, get_autocast_scope, standardize_dtype
from keras.src.backend.common.keras_tensor import KerasTensor
from keras.src.backend.common.stateless_scope import StatelessScope, in_stateless_scope
from keras.src.backend.common.symbolic_scope import SymbolicScope

import gradtape as tf

SUPPORTS_SPARSE_TENSORS = True
SUPPORTS_RAGGED_TENSORS = True
SUPPORTS_COMPLEX_DTYPES = True
IS_THREAD_SAFE = True

_SPARSE = (tf.SparseTensor, tf.IndexedSlices)


class Variable(KerasVariable):
    """Keras's variable, holding a `tf.Variable` that tapes follow and ops read."""

    # To dispatch it is a variable: ops read it, with the dtype that Keras's scope asks for.
    _dispatch_level = -1
    _is_composite = False
    _is_sparse_update = False
    __array_priority__ = 100

    def _initialize(self, value):
        self._shape = tuple(value.shape)
        value = convert_to_tensor(value, self._dtype)
        # Tapes and functions speak of it by this name, which says whose it is.
        self._value = tf.Variable(value, trainable=self.trainable, name=self.path)

    # Outside of any function: what is traced must find the variable, not make it.
    def _initialize_with_initializer(self, initializer):
        with tf.init_scope():
            super()._initialize_with_initializer(initializer)

    def _deferred_initialize(self):
        with tf.init_scope():
            super()._deferred_initialize()

    def _direct_assign(self, value):
        self._value.assign(tf.cast(value, self._value.dtype))

    def _convert_to_tensor(self, value, dtype=None):
        return convert_to_tensor(value, dtype=dtype)

    def assign_add(self, value):
        return self._update(value, "assign_add")

    def assign_sub(self, value):
        return self._update(value, "assign_sub")

    def _update(self, value, how):
        if in_stateless_scope() or self._value is None:
            return getattr(super(), how)(value)
        value = convert_to_tensor(value, dtype=self._dtype)
        # Rows of an embedding are added where they belong: the table may be large.
        if not isinstance(value, tf.IndexedSlices):
            value = tf.broadcast_to(value, self.shape)
        getattr(self._value, how)(value)
        return self._value.read_value()

    @property
    def trainable(self):
        return self._trainable

    @trainable.setter
    def trainable(self, value):
        self._trainable = value
        if self._value is not None:
            self._value._trainable = bool(value)

    @property
    def handle(self):
        return self._value.handle

    @property
    def _handle(self):
        """What tapes know a variable by."""
        return self._value._handle

    @property
    def _stands_for(self):
        """The variable that a tape watches, or is asked about, in the place of this one."""
        return self._value

    def _read(self):
        if self._value is not None and get_autocast_scope() is None and not in_stateless_scope():
            return self._value._read()
        value: Any = self.value
        return value._read() if isinstance(value, tf.Variable) else convert_to_tensor(value)

    def _to_tensor(self, dtype):
        value = tf.convert_to_tensor(self.value)
        return value if dtype is None else tf.cast(value, dtype)

    def numpy(self):
        return np.array(self.value)

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.value).astype(dtype or self.dtype, copy=bool(copy))


def convert_to_tensor(x, dtype=None, sparse=None, ragged=None):
    """`x` as a tensor, of `dtype` if that is given."""
    if dtype is not None:
        dtype = standardize_dtype(dtype)
    if isinstance(x, (Variable, tf.Variable)):
        x = tf.convert_to_tensor(x.value if isinstance(x, Variable) else x)
    if isinstance(x, tf.Tensor):
        return x if dtype is None or x.dtype.name == dtype else tf.cast(x, dtype)
    if isinstance(x, _SPARSE):
        x = x if dtype is None or x.dtype.name == dtype else tf.cast(x, dtype)
        return x if sparse is not False else _dense(x)
    if isinstance(x, tf.RaggedTensor):
        x = x if dtype is None or x.dtype.name == dtype else tf.cast(x, dtype)
        return x if ragged is not False else x.to_tensor()
    if dtype is None:
        return tf.convert_to_tensor(x, _dtype_of_python(x))
    if type(x) is float and tf.as_dtype(dtype).is_floating:
        return tf.constant(x, dtype)
    if type(x) in (int, float):
        with np.errstate(all="ignore"):
            return tf.constant(np.asarray(x).astype(tf.as_dtype(dtype).as_numpy_dtype))
    return tf.cast(tf.convert_to_tensor(x), dtype)


def _dense(x):
    if isinstance(x, tf.IndexedSlices):
        return tf.convert_to_tensor(x)
    if not x.shape.rank:
        return tf.reduce_sum(x.values)
    return tf.sparse.to_dense(x, validate_indices=False)


def _dtype_of_python(x):
    """The dtype Keras gives to Python values: floats its own default, which may be another."""
    leaves = tree.flatten(x)
    if any([isinstance(leaf, float) for leaf in leaves]):
        from keras.src.backend.config import floatx

        if not any([hasattr(leaf, "dtype") for leaf in leaves]):
            return floatx()
    return None


def convert_to_numpy(x):
    if isinstance(x, tf.RaggedTensor):
        x = x.to_tensor()
    return np.array(_dense(x) if isinstance(x, _SPARSE) else x)


def is_tensor(x):
    return isinstance(x, (tf.Tensor, tf.Variable, tf.RaggedTensor, *_SPARSE))


def shape(x):
    return tuple(x.shape)


def cast(x, dtype):
    dtype = standardize_dtype(dtype)
    if isinstance(x, (tf.Tensor, tf.RaggedTensor, *_SPARSE)) and x.dtype.name == dtype:
        return x
    return tf.cast(convert_to_tensor(x), dtype)


# Shapes without values ----------------------------------------------------------------------------


def compute_output_spec(fn, *args, **kwargs):
    """The shapes and dtypes of results, found on small examples of two sizes."""
    with StatelessScope(), SymbolicScope():
        leaves = tree.flatten((args, kwargs))
        has_unknown = any([isinstance(x, KerasTensor) and None in x.shape for x in leaves])
        first = _run_on_examples(fn, args, kwargs, 0)
        if not has_unknown:
            return tree.map_structure(_as_spec, first)
        second = _run_on_examples(fn, args, kwargs, 1)
        flat = [
            _common_spec(a, b)
            for a, b in zip(tree.flatten(first), tree.flatten(second), strict=True)
        ]
        return tree.pack_sequence_as(first, flat)


# Sizes that stand for an unknown one: of a batch, and of any other axis, where a kernel has to fit.
_BATCHES, _SIZES = (2, 3), (83, 89)


def _run_on_examples(fn, args, kwargs, which) -> Any:
    def example(x):
        if not isinstance(x, KerasTensor):
            return x
        sizes = [
            size if size is not None else (_SIZES if axis else _BATCHES)[which]
            for axis, size in enumerate(x.shape)
        ]
        if x.sparse:
            return tf.SparseTensor(
                tf.zeros([0, len(sizes)], "int64"), tf.zeros([0], x.dtype), sizes
            )
        if x.ragged:
            return tf.RaggedTensor.from_tensor(
                tf.zeros(sizes, x.dtype), ragged_rank=x.ragged_rank or 1
            )
        return tf.zeros(sizes, x.dtype)

    examples: Any = tree.map_structure(example, (args, kwargs))
    return fn(*examples[0], **examples[1])


def _as_spec(x):
    return _spec(x.shape, x) if is_tensor(x) else x


def _spec(sizes, x):
    dtype = standardize_dtype(x.dtype)
    if isinstance(x, tf.RaggedTensor):
        return KerasTensor(tuple(sizes), dtype, ragged=True, ragged_rank=x.ragged_rank)
    return KerasTensor(tuple(sizes), dtype, sparse=isinstance(x, tf.SparseTensor))


def _common_spec(a, b):
    if not is_tensor(a):
        return a
    sizes = [m if m == n else None for m, n in zip(a.shape, b.shape, strict=True)]
    return _spec(sizes, a)


# Control flow -------------------------------------------------------------------------------------


def cond(pred, true_fn, false_fn):
    if isinstance(pred, Variable):
        pred = tf.convert_to_tensor(pred)
    if isinstance(pred, tf.Tensor):
        return tf.cond(pred, true_fn, false_fn)
    return true_fn() if pred else false_fn()


def switch(index, branches, *operands):
    index = tf.cast(convert_to_tensor(index), "int32")
    index = tf.clip_by_value(index, 0, len(branches) - 1)
    return tf.switch_case(index, [lambda branch=branch: branch(*operands) for branch in branches])


def while_loop(cond, body, loop_vars, maximum_iterations=None):
    is_sequence = isinstance(loop_vars, (tuple, list))
    loop_vars = tuple(loop_vars) if is_sequence else (loop_vars,)
    loop_vars = tree.map_structure(convert_to_tensor, loop_vars)

    def step(*values):
        found = body(*values)
        found = found if isinstance(found, (list, tuple)) else (found,)
        return tree.map_structure(convert_to_tensor, tuple(found))

    outputs = tf.while_loop(cond, step, loop_vars, maximum_iterations=maximum_iterations)
    return tuple(outputs) if is_sequence else outputs[0]


def fori_loop(lower, upper, body_fun, init_val):
    # Bodies compute with the number of the step and an integer state: let them have one dtype.
    leaves = [convert_to_tensor(x) for x in tree.flatten(init_val)]
    dtypes = {x.dtype.name for x in leaves if x.dtype.is_integer}
    first = convert_to_tensor(lower, dtypes.pop() if len(dtypes) == 1 else None)
    _, result = while_loop(
        lambda i, _: i < upper,
        lambda i, value: (i + 1, body_fun(i, value)),
        (first, init_val),
    )
    return result


def map(f, xs):
    return scan(lambda _, x: ((), f(x)), (), xs)[1]


def scan(f, init, xs=None, length=None, reverse=False, unroll=1):
    """Carries a state over the elements of `xs`, and stacks what `f` gives for each."""
    if not callable(f):
        raise TypeError(f"`f` should be a callable. Received: f={f}")
    if not isinstance(unroll, bool) and (not isinstance(unroll, int) or unroll < 1):
        raise ValueError(
            f"`unroll` must be an positive integer or boolean. Received: unroll={unroll}"
        )
    if xs is None and length is None:
        raise ValueError("Got no `xs` to scan over and `length` not provided.")
    leaves = [convert_to_tensor(x) for x in tree.flatten(xs)] if xs is not None else []
    count = int(length) if length is not None else leaves[0].shape[0]
    step: Any = f
    carry: Any = tree.map_structure(convert_to_tensor, init)
    results: list[Any] = []
    order: Any = reversed(range(count)) if reverse else range(count)
    for i in order:
        element = None if xs is None else tree.pack_sequence_as(xs, [x[i] for x in leaves])
        carry, result = step(carry, element)
        results.append(result)
    if reverse:
        results.reverse()
    stacked = tree.map_structure(
        lambda *parts: None if parts[0] is None else tf.stack(parts), *results
    )
    return carry, stacked


def associative_scan(f, elems, reverse=False, axis=0):
    """All partial results of an associative `f` along an axis, in a logarithmic number of steps."""
    if not callable(f):
        raise TypeError(f"`f` should be a callable. Received: f={f}")
    leaves = [convert_to_tensor(x) for x in tree.flatten(elems)]
    lengths = {x.shape[axis] for x in leaves}
    if len(lengths) > 1:
        raise ValueError(
            "Array inputs to associative_scan must have the same first dimension. "
            f"(saw: {[tuple(x.shape) for x in leaves]})"
        )
    axis = axis % leaves[0].shape.rank
    if reverse:
        leaves = [tf.reverse(x, [axis]) for x in leaves]

    def combine(a, b):
        found = f(tree.pack_sequence_as(elems, a), tree.pack_sequence_as(elems, b))
        return tree.flatten(found)

    def part(x, start, stop):
        index = [builtins.slice(None)] * x.shape.rank
        index[axis] = builtins.slice(start, stop)
        return x[tuple(index)]

    (length,) = lengths
    distance = 1
    while distance < length:
        # Each element takes in what ends `distance` before it.
        combined = combine(
            [part(x, 0, length - distance) for x in leaves],
            [part(x, distance, length) for x in leaves],
        )
        leaves = [
            tf.concat([part(x, 0, distance), y], axis)
            for x, y in zip(leaves, combined, strict=True)
        ]
        distance *= 2
    if reverse:
        leaves = [tf.reverse(x, [axis]) for x in leaves]
    return tree.pack_sequence_as(elems, leaves)


def vectorized_map(function, elements):
    return tf.vectorized_map(function, elements)


# Parts of tensors ---------------------------------------------------------------------------------


def scatter(indices, values, shape):
    return tf.scatter_nd(indices, convert_to_tensor(values), shape)


_REDUCTIONS = {
    None: tf.tensor_scatter_nd_update,
    "add": tf.tensor_scatter_nd_add,
    "max": tf.tensor_scatter_nd_max,
    "min": tf.tensor_scatter_nd_min,
}


def scatter_update(inputs, indices, updates, reduction=None):
    inputs = convert_to_tensor(inputs)
    updates = cast(updates, inputs.dtype)
    if reduction in _REDUCTIONS:
        return _REDUCTIONS[reduction](inputs, indices, updates)
    if reduction == "mul":
        return inputs * _scattered_product(indices, updates, inputs.shape)
    raise ValueError(f"Unsupported reduction: {reduction}")


def _scattered_product(indices, updates, shape):
    """The product of all updates of each place, and 1 where there are none."""
    indices = cast(indices, "int64")
    depth = indices.shape[-1]
    sizes, rest = shape[:depth], shape[depth:]
    steps = np.cumprod([1, *reversed(sizes[1:])])[::-1].astype("int64")
    places = tf.reshape(tf.reduce_sum(indices * steps, -1), [-1])
    factors = tf.reshape(updates, [places.shape[0], *rest])
    return tf.reshape(tf.math.unsorted_segment_prod(factors, places, int(np.prod(sizes))), shape)


def slice(inputs, start_indices, shape):
    return tf.slice(convert_to_tensor(inputs), _starts(start_indices), list(shape))


def slice_update(inputs, start_indices, updates):
    inputs, updates = convert_to_tensor(inputs), convert_to_tensor(updates)
    starts = np.asarray(_starts(start_indices))
    grid = np.indices(tuple(updates.shape)).reshape(len(starts), -1).T + starts
    flat = tf.reshape(cast(updates, inputs.dtype), [-1])
    return tf.tensor_scatter_nd_update(inputs, grid.astype("int64"), flat)


def _starts(start_indices):
    return [int(index) for index in start_indices]


def unstack(x, num=None, axis=0):
    return tf.unstack(convert_to_tensor(x), num=num, axis=axis)


# Gradients ----------------------------------------------------------------------------------------


def stop_gradient(variable):
    return tf.stop_gradient(convert_to_tensor(variable))


def custom_gradient(f):
    return tf.custom_gradient(f)


def remat(f):
    return tf.recompute_grad(f)


# Places -------------------------------------------------------------------------------------------


def random_seed_dtype():
    # Keras adds to seeds; those that stateless ops take are whole numbers of either sign.
    return "int64"


def device_scope(device_name):
    return tf.device(device_name) if device_name else contextlib.nullcontext()

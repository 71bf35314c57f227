"""Datasets of what Python generators yield: from_generator."""

import functools

import numpy as np

from ..core import nest
from ..core.convert import cast_value, convert_to_tensor
from ..core.dtypes import as_dtype, string
from ..core.errors import InternalError
from ..core.ragged_spec import RaggedTensorSpec
from ..core.ragged_tensor import RaggedTensor
from ..core.shapes import as_shape
from ..core.sparse_tensor import SparseTensor, SparseTensorSpec
from ..core.spec import TensorSpec
from ..core.tensor import EagerTensor
from ..python_functions import as_op_error
from ..type_specs import TypeSpec
from .dataset import Dataset, constructor
from .elements import (
    NoneTensorSpec,
    as_leaf,
    as_values,
    leaf_specs,
    structure_leaves,
    with_leaf_specs,
)


class GeneratorDataset(Dataset):
    def __init__(self, generator, args, signature):
        super().__init__()
        self._generator = generator
        self._args = args
        self._spec = signature
        self._read = _reader(signature)

    def _elements(self):
        return _Elements(self._begin, self._read)

    def _begin(self):
        # Each run may write into its arguments.
        return iter(self._generator(*[np.copy(a) if np.ndim(a) else a for a in self._args]))


class _Elements:
    """Goes through what a generator yields, which begins with the first element.

    An error of the generator ends it only if the generator ends with it.
    """

    def __init__(self, begin, read):
        self._begin = begin
        self._read = read
        self._items = None

    def __iter__(self):
        return self

    def __next__(self):
        try:
            if self._items is None:
                self._items = iter(())  # a generator that cannot be started is tried once
                self._items = self._begin()
            return self._read(next(self._items))
        except StopIteration:
            self._items = iter(())  # what has ended is not kept, nor asked again
            raise
        except InternalError:
            raise
        except Exception as error:
            raise as_op_error(error, "IteratorGetNext") from error


# What a generator may yield -----------------------------------------------------------------------


def _reader(signature):
    """A function from a yielded element to leaves; it raises a TypeError if they do not fit."""
    specs = leaf_specs(signature)
    is_dense = all([isinstance(spec, TensorSpec) for spec in specs])
    # TensorFlow takes arrays less strictly than tensors, but not if nothing is known of a shape.
    if is_dense and (signature is not specs[0] or signature.shape.rank is not None):
        is_flat = type(signature) is tuple and list(signature) == specs
        return functools.partial(_read_arrays, signature, specs, is_flat)
    return functools.partial(_read_tensors, signature, specs)


def _read_arrays(signature, specs, is_flat, element):
    if signature is specs[0]:
        parts = (element,)
    elif is_flat and isinstance(element, tuple) and len(element) == len(specs):
        parts = element
    else:
        parts = _parts(signature, element, _dtypes_of(signature, specs))
    leaves = []
    for spec, part in zip(specs, parts, strict=True):
        leaf = _array(part, spec.dtype)
        if spec.shape._dims != leaf.shape and not spec.shape.is_compatible_with(leaf.shape):
            raise TypeError(
                f"`generator` yielded an element of shape {leaf.shape} where an element of shape "
                f"{spec.shape} was expected."
            )
        leaves.append(leaf)
    return tuple(leaves)


def _dtypes_of(signature, specs):
    return with_leaf_specs(signature, [spec.dtype for spec in specs])


def _parts(signature, element, shown):
    try:
        return nest.flatten_up_to(signature, element)
    except (TypeError, ValueError) as error:
        raise TypeError(
            "`generator` yielded an element that did not match the expected structure. The "
            f"expected structure was {shown}, but the yielded element was {element}."
        ) from error


def _array(value, dtype):
    """The leaf of anything NumPy makes an array of; numbers of any kind become this dtype."""
    if hasattr(value, "_dispatch_level"):
        value = convert_to_tensor(value)._value
    if dtype is string:
        return _strings(value)
    goal = dtype.numpy_dtype
    if type(value) is int and dtype.is_integer and value.bit_length() < 64:
        return cast_value(value, dtype)
    try:
        with np.errstate(all="ignore"):
            array = np.asarray(value)
            if array.dtype.kind == "c" and not dtype.is_complex:
                array = np.real(array)
            # The generator may write into its array again.
            array = array.astype(goal, order="C")
    except (TypeError, ValueError) as error:
        raise TypeError(
            "`generator` yielded an element that could not be converted to the expected type. The "
            f"expected type was {dtype.name}, but the yielded element was {value}."
        ) from error
    return array if array.ndim else array[()]


def _strings(value):
    given = np.asarray(value, object) if not isinstance(value, np.ndarray) else value
    array = np.empty(given.shape, object)
    for place, item in np.ndenumerate(given):
        if not isinstance(item, (str, bytes)):
            raise InternalError(
                None, None, f"Unsupported object type {type(item).__name__} "
                "[Op:IteratorGetNext] name: ",
            )  # fmt: skip
        array[place] = item.encode() if isinstance(item, str) else item
    return array


def _read_tensors(signature, specs, element):
    parts = _parts(signature, element, signature)
    try:
        values = [_value(part, spec) for part, spec in zip(parts, specs, strict=True)]
    except (TypeError, ValueError) as error:
        raise TypeError(
            "`generator` yielded an element that did not match the expected structure. The "
            f"expected structure was {signature}, but the yielded element was {element}."
        ) from error
    found = [as_values(value)[0] for value in values]
    for own, spec in zip(found, specs, strict=True):
        if not spec.is_compatible_with(own):
            raise TypeError(
                f"`generator` yielded an element of {with_leaf_specs(signature, found)} where an "
                f"element of {signature} was expected."
            )
    return tuple([as_leaf(value) for value in values])


def _value(part, spec):
    """A part of an element as what its spec describes, if that takes no more than a conversion."""
    if isinstance(spec, NoneTensorSpec):
        return None
    if isinstance(spec, SparseTensorSpec):
        return SparseTensor.from_value(part)
    if isinstance(spec, RaggedTensorSpec):
        return part if isinstance(part, RaggedTensor) else convert_to_tensor(part)
    return convert_to_tensor(part, spec.dtype) if isinstance(spec, TensorSpec) else part


# The function users call --------------------------------------------------------------------------


@constructor
def from_generator(
    generator, output_types=None, output_shapes=None, args=None, output_signature=None, name=None
):
    """A dataset of what a generator yields, which is started for every iteration.

    Args:
        generator: a function that returns something to iterate over.
        output_types: dtypes of the elements, if there is no `output_signature`.
        output_shapes: shapes of the elements, beside `output_types`; any shapes if None.
        args: a tuple of tensors, with the NumPy values of which `generator` is called.
        output_signature: the structure of an element, with specs in the place of tensors.

    Raises:
        TypeError: `generator` is no function, or it is not said once what it yields.

    Example:
        >>> spec = TensorSpec((), "int32")
        >>> squares = from_generator(lambda: (i * i for i in range(3)), output_signature=spec)
        >>> [int(square) for square in squares]
        [0, 1, 4]
    """
    if not callable(generator):
        raise TypeError("`generator` must be a Python callable.")
    if output_signature is None:
        signature = _signature(output_types, output_shapes)
    else:
        for argument, given in (("output_types", output_types), ("output_shapes", output_shapes)):
            if given is not None:
                raise TypeError(
                    f"The `{argument}` argument can not be used together with the "
                    "`output_signature` argument."
                )
        signature = output_signature
        for spec in structure_leaves(signature):
            if not isinstance(spec, TypeSpec):
                raise TypeError(
                    "`output_signature` must contain objects that are subclass of `tf.TypeSpec` "
                    f"but found {type(spec)} which is not."
                )
    if all([isinstance(spec, NoneTensorSpec) for spec in leaf_specs(signature)]):
        raise TypeError("`generator` must yield at least one tensor: the signature has none.")
    return GeneratorDataset(generator, _arguments(args), signature)


def _signature(types, shapes):
    if types is None:
        raise TypeError(
            "To specify the output signature you need to provide either the `output_signature` "
            "argument or the `output_types` argument."
        )
    dtypes = [as_dtype(each) for each in structure_leaves(types)]
    if shapes is None:
        found = [None] * len(dtypes)
    else:
        found = [as_shape(shape) for shape in nest.flatten_up_to(types, shapes)]
    specs = [TensorSpec(shape, dtype) for shape, dtype in zip(found, dtypes, strict=True)]
    return with_leaf_specs(types, specs)


def _arguments(args):
    if args is None:
        return ()
    if not isinstance(args, (list, tuple)):
        raise TypeError("values must be a sequence.")
    return tuple([EagerTensor(convert_to_tensor(each)._value).numpy() for each in args])

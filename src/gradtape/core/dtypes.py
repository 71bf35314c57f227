"""DType: the element types of tensors, each a name around a NumPy dtype."""

import ml_dtypes
import numpy as np

_FLOATING = ("float16", "bfloat16", "float32", "float64")
_COMPLEX = ("complex64", "complex128")
_SIGNED = ("int8", "int16", "int32", "int64")
_UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
# Those of `tf.dtypes.experimental`: to store numbers in, not to compute with.
_SMALL_FLOATING = (
    "float8_e5m2", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e4m3b11fnuz", "float8_e5m2fnuz",
    "float4_e2m1fn",
)  # fmt: skip
_SMALL_SIGNED = ("int4", "int2")
_SMALL_UNSIGNED = ("uint4", "uint2")
# Those of tensors that hold an object of any kind, a dataset for one, and can only be passed on.
_OPAQUE = ("variant", "resource")

# The words TensorFlow's runtime uses for these types in its messages.
_RUNTIME_WORDS = {"float16": "half", "float32": "float", "float64": "double"}

_REAL_OF_COMPLEX = {"complex64": "float32", "complex128": "float64"}

# Values of the DataType enumeration that serialised graphs and tensors use.
_ENUM = {
    "float32": 1, "float64": 2, "int32": 3, "uint8": 4, "int16": 5, "int8": 6, "string": 7,
    "complex64": 8, "int64": 9, "bool": 10, "bfloat16": 14, "uint16": 17, "complex128": 18,
    "float16": 19, "resource": 20, "variant": 21, "uint32": 22, "uint64": 23, "float8_e5m2": 24,
    "float8_e4m3fn": 25,
    "float8_e4m3fnuz": 26, "float8_e4m3b11fnuz": 27, "float8_e5m2fnuz": 28, "int4": 29, "uint4": 30,
    "int2": 31, "uint2": 32, "float4_e2m1fn": 33,
}  # fmt: skip


class DType:
    """The type of a tensor's elements, equal to its name, its NumPy dtype and itself."""

    __slots__ = (
        "_numpy",
        "is_bool",
        "is_complex",
        "is_differentiable",
        "is_floating",
        "is_integer",
        "is_numeric",
        "is_unsigned",
        "name",
        "runtime_word",
    )

    def __init__(self, name, numpy_dtype):
        self.name = name
        self._numpy = np.dtype(numpy_dtype)
        self.is_floating = name in _FLOATING or name in _SMALL_FLOATING
        self.is_complex = name in _COMPLEX
        self.is_unsigned = name in _UNSIGNED or name in _SMALL_UNSIGNED
        self.is_integer = name in _SIGNED or name in _SMALL_SIGNED or self.is_unsigned
        self.is_bool = name == "bool"
        self.is_differentiable = name in _FLOATING or self.is_complex
        self.is_numeric = self.is_differentiable or name in _SIGNED or name in _UNSIGNED
        self.runtime_word = _RUNTIME_WORDS.get(name, name)

    @property
    def as_numpy_dtype(self):
        """The NumPy scalar class, e.g. `np.float32`; `object` for strings."""
        return object if self.name == "string" else self._numpy.type

    @property
    def numpy_dtype(self):
        """The `np.dtype` instance that arrays of this type carry."""
        return self._numpy

    @property
    def as_datatype_enum(self):
        return _ENUM[self.name]

    @property
    def base_dtype(self):
        return self

    @property
    def is_quantized(self):
        return False

    @property
    def is_numpy_compatible(self):
        return self.name not in _OPAQUE

    @property
    def real_dtype(self):
        """The type of the real part: float32 for complex64, itself for real types."""
        return as_dtype(_REAL_OF_COMPLEX.get(self.name, self.name))

    @property
    def size(self):
        """Bytes per element."""
        if self.name in _OPAQUE:
            return 0
        return 1 if self.name == "string" else self._numpy.itemsize

    @property
    def min(self):
        return self._limit("min")

    @property
    def max(self):
        return self._limit("max")

    @property
    def limits(self):
        """The range of a colour's values in an image: from 0 to 1 as floats."""
        if self.name in ("float32", "float64"):
            return 0, 1
        if (self.is_numeric and self.is_integer) or self.is_bool:
            return 0, self.max
        raise ValueError(f"{self} does not have defined limits.")

    def _limit(self, which):
        if self.is_bool:
            return which == "max"
        if self.is_integer:
            return int(getattr(ml_dtypes.iinfo(self._numpy), which))
        if self.is_floating:
            return getattr(ml_dtypes.finfo(self._numpy), which)
        raise TypeError(f"Cannot find {which}imum value of {self!r}.")

    def is_compatible_with(self, other):
        return self is as_dtype(other)

    def is_subtype_of(self, other):
        return self == other

    def most_specific_common_supertype(self, others):
        return self if all(self == other for other in others) else None

    def __eq__(self, other):
        if self is other:
            return True
        if other is None:
            return False
        try:
            return self is as_dtype(other)
        except TypeError:
            return False

    def __ne__(self, other):
        return not self == other

    def __hash__(self):
        return hash(self.name)

    def __int__(self):
        return _ENUM[self.name]

    def __repr__(self):
        return f"tf.{self.name}"

    def __str__(self):
        return f"<dtype: '{self.name}'>"

    def __reduce__(self):
        return as_dtype, (self.name,)

    # NumPy reads this when a DType is passed where it expects its own, as in np.zeros(3, tf.int32).
    @property
    def dtype(self):
        return self._numpy


float16 = half = DType("float16", np.float16)
bfloat16 = DType("bfloat16", ml_dtypes.bfloat16)
float32 = DType("float32", np.float32)
float64 = double = DType("float64", np.float64)
complex64 = DType("complex64", np.complex64)
complex128 = DType("complex128", np.complex128)
int8 = DType("int8", np.int8)
int16 = DType("int16", np.int16)
int32 = DType("int32", np.int32)
int64 = DType("int64", np.int64)
uint8 = DType("uint8", np.uint8)
uint16 = DType("uint16", np.uint16)
uint32 = DType("uint32", np.uint32)
uint64 = DType("uint64", np.uint64)
bool_ = DType("bool", np.bool_)
string = DType("string", object)
# A field around the object makes dtypes that NumPy tells apart from that of strings.
variant = DType("variant", [("variant", object)])
resource = DType("resource", [("resource", object)])

EXPERIMENTAL = tuple(
    DType(name, getattr(ml_dtypes, name))
    for name in _SMALL_FLOATING + _SMALL_SIGNED + _SMALL_UNSIGNED
)
PLAIN = (
    float16, bfloat16, float32, float64, complex64, complex128, int8, int16, int32, int64,
    uint8, uint16, uint32, uint64, bool_, string,
)  # fmt: skip
ALL = PLAIN + EXPERIMENTAL
OPAQUE = (variant, resource)

_BY_NUMPY = {dtype.numpy_dtype: dtype for dtype in ALL + OPAQUE}
_BY_NAME = {dtype.name: dtype for dtype in ALL + OPAQUE} | {
    "half": float16,
    "double": float64,
    "float": float32,
}
_BY_ENUM = {number: _BY_NAME[name] for name, number in _ENUM.items()}
# Python's own types; NumPy would know more of them than TensorFlow does.
_BY_CLASS = {
    float: float32, bool: bool_, object: string, int: None, str: None, bytes: None, complex: None,
}  # fmt: skip


def numpy_set(*dtypes):
    """The NumPy dtypes of `dtypes`, as the set an op's dtype check looks into."""
    return frozenset(dtype.numpy_dtype for dtype in dtypes)


# What ops look into: they do not compute with the experimental types.
FLOATING = numpy_set(*(dtype for dtype in PLAIN if dtype.is_floating))
COMPLEX = numpy_set(*(dtype for dtype in PLAIN if dtype.is_complex))
INTEGER = numpy_set(*(dtype for dtype in PLAIN if dtype.is_integer))
SIGNED = numpy_set(int8, int16, int32, int64)
BOOL = numpy_set(bool_)
STRING = numpy_set(string)
DIFFERENTIABLE = FLOATING | COMPLEX
REAL = FLOATING | INTEGER
NUMERIC = REAL | COMPLEX
EVERY = NUMERIC | BOOL | STRING


def of_numpy(numpy_dtype):
    """The DType of an array that already is a tensor's value."""
    return _BY_NUMPY[numpy_dtype]


def as_dtype(type_value):
    """Converts a DType, name, NumPy dtype or Python type to a DType.

    Raises:
        TypeError: if there is no such type.
    """
    if type(type_value) is DType:
        return type_value
    found = None
    if isinstance(type_value, str):
        found = _BY_NAME.get(type_value)
    elif isinstance(type_value, (int, np.integer)) and not isinstance(type_value, bool):
        found = _BY_ENUM.get(int(type_value))
    elif isinstance(type_value, type) and type_value in _BY_CLASS:
        found = _BY_CLASS[type_value]
    elif type_value is not None:
        found = _from_numpy(type_value)
    if found is None:
        raise TypeError(
            f"Cannot convert the argument `type_value`: {type_value!r} to a TensorFlow DType."
        )
    return found


def _from_numpy(value):
    if not isinstance(value, (np.dtype, type)):
        value = getattr(value, "dtype", None)
        if isinstance(value, DType):
            return value
        if not isinstance(value, np.dtype):
            return None
    try:
        numpy_dtype = np.dtype(value)
    except TypeError:
        return None
    if numpy_dtype.kind in "SU":
        return string
    return _BY_NUMPY.get(numpy_dtype.newbyteorder("="))

"""Variable: a named, mutable place for a tensor's value.

Reading one gives the tensor it holds now; assigning puts another in its place, so whatever was
read before keeps its value. When nobody else holds the buffer, updates happen in place.
`ops.state` and `ops.operators` install the methods that need ops.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from . import convert, dtypes, name_scopes
from .dispatch import thread
from .errors import invalid_argument
from .shapes import TensorShape
from .tensor import _DEVICE, EagerTensor, Reference, value_repr
from .variable_creation import CreatedInScopes, VariableSynchronization, checked_modes
from .variable_handle import VariableHandle


class SharedVariableError(TypeError, ValueError):
    """A variable cannot be assigned for all elements of a vectorized_map at once.

    As a TypeError it makes the map go element by element, where the caller allows that.
    """


class Variable(metaclass=CreatedInScopes):
    """A variable: `tf.Variable(3.0, name="x0")`.

    Args:
        initial_value: a tensor, anything that converts to one, or a function that returns it.
        trainable: whether tapes watch it by themselves; True unless said otherwise.
        name: its name; `:0` is appended, and name scopes are put before.
        dtype: the dtype, where the value does not say it.
        constraint: kept for optimisers; assigning does not apply it.
        synchronization: when copies on several devices would be brought together.
        aggregation: how.
        shape: a shape with unknown dimensions, if later values may have another shape.

    Raises:
        ValueError: without an initial value, or if it does not fit `dtype` or `shape`.
    """

    _dispatch_level = -1
    _is_composite = False
    _is_sparse_update = False
    __array_priority__ = 100

    if TYPE_CHECKING:
        _handle: VariableHandle
        name: str
        trainable: bool
        dtype: Any
        shape: Any
        _read: Any
        _store: Any
        _value: Any

        def assign(
            self, value: Any, use_locking: Any = None, name: Any = None, read_value: Any = True
        ) -> Any: ...
        def __add__(self, other: Any) -> Any: ...
        def __radd__(self, other: Any) -> Any: ...
        def __sub__(self, other: Any) -> Any: ...
        def __rsub__(self, other: Any) -> Any: ...
        def __mul__(self, other: Any) -> Any: ...
        def __rmul__(self, other: Any) -> Any: ...
        def __truediv__(self, other: Any) -> Any: ...
        def __rtruediv__(self, other: Any) -> Any: ...
        def __pow__(self, other: Any) -> Any: ...
        def __matmul__(self, other: Any) -> Any: ...
        def __rmatmul__(self, other: Any) -> Any: ...
        def __neg__(self) -> Any: ...
        def __lt__(self, other: Any) -> Any: ...
        def __gt__(self, other: Any) -> Any: ...
        def __getitem__(self, key: Any) -> Any: ...
        def __iter__(self) -> Any: ...
        def read_value(self) -> Any: ...
        def scatter_add(self, sparse_delta: Any) -> Any: ...
        def scatter_sub(self, sparse_delta: Any) -> Any: ...

    @classmethod
    def _concrete(cls):
        return ResourceVariable if cls is Variable else cls

    def __new__(cls, *args, **kwargs):
        return object.__new__(cls._concrete())


class ResourceVariable(Variable):
    """The class of every variable, named as in TensorFlow."""

    def __init__(
        self,
        initial_value=None,
        trainable=None,
        validate_shape=True,
        caching_device=None,
        name=None,
        variable_def=None,
        dtype=None,
        import_scope=None,
        constraint=None,
        synchronization=None,
        aggregation=None,
        shape=None,
        experimental_enable_variable_lifting=True,
    ):
        if initial_value is None:
            raise ValueError(
                "The `initial_value` arg to `tf.Variable` must be specified except when you are "
                "not providing a `variable_def`. You provided neither."
            )
        if constraint is not None and not callable(constraint):
            raise ValueError(
                f"Argument `constraint` must be None or a callable. Received: {constraint!r}"
            )
        modes = checked_modes(synchronization, aggregation, name)
        if callable(initial_value):
            initial_value = initial_value()
        value = _initial_value(initial_value, dtype)
        if shape is not None:
            shape = TensorShape(shape)
            if not shape.is_compatible_with(value.shape):
                raise ValueError(
                    f"In this `tf.Variable` creation, the initial value's shape "
                    f"({TensorShape(value.shape)}) is not compatible with the explicitly supplied "
                    f"`shape` argument ({shape.as_list() if shape.rank is not None else shape})."
                )
        if thread.trace is not None:
            thread.trace.add_variable(self)
        self._handle = VariableHandle(value, shape)
        self._synchronization, self._aggregation = modes
        if trainable is None:
            trainable = self._synchronization is not VariableSynchronization.ON_READ
        self._trainable = bool(trainable)
        self._name = _full_name(name or "Variable")
        self._constraint = constraint

    # Reading ------------------------------------------------------------------------------------

    def _read(self):
        """The tensor held now, for use in an op; tells this thread's tapes of the access."""
        for recorder in thread.recorders:
            recorder.variable_read(self)
        trace = thread.trace
        return self._handle.tensor if trace is None else trace.read(self)

    def _to_tensor(self, dtype):
        if dtype is not None and dtype is not self.dtype:
            raise convert.conversion_error(self.read_value(), dtype)
        return self.read_value()

    def value(self):
        """A tensor with the current value; a read that tapes record."""
        return self.read_value()

    def numpy(self):
        """A copy of the current value as a NumPy array or scalar."""
        return self._read().numpy()

    def __array__(self, dtype=None, copy=None):
        return self._read().__array__(dtype, copy)

    def __bool__(self):
        return bool(self._read())

    def __int__(self):
        return int(self._read())

    def __float__(self):
        return float(self._read())

    def __complex__(self):
        return complex(self._read())

    def __repr__(self):
        facts = f"<tf.Variable '{self.name}' shape={self.shape} dtype={self.dtype.name}"
        if thread.trace is not None:  # where a value is nothing to rely on
            return f"{facts}>"
        return f"{facts}, numpy={value_repr(self._read()._value)}>"

    @property
    def _original(self):
        """The variable itself; of what assigning returns, the one assigned to."""
        return self

    @property
    def _value(self):
        """The array held now, for its shape and dtype; looking at those is not an access."""
        trace = thread.trace
        return (self._handle.tensor if trace is None else trace.read(self))._value

    # Facts --------------------------------------------------------------------------------------

    @property
    def dtype(self):
        return dtypes.of_numpy(self._handle.tensor._value.dtype)

    @property
    def shape(self):
        declared = self._handle.shape
        return self._handle.tensor.shape if declared is None else declared

    def get_shape(self):
        return self.shape

    def set_shape(self, shape):
        """Narrows the declared shape, which must agree with `shape`."""
        if not self.shape.is_compatible_with(shape):
            raise ValueError(f"Shapes {self.shape} and {TensorShape(shape)} are not compatible")
        self._handle.shape = self.shape.merge_with(shape)

    @property
    def ndim(self):
        return self._handle.tensor.ndim

    @property
    def name(self):
        return self._name

    @property
    def trainable(self):
        return self._trainable

    @property
    def constraint(self):
        return self._constraint

    @property
    def synchronization(self):
        return self._synchronization

    @property
    def aggregation(self):
        return self._aggregation

    @property
    def handle(self):
        return self._handle

    @property
    def device(self):
        return _DEVICE

    @property
    def op(self):
        raise AttributeError("Tensor.op is undefined when eager execution is enabled.")

    @property
    def graph(self):
        raise AttributeError("Tensor.graph is undefined when eager execution is enabled.")

    @property
    def initial_value(self):
        raise RuntimeError("This property is not supported when eager execution is enabled.")

    @property
    def initializer(self):
        return None

    def eval(self, session=None):
        raise RuntimeError("This operation is not supported when eager execution is enabled.")

    def is_initialized(self, name=None):
        return EagerTensor(np.bool_(True))

    def ref(self):
        """A hashable reference, for use in sets and as a dictionary key."""
        return Reference(self)

    experimental_ref = ref

    def __hash__(self):
        raise TypeError(
            f"Variable is unhashable. Instead, use variable.ref() as the key. (Variable: {self!r})"
        )

    # Writing ------------------------------------------------------------------------------------

    def assign(self, value, use_locking=None, name=None, read_value=True):
        """Puts `value` in place of the current one.

        Raises:
            ValueError: the shape or dtype differs from the variable's. Nothing is changed.
        """
        new = self._new_tensor(value)
        if not self.shape.is_compatible_with(new.shape):
            raise ValueError(
                f"Cannot assign value to variable ' {self.name}': Shape mismatch."
                f"The variable shape {self.shape}, and the assigned value shape "
                f"{new.shape} are incompatible."
            )
        if thread.trace is None:
            return self._store(array_of(new), read_value)
        thread.trace.write(self, new)
        return self._written(read_value)

    def assign_add(self, delta, use_locking=None, name=None, read_value=True):
        """Adds `delta`, in place when nobody else holds the value."""
        if getattr(delta, "_is_sparse_update", False):
            return self.scatter_add(delta)
        return self._update(delta, np.add, "AssignAddVariableOp", read_value)

    def assign_sub(self, delta, use_locking=None, name=None, read_value=True):
        """Subtracts `delta`, in place when nobody else holds the value."""
        if getattr(delta, "_is_sparse_update", False):
            return self.scatter_sub(delta)
        return self._update(delta, np.subtract, "AssignSubVariableOp", read_value)

    def _new_tensor(self, value):
        """`value` as a tensor of this variable's dtype."""
        self._check_no_map()
        return convert.convert_to_tensor(value, self.dtype)

    def _new_value(self, value):
        """`value` as an array of this variable's dtype."""
        return array_of(self._new_tensor(value))

    def _check_no_map(self):
        if thread.maps:
            raise SharedVariableError(
                f"Variable {self.name!r} cannot be assigned inside vectorized_map: it has one "
                "value for all elements. Return what should be assigned, and assign it afterwards."
            )

    def _update(self, delta, ufunc, op_name, read_value):
        current = self._handle.tensor._value
        if type(delta) is EagerTensor and delta._value.dtype is current.dtype:
            self._check_no_map()
        else:
            delta = self._new_tensor(delta)
        if delta._value.shape != current.shape:
            raise invalid_argument(
                op_name,
                f"Cannot update variable with shape {list(current.shape)} using a Tensor with "
                f"shape {list(delta._value.shape)}, shapes must be equal.",
            )
        del current
        if thread.trace is not None:
            thread.trace.update(self, ufunc, delta)
            return self._written(read_value)
        delta = array_of(delta)
        array = self._handle.own_array()
        if array is None:
            with np.errstate(all="ignore"):
                return self._store(ufunc(self._handle.tensor._value, delta), read_value)
        try:  # noqa: SIM105 - contextlib.suppress takes longer than a small update
            ufunc(array, delta, array)
        except (FloatingPointError, RuntimeWarning):
            pass  # comes when all is written: infinities and NaNs are values like any other
        return self._written(read_value)

    def _writable(self):
        """An array with the current value that may be written to, copied only if it must be."""
        self._check_no_map()
        array = self._handle.own_array()
        return np.array(self._handle.tensor._value) if array is None else array

    def _store(self, value, read_value):
        self._handle.set_value(value)
        return self._written(read_value)

    def _written(self, read_value):
        """Writing counts as access for tapes; returns the alias that assigning returns."""
        for recorder in thread.recorders:
            recorder.variable_read(self)
        return _UnreadVariable._of(self) if read_value else None

    def __iadd__(self, other):
        raise _no_in_place_operator("+", "assign_add", "+")

    def __isub__(self, other):
        raise _no_in_place_operator("-", "assign_sub", "-")

    def __imul__(self, other):
        raise _no_in_place_operator("*", "assign", "*")

    def __itruediv__(self, other):
        raise _no_in_place_operator("/", "assign", "/")

    def __ifloordiv__(self, other):
        raise _no_in_place_operator("//", "assign", "//")

    def __ipow__(self, other):
        raise _no_in_place_operator("**", "assign", "**")

    # Copies -------------------------------------------------------------------------------------

    def __copy__(self):
        twin = object.__new__(type(self))
        vars(twin).update(vars(self))
        return twin

    def __deepcopy__(self, memo):
        twin = self.__copy__()
        twin._handle = VariableHandle(np.array(self._read()._value)[()], self._handle.shape)
        memo[id(self)] = twin
        return twin

    def __reduce__(self):
        return _unpickle, (np.asarray(self._read()._value), self._trainable, self._name)


class _UnreadVariable(ResourceVariable):
    """What assigning returns: the same variable, read only when somebody looks."""

    _variable: Any

    def __init__(self):
        raise TypeError("An _UnreadVariable comes from assigning to a variable.")

    @classmethod
    def _of(cls, variable):
        alias = object.__new__(cls)
        alias._handle = variable._handle
        alias._variable = variable
        return alias

    @property
    def name(self):
        return "UnreadVariable"

    def __getattr__(self, name):
        if name == "_variable":  # an alias half made, as during unpickling
            raise AttributeError(name)
        return getattr(self._variable, name)

    @property
    def _original(self):
        return self._variable

    def _read(self):
        return self._variable._read()


def _full_name(name):
    """The name within the current scopes; one that ends in a slash stands by itself."""
    if name.endswith("/"):
        return name[:-1] + ":0"
    return f"{name_scopes.current_scope()}{name}:0"


def _initial_value(value, dtype):
    if dtype is not None:
        dtype = dtypes.as_dtype(dtype)
    try:
        tensor = convert.convert_to_tensor(value, dtype)
    except ValueError as error:
        if "Tensor conversion requested" in str(error):
            raise ValueError(f"initial_value: {error}") from None
        raise
    value = tensor._known()
    if value is None:
        raise TypeError(f"A variable cannot be initialised with a {type(tensor).__name__}.")
    return value


def variable_of(item):
    """The variable that an object of another library stands for; anything else as it is."""
    stood_for = getattr(item, "_stands_for", None)
    return item if stood_for is None else stood_for


def array_of(tensor):
    """The array of a tensor; what belongs to a trace has none outside of it."""
    return tensor._value if type(tensor) is EagerTensor else tensor._known()


def _no_in_place_operator(symbol, method, out_symbol):
    update = (
        f"variable.{method}(value)" if method != "assign" else f"var.assign(var {symbol} value)"
    )
    return RuntimeError(
        f"`variable {symbol}= value` with `tf.Variable`s is not supported. Use `{update}` to "
        f"modify the variable, or `out = variable {out_symbol} value` if you need to get a new "
        "output Tensor."
    )


def _unpickle(value, trainable, name):
    variable = ResourceVariable(value, trainable=trainable)
    variable._name = name
    return variable

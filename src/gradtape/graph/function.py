"""tf.function: a Python function that runs as a graph once it has been traced."""

import functools
import sys
import types
import weakref
from types import NoneType
from typing import Any

from ..core.active import program, thread
from ..core.errors import OutOfRangeError
from ..core.exports import export
from ..core.tensor import EagerTensor
from .concrete import Callable, ConcreteFunction, concrete_function
from .input_specs import InputSignature
from .keys import Weak
from .kinds import with_any_numbers
from .paths import Paths
from .retraces import traffic_of
from .signature import Call, Parameters, filled
from .specialisations import Specialisations, call_paths, run_quickly
from .trace import NotTraceableError, TraceTooLongError
from .user_code import calling_line, point_to_user_code

_QUICK_PLAIN = frozenset((bool, float, int, str, NoneType))
_MOST_QUICK_KEYS = 2048


class Function(Callable):
    """A Python function that is traced when it meets new kinds of arguments, then run as a graph.

    Attributes:
        python_function: the function itself.
    """

    def __init__(self, python_function, name=None, **options):
        self._binding = None
        if isinstance(python_function, (classmethod, staticmethod)):
            self._binding = type(python_function)
            python_function = python_function.__func__
        if not callable(python_function):
            raise TypeError(f"{python_function!r} is not a callable object")
        self.python_function = python_function
        self._options = options
        self._name = name or _name_of(python_function)
        self._instance: Any = None
        self._of_instances = {}
        self._traffic = traffic_of(python_function)
        self._state = Specialisations(self._name)
        self._take_parameters(skip=0)
        self.__name__ = self._name
        functools.update_wrapper(self, python_function)

    def _take_parameters(self, skip):
        self._parameters = Parameters(self.python_function, skip)
        self._signature = None
        specs = self._options.get("input_signature")
        if specs is not None:
            own = self._parameters.names[:1]
            # What a method gets for `self` has no spec; methods are bound before they are called.
            unbound = not skip and own == ["self"]
            parameters = Parameters(self.python_function, 1) if unbound else self._parameters
            self._signature = InputSignature(specs, parameters)
            if not unbound:
                self._parameters = self._signature.parameters
        self.__signature__ = self._parameters.signature
        self._is_unbound = specs is not None and not skip and own == ["self"]

    # Methods ------------------------------------------------------------------------------------

    def __get__(self, instance, owner=None):
        if self._binding is staticmethod:
            return self
        if self._binding is classmethod:
            instance = owner
        if instance is None:
            return self
        key = id(instance)
        found = self._of_instances.get(key)
        if found is None:
            drop = self._of_instances.pop
            try:
                watch = weakref.ref(instance, lambda _: drop(key, None))
            except TypeError:  # it cannot be watched: it is an argument like any other
                return types.MethodType(self, instance)
            facts = dict(self.__dict__)
            bound = _made(facts)
            bound._state = Specialisations(self._name)
            bound._of_instances = {}
            bound._take_parameters(skip=1)
            found = self._of_instances[key] = bound.__dict__, watch
        bound = _made(found[0])
        bound._instance = instance
        return bound

    def _identity(self):
        """What it is told apart by as an argument: a method is a new object each time."""
        return self._state

    def _weakly(self):
        return Weak(self) if self._instance is None else _WeakMethod(self)

    # Calling ------------------------------------------------------------------------------------

    def __call__(self, *args, **kwargs):
        state = self._state
        if not kwargs:
            # The usual case, and what a call costs: eager tensors and plain values by position.
            parts, arrays = [], []
            for item in args:
                kind = type(item)
                if kind is EagerTensor:
                    value = item._value
                    parts.append(value.dtype)
                    parts.append(value.shape)
                    arrays.append(value)
                elif kind in _QUICK_PLAIN:
                    parts.append(kind)
                    parts.append(item)
                else:
                    break
            else:
                found = state.quick.get(tuple(parts))
                if found is not None and not program.functions_run_eagerly:
                    self._traffic.calls += 1
                    state.clock = found.used = state.clock + 1
                    return run_quickly(found.paths, args, arrays)
        if program.functions_run_eagerly:
            return self._run_python(args, kwargs)
        return self._call_with_care(args, kwargs)

    def _call_with_care(self, args, kwargs):
        """A call of arguments of any kind, or one that may have to be traced."""
        state = self._state
        self._traffic.calls += 1
        given = args if not kwargs else None
        args, kwargs = self._bound(args, kwargs)
        call = Call(args, kwargs, self._parameters.names, state.identities, state.varying)
        found = state.known.get(call.key)
        if found is None:
            with state.lock:
                found, call = self._specialisation(call)
        state.clock = found.used = state.clock + 1
        if call.has_numbers:
            return self._run_with_numbers(found, call)
        result = self._run(found, call.tensors)
        if given is not None and found.paths.latest is not None:
            self._remember_quickly(found, given, args)
        return result

    def _bound(self, args, kwargs):
        """Arguments in the order of the parameters, converted to what an input signature says."""
        if self._signature is None:
            return self._parameters.bind(args, kwargs)
        if self._is_unbound and args:
            fitted, kwargs = self._signature.fit(args[1:], kwargs)
            return (args[0], *fitted), kwargs
        return self._signature.fit(args, kwargs)

    def _run(self, found, tensors):
        """What the function gives; of several threads with a first call, one traces it."""
        state, paths = self._state, found.paths
        if paths.latest is None and paths.by_python is None:
            with state.lock:
                if paths.latest is None:
                    result = call_paths(paths, tensors, not state.was_called)
                    state.was_called = True
                    return result
        return call_paths(paths, tensors)

    def _run_with_numbers(self, found, call):
        """A call with Python numbers for inputs; if they cannot be, they are part of the key."""
        is_new = found.paths.latest is None
        try:
            result = self._run(found, call.tensors)
        except Exception:
            if not is_new:
                raise
            return self._run_with_fixed_numbers(call)
        if found.paths.by_python is not None:
            self._state.fix_numbers()
        return result

    def _run_with_fixed_numbers(self, call):
        self._state.fix_numbers()
        return self._call_with_care(call.args, call.kwargs)

    def _remember_quickly(self, found, given, bound):
        """Lets the next call like this one take the quick way."""
        parts = []
        for item in given:
            if type(item) is EagerTensor:
                parts += [item._value.dtype, item._value.shape]
            elif type(item) in _QUICK_PLAIN and (type(item) is not float or item):
                parts += [type(item), item]  # but for 0.0, which equals -0.0
            else:
                return
        state, key = self._state, tuple(parts)
        converted = self._signature is not None and any(
            [bound[i] is not item for i, item in enumerate(given)]
        )
        if not converted and len(state.quick) < _MOST_QUICK_KEYS and key not in state.quick:
            state.quick[key] = found
            found.quick_keys.append(key)

    # Tracing ------------------------------------------------------------------------------------

    def _specialisation(self, call):
        """The specialisation for a call, new if need be; and the call, perhaps taken apart anew."""
        state = self._state
        found = state.known.get(call.key)
        if found is not None:
            return found, call
        kind = self._parameters.kind_of_call(call.args, call.kwargs)
        if call.has_numbers:
            kind = with_any_numbers(kind, call.varying_numbers())
        entry = state.entry_for(kind)
        counted = entry is None
        if entry is None:
            wide = kind
            if self._options.get("reduce_retracing"):
                wide = state.widened(kind)
            elif self._signature is not None and not self._is_unbound:
                wide = self._signature.kind()
            entry = state.add_entry(wide)
            if state.let_vary(wide, call.key):
                call = Call(call.args, call.kwargs, self._parameters.names, state.identities,
                            state.varying)  # fmt: skip
        found = state.known.get(call.key)
        if found is None:
            found = self._add_specialisation(call, entry, counted, kind)
        if counted:
            self._traffic.traced(self.python_function)
        return found, call

    def _add_specialisation(self, call, entry, counted, kind=None):
        """A new specialisation for a call of a known kind."""
        if kind is None:
            kind = self._parameters.kind_of_call(call.args, call.kwargs)
        found = self._state.add(call.key, entry, self._new_paths(call, entry))
        self._state.history.add_kind(entry, kind, calling_line(), counted)
        return found

    def _new_paths(self, call, entry):
        """Paths that hold on neither to the arguments of this call nor to the instance."""
        run = _Runner(self.python_function, self._instance, call.outline(), self._state, entry)
        paths = Paths(self._name, run, call.names, self._state.lock)
        run.paths = weakref.ref(paths)
        return paths

    def _run_python(self, args, kwargs):
        if self._instance is None:
            return self.python_function(*args, **kwargs)
        return self.python_function(self._instance, *args, **kwargs)

    # Facts --------------------------------------------------------------------------------------

    @property
    def name(self):
        return self._name

    @property
    def input_signature(self):
        """The specs its arguments have to fit, as a tuple; None if any arguments do."""
        return None if self._signature is None else self._signature.specs

    @property
    def function_spec(self):
        """Its parameters."""
        return self._parameters

    @property
    def function_type(self):
        """Its parameters, as `inspect` describes them."""
        return self._parameters.signature

    def get_concrete_function(self, *args, **kwargs):
        """The function for arguments of one kind.

        Args:
            *args, **kwargs: values, or specs such as `tf.TensorSpec([None], tf.float32)` in the
                place of tensors; nothing if there is an `input_signature`.

        Raises:
            TypeError: they do not fit the parameters.
        """
        return concrete_function(self, args, kwargs)

    def experimental_get_tracing_count(self):
        """How many kinds of arguments it was traced for."""
        return self._state.count

    def pretty_printed_concrete_signatures(self, verbose=True):
        """The kinds of arguments it was traced for, and of what it returns for them."""
        by_entry = {each.entry: each for each in list(self._state.known.values())}
        found = [ConcreteFunction(self, entry, each) for entry, each in by_entry.items()]
        return "\n\n".join([each.pretty_printed_signature(verbose) for each in found])

    def explain_retraces(self):
        """Why it was traced each time: from where it was called, and what was new about that."""
        return self._state.history.text()

    def experimental_get_compiler_ir(self, *args, **kwargs):
        """Not available: there is no compiler whose code could be shown.

        Raises:
            ValueError: always.
        """
        if not self._options.get("jit_compile"):
            raise ValueError(
                "Compiler IR can only be returned for functions marked with 'jit_compile=True'"
            )
        raise ValueError(
            "There is no compiler IR: graphs run on NumPy. See "
            "get_concrete_function(...).graph.as_text() for the graph itself."
        )

    def clone(self, python_function=None):
        """A function with the same options that has not been traced.

        Args:
            python_function: what it is to run; the same as this one if None.
        """
        return Function(python_function or self.python_function, self._name, **self._options)

    def __eq__(self, other):
        if not isinstance(other, Function):
            return NotImplemented
        return self._state is other._state

    def __hash__(self):
        return hash(id(self._state))

    def __copy__(self):
        return _made(self.__dict__)

    def __deepcopy__(self, memo):
        # What was traced refers to variables by identity, so a copy starts without traces.
        return self if self._instance is not None else self.clone()

    def __reduce__(self):
        if self._instance is not None:
            return getattr, (self._instance, self.__name__)
        found = sys.modules.get(getattr(self, "__module__", ""))
        path = getattr(self, "__qualname__", self._name)
        for name in path.split("."):
            found = getattr(found, name, None)
        if found is self:
            return path  # pickled by name, as Python's own functions are
        return _unpickled, (self.python_function, self._name, self._options)

    def __repr__(self):
        return f"<tf.function {self.python_function!r}>"


class _Runner:
    """Runs a Python function on tensors in the place of those that one call had.

    Args:
        python_function: the function.
        instance: what its method is bound to, or None; it is not kept alive.
        outline: the arguments of the call.
        state: the Specialisations it belongs to.
        entry: the kind of arguments it is for.
    """

    def __init__(self, python_function, instance, outline, state, entry):
        self._python_function = python_function
        self._instance = None if instance is None else weakref.ref(instance)
        self._args, self._names, self._values = outline
        self._history = state.history
        self._entry = entry
        self._count = 0
        self.paths: Any = None

    def __call__(self, tensors):
        remaining = iter(tensors)
        args, values = filled(self._args, remaining), filled(self._values, remaining)
        kwargs = dict(zip(self._names, values, strict=True))
        if self._instance is not None:
            args = (self._instance(), *args)
        is_traced = thread.trace is not None
        if is_traced:
            self._note_path()
        try:
            return self._python_function(*args, **kwargs)
        except (NotTraceableError, TraceTooLongError):
            raise
        except Exception as error:
            if isinstance(error, OutOfRangeError) and isinstance(error, StopIteration):
                # The end of an iterator that Python may handle; callers see what graphs raise.
                raise OutOfRangeError(None, None, str(error)) from None
            if is_traced:
                point_to_user_code(error)
            raise

    def __repr__(self):
        return repr(self._python_function)

    def _note_path(self):
        """Has the history say by which guard this trace is not the first."""
        paths = None if self.paths is None else self.paths()
        if paths is None or paths.count <= self._count:
            return
        self._count = paths.count
        if paths.last_miss is not None:
            path, miss = paths.last_miss
            self._history.add_path(self._entry.number, path, miss, calling_line())


class _WeakMethod(Weak):
    """A method in the outline of a call, which does not keep its instance alive."""

    __slots__ = ("_facts",)

    def __init__(self, function):
        super().__init__(function._instance)
        self._facts = {**function.__dict__, "_instance": None}

    def get(self):
        method = _made(self._facts)
        method._instance = super().get()
        return method


def _made(facts):
    made = object.__new__(Function)
    made.__dict__.update(facts)
    return made


def _name_of(python_function):
    named: Any = python_function
    while isinstance(named, functools.partial):
        named = named.func
    return getattr(named, "__name__", None) or type(named).__name__


def _unpickled(python_function, name, options):
    return Function(python_function, name, **options)


@export("function")
def function(
    func=None,
    input_signature=None,
    autograph=True,
    jit_compile=None,
    reduce_retracing=False,
    experimental_implements=None,
    experimental_autograph_options=None,
    experimental_attributes=None,
    experimental_relax_shapes=None,
    experimental_compile=None,
    experimental_follow_type_hints=None,
):
    """Makes a function run as a graph; also a decorator, with or without arguments.

    Args:
        func: the function: anything that can be called. None to get a decorator.
        input_signature: a list of specs, nested as the arguments are. All calls then count as one
            kind, and arguments are converted to what it says.
        autograph: accepted: Python code is traced as it is, whatever it decides by.
        jit_compile: accepted: it changes no result.
        reduce_retracing: whether arguments that differ in shape, or in the value of a Python
            number, come to count as one kind.
        experimental_implements: accepted.
        experimental_autograph_options: accepted.
        experimental_attributes: accepted.
        experimental_relax_shapes: an older name of `reduce_retracing`.
        experimental_compile: an older name of `jit_compile`.
        experimental_follow_type_hints: accepted.

    Raises:
        TypeError: `func` cannot be called, or `input_signature` does not fit its parameters.

    Example:
        >>> @function
        ... def double(x):
        ...     return x + x
        >>> float(double(1.5))
        3.0
    """
    options = {
        "input_signature": input_signature,
        "jit_compile": experimental_compile if jit_compile is None else jit_compile,
        "reduce_retracing": bool(reduce_retracing or experimental_relax_shapes),
    }

    def decorate(python_function):
        return Function(python_function, **options)

    return decorate if func is None else decorate(func)


export("types.experimental.PolymorphicFunction types.experimental.GenericFunction", Function)
export("types.experimental.ConcreteFunction", ConcreteFunction)
export("types.experimental.Callable", Callable)

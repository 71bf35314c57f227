"""tf.function: what it can be put on, what it takes and returns, and what it tells of itself."""

import collections
import copy
import functools
import gc
import inspect
import pickle
import weakref
from typing import Any

import numpy as np
import pytest

import gradtape as tf
from function_programs import counted


@tf.function
def doubled(x):
    """Twice as much."""
    return x * 2.0


# What it can be put on ----------------------------------------------------------------------------


def test_decorator_with_and_without_arguments():
    @tf.function(autograph=False, jit_compile=True, reduce_retracing=True)
    def f(x):
        return x + 1.0

    assert f(tf.constant(1.0)).numpy() == 2.0
    assert doubled(tf.constant(1.0)).numpy() == 2.0
    assert tf.function(func=lambda x: x + 1)(2).numpy() == 3


def test_names_and_documentation_are_those_of_the_function():
    assert doubled.__name__ == doubled.name == "doubled"
    assert doubled.__doc__ == "Twice as much."
    assert doubled.__wrapped__ is doubled.python_function
    assert str(inspect.signature(doubled)) == "(x)"
    assert repr(doubled) == f"<tf.function {doubled.python_function!r}>"


def test_a_second_call_does_not_run_the_python_code():
    f, runs = counted(lambda x: x + 1.0)
    assert [f(tf.constant(float(i))).numpy() for i in range(4)] == [1.0, 2.0, 3.0, 4.0]
    assert len(runs) == f.experimental_get_tracing_count() == 1


def test_partial_objects_callables_and_builtins():
    class Adder:
        def __call__(self, x):
            return x + 10

    add = lambda x, y: x + y  # noqa: E731
    assert tf.function(functools.partial(add, y=2))(1).numpy() == 3
    assert tf.function(functools.partial(add, 5))(tf.constant(1)).numpy() == 6
    assert tf.function(Adder())(tf.constant(1)).numpy() == 11
    assert tf.function(Adder()).__name__ == "Adder"
    assert tf.function(max)(tf.constant(1), tf.constant(4)).numpy() == 4


def test_code_without_source():
    names = {"tf": tf}
    exec("@tf.function\ndef absolute(x):\n    return x if x > 0 else -x\n", names)
    f: Any = names["absolute"]
    assert [f(tf.constant(x)).numpy() for x in (3.0, -2.0, 5.0)] == [3.0, 2.0, 5.0]
    assert f.experimental_get_tracing_count() == 1


def test_other_decorators_around_and_inside():
    def shouting(function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            return function(*args, **kwargs)

        return wrapper

    @shouting
    @tf.function
    @shouting
    def f(x, y=2):
        return x + y

    assert f(1).numpy() == 3
    assert f(1, y=5).numpy() == 6
    assert str(inspect.signature(f)) == "(x, y=2)"
    assert tf.function(tf.function(lambda x: x + 1))(1).numpy() == 2


class Model(tf.Module):
    made = 0

    def __init__(self, w):
        super().__init__()
        self.w = tf.Variable(w)

    @tf.function
    def scaled(self, x, k=1):
        self.made += 1
        return self.w * x * k

    @classmethod
    @tf.function
    def name_of_class(cls, x):
        return x, cls.__name__

    @staticmethod
    @tf.function
    def static(x):
        return x + 1

    @tf.function
    @classmethod
    def outside_classmethod(cls, x):
        return x, cls.__name__

    @tf.function
    @staticmethod
    def outside_staticmethod(x):
        return x + 1

    @tf.function(input_signature=[tf.TensorSpec([None])])
    def signed(self, x):
        return self.w * x


def test_methods_have_traces_of_their_own():
    a, b = Model(2.0), Model(3.0)
    x = tf.constant(10.0)
    assert (a.scaled(x).numpy(), b.scaled(x).numpy(), a.scaled(x).numpy()) == (20.0, 30.0, 20.0)
    assert (a.made, b.made) == (1, 1)
    assert a.scaled.experimental_get_tracing_count() == 1
    assert a.scaled(x, k=3).numpy() == 60.0
    assert a.scaled.experimental_get_tracing_count() == 2
    assert b.scaled.experimental_get_tracing_count() == 1
    assert a.scaled == a.scaled != b.scaled
    assert Model.scaled(a, x).numpy() == 20.0
    assert str(inspect.signature(a.scaled)) == "(x, k=1)"


def test_methods_of_classes():
    for f in (Model.name_of_class, Model(1.0).name_of_class, Model.outside_classmethod):
        assert [each.numpy() for each in f(tf.constant(1))] == [1, b"Model"]
    for f in (Model.static, Model(1.0).static, Model(1.0).outside_staticmethod):
        assert f(tf.constant(1)).numpy() == 2


def test_a_method_of_a_temporary():
    assert Model(4.0).scaled(tf.constant(2.0)).numpy() == 8.0


def test_a_method_with_an_input_signature():
    model = Model(2.0)
    assert model.signed([1.0, 2.0]).numpy().tolist() == [2.0, 4.0]
    assert model.signed(tf.ones([3])).shape == [3]
    assert model.signed.experimental_get_tracing_count() == 1
    assert model.signed.input_signature == (tf.TensorSpec([None]),)


def test_an_instance_is_freed_with_what_was_traced_for_it():
    model = Model(2.0)
    model.scaled(tf.constant(1.0))
    held, variable = weakref.ref(model), weakref.ref(model.w)
    gc.disable()
    try:
        del model
        assert held() is None
    finally:
        gc.enable()
    gc.collect()
    assert variable() is None


def test_methods_of_instances_that_cannot_be_watched():
    class Point(collections.namedtuple("Point", "a b")):
        __slots__ = ()

        @tf.function
        def total(self):
            return self.a + self.b

    assert Point(tf.constant(1.0), 2.0).total().numpy() == 3.0
    assert Point(tf.constant(5.0), 2.0).total().numpy() == 7.0
    assert Point.total.experimental_get_tracing_count() == 1


def test_functions_call_functions():
    @tf.function
    def inner(x):
        return x * 3.0

    @tf.function
    def outer(x):
        return inner(x) + inner(x + 1.0)

    assert outer(tf.constant(2.0)).numpy() == 15.0
    assert outer(tf.constant(3.0)).numpy() == 21.0


def test_recursion():
    @tf.function
    def factorial(n):
        if n <= 1:
            return tf.constant(1)
        return n * factorial(n - 1)

    assert [factorial(tf.constant(n)).numpy() for n in (5, 3, 5, 1, 6)] == [120, 6, 120, 1, 720]
    assert factorial(4).numpy() == 24


def test_copies_and_pickles():
    f = tf.function(lambda x: x + 1)
    f(1)
    assert copy.copy(f).experimental_get_tracing_count() == 1
    assert copy.deepcopy(f).experimental_get_tracing_count() == 0
    assert copy.deepcopy(f)(1).numpy() == 2
    assert pickle.loads(pickle.dumps(doubled)) is doubled
    made = pickle.loads(pickle.dumps(tf.function(np.negative, reduce_retracing=True)))
    assert made(tf.constant(2.0)).numpy() == -2.0
    other = f.clone(lambda x: x + 5)
    assert (other(1).numpy(), f(1).numpy()) == (6, 2)
    model = copy.deepcopy(Model(3.0))
    assert model.scaled(tf.constant(2.0)).numpy() == 6.0


def test_functions_run_eagerly():
    f, runs = counted(lambda x: x + 1)
    f(tf.constant(1))
    tf.config.run_functions_eagerly(True)
    try:
        f(tf.constant(1))
        f(tf.constant(1))
        assert type(tf.function(lambda: object())()) is object
    finally:
        tf.config.run_functions_eagerly(False)
    assert len(runs) == 3
    f(tf.constant(1))
    assert len(runs) == 3


def test_kinds_of_functions_by_type():
    kinds = tf.types.experimental
    assert isinstance(doubled, kinds.PolymorphicFunction)
    assert isinstance(doubled, kinds.GenericFunction)
    assert isinstance(doubled, kinds.Callable)
    concrete = doubled.get_concrete_function(tf.TensorSpec([]))
    assert isinstance(concrete, kinds.ConcreteFunction)
    assert isinstance(concrete, kinds.Callable)
    assert not isinstance(concrete, kinds.PolymorphicFunction)


def test_compiler_ir_is_refused_clearly():
    with pytest.raises(ValueError, match="jit_compile=True"):
        doubled.experimental_get_compiler_ir(1.0)
    with pytest.raises(ValueError, match="no compiler IR"):
        tf.function(lambda x: x, jit_compile=True).experimental_get_compiler_ir(1.0)

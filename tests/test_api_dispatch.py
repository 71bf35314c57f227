"""Public functions that do something else with the user's types. Expected as in TensorFlow."""

import re
import typing

import pytest

import gradtape as tf
from gradtape.core.exports import PUBLIC

register = tf.experimental.dispatch_for_api
NO_TENSOR = "Attempt to convert a value"


class Masked(tf.experimental.ExtensionType):
    values: tf.Tensor
    mask: tf.Tensor


class Child(Masked):
    pass


@pytest.fixture
def registered():
    """Registers functions, and takes them back at the end."""
    taken = []

    def remember(decorator):
        def decorate(function):
            decorator(function)
            taken.append(function)
            return function

        return decorate

    yield remember
    for function in taken:
        tf.experimental.unregister_dispatch_for(function)


def masked():
    return Masked([1.0, -2.0], [True, False])


def test_functions_are_as_they_were_until_somebody_registers():
    before = tf.math.add

    @register(tf.add, {"x": Masked})
    def add(x, y, name=None):
        return "added"

    assert tf.add is tf.math.add is not before
    assert tf.add(masked(), 1) == "added"
    assert float(tf.add(1.0, 2.0)) == 3
    assert tf.add.__doc__ == before.__doc__
    tf.experimental.unregister_dispatch_for(add)
    assert tf.add is tf.math.add is PUBLIC["add"] is before


def test_types_may_be_annotations(registered):
    @registered(register(tf.reduce_sum))
    def reduce_sum(input_tensor: Masked, axis=None, keepdims=False):
        return tf.reduce_sum(input_tensor.values, axis, keepdims)

    assert float(tf.reduce_sum(masked())) == -1
    assert tf.math.reduce_sum(input_tensor=masked(), axis=0, keepdims=True).numpy() == [-1]
    assert float(tf.reduce_sum(Child([1.0, 5.0], [True, True]), name="n")) == 6
    assert float(tf.reduce_sum([1.0, 2.0])) == 3


def test_lists_and_unions(registered):
    @registered(register(tf.concat))
    def concat(values: typing.List[Masked], axis, name=None):  # noqa: UP006
        return len(values), axis

    @registered(register(tf.stack, {"values": list[Masked | tf.Tensor]}))
    def stack(values, axis=0, name="stack"):
        return len(values)

    one = tf.constant([1.0])
    assert tf.concat([masked(), masked()], 0) == (2, 0)
    assert tf.concat((masked(), masked()), 0) == (2, 0)
    with pytest.raises(ValueError, match=NO_TENSOR):
        tf.concat([masked(), one], 0)
    assert tf.concat([one, one], 0).shape == [2]
    assert tf.stack([masked(), one]) == 2
    assert tf.stack([one, one]).shape == [2, 1]  # there is nothing but tensors


def test_several_signatures_and_positions(registered):
    @registered(register(tf.subtract, {0: Masked}, {"y": Masked}))
    def subtract(x, y, name=None):
        return "subtracted"

    assert tf.subtract(masked(), 1.0) == tf.subtract(1.0, masked()) == "subtracted"


def test_defaults_of_the_function_are_passed_on(registered):
    @registered(register(tf.shape))
    def shape(input: Masked, out_type="other", name=None):
        return out_type

    assert tf.shape(masked()) is None


def test_not_implemented_leaves_it_to_the_function(registered):
    @registered(register(tf.reduce_max))
    def reduce_max(input_tensor: Masked, axis=None, keepdims=False, name=None):
        return NotImplemented

    with pytest.raises(ValueError, match=NO_TENSOR):
        tf.reduce_max(masked())


def test_unary_elementwise_functions(registered):
    @registered(tf.experimental.dispatch_for_unary_elementwise_apis(Masked))
    def unary(api_func, x):
        return Masked(api_func(x.values), x.mask)

    assert tf.abs(masked()).values.numpy().tolist() == [1, 2]
    assert tf.abs(x=masked(), name="n").values.numpy().tolist() == [1, 2]
    assert tf.nn.relu(masked()).values.numpy().tolist() == [1, 0]
    assert tf.cast(masked(), tf.int32).values.dtype is tf.int32
    assert tf.clip_by_value(masked(), -1.0, 1.0).values.numpy().tolist() == [1, -1]
    assert tf.nn.leaky_relu(masked(), alpha=0.5).values.numpy().tolist() == [1, -1]
    assert tf.zeros_like(masked()).values.numpy().tolist() == [0, 0]
    assert tf.strings.as_string(masked()).values.numpy().tolist() == [b"1.000000", b"-2.000000"]
    for other in (tf.nn.softmax, tf.reduce_sum, tf.cumsum):
        with pytest.raises(ValueError, match=NO_TENSOR):
            other(masked())
    with pytest.raises(TypeError, match="bad operand type for unary -"):
        _ = -masked()
    with pytest.raises(ValueError, match=r"A unary elementwise dispatch handler .* has already"):
        tf.experimental.dispatch_for_unary_elementwise_apis(Masked)(lambda api_func, x: x)


def test_gradients_pass_through_handlers(registered):
    @registered(tf.experimental.dispatch_for_unary_elementwise_apis(Masked))
    def unary(api_func, x):
        return Masked(api_func(x.values), x.mask)

    x = tf.constant([1.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.square(Masked(x, [True, True])).values
    assert tape.gradient(y, x).numpy().tolist() == [2, 6]


def test_binary_elementwise_functions(registered):
    @registered(tf.experimental.dispatch_for_binary_elementwise_apis(Masked, Masked))
    def binary(api_func, x, y):
        return Masked(api_func(x.values, y.values), x.mask & y.mask)

    @registered(tf.experimental.dispatch_for_binary_elementwise_apis(Masked, tf.Tensor))
    def with_tensor(api_func, x, y):
        return Masked(api_func(x.values, y), x.mask)

    assert tf.multiply(masked(), masked()).values.numpy().tolist() == [1, 4]
    assert tf.less(masked(), masked()).values.numpy().tolist() == [False, False]
    assert tf.multiply(masked(), tf.constant(2.0)).values.numpy().tolist() == [2, -4]
    for x, y in ((masked(), 2.0), (tf.constant(2.0), masked()), ([2.0, 3.0], masked())):
        with pytest.raises(ValueError, match=NO_TENSOR):
            tf.multiply(x, y)
    with pytest.raises(ValueError, match=r"A binary elementwise dispatch handler .* has already"):
        tf.experimental.dispatch_for_binary_elementwise_apis(Masked, Masked)(binary)


def test_assertions(registered):
    @registered(tf.experimental.dispatch_for_binary_elementwise_assert_apis(Masked, Masked))
    def assertion(api_func, x, y):
        return api_func(x.values, y.values)

    assert tf.debugging.assert_equal(masked(), masked()) is None
    with pytest.raises(tf.errors.InvalidArgumentError, match="Condition x < y did not hold"):
        tf.debugging.assert_less(masked(), masked())


def test_two_that_match_are_an_error(registered):
    @registered(register(tf.add, {"x": Masked}))
    def add(x, y, name=None):
        return 1

    @registered(tf.experimental.dispatch_for_binary_elementwise_apis(Masked, Masked))
    def binary(api_func, x, y):
        return 2

    message = "Multiple dispatch targets .*elementwise_dispatch_target_for_add.* arguments to add"
    with pytest.raises(ValueError, match=message):
        tf.add(masked(), masked())
    assert tf.add(masked(), 1.0) == 1


def plain(x, y, name=None):
    return 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: register(print), "<built-in function print> does not support dispatch."),
        (
            lambda: register(tf.reduce_max)(lambda x: x),
            "Dispatch function's signature (x, name=None) does not match API's signature "
            "(input_tensor, axis=None, keepdims=False, name=None).",
        ),
        (
            lambda: register(tf.add)(plain),
            "The dispatch_for_api decorator must be called with at least one signature",
        ),
        (
            lambda: register(tf.add, {"q": Masked})(plain),
            "signature includes annotation for unknown parameter 'q'.",
        ),
        (
            lambda: register(tf.add, {"x": typing.Callable[[int], int]})(plain),
            "is not currently supported by dispatch.",
        ),
        (
            lambda: tf.experimental.unregister_dispatch_for(plain),
            "was not registered using a `@dispatch_for_*` decorator.",
        ),
    ],
)
def test_errors(call, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        call()

"""tf.function: what is said of arguments that do not fit, and of errors while tracing."""

import re

import numpy as np
import pytest

import gradtape as tf

VECTOR = tf.TensorSpec([None], tf.float32)
VECTOR_TEXT = "TensorSpec(shape=(None,), dtype=tf.float32, name=None)"


def text_of(error, call):
    with pytest.raises(error) as caught:
        call()
    return str(caught.value)


# Binding ------------------------------------------------------------------------------------------


@tf.function
def plain(x, y=1, *, z=3):
    return x + y + z


@pytest.mark.parametrize(
    ("call", "cause", "received"),
    [
        (lambda f: f(), "missing a required argument: 'x'", "args: () and kwargs: {}"),
        (lambda f: f(1, 2, 3), "too many positional arguments", "args: (1, 2, 3) and kwargs: {}"),
        (
            lambda f: f(1, q=3),
            "got an unexpected keyword argument 'q'",
            "args: (1,) and kwargs: {'q': 3}",
        ),
    ],
)
def test_arguments_that_cannot_be_bound(call, cause, received):
    assert text_of(TypeError, lambda: call(plain)) == (
        f"Binding inputs to tf.function failed due to `{cause}`. Received {received} for "
        "signature: (x, y=<captured_default_value>, *, z=<captured_default_value>)."
    )


def test_the_signature_of_a_method_is_without_self():
    class A:
        @tf.function
        def f(self, x):
            return x

    assert text_of(TypeError, lambda: A().f()) == (
        "Binding inputs to tf.function failed due to `missing a required argument: 'x'`. Received "
        "args: () and kwargs: {} for signature: (x)."
    )


@pytest.mark.parametrize("thing", [3, "name", [len]])
def test_only_what_can_be_called_is_a_function(thing):
    assert text_of(TypeError, lambda: tf.function(thing)) == f"{thing!r} is not a callable object"


# input_signature, where it is given ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("signature", "function", "message"),
    [
        (
            [VECTOR] * 3,
            lambda x, y=2: x,
            "input_signature contains 1 extra type constraints.",
        ),
        (
            VECTOR,
            lambda x: x,
            f"input_signature must be either a tuple or a list, got {tf.TensorSpec}.",
        ),
        (
            [3],
            lambda x: x,
            "input_signature must be a possibly nested sequence of TensorSpec objects, got invalid "
            "args [3] with types [<class 'int'>].",
        ),
        ([VECTOR], lambda x, y: x, "input_signature missing type constraint for y"),
        (
            [VECTOR],
            lambda x, *, k: x,
            "Since input_signature is defined, keyword-only parameter `k` must have a default "
            "value",
        ),
    ],
)
def test_a_signature_that_does_not_fit_the_function(signature, function, message):
    decorate = lambda: tf.function(function, input_signature=signature)  # noqa: E731
    assert text_of(TypeError, decorate) == message


# input_signature, when called ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("specs", "arguments", "cause"),
    [
        (
            [VECTOR],
            (tf.ones([2, 2]),),
            f"Can not cast TensorSpec(shape=(2, 2), dtype=tf.float32, name=None) to {VECTOR_TEXT}",
        ),
        (
            [VECTOR],
            (tf.constant([1, 2]),),
            f"Can not cast TensorSpec(shape=(2,), dtype=tf.int32, name=None) to {VECTOR_TEXT}",
        ),
        (
            [VECTOR],
            (3,),
            f"Can not cast TensorSpec(shape=(), dtype=tf.float32, name=None) to {VECTOR_TEXT}",
        ),
        ([VECTOR], ("a",), "Cannot convert 'a' to EagerTensor of dtype float"),
        (
            [VECTOR],
            (None,),
            "Attempt to convert a value (None) with an unsupported type (<class 'NoneType'>) to a "
            "Tensor.",
        ),
        ([VECTOR], ([1.0], 3), "Can not cast 3 to Literal[2]"),
        ([{"a": VECTOR}], ([1.0],), "Can not cast [1.0] to a Dict type."),
        (
            [{"a": VECTOR}],
            ({"b": [1.0]},),
            f"{{'b': [1.0]}} has different keys with the TraceType Dict[['a', {VECTOR_TEXT}]].",
        ),
        ([[VECTOR]], (([1.0],),), "Can not cast ([1.0],) to list type."),
        (
            [tf.RaggedTensorSpec([None, None])],
            (tf.ones([1, 1]),),
            "Can not cast TensorSpec(shape=(1, 1), dtype=tf.float32, name=None) to "
            "RaggedTensorSpec(TensorShape([None, None]), tf.float32, 1, tf.int64)",
        ),
    ],
)
def test_arguments_that_do_not_fit_a_signature(specs, arguments, cause):
    f = tf.function(lambda x, y=2: x, input_signature=specs)
    text = text_of(TypeError, lambda: f(*arguments))
    assert text.startswith(
        f"Binding inputs to tf.function failed due to `{cause}`. Received args: {arguments} and "
        "kwargs: {} for signature: (x: "
    )
    assert "y: Literal[2] = <captured_default_value>)." in text
    at_fault = "y" if len(arguments) == 2 else "x"
    assert text.endswith(f" The argument at fault is {at_fault!r}.")


def test_a_structure_of_another_length_than_the_signature():
    f = tf.function(lambda x: x, input_signature=[[VECTOR, VECTOR]])
    text = text_of(TypeError, lambda: f([[1.0]]))
    assert "2 elements are expected, and there are 1" in text


def test_missing_and_unknown_arguments_of_a_signature():
    f = tf.function(lambda *a, **k: a, input_signature=[VECTOR, VECTOR])
    text = text_of(TypeError, lambda: f([1.0]))
    assert "`missing a required argument: 'a_1'`" in text
    assert f"for signature: (a_0: {VECTOR_TEXT}, a_1: {VECTOR_TEXT}, /)." in text
    text = text_of(TypeError, lambda: f([1.0], [1.0], z=2))
    assert "`got an unexpected keyword argument 'z'`" in text


def test_a_spec_that_does_not_fit_a_signature():
    f = tf.function(lambda x: x, input_signature=[VECTOR])
    text = text_of(TypeError, lambda: f.get_concrete_function(tf.TensorSpec([2, 2])))
    assert f"dtype=tf.float32, name=None) to {VECTOR_TEXT}`" in text


# Concrete functions -------------------------------------------------------------------------------


def concrete():
    return plain.get_concrete_function(tf.TensorSpec([]), 2, z=tf.TensorSpec([]))


def test_a_tensor_of_another_dtype():
    f = concrete()
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        f(tf.constant(1), z=tf.constant(2.0))
    name = f.name.decode()
    assert caught.value.message == (
        f"cannot compute {name} as input #0(zero-based) was expected to be a float tensor but is a "
        f"int32 tensor [Op:{name}]"
    )


@pytest.mark.parametrize(
    ("args", "kwargs", "cause", "other"),
    [
        ((tf.constant(1.0),), {}, "missing a required argument: 'z'",
         "plain(x, z) missing required arguments: z."),
        ((tf.constant(1.0), 2, tf.constant(2.0)), {}, "too many positional arguments",
         "plain(x, z) takes 2 positional arguments, got 3."),
        ((tf.constant(1.0), 5), {"z": tf.constant(2.0)}, "Can not cast 5 to Literal[2]",
         "plain(x, z) got two values for 'z'."),
        (("a",), {"z": tf.constant(2.0)}, "Cannot convert 'a' to EagerTensor of dtype float",
         "plain(x, z): expected argument #0(zero-based) to be a Tensor; got str (a)."),
    ],
)  # fmt: skip
def test_arguments_that_do_not_fit_a_concrete_function(args, kwargs, cause, other):
    text = text_of(TypeError, lambda: concrete()(*args, **kwargs))
    assert text.startswith(f"Binding inputs to tf.function failed due to `{cause}`. Received args:")
    assert "-> TensorSpec(shape=(), dtype=tf.float32, name=None)." in text
    assert text.endswith(f"\nFallback to flat signature also failed due to: {other}")


# While tracing ------------------------------------------------------------------------------------


class OwnError(Exception):
    pass


def helper(x):
    raise OwnError("as it is", 3)


@tf.function
def failing(x):
    return helper(x)


def test_errors_keep_class_and_message_and_tell_the_users_lines():
    with pytest.raises(OwnError) as caught:
        failing(tf.constant(1.0))
    assert type(caught.value) is OwnError
    assert caught.value.args == ("as it is", 3)
    (note,) = caught.value.__notes__
    assert re.fullmatch(
        r"in user code:\n\n"
        r'    File ".*test_function_errors.py", line \d+, in failing  \*\n'
        r"        return helper\(x\)\n"
        r'    File ".*test_function_errors.py", line \d+, in helper  \*\n'
        r'        raise OwnError\("as it is", 3\)\n',
        note,
    )


def test_an_error_in_a_function_called_by_a_function_is_told_once():
    @tf.function
    def outer(x):
        return failing(x)

    with pytest.raises(OwnError) as caught:
        outer(tf.constant(1.0))
    notes = [note for note in caught.value.__notes__ if note.startswith("in user code:")]
    assert len(notes) == 1
    assert notes[0].index("return failing(x)") < notes[0].index("return helper(x)")


def test_errors_of_ops_are_those_without_a_function():
    x = tf.ones([2, 3])
    with pytest.raises(tf.errors.InvalidArgumentError) as eager:
        tf.matmul(x, x)
    with pytest.raises(tf.errors.InvalidArgumentError) as traced:
        tf.function(lambda x: tf.matmul(x, x))(x)
    assert traced.value.message == eager.value.message
    assert "tf.matmul(x, x)" in traced.value.__notes__[0]


def test_an_error_in_a_later_call_tells_the_line_that_was_traced():
    f = tf.function(lambda x, i: tf.gather(x, i))
    assert f(tf.constant([1.0, 2.0]), tf.constant(1)).numpy() == 2.0
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        f(tf.constant([1.0, 2.0]), tf.constant(5))
    assert any("test_function_errors.py" in note for note in caught.value.__notes__)


def test_a_failed_trace_can_be_tried_again():
    state = {"fails": True}

    @tf.function
    def f(x):
        if state["fails"]:
            raise OwnError
        return x + 1

    with pytest.raises(OwnError):
        f(tf.constant(1))
    state["fails"] = False
    assert f(tf.constant(1)).numpy() == 2


def test_a_leaked_tensor_names_the_function():
    leaked = []

    @tf.function
    def leaking(x):
        leaked.append(x * 2.0)
        return x

    leaking(tf.constant(1.0))
    text = text_of(TypeError, lambda: leaked[0] + 1.0)
    assert text.startswith(
        "<tf.Tensor 'mul:0' shape=() dtype=float32> is out of scope and cannot be used here. Use "
        "return values, explicit Python locals or TensorFlow collections to access it.\nPlease see "
    )
    assert "'leaking'" in text


@pytest.mark.parametrize("result", [object(), {1, 2}, tf.float32])
def test_values_that_cannot_be_returned(result):
    f = tf.function(lambda: result)
    assert text_of(TypeError, f) == (
        "To be compatible with tf.function, Python functions must return zero or more Tensors or "
        f"ExtensionTypes or None values; in compilation of {f.python_function}, found return value "
        f"of type {type(result).__name__}, which is not a Tensor or ExtensionType."
    )


class Unhashable:
    __slots__ = ()
    __hash__ = None  # pyright: ignore[reportAssignmentType]

    def __repr__(self):
        return "Unhashable()"


def test_arguments_that_cannot_be_told_apart():
    assert text_of(TypeError, lambda: tf.function(lambda x: 1)(Unhashable())) == (
        "Could not generate a generic TraceType for Unhashable().Please verify that it is "
        "immutable/hashable. Otherwise, consider implementing the Tracing Protocol for it."
    )


def test_variables_made_in_every_call():
    f = tf.function(lambda x: tf.Variable(1.0) + x)
    text = text_of(ValueError, lambda: f(tf.constant(1.0)))
    assert text.startswith("tf.function only supports singleton tf.Variables created on the first")


def test_numpy_values_of_unsupported_types():
    with pytest.raises(ValueError, match="Unsupported numpy type"):
        tf.function(lambda x: x)(np.array(["2020-01-01"], "datetime64[D]"))

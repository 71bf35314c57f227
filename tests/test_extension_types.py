"""Extension types: fields, immutability, specs, structures, batches. Expected as in TensorFlow."""

import inspect
import pickle
import re
import typing

import numpy as np
import pytest

import gradtape as tf

ExtensionType = tf.experimental.ExtensionType


class Masked(ExtensionType):
    values: tf.Tensor
    mask: tf.Tensor
    name: str = "m"


class Everything(ExtensionType):
    i: int
    f: float
    s: str
    b: bool
    n: None
    t: tuple[int, float]
    many: tuple[int, ...]
    x: tf.Tensor
    r: tf.RaggedTensor
    m: Masked
    shape: tf.TensorShape
    dtype: tf.DType
    u: typing.Union[int, float]  # noqa: UP007 - both spellings are allowed
    mapping: typing.Mapping[str, tf.Tensor]
    o: tf.Tensor | None = None
    by: bytes = b"q"


class Node(ExtensionType):
    v: tf.Tensor
    children: tuple["Node", ...] = ()


def masked(name="m"):
    return Masked([1.0, 2.0], [True, False], name)


def arguments(**changed):
    given = {
        "i": 1, "f": 2.0, "s": "a", "b": True, "n": None, "t": (1, 2.0), "many": [1, 2],
        "x": [1, 2], "r": tf.ragged.constant([[1], [2, 3]]), "m": masked(), "shape": [2, None],
        "dtype": "int32", "u": 3, "mapping": {"z": [1.0], "a": 2},
    }  # fmt: skip
    return {**given, **changed}


def new_class(annotations, **contents):
    return type("Bad", (ExtensionType,), {"__annotations__": annotations, **contents})


def test_values_are_converted_to_what_the_annotations_say():
    value = Everything(**arguments())
    assert value.x.dtype is tf.int32
    assert value.x.numpy().tolist() == [1, 2]
    assert value.many == (1, 2)
    assert value.shape == tf.TensorShape([2, None])
    assert value.dtype is tf.int32
    assert value.mapping["z"].dtype is tf.float32
    assert value.o is None
    assert value.by == b"q"


def test_repr():
    assert repr(masked()) == (
        "Masked(values=<tf.Tensor: shape=(2,), dtype=float32, numpy=array([1., 2.], "
        "dtype=float32)>, mask=<tf.Tensor: shape=(2,), dtype=bool, numpy=array([ True, False])>, "
        "name='m')"
    )
    assert "mapping=ImmutableDict({'z': <tf.Tensor" in repr(Everything(**arguments()))


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"i": 1.5}, "i: expected 'int', got 'float'"),
        ({"i": np.int32(3)}, "i: expected 'int', got 'int32'"),
        ({"f": 1}, "f: expected 'float', got 'int'"),
        ({"s": 3}, "s: expected 'str', got 'int'"),
        ({"b": 1}, "b: expected 'bool', got 'int'"),
        ({"n": 3}, "n: expected 'NoneType', got 'int'"),
        ({"t": (1, 2)}, "t[1]: expected 'float', got 'int'"),
        ({"t": (1,)}, "t: expected tuple with length 2, got 'tuple'"),
        ({"many": (1, "a")}, "many[1]: expected 'int', got 'str'"),
        ({"x": object()}, "x: expected a Tensor, got 'object'"),
        ({"r": 3}, "r: expected 'RaggedTensor', got 'int'"),
        ({"m": 3}, "m: expected 'Masked', got 'int'"),
        ({"shape": "abc"}, "shape: expected 'tf.TensorShape', got 'str'"),
        ({"dtype": "foo"}, "dtype: expected 'tf.DType', got 'str'"),
        ({"u": "a"}, "u: expected typing.Union[int, float], got 'str'"),
        ({"mapping": [1]}, "mapping: expected mapping, got 'list'"),
        ({"mapping": {1: 2}}, "mapping[<key>]: expected 'str', got 'int'"),
        ({"by": "s"}, "by: expected 'bytes', got 'str'"),
    ],
)
def test_values_that_do_not_fit(changed, message):
    with pytest.raises(TypeError, match=f"^{re.escape(message)}"):
        Everything(**arguments(**changed))


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: Masked([1.0]), TypeError, "missing a required argument: 'mask'"),
        (lambda: Masked([1.0], [True], z=3), TypeError, "unexpected keyword argument 'z'"),
        (ExtensionType, AssertionError, "ExtensionType is an abstract base class."),
        (lambda: new_class({"x": list}), TypeError, "In field 'x': Unsupported type annotation 'l"),
        (lambda: new_class({"x": list[int]}), TypeError, "Unsupported type annotation list"),
        (lambda: new_class({"x": typing.Any}), TypeError, "In field 'x': Unsupported type"),
        (lambda: new_class({"x": tf.Variable}), TypeError, "Unsupported type annotation 'Var"),
        (
            lambda: new_class({"x": typing.Mapping[tf.Tensor, int]}),
            TypeError,
            "In field 'x': Mapping had a key 'Tensor' with type 'type'",
        ),
        (lambda: new_class({"self": int}), ValueError, "invalid. Field 'self' is reserved."),
        (lambda: new_class({"_type_spec": int}), ValueError, "Field '_type_spec' is reserved."),
        (lambda: new_class({"x": int}, y=3), ValueError, "Field y is missing a type annotation."),
        (
            lambda: new_class({"x": int}, x="a"),
            TypeError,
            "default value for x: expected 'int', got 'str'",
        ),
        (
            lambda: new_class({"x": "Undefined"})(3),
            TypeError,
            "x: Unsupported type annotation 'Undefined'",
        ),
    ],
)
def test_errors(make, error, message):
    with pytest.raises(error, match=re.escape(message)):
        make()


def test_values_cannot_be_changed():
    value = masked()
    message = "Cannot mutate attribute `values` outside the custom constructor of ExtensionType."
    with pytest.raises(AttributeError, match=message):
        value.values = 3
    with pytest.raises(AttributeError, match=message):
        del value.values
    with pytest.raises(AttributeError, match="Cannot mutate attribute `foo`"):
        value.foo = 3
    with pytest.raises(AttributeError, match="'Masked' object has no attribute 'foo'"):
        _ = value.foo
    with pytest.raises(TypeError, match="unhashable type: 'Masked'"):
        hash(value)


def test_equality():
    assert bool(masked() == masked())
    different = masked() == Masked([1.0, 3.0], [True, False])
    assert isinstance(different, tf.Tensor)
    assert not bool(different)
    assert bool(masked() != Masked([1.0, 3.0], [True, False]))
    assert (masked() == Masked([1.0], [True])) is False
    assert (masked() == masked("other")) is False
    assert (masked() == 5) is False


def test_validation_and_constructors():
    class Matrix(ExtensionType):
        x: tf.Tensor

        def __validate__(self):
            self.x.shape.assert_has_rank(2)

    class Own(ExtensionType):
        x: tf.Tensor
        y: int

        def __init__(self, v, y=7):
            self.x = v
            if y:
                self.y = y

    class Wrong(ExtensionType):
        x: tf.Tensor

        def __init__(self, v):
            self.z = v

    assert Matrix([[1.0]]).x.shape == [1, 1]
    with pytest.raises(ValueError, match=re.escape("Shape (1,) must have rank 2")):
        Matrix([1.0])
    assert Own([1]).y == 7
    assert Own([1]).x.dtype is tf.int32
    with pytest.raises(ValueError, match=r"Missing required fields: {'y'}"):
        Own([1], y=0)
    with pytest.raises(AttributeError, match="Cannot mutate attribute `z`"):
        Wrong(1)
    with pytest.raises(AttributeError, match="Cannot mutate attribute `y`"):
        Own([1]).y = 3


def test_fields_without_defaults_behind_some_with_are_given_by_name():
    class Mixed(ExtensionType):
        x: int = 1
        y: tf.Tensor
        z: int = 2

    assert Mixed(y=3).z == 2
    with pytest.raises(TypeError, match="too many positional arguments"):
        Mixed(1, 3)
    kinds = [p.kind.name for p in inspect.signature(Mixed).parameters.values()]
    assert kinds == ["POSITIONAL_OR_KEYWORD", "KEYWORD_ONLY", "KEYWORD_ONLY"]


def test_subclasses_add_fields_and_classes_may_name_themselves():
    class More(Masked):
        extra: int

    value = More([1.0], [True], "n", extra=5)
    assert (value.name, value.extra) == ("n", 5)
    assert Node(1, [Node(2)]).children[0].v.numpy() == 2


def test_structures():
    value = masked()
    assert tf.nest.flatten(value) == [value] or tf.nest.flatten(value)[0] is value
    assert not tf.nest.is_nested(value)
    assert not tf.is_tensor(value)
    parts = tf.nest.flatten(value, expand_composites=True)
    assert [part.dtype for part in parts] == [tf.float32, tf.bool]
    doubled = tf.nest.map_structure(
        lambda x: x if x.dtype is tf.bool else x + x, value, expand_composites=True
    )
    assert doubled.values.numpy().tolist() == [2, 4]
    assert doubled.name == "m"
    everything = tf.nest.flatten(Everything(**arguments()), expand_composites=True)
    shapes = [part.shape.as_list() for part in everything]
    assert shapes == [[2], [3], [3], [2], [2], [], [1]]  # mappings by sorted keys
    assert tf.identity(value).mask.numpy().tolist() == [True, False]
    same = tf.nest.assert_same_structure
    same(value, Masked([3.0], [True]), expand_composites=True)
    for other in (Masked([3], [True]), masked("other")):
        with pytest.raises(ValueError, match="Incompatible CompositeTensor TypeSpecs"):
            same(value, other, expand_composites=True)


def test_specs():
    spec = tf.type_spec_from_value(masked())
    made = Masked.Spec(tf.TensorSpec([2]), tf.TensorSpec([2], tf.bool), "m")
    assert spec == made
    assert hash(spec) == hash(made)
    assert spec is not made
    assert repr(spec) == (
        "Masked.Spec(values=TensorSpec(shape=(2,), dtype=tf.float32, name=None), "
        "mask=TensorSpec(shape=(2,), dtype=tf.bool, name=None), name='m')"
    )
    assert isinstance(spec, tf.experimental.ExtensionTypeSpec)
    assert isinstance(spec, tf.TypeSpec)
    assert isinstance(tf.TensorSpec([2]), tf.TypeSpec)
    assert spec.value_type is Masked
    assert spec.values == tf.TensorSpec([2])
    wide = Masked.Spec(tf.TensorSpec([None]), tf.TensorSpec([None], tf.bool), "m")
    assert wide.is_compatible_with(masked())
    assert spec != wide
    assert spec.is_subtype_of(wide)
    assert not wide.is_subtype_of(spec)
    assert not spec.is_compatible_with(masked("other"))
    assert not spec.is_compatible_with(tf.constant(1.0))
    assert pickle.loads(pickle.dumps(spec)) == spec
    assert "r=RaggedTensorSpec(TensorShape([2, None]), tf.int32, 1, tf.int64)" in repr(
        tf.type_spec_from_value(Everything(**arguments()))
    )
    with pytest.raises(TypeError, match="values: expected a TensorSpec, got 'list'"):
        Masked.Spec([2], tf.TensorSpec([2], tf.bool), "m")
    with pytest.raises(AttributeError, match="custom constructor of ExtensionTypeSpec"):
        spec.values = 3


def test_specs_of_the_users_own():
    class Shaped(ExtensionType):
        x: tf.Tensor

        class Spec:
            @property
            def shape(self):
                return self.x.shape  # pyright: ignore[reportAttributeAccessIssue]

    assert tf.type_spec_from_value(Shaped([1.0])).shape == [1]
    with pytest.raises(ValueError, match="defines a variable 'x' which shadows a field in Bad"):
        new_class({"x": int}, Spec=type("Spec", (), {"x": 3}))


def test_as_dict_is_not_recursive():
    value = Node(1, [Node(2)])
    found = tf.experimental.extension_type.as_dict(value)
    assert list(found) == ["v", "children"]
    assert found["children"] is value.children


def test_they_are_no_tensors():
    for make in (
        tf.convert_to_tensor,
        tf.abs,
        lambda x: tf.add(x, 1.0),
        lambda x: tf.cast(x, "int32"),
    ):
        with pytest.raises(ValueError, match="Attempt to convert a value"):
            make(masked())
    with pytest.raises(TypeError, match="unsupported operand type"):
        _ = masked() + masked()
    with pytest.raises(TypeError, match="unsupported operand type"):
        _ = tf.constant(1.0) + masked()


def test_control_flow():
    value = tf.cond(True, masked, masked)
    assert isinstance(value, Masked)

    def body(i, q):
        return i + 1, Masked(q.values * 2, q.mask)

    _, value = tf.while_loop(lambda i, q: i < 2, body, [0, masked()])
    assert value.values.numpy().tolist() == [4, 8]


class Pair(ExtensionType):
    w: tf.Tensor
    b: tf.Tensor


def test_gradients_reach_fields_but_not_whole_values():
    pair = Pair([1.0, 2.0], 3.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(pair)
        y = tf.reduce_sum(pair.w**2) * pair.b
    dw, db = tape.gradient(y, [pair.w, pair.b])
    assert dw.numpy().tolist() == [6, 12]
    assert float(db) == 5
    message = "Type Pair is not supported as a gradient source or gradient target."
    with pytest.raises(ValueError, match=message):
        tape.gradient(y, pair)
    with pytest.raises(ValueError, match=message):
        tape.gradient(pair, pair.w)


def test_a_class_may_say_how_it_is_differentiated():
    class Values:
        def get_gradient_components(self, value):
            return value.w

    class Weighted(ExtensionType):
        w: tf.Tensor
        b: tf.Tensor
        __composite_gradient__ = Values()

    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = Weighted(x * 2, x * x)
    assert tape.gradient(y, x).numpy().tolist() == [2, 2]


# Batches ------------------------------------------------------------------------------------------


class Vertex(tf.experimental.BatchableExtensionType):
    a: tf.Tensor
    b: tf.Tensor


class WithShape(tf.experimental.BatchableExtensionType):
    a: tf.Tensor
    shape: tf.TensorShape
    k: int
    r: tf.RaggedTensor


def vertices():
    return Vertex([[1.0, 2.0], [3.0, 4.0]], [5, 6])


def test_map_fn_takes_values_apart_and_stacks_them():
    sums = tf.map_fn(lambda v: v.a[0] + v.a[1], vertices(), fn_output_signature=tf.float32)
    assert sums.numpy().tolist() == [3, 7]
    doubled = tf.map_fn(lambda v: Vertex(v.a * 2, v.b), vertices())
    assert doubled.a.numpy().tolist() == [[2, 4], [6, 8]]
    assert doubled.b.numpy().tolist() == [5, 6]
    spec = Vertex.Spec(tf.TensorSpec([2]), tf.TensorSpec([], tf.int32))
    made = tf.map_fn(
        lambda x: Vertex(tf.stack([x, x]), tf.cast(x, tf.int32)),
        tf.constant([1.0, 2.0]),
        fn_output_signature=spec,
    )
    assert isinstance(made, Vertex)
    assert made.a.numpy().tolist() == [[1, 1], [2, 2]]


def test_map_fn_of_shapes_and_ragged_fields():
    value = WithShape(tf.ones([2, 2]), [2, 2], 3, tf.ragged.constant([[1], [2, 3]]))
    seen = []

    def count(each):
        seen.append((each.shape, each.k))
        return tf.size(each.a) + each.k + tf.size(each.r)

    assert tf.map_fn(count, value, fn_output_signature=tf.int32).numpy().tolist() == [6, 7]
    assert seen == [(tf.TensorShape([2]), 3)] * 2


def test_gradients_pass_through_map_fn():
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.map_fn(lambda v: Vertex(v.a**2, v.b), Vertex(x, [5, 6])).a
    assert tape.gradient(y, x).numpy().tolist() == [[2, 4], [6, 8]]


def test_specs_of_batches():
    spec = Vertex.Spec(tf.TensorSpec([2]), tf.TensorSpec([], tf.int32))
    assert spec._batch(3) == Vertex.Spec(tf.TensorSpec([3, 2]), tf.TensorSpec([3], tf.int32))
    assert tf.type_spec_from_value(vertices())._unbatch() == spec


def test_other_extension_types_are_not_taken_apart():
    with pytest.raises(TypeError, match=r"map_fn can not consume Masked\.Spec"):
        tf.map_fn(lambda x: x.values, masked(), fn_output_signature=tf.float32)
    with pytest.raises(ValueError, match="Attempt to convert a value"):
        tf.stack([vertices(), vertices()])
    with pytest.raises(ValueError, match="__batch_encoder__ should only be defined for Batchable"):
        new_class({"x": int}, __batch_encoder__=tf.experimental.ExtensionTypeBatchEncoder())


def test_an_encoder_of_the_users_own():
    class Shifted(tf.experimental.ExtensionTypeBatchEncoder):
        def encode(self, spec, value, minimum_rank=0):
            return [value.x + 1.0]

        def decode(self, spec, encoded_value):
            return Number(encoded_value[0] - 1.0)

    class Number(tf.experimental.BatchableExtensionType):
        __batch_encoder__ = Shifted()
        x: tf.Tensor

    doubled = tf.map_fn(lambda n: Number(n.x * 2), Number([1.0, 2.0]))
    assert doubled.x.numpy().tolist() == [2, 4]

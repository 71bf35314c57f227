"""tf.function: which arguments need a trace of their own, and what can be given and returned."""

import collections
import dataclasses
import gc
import weakref

import numpy as np
import pytest

import gradtape as tf
from function_programs import counted

Pair = collections.namedtuple("Pair", "a b")


@tf.function
def doubled(x):
    return x * 2.0


class Model:
    def __init__(self, w):
        self.w = tf.Variable(w)

    @tf.function
    def scaled(self, x):
        return self.w * x


# What counts as another trace ---------------------------------------------------------------------


class Plain:
    pass


OBJECT, OTHER = Plain(), Plain()


def counts(calls, **options):
    f = tf.function(lambda *args: 0.0, **options)
    found = []
    for arguments in calls:
        f(*arguments)
        found.append(f.experimental_get_tracing_count())
    return found


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([tf.ones([1]), tf.ones([2]), tf.zeros([1]), tf.ones([1], tf.int32)], [1, 2, 2, 3]),
        ([np.float32(1), np.float32(2), np.float64(2), np.ones(2), np.zeros(2)], [1, 1, 2, 3, 3]),
        (["a", "b", b"a", None, "a"], [1, 2, 3, 4, 4]),
        ([[1], (1,), [1], [2], [1, 1]], [1, 2, 2, 3, 4]),
        ([[tf.ones([2])], [tf.zeros([2])], [tf.ones([3])]], [1, 1, 2]),
        ([{"a": 1, "b": 2}, {"b": 2, "a": 1}, {"a": 1}], [1, 1, 2]),
        ([OBJECT, OTHER, OBJECT], [1, 2, 2]),
        ([len, len, max], [1, 1, 2]),
        ([tf.float32, tf.float32, tf.int32], [1, 1, 2]),
        ([tf.TensorShape([1]), tf.TensorShape([1]), tf.TensorShape([2])], [1, 1, 2]),
        ([Pair(1, 2), Pair(1, 2), (1, 2)], [1, 1, 2]),
    ],
)
def test_arguments_that_need_another_trace(values, expected):
    assert counts([(value,) for value in values]) == expected


@pytest.mark.beyond_tensorflow
def test_values_that_python_takes_for_equal_are_told_apart():
    f = tf.function(lambda x: x)
    values = [1, 1.0, True, 0.0, -0.0, float("nan"), float("nan"), 1j, complex(1, -0.0)]
    for _ in range(2):
        for value in values:
            expected = tf.convert_to_tensor(value)
            found = f(value)
            assert found.dtype == expected.dtype
            assert found.numpy().tobytes() == expected.numpy().tobytes()
    assert f.experimental_get_tracing_count() == 7 + 1


@pytest.mark.beyond_tensorflow
def test_sets_slices_and_methods_are_told_apart_by_what_they_hold():
    assert counts([({1, 2},), ({2, 1},), ({1, 3},)]) == [1, 1, 2]
    assert counts([(slice(1),), (slice(1),), (slice(2),)]) == [1, 1, 2]
    model = Model(1.0)
    assert counts([(model.__str__,), (model.__str__,), (Model(1.0).__str__,)]) == [1, 1, 2]


def test_functions_as_arguments():
    f = tf.function(lambda g, x: g(x) + 1.0 if x > 0.0 else g(x) - 1.0)
    model, x = Model(2.0), tf.constant(3.0)
    assert [f(g, x).numpy() for g in (model.scaled, doubled, model.scaled)] == [7.0, 7.0, 7.0]
    assert f(model.scaled, -x).numpy() == -7.0
    assert f.experimental_get_tracing_count() == 2
    held = weakref.ref(model)
    del model
    gc.collect()
    assert held() is None


def test_variables_as_arguments():
    f = tf.function(lambda v: v * 2.0)
    a, b = tf.Variable(1.0), tf.Variable(5.0)
    assert [f(v).numpy() for v in (a, b, a)] == [2.0, 10.0, 2.0]
    assert f.experimental_get_tracing_count() == 1
    f(tf.Variable([1.0]))
    assert f.experimental_get_tracing_count() == 2
    a.assign(7.0)
    assert f(a).numpy() == 14.0
    add = tf.function(lambda v, x: v.assign_add(x))
    add(a, 1.0)
    assert (a.numpy(), b.numpy()) == (8.0, 5.0)


def test_keywords_defaults_and_positions_are_the_same_call():
    f = tf.function(lambda x, y=2, *, z=3: x + y + z)
    x = tf.constant(1)
    assert {f(x).numpy(), f(x, 2).numpy(), f(x=x, y=2).numpy(), f(y=2, z=3, x=x).numpy()} == {6}
    assert f.experimental_get_tracing_count() == 1
    assert f(x, z=4).numpy() == 7
    assert f.experimental_get_tracing_count() == 2


def test_any_keywords_and_positions():
    f = tf.function(lambda x, *rest, **named: (x, rest, named))
    one, two = tf.constant(1), tf.constant(2)
    x, rest, named = f(one, two, b=two, a=one)
    assert (x.numpy(), rest[0].numpy(), named["a"].numpy(), named["b"].numpy()) == (1, 2, 1, 2)
    _, rest, named = f(one, one, a=two, b=one)
    assert (rest[0].numpy(), named["a"].numpy(), named["b"].numpy()) == (1, 2, 1)
    assert f.experimental_get_tracing_count() == 1


def test_an_object_is_not_kept_alive():
    f = tf.function(lambda item, x: x + item.n)

    class Item:
        n = 1

    item = Item()
    f(item, tf.constant(1))
    watch = weakref.ref(item)
    del item
    gc.collect()
    assert watch() is None
    Item.n = 5
    assert f(Item(), tf.constant(1)).numpy() == 6


def test_arguments_are_not_kept_alive():
    f = tf.function(lambda x, d: x + d["a"])
    x, a = tf.ones([3]), tf.ones([3])
    f(x, {"a": a})
    watches = [weakref.ref(each) for each in (x, a)]
    del x, a
    gc.collect()
    assert [watch() for watch in watches] == [None, None]


# Structures ---------------------------------------------------------------------------------------


def test_structures_in_and_out():
    f = tf.function(lambda d, p: {"sum": d["a"] + p.b[0], "p": Pair(p.a, None), "n": [1, "s"]})
    result = f({"a": tf.constant(1.0)}, Pair(2, [tf.constant(5.0)]))
    assert result["sum"].numpy() == 6.0
    assert type(result["p"]) is Pair
    assert result["p"].b is None
    assert [each.dtype for each in result["n"]] == [tf.int32, tf.string]
    assert f({"a": tf.constant(3.0)}, Pair(2, [tf.constant(4.0)]))["sum"].numpy() == 7.0
    assert f.experimental_get_tracing_count() == 1


@pytest.mark.beyond_tensorflow
def test_dataclasses_that_hold_tensors():
    @dataclasses.dataclass
    class Batch:
        x: tf.Tensor
        scale: float = 2.0

    f = tf.function(lambda batch: batch.x * batch.scale)
    assert f(Batch(tf.constant(3.0))).numpy() == 6.0
    assert f(Batch(tf.constant(4.0))).numpy() == 8.0
    assert f(Batch(tf.constant(4.0), 3.0)).numpy() == 12.0
    assert f.experimental_get_tracing_count() == 2


class Masked(tf.experimental.ExtensionType):
    values: tf.Tensor
    mask: tf.Tensor
    k: int = 1


def test_extension_types():
    f = tf.function(lambda m: (Masked(m.values * float(m.k), m.mask, m.k), m.mask))
    result, _ = f(Masked([1.0], [True], 3))
    assert result.values.numpy() == [3.0]
    assert f(Masked([2.0], [True], 3))[0].values.numpy() == [6.0]
    assert f.experimental_get_tracing_count() == 1
    assert f(Masked([2.0], [True], 5))[0].values.numpy() == [10.0]
    assert f.experimental_get_tracing_count() == 2


def test_ragged_and_sparse_tensors_and_indexed_slices():
    f = tf.function(lambda r: tf.reduce_sum(r, axis=1))
    rows = [[[1.0], [2.0]], [[1.0, 4.0], [2.0]], [[], [7.0, 1.0]]]
    assert [f(tf.ragged.constant(r)).numpy().tolist() for r in rows] == [[1, 2], [5, 2], [0, 8]]
    assert f.experimental_get_tracing_count() == 1
    g = tf.function(lambda s: tf.SparseTensor(s.indices, s.values * 2.0, s.dense_shape))
    doubled_ = g(tf.sparse.from_dense([[1.0, 0.0], [0.0, 3.0]]))
    assert tf.sparse.to_dense(doubled_).numpy().tolist() == [[2.0, 0.0], [0.0, 6.0]]
    g(tf.sparse.from_dense([[1.0, 0.0], [0.0, 0.0]]))
    assert g.experimental_get_tracing_count() == 1
    h = tf.function(lambda s: tf.IndexedSlices(s.values * 2.0, s.indices))
    slices = h(tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([4])))
    assert (slices.values.numpy().tolist(), slices.indices.numpy().tolist()) == ([[2.0]], [4])


def test_tensors_of_vectorized_map_are_not_kept_for_constants():
    elements = tf.constant([1.0, 2.0, 3.0])
    held = []
    f = tf.function(lambda x: x + held[-1])

    def body(element):
        held.append(element)
        return f(tf.constant(10.0)) + f(element)

    for _ in range(2):
        assert tf.vectorized_map(body, elements).numpy().tolist() == [13.0, 16.0, 19.0]
    held.append(tf.constant(5.0))
    assert f(tf.constant(1.0)).numpy() == 6.0


# input_signature ----------------------------------------------------------------------------------


def test_an_input_signature_converts_and_counts_once():
    f, _ = counted(lambda x: x * 2.0, input_signature=[tf.TensorSpec([None], tf.float32)])
    for value in ([1, 2], [1.5], np.ones(3), np.ones(4, int), tf.ones([5]), tf.Variable([1.0])):
        assert f(value).dtype == tf.float32
    assert f(x=[3.0]).numpy() == [6.0]
    assert f.experimental_get_tracing_count() == 1
    assert f.input_signature == (tf.TensorSpec([None], tf.float32),)


def test_an_input_signature_of_structures():
    spec = {"a": tf.TensorSpec([None]), "b": (tf.TensorSpec([], tf.int32),)}
    f = tf.function(lambda d: d, input_signature=[spec])
    result = f({"a": [1, 2], "b": (3,)})
    assert result["a"].dtype == tf.float32
    assert result["b"][0].dtype == tf.int32


def test_unknown_rank_defaults_and_rest():
    f = tf.function(lambda x, y=2: x + y, input_signature=[tf.TensorSpec(None)])
    assert f([[1.0]]).numpy().tolist() == [[3.0]]
    assert f(1.0, 2).numpy() == 3.0
    assert f.experimental_get_tracing_count() == 1
    g = tf.function(lambda *a: a[0] - a[1], input_signature=[tf.TensorSpec([])] * 2)
    assert g(1.0, 4).numpy() == -3.0


def test_specs_of_composites():
    f = tf.function(lambda r: r.row_lengths(), input_signature=[tf.RaggedTensorSpec([None, None])])
    assert f(tf.ragged.constant([[1.0], [], [1.0, 2.0]])).numpy().tolist() == [1, 0, 2]
    g = tf.function(tf.sparse.to_dense, input_signature=[tf.SparseTensorSpec([None, 2])])
    assert g(tf.sparse.from_dense([[1.0, 0.0]])).numpy().tolist() == [[1.0, 0.0]]
    spec = Masked.Spec(tf.TensorSpec([None]), tf.TensorSpec([None], tf.bool), 1)
    h = tf.function(lambda m: m.values + 1.0, input_signature=[spec])
    assert h(Masked([1.0, 2.0], [True, False])).numpy().tolist() == [2.0, 3.0]
    assert h(Masked([1.0], [True])).numpy().tolist() == [2.0]
    assert h.experimental_get_tracing_count() == 1


def test_specs_of_indexed_slices():
    spec = tf.IndexedSlicesSpec([None, 2], tf.float32, tf.int32)
    slices = tf.IndexedSlices(tf.ones([1, 2]), tf.constant([4]))
    exact = tf.IndexedSlicesSpec([None, 2], tf.float32, tf.int32, None, [1])
    assert tf.type_spec_from_value(slices) == exact
    assert exact.is_subtype_of(spec)
    f = tf.function(lambda s: s.values * 2.0, input_signature=[spec])
    assert f(slices).numpy().tolist() == [[2.0, 2.0]]
    assert f(tf.IndexedSlices(tf.ones([3, 2]), tf.constant([1, 2, 3]))).shape == [3, 2]
    assert f.experimental_get_tracing_count() == 1
    assert [each.shape.as_list() for each in f.get_concrete_function().inputs] == [
        [None, 2],
        [None],
    ]
    dense = tf.IndexedSlices(tf.ones([1, 2]), tf.constant([0]), tf.constant([3, 2]))
    with pytest.raises(TypeError, match="Can not cast IndexedSlicesSpec"):
        f(dense)


def test_a_variable_given_for_a_spec_is_differentiated():
    f = tf.function(lambda x: x * x, input_signature=[tf.TensorSpec([])])
    v = tf.Variable(5.0)
    for _ in range(2):
        with tf.GradientTape() as tape:
            y = f(v)
        assert tape.gradient(y, v).numpy() == 10.0

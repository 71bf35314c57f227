"""Specs as signatures of functions, optionals in functions, and how long datasets live."""

import copy
import gc
import logging
import pickle
import weakref

import numpy as np
import pytest

import gradtape as tf

D = tf.data.Dataset


@pytest.fixture(autouse=True)
def quiet(caplog):
    caplog.set_level(logging.ERROR)


# Signatures ---------------------------------------------------------------------------------------


def test_a_concrete_function_waits_for_its_first_iterator():
    step, runs = counted_function(
        lambda it: next(it) * 2, input_signature=[tf.data.IteratorSpec(tf.TensorSpec([], tf.int64))]
    )
    concrete = step.get_concrete_function()
    iterator = iter(D.range(3))
    assert [concrete(iterator).numpy(), step(iterator).numpy()] == [0, 2]
    assert len(runs) <= 2
    assert "IteratorGetNext" in concrete.graph.as_text()


def test_a_concrete_function_of_a_dataset_says_that_it_has_no_graph():
    spec = tf.data.DatasetSpec(tf.TensorSpec([], tf.int64))
    function = tf.function(lambda ds: ds.reduce(np.int64(0), lambda a, b: a + b))
    concrete = function.get_concrete_function(spec)
    assert concrete(D.range(4)).numpy() == 6
    with pytest.raises(ValueError, match="a dataset is used in it"):
        _ = concrete.graph


def test_methods_with_a_signature():
    class Model(tf.Module):
        @tf.function(input_signature=[tf.data.DatasetSpec(tf.TensorSpec([None], tf.float32))])
        def total(self, dataset):
            found = 0.0
            for x in dataset:
                found += tf.reduce_sum(x)
            return found

    model = Model()
    assert model.total(D.from_tensor_slices([[1.0, 2.0], [3.0, 4.0]])).numpy() == 10.0
    assert model.total(D.from_tensor_slices([[1.0, 2.0, 3.0]])).numpy() == 6.0
    assert model.total(D.range(6).map(lambda x: tf.cast(x, tf.float32)).batch(4)).numpy() == 15.0
    with pytest.raises(TypeError):
        model.total(D.range(3))


def test_relaxed_specs():
    function, _ = counted_function(lambda it: tf.shape(next(it))[0], reduce_retracing=True)
    sizes = [function(iter(D.from_tensors(np.zeros(n)))).numpy() for n in (1, 2, 3, 4)]
    assert sizes == [1, 2, 3, 4]
    assert function.experimental_get_tracing_count() == 2


def counted_function(function, **options):
    """`function` as a tf.function, and a list that grows each time Python runs it."""
    runs = []

    def counted(*args):
        runs.append(1)
        return function(*args)

    return tf.function(counted, **options), runs


# Optionals ----------------------------------------------------------------------------------------


def test_optional_decides_a_branch():
    @tf.function
    def step(iterator):
        found = iterator.get_next_as_optional()
        if found.has_value():
            return found.get_value() + 1
        return tf.constant(-1, tf.int64)

    iterator = iter(D.range(3))
    assert [step(iterator).numpy() for _ in range(5)] == [1, 2, 3, -1, -1]


def test_gradients_pass_through_an_optional():
    x = tf.Variable(3.0)
    through = tf.function(lambda: tf.experimental.Optional.from_value(x * x).get_value())
    for function in (through, through.python_function):
        with tf.GradientTape() as tape:
            y = function()
        assert tape.gradient(y, x).numpy() == 6.0


# Copies -------------------------------------------------------------------------------------------


def test_copies_and_pickles():
    dataset = D.range(3)
    assert copy.copy(dataset) is dataset
    with pytest.raises(TypeError, match="cannot be copied"):
        copy.deepcopy(dataset)
    with pytest.raises(tf.errors.InvalidArgumentError, match="RangeDataset cannot be pickled"):
        pickle.dumps(dataset)


def test_specs_can_be_pickled():
    specs = [
        tf.data.DatasetSpec({"a": tf.TensorSpec([None], tf.int32)}, [2]),
        tf.data.IteratorSpec((tf.TensorSpec([]), tf.TensorSpec([], tf.string))),
        tf.OptionalSpec(tf.RaggedTensorSpec([2, None])),
    ]
    assert pickle.loads(pickle.dumps(specs)) == specs


def test_a_tensor_that_holds_no_dataset():
    with pytest.raises(TypeError, match="holds a dataset"):
        tf.data.experimental.from_variant(tf.constant(1), tf.TensorSpec([]))
    holder = tf.nest.flatten(tf.experimental.Optional.from_value(1), expand_composites=True)[0]
    with pytest.raises(TypeError, match="holds a dataset"):
        tf.data.experimental.from_variant(holder, tf.TensorSpec([]))


# Memory -------------------------------------------------------------------------------------------


@pytest.fixture
def no_collector():
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def datasets():
    return {
        "range": D.range(5),
        "slices": D.from_tensor_slices(np.arange(6.0)).shuffle(3).batch(2),
        "map": D.range(5).map(lambda x: x + 1),
        "filter": D.range(5).filter(lambda x: x > 1),
        "flat": D.range(3).flat_map(lambda x: D.range(x)),
        "generator": D.from_generator(lambda: iter([1, 2]), tf.int32),
        "repeat": D.range(2).repeat().take(3).prefetch(1),
    }


@pytest.mark.parametrize("kind", list(datasets()))
def test_datasets_and_iterators_go_by_their_last_reference(no_collector, kind):
    dataset = datasets()[kind]
    iterator = iter(dataset)
    next(iterator)
    iterator.get_next_as_optional()
    for _ in dataset:
        pass
    watched = [weakref.ref(dataset), weakref.ref(iterator)]
    del iterator
    assert watched[1]() is None
    del dataset
    assert watched[0]() is None


@pytest.mark.parametrize("taped", [False, True])
def test_functions_do_not_keep_arguments(no_collector, taped):
    @tf.function
    def total(dataset):
        found = tf.constant(0, tf.int64)
        for x in dataset:
            found += x
        return found

    step = tf.function(lambda it: next(it) + 1)
    for _ in range(3):
        dataset = D.range(3).map(lambda x: x * 2)
        iterator = iter(dataset)
        optional = tf.experimental.Optional.from_value(dataset)
        watched = [weakref.ref(each) for each in (dataset, iterator, optional)]
        if taped:
            with tf.GradientTape():
                total(dataset)
                step(iterator)
        else:
            total(dataset)
            step(iterator)
        tf.function(lambda o: o.has_value())(optional)
        del dataset, iterator, optional
        assert [each() for each in watched] == [None] * 3


def test_a_captured_iterator_goes_with_its_function():
    def captured():
        iterator = iter(D.range(9))
        step = tf.function(lambda: next(iterator))
        assert [step().numpy() for _ in range(2)] == [0, 1]
        return weakref.ref(iterator)

    watched = captured()
    gc.collect()  # graphs have cycles of their own
    assert watched() is None


def test_elements_of_a_long_loop_are_not_kept(no_collector):
    """Neither in a function that runs as Python, nor after effects of the same call."""
    most = []

    @tf.function
    def loop(steps, dataset):
        next(steps)
        alive = []
        for x in dataset:
            alive = [each for each in alive if each() is not None]
            alive.append(weakref.ref(x))
            most.append(len(alive))

    steps = iter(D.range(9))
    for _ in range(2):
        loop(steps, D.range(50))
    assert len(most) == 100
    assert max(most) <= 2

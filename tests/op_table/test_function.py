"""Every op of the table under `tf.function`: bit for bit what it gives without.

A function is traced on the first call and run as a graph from then on, so it is called again with
the same arrays, then with others of the same shapes, and with the first ones once more.
"""

import numpy as np
import pytest

import gradtape as tf
from gradtape.core.op import OPS, UNREGISTERED
from gradtape.graph import interpret
from gradtape.graph.interpret import Program, run_stepwise
from gradtape.graph.passes import optimize

from .arrays import is_continuous, random_like
from .calls import call, continuous, run, tensors_of
from .cases import all_cases

CASES = [case for case in all_cases() if case.op in OPS]


class Counted:
    """A traced function of inputs and seeds that counts how often its Python code runs."""

    def __init__(self, python_function):
        self.runs = 0

        def counting(inputs, seeds):
            self.runs += 1
            return python_function(inputs, seeds)

        self.function = tf.function(counting)

    def __call__(self, inputs, seeds):
        return self.function(inputs, seeds)

    def latest_path(self):
        (found,) = self.function._state.known.values()
        return found.paths.latest


def bits_of_arrays(arrays):
    """All there is to say of arrays, for comparison; None as None."""
    found = []
    for item in arrays:
        array = None if item is None else np.asarray(item)
        if array is not None:
            content = array.tolist() if array.dtype == object else array.tobytes()
            array = array.shape, array.dtype.name, content
        found.append(array)
    return found


def bits(structure):
    """All there is to say of the tensors in a structure."""
    leaves = tf.nest.flatten(structure, expand_composites=True)
    return bits_of_arrays([None if x is None else x._value for x in leaves])


def points_of(case, sample):
    """The inputs twice, others of the same shapes and dtypes, and the first again."""
    chosen = case.batch_inputs if sample.batch_inputs is None else sample.batch_inputs
    names = OPS[case.op].inputs
    if chosen is None:
        chosen = range(len(sample.inputs))
    positions = [names.index(each) if isinstance(each, str) else each for each in chosen]
    vary = case.vary or _vary
    others = [
        np.asarray(vary(x, 1), x.dtype) if i in positions else x
        for i, x in enumerate(sample.inputs)
    ]
    return [sample.inputs, sample.inputs, others, sample.inputs]


def _vary(x, k):
    return x * (1 - 0.05 * k) if is_continuous(x) else np.roll(x, k)


# Infinities and NaNs, of which NumPy warns, are values like any other.
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(
    ("case", "sample"),
    [
        pytest.param(case, sample, id=f"{case.op}-{number}")
        for case in CASES
        for number, sample in enumerate(case.samples)
    ],
)
def test_sample(case, sample, monkeypatch):
    def fail(*arguments):
        raise AssertionError("A graph could not be run by its plan.")

    # Otherwise it would make up for what goes wrong in a plan.
    monkeypatch.setattr(interpret, "run_stepwise", fail)

    def values(inputs, seeds):
        return list(run(case, inputs, sample.attrs))

    def with_gradients(inputs, seeds):
        with tf.GradientTape() as tape:
            tape.watch(continuous(inputs))
            outputs = list(call(case, inputs, sample.attrs))
        return outputs, tape.gradient(continuous(outputs), list(inputs), list(seeds))

    rng = np.random.default_rng(0)
    points = [tensors_of(inputs) for inputs in points_of(case, sample)]
    plain = [values(inputs, ()) for inputs in points]
    seeds = [
        tensors_of([random_like(rng, out._value) for out in continuous(outputs)])
        for outputs in plain
    ]
    _check_calls(values, points, [()] * len(points))
    if case.state == UNREGISTERED or not continuous(points[0]) or not seeds[0]:
        return
    _check_calls(with_gradients, points, seeds)
    _check_tape_around(values, with_gradients, points, seeds)
    _check_tangents(values, points[2], rng)


def _check_calls(python_function, points, seeds):
    """Call by call the same; a graph that is well formed; quick and stepwise runs agree."""
    traced = Counted(python_function)
    runs, shapes = [], []
    for inputs, seed in zip(points, seeds, strict=True):
        before = bits([inputs, seed])
        expected = bits(python_function(inputs, seed))
        assert bits(traced(inputs, seed)) == expected
        assert bits([inputs, seed]) == before
        runs.append(traced.runs)
        shapes.append([each and each[0] for each in expected])
    assert runs[1] == 1
    # Only another shape of a result is a reason to trace again.
    assert shapes[2] != shapes[0] or runs == [1] * len(runs)
    path = traced.latest_path()
    path.graph.verify()
    graph = optimize(path.graph).verify()
    arrays = [x._value for x in (*points[-1], *seeds[-1])]
    found = run_stepwise(graph, arrays)
    assert bits_of_arrays(Program(graph).run(arrays)) == bits_of_arrays(found)


def _check_tape_around(values, with_gradients, points, seeds):
    """A tape around the call sees the gradients that it sees without a function."""
    traced = Counted(values)
    for inputs, seed in zip(points, seeds, strict=True):
        with tf.GradientTape() as tape:
            tape.watch(continuous(inputs))
            outputs = traced(inputs, ())
        found = outputs, tape.gradient(continuous(outputs), list(inputs), list(seed))
        assert bits(found) == bits(with_gradients(inputs, seed))


def _check_tangents(values, inputs, rng):
    """An accumulator around the call sees the tangents that it sees without a function."""
    moving = continuous(inputs)
    directions = list(tensors_of([random_like(rng, x._value) for x in moving]))
    found = []
    for function in (values, tf.function(values)):
        with tf.autodiff.ForwardAccumulator(moving, directions) as accumulator:
            outputs = function(inputs, ())
        found.append(bits([outputs, accumulator.jvp(continuous(outputs))]))
    assert found[0] == found[1]


@pytest.mark.parametrize(
    ("case", "failure"),
    [
        pytest.param(case, failure, id=f"{case.op}-{number}")
        for case in CASES
        for number, failure in enumerate(case.failures)
    ],
)
def test_failure(case, failure):
    function = tf.function(lambda inputs: run(case, inputs, failure.attrs))
    for _ in range(2):
        with pytest.raises(failure.error, match=failure.match):
            function(tensors_of(failure.inputs))


# How many elements results have depends on values here; a trace relies on the number alone.
FIRST, SAME_SHAPE, OTHER_SHAPE = [3, 0, 1, 3], [0, 3, 3, 1], [0, 0, 0, 2]
SORTED = [0, 1, 1, 3], [0, 0, 2, 3], [0, 0, 1, 1]
OF_SOME_SHAPE = {
    "where": lambda x: tf.where(x > 0),
    "boolean_mask": lambda x: tf.boolean_mask(tf.cast(x, tf.float32), x > 0),
    "mask as key": lambda x: tf.cast(x, tf.float32)[x > 0],
    "unique": lambda x: tf.unique(x),
    "bincount": lambda x: tf.math.bincount(x),
    "confusion_matrix": lambda x: tf.math.confusion_matrix(x, x[::-1]),
    "dynamic_partition": lambda x: tf.dynamic_partition(x, tf.cast(x > 0, tf.int32), 2),
    "segment_sum": lambda x: tf.math.segment_sum(tf.range(4.0), x),
    "segment_max": lambda x: tf.math.segment_max(tf.range(4.0), x),
    "sparse.segment_sum": lambda x: tf.sparse.segment_sum(tf.range(4.0), [3, 2, 1, 0], x),
}


@pytest.mark.parametrize("name", OF_SOME_SHAPE)
def test_results_whose_shape_depends_on_values(name):
    python_function = OF_SOME_SHAPE[name]
    traced = Counted(lambda x, seeds: python_function(x))
    calls = SORTED if "segment" in name else (FIRST, SAME_SHAPE, OTHER_SHAPE)
    runs = []
    for numbers in (*calls, *calls):
        x = tf.constant(numbers)
        assert bits(traced(x, ())) == bits(python_function(x))
        runs.append(traced.runs)
    assert runs == [1, 1, 2, 2, 2, 2]

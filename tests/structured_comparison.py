"""Compares a function with itself under `tf.function`: values, derivatives and batches."""

import numpy as np

import gradtape as tf


def leaves_of(result):
    return [tf.convert_to_tensor(x) for x in tf.nest.flatten(result)]


def bits(tensor):
    array = np.asarray(tensor.numpy())
    data = array.tolist() if array.dtype == object else array.tobytes()
    return tensor.dtype.name, tuple(tensor.shape), data


def node_types(traced, *arguments):
    graph = traced.get_concrete_function(*arguments).graph
    graph.verify()
    return [node.type for node in graph.operations]


def floats_of(tensors):
    return [x for x in tensors if x.dtype.is_floating]


def sum_of(result):
    return tf.add_n([tf.reduce_sum(x * x) for x in floats_of(leaves_of(result))] or [tf.zeros(())])


def values(function, tensors):
    return [bits(x) for x in leaves_of(function(*tensors))]


def first(function, tensors):
    with tf.GradientTape() as tape:
        tape.watch(floats_of(tensors))
        y = sum_of(function(*tensors))
    return tape.gradient(y, floats_of(tensors), unconnected_gradients="zero")


def second(function, tensors):
    sources = floats_of(tensors)
    with tf.GradientTape() as outer:
        outer.watch(sources)
        grads = first(function, tensors)
        total = sum_of(grads)
    return outer.gradient(total, sources, unconnected_gradients="zero")


def jacobians(function, tensors):
    sources = floats_of(tensors)
    with tf.GradientTape() as tape:
        tape.watch(sources)
        outputs = floats_of(leaves_of(function(*tensors)))
        y = tf.concat([tf.reshape(x, [-1]) for x in outputs or [tf.zeros(1)]], 0)
    return tape.jacobian(y, sources, unconnected_gradients="zero")


def tangents(function, tensors):
    sources = floats_of(tensors)
    directions = [tf.cos(x) for x in sources]
    with tf.autodiff.ForwardAccumulator(sources, directions) as accumulator:
        outputs = floats_of(leaves_of(function(*tensors)))
    return accumulator.jvp(outputs, unconnected_gradients="zero")


def rows(function, tensors):
    if not floats_of(tensors):
        return []
    scales = tf.constant([1.0, 0.5, 2.0], floats_of(tensors)[0].dtype)

    def one(scale):
        given = [x * scale if x.dtype.is_floating else x for x in tensors]
        return leaves_of(function(*given))

    return tf.vectorized_map(one, scales, warn=False)


MEASURES = [first, second, jacobians, tangents, rows]


def same(function, calls, *, types=None, traces=1, tolerance=0.0):
    """Compares a function with itself under `tf.function`: outside it and inside it.

    Args:
        function: from tensors to tensors.
        calls: lists of arguments, all of the same shapes and dtypes.
        types: op types that the graph consists of, if that is to be checked.
        traces: how often the function may be run to serve all plain calls.
        tolerance: of first derivatives, where terms are added up in another order.
    """
    runs = []

    def counted(*tensors):
        runs.append(1)
        return function(*tensors)

    traced = tf.function(counted)
    calls = [[tf.constant(x) for x in arguments] for arguments in calls]
    for tensors in [*calls, *calls[::-1]]:
        assert values(traced, tensors) == values(function, tensors)
    if types is not None:
        found = node_types(traced, *calls[0])
        assert not set(types) - set(found), found
        assert len(runs) == traces
    for measure in MEASURES:
        inside = tf.function(lambda *tensors, measure=measure: measure(function, tensors))
        for tensors in calls:
            expected = measure(function, tensors)
            for found in (measure(traced, tensors), inside(*tensors)):
                assert len(found) == len(expected), measure.__name__
                for a, b in zip(found, expected, strict=True):
                    _check(measure, a, b, tolerance)
    return traced


def _check(measure, found, expected, tolerance):
    """Bit for bit; but second derivatives of a loop add up the same terms in another order."""
    assert found.dtype == expected.dtype, measure.__name__
    if measure is second and not tolerance:
        tolerance = 1e-6
    np.testing.assert_allclose(
        found.numpy(), expected.numpy(), tolerance, tolerance, err_msg=measure.__name__, strict=True
    )

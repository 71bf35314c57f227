"""Programs that are run with and without tf.function, and must give the same."""

import functools

import numpy as np
import pytest

import gradtape as tf

X = np.array([0.5, -1.5, 2.0], np.float32)
M = np.array([[1.0, -2.0], [0.5, 3.0], [-1.0, 0.25]], np.float32)


def collection():
    """An empty list of programs, and the decorator that adds to it.

    A program is a function from a decorator to a step that is run several times.
    """
    programs = []

    def program(make):
        programs.append(pytest.param(make, id=make.__name__))
        return make

    return programs, program


def counted(function, **options):
    """A tf.function, and the list to which each run of its Python code appends."""
    runs = []

    @functools.wraps(function)
    def counting(*args, **kwargs):
        runs.append(1)
        return function(*args, **kwargs)

    return tf.function(counting, **options), runs


def plain(f=None, **options):
    """In the place of tf.function: nothing."""
    return f if f is not None else plain


def leaves_of(result):
    """The arrays of a result, with None and the kinds of gradients told apart."""
    found = []
    for leaf in tf.nest.flatten(result):
        if leaf is None or isinstance(leaf, str):
            found.append(leaf)
        elif isinstance(leaf, tf.IndexedSlices):
            found += ["slices", leaf.values.numpy(), leaf.indices.numpy()]
        else:
            found.append(np.asarray(leaf))
    return found


def assert_same(found, expected):
    assert len(found) == len(expected)
    for a, b in zip(found, expected, strict=True):
        if a is None or b is None or isinstance(a, str) or isinstance(b, str):
            assert a is b or (isinstance(a, str) and a == b), (a, b)
        else:
            assert a.dtype == b.dtype
            np.testing.assert_array_equal(a, b, strict=True)
            np.testing.assert_array_equal(np.signbit(np.real(a)), np.signbit(np.real(b)))


def assert_same_without_functions(make):
    """A program, made by a decorator, gives the same for tf.function and for none, three times."""
    with_functions, without = make(tf.function), make(plain)
    for _ in range(3):
        assert_same(leaves_of(with_functions()), leaves_of(without()))

"""A tape remembers where tensors it followed were taken as NumPy arrays."""

import sys

import numpy as np

import gradtape as tf
from gradtape.autodiff import departures
from gradtape.core import active


def here():
    return f"{__file__}:{sys._getframe(1).f_lineno}"


def test_the_line_is_remembered_after_the_gradient():
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = x * 2.0
        mean, place = np.mean(y), here()
        z = tf.constant(mean) * 3.0
    assert tape.gradient(z, x) is None
    assert tape._departures == {y._id: place}


def test_every_way_out_is_seen_and_the_first_place_stays():
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        a, b, c = x + 1.0, x + 2.0, x + 3.0
        first = (a.numpy(), np.add(b, 1), np.asarray(c), x.numpy(), here())[-1]
        a.numpy()
    assert tape._departures == dict.fromkeys([a._id, b._id, c._id, x._handle.id], first)


def test_only_followed_tensors_count():
    x = tf.constant([1.0, 2.0])
    y = tf.Variable([1.0])
    with tf.GradientTape() as tape:
        x.numpy()
        np.asarray(x * 2.0)
        tf.argmax(y * 1.0).numpy()
    (y * 2.0).numpy()
    assert tape._departures == {}


def test_each_tape_keeps_its_own():
    x = tf.constant(1.0)
    with tf.GradientTape(persistent=True) as outer:
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = x * 2.0
            y.numpy()
        assert set(inner._departures) == {y._id}
    assert outer._departures == {}
    inner_again = inner
    with inner_again:
        pass
    assert set(inner._departures) == {y._id}


def test_printing_is_no_departure(capsys):
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = x * 2.0
        print(y, repr(y), f"{y[0]:.1f}")
        tf.print(y)
    assert "[2. 4.]" in capsys.readouterr().out
    assert tape._departures == {}


def test_as_many_are_kept_as_there_is_room_for(monkeypatch):
    monkeypatch.setattr(departures, "_MOST", 3)
    x = tf.Variable(1.0)
    with tf.GradientTape() as tape:
        for _ in range(5):
            (x * 2.0).numpy()
    assert len(tape._departures) == 3


def test_without_a_recorder_nobody_is_told(monkeypatch):
    from gradtape.core import tensor

    def fail(_):
        raise AssertionError("told without a recorder")

    monkeypatch.setattr(tensor, "_tell_of_departure", fail)
    assert not active.thread.recorders
    np.testing.assert_array_equal(tf.constant([1.0]).numpy(), np.asarray(tf.constant([1.0])))

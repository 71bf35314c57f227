"""What the tape says through the "tensorflow" logger, and how often."""

import logging

import pytest

import gradtape as tf

WATCH = "WARNING:The dtype of the watched tensor must be floating (e.g. tf.float32), got "
PERSISTENT = (
    "WARNING:Calling GradientTape.gradient on a persistent tape inside its context is "
    "significantly less efficient than calling it outside the context (it causes the gradient ops "
    "to be recorded on the tape, leading to increased CPU and memory usage). Only call "
    "GradientTape.gradient inside the context if you actually want to trace the gradient in order "
    "to compute higher order derivatives."
)
CAST = (
    "WARNING:You are casting an input of type {} to an incompatible dtype {}.  This will discard "
    "the imaginary part and may not be what you intended."
)


def run(code, filename, **names):
    """Runs code as a file of its own: warnings are counted per file and line."""
    exec(compile(code, filename, "exec"), {"tf": tf, **names})


@pytest.mark.parametrize(
    ("value", "dtype"),
    [(3, "int32"), (True, "bool"), ("text", "string")],
)
def test_watching_what_has_no_derivative(value, dtype, logs):
    with tf.GradientTape() as tape:
        run("tape.watch(x)", f"<watch {dtype}>", tape=tape, x=tf.constant(value))
    assert logs == [f"{WATCH}tf.{dtype}"]


def test_a_watched_integer_variable_warns_too(logs):
    v = tf.Variable(3, dtype=tf.int64)
    with tf.GradientTape() as tape:
        tape.watch(v)
    assert logs == [f"{WATCH}tf.int64"]


def test_each_bad_leaf_warns(logs):
    with tf.GradientTape() as tape:
        tape.watch([tf.constant(1), tf.constant(1.0), tf.constant(True)])
    assert logs == [f"{WATCH}tf.int32", f"{WATCH}tf.bool"]


def test_watch_warns_five_times_per_line(logs):
    code = "for _ in range(8):\n    tape.watch(x)\ntape.watch(x)\n"
    with tf.GradientTape() as tape:
        run(code, "<watch in a loop>", tape=tape, x=tf.constant(3))
    assert logs == [f"{WATCH}tf.int32"] * 6


def test_no_warning_for_floats_and_complex_numbers(logs):
    with tf.GradientTape() as tape:
        for dtype in (tf.float16, tf.bfloat16, tf.float32, tf.float64, tf.complex64, tf.complex128):
            tape.watch(tf.ones([], dtype))
    assert logs == []


def test_gradient_of_an_integer_is_silently_none(logs):
    x = tf.constant(1.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.cast(x, tf.int32)
    assert tape.gradient(y, [x, tf.constant(2)]) == [None, None]
    assert logs == []


class TestGradientInsideAPersistentTape:
    @staticmethod
    def run(code, filename):
        v = tf.Variable(3.0)
        with tf.GradientTape(persistent=True) as tape:
            y = v * v
            run(code, filename, tape=tape, y=y, v=v)

    def test_a_loop_warns_once(self, logs):
        self.run("for _ in range(3):\n    tape.gradient(y, v)\n", "<loop>")
        assert logs == [PERSISTENT]

    def test_two_lines_warn_twice(self, logs):
        self.run("tape.gradient(y, v)\ntape.gradient(y, v)\n", "<two lines>")
        assert logs == [PERSISTENT] * 2

    def test_the_same_line_of_two_files_warns_twice(self, logs):
        self.run("tape.gradient(y, v)\n", "<one file>")
        self.run("tape.gradient(y, v)\n", "<another file>")
        assert logs == [PERSISTENT] * 2

    def test_the_line_is_the_one_that_calls_gradient(self, logs):
        code = "def g():\n    return tape.gradient(y, v)\ng()\ng()\n"
        self.run(code, "<helper function>")
        assert logs == [PERSISTENT]

    def test_not_while_stopped(self, logs):
        self.run("with tape.stop_recording():\n    tape.gradient(y, v)\n", "<stopped>")
        assert logs == []

    def test_not_outside(self, logs):
        v = tf.Variable(3.0)
        with tf.GradientTape(persistent=True) as tape:
            y = v * v
        tape.gradient(y, v)
        assert logs == []

    def test_not_for_a_one_shot_tape(self, logs):
        v = tf.Variable(3.0)
        with tf.GradientTape() as tape:
            tape.gradient(v * v, v)
        assert logs == []


class TestCastingToReal:
    def test_forwards(self, logs):
        z = tf.constant(1 + 2j)
        assert float(tf.cast(z, tf.float64)) == 1.0
        assert logs == [CAST.format("complex128", "float64")]

    def test_backwards(self, logs):
        x = tf.constant(3.0)
        with tf.GradientTape() as tape:
            tape.watch(x)
            z = tf.cast(x, tf.complex64) * tf.constant(1 + 2j, tf.complex64)
        assert float(tape.gradient(z, x)) == 1.0
        assert logs == [CAST.format("complex64", "float32")]


def test_the_level_of_the_logger_silences_them(logs):
    x = tf.constant(3)
    with tf.GradientTape() as tape:
        logging.getLogger("tensorflow").setLevel(logging.ERROR)
        tape.watch(x)
        assert logs == []
        logging.getLogger("tensorflow").setLevel(logging.WARNING)
        tape.watch(x)
    assert logs == [f"{WATCH}tf.int32"]

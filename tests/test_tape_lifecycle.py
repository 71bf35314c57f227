"""A tape's life: entering, leaving, stopping, resetting, and being used up."""

import inspect
import threading

import pytest

import gradtape as tf

USED_UP = "A non-persistent GradientTape can only be used to compute one set of gradients"
UNREGISTERED = "gradient registry has no entry for: AdjustContrastv2"


@pytest.fixture
def v():
    return tf.Variable(3.0)


def finished_tape(v, **options):
    """A tape that has recorded v * v and left its context."""
    with tf.GradientTape(**options) as tape:
        y = v * v
    return tape, y


def used_tape(v):
    tape, y = finished_tape(v)
    tape.gradient(y, v)
    return tape, y


def test_parameters_and_their_order():
    def parameters(function):
        return list(inspect.signature(function).parameters)

    assert parameters(tf.GradientTape.__init__)[1:] == [
        "persistent",
        "watch_accessed_variables",
        "nan_safe",
    ]
    assert parameters(tf.GradientTape.gradient)[1:] == [
        "target",
        "sources",
        "output_gradients",
        "unconnected_gradients",
    ]
    assert tf.autodiff.GradientTape is tf.GradientTape


def test_all_arguments_may_be_positional(v):
    w = tf.Variable(5.0)
    with tf.GradientTape(True, False) as tape:
        tape.watch(v)
        y = v * w
    for _ in range(2):
        gradients = tape.gradient(y, [v, w], None, tf.UnconnectedGradients.ZERO)
        assert [float(gradient) for gradient in gradients] == [5.0, 0.0]


def test_unknown_keyword():
    with pytest.raises(TypeError, match="unexpected keyword argument 'foo'"):
        tf.GradientTape(foo=1)


def test_the_class_is_not_a_context_manager():
    with pytest.raises(TypeError, match="context manager"), tf.GradientTape:
        pass


def test_enter_returns_the_tape_and_exit_returns_none(v):
    tape = tf.GradientTape()
    assert tape.__enter__() is tape
    y = v * v
    assert tape.__exit__(None, None, None) is None
    assert float(tape.gradient(y, v)) == 6.0


def test_exit_without_enter_and_twice():
    tape = tf.GradientTape()
    assert tape.__exit__(None, None, None) is None
    with tape:
        pass
    assert tape.__exit__(None, None, None) is None


def test_entering_an_active_tape(v):
    with tf.GradientTape() as tape:
        with pytest.raises(
            ValueError, match=r"Tape is still recording.*re-enter an already-active"
        ):
            tape.__enter__()
        y = v * v
    assert float(tape.gradient(y, v)) == 6.0


def test_entering_a_tape_that_is_active_in_another_thread():
    errors = []

    def enter_again(tape):
        try:
            tape.__enter__()
        except ValueError as error:
            errors.append(str(error))

    with tf.GradientTape() as tape:
        thread = threading.Thread(target=enter_again, args=(tape,))
        thread.start()
        thread.join()
    assert len(errors) == 1
    assert "Tape is still recording" in errors[0]


def test_an_exception_leaves_the_block_and_the_tape_keeps_what_it_has(v):
    tape, recorded = tf.GradientTape(), []

    def interrupted():
        with tape:
            recorded.append(v * v)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        interrupted()
    with pytest.raises(ValueError, match="Tape is not recording"):
        tape.reset()
    assert float(tape.gradient(recorded[0], v)) == 6.0


@pytest.mark.parametrize("persistent", [False, True])
def test_entering_again_continues_the_same_recording(v, persistent):
    tape = tf.GradientTape(persistent=persistent)
    with tape:
        y = v * v
    between = v * 10.0
    with tape:
        z = y + between + 2.0 * v
    assert float(tape.gradient(z, v)) == 8.0


def test_a_one_shot_tape_starts_afresh_after_gradient(v):
    tape, _ = used_tape(v)
    w = tf.Variable(2.0)
    with tape:
        assert tape.watched_variables() == ()
        y = w * w * w
    assert float(tape.gradient(y, w)) == 12.0


def test_second_gradient(v):
    tape, y = used_tape(v)
    with pytest.raises(RuntimeError, match=USED_UP):
        tape.gradient(y, v)


def test_gradient_before_entering(v):
    with pytest.raises(RuntimeError, match=USED_UP):
        tf.GradientTape().gradient(v, v)


def test_a_persistent_tape_gives_any_number_of_gradients(v):
    tape, y = finished_tape(v, persistent=True)
    assert [float(tape.gradient(y, v)) for _ in range(3)] == [6.0] * 3


class TestStopRecording:
    def test_what_runs_inside_is_not_recorded(self, v):
        with tf.GradientTape() as tape:
            y = v * v
            with tape.stop_recording():
                unrecorded = v * v
            y = y + unrecorded
        assert float(tape.gradient(y, v)) == 6.0

    def test_the_error_comes_on_entering_not_from_the_call(self):
        pause = tf.GradientTape().stop_recording()
        with pytest.raises(RuntimeError, match="stop recording a tape which is not recording"):
            pause.__enter__()

    def test_after_the_tape_was_used_up(self, v):
        tape, _ = used_tape(v)
        with pytest.raises(RuntimeError, match="stop recording a tape which is not recording"):
            tape.stop_recording().__enter__()

    def test_after_the_context(self, v):
        tape, y = finished_tape(v)
        with pytest.raises(ValueError, match=r"Tape is not recording\."):
            tape.stop_recording().__enter__()
        assert float(tape.gradient(y, v)) == 6.0

    def test_inside_itself(self):
        with tf.GradientTape() as tape, tape.stop_recording():
            again = tape.stop_recording()
            with pytest.raises(ValueError, match=r"Tape is not recording\."):
                again.__enter__()

    def test_an_exception_inside_resumes_recording(self, v):
        with tf.GradientTape() as tape:
            with pytest.raises(KeyError), tape.stop_recording():
                raise KeyError
            y = v * v
        assert float(tape.gradient(y, v)) == 6.0


class TestReset:
    def test_forgets_what_was_recorded(self, v):
        with tf.GradientTape() as tape:
            y = v * v
            tape.reset()
            y += 5.0 * v
        assert float(tape.gradient(y, v)) == 5.0

    def test_forgets_what_was_watched(self):
        x = tf.constant(2.0)
        with tf.GradientTape() as tape:
            tape.watch(x)
            tape.reset()
            y = x * x
        assert tape.gradient(y, x) is None

    def test_forgets_the_watched_variables(self, v):
        with tf.GradientTape() as tape:
            _ = v * v
            tape.reset()
            assert tape.watched_variables() == ()

    @pytest.mark.parametrize("state", ["never entered", "left", "used up", "stopped"])
    def test_of_a_tape_that_is_not_recording(self, v, state):
        tape = tf.GradientTape()
        if state == "stopped":
            with tape, tape.stop_recording(), pytest.raises(ValueError, match="not recording"):
                tape.reset()
            return
        if state != "never entered":
            tape, y = finished_tape(v)
            if state == "used up":
                tape.gradient(y, v)
        with pytest.raises(ValueError, match=r"Tape is not recording\."):
            tape.reset()


@pytest.mark.parametrize("state", ["never entered", "used up"])
def test_watch_without_a_recording(v, state):
    tape = tf.GradientTape() if state == "never entered" else used_tape(v)[0]
    with pytest.raises(AttributeError):
        tape.watch(tf.constant(1.0))


class TestGradientInsideTheContext:
    def test_one_shot_stops_recording_first(self, v):
        with tf.GradientTape() as tape:
            y = v * v
            assert float(tape.gradient(y, v)) == 6.0
            with pytest.raises(ValueError, match="Tape is not recording"):
                tape.reset()
        with pytest.raises(RuntimeError, match=USED_UP):
            tape.gradient(y, v)

    def test_persistent_records_the_gradient_too(self, v, logs):
        with tf.GradientTape(persistent=True) as tape:
            y = v * v * v
            first = tape.gradient(y, v)
            second = tape.gradient(first, v)
        third = tape.gradient(second, v)
        assert [float(first), float(second), float(third)] == [27.0, 18.0, 6.0]
        assert len(logs) == 2

    def test_outside_a_persistent_tape_does_not_record_it(self, v):
        tape, y = finished_tape(v, persistent=True)
        assert tape.gradient(tape.gradient(y, v), v) is None


def test_the_name_may_be_deleted_inside_the_block(v):
    with tf.GradientTape() as tape:
        y = v * v
        gradient = tape.gradient(y, v)
        del tape
    assert float(gradient) == 6.0


def test_tapes_may_be_left_in_any_order(v):
    first, second = tf.GradientTape(), tf.GradientTape()
    first.__enter__()
    second.__enter__()
    y = v * v
    first.__exit__(None, None, None)
    z = y * v
    second.__exit__(None, None, None)
    assert float(first.gradient(y, v)) == 6.0
    assert float(second.gradient(z, v)) == 27.0


BAD_ARGUMENTS = {
    "no target": lambda tape, y, v: tape.gradient(None, v),
    "bad unconnected": lambda tape, y, v: tape.gradient(y, v, unconnected_gradients="bad"),
    "bad source": lambda tape, y, v: tape.gradient(y, "v"),
}


class TestErrorsBeforeAndDuringTheBackwardPass:
    @pytest.mark.parametrize("bad_call", BAD_ARGUMENTS.values(), ids=BAD_ARGUMENTS)
    def test_a_rejected_call_leaves_the_tape_usable(self, v, bad_call):
        tape, y = finished_tape(v)
        with pytest.raises((TypeError, ValueError)):
            bad_call(tape, y, v)
        assert float(tape.gradient(y, v)) == 6.0

    def test_a_rejected_call_inside_the_context_has_stopped_recording(self, v):
        with tf.GradientTape() as tape:
            y = v * v
            with pytest.raises(TypeError):
                tape.gradient(None, v)
            y = y + v
        assert tape.gradient(y, v) is None

    @staticmethod
    def failing_tape(v, **options):
        with tf.GradientTape(**options) as tape:
            y = tf.image.adjust_contrast(v * tf.ones([2, 2, 3]), 0.5)
            z = v * v
        return tape, y, z

    def test_a_failed_backward_pass_uses_up_a_one_shot_tape(self, v):
        tape, y, _ = self.failing_tape(v)
        with pytest.raises(LookupError, match=UNREGISTERED):
            tape.gradient(y, v)
        with pytest.raises(tf.errors.InternalError):
            tape.gradient(y, v)

    def test_a_persistent_tape_survives_a_failed_backward_pass(self, v):
        tape, y, z = self.failing_tape(v, persistent=True)
        for _ in range(2):
            with pytest.raises(LookupError, match=UNREGISTERED):
                tape.gradient(y, v)
        assert float(tape.gradient(z, v)) == 6.0

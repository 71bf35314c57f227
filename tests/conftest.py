"""Markers and fixtures shared by the whole suite."""

import logging

import pytest

import gradtape as tf
from gradtape.on_demand import load_everything

load_everything()  # the checks go over the whole op table


def pytest_configure(config):
    config.addinivalue_line(
        "markers",
        "beyond_tensorflow: gradtape deliberately does more here, or does better, than TensorFlow",
    )


class _Messages(logging.Handler):
    """A log handler that is also the list of the messages it was given."""

    def __init__(self):
        super().__init__()
        self.messages = []

    def emit(self, record):
        self.messages.append(f"{record.levelname}:{record.getMessage()}")


@pytest.fixture
def logs():
    """The `LEVEL:message` lines that reach the "tensorflow" logger while the test runs."""
    logger = logging.getLogger("tensorflow")
    handler = _Messages()
    before = logger.handlers[:], logger.propagate, logger.level
    logger.handlers[:], logger.propagate = [handler], False
    logger.setLevel(logging.WARNING)
    yield handler.messages
    logger.handlers[:], logger.propagate = before[0], before[1]
    logger.setLevel(before[2])


@pytest.fixture
def gradient_of():
    """A function that gives the gradient of `function(*points)`: one for one point, else a list."""

    def gradient_of(function, *points, **options):
        sources = [tf.convert_to_tensor(point) for point in points]
        with tf.GradientTape() as tape:
            tape.watch(sources)
            target = function(*sources)
        gradients = tape.gradient(target, sources, **options)
        return gradients[0] if len(points) == 1 else gradients

    return gradient_of

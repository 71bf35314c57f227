"""Functions that count how often Python runs them."""

import gradtape as tf


def traced_function(function, **options):
    """`function` as a tf.function, and a list that grows each time Python runs it."""
    runs = []

    def counted(*args):
        runs.append(1)
        return function(*args)

    return tf.function(counted, **options), runs

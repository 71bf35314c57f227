"""What Keras's TensorBoard callback asks of a backend to profile batches."""

import gradtape as tf


def start_trace(logdir):
    """Starts a profile, to be written into a directory."""
    tf.profiler.experimental.start(logdir)


def stop_trace(save):
    tf.profiler.experimental.stop(save=save)


def start_batch_trace(batch):
    """A part of the profile with a name, entered."""
    trace = tf.profiler.experimental.Trace("Profiled batch", step_num=batch)
    trace.__enter__()
    return trace


def stop_batch_trace(batch_trace_context):
    batch_trace_context.__exit__(None, None, None)

"""Recurrent layers: the loop over time steps, and that of LSTM and GRU with fewer ops a step."""

import functools

from keras.src import tree

import gradtape as tf

from .core import cast, convert_to_tensor

# Below so many steps a traced loop is traced step by step: one op for all would gain nothing.
_FEW_STEPS = 4


def rnn(
    step_function,
    inputs,
    initial_states,
    go_backwards=False,
    mask=None,
    constants=None,
    unroll=False,
    input_length=None,
    time_major=False,
    zero_output_for_mask=False,
    return_all_outputs=True,
):
    """Calls `step_function(input, states)` for every time step.

    Where the mask is False, states stay what they were; the output is the one before, or zeros
    with `zero_output_for_mask`. With `go_backwards` the outputs are in the order they were made.

    Returns:
        The last output, all outputs (the last alone without `return_all_outputs`), the last states.
    """
    constants = tuple(constants or ())
    sequences = [convert_to_tensor(x) for x in tree.flatten(inputs)]
    if not time_major:
        sequences = [_swapped(x) for x in sequences]
    elements = list(sequences)
    if mask is not None:
        elements.append(_time_major_mask(mask, time_major))
    if go_backwards:
        elements = [tf.reverse(x, [0]) for x in elements]
    states = list(initial_states)

    def step(carried, element):
        output_before, states_before = carried
        now = tree.pack_sequence_as(inputs, element[: len(sequences)])
        output, states_now = step_function(now, tuple(states_before) + constants)
        states_now = tree.pack_sequence_as(states, tree.flatten(states_now))
        if mask is None:
            return output, states_now
        is_seen = element[-1]
        if output_before is None or zero_output_for_mask:
            output_before = tf.zeros_like(output)
        states_now = tree.map_structure(
            lambda new, old: _where_seen(is_seen, new, old), states_now, states_before
        )
        return _where_seen(is_seen, output, output_before), states_now

    (last_output, states), outputs = _carried_over(step, (None, states), elements, unroll)
    outputs = outputs if return_all_outputs else tf.expand_dims(last_output, 0)
    return last_output, outputs if time_major else _swapped(outputs), states


def _swapped(x):
    """Batch and time changed for one another."""
    return tf.transpose(x, [1, 0, *range(2, x.shape.rank)])


def _time_major_mask(mask, time_major):
    mask = cast(mask, "bool")
    if mask.shape.rank > 2:
        mask = tf.reduce_any(mask, list(range(2, mask.shape.rank)))
    return mask if time_major else tf.transpose(mask)


def _where_seen(is_seen, new, old):
    is_seen = tf.reshape(is_seen, [is_seen.shape[0]] + [1] * (new.shape.rank - 1))
    return tf.where(is_seen, new, cast(old, new.dtype))


def _carried_over(step, carried, elements, unroll):
    """Carries (output, states) over the elements, tensors with time first.

    Returns:
        What was carried at last, and all outputs.
    """
    count = elements[0].shape[0]
    if not count:
        raise ValueError("A recurrent layer needs at least one timestep. Received: none.")
    if unroll or count < _FEW_STEPS or tf.executing_eagerly():
        outputs = []
        for element in zip(*[tf.unstack(x) for x in elements], strict=True):
            carried = step(carried, element)
            outputs.append(carried[0])
        return carried, tf.stack(outputs)
    # The first step tells what is carried: all the others are then one op of the trace.
    first = step(carried, [x[0] for x in elements])

    def flat_step(flat, element):
        return tree.flatten(step(tree.pack_sequence_as(first, flat), element))

    found = tf.scan(flat_step, [x[1:] for x in elements], tree.flatten(first))
    last = tree.pack_sequence_as(first, [x[-1] for x in found])
    return last, tf.concat([first[0][tf.newaxis], found[0]], 0)


# Layers of which the inputs are multiplied for all time steps at once -----------------------------


def lstm(
    inputs,
    initial_state_h,
    initial_state_c,
    mask,
    kernel,
    recurrent_kernel,
    bias,
    activation,
    recurrent_activation,
    return_sequences=False,
    go_backwards=False,
    unroll=False,
):
    """The loop of an LSTM layer.

    Raises:
        NotImplementedError: with a mask, for which Keras goes on with `rnn`.
    """
    if mask is not None:
        raise NotImplementedError("lstm with a mask: use rnn.")
    recurrent_kernel = convert_to_tensor(recurrent_kernel)
    activation, gate = _quick(activation), _quick(recurrent_activation)

    def step(carried, element):
        h, (_, c) = carried
        i, f, g, o = tf.split(element[0] + tf.matmul(h, recurrent_kernel), 4, axis=-1)
        c = gate(f) * c + gate(i) * activation(g)
        h = gate(o) * activation(c)
        return h, [h, c]

    h, c = convert_to_tensor(initial_state_h), convert_to_tensor(initial_state_c)
    return _fused(step, [h, c], inputs, kernel, bias, return_sequences, go_backwards, unroll)


def gru(
    inputs,
    initial_state,
    mask,
    kernel,
    recurrent_kernel,
    bias,
    activation,
    recurrent_activation,
    return_sequences=False,
    go_backwards=False,
    unroll=False,
    reset_after=True,
):
    """The loop of a GRU layer.

    Raises:
        NotImplementedError: with a mask, for which Keras goes on with `rnn`.
    """
    if mask is not None:
        raise NotImplementedError("gru with a mask: use rnn.")
    recurrent_kernel = convert_to_tensor(recurrent_kernel)
    activation, gate = _quick(activation), _quick(recurrent_activation)
    units = recurrent_kernel.shape[0]
    recurrent_bias = None
    if bias is not None:
        bias = convert_to_tensor(bias)
        if reset_after:
            bias, recurrent_bias = tf.unstack(bias)

    def step_after(carried, element):
        h = carried[0]
        inner = tf.matmul(h, recurrent_kernel)
        inner = inner if recurrent_bias is None else inner + recurrent_bias
        x_z, x_r, x_h = tf.split(element[0], 3, axis=-1)
        h_z, h_r, h_h = tf.split(inner, 3, axis=-1)
        z, r = gate(x_z + h_z), gate(x_r + h_r)
        return _updated(h, z, activation(x_h + r * h_h))

    def step_before(carried, element):
        h = carried[0]
        x_z, x_r, x_h = tf.split(element[0], 3, axis=-1)
        h_z, h_r = tf.split(tf.matmul(h, recurrent_kernel[:, : 2 * units]), 2, axis=-1)
        z, r = gate(x_z + h_z), gate(x_r + h_r)
        return _updated(h, z, activation(x_h + tf.matmul(r * h, recurrent_kernel[:, 2 * units :])))

    step = step_after if reset_after else step_before
    states = [convert_to_tensor(initial_state)]
    return _fused(step, states, inputs, kernel, bias, return_sequences, go_backwards, unroll)


def _updated(h, z, candidate):
    h = z * h + (1 - z) * candidate
    return h, [h]


def _quick(activation):
    """The activation, as an op by itself if it is one: Keras's functions take longer to call."""
    return _ops_of_activations().get(activation, activation)


@functools.cache
def _ops_of_activations():
    from keras.src import activations  # which imports the backend first

    return {activations.sigmoid: tf.sigmoid, activations.tanh: tf.tanh}


def _fused(step, states, inputs, kernel, bias, return_sequences, go_backwards, unroll):
    kernel = convert_to_tensor(kernel)
    sequence = _swapped(cast(inputs, kernel.dtype))
    if go_backwards:
        sequence = tf.reverse(sequence, [0])
    sequence = tf.tensordot(sequence, kernel, 1)
    if bias is not None:
        sequence = sequence + convert_to_tensor(bias)
    (last, states), outputs = _carried_over(step, (states[0], states), [sequence], unroll)
    return last, _swapped(outputs if return_sequences else tf.expand_dims(last, 0)), states


def bidirectional_lstm(*args, **kwargs):
    """Not one loop for both directions: Keras goes on with one `lstm` for each."""
    raise NotImplementedError("bidirectional_lstm: use lstm for each direction.")


def bidirectional_gru(*args, **kwargs):
    """Not one loop for both directions: Keras goes on with one `gru` for each."""
    raise NotImplementedError("bidirectional_gru: use gru for each direction.")


def cudnn_ok(*args, **kwargs):
    return False

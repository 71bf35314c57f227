"""Simulated quantisation: values and gradients as TensorFlow gives them."""

import numpy as np
import pytest

import gradtape as tf

QUANT = tf.quantization
INVALID = tf.errors.InvalidArgumentError


def close(found, expected):
    np.testing.assert_allclose(found.numpy(), np.array(expected), rtol=2e-7, atol=0)


def gradients(function, *inputs):
    inputs = [tf.constant(x) for x in inputs]
    with tf.GradientTape() as tape:
        tape.watch(inputs)
        y = function(*inputs)
    return [None if g is None else g.numpy().tolist() for g in tape.gradient(y, inputs)]


@pytest.mark.parametrize(
    ("x", "options", "expected"),
    [
        ([-7.0, -6.0, 0.0, 0.013, 3.14], {},
         [-6.0235295296, -5.9764704704, 0.0, 0.0, 3.152941227]),
        ([-1.0, 0.0, 3.14, 6.5], {"min": 0, "max": 3, "num_bits": 4}, [0.0, 0.0, 3.0, 3.0]),
        ([-1.0, 3.14], {"min": -0.1, "max": 3, "num_bits": 4, "narrow_range": True},
         [0.0, 3.0999999046]),
        ([-1.0, 0.0, 3.14], {"min": 1.0, "max": 3, "num_bits": 4}, [0.0, 0.0, 2.0]),
        ([-1.0, 0.0], {"min": -3.0, "max": -1, "num_bits": 4}, [-0.933333397, 0.0]),
    ],
)  # fmt: skip
def test_fake_quant_with_args(x, options, expected):
    close(QUANT.fake_quant_with_min_max_args(x, **options), expected)


def test_fake_quant_with_vars():
    x = [-7.0, -6.0, 0.0, 0.013, 3.14, 6.5]
    narrow = QUANT.fake_quant_with_min_max_vars(x, -1.0, 6.0, num_bits=3, narrow_range=True)
    close(narrow, [-1.166666627, -1.166666627, 0.0, 0.0, 3.5, 5.833333015])
    close(QUANT.fake_quant_with_min_max_vars([-7.0, 3.0], 0.0, 0.0), [0.0, 0.0])
    channels = QUANT.fake_quant_with_min_max_vars_per_channel(
        [[-7.0, 3.0], [0.5, 9.0]], [-1.0, -2.0], [3.0, 4.0]
    )
    close(channels, [[-1.003921628, 3.011764765], [0.501960814, 4.0]])


def test_gradients_outside_go_to_the_ends_of_the_range():
    weights = [1.0, 2.0, 3.0, 4.0]
    assert gradients(
        lambda x, low, high: QUANT.fake_quant_with_min_max_vars(x, low, high) * weights,
        [-7.0, 0.0, 3.0, 7.0], -6.0, 6.0,
    ) == [[0.0, 2.0, 3.0, 0.0], 1.0, 4.0]  # fmt: skip
    assert gradients(
        lambda x, low, high: QUANT.fake_quant_with_min_max_vars_per_channel(x, low, high)
        * [[1.0, 2.0], [3.0, 4.0]],
        [[-7.0, 3.0], [0.5, 9.0]], [-1.0, -2.0], [3.0, 4.0],
    ) == [[[0.0, 2.0], [3.0, 0.0]], [1.0, 0.0], [0.0, 4.0]]  # fmt: skip
    args = gradients(QUANT.fake_quant_with_min_max_args, [-7.0, 0.0, 7.0])
    assert args == [[0.0, 1.0, 0.0]]


def test_gradient_functions():
    of_args = QUANT.fake_quant_with_min_max_args_gradient([1.0, 1.0, 1.0], [-6.02, 0.0, 5.99])
    assert of_args.numpy().tolist() == [1.0, 1.0, 0.0]
    weights, x = [1.0, 2.0, 3.0, 4.0], [-7.0, 0.0, 3.0, 7.0]
    of_vars = QUANT.fake_quant_with_min_max_vars_gradient(weights, x, -6.0, 6.0)
    assert of_vars.backprops_wrt_input.numpy().tolist() == [0.0, 2.0, 3.0, 0.0]
    assert (float(of_vars.backprop_wrt_min), float(of_vars.backprop_wrt_max)) == (1.0, 4.0)
    empty = QUANT.fake_quant_with_min_max_vars_gradient(weights, x, 0.0, 0.0)
    assert empty.backprops_wrt_input.numpy().tolist() == weights
    of_channels = QUANT.fake_quant_with_min_max_vars_per_channel_gradient(
        [[1.0, 2.0], [3.0, 4.0]], [[-7.0, 3.0], [0.5, 9.0]], [-1.0, -2.0], [3.0, 4.0]
    )
    assert of_channels.backprop_wrt_min.numpy().tolist() == [1.0, 0.0]


@pytest.mark.parametrize(
    ("function", "arguments", "message"),
    [
        ("args", ([1.0], 3, 1), "min has to be smaller than max, was: 3 >= 1"),
        ("args", ([1.0], -6, 6, 1), "num_bits must be between 2 and 16"),
        ("args", ([1.0], -6, 6, 17), "num_bits must be between 2 and 16"),
        ("vars", ([1.0], [1.0], 2.0), "`min` must be rank 0 but is rank 1"),
        ("vars", (np.ones(2), 1.0, 2.0), "expected to be a float tensor but is a double tensor"),
        ("vars_per_channel", ([1.0], 1.0, 2.0), "`min` must be rank 1 but is rank 0"),
        ("vars_per_channel", ([1.0, 2.0], [1.0], [2.0]), "incorrect size, expected 2 was 1"),
        ("vars_per_channel", (1.0, [1.0], [2.0]), "at least rank 1"),
    ],
)
def test_fake_quant_refuses(function, arguments, message):
    with pytest.raises(INVALID, match=message):
        getattr(QUANT, f"fake_quant_with_min_max_{function}")(*arguments)


@pytest.mark.parametrize(
    ("x", "options", "expected"),
    [
        ([-1.5, 0.3, 0.9], {}, [-1.5, 0.3046875, 0.90234375]),
        ([-1.5, 0.3, 0.9], {"range_given": True}, [-1.007874012, 0.299212605, 0.897637784]),
        ([-1.5, 0.3, 0.9], {"range_given": True, "signed_input": False},
         [0.0, 0.298039228, 0.90196085]),
        ([-1.5, 0.3, 0.9], {"num_bits": 4}, [-1.5, 0.375, 0.9375]),
        ([-1.5, 0.3, 0.9], {"num_bits": 4, "narrow_range": True}, [-1.5, 0.214285716, 0.857142866]),
        ([[-1.5, 0.5], [2.5, 3.5]], {"num_bits": 4, "axis": 1}, [[-1.428571463, 0.5], [2.5, 3.5]]),
        ([[-1.5, 0.5], [2.5, 3.5]], {"num_bits": 4, "axis": 0}, [[-1.5, 0.5625], [2.5, 3.5]]),
    ],
)  # fmt: skip
def test_quantize_and_dequantize(x, options, expected):
    close(QUANT.quantize_and_dequantize_v2(x, -1.0, 1.0, **options), expected)
    close(QUANT.quantize_and_dequantize(x, -1.0, 1.0, **options), expected)


def test_gradients_of_quantize_and_dequantize():
    x = [-1.5, 0.3, 0.9]

    def of(function):
        return gradients(lambda *values: function(*values, range_given=True), x, -1.0, 1.0)

    assert of(QUANT.quantize_and_dequantize_v2) == [[0.0, 1.0, 1.0], 0.0, 0.0]
    assert of(QUANT.quantize_and_dequantize) == [[1.0, 1.0, 1.0], None, None]


@pytest.mark.parametrize(
    ("bounds", "options", "message"),
    [
        ((3.0, 1.0), {"range_given": True}, "Invalid range: input_min 3.* > input_max 1"),
        (([3.0], 1.0), {"range_given": True}, "input_min must be a scalar"),
        ((0.0, 1.0), {"round_mode": "X"}, "'round_mode' of \"X\" is not in the list"),
        ((0.0, 1.0), {"num_bits": 70}, "num_bits is out of range: 70"),
        ((0.0, 1.0), {"axis": 2}, "Axis: 2"),
    ],
)
def test_quantize_and_dequantize_refuses(bounds, options, message):
    with pytest.raises(INVALID, match=message):
        QUANT.quantize_and_dequantize_v2([1.0, 0.0], *bounds, **options)

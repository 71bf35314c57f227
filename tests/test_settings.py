"""tf.config's switches, initializers, and what programs ask of the library."""

import numpy as np
import pytest

import gradtape as tf

SWITCHES = [
    (tf.config.functions_run_eagerly, tf.config.run_functions_eagerly, False, True),
    (
        tf.config.threading.get_intra_op_parallelism_threads,
        tf.config.threading.set_intra_op_parallelism_threads,
        0,
        2,
    ),
    (
        tf.config.threading.get_inter_op_parallelism_threads,
        tf.config.threading.set_inter_op_parallelism_threads,
        0,
        2,
    ),
    (
        tf.config.experimental.get_device_policy,
        tf.config.experimental.set_device_policy,
        "silent",
        "warn",
    ),
    (
        tf.config.experimental.get_synchronous_execution,
        tf.config.experimental.set_synchronous_execution,
        True,
        False,
    ),
    (
        tf.config.experimental.tensor_float_32_execution_enabled,
        tf.config.experimental.enable_tensor_float_32_execution,
        True,
        False,
    ),
    (tf.debugging.get_log_device_placement, tf.debugging.set_log_device_placement, False, True),
]


@pytest.mark.parametrize(("get", "put", "default", "other"), SWITCHES)
def test_what_is_set_is_given_back(get, put, default, other):
    assert get() == default
    put(other)
    try:
        assert get() == other
    finally:
        put(default)


def test_optimizer_options():
    options = tf.config.optimizer.get_experimental_options
    before = options()
    assert before == {"disable_model_pruning": False, "disable_meta_optimizer": False}
    tf.config.optimizer.set_experimental_options({"constant_folding": True})
    assert options() == {**before, "constant_folding": True}
    assert tf.config.optimizer.get_jit() == ""
    tf.config.optimizer.set_jit(True)
    assert tf.config.optimizer.get_jit() == "autoclustering"
    tf.config.optimizer.set_jit(False)


def test_bad_settings():
    with pytest.raises(ValueError, match="Invalid argument `device_policy`: 'foo'"):
        tf.config.experimental.set_device_policy("foo")
    with pytest.raises(ValueError, match=r"0 or more\. Received: -1"):
        tf.config.threading.set_intra_op_parallelism_threads(-1)


def test_initializers_of_one_value():
    assert tf.zeros_initializer()((2,), dtype=tf.bool).numpy().tolist() == [False, False]
    assert tf.ones_initializer()([1, 2]).numpy().tolist() == [[1.0, 1.0]]
    three = tf.constant_initializer(3)((2,))
    assert (three.dtype, three.numpy().tolist()) == (tf.int32, [3, 3])
    listed = tf.constant_initializer([1, 2, 3, 4])((2, 2), dtype=tf.float32)
    assert listed.numpy().tolist() == [[1.0, 2.0], [3.0, 4.0]]


def test_seeded_initializers_give_tensorflows_numbers_at_every_call():
    normal = tf.random_normal_initializer(seed=1)
    expected = np.array([[0.00633252, -0.02465083], [0.03155954, -0.03944233]], np.float32)
    for _ in range(2):
        np.testing.assert_allclose(normal((2, 2)), expected, rtol=0, atol=1e-8)
    expected = np.array([[0.03784882, -0.00400198], [0.01002913, -0.01074023]], np.float32)
    np.testing.assert_allclose(
        tf.random_uniform_initializer(seed=1)((2, 2)), expected, rtol=0, atol=1e-8
    )
    integers = tf.random_uniform_initializer(0, 10, seed=3)((2,), dtype=tf.int32)
    assert integers.numpy().tolist() == [8, 7]


def test_initializers_without_a_seed_follow_the_global_one():
    tf.random.set_seed(5)
    initializer = tf.random_normal_initializer()
    np.testing.assert_allclose(initializer((2,)), [-0.00901533, -0.04751432], rtol=0, atol=1e-8)
    np.testing.assert_allclose(initializer((2,)), [0.01132643, 0.04053276], rtol=0, atol=1e-8)


def test_initializers_know_their_arguments():
    config = tf.random_normal_initializer(seed=1).get_config()
    assert config == {"mean": 0.0, "stddev": 0.05, "seed": 1}
    again = tf.random_normal_initializer.from_config(config)
    np.testing.assert_array_equal(again((3,)), tf.random_normal_initializer(seed=1)((3,)))
    assert tf.constant_initializer(2).get_config() == {"value": 2}


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: tf.constant_initializer({})((2,)), TypeError, "Invalid type for initial value"),
        (lambda: tf.constant_initializer([1, 2, 3])((2,)), TypeError, "has 3 elements"),
        (lambda: tf.ones_initializer()((2,), dtype=tf.string), ValueError, "numeric or boolean"),
        (lambda: tf.zeros_initializer()((2,), foo=3), TypeError, "Received: foo"),
        (
            lambda: tf.random_normal_initializer()((2,), dtype=tf.int32),
            ValueError,
            "expected to be floating point. Received: <dtype: 'int32'>",
        ),
    ],
)
def test_errors_of_initializers(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_text_and_bytes():
    assert tf.compat.as_bytes("é") == b"\xc3\xa9"
    assert tf.compat.as_text(b"a") == tf.compat.as_str("a") == "a"
    assert tf.compat.as_str_any(3) == "3"
    with pytest.raises(TypeError, match="Expected binary or unicode string, got 1"):
        tf.compat.as_bytes(1)
    assert tf.compat.dimension_value(tf.TensorShape([1])[0]) == 1


def test_facts():
    assert tf.__version__ == tf.version.VERSION
    assert tf.timestamp().dtype is tf.float64
    assert not tf.test.is_built_with_cuda()
    assert tf.test.gpu_device_name() == ""
    assert tf.get_current_name_scope() == ""
    with tf.name_scope("a"), tf.name_scope("b"):
        assert tf.get_current_name_scope() == "a/b"


def test_tapes_do_not_see_an_init_scope():
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        with tf.init_scope():
            unseen = x * x
        y = x * unseen
    assert tape.gradient(y, x).numpy() == 9.0


def test_autograph_leaves_functions_as_they_are():
    def absolute(x):
        return x if x > 0 else -x

    assert "return x if x > 0 else -x" in tf.autograph.to_code(absolute)
    assert tf.autograph.to_graph(absolute) is absolute
    assert tf.autograph.experimental.do_not_convert(absolute) is absolute
    assert tf.autograph.experimental.do_not_convert()(absolute) is absolute

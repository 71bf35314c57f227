"""The short ways through Keras's layers and optimizers do what the long ones do."""

import gc
import sys
import warnings
import weakref

import numpy as np
import pytest

import gradtape as tf

keras = tf.keras
layers, optimizers = keras.layers, keras.optimizers
short_calls = sys.modules["keras.src.backend.numpy.layer"]
traced_updates = sys.modules["keras.src.backend.numpy.optimizer"]
call_in_full = keras.Layer.__call__.__wrapped__

X = tf.constant(np.random.default_rng(0).standard_normal((4, 3)).astype("float32"))


@pytest.fixture
def short_ways(monkeypatch):
    """The layers that took the short way, in order."""
    taken = []
    call = short_calls._call

    def spy(layer, *args):
        taken.append(layer)
        return call(layer, *args)

    monkeypatch.setattr(short_calls, "_call", spy)
    return taken


class Trains(keras.Layer):
    """Remembers what it was called with."""

    def __init__(self):
        super().__init__()
        self.seen = []

    def call(self, x, training=None):
        self.seen.append(training)
        return x * 2


# Which calls are short ----------------------------------------------------------------------------


def test_a_layer_takes_the_short_way_from_its_second_call(short_ways):
    layer = layers.Dense(2)
    first = layer(X)
    assert short_ways == []
    np.testing.assert_array_equal(layer(X), first)
    np.testing.assert_array_equal(layer(X, training=True), first)
    assert short_ways == [layer, layer]


def _masked(x):
    x = tf.identity(x)
    keras.src.backend.set_keras_mask(x, tf.constant([True] * 4))
    return x


class TwoInputs(keras.Layer):
    def call(self, x, y=tf.ones([3])):  # noqa: B008 - a tensor by default is what this is for
        return x + y


LONG = {
    "an array": (lambda: layers.Dense(2), lambda layer: layer(X.numpy())),
    "another dtype": (lambda: layers.Dense(2), lambda layer: layer(tf.cast(X, "float64"))),
    "a mask": (lambda: layers.Dense(2), lambda layer: layer(_masked(X))),
    "training=None": (lambda: layers.Dropout(0.5), lambda layer: layer(X, training=None)),
    "another argument": (lambda: layers.Softmax(), lambda layer: layer(X, mask=None)),
    "a policy": (
        lambda: layers.Dense(2, dtype="mixed_float16"),
        lambda layer: layer(tf.cast(X, "float16")),
    ),
    "a regularizer": (lambda: layers.Dense(2, activity_regularizer="l2"), lambda layer: layer(X)),
    "two tensors": (TwoInputs, lambda layer: layer(X)),
    "keras tensors": (lambda: layers.Dense(2), lambda layer: layer(keras.Input((3,)))),
}


@pytest.mark.parametrize("case", LONG)
def test_other_calls_take_the_long_way(short_ways, case):
    make, call = LONG[case]
    layer = make()
    layer(X)
    call(layer)
    assert short_ways == []


def test_a_quantized_layer_takes_the_long_way(short_ways):
    layer = layers.Dense(2)
    before = layer(X)
    layer.quantize("int8")
    np.testing.assert_allclose(layer(X), before, atol=0.1)
    assert short_ways == []
    assert not np.array_equal(layer(X), before)


def test_a_layer_that_forgot_its_super_call_says_so():
    class Forgetful(keras.Layer):
        def __init__(self):
            pass

    with pytest.raises(RuntimeError, match=r"forgot to call `super\(\).__init__\(\)`"):
        Forgetful()(X)


# What short calls do ------------------------------------------------------------------------------


class Outer(keras.Layer):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def call(self, x):
        return self.inner(x)


class TrainsByDefault(Trains):
    def call(self, x, training=True):
        return super().call(x, training)


@pytest.mark.parametrize("inner", [Trains, TrainsByDefault])
def test_training_reaches_inner_layers_as_in_full(short_ways, monkeypatch, inner):
    def seen(calls):
        layer = Outer(inner())
        for arguments in calls:
            layer(X, **arguments)
        return layer.inner.seen

    calls = [{}, {"training": True}, {}, {"training": False}, {"training": None}, {}]
    found = seen(calls)
    assert short_ways
    monkeypatch.setattr(keras.Layer, "__call__", call_in_full)
    assert found == seen(calls)


def test_losses_are_those_of_the_last_call(short_ways):
    class Adds(keras.Layer):
        def call(self, x):
            self.add_loss(tf.reduce_sum(x))
            return x

    layer = Outer(Adds())
    for count in (1.0, 2.0, 3.0):
        layer(X * count)
        np.testing.assert_allclose(layer.losses, [np.sum(X) * count], rtol=1e-5)
    assert short_ways.count(layer) == 2


def test_layers_that_make_masks_make_them(short_ways):
    class Marks(keras.Layer):
        def call(self, x):
            return x + 1

        def compute_mask(self, inputs, previous_mask):
            return inputs[:, 0] > 0

    layer = Marks()
    layer(X)
    mask = keras.src.backend.get_keras_mask(layer(X))
    assert short_ways == [layer]
    np.testing.assert_array_equal(mask, X[:, 0] > 0)


def _error_of(call, *args):
    try:
        call(*args, training=True)
    except (KeyError, ValueError) as error:
        return type(error), str(error)
    raise AssertionError("Nothing was raised.")


class Fails(keras.Layer):
    def call(self, x, training=False, scale=2.0):
        if training:
            raise KeyError("what failed")
        return x


@pytest.mark.parametrize("filtering", [True, False])
def test_errors_tell_what_they_tell_in_full(short_ways, filtering):
    wrong_input, fails = layers.Dense(2), Outer(Fails())
    wrong_input(X)
    fails(X)
    if not filtering:
        keras.config.disable_traceback_filtering()
    try:
        for layer, x in ((wrong_input, X[:, :2]), (fails, X)):
            assert _error_of(layer, x) == _error_of(call_in_full, layer, x)
    finally:
        keras.config.enable_traceback_filtering()
    assert wrong_input in short_ways
    assert fails.inner in short_ways
    # What failed leaves nothing behind that would tell later calls to train.
    fails(X)


def test_gradients_and_watched_variables_are_those_of_the_long_way(short_ways, monkeypatch):
    model = keras.Sequential([layers.Dense(5, activation="tanh"), layers.Dense(1)])
    model(X)

    def gradients():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(model(X, training=True))
        assert len(tape.watched_variables()) == 4
        return tape.gradient(loss, model.trainable_variables)

    found = gradients()
    assert short_ways
    monkeypatch.setattr(keras.Layer, "__call__", call_in_full)
    for a, b in zip(found, gradients(), strict=True):
        np.testing.assert_array_equal(a, b)


# Optimizers ---------------------------------------------------------------------------------------

SCHEDULE = {"initial_learning_rate": 0.1, "decay_steps": 2, "decay_rate": 0.5}
OPTIMIZERS = {
    "sgd": lambda: optimizers.SGD(0.1, momentum=0.9, nesterov=True),
    "adam": lambda: optimizers.Adam(0.1, amsgrad=True),
    "adamw": lambda: optimizers.AdamW(0.1, weight_decay=0.1),
    "nadam": lambda: optimizers.Nadam(0.1),
    "adamax": lambda: optimizers.Adamax(0.1),
    "rmsprop": lambda: optimizers.RMSprop(0.1, momentum=0.5, centered=True),
    "adagrad": lambda: optimizers.Adagrad(0.1),
    "adadelta": lambda: optimizers.Adadelta(0.1),
    "adafactor": lambda: optimizers.Adafactor(0.1),
    "ftrl": lambda: optimizers.Ftrl(0.1),
    "lion": lambda: optimizers.Lion(0.1),
    "muon": lambda: optimizers.Muon(0.1),
    "clipped": lambda: optimizers.Adam(0.1, global_clipnorm=0.5),
    "averaged": lambda: optimizers.SGD(0.1, use_ema=True, ema_overwrite_frequency=3),
    "accumulated": lambda: optimizers.Adam(0.1, gradient_accumulation_steps=2),
    "scheduled": lambda: optimizers.Adam(optimizers.schedules.ExponentialDecay(**SCHEDULE)),
    "scaled": lambda: optimizers.LossScaleOptimizer(optimizers.Adam(0.1), dynamic_growth_steps=2),
    "called": lambda: optimizers.Adam(lambda: 0.1),
}


def _variables():
    rng = np.random.default_rng(1)
    return [keras.Variable(rng.standard_normal(shape), dtype="float32") for shape in ((3, 2), (2,))]


def _trained(optimizer, steps=7, before_step=lambda step: None):
    """The variables after some steps of the optimizer, and its own."""
    variables = _variables()
    for step in range(steps):
        before_step(step)
        gradients = [tf.sin(v + float(step)) for v in variables]
        optimizer.apply_gradients(zip(gradients, variables, strict=True))
    return [np.array(v) for v in (*variables, *optimizer.variables)]


@pytest.fixture
def as_python(monkeypatch):
    """Makes updates run as Python from then on."""
    return lambda: monkeypatch.setattr(traced_updates, "_can_be_traced", lambda *_: False)


def _check_same(found, expected):
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_a_traced_update_is_that_of_python(name, as_python):
    found = _trained(OPTIMIZERS[name]())
    as_python()
    _check_same(found, _trained(OPTIMIZERS[name]()))


def test_updates_are_traced_once(monkeypatch):
    calls = []
    update_step = optimizers.Adam.update_step

    def counted(self, *args):
        calls.append(tf.executing_eagerly())
        return update_step(self, *args)

    monkeypatch.setattr(optimizers.Adam, "update_step", counted)
    _trained(optimizers.Adam(0.1))
    # Two variables: one update as Python, one trace.
    assert calls == [True, True, False, False]


@pytest.mark.parametrize("attribute", ["learning_rate", "beta_1", "epsilon"])
def test_settings_may_change_between_updates(attribute, as_python):
    def trained():
        optimizer = optimizers.Adam(0.1)
        values = {"learning_rate": 0.01, "beta_1": 0.5, "epsilon": 0.5}

        def change(step):
            if step == 4:
                setattr(optimizer, attribute, values[attribute])

        return _trained(optimizer, before_step=change)

    found = trained()
    as_python()
    expected = trained()
    _check_same(found, expected)
    assert not np.allclose(found[0], _trained(optimizers.Adam(0.1))[0])


def test_an_optimizer_of_ones_own_always_runs_as_python():
    steps = []

    class Descent(optimizers.Optimizer):
        def update_step(self, gradient, variable, learning_rate):
            steps.append(float(learning_rate))
            variable.assign(variable - learning_rate * gradient)

    _trained(Descent(learning_rate=0.5), steps=4)
    assert steps == [0.5] * 8


def test_gradients_that_are_none_or_sparse(as_python):
    def trained():
        optimizer, variables = optimizers.Adam(0.1), _variables()
        optimizer.build(variables)
        rows = tf.IndexedSlices(tf.ones([1, 2]), tf.constant([1]), tf.constant([3, 2]))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for gradients in [(tf.ones([3, 2]), None), (None, tf.ones([2])), (rows, tf.ones([2]))]:
                for _ in range(3):
                    optimizer.apply_gradients(zip(gradients, variables, strict=True))
        return [np.array(v) for v in (*variables, *optimizer.variables)]

    found = trained()
    as_python()
    _check_same(found, trained())


def test_updates_inside_of_a_function_and_a_tape(as_python):
    def trained():
        optimizer, variables = optimizers.Adam(0.1), _variables()
        optimizer.build(variables)

        @tf.function
        def step():
            with tf.GradientTape() as tape:
                loss = tf.add_n([tf.reduce_sum(v**2) for v in variables])
            optimizer.apply(tape.gradient(loss, variables))

        for _ in range(3):
            step()
            with tf.GradientTape() as tape:
                loss = tf.add_n([tf.reduce_sum(v**3) for v in variables])
                optimizer.apply([tf.ones(v.shape) for v in variables])
            optimizer.apply(tape.gradient(loss, variables))
        return [np.array(v) for v in (*variables, *optimizer.variables)]

    found = trained()
    as_python()
    _check_same(found, trained())


def test_functions_go_with_their_optimizer():
    optimizer = optimizers.Adam(0.1)
    _trained(optimizer)
    assert optimizer in traced_updates._updates
    gone = weakref.ref(optimizer)
    del optimizer
    gc.collect()
    assert gone() is None

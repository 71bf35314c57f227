"""NumPy's own functions on tensors: arrays come out by default, recorded ops when switched on."""

import numpy as np
import pytest

import gradtape as tf

X = np.array([[0.5, -1.0], [2.0, 4.0]], np.float32)
V = np.array([1.0, 2.0], np.float32)


@pytest.fixture
def dispatch():
    tf.config.numpy_dispatch(True)
    yield
    tf.config.numpy_dispatch(False)


def test_by_default_arrays_come_out_and_the_path_ends():
    assert not tf.config.numpy_dispatch_enabled()
    x = tf.Variable(V)
    with tf.GradientTape() as tape:
        y = np.mean(x) + np.add(x, 1)
    assert isinstance(y, np.ndarray)
    assert tape.gradient(tf.constant(y), x) is None


def test_the_switch_can_be_turned_back():
    assert tf.config.numpy_dispatch(True) is None
    assert tf.config.numpy_dispatch_enabled()
    assert isinstance(np.sin(tf.constant(V)), tf.Tensor)
    tf.config.numpy_dispatch(False)
    tf.config.numpy_dispatch(False)
    assert not tf.config.numpy_dispatch_enabled()
    assert isinstance(np.sin(tf.constant(V)), np.ndarray)


# `x` is a tensor of shape (2, 2), `v` a variable of shape (2,), `a` an array of shape (2,).
CALLS = """
np.sin(x)
np.add(x, 1)
np.add(v, a)
np.true_divide(x, v)
np.fmax(x, v)
np.fmod(x, 1.5)
np.copysign(x, v)
np.rint(x)
np.trunc(x)
np.degrees(x)
np.mean(x)
np.mean(x, axis=0, keepdims=True)
np.sum(v)
np.sum(x, 0)
np.std(x, ddof=1)
np.var(x, axis=1)
np.median(x, axis=1)
np.median(x, keepdims=True)
np.add.reduce(x)
np.add.reduce(x, axis=1, keepdims=True)
np.add.reduce(x, axis=None)
np.multiply.reduce(x)
np.maximum.reduce(x)
np.logical_and.reduce(x > 0)
np.add.accumulate(x)
np.multiply.accumulate(x, axis=1)
np.multiply.outer(v, x)
np.subtract.outer(a, v)
np.concatenate([x, x], axis=1)
np.concatenate((x, [[1.0, 2.0]]))
np.where(x > 0, x, 0.0)
np.dot(x, v)
np.matmul(x, v)
np.einsum("ij,j->i", x, v)
np.tensordot(x, x, 1)
np.outer(v, v)
np.take(x, [0, -1])
np.take(x, [1], axis=0)
np.clip(x, 0, 1)
np.reshape(x, (4,))
np.reshape(x, shape=(1, 4))
np.transpose(x)
np.squeeze(x[None])
np.stack([v, v], axis=1)
np.pad(x, 1)
np.pad(x, 1, mode="reflect")
np.split(x, 2)
np.array_split(x, 2, axis=1)
np.meshgrid(v, a, indexing="ij")
np.repeat(x, 2, axis=0)
np.sort(x, axis=0)
np.argmax(x)
np.isclose(x, x)
np.allclose(x, x + 1)
np.round(x, 1)
np.linspace(v[0], v[1], 3)
np.zeros_like(x)
np.diff(v)
np.trace(x)
np.average(x, axis=0, weights=v)
np.broadcast_to(v, (2, 2))
np.nan_to_num(x)
np.linalg.norm(x)
np.linalg.norm(x, axis=1)
np.linalg.norm(v, 1)
np.linalg.inv(x)
np.linalg.det(x)
np.linalg.solve(x, v)
np.linalg.slogdet(x)
np.linalg.matrix_power(x, 5)
np.linalg.matrix_power(x, -2)
np.linalg.eigvalsh(x + np.transpose(x))
np.linalg.svd(x, compute_uv=False)
np.abs(np.linalg.svd(x)[2])
np.abs(np.linalg.svd(x, full_matrices=False)[0])
np.abs(np.linalg.qr(x)[1])
np.abs(np.linalg.eigh(np.matmul(np.transpose(x), x))[1])
np.linalg.cholesky(np.matmul(np.transpose(x), x))
np.linalg.pinv(x)
np.shape(x)
np.ndim(v)
np.size(x)
a * x
a + v
a @ x
a - x[0]
np.float32(2.0) * x
np.float64(2.0) ** v
a < v
a == v
""".strip().splitlines()


def _values(result):
    if isinstance(result, (list, tuple)):
        return [_values(item) for item in result]
    return result.numpy() if hasattr(result, "numpy") else result


@pytest.mark.beyond_tensorflow
@pytest.mark.usefixtures("dispatch")
@pytest.mark.parametrize("text", CALLS)
def test_values_are_numpys(text):
    a = np.array([3.0, 0.25])
    found = eval(text, {"np": np, "x": tf.constant(X), "v": tf.Variable(V), "a": a})
    wanted = eval(text, {"np": np, "x": X, "v": V, "a": a})
    is_query = text.startswith(("np.shape", "np.ndim", "np.size"))
    first = found[0] if isinstance(found, (list, tuple)) else found
    assert isinstance(first, tf.Tensor) != is_query
    found = _values(found)
    if isinstance(wanted, (list, tuple)):
        for one, other in zip(found, wanted, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-6)
    else:
        np.testing.assert_allclose(found, wanted, rtol=1e-6)
        assert np.shape(found) == np.shape(wanted)


@pytest.mark.beyond_tensorflow
@pytest.mark.usefixtures("dispatch")
def test_gradients_flow():
    x = tf.Variable([0.5, 1.5])
    with tf.GradientTape() as tape:
        y = np.sum(np.sin(x) * np.array([1.0, 2.0])) + np.mean(np.square(x))
        y = y + np.multiply.outer(x, x)[0, 1] + np.linalg.norm(np.stack([x, x]))
    values = np.array([0.5, 1.5])
    expected = np.cos(values) * [1, 2] + values + values[::-1]
    expected += 2 * values / np.sqrt(2 * np.sum(values**2))
    np.testing.assert_allclose(tape.gradient(y, x), expected, rtol=1e-6)


@pytest.mark.parametrize("enabled", [False, True])
def test_arrays_on_the_left_take_the_dtype_of_floating_tensors(enabled):
    tf.config.numpy_dispatch(enabled)
    try:
        x, v = tf.constant(X), tf.Variable(V)
        for found in (np.ones(2) * x, np.ones(2) - v, np.float64(2) / x, np.arange(2) + v):
            assert isinstance(found, tf.Tensor)
            assert found.dtype == tf.float32
        assert (np.ones((1, 2)) @ x).dtype == tf.float32
    finally:
        tf.config.numpy_dispatch(False)


@pytest.mark.usefixtures("dispatch")
def test_arrays_of_a_higher_kind_promote():
    found = np.array([1.5]) * tf.constant([2])
    assert found.dtype == tf.float64
    assert found.numpy() == [3.0]
    assert (np.array([1j]) * tf.constant([2.0])).dtype == tf.complex128


@pytest.mark.usefixtures("dispatch")
def test_dtype_is_computed_in():
    found = np.sin(tf.constant(V), dtype=np.float64)
    np.testing.assert_array_equal(found.numpy(), np.sin(V, dtype=np.float64), strict=True)


REFUSED = {
    "np.add(x, 1, out=np.zeros((2, 2)))": r"np\.add .*`out` is not supported",
    "np.add(x, 1, where=x > 0)": r"np\.add .*`where` is not supported",
    "np.sum(x, where=x > 0)": r"np\.sum .*`where` is not supported",
    "np.sum(x, out=np.zeros(()))": r"np\.sum .*`out` is not supported",
    "np.sum(x, initial=1.0)": r"np\.sum .*`initial` is not supported",
    "np.maximum.reduce(x, initial=1.0)": r"np\.maximum\.reduce .*`initial` is not supported",
    "np.add.at(x, 0, 1)": r"np\.add\.at .*no op for it",
    "np.add.reduceat(x, [0])": r"np\.add\.reduceat .*no op for it",
    "np.logaddexp.reduce(x)": r"np\.logaddexp\.reduce .*no op for it",
    "np.frexp(x)": r"np\.frexp .*no op for it",
    "np.fft.fft(x)": r"np\.fft\.fft .*no op for it",
    "np.percentile(x, 5)": r"np\.percentile .*no op for it",
    "np.linalg.eig(x)": r"np\.linalg\.eig .*no op for it",
    "np.linalg.eigh(x, UPLO='U')": r"np\.linalg\.eigh .*`UPLO` is not supported",
    "np.copyto(np.zeros((2, 2)), x)": r"np\.copyto .*no op for it",
}


@pytest.mark.usefixtures("dispatch")
@pytest.mark.parametrize("text", REFUSED)
def test_what_cannot_be_recorded_is_refused(text):
    with pytest.raises(TypeError, match=REFUSED[text]) as raised:
        eval(text, {"np": np, "x": tf.constant(X)})
    assert "pass tensor.numpy() to end the gradient here" in str(raised.value)


@pytest.mark.usefixtures("dispatch")
def test_adding_to_an_array_in_place_is_refused():
    array = np.zeros(2)
    with pytest.raises(TypeError, match="`out` is not supported"):
        array += tf.constant(V)
    np.testing.assert_array_equal(array, [0.0, 0.0])


@pytest.mark.usefixtures("dispatch")
def test_take_refuses_positions_outside_as_numpy_does():
    with pytest.raises(tf.errors.InvalidArgumentError, match="9 is not in"):
        np.take(tf.constant(X), [9])
    np.testing.assert_array_equal(np.take(tf.constant(X), [9], mode="clip"), [4.0])


@pytest.mark.usefixtures("dispatch")
def test_arrays_are_still_made_when_asked_for():
    x = tf.constant(X)
    assert type(np.asarray(x)) is np.ndarray
    assert type(np.array(x)) is np.ndarray
    assert "0.5" in np.array2string(x)
    np.testing.assert_allclose(x, X)


@pytest.mark.usefixtures("dispatch")
def test_functions_inside_a_map_see_elements():
    found = tf.vectorized_map(lambda row: np.sum(np.sin(row)) * 2.0, tf.constant(X))
    np.testing.assert_allclose(found.numpy(), 2 * np.sin(X).sum(axis=1), rtol=1e-6)

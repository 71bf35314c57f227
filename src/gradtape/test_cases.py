"""tf.test: assertions on tensors for unittest, and numerical derivatives."""

# ruff: noqa: N802, PT009 - the names are TensorFlow's, and this is a unittest.TestCase

import contextlib
import os
import re
import shutil
import tempfile
import threading
import unittest
from typing import Any

import numpy as np

from .autodiff.tape import GradientTape
from .core import dtypes, nest
from .core.convert import convert_to_tensor
from .core.errors import OpError
from .core.exports import export
from .core.ragged_tensor import RaggedTensor
from .core.sparse_tensor import SparseTensor
from .core.tensor import EagerTensor


def _value(x):
    """What a test looks at: the array of a tensor, Python values as they are."""
    if isinstance(x, (RaggedTensor, SparseTensor)):
        return x
    return x.numpy() if hasattr(x, "numpy") else x


def _as_list(x) -> Any:
    x = x.to_list() if isinstance(x, RaggedTensor) else _value(x)
    return x.tolist() if isinstance(x, np.ndarray) else x


def _array(x) -> Any:
    x = _value(x)
    if isinstance(x, RaggedTensor):
        return np.array(x.to_list(), object)
    array = np.asarray(x)
    if array.dtype.kind == "U":  # text is compared as the bytes a tensor holds
        encoded = np.array([text.encode() for text in array.reshape(-1).tolist()], object)
        return encoded.reshape(array.shape)
    return array.astype(np.float32) if array.dtype == dtypes.bfloat16.numpy_dtype else array


@export("test.TestCase")
class TestCase(unittest.TestCase):
    """A `unittest.TestCase` with assertions on tensors, arrays and nested structures of them."""

    __test__ = False
    _directory = None

    def __init_subclass__(cls, **keywords):
        super().__init_subclass__(**keywords)
        cls.__test__ = True  # pytest collects the user's classes, not this one

    def evaluate(self, tensors):
        """The values of tensors, or of a structure of them, as NumPy arrays and scalars.

        Raises:
            ValueError: there is something else among them.
        """
        return nest.map_structure(self._evaluated, tensors)

    def _evaluated(self, tensor):
        if tensor is None:
            return None
        if callable(tensor) and not hasattr(tensor, "dtype"):
            return self.evaluate(tensor())
        if isinstance(tensor, (np.ndarray, np.generic)):
            return tensor
        if not hasattr(tensor, "numpy"):
            raise ValueError(f"Unsupported type {type(tensor).__name__!r}.")
        return tensor.numpy()

    @classmethod
    def tearDownClass(cls):
        super().tearDownClass()
        if cls._directory is not None:
            shutil.rmtree(cls._directory, ignore_errors=True)
            cls._directory = None

    def get_temp_dir(self):
        """A directory for this test's files, removed when the class is done."""
        cls = type(self)
        if cls._directory is None:
            cls._directory = tempfile.mkdtemp(prefix=f"{cls.__name__}-")
        path = os.path.join(cls._directory, re.sub(r"\W", "_", self._testMethodName))
        os.makedirs(path, exist_ok=True)
        return path

    @contextlib.contextmanager
    def session(self, graph=None, config=None, use_gpu=True, force_gpu=False):
        """Does nothing: tensors have their values at once."""
        yield None

    cached_session = session

    # Equality -------------------------------------------------------------------------------------

    def assertAllEqual(self, a, b, msg=None):
        """Fails unless two values have the same shape and equal elements; NaN equals NaN."""
        if isinstance(a, RaggedTensor) or isinstance(b, RaggedTensor):
            return self.assertEqual(_as_list(a), _as_list(b), msg)
        a, b = _array(a), _array(b)
        self._check_shapes(a, b, msg)
        differs = self._differs(a, b)
        if differs.any():
            raise self.failureException(
                f"\nArrays are not equal\n{self._shown(differs, a, b, 'equal')}{msg or ''}"
            )

    def assertNotAllEqual(self, a, b, msg=None):
        """Fails if all elements of two values are equal."""
        try:
            self.assertAllEqual(a, b)
        except self.failureException:
            return
        raise self.failureException(f"The two values are equal at all elements. {msg or ''}")

    def _check_shapes(self, a, b, msg):
        if a.shape != b.shape:
            raise self.failureException(
                f"Shape mismatch: expected {a.shape}, got {b.shape} with contents {b}. {msg or ''}"
            )

    @staticmethod
    def _differs(a, b):
        differs = np.atleast_1d(a != b)
        if a.dtype.kind in "fc" and b.dtype.kind in "fc":
            differs &= ~np.atleast_1d(np.isnan(a) & np.isnan(b))
        return differs

    @staticmethod
    def _shown(differs, a, b, word):
        places = np.nonzero(differs)
        a, b = np.atleast_1d(a)[places], np.atleast_1d(b)[places]
        return (
            f"not {word} where = {places}\nnot {word} lhs = {a}\nnot {word} rhs = {b}\n"
            f"Mismatched elements: {len(a)} / {differs.size}\n"
        )

    # Closeness ------------------------------------------------------------------------------------

    def assertAllClose(self, a, b, rtol=1e-6, atol=1e-6, msg=None):
        """Fails unless two values, or structures of them, have elements that are nearly equal.

        Args:
            a: a value, or a nested structure of dicts, lists and tuples.
            b: the other.
            rtol: how far apart elements may be, as a part of that of `b`.
            atol: how much farther.
            msg: text to add to the message.
        """
        self._assert_close(a, b, rtol, atol, "", msg)

    def _assert_close(self, a, b, rtol, atol, path, msg):
        if hasattr(a, "_asdict"):
            a = a._asdict()
        if hasattr(b, "_asdict"):
            b = b._asdict()
        if isinstance(a, dict) != isinstance(b, dict):
            raise ValueError(f"Can't compare dict to non-dict, a{path} vs b{path}. {msg or ''}")
        if isinstance(a, dict):
            if set(a) != set(b):
                raise self.failureException(
                    f"mismatched keys: a{path} has keys {a.keys()}, but b{path} has keys "
                    f"{b.keys()}. {msg or ''}"
                )
            for key in a:
                self._assert_close(a[key], b[key], rtol, atol, f"{path}[{key}]", msg)
        elif self._is_structure(a) or self._is_structure(b):
            if len(a) != len(b):
                raise self.failureException(
                    f"Mismatched length: a{path} has {len(a)} items, but b{path} has {len(b)} "
                    f"items. {msg or ''}"
                )
            for i, (first, second) in enumerate(zip(a, b, strict=True)):
                self._assert_close(first, second, rtol, atol, f"{path}[{i}]", msg)
        else:
            self._assert_arrays_close(_array(a), _array(b), rtol, atol, path, msg)

    @staticmethod
    def _is_structure(x):
        """Whether a sequence is not simply an array written as a list."""
        if not isinstance(x, (list, tuple)):
            return False
        try:
            return np.array([_value(item) for item in x]).dtype.kind == "O"
        except ValueError:
            return True

    def _assert_arrays_close(self, a, b, rtol, atol, path, msg):
        self._check_shapes(a, b, msg)
        if a.dtype.kind == "O":
            return self.assertAllEqual(a, b, msg)
        with np.errstate(invalid="ignore"):
            differs = ~np.atleast_1d(np.isclose(a, b, rtol=rtol, atol=atol, equal_nan=True))
        if differs.any():
            raise self.failureException(
                f"\nNot equal to tolerance rtol={rtol}, atol={atol}\n"
                f"Mismatched value: a{path} is different from b{path}. {msg or ''}\n"
                + self._shown(differs, a, b, "close")
                + f"dtype = {a.dtype}, shape = {a.shape}"
            )

    def assertAllCloseAccordingToType(
        self, a, b, rtol=1e-6, atol=1e-6, float_rtol=1e-6, float_atol=1e-6, half_rtol=1e-3,
        half_atol=1e-3, bfloat16_rtol=1e-2, bfloat16_atol=1e-2, msg=None,
    ):  # fmt: skip
        """`assertAllClose` with tolerances for the narrower of the two dtypes."""
        found = {getattr(_value(x), "dtype", None) for x in (a, b)}
        if found & {np.dtype(np.float32), np.dtype(np.complex64)}:
            rtol, atol = max(rtol, float_rtol), max(atol, float_atol)
        if np.dtype(np.float16) in found:
            rtol, atol = max(rtol, half_rtol), max(atol, half_atol)
        if dtypes.bfloat16.numpy_dtype in found:
            rtol, atol = max(rtol, bfloat16_rtol), max(atol, bfloat16_atol)
        self.assertAllClose(a, b, rtol, atol, msg)

    def assertNotAllClose(self, a, b, rtol=1e-6, atol=1e-6, msg=None):
        """Fails if all elements of two values are nearly equal."""
        try:
            self.assertAllClose(a, b, rtol, atol)
        except self.failureException:
            return
        raise self.failureException(f"The two values are close at all elements. {msg or ''}")

    def assertNear(self, f1, f2, err, msg=None):
        """Fails unless two numbers are at most `err` apart."""
        if not (f1 == f2 or abs(f1 - f2) <= err):
            raise self.failureException(
                f"{f1:f} != {f2:f} +/- {err:f} (difference: {abs(f1 - f2)}){msg or ''}"
            )

    def assertArrayNear(self, farray1, farray2, err, msg=None):
        """Fails unless two sequences of numbers are at most `err` apart, one by one."""
        self.assertEqual(len(farray1), len(farray2), msg=msg)
        for first, second in zip(farray1, farray2, strict=True):
            self.assertNear(float(first), float(second), err, msg=msg)

    def assertNDArrayNear(self, ndarray1, ndarray2, err, msg=None):
        """Fails unless the distance of two arrays, as vectors, is below `err`."""
        distance = np.linalg.norm((_array(ndarray1) - _array(ndarray2)).reshape(-1))
        self.assertTrue(distance < err, msg=msg)

    # Shapes, dtypes and ranges --------------------------------------------------------------------

    def assertShapeEqual(self, input_a, input_b, msg=None):
        """Fails unless two arrays or tensors have the same shape."""
        shapes = [tuple(getattr(x, "shape", np.shape(x))) for x in (input_a, input_b)]
        self.assertEqual(shapes[0], shapes[1], msg)

    def assertDTypeEqual(self, target, expected_dtype):
        """Fails unless a value has the dtype `expected_dtype`."""
        found = dtypes.as_dtype(np.asarray(_value(target)).dtype)
        if found is not dtypes.as_dtype(expected_dtype):
            raise self.failureException(f"{found!r} != {dtypes.as_dtype(expected_dtype)!r}")

    def assertAllGreater(self, a, comparison_target):
        """Fails unless all elements are greater than a number."""
        self.assertGreater(np.min(_array(a)), comparison_target)

    def assertAllLess(self, a, comparison_target):
        """Fails unless all elements are less than a number."""
        self.assertLess(np.max(_array(a)), comparison_target)

    def assertAllGreaterEqual(self, a, comparison_target):
        """Fails unless all elements are at least a number."""
        self.assertGreaterEqual(np.min(_array(a)), comparison_target)

    def assertAllLessEqual(self, a, comparison_target):
        """Fails unless all elements are at most a number."""
        self.assertLessEqual(np.max(_array(a)), comparison_target)

    def assertAllInRange(
        self, target, lower_bound, upper_bound, open_lower_bound=False, open_upper_bound=False
    ):
        """Fails unless all elements lie between two numbers, which are included if not `open`."""
        array = np.atleast_1d(_array(target))
        low = array > lower_bound if open_lower_bound else array >= lower_bound
        high = array < upper_bound if open_upper_bound else array <= upper_bound
        outside = ~(low & high)
        if outside.any():
            ends = "[("[bool(open_lower_bound)], "])"[bool(open_upper_bound)]
            raise self.failureException(
                f"{outside.sum()} of the {array.size} element(s) are outside the range "
                f"{ends[0]}{lower_bound}, {upper_bound}{ends[1]}. Subscripts and values: "
                f"{np.argwhere(outside)[:10].tolist()} {array[outside][:10]}"
            )

    def assertAllInSet(self, target, expected_set):
        """Fails unless all elements are among those given."""
        others = sorted(set(_array(target).reshape(-1).tolist()) - set(expected_set))
        if others:
            raise self.failureException(
                f"{len(others)} unique element(s) are not in the set {expected_set}: {others[:10]}"
            )

    # Errors and the rest --------------------------------------------------------------------------

    @contextlib.contextmanager
    def assertRaisesWithPredicateMatch(self, exception_type, expected_err_re_or_predicate):
        """Fails unless the block raises an error that fits a predicate or regular expression."""
        try:
            yield
        except exception_type as error:
            text = error.message if isinstance(error, OpError) else str(error)
            expected = expected_err_re_or_predicate
            fits = expected(error) if callable(expected) else re.search(expected, text)
            if not fits:
                raise self.failureException(
                    f"Exception of type {type(error)}: {text} does not fit {expected!r}"
                ) from error
            return
        raise self.failureException(f"{exception_type} not raised")

    def assertRaisesOpError(self, expected_err_re_or_predicate):
        """Fails unless the block raises an error of an op that fits."""
        return self.assertRaisesWithPredicateMatch(OpError, expected_err_re_or_predicate)

    def assertStartsWith(self, actual, expected_start, msg=None):
        """Fails unless a string starts with another."""
        if not actual.startswith(expected_start):
            raise self.failureException(
                f"{actual!r} does not start with {expected_start!r} : {msg or ''}"
            )

    def assertLen(self, container, expected_len, msg=None):
        """Fails unless a container has that many elements."""
        self.assertEqual(len(container), expected_len, msg)

    def assertEmpty(self, container, msg=None):
        """Fails unless a container is empty."""
        self.assertLen(container, 0, msg)

    def assertNotEmpty(self, container, msg=None):
        """Fails if a container is empty."""
        self.assertGreater(len(container), 0, msg)

    def checkedThread(self, target, args=None, kwargs=None):
        """A thread whose errors fail the test that joins it."""
        return _CheckedThread(self, target, args or (), kwargs or {})


class _CheckedThread:
    def __init__(self, test, target, args, kwargs):
        self._test, self._error = test, None
        self._thread = threading.Thread(target=self._run, args=(target, args, kwargs))

    def _run(self, target, args, kwargs):
        try:
            target(*args, **kwargs)
        except Exception as error:
            self._error = error

    def start(self):
        """Starts the thread."""
        self._thread.start()

    def join(self):
        """Waits for its end, and fails if it raised an error."""
        self._thread.join()
        if self._error is not None:
            raise self._test.failureException(
                f"Error in checkedThread: {self._error}"
            ) from self._error

    def is_alive(self):
        """Whether it still runs."""
        return self._thread.is_alive()


# Numerical derivatives ----------------------------------------------------------------------------

_STEPS = {"float16": 2.0**-4, "bfloat16": 2.0**-4, "float32": 2.0**-10, "float64": 2.0**-17}


@export("test.compute_gradient")
def compute_gradient(f, x, delta=None):
    """The Jacobians of a function of tensors, by the tape and by differences.

    Args:
        f: a function of as many tensors as `x` holds, that returns one.
        x: a list of floating or complex tensors.
        delta: the step of the differences; by dtype if None.

    Returns:
        Two tuples with a matrix for each tensor: a row for each element of the result and a
        column for each of the tensor. A complex number counts as two, its parts.

    Raises:
        ValueError: `x` is not a list or tuple.
        AssertionError: a tensor is neither floating nor complex.
    """
    if not isinstance(x, (list, tuple)):
        raise ValueError(f"`x` must be a list or tuple of values. Received: x={x}")
    tensors = [convert_to_tensor(each) for each in x]
    for i, tensor in enumerate(tensors):
        if not (tensor.dtype.is_floating or tensor.dtype.is_complex):
            raise AssertionError(
                f"Cannot compute gradient for unsupported type {tensor.dtype.name} of argument {i}"
            )
    by_tape, by_differences = [], []
    for i in range(len(tensors)):
        by_tape.append(_by_tape(f, tensors, i))
        by_differences.append(_by_differences(f, tensors, i, delta))
    return tuple(by_tape), tuple(by_differences)


def _real_type(tensor):
    array = tensor.numpy() if hasattr(tensor, "numpy") else tensor
    return np.real(array).dtype


def _basis(tensor):
    """For each real number a tensor consists of, the tensor that is 1 there and 0 elsewhere."""
    array = np.zeros(tensor.shape, tensor.dtype.numpy_dtype)
    flat = array.reshape(-1)
    units = (1, 1j) if tensor.dtype.is_complex else (1,)
    for i in range(flat.size):
        for unit in units:
            flat[i] = unit
            yield array
        flat[i] = 0


def _numbers(tensor):
    """The real numbers a tensor consists of: each element, or its two parts."""
    array = np.asarray(tensor.numpy()).reshape(-1)
    if tensor.dtype.is_complex:
        return np.stack([np.real(array), np.imag(array)], axis=1).reshape(-1)
    return array


def _by_tape(f, tensors, i):
    with GradientTape(persistent=True) as tape:
        tape.watch(tensors[i])
        y = f(*tensors)
    count = np.size(_numbers(tensors[i]))
    rows = []
    for direction in _basis(y):
        g = tape.gradient(y, tensors[i], output_gradients=EagerTensor(direction.copy()))
        rows.append(np.zeros(count) if g is None else _numbers(convert_to_tensor(g)))
    return np.array(rows).reshape(-1, count).astype(_real_type(tensors[i]))


def _by_differences(f, tensors, i, delta):
    x = tensors[i]
    real_type = _real_type(x)
    step = delta if delta is not None else _STEPS[dtypes.as_dtype(real_type).name]
    columns = []
    for direction in _basis(x):
        ends = []
        for sign in (1, -1):
            moved = x.numpy() + (sign * step * direction).astype(direction.dtype)
            ends.append(
                _numbers(f(*tensors[:i], EagerTensor(np.asarray(moved)), *tensors[i + 1 :]))
            )
        columns.append((ends[0] - ends[1]).astype(np.float64) / (2 * step))
    rows = len(_numbers(f(*tensors))) if not columns else len(columns[0])
    return np.array(columns).reshape(-1, rows).T.astype(real_type)


@export("test.main")
def main(argv=None):
    """Runs the tests of the module that is executed."""
    unittest.main(argv=argv)

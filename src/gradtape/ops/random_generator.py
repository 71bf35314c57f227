"""Generator: random numbers from a state that a variable holds.

The state of the Philox algorithm is three signed 64-bit integers: the low and the high half of a
counter, and a key.
"""

import os
import threading
import weakref

import numpy as np

from ..core import dtypes, random_seed
from ..core.convert import convert_to_tensor
from ..core.dispatch import thread
from ..core.errors import invalid_argument, unimplemented
from ..core.exports import export
from ..core.tensor import EagerTensor, Tensor
from ..core.variable import Variable
from .broadcasting import words
from .casting import cast
from .drawing import (
    NORMAL,
    TRUNCATED_NORMAL,
    binomial_samples,
    integer_samples,
    normal_samples,
    uniform_samples,
)
from .joining import stack
from .random_rows import key_and_counter, philox_skip, skip
from .stateless_random import Algorithm, as_algorithm, full_range_samples

_COUNTER_SIZES = {Algorithm.PHILOX: 2, Algorithm.THREEFRY: 1}
_DOUBLE_WORD = 2**64 - 1
_BLOCKS_PER_STEP = 256

# Reading a state and moving it on must not be interrupted by another thread.
_lock = threading.Lock()


def _state_size(algorithm):
    return _COUNTER_SIZES[algorithm] + 1


def _signed_tensor(value):
    """A tensor of signed numbers; unsigned ones keep their bits."""
    return cast(convert_to_tensor(value), dtypes.int64)


def _int64(value):
    """A tensor's value as a signed array."""
    return np.asarray(_signed_tensor(value)._value)


def _check_shape(array, shape):
    if list(array.shape) != shape:
        given = "(" + ", ".join([str(d) for d in array.shape]) + ("," * (array.ndim == 1)) + ")"
        raise ValueError(f"Shapes {given} and {shape} are incompatible")
    return array


def _signed(number):
    number &= _DOUBLE_WORD
    return number - 2**64 if number >> 63 else number


def _state_from_seed(seed, algorithm):
    """A Python integer fills the state from its low bits on; anything else from its end."""
    size = _state_size(algorithm)
    if isinstance(seed, int):
        return np.array([_signed(seed >> 64 * place) for place in range(size)], np.int64)
    numbers = _int64(seed).reshape(-1)[:size]
    return np.concatenate([np.zeros(size - numbers.size, np.int64), numbers])


@export("random.create_rng_state random.experimental.create_rng_state")
def create_rng_state(seed, alg):
    """The state of a generator that starts from a seed.

    Args:
        seed: an integer of any size, or integers that fill the state from its end.
        alg: the algorithm, "philox" for example.

    Returns:
        An int64 vector.

    Raises:
        ValueError: there is no such algorithm.
    """
    return EagerTensor(_state_from_seed(seed, as_algorithm(alg)))


@export("random.Generator random.experimental.Generator")
class Generator:
    """A source of random numbers with a state of its own.

    Args:
        copy_from: a generator, whose state and algorithm are copied.
        state: otherwise, the state: a vector of integers, or a variable which is then used itself.
        alg: the algorithm, "philox" for example.

    Raises:
        AssertionError: neither a generator nor a state and an algorithm are given.
        ValueError: the state has the wrong shape, or there is no such algorithm.

    Example:
        >>> generator = tf.random.Generator.from_seed(1)
        >>> generator.normal([2]).numpy()
        array([ 0.43842274, -0.53439844], dtype=float32)
    """

    def __init__(self, copy_from=None, state=None, alg=None):
        if copy_from is not None:
            if state is not None or alg is not None:
                raise AssertionError("Give either copy_from, or state and alg. Received: all.")
            self._algorithm = copy_from._algorithm
            state = copy_from._state_var._value.copy()
        elif state is None or alg is None:
            raise AssertionError(
                f"A generator needs copy_from, or state and alg. Received: state={state!r}, "
                f"alg={alg!r}. See also Generator.from_seed."
            )
        else:
            self._algorithm = as_algorithm(alg)
        if isinstance(state, Variable):
            _check_shape(state._value, [_state_size(self._algorithm)])
            self._state_var = state
        else:
            values = _check_shape(_int64(state), [_state_size(self._algorithm)])
            self._state_var = Variable(values, dtype=dtypes.int64, trainable=False, name="StateVar")
        _generators.add(self)

    @classmethod
    def from_state(cls, state, alg):
        """A generator with the given state, a vector of integers or a variable."""
        return cls(state=state, alg=alg)

    @classmethod
    def from_seed(cls, seed, alg=None):
        """A generator whose state is made of a seed.

        Args:
            seed: an integer of any size, or a vector of integers.
            alg: the algorithm; Philox unless said otherwise.
        """
        algorithm = Algorithm.PHILOX if alg is None else as_algorithm(alg)
        return cls(state=_state_from_seed(seed, algorithm), alg=algorithm)

    @classmethod
    def from_non_deterministic_state(cls, alg=None):
        """A generator with an unpredictable state."""
        algorithm = Algorithm.PHILOX if alg is None else as_algorithm(alg)
        state = np.frombuffer(os.urandom(8 * _state_size(algorithm)), np.int64)
        return cls(state=state, alg=algorithm)

    @classmethod
    def from_key_counter(cls, key, counter, alg):
        """A generator with the given key, an integer, and counter, a vector of integers."""
        algorithm = as_algorithm(alg)
        return cls(state=_state_of(key, counter, algorithm), alg=algorithm)

    # State --------------------------------------------------------------------------------------

    @property
    def state(self):
        """The variable that holds the state."""
        return self._state_var

    @property
    def algorithm(self):
        """The algorithm's number."""
        return self._algorithm.value

    @property
    def key(self):
        """The last number of the state, which does not change as numbers are drawn."""
        return self._state_var.read_value()[-1]

    def reset(self, state):
        """Puts another state in place of the current one.

        Raises:
            ValueError: the state has the wrong shape.
        """
        self._assign(_check_shape(_signed_tensor(state), [_state_size(self._algorithm)]))

    def reset_from_seed(self, seed):
        """Starts again from a seed, as `from_seed` does."""
        self._assign(_state_from_seed(seed, self._algorithm))

    def reset_from_key_counter(self, key, counter):
        """Starts again from a key and a counter.

        Raises:
            ValueError: the key is not a scalar, or the counter has the wrong shape.
        """
        self._assign(_state_of(key, counter, self._algorithm))

    def skip(self, delta):
        """Moves on as if `delta` numbers had been drawn.

        Returns:
            The state before, as a tensor.

        Raises:
            InvalidArgumentError: `delta` is not a scalar.
        """
        steps = cast(convert_to_tensor(delta), dtypes.uint64)
        if steps.ndim:
            raise invalid_argument(
                "RngReadAndSkip", f"input 2 (0-based) must have shape [], not {words(steps.shape)}"
            )
        before = self._advance(int(steps.numpy()) * _BLOCKS_PER_STEP)
        return before if isinstance(before, Tensor) else EagerTensor(before)

    def _assign(self, state):
        with _lock:
            self._state_var.assign(state)

    def _advance(self, blocks):
        """Moves the counter on by so many blocks and returns the state before.

        That is an array, or while a function is traced, a tensor.
        """
        if self._algorithm is not Algorithm.PHILOX:
            raise unimplemented(
                "RngReadAndSkip", "Non-XLA devices don't support the ThreeFry algorithm."
            )
        if thread.trace is not None:
            before = thread.trace.read(self._state_var)
            thread.trace.write(self._state_var, philox_skip(before, blocks=blocks))
            return before
        with _lock:
            before = self._state_var._value
            low, high, key = before.tolist()
            low, high = skip(low & _DOUBLE_WORD, high & _DOUBLE_WORD, blocks & _DOUBLE_WORD)
            # Stored, not assigned: drawing advances the state inside vectorized_map too.
            self._state_var._store(np.array([_signed(low), _signed(high), key]), read_value=False)
        return before

    def _stream(self, op, blocks):
        before = self._advance(blocks)
        return before if isinstance(before, Tensor) else key_and_counter(before)

    # Numbers ------------------------------------------------------------------------------------

    def normal(self, shape, mean=0.0, stddev=1.0, dtype=dtypes.float32, name=None):
        """Samples of the normal distribution; differentiable in mean and standard deviation.

        Args:
            shape: the shape of the samples, a list of integers or a tensor.
            mean: the mean, a number or a tensor that broadcasts with the samples.
            stddev: the standard deviation, likewise.
            dtype: a floating dtype.
        """
        op_name = "StatelessRandomNormalV2"
        return normal_samples(op_name, NORMAL, self._stream, shape, mean, stddev, dtype)

    def truncated_normal(self, shape, mean=0.0, stddev=1.0, dtype=dtypes.float32, name=None):
        """Samples of the normal distribution, those beyond two deviations drawn again.

        Args:
            shape: the shape of the samples, a list of integers or a tensor.
            mean: the mean, a number or a tensor that broadcasts with the samples.
            stddev: the standard deviation before truncation, likewise.
            dtype: a floating dtype.
        """
        op_name = "StatelessTruncatedNormalV2"
        return normal_samples(op_name, TRUNCATED_NORMAL, self._stream, shape, mean, stddev, dtype)

    def uniform(self, shape, minval=0, maxval=None, dtype=dtypes.float32, name=None):
        """Samples spread evenly from `minval` up to, not including, `maxval`.

        Args:
            shape: the shape of the samples, a list of integers or a tensor.
            minval: the lower limit; floats are differentiable in it.
            maxval: the upper limit; 1 unless said otherwise. Integers need both limits, or None
                twice for all integers of the dtype.
            dtype: a floating dtype or a 32- or 64-bit integer one.

        Raises:
            ValueError: integers with one limit only.
        """
        dtype = dtypes.as_dtype(dtype)
        if not dtype.is_integer:
            high = 1 if maxval is None else maxval
            op_name = "StatelessRandomUniformV2"
            return uniform_samples(op_name, self._stream, shape, minval, high, dtype)
        if (minval is None) != (maxval is None):
            raise ValueError(
                f"For integer dtype {dtype}, minval and maxval must be both `None` or both "
                f"non-`None`; got minval={minval} and maxval={maxval}"
            )
        if minval is None:
            return full_range_samples(self._stream, shape, dtype)
        op_name = "StatelessRandomUniformIntV2"
        return integer_samples(op_name, self._stream, shape, minval, maxval, dtype)

    def uniform_full_int(self, shape, dtype=dtypes.uint64, name=None):
        """Integers over the whole range of a 32- or 64-bit dtype."""
        return full_range_samples(self._stream, shape, dtypes.as_dtype(dtype))

    def binomial(self, shape, counts, probs, dtype=dtypes.int32, name=None):
        """Samples of the binomial distribution.

        Args:
            shape: the shape of the samples; it ends with that of `counts` and `probs`.
            counts: the numbers of trials, floating.
            probs: the probabilities of success in one trial.
            dtype: float16, float32, float64, int32 or int64.
        """
        counts, probs = convert_to_tensor(counts), convert_to_tensor(probs)
        op_name = "StatefulRandomBinomial"
        if not counts.dtype.is_floating:
            raise invalid_argument(
                op_name,
                f"No OpKernel was registered to support Op '{op_name}' with counts of dtype "
                f"{counts.dtype.name}. Make them floating.",
            )
        return binomial_samples(op_name, self._stream, shape, counts, probs, dtype, 4)

    # Other generators ---------------------------------------------------------------------------

    def make_seeds(self, count=1):
        """Seeds for stateless ops, one in each column of the result.

        Args:
            count: how many.
        """
        keys = full_range_samples(self._stream, [count], dtypes.int64)
        return stack([keys, EagerTensor(np.zeros(keys._value.shape, np.int64))])

    def split(self, count=1):
        """A list of new generators, whose numbers are independent of this one's.

        Args:
            count: how many.
        """
        keys = full_range_samples(self._stream, [count], dtypes.int64)._value
        counter = [0] * _COUNTER_SIZES[self._algorithm]
        return [type(self)(state=[*counter, key], alg=self._algorithm) for key in keys.tolist()]


def _state_of(key, counter, algorithm):
    counter = _check_shape(_int64(counter), [_COUNTER_SIZES[algorithm]])
    key = _check_shape(_int64(key), [])
    return np.array([*counter, key], np.int64)


# The global generator -----------------------------------------------------------------------------

_global_generator: Generator | None = None


@export("random.get_global_generator random.experimental.get_global_generator")
def get_global_generator():
    """The generator shared by the program, unpredictable until another is set."""
    global _global_generator
    with _creation_lock:
        if _global_generator is None:
            _global_generator = Generator.from_non_deterministic_state()
        return _global_generator


@export("random.set_global_generator random.experimental.set_global_generator")
def set_global_generator(generator):
    """Puts another generator in place of the one shared by the program."""
    global _global_generator
    _global_generator = generator


_creation_lock = threading.Lock()
_generators = weakref.WeakSet()


def _capture_generators():
    shared = _global_generator
    states = [(weakref.ref(each), each.state._value.copy()) for each in list(_generators)]

    def restore():
        set_global_generator(shared)
        for reference, state in states:
            generator = reference()
            if generator is not None:
                generator.reset(state)

    return restore


random_seed.also_capture(_capture_generators)

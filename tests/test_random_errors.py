"""What random ops refuse, in TensorFlow's words; a refused call leaves the seeds as they were."""

import numpy as np
import pytest

import gradtape as tf

InvalidArgument = tf.errors.InvalidArgumentError


@pytest.fixture(autouse=True)
def _unseeded_afterwards():
    yield
    tf.random.set_seed(None)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: tf.random.uniform([2], dtype=tf.int32),
            ValueError,
            "Must specify maxval for integer dtype tf.int32",
        ),
        (
            lambda: tf.random.uniform([2], dtype=tf.bool),
            ValueError,
            "Argument `dtype` got invalid value <dtype: 'bool'>. Accepted dtypes are (tf.float16, "
            "tf.bfloat16, tf.float32, tf.float64, tf.int32, tf.int64).",
        ),
        (
            lambda: tf.random.uniform([2], 5, 3, tf.int32),
            InvalidArgument,
            "Need minval < maxval, got 5 >= 3 [Op:RandomUniformInt]",
        ),
        (
            lambda: tf.random.uniform([2], [0, 1], 3, tf.int32),
            InvalidArgument,
            "minval must be 0-D, got shape [2] [Op:RandomUniformInt]",
        ),
        (
            lambda: tf.random.uniform([2], 0.5, 3, tf.int32),
            TypeError,
            "Cannot convert 0.5 to EagerTensor of dtype int32",
        ),
        (
            lambda: tf.random.uniform([2], maxval=tf.constant(3)),
            ValueError,
            "max: Tensor conversion requested dtype float32 for Tensor with dtype int32",
        ),
        (
            lambda: tf.random.uniform([2], maxval=[1.0, 2.0, 3.0]),
            InvalidArgument,
            "Incompatible shapes: [2] vs. [3] [Op:Mul]",
        ),
        (
            lambda: tf.random.uniform([2], None, 3.0),
            ValueError,
            "Attempt to convert a value (None)",
        ),
        (
            lambda: tf.random.normal([2], dtype=tf.int32),
            TypeError,
            "Cannot convert 0.0 to EagerTensor of dtype int32",
        ),
        (
            lambda: tf.random.normal([2], dtype=tf.complex64),
            InvalidArgument,
            "Value for attr 'dtype' of complex64 is not in the list of allowed values: half, "
            "bfloat16, float, double",
        ),
        (
            lambda: tf.random.normal([2], mean=tf.constant(1)),
            ValueError,
            "mean: Tensor conversion requested dtype float32 for Tensor with dtype int32",
        ),
        (
            lambda: tf.random.normal([2], mean=[1.0, 2.0, 3.0]),
            InvalidArgument,
            "Incompatible shapes: [2] vs. [3] [Op:AddV2]",
        ),
        (
            lambda: tf.random.normal(2),
            InvalidArgument,
            "shape must be a vector of {int32,int64}, got shape [] [Op:RandomStandardNormal]",
        ),
        (
            lambda: tf.random.normal([[2]]),
            InvalidArgument,
            "shape must be a vector of {int32,int64}, got shape [1,1]",
        ),
        (
            lambda: tf.random.normal([-1]),
            InvalidArgument,
            "Dimension -1 must be >= 0 [Op:RandomStandardNormal]",
        ),
        (
            lambda: tf.random.normal([2.0]),
            InvalidArgument,
            "Value for attr 'T' of float is not in the list of allowed values: int32, int64",
        ),
        (lambda: tf.random.normal([None, 2]), ValueError, "Attempt to convert a value (None)"),
        (
            lambda: tf.random.normal(tf.TensorShape([None])),
            ValueError,
            "Cannot convert a partially known TensorShape (None,) to a Tensor.",
        ),
        (lambda: tf.random.normal([2], seed="a"), TypeError, "seed must be an integer or None"),
        (lambda: tf.random.set_seed([1, 2]), TypeError, "seed must be an integer or None"),
        (
            lambda: tf.random.gamma([2], tf.constant(1)),
            ValueError,
            "alpha: Tensor conversion requested dtype float32 for Tensor with dtype int32",
        ),
        (
            lambda: tf.random.gamma([2], [1.0, 2.0], [1.0, 2.0, 3.0]),
            InvalidArgument,
            "Incompatible shapes: [2] vs. [3] [Op:BroadcastArgs]",
        ),
        (
            lambda: tf.random.poisson([2], 1.0, tf.uint8),
            InvalidArgument,
            "Value for attr 'dtype' of uint8 is not in the list of allowed values: half, float, "
            "double, int32, int64",
        ),
        (
            lambda: tf.random.categorical([1.0, 2.0], 3),
            InvalidArgument,
            "logits should be a matrix, got shape [2] [Op:Multinomial]",
        ),
        (
            lambda: tf.random.categorical([[1.0]], -3),
            InvalidArgument,
            "num_samples should be non-negative, got -3",
        ),
        (
            lambda: tf.random.categorical([[1.0]], [3]),
            InvalidArgument,
            "num_samples should be a scalar, got shape [1]",
        ),
        (lambda: tf.random.categorical([[]], 2), InvalidArgument, "num_classes should be positive"),
        (
            lambda: tf.random.categorical([[1.0]], 3, tf.float32),
            ValueError,
            "got invalid value <dtype: 'float32'>. Accepted dtypes are (tf.int32, tf.int64).",
        ),
        (
            lambda: tf.random.categorical([[1, 2]], 3),
            tf.errors.NotFoundError,
            "Could not find device for node: {{node Multinomial}}",
        ),
    ],
)
def test_errors_change_nothing(call, error, message):
    tf.random.set_seed(5)
    with pytest.raises(error) as caught:
        call()
    assert message in str(caught.value)
    after = tf.random.normal([3]).numpy()
    tf.random.set_seed(5)
    np.testing.assert_array_equal(tf.random.normal([3]), after)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: tf.random.stateless_uniform([2], [1, 2, 3]),
            InvalidArgument,
            "seed must have shape [2], not [3] [Op:StatelessRandomGetKeyCounter]",
        ),
        (
            lambda: tf.random.stateless_normal([2], [1.0, 2.0]),
            InvalidArgument,
            "Value for attr 'Tseed' of float is not in the list of allowed values: int32, int64",
        ),
        (
            lambda: tf.random.stateless_uniform([2], [1, 2], dtype=tf.int32),
            ValueError,
            "For integer `dtype` argument <dtype: 'int32'>, argument `minval` and `maxval` must be "
            "both None or not None. Got `minval`=0 and `maxval`=None.",
        ),
        (
            lambda: tf.random.stateless_uniform([2], [1, 2], 0, 3, tf.uint32),
            ValueError,
            "Please don't use unsigned integers in this case.",
        ),
        (
            lambda: tf.random.stateless_uniform([2], [1, 2], alg="bad"),
            ValueError,
            "Argument `alg` got unsupported value bad. Supported values are philox for the Philox "
            "algorithm, threefry for the ThreeFry algorithm, and auto_select for auto-selection.",
        ),
        (
            lambda: tf.random.stateless_uniform([2], [1, 2], alg=7),
            ValueError,
            "Argument `alg` got unsupported value 7. Supported values are 1 for the Philox",
        ),
        (
            lambda: tf.random.stateless_uniform([2], [1, 2], alg="threefry"),
            InvalidArgument,
            "ThreeFry",
        ),
        (
            lambda: tf.random.stateless_gamma([2, 3], [1, 2], [1.0, 2.0]),
            InvalidArgument,
            "Shape passed in must end with broadcasted shape. [Op:StatelessRandomGammaV3]",
        ),
        (
            lambda: tf.random.stateless_poisson([2, 3], [1, 2], [1.0, 2.0]),
            InvalidArgument,
            "Shape passed in must end with broadcasted shape. [Op:StatelessRandomPoisson]",
        ),
        (
            lambda: tf.random.stateless_binomial([2], [1, 2], [[5.0], [6.0]], [0.5, 0.6]),
            InvalidArgument,
            "Shape passed in must end with broadcasted shape. [Op:StatelessRandomBinomial]",
        ),
        (
            lambda: tf.random.stateless_binomial(
                [2], [1, 2], tf.constant(5.0, tf.float64), tf.constant(0.5)
            ),
            InvalidArgument,
            "input #3(zero-based) was expected to be a double tensor but is a float tensor",
        ),
        (
            lambda: tf.random.stateless_categorical([[1.0]], 3, [1, 2, 3]),
            InvalidArgument,
            "seed must have shape [2], not [3] [Op:StatelessMultinomial]",
        ),
        (
            lambda: tf.random.split([1, 2], -1),
            InvalidArgument,
            "Dimension -1 must be >= 0 [Op:StatelessRandomUniformFullIntV2]",
        ),
        (lambda: tf.random.fold_in([1, 2], 5.0), ValueError, "Argument `dtype` got invalid value"),
        (
            lambda: tf.random.fold_in([1, 2], [5, 6]),
            InvalidArgument,
            "Shapes of all inputs must match: values[0].shape = [] != values[1].shape = [2]",
        ),
    ],
)
def test_errors_of_stateless_functions(call, error, message):
    with pytest.raises(error) as caught:
        call()
    assert message in str(caught.value)


@pytest.mark.parametrize("rounds", [0, 2, 5])
def test_rounds_without_a_meaning(rounds):
    with pytest.raises(InvalidArgument, match=f"even number of at least 4, got {rounds}"):
        tf.random_index_shuffle(1, [1, 2, 3], 5, rounds)

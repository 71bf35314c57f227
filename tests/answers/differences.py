"""Where gradtape's answers are meant to differ from TensorFlow's, and why.

A test makes sure that each of these differences still exists.
"""

_CONJUGATION = "TensorFlow leaves out the conjugation that its other complex gradients have"
_ZEROS = "TensorFlow divides by the elements, and so has no gradient where one is zero"
_LABELS = "gradtape differentiates the loss as it is, also where labels do not add up to 1"
_SIGNS = "the signs of singular vectors are arbitrary, and gradients of vectors follow them"

_ORDER = "the order of eigenvalues and the lengths and phases of their vectors are arbitrary"
_ACCURACY = "TensorFlow is less accurate, as SciPy and higher precision show"
_ALSO_HERE = "TensorFlow gives no gradient"
_ZERO_OR_NONE = "the output only tells where the maxima are: None, where TensorFlow gives zeros"
_SINGULAR = "NaN, where TensorFlow's value depends on rounding errors"

# By the key of a record, by op, or by the function an expression begins with: what is not compared,
# "gradients" or "everything", and the reason.
DIFFERENCES = {
    "Angle-sample-4": ("gradients", "0 in the place of NaN at 0"),
    "BesselI1-sample-5": ("gradients", "the derivative at 0 is one half; TensorFlow gives 1"),
    "BesselY0-sample-5": ("gradients", "infinity in the place of NaN at 0"),
    "BesselY1-sample-5": ("everything", "infinity in the place of NaN at 0"),
    "Betainc-sample-4": ("everything", _ACCURACY),
    "CumulativeLogsumexp-sample-5": ("gradients", _ACCURACY),
    "CumulativeLogsumexp-sample-7": ("gradients", "0 in the place of NaN where nothing is summed"),
    "Cumprod-sample-9": ("gradients", _CONJUGATION),
    "Cumprod-sample-10": ("gradients", _CONJUGATION),
    "Cumprod-sample-13": ("gradients", _ZEROS),
    "Cumprod-sample-14": ("gradients", _ZEROS),
    "Cumprod-sample-15": ("gradients", _ZEROS),
    "Cumprod-sample-16": ("gradients", _ZEROS),
    "Eig": ("everything", _ORDER),
    "Erf-sample-5": ("everything", "TensorFlow gives NaN at infinity in double precision"),
    "Erfinv-sample-5": ("everything", "TensorFlow's value is wrong from the sixth digit near 1"),
    "EuclideanNorm-sample-9": ("everything", "gradtape neither overflows nor gives NaN at 0"),
    "Expint-sample-5": ("everything", "infinity in the place of NaN at infinity"),
    "HSVToRGB": ("gradients", _ALSO_HERE),
    "Igamma-sample-3": ("everything", _ACCURACY),
    "Igamma-sample-8": ("everything", _ACCURACY),
    "Igamma-sample-9": ("gradients", "the density in the place of NaN at 0"),
    "Igammac-sample-8": ("everything", _ACCURACY),
    "Igammac-sample-9": ("gradients", "the density in the place of NaN at 0"),
    "LogMatrixDeterminant-sample-3": ("gradients", "TensorFlow leaves out the sign's gradient"),
    "LogMatrixDeterminant-sample-4": ("gradients", "TensorFlow leaves out the sign's gradient"),
    "Lu-sample-6": ("everything", "rounding errors of 75 steps; both are as near to the product"),
    "MatrixDeterminant-sample-3": ("gradients", _CONJUGATION),
    "MatrixDeterminant-sample-4": ("gradients", _CONJUGATION),
    "MatrixSquareRoot-sample-4": ("gradients", _CONJUGATION),
    "MatrixSquareRoot-sample-7": ("everything", _SINGULAR),
    "MatrixSquareRoot-sample-8": ("gradients", _SINGULAR),
    "MaxPool3DGrad": ("gradients", _ZERO_OR_NONE),
    "MaxPool3DGradGrad": ("gradients", _ZERO_OR_NONE),
    "MaxPoolGrad": ("gradients", _ZERO_OR_NONE),
    "MaxPoolGradGrad": ("gradients", _ZERO_OR_NONE),
    "MulNoNan-sample-7": ("gradients", _CONJUGATION),
    "QuantizeAndDequantizeV4-sample-4": (
        "gradients",
        "without a given range no element is outside of it; TensorFlow's gradients end even so",
    ),
    "RandomGammaGrad-sample-0": ("everything", "TensorFlow's value is wrong in the fourth digit"),
    "ResizeBilinearGrad": ("gradients", _ALSO_HERE),
    "Round-sample-5": ("everything", "TensorFlow's kernel gives zeros for integers"),
    "SegmentProd-sample-6": ("gradients", _CONJUGATION),
    "SelfAdjointEigV2": ("everything", _SIGNS),
    "Selu-sample-6": ("gradients", "so near 0 TensorFlow's float32 output is 0, and at the kink"),
    "SoftmaxCrossEntropyWithLogits-sample-0": ("gradients", _LABELS),
    "SoftmaxCrossEntropyWithLogits-sample-7": ("everything", _LABELS),
    "SoftmaxCrossEntropyWithLogits-sample-8": ("everything", _LABELS),
    "SoftmaxCrossEntropyWithLogits-sample-10": ("gradients", _LABELS),
    "SparseToDense-sample-1": ("gradients", "of one value for all, the sum, not one for each"),
    "Svd": ("everything", _SIGNS),
    "TopKV2-sample-24": (
        "everything",
        "NaN counts as the largest; TensorFlow's order is by chance",
    ),
    "TridiagonalSolve-sample-7": ("gradients", _CONJUGATION),
    "UnsortedSegmentProd-sample-7": ("gradients", _CONJUGATION),
    "Xdivy-sample-7": ("gradients", _CONJUGATION),
    "Xlog1py-sample-7": ("gradients", _CONJUGATION),
    "Xlogy-sample-7": ("gradients", _CONJUGATION),
    "Zeta-sample-8": ("gradients", "infinity in the place of NaN at the pole"),
    "tf.image.hsv_to_rgb": ("gradients", _ALSO_HERE),
    "tf.linalg.eigh_tridiagonal": (
        "gradients",
        "TensorFlow differentiates the search for the eigenvalues, and not what it finds",
    ),
    "tf.quantization.fake_quant_with_min_max_args_gradient": ("gradients", _ALSO_HERE),
    "tf.quantization.fake_quant_with_min_max_vars_gradient": ("gradients", _ALSO_HERE),
    "tf.quantization.fake_quant_with_min_max_vars_per_channel_gradient": ("gradients", _ALSO_HERE),
}

# Answers that are different in every run, and so are not recorded.
_UNINITIALISED = "TensorFlow gives what the memory held before, where nothing is summed"
UNRECORDED = {
    f"DepthwiseConv2dNative{which}-sample-6": _UNINITIALISED
    for which in ("", "BackpropInput", "BackpropFilter")
}
UNRECORDED["MaxPool-sample-6"] = _UNINITIALISED
UNRECORDED |= dict.fromkeys(
    [
        "Cholesky-sample-7",
        "Conv2D-sample-14",
        "Conv2DBackpropFilter-sample-14",
        "Conv2DBackpropInput-sample-14",
        "MaxPool3DGrad-sample-2",
        "MaxPoolGrad-sample-6",
        "MaxPoolGradGrad-sample-6",
    ],
    "TensorFlow's answers in two runs were not the same",
)

_BROADCASTS = "broadcasts its inputs"

# Ops that accept samples which TensorFlow refuses, other than for want of a kernel or a dtype.
MORE_THAN_TENSORFLOW = {
    "Betainc": _BROADCASTS,
    "ConcatV2": "joins a single tensor too",
    "Conv2DBackpropFilter": "takes groups of channels",
    "DepthwiseConv2dNativeBackpropFilter": "takes dilations",
    "DepthwiseConv2dNativeBackpropInput": "takes dilations",
    "Einsum": "contracts more than two tensors at once",
    "EluGrad": _BROADCASTS,
    "LeakyReluGrad": _BROADCASTS,
    "Relu6Grad": _BROADCASTS,
    "ReluGrad": _BROADCASTS,
    "ScatterNd": "writes nothing into an empty tensor",
    "SeluGrad": _BROADCASTS,
    "SigmoidGrad": _BROADCASTS,
    "SoftmaxCrossEntropyWithLogits": "takes any rank",
    "SparseSoftmaxCrossEntropyWithLogits": "takes any rank",
    "TanhGrad": _BROADCASTS,
    "UnravelIndex": "takes no indices at all",
}

_NOT_CALLABLE = "a TypeError; TensorFlow stumbles over the missing name of the function"
_NO_FIRST_AXIS = "says that a scalar has no elements; TensorFlow stumbles over the missing axis"

# Failures and expressions that gradtape refuses otherwise than TensorFlow: the reason.
OTHER_ERRORS = {
    "AvgPoolGrad-failure-0": "TensorFlow reads what is there, and leaves out the rest",
    "IsotonicRegression-failure-0": "TensorFlow takes a vector, each element for a row",
    "ResizeNearestNeighborGrad-failure-2": "TensorFlow gives zeros for a gradient without pixels",
    "ResizeNearestNeighborGrad-failure-3": "TensorFlow takes both ways to place the pixels at once",
    "SelfAdjointEigV2-failure-3": "TensorFlow takes a 1 by 1 matrix that is not finite",
    "TruncateDiv-failure-5": "an InvalidArgumentError, as of every other division by zero",
    "TruncateMod-failure-5": "an InvalidArgumentError, as of every other division by zero",
    "UnravelIndex-failure-1": "TensorFlow gives negative coordinates",
    "tf.map_fn(5, x)": _NOT_CALLABLE,
    "tf.foldl(5, v)": _NOT_CALLABLE,
    "tf.scan(lambda total, each: total, s)": _NO_FIRST_AXIS,
    "tf.vectorized_map(lambda r: r, s)": _NO_FIRST_AXIS,
    "EuclideanNorm-failure-5": "TensorFlow takes complex numbers, with a wrong gradient",
    "Sign-failure-1": "the row of complex signs is another",
    **dict.fromkeys(
        [f"{op}-failure-{n}" for op in ("All", "Any") for n in (4, 5, 6)],
        "an InvalidArgumentError, as of every other dtype; TensorFlow fails before the op",
    ),
}

_SINGLE = "TensorFlow computes in single precision whatever the dtype"
_CONSTANTS = "TensorFlow's constants have single precision"

# Functions and ops compared in double precision as if it were single, and why.
SINGLE_PRECISION = {
    "ResizeBicubic": _SINGLE,
    "ResizeBicubicGrad": _SINGLE,
    "ResizeBilinear": _SINGLE,
    "ResizeBilinearGrad": _SINGLE,
    "ScaleAndTranslate": _SINGLE,
    "tf.image.adjust_brightness": _SINGLE,
    "tf.image.adjust_contrast": _SINGLE,
    "tf.image.psnr": _SINGLE,
    "tf.image.adjust_gamma": _SINGLE,
    "tf.image.adjust_hue": _SINGLE,
    "tf.image.adjust_saturation": _SINGLE,
    "tf.image.crop_and_resize": _SINGLE,
    "tf.image.random_brightness": _SINGLE,
    "tf.image.random_contrast": _SINGLE,
    "tf.image.random_hue": _SINGLE,
    "tf.image.random_saturation": _SINGLE,
    "tf.image.resize_with_pad": _SINGLE,
    "tf.image.ssim": _SINGLE,
    "tf.image.stateless_random_brightness": _SINGLE,
    "tf.image.stateless_random_contrast": _SINGLE,
    "tf.image.stateless_random_hue": _SINGLE,
    "tf.image.stateless_random_saturation": _SINGLE,
    "tf.image.per_image_standardization": _SINGLE,
    "tf.image.resize": _SINGLE,
    "tf.image.rgb_to_grayscale": _SINGLE,
    "tf.nn.compute_average_loss": "TensorFlow rounds the weights to single precision",
    "tf.nn.ctc_beam_search_decoder": _SINGLE,
    "tf.nn.embedding_lookup": "TensorFlow holds max_norm in single precision",
    "tf.nn.gelu": _CONSTANTS,
    "tf.nn.leaky_relu": "TensorFlow holds alpha in single precision",
}

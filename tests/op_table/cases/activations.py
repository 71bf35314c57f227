"""Cases of gradtape.ops.activations."""

import numpy as np
from scipy import special

from gradtape.core.errors import InvalidArgumentError

from ..case import Case, Failure, Sample
from ..draws import Draws
from ..samples import binary_failures, binary_samples, unary_failures, unary_samples
from ..strategies import broadcastable_arrays

draw = Draws(__name__)

_PAIR = np.array([1.5, 2.5])
_LARGE = Sample((np.array([-9.0, 9.0]),))
_SPECIAL = Sample((np.array([np.inf, -np.inf, np.nan, 0.0]),), gradient=False)
_INTEGERS = np.array([-3, 0, 2, 9])

_SCALE, _ALPHA = 1.0507009873554805, 1.6732632423543772


def _outputs(*shape):
    """What a sigmoid or an exponential unit may have given, away from 0."""
    return draw.signed(*shape, low=0.1, high=0.9)


def _around_six(*shape):
    """Numbers on all three sides of 0 and 6."""
    return 5.0 * draw.integers(*shape, low=-1, high=2) + draw.uniform(*shape, low=2.0, high=4.0)


def _relu6(features):
    return np.clip(features, 0, 6)


def _elu(features):
    return np.where(features > 0, features, np.expm1(features))


def _leaky(alpha, *more):
    return [
        Sample((draw.signed(2, 3),), {"alpha": alpha}),
        Sample((draw.signed(),), {"alpha": alpha}),
        Sample((draw.signed(2, 0),), {"alpha": alpha}),
        *[Sample((x,), {"alpha": alpha}, gradient=False) for x in more],
    ]


def _step(gradients, outputs, above, below):
    return np.where(outputs < 0, gradients * below(outputs), gradients * above)


CASES = [
    Case(
        op="Sigmoid",
        samples=[
            *unary_samples(draw.uniform),
            _LARGE,
            _SPECIAL,
            Sample((draw.complex_signed(2, 3),)),
        ],
        reference=lambda x: special.expit(x) if x.dtype.kind == "f" else 1 / (1 + np.exp(-x)),
        failures=unary_failures([True, 3, b"a"]),
    ),
    Case(
        op="SigmoidGrad",
        samples=[
            *binary_samples(_outputs, draw.uniform),
            Sample((draw.complex_uniform(2), draw.complex_uniform(2))),
        ],
        reference=lambda y, dy: dy * y * (1 - y),
        failures=binary_failures(_PAIR, [3, b"a"]),
        generated=broadcastable_arrays(2).map(Sample),
    ),
    Case(
        op="Softplus",
        samples=[*unary_samples(draw.uniform), _LARGE, _SPECIAL],
        reference=lambda features: np.log1p(np.exp(-np.abs(features))) + np.maximum(features, 0),
        failures=unary_failures([3, 1j, b"a"]),
    ),
    Case(
        op="Softsign",
        samples=unary_samples(draw.signed),
        reference=lambda features: features / (1 + np.abs(features)),
        failures=unary_failures([3, 1j, b"a"]),
    ),
    Case(
        op="Relu",
        samples=[*unary_samples(draw.signed), _SPECIAL, Sample((_INTEGERS,))],
        reference=lambda features: np.maximum(features, 0).astype(features.dtype),
        failures=unary_failures([True, 1j, b"a"]),
    ),
    Case(
        op="ReluGrad",
        samples=[*binary_samples(draw.uniform, draw.signed), Sample((_INTEGERS, _INTEGERS))],
        reference=lambda gradients, features: gradients * (features > 0),
        failures=binary_failures(_PAIR, [1j, b"a"]),
        generated=broadcastable_arrays(2).map(Sample),
    ),
    Case(
        op="Relu6",
        samples=[*unary_samples(_around_six), _SPECIAL, Sample((_INTEGERS,))],
        reference=_relu6,
        failures=unary_failures([True, 1j, b"a"]),
    ),
    Case(
        op="Relu6Grad",
        samples=[*binary_samples(draw.uniform, _around_six), Sample((_INTEGERS, _INTEGERS))],
        reference=lambda gradients, features: gradients * ((features > 0) & (features < 6)),
        failures=binary_failures(_PAIR, [1j, b"a"]),
    ),
    Case(
        op="LeakyRelu",
        samples=[*_leaky(0.25), *_leaky(0.0), *_leaky(1.5, np.array([np.nan, np.inf, -np.inf]))],
        reference=lambda features, alpha: np.where(features > 0, features, alpha * features),
        failures=[
            Failure((np.array([1j]),), {"alpha": 0.2}, InvalidArgumentError, "not in the list"),
        ],
    ),
    Case(
        op="LeakyReluGrad",
        samples=[
            Sample((draw.uniform(*first), draw.signed(*second)), {"alpha": alpha})
            for first, second, alpha in [
                ((2, 3), (2, 3), 0.25),
                ((), (), 0.25),
                ((3,), (2, 1), 1.5),
                ((2, 3), (), 0.0),
                ((0, 3), (1, 3), 0.25),
            ]
        ],
        reference=lambda gradients, features, alpha: np.where(
            features > 0, gradients, alpha * gradients
        ),
        failures=[
            Failure(
                (_PAIR, _PAIR.astype(np.float32)),
                {"alpha": 0.2},
                InvalidArgumentError,
                "was expected to be a double tensor but is a float tensor",
            ),
        ],
    ),
    Case(
        op="Elu",
        samples=[
            *unary_samples(draw.signed),
            _LARGE,
            _SPECIAL,
            Sample((np.array([-1e-9]),), gradient=False),
        ],
        reference=_elu,
        failures=unary_failures([3, 1j, b"a"]),
    ),
    Case(
        op="EluGrad",
        samples=binary_samples(draw.uniform, _outputs),
        reference=lambda gradients, outputs: _step(gradients, outputs, 1.0, lambda y: y + 1.0),
        failures=binary_failures(_PAIR, [3, 1j, b"a"]),
    ),
    Case(
        op="Selu",
        samples=[
            *unary_samples(draw.signed),
            _LARGE,
            _SPECIAL,
            Sample((np.array([-1e-9]),), gradient=False),
        ],
        reference=lambda features: np.where(
            features > 0, _SCALE * features, _SCALE * _ALPHA * np.expm1(features)
        ),
        failures=unary_failures([3, 1j, b"a"]),
    ),
    Case(
        op="SeluGrad",
        samples=binary_samples(draw.uniform, _outputs),
        reference=lambda gradients, outputs: _step(
            gradients, outputs, _SCALE, lambda y: y + _SCALE * _ALPHA
        ),
        failures=binary_failures(_PAIR, [3, 1j, b"a"]),
    ),
]

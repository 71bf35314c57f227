"""Cases of gradtape.ops.identity."""

from gradtape.core.op import DIFFERENTIABLE, NON_DIFFERENTIABLE

from ..case import Case, Sample
from ..draws import Draws
from ..samples import unary_samples

draw = Draws(__name__)


def _identity(op, state=DIFFERENTIABLE):
    return Case(
        op=op,
        samples=[
            *unary_samples(draw.uniform),
            Sample((draw.complex_uniform(2),)),
            Sample((draw.integers(2),)),
            Sample((draw.booleans(2),)),
            Sample((draw.strings(2),)),
        ],
        state=state,
        reference=lambda input: input,
    )


CASES = [
    _identity("Identity"),
    _identity("ReadVariableOp"),
    _identity("StopGradient", NON_DIFFERENTIABLE),
]

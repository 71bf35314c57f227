"""The checks by name, and to which samples each of them applies.

A check is called as `check(case, sample)` and asserts what must hold of every op. Their docstrings
say what that is.
"""

from .batch_checks import batch, batch_gradient
from .calls import passes_gradients
from .effect_checks import aliasing, assignment, inputs_unchanged
from .gradient_checks import ends_gradients, jvp, second_order, vjp
from .value_checks import infer, refuses, value

_ALWAYS = (value, infer, batch, inputs_unchanged, assignment)
_WITH_GRADIENTS = (vjp, jvp, second_order, batch_gradient, aliasing)


def checks_of(case):
    """Everything there is to check of a case: triples of a check, a number, and its sample."""
    for number, sample in enumerate(case.samples):
        for check in _ALWAYS:
            yield check, number, sample
        if not passes_gradients(case, sample):
            yield ends_gradients, number, sample
        elif sample.gradient:
            for check in _WITH_GRADIENTS:
                if not (check is second_order and case.skip_second_order):
                    yield check, number, sample
    for number, failure in enumerate(case.failures):
        yield refuses, number, failure

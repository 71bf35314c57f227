"""Solutions of linear equations by iteration."""

from typing import NamedTuple

import numpy as np

from ..core.convert import convert_to_tensor, operand
from ..core.exports import export
from ..core.tensor import EagerTensor, Tensor
from .arithmetic import div_no_nan
from .axes import reduce_with
from .broadcasting import sum_
from .creation import zeros_like
from .elementwise import conj_public


class CGState(NamedTuple):
    """Where the iteration stands: steps, solution, residual, direction, squared residual."""

    i: Tensor
    x: Tensor
    r: Tensor
    p: Tensor
    gamma: Tensor


def _dot(x, y):
    return reduce_with(sum_, conj_public(x) * y, -1, False)


@export("linalg.experimental.conjugate_gradient")
def conjugate_gradient(
    operator, rhs, preconditioner=None, x=None, tol=1e-05, max_iter=20, name="conjugate_gradient"
):
    """Solves equations with a positive definite operator by the method of conjugate gradients.

    Args:
        operator: has a method `matvec`; if it has `is_self_adjoint` and `is_positive_definite` as
            well, these must be true.
        rhs: the right-hand sides, vectors.
        preconditioner: an operator like the inverse of `operator`, likewise.
        x: where to start; at zero by default.
        tol: the residual's length, relative to that of `rhs`, at which to stop.
        max_iter: the number of steps after which to stop in any case.

    Returns:
        A named tuple (i, x, r, p, gamma), of which `x` is the solution.

    Raises:
        ValueError: an operator is known not to be self-adjoint and positive definite.
    """
    for each in (operator, preconditioner):
        flags = [
            getattr(each, f"is_{kind}", True) for kind in ("self_adjoint", "positive_definite")
        ]
        if each is not None and not all(flags):
            raise ValueError("Expected a self-adjoint, positive definite operator.")
    rhs = operand(rhs)
    limit = float(tol) * np.linalg.norm(np.asarray(rhs), axis=-1)
    if x is None:
        x, r = zeros_like(rhs), rhs
    else:
        x = operand(x, rhs)
        r = rhs - operator.matvec(x)
    p = r if preconditioner is None else preconditioner.matvec(r)
    gamma = _dot(r, p)
    steps = 0
    limit_of_steps = int(np.asarray(convert_to_tensor(max_iter)))
    while steps < limit_of_steps and np.any(np.linalg.norm(np.asarray(r), axis=-1) > limit):
        image = operator.matvec(p)
        # A system that is solved already takes no more steps while others do.
        alpha = div_no_nan(gamma, _dot(p, image))[..., None]
        x, r = x + alpha * p, r - alpha * image
        q = r if preconditioner is None else preconditioner.matvec(r)
        new_gamma = _dot(r, q)
        p = q + div_no_nan(new_gamma, gamma)[..., None] * p
        gamma = new_gamma
        steps += 1
    return CGState(EagerTensor(np.int32(steps)), x, r, p, gamma)

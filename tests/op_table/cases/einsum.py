"""Cases of gradtape.ops.einsum."""

import numpy as np

from gradtape.core.errors import InvalidArgumentError

from ..case import Case, Failure, Sample
from ..draws import Draws

draw = Draws(__name__)


def _sample(equation, *shapes, make=draw.uniform):
    return Sample([make(*shape) for shape in shapes], {"equation": equation})


CASES = [
    Case(
        op="Einsum",
        samples=[
            _sample("ij->ji", (2, 3)),
            _sample("ijk->j", (2, 3, 2)),
            _sample("ij->", (2, 3)),
            _sample("->", ()),
            _sample("ij,jk->ik", (2, 3), (3, 2)),
            _sample("ij,kj->ki", (2, 3), (2, 3)),
            _sample("ji,jk->ik", (3, 2), (3, 2)),
            _sample("bij,bkj->bik", (2, 2, 3), (2, 2, 3)),
            _sample("ibj,jbk->kbi", (2, 2, 3), (3, 2, 2)),
            _sample("bhqd,bkhd->bhqk", (1, 2, 2, 2), (1, 3, 2, 2)),
            _sample("ij,ij->ij", (2, 3), (2, 3)),
            _sample("ij,ij->", (2, 3), (2, 3)),
            _sample("bi,bi->b", (2, 3), (2, 3)),
            _sample("i,j->ij", (2,), (3,)),
            _sample("ij,k->i", (2, 3), (2,)),
            _sample("i,->i", (2,), ()),
            _sample(",->", (), ()),
            _sample("ij,jk,kl->il", (2, 3), (3, 2), (2, 2)),
            _sample("i,j,k->kij", (2,), (2,), (2,)),
            _sample("i,i,i->i", (3,), (3,), (3,)),
            _sample("ij,j,kj->k", (2, 3), (3,), (2, 3)),
            _sample("a,ab,bc,c->", (2,), (2, 2), (2, 2), (2,)),
            _sample("ij,jk->ik", (2, 0), (0, 3)),
            _sample("ij,jk,k->i", (0, 2), (2, 3), (3,)),
            _sample("ij,jk->ik", (2, 3), (3, 2), make=draw.complex_uniform),
            _sample("ij,kj->", (2, 3), (2, 3), make=draw.complex_uniform),
            _sample("ij,jk->ki", (2, 3), (3, 2), make=draw.integers),
            _sample("ij->j", (2, 3), make=draw.integers),
        ],
        reference=lambda *inputs, equation: np.einsum(equation, *inputs),
        failures=[
            Failure(
                (draw.uniform(2, 3), draw.uniform(2, 3)),
                {"equation": "ij,jk->ik"},
                InvalidArgumentError,
                r"Expected dimension 3 at axis 0 of the input shaped \[2,3\] but got dimension 2",
            ),
            Failure(
                (draw.uniform(2, 3), draw.uniform(3)),
                {"equation": "ij,jk->ik"},
                InvalidArgumentError,
                "Expected input 1 to have rank 2 but got: 1",
            ),
            Failure(
                (draw.uniform(2, 3), draw.integers(3, 2)),
                {"equation": "ij,jk->ik"},
                InvalidArgumentError,
                "expected to be a double tensor but is a int64 tensor",
            ),
            Failure(
                (draw.booleans(2),), {"equation": "i->"}, InvalidArgumentError, "bool is not in"
            ),
        ],
    ),
]

"""Cases of gradtape.ops.spacing."""

import numpy as np

from gradtape.core.errors import InvalidArgumentError

from ..case import Case, Failure, Sample


def _between(start, stop, num):
    return Sample((np.array(start), np.array(stop)), {"num": num})


def _refused(start, stop, message):
    return Failure((start, stop), {"num": 3}, InvalidArgumentError, message)


CASES = [
    Case(
        op="EvenlySpaced",
        samples=[
            _between(0.5, 2.0, 5),
            _between(2.0, -1.25, 4),
            _between(3.0, 1.0, 2),
            _between(3.0, 1.0, 1),
            _between(3.0, 1.0, 0),
            _between(-1.0, 1.0, 2500),
        ],
        reference=lambda start, stop, num: np.linspace(start, stop, num),
        failures=[
            _refused(np.array(1), np.array(2), "int64 is not in the list"),
            _refused(np.array(1.0), np.array(2.0, np.float32), "expected to be a double"),
            _refused(np.ones(2), np.array(2.0), "start must be a scalar, not shape"),
            _refused(np.array(2.0), np.ones(2), "stop must be a scalar, not shape"),
        ],
        dtypes=["float16", "float32"],
    ),
]

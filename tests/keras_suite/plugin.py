"""Has Keras's own tests, which its wheel contains, run with gradtape for the backend.

Those in `known_failures.txt` are expected to fail, each for the reason that stands beside it.
"""

from pathlib import Path

import pytest

from gradtape.keras_finder import load_keras

load_keras()

_LISTED = Path(__file__).with_name("known_failures.txt")


def known_failures():
    """From the ids of tests to reasons; an id ending in `*` stands for all that start so."""
    lines = _LISTED.read_text(encoding="utf-8").splitlines()
    pairs = [line.split("\t") for line in lines if line and not line.startswith("#")]
    return dict(pairs)


def pytest_collection_modifyitems(items):
    known = known_failures()
    starts = [(name[:-1], reason) for name, reason in known.items() if name.endswith("*")]
    for item in items:
        name = item.nodeid.partition("keras/src/")[2]
        reason = known.get(name)
        for start, shared in starts:
            if name.startswith(start):
                reason = shared
        if reason is not None:
            item.add_marker(pytest.mark.xfail(reason=reason, strict=True))

"""The C library is asked to keep freed memory, unless the user has decided otherwise."""

import ctypes
import sys
from types import SimpleNamespace

import pytest

from gradtape.core.memory import _DECIDED_BY_USER, keep_freed_memory


@pytest.fixture
def calls(monkeypatch):
    """What mallopt is called with, on a Linux where nobody has set anything."""
    made = []
    library = SimpleNamespace(mallopt=lambda *arguments: made.append(arguments))
    monkeypatch.setattr(ctypes, "CDLL", lambda name: library)
    monkeypatch.setattr(sys, "platform", "linux")
    for name in _DECIDED_BY_USER:
        monkeypatch.delenv(name, raising=False)
    return made


def test_both_thresholds_are_raised(calls):
    keep_freed_memory()
    assert calls == [(-3, 32 << 20), (-1, 256 << 20)]


@pytest.mark.parametrize("name", _DECIDED_BY_USER)
def test_a_user_who_has_decided_is_left_alone(calls, monkeypatch, name):
    monkeypatch.setenv(name, "1")
    keep_freed_memory()
    assert calls == []


def test_without_glibc_nothing_happens(calls, monkeypatch):
    monkeypatch.setattr(ctypes, "CDLL", lambda name: SimpleNamespace())
    keep_freed_memory()
    monkeypatch.setattr(sys, "platform", "darwin")
    keep_freed_memory()
    assert calls == []

"""Loops of a few turns run natively, too, and are counted."""

import pytest

from runmat_jit.loops import program
from runmat_jit.runtime.session import current_session


@pytest.fixture(autouse=True)
def any_loop(monkeypatch):
    """However little a loop does, it is worth a native run."""
    monkeypatch.setattr(program, "WORTH", 0)
    monkeypatch.setattr(program, "SHORT", 0)
    monkeypatch.setattr(program, "UNROLLED", 0)
    monkeypatch.setattr(program, "REPLAYED", 0)


@pytest.fixture
def natively():
    """How often loops have run natively since the last question."""
    count, last = current_session().telemetry, [0]

    def since():
        now = count.snapshot()["loops_run"]
        before, last[0] = last[0], now
        return now - before

    since()
    return since

"""What is said of loops that take long. Oracle: the undecorated functions, and the stream."""

import numpy as np
import pytest

import runmat_jit as runmat
from runmat_jit.loops import progress
from tests.loops.test_draws import HELD, check, program, short_slices
from tests.loops.test_tiles import small_tiles

__all__ = ["short_slices", "small_tiles"]


@pytest.fixture
def shown(monkeypatch):
    """Loops say at once how far they are, to what takes itself for a terminal."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    runmat.config(progress=True)
    yield
    runmat.config(progress=False)


def running(x, n):
    s = 0.0
    for i in range(n):
        s = s * 0.5 + x[i % 7]
    return s


@pytest.mark.usefixtures("short_slices")
def test_a_loop_says_how_far_it_has_come(shown, capfd):
    decorated, x = runmat.jit(running), np.arange(7.0)
    assert [decorated(x, 4000) for _ in range(3)] == [running(x, 4000)] * 3
    told = capfd.readouterr()
    assert "in running: 4,000 iterations" in told.err
    assert not told.out


@pytest.mark.usefixtures("short_slices")
def test_a_loop_in_tiles_says_which_lanes_are_behind_it(shown, capfd):
    check(program(HELD["uniform"]))
    assert ", lane " in capfd.readouterr().err


def test_nothing_is_said_where_nobody_asked(capfd):
    decorated, x = runmat.jit(running), np.arange(7.0)
    assert decorated(x, 100_000) == running(x, 100_000)
    assert not capfd.readouterr().err

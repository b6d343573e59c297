"""Kinds of loops that are switched off. Oracle: the undecorated functions, and counts of runs."""

import numpy as np
import pytest

import runmat_jit as runmat
from tests.loops.test_draws import HELD, check, counted, program, short_slices
from tests.loops.test_tiles import small_tiles

__all__ = ["counted", "short_slices", "small_tiles"]


@pytest.fixture
def without():
    """Switches kinds off, until the test ends."""
    before = runmat.config().disable_loop_fusion
    yield lambda *kinds: runmat.config(disable_loop_fusion=kinds)
    runmat.config(disable_loop_fusion=before)


@pytest.mark.usefixtures("short_slices")
@pytest.mark.parametrize(
    ("off", "runs", "registers"),
    [
        ((), {"plain": 2, "drawing": 2}, {"plain": 2, "drawing": 2}),
        (("recurrent_loop",), {"plain": 2, "drawing": 2}, {"plain": 0, "drawing": 0}),
        (("stochastic_evolution",), {"plain": 2, "drawing": 0}, {"plain": 2, "drawing": 0}),
        (("element_loop",), {"plain": 0, "drawing": 0}, {"plain": 0, "drawing": 0}),
        (("all",), {"plain": 0, "drawing": 0}, {"plain": 0, "drawing": 0}),
    ],
)
@pytest.mark.parametrize("name", ["plain", "drawing"])
def test_kinds_that_are_off(name, *, off, runs, registers, without, counted):
    without(*off)
    decorated = check(program("x = x * 0.5 + np.sin(x)" if name == "plain" else HELD["uniform"]))
    ran, _, held, _ = counted()
    assert (ran, held) == (runs[name], registers[name])
    report = str(decorated.explain(runmat.random.default_rng(1), np.ones(23), np.ones(23), 23, 5))
    assert ("natively" in report) == (runs[name] > 0)
    assert ("arrays in registers" in report) == (registers[name] > 0)
    assert ("random numbers drawn" in report) == (name == "drawing" and runs[name] > 0)


def test_unknown_kinds_are_mistakes(without):
    with pytest.raises(runmat.ConfigError, match="scan_loop"):
        without("scan_loop")

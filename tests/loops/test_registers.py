"""Loops whose arrays are in registers. Oracle: the undecorated functions, in all that is seen.

Tiles are of a few lanes, and slices of a few turns, so that short loops have several of them.
"""

import numpy as np
import pytest

import runmat_jit as runmat
from runmat_jit.loops import registers, tiles, variant
from runmat_jit.runtime.session import current_session
from tests.capture.behavior import compare, observe
from tests.loops.test_tiles import IN_TILES, check, given, program, small_tiles

pytestmark = pytest.mark.sampled(3)

__all__ = ["small_tiles"]


@pytest.fixture(autouse=True)
def short_slices(monkeypatch):
    """Slices of two turns, however little they compute."""
    monkeypatch.setattr(variant, "TABLE_TURNS", 2)
    monkeypatch.setattr(registers, "TABLE_TURNS", 2)
    monkeypatch.setattr(registers, "PER_ACCESS", 0)


@pytest.fixture
def held():
    """How often loops have run with arrays in registers since the last question."""
    count, last = current_session().telemetry, [0]

    def since():
        now = count.snapshot()["loops_in_registers"]
        before, last[0] = last[0], now
        return now - before

    since()
    return since


IN_MEMORY = {
    "one array by two names": "both are read after the loop, and are one array",
    "one array by two names in some turns": "which one it is, is known at run time",
    "an array of two axes": "registers hold one axis",
    "lanes along the last axis": "likewise",
    "sums of rows": "likewise",
    "sums of rows go back": "likewise",
    "sums of columns": "likewise",
    "branches": "which array it is, is known at run time",
    "loops within": "the turns of another loop are no table's",
    "arrays that are not of lanes": "a turn makes one that lies in memory",
}
MORE = {
    "names of several turns": ("z = y\ny = x\nx = x * 0.5 + y", "x, y, z"),
    "numbers of float32": ("q = np.float32(t) * np.float32(0.5)\nx = x + q", "x, q"),
    "numbers that are branched by": ("s = 1.0\nif t % 2:\n    s = t * 0.5\nx = x * s", "x, s"),
    "a new array that is changed": ("z = x + 1\nz *= 2\nz[:] = z - y\nx = z * 0.5", "x"),
    "an array that two names hold is changed": ("z = x + 1\nw = z\nz *= 2\nx = w - 1", "x"),
    "branches within a turn": ("if t % 2:\n    z = x * 2\nelse:\n    z = y + 1\nx = x + z", "x"),
    "a branch in a branch": (
        "z = x\nif t > 1:\n    z = x * 2\n    if t == 3:\n        z = z + y\nx = x * 0.5 + z",
        "x",
    ),
    "a branch that stores": ("x = x * 0.5\nif t % 2:\n    out[t] = x\n    made[:, 0] += x", "x"),
    "a number of an array": ("x = x + c[t % 4] * turned[1]", "x"),
    "whole numbers": ("x = x + (t * 7) % 3\nk = t // 2", "x, k"),
    "truth values": ("z = (x > y) == (t > 2)\nx = np.where(z, x, y)", "x, z"),
    "what a function computes": ("x = np.clip(np.sqrt(np.abs(x)) * y, -1.0, 1.0)", "x"),
}


@pytest.mark.parametrize("dtype", ["d", "f"])
@pytest.mark.parametrize("name", [*(name for name in IN_TILES if name not in IN_MEMORY), *MORE])
def test_these_are_in_registers(name, dtype, held):
    check(program(*(MORE.get(name) or IN_TILES[name])), dtype=dtype)
    assert held() == 2


@pytest.mark.parametrize("name", IN_MEMORY)
def test_these_are_not(name, held):
    check(program(*IN_TILES[name]))
    assert held() == 0


@pytest.mark.parametrize(
    ("body", "runs"), [("x = x * 0.5 + rows[t]", 0), ("x = np.sin(np.cos(x + rows[t]))", 2)]
)
def test_turns_that_wait_for_rows_are_not(body, runs, held, monkeypatch):
    """What a turn reads of memory lies far from what the turn before has read."""
    monkeypatch.setattr(registers, "PER_ACCESS", 16)
    check(program(body, "x"), exact=False)
    assert held() == runs


@pytest.mark.parametrize("steps", [1, 2, 3, 7])
def test_results_of_turns_before(steps, held):
    """An array from before the loop is a result where there are few turns: itself, no copy."""

    def fn(x, y, steps):
        z = x
        for _ in range(steps):
            z = y
            y = x
            x = x * 0.5 + y
        return x, y, z

    decorated = runmat.jit(fn)
    for _ in range(2):
        data = given(1)["x"], given(1)["y"]
        found = decorated(*data, steps)
        for one, other in zip(found, fn(*data, steps), strict=True):
            assert one.tobytes() == other.tobytes()
        assert [one is data[1] for one in found] == [o is data[1] for o in fn(*data, steps)]
    assert (held() > 0) == (steps > 2)


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e308, 0.0])
def test_events_are_reported_at_their_lines(value, held):
    def fn(x, steps):
        for _ in range(steps):
            x = x * 10.0
            x = 1.0 / x + x
        return x

    decorated = runmat.jit(fn)
    for last in (2.0, value, 2.0):
        x = np.full(23, 2.0)
        x[-1] = last
        compare(observe(fn, (x.copy(), 4), {}), observe(decorated, (x.copy(), 4), {}))
    assert held() >= 1


def test_a_while_and_its_number(held):
    def fn(x, dt, end):
        t = 0.0
        while t < end:
            x = x - dt * np.sin(x)
            t += dt
        return x, t

    decorated = runmat.jit(fn)
    for end in (1.0, 0.0, 0.3, 2.0):
        data = given(2)["x"]
        compare(observe(fn, (data, 0.125, end), {}), observe(decorated, (data, 0.125, end), {}))
    assert held() >= 2


def test_one_kernel_for_any_number_of_turns(held):
    """The one that only tells how it is to be is not compiled."""

    @runmat.jit
    def fn(x, steps):
        for _ in range(steps):
            x = x + 0.01 * np.sin(x)
        return x

    x = np.linspace(0.0, 6.0, 5000)
    count = current_session().telemetry
    before = count.snapshot()["kernels_compiled"] + 1
    fn(x, 300)
    for steps in (17, 400, 301):
        fn(x, steps)
    assert count.snapshot()["kernels_compiled"] == before
    assert held() == 4
    assert "arrays in registers" in str(fn.explain(x, 300))


@pytest.mark.parametrize(("steps", "times"), [(60, 0), (500, 1)])
def test_arrays_that_stay_in_cache(steps, times, held, monkeypatch):
    """They are in registers where turns are many enough."""
    monkeypatch.setattr(tiles, "L2", 1 << 19)
    monkeypatch.setattr(tiles, "FEWEST", 64)
    monkeypatch.setattr(tiles, "TILE_BYTES", 3 << 13)
    monkeypatch.setattr(tiles, "REGISTER_WORK", 100_000)

    def fn(x, y, steps):
        for t in range(steps):
            x = x + 1e-4 * np.sin(x) * t
            y = y - x * 0.1
        return x, y

    data = np.linspace(0.0, 6.0, 300), np.linspace(-3.0, 2.0, 300)
    given = (*data, steps)
    compare(observe(fn, given, {}), observe(runmat.jit(fn), given, {}))
    assert held() == times

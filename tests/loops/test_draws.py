"""Loops that draw random numbers. Oracle: the undecorated function with a generator of one seed.

The numbers, and where the generator is afterwards, are compared to the bit.
"""

import threading

import numpy as np
import pytest

import runmat_jit as runmat
from runmat_jit.loops import registers, tiles, variant
from runmat_jit.runtime.session import current_session
from tests.capture.behavior import compare, observe
from tests.capture.plain_hooks import function_from
from tests.loops.test_tiles import small_tiles

pytestmark = pytest.mark.sampled(4)

__all__ = ["small_tiles"]

LANES, STEPS = 23, 5


@pytest.fixture
def counted():
    """How often loops have run natively, in tiles, in registers, and left, since the last one."""
    names = ("loops_run", "loops_tiled", "loops_in_registers", "loops_left")
    count, last = current_session().telemetry, {}

    def since():
        now = {name: count.snapshot()[name] for name in names}
        made = tuple(now[name] - last.get(name, 0) for name in names)
        last.update(now)
        return made

    since()
    return since


@pytest.fixture
def short_slices(monkeypatch):
    """Slices of two turns."""
    monkeypatch.setattr(variant, "TABLE_TURNS", 2)
    monkeypatch.setattr(registers, "TABLE_TURNS", 2)


def program(body, result="x"):
    lines = "\n        ".join(body.strip().split("\n"))
    text = f"def f(rng, x, y, n, steps):\n    for t in range(steps):\n        {lines}\n"
    return function_from(f"{text}    return {result}\n", np=np, twice=twice)


def twice(rng, n):
    return rng.random(n) + rng.random(n)


def given(seed, dtype="d", lanes=LANES, steps=STEPS):
    rng = np.random.default_rng(seed)
    values = [rng.integers(-8, 9, lanes).astype(dtype) * 0.25 for _ in range(2)]
    return runmat.random.default_rng(seed), *values, lanes, steps


def check(fn, calls=2, **named):
    """Values and what the generator is afterwards are those of plain Python."""
    decorated = runmat.jit(fn)
    for seed in range(calls):
        mine, its = given(seed, **named), given(seed, **named)
        expected, found = observe(fn, mine, {}), observe(decorated, its, {})
        assert its[0].state == mine[0].state
        compare(expected, found)
    return decorated


HELD = {
    "normal": "x = x * 0.5 + rng.standard_normal(n)",
    "uniform": "x = x * 0.5 + rng.random(n)",
    "a mean and a deviation": "x = x * 0.5 + rng.normal(1.5, 0.25, n)",
    "a mean by name": "x = x * 0.5 + rng.normal(size=n, loc=t)",
    "an interval": "x = x * 0.5 + rng.uniform(-1, 2 + t, size=n)",
    "numbers of distributions": "x = x * rng.uniform(0.5, 1.5) + rng.normal()",
    "normal float32": "x = x + rng.standard_normal(n, dtype=np.float32)",
    "uniform float32": "x = x + rng.random(n, np.float32)",
    "both dtypes": "x = x + rng.random(n) * rng.standard_normal(n, dtype='f')",
    "a name": "z = rng.standard_normal(size=n)\nx = x + z\ny = y - z",
    "a draw that is used twice": "z = rng.random(n)\nx = x + z * z\ny = z",
    "a draw that nobody reads": "rng_ = rng.random(n)\nx = x + rng.random(n)",
    "as many as there are": "x = x + rng.random(len(x))",
    "of its shape": "x = x + rng.random(x.shape)",
    "of its size": "x = x + rng.random(x.size)",
    "of its first extent": "x = x + rng.random((x.shape[0],))",
    "in a branch": "x = x + 1\nif t % 2:\n    x = x + rng.random(n)",
    "in one of two": "if t % 2:\n    z = rng.random(n)\nelse:\n    z = rng.random(n)\nx = x - z",
    "a number and an array": "s = rng.random()\nx = x * s + rng.random(n)\ns = rng.random()",
    "in a function": "x = x + twice(rng, n)",
    "by two names of one generator": "other = rng\nx = x + rng.random(n) - other.random(n)",
    "a rate that changes": "x = x * 0.5 ** t + rng.random(n) * t",
    "arrays that are written": "y += rng.random(n)\nx = x + y",
}
NOT_IN_REGISTERS = ("in a branch", "in one of two")


@pytest.mark.usefixtures("short_slices")
@pytest.mark.parametrize("dtype", ["d", "f"])
@pytest.mark.parametrize("name", HELD)
def test_draws_in_lanes(name, dtype, counted):
    check(program(HELD[name], "x, y, t" if "y =" in HELD[name] else "x, t"), dtype=dtype)
    runs, tiled, held, left = counted()
    if dtype == "d" and name != "in one of two":  # others change their dtype in the first turn
        assert (runs, tiled, left) == (2, 2, 0)
        assert (held == 2) == (name not in NOT_IN_REGISTERS)


@pytest.mark.usefixtures("short_slices")
@pytest.mark.parametrize("lanes", [1, 2, 3, 4, 5, 6, 7, 8, 9, 63, 64, 65, 66, 67, 200])
def test_any_number_of_lanes(lanes):
    """What is left of a block of the stream at the end of a draw is drawn by nobody."""
    body = "y *= 0.5\ny += rng.standard_normal(n)\nx = x + rng.random(n, dtype=np.float32)"
    check(program(body, "x, y"), lanes=lanes)


@pytest.mark.parametrize("steps", [0, 1, 2, 300])
def test_any_number_of_turns(steps):
    check(program(HELD["a number and an array"], "x"), steps=steps)


TILED = {
    "rows and columns": "z = rng.random((m, n))\na = a * 0.5 + z",
    "of a shape": "z = rng.standard_normal(a.shape)\na = a + z * z",
    "float32": "z = rng.random((m, n), dtype='f')\na = a + z",
    "normal float32": "z = rng.standard_normal((m, n), dtype=np.float32)\na = a - z",
    "scaled": "a = a * rng.uniform(0.5, 1.5, (m, n)) + rng.normal(1, 2, size=a.shape)",
    "in place": "a += rng.random((m, n))",
    "a row and rows": "a = a + rng.random((m, n)) * rng.random(n)",
    "of three rows": "z = rng.random((3, n))\na = a + z[0] - z[1] * z[2]",
    "sums of columns": "z = rng.random((m, n))\na = a * 0.5 + z * (z * a).sum(axis=0)",
    "twice": "z = rng.random((m, n))\nw = rng.random((m, n), 'f')\na = a + z * w",
}


@pytest.mark.parametrize("columns", [8, 9, 128, 130, 134, 256, 259])
@pytest.mark.parametrize("name", TILED)
def test_draws_of_matrices(name, columns, counted, monkeypatch):
    """Rows of a tile begin with a block of the stream, or within one."""
    monkeypatch.setattr(tiles, "TILE_BYTES", 1 << 10)
    monkeypatch.setattr(tiles, "L2", 1 << 8)
    monkeypatch.setattr(tiles, "FEWEST", 32)
    lines = "\n        ".join(TILED[name].split("\n"))
    text = f"def f(rng, a, m, n, steps):\n    for t in range(steps):\n        {lines}\n"
    fn = function_from(f"{text}    return a\n", np=np)
    decorated = runmat.jit(fn)
    for seed in range(2):
        start = np.random.default_rng(seed).integers(-8, 9, (5, columns)) * 0.25
        mine, its = (runmat.random.default_rng(seed) for _ in range(2))
        expected = observe(fn, (mine, start.copy(), 5, columns, 4), {})
        compare(expected, observe(decorated, (its, start.copy(), 5, columns, 4), {}))
        assert mine.state == its.state
    runs, tiled, _, left = counted()
    assert (runs, left) == (2, 0)
    assert tiled == 2 * (columns >= 128)


ELSEWHERE = {
    "of another number of elements": ("y = rng.random(n + 1)\nx = x + y[0]", "x"),
    "of as many as are written": ("z = rng.random(23)\nx = x + z", "x"),
    "an element of a draw": ("z = rng.random(n)\nx = x + z[0]", "x"),
    "neighbors in a draw": ("z = rng.random(n)\nx[1:] = x[1:] + z[:-1]", "x"),
    "the sum of a draw": ("x = x + rng.random(n).max()", "x"),
    "no interval": ("x = x + rng.uniform(1, 1, n)", "x"),
    "an interval that is refused": ("x = x + rng.uniform(2, 1, n)", "x"),
    "an interval that is infinite": ("x = x + rng.uniform(0, np.inf, n)", "x"),
    "a deviation that is refused": ("x = x + rng.normal(0, -1, n)", "x"),
    "a deviation that becomes negative": ("x = x + rng.normal(0, 3 - t, n)", "x"),
    "means for each": ("x = x + rng.normal(x, 1)", "x"),
    "another distribution": ("x = x + rng.exponential(2.0, n)", "x"),
    "rows of two": ("z = rng.random((n, 2))\nx = x + z[:, 0]", "x"),
    "more than there is room for": ("z = rng.random((n, 2**40))\nx = x + z[:, 0]", "x"),
    "whole numbers": ("x = x + rng.integers(0, 5, n)", "x"),
    "into an array": ("rng.random(out=y)\nx = x + y", "x"),
    "an extent that does not match": ("x = x + rng.random(n - 1)", "x"),
    "none": ("x = x + rng.random(0).size", "x"),
    "negative": ("x = x + rng.random(-n)", "x"),
    "a dtype that there is not": ("x = x + rng.random(n, dtype='i')", "x"),
    "another argument": ("x = x + rng.random(n, wrong=1)", "x"),
    "too many arguments": ("x = x + rng.random(n, 'd', None, 1)", "x"),
    "the state": ("x = x + rng.random(n)\ns = rng.state['state']['counter']", "x, s"),
}


@pytest.mark.parametrize("name", ELSEWHERE)
def test_other_draws_are_those_of_python(name):
    check(program(*ELSEWHERE[name]), calls=3)


def test_numbers_one_by_one(counted):
    """A random walk in plain numbers: Python's floats."""

    def fn(rng, steps):
        x, up = 0.0, 0
        for _ in range(steps):
            x += rng.standard_normal()
            if rng.random() < 0.5:
                up += 1
                x -= rng.random(dtype=np.float32)
        return x, up

    decorated = runmat.jit(fn)
    for seed in range(3):
        mine, its = runmat.random.default_rng(seed), runmat.random.default_rng(seed)
        compare(observe(fn, (mine, 500), {}), observe(decorated, (its, 500), {}))
        assert mine.state == its.state
    assert counted()[0] == 3


def test_a_run_that_leaves_has_drawn_nothing(counted):
    """NumPy warns of the last element; Python runs the loop, with the same numbers."""

    def fn(rng, x, y, n, steps):
        for _ in range(steps):
            y = y - 1
            x = 1 / (y + 3) + x + rng.random(n)
        return x

    decorated = runmat.jit(fn)
    for last in (9.0, 0.0, 9.0):
        mine, its = given(1), given(1)
        for each in (mine, its):
            each[2][:] = 9.0
            each[2][-1] = last
        compare(observe(fn, mine, {}), observe(decorated, its, {}))
        assert mine[0].state == its[0].state
    assert counted()[0] >= 1


def test_a_stream_that_ends_begins_anew():
    decorated = runmat.jit(program(HELD["normal"]))
    for counter in (2**64 - 30, 2**63 - 20, 2**32 - 7):
        mine, its = given(3), given(3)
        for rng in (mine[0], its[0]):
            rng.state = {
                "bit_generator": "Philox4x32-10",
                "state": {"key": 2**64 - 5, "counter": counter},
            }
        expected = program(HELD["normal"])(*mine)
        assert expected.tobytes() == decorated(*its).tobytes()
        assert mine[0].state == its[0].state


def test_a_draw_of_another_thread_is_not_lost(monkeypatch):
    """Where others draw meanwhile, parts do not overlap: the run counts for nothing."""
    decorated = runmat.jit(program(HELD["normal"]))
    decorated(*given(1))
    rng, *rest = given(1)
    finish, drawn = tiles.Tiled.finish, []

    def meanwhile(*args):
        if not drawn:
            other = threading.Thread(target=lambda: drawn.append(rng.random(3)))
            other.start()
            other.join()
        return finish(*args)

    monkeypatch.setattr(tiles.Tiled, "finish", meanwhile)
    found = decorated(rng, *rest)
    again, *rest = given(1)
    first = again.random(3)
    expected = program(HELD["normal"])(again, *rest)
    assert first.tobytes() == drawn[0].tobytes()
    assert expected.tobytes() == found.tobytes()
    assert again.state == rng.state


def test_a_generator_that_the_function_makes(counted):
    def fn(seed, x, steps):
        rng = runmat.random.default_rng(seed)
        for _ in range(steps):
            x = x * 0.5 + rng.standard_normal(len(x))
        return x, rng.random()

    decorated = runmat.jit(fn)
    x = given(0)[1]
    for seed in (1, 2, 1):
        compare(observe(fn, (seed, x, 6), {}), observe(decorated, (seed, x, 6), {}))
    assert counted()[0] == 3


def test_a_generator_of_the_module_and_of_an_object():
    class Model:
        def __init__(self, seed):
            self.rng = runmat.random.default_rng(seed)

    shared = runmat.random.default_rng(4)

    def fn(model, x, steps):
        for _ in range(steps):
            x = x * 0.5 + model.rng.random(len(x)) - shared.random(len(x))
        return x

    decorated, x, state = runmat.jit(fn), given(0)[1], shared.state
    for seed in range(3):
        shared.state = state
        expected = fn(Model(seed), x, 6)
        after, shared.state = shared.state, state
        model = Model(seed)
        assert decorated(model, x, 6).tobytes() == expected.tobytes()
        assert shared.state == after


def test_draws_outside_of_loops_are_replayed():
    """A generator of ours is known by its slot, as NumPy's are."""

    def fn(rng, n):
        a = rng.standard_normal(n, dtype=np.float32) * 2
        return a + rng.random(n), rng.integers(0, 9), rng.random()

    decorated = runmat.jit(fn)
    for seed in range(5):
        mine, its = runmat.random.default_rng(seed), runmat.random.default_rng(seed)
        compare(observe(fn, (mine, 40), {}), observe(decorated, (its, 40), {}))
        assert mine.state == its.state
    assert "replayed" in str(decorated.explain(runmat.random.default_rng(1), 40))

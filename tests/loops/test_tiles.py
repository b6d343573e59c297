"""Loops that run in tiles of lanes. Oracle: the undecorated functions, in all that a caller sees.

Tiles are of a few lanes here, so that short arrays have several of them.
"""

import random

import numpy as np
import pytest

import runmat_jit as runmat
from runmat_jit.loops import tiles
from runmat_jit.loops.variant import Variant
from runmat_jit.runtime.session import current_session
from tests.capture.behavior import compare, observe
from tests.capture.plain_hooks import function_from

pytestmark = pytest.mark.sampled(8)

LANES = 23
STEPS = 5


@pytest.fixture(autouse=True)
def small_tiles(monkeypatch):
    """Tiles of a few lanes, a few at once."""
    monkeypatch.setattr(tiles, "FEWEST", 3)
    monkeypatch.setattr(tiles, "TILE_BYTES", 1)
    monkeypatch.setattr(tiles, "COPY_BYTES", 1)
    monkeypatch.setattr(tiles, "L2", 0)
    monkeypatch.setattr(tiles, "TILE_WORK", 0)
    monkeypatch.setattr(tiles, "STORED_AGAIN", 0)
    monkeypatch.setattr(tiles, "CELLS", 2)


@pytest.fixture
def tiled():
    """How often loops have run in tiles since the last question."""
    count, last = current_session().telemetry, [0]

    def since():
        now = count.snapshot()["loops_tiled"]
        before, last[0] = last[0], now
        return now - before

    since()
    return since


def given(seed, dtype="d"):
    """x and y by lanes, rows of lanes, lanes of rows, a matrix of lanes, numbers."""
    rng = np.random.default_rng(seed)

    def values(*shape):
        return (rng.integers(-12, 13, shape) * 0.25).astype(dtype)

    return {
        "x": values(LANES),
        "y": values(LANES),
        "rows": values(STEPS, LANES),
        "columns": values(LANES, STEPS),
        "m": values(LANES, 4),
        "turned": values(4, LANES),
        "c": values(4),
        "out": np.zeros((STEPS, LANES), dtype),
        "made": np.zeros((LANES, STEPS), dtype),
    }


def program(body, result):
    lines = "\n        ".join(body.strip().split("\n"))
    names = ", ".join(given(0))
    text = f"def f({names}):\n    for t in range({STEPS}):\n        {lines}\n    return {result}\n"
    return function_from(text, np=np)


def check(fn, *, dtype="d", calls=2, exact=True):
    decorated = runmat.jit(fn)
    for seed in range(calls):
        expected = observe(fn, tuple(given(seed, dtype).values()), {})
        found = observe(decorated, tuple(given(seed, dtype).values()), {})
        compare(expected, found, exact=exact)


# -- what runs in tiles ----------------------------------------------------------------------------
IN_TILES = {
    "a recurrence": ("x = x * 0.5 + 1", "x"),
    "two arrays": ("x, y = x + 0.25 * y, y - 0.25 * x", "x, y"),
    "names that are swapped": ("x, y = y, x + 1", "x, y"),
    "one array by two names": ("x = x + 1\nz = x", "x, z"),
    "one array by two names in some turns": ("x = x + 1\nif t > 2:\n    y = x", "x, y"),
    "rows": ("x = x + rows[t]", "x"),
    "a row before": ("x = x + rows[t - 1]", "x"),
    "columns": ("x = x + columns[:, t]", "x"),
    "columns that are written": ("x = x * 0.5 + columns[:, t]\nmade[:, t] = x", "x"),
    "columns that are written in place": ("made[:, t] += columns[:, t]\nmade[:, 0] -= 1", "t"),
    "rows that are written": ("out[t] = x * rows[t]", "t"),
    "an array that is changed": ("x *= 0.5\nx += y", "x"),
    "an array that is changed as a whole": ("x[...] = x * 0.5\ny[:] = x", "t"),
    "an array of two axes": ("m = m * 0.5 + c", "m"),
    "lanes along the last axis": ("turned = turned * 0.5 + x", "turned"),
    "sums of rows": ("e = (m * c).sum(axis=1)\nx = x + e", "x, e"),
    "sums of rows go back": ("e = (m * m).sum(axis=1)\nm = m - e[:, None] * 0.25", "m"),
    "sums of columns": ("turned = turned * 0.5 + (turned * x).sum(axis=0)", "turned"),
    "numbers of the turn": ("x = x + 0.5 ** t\nk = t * 2", "x, k"),
    "choices": ("x = np.where(x > y, x * 0.5, x + 1)", "x"),
    "branches": ("if t % 2:\n    x = x + y\nelse:\n    y = y * 0.5", "x, y"),
    "an end": ("x = x + 1\nif t == 3:\n    break", "x, t"),
    "loops within": ("for k in range(t):\n    x = x * 0.5 + k", "x"),
    "new arrays": ("z = np.zeros_like(x)\nz += t\nx = x + z", "x, z"),
    "functions": ("x = np.sqrt(np.abs(x)) + np.maximum(x, y)", "x"),
    "truth values": ("z = (x > y) & (y > 0)\nx = np.where(z, 1.0, x)", "x, z"),
    "numbers that are not of lanes": ("s = c[0] + t\nx = x + s", "x, s"),
    "arrays that are not of lanes": ("d = c * t\nx = x + d[1]", "x, d"),
    "an axis of the program's": ("x = x + turned[t % 4]", "x"),
    "an extent that is no lanes'": ("x = x + rows.shape[0]", "x"),
}


@pytest.mark.parametrize("dtype", ["d", "f"])
@pytest.mark.parametrize("name", IN_TILES)
def test_these_run_in_tiles(name, dtype, tiled):
    check(program(*IN_TILES[name]), dtype=dtype)
    assert tiled() == 2


# -- what must not ---------------------------------------------------------------------------------
NOT_IN_TILES = {
    "neighbors": ("x[1:] = x[:-1] + y[1:]", "x"),
    "the other end": ("x = x[::-1] + y", "x"),
    "every second": ("x[::2] = x[::2] * 0.5", "x"),
    "neighbors in turns": ("x = np.roll(x, 1)", "x"),
    "one element": ("x = x + y[t]", "x"),
    "one element that is written": ("x[t] = t", "x"),
    "the last element": ("x = x + x[-1]", "x"),
    "the sum of all": ("x = x + x.sum()", "x"),
    "the largest": ("x = x - np.max(x)", "x"),
    "where the largest is": ("x = x + np.argmax(y)", "x"),
    "how many there are": ("x = x + len(x)", "x"),
    "its extent": ("x = x + x.shape[0]", "x"),
    "its size": ("x = x + x.size", "x"),
    "a product": ("x = x + (x @ y)", "x"),
    "the sum of columns": ("m = m * 0.5 + turned.sum(axis=1)", "m"),
    "all pairs": ("z = x[:, None] * x[None, :]\nx = x + 1", "x, z"),
    "some rows": ("m[:5] = m[5:10] + 1", "m"),
    "a memory of all lanes": ("c += 1\nx = x + y", "x"),
    "a number of all lanes": ("c[0] = c[0] + 1\nx = x + y", "x"),
}


@pytest.mark.parametrize("name", NOT_IN_TILES)
def test_these_do_not(name, tiled):
    check(program(*NOT_IN_TILES[name]), exact="sum" not in name and "product" not in name)
    assert tiled() == 0


# -- large arrays: tiles, or kernels of recorded turns ---------------------------------------------
@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    "case",
    [  # a turn, how many there are, rows of the arrays, and whether they are in tiles
        ("w = w * 0.5 + x", 40, 6, False),  # elementwise: one kernel has some turns in registers
        ("w = w * 0.5 + (w * x).sum(axis=0)", 40, 9, True),
        ("w = w * 0.5 + (w * x).sum(axis=0)", 40, 8, False),  # so it has of such columns
        ("w = w * 0.5 + (w * x).sum(axis=0)", 15, 9, False),
        ("w[1:-1] += 0.1 * (x[2:] - w[:-2])", 40, 6, True),
        ("made[:, t] = made[:, t - 1] * 0.5 + x[0]", 40, 6, False),  # copies
        ("made[:, t] = made[:, t - 1] * 0.5 + x[0]", 400, 6, True),
    ],
)
def test_large_arrays_of_which_turns_would_be_stored_are_in_tiles(case, tiled, monkeypatch):
    body, turns, rows, in_tiles = case
    monkeypatch.undo()  # tiles as they are
    columns = turns if "made" in body else 1
    text = (
        f"def f(w, x):\n    w, made = w.copy(), np.zeros((x.shape[1], {columns}))\n"
        f"    for t in range({turns}):\n        {body}\n    return w, made\n"
    )
    fn = function_from(text, np=np)
    arrays = [np.random.default_rng(seed).normal(size=(rows, 33_000)) for seed in range(2)]
    compare(observe(fn, arrays, {}), observe(runmat.jit(fn), arrays, {}), exact=False)
    assert tiled() == in_tiles


# -- runs that end early ---------------------------------------------------------------------------
def test_a_run_that_leaves_has_changed_nothing(tiled):
    """The last tile divides by zero: NumPy warns, at the line, and Python runs the loop."""

    def fn(x, y, steps):
        for _ in range(steps):
            y -= 1
            x = 1 / (y + 3) + x
        return x

    decorated = runmat.jit(fn)
    for last in (9.0, 0.0, 9.0):
        y = np.full(LANES, 9.0)
        y[-1] = last
        expected = observe(fn, (np.ones(LANES), y.copy(), STEPS), {})
        compare(expected, observe(decorated, (np.ones(LANES), y.copy(), STEPS), {}))
    assert tiled() >= 1


def test_an_index_out_of_range_changes_nothing(tiled):
    def fn(x, rows, made, steps):
        for t in range(steps):
            x = x + rows[t]
            made[:, t] = x
        return x

    decorated = runmat.jit(fn)
    for steps in (STEPS, STEPS + 1, STEPS):
        data = [given(1)[name] for name in ("x", "rows", "made")]
        again = [each.copy() for each in data]
        compare(observe(fn, (*data, steps), {}), observe(decorated, (*again, steps), {}))
    assert tiled() >= 1


def test_no_turns(tiled):
    def fn(x, steps):
        for t in range(steps):
            x = x + t
        return x

    decorated = runmat.jit(fn)
    for steps in (3, 0, 1):
        data = given(2)["x"]
        compare(observe(fn, (data, steps), {}), observe(decorated, (data, steps), {}))
    assert tiled() >= 1


@pytest.mark.parametrize("extent", [0, 1, 2, 5, 6, 7, 64, 200])
def test_any_number_of_lanes(extent, tiled):
    def fn(x, rows, made):
        for t in range(len(rows)):
            x = x * 0.5 + rows[t]
            made[:, t] = x
        return x

    def make():
        rng = np.random.default_rng(extent)
        return rng.random(extent), rng.random((3, extent)), np.zeros((extent, 3))

    decorated = runmat.jit(fn)
    for _ in range(2):
        compare(observe(fn, make(), {}), observe(decorated, make(), {}))
    assert (tiled() > 0) == (extent >= 6)


LAYOUTS = {
    "in Fortran's order": np.asfortranarray,
    "every second": lambda x: np.repeat(x, 2, axis=0)[::2],
    "backwards": lambda x: x[::-1].copy()[::-1],
    "turned": lambda x: np.ascontiguousarray(x.T).T,
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", ["columns that are written", "sums of rows go back", "rows"])
def test_arrays_in_any_order(layout, name, tiled):
    fn = program(*IN_TILES[name])
    decorated = runmat.jit(fn)
    for seed in range(2):
        expected = [LAYOUTS[layout](x) for x in given(seed).values()]
        found = [LAYOUTS[layout](x) for x in given(seed).values()]
        compare(observe(fn, expected, {}), observe(decorated, found, {}))
    assert tiled() >= 0  # a result in another order than C's runs in Python


def test_threads_share_the_tiles(tiled):
    """The same bits, whoever runs a tile."""
    fn = program("x = np.sin(x) + rows[t]", "x")
    decorated, data = runmat.jit(fn), [*given(3).values()]
    found = {decorated(*data).tobytes() for _ in range(5)}
    assert len(found) == 1
    assert tiled() == 5


# -- random programs -------------------------------------------------------------------------------
class Writer:
    """Writes a loop of which some statements look at neighbors, or none does."""

    def __init__(self, seed):
        self.rng = random.Random(seed)  # noqa: S311  (nothing is secret)

    def pick(self, *choices):
        return self.rng.choice(choices)

    def array(self, depth=2):
        if depth and self.rng.random() < 0.6:
            a, b = self.array(depth - 1), self.pick(self.array(depth - 1), self.number())
            kinds = f"({a} {self.pick('+', '-', '*')} {b})", f"np.minimum({a}, {b})"
            return self.pick(*kinds, f"np.where({a} > {b}, {a}, {b})", f"np.abs({a})")
        parts = "rows[t]", "columns[:, t]", "out[t]", "made[:, t]", "turned[t % 4]", "m[:, t % 4]"
        return self.pick("x", "y", "x", "y", "z", *parts)

    def number(self):
        return self.pick("0.5", "t", "c[t % 4]", "2", "s")

    def neighbor(self):
        parts = "x[::-1]", "y[0]", "np.max(y)", "np.roll(x, 1)", "len(x)"
        return self.pick(*parts)

    def statement(self, *, odd):
        value = f"{self.array()} + {self.neighbor()}" if odd else self.array()
        places = "x", "y", "z", "x", "out[t]", "made[:, t]", "m[:, t % 4]"
        simple = (
            f"{self.pick(*places)} = {value}",
            f"{self.pick('out[t]', 'made[:, t]', 'y')} {self.pick('+', '-')}= {value}",
            f"{self.pick('x', 'y', 'z')} = {self.pick('x', 'y', 'z')}",
            "x, y = y, x",
            f"s = {self.number()}",
        )
        found = self.rng.choice(simple[:2] if odd else simple)
        return f"if t % 2:\n    {found}" if self.rng.random() < 0.2 else found

    def body(self, *, odd):
        count = self.rng.randint(1, 4)
        strange = self.rng.randrange(count) if odd else -1
        return "\n".join(self.statement(odd=n == strange) for n in range(count))


@pytest.mark.parametrize("seed", range(60))
def test_random_programs(seed):
    writer = Writer(seed)
    body = writer.body(odd=seed % 4 == 3)
    head = "z = x * 0.5\n    s = 1.5\n    "
    text = program.__globals__["function_from"]
    lines = "\n        ".join(body.split("\n"))
    source = f"def f({', '.join(given(0))}):\n    {head}for t in range({STEPS}):\n        {lines}\n"
    fn = text(f"{source}    return x, y, z, s\n", np=np)
    check(fn, calls=3)


# -- new arrays of zeros ---------------------------------------------------------------------------
BLANK = {
    "columns": "out[:, t] = x + columns[:, t]",
    "some columns": "if t % 2:\n    out[:, t] = x",
    "what was in them": "out[:, t] += x\nout[:, 0] += 1",
    "rows": "other[t] = x * 2",
    "some rows": "if t != 2:\n    other[t] += x",
    "twice": "out[:, t] = x\nother[t] = out[:, t - 1]",
}
ENDS = {
    "": "",
    "leaves": "k = 2 ** 61 * (t + 1)",  # which is no integer of 64 bits in the fourth turn
    "warns": "x = x / (t - 3)",
}


@pytest.mark.filterwarnings("ignore:divide", "ignore:invalid")
@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("body", BLANK)
@pytest.mark.parametrize("make", ["np.zeros({})", "np.ones({})", "np.zeros({}) + 1"])
def test_new_arrays_are_as_they_were_where_a_loop_does_not_write_or_leaves(
    make, body, end, tiled, monkeypatch
):
    """And what is known to be zeros is not copied for that."""
    known, run = [], Variant.run

    def noting(self, operands, blank, way, *spare):
        known.append(len(blank & self.emitted.written))
        return run(self, operands, blank, way, *spare)

    monkeypatch.setattr(Variant, "run", noting)
    lines = "\n        ".join(f"{BLANK[body]}\n{ENDS[end]}".strip().split("\n"))
    text = (
        "def f(x, columns):\n"
        f"    out, other = {make.format('columns.shape')}, {make.format('columns.T.shape')}\n"
        f"    for t in range({STEPS}):\n"
        f"        {lines}\n"
        "    if columns[0, 0] > 0:\n"  # a replay ends here, behind the loop
        "        out = out + 1\n"
        "    return x, out, other\n"
    )
    fn = function_from(text, np=np)
    decorated = runmat.jit(fn)
    for seed in range(5):
        values = given(seed)["x"], given(seed)["columns"]
        compare(observe(fn, values, {}), observe(decorated, values, {}))
    if not end and body in ("columns", "rows"):
        assert tiled() >= 2
        assert max(known) == (make == "np.zeros({})")
    assert make == "np.zeros({})" or not any(known)


@pytest.mark.parametrize("again", [1, 9])
def test_columns_that_are_walked_once_are_not_copied_into_tiles(again, tiled, monkeypatch):
    """Copies in and out would take longer than the loop, unless it goes through them again."""
    monkeypatch.setattr(tiles, "STORED_AGAIN", 4)

    def fn(x, y):
        for t in range(1, again * x.shape[1]):
            k = t % x.shape[1]
            y[:, k] = 0.5 * y[:, k - 1] + x[:, k]

    decorated = runmat.jit(fn)
    for _ in range(3):
        rng = np.random.default_rng(again)
        data = rng.random((LANES, STEPS)), rng.random((LANES, STEPS))
        copies = tuple([each.copy() for each in data])
        compare(observe(fn, data, {}), observe(decorated, copies, {}))
    assert (tiled() > 0) == (again > 1)

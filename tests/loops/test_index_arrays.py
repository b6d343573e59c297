"""Elements and rows at places that arrays of integers say. Oracle: the undecorated functions."""

import numpy as np
import pytest

import runmat_jit as runmat
from runmat_jit.loops import tiles
from runmat_jit.runtime.session import current_session
from tests.capture.behavior import compare, observe
from tests.capture.plain_hooks import function_from

pytestmark = pytest.mark.sampled(4)

N, M, STEPS = 9, 4, 6


def program(body, result):
    lines = "\n        ".join(body.split("\n"))
    text = "def f(x, a, index, pairs, steps):\n    s = 0.0\n    for t in range(steps):\n"
    return function_from(f"{text}        {lines}\n    return {result}\n", np=np)


def given(seed, dtype="d", index_dtype="l", low=-N, high=N):
    rng = np.random.default_rng(seed)
    x = (rng.integers(-8, 9, N) * 0.25).astype(dtype)
    a = (rng.integers(-8, 9, (N, M)) * 0.25).astype(dtype)
    return (
        x,
        a,
        rng.integers(low, high, N).astype(index_dtype),
        rng.integers(low, high, (3, N)).astype(index_dtype),
        STEPS,
    )


TAKES = {
    "elements": ("x = x[index] + x", "x"),
    "elements of what is computed": ("x = (x * 2)[index] - x", "x"),
    "elements by what is computed": ("s = s + x[index % 3][1] - x[0 - index % 5][0]", "s"),
    "by an index that moves": ("s = s * 0.5 + x[index][t]\nindex = (index + 1) % 9", "s, index"),
    "a matrix of elements": ("y = x[pairs]\ns = s * 0.5 + y[t % 3, t]", "s, y"),
    "by a row": ("s = s * 0.5 + x[pairs[t % 3]][t]", "s"),
    "by a column": ("s = s * 0.5 + x[pairs[:, t]][1]", "s"),
    "rows": ("y = a[index]\ns = s * 0.5 + y[t, t % 4]", "s, y"),
    "rows by rows": ("y = a[pairs]\ns = s * 0.5 + y[t % 3, t, t % 4]", "s, y"),
    "rows of itself": ("a = a[index] * 0.5", "a"),
    "elements of a row": ("s = s * 0.5 + a[t][pairs[0] % 4][t]", "s"),
    "elements of a column": ("s = s * 0.5 + a[:, t % 4][index][t]", "s"),
    "elements of a part": ("s = s * 0.5 + x[2:][index % 7][t]", "s"),
    "elements backwards": ("s = s * 0.5 + x[::-1][index][t]", "s"),
    "before a store": ("y = x[index]\nx[t] = y[0] + 1\ns = s * 0.5 + y[t]", "x, y, s"),
    "stored": ("x[:] = x[index]\ns = s * 0.5 + x[t]", "x, s"),
    "into a part": ("a[:, t % 4] = x[index]", "a"),
    "of one array twice": ("s = s * 0.5 + x[index][t] * x[index[t]]", "s"),
    "in a branch": ("if t % 2:\n    x = x[index]\nelse:\n    x = x * 0.5", "x"),
    "no elements": ("y = x[index[:0]]\ns = s * 0.5 + y.size", "s"),
}


@pytest.mark.parametrize("dtypes", ["dl", "fi", "ll"])
@pytest.mark.parametrize("name", TAKES)
def test_every_take(name, dtypes, natively):
    fn = program(*TAKES[name])
    decorated = runmat.jit(fn)
    for seed in range(3):
        mine, its = given(seed, *dtypes), given(seed, *dtypes)
        compare(observe(fn, mine, {}), observe(decorated, its, {}), exact=True)
    assert natively() == 3 or dtypes != "dl" or name in ("no elements", "in a branch")


ENDINGS = {
    "beyond the end": ("s += x[index + t - 2].sum()", "s"),
    "before the beginning": ("s += x[index - t].sum()", "s"),
    "beyond the rows": ("s += a[index + t][0, 0]", "s"),
    "after a store": ("x[t] = 1.5\ns += x[index + t][0]", "s, x"),
}


@pytest.mark.parametrize("name", ENDINGS)
def test_places_out_of_range(name):
    """Python raises, and what had been stored before is stored once."""
    fn = program(*ENDINGS[name])
    decorated = runmat.jit(fn)
    for low, high in ((0, N - 3), (3 - N, 0), (0, 3), (-2, 2), (2 - N, N - 2)):
        mine, its = given(1, low=low, high=high), given(1, low=low, high=high)
        compare(observe(fn, mine, {}), observe(decorated, its, {}))


ELSEWHERE = {
    "a mask": "s += x[x > 0].sum()",
    "two indices": "s += a[index, index % 4].sum()",
    "an index and a slice": "s += a[index, 1:].sum()",
    "an index of floats": "s += x[x].sum()",
    "a list": "s += x[[0, 1]].sum()",
    "a store": "x[index] = t",
    "a store in place": "x[index] += 1",
    "columns": "s += a.T[index % 4][t % 4, 0]",
    "rows of columns": "s += a[:, ::2][index][t, 0]",
}


@pytest.mark.parametrize("name", ELSEWHERE)
@pytest.mark.parametrize("order", ["C", "F"])
def test_other_indices(name, order):
    """Oracle: Python. What is not known natively is done as it was."""
    fn = program(ELSEWHERE[name], "s, x")
    decorated = runmat.jit(fn)
    for seed in range(3):
        pair = [list(given(seed)) for _ in range(2)]
        for args in pair:
            args[1] = np.asarray(args[1], order=order)
        compare(observe(fn, tuple(pair[0]), {}), observe(decorated, tuple(pair[1]), {}))


@pytest.mark.parametrize("lanes", [60, 200])
def test_places_in_tiles(lanes, monkeypatch):
    """Each tile has its part of the index, and the whole table."""
    monkeypatch.setattr(tiles, "TILE_BYTES", 1 << 10)
    monkeypatch.setattr(tiles, "L2", 1 << 8)
    monkeypatch.setattr(tiles, "FEWEST", 32)
    count = current_session().telemetry
    before = count.snapshot()["loops_tiled"]

    def fn(z, table, index, steps):
        for t in range(steps):
            z = z * 0.5 + table[(index + t) % 7]
        return z

    decorated = runmat.jit(fn)
    for seed in range(3):
        rng = np.random.default_rng(seed)
        args = rng.random(lanes), rng.random(7), rng.integers(0, 7, lanes), 5
        compare(observe(fn, args, {}), observe(decorated, args, {}), exact=True)
    assert count.snapshot()["loops_tiled"] - before == 3 * (lanes >= 64)

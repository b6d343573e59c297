"""Products of one row an iteration, computed in blocks of rows. Oracle: the undecorated functions;
numbers are integers, whose sums are exact in any order, but where the bound of sums is tested."""

import numpy as np
import pytest

import runmat_jit as runmat
from runmat_jit.loops import row_products
from runmat_jit.loops.row_products import LEAST, ROWS
from tests.capture.behavior import compare, observe
from tests.capture.plain_hooks import function_from

pytestmark = pytest.mark.sampled(6)

BODIES = {
    "a row": "y[i] = x[i] @ w",
    "a row by two indices": "y[i] = x[i, :] @ w",
    "a column": "y[i] = z[:, i] @ w",
    "of a transpose": "y[i] = z.T[i] @ v.T",
    "of columns": "y[i, 2:] = x[i] @ w[:, 2:]",
    "a triangle": "y[i, i:] = x[i] @ w[:, i:]",
    "from the left": "y[i] = v @ x[i]",
    "rows from the left": "y[i, 1:] = v[1:] @ x[i]",
    "by a function": "y[i] = np.dot(x[i], w) + np.matmul(v, x[i])",
    "in an expression": "y[i] += np.abs(x[i] @ w / 1000) * 2",
    "twice": "y[i] = x[i] @ w - (x[i] @ w) * 2",
    "changed afterwards": "r = x[i] @ w\nr += 1\nr[0] = i\ny[i] = r + x[i] @ w",
    "the next row": "if i + 1 < len(x):\n    y[i] = 1\ny[i] = x[i] @ w",
    "kept for later": "y[i] = r\nr = x[i] @ w",
    "a sum": "s += (x[i] @ w).sum()",
    "shifted": "y[i] = x[i + 1 - 1] @ w",
    "of all columns": "y[i] = x[i] @ w[:, :]",
}
"""Bodies whose products are in blocks."""
OTHERS = {
    "rows in another order": "y[i] = x[-1 - i] @ w",
    "one row": "y[i] = x[0] @ w",
    "every second row": "y[i] = x[i // 2] @ w",
    "a matrix that changes": "y[i] = x[i] @ w\nw[0, 0] += 1",
    "a row that changes": "x[i] += 1\ny[i] = x[i] @ w",
    "at times": "if i % 3 == 0:\n    y[i] = x[i] @ w",
    "at an end": "if i > 70:\n    break\ny[i] = x[i] @ w",
    "after a continue": "if i % 3 == 0:\n    continue\ny[i] = x[i] @ w",
    "a new matrix": "y[i] = x[i] @ (w + i)",
    "rows by a name": "j = i + 0\ny[i] = x[j] @ w",
    "of other extents": "y[i] = x[i, 1:] @ w",
}
ERRORS = {"beyond the rows": "y[i] = x[i + 3] @ w", "before them": "y[i] = x[i - 1] @ w"}
HEADS = {
    "all": "for i in range(len(x)):",
    "some": "for i in range(3, len(x) - 1):",
    "rows": "for i, row in enumerate(x):",
}


def loop(body, head="all"):
    """The function that runs a body for some rows."""
    text = body.replace("x[i] @", "row @") if head == "rows" else body
    lines = "\n        ".join(text.split("\n"))
    start = f"def f(x, z, w, v, y):\n    s, r = 0.0, y[0] * 0\n    {HEADS[head]}\n        {lines}\n"
    return function_from(f"{start}    return s, r, y\n", np=np)


def data(rows, terms, columns, kind="d", order="C"):
    rng = np.random.default_rng(rows)
    shapes = ((rows, terms), (terms, rows), (terms, columns), (columns, terms))
    arrays = [rng.integers(-9, 9, shape).astype(kind, order=order) for shape in shapes]
    return (*arrays, np.zeros((rows, columns), kind))


LARGE = 40, 50
SIZES = ((1, *LARGE), (63, *LARGE), (64, *LARGE), (200, *LARGE), (130, 3, 5), (0, *LARGE))
assert LARGE[0] * LARGE[1] >= LEAST
assert ROWS == 64, "the sizes lie around it"


@pytest.mark.parametrize("head", HEADS)
@pytest.mark.parametrize("body", {**BODIES, **OTHERS, **ERRORS})
def test_results_are_those_of_rows(body, head):
    f = loop({**BODIES, **OTHERS, **ERRORS}[body], head)
    g = runmat.jit(f)
    for kind, order in (("d", "C"), ("f", "C"), ("d", "F")):
        for size in SIZES:
            for _ in range(2):
                expected = observe(f, data(*size, kind, order), {})
                compare(expected, observe(g, data(*size, kind, order), {}), exact=True)


@pytest.mark.parametrize("body", {**BODIES, **OTHERS})
def test_which_products_are_in_blocks(body, natively, monkeypatch):
    emitted, row = [], row_products._row
    monkeypatch.setattr(row_products, "_row", lambda *args: emitted.append(args) or row(*args))
    decorated = runmat.jit(loop({**BODIES, **OTHERS}[body]))
    for _ in range(3):
        observe(decorated, data(200, *LARGE), {})
    assert natively() or body in OTHERS
    assert bool(emitted) == (body in BODIES)


@pytest.mark.parametrize("place", [0, 70, 199])
@pytest.mark.parametrize("value", [np.nan, np.inf, 1e300])
def test_events_are_those_of_rows(value, place):
    f = loop("y[i] = x[i] @ w * 1e10")
    g = runmat.jit(f)
    for which in (0, 2):
        for _ in range(3):
            arrays = [data(200, *LARGE), data(200, *LARGE)]
            for each in arrays:
                each[which][place % len(each[which]), 1] = value
            compare(observe(f, arrays[0], {}), observe(g, arrays[1], {}))


@pytest.mark.parametrize("kind", ["d", "f"])
def test_sums_are_within_the_bound(kind):
    rng = np.random.default_rng(5)
    x, w = (rng.normal(size=shape).astype(kind) for shape in ((150, 300), (300, 70)))
    f = loop("y[i] = x[i] @ w")
    y = runmat.jit(f)(x, x.T, w, w.T, np.zeros((150, 70), kind))[2]
    exact = x.astype(np.longdouble) @ w.astype(np.longdouble)
    bound = 301 * np.finfo(kind).eps * (abs(x).astype(float) @ abs(w).astype(float)) / 2
    assert (abs(y - exact) <= bound).all()

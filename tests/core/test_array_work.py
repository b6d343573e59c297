"""Work with whole arrays, read off the source. Oracle: what NumPy is asked to compute."""

import ast
from functools import partial

import numpy as np
import pytest

from runmat_jit.core.array_work import MOST, array_work, may_grow, tree_of
from runmat_jit.core.evidence import ELEMENTS, NUMPYS

N = 64 * ELEMENTS


class Counting(np.ndarray):
    """An array that counts what is computed with it, and with what is made of it."""

    work = 0

    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **kwargs):
        plain = [np.asarray(each) if isinstance(each, Counting) else each for each in inputs]
        if out is not None:
            kwargs["out"] = tuple(np.asarray(each) for each in out)
        size = max(np.size(each) for each in plain)
        if method == "__call__" and ufunc is not np.matmul:
            size = np.prod(np.broadcast_shapes(*map(np.shape, plain)))
        Counting.work += int(size) // ELEMENTS
        found = getattr(ufunc, method)(*plain, **kwargs)
        return found.view(Counting) if isinstance(found, np.ndarray) else found

    def __setitem__(self, index, value):
        Counting.work += np.asarray(self)[index].size // ELEMENTS
        super().__setitem__(index, value)


class Drawing:
    """A generator whose numbers count."""

    def normal(self, *, size):
        Counting.work += int(np.prod(size)) // ELEMENTS
        return np.ones(size)


def counting(make, *args, **kwargs):
    return make(*args, **kwargs).view(Counting)


MAKING = ("zeros", "ones", "full", "linspace", "arange", "eye")


def straight(x):
    return np.sin(x) * 2 + x


def repeated(x):
    for _ in range(7):
        x = np.tanh(x) * 0.5 + x.mean()
    return x


def by_argument(x, count):
    for _ in range(1, count):
        x *= 0.5
    return x


def nested(x):
    for _ in range(3):
        for _ in range(5):
            x = x + 1.0
        x = -x
    return x


def inner(u):
    for _ in range(6):
        u = u.copy()
        u[1:-1] = u[1:-1] + 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
    return u


def elements(x):
    total = 0.0
    for i in range(100):
        total += x[i] * 2.0
    return total


def small_views(x):
    total = 0.0
    for i in range(100):
        total += (x[i : i + 3] * 2).sum()
    return total


def branches(x):
    for i in range(10):
        if i > 8:
            x = np.exp(x)
    return x


def breaks(x):
    for i in range(1000):
        x = x * 0.5
        if i == 3:
            break
    return x


def returns(x):
    for i in range(1000):
        x = x * 0.5
        if i == 3:
            return x
    return x


def rebound(x):
    x = x.sum()
    for _ in range(1000):
        x = x * 0.5 + 1
    return x


def rebound_in_a_branch(x):
    if len(x):
        x = 1.0
    for _ in range(1000):
        x = x * 0.5 + 1
    return x


def counted_down(x):
    while len(x) > N // 64:
        x = x[::2] * 1.0
    return x


def others(x):
    a, b = x, 2.0
    for a in range(100):
        b = b + a
    with np.errstate(all="ignore"):
        x = x + 1.0
    return x, b


def pairs(x):
    y = x[:300]
    d = np.sqrt((y[:, None] - y[None, :]) ** 2)
    return (d * 2.0).sum(axis=1) + y


def closure(x):
    d = np.add.outer(x[:160], x[:160])
    for k in range(len(d)):
        d = np.minimum(d, d[:, k, None] + d[None, k])
    return d


def of_extents(m):
    for i in range(m.shape[0] - 600):
        m = m * 0.5 + m[i, :, np.newaxis][0] + m[..., -1, None]
    return m.mean(-1)[:, None] * m, m.T @ m[:, 0]


def by_stages(x):
    for k in range(5):
        x = np.roll(x, 1)
        y = x[k:] * 2
        z = x[k + 1 :] * y[:-1] + x[1:][k:]
    return z


def makes(count):
    x, n = np.linspace(0.0, 1.0, 100 * count), count * 200
    a, b = np.zeros((n, 100)), np.full(shape=n, fill_value=2.0)
    rng = np.random.default_rng(0)
    for _ in range(5):
        a += 0.5
        a[1:, :50] = a[:-1, 50:] + rng.normal(size=(n - 1, 50))
        b = b * np.ones(b.shape) + np.arange(n)
    u, v = np.meshgrid(x, x[: 2 * count])
    return u * v + a[: 2 * count, :1], b, np.eye(n) * 2


SHAPES = {"x": (N,), "u": (N,), "m": (640, 320)}
EXACT = (straight, repeated, by_argument, nested, inner, pairs, of_extents, makes)
CASES = (*EXACT, elements, small_views, branches, breaks, returns, rebound, rebound_in_a_branch)
CASES += (counted_down, others, closure, by_stages)


@pytest.mark.parametrize("fn", CASES, ids=lambda fn: fn.__name__)
def test_no_more_is_estimated_than_numpy_computes(fn, monkeypatch):
    names = fn.__code__.co_varnames[: fn.__code__.co_argcount]
    shapes = {name: SHAPES[name] for name in names if name != "count"}
    count = {"count": 9} if "count" in names else {}
    estimate = array_work(tree_of(fn.__code__), shapes, count, NUMPYS)
    arrays = [np.linspace(0.0, 1.0, np.prod(each)).reshape(each) for each in shapes.values()]
    for name in MAKING:
        made = partial(
            lambda make, *args, **kwargs: make(*args, **kwargs).view(Counting), vars(np)[name]
        )
        monkeypatch.setattr(np, name, made)
    monkeypatch.setattr(np.random, "default_rng", lambda _: Drawing())
    Counting.work = 0
    fn(*(each.view(Counting) for each in arrays), *count.values())
    assert estimate <= Counting.work + 64  # of arrays a little smaller
    if fn in EXACT:
        assert estimate >= Counting.work / 2


def test_functions_that_may_make_large_arrays_are_known_by_their_code():
    found = {fn.__name__ for fn in CASES if may_grow(fn.__code__)}
    assert found == {"pairs", "closure", "of_extents", "makes"}
    assert may_grow((lambda x: x[None, :] + x[:, None]).__code__)
    assert may_grow((lambda x: x[..., np.newaxis]).__code__)
    assert not may_grow((lambda x, n: (x[0], x[1:n], x[n])).__code__)


def test_what_has_no_source_is_not_estimated():
    namespace = {}
    exec("def made(x):\n  return x * 2", namespace)
    assert tree_of(namespace["made"].__code__) is None
    assert tree_of((lambda x: x * 2).__code__) is None


@pytest.mark.parametrize(
    "line",
    [
        "np.zeros(10 ** 30)[1:]",
        "np.zeros(1 << 80)[1:] + 1",
        "np.ones(n * n * n * n * n)[: n * n] * np.ones((n, n * n, n))",
        "x[..., None, 0, 0, :] + x[5:1, ...]",
        "x.sum(axis=(0, 1)) + x.sum('a') + np.sum(x, 0.5) + x[()]",
        "np.zeros((n, -3)) + np.eye(n, 3) + np.linspace(0, 1) + np.meshgrid(x, 3)",
        "np.zeros([n, x]) + np.full() + np.zeros(x.shape[7]) + rng.normal(0, 1, x.shape)",
        " + ".join(["x"] * 980),
    ],
)
def test_what_a_program_may_not_mean_is_estimated_without_an_error(line):
    tree = ast.parse(
        f"def fn(x, n):\n for i in range(n * n * n):\n  y = {line}\n return y @ y"
    ).body[0]
    work = array_work(tree, {"x": (40, 50)}, {"n": 10**9}, NUMPYS)
    assert 0 <= work <= MOST

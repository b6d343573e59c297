"""Histograms by native loops. Oracle: np.histogram, to the bit, with exceptions and warnings."""

import itertools

import numpy as np
import pytest

import runmat_jit as runmat
from runmat_jit.loops import histograms
from tests.capture.behavior import compare, observe
from tests.capture.plain_hooks import function_from

pytestmark = pytest.mark.sampled(5)

CALLS = (
    "np.histogram(x, 7)",
    "np.histogram(x, b)",
    "np.histogram(x)",
    "np.histogram(x, bins=b, range=(-1.5, 2))",
    "np.histogram(x, b, (0, 1), None, w)",
    "np.histogram(x, b, weights=w)",
    "np.histogram(x, 5, density=True)",
    "np.histogram(x, 5, weights=w * 1j)",
    "np.histogram(x * 2.0, bins=b)[0] * 1.5",
    "np.histogram(x, np.linspace(-1, 1, 6) * 1.0)",
    "np.histogram(x, 'auto')",
    "np.histogram(x, 0)",
    "np.histogram(x, 2.5)",
    "np.histogram(x, b, range=(3, 1))",
    "np.histogram(x, b, range=(0.0, np.inf))",
    "np.histogram(x, b, weights=w[1:])",
)
SIZES = (0, 1, 5, 3000, 70_000, 140_001)


def edges(n):
    """Return elements that lie on edges of seven and of three bins, or beside them."""
    near = np.linspace(-1.0, 1.0, 22)
    return np.resize([*near, *np.nextafter(near, 9), *np.nextafter(near, -9), -0.0], n)


DATA = {
    "normal": lambda n: np.random.default_rng(n).normal(size=n),
    "edges": edges,
    "integers": lambda n: np.arange(float(n)) % 11,
    "equal": lambda n: np.full(n, 0.25),
    "nan": lambda n: np.where(np.arange(n) == n // 2, np.nan, 0.5),
    "inf": lambda n: np.where(np.arange(n) == n // 2, np.inf, 0.5),
    "huge": lambda n: np.where(np.arange(n) % 2, 1e308, -1e308),
    "tiny": lambda n: np.arange(n) * 5e-324,
    "rows": lambda n: np.random.default_rng(n).normal(size=(3, n // 3)),
    "backwards": lambda n: np.random.default_rng(n).normal(size=n)[::-1],
    "single": lambda n: np.random.default_rng(n).normal(size=n).astype("f4"),
    "bytes": lambda n: (np.arange(n) % 200).astype("u1"),
}


@pytest.mark.parametrize("what", DATA)
@pytest.mark.parametrize("call", CALLS)
def test_histograms_are_numpys(call, what, monkeypatch):
    monkeypatch.setattr(histograms, "LEAST", 1)
    fn = function_from(f"def f(x, w, b):\n    return {call}\n", np=np)
    decorated = runmat.jit(fn)
    for size, _ in itertools.product((5, 1, 0, 300), range(2)):
        x = DATA[what](size)
        w = np.random.default_rng(1).normal(size=x.shape) * 1e3
        expected = observe(fn, (x, w, 3), {})
        compare(expected, observe(decorated, (x, w, 3), {}), exact=True)


@pytest.mark.parametrize("size", SIZES)
def test_weights_are_added_in_numpys_order(size, natively):
    def fn(x, w, b):
        return np.histogram(x, b), np.histogram(x, b, weights=w)

    decorated = runmat.jit(fn)
    for seed in range(3):
        x, w = np.random.default_rng(seed).normal(size=(2, size))
        expected = observe(fn, (x, w * 1e9, 13), {})
        compare(expected, observe(decorated, (x, w * 1e9, 13), {}), exact=True)
    assert natively() == 6 * (size >= histograms.LEAST)

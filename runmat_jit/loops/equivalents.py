"""Functions of Python's and NumPy's in terms of others that loops know, emitted where called.

They compute as NumPy's documentation and code say, in the same order, so that results have NumPy's
bits (but for sums of arrays). What they do not cover is not what they assert, or is refused: Python
runs the loop then.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, no-any-return"
# ruff: noqa: ANN001, ANN202  (operands are of any class: loops know of which)

from __future__ import annotations

import builtins
import math
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from runmat_jit.loops.demands import demand
from runmat_jit.loops.source import Helper, helper_of

_COUNT: Final[Any] = type(np.count_nonzero(np.zeros(1)))
"""The class of what ``np.count_nonzero`` gives: Python's before NumPy 2.4."""


def _diff(a):
    return a[..., 1:] - a[..., :-1]


def _ptp(a):
    return np.max(a) - np.min(a)


def _count_nonzero(a):
    return _COUNT(np.sum(a != 0))


def _searchsorted(a, v):
    low, high = 0, len(a)
    while low < high:
        middle = (low + high) >> 1
        if a[middle] < v or (v != v and a[middle] == a[middle]):  # noqa: PLR0124  (NaN is last)
            low = middle + 1
        else:
            high = middle
    return np.int64(low)


def _interp(x, xp, fp):
    last = len(xp) - 1
    assert last >= 1
    assert len(fp) == last + 1
    if x > xp[last]:
        return np.float64(fp[last])
    if not x >= xp[0]:
        return np.float64(demand(x == x, fp[0]))  # noqa: PLR0124  (it is no NaN)
    low, high = 0, last + 1
    while low < high:
        middle = (low + high) >> 1
        if x >= xp[middle]:
            low = middle + 1
        else:
            high = middle
    j = low - 1
    if j == last or xp[j] == x:
        return np.float64(fp[j])
    rise, run = float(fp[j + 1]) - float(fp[j]), float(xp[j + 1]) - float(xp[j])
    found = rise / run * (float(x) - float(xp[j])) + float(fp[j])
    return np.float64(demand(found == found, found))  # noqa: PLR0124  (it is no NaN)


def _isclose(a, b, rtol=1e-05, atol=1e-08):
    return (np.abs(a - b) <= atol + rtol * np.abs(b)) & np.isfinite(b) | (a == b)


def _allclose(a, b, rtol=1e-05, atol=1e-08):
    return bool(np.all(_isclose(a, b, rtol, atol)))


def _array_equal(a, b):
    assert a.ndim == b.ndim == 1
    if len(a) != len(b):
        return False
    return bool(np.all(a == b))


def _sum(items):
    assert items.ndim > 0  # it is an array: Python adds its own floats in another way
    total = 0 + items[0]
    for place in range(1, len(items)):
        total = total + items[place]
    return total


def _max(items):
    best = items[0]
    for place in range(1, len(items)):
        best = max(best, items[place])
    return best


def _min(items):
    best = items[0]
    for place in range(1, len(items)):
        best = min(best, items[place])
    return best


def _flatnonzero(a):
    return np.arange(len(a))[a != 0]


def _nansum(a):
    return np.sum(np.where(np.isnan(a), 0.0, a))


def _gradient(f):
    assert f.ndim == 1
    made = np.zeros_like(f)
    made[1:-1] = (f[2:] - f[:-2]) / 2.0
    made[0] = (f[1] - f[0]) / 1.0
    made[-1] = (f[-1] - f[-2]) / 1.0
    return made


def _trapezoid(y, x):
    assert x.ndim == y.ndim == 1
    return np.sum((x[1:] - x[:-1]) * (y[1:] + y[:-1]) / 2.0)


def _polyval(p, x):
    assert len(p) > 0
    y = np.abs(x) * 0
    for each in p:
        y = y * x + each
    return y


def _triu(m, k=0):
    assert m.ndim == 2
    return np.where(np.arange(m.shape[0])[:, None] <= np.arange(m.shape[1]) - k, m, 0)


def _tril(m, k=0):
    assert m.ndim == 2
    return np.where(np.arange(m.shape[0])[:, None] >= np.arange(m.shape[1]) - k, m, 0)


def _take(a, indices):
    assert a.ndim == 1
    return a[indices]


def _vdot(a, b):
    assert a.ndim == b.ndim == 1
    return np.dot(a, b)


def _gcd(a, b):
    a, b = abs(int(a | 0)), abs(int(b | 0))  # integers
    while b:
        a, b = b, a % b
    return a


def _factorial(n):
    assert 0 <= n <= 20
    found = 1
    for each in range(2, int(n | 0) + 1):
        found *= each
    return found


def _degrees(x):
    return float(x) * (180.0 / math.pi)


def _radians(x):
    return float(x) * (math.pi / 180.0)


def _math_isclose(a, b):
    a, b = float(a), float(b)
    if a == b:
        return True
    if not (math.isfinite(a) and math.isfinite(b)):
        return False
    return abs(a - b) <= abs(1e-09 * b) or abs(a - b) <= abs(1e-09 * a)


def _power(base, exponent):
    return base**exponent


def _divmod(a, b):
    return a // b, a % b


EQUIVALENTS: Final[Mapping[Any, Any]] = {
    np.diff: _diff,
    np.ptp: _ptp,
    np.count_nonzero: _count_nonzero,
    np.searchsorted: _searchsorted,
    np.interp: _interp,
    np.isclose: _isclose,
    np.allclose: _allclose,
    np.array_equal: _array_equal,
    np.flatnonzero: _flatnonzero,
    np.nansum: _nansum,
    np.gradient: _gradient,
    np.trapezoid: _trapezoid,
    np.polyval: _polyval,
    np.triu: _triu,
    np.tril: _tril,
    np.take: _take,
    np.vdot: _vdot,
    builtins.sum: _sum,
    builtins.pow: _power,
    builtins.divmod: _divmod,
    math.gcd: _gcd,
    math.factorial: _factorial,
    math.degrees: _degrees,
    math.radians: _radians,
    math.isclose: _math_isclose,
}
"""By the function that is called."""
EXTREMES: Final[Mapping[Any, Any]] = {builtins.max: _max, builtins.min: _min}
"""Equivalents of calls with one array."""
_OWN: Final = frozenset((*EQUIVALENTS.values(), *EXTREMES.values()))


def equivalent(called: Any, count: int) -> Helper | None:
    """A function to be emitted for a call with so many arguments; None: there is none."""
    try:
        found = called if called in _OWN else EQUIVALENTS.get(called)
    except TypeError:  # it has no hash
        return None
    if found is None and count == 1:
        found = EXTREMES.get(called)
    return None if found is None else helper_of(found)

"""``np.histogram`` in one pass: the loops below run natively instead of NumPy's steps.

NumPy finds the edges, and raises what there is to raise. Its own formulas decide which bin an
element belongs to, and weights are added in its order, block after block: the bits are NumPy's.
"""

from __future__ import annotations

import ast
import builtins
import functools
import inspect
import types
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from runmat_jit.loops import driver
from runmat_jit.loops.source import LoopSource, find_loops

LEAST: Final = 2048
"""Elements from which on a native run takes less time than NumPy."""
_BLOCK: Final = 65536
"""Elements whose weights NumPy adds up before it adds them to those of others."""
_FLOAT: Final = np.dtype(float)


def count(x: Any, edges: Any, counts: Any, *, first: Any, last: Any, width: Any, bins: Any) -> None:
    """Count the elements of each bin."""
    for value in x:
        if first <= value <= last:
            at = int((value - first) / width * bins)
            if at == bins:
                at -= 1
            if value < edges[at]:
                at -= 1
            elif value >= edges[at + 1] and at != bins - 1:
                at += 1
            counts[at] += 1


def weigh(
    x: Any,
    edges: Any,
    counts: Any,
    *,
    first: Any,
    last: Any,
    width: Any,
    bins: Any,
    part: Any,
    weights: Any,
) -> None:
    """Add up the weights of the elements of each bin."""
    for begin in range(0, len(x), _BLOCK):
        part[:] = 0.0
        for i in range(begin, min(begin + _BLOCK, len(x))):
            value = x[i]
            if first <= value <= last:
                at = int((value - first) / width * bins)
                if at == bins:
                    at -= 1
                if value < edges[at]:
                    at -= 1
                elif value >= edges[at + 1] and at != bins - 1:
                    at += 1
                part[at] += weights[i]
        counts += part


class Histogram:
    """``np.histogram`` of arrays of doubles; NumPy's own where no native run gives the counts."""

    __name__ = __qualname__ = "histogram"

    def __init__(self, loops: Any) -> None:
        self._loops = loops

    def __call__(
        self,
        a: Any,
        bins: Any = 10,
        range: Any = None,  # noqa: A002  (NumPy's name)
        density: Any = None,
        weights: Any = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        found = self._native(a, bins, range, weights) if is_of_doubles(a, bins, weights) else None
        if found is None or density:
            return np.histogram(a, bins, range, density, weights)
        return found

    def _native(
        self, a: np.ndarray, bins: int, outer: Any, weights: Any
    ) -> tuple[np.ndarray, np.ndarray] | None:
        """Counts and edges; None where nothing has happened."""
        if np.geterr()["under"] != "ignore":
            return None  # which the edges may report, too
        with np.errstate(all="ignore"):
            try:
                edges = np.histogram_bin_edges(a, bins, outer)
            except (ValueError, TypeError):
                return None
            first, last = edges[0], edges[-1]
            width = last - first
        if edges.dtype != _FLOAT or not np.isfinite(width):
            return None
        counts = np.zeros(bins, np.intp if weights is None else float)
        given = {"x": a.ravel(), "edges": edges, "counts": counts, "bins": bins}
        given |= {"first": first, "last": last, "width": width}
        if weights is not None:
            given |= {"weights": weights.ravel(), "part": np.empty(bins)}
        source = source_of(count if weights is None else weigh)
        found = driver.find(source, given, _outside, _Nothing)
        call = self._loops.call(source, self.__name__, found.reads)
        return None if call.attempt(tuple(found.operands.values())) is None else (counts, edges)


def histogram_of(loops: Any) -> Histogram:
    """Return the histogram of a session, by its loops."""
    found: Histogram = loops.functions.setdefault("histogram", Histogram(loops))
    return found


def is_of_doubles(a: Any, bins: Any, weights: Any) -> bool:
    """Return True for arrays and a number of bins of which a native run gives the counts."""
    if type(a) is not np.ndarray or a.dtype != _FLOAT or a.size < LEAST:
        return False
    if type(bins) is not int or bins < 1:
        return False
    if weights is None:
        return True
    return type(weights) is np.ndarray and weights.dtype == _FLOAT and weights.shape == a.shape


class _Nothing:
    """Stands for what knows the program's functions: these loops call none."""

    undecorated = staticmethod(lambda _fn: None)
    helper = staticmethod(lambda _fn: None)


def _outside(_where: str, name: str) -> Any:
    """Return a builtin, or a constant of this module."""
    return globals().get(name, getattr(builtins, name, None))


@functools.cache  # a memo of a pure question
def source_of(fn: Callable[..., None]) -> LoopSource:
    """Return the outermost loop of one of these functions."""
    assert isinstance(fn, types.FunctionType), "it is written above"
    names = fn.__code__.co_varnames
    (function,) = ast.parse(inspect.getsource(fn)).body
    loops = find_loops(function, lambda name: "local" if name in names else "glob")
    return min(loops.values(), key=lambda each: each.line)

"""What the analysis of loops has found, as text. Oracle: the programs below, read by hand."""

import numpy as np
import pytest

import runmat_jit as runmat
from runmat_jit.core.errors import ArgumentError


def smoothed(x, y, n):
    count = 0
    for _ in range(n):
        s = x[0]
        for i in range(1, len(x)):
            s = 0.5 * s + x[i]
            y[i] = s
        count += 1
    u = x
    for _ in range(n):
        u = u * 0.5
    for k in range(n):
        name = str(k)
    return count, u, name


NEST = """loop of line {0} in smoothed:
  reads n: int
  reads x: float64[:]
  reads y: float64[:]
  reads count: int
  line {0} carries count: int
  line {1} carries s: float64
  stores to y
  leaves count: int
"""
ARRAYS = """loop of line {} in smoothed:
  reads n: int
  reads u: float64[:]
  line {} carries nothing
  stores to nothing
  makes 3 arrays of float64, 1 axes
  independent along axis 0 of u
  leaves u: arrays of float64, 1 axes
"""
REFUSED = """loop of line {} in smoothed:
  reads n: int
  refused: a call of str (line {})
"""


def test_loops_are_described_with_what_they_carry_and_why_they_are_refused():
    decorated, x = runmat.jit(smoothed), np.ones(40)
    decorated(x, x.copy(), 5)
    first = smoothed.__code__.co_firstlineno
    text = decorated.source(x, x.copy(), 5, backend="loops") + "\n"
    for expected, lines in ((NEST, (2, 4)), (ARRAYS, (9, 9)), (REFUSED, (11, 12))):
        assert expected.format(*(first + line for line in lines)) in text


def test_unknown_backends_are_named():
    with pytest.raises(ArgumentError, match="llvm, wgsl, kernel, graph, loops"):
        runmat.jit(smoothed).source(np.ones(3), np.ones(3), 1, backend="ptx")

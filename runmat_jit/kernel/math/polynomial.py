"""Evaluation of polynomials by fused multiply-adds."""

from __future__ import annotations

from collections.abc import Sequence

from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.ir import Value


def horner(k: Builder, x: Value, coefficients: Sequence[float]) -> Value:
    """The polynomial with these coefficients, constant term first: fewest instructions."""
    result = k.const(coefficients[-1], x.type)
    for coefficient in reversed(coefficients[:-1]):
        result = k.fma(result, x, k.const(coefficient, x.type))
    return result


def estrin(k: Builder, x: Value, coefficients: Sequence[float]) -> Value:
    """The same polynomial in logarithmic depth, for a few more multiplications."""
    terms = [k.const(c, x.type) for c in coefficients]
    while len(terms) > 1:
        pairs = [k.fma(x, terms[j + 1], terms[j]) for j in range(0, len(terms) - 1, 2)]
        terms = pairs + terms[2 * len(pairs) :]
        x = x * x
    return terms[0]

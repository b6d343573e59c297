"""Oracle: exact fractions."""

from fractions import Fraction

import numpy as np
import pytest

from runmat_jit.kernel.math.polynomial import horner
from tests.kernel.math.expansions import compiled


@pytest.mark.parametrize("count", range(1, 10))
def test_polynomials_of_whole_numbers_are_exact(count):
    coefficients = [float(3 - j) for j in range(count)]

    def expand(k, x):
        return horner(k, x, coefficients) + x * 0.0  # a polynomial of one term is uniform

    x = np.arange(-8.0, 9.0)
    got = compiled(expand, ("f64",))(x)
    powers = [[Fraction(v) ** j for j in range(count)] for v in x]
    exact = [Fraction(c) for c in coefficients]
    expected = [sum(c * p for c, p in zip(exact, row, strict=True)) for row in powers]
    assert [Fraction(v) for v in got] == expected

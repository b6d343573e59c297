"""Oracle: exact fractions; the law of each transformation holds to the last bit."""

from fractions import Fraction

import numpy as np
import pytest

from runmat_jit.kernel.math.double_word import fast_two_sum, multiply, two_product, two_sum
from tests.kernel.math.expansions import compiled


def transformed(transformation, a, b):
    """Both parts of the pair, as exact sums."""

    def part(j):
        def expand(k, a, b):
            return transformation(k, a, b)[j]

        return compiled(expand, ("f64", "f64"), "f64")(a, b)

    return [Fraction(x) + Fraction(y) for x, y in zip(part(0), part(1), strict=True)]


def pairs():
    rng = np.random.default_rng(15)
    return (rng.normal(0, 1, 500) * 2.0 ** rng.integers(-60, 60, 500) for _ in range(2))


def test_two_sum_is_exact():
    a, b = pairs()
    got = transformed(lambda _, a, b: two_sum(a, b), a, b)
    assert got == [Fraction(x) + Fraction(y) for x, y in zip(a, b, strict=True)]


def test_fast_two_sum_is_exact_for_ordered_operands():
    a, b = pairs()
    larger, smaller = np.where(abs(a) >= abs(b), [a, b], [b, a])
    got = transformed(lambda _, a, b: fast_two_sum(a, b), larger, smaller)
    assert got == [Fraction(x) + Fraction(y) for x, y in zip(a, b, strict=True)]


def test_two_product_is_exact():
    a, b = pairs()
    got = transformed(two_product, a, b)
    assert got == [Fraction(x) * Fraction(y) for x, y in zip(a, b, strict=True)]


@pytest.mark.parametrize("scale", [2.0**-53, 2.0**-60])
def test_products_of_pairs_have_twice_the_digits(scale):
    a, b = pairs()
    got = transformed(lambda k, a, b: multiply(k, (a, a * scale), (b, b * scale)), a, b)
    for x, y, product in zip(a, b, got, strict=True):
        exact = Fraction(x) * Fraction(y) * (1 + Fraction(scale)) ** 2
        assert abs(product - exact) <= abs(exact) * Fraction(2) ** -102

"""Oracle: Python's integers, which have as many digits as a product needs."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from runmat_jit.kernel.math.wide_product import high_of_product
from tests.kernel.math.expansions import any_bits, compiled

UNSIGNED = st.integers(0, 2**64 - 1)
HIGH = compiled(high_of_product, ("i64", "i64"))


def signed(numbers):
    return np.array(numbers, np.uint64).view(np.int64)


def exact(a, b):
    pairs = zip(a.view(np.uint64).tolist(), b.view(np.uint64).tolist(), strict=True)
    return signed([x * y >> 64 for x, y in pairs])


@given(st.lists(st.tuples(UNSIGNED, UNSIGNED), min_size=1, max_size=40))
def test_the_upper_half_is_that_of_the_exact_product(pairs):
    a, b = (signed(side) for side in zip(*pairs, strict=True))
    assert np.array_equal(HIGH(a, b), exact(a, b))


def test_carries_between_the_halves_are_kept():
    edges = [0, 1, 2**31, 2**32 - 1, 2**32, 2**32 + 1, 2**63 - 1, 2**63, 2**64 - 2, 2**64 - 1]
    a, b = (signed(side.reshape(-1)) for side in np.meshgrid(*[np.array(edges, np.uint64)] * 2))
    assert np.array_equal(HIGH(a, b), exact(a, b))
    assert np.array_equal(HIGH.interpreted(a, b), exact(a, b))


def test_products_of_random_numbers_are_exact():
    rng = np.random.default_rng(1)
    a, b = (any_bits(rng, "i8", 5000) for _ in "ab")
    assert np.array_equal(HIGH(a, b), exact(a, b))

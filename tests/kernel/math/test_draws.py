"""Oracle: Python's integers for whole numbers and uniforms, mpmath for normal numbers."""

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runmat_jit.kernel.math.draws import bounded, normal, open_uniform, uniform
from tests.kernel.math.expansions import FLOATS, any_bits, compiled
from tests.kernel.math.ulp import largest_error

INTEGERS = {"f32": "i32", "f64": "i64"}
DIGITS = {"f32": 24, "f64": 53}
ULP = 1.5


def unsigned(bits):
    return bits.view(f"u{bits.itemsize}").tolist()


def some_bits(kind, n=8000):
    """Random bits, and those next to where a sign, a quarter turn or a carry begins."""
    width = int(INTEGERS[kind][1:])
    quarters = [quarter << (width - 2) for quarter in range(4)]
    near = [(quarter + step) % 2**width for quarter in quarters for step in range(-3, 4)]
    drawn = any_bits(np.random.default_rng(3), f"i{width // 8}", n)
    return np.concatenate([np.array(near, f"u{width // 8}").view(drawn.dtype), drawn])


@pytest.mark.parametrize("kind", FLOATS)
def test_a_uniform_number_is_its_upper_bits(kind):
    bits = some_bits(kind)
    width, digits = 8 * bits.itemsize, DIGITS[kind]
    expected = [(word >> (width - digits)) * 2.0**-digits for word in unsigned(bits)]
    found = compiled(uniform, (INTEGERS[kind],), kind)(bits)
    assert found.tolist() == expected
    assert found.min() == 0.0
    assert found.max() == 1.0 - 2.0**-digits


@pytest.mark.parametrize("kind", FLOATS)
def test_an_open_uniform_number_is_neither_0_nor_1(kind):
    bits = some_bits(kind)
    found = compiled(open_uniform, (INTEGERS[kind],), kind)(bits)
    width = 8 * bits.itemsize
    assert found.min() == 2.0**-width
    assert found.max() == 1.0 - 2.0 ** -DIGITS[kind]
    exact = np.array([(word >> 1) + 0.5 for word in unsigned(bits)]) * 2.0 ** (1 - width)
    assert np.abs(found - exact).max() <= 2.0 ** -DIGITS[kind]


@given(st.lists(st.tuples(st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1)), min_size=1))
def test_a_bounded_number_is_the_share_of_the_bits(pairs):
    bits, last = (np.array(side, np.uint64).view(np.int64) for side in zip(*pairs, strict=True))
    found = compiled(bounded, ("i64", "i64"))(bits, last)
    assert unsigned(found) == [word * (end + 1) >> 64 for word, end in pairs]


@pytest.mark.parametrize("last", [0, 1, 5, 2**32, 2**63 - 1, 2**64 - 1])
def test_the_extremes_of_a_bounded_number_come_from_the_extremes_of_the_bits(last):
    bits = np.array([0, 2**64 - 1], np.uint64).view(np.int64)
    ends = np.full(2, last, np.uint64).view(np.int64)
    assert unsigned(compiled(bounded, ("i64", "i64"))(bits, ends)) == [0, last]


def pairs(kind):
    """Bits of radii and of angles: each special one with some of the others."""
    bits = some_bits(kind)
    other = np.random.default_rng(4).permutation(bits)
    return bits, other


@pytest.mark.parametrize("kind", FLOATS)
def test_a_normal_number_is_within_its_bound(kind):
    radius, angle = pairs(kind)
    integer = INTEGERS[kind]
    found = compiled(normal, (integer, integer), kind)(radius, angle)
    u = compiled(open_uniform, (integer,), kind)(radius)
    width = 8 * angle.itemsize
    half_turns = (angle + np.asarray(1 << (width - 2), angle.dtype)) < 0
    left = (angle ^ np.where(half_turns, np.iinfo(angle.dtype).min, 0)).astype(FLOATS[kind])
    sign = np.where(half_turns, -1.0, 1.0)

    def exact(u, left, sign):
        return sign * mp.sqrt(-2 * mp.log(u)) * mp.sin(mp.ldexp(mp.pi * left, 1 - width))

    usual = left != 0
    error, where = largest_error(found[usual], exact, [u[usual], left[usual], sign[usual]])
    assert error < ULP, where
    assert not found[~usual].any()


@pytest.mark.parametrize("kind", FLOATS)
def test_normal_numbers_are_finite_and_reach_far(kind):
    integer = INTEGERS[kind]
    width = int(integer[1:])
    radius = np.array([0, -1], f"i{width // 8}")
    angle = np.full(2, 1 << (width - 2), radius.dtype)
    largest, smallest = compiled(normal, (integer, integer), kind)(radius, angle)
    assert abs(largest) == pytest.approx(np.sqrt(2 * width * np.log(2)))
    assert 0 < abs(smallest) < 1e-3


@pytest.mark.parametrize("kind", FLOATS)
def test_interpreted_and_native_bits_are_equal(kind):
    radius, angle = (bits[:400] for bits in pairs(kind))
    expand = compiled(normal, (INTEGERS[kind], INTEGERS[kind]), kind)
    assert expand(radius, angle).tobytes() == expand.interpreted(radius, angle).tobytes()

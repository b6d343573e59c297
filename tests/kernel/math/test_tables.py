"""Oracle: mpmath."""

import mpmath as mp
import numpy as np
import pytest

from runmat_jit.kernel.math.tables import table


def exact(field, unit):
    """``2**(field - unit) / pi mod 2``."""
    return mp.fmod(mp.ldexp(1 / mp.pi, field - unit), 2)


@pytest.mark.parametrize("field", [1023, 1043, 1100, 1500, 1999, 2046])
def test_four_doubles_hold_two_hundred_digits_of_a_multiple_of_one_over_pi(field):
    with mp.workprec(1600):
        parts = table("one_over_pi_f64").reshape(2048, 4)[field]
        error = exact(field, 1075) - mp.fsum(map(float, parts))
        assert 0 <= error < mp.ldexp(1, -200)
        assert np.all(np.abs(parts[1:]) <= np.abs(parts[:-1]))


@pytest.mark.parametrize("field", [127, 143, 180, 200, 254])
def test_three_words_hold_96_digits_of_a_multiple_of_one_over_pi(field):
    with mp.workprec(1600):
        words = table("one_over_pi_f32").reshape(256, 3)[field].view(np.uint32)
        number = sum(int(word) << shift for word, shift in zip(words, (64, 32, 0), strict=True))
        error = exact(field, 150) - mp.ldexp(number, -95)
        assert 0 <= error < mp.ldexp(1, -94)


def test_there_is_no_other_table():
    with pytest.raises(KeyError):
        table("two_over_pi")

"""Oracle: exact fractions."""

from fractions import Fraction
from math import floor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from matlab_frontend.engine import NumpyEngine
from matlab_frontend.ranges import count_steps, make_range
from matlab_frontend.values.array import Array, kind_of, shape_of
from matlab_frontend.values.read import known

ENGINE = NumpyEngine()


@given(start=st.integers(-50, 50), step=st.integers(-7, 7), stop=st.integers(-50, 50))
def test_whole_numbers_are_counted_exactly(start, step, stop):
    expected = list(range(start, stop + (1 if step > 0 else -1), step)) if step else []
    made = known(ENGINE, make_range(ENGINE, float(start), float(step), float(stop)))
    assert made.ravel().tolist() == expected


@given(steps=st.integers(0, 1000), tenths=st.integers(1, 99))
def test_a_last_element_that_rounding_misses_is_kept(steps, tenths):
    step = tenths / 10
    stop = float(Fraction(tenths, 10) * steps)
    assert count_steps(0.0, step, stop) == steps + 1
    made = known(ENGINE, make_range(ENGINE, 0.0, step, stop)).ravel()
    assert made[-1] == stop


def test_an_empty_range_is_an_empty_row():
    assert shape_of(make_range(ENGINE, 5.0, 1.0, 1.0)) == (1, 0)


def test_a_range_ends_before_its_stop():
    assert count_steps(0.0, 2.0, 7.0) == floor(7 / 2) + 1


@pytest.mark.parametrize("kind", ["int8", "single"])
def test_a_range_has_the_class_of_its_ends(kind):
    dtype = np.float32 if kind == "single" else kind
    end = Array(kind, np.full((1, 1), 3, dtype))
    assert kind_of(make_range(ENGINE, 1.0, 1.0, end)) == kind

"""Oracle: layouts of MATLAB's command window, written down by hand."""

import numpy as np
import pytest

from matlab_frontend.display import disp, display
from matlab_frontend.display_numbers import LONG
from matlab_frontend.engine import NumpyEngine
from matlab_frontend.values.array import Array
from matlab_frontend.values.make import cell, empty, from_numpy, row, struct, text

ENGINE = NumpyEngine()


@pytest.mark.parametrize(
    ("value", "line"),
    [
        (5.0, "     5"),
        (-3.0, "    -3"),
        (1000.0, "        1000"),
        (3.14159, "    3.1416"),
        (100.5, "  100.5000"),
        (12345.678, "   1.2346e+04"),
        (0.00012345, "   1.2345e-04"),
        (1e10, "   1.0000e+10"),
        (float("nan"), "   NaN"),
        (float("-inf"), "  -Inf"),
        (True, "   1"),
    ],
)
def test_a_scalar_in_format_short(value, line):
    assert disp(ENGINE, value) == line + "\n"


@pytest.mark.parametrize(
    ("value", "line"),
    [
        (np.pi, "   3.141592653589793"),
        (10 * np.pi, "  31.415926535897931"),
        (100.5, "     1.005000000000000e+02"),
    ],
)
def test_a_scalar_in_format_long(value, line):
    assert disp(ENGINE, value, LONG) == line + "\n"


@pytest.mark.parametrize(
    ("numbers", "text_"),
    [
        ([1, 20], "     1    20\n"),
        ([1.5, 0], "    1.5000         0\n"),
        ([1000.5, 1], "   1.0e+03 *\n\n    1.0005    0.0010\n"),
        ([0.0001, 0.0002], "   1.0e-03 *\n\n    0.1000    0.2000\n"),
        ([1, float("nan")], "     1   NaN\n"),
    ],
)
def test_a_row_in_format_short(numbers, text_):
    assert disp(ENGINE, row(numbers)) == text_


def test_a_named_value_stands_between_blank_lines():
    assert display(ENGINE, "x", 5.0) == "\nx =\n\n     5\n\n"


def test_other_classes_are_named_with_their_size():
    value = Array("int32", np.array([[1], [2]], np.int32))
    expected = "\nx =\n\n  1\N{MULTIPLICATION SIGN}2 int32 row vector\n\n   1   2\n\n"
    assert display(ENGINE, "x", value) == expected


def test_empty_values_say_what_they_are():
    assert display(ENGINE, "x", empty()) == "\nx =\n\n     []\n\n"
    assert "0\N{MULTIPLICATION SIGN}3 empty double matrix" in display(ENGINE, "x", empty(0, 3))


def test_wide_matrices_are_split_into_groups_of_columns():
    lines = disp(ENGINE, row(range(1, 31))).split("\n")
    assert lines[0] == "  Columns 1 through 13"
    assert lines[8] == "  Columns 27 through 30"
    assert max(map(len, lines)) <= 80


def test_columns_of_cells_are_aligned():
    value = cell([1.0, text("text")], (2, 1))
    assert disp(ENGINE, value) == "    {[   1]}\n    {'text'}\n"


def test_fields_of_a_struct_are_aligned_at_the_colon():
    value = struct({"a": 1.0, "name": text("Bob")})
    assert disp(ENGINE, value) == "       a: 1\n    name: 'Bob'\n"


def test_each_page_has_a_title():
    value = from_numpy(np.ones((2, 2, 2)))
    shown = display(ENGINE, "A", value)
    assert "\nA(:,:,1) =\n\n     1     1\n" in shown
    assert "\nA(:,:,2) =\n\n" in shown

"""Oracle: Python's own % formatting for one number; MATLAB's documented rules for cycling."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from matlab_frontend.engine import NumpyEngine
from matlab_frontend.format_text import format_values, unescape
from matlab_frontend.values.make import empty, row, text

ENGINE = NumpyEngine()


@given(
    x=st.floats(allow_nan=False, allow_infinity=False, width=32),
    template=st.sampled_from(["%f", "%8.3f", "%-12.2e|", "%g", "%+.4g", "%012.3f"]),
)
def test_a_real_number_prints_as_in_c(x, template):
    assert format_values(ENGINE, template, [x]) == template % x


@given(x=st.integers(-(2**53), 2**53))
def test_a_whole_number_prints_all_its_digits(x):
    assert format_values(ENGINE, "%d", [float(x)]) == str(x)


@pytest.mark.parametrize(
    ("template", "values", "expected"),
    [
        ("%d %d\n", [row([1, 2, 3])], "1 2\n3 "),
        ("%d, ", [row([1, 2])], "1, 2, "),
        ("%s=%d;", [text("a"), 1.0, text("bc"), 2.0], "a=1;bc=2;"),
        ("%d", [1.5], "1.500000e+00"),
        ("%d", [text("ab")], "9798"),
        ("%s", [65.0], "A"),
        ("%5s|%-5s|", [text("ab"), text("cd")], "   ab|cd   |"),
        ("%d", [float("nan")], "NaN"),
        ("%5.1f|", [float("-inf")], " -Inf|"),
        ("%*d", [5.0, 42.0], "   42"),
        ("none", [1.0], "none"),
        ("%d%%", [50.0], "50%"),
        ("[%s]", [empty()], "[]"),
        ("x%dy", [], "xy"),
        ("%x %o %c", [255.0, 8.0, text("z")], "ff 10 z"),
        ("%d", [True], "1"),
    ],
)
def test_templates_and_values(template, values, expected):
    assert format_values(ENGINE, template, values) == expected


def test_escapes_become_characters():
    assert unescape(r"a\tb\n\\n\x41\101") == "a\tb\n\\nAA"

"""Dates; oracles: Python's ``datetime`` and NumPy's ``datetime64``."""

import locale
from datetime import datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from matlab_frontend.dates import LANGUAGES, format_serial, parse_date, parts_of, serials_of
from runmat_jit import matlab

MOMENTS = st.datetimes(datetime(1000, 1, 1), datetime(2999, 12, 31))  # noqa: DTZ001  (no zones)
PYTHON = {
    "yyyy-mm-dd HH:MM:SS": "%Y-%m-%d %H:%M:%S",
    "dd-mmm-yyyy": "%d-%b-%Y",
    "dddd dd mmmm yyyy": "%A %d %B %Y",
    "mm/dd/yy": "%m/%d/%y",
    "HH:MM PM": "%I:%M %p",
    "ddd": "%a",
}
assert locale.getlocale(locale.LC_TIME)[0] in (None, "en_US", "C")


def serial(moment):
    start = datetime(1, 1, 1)  # noqa: DTZ001  (no zones)
    return 367 + (moment - start) / timedelta(days=1)


@given(moment=MOMENTS)
def test_the_parts_of_a_serial_number_are_those_of_the_moment(moment):
    row = [moment.year, moment.month, moment.day, moment.hour, moment.minute]
    row.append(moment.second + moment.microsecond / 1e6)
    (number,) = serials_of(np.array([row]))
    assert number == pytest.approx(serial(moment), abs=1e-9)
    whole = moment.replace(microsecond=0)
    assert parts_of(serial(whole)) == pytest.approx([*row[:5], whole.second], abs=2e-5)


@pytest.mark.parametrize("template", PYTHON)
@given(moment=MOMENTS)
def test_a_date_is_shown_as_python_shows_it(template, moment):
    whole = moment.replace(microsecond=0)
    shown = format_serial(serial(whole), template, "datestr")
    wanted = whole.strftime(PYTHON[template])
    if "PM" in template:
        wanted = wanted.replace("0", " ", 1) if wanted.startswith("0") else wanted
    year = f"{whole.year:04d}"
    assert shown == wanted.replace(str(whole.year), year)


@pytest.mark.parametrize("language", LANGUAGES)
@given(moment=MOMENTS)
def test_what_is_shown_is_read_back(language, moment):
    whole = moment.replace(microsecond=0)
    template = {"datestr": "dd-mmm-yyyy HH:MM:SS", "datetime": "dd-MMM-yyyy HH:mm:ss"}[language]
    shown = format_serial(serial(whole), template, language)
    read = parse_date(shown, template, language)
    assert read == pytest.approx(serial(whole), abs=1e-9)


@given(moments=st.lists(MOMENTS, min_size=2, max_size=4), hours=st.integers(-1000, 1000))
def test_times_compute_as_numpy_does(moments, hours):
    wholes = [moment.replace(microsecond=moment.microsecond // 1000 * 1000) for moment in moments]
    rows = [
        [m.year, m.month, m.day, m.hour, m.minute, m.second + m.microsecond / 1e6] for m in wholes
    ]
    code = (
        "t = datetime(rows); u = t + hours(h); d = u - t(1); s = sort(t); b = t < t(1); x = max(t);"
    )
    made = matlab.run(code, {"rows": np.array(rows), "h": hours})
    t = np.array(wholes, "datetime64[us]")
    np.testing.assert_array_equal(made["t"].ravel(), t)
    np.testing.assert_array_equal(made["u"].ravel(), t + np.timedelta64(hours, "h"))
    np.testing.assert_array_equal(made["d"].ravel(), t + np.timedelta64(hours, "h") - t[0])
    np.testing.assert_array_equal(made["s"].ravel(), np.sort(t))
    np.testing.assert_array_equal(np.ravel(made["b"]), t < t[0])
    assert made["x"] == t.max()


def test_functions_that_know_no_times_refuse_them():
    """No function of numbers takes the milliseconds of a moment for a number."""
    refused = []
    for name in ("sin", "sum", "cumsum", "prod", "floor", "fft", "norm", "round", "double", "find"):
        code = f"d = datetime(2024, 1, 1:3); try, {name}(d); r = 0; catch, r = 1; end"
        if matlab.run(code)["r"] == 1:
            refused.append(name)
    assert len(refused) == 10

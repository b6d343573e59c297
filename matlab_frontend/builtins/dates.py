"""Dates as numbers, rows of parts, and texts: datenum, datestr, datevec and their like."""

from __future__ import annotations

import calendar
import time

import numpy as np

from matlab_frontend.builtins.registry import Call, builtin
from matlab_frontend.dates import (
    DAYS,
    NUMBERED,
    default_template,
    format_serial,
    guess_date,
    parse_date,
    parts_of,
    serial_of_timestamp,
    serials_of,
    weekday_of,
)
from matlab_frontend.errors import MatlabError
from matlab_frontend.values.array import Array, Cell, Value
from matlab_frontend.values.make import column, from_numpy, text, text_rows
from matlab_frontend.values.read import integer_of, is_text, known, lines_of, number_of, text_of

_PARTS = 6


def _is_words(value: Value) -> bool:
    return isinstance(value, Cell) or (
        isinstance(value, Array) and value.kind in ("char", "string")
    )


def serials_in(call: Call, value: Value, template: str | None = None) -> np.ndarray:
    """Serial numbers of texts, of rows of parts, or as they are given.

    Raises:
        MatlabError: a text is no date.

    """
    if _is_words(value):
        return np.array([_parsed(shown, template) for shown in lines_of(value)], float)
    table = known(call.engine, value).astype(float)
    if table.ndim == 2 and table.shape[1] in (3, _PARTS) and _are_parts(table):
        return serials_of(table)
    return table


def _are_parts(table: np.ndarray) -> bool:
    """True if rows look like years, months and days, as ``datestr`` and ``datevec`` look."""
    return bool(
        np.all(table[:, :3] == np.floor(table[:, :3]))
        and np.all(np.abs(table[:, 1:3]) <= 366)
        and np.all((table[:, 0] >= 500) & (table[:, 0] <= 9999))
    )


def _parsed(shown: str, template: str | None) -> float:
    if template is None:
        return guess_date(shown)[0]
    serial = parse_date(shown, template, "datestr")
    if serial is None:
        message = f"Failed to convert '{shown}' to a date by the format '{template}'."
        raise MatlabError("MATLAB:datenum:ConvertDateString", message)
    return serial


@builtin("datenum")
def datenum(call: Call, first: Value, *others: Value) -> Value:
    """Serial numbers of texts, rows of parts, or years, months, days, hours, minutes, seconds."""
    if _is_words(first):
        template = text_of(others[0]) if others and is_text(others[0]) else None
        return column(serials_in(call, first, template).tolist())
    if not others:
        table = known(call.engine, first).astype(float)
        if table.ndim == 2 and table.shape[1] in (3, _PARTS):
            return column(serials_of(table).tolist())
        return from_numpy(table)
    if not 2 <= len(others) <= _PARTS - 1:
        raise MatlabError("MATLAB:datenum:Nargin", "Years, months and days must be given.")
    arrays = np.broadcast_arrays(*(known(call.engine, x).astype(float) for x in (first, *others)))
    rows = np.stack([array.ravel(order="F") for array in arrays], axis=1)
    return from_numpy(serials_of(rows).reshape(arrays[0].shape, order="F"))


@builtin("datestr")
def datestr(call: Call, when: Value, template: Value | None = None) -> Value:
    """Dates as rows of text, by a format or its number."""
    serials = serials_in(call, when).ravel(order="F").tolist()
    if template is None or (not is_text(template) and number_of(call.engine, template) < 0):
        shown = default_template(serials)
    elif is_text(template):
        shown = text_of(template)
    else:
        number = integer_of(call.engine, template)
        if number >= len(NUMBERED):
            raise MatlabError("MATLAB:datestr:InvalidFormat", f"There is no date format {number}.")
        shown = NUMBERED[number]
    lines = [format_serial(serial, shown, "datestr") for serial in serials]
    return text(lines[0]) if len(lines) == 1 else text_rows(lines)


@builtin("datevec")
def datevec(call: Call, when: Value, template: Value | None = None) -> tuple[Value, ...] | Value:
    """Years, months, days, hours, minutes and seconds, as a matrix or as outputs."""
    shown = None if template is None or not is_text(template) else text_of(template)
    serials = serials_in(call, when, shown).ravel(order="F").tolist()
    rows = np.array([parts_of(serial) for serial in serials], float).reshape(-1, _PARTS)
    if call.outputs <= 1:
        return from_numpy(rows)
    return tuple(column(part.tolist()) for part in rows.T)


@builtin("weekday")
def weekday(call: Call, when: Value, form: Value | None = None) -> tuple[Value, ...]:
    """1 for Sunday to 7 for Saturday, and the name of the day."""
    serials = serials_in(call, when)
    numbers = np.array([weekday_of(x) for x in serials.ravel(order="F").tolist()], float)
    whole = form is not None and text_of(form) == "long"
    names = [DAYS[int(k) - 1] for k in numbers]
    shown = text_rows([name if whole else name[:3] for name in names])
    return from_numpy(numbers.reshape(serials.shape, order="F")), shown


@builtin("eomday")
def eomday(call: Call, year: Value, month: Value) -> Value:
    """The last day of months."""
    years, months = np.broadcast_arrays(known(call.engine, year), known(call.engine, month))
    if np.any((months < 1) | (months > 12)):
        raise MatlabError("MATLAB:eomday:InvalidMonth", "Months must be from 1 to 12.")
    days = [
        28 + calendar.isleap(int(y)) if int(m) == 2 else 31 - (int(m) in (4, 6, 9, 11))
        for y, m in zip(years.ravel(order="F"), months.ravel(order="F"), strict=True)
    ]
    return from_numpy(np.array(days, float).reshape(years.shape, order="F"))


_UNITS = {"day": 1.0, "hour": 24.0, "minute": 1440.0, "second": 86400.0, "millisecond": 86400e3}


@builtin("addtodate")
def addtodate(call: Call, when: Value, count: Value, unit: Value) -> Value:
    """A date so many years, months, days, hours, minutes or seconds later."""
    serial, number = number_of(call.engine, when), number_of(call.engine, count)
    name = text_of(unit)
    if name in _UNITS:
        return serial + number / _UNITS[name]
    if name not in ("year", "month"):
        raise MatlabError("MATLAB:addtodate:InvalidUnit", f"'{name}' is no unit of time.")
    parts = parts_of(serial)
    months = parts.year * 12 + parts.month - 1 + int(number) * (12 if name == "year" else 1)
    year, month = months // 12, months % 12 + 1
    last = calendar.monthrange(year, month)[1]
    start = np.array([[year, month, min(parts.day, last)]])
    return float(serials_of(start)[0]) + serial % 1


@builtin("etime")
def etime(call: Call, end: Value, start: Value) -> Value:
    """Seconds to a row of parts, as ``clock`` gives them, since an earlier one."""
    rows = [known(call.engine, x).astype(float).reshape(1, -1) for x in (start, end)]
    if any(row.shape[1] != _PARTS for row in rows):
        raise MatlabError("MATLAB:etime:InvalidInput", "Dates must be rows of six parts.")
    days = [serials_of(row[:, :3])[0] for row in rows]
    seconds = [float(row[0, 3:] @ np.array([3600.0, 60.0, 1.0])) for row in rows]
    return float((days[1] - days[0]) * 86400 + seconds[1] - seconds[0])


@builtin("now")
def now(_: Call) -> Value:
    """The serial number of this moment."""
    return serial_of_timestamp(time.time())


@builtin("date")
def date(_: Call) -> Value:
    """Today, as ``01-Jan-2024``."""
    return text(format_serial(serial_of_timestamp(time.time()), "dd-mmm-yyyy", "datestr"))

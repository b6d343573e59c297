"""Making ``datetime`` and ``duration`` arrays, and their parts."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping

import numpy as np

from matlab_frontend.builtins.registry import Builtin, Call, builtin
from matlab_frontend.dates import UNIX_EPOCH, parts_of, serial_of_timestamp, serials_of
from matlab_frontend.errors import MatlabError
from matlab_frontend.times import DAY_MS, UNITS_MS, Times, from_texts, part_of
from matlab_frontend.values.array import Cell, Value, as_array, kind_of, shape_of
from matlab_frontend.values.make import text, wrap
from matlab_frontend.values.read import is_text, known, lines_of, text_of, wrong_class


def times_of(value: Value, kind: str) -> Times:
    """The value as an array of moments or of spans.

    Raises:
        MatlabError: it is of another class.

    """
    if not isinstance(value, Times) or value.kind != kind:
        raise wrong_class(kind, value)
    return value


def _options(given: list[Value], names: tuple[str, ...]) -> dict[str, str]:
    """Take names and values off the end of some arguments.

    Raises:
        MatlabError: an option is not supported.

    """
    made: dict[str, str] = {}
    for at, value in enumerate(given):
        if is_text(value) and text_of(value).lower() in (*names, "timezone", "locale", "pivotyear"):
            for k in range(at, len(given), 2):
                name = text_of(given[k]).lower()
                if name not in names or k + 1 == len(given):
                    message = f"The option '{text_of(given[k])}' is not supported."
                    raise MatlabError("MATLAB:datetime:UnsupportedOption", message)
                made[name] = text_of(given[k + 1])
            del given[at:]
            break
    stray = next((x for x in given[1:] if is_text(x)), None)
    if stray is not None:
        message = f"The option '{text_of(stray)}' is not supported."
        raise MatlabError("MATLAB:datetime:UnsupportedOption", message)
    return made


def _is_words(value: Value) -> bool:
    return isinstance(value, Cell) or kind_of(value) in ("char", "string")


@builtin("datetime")
def datetime_(call: Call, *arguments: Value) -> Value:
    """Moments: now, from texts, from years, months, days and so on, or converted."""
    given = list(arguments)
    options = _options(given, ("inputformat", "format", "convertfrom"))
    form = options.get("format", "")
    if not given:
        serial = serial_of_timestamp(time.time())
        return Times("datetime", np.full((1, 1), _moment(serial)), form)
    first = given[0]
    if isinstance(first, Times):
        return Times("datetime", times_of(first, "datetime").data, form or first.form)
    if _is_words(first):
        made = from_texts(lines_of(first), first, options.get("inputformat"))
        return Times("datetime", made.data, form)
    if "convertfrom" in options:
        return _converted(call, first, options["convertfrom"], form)
    if len(given) == 1:
        table = known(call.engine, first).astype(float)
        if table.ndim != 2 or table.shape[1] not in (3, 6):
            message = "Numbers are rows of years, months and days, or need 'ConvertFrom'."
            raise MatlabError("MATLAB:datetime:InvalidInput", message)
        return Times("datetime", _moments(table).reshape(1, -1), form)
    if not 3 <= len(given) <= 7:
        raise MatlabError("MATLAB:datetime:InvalidInput", "Years, months and days must be given.")
    parts = np.broadcast_arrays(*(known(call.engine, x).astype(float) for x in given))
    rows = np.stack([part.ravel(order="F") for part in parts], axis=1)
    if rows.shape[1] == 7:
        rows[:, 5] += rows[:, 6] / 1e3
    return Times("datetime", _moments(rows[:, :6]).reshape(parts[0].shape[::-1]), form)


def _moment(serial: float) -> float:
    return round((serial - UNIX_EPOCH) * DAY_MS, 3)


def _moments(rows: np.ndarray) -> np.ndarray:
    """Milliseconds of rows of parts: exact, as days and the time of day are added apart."""
    days = serials_of(rows[:, :3]) - UNIX_EPOCH
    clock = np.zeros(rows.shape[0])
    for k, unit in enumerate((3.6e6, 6e4, 1e3)):
        if rows.shape[1] > 3 + k:
            clock = clock + rows[:, 3 + k] * unit
    return np.asarray(days * DAY_MS + clock)


def _converted(call: Call, value: Value, form: str, shown: str) -> Value:
    """Moments from numbers of another calendar or clock."""
    numbers = known(call.engine, value).astype(float)
    if form == "datenum":
        made = np.round((numbers - UNIX_EPOCH) * DAY_MS, 3)
    elif form in ("posixtime", "epochtime"):
        made = numbers * 1e3
    elif form == "excel":
        made = np.round((numbers + 693960 - UNIX_EPOCH) * DAY_MS, 3)
    elif form == "yyyymmdd":
        parts = (numbers // 10000, numbers // 100 % 100, numbers % 100)
        rows = np.stack([part.ravel(order="F") for part in parts], axis=1)
        made = _moments(rows).reshape(numbers.shape, order="F")
    else:
        message = f"'ConvertFrom' of '{form}' is not supported."
        raise MatlabError("MATLAB:datetime:UnsupportedOption", message)
    return Times("datetime", np.ascontiguousarray(made.T), shown)


@builtin("duration")
def duration(call: Call, *arguments: Value) -> Value:
    """Spans of hours, minutes and seconds, or of texts such as ``01:30:00``."""
    given = list(arguments)
    form = _options(given, ("format", "inputformat")).get("format", "")
    if not given:
        raise MatlabError("MATLAB:minrhs", "Not enough input arguments.")
    if isinstance(given[0], Times):
        return Times("duration", times_of(given[0], "duration").data, form or given[0].form)
    if _is_words(given[0]):
        numbers = [_span(line) for line in lines_of(given[0])]
        is_char = kind_of(given[0]) == "char"
        shape = (len(numbers), 1) if is_char else shape_of(given[0])
        return Times("duration", np.array(numbers, float).reshape(shape[::-1]), form)
    tables = [known(call.engine, x).astype(float) for x in given]
    if len(tables) == 1:
        if tables[0].ndim != 2 or tables[0].shape[1] != 3:
            message = "Numbers are hours, minutes and seconds, or rows of them."
            raise MatlabError("MATLAB:duration:InvalidInput", message)
        tables = [tables[0][:, k : k + 1] for k in range(3)]
    if not 3 <= len(tables) <= 4:
        raise MatlabError("MATLAB:duration:InvalidInput", "Hours, minutes and seconds are needed.")
    units = (3.6e6, 6e4, 1e3, 1.0)
    made = sum(table * unit for table, unit in zip(tables, units, strict=False))
    return Times("duration", np.ascontiguousarray(np.asarray(made).T), form)


def _span(line: str) -> float:
    """Milliseconds of ``hh:mm:ss``, ``dd:hh:mm:ss`` or ``hh:mm``."""
    sign = -1.0 if line.strip().startswith("-") else 1.0
    words = line.strip().lstrip("-").split(":")
    try:
        parts = [float(word) for word in words]
    except ValueError:
        parts = []
    if not 2 <= len(parts) <= 4:
        raise MatlabError("MATLAB:duration:ParseErr", f"Unable to convert '{line}' to a duration.")
    if len(parts) == 2:
        parts.append(0.0)
    units = (DAY_MS, 3.6e6, 6e4, 1e3)[-len(parts) :]
    return sign * sum(part * unit for part, unit in zip(parts, units, strict=True))


_MAKERS: Mapping[str, str] = {
    "years": "y",
    "days": "d",
    "hours": "h",
    "minutes": "m",
    "seconds": "s",
}


def _maker(name: str, unit_ms: float, form: str) -> Builtin:
    def function(call: Call, x: Value) -> Value:
        if isinstance(x, Times):
            return wrap("double", times_of(x, "duration").data / unit_ms)
        array = as_array(x)
        if array is None or array.kind in ("char", "string"):
            raise wrong_class("double", x)
        data = call.engine.look(array.data).astype(float)
        return Times("duration", data * unit_ms, form)

    return Builtin(name, function, 1, 1, f"Spans of so many {name}, or how many {name} spans have.")


_PARTS = ("year", "month", "day", "hour", "minute", "second")


def _part(name: str, at: int) -> Builtin:
    def function(_: Call, x: Value) -> Value:
        return part_of(times_of(x, "datetime"), at)

    return Builtin(name, function, 1, 1, f"The {name} of moments.")


GENERATED = (
    *(_maker(name, UNITS_MS[form], form) for name, form in _MAKERS.items()),
    _maker("milliseconds", 1.0, "s"),
    *(_part(name, at) for at, name in enumerate(_PARTS)),
)


@builtin("NaT")
def nat(call: Call, *sizes: Value) -> Value:
    """Moments that are ``NaT``."""
    made = call.interpreter.call_one(text("nan"), *sizes)
    array = as_array(made)
    assert array is not None, "numbers are an array"
    return Times("datetime", call.engine.look(array.data).astype(float))


@builtin("isdatetime")
def isdatetime(_: Call, x: Value) -> Value:
    """True if a value is an array of moments."""
    return isinstance(x, Times) and x.kind == "datetime"


@builtin("isduration")
def isduration(_: Call, x: Value) -> Value:
    """True if a value is an array of spans."""
    return isinstance(x, Times) and x.kind == "duration"


@builtin("isnat")
def isnat(_: Call, x: Value) -> Value:
    """Moments that are ``NaT``."""
    return wrap("logical", np.isnan(times_of(x, "datetime").data))


@builtin("ymd")
def ymd(_: Call, x: Value) -> tuple[Value, ...]:
    """Years, months and days of moments."""
    return tuple(part_of(times_of(x, "datetime"), at) for at in range(3))


@builtin("hms")
def hms(_: Call, x: Value) -> tuple[Value, ...]:
    """Hours, minutes and seconds of moments or spans."""
    if isinstance(x, Times) and x.kind == "datetime":
        return tuple(part_of(x, at) for at in range(3, 6))
    left = times_of(x, "duration").data
    parts = (np.fix(left / 3.6e6), np.fix(np.fmod(left, 3.6e6) / 6e4), np.fmod(left, 6e4) / 1e3)
    return tuple(wrap("double", part) for part in parts)


@builtin("timeofday")
def timeofday(_: Call, x: Value) -> Value:
    """The time since midnight."""
    return Times("duration", times_of(x, "datetime").data % DAY_MS)


@builtin("posixtime")
def posixtime(_: Call, x: Value) -> Value:
    """Seconds since 1970."""
    return wrap("double", times_of(x, "datetime").data / 1e3)


@builtin("isbetween")
def isbetween(call: Call, x: Value, first: Value, last: Value) -> Value:
    """Moments or spans that lie between two others, these included."""
    if not isinstance(x, Times):
        raise wrong_class("datetime", x)
    low, high = (x.convert(call.engine, end).data for end in (first, last))
    return wrap("logical", (x.data >= low) & (x.data <= high))


_STARTS = {"year": 1, "month": 2, "day": 3, "hour": 4, "minute": 5, "second": 6}


@builtin("dateshift")
def dateshift(_: Call, x: Value, edge: Value, unit: Value) -> Value:
    """The start or the end of the year, month, day, hour, minute or second of moments."""
    moments, kept = times_of(x, "datetime"), _STARTS.get(text_of(unit))
    if kept is None or text_of(edge) not in ("start", "end"):
        message = "Only the start or end of a year, month, day, hour, minute or second is known."
        raise MatlabError("MATLAB:datetime:UnsupportedOption", message)
    ends = text_of(edge) == "end"
    made = [_edge(number, kept, ends=ends) for number in moments.data.ravel().tolist()]
    return Times("datetime", np.array(made).reshape(moments.data.shape), moments.form)


def _edge(number: float, kept: int, *, ends: bool) -> float:
    if math.isnan(number):
        return number
    row = np.array([[*parts_of(number / DAY_MS + UNIX_EPOCH)]], float)
    row[0, kept:] = [1, 1, 0, 0, 0][kept - 1 :] if kept < 6 else []
    if kept == 6:
        row[0, 5] = math.floor(row[0, 5])
    if ends:
        row[0, kept - 1] += 1
    # Years and months end with their last day, shorter units when the next one begins.
    return float(_moments(row)[0]) - (DAY_MS if ends and kept <= 2 else 0)

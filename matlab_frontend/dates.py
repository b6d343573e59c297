"""Dates: serial numbers, their parts, and their texts.

A serial number counts the days since the day 0 of the year 0, in the calendar of today.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from matlab_frontend.errors import MatlabError

UNIX_EPOCH = 719529.0
"""The serial number of 1 January 1970."""
SECONDS_A_DAY = 86400.0
MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July", "August", "September"),
    *("October", "November", "December"),
)
DAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")


class Parts(NamedTuple):
    """Year, month, day, hour, minute and second."""

    year: int
    month: int
    day: int
    hour: int = 0
    minute: int = 0
    second: float = 0.0


def serial_of_timestamp(timestamp: float) -> float:
    """The serial number of a time of this machine's clock, in its time zone."""
    here = datetime.fromtimestamp(timestamp, UTC).astimezone()
    offset = here.utcoffset()
    assert offset is not None, "a local time has an offset"
    return (timestamp + offset.total_seconds()) / SECONDS_A_DAY + UNIX_EPOCH


def days_of(year: np.ndarray, month: np.ndarray, day: np.ndarray) -> np.ndarray:
    """Serial numbers of days; months beyond twelve go on in the next years, those below are 1.

    Source: Hinnant, "chrono-compatible low-level date algorithms" (2013).
    """
    month = np.maximum(np.floor(month), 1)
    year = np.floor(year) + np.floor((month - 1) / 12)
    month = (month - 1) % 12 + 1
    shifted = year - (month <= 2)  # years begin in March, so that leap days are the last ones
    era = np.floor(shifted / 400)
    of_era = shifted - era * 400
    of_year = np.floor((153 * ((month + 9) % 12) + 2) / 5)
    of_days = of_era * 365 + np.floor(of_era / 4) - np.floor(of_era / 100) + of_year
    return era * 146097 + of_days + 60 + day  # type: ignore[no-any-return]  # an array


def serials_of(table: np.ndarray) -> np.ndarray:
    """Serial numbers of rows of year, month, day and perhaps hour, minute, second."""
    padded = np.zeros((table.shape[0], 6))
    padded[:, : table.shape[1]] = table
    days = days_of(padded[:, 0], padded[:, 1], padded[:, 2])
    seconds = padded[:, 3] * 3600 + padded[:, 4] * 60 + padded[:, 5]
    return days + seconds / SECONDS_A_DAY


def parts_of(serial: float) -> Parts:
    """The parts of a serial number; what is a millisecond up to its precision is one."""
    micro = round(serial * SECONDS_A_DAY * 1e6)
    nearest = round(micro, -3)
    return _parts(nearest if abs(micro - nearest) <= _PRECISION_US else micro)


_PRECISION_US = 20
"""Microseconds between neighboring serial numbers of today, and a rounding."""


def _parts(micro: int) -> Parts:
    """The parts of microseconds since the day 0."""
    days, left = divmod(micro, 86_400_000_000)
    seconds, micro = divmod(left, 1_000_000)
    year, month, day = _civil(days)
    return Parts(year, month, day, seconds // 3600, seconds // 60 % 60, seconds % 60 + micro / 1e6)


def _civil(days: int) -> tuple[int, int, int]:
    """Year, month and day of a day's serial number; Hinnant's algorithm backwards."""
    shifted = days - 61
    era, of_era = divmod(shifted, 146097)
    year = (of_era - of_era // 1460 + of_era // 36524 - of_era // 146096) // 365
    of_year = of_era - (365 * year + year // 4 - year // 100)
    month = (5 * of_year + 2) // 153
    day = of_year - (153 * month + 2) // 5 + 1
    month = month + 3 if month < 10 else month - 9
    return year + era * 400 + (month <= 2), month, day


def weekday_of(serial: float) -> int:
    """1 for Sunday to 7 for Saturday."""
    return (math.floor(serial) - 2) % 7 + 1


_DATESTR = {
    "yyyy": "Y4",
    "yy": "Y2",
    "mmmm": "month",
    "mmm": "mon",
    "mm": "M2",
    "m": "initial",
    "dddd": "weekday",
    "ddd": "wday",
    "dd": "D2",
    "d": "w1",
    "HH": "h2",
    "MM": "m2",
    "SS": "s2",
    "FFF": "ms",
    "PM": "half",
    "AM": "half",
    "QQ": "quarter",
}
_DATETIME = {
    "yyyy": "Y4",
    "uuuu": "Y4",
    "yy": "Y2",
    "y": "Y1",
    "MMMM": "month",
    "MMM": "mon",
    "MM": "M2",
    "M": "M1",
    "eeee": "weekday",
    "eee": "wday",
    "dd": "D2",
    "d": "D1",
    "HH": "h2",
    "H": "h1",
    "hh": "t2",
    "h": "t1",
    "mm": "m2",
    "m": "m1",
    "ss": "s2",
    "s": "s1",
    "SSSSSS": "us",
    "SSS": "ms",
    "a": "half",
    "QQQ": "quarter",
}
LANGUAGES: Mapping[str, Mapping[str, str]] = {"datestr": _DATESTR, "datetime": _DATETIME}
"""What the letters of formats mean, in ``datestr`` and in ``datetime``."""


@lru_cache(128)
def _pieces(template: str, language: str) -> tuple[tuple[str, str], ...]:
    """The parts of a format: what they mean, and for ``text`` the characters."""
    tokens = LANGUAGES[language]
    names = "|".join(sorted(tokens, key=len, reverse=True))
    made: list[tuple[str, str]] = []
    for found in re.finditer(rf"'([^']*)'|({names})|([\s\S])", template):
        if found[2]:
            made.append((tokens[found[2]], ""))
        else:
            made.append(("text", found[1] if found[1] is not None else found[3]))
    return tuple(made)


def format_serial(serial: float, template: str, language: str) -> str:
    """The text of a date; ``NaT`` of none."""
    if not math.isfinite(serial):
        return "NaT" if math.isnan(serial) else f"{'-' * (serial < 0)}Inf"
    pieces = _pieces(template, language)
    kinds = {kind for kind, _ in pieces}
    digits = 6 if "us" in kinds else 3
    parts = _parts(round(serial * SECONDS_A_DAY * 10**digits) * 10 ** (6 - digits))
    shown = _shown(parts, weekday_of(serial), halves="half" in kinds)
    return "".join(text if kind == "text" else shown[kind] for kind, text in pieces)


def _shown(parts: Parts, weekday: int, *, halves: bool) -> dict[str, str]:
    """What each kind of piece shows."""
    year, month, day, hour, minute, second = parts
    twelve = (hour - 1) % 12 + 1
    whole = int(second)
    micro = round((second - whole) * 1e6)
    return {
        "Y4": f"{year:04d}",
        "Y2": f"{year % 100:02d}",
        "Y1": str(year),
        "month": MONTHS[month - 1],
        "mon": MONTHS[month - 1][:3],
        "M2": f"{month:02d}",
        "M1": str(month),
        "initial": MONTHS[month - 1][0],
        "weekday": DAYS[weekday - 1],
        "wday": DAYS[weekday - 1][:3],
        "w1": DAYS[weekday - 1][0],
        "D2": f"{day:02d}",
        "D1": str(day),
        "h2": f"{twelve:2d}" if halves else f"{hour:02d}",
        "h1": str(hour),
        "t2": f"{twelve:02d}",
        "t1": str(twelve),
        "m2": f"{minute:02d}",
        "m1": str(minute),
        "s2": f"{whole:02d}",
        "s1": str(whole),
        "ms": f"{micro // 1000:03d}",
        "us": f"{micro:06d}",
        "half": "AM" if hour < 12 else "PM",
        "quarter": f"Q{(month - 1) // 3 + 1}",
    }


_PATTERNS = {
    "Y4": r"(\d{4})",
    "Y2": r"(\d\d)",
    "Y1": r"(\d+)",
    "month": r"([A-Za-z]+)",
    "mon": r"([A-Za-z]{3})",
    "weekday": r"([A-Za-z]+)",
    "wday": r"([A-Za-z]{3})",
    "w1": r"([A-Za-z])",
    "initial": r"([A-Za-z])",
    "half": r"([AaPp][Mm])",
    "ms": r"(\d{1,3})",
    "us": r"(\d{1,6})",
    "quarter": r"(Q[1-4])",
    **dict.fromkeys(("M2", "D2", "h2", "m2", "s2", "t2"), r"\s?(\d{1,2})"),
    **dict.fromkeys(("M1", "D1", "h1", "m1", "s1", "t1"), r"(\d{1,2})"),
}


def parse_date(shown: str, template: str, language: str) -> float | None:
    """The serial number of a text; None where it has another form."""
    pieces = _pieces(template, language)
    pattern = "".join(
        re.escape(text) if kind == "text" else _PATTERNS[kind] for kind, text in pieces
    )
    found = re.fullmatch(pattern, shown.strip())
    if found is None:
        return None
    kinds = [kind for kind, _ in pieces if kind != "text"]
    return _serial_of_words(dict(zip(kinds, found.groups(), strict=True)))


def _serial_of_words(words: Mapping[str, str]) -> float | None:
    """The serial number of what a format found; None where there is no such day or time."""
    number = {kind: int(word) for kind, word in words.items() if word.isdigit()}

    def first(kinds: str, default: int) -> int:
        return next((number[kind] for kind in kinds.split() if kind in number), default)

    name = words.get("month") or words.get("mon")
    short = [month[:3].lower() for month in MONTHS]
    if name is not None and name[:3].lower() not in short:
        return None
    month = first("M2 M1", 1) if name is None else short.index(name[:3].lower()) + 1
    hour = first("h2 h1 t2 t1", 0)
    if "half" in words:
        hour = hour % 12 + 12 * (words["half"][0] in "Pp")
    day, minute = first("D2 D1", 1), first("m2 m1", 0)
    if not (1 <= month <= 12 and 1 <= day <= 31 and hour <= 24 and minute < 60):
        return None
    fraction = words.get("us") or words.get("ms") or "0"
    second = first("s2 s1", 0) + int(fraction.ljust(6, "0")) / 1e6
    row = [_year(number), month, day, hour, minute, second]
    return float(serials_of(np.array([row]))[0])


def _year(number: Mapping[str, int]) -> int:
    """The year that a format found; of two digits, the one within fifty years of today."""
    this_year = date.today().year  # noqa: DTZ011  (of the clock on the wall)
    if "Y2" not in number:
        return number.get("Y4", number.get("Y1", this_year))
    century = (this_year - 50) // 100 * 100
    year = century + number["Y2"]
    return year + 100 * (year < this_year - 50)


_KNOWN = (
    *("dd-mmm-yyyy HH:MM:SS", "dd-mmm-yyyy HH:MM:SS.FFF", "dd-mmm-yyyy HH:MM", "dd-mmm-yyyy"),
    *("yyyy-mm-dd HH:MM:SS", "yyyy-mm-dd HH:MM:SS.FFF", "yyyy-mm-dd HH:MM", "yyyy-mm-dd"),
    *("yyyy-mm-ddTHH:MM:SS", "yyyy-mm-ddTHH:MM:SS.FFF", "yyyy/mm/dd HH:MM:SS", "yyyy/mm/dd"),
    *("mm/dd/yyyy HH:MM:SS", "mm/dd/yyyy HH:MM", "mm/dd/yyyy", "mm/dd/yy", "HH:MM:SS PM"),
    *("HH:MM:SS", "HH:MM:SS.FFF", "HH:MM PM", "HH:MM", "mmm-dd-yyyy", "mmm.dd,yyyy", "dd mmm yyyy"),
    *("yyyymmddTHHMMSS", "mmm-yyyy", "mmmyy", "yyyy"),
)


def guess_date(shown: str) -> tuple[float, str]:
    """The serial number of a text in one of the common forms, and the form.

    Raises:
        MatlabError: it has none of them.

    """
    for template in _KNOWN:
        serial = parse_date(shown, template, "datestr")
        if serial is not None:
            return serial, template
    message = f"Failed to convert '{shown}' to a date: it is in no format that is known."
    raise MatlabError("MATLAB:datenum:ConvertDateString", message)


def default_template(serials: Sequence[float]) -> str:
    """How ``datestr`` shows dates by itself: without times where all are midnight."""
    finite = [serial for serial in serials if math.isfinite(serial)]
    if all(serial == math.floor(serial) for serial in finite):
        return "dd-mmm-yyyy"
    if all(0 <= serial < 1 for serial in finite):
        return "HH:MM PM"
    return "dd-mmm-yyyy HH:MM:SS"


NUMBERED = (
    *("dd-mmm-yyyy HH:MM:SS", "dd-mmm-yyyy", "mm/dd/yy", "mmm", "m", "mm", "mm/dd", "dd", "ddd"),
    *("d", "yyyy", "yy", "mmmyy", "HH:MM:SS", "HH:MM:SS PM", "HH:MM", "HH:MM PM", "QQ-yy", "QQ"),
    *("dd/mm", "dd/mm/yy", "mmm.dd,yyyy HH:MM:SS", "mmm.dd,yyyy", "mm/dd/yyyy", "dd/mm/yyyy"),
    *("yy/mm/dd", "yyyy/mm/dd", "QQ-yyyy", "mmmyyyy", "yyyy-mm-dd", "yyyymmddTHHMMSS"),
    "yyyy-mm-dd HH:MM:SS",
)
"""The formats of ``datestr`` by their numbers."""

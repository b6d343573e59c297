"""``datetime`` and ``duration``: arrays of moments and of spans of time, in milliseconds."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from matlab_frontend.dates import (
    SECONDS_A_DAY,
    UNIX_EPOCH,
    format_serial,
    guess_date,
    parse_date,
    parts_of,
    serial_of_timestamp,
)
from matlab_frontend.errors import MatlabError
from matlab_frontend.indexing import read as read_elements
from matlab_frontend.values.array import (
    Array,
    Assign,
    Cell,
    Delete,
    Extension,
    Join,
    Shape,
    Value,
    as_array,
    kind_of,
)
from matlab_frontend.values.make import cell, strings, text, text_rows, wrap
from matlab_frontend.values.read import lines_of, text_of
from runmat_jit.core.frozen import frozen_object

DAY_MS = SECONDS_A_DAY * 1e3
UNITS_MS = {
    "y": 365.2425 * DAY_MS,
    "d": DAY_MS,
    "h": 3.6e6,
    "m": 6e4,
    "s": 1e3,
}
"""Units of durations by the letters of their formats."""
_NAMES = {"y": "yr", "d": "day", "h": "hr", "m": "min", "s": "sec"}
_COMPARISONS = ("==", "~=", "!=", "<", "<=", ">", ">=")
_SAME = frozenset(
    (
        *("sort", "unique", "reshape", "repmat", "flip", "fliplr", "flipud", "rot90", "permute"),
        *("squeeze", "circshift", "max", "min", "mean", "median", "mode", "cummax", "cummin"),
        *("intersect", "union", "setdiff"),
    )
)
"""Functions whose first output is of the class of their arguments."""
_PLAIN = frozenset(["isequal", "isequaln", "ismember", "issorted", "isfinite", "isinf"])
"""Functions whose outputs are numbers or truth values."""
_SPANS = frozenset(("diff", "std", "range"))
"""Functions whose first output is a duration."""
_SUMS = frozenset(("sum", "cumsum", "abs", "mod", "rem"))
"""Functions of durations that are durations."""


@frozen_object
class Times(Extension):
    """Moments (milliseconds since 1970) or spans; axes in reverse, as those of arrays are."""

    kind: str
    data: np.ndarray
    form: str = ""

    @property
    def shape(self) -> Shape:
        return tuple(self.data.shape[::-1])

    @property
    def numbers(self) -> Value:
        """The milliseconds."""
        return wrap("double", self.data)

    def like(self, engine: Any, numbers: Value, kind: str = "") -> Times:
        """Other milliseconds of this class, or of the other one."""
        array = as_array(numbers)
        assert array is not None, "milliseconds are an array"
        wanted = kind or self.kind
        form = self.form if wanted == self.kind else ""
        return Times(wanted, engine.look(array.data).astype(float), form)

    def index(self, engine: Any, subscripts: list[Any]) -> Value:
        data = engine.look(read_elements(engine, self.data, subscripts))
        return Times(self.kind, data, self.form)

    def field(self, engine: Any, name: str) -> Value:
        if name == "Format":
            return text(self.form or default_form(self))
        part = _PARTS.get(name)
        if self.kind != "datetime" or part is None:
            return Extension.field(self, engine, name)
        return part_of(self, part)

    def put_field(self, engine: Any, name: str, value: Value) -> Value:
        if name != "Format":
            return Extension.put_field(self, engine, name, value)
        return Times(self.kind, self.data, text_of(value))

    def put(self, engine: Any, subscripts: list[Any], value: Value, assign: Assign) -> Value:
        given = self.convert(engine, value)
        # Elements that come to be on the way to a new one are no times, not zeros.
        known = assign(
            subscripts, wrap("double", np.ones(self.data.shape)), wrap("double", given.data * 0 + 1)
        )
        made = assign(subscripts, self.numbers, given.numbers)
        flags, array = as_array(known), as_array(made)
        assert flags is not None, "numbers are an array"
        assert array is not None, "numbers are an array"
        data = np.where(engine.look(flags.data) == 0, np.nan, engine.look(array.data))
        return Times(self.kind, data, self.form)

    def without(self, engine: Any, subscripts: list[Any], delete: Delete) -> Value:
        numbers = Array("double", self.data)
        return self.like(engine, delete(subscripts, numbers))

    def convert(self, engine: Any, value: Value) -> Times:
        """A value as this class; texts are read, and numbers are days.

        Raises:
            MatlabError: there is no such conversion.

        """
        if isinstance(value, Times) and value.kind == self.kind:
            return value
        if self.kind == "datetime" and (
            isinstance(value, Cell) or kind_of(value) in ("char", "string")
        ):
            return from_texts(lines_of(value), value)
        array = as_array(value)
        if self.kind == "duration" and array is not None and array.kind == "double":
            return Times("duration", engine.look(array.data) * DAY_MS)
        if array is not None and 0 in array.data.shape:
            return Times(self.kind, np.zeros(array.data.shape))
        message = f"A value of class '{kind_of(value)}' is no {self.kind}."
        raise MatlabError("MATLAB:invalidConversion", message)

    def overload(self, name: str) -> Callable[..., Any] | None:
        if name in _TEXTS:
            return _TEXTS[name]
        if name in ("disp", "display", "class", "isa", "size"):
            return None
        if name in _SAME or (name in _SUMS and self.kind == "duration"):
            return lambda call, *given: self._lifted(call, name, given, self.kind)
        if name in _SPANS:
            return lambda call, *given: self._lifted(call, name, given, "duration")
        if name in _PLAIN:
            return lambda call, *given: self._lifted(call, name, given, "")
        return None

    def _lifted(self, call: Any, name: str, given: tuple[Value, ...], kind: str) -> Any:
        """A function of the milliseconds, the first output as a class of time."""
        plain = [
            x.numbers
            if isinstance(x, Times)
            else self.convert(call.engine, x).numbers
            if name in _PLAIN and kind_of(x) in ("char", "string", "cell")
            else x
            for x in given
        ]
        if len({x.kind for x in given if isinstance(x, Times)}) > 1:
            raise self.refusal(f"'{name}' of moments and spans together")
        made = call.interpreter.call(text(name), plain, call.outputs)
        if kind and made:
            made[0] = self.like(call.engine, made[0], kind)
        return tuple(made)

    def operate(
        self, operator: str, function: Callable[..., Value], engine: Any, operands: list[Value]
    ) -> Value:
        if operator == ":":
            return self._range(function, engine, operands)
        if len(operands) == 1:
            if operator in ("'", ".'") or self.kind == "duration":
                return self.like(engine, function(engine, self.numbers))
            raise self.refusal(f"Operator '{operator}'")
        left, right = operands
        if operator in _COMPARISONS:
            return function(engine, *(self.convert(engine, x).numbers for x in operands))
        result = _result_kind(operator, left, right)
        if result is None:
            kinds = f"'{kind_of(left)}' and '{kind_of(right)}'"
            message = f"Operator '{operator}' is not supported for {kinds}."
            raise MatlabError("MATLAB:datetime:InvalidOperator", message)
        days = operator in "+-"
        plain = [
            x.numbers
            if isinstance(x, Times)
            else Times("duration", np.zeros((1, 1))).convert(engine, x).numbers
            if days
            else x
            for x in operands
        ]
        made = function(engine, *plain)
        owner = next((x for x in operands if isinstance(x, Times) and x.kind == result), self)
        return owner.like(engine, made, result) if result else made

    def _range(self, function: Callable[..., Value], engine: Any, operands: list[Value]) -> Value:
        first, last = operands[0], operands[-1]
        owner = first if isinstance(first, Times) else self
        step: Value = DAY_MS
        if len(operands) == 3:
            step = Times("duration", np.zeros((1, 1))).convert(engine, operands[1]).numbers
        made = function(
            engine, owner.convert(engine, first).numbers, step, owner.convert(engine, last).numbers
        )
        return owner.like(engine, made)

    def join(self, engine: Any, values: list[Value], axis: int, join: Join) -> Value:
        parts = [self.convert(engine, value).numbers for value in values]
        return self.like(engine, join(parts))

    def texts(self) -> list[str]:
        """The texts of all elements, column by column."""
        form = self.form or default_form(self)
        numbers = self.data.ravel().tolist()
        if self.kind == "datetime":
            return [format_serial(x / DAY_MS + UNIX_EPOCH, form, "datetime") for x in numbers]
        return [duration_text(x, form) for x in numbers]

    def show(self, engine: Any) -> tuple[str, tuple[str, ...]]:
        size = "\N{MULTIPLICATION SIGN}".join(map(str, self.shape))
        if self.data.size == 0:
            return f"{size} empty {self.kind} array", ()
        header = self.kind if self.data.size == 1 else f"{size} {self.kind} array"
        table = (
            np.array(self.texts(), object).reshape(self.data.shape).reshape(-1, self.data.shape[-1])
        )
        widths = [max(map(len, row)) for row in table]
        lines = (
            "   " + "   ".join(x.rjust(n) for x, n in zip(row, widths, strict=True))
            for row in table.T
        )
        return header, tuple(lines)

    def brief(self) -> str:
        return self.texts()[0] if self.data.size == 1 else ""

    def to_python(self) -> Any:
        unit = "datetime64[us]" if self.kind == "datetime" else "timedelta64[us]"
        missing = np.isnan(self.data)
        whole = np.round(np.where(missing, 0, self.data) * 1e3).astype(np.int64).astype(unit)
        made = np.where(missing, np.array("NaT", unit), whole).T
        return made[0, 0] if made.size == 1 else made


def _result_kind(operator: str, left: Value, right: Value) -> str | None:
    """The class of a result: ``""`` for numbers, None where the operator means nothing."""
    kinds = tuple(x.kind if isinstance(x, Times) else "" for x in (left, right))
    if operator == "-" and kinds == ("datetime", "datetime"):
        return "duration"
    if operator in "+-" and kinds != ("datetime", "datetime"):
        if operator == "-" and kinds[1] == "datetime":
            return None
        return "datetime" if "datetime" in kinds else "duration"
    if "datetime" in kinds:
        return None
    if operator in ("*", ".*") and "" in kinds:
        return "duration"
    if operator in ("/", "./") and kinds[0] == "duration":
        return "duration" if kinds[1] == "" else ""
    return None


def default_form(times: Times) -> str:
    """The format in which an array is shown by itself."""
    if times.kind == "duration":
        return "hh:mm:ss"
    finite = times.data[np.isfinite(times.data)]
    return "dd-MMM-uuuu" if not np.any(finite % DAY_MS) else "dd-MMM-uuuu HH:mm:ss"


def duration_text(number: float, form: str) -> str:
    """The text of a span in a format."""
    if math.isnan(number):
        return "NaN"
    if math.isinf(number):
        return "Inf" if number > 0 else "-Inf"
    if form in UNITS_MS:
        count = number / UNITS_MS[form]
        plural = "s" if form in "dy" and count != 1 else ""
        return f"{count:.5g} {_NAMES[form]}{plural}"
    sign, seconds = "-" * (number < 0), abs(number) / 1e3
    digits = len(form.partition(".")[2])
    rounded = math.floor(seconds * 10**digits + 1e-6) / 10**digits
    whole, fraction = int(rounded), f"{rounded % 1:.{digits}f}"[1:] if digits else ""
    hours, minutes, left = whole // 3600, whole // 60 % 60, f"{whole % 60:02d}{fraction}"
    shown = form.partition(".")[0]
    if shown == "hh:mm:ss":
        return f"{sign}{hours:02d}:{minutes:02d}:{left}"
    if shown == "dd:hh:mm:ss":
        return f"{sign}{hours // 24:02d}:{hours % 24:02d}:{minutes:02d}:{left}"
    if shown == "mm:ss":
        return f"{sign}{whole // 60:02d}:{left}"
    if shown == "hh:mm":
        return f"{sign}{hours:02d}:{minutes:02d}"
    message = f"The format '{form}' of durations is not supported."
    raise MatlabError("MATLAB:duration:UnrecognizedFormat", message)


def from_texts(lines: list[str], like: Value, template: str | None = None) -> Times:
    """Moments from texts, in a format or in one of the common forms.

    Raises:
        MatlabError: a text is no date.

    """
    made = []
    for line in lines:
        serial: float | None = float("nan")
        if line.strip() not in ("", "NaT"):
            serial = _moment(line, template)
        if serial is None:
            message = f"Unable to convert '{line}' to datetime using the format '{template}'."
            raise MatlabError("MATLAB:datetime:ParseErr", message)
        made.append(round((serial - UNIX_EPOCH) * DAY_MS, 3))
    shape = (1, len(made))
    if isinstance(like, (Array, Cell)) and like.data.size == len(made) and kind_of(like) != "char":
        shape = like.data.shape
    return Times("datetime", np.array(made, float).reshape(shape))


def _moment(line: str, template: str | None) -> float | None:
    if template is not None:
        return parse_date(line, template, "datetime")
    words = {"now": 0.0, "today": 0.0, "yesterday": -1.0, "tomorrow": 1.0}
    if line in words:
        moment = serial_of_timestamp(time.time())
        return moment if line == "now" else math.floor(moment) + words[line]
    try:
        return guess_date(line)[0]
    except MatlabError:
        message = f"Could not recognize the date/time format of '{line}'."
        raise MatlabError("MATLAB:datetime:UnrecognizedDateString", message) from None


_PARTS = {"Year": 0, "Month": 1, "Day": 2, "Hour": 3, "Minute": 4, "Second": 5}


def part_of(times: Times, part: int) -> Value:
    """One of the parts of moments: 0 for years to 5 for seconds."""
    numbers = [
        float("nan") if math.isnan(x) else float(parts_of(x / DAY_MS + UNIX_EPOCH)[part])
        for x in times.data.ravel().tolist()
    ]
    return wrap("double", np.array(numbers).reshape(times.data.shape))


def _as_text(function: str) -> Callable[..., Any]:
    def convert(_: Any, value: Value, *given: Value) -> Value:
        if not isinstance(value, Times):
            raise MatlabError("MATLAB:invalidConversion", f"{function} of mixed classes.")
        shown = Times(value.kind, value.data, text_of(given[0])) if given else value
        lines = shown.texts()
        if function == "string":
            return strings(lines, value.shape)
        if function == "cellstr":
            return cell([text(line) for line in lines], value.shape)
        return text(lines[0]) if len(lines) == 1 else text_rows(lines)

    return convert


_TEXTS = {name: _as_text(name) for name in ("char", "string", "cellstr")}

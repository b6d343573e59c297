"""Validation functions such as ``mustBePositive``: silent, or an error that says what must be."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

import numpy as np

from matlab_frontend.builtins.registry import Builtin, Call, builtin
from matlab_frontend.errors import MatlabError
from matlab_frontend.values.array import Array, Cell, Value, as_array, count_of, kind_of, shape_of
from matlab_frontend.values.kinds import NUMERIC_KINDS
from matlab_frontend.values.make import text
from matlab_frontend.values.read import is_text, is_true, known, lines_of, number_of, text_of

Question: TypeAlias = Callable[[np.ndarray], "bool | np.bool_"]


def _refusal(name: str, what: str) -> MatlabError:
    return MatlabError(f"MATLAB:validators:{name}", f"Value must be {what}.")


def _numbers(call: Call, x: Value, name: str, what: str) -> np.ndarray:
    """The elements of an array of numbers or truth values."""
    array = as_array(x)
    if array is None or array.kind == "string":
        raise _refusal(name, what)
    return known(call.engine, x)


def _is_text(x: Value) -> bool:
    if isinstance(x, Cell):
        return all(isinstance(item, Array) and item.kind == "char" for item in x.data.flat)
    return is_text(x) or kind_of(x) == "string"


_OF_NUMBERS: Mapping[str, tuple[str, Question]] = {
    "mustBePositive": ("positive", lambda x: np.all(x > 0)),
    "mustBeNonpositive": ("nonpositive", lambda x: np.all(x <= 0)),
    "mustBeNonnegative": ("nonnegative", lambda x: np.all(x >= 0)),
    "mustBeNegative": ("negative", lambda x: np.all(x < 0)),
    "mustBeFinite": ("finite", lambda x: np.all(np.isfinite(x))),
    "mustBeNonNan": ("non-NaN", lambda x: not np.any(np.isnan(x))),
    "mustBeNonzero": ("nonzero", lambda x: np.all(x != 0)),
    "mustBeReal": ("real", lambda x: x.dtype.kind != "c"),
    "mustBeInteger": (
        "integer",
        lambda x: x.dtype.kind != "c" and np.all(np.isfinite(x)) and np.all(x == np.floor(x)),
    ),
}
_OF_VALUES: Mapping[str, tuple[str, Callable[[Value], bool]]] = {
    "mustBeNumeric": ("numeric", lambda x: kind_of(x) in NUMERIC_KINDS),
    "mustBeNumericOrLogical": (
        "numeric or logical",
        lambda x: kind_of(x) in (*NUMERIC_KINDS, "logical"),
    ),
    "mustBeNonempty": ("nonempty", lambda x: count_of(x) > 0),
    "mustBeNonsparse": ("nonsparse", lambda _: True),
    "mustBeScalarOrEmpty": ("a scalar or empty", lambda x: count_of(x) <= 1),
    "mustBeVector": ("a vector", lambda x: len(shape_of(x)) == 2 and 1 in shape_of(x)),
    "mustBeText": (
        "a character vector, string array, or cell array of texts",
        _is_text,
    ),
    "mustBeTextScalar": ("a character vector or string scalar", is_text),
    "mustBeNonzeroLengthText": (
        "a text with one or more characters",
        lambda x: _is_text(x) and all(lines_of(x)) and bool(lines_of(x)),
    ),
    "mustBeValidVariableName": (
        "a valid variable name",
        lambda x: is_text(x) and text_of(x).isidentifier() and text_of(x)[0] != "_",
    ),
}


def _of_numbers(name: str, what: str, question: Question) -> Builtin:
    def function(call: Call, x: Value) -> None:
        if not question(_numbers(call, x, name, what)):
            raise _refusal(name, what)

    return Builtin(name, function, 1, 1, f"Refuses a value that is not {what}.")


def _of_value(name: str, what: str, question: Callable[[Value], bool]) -> Builtin:
    def function(_: Call, x: Value) -> None:
        if not question(x):
            raise _refusal(name, what)

    return Builtin(name, function, 1, 1, f"Refuses a value that is not {what}.")


_COMPARED: Mapping[str, tuple[str, Callable[[np.ndarray, float], np.ndarray]]] = {
    "mustBeGreaterThan": ("greater than", lambda x, limit: x > limit),
    "mustBeGreaterThanOrEqual": ("greater than or equal to", lambda x, limit: x >= limit),
    "mustBeLessThan": ("less than", lambda x, limit: x < limit),
    "mustBeLessThanOrEqual": ("less than or equal to", lambda x, limit: x <= limit),
}


def _compared(name: str, what: str, question: Callable[[np.ndarray, float], np.ndarray]) -> Builtin:
    def function(call: Call, x: Value, limit: Value) -> None:
        number = number_of(call.engine, limit)
        shown = f"{what} {number:g}"
        if not np.all(question(_numbers(call, x, name, shown), number)):
            raise _refusal(name, shown)

    return Builtin(name, function, 2, 2, f"Refuses a value that is not {what} another.")


GENERATED = (
    *(_of_numbers(name, *row) for name, row in _OF_NUMBERS.items()),
    *(_of_value(name, *row) for name, row in _OF_VALUES.items()),
    *(_compared(name, *row) for name, row in _COMPARED.items()),
)


@builtin("mustBeInRange")
def must_be_in_range(call: Call, x: Value, low: Value, high: Value, *flags: Value) -> None:
    """Refuse a value outside a range, whose ends belong to it unless flags say otherwise."""
    words = {text_of(flag) for flag in flags}
    if not words <= {"inclusive", "exclusive", "exclude-lower", "exclude-upper"}:
        raise MatlabError("MATLAB:validators:mustBeInRangeFlag", "A flag is not known.")
    first, last = number_of(call.engine, low), number_of(call.engine, high)
    what = f"in the range of {first:g} to {last:g}"
    numbers = _numbers(call, x, "mustBeInRange", what)
    above = numbers > first if words & {"exclusive", "exclude-lower"} else numbers >= first
    below = numbers < last if words & {"exclusive", "exclude-upper"} else numbers <= last
    if not np.all(above & below):
        raise _refusal("mustBeInRange", what)


@builtin("mustBeMember")
def must_be_member(call: Call, x: Value, choices: Value) -> None:
    """Refuse a value with an element that is not among some."""
    if not is_true(call.engine, call.interpreter.call_one(text("all"), _members(call, x, choices))):
        shown = ""
        if _is_text(choices):
            shown = ": " + ", ".join(f"'{line}'" for line in lines_of(choices))
        message = f"Value must be a member of this set{shown}."
        raise MatlabError("MATLAB:validators:mustBeMember", message.replace("..", "."))


def _members(call: Call, x: Value, choices: Value) -> Value:
    found = call.interpreter.call_one(text("ismember"), x, choices)
    return call.interpreter.call_one(text("reshape"), found, float(count_of(found)), 1.0)


@builtin("mustBeA")
def must_be_a(call: Call, x: Value, names: Value) -> None:
    """Refuse a value that is of none of some classes."""
    if not any(call.interpreter.is_a(x, name) for name in lines_of(names)):
        listed = ", ".join(f"'{name}'" for name in lines_of(names))
        what = f"one of the following types: {listed}"
        raise _refusal("mustBeA", what)


@builtin("mustBeUnderlyingType")
def must_be_underlying_type(_: Call, x: Value, names: Value) -> None:
    """Refuse a value whose elements are of none of some classes."""
    if kind_of(x) not in lines_of(names):
        listed = ", ".join(f"'{name}'" for name in lines_of(names))
        raise _refusal("mustBeUnderlyingType", f"of one of the underlying types: {listed}")


@builtin("mustBeFile")
def must_be_file(call: Call, name: Value) -> None:
    """Refuse a name that is not that of a file."""
    if not is_text(name) or not call.session.path.resolve(text_of(name)).is_file():
        raise _refusal("mustBeFile", "the path of an existing file")


@builtin("mustBeFolder")
def must_be_folder(call: Call, name: Value) -> None:
    """Refuse a name that is not that of a folder."""
    if not is_text(name) or not call.session.path.resolve(text_of(name)).is_dir():
        raise _refusal("mustBeFolder", "the path of an existing folder")

"""Parts of texts: taken out, replaced, inserted and filled up."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import numpy as np

from matlab_frontend.builtins.options import word_of
from matlab_frontend.builtins.registry import Builtin, Call, builtin
from matlab_frontend.builtins.texts import map_texts
from matlab_frontend.errors import MatlabError
from matlab_frontend.format_text import unescape
from matlab_frontend.pattern import pattern
from matlab_frontend.values.array import Cell, Value, count_of, kind_of, shape_of
from matlab_frontend.values.kinds import NUMERIC_KINDS
from matlab_frontend.values.make import cell, string, strings, text, wrap
from matlab_frontend.values.read import integer_of, is_text, is_true, known, lines_of, text_of

_BLANKS = " \t\n\r\f\v\0"
_SIDES = ("left", "right", "both")
_CONVERSION = pattern(r"%(?:%|[-+ #0]*\d*(?:\.\d+)?[a-zA-Z])")


def _check(name: str, x: Value) -> None:
    """Refuse what is no text.

    Raises:
        MatlabError: it is neither characters, nor strings, nor cells of characters.

    """
    if not isinstance(x, Cell) and not is_text(x) and kind_of(x) != "string":
        raise MatlabError(
            f"MATLAB:{name}:InvalidInput",
            "First argument must be text: a character vector, a string array, or a cell array of "
            "character vectors.",
        )


def _is_position(value: Value) -> bool:
    return kind_of(value) in NUMERIC_KINDS


def _any_of(name: str, wanted: Value) -> str:
    """A regular expression for one of some texts, the longest that fits.

    Raises:
        MatlabError: they are no texts.

    """
    _check(name, wanted)
    words = sorted(lines_of(wanted), key=len, reverse=True)
    return "|".join(re.escape(word) for word in words if word) or r"(?!)"


def _like(x: Value, parts: Sequence[str]) -> Value:
    """Texts as a column: strings of strings, else cells."""
    shape = (len(parts), 1)
    if kind_of(x) == "string":
        return strings(parts, shape)
    return cell([text(part) for part in parts], shape)


@builtin("newline")
def newline(_: Call) -> Value:
    """The character that ends a line."""
    return text("\n")


@builtin("reverse")
def reverse(_: Call, x: Value) -> Value:
    """Texts backwards."""
    _check("reverse", x)
    return map_texts(x, lambda shown: shown[::-1])


@builtin("replace")
def replace(_: Call, x: Value, old: Value, new: Value) -> Value:
    """Texts with all occurrences of one text, or of several, replaced."""
    _check("replace", x)
    _check("replace", new)
    before, after = lines_of(old), lines_of(new)
    if len(after) not in (1, len(before)):
        raise MatlabError(
            "MATLAB:string:MustBeScalarOrSameSize", "There is one replacement, or one for each."
        )
    chosen = dict(zip(before, after * len(before) if len(after) == 1 else after, strict=True))
    expression = _any_of("replace", old)
    return map_texts(x, lambda shown: re.sub(expression, lambda m: chosen[m.group()], shown))


@builtin("erase")
def erase(_: Call, x: Value, wanted: Value) -> Value:
    """Texts without the occurrences of one text, or of several."""
    _check("erase", x)
    expression = _any_of("erase", wanted)
    return map_texts(x, lambda shown: re.sub(expression, "", shown))


@builtin("count")
def count(call: Call, x: Value, wanted: Value, *options: Value) -> Value:
    """Number of times that strings contain one string, or several."""
    _check("count", x)
    flags = re.IGNORECASE if _ignores_case(call, "count", options) else 0
    expression = re.compile(_any_of("count", wanted), flags)
    found = [float(len(expression.findall(shown))) for shown in _texts(x)]
    return found[0] if is_text(x) else wrap("double", np.array(found).reshape(shape_of(x)[::-1]))


@builtin("matches")
def matches(call: Call, x: Value, wanted: Value, *options: Value) -> Value:
    """True if texts are equal to one of some texts."""
    _check("matches", x)
    _check("matches", wanted)
    fold = str.lower if _ignores_case(call, "matches", options) else str
    known_words = {fold(word) for word in _texts(wanted)}
    found = [fold(shown) in known_words for shown in _texts(x)]
    return found[0] if is_text(x) else wrap("logical", np.array(found).reshape(shape_of(x)[::-1]))


def _ignores_case(call: Call, name: str, options: Sequence[Value]) -> bool:
    if not options:
        return False
    word_of(name, options[0], ("ignorecase",))
    if len(options) != 2:
        raise MatlabError(f"MATLAB:{name}:options", "An option needs a value after its name.")
    return is_true(call.engine, options[1])


def _texts(x: Value) -> list[str]:
    return [text_of(x)] if is_text(x) else lines_of(x)


# -- before, after and between ---------------------------------------------------------------------
def _side(name: str, doc: str, part: Callable[[str, int, int], str]) -> Builtin:
    """The part of a text on one side of a place, which is ``shown[begin:end]``."""

    def function(call: Call, x: Value, where: Value) -> Value:
        _check(name, x)

        def taken(shown: str) -> str:
            if _is_position(where):
                at = integer_of(call.engine, where)
                if not 1 <= at <= len(shown):
                    message = f"Position {at} is not between 1 and the number of characters."
                    raise MatlabError(f"MATLAB:{name}:Position", message)
                return part(shown, at - 1, at)
            found = re.search(_any_of(name, where), shown)
            if found is None:
                return _missing(name, x)
            return part(shown, found.start(), found.end())

        return map_texts(x, taken)

    return Builtin(name, function, 2, 2, doc)


def _missing(name: str, x: Value) -> str:
    """What stands for a part that is not there: nothing.

    Raises:
        MatlabError: of strings it would be a missing one.

    """
    if kind_of(x) == "string":
        raise MatlabError(
            f"MATLAB:{name}:missing", "The text is not found; there are no missing strings here."
        )
    return ""


@builtin("extractBetween")
def extract_between(call: Call, x: Value, start: Value, end: Value, *options: Value) -> Value:
    """The parts of a text between two texts, or from one position to another."""
    _check("extractBetween", x)
    if not is_text(x):
        raise MatlabError("MATLAB:extractBetween:text", "The parts of one text are extracted.")
    shown = text_of(x)
    spans = _spans(call, "extractBetween", shown, (start, end), options)
    return _like(x, [shown[a:b] for a, b in spans])


@builtin("eraseBetween")
def erase_between(call: Call, x: Value, start: Value, end: Value, *options: Value) -> Value:
    """Texts without what is between two texts, or from one position to another."""
    return _replaced_between(call, "eraseBetween", x, (start, end), new="", options=options)


@builtin("replaceBetween")
def replace_between(
    call: Call, x: Value, start: Value, end: Value, new: Value, *options: Value
) -> Value:
    """Texts with what is between two texts, or from one position to another, replaced."""
    return _replaced_between(
        call, "replaceBetween", x, (start, end), new=text_of(new), options=options
    )


def _replaced_between(
    call: Call,
    name: str,
    x: Value,
    ends: tuple[Value, Value],
    *,
    new: str,
    options: Sequence[Value],
) -> Value:
    _check(name, x)

    def changed(shown: str) -> str:
        made, at = [], 0
        for a, b in _spans(call, name, shown, ends, options):
            made += [shown[at:a], new]
            at = b
        return "".join([*made, shown[at:]])

    return map_texts(x, changed)


def _spans(
    call: Call, name: str, shown: str, ends: tuple[Value, Value], options: Sequence[Value]
) -> list[tuple[int, int]]:
    """Where what lies between two texts begins and ends, in their order."""
    start, end = ends
    inclusive = _is_position(start)
    if options:
        word_of(name, options[0], ("boundaries",))
        words = [word_of(name, each, ("inclusive", "exclusive")) for each in options[1:]]
        if len(words) != 1:
            raise MatlabError(f"MATLAB:{name}:options", "An option needs a value after its name.")
        inclusive = words == ["inclusive"]
    if _is_position(start) != _is_position(end):
        raise MatlabError(f"MATLAB:{name}:ends", "Both ends are positions, or both are texts.")
    if _is_position(start):
        first, last = (integer_of(call.engine, each) for each in ends)
        if not (1 <= first <= len(shown) + 1 and first - 1 <= last <= len(shown)):
            message = f"Positions {first} and {last} are not within the text."
            raise MatlabError(f"MATLAB:{name}:Position", message)
        return [(first - 1, last)] if inclusive else [(first, max(last - 1, first))]
    expression = f"({_any_of(name, start)})(.*?)({_any_of(name, end)})"
    found = re.finditer(expression, shown, re.DOTALL)
    return [match.span(0 if inclusive else 2) for match in found]


def _insert(name: str, doc: str, after: int) -> Builtin:
    """New text at a position or at each occurrence of a text: behind it if ``after`` is 1."""

    def function(call: Call, x: Value, where: Value, new: Value) -> Value:
        _check(name, x)
        added = text_of(new)
        if _is_position(where):
            at = integer_of(call.engine, where)

            def inserted(shown: str) -> str:
                if not 1 <= at <= len(shown):
                    message = f"Position {at} is not between 1 and the number of characters."
                    raise MatlabError(f"MATLAB:{name}:Position", message)
                return shown[: at - 1 + after] + added + shown[at - 1 + after :]

            return map_texts(x, inserted)
        expression = _any_of(name, where)

        def around(match: re.Match[str]) -> str:
            return match.group() + added if after else added + match.group()

        return map_texts(x, lambda shown: re.sub(expression, around, shown))

    return Builtin(name, function, 3, 3, doc)


# -- filled up and stripped ------------------------------------------------------------------------
@builtin("pad")
def pad(call: Call, x: Value, *options: Value) -> Value:
    """Texts filled up to a number of characters, or to that of the longest."""
    _check("pad", x)
    left = list(options)
    width = max(map(len, _texts(x)), default=0)
    if left and _is_position(left[0]):
        width = integer_of(call.engine, left.pop(0))
    side = "right"
    if left and text_of(left[0]).lower() in _SIDES:
        side = text_of(left.pop(0)).lower()
    fill = text_of(left.pop(0)) if left else " "
    if left or len(fill) != 1:
        raise MatlabError("MATLAB:pad:options", "A width, a side and one character may be given.")

    def padded(shown: str) -> str:
        missing = max(width - len(shown), 0)
        before = {"left": missing, "right": 0, "both": missing // 2}[side]
        return fill * before + shown + fill * (missing - before)

    return map_texts(x, padded)


@builtin("strip")
def strip(_: Call, x: Value, *options: Value) -> Value:
    """Texts without blanks, or another character, at both ends or at one."""
    _check("strip", x)
    left = [text_of(option) for option in options]
    side = left.pop(0).lower() if left and left[0].lower() in _SIDES else "both"
    marks = left.pop(0) if left else _BLANKS
    if left or (marks is not _BLANKS and len(marks) != 1):
        raise MatlabError("MATLAB:strip:options", "A side and one character may be given.")
    change = {"left": str.lstrip, "right": str.rstrip, "both": str.strip}[side]
    return map_texts(x, lambda shown: change(shown, marks))


# -- joined, split and converted -------------------------------------------------------------------
@builtin("append")
def append(_: Call, *parts: Value) -> Value:
    """Texts joined, blanks at their ends included."""
    for part in parts:
        _check("append", part)
    lists = [_texts(part) for part in parts]
    longest = max(range(len(parts)), key=lambda k: len(lists[k]))
    extent = len(lists[longest])
    if any(len(items) not in (1, extent) for items in lists):
        raise MatlabError("MATLAB:append:InvalidInputSize", "Inputs must be the same size.")
    rows = zip(*(items * extent if len(items) == 1 else items for items in lists), strict=True)
    joined = ["".join(row) for row in rows]
    if any(kind_of(part) == "string" for part in parts):
        return strings(joined, shape_of(parts[longest]) if extent != 1 else (1, 1))
    if any(isinstance(part, Cell) for part in parts):
        return cell([text(item) for item in joined], shape_of(parts[longest]))
    return text(joined[0])


@builtin("splitlines")
def splitlines(_: Call, x: Value) -> Value:
    """The lines of a text as a column."""
    _check("splitlines", x)
    if not is_text(x):
        raise MatlabError("MATLAB:splitlines:text", "The lines of one text are split.")
    return _like(x, re.split(r"\r\n|\n|\r", text_of(x)))


@builtin("compose")
def compose(call: Call, form: Value, *values: Value) -> Value:
    """Texts of a format, one for each row of the values; without values its escapes alone."""
    _check("compose", form)
    if not values:
        return map_texts(form, unescape)
    if not is_text(form):
        raise MatlabError("MATLAB:compose:format", "There is one format for all values.")
    tables = [_columns(call, value) for value in values]
    if len({len(table) for table in tables}) != 1:
        raise MatlabError("MATLAB:compose:rows", "The values must have as many rows.")
    rows = [[item for part in parts for item in part] for parts in zip(*tables, strict=True)]
    shown = text_of(form)
    wanted = sum(match.group() != "%%" for match in _CONVERSION.finditer(shown)) or len(rows[0])
    groups = range(0, len(rows[0]), max(wanted, 1))
    made = [
        text_of(call.interpreter.call_one(text("sprintf"), text(shown), *row[at : at + wanted]))
        for at in groups
        for row in rows
    ]
    shape = (len(rows), len(groups))
    if kind_of(form) == "string":
        return strings(made, shape)
    return cell([text(item) for item in made], shape)


def _columns(call: Call, value: Value) -> list[list[Value]]:
    """The elements of a matrix, row by row."""
    if isinstance(value, Cell):
        return [list(row) for row in value.data.T]
    if kind_of(value) == "string":
        return [[string(str(item)) for item in row] for row in known(call.engine, value)]
    if kind_of(value) == "char":
        return [[value]]
    return [[float(item) for item in row] for row in known(call.engine, value).tolist()]


@builtin("isStringScalar")
def is_string_scalar(_: Call, x: Value) -> Value:
    """True if it is one string."""
    return kind_of(x) == "string" and count_of(x) == 1


@builtin("convertStringsToChars")
def convert_strings_to_chars(_: Call, *values: Value) -> tuple[Value, ...]:
    """Strings as characters, string arrays as cells; others as they are."""
    return tuple(map(_as_characters, values))


def _as_characters(value: Value) -> Value:
    if kind_of(value) != "string":
        return value
    if count_of(value) == 1:
        return text(text_of(value))
    return cell([text(item) for item in lines_of(value)], shape_of(value))


@builtin("convertCharsToStrings")
def convert_chars_to_strings(_: Call, *values: Value) -> tuple[Value, ...]:
    """Characters, and cells of them, as strings; others as they are."""
    return tuple(map(_as_string, values))


def _as_string(value: Value) -> Value:
    if isinstance(value, Cell) and all(kind_of(item) == "char" for item in value.data.flat):
        return strings(lines_of(value), shape_of(value))
    return string("".join(lines_of(value))) if kind_of(value) == "char" else value


GENERATED = (
    _side("extractBefore", "The part of texts before a text or a position.", lambda s, a, _: s[:a]),
    _side("extractAfter", "The part of texts after a text or a position.", lambda s, _, b: s[b:]),
    _insert("insertAfter", "Texts with a new text behind a text or a position.", 1),
    _insert("insertBefore", "Texts with a new text before a text or a position.", 0),
)

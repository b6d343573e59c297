"""Characters and strings."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

from matlab_frontend.builtins.registry import Builtin, Call, builtin
from matlab_frontend.errors import MatlabError
from matlab_frontend.format_text import unescape
from matlab_frontend.parser import parse
from matlab_frontend.source import Source
from matlab_frontend.values.array import (
    Array,
    Cell,
    Value,
    as_array,
    count_of,
    kind_of,
    shape_of,
)
from matlab_frontend.values.make import (
    cell,
    cell_row,
    empty,
    row,
    string,
    strings,
    text,
    text_rows,
    wrap,
)
from matlab_frontend.values.read import integer_of, is_text, lines_of, text_of


def map_texts(x: Value, change: Callable[[str], str]) -> Value:
    """Change a text, each string of an array, or each text of a cell array."""
    if isinstance(x, Cell):
        return cell([map_texts(item, change) for item in x.data.flat], shape_of(x))
    array = as_array(x)
    if array is not None and array.kind == "string":
        return strings([change(str(item)) for item in array.data.flat], shape_of(x))
    if array is not None and array.kind == "char":
        return (
            text(change(text_of(array)))
            if is_text(x)
            else text_rows([change(line) for line in lines_of(x)])
        )
    return x


def _compare(name: str, equal: Callable[[str, str], bool], doc: str) -> Builtin:
    def function(_: Call, x: Value, y: Value) -> Value:
        return compare_texts(x, y, equal)

    return Builtin(name, function, 2, 2, doc)


def _compare_starts(name: str, equal: Callable[[str, str], bool], doc: str) -> Builtin:
    def function(call: Call, x: Value, y: Value, count: Value) -> Value:
        n = integer_of(call.engine, count)

        def starts(a: str, b: str) -> bool:
            return len(a) >= n and len(b) >= n and equal(a[:n], b[:n])

        return compare_texts(x, y, starts)

    return Builtin(name, function, 3, 3, doc)


def compare_texts(x: Value, y: Value, equal: Callable[[str, str], bool]) -> Value:
    """Compare two texts, or texts with each element of a cell or string array."""
    lists = [value for value in (x, y) if _is_list(value)]
    if not lists:
        if not (_is_characters(x) and _is_characters(y)):
            return False
        a, b = lines_of(x), lines_of(y)
        return len(a) == len(b) and all(map(equal, a, b))
    largest = max(lists, key=lambda value: count_of(value) != 1)
    if len(lists) == 2 and 1 not in map(count_of, lists) and shape_of(x) != shape_of(y):
        raise MatlabError(
            "MATLAB:strcmp:InputsSizeMismatch",
            "Inputs must be the same size or either one can be a scalar.",
        )
    shape, count = shape_of(largest), count_of(largest)
    sides = [_items(value, count) for value in (x, y)]
    made = [a is not None and b is not None and equal(a, b) for a, b in zip(*sides, strict=True)]
    return wrap("logical", np.array(made, bool).reshape(shape[::-1]))


def _is_list(value: Value) -> bool:
    return isinstance(value, Cell) or (kind_of(value) == "string" and count_of(value) != 1)


def _is_characters(value: Value) -> bool:
    return kind_of(value) in ("char", "string")


def _items(value: Value, count: int) -> list[str | None]:
    if isinstance(value, Cell):
        items = [text_of(item) if _is_characters(item) else None for item in value.data.flat]
        return items * count if len(items) == 1 else items
    if not _is_characters(value):
        return [None] * count
    found: list[str | None] = list(lines_of(value)) if _is_list(value) else [text_of(value)]
    return found * count if len(found) == 1 else found


def _same_without_case(a: str, b: str) -> bool:
    return a.lower() == b.lower()


def _mapped(name: str, change: Callable[[str], str], doc: str) -> Builtin:
    return Builtin(name, lambda _, x: map_texts(x, change), 1, 1, doc)


_BLANKS = " \t\n\r\f\v\0"


@builtin("strrep")
def strrep(_: Call, x: Value, old: Value, new: Value) -> Value:
    """Texts with all occurrences of one part replaced."""
    before, after = text_of(old), text_of(new)
    return map_texts(x, lambda s: s.replace(before, after) if before else s)


@builtin("strcat")
def strcat(_: Call, *parts: Value) -> Value:
    """Texts joined; blanks at the ends of character arrays are dropped."""
    lists = [part for part in parts if _is_list(part)]
    if lists:
        count = count_of(lists[0])
        columns = [_items(part, count) for part in parts]
        joined = ["".join(str(item) for item in items) for items in zip(*columns, strict=True)]
        if isinstance(lists[0], Cell):
            return cell([text(item) for item in joined], shape_of(lists[0]))
        return strings(joined, shape_of(lists[0]))
    if any(kind_of(part) == "string" for part in parts):
        return string("".join(text_of(part) for part in parts))
    return text("".join(text_of(part).rstrip(" \t\n\0") for part in parts))


@builtin("strsplit")
def strsplit(_: Call, x: Value, delimiters: Value | None = None) -> Value:
    """The parts of a text between delimiters, as a row of cells."""
    marks = [" "] if delimiters is None else [unescape(mark) for mark in lines_of(delimiters)]
    marks.sort(key=len, reverse=True)
    pattern = "(?:" + "|".join(map(re.escape, marks)) + ")+"
    return cell_row([text_row(part) for part in re.split(pattern, text_of(x))])


def text_row(characters: str) -> Array:
    """A row of characters; no characters make a 1-by-0 array."""
    return text(characters) if characters else Array("char", np.zeros((0, 1), np.uint16))


@builtin("split")
def split(_: Call, x: Value, delimiter: Value | None = None) -> Value:
    """The parts of a text between delimiters, as a column."""
    parts = text_of(x).split() if delimiter is None else text_of(x).split(text_of(delimiter))
    if kind_of(x) == "string":
        return strings(parts, (len(parts), 1))
    return cell([text(part) for part in parts], (len(parts), 1))


@builtin("strjoin")
def strjoin(_: Call, parts: Value, delimiter: Value | None = None) -> Value:
    """Texts joined with a delimiter between them."""
    mark = " " if delimiter is None else unescape(text_of(delimiter))
    return text(mark.join(lines_of(parts)))


@builtin("join")
def join(_: Call, parts: Value, delimiter: Value | None = None) -> Value:
    """Strings joined with a delimiter between them."""
    mark = " " if delimiter is None else text_of(delimiter)
    return string(mark.join(lines_of(parts)))


@builtin("strfind")
def strfind(_: Call, x: Value, pattern: Value, *_options: Value) -> Value:
    """Where a text contains another one, overlaps included; of cells a cell array."""
    wanted = text_of(pattern)
    if isinstance(x, Cell):
        return cell([_find(text_of(item), wanted) for item in x.data.flat], shape_of(x))
    return _find(text_of(x), wanted)


def _find(shown: str, wanted: str) -> Value:
    found = [m.start() + 1.0 for m in re.finditer(f"(?={re.escape(wanted)})", shown)]
    return row(found) if found and wanted else empty()


@builtin("strtok")
def strtok(_: Call, x: Value, delimiters: Value | None = None) -> tuple[Value, ...]:
    """The first part of a text before a delimiter, and the rest; of each text of a cell array."""
    marks = _BLANKS if delimiters is None else text_of(delimiters)
    if isinstance(x, Cell):
        pairs = [_first_part(text_of(item), marks) for item in x.data.flat]
        first, rest = ([text(pair[k]) for pair in pairs] for k in (0, 1))
        return cell(first, shape_of(x)), cell(rest, shape_of(x))
    made = string if kind_of(x) == "string" else text
    begin, end = _first_part(text_of(x), marks)
    return made(begin), made(end)


def _first_part(characters: str, marks: str) -> tuple[str, str]:
    shown = characters.lstrip(marks)
    end = next((at for at, c in enumerate(shown) if c in marks), len(shown))
    return shown[:end], shown[end:]


def _search(name: str, holds: Callable[[str, str], bool], doc: str) -> Builtin:
    def function(_: Call, x: Value, pattern: Value, *options: Value) -> Value:
        fold = bool(options) and bool(options[-1])
        wanted = [p.lower() if fold else p for p in lines_of(pattern)]
        items = lines_of(x)
        made = [any(holds(s.lower() if fold else s, p) for p in wanted) for s in items]
        if not _is_list(x):
            return made[0]
        return wrap("logical", np.array(made, bool).reshape(shape_of(x)[::-1]))

    return Builtin(name, function, 2, None, doc)


@builtin("strlength")
def strlength(_: Call, x: Value) -> Value:
    """How many characters texts have."""
    lengths = [float(len(line)) for line in lines_of(x)]
    return (
        wrap("double", np.array(lengths).reshape(shape_of(x)[::-1])) if _is_list(x) else lengths[0]
    )


@builtin("blanks")
def blanks(call: Call, count: Value) -> Value:
    """A text of blanks."""
    return text(" " * integer_of(call.engine, count))


@builtin("str2double")
def str2double(_: Call, x: Value) -> Value:
    """The number that a text shows, NaN where it shows none."""
    if isinstance(x, Cell):
        numbers = [_number(text_of(item)) if is_text(item) else np.nan for item in x.data.flat]
        return wrap("double", np.array(numbers).reshape(shape_of(x)[::-1]))
    if kind_of(x) == "string" and count_of(x) != 1:
        numbers = [_number(line) for line in lines_of(x)]
        return wrap("double", np.array(numbers).reshape(shape_of(x)[::-1]))
    if not is_text(x):
        return float("nan")
    made = _number(text_of(x))
    return made if isinstance(made, float) else Array("double", np.full((1, 1), made))


_REAL = r"[+-]?\s*(?:(?:\d+\.?\d*|\.\d+)(?:[eEdD][+-]?\d+)?|[Ii]nf|NaN|nan|INF)"
_COMPLEX = re.compile(rf"({_REAL})?(?:\s*({_REAL}|[+-])\s*\*?\s*[ij])?")


def _number(shown: str) -> float | complex:
    plain = shown.strip().replace(",", "")
    match = _COMPLEX.fullmatch(plain)
    if not plain or match is None:
        return float("nan")
    real, imaginary = match.groups()
    if imaginary is None:
        return _real(real)
    part = {"+": 1.0, "-": -1.0}.get(imaginary)
    return complex(_real(real) if real else 0.0, _real(imaginary) if part is None else part)


def _real(shown: str) -> float:
    return float(shown.replace(" ", "").replace("d", "e").replace("D", "e"))


@builtin("str2num")
def str2num(call: Call, x: Value) -> Value:
    """The value of a text that is an expression."""
    program = parse(Source(f"ans = [{text_of(x)}];", "str2num"))
    return call.interpreter.run(program, {}).variables["ans"]


GENERATED = (
    _compare("strcmp", str.__eq__, "Whether texts are equal."),
    _compare("strcmpi", _same_without_case, "Whether texts are equal but for case."),
    _compare_starts("strncmp", str.__eq__, "Whether texts begin alike."),
    _compare_starts("strncmpi", _same_without_case, "Whether texts begin alike but for case."),
    _mapped("upper", str.upper, "Texts in capitals."),
    _mapped("lower", str.lower, "Texts in small letters."),
    _mapped("strtrim", lambda s: s.strip(_BLANKS), "Texts without blanks at both ends."),
    _mapped("deblank", lambda s: s.rstrip(_BLANKS), "Texts without blanks at the end."),
    _mapped("strip", lambda s: s.strip(_BLANKS), "Texts without blanks at both ends."),
    _search("contains", lambda s, p: p in s, "Whether texts contain a part."),
    _search("startsWith", str.startswith, "Whether texts begin with a part."),
    _search("endsWith", str.endswith, "Whether texts end with a part."),
)

"""Characters and strings."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

from matlab_frontend.builtins.options import options_of, word_of
from matlab_frontend.builtins.registry import Builtin, Call, builtin
from matlab_frontend.builtins.sizes import read_size
from matlab_frontend.errors import MatlabError, MatlabSyntaxError
from matlab_frontend.format_text import unescape
from matlab_frontend.parser import parse
from matlab_frontend.pattern import pattern
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
from matlab_frontend.values.kinds import NUMERIC_KINDS
from matlab_frontend.values.make import (
    cell,
    cell_row,
    empty,
    objects,
    row,
    string,
    strings,
    text,
    text_rows,
    wrap,
)
from matlab_frontend.values.read import integer_of, is_text, is_true, lines_of, text_of


def map_texts(x: Value, change: Callable[[str], str]) -> Value:
    """Change a text, each string of an array, or each text of a cell array."""
    if isinstance(x, Cell):
        if any(kind_of(item) != "char" for item in x.data.flat):
            raise MatlabError("MATLAB:cellOfTexts", "Cells must hold character vectors.")
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


def _trimmed(name: str, change: Callable[[str], str], doc: str) -> Builtin:
    """Blanks removed; of a matrix of characters the columns at the ends that are all blank."""

    def function(_: Call, x: Value) -> Value:
        if not isinstance(x, Cell) and kind_of(x) not in ("char", "string"):
            raise MatlabError(
                f"MATLAB:{name}:InputClass",
                "Input should be a string, character array, or a cell array of character arrays.",
            )
        if kind_of(x) != "char" or is_text(x):
            return map_texts(x, change)
        lines = lines_of(x)
        width = len(lines[0]) if lines else 0
        marks = "".join(
            "x" if any(line[at] not in _BLANKS for line in lines) else " " for at in range(width)
        )
        kept = change(marks)
        first = marks.index("x") if kept[:1] == "x" else 0
        return text_rows([line[first : first + len(kept)] for line in lines])

    return Builtin(name, function, 1, 1, doc)


def _compare(name: str, equal: Callable[[str, str], bool], doc: str) -> Builtin:
    def function(_: Call, x: Value, y: Value) -> Value:
        return compare_texts(x, y, equal)

    return Builtin(name, function, 2, 2, doc)


def _compare_starts(name: str, equal: Callable[[str, str], bool], doc: str) -> Builtin:
    def function(call: Call, x: Value, y: Value, count: Value) -> Value:
        n = integer_of(call.engine, count)

        def starts(a: str, b: str) -> bool:
            return equal(a[:n], b[:n])

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


@builtin("strings")
def strings_(call: Call, *sizes: Value) -> Value:
    """A string array whose elements have no characters."""
    shape = read_size(call.engine, sizes)
    return strings([""] * int(np.prod(shape)), shape)


@builtin("strrep")
def strrep(_: Call, x: Value, old: Value, new: Value) -> Value:
    """Texts with all occurrences of one part replaced."""
    before, after = text_of(old), text_of(new)
    if not isinstance(x, Cell) and kind_of(x) not in ("char", "string"):
        raise MatlabError(
            "MATLAB:strrep:InputClass", "Texts are character vectors, cells of them or strings."
        )
    return map_texts(x, lambda s: _replaced(s, before, after) if before else s)


def _replaced(shown: str, old: str, new: str) -> str:
    """Each occurrence replaced, those that overlap too: ``22`` is twice in ``222``."""
    made, at = [], 0
    for match in re.finditer(f"(?={re.escape(old)})", shown):
        made += [shown[at : match.start()], new]
        at = match.start() + len(old)
    return "".join([*made, shown[at:]])


@builtin("strcat")
def strcat(_: Call, *parts: Value) -> Value:
    """Texts joined; blanks at the ends of character arrays are dropped."""
    lists = [part for part in parts if _is_list(part)]
    if lists:
        largest = max(lists, key=count_of)
        count = count_of(largest)
        if any(count_of(part) not in (1, count) for part in lists):
            raise MatlabError("MATLAB:strcat:InvalidInputSize", "Inputs must be the same size.")
        columns = [_items(part, count) for part in parts]
        if any(item is None for items in columns for item in items):
            raise MatlabError("MATLAB:strcat:InvalidInputType", "Inputs must be texts.")
        joined = ["".join(str(item) for item in items) for items in zip(*columns, strict=True)]
        if any(kind_of(part) == "string" for part in parts):
            return strings(joined, shape_of(largest))
        return cell([text(item) for item in joined], shape_of(largest))
    if any(kind_of(part) == "string" for part in parts):
        return string("".join(text_of(part) for part in parts))
    lines = [[line.rstrip(_BLANKS) for line in lines_of(part)] or [""] for part in parts]
    count = max(map(len, lines))
    if any(len(rows) not in (1, count) for rows in lines):
        raise MatlabError("MATLAB:strcat:NumberOfInputRows", "Inputs must have as many rows.")
    tall = [rows * count if len(rows) == 1 else rows for rows in lines]
    joined = ["".join(row) for row in zip(*tall, strict=True)]
    return text(joined[0]) if count == 1 else text_rows(joined)


_WHITE = (" ", "\f", "\n", "\r", "\t", "\v")


@builtin("strsplit")
def strsplit(
    call: Call, x: Value, delimiters: Value | None = None, *options: Value
) -> tuple[Value, ...]:
    """The parts of a text between delimiters as a row, and the delimiters between them."""
    if delimiters is not None and is_text(delimiters) and len(options) % 2:
        options, delimiters = (delimiters, *options), None  # options alone
    collapse, plain = True, True
    for at in range(0, len(options), 2):
        word = text_of(options[at]).lower()
        if word == "collapsedelimiters":
            collapse = is_true(call.engine, options[at + 1])
        elif word == "delimitertype":
            plain = text_of(options[at + 1]).lower() == "simple"
        else:
            raise MatlabError("MATLAB:strsplit:InvalidParam", f"Unknown option '{word}'.")
    marks = list(_WHITE) if delimiters is None else lines_of(delimiters)
    if plain:
        marks = [re.escape(unescape(mark)) for mark in marks]
        marks.sort(key=len, reverse=True)
    pattern = re.compile(f"(?:{'|'.join(marks)})" + ("+" if collapse else ""))
    shown = text_of(x)
    found = [match for match in pattern.finditer(shown) if match.group()]
    ends = [0, *(match.end() for match in found)]
    starts = [*(match.start() for match in found), len(shown)]
    parts = [shown[a:b] for a, b in zip(ends, starts, strict=True)]
    return _row_like(x, parts), _row_like(x, [match.group() for match in found])


def _row_like(x: Value, parts: list[str]) -> Value:
    """Texts as a row: strings of a string, else cells."""
    if kind_of(x) == "string":
        return strings(parts, (1, len(parts)))
    return cell_row([text_row(part) for part in parts])


def text_row(characters: str) -> Array:
    """A row of characters; no characters make a 1-by-0 array."""
    return text(characters) if characters else Array("char", np.zeros((0, 1), np.uint16))


@builtin("split")
def split(_: Call, x: Value, delimiter: Value | None = None) -> Value:
    """The parts of a text between delimiters, as a column."""
    shown = text_of(x)
    if delimiter is None:
        parts = shown.split()
    else:
        marks = sorted(map(re.escape, lines_of(delimiter)), key=len, reverse=True)
        parts = re.split("|".join(marks), shown)
    if kind_of(x) == "string":
        return strings(parts, (len(parts), 1))
    return cell([text(part) for part in parts], (len(parts), 1))


@builtin("strjoin")
def strjoin(_: Call, parts: Value, delimiter: Value | None = None) -> Value:
    """Texts joined with a delimiter between them, or with one of several after each."""
    items = lines_of(parts)
    made = string if kind_of(parts) == "string" else text
    if delimiter is None or is_text(delimiter):
        return made((" " if delimiter is None else unescape(text_of(delimiter))).join(items))
    marks = lines_of(delimiter)
    if len(marks) != len(items) - 1:
        raise MatlabError(
            "MATLAB:strjoin:WrongNumberOfDelimiterElements",
            "There must be one delimiter fewer than texts.",
        )
    return made("".join(a + b for a, b in zip(items, [*marks, ""], strict=True)))


@builtin("join")
def join(call: Call, parts: Value, *options: Value) -> Value:
    """Texts joined with a delimiter between them, along the last dimension or another."""
    mark = text_of(options[0]) if options and is_text(options[0]) else " "
    given = [option for option in options if not is_text(option)]
    if any(kind_of(option) not in NUMERIC_KINDS for option in given):
        raise MatlabError("MATLAB:join:delimiter", "Delimiters must be one text here.")
    shape = shape_of(parts)
    axis = max((k for k, extent in enumerate(shape) if extent != 1), default=len(shape) - 1)
    if given:
        axis = integer_of(call.engine, given[-1]) - 1
    if is_text(parts) and not isinstance(parts, Cell):
        return parts
    if not 0 <= axis < len(shape):
        return parts
    lines = np.moveaxis(objects(lines_of(parts), shape).T, axis, -1)
    made = [mark.join(lines[at]) for at in np.ndindex(lines.shape[:-1])]
    outer = objects(made, lines.shape[:-1][::-1])  # in the order of ``made``
    joined = np.expand_dims(outer, axis)
    items = list(joined.T.flat)
    if isinstance(parts, Cell):
        return cell([text(item) for item in items], joined.shape)
    return strings(items, joined.shape)


@builtin("strfind")
def strfind(
    call: Call, x: Value, pattern: Value, option: Value | None = None, forced: Value | None = None
) -> Value:
    """Where a text contains another one, overlaps included; of cells a cell array."""
    wanted = text_of(pattern)
    if option is not None:
        word_of("strfind", option, ("forcecelloutput",))
    if (
        option is not None
        and not isinstance(x, Cell)
        and forced is not None
        and is_true(call.engine, forced)
    ):
        return cell([_find(text_of(x), wanted)], (1, 1))
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
    if kind_of(x) == "string":
        pairs = [_first_part(item, marks) for item in lines_of(x)]
        shape = shape_of(x)
        return strings([a for a, _ in pairs], shape), strings([b for _, b in pairs], shape)
    if not is_text(x):
        raise MatlabError("MATLAB:strtok:InvalidInput", "A matrix of characters is no text.")
    begin, end = _first_part(text_of(x), marks)
    return text(begin), text(end)


def _first_part(characters: str, marks: str) -> tuple[str, str]:
    shown = characters.lstrip(marks)
    end = next((at for at, c in enumerate(shown) if c in marks), len(shown))
    return shown[:end], shown[end:]


def _search(name: str, holds: Callable[[str, str], bool], doc: str) -> Builtin:
    def function(call: Call, x: Value, pattern: Value, *options: Value) -> Value:
        folds = options_of(options, ("ignorecase",), name).get("ignorecase")
        fold = folds is not None and is_true(call.engine, folds)
        wanted = [p.lower() if fold else p for p in lines_of(pattern)]
        items = lines_of(x) if _is_list(x) else [text_of(x)]
        made = [any(holds(s.lower() if fold else s, p) for p in wanted) for s in items]
        if not _is_list(x):
            return made[0]
        return wrap("logical", np.array(made, bool).reshape(shape_of(x)[::-1]))

    return Builtin(name, function, 2, None, doc)


@builtin("strlength")
def strlength(_: Call, x: Value) -> Value:
    """Number of characters of strings."""
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
_COMPLEX = pattern(rf"({_REAL})?(?:\s*({_REAL}|[+-])\s*\*?\s*[ij])?|([ij])")


def _number(shown: str) -> float | complex:
    plain = shown.strip().replace(",", "")
    match = _COMPLEX.fullmatch(plain)
    if not plain or match is None:
        return float("nan")
    real, imaginary, unit = match.groups()
    if unit:
        return 1j
    if imaginary is None:
        return _real(real)
    part = {"+": 1.0, "-": -1.0}.get(imaginary)
    return complex(_real(real) if real else 0.0, _real(imaginary) if part is None else part)


def _real(shown: str) -> float:
    return float(shown.replace(" ", "").replace("d", "e").replace("D", "e"))


@builtin("str2num")
def str2num(call: Call, x: Value) -> tuple[Value, ...]:
    """The value of a text that is an expression, [] of others; and whether it is one."""
    shown = ";".join(lines_of(x)) if kind_of(x) == "char" else text_of(x)
    try:
        program = parse(Source(f"ans = [{shown}];", "str2num"))
        return call.interpreter.run(program, {}).variables["ans"], True
    except (MatlabError, MatlabSyntaxError):
        return empty(), False


GENERATED = (
    _compare("strcmp", str.__eq__, "Whether texts are equal."),
    _compare("strcmpi", _same_without_case, "Whether texts are equal but for case."),
    _compare_starts("strncmp", str.__eq__, "Whether texts begin alike."),
    _compare_starts("strncmpi", _same_without_case, "Whether texts begin alike but for case."),
    _mapped("upper", str.upper, "Texts in capitals."),
    _mapped("lower", str.lower, "Texts in small letters."),
    _trimmed("strtrim", lambda s: s.strip(_BLANKS), "Texts without blanks at both ends."),
    _trimmed("deblank", lambda s: s.rstrip(_BLANKS), "Texts without blanks at the end."),
    _search("contains", lambda s, p: p in s, "Whether texts contain a part."),
    _search("startsWith", str.startswith, "Whether texts begin with a part."),
    _search("endsWith", str.endswith, "Whether texts end with a part."),
)

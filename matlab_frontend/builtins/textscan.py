"""``textscan``: columns of a text or a file, one cell a conversion."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import field

import numpy as np

from matlab_frontend.builtins.registry import Call, builtin
from matlab_frontend.builtins.streams import stream_of
from matlab_frontend.errors import MatlabError
from matlab_frontend.format_text import unescape
from matlab_frontend.pattern import pattern
from matlab_frontend.streams import Stream
from matlab_frontend.values.array import Array, Cell, Value, as_array
from matlab_frontend.values.kinds import DTYPES
from matlab_frontend.values.make import cell, cell_row, text, text_rows, wrap
from matlab_frontend.values.read import integer_of, is_text, is_true, lines_of, number_of, text_of
from runmat_jit.core.frozen import frozen
from runmat_jit.core.slotted import slotted

_CONVERSION = pattern(
    r"%(\*?)(\d*)(?:\.(\d+))?(d8|d16|d32|d64|d|u8|u16|u32|u64|u|f32|f64|f|n|s|q|c|\[\^?\]?[^\]]*\])"
)
_CLASSES = {
    "d": "int32", "u": "uint32", "n": "double", "f": "double",
    "f32": "single", "f64": "double",
    **{f"{sign}{bits}": f"{word}{bits}" for sign, word in (("d", "int"), ("u", "uint"))
       for bits in (8, 16, 32, 64)},
}  # fmt: skip
_NUMBER = pattern(
    r"[+-]?(?:\d+\.?\d*(?:[eEdD][+-]?\d+)?|\.\d+(?:[eEdD][+-]?\d+)?|inf|nan)", re.IGNORECASE
)
_WHOLE = pattern(r"[+-]?\d+")


@frozen
class Conversion:
    """A conversion of a format, or (where ``kind`` is empty) characters to be passed over."""

    kind: str
    skipped: bool = False
    width: int = 0
    characters: str = ""

    @property
    def class_name(self) -> str | None:
        """The class of a column of numbers."""
        return _CLASSES.get(self.kind)


def conversions_of(template: str) -> list[Conversion]:
    """Read a format.

    Raises:
        MatlabError: it holds a conversion that is none.

    """
    made: list[Conversion] = []
    at = 0
    for match in _CONVERSION.finditer(template):
        made += _literals(template[at : match.start()])
        star, width, _, kind = match.groups()
        made.append(
            Conversion(kind[0] if kind[0] == "[" else kind, bool(star), int(width or 0), kind)
        )
        at = match.end()
    return made + _literals(template[at:])


def _literals(characters: str) -> list[Conversion]:
    if "%" in characters:
        raise MatlabError("MATLAB:textscan:badFormat", f"Badly formed format string: {characters}")
    return [Conversion("", characters=word) for word in characters.split()]


@slotted
class Options:
    """What the options of a call say."""

    delimiters: tuple[str, ...] = ()
    blanks: str = " \b\t"
    header_lines: int = 0
    merge: bool = False
    collect: bool = False
    empty_value: float = float("nan")
    comment: str = ""
    empty_texts: tuple[str, ...] = field(default=())


def _texts(value: Value) -> tuple[str, ...]:
    return (
        tuple(map(unescape, lines_of(value))) if not is_text(value) else (unescape(text_of(value)),)
    )


def _delimiters(value: Value) -> tuple[str, ...]:
    """Delimiters: each character of a text, or each text of a cell array."""
    return tuple(unescape(text_of(value))) if is_text(value) else _texts(value)


_READERS: dict[str, tuple[str, Callable[[Call, Value], object]]] = {
    "delimiter": ("delimiters", lambda _, x: _delimiters(x)),
    "whitespace": ("blanks", lambda _, x: unescape(text_of(x))),
    "headerlines": ("header_lines", lambda call, x: integer_of(call.engine, x)),
    "multipledelimsasone": ("merge", lambda call, x: is_true(call.engine, x)),
    "collectoutput": ("collect", lambda call, x: is_true(call.engine, x)),
    "emptyvalue": ("empty_value", lambda call, x: number_of(call.engine, x)),
    "commentstyle": ("comment", lambda _, x: text_of(x)),
    "treatasempty": ("empty_texts", lambda _, x: _texts(x)),
}
_IGNORED = ("endofline", "returnonerror", "texttype")
"""Options that change nothing here, as long as they say what is done anyway."""


def read_options(call: Call, given: Sequence[Value]) -> Options:
    """Read names and values.

    Raises:
        MatlabError: an option is not known here.

    """
    options = Options()
    for at in range(0, len(given), 2):
        name = text_of(given[at], "An option").lower()
        if at + 1 == len(given):
            raise MatlabError("MATLAB:textscan:NumberOfArguments", f"'{name}' needs a value.")
        if name in _READERS:
            attribute, read = _READERS[name]
            setattr(options, attribute, read(call, given[at + 1]))
        elif name not in _IGNORED:
            raise MatlabError("MATLAB:textscan:UnknownOption", f"Unknown option '{name}'.")
    return options


class _Reader:
    """A position in a text, and the rules by which fields end."""

    def __init__(self, characters: str, options: Options) -> None:
        self.characters, self.options, self.at = characters, options, 0
        self.blanks = "".join(c for c in options.blanks if c not in options.delimiters)
        ends = [re.escape(d) for d in sorted(options.delimiters, key=len, reverse=True)]
        if not ends:
            ends = [f"[{re.escape(self.blanks)}]"] if self.blanks else []
        self.delimiter = re.compile("|".join(ends) or r"(?!)")
        self.word = re.compile(rf"(?:(?!{'|'.join([*ends, chr(10), chr(13)])})[\s\S])*")

    @property
    def ended(self) -> bool:
        return self.at >= len(self.characters)

    @property
    def at_line_end(self) -> bool:
        return self.ended or self.characters[self.at] in "\r\n"

    def skip(self, kinds: str) -> None:
        """Go over characters."""
        while not self.ended and self.characters[self.at] in kinds:
            self.at += 1

    def skip_between_rows(self) -> None:
        """Go over blanks, ends of lines and comments."""
        while True:
            before = self.at
            self.skip(self.blanks + "\r\n")
            comment = self.options.comment
            if comment and self.characters.startswith(comment, self.at):
                end = self.characters.find("\n", self.at)
                self.at = len(self.characters) if end < 0 else end
            if self.at == before:
                return

    def skip_line(self) -> None:
        end = self.characters.find("\n", self.at)
        self.at = len(self.characters) if end < 0 else end + 1

    def pass_delimiter(self) -> None:
        """Go over what separates two fields."""
        self.skip(self.blanks)
        while found := self.delimiter.match(self.characters, self.at):
            self.at = found.end()
            if not self.options.merge:
                break
            self.skip(self.blanks)

    def take(self, conversion: Conversion) -> str | None:
        """The characters of a conversion; None where there are no such."""
        if conversion.kind == "":
            self.skip(self.blanks)
            if not self.characters.startswith(conversion.characters, self.at):
                return None
            self.at += len(conversion.characters)
            return ""
        if conversion.kind == "c":
            return self._matched(re.compile(f"[\\s\\S]{{{conversion.width or 1}}}"), 0)
        self.skip(self.blanks)
        if conversion.kind == "[":
            inside = conversion.characters[1:-1].replace("\\", r"\\")
            return self._matched(re.compile(f"[{inside}]+"), conversion.width)
        if conversion.kind == "q" and self.characters.startswith('"', self.at):
            found = self._matched(re.compile(r'"(?:[^"]|"")*"?'), 0)
            return (found or "")[1:].removesuffix('"').replace('""', '"')
        if conversion.class_name is None:
            return self._matched(self.word, conversion.width)
        return self._number(conversion)

    def _number(self, conversion: Conversion) -> str | None:
        for word in self.options.empty_texts:
            if self.characters.startswith(word, self.at):
                self.at += len(word)
                return ""
        if self.at_line_end or self.delimiter.match(self.characters, self.at):
            return ""  # an empty field
        pattern = _NUMBER if conversion.kind[0] in "fn" else _WHOLE
        return self._matched(pattern, conversion.width)

    def _matched(self, pattern: re.Pattern[str], width: int) -> str | None:
        end = self.at + width if width else len(self.characters)
        found = pattern.match(self.characters, self.at, end)
        if found is None:
            return None
        self.at = found.end()
        return found.group()


@builtin("textscan")
def textscan(call: Call, source: Value, *arguments: Value) -> tuple[Value, ...]:
    """Columns read from a text or an open file by a format, and the position behind them."""
    given = list(arguments)
    template = "%f"
    if given and is_text(given[0]) and not _is_option(given[0]):
        template = text_of(given.pop(0)) or "%f"
    limit = float("inf")
    if given and not is_text(given[0]):
        limit = number_of(call.engine, given.pop(0))
        limit = float("inf") if limit < 0 else limit
    options = read_options(call, given)
    stream, start = None, 0
    if is_text(source):
        characters = text_of(source)
    else:
        stream = stream_of(call, source)
        start = stream.file.tell()
        characters = stream.decode(stream.read_bytes())
    reader = _Reader(characters, options)
    for _ in range(options.header_lines):
        reader.skip_line()
    conversions = conversions_of(unescape(template))
    columns = _rows(reader, conversions, limit)
    if stream is not None:
        _go_behind(stream, start, reader)
    kept = [c for c in conversions if c.kind and not c.skipped]
    made = [_column(c, column, options) for c, column in zip(kept, columns, strict=True)]
    position = start + len(characters[: reader.at].encode("utf-8", "replace"))
    return cell_row(_collected(made) if options.collect else made), float(position)


def _is_option(value: Value) -> bool:
    return text_of(value).lower() in (*_READERS, *_IGNORED)


def _go_behind(stream: Stream, start: int, reader: _Reader) -> None:
    used = reader.characters[: reader.at]
    stream.seek(start + len(used.encode(stream.encoding, "replace")), 0)
    stream.at_end = reader.ended


def _rows(reader: _Reader, conversions: Sequence[Conversion], limit: float) -> list[list[str]]:
    """The fields of each conversion, until the text or the format ends."""
    columns: list[list[str]] = [[] for c in conversions if c.kind and not c.skipped]
    done = 0
    while done < limit:
        reader.skip_between_rows()
        if reader.ended or not _row(reader, conversions, columns):
            break
        done += 1
    return columns


def _row(reader: _Reader, conversions: Sequence[Conversion], columns: list[list[str]]) -> bool:
    """Read a row; False where a field is not what its conversion wants."""
    column = 0
    for k, conversion in enumerate(conversions):
        if k and conversion.kind and reader.at_line_end and not reader.options.delimiters:
            reader.skip_between_rows()  # rows of blanks go on in the next line
        if reader.ended and k and not conversion.class_name:
            break
        taken = reader.take(conversion)
        if taken is None:
            return False
        if conversion.kind and not conversion.skipped:
            columns[column].append(taken)
            column += 1
        if conversion.kind:
            reader.pass_delimiter()
    _fill(columns, column)
    return True


def _fill(columns: list[list[str]], column: int) -> None:
    """Give the columns that a last, short row did not reach an empty field."""
    for missing in columns[column:]:
        missing.append("")


def _column(conversion: Conversion, fields: list[str], options: Options) -> Value:
    """A column of numbers, texts or characters."""
    kind = conversion.class_name
    if kind is None:
        if conversion.kind == "c":
            return text_rows(fields)
        return cell([text(shown) for shown in fields], (len(fields), 1))
    numbers = np.array([_number_of(shown, options) for shown in fields], float)
    if kind not in ("double", "single"):
        info = np.iinfo(DTYPES[kind])
        whole = [
            min(max(int(shown), info.min), info.max) if shown else int(np.nan_to_num(number))
            for shown, number in zip(fields, numbers, strict=True)
        ]
        return Array(kind, np.array(whole, DTYPES[kind]).reshape(1, -1))
    return wrap(kind, numbers.astype(DTYPES[kind]).reshape(1, -1))


def _number_of(shown: str, options: Options) -> float:
    if not shown:
        return options.empty_value
    return float(shown.lower().replace("d", "e") if "n" not in shown.lower() else shown)


def _collected(columns: Sequence[Value]) -> list[Value]:
    """Neighbors of one class side by side."""
    made: list[Value] = []
    for column in columns:
        last = made[-1] if made else None
        one, two = (as_array(x) if isinstance(x, float) else x for x in (last, column))
        if isinstance(one, Cell) and isinstance(two, Cell):
            made[-1] = Cell(np.concatenate([one.data, two.data]))
        elif isinstance(one, Array) and isinstance(two, Array) and one.kind == two.kind:
            made[-1] = Array(one.kind, np.concatenate([one.data, two.data]))
        else:
            made.append(column)
    return made

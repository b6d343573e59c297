"""``sscanf`` and ``fscanf``: numbers and texts read from a text or a file by a format."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from matlab_frontend.builtins.registry import Call, builtin
from matlab_frontend.builtins.streams import stream_of
from matlab_frontend.errors import MatlabError
from matlab_frontend.format_text import unescape
from matlab_frontend.pattern import pattern
from matlab_frontend.values.array import Array, Value
from matlab_frontend.values.make import empty, text, wrap
from matlab_frontend.values.read import is_text, known, text_of
from runmat_jit.core.frozen import frozen

_FIELD = pattern(r"%(\*?)(\d*)(?:l|h)?(\[\^?\]?[^\]]*\]|[dinuofegxsc%])")
_BLANKS = " \t\n\r\f\v"
_NUMBERS = {
    **dict.fromkeys("dnu", r"[+-]?\d+"),
    "i": r"[+-]?(?:0[xX][0-9a-fA-F]+|\d+)",
    "o": r"[+-]?[0-7]+",
    "x": r"[+-]?(?:0[xX])?[0-9a-fA-F]+",
    **dict.fromkeys(
        "feg", r"[+-]?(?:\d+\.?\d*(?:[eEdD][+-]?\d+)?|\.\d+(?:[eEdD][+-]?\d+)?|[iI]nf|[nN]a[nN])"
    ),
}


@frozen
class Field:
    """A part of a format: a conversion, or (where ``kind`` is empty) characters to match."""

    kind: str
    characters: str = ""
    width: int = 0
    skipped: bool = False


def read_format(template: str) -> Iterator[Field]:
    """The parts of a format in order; blanks match any blanks, so they are dropped."""
    at = 0
    for match in _FIELD.finditer(template):
        yield from _literals(template[at : match.start()])
        skipped, width, kind = match.groups()
        if kind == "%":
            yield Field("", "%")
        else:
            yield Field(kind[0], kind, int(width or 0), bool(skipped))
        at = match.end()
    yield from _literals(template[at:])


def _literals(characters: str) -> Iterator[Field]:
    if "%" in characters:
        raise MatlabError("MATLAB:sscanf:badFormat", f"Unknown conversion in '{characters}'.")
    yield from (Field("", word) for word in characters.split())


class _Scanner:
    """A position in a text, which moves behind what is read."""

    def __init__(self, characters: str) -> None:
        self.characters, self.at = characters, 0

    def skip_blanks(self) -> None:
        while self.at < len(self.characters) and self.characters[self.at] in _BLANKS:
            self.at += 1

    def take(self, field: Field) -> str | None:
        """The characters that a part of a format matches; None where it does not."""
        if field.kind not in ("c", "["):
            self.skip_blanks()
        end = self.at + field.width if field.width else len(self.characters)
        if field.kind == "":
            found = re.compile(re.escape(field.characters)).match(self.characters, self.at)
        elif field.kind == "c":
            count = field.width or 1
            found = re.compile(f".{{1,{count}}}", re.DOTALL).match(self.characters, self.at)
        elif field.kind == "[":
            inside = field.characters[1:-1].replace("\\", r"\\")
            found = re.compile(f"[{inside}]+").match(self.characters, self.at, end)
        elif field.kind == "s":
            found = re.compile(r"\S+").match(self.characters, self.at, end)
        else:
            found = re.compile(_NUMBERS[field.kind]).match(self.characters, self.at, end)
        if found is None:
            return None
        self.at = found.end()
        return found.group()


def _number(kind: str, shown: str) -> float:
    if kind in "dnu":
        return float(int(shown))
    if kind == "o":
        return float(int(shown, 8))
    if kind == "x":
        return float(int(shown, 16))
    if kind == "i":
        return float(int(shown, 16 if "x" in shown.lower() else 10))
    return float(shown.lower().replace("d", "e") if "n" not in shown.lower() else shown)


@builtin("sscanf")
def sscanf(call: Call, x: Value, template: Value, size: Value = float("inf")) -> tuple[Value, ...]:
    """Numbers read from a text, the format repeated to its end; with four outputs also how many.

    Only texts are given as characters where all conversions are of texts.
    """
    characters = text_of(x, "The text")
    _check_size("sscanf", size)
    return _scan(call, characters, template, size)


@builtin("fscanf")
def fscanf(
    call: Call, identifier: Value, template: Value, size: Value = float("inf")
) -> tuple[Value, ...]:
    """Numbers read from a file by a format, from the position on; and how many."""
    stream = stream_of(call, identifier)
    _check_size("fscanf", size)
    start = stream.file.tell()
    wanted = _CHUNK if _limit(call, size) < _FEW else -1
    while True:
        data = stream.read_bytes(wanted)
        characters = stream.decode(data)
        made, count, _, behind = _scan(call, characters, template, size)
        assert isinstance(behind, float), "a position is a number"
        used = int(behind) - 1
        if stream.at_end or used + _MARGIN < len(characters):
            break
        stream.seek(start, 0)
        wanted *= 4
    stream.seek(start + len(characters[:used].encode(stream.encoding, "replace")), 0)
    stream.at_end = used >= len(characters)
    return made, count


_CHUNK, _MARGIN, _FEW = 1 << 12, 1 << 10, 256
"""Bytes read for few numbers; and characters behind these that tell that no number was cut."""


def _scan(call: Call, characters: str, template: Value, size: Value) -> tuple[Value, ...]:
    """What is read, how many conversions succeeded, the problem, and the position behind it."""
    fields = list(read_format(unescape(text_of(template, "The format"))))
    limit = _limit(call, size)
    scanner = _Scanner(characters)
    made: list[float] = []
    count, problem = _read(scanner, fields, made, limit)
    kinds = {field.kind for field in fields if field.kind and not field.skipped}
    return (
        _shaped(call, made, size, characters=bool(kinds) and kinds <= set("sc[")),
        float(count),
        text(problem),
        scanner.at + 1.0,
    )


def _check_size(name: str, size: Value) -> None:
    if is_text(size):
        raise MatlabError(f"MATLAB:{name}:size", "A size is a number or a pair of numbers.")


def _limit(call: Call, size: Value) -> float:
    extents = known(call.engine, size).ravel()
    return float(np.prod(extents)) if extents.size else float("inf")


def _read(
    scanner: _Scanner, fields: list[Field], made: list[float], limit: float
) -> tuple[int, str]:
    """Fill ``made``; gives how many conversions succeeded, and why reading stopped."""
    count = 0
    converting = [field for field in fields if field.kind]
    while converting and len(made) < limit:
        for field in fields:
            if len(made) >= limit:
                break
            begin = scanner.at
            shown = scanner.take(field)
            if shown is None:
                scanner.at = begin
                scanner.skip_blanks()
                ended = scanner.at >= len(scanner.characters)
                scanner.at = scanner.at if ended else begin
                return count, "" if ended else "Matching failure in format."
            if field.kind and not field.skipped:
                count += 1
                if field.kind in "sc[":
                    made += [float(ord(c)) for c in shown]
                else:
                    made.append(_number(field.kind, shown))
        scanner.skip_blanks()
        if scanner.at >= len(scanner.characters):
            break
    return count, ""


def _shaped(call: Call, made: list[float], size: Value, *, characters: bool) -> Value:
    """What was read as a column, or column by column in the asked size."""
    extents = known(call.engine, size).ravel()
    if characters:
        words = "".join(chr(int(code)) for code in made)
        if extents.size < 2:
            return text(words)
    if not made:
        return empty()
    numbers = np.array(made)
    if extents.size == 2:
        rows = int(extents[0])
        columns = -(-numbers.size // rows)
        filled = np.zeros(rows * columns)
        filled[: numbers.size] = numbers
        if characters:
            return Array("char", filled.reshape(columns, rows).astype(np.uint16))
        return wrap("double", filled.reshape(columns, rows))
    return wrap("double", numbers.reshape(1, -1))

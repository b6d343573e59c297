"""The text of a program and where its characters stand."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from runmat_jit.core.frozen import frozen

_BYTE_ORDER_MARK = "\ufeff"


class Span(NamedTuple):
    """Offsets into ``Source.text``, the end not included.

    A tuple, as one is made for each node and a dataclass costs three times as much.
    """

    start: int
    end: int


@frozen
class Position:
    """Where an offset stands: line and column, both counted from 1."""

    line: int
    column: int


@frozen
class Source:
    r"""A program's text, with ``\n`` as the only line end, and the name that errors show."""

    text: str
    name: str = "<text>"

    def __post_init__(self) -> None:
        if "\r" in self.text:
            text = self.text.replace("\r\n", "\n").replace("\r", "\n")
            object.__setattr__(self, "text", text)

    @classmethod
    def from_bytes(cls, data: bytes, name: str = "<text>") -> Source:
        """Decode UTF-8 with or without a byte order mark, else Windows-1252.

        Old files are written in the code page of their author; the bytes that Windows-1252 leaves
        open are read as Latin-1, so that every file has a text.
        """
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError:
            text = "".join(_windows_character(byte) for byte in data)
        return cls(text.removeprefix(_BYTE_ORDER_MARK), name)

    @classmethod
    def from_file(cls, path: Path | str) -> Source:
        """Read a file; raises what opening it raises."""
        return cls.from_bytes(Path(path).read_bytes(), str(path))

    def position(self, offset: int) -> Position:
        """Line and column of an offset; the end of the text is a valid offset too."""
        line = self.text.count("\n", 0, offset) + 1
        return Position(line, offset - self.text.rfind("\n", 0, offset))

    def line(self, number: int) -> str:
        """The text of a line, counted from 1, without its end."""
        return self.text.split("\n")[number - 1]

    def excerpt(self, span: Span) -> str:
        """The text that a span covers."""
        return self.text[span.start : span.end]


def _windows_character(byte: int) -> str:
    code = bytes((byte,))
    try:
        return code.decode("windows-1252")
    except UnicodeDecodeError:
        return code.decode("latin-1")

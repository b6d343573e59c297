"""The files that a program has open, by their identifiers."""

from __future__ import annotations

from io import BufferedRandom
from pathlib import Path
from typing import Any

from matlab_frontend.errors import MatlabError
from matlab_frontend.pattern import pattern

STANDARD = (0, 1, 2)
"""Identifiers of the standard streams, which are always open."""
_PERMISSION = pattern(r"([rwaRWA])([bt]?\+?|\+[bt])")


class Stream:
    """An open file: bytes, and the encoding of its text.

    Attributes:
        file: Bytes that can be read, or written, or both.
        machine: ``ieee-le`` or ``ieee-be``: the order of bytes in numbers.
        at_end: Whether a read has met the end, which ``feof`` tells.
        problem: What went wrong last, which ``ferror`` tells.

    """

    def __init__(self, name: str, permission: str, file: BufferedRandom) -> None:
        self.name, self.permission, self.file = name, permission, file
        self.machine, self.encoding = "ieee-le", "UTF-8"
        self.at_end = False
        self.problem = ""

    @property
    def writes(self) -> bool:
        return self.permission[0] in "wa" or "+" in self.permission

    @property
    def reads(self) -> bool:
        return self.permission[0] == "r" or "+" in self.permission

    def decode(self, data: bytes) -> str:
        """The characters of bytes; those that are no text are replaced."""
        return data.decode(self.encoding, "replace")

    def write(self, text: str) -> None:
        """Write characters; of a file that is only read, none."""
        self.write_bytes(text.encode(self.encoding, "replace"))

    def write_bytes(self, data: bytes) -> bool:
        """Write bytes; False where the file is only read."""
        if not self.writes:
            self.problem = "Bad file descriptor"
            return False
        self.file.write(data)
        return True

    def read_bytes(self, count: int = -1) -> bytes:
        """So many bytes, or all that are left; fewer at the end."""
        if not self.reads:
            self.problem = "Bad file descriptor"
            return b""
        data = self.file.read(count)
        if count < 0 or len(data) < count:
            self.at_end = True
        return data

    def read_line(self, most: int = -1) -> bytes:
        """The rest of the line with its end, or so many bytes of it; nothing at the end."""
        if not self.reads:
            self.problem = "Bad file descriptor"
            return b""
        line = self.file.readline(most)
        self.at_end = not self.file.peek(1)
        return line

    def seek(self, offset: int, origin: int) -> bool:
        """Go to a byte from the start (0), here (1) or the end (2); False where none is there."""
        here = self.file.tell()
        end = self.file.seek(0, 2)
        place = offset + (0, here, end)[origin]
        inside = 0 <= place <= end
        self.file.seek(place if inside else here)
        if inside:
            self.at_end = False
        else:
            self.problem = "Offset is bad - before beginning of file or beyond its end."
        return inside


class Streams:
    """Open files; identifiers are reused, the smallest first, as MATLAB's are."""

    def __init__(self) -> None:
        self.opened: dict[int, Stream] = {}

    def open(self, path: Path, name: str, permission: str) -> int:
        """Open a file; gives its identifier.

        Raises:
            OSError: it cannot be opened.

        """
        mode = permission.lower().replace("t", "").replace("b", "")
        file: Any = open(path, f"{mode}b")  # noqa: PTH123, SIM115  (a mode of MATLAB's; fclose closes it)
        number = next(k for k in range(3, 1 << 16) if k not in self.opened)
        self.opened[number] = Stream(name, mode, file)
        return number

    def get(self, number: float) -> Stream:
        """The stream of an identifier.

        Raises:
            MatlabError: no file is open by it.

        """
        found = self.opened.get(int(number)) if number == number // 1 else None
        if found is None:
            raise invalid_identifier()
        return found

    def close(self, number: float) -> Stream:
        """Close a file."""
        stream = self.get(number)
        del self.opened[int(number)]
        stream.file.close()
        return stream

    def close_all(self) -> None:
        """Close all files, as the end of a program does."""
        for number in list(self.opened):
            self.close(number)


def check_permission(permission: str) -> None:
    """Refuse a permission that is none.

    Raises:
        MatlabError: ``MATLAB:FileIO:InvalidPermission``.

    """
    if not _PERMISSION.fullmatch(permission):
        raise MatlabError("MATLAB:FileIO:InvalidPermission", "Invalid permission.")


def invalid_identifier() -> MatlabError:
    """The error of a number by which no file is open."""
    return MatlabError(
        "MATLAB:FileIO:InvalidFid",
        "Invalid file identifier. Use fopen to generate a valid file identifier.",
    )

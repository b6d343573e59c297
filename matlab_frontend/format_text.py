"""``sprintf``'s language: conversions, and the cycling of a template over its arguments."""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TypeAlias

import numpy as np

from matlab_frontend.engine import Engine
from matlab_frontend.errors import MatlabError
from matlab_frontend.pattern import pattern
from matlab_frontend.values.array import Value, as_array, kind_of
from matlab_frontend.values.read import decode
from runmat_jit.core.frozen import frozen

Argument: TypeAlias = float | int | str
"""One element: a number, or the text of a character array that ``%s`` may take whole."""

_CONVERSION = pattern(
    r"%(?:(?P<place>\d+)\$)?(?P<flags>[-+ 0#]*)(?P<width>\*|\d+)?(?:\.(?P<precision>\*|\d*))?"
    r"(?:[lh])?(?P<bits>[bt](?=[oxXu]))?(?P<letter>[diuoxXfeEgGcs%])"
)
_ESCAPE = pattern(r"\\(?:x([0-9A-Fa-f]+)|([0-7]{1,3})|(.))", re.DOTALL)
_ESCAPES = {
    "n": "\n",
    "t": "\t",
    "r": "\r",
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "v": "\v",
    "\\": "\\",
    "'": "'",
    '"': '"',
}
_INTEGER_LETTERS = "diuoxXc"


@frozen
class Conversion:
    """``%-8.3f``; width and precision are ``*`` where an argument gives them.

    ``place`` counts the arguments from 1 in templates that name them: ``%2$s``. ``bits`` is ``b``
    or ``t`` where the bits of a double or a single are shown: ``%bx``.
    """

    flags: str
    width: str
    precision: str | None
    letter: str
    place: int = 0
    bits: str = ""


Piece: TypeAlias = str | Conversion


def unescape(template: str) -> str:
    r"""Replace ``\n``, ``\t``, ``\x41``, ``\101`` and the like by their characters."""
    if "\\" not in template:
        return template

    def character(match: re.Match[str]) -> str:
        hexadecimal, octal, letter = match.groups()
        if hexadecimal:
            return chr(int(hexadecimal, 16))
        if octal:
            return chr(int(octal, 8))
        return _ESCAPES.get(letter, "\\" + letter)

    return _ESCAPE.sub(character, template)


def format_values(engine: Engine, template: str, values: Sequence[Value]) -> str:
    """The text of a template with values, as ``sprintf`` makes it.

    The template is used again until all elements are used; it ends before the first conversion
    that finds none left. Without elements, conversions print nothing.
    """
    pieces = parse(template)
    arguments = list(flatten(engine, values))
    conversions = sum(isinstance(piece, Conversion) for piece in pieces)
    if not conversions or not arguments:
        return "".join(p if isinstance(p, str) else _pad("", p.flags, p.width) for p in pieces)
    if any(isinstance(piece, Conversion) and piece.place for piece in pieces):
        return "".join(_at_its_place(piece, arguments) for piece in pieces)
    queue = _Queue(arguments)
    made: list[str] = []
    while queue.left:
        before = queue.at
        for piece in pieces:
            if isinstance(piece, str):
                made.append(piece)
            elif not queue.left:
                return "".join(made)
            else:
                made.append(convert(piece, queue))
        if queue.at == before:
            break
    return "".join(made)


def _at_its_place(piece: Piece, arguments: list[Argument]) -> str:
    if isinstance(piece, str):
        return piece
    return convert(piece, _Queue(arguments[piece.place - 1 : piece.place]))


@lru_cache(256)  # loops print with the same templates
def parse(template: str) -> tuple[Piece, ...]:
    """Literal text and conversions, in order; ``%%`` is literal."""
    pieces: list[Piece] = []
    at = 0
    for match in _CONVERSION.finditer(template):
        pieces.append(template[at : match.start()])
        at = match.end()
        if match["letter"] == "%":
            pieces.append("%")
            continue
        pieces.append(
            Conversion(
                match["flags"],
                match["width"] or "",
                match["precision"],
                match["letter"],
                int(match["place"] or 0),
                match["bits"] or "",
            )
        )
    pieces.append(template[at:])
    return tuple(piece for piece in pieces if piece != "")


def flatten(engine: Engine, values: Sequence[Value]) -> Iterator[Argument]:
    """All elements of the values, column by column; texts as one argument each.

    Raises:
        MatlabError: a value is a cell, a struct or an object.

    """
    for value in values:
        if type(value) is float:
            yield value
            continue
        array = as_array(value)
        if array is None:
            raise MatlabError(
                "MATLAB:format:cellArgument",
                f"Function is not defined for '{kind_of(value)}' inputs.",
            )
        data = engine.look(array.data)
        if array.kind == "char":
            yield decode(data.ravel())
        elif array.kind == "string":
            yield from (str(element) for element in data.flat)
        else:
            yield from np.real(data).ravel().tolist()


class _Queue:
    """Arguments that are left; a text is taken whole by ``%s``, else character by character."""

    def __init__(self, arguments: list[Argument]) -> None:
        self.arguments = arguments
        self.at = 0

    @property
    def left(self) -> bool:
        return self.at < len(self.arguments)

    def take(self) -> Argument:
        self.at += 1
        return self.arguments[self.at - 1]

    def take_number(self) -> Argument:
        """The next number; a text gives its characters' codes, one at a time."""
        argument = self.arguments[self.at]
        if isinstance(argument, str):
            self.arguments[self.at : self.at + 1] = [ord(c) for c in argument]
            if not self.left:
                return ""
        return self.take()


def convert(conversion: Conversion, queue: _Queue) -> str:
    """One conversion applied to the next arguments."""
    width, precision, flags = conversion.width, conversion.precision, conversion.flags
    if width == "*":
        number = int(float(queue.take_number()))
        flags, width = (flags + "-", str(-number)) if number < 0 else (flags, str(number))
    if precision == "*":
        precision = str(int(float(queue.take_number()))) if queue.left else ""
    if not queue.left:
        return ""
    letter = conversion.letter
    if letter in "sc":
        argument = queue.take() if letter == "s" else _character(queue)
        return _pad(_as_text(argument, precision, letter), flags, width)
    argument = queue.take_number()
    if isinstance(argument, str):
        return _pad("", flags, width)
    if conversion.bits:
        code = {"b": "<d", "t": "<f"}[conversion.bits]
        argument = int.from_bytes(struct.pack(code, argument), "little")
    return format_number(argument, letter, flags, width, precision)


def format_number(
    number: float, letter: str, flags: str = "", width: str = "", precision: str | None = None
) -> str:
    """One number; integer conversions of a number with a fraction turn into ``%e`` or ``%f``."""
    if isinstance(number, float) and not math.isfinite(number):
        shown = "NaN" if math.isnan(number) else "Inf" if number > 0 else "-Inf"
        if "+" in flags and number > 0:
            shown = "+Inf"
        return _pad(shown, flags.replace("0", ""), width)
    point = "" if precision is None else f".{precision or 0}"
    if letter in _INTEGER_LETTERS:
        if number == int(number) and (number >= 0 or letter in "di"):
            letter = "d" if letter in "iu" else letter
            if letter == "o" and "#" in flags:  # C writes 010, Python 0o10
                return _pad(f"0{int(number):o}" if number else "0", flags, width)
            return f"%{flags}{width}{point}{letter}" % int(number)
        letter = "f" if number == int(number) else "e"
        if number == int(number):
            point = ".0"
    return f"%{flags}{width}{point}{letter}" % number


def shortest(number: float, digits: int = 5) -> str:
    """The shortest of fixed and scientific notation with so many digits, as ``%g``."""
    return format_number(float(number), "g", precision=str(digits))


def _character(queue: _Queue) -> Argument:
    argument = queue.arguments[queue.at]
    if isinstance(argument, str):
        queue.arguments[queue.at : queue.at + 1] = list(argument)
        if not queue.left:
            return ""
    return queue.take()


def _as_text(argument: Argument, precision: str | None, letter: str) -> str:
    if isinstance(argument, str):
        return argument if precision in (None, "") else argument[: int(precision or 0)]
    if abs(argument) < 0x110000 and argument == int(argument):
        return chr(int(argument)) if argument >= 0 else str(int(argument))
    if letter == "c":
        return format_number(argument, "e")
    return format_number(argument, "e" if precision is None else "g", precision=precision)


def _pad(shown: str, flags: str, width: str) -> str:
    if not width:
        return shown
    return shown.ljust(int(width)) if "-" in flags else shown.rjust(int(width))

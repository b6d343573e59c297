"""Character by character: what kind each is, and where it stands in its row."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from matlab_frontend.builtins.registry import Builtin, Call, builtin
from matlab_frontend.errors import MatlabError
from matlab_frontend.values.array import Cell, Value, as_array, shape_of
from matlab_frontend.values.make import cell, text, text_rows, wrap
from matlab_frontend.values.read import array_of, is_text, known, lines_of, text_of

_BLANKS = " \t\n\r\f\v"
_GRAPHIC = "".join(map(chr, range(33, 127)))
_KINDS: Mapping[str, Callable[[str], bool]] = {
    "alpha": str.isalpha,
    "alphanum": str.isalnum,
    "cntrl": lambda c: ord(c) < 32 or ord(c) == 127,
    "digit": lambda c: "0" <= c <= "9",
    "graphic": lambda c: c in _GRAPHIC or (ord(c) > 160 and c.isprintable()),
    "lower": str.islower,
    "print": lambda c: c == " " or c in _GRAPHIC or (ord(c) > 160 and c.isprintable()),
    "punct": lambda c: c in _GRAPHIC and not c.isalnum(),
    "wspace": lambda c: c in _BLANKS,
    "upper": str.isupper,
    "xdigit": lambda c: c in "0123456789abcdefABCDEF",
}


def _flags(x: Value, holds: Callable[[str], bool]) -> Value:
    """One truth value for each character; of other values false for each element."""
    array = as_array(x)
    if array is not None and array.kind == "string" and is_text(x):
        array = text(text_of(x))
    if array is None or array.kind != "char":
        return wrap("logical", np.zeros(shape_of(x)[::-1], bool))
    data = np.asarray(array.data)
    flags = [holds(chr(code)) for code in data.ravel()]
    return wrap("logical", np.array(flags, bool).reshape(data.shape))


def _characters(name: str, holds: Callable[[str], bool], doc: str) -> Builtin:
    def function(_: Call, x: Value) -> Value:
        return _flags(x, holds)

    return Builtin(name, function, 1, 1, doc)


@builtin("isstrprop")
def isstrprop(_: Call, x: Value, kind: Value) -> Value:
    """True where a character is of a kind: alpha, digit, upper, wspace and so on."""
    name = text_of(kind, "The kind")
    if name not in _KINDS:
        raise MatlabError("MATLAB:isstrprop:UnknownCategory", f"Unknown kind '{name}'.")
    if isinstance(x, Cell):
        return cell([_flags(item, _KINDS[name]) for item in x.data.flat], shape_of(x))
    return _flags(x, _KINDS[name])


_SIDES: Mapping[str, Callable[[str], str]] = {
    "right": lambda line: line.rstrip(" \0").rjust(len(line)),
    "left": lambda line: line.lstrip(" \0").ljust(len(line)),
    "center": lambda line: _centered(line.strip(" \0"), len(line)),
}


def _centered(words: str, width: int) -> str:
    left = (width - len(words)) // 2
    return (" " * left + words).ljust(width)


@builtin("strjust")
def strjust(_: Call, x: Value, side: Value | None = None) -> Value:
    """Rows of characters moved to the right, the left or the center."""
    word = "right" if side is None else text_of(side)
    if word not in _SIDES:
        raise MatlabError("MATLAB:strjust:UnknownParameter", f"Unknown side '{word}'.")
    if array_of(x).kind != "char":
        raise MatlabError("MATLAB:invalidType", "strjust needs an array of characters.")
    return text_rows([_SIDES[word](line) for line in lines_of(x)])


@builtin("strvcat")
def strvcat(call: Call, *parts: Value) -> Value:
    """Texts as the rows of a character matrix; empty ones are left out."""
    lines: list[str] = []
    for part in parts:
        if is_text(part) or isinstance(part, Cell) or array_of(part).kind in ("char", "string"):
            lines += [line for line in lines_of(part) if line]
        else:
            lines += [
                "".join(chr(int(code)) for code in codes) for codes in known(call.engine, part)
            ]
    return text_rows(lines)


GENERATED = (
    _characters("isspace", _KINDS["wspace"], "True where a character is a blank."),
    _characters("isletter", str.isalpha, "True where a character is a letter."),
)

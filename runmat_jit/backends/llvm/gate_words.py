"""What gates, their entries and the text of operations agree on: words, registers, answers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

GUARDED_FLAGS: Final = 0x503
"""Of arrays: in C order, in Fortran's order, aligned, writeable."""
WRITEABLE: Final = 0x400
OWNS: Final = 0x4
RESULT, RECOVERY, RECOVERED = -1, -2, -3
"""Registers before the first: the result, and what :func:`_recovery` sets."""
KEPT_REGISTERS: Final = 3
REPEATS: Final = 1
INSTRUCTION_WORDS: Final = 8

GATE_WORDS: Final[Mapping[str, int]] = MappingProxyType(
    {"count": 0, "entries": 1, "fallback": 2, "registers": 3}
)
"""Of a gate: how many entries, where their addresses are, the object that is called else, the most
registers that an entry has."""
ENTRY_WORDS: Final[Mapping[str, int]] = MappingProxyType(
    {
        "busy": 0,
        "hits": 1,
        "positional": 2,
        "named": 3,
        "names": 4,
        "code": 5,
        "owned": 6,
        "registers": 7,
    }
)
"""Of an entry: a call runs it; calls so far; how many arguments; the names of those given by name
(addresses of interned text); its code; the first owned register, and the end of them."""

GO_ON, FAIL, RAISE, DONE, REPEAT, LEFT = range(6)
# What an operation says: go on; a guard failed; an exception is set; the result is there; the
# fallback is to repeat the call; Python has made the rest of it, and the result is there. Anything
# else is the address of the instruction that is next.


Operation = tuple[str, str, str]
"""Its name, its operands as ``name:kind``, and the text of its body."""


def spelled(body: str) -> str:
    """Short forms of what operations do often, as LLVM text."""
    body = re.sub(r"@field\((\w+), (\w+), (\d+), (\w+)\)", _FIELD, body)
    body = re.sub(r"<go on if (\w+)>", _OR_RAISE, body)
    for word, status in _ANSWERS.items():
        body = body.replace(f"<{word}>", f"ret i64 {status}")
    return body


_ANSWERS: Final = {
    "go on": GO_ON,
    "fail": FAIL,
    "raise": RAISE,
    "done": DONE,
    "repeat": REPEAT,
    "left": LEFT,
}
_FIELD: Final = r"  %a_\1 = getelementptr i8, ptr %\2, i64 \3\n  %\1 = load \4, ptr %a_\1, align 4"
_OR_RAISE: Final = r"""br i1 %\1, label %fine, label %raised
fine:
  <go on>
raised:
  <raise>"""
TWO_WAYS: Final = """  br i1 %holds, label %fine, label %wrong
fine:
  <go on>
wrong:
  <fail>"""


def bytes_of(array: str, before: str, after: str) -> str:
    """Blocks from ``{array}_axes`` on that compute ``%{array}_bytes`` of an array without gaps.

    Of ``%{array}_shape``, ``%{array}_rank`` (i32) and the bytes of ``%{array}_item``.
    """
    text = """x_axes:
  %x_axis = phi i32 [0, %before], [%x_next, %x_extent]
  %x_bytes = phi i64 [%x_item, %before], [%x_larger, %x_extent]
  %x_more = icmp slt i32 %x_axis, %x_rank
  br i1 %x_more, label %x_extent, label %after
x_extent:
  %x_at = getelementptr i64, ptr %x_shape, i32 %x_axis
  %x_one = load i64, ptr %x_at, align 8
  %x_larger = mul i64 %x_bytes, %x_one
  %x_next = add i32 %x_axis, 1
  br label %x_axes"""
    named = text.replace("x_", f"{array}_").replace("%before", f"%{before}")
    return named.replace("%after", f"%{after}")

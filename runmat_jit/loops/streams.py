"""Two streams of code, where arrays are in registers: that of numbers, and that of lanes."""

from __future__ import annotations

from dataclasses import field
from typing import Final

from runmat_jit.core.slotted import slotted
from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.ir import Buffer, Instruction, Value

TABLE_TURNS: Final = 1024
"""Iterations of a slice, at most: as many as the table has room for."""
NUMBERS: Final = {"integers": "numbers_i64", "floats": "numbers_f64"}
"""The parameters that are the tables of numbers."""


@slotted
class Streams:
    """The code of lanes, beside that of numbers.

    ``axis``: the number of the extent along which arrays lie; ``width``: elements that a lane has.
    ``code``: the body that is emitted to; ``index``: of the block of lanes, ``turn`` of the loop
    in it. ``begun``: turns before the slice; ``place``: that of the turn in a table, where numbers
    are computed. ``begin``: values with smaller numbers are known to both streams; ``given``:
    numbers that lanes know by now, by those of the values in the other stream; ``slots``: how many
    each table has.
    """

    axis: int
    width: int
    begin: int
    code: list[Instruction] = field(default_factory=list)
    index: Value | None = None
    turn: Value | None = None
    begun: Value | None = None
    place: Value | None = None
    given: dict[int, Value] = field(default_factory=dict)
    slots: dict[str, int] = field(default_factory=dict)
    tables: dict[str, Buffer] = field(default_factory=dict)
    drawn: dict[tuple[int, int], tuple[Value, ...]] = field(default_factory=dict)
    """Numbers of the blocks of draws that are used by what is emitted, by the draw's identity."""
    element: int = 0
    """Of those that a lane has, the one that is emitted."""
    inside: bool = False
    """True if it is emitted to the code of lanes."""
    elements: list[Value] = field(default_factory=list)
    """Elements of the array that is computed."""
    made: dict[int, tuple[Value, ...]] = field(default_factory=dict)
    """Arrays that this turn has made, by identity: names hold one array where they have one tuple
    of elements."""
    shared: dict[int, tuple[Value, ...]] = field(default_factory=dict)
    """Those that names may hold in another form, which a branch has chosen."""


def carried_value(k: Builder, value: Value, kind: str) -> Value:
    """A value of the state in the type in which it is carried."""
    if kind == value.type:
        return value
    if kind == "f32":
        return k.convert("fptrunc", value, kind)
    if kind == "index":
        return k.convert("sext", value, kind)
    return k.ne(value, 0) if kind == "i1" else k.convert("trunc", value, kind)


def stored_word(k: Builder, value: Value) -> Value:
    """A carried value as the state holds it."""
    if value.type in ("f64", "i64"):
        return value
    if value.type == "f32":
        return k.convert("fpext", value, "f64")
    return k.convert("zext" if value.type == "i1" else "sext", value, "i64")

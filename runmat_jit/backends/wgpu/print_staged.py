"""Rows of one thread each, moved between memory and registers by all threads of a workgroup.

Each thread alone would touch elements far from its neighbors'. So a workgroup copies its rows, side
by side, into a tile of workgroup memory, from which every thread takes its own, and back. The tile
has an odd number of elements a row: threads that take one element each then meet no bank twice.
"""

from __future__ import annotations

from collections.abc import Sequence

from runmat_jit.backends.wgpu.printer import WGSL_TYPES, Memory, Printer
from runmat_jit.backends.wgpu.staged import pitch_of


def load_rows(printer: Printer, memory: Memory, begin: str) -> list[str]:
    """Load the rows of all threads; names of the elements of the own one, from ``begin`` on."""
    tile, pitch = _tile(printer, memory), pitch_of(printer.schedule.steps)
    _announce(printer, begin)
    _copy(printer, f"{tile}[at] = {memory.name}[starts[row] + column];")
    printer.line("workgroupBarrier();")
    count = printer.schedule.steps
    return [printer.let(f"{tile}[i32(lid) * {pitch} + {number}]") for number in range(count)]


def store_rows(printer: Printer, memory: Memory, begin: str, names: Sequence[str]) -> None:
    """Store the rows of all threads; ``names`` are the own one's elements."""
    tile, pitch = _tile(printer, memory), pitch_of(printer.schedule.steps)
    _announce(printer, f"select(-1, {begin}, live)")
    for number, name in enumerate(names):
        printer.line(f"{tile}[i32(lid) * {pitch} + {number}] = {name};")
    printer.line("workgroupBarrier();")
    put = f"{memory.name}[starts[row] + column] = {tile}[at];"
    _copy(printer, f"if (starts[row] >= 0) {{ {put} }}")


def _announce(printer: Printer, begin: str) -> None:
    """Tell all threads where the own row begins, once they have no use for the rows before."""
    printer.own_shared["starts"] = f"array<i32, {printer.schedule.threads}>"
    printer.line("workgroupBarrier();")
    printer.line(f"starts[lid] = {begin};")
    printer.line("workgroupBarrier();")


def _copy(printer: Printer, statement: str) -> None:
    """A statement for each ``row`` and ``column``, neighbors at a time; ``at`` is in the tile."""
    count, threads = printer.schedule.steps, printer.schedule.threads
    with printer.nest(f"for (var k = 0; k < {count}; k += 1)"):
        printer.line(f"let number = k * {threads} + i32(lid);")
        printer.line(f"let row = number / {count};")
        printer.line(f"let column = number - row * {count};")
        printer.line(f"let at = row * {pitch_of(count)} + column;")
        printer.line(statement)


def _tile(printer: Printer, memory: Memory) -> str:
    """The workgroup memory for rows of a buffer's elements."""
    size = printer.schedule.threads * pitch_of(printer.schedule.steps)
    name = f"tile_{memory.element}"
    printer.own_shared[name] = f"array<{WGSL_TYPES[memory.element]}, {size}>"
    return name

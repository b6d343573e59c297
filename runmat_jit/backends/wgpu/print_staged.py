"""Rows of one thread each, moved between memory and registers by all threads of a workgroup.

Each thread alone would touch elements far from its neighbors'. So a workgroup copies its rows, side
by side, into a tile of workgroup memory, from which every thread takes its own, and back. The pitch
of the tile is not even: threads that take one element each then meet no bank twice.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager

from runmat_jit.backends.wgpu.printer import WGSL_TYPES, Memory, Printer
from runmat_jit.backends.wgpu.staged import pitch_of

_IN_FLIGHT = 32
"""Loads of a thread that do not wait for one another."""


def load_rows(printer: Printer, memory: Memory, begin: str) -> list[str]:
    """Load the rows of all threads; names of the elements of the own one, from ``begin`` on."""
    tile, count = f"tile_{memory.element}", printer.schedule.steps
    _declare(printer, tile, memory.element, count)
    _announce(printer, begin)
    with _if_adjoining(printer):
        for some in together(_numbers(printer, count)):
            found = [printer.let(f"{memory.name}[starts[0] + {number}]") for number, _ in some]
            for (_, at), name in zip(some, found, strict=True):
                printer.line(f"{tile}[{at}] = {name};")
    with printer.nest("else"):
        _copy_in(printer, tile, memory, count)
    printer.line("workgroupBarrier();")
    own = f"i32(lid) * {pitch_of(count)}"
    return [printer.let(f"{tile}[{own} + {number}]") for number in range(count)]


def store_rows(printer: Printer, memory: Memory, begin: str, names: Sequence[str]) -> None:
    """Store the rows of all threads; ``names`` are the own one's elements."""
    tile, count = f"tile_{memory.element}", printer.schedule.steps
    _declare(printer, tile, memory.element, count)
    _announce(printer, f"select(-1, {begin}, live)")
    own = f"i32(lid) * {pitch_of(count)}"
    for column, name in enumerate(names):
        printer.line(f"{tile}[{own} + {column}] = {name};")
    printer.line("workgroupBarrier();")
    with _if_adjoining(printer):
        for number, at in _numbers(printer, count):
            printer.line(f"{memory.name}[starts[0] + {number}] = {tile}[{at}];")
    with printer.nest("else"):
        _copy_out(printer, tile, memory, count)


def _declare(printer: Printer, tile: str, element: str, count: int) -> None:
    size = printer.schedule.threads * pitch_of(count)
    printer.own_shared[tile] = f"array<{WGSL_TYPES[element]}, {size}>"


def _announce(printer: Printer, begin: str) -> None:
    """Share where the line of a thread begins, once no thread needs the lines before."""
    printer.own_shared["starts"] = f"array<i32, {printer.schedule.threads}>"
    printer.line("workgroupBarrier();")
    printer.line(f"starts[lid] = {begin};")
    printer.line("workgroupBarrier();")


def _copy_in(printer: Printer, tile: str, memory: Memory, count: int) -> None:
    """Copy lines into the tile; many loads are issued before the first result is stored."""
    for some in together(places_of(printer, count, printer.schedule.threads)):
        found = [printer.let(f"{memory.name}[starts[{row}] + {column}]") for row, column in some]
        for (row, column), name in zip(some, found, strict=True):
            printer.line(f"{tile}[{row} * {pitch_of(count)} + {column}] = {name};")


def _copy_out(printer: Printer, tile: str, memory: Memory, count: int) -> None:
    for row, column in places_of(printer, count, printer.schedule.threads):
        begin = printer.let(f"starts[{row}]", "s")
        value = f"{tile}[{row} * {pitch_of(count)} + {column}]"
        store = f"{memory.name}[{begin} + {column}] = {value};"
        printer.line(f"if ({begin} >= 0) {{ {store} }}")


def together(pairs: Iterator[tuple[str, str]]) -> Iterator[list[tuple[str, str]]]:
    """Group accesses into batches of loads that are issued together."""
    while some := list(itertools.islice(pairs, _IN_FLIGHT)):
        yield some


def _if_adjoining(printer: Printer) -> AbstractContextManager[None]:
    """Statements for rows that lie one behind the other in memory, without gaps."""
    last, count = printer.schedule.threads - 1, printer.schedule.steps
    return printer.nest(f"if (starts[0] >= 0 && starts[{last}] - starts[0] == {last * count})")


def _numbers(printer: Printer, count: int) -> Iterator[tuple[str, str]]:
    """Numbers of the elements of adjoining rows that this thread copies, and where in the tile."""
    for k in range(count):
        number = f"i32(lid) + {k * printer.schedule.threads}"
        within = f" + i32((lid + {k * printer.schedule.threads}u) / {count}u)"
        yield number, number if pitch_of(count) == count else number + within


def places_of(printer: Printer, count: int, rows: int) -> Iterator[tuple[str, str]]:
    """Names of the row and the column of each element that this thread copies, of ``count`` a row.

    Neighbors take neighboring elements.
    """
    threads = printer.schedule.threads
    for k in range(rows * count // threads):
        if threads % count == 0:
            if k == 0:
                first = printer.let(f"i32(lid / {count}u)", "r")
                column = printer.let(f"i32(lid % {count}u)")
            yield (printer.let(f"{first} + {k * (threads // count)}", "r") if k else first), column
        else:
            number = printer.let(f"lid + {k * threads}u")
            row = printer.let(f"{number} / {count}u", "r")
            yield printer.let(f"i32({row})"), printer.let(f"i32({number} - {row} * {count}u)")

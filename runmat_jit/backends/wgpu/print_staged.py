"""Lines of threads' own, moved between memory and registers by all threads of a workgroup.

Each thread alone would touch elements far from its neighbors'. So a workgroup copies its lines, or
a part of them, side by side, into a tile of workgroup memory, from which every thread takes its
own, and back. The pitch of the tile is not even: threads that take one element each
then meet no bank twice.
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
        for some in _together(_numbers(printer, count)):
            found = [printer.let(f"{memory.name}[starts[0] + {number}]") for number, _ in some]
            for (_, at), name in zip(some, found, strict=True):
                printer.line(f"{tile}[{at}] = {name};")
    with printer.nest("else"):
        _copy_in(printer, tile, memory, count, None)
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
        _copy_out(printer, tile, memory, count, None)


def tiles_of(printer: Printer) -> dict[int, str]:
    """Names of the tiles of the accesses of a loop along lines, by identity.

    A store has the tile of a load, whose element of the iteration has been read by then.
    """
    names: dict[int, str] = {}
    taken: dict[tuple[str, str], int] = {}
    for access in printer.along:
        element = printer.memory_of(access).element
        number = taken.get((access.op, element), 0)
        taken[access.op, element] = number + 1
        names[id(access)] = f"tile_{element}_{number}"
        _declare(printer, names[id(access)], element, printer.schedule.chunk)
    return names


def fetch(printer: Printer, tile: str, memory: Memory, begin: str, there: str) -> None:
    """Copy ``there`` elements of each thread's line, from the index ``begin`` on, into a tile."""
    _announce(printer, _live(printer, begin, "0"))
    _copy_in(printer, tile, memory, printer.schedule.chunk, there)
    printer.line("workgroupBarrier();")


def give_back(printer: Printer, tile: str, memory: Memory, begin: str, there: str) -> None:
    """Copy what each thread has put into the tile to its line."""
    _announce(printer, f"select(-1, {_live(printer, begin, '-1')}, live)")
    _copy_out(printer, tile, memory, printer.schedule.chunk, there)


def _live(printer: Printer, begin: str, other: str) -> str:
    """Where a line begins, or a number for threads that have none."""
    return begin if printer.live is None else f"select({other}, {begin}, {printer.live})"


def _declare(printer: Printer, tile: str, element: str, count: int) -> None:
    size = printer.schedule.threads * pitch_of(count)
    printer.own_shared[tile] = f"array<{WGSL_TYPES[element]}, {size}>"


def _announce(printer: Printer, begin: str) -> None:
    """Share where the line of a thread begins, once no thread needs the lines before."""
    printer.own_shared["starts"] = f"array<i32, {printer.schedule.threads}>"
    printer.line("workgroupBarrier();")
    printer.line(f"starts[lid] = {begin};")
    printer.line("workgroupBarrier();")


def _copy_in(printer: Printer, tile: str, memory: Memory, count: int, there: str | None) -> None:
    """Many loads are under way before what the first of them gives is put into the tile."""
    for some in _together(_places(printer, count)):
        found = []
        for row, column in some:
            at = column if there is None else f"min({column}, {there} - 1)"
            found.append(printer.let(f"{memory.name}[starts[{row}] + {at}]"))
        for (row, column), name in zip(some, found, strict=True):
            printer.line(f"{tile}[{row} * {pitch_of(count)} + {column}] = {name};")


def _copy_out(printer: Printer, tile: str, memory: Memory, count: int, there: str | None) -> None:
    for row, column in _places(printer, count):
        begin = printer.let(f"starts[{row}]", "s")
        inside = f"{begin} >= 0" if there is None else f"{begin} >= 0 && {column} < {there}"
        at = f"{row} * {pitch_of(count)} + {column}"
        printer.line(f"if ({inside}) {{ {memory.name}[{begin} + {column}] = {tile}[{at}]; }}")


def _together(pairs: Iterator[tuple[str, str]]) -> Iterator[list[tuple[str, str]]]:
    """Those of as many loads as are under way at once."""
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


def _places(printer: Printer, count: int) -> Iterator[tuple[str, str]]:
    """Names of the line and the column of each element that this thread copies.

    Neighbors take neighboring elements.
    """
    threads = printer.schedule.threads
    if threads % count == 0:
        row, column = printer.let(f"i32(lid / {count}u)", "r"), printer.let(f"i32(lid % {count}u)")
        for k in range(count):
            yield (printer.let(f"{row} + {k * (threads // count)}", "r") if k else row), column
        return
    for k in range(count):
        number = printer.let(f"lid + {k * threads}u")
        row = printer.let(f"{number} / {count}u", "r")
        yield printer.let(f"i32({row})"), printer.let(f"i32({number} - {row} * {count}u)")

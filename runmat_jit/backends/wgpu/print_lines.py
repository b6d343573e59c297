"""Printing of loops along lines of threads' own, whose elements a workgroup copies together.

Some iterations at a time: what they load is copied to tiles of workgroup memory, neighbors by
neighboring threads, and what they have stored there is copied back. The elements of an iteration
have the same index in each tile, so that one tile serves a load and a store. Lines that are stored
are cut where sectors of memory begin: a sector that is written in two parts costs as much as four.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace

from runmat_jit.backends.wgpu.cells import early_of
from runmat_jit.backends.wgpu.print_blocks import (
    Body,
    assign,
    bind_index,
    block_of,
    loop_head,
    yields_of,
)
from runmat_jit.backends.wgpu.print_memory import begin_of
from runmat_jit.backends.wgpu.print_staged import places_of, together
from runmat_jit.backends.wgpu.printer import WGSL_TYPES, Memory, Printer
from runmat_jit.backends.wgpu.rows import MOST_LINES
from runmat_jit.backends.wgpu.staged import pitch_of
from runmat_jit.core.frozen import frozen
from runmat_jit.core.slotted import slotted
from runmat_jit.kernel.ir import Block, Instruction
from runmat_jit.kernel.walk import every_instruction, stored_values

_NOWHERE = 1 << 30
"""By how much a line that is not there lies before its first iteration."""


@frozen
class _Line:
    """An access along lines: its memory, its tile, and the array of where lines begin."""

    access: Instruction
    memory: Memory
    tile: str
    begins: str


def print_lines(printer: Printer, loop: Instruction, body: Body, names: list[str], hi: str) -> None:
    """All iterations; ``names`` are of what they carry."""
    lines = _Lines(printer, block_of(loop), body, names, hi, _lines_of(printer))
    carries = lines.announce()
    chunk, at = printer.schedule.chunk, printer.fresh("i")
    end = f"{hi} + {chunk - 1}" if carries else hi
    with printer.nest(loop_head(at, "0", end, str(chunk))):
        printer.line("workgroupBarrier();")
        for line in lines.loads:
            _copy_in(printer, line, at, hi)
        printer.line("workgroupBarrier();")
        with printer.all_live():  # other threads have no iteration
            lines.iterations(printer.let(f"{at} - own", "f"))
        printer.line("workgroupBarrier();")
        for line in lines.stores:
            _copy_out(printer, line, at, hi)


def _lines_of(printer: Printer) -> tuple[_Line, ...]:
    """The accesses, and memory for them; a store has the tile of a load of its type."""
    found: list[_Line] = []
    size = printer.schedule.width * pitch_of(printer.schedule.chunk)
    for access in printer.along:
        memory = printer.memory_of(access)
        alike = [i for i in found if (i.access.op, i.memory.element) == (access.op, memory.element)]
        tile, begins = f"tile_{memory.element}_{len(alike)}", f"begins_{len(found)}"
        printer.own_shared[tile] = f"array<{WGSL_TYPES[memory.element]}, {size}>"
        printer.own_shared[begins] = f"array<vec2<i32>, {printer.schedule.width}>"
        found.append(_Line(access, memory, tile, begins))
    return tuple(found)


@slotted
class _Lines:
    """A loop along lines while it is printed: names of what it carries, and of its end."""

    printer: Printer
    block: Block
    body: Body
    names: list[str]
    hi: str
    all: tuple[_Line, ...]

    @property
    def loads(self) -> list[_Line]:
        return [line for line in self.all if line.access.op == "load"]

    @property
    def stores(self) -> list[_Line]:
        return [line for line in self.all if line.access.op == "store"]

    def announce(self) -> bool:
        """Share where lines begin, and by how much the first part of each is shorter.

        ``own`` is that of the thread. True if a line that is there may have such a part.
        """
        printer, block = self.printer, self.block
        bind_index(printer, block, "0")
        addresses = [i for i in block.body if [r.type for r in i.results] == ["index"]]
        addresses = [i for i in addresses if i.op not in ("load", "gather")]
        self.body(replace(block, body=tuple(addresses)))
        begins = [begin_of(printer, line.access)[1] for line in self.all]
        stored = [b for b, i in zip(begins, self.all, strict=True) if i.access.op == "store"]
        shifts = bool(stored) and printer.schedule.down == 1
        shift = f"{stored[0]} & {printer.schedule.chunk - 1}" if shifts else "0"
        there = "live" if printer.live is None else f"live && {printer.live}"
        printer.line(f"let is_there = {there};")
        printer.line(f"let own = select({_NOWHERE}, {shift}, is_there);")
        printer.line("workgroupBarrier();")
        with printer.nest(f"if (tl < {printer.schedule.width})"):
            for line, begin in zip(self.all, begins, strict=True):
                where = f"vec2<i32>(select(0, {begin}, is_there), own)"
                printer.line(f"{line.begins}[tl] = {where};")
        return shifts

    def iterations(self, first: str) -> None:
        """Iterations of a thread in the present part of its line: all of them, or those there are.

        ``first`` is the name of the first one. Threads that share a line have every so many.
        """
        printer, schedule = self.printer, self.printer.schedule
        chunk, down = schedule.chunk, schedule.down
        begin = "0" if down == 1 else f"tl / {schedule.width}"
        otherwise: AbstractContextManager[None] = nullcontext()
        count = sum(1 for _ in every_instruction(self.block.body))
        if chunk // down * count <= MOST_LINES // 4:
            with printer.nest(f"if ({first} >= 0 && {first} + {chunk} <= {self.hi})"):
                own = [str(number) for number in range(0, chunk, down)]
                columns = own if down == 1 else [f"({begin} + {number})" for number in own]
                self.steps(first, columns)
            otherwise = printer.nest("else")
        column = printer.fresh("k")
        low = f"max({begin}, -{first})"  # lines that threads share are not shifted
        high = f"min({chunk}, {self.hi} - {first})"
        with otherwise, printer.nest(loop_head(column, low, high, str(down))):
            self.steps(first, [column])

    def steps(self, first: str, columns: Sequence[str]) -> None:
        """Print iterations, all loads of which come first."""
        printer, block = self.printer, self.block
        assert block.index is not None, "a loop counts"
        gone = {id(line.access) for line in self.all}
        rest = replace(block, body=tuple([each for each in block.body if id(each) not in gone]))
        early = early_of(rest, printer.aliased)
        gone = set(map(id, early))
        late = replace(rest, body=tuple([each for each in rest.body if id(each) not in gone]))
        results = [r for i in (*(line.access for line in self.loads), *early) for r in i.results]
        known = [block.index.number, *(result.number for result in results)]
        found = []
        for column in columns:
            bind_index(printer, block, printer.let(f"{first} + {column}", "i"))
            for line in self.loads:
                printer.bind(line.access.results[0], self.element(line, column))
            self.body(replace(rest, body=tuple(early)))
            found.append({number: printer.values[number] for number in known})
        for column, values in zip(columns, found, strict=True):
            printer.values |= values
            self.body(late)
            for line in self.stores:
                text = printer.operand(stored_values(line.access)[0], lane=True)
                printer.line(f"{self.element(line, column)} = {text};")
            assign(printer, self.names, yields_of(printer, block))

    def element(self, line: _Line, column: str) -> str:
        """An element of the own line in the tile."""
        schedule = self.printer.schedule
        own = "tl" if schedule.down == 1 else f"(tl % {schedule.width})"
        return f"{line.tile}[{own} * {pitch_of(schedule.chunk)} + {column}]"


def _copy_in(printer: Printer, line: _Line, at: str, hi: str) -> None:
    """Copy the present part of all lines; where there is none, any element of the line."""
    chunk, width = printer.schedule.chunk, printer.schedule.width
    for some in together(places_of(printer, chunk, width)):
        found = []
        for row, column in some:
            begin = printer.let(f"{line.begins}[{row}]", "b")
            element = f"clamp({at} - {begin}.y + {column}, 0, {hi} - 1)"
            found.append(printer.let(f"{line.memory.name}[{begin}.x + {element}]"))
        for (row, column), name in zip(some, found, strict=True):
            printer.line(f"{line.tile}[{row} * {pitch_of(chunk)} + {column}] = {name};")


def _copy_out(printer: Printer, line: _Line, at: str, hi: str) -> None:
    """Copy back what of the part is there."""
    chunk, width = printer.schedule.chunk, printer.schedule.width
    for row, column in places_of(printer, chunk, width):
        begin = printer.let(f"{line.begins}[{row}]", "b")
        element = printer.let(f"{at} - {begin}.y + {column}")
        value = f"{line.tile}[{row} * {pitch_of(chunk)} + {column}]"
        store = f"{line.memory.name}[{begin}.x + {element}] = {value};"
        printer.line(f"if ({element} >= 0 && {element} < {hi}) {{ {store} }}")

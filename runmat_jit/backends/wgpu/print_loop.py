"""Printing of ``loop``: its iterations, what they carry, and which loads come early."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from runmat_jit.backends.wgpu.cells import early_of
from runmat_jit.backends.wgpu.print_blocks import (
    Body,
    assign,
    bind_index,
    bind_results,
    block_of,
    loop_head,
    start_carried,
)
from runmat_jit.backends.wgpu.print_extreme import Extreme, is_keyed
from runmat_jit.backends.wgpu.print_lines import print_lines
from runmat_jit.backends.wgpu.print_memory import barrier
from runmat_jit.backends.wgpu.printer import Printer
from runmat_jit.core.frozen import frozen
from runmat_jit.core.slotted import slotted
from runmat_jit.kernel.ir import Block, Instruction, Value
from runmat_jit.kernel.walk import every_instruction


def print_loop(printer: Printer, instruction: Instruction, body: Body) -> None:
    """A sequential loop; in a cell, what an iteration stores is there for the next one."""
    block = block_of(instruction)
    lo, hi, step = (printer.name(printer.uniform(a)) for a in instruction.args[:3])
    if printer.schedule.chunk:
        names = start_carried(printer, block, instruction.args[3:])
        print_lines(printer, instruction, body, names, hi)
        bind_results(printer, instruction, names)
        return
    loop = _Loop(printer, instruction, body, (lo, hi, step))
    bind_results(printer, instruction, loop.print(_extremes_of(printer, block)))


@frozen
class _Extremum:
    """A minimum or maximum of what is carried and ``x``, and the instructions that compute it."""

    op: str
    x: Value
    steps: tuple[Instruction, ...]


@slotted
class _Loop:
    """A loop being printed; its bounds and step in WGSL."""

    printer: Printer
    instruction: Instruction
    body: Body
    counting: tuple[str, str, str]

    def print(self, found: Mapping[int, _Extremum]) -> list[str]:
        """All iterations; names of what they carry.

        Args:
            found: Minima and maxima that are computed by bits, by the number of what is carried.

        """
        printer, block = self.printer, block_of(self.instruction)
        names = start_carried(printer, block, self.instruction.args[3:])
        extremes = {}
        for number, each in found.items():
            extremes[number] = Extreme(printer, each.op, lane=True)
            extremes[number].add(names[number], None)
        gone = {id(step) for each in found.values() for step in each.steps}
        kept = replace(block, body=tuple([each for each in block.body if id(each) not in gone]))

        def go_on() -> None:
            for number, each in found.items():
                text = printer.operand(each.x, lane=True)
                extremes[number].add(printer.name(text), None)
            rest = [number for number in range(len(names)) if number not in found]
            yields = [printer.operand(block.yields[n], lane=block.carried[n].lane) for n in rest]
            assign(printer, [names[number] for number in rest], yields)

        self._iterations(kept, go_on)
        for number, extreme in extremes.items():
            printer.line(f"{names[number]} = {extreme.value()};")
        if found:
            ties = [printer.any_of(extreme.is_tie()) for extreme in extremes.values()]
            with printer.nest(f"if ({' || '.join(ties)})"):
                exact = self.print({})
                for number in found:
                    printer.line(f"{names[number]} = {exact[number]};")
        return names

    def _iterations(self, block: Block, go_on: Callable[[], None]) -> None:
        printer, (lo, hi, step) = self.printer, self.counting
        index, before = printer.fresh("i"), (set(printer.read), set(printer.written))
        early = early_of(block, printer.aliased) if printer.in_lanes else []
        if printer.schedule.ahead > 1 and any(each.op == "load" for each in early):
            printer.line(f"var {index} = {lo};")
            _print_ahead(printer, block, self.body, go_on, (index, hi, step))
            lo = index
        with printer.nest(loop_head(index, lo, hi, step)):
            bind_index(printer, block, index)
            self.body(block)
            if not printer.in_lanes and (printer.read or printer.written):
                barrier(printer)
            go_on()
        printer.recall(before)  # the loop may have had no iteration


_ONCE = "store", "note", "call", "loop", "while"
"""Operations that must not run twice."""


def _extremes_of(printer: Printer, block: Block) -> dict[int, _Extremum]:
    """Minima and maxima over all iterations, of which nothing else is made, by what carries them.

    None where iterations store or note: those whose extreme is a zero are run again.
    """
    inside = list(every_instruction(block.body))
    if not printer.in_lanes or any(i.op in _ONCE for i in inside):
        return {}
    uses = [arg.number for each in inside for arg in each.args]
    uses += [value.number for i in inside if i.block for value in i.block.yields]
    uses += [value.number for value in block.yields]
    found = {}
    for number, (carried, value) in enumerate(zip(block.carried, block.yields, strict=True)):
        extremum = _extremum(block, carried, value)
        if extremum is None or not value.lane or not is_keyed(printer, extremum.op, value.type):
            continue
        results = [i.results[0].number for i in extremum.steps]
        if all(uses.count(each) == 1 for each in results) and uses.count(carried.number) == 3:
            found[number] = extremum
    return found


def _extremum(block: Block, carried: Value, value: Value) -> _Extremum | None:
    """The instructions ``select(carried < x | isnan(carried), carried, x)``, or of a maximum."""
    made = {r.number: each for each in block.body for r in each.results}

    def parts(value: Value, op: str) -> tuple[Value, ...]:
        each = made.get(value.number)
        return each.args if each is not None and each.op == op else ()

    match parts(value, "select"):
        case mask, first, x if first.number == carried.number:
            pass
        case _:
            return None
    either = parts(mask, "or")  # integers are compared alone
    for test, nan in (either, either[::-1]) if either else ():
        for op, comparison in (("min", "lt"), ("max", "gt")):
            compared = [arg.number for arg in parts(test, comparison)]
            tested = [arg.number for arg in parts(nan, "isnan")]
            if (compared, tested) == ([carried.number, x.number], [carried.number]):
                steps = tuple([made[each.number] for each in (value, mask, test, nan)])
                return _Extremum(op, x, steps)
    return None


def _print_ahead(
    printer: Printer,
    block: Block,
    body: Body,
    go_on: Callable[[], None],
    counting: tuple[str, str, str],
) -> None:
    """Several iterations at a time, all of their loads first: none waits for another's store."""
    (index, hi, step), count = counting, printer.schedule.ahead
    early = early_of(block, printer.aliased)
    gone = set(map(id, early))
    rest = replace(block, body=tuple([each for each in block.body if id(each) not in gone]))
    assert block.index is not None, "a loop counts"
    last = f"{index} + {count - 1} * ({step})"
    with printer.nest(f"for (; {last} < {hi}; {index} += {count} * ({step}))"):
        seen = []
        for number in range(count):
            at = printer.let(f"{index} + {number} * ({step})", "i")
            printer.values[block.index.number] = at
            body(replace(block, body=tuple(early)))
            results = [block.index, *(r for each in early for r in each.results)]
            seen.append({r.number: printer.values[r.number] for r in results})
        for values in seen:
            printer.values |= values
            body(rest)
            go_on()

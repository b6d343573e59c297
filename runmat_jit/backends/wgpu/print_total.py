"""Printing of ``total``: the one shape of a reduction, whatever the threads of the device are.

Neighboring threads have the logical lanes of a block in registers, ``printer.lanes`` each. A team
with threads for several blocks runs them at once and stores each block's sums in workgroup memory;
a smaller team adds the blocks in registers. Then every thread halves the lanes for itself, so that
the result is uniform without another exchange. A column has one logical lane: each
thread reduces blocks of it, then combines the partial results of all blocks.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

from runmat_jit.backends.wgpu.cells import touched
from runmat_jit.backends.wgpu.print_blocks import (
    Body,
    bind_results,
    block_of,
    loop_head,
    mask_below,
)
from runmat_jit.backends.wgpu.print_extreme import Extreme, is_keyed
from runmat_jit.backends.wgpu.print_memory import order
from runmat_jit.backends.wgpu.print_rows import print_walk, stored_by
from runmat_jit.backends.wgpu.printer import WGSL_TYPES, Printer, literal
from runmat_jit.backends.wgpu.schedule import shared_slots, threads_of_a_block
from runmat_jit.core.frozen import frozen
from runmat_jit.kernel.ir import Block, Instruction
from runmat_jit.kernel.primitives import FLOATS, TOTAL_STEPS, identity
from runmat_jit.kernel.walk import lanes_of_total

_FEW = 8
"""Threads that halve the vectors of more threads than twice as many: each of all others reads only
theirs."""


@frozen
class _Accumulator:
    """One combined value, and where a team's vectors of it begin in workgroup memory.

    ``integers``: where those of extremes do. ``apart``: the distance between two vectors of a team.
    """

    op: str
    kind: str
    slots: str
    integers: str = ""
    apart: int = 1

    def at(self, place: str) -> str:
        """The index of a vector of the team."""
        return f"{self.slots} + {place if self.apart == 1 else f'({place}) * {self.apart}'}"


@frozen
class _Total:
    """One ``total`` being printed: names of its bounds, threads of a block, accumulators."""

    walk: Instruction
    block: Block
    body: Body
    lo: str
    hi: str
    threads: int
    at_once: int
    """Blocks that the team runs at once."""
    whole: bool
    """The number of iterations is a multiple of the lanes of a thread."""
    accumulators: tuple[_Accumulator, ...]

    def steps(self, lanes: int) -> int:
        """Iterations of a block."""
        return TOTAL_STEPS * self.threads * lanes


def print_total(printer: Printer, instruction: Instruction, body: Body) -> None:
    """Reduce ``[lo, hi)``: steps of blocks, then blocks, then lanes."""
    order(printer, *touched([instruction]))
    is_column, alone = lanes_of_total(instruction) == 1, printer.schedule.team == 1
    if alone and not is_column:
        _print_own_row(printer, instruction, body)
        return
    lo, hi = (printer.name(printer.uniform(a)) for a in instruction.args)
    threads = threads_of_a_block(instruction, printer.lanes)
    total = _Total(
        instruction,
        block_of(instruction),
        body,
        lo,
        hi,
        threads,
        max(1, printer.schedule.team // threads),
        all(map(printer.views.is_multiple, instruction.args)),
        _accumulators(printer, instruction),
    )
    if alone:
        _print_row(printer, total, lambda names: bind_results(printer, instruction, names))
        return
    printer.line("workgroupBarrier();")  # the memory may still be read by another total
    if is_column:
        _keep_blocks(printer, total)
        bind_results(printer, instruction, _added_blocks(printer, total, "0"))
        return
    if total.at_once == 1:
        _print_blocks_in_registers(printer, total)
    else:
        _print_blocks_at_once(printer, total)
    left = _fold_threads(printer, total)
    for result, accumulator in zip(instruction.results, total.accumulators, strict=True):
        printer.bind(result, _fold_lanes(printer, total, accumulator, left))


def _print_own_row(printer: Printer, instruction: Instruction, body: Body) -> None:
    """Reduce a row of one thread, which has each logical lane in a register of its own, or none."""
    block, combines = block_of(instruction), instruction.attrs["combines"]
    assert isinstance(combines, tuple), "a total names how it combines"
    accumulators = [
        _Accumulator(op, result.type, "")
        for op, result in zip(combines, instruction.results, strict=True)
    ]
    vectors: list[list[str]] = [[] for _ in accumulators]

    def add(_live: str | None) -> None:
        for held, value in zip(vectors, block.yields, strict=True):
            held.append(printer.name(printer.operand(value, lane=True)))

    print_walk(printer, instruction, body, add)
    places = threads_of_a_block(instruction, printer.lanes)
    for result, accumulator, held in zip(instruction.results, accumulators, vectors, strict=True):
        printer.bind(result, _fold(printer, accumulator, held, places))


def _accumulators(printer: Printer, instruction: Instruction) -> tuple[_Accumulator, ...]:
    """The combined values, each with a part of the workgroup memory that all totals share."""
    combines = instruction.attrs["combines"]
    assert isinstance(combines, tuple), "a total names how it combines"
    kinds = [r.type for r in instruction.results]
    slots, teams = shared_slots(instruction, printer.schedule), printer.schedule.teams
    is_column = lanes_of_total(instruction) == 1
    found: list[_Accumulator] = []
    for position, (op, kind) in enumerate(zip(combines, kinds, strict=True)):
        first = kinds[:position].count(kind) * slots * teams
        apart, step = (teams, 1) if printer.schedule.across else (1, slots)
        of_team = f" + team * {step}" if teams > 1 else ""
        integers = ""
        if is_keyed(printer, op, kind) and not is_column:
            block = threads_of_a_block(instruction, printer.lanes)
            begin = sum(1 for each in found if each.integers) * block * teams
            integers = f"{begin} + team * {block}" if teams > 1 else f"{begin}"
            printer.extremes = max(printer.extremes, begin + block * teams)
        found.append(_Accumulator(op, kind, f"{first}{of_team}", integers, apart))
        printer.shared[kind] = max(printer.shared.get(kind, 0), first + slots * teams)
    return tuple(found)


# -- steps of blocks -----------------------------------------------------------------------------
def _print_blocks_in_registers(printer: Printer, total: _Total) -> None:
    """One block after the other, added in order."""
    sums = _declare(printer, total)

    def add(partial: list[str]) -> None:
        for name, x, accumulator in zip(sums, partial, total.accumulators, strict=True):
            printer.line(f"{name} = {combine(printer, accumulator, name, x)};")

    _print_blocks(printer, total, add)
    for name, accumulator in zip(sums, total.accumulators, strict=True):
        _put_last(printer, accumulator, name)
    _wait(printer)


def _print_blocks_at_once(printer: Printer, total: _Total) -> None:
    """Several blocks side by side; then the threads of one block add them in order."""
    _keep_blocks(printer, total)
    with printer.nest(f"if (tl < {total.threads})"):
        names = _added_blocks(printer, total, "tl")
        for name, accumulator in zip(names, total.accumulators, strict=True):
            _put_last(printer, accumulator, name)
    _wait(printer)


def _keep_blocks(printer: Printer, total: _Total) -> None:
    """Store the partial results of all blocks in workgroup memory."""
    threads = total.threads

    def keep(partial: list[str]) -> None:
        for x, accumulator in zip(partial, total.accumulators, strict=True):
            _put(printer, accumulator, f"block * {threads} + tl % {threads}", x)

    _print_blocks(printer, total, keep)
    _wait(printer)


def _added_blocks(printer: Printer, total: _Total, own: str) -> list[str]:
    """Combine the partial results of all blocks in order; ``own``: a thread's index in a block."""
    steps = total.steps(printer.lanes)
    count = f"({total.hi} - {total.lo} + {steps - 1}) / {steps}"

    def add(partial: _Partial) -> None:
        if total.threads == 1 and printer.rows is not None:  # a block a thread
            rows = [
                [printer.let(_kept(printer, a, f"{block}")) for a in total.accumulators]
                for block in range(printer.schedule.team)
            ]
            for row in rows:
                partial.take(row, None)
            return
        with printer.nest(loop_head("block", "0", count, "1")):
            place = f"block * {total.threads} + {own}"
            partial.take([_kept(printer, a, place) for a in total.accumulators], None)

    partial = _Partial(printer, total, keyed=True)
    add(partial)
    partial.settle(add)
    return partial.names


def _wait(printer: Printer) -> None:
    printer.line("workgroupBarrier();")


class _Partial:
    """Results of a block in variables, or in those of extremes until they are settled."""

    def __init__(self, printer: Printer, total: _Total, *, keyed: bool) -> None:
        self.printer, self.total = printer, total
        self.names = _declare(printer, total)
        self.extremes = {
            number: Extreme(printer, accumulator.op, lane=True)
            for number, accumulator in enumerate(total.accumulators)
            if keyed and is_keyed(printer, accumulator.op, accumulator.kind)
        }

    def take(self, yields: Sequence[str], live: str | None) -> None:
        """Combine them with the live lanes of values."""
        for number, x in enumerate(yields):
            if number in self.extremes:
                self.extremes[number].add(x, live)
                continue
            name = self.names[number]
            text = combine(self.printer, self.total.accumulators[number], name, x)
            chosen = f"select({name}, {text}, {live})" if live else text
            self.printer.line(f"{name} = {chosen};")

    def settle(self, again: Callable[[_Partial], None]) -> None:
        """Convert extremes to floats; ``again`` takes all values anew, where zeros are tied."""
        printer = self.printer
        for number, extreme in self.extremes.items():
            printer.line(f"{self.names[number]} = {extreme.value()};")
        ties = [printer.any_of(extreme.is_tie()) for extreme in self.extremes.values()]
        if not ties:
            return
        with printer.nest(f"if ({' || '.join(ties)})"):
            exact = _Partial(printer, self.total, keyed=False)
            again(exact)
            for number in self.extremes:
                printer.line(f"{self.names[number]} = {exact.names[number]};")


def _print_blocks(printer: Printer, total: _Total, finish: Callable[[list[str]], None]) -> None:
    """Each block of this thread: its partial results are given to ``finish``."""
    if printer.rows is not None:
        _print_row(printer, total, finish)
        return
    lanes, steps = printer.lanes, total.steps(printer.lanes)
    first = f"tl / {total.threads}" if total.at_once > 1 else "0"
    inside = f"block * {steps} < {total.hi} - {total.lo}"
    head = f"for (var block = {first}; {inside}; block += {total.at_once})"
    with printer.nest(head):
        base = printer.let(f"{total.lo} + block * {steps}", "b")

        def walk(partial: _Partial) -> None:
            if not printer.schedule.full_blocks:
                _print_guarded_block(printer, total, base, partial)
                return
            with printer.nest(f"if ({base} + {steps} <= {total.hi})"):
                _print_full_block(printer, total, base, partial)
            with printer.nest("else"):
                _print_guarded_block(printer, total, base, partial)

        partial = _Partial(printer, total, keyed=not stored_by(total.walk))  # or stored twice
        walk(partial)
        partial.settle(walk)
        finish(partial.names)
    assert lanes * total.threads * TOTAL_STEPS == steps, "threads of a block hold all its lanes"


def _print_row(printer: Printer, total: _Total, finish: Callable[[list[str]], None]) -> None:
    """The block of this thread, whose elements are in registers."""
    partial = _Partial(printer, total, keyed=True)
    taken: list[tuple[list[str], str | None]] = []

    def add(live: str | None) -> None:
        taken.append((_yields(printer, total), live))
        partial.take(*taken[-1])

    def again(exact: _Partial) -> None:
        for each in taken:
            exact.take(*each)

    print_walk(printer, total.walk, total.body, add)
    partial.settle(again)
    finish(partial.names)


def _print_full_block(printer: Printer, total: _Total, base: str, partial: _Partial) -> None:
    """All steps are there: a constant count, no mask, and loads of several steps in flight."""
    together, step = printer.schedule.unroll, printer.fresh("t")
    lane, stride = _first_lane(printer, total), total.threads * printer.lanes
    if together == TOTAL_STEPS:
        _print_steps(printer, total, f"{base} + {lane}", partial)
        return
    with printer.nest(f"for (var {step} = 0; {step} < {TOTAL_STEPS}; {step} += {together})"):
        _print_steps(printer, total, f"{base} + {lane} + {step} * {stride}", partial)


def _print_steps(printer: Printer, total: _Total, first: str, partial: _Partial) -> None:
    """Several steps from ``first`` on, one after the other."""
    stride = total.threads * printer.lanes
    for number in range(printer.schedule.unroll):
        index = printer.let(f"{first} + {number * stride}" if number else first, "i")
        partial.take(_values_at(printer, total, index), None)


def _print_guarded_block(printer: Printer, total: _Total, base: str, partial: _Partial) -> None:
    """Steps up to the end of the block or of all iterations."""
    end = printer.let(f"min({base} + {total.steps(printer.lanes)}, {total.hi})", "e")
    index, stride = printer.fresh("i"), total.threads * printer.lanes
    head = loop_head(index, f"{base} + {_first_lane(printer, total)}", end, str(stride))
    with printer.nest(head):
        if total.whole:
            partial.take(_values_at(printer, total, index), None)
            return
        with printer.masked(mask_below(printer, index, end), first=True):
            partial.take(_values_at(printer, total, index), printer.live)


def _first_lane(printer: Printer, total: _Total) -> str:
    within = f"tl % {total.threads}" if total.at_once > 1 else "tl"
    return f"({within}) * {printer.lanes}"


def _values_at(printer: Printer, total: _Total, index: str) -> list[str]:
    """Print one iteration of the body; return the names of its results."""
    assert total.block.index is not None, "a total counts"
    printer.values[total.block.index.number] = index
    with printer.lanes_inside():
        total.body(total.block)
    return _yields(printer, total)


def _yields(printer: Printer, total: _Total) -> list[str]:
    return [printer.name(printer.operand(y, lane=True)) for y in total.block.yields]


def _declare(printer: Printer, total: _Total) -> list[str]:
    names = []
    for accumulator in total.accumulators:
        names.append(printer.fresh("a"))
        vector = printer.vector(WGSL_TYPES[accumulator.kind])
        printer.line(f"var {names[-1]}: {vector} = {_identity(printer, accumulator)};")
    return names


def _identity(printer: Printer, accumulator: _Accumulator) -> str:
    """Return the identity of the combination, in every lane."""
    start = literal(identity(accumulator.op, accumulator.kind), accumulator.kind)
    return printer.splat(WGSL_TYPES[accumulator.kind], start)


# -- combining -----------------------------------------------------------------------------------
def combine(
    printer: Printer, accumulator: _Accumulator, a: str, b: str, *, lane: bool = True
) -> str:
    """WGSL expression of ``a op b``, in this order."""
    op, kind = accumulator.op, accumulator.kind
    if op in ("min", "max"):
        if kind not in FLOATS:
            return f"{op}({a}, {b})"
        return printer.call(f"{op}_bits" if printer.flushes(kind) else op, kind, a, b, lane=lane)
    text = f"{a} {_INFIX[op]} {b}"
    return printer.keep(text, kind, lane=lane) if kind in FLOATS else f"({text})"


_INFIX = {"add": "+", "mul": "*", "and": "&", "or": "|"}


def _fold_threads(printer: Printer, total: _Total) -> int:
    """Have a few threads halve the vectors of many; how many vectors are left.

    Each of them reads the vectors that its own one is combined with, so that nobody waits before it
    is replaced.
    """
    if total.threads <= 2 * _FEW:
        return total.threads
    count = total.threads // _FEW
    with printer.nest(f"if (tl < {_FEW})"):
        for accumulator in total.accumulators:
            places = [f"tl + {_FEW * k}" if k else "tl" for k in range(count)]
            if accumulator.integers:
                extreme = _extreme_at(printer, accumulator, places)
                _put_integers(printer, accumulator, extreme)
            else:
                vectors = [printer.let(_kept(printer, accumulator, place)) for place in places]
                (vector,) = _halved(printer, accumulator, vectors, count)
                _put(printer, accumulator, "tl", vector)
    _wait(printer)
    return _FEW


def _fold_lanes(printer: Printer, total: _Total, accumulator: _Accumulator, left: int) -> str:
    """Halve the logical lanes: vectors that are left, then the lanes of one vector."""

    def in_order(count: int) -> str:
        vectors = [printer.let(_kept(printer, accumulator, f"{j}")) for j in range(count)]
        return _fold_in_order(printer, accumulator, vectors, count)

    if not accumulator.integers:
        return in_order(left)
    extreme = _extreme_at(printer, accumulator, [f"{j}" for j in range(left)])
    return _settled(printer, extreme, lambda: in_order(total.threads))


def _extreme_at(printer: Printer, accumulator: _Accumulator, places: Sequence[str]) -> Extreme:
    """The extreme of those whose integers are in workgroup memory."""
    extreme = Extreme(printer, accumulator.op, lane=False)
    for place in places:
        extreme.add_packed(printer.let(f"extremes[{accumulator.integers} + {place}]"))
    return extreme


def _fold(printer: Printer, accumulator: _Accumulator, vectors: list[str], places: int) -> str:
    """Halve ``places`` vectors, the last of which may be missing, then the lanes of one."""
    if not is_keyed(printer, accumulator.op, accumulator.kind):
        return _fold_in_order(printer, accumulator, vectors, places)
    extreme = Extreme(printer, accumulator.op, lane=False)
    for vector in vectors:
        for lane in range(printer.lanes):
            extreme.add(printer.component(vector, lane), None)
    return _settled(printer, extreme, lambda: _fold_in_order(printer, accumulator, vectors, places))


def _settled(printer: Printer, extreme: Extreme, in_order: Callable[[], str]) -> str:
    """The float of an extreme; ``in_order`` computes it where zeros are tied."""
    result = printer.fresh("r")
    printer.line(f"var {result} = {extreme.value()};")
    with printer.nest(f"if ({extreme.is_tie()})"):
        printer.line(f"{result} = {in_order()};")
    return printer.let(result)


def _fold_in_order(
    printer: Printer, accumulator: _Accumulator, vectors: list[str], places: int
) -> str:
    """The same by the operation itself."""
    (vector,) = _halved(printer, accumulator, vectors, places)
    lanes = [printer.component(vector, j) for j in range(printer.lanes)]
    while len(lanes) > 1:
        half = len(lanes) // 2
        pairs = zip(lanes[:half], lanes[half:], strict=True)
        lanes = [printer.let(combine(printer, accumulator, a, b, lane=False)) for a, b in pairs]
    return lanes[0]


def _halved(
    printer: Printer, accumulator: _Accumulator, vectors: list[str], places: int
) -> list[str]:
    """Combine vectors with those half of their number further on, until one is left."""
    while places > 1:
        places //= 2
        both = itertools.zip_longest(vectors[:places], vectors[places:])
        vectors = [
            a if b is None else printer.let(combine(printer, accumulator, a, b)) for a, b in both
        ]
    return vectors


# -- workgroup memory ----------------------------------------------------------------------------
def declare_shared(printer: Printer) -> list[str]:
    """The memory that the threads of a workgroup share: for each value type, and others'.

    Bools are words there: NVIDIA's driver 580 stores single ones, and pairs, wrongly.
    """
    lines = []
    for kind, vectors in printer.shared.items():
        element = printer.vector("u32" if kind == "i1" else WGSL_TYPES[kind])
        lines.append(f"var<workgroup> shared_{kind}: array<{element}, {vectors}>;")
    if printer.extremes:
        lines.append(f"var<workgroup> extremes: array<vec3<i32>, {printer.extremes}>;")
    return lines + [f"var<workgroup> {name}: {kind};" for name, kind in printer.own_shared.items()]


def _put(printer: Printer, accumulator: _Accumulator, place: str, x: str) -> None:
    if accumulator.kind == "i1":
        zero, one = (printer.splat("u32", number) for number in ("0u", "1u"))
        x = f"select({zero}, {one}, {x})"
    printer.line(f"shared_{accumulator.kind}[{accumulator.at(place)}] = {x};")


def _put_last(printer: Printer, accumulator: _Accumulator, x: str) -> None:
    """Put what a thread has of all blocks; of an extreme the integers over its lanes, too."""
    _put(printer, accumulator, "tl", x)
    if accumulator.integers:
        lanes, extreme = (Extreme(printer, accumulator.op, lane=lane) for lane in (True, False))
        lanes.add(x, None)
        extreme.add_lanes(lanes)
        _put_integers(printer, accumulator, extreme)


def _put_integers(printer: Printer, accumulator: _Accumulator, extreme: Extreme) -> None:
    printer.line(f"extremes[{accumulator.integers} + tl] = {extreme.packed()};")


def _kept(printer: Printer, accumulator: _Accumulator, place: str) -> str:
    x = f"shared_{accumulator.kind}[{accumulator.at(place)}]"
    return f"({x} != {printer.splat('u32', '0u')})" if accumulator.kind == "i1" else x

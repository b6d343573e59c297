"""Scans: every line along an axis is walked in order, with one accumulator, as NumPy walks it.

Where another axis is the fastest in memory, lanes run along it, and running results lie in memory
that stays in the first-level cache. Else a few lines are walked at once, an element of each in
turn, so that none waits for another's last operation; what has to be computed first is computed
block by block in lanes, and lies where the results will. The threads of a GPU have a line each.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from runmat_jit.core.frozen import frozen
from runmat_jit.core.hardware import CELL, L1, STREAMS, WARP
from runmat_jit.core.types import KERNEL_ELEMENTS
from runmat_jit.graph.node import Node
from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.ir import Literal, Value
from runmat_jit.kernel.primitives import FLOATS
from runmat_jit.lower.body import Body, value_type
from runmat_jit.lower.elementwise import moved_bytes
from runmat_jit.lower.index import smaller, split, unravel
from runmat_jit.lower.lane_reduction import Bounds, cell_width, combine_two
from runmat_jit.lower.launch import Launch
from runmat_jit.lower.nest import FEW_LANES, Access, Nest, merge_axes, permute
from runmat_jit.lower.problem import Compute, Operand, Read, Store
from runmat_jit.passes.events import reports_events
from runmat_jit.plan.device import Device
from runmat_jit.plan.notes import Notes

BLOCK = L1 // 32
"""Elements of a line that are computed before they are taken in, in the first-level cache."""


@frozen
class ScanProblem:
    """A scan of ``node`` over ``axis`` of a space, and the elements that feed it.

    Attributes:
        extents: The space.
        axis: Which axis is walked.
        node: The scan.
        combine: How an element is taken in, and ``start``, which changes none.
        operand: What is taken in.
        computes: Computations on elements, operands first.
        result: Where the scan is stored.
        stores: Elements that are stored, too.
        running: Memory for one running result a line.
        tested: Note where a line's last result is not finite; no later one is, after the first.
        device: As of a plan.
        notes: As of a plan.

    """

    extents: tuple[int, ...]
    axis: int
    node: Node
    combine: str
    start: Literal
    operand: Operand
    computes: tuple[Compute, ...]
    result: Store
    stores: tuple[Store, ...]
    running: Store
    tested: bool
    device: Device
    notes: Notes

    def accesses(self) -> tuple[Access, ...]:
        """All reads and stores, each once."""
        operands = [operand for compute in self.computes for operand in compute.operands]
        operands += [self.operand, *(store.value for store in self.stores)]
        reads = dict.fromkeys(o for o in operands if isinstance(o, Read))
        running = () if self.in_registers else (self.running,)
        return (*reads, self.result, *self.stores, *running)

    @property
    def in_registers(self) -> bool:
        """True if a lane has its line's running result in a register."""
        return self.device.kind == "gpu"

    @property
    def kind(self) -> str:
        """The type of the accumulator."""
        return value_type(KERNEL_ELEMENTS[self.result.dtype])

    @property
    def is_exact(self) -> bool:
        """True if each step's events are noted."""
        return self.notes.mode != "results" and reports_events(self.node)

    @property
    def is_direct(self) -> bool:
        """True if what is taken in lies in memory, and nothing else is to be done."""
        in_memory = isinstance(self.operand, Read) and self.operand.memory is not None
        return in_memory and not self.stores


def lower_scan(problem: ScanProblem) -> Launch | None:
    """The kernel of a scan; None where there are no elements."""
    if 0 in problem.extents:
        return None
    nest = _nest(problem)
    written = frozenset(s.memory for s in (problem.result, *problem.stores, problem.running))
    builder = Builder(problem.device.builtins)
    body = Body(nest, problem.computes, written, builder=builder, notes=problem.notes)
    body.declare()
    across = nest.lanes < len(nest.extents) - 1
    total, work = (_walk_across if across else _walk_along)(body, problem)
    kernel, arguments = body.finish()
    return Launch(kernel, arguments, total, max(1, CELL // max(1, work)), moved_bytes(nest))


def _nest(problem: ScanProblem) -> Nest:
    """Outer axes, then the lanes' axis, then the one that is walked where that is another.

    A walk of one element is one along contiguous arrays.
    """
    accesses, axis, fastest = problem.accesses(), problem.axis, problem.result.strides
    others = [a for a, extent in enumerate(problem.extents) if extent != 1 and a != axis]
    others.sort(key=lambda a: -abs(fastest[a]))
    extents, columns = merge_axes(
        *permute(others, problem.extents, [access.strides for access in accesses])
    )
    walked = problem.extents[axis]
    strides = {
        access: (*column, int(access.memory is not None) if walked == 1 else access.strides[axis])
        for access, column in zip(accesses, columns, strict=True)
    }
    near = bool(others) and abs(fastest[others[-1]]) < abs(fastest[axis])
    across = near and walked > 1 and extents[-1] >= FEW_LANES
    lanes = len(extents) - int(across or (problem.in_registers and bool(extents)))
    return Nest((*extents, walked), strides, lanes)


# -- lanes across lines --------------------------------------------------------------------------
def _walk_across(body: Body, problem: ScanProblem) -> tuple[int, int]:
    """Line beside line; how many cells of lines, and elements in each."""
    builder, nest = body.builder, body.nest
    *outer, columns, length = nest.extents
    cells = math.prod(outer)
    width = (
        min(columns, 2 * WARP)
        if problem.in_registers
        else cell_width(columns, cells, problem.device)
    )
    blocks = -(-columns // width)
    count, wide, across, rows = map(body.parameter, (columns, width, blocks, length))
    with builder.grid(body.parameter(cells * blocks)) as grid:
        rest, block = split(grid.i, across)
        _enter_line(body, rest)
        lanes = block * wide, smaller((block + 1) * wide, count)
        (_take_lines if problem.in_registers else _take_blocks)(body, problem, lanes, rows)
    return cells * blocks, width * length


def _take_blocks(body: Body, problem: ScanProblem, lanes: Bounds, rows: Value) -> None:
    """A few rows at a time, with running results in memory."""
    builder, nest = body.builder, body.nest
    with builder.lanes(*lanes) as start, body.scope():
        body.move(nest.lanes, start.i)
        body.put(problem.running, builder.splat(problem.start, problem.kind))
    with builder.loop(0, rows, (), STREAMS) as piece:
        _take_rows(body, problem, lanes, (piece.i, smaller(piece.i + STREAMS, rows)))
    if problem.tested and not problem.is_exact:
        with builder.lanes(*lanes) as last, body.scope():
            body.move(nest.lanes, last.i)
            builder.note(body.peek(problem.running))


def _take_lines(body: Body, problem: ScanProblem, lanes: Bounds, rows: Value) -> None:
    """All lines of a cell, one a lane."""
    builder, nest = body.builder, body.nest
    with builder.lanes(*lanes) as columns, body.scope():
        body.enter(nest.lanes, columns.i)
        start = builder.splat(problem.start, problem.kind)
        with builder.loop(0, rows, (start,)) as row:
            with body.scope():
                body.move(nest.lanes + 1, row.i)
                _compute(body, problem)
                after = _taken(body, problem, row.carry[0], body.value(problem.operand))
                body.put(problem.result, after)
            row.yield_(after)
        if problem.tested and not problem.is_exact:
            builder.note(row.out[0])


def _take_rows(body: Body, problem: ScanProblem, lanes: Bounds, rows: Bounds) -> None:
    """Some rows, for all columns of a cell."""
    builder, nest = body.builder, body.nest
    with builder.lanes(*lanes) as columns, body.scope():
        body.enter(nest.lanes, columns.i)
        with builder.loop(*rows, (body.peek(problem.running),)) as row, body.scope():
            body.move(nest.lanes + 1, row.i)
            _compute(body, problem)
            (before,) = row.carry
            after = _taken(body, problem, before, body.value(problem.operand))
            body.put(problem.result, after)
            row.yield_(after)
        body.put(problem.running, *row.out)


# -- lines side by side --------------------------------------------------------------------------
def _walk_along(body: Body, problem: ScanProblem) -> tuple[int, int]:
    """Some lines at a time; the last cell walks its last line more often, to the same results."""
    builder, (*outer, length) = body.builder, body.nest.extents
    lines = math.prod(outer)
    together = 1 if lines == 1 else STREAMS
    cells = -(-lines // together)
    count, rows = body.parameter(lines), body.parameter(length)
    with builder.grid(body.parameter(cells)) as grid:
        first, last = grid.i * together, count - 1
        numbers = [smaller(first + k, last) for k in range(together)]
        found = tuple(builder.const(problem.start, problem.kind) for _ in numbers)
        if problem.is_direct:
            assert isinstance(problem.operand, Read), "it is in memory"
            places = _places(body, numbers, problem.operand, problem.result)
            whole = builder.const(0, "index"), rows
            found = _take_elements(
                body, problem, problem.operand, places, bounds=whole, starts=found
            )
        else:
            places = _places(body, numbers, problem.result, problem.result)
            with builder.loop(0, rows, found, BLOCK) as blocks:
                block = blocks.i, smaller(blocks.i + BLOCK, rows)
                with builder.loop(0, together) as turn:
                    _compute_block(body, problem, smaller(first + turn.i, last), block)
                after = _take_elements(
                    body, problem, problem.result, places, bounds=block, starts=blocks.carry
                )
                blocks.yield_(*after)
            found = blocks.out
        if problem.tested and not problem.is_exact:
            for value in found:
                builder.note(value)
    return cells, together * length


def _places(
    body: Body, numbers: Sequence[Value], source: Access, target: Store
) -> list[tuple[Value, Value]]:
    """Where the lines begin that are read and written."""
    found = []
    for number in numbers:
        with body.scope():
            _enter_line(body, number)
            found.append((body.address(source), body.address(target)))
    return found


def _compute_block(body: Body, problem: ScanProblem, number: Value, block: Bounds) -> None:
    """Store what is taken in, of a part of a line, where the results will lie."""
    with body.scope():
        _enter_line(body, number)
        with body.builder.lanes(*block) as lanes, body.scope():
            body.move(body.nest.lanes, lanes.i)
            _compute(body, problem)
            body.put(problem.result, body.value(problem.operand))


def _take_elements(
    body: Body,
    problem: ScanProblem,
    source: Read | Store,
    places: Sequence[tuple[Value, Value]],
    *,
    bounds: Bounds,
    starts: Sequence[Value],
) -> tuple[Value, ...]:
    """Take in an element of each line alternately, some of a line that is walked alone at once.

    All are read before one is written.
    """
    builder, (low, high), found = body.builder, bounds, starts

    def take(index: Value, so_far: Sequence[Value]) -> list[Value]:
        values = [body.element(source, base, index) for base, _ in places]
        pairs = zip(so_far, values, strict=True)
        taken = [_taken(body, problem, before, value) for before, value in pairs]
        for (_, base), value in zip(places, taken, strict=True):
            body.put_element(problem.result, base, index, value)
        return taken

    if len(places) == 1:
        high = low + builder.prim("sdiv", high - low, STREAMS) * STREAMS
        with builder.loop(low, high, found, STREAMS) as loop, body.scope():
            after: Sequence[Value] = loop.carry
            for k in range(STREAMS):
                after = take(loop.i + k, after)
            loop.yield_(*after)
        low, high, found = high, bounds[1], loop.out
    with builder.loop(low, high, found) as loop, body.scope():
        loop.yield_(*take(loop.i, loop.carry))
    return loop.out


# -- pieces --------------------------------------------------------------------------------------
def _enter_line(body: Body, number: Value) -> None:
    """Take the coordinates of a line, or of a cell's, into all addresses."""
    outer = body.nest.extents[: body.nest.lanes]
    if outer:
        sizes = [body.parameter(extent) for extent in outer[1:]]
        for axis, coordinate in enumerate(unravel(number, sizes)):
            body.enter(axis, coordinate)
    body.compute(body.nest.lanes)


def _compute(body: Body, problem: ScanProblem) -> None:
    """What is taken in at a place, and what is stored beside it."""
    body.need([problem.operand, *(store.value for store in problem.stores)])
    body.store(problem.stores)


def _taken(body: Body, problem: ScanProblem, before: Value, value: Value) -> Value:
    """The running result after one element more."""
    after = combine_two(body.builder, problem.combine, before, value)
    if problem.is_exact and after.type in FLOATS:
        bits = body.notes.bits.get(problem.node)
        if bits is None:
            body.exact.rise(after, (before, value), ())
        else:
            body.exact.events(after, (before, value), (), None, bits)
    return after

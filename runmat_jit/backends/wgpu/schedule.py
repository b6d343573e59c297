"""Schedules: how a kernel is divided among lanes, threads, teams and workgroups of a GPU."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from runmat_jit.backends.wgpu.cells import cells_of
from runmat_jit.backends.wgpu.facts import NO_FACTS, Facts
from runmat_jit.backends.wgpu.rows import (
    MOST_LINES,
    is_touched_after,
    kept_stores,
    may_hold,
    place_of,
    steps_of,
    walks_of,
)
from runmat_jit.backends.wgpu.staged import KINDS, is_free, line_bytes, tile_bytes, walked_lines
from runmat_jit.backends.wgpu.views import views_of
from runmat_jit.core.frozen import frozen
from runmat_jit.core.hardware import CORES, WARP, WORKGROUP
from runmat_jit.kernel.ir import Buffer, Instruction, Kernel, Scalar, Table
from runmat_jit.kernel.primitives import SIZES, TOTAL_BLOCKS, TOTAL_STEPS
from runmat_jit.kernel.walk import every_instruction, lanes_of_total
from runmat_jit.plan.profile import TUNING, Pace, Tuning

_TEAM = 2 * WARP
"""Threads of a cell where nothing is known of its length."""
_SMALLEST_GROUP = 2 * WARP
"""Threads of a workgroup whose control flow depends on its cell."""
_AHEAD = 8
"""Iterations of a loop whose loads come first: elements of a sector of memory."""
_CHUNKS = (32, 16, 8)
"""Neighboring elements of a line that are copied together: sectors of memory, the more the better;
fewer than a sector are not worth it."""
_NARROW_BLOCKS = 8
"""Blocks of a row in registers up to which threads have two lanes; measured."""
_SHORT_BODY = 16
"""Instructions up to which the steps of a full block are printed without masks, in a row: what
waits for memory. A longer body is printed once: where half of a group of threads had a full block
and half had not, both copies would be run after another."""


@frozen
class Limits:
    """Limits of a device that schedules depend on."""

    threads: int = WORKGROUP
    shared_bytes: int = 16_384
    software: bool = False
    tuning: Tuning = TUNING


@frozen
class Tile:
    """Tile of a product that a workgroup computes, and a thread's block of it.

    ``terms``: of a slice, which is in workgroup memory at a time.
    """

    rows: int
    columns: int
    terms: int
    thread_rows: int
    thread_columns: int
    warp: tuple[int, int] = (4, 8)
    """Threads that read together: down and across."""

    @property
    def name(self) -> str:
        """By which tunings know it."""
        return f"{self.rows}x{self.columns}x{self.terms}"

    @property
    def threads(self) -> int:
        """Threads of a workgroup."""
        return self.rows // self.thread_rows * (self.columns // self.thread_columns)

    def row_vectors(self, lanes: int) -> int:
        """Vectors of rows of a thread."""
        return self.thread_rows // lanes

    def column_vectors(self, lanes: int) -> int:
        """Vectors of columns of a thread."""
        return self.thread_columns // lanes

    def shared_bytes(self, size: int, lanes: int) -> int:
        """Workgroup memory: two slices of both matrices, whose elements have ``size`` bytes."""
        return 2 * self.terms * (self.rows + self.columns + 2 * lanes) * size

    def tiles_of(self, rows: int, columns: int) -> int:
        """Tiles of a product."""
        return -(-rows // self.rows) * -(-columns // self.columns)


TILES = (
    Tile(128, 256, 8, 8, 16),
    Tile(128, 128, 8, 8, 8),
    Tile(256, 64, 8, 16, 8),
    Tile(128, 64, 8, 8, 8),
    Tile(64, 64, 8, 8, 4),
    Tile(32, 64, 16, 4, 4),
)
"""From the one that reads least for what it computes."""
WIDE_TILES = (Tile(64, 64, 8, 8, 4), Tile(32, 32, 8, 4, 4))
"""The same for elements of 8 bytes, and where a thread has two lanes."""


@frozen
class Schedule:
    """A thread is a vector of ``lanes``; ``team`` threads run a cell, ``threads`` a workgroup.

    Of each block of a ``total`` a team runs as many at once as it has threads for them.
    ``full_blocks`` prints the body of a ``total`` a second time, without masks, for blocks whose
    steps are all there: ``unroll`` of them in a row, whose loads do not wait for one another.
    """

    lanes: int = 4
    threads: int = WORKGROUP
    team: int = _TEAM
    full_blocks: bool = False
    unroll: int = 1
    steps: int = 0
    """Vectors of a cell's row that each thread holds in registers; 0: rows stay in memory."""
    block: int = 1
    """Threads that hold a block of such a row."""
    tile: Tile | None = None
    """Of the products of cells; None where cells are no products."""
    full: bool = False
    """All vectors of all threads of a row are there: nothing is masked."""
    staged: bool = False
    """Threads that have a row each copy all of them together, through workgroup memory."""
    chunk: int = 0
    """Iterations of a loop along lines whose elements a workgroup copies together."""
    down: int = 1
    """Threads that share the iterations of a line."""
    ahead: int = 1
    """Iterations of a loop of lanes whose loads come first."""
    across: bool = False
    """Neighboring threads run neighboring cells, not parts of the same cell."""
    apart: bool = False
    """Lanes of a thread lie a team apart: neighboring elements are neighboring threads'."""

    @property
    def teams(self) -> int:
        """Cells of a workgroup."""
        return self.threads // self.team

    @property
    def spacing(self) -> int:
        """From an element of a thread's vector to the next one, in iterations."""
        return self.team if self.apart else 1

    @property
    def width(self) -> int:
        """Lines of a team."""
        return self.team // self.down


def schedule_for(
    kernel: Kernel,
    limits: Limits,
    longest: Mapping[int, int] | None = None,
    iterations: int = 0,
    facts: Facts = NO_FACTS,
) -> Schedule:
    """The schedule of a kernel.

    Args:
        kernel: A valid kernel.
        limits: Of the device.
        longest: Iterations of ``lanes`` and ``total`` blocks, by the number of their index, as
            far as they are known.
        iterations: Of the parallel axis.
        facts: As of its shader.

    """
    schedule = _schedule(kernel, limits, longest or {}, iterations, facts)
    return _with_loads_ahead(schedule, kernel, limits)


def _schedule(
    kernel: Kernel, limits: Limits, longest: Mapping[int, int], iterations: int, facts: Facts
) -> Schedule:
    """The same, but for loops of lanes whose loads come first."""
    lines = None if limits.software or facts.shared else _along_lines(kernel, limits)
    if lines is not None:
        return lines
    lanes = _lanes(kernel, limits, longest, facts)
    contract = contract_of(kernel.body[-1])
    if contract is not None:
        tile = _tile_for(contract, lanes, longest, limits, iterations)
        return Schedule(lanes, tile.threads, tile.threads, tile=tile)
    if kernel.body[-1].op != "grid":
        threads = min(WORKGROUP, limits.threads)
        return Schedule(lanes, threads, threads)
    cells = cells_of(kernel)
    apart = lanes == 1 and _gains_apart(kernel, longest, limits)
    if apart:
        lanes = lanes_of_a_thread(kernel)
    held = _rows(kernel, lanes, longest, limits)
    team = held.team if held.steps else _team(kernel, lanes, longest, limits)
    if team == 1 and lanes == 1:
        return _staged(kernel, held.steps, limits)
    threads = team
    if not cells.one_team:
        while threads * 2 <= min(WORKGROUP, limits.threads):
            threads *= 2
    while (
        threads > team > 1
        and (threads // team) * shared_bytes(kernel, lanes, team, held=bool(held.steps))
        > limits.shared_bytes
    ):
        threads //= 2
    across = threads > team and any(lanes_of_total(t) == 1 for t in totals(kernel.body))
    schedule = Schedule(lanes, threads, team, across=across, apart=apart)
    if held.steps:
        return replace(schedule, steps=held.steps, block=held.block, full=held.full)
    if limits.software or cells.total_instructions > _SHORT_BODY:
        return schedule
    return replace(schedule, full_blocks=True, unroll=TOTAL_STEPS)


def _lanes(kernel: Kernel, limits: Limits, longest: Mapping[int, int], facts: Facts) -> int:
    """Lanes of a thread, by what it reads and what it holds."""
    if any(lanes_of_total(total) == 1 for total in totals(kernel.body)):
        return 1
    lanes = lanes_of_a_thread(kernel)
    if lanes == 4 and _is_narrow(kernel, longest, limits):
        lanes = 2
    if limits.software or not _reads_between_vectors(kernel, facts, lanes):
        return lanes
    adds = any(totals(kernel.body))
    return lanes if adds and not _rows(kernel, 1, longest, limits).steps else 1


def _gains_apart(kernel: Kernel, longest: Mapping[int, int], limits: Limits) -> bool:
    """True if threads may have several elements of a row each, a team apart.

    As many loads are in flight as with vectors, and a warp reads contiguous elements.
    """
    if limits.software or any(totals(kernel.body)):
        return False
    return _team(kernel, lanes_of_a_thread(kernel), longest, limits) >= WARP


def _with_loads_ahead(schedule: Schedule, kernel: Kernel, limits: Limits) -> Schedule:
    """The schedule with the loads of several iterations first, where loops are short enough."""
    bodies = [i.block.body for i in every_instruction(kernel.body) if i.op == "loop" and i.block]
    longest = max((sum(1 for _ in every_instruction(body)) for body in bodies), default=0)
    if limits.software or schedule.chunk or not longest or _AHEAD * longest > MOST_LINES // 4:
        return schedule
    return replace(schedule, ahead=_AHEAD)


def contract_of(top: Instruction) -> Instruction | None:
    """The contraction that the cells of a grid are; None where they are something else."""
    body = () if top.block is None or top.op != "grid" else top.block.body
    return next((instruction for instruction in body if instruction.op == "contract"), None)


def extents_of(contract: Instruction, longest: Mapping[int, int]) -> tuple[int, int]:
    """Rows and columns of a product; none where they are not known."""
    block = contract.block
    assert block is not None, "a contraction has a block"
    assert block.index is not None, "it counts columns"
    return longest.get(block.carried[0].number, 0), longest.get(block.index.number, 0)


def tiles_of_a_cell(kernel: Kernel, schedule: Schedule, longest: Mapping[int, int]) -> int:
    """Workgroups that a cell is divided among."""
    contract = contract_of(kernel.body[-1])
    if contract is None or schedule.tile is None:
        return 1
    return schedule.tile.tiles_of(*extents_of(contract, longest))


def fitting_tiles(contract: Instruction, lanes: int, limits: Limits) -> list[Tile]:
    """The tiles that a device has threads and memory for."""
    block = contract.block
    assert block is not None, "a contraction has a block"
    size = SIZES[block.carried[1].type]
    return [
        tile
        for tile in (TILES if (size, lanes) == (4, 4) else WIDE_TILES)
        if tile.threads <= limits.threads and tile.shared_bytes(size, lanes) <= limits.shared_bytes
    ]


def _tile_for(
    contract: Instruction, lanes: int, longest: Mapping[int, int], limits: Limits, cells: int
) -> Tile:
    """The tile with which the products take the least time, by the pace of each."""
    rows, columns = extents_of(contract, longest)
    paces = {} if limits.software else limits.tuning.tiles

    def product_us(tile: Tile) -> float:
        pace = paces.get(tile.name) or Pace(tile.rows * tile.columns, CORES)
        return pace.product_us(cells * tile.tiles_of(rows, columns))

    return min(fitting_tiles(contract, lanes, limits), key=product_us)


def _staged(kernel: Kernel, steps: int, limits: Limits) -> Schedule:
    """The schedule of rows of one thread each, of elements between vectors."""
    kinds = {buffer_of_access(each).element for each in staged_instructions(kernel)}
    threads = min(_TEAM, limits.threads)
    while threads > WARP and tile_bytes(steps, threads, len(kinds)) > limits.shared_bytes // 2:
        threads //= 2
    staged = tile_bytes(steps, threads, len(kinds)) <= limits.shared_bytes
    return Schedule(1, threads, 1, steps=steps, full=True, staged=staged and bool(kinds))


def _along_lines(kernel: Kernel, limits: Limits) -> Schedule | None:
    """Schedule of a loop along lines; None if the kernel has none, or memory is short.

    Threads share independent iterations: each has a few elements, so that concurrent loads are
    near each other in memory.
    """
    accesses = walked_lines(kernel)
    if not accesses:
        return None
    down = min(WORKGROUP, limits.threads) // WARP if is_free(kernel) else 1
    team = down * WARP if down > 1 else _TEAM
    tiles = max(sum(1 for i in accesses if i.op == op) for op in ("load", "store"))
    for chunk in _CHUNKS:
        if chunk % down == 0:
            schedule = Schedule(1, team, team, chunk=chunk, down=down)
            used = line_bytes(chunk, schedule.width, tiles, len(accesses))
            if used <= limits.shared_bytes:
                return schedule
    return None


def staged_accesses(kernel: Kernel) -> frozenset[int]:
    """Accesses, by identity, of rows that a workgroup copies together."""
    return frozenset(map(id, staged_instructions(kernel)))


def staged_instructions(kernel: Kernel) -> list[Instruction]:
    """Accesses of walks to rows of elements of 4 bytes, of which each cell has its own.

    Of stores those that are the only ones of a walk into their buffers, and the last accesses.
    """
    found = []
    changing = set(map(id, streams(kernel.body[-1:], frozenset(), {})))
    for walk in walks_of(kernel, least=1):
        assert walk.block is not None, "a walk has a body"
        kept = {id(s) for s, _ in kept_stores(walk) if not is_touched_after(s, walk)}
        found += [
            each
            for each in walk.block.body
            if (each.op == "load" or id(each) in kept)
            and id(each) in changing
            and place_of(each, walk) is not None
            and each.attrs["stride"] == 1
            and buffer_of_access(each).element in KINDS
        ]
    return found


def buffer_of_access(access: Instruction) -> Buffer | Table:
    """The buffer or table that a load or store names."""
    buffer = access.attrs["buffer"]
    assert isinstance(buffer, Buffer | Table), "an access names its buffer"
    return buffer


def _is_narrow(kernel: Kernel, longest: Mapping[int, int], limits: Limits) -> bool:
    """True if rows in registers are short enough for twice the threads, of two lanes each.

    More loads are in flight then. A word of four bools needs four lanes.
    """
    if any(p.element == "bool" for p in kernel.parameters if not isinstance(p, Scalar)):
        return False
    held = _rows(kernel, 2, longest, limits)
    several = len(walks_of(kernel)) > 1 and held.team > 1
    return bool(held.steps) and several and held.team // held.block <= _NARROW_BLOCKS


@frozen
class _HeldRow:
    """A row in registers: vectors of a thread, threads of a block and of the row; no tails."""

    steps: int = 0
    block: int = 1
    team: int = 1
    full: bool = False


def _rows(kernel: Kernel, lanes: int, longest: Mapping[int, int], limits: Limits) -> _HeldRow:
    """Layout of rows in registers; no vectors where rows stay in memory.

    A software adapter has no registers to gain. A row of no more elements than a ``total`` has
    lanes is one thread's, which waits for no other. One that is walked once gains if it is one
    block: all of its loads are in flight together.
    """
    walks = walks_of(kernel, least=1)
    if not walks or limits.software:
        return _HeldRow()
    block = walks[0].block
    assert block is not None, "a walk has a body"
    assert block.index is not None, "a walk counts"
    length = longest.get(block.index.number, 0)
    total = next(walk for walk in walks if walk.op == "total")
    places, threads = lanes_of_total(total), threads_of_a_block(total, lanes)
    if 0 < length <= places and length % lanes == 0 and may_hold(walks, length // lanes):
        return _HeldRow(length // lanes, full=True)
    blocks = -(-length // (places * TOTAL_STEPS))
    team = threads * blocks
    fits = shared_bytes(kernel, lanes, team, held=True) <= limits.shared_bytes
    if team > min(WORKGROUP, limits.threads) or not fits or (len(walks) < 2 and blocks > 1):
        return _HeldRow()
    steps = steps_of(kernel, length)
    return _HeldRow(steps, threads, team, full=length == steps * places * blocks)


def lanes_of_a_thread(kernel: Kernel) -> int:
    """16 bytes of the widest type in memory or in lanes; four bools are one word."""
    kinds = {p.element for p in kernel.parameters if not isinstance(p, Scalar)}
    kinds |= {v.type for i in every_instruction(kernel.body) for v in i.results if v.lane}
    if kinds & {"f64", "i64"} and "bool" not in kinds:
        return 2
    return 4


def _reads_between_vectors(kernel: Kernel, facts: Facts, lanes: int) -> bool:
    """True if most of what lanes read from memory, and write there, are no vectors of it.

    Then threads that have one element each read side by side; those that add up a row do so if they
    have it in registers then, too. A row that every iteration reads comes from a cache: it counts
    for nothing.
    """
    if contract_of(kernel.body[-1]) is not None:
        return False
    if any(p.element == "bool" for p in kernel.parameters if not isinstance(p, Scalar)):
        return False
    wide, vectors, others = views_of(kernel, facts, lanes).wide, 0, 0
    for instruction in streams(kernel.body[-1:], frozenset(), {}):
        name = buffer_of_access(instruction).name
        vectors += name in wide
        others += name not in wide
    return others > vectors


def streams(
    body: Sequence[Instruction], around: frozenset[int], known: dict[int, frozenset[int]]
) -> Iterator[Instruction]:
    """Yield accesses of lanes whose addresses change with all sequential loops and cells around.

    Args:
        body: Instructions, blocks included.
        around: Numbers of the indices of these loops and cells.
        known: Indices that values depend on, by their numbers; what is not there has none.

    """
    for instruction in body:
        depends = frozenset().union(*[known.get(a.number, frozenset()) for a in instruction.args])
        is_access = instruction.op in ("load", "store") and instruction.attrs["stride"] != 0
        if is_access and around <= known.get(instruction.args[0].number, frozenset()):
            yield instruction
        block = instruction.block
        if block is not None:
            inner = around
            if block.index is not None:
                if instruction.op in ("grid", "loop"):
                    inner = around | {block.index.number}
                    depends |= {block.index.number}
                known[block.index.number] = depends
            known |= {carried.number: depends for carried in block.carried}
            yield from streams(block.body, inner, known)
        known |= {result.number: depends for result in instruction.results}


def totals(body: Sequence[Instruction]) -> Iterator[Instruction]:
    """All ``total`` instructions."""
    return (i for i in every_instruction(body) if i.op == "total")


def threads_of_a_block(total: Instruction, lanes: int) -> int:
    """Threads that hold the logical lanes of a ``total``."""
    return lanes_of_total(total) // lanes


def shared_slots(total: Instruction, schedule: Schedule) -> int:
    """Vectors of workgroup memory that each combined value of a ``total`` needs for a team."""
    block = threads_of_a_block(total, schedule.lanes)
    if schedule.steps:
        return max(block, schedule.team)  # each block has threads of its own
    return block if schedule.team <= block else TOTAL_BLOCKS * block


def shared_bytes(kernel: Kernel, lanes: int, team: int, *, held: bool) -> int:
    """Workgroup memory of one team: all totals use the same. A team of one thread needs none.

    ``held``: the kernel keeps rows in registers.
    """
    if team == 1:
        return 0
    schedule = Schedule(lanes, team, team, steps=int(held))
    by_type: dict[str, int] = {}
    for total in totals(kernel.body):
        kinds = [r.type for r in total.results]
        for kind in set(kinds):
            slots = shared_slots(total, schedule) * kinds.count(kind)
            by_type[kind] = max(by_type.get(kind, 0), slots)
    integers = max((_bytes_of_extremes(total, lanes) for total in totals(kernel.body)), default=0)
    return integers + sum(slots * lanes * SIZES.get(kind, 4) for kind, slots in by_type.items())


def _bytes_of_extremes(total: Instruction, lanes: int) -> int:
    """Workgroup memory for the integers of minima and maxima in single precision."""
    combines = total.attrs["combines"]
    assert isinstance(combines, tuple), "a total names how it combines"
    kinds = [result.type for result in total.results]
    pairs = list(zip(combines, kinds, strict=True))
    count = sum(pairs.count((op, "f32")) for op in ("min", "max"))
    return 16 * count * threads_of_a_block(total, lanes)


def _team(kernel: Kernel, lanes: int, longest: Mapping[int, int], limits: Limits) -> int:
    """Threads of a cell: a power of two that the longest block of the cell keeps busy."""
    wanted, least = 0, 1
    for instruction in every_instruction(kernel.body):
        if instruction.op not in ("lanes", "total"):
            continue
        assert instruction.block is not None, "a block has a body"
        assert instruction.block.index is not None, "this block counts"
        length = longest.get(instruction.block.index.number)
        threads = _TEAM
        if instruction.op == "total":
            block = threads_of_a_block(instruction, lanes)
            least = max(least, block, 2)
            if length is not None:
                threads = block * max(1, -(-length // (TOTAL_STEPS * lanes * block)))
        elif length is not None:
            threads = -(-length // lanes)
        wanted = max(wanted, threads)
    team = max(least, 1)
    largest = min(WORKGROUP, limits.threads)
    while team < min(wanted, largest):
        team *= 2
    while team > least and shared_bytes(kernel, lanes, team, held=False) > limits.shared_bytes:
        team //= 2
    if cells_of(kernel).one_team:
        team = max(team, min(_SMALLEST_GROUP, largest))
    return team

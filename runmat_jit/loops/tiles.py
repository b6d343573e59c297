"""Loops that run in tiles: all iterations for some lanes before any for others.

What a turn leaves to the next stays in cache, and threads share the tiles. The kernel is the same:
it is given parts of the arrays. Each element is computed as it would be, so that its bits are the
same, too.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from runmat_jit.core.hardware import CELL, CELLS, L1, L2, LANES
from runmat_jit.core.slotted import slotted
from runmat_jit.loops.extents import Dim, shape_of, shapes
from runmat_jit.loops.lanes import Lanes, lane_axis
from runmat_jit.loops.memory import Pool
from runmat_jit.loops.transposing import Transposing
from runmat_jit.loops.variant import Results, Run, Variant, Watch

TILE_BYTES: Final = 3 * L1 // 4
"""Of what the iterations of a tile compute."""
COPY_BYTES: Final = L2
"""Of what is copied so that lanes lie side by side, in a tile."""
FEWEST: Final = 4 * LANES
"""Lanes of a tile, at least, which fill the vectors in flight; tiles have a multiple of as many."""
SHARES: Final = CELLS // 4
"""Tiles that few lanes are cut into, for several threads."""
TILE_WORK: Final = 16 * CELL
"""Elements that a tile stores at least, so that starting it costs little in comparison."""
STORED_AGAIN: Final = 4
"""Times that each element of what is copied into tiles is stored, from which on copies pay."""
REGISTER_WORK: Final = 64 * CELL
"""Elements that a loop stores, from which on arrays that stay in cache are worth registers."""

Step = tuple[int, int]
"""The addresses of a kernel and of its argument block."""
RunCells = Callable[[Sequence[Sequence[Step]]], list[list[int]]]
"""Runs cells of some steps each, a kernel on an argument block: the bits of the events of each."""


@slotted
class Tile:
    """Operands of a tile: parts of them, or copies in which lanes lie side by side."""

    lanes: Lanes
    whole: Sequence[Any]
    begin: int
    end: int
    operands: list[Any]
    copies: list[tuple[int, np.ndarray]]
    parts: dict[int, np.ndarray]
    """Parts of operands, or copies that are padded to a multiple of some lanes."""
    blocks: list[array[int]]
    """Argument blocks of what makes the copies."""

    @classmethod
    def of(
        cls, lanes: Lanes, whole: Sequence[Any], span: range, memory: Memory | None, width: int = 1
    ) -> Tile:
        """The tile of these lanes; ``memory``: that of copies of what has gaps, if any are made.

        ``width``: what the number of lanes is to be a multiple of.
        """
        tile = cls(lanes, whole, span.start, span.stop, list(whole), [], {}, [])
        made: dict[int, np.ndarray] = {}
        for operand in lanes.axes:
            array = whole[operand]
            found = made.get(id(array))
            if found is None:
                found = tile.part(operand)
                if len(span) % width:
                    found = padded(found, lanes.axes[operand], -len(span) % width)
                tile.parts[operand] = found
                if memory is not None and operand in lanes.gaps:
                    found = side_by_side(found, lanes.axes[operand], memory, operand)
                    tile.copies.append((operand, found))
                made[id(array)] = found
            tile.operands[operand] = found
        return tile

    def put_back(self, written: frozenset[int]) -> None:
        """Store what has been written to parts that are padded."""
        for operand in written & set(self.parts):
            part, found = self.part(operand), self.parts[operand]
            if found.shape != part.shape:
                part[...] = found[*before(self.lanes.axes[operand]), : self.end - self.begin]

    def part(self, operand: int) -> np.ndarray:
        """The lanes of an operand."""
        axis = self.lanes.axes[operand]
        found: np.ndarray = self.whole[operand][*before(axis), self.begin : self.end]
        return found


def before(axis: int) -> tuple[slice, ...]:
    """All of the axes before one."""
    return (slice(None),) * axis


def padded(part: np.ndarray, axis: int, more: int) -> np.ndarray:
    """A copy whose last lane is there some times more."""
    last = part[*before(axis), -1:]
    return np.concatenate([part, *[last] * more], axis=axis)


Memory = dict[int, np.ndarray]
"""What copies lie in, by operand: new memory costs more than what is done in it."""


def side_by_side(part: np.ndarray, axis: int, memory: Memory, operand: int) -> np.ndarray:
    """An array of the same shape in which elements along an axis lie without gaps."""
    shape = part.shape[:axis] + part.shape[axis + 1 :] + part.shape[axis : axis + 1]
    if operand not in memory or memory[operand].size < part.size:
        memory[operand] = np.empty(part.size, part.dtype)
    return np.moveaxis(memory[operand][: part.size].reshape(shape), -1, axis)


def as_if_side_by_side(array: np.ndarray, axis: int) -> np.ndarray:
    """Stands for an array that lies like such a copy; it has no elements."""
    shape = array.shape[:axis] + array.shape[axis + 1 :]
    step, strides = array.itemsize * array.shape[axis], list[int]()
    for extent in reversed(shape):
        strides.insert(0, step)
        step *= extent
    strides.insert(axis, array.itemsize)
    blank = np.empty(0, array.dtype)
    return np.lib.stride_tricks.as_strided(blank, array.shape, strides)


class Gathered:
    """The results of a loop, put together from those of its tiles."""

    def __init__(self, variant: Variant, lanes: Lanes, extent: int) -> None:
        self.axes = [
            lane_axis(made.dims, lanes.number) if isinstance(made, Pool) else None
            for made in variant.made
        ]
        """Of each result the axis that has lanes."""
        self.extent = extent
        self.arrays: dict[int, np.ndarray] = {}
        self.results: tuple[Any, ...] = ()

    def put(self, results: tuple[Any, ...], tile: Tile) -> None:
        """Take in the results of a tile; two that are one array are so in all tiles."""
        first = [next(n for n, other in enumerate(results) if other is each) for each in results]
        found: list[Any] = []
        for number, axis, result in zip(first, self.axes, results, strict=True):
            if axis is None:
                found.append(result)
                continue
            whole = self.arrays.get(number)
            if whole is None:
                shape = list(result.shape)
                shape[axis] = self.extent
                whole = self.arrays[number] = np.empty(shape, result.dtype)
            here = result[*before(axis), : tile.end - tile.begin]
            whole[*before(axis), tile.begin : tile.end] = here
            found.append(whole)
        self.results = tuple(found)


@slotted
class Tiled:
    """Runs a loop in tiles.

    ``variant_of`` gives the kernel for operands like some.
    """

    variant: Variant
    lanes: Lanes
    variant_of: Callable[[Sequence[Any]], Variant | None]
    transposing: Transposing
    run_cells: RunCells
    blank: frozenset[int] = frozenset()
    """Operands that are zeros."""

    def run(self, operands: Sequence[Any], watch: Watch) -> Results | None:
        """Like :meth:`.variant.Variant.run_slices`."""
        lanes = self.lanes
        extent, turns = extent_of(lanes, operands), 0
        variant = self.side_by_side(operands) if lanes.gaps else self.variant
        width = max(1, variant.emitted.width)
        size = tile_size(self.variant, lanes, operands)
        size += -size % width
        gathered, left = Gathered(self.variant, lanes, extent), range(extent)
        memories: list[Memory] = [{} for _ in range(CELLS)]
        while left:
            spans = [left[at : at + size] for at in range(0, len(left), size)][:CELLS]
            if watch.progress is not None:
                watch.progress.done, watch.progress.lanes = left.start, extent
            left = left[sum(map(len, spans)) :]
            tiles = [
                Tile.of(lanes, operands, span, None if variant is self.variant else memory, width)
                for span, memory in zip(spans, memories, strict=False)
            ]
            runs = [variant.begin(tile.operands) for tile in tiles]
            for tile, run in zip(tiles, runs, strict=True):
                run.is_part(lanes, tile.begin, extent)
            if not self.finish(variant, tiles, runs, watch):
                return None
            for tile, run in zip(tiles, runs, strict=True):
                results = run.results()
                if results is None:
                    return None
                gathered.put(results, tile)
                tile.put_back(variant.emitted.written)
            turns = runs[-1].turns
            if not lanes.gaps:
                wanted = TILE_WORK // (max(turns, 1) * lane_elements(self.variant, lanes, operands))
                size = max(size, wanted - wanted % max(FEWEST, width))
        return gathered.results, turns

    def side_by_side(self, operands: Sequence[Any]) -> Variant:
        """The kernel for copies without gaps, if there is one."""
        lanes, alike = self.lanes, list(operands)
        for operand in lanes.gaps:
            alike[operand] = as_if_side_by_side(operands[operand], lanes.axes[operand])
        found = self.variant_of(alike)
        same = found is not None and found.emitted.written == self.variant.emitted.written
        return found if found is not None and same else self.variant

    def finish(
        self, variant: Variant, tiles: Sequence[Tile], runs: Sequence[Run], watch: Watch
    ) -> bool:
        """Run tiles to their ends; whether none has left."""
        own = [self.steps(variant, tile) for tile in tiles]
        steps = {id(run): each for run, each in zip(runs, own, strict=True)}
        first = len(own[0][0])

        def go(pending: Sequence[Run]) -> Sequence[int]:
            begun = bool(pending[0].turns)
            cells = []
            for run in pending:
                prior, after = steps[id(run)]
                cells.append([*(() if begun else prior), (variant.address, run.address), *after])
            if variant.asks:  # in Python, on this thread
                words = [[self.alone(step) for step in cell] for cell in cells]
            else:
                words = self.run_cells(cells)
            return [each[0 if begun else first] for each in words]

        lanes = sum(tile.end - tile.begin for tile in tiles)
        return variant.finish(runs, watch, go, lanes=lanes)

    def alone(self, step: tuple[int, int]) -> int:
        """One step, on this thread; the bits of its events."""
        return int(self.variant.entry(*step))

    def steps(self, variant: Variant, tile: Tile) -> tuple[list[Step], list[Step]]:
        """The copies of a tile: before its first iteration, and after each slice."""
        first, after = list[Step](), list[Step]()
        for operand, copy in tile.copies:
            part, axis = tile.parts[operand], tile.lanes.axes[operand]
            pairs = [(after, copy, part)] if operand in variant.emitted.written else []
            if operand in self.blank:
                copy.fill(0)
            else:
                pairs.append((first, part, copy))
            for steps, source, made in pairs:
                kernel, block = self.transposing.step(source, made, axis)
                tile.blocks.append(block)
                steps.append((kernel, block.buffer_info()[0]))
        return first, after


def lanes_for(variant: Variant, operands: Sequence[Any]) -> Lanes | None:
    """The axis along which a loop may run in tiles: there are lanes enough for two."""
    every = variant.emitted.lanes
    if not every:
        return None
    lanes = max(every, key=lambda lanes: extent_of(lanes, operands))
    return lanes if extent_of(lanes, operands) >= 2 * FEWEST else None


def gains_in_tiles(variant: Variant, lanes: Lanes, operands: Sequence[Any], turns: int) -> bool:
    """True if there are lanes for several tiles, and tiles stay in cache where arrays would not.

    Operands with gaps between lanes are copied in and out: that pays if each element is stored
    several times, not where a loop walks through columns once.
    """
    extent = extent_of(lanes, operands)
    if extent < 2 * tile_size(variant, lanes, operands):
        return False
    if lanes.gaps:
        copied = sum(int(operands[number].size) for number in lanes.gaps)
        stored = turns * lane_elements(variant, lanes, operands) * extent
        return bool(stored >= STORED_AGAIN * copied)
    return extent * lane_bytes(variant, lanes, operands) >= L2


def gains_in_registers(variant: Variant, lanes: Lanes, operands: Sequence[Any], turns: int) -> bool:
    """True if so many turns compute so much that arrays are worth registers, if they stay there."""
    stored = lane_elements(variant, lanes, operands) * extent_of(lanes, operands)
    return turns * stored >= REGISTER_WORK


def extent_of(lanes: Lanes, operands: Sequence[Any]) -> int:
    """Number of lanes."""
    operand, axis = next(iter(lanes.axes.items()))
    return int(operands[operand].shape[axis])


def tile_size(variant: Variant, lanes: Lanes, operands: Sequence[Any]) -> int:
    """Lanes of a tile: as many as stay in cache from iteration to iteration."""
    within = TILE_BYTES // lane_bytes(variant, lanes, operands)
    extent = extent_of(lanes, operands)
    copied = sum(operands[n].nbytes for n in lanes.gaps) // max(extent, 1)
    if copied:
        within = min(within, COPY_BYTES // copied)
    within = min(within, extent // SHARES)
    fewest = FEWEST * max(1, variant.emitted.drawn)  # lanes draw a block each
    fewest = fewest if fewest <= extent // SHARES else FEWEST
    return max(fewest, within - within % fewest)


def lane_bytes(variant: Variant, lanes: Lanes, operands: Sequence[Any]) -> int:
    """Memory of the arrays that a loop makes, in each lane; of what it writes, if it makes none."""
    places, given = variant.emitted.places, shapes(operands)
    made = sum(
        number * pool.dtype.itemsize * math.prod(shape_of(without(pool.dims, lanes), places, given))
        for pool, number in variant.emitted.pools.items()
        if lane_axis(pool.dims, lanes.number) is not None
    )
    return made or 8 * lane_elements(variant, lanes, operands)


def without(dims: Sequence[Dim], lanes: Lanes) -> list[Dim]:
    """The other extents of an array."""
    return [dim for dim in dims if dim != Dim("extent", lanes.number)]


def lane_elements(variant: Variant, lanes: Lanes, operands: Sequence[Any]) -> int:
    """Elements that an iteration stores in each lane, about."""
    places, given = variant.emitted.places, shapes(operands)
    sizes = [
        math.prod(shape_of(without(dims, lanes), places, given))
        for dims in variant.emitted.spans
        if lane_axis(dims, lanes.number) is not None
    ]
    return max(1, sum(sizes))

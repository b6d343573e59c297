"""Print ``contract``: a workgroup computes a tile of the product, each thread a block of sums.

Slices of both matrices, of some terms each, are copied to workgroup memory; the next slice is
loaded while the present one is multiplied (double buffering). In workgroup memory the left matrix
is stored as vectors of rows and the right one as vectors of columns, whatever their strides are.
The vectors of a thread are a warp's width apart, so that a warp reads neighboring vectors.
"""

from __future__ import annotations

from runmat_jit.backends.wgpu.facts import SLICE, TILE
from runmat_jit.backends.wgpu.print_blocks import Body, block_of, mask_below
from runmat_jit.backends.wgpu.printer import WGSL_TYPES, Printer
from runmat_jit.backends.wgpu.schedule import Tile
from runmat_jit.core.frozen import frozen
from runmat_jit.kernel.ir import Buffer, Instruction, Value


@frozen
class _Side:
    """One operand, of which a tile has ``free`` rows or columns: shader names and access pattern.

    ``along_terms``: the terms are contiguous, so a loaded vector is transposed when it is stored.
    ``fills``: the extent is a multiple of the tile's; ``fills_slices``: so are the terms.
    """

    letter: str
    buffer: Buffer
    extent: str
    begin: str
    step: Value
    term_step: Value
    free: int
    first: str
    along_terms: bool
    wide: bool
    fills: bool
    fills_slices: bool


def print_contract(printer: Printer, instruction: Instruction, body: Body) -> None:
    """Print the product of a tile, then the block (the epilogue)."""
    tile, block = printer.schedule.tile, block_of(instruction)
    assert tile is not None, "the schedule of a contraction has a tile"
    left, right = _sides(printer, instruction, tile)
    terms = printer.name(printer.uniform(instruction.args[2]))
    scalar = WGSL_TYPES[block.carried[1].type]
    vector = printer.vector(scalar)
    _print_places(printer, tile)
    slices = [_Slices(printer, side, tile, terms, vector) for side in (left, right)]
    for i in range(tile.thread_rows):
        for j in range(tile.column_vectors(printer.lanes)):
            printer.line(f"var sum{i}_{j} = {vector}();")
    for each in slices:
        each.fetch("0")
        each.put("0")
    printer.line("workgroupBarrier();")
    printer.line("var slice = 0;")
    with printer.nest(f"for (var t = {tile.terms}; t < {terms}; t += {tile.terms})"):
        for each in slices:
            each.fetch("t")
        _multiply(printer, tile, slices, vector)
        for each in slices:
            each.put("1 - slice")
        printer.line("slice = 1 - slice;")
        printer.line("workgroupBarrier();")
    _multiply(printer, tile, slices, vector)
    _print_block(printer, instruction, body, vector)


def _sides(printer: Printer, instruction: Instruction, tile: Tile) -> tuple[_Side, _Side]:
    """Describe both operands; an axis is contiguous where its step is one."""
    rows, columns, terms, *places = instruction.args
    views, found = printer.views, []
    fills_slices = terms.number in views.slices and SLICE % tile.terms == 0
    for letter, side, extent, free, first, (begin, *steps) in (
        ("a", "left", rows, tile.rows, "first_row", places[:3]),
        ("b", "right", columns, tile.columns, "first_column", places[3:]),
    ):
        buffer = instruction.attrs[side]
        assert isinstance(buffer, Buffer), "a contraction names its buffers"
        step, term_step = steps if side == "left" else reversed(steps)
        memory = printer.memory[buffer.name]
        origin = f" + {memory.origin}" if memory.origin else ""
        begins = printer.name(f"{printer.uniform(begin)}{origin}")
        length = printer.name(printer.uniform(extent))
        along = term_step.literal == 1
        fills = extent.number in views.tiles and TILE % free == 0, fills_slices
        found.append(
            _Side(
                *(letter, buffer, length, begins, step, term_step, free, first),
                *(along, memory.wide, *fills),
            )
        )
    return found[0], found[1]


def _print_places(printer: Printer, tile: Tile) -> None:
    """Print the first vectors of a thread in the tile: ``row_at`` and ``column_at``."""
    lanes, down, across = printer.lanes, *tile.warp
    warps = tile.columns // (tile.column_vectors(lanes) * across * lanes)
    row_vectors = tile.row_vectors(lanes)
    printer.line(f"let warp = tl / {down * across};")
    printer.line(f"let of_warp = tl % {down * across};")
    printer.line(f"let row_at = warp / {warps} * {down * row_vectors} + of_warp / {across};")
    printer.line(
        f"let column_at = warp % {warps} * {across * tile.column_vectors(lanes)}"
        f" + of_warp % {across};"
    )


class _Slices:
    """Printer of one operand's slices: the loads of a thread and their stores."""

    def __init__(self, printer: Printer, side: _Side, tile: Tile, terms: str, vector: str) -> None:
        self.printer, self.side, self.tile = printer, side, tile
        self.terms, self.vector = terms, vector
        lanes = printer.lanes
        self.pitch = side.free // lanes + 1
        """Vectors from one term to the next; one is padding, against bank conflicts."""
        self.size = tile.terms * self.pitch
        self.shared = f"tile_{side.letter}"
        printer.own_shared[self.shared] = f"array<{vector}, {2 * self.size}>"
        self.reads = side.free * tile.terms // (lanes * tile.threads)
        per_line = tile.terms // lanes if side.along_terms else side.free // lanes
        for read in range(self.reads):
            number = f"(tl + {read * tile.threads})"
            other, vectors = f"{number} / {per_line}", f"{number} % {per_line} * {lanes}"
            free, term = (other, vectors) if side.along_terms else (vectors, other)
            printer.line(f"let {self.name('free', read)} = {free};")
            printer.line(f"let {self.name('term', read)} = {term};")
            printer.line(f"var {self.name('next', read)} = {vector}();")
            self._print_starts(read)

    def name(self, what: str, read: int) -> str:
        """Shader name of a variable of the thread's n-th load."""
        return f"{self.side.letter}_{what}{read}"

    def _print_starts(self, read: int) -> None:
        """Print the base index of a load; rows or columns beyond the matrix repeat its last."""
        printer, side = self.printer, self.side
        at = f"{side.first} + {self.name('free', read)}"
        step = printer.uniform(side.step)
        if side.along_terms or side.wide:
            last = f"{side.extent} - 1"
            if not side.along_terms:
                last = f"({last}) / {printer.lanes} * {printer.lanes}"
            place = at if side.fills else f"min({at}, {last})"
            place = place if side.step.literal == 1 else f"({place}) * {step}"
            printer.line(f"let {self.name('start', read)} = {side.begin} + {place};")
            return
        numbers = f"{printer.splat('i32', at)} + {printer.numbers()}"
        places = f"min({numbers}, {printer.splat('i32', f'{side.extent} - 1')})"
        places = numbers if side.fills else places
        printer.line(
            f"let {self.name('start', read)} = {printer.splat('i32', side.begin)} + "
            f"({places}) * {printer.splat('i32', step)};"
        )

    def fetch(self, term: str) -> None:
        """Load the thread's part of the slice that begins at a term; zeros beyond the terms."""
        printer, side, lanes = self.printer, self.side, self.printer.lanes
        memory = printer.memory[side.buffer.name].name
        step = printer.uniform(side.term_step)
        for read in range(self.reads):
            at, start = f"{term} + {self.name('term', read)}", self.name("start", read)
            last = f"max({self.terms} - 1, 0)"
            within = at if side.fills_slices else f"min({at}, {last})"
            if side.along_terms and side.wide:
                if not side.fills_slices:
                    within = f"min({at}, {last} / {lanes} * {lanes})"
                place = f"{start} + {within}"
                value = f"{memory}[({place}) >> {lanes.bit_length() - 1}u]"
            elif side.wide:
                place = f"{start} + ({within}) * {step}"
                value = f"{memory}[({place}) >> {lanes.bit_length() - 1}u]"
            else:
                value = self._fetched_each(memory, at, start, step, last)
            if side.fills_slices:
                printer.line(f"{self.name('next', read)} = {value};")
                continue
            if side.along_terms:
                there = mask_below(printer, f"({at})", self.terms)
            else:
                there = f"{at} < {self.terms}"
            printer.line(f"{self.name('next', read)} = select({self.vector}(), {value}, {there});")

    def _fetched_each(self, memory: str, at: str, start: str, step: str, last: str) -> str:
        """Load the elements of a vector one by one."""
        printer, side = self.printer, self.side
        each = []
        for lane in range(printer.lanes):
            if side.along_terms:
                place = f"{start} + min({at} + {lane}, {last})"
            else:
                place = f"{printer.component(start, lane)} + min({at}, {last}) * {step}"
            each.append(f"{memory}[{place}]")
        return f"{self.vector}({', '.join(each)})"

    def put(self, slice_: str) -> None:
        """Store the loaded vectors in one of the two slices of workgroup memory."""
        printer, side, lanes = self.printer, self.side, self.printer.lanes
        for read in range(self.reads):
            free, term, value = (self.name(what, read) for what in ("free", "term", "next"))
            line = f"({slice_}) * {self.size} + {term} * {self.pitch} + {free} / {lanes}"
            if not side.along_terms:
                printer.line(f"{self.shared}[{line}] = {value};")
                continue
            for lane in range(lanes):
                place = f"{self.shared}[{line} + {lane * self.pitch}]"
                one = printer.component(value, lane)
                printer.line(f"{place}[{free} % {lanes}] = {one};")


def _multiply(printer: Printer, tile: Tile, slices: list[_Slices], vector: str) -> None:
    """Print the multiply-adds of the present slice, in the order of its terms."""
    left, right = slices
    lanes, (down, across) = printer.lanes, tile.warp
    with printer.nest(""):
        printer.line(f"let left_at = slice * {left.size} + row_at;")
        printer.line(f"let right_at = slice * {right.size} + column_at;")
        for term in range(tile.terms):
            with printer.nest(""):
                for i in range(tile.row_vectors(lanes)):
                    place = f"left_at + {term * left.pitch + i * down}"
                    printer.line(f"let a{i} = {left.shared}[{place}];")
                for j in range(tile.column_vectors(lanes)):
                    place = f"right_at + {term * right.pitch + j * across}"
                    printer.line(f"let b{j} = {right.shared}[{place}];")
                for i in range(tile.thread_rows):
                    one = printer.component(f"a{i // lanes}", i % lanes)
                    for j in range(tile.column_vectors(lanes)):
                        total = f"sum{i}_{j}"
                        printer.line(f"{total} = fma({vector}({one}), b{j}, {total});")


def _print_block(printer: Printer, instruction: Instruction, body: Body, vector: str) -> None:
    """Print the block once, in a loop over the thread's vectors of sums."""
    tile, block, lanes = printer.schedule.tile, block_of(instruction), printer.lanes
    assert tile is not None, "the schedule of a contraction has a tile"
    assert block.index is not None, "it counts columns"
    (down, across), columns = tile.warp, tile.column_vectors(lanes)
    sums = [f"sum{i}_{j}" for i in range(tile.thread_rows) for j in range(columns)]
    rows, width = (printer.name(printer.uniform(a)) for a in instruction.args[:2])
    fills = all(a.number in printer.views.tiles for a in instruction.args[:2])
    printer.line(f"var sums = array<{vector}, {len(sums)}>({', '.join(sums)});")
    with printer.nest(f"for (var e = 0; e < {len(sums)}; e++)"), printer.lanes_inside():
        i = f"(e / {columns})"
        vectors = f"row_at + {i} / {lanes} * {down}"
        printer.line(f"let row = first_row + ({vectors}) * {lanes} + {i} % {lanes};")
        places = f"column_at + e % {columns} * {across}"
        printer.line(f"let column = first_column + ({places}) * {lanes};")
        with printer.nest("" if fills else f"if (row < {rows} && column < {width})"):
            row, total = block.carried
            printer.values |= {block.index.number: "column", row.number: "row"}
            printer.values[total.number] = printer.let("sums[e]")
            if printer.views.is_multiple(instruction.args[1]):
                body(block)
                return
            with printer.masked(mask_below(printer, "column", width), first=True):
                body(block)

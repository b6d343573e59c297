"""Printing of ``grid``, ``lanes``, ``if`` and ``if_any``."""

from __future__ import annotations

from collections.abc import Callable

from runmat_jit.backends.wgpu.cells import touched
from runmat_jit.backends.wgpu.print_memory import order
from runmat_jit.backends.wgpu.printer import Printer
from runmat_jit.backends.wgpu.schedule import contract_of
from runmat_jit.kernel.ir import Block, Instruction, Value

Body = Callable[[Block], None]
"""Prints the instructions of a block."""

GROUP = "i32(wid.x + wid.y * nwg.x)"
"""The number of a workgroup: one dimension of a dispatch holds 65,535."""


_BAND = 8
"""Tiles that workgroups go down before they go right: they read the same slices soon after."""


def print_grid(printer: Printer, instruction: Instruction, body: Body) -> None:
    """A cell for each team of threads; teams beyond the last cell repeat it and store nothing."""
    block, schedule = block_of(instruction), printer.schedule
    if schedule.tile is not None:
        printer.line("let tl = i32(lid);")
        _print_tiles(printer, instruction)
    elif schedule.teams == 1:
        printer.line("let tl = i32(lid);")
        printer.line(f"let cell = P.lo + {GROUP};")
    else:
        own, others = ("/", "%") if schedule.across else ("%", "/")
        width = schedule.teams if schedule.across else schedule.team
        printer.line(f"let team = i32(lid) {others} {width};")
        printer.line(f"let tl = i32(lid) {own} {width};")
        printer.line(f"let cell = P.lo + {GROUP} * {schedule.teams} + team;")
    printer.line("let live = cell < P.hi;")
    if printer.rows is not None:
        printer.line(f"let block = tl / {schedule.block};")
    bind_index(printer, block, printer.let("min(cell, P.hi - 1)", "g"))
    printer.in_cell = True
    body(block)


def _print_tiles(printer: Printer, grid: Instruction) -> None:
    """Print the tile of a workgroup: ``cell``, ``first_row`` and ``first_column``."""
    tile = printer.schedule.tile
    contract = contract_of(grid)
    assert tile is not None, "the schedule of a contraction has a tile"
    assert contract is not None, "the cell is of a contraction"
    rows, columns = map(printer.uniform, contract.args[:2])
    printer.line(f"let down = ({rows} + {tile.rows - 1}) / {tile.rows};")
    printer.line(f"let across = ({columns} + {tile.columns - 1}) / {tile.columns};")
    printer.line(f"let group = {GROUP};")
    printer.line("let cell = P.lo + group / (down * across);")
    printer.line("let number = group % (down * across);")
    printer.line(f"let band = number / ({_BAND} * across);")
    printer.line(f"let tall = min({_BAND}, down - band * {_BAND});")
    printer.line(f"let within = number % ({_BAND} * across);")
    printer.line(f"let first_row = (band * {_BAND} + within % tall) * {tile.rows};")
    printer.line(f"let first_column = within / tall * {tile.columns};")


def print_lanes(printer: Printer, instruction: Instruction, body: Body) -> None:
    """Vectors of iterations, one a thread; in a cell, threads take them one after another."""
    block = block_of(instruction)
    if not printer.in_cell:
        _print_parallel_lanes(printer, block, body)
        return
    lo, hi = (printer.name(printer.uniform(a)) for a in instruction.args)
    order(printer, *touched([instruction]))
    schedule = printer.schedule
    if schedule.chunk:
        _print_together(printer, block, body, (lo, hi))
        return
    index, step = printer.fresh("i"), schedule.team * printer.lanes
    own = "tl" if schedule.apart else f"tl * {printer.lanes}"
    with printer.nest(loop_head(index, f"{lo} + {own}", hi, str(step))), printer.lanes_inside():
        whole = not schedule.apart and all(map(printer.views.is_multiple, instruction.args))
        _print_lanes_of(printer, block, index, body, None if whole else hi)


def _print_together(printer: Printer, block: Block, body: Body, bounds: tuple[str, str]) -> None:
    """Lanes of a cell, for one thread or several; those without one stay, and wait with others."""
    first, width = printer.fresh("b"), printer.schedule.width
    own = "tl" if printer.schedule.down == 1 else f"tl % {width}"
    with printer.nest(loop_head(first, *bounds, str(width))):
        index = printer.let(f"{first} + {own}", "i")
        bind_index(printer, block, index)
        mask = f"{index} < {bounds[1]}"
        with printer.masked(mask, first=False, whole=True), printer.lanes_inside():
            body(block)


def _print_parallel_lanes(printer: Printer, block: Block, body: Body) -> None:
    """The vector of a thread."""
    threads, lanes = printer.schedule.threads, printer.lanes
    index = printer.let(f"P.lo + ({GROUP} * {threads} + i32(lid)) * {lanes}", "i")
    with printer.nest(f"if ({index} < P.hi)"), printer.lanes_inside():
        _print_lanes_of(printer, block, index, body, None if printer.whole_part else "P.hi")


def _print_lanes_of(printer: Printer, block: Block, index: str, body: Body, hi: str | None) -> None:
    """The lanes of a thread from ``index`` on, below ``hi``; None: all are."""
    bind_index(printer, block, index)
    if hi is None:
        body(block)
        return
    with printer.masked(mask_below(printer, index, hi), first=True):
        body(block)


def mask_below(printer: Printer, index: str, hi: str) -> str:
    """Lanes that from ``index`` on are below ``hi``; the first is."""
    return f"{printer.numbers()} < {printer.splat('i32', f'{hi} - {index}')}"


def loop_head(index: str, lo: str, hi: str, step: str) -> str:
    """The head of a counting loop; one that goes on where an index stands needs no variable."""
    if lo == index:
        return f"for (; {index} < {hi}; {index} += {step})"
    return f"for (var {index} = {lo}; {index} < {hi}; {index} += {step})"


def print_if(printer: Printer, instruction: Instruction, body: Body) -> None:
    """A uniform branch."""
    block = block_of(instruction)
    names = start_carried(printer, block, instruction.args[1:])
    before = set(printer.read), set(printer.written)
    with printer.nest(f"if ({printer.uniform(instruction.args[0])})"):
        body(block)
        assign(printer, names, yields_of(printer, block))
    printer.recall(before)
    bind_results(printer, instruction, names)


def print_if_any(printer: Printer, instruction: Instruction, body: Body) -> None:
    """A rare path for the live lanes whose mask is set; the others keep what they had."""
    block = block_of(instruction)
    names = start_carried(printer, block, instruction.args[1:])
    with printer.masked(printer.operand(instruction.args[0], lane=True), first=False):
        mask = printer.live
        assert mask is not None, "as just set"
        with printer.nest(f"if ({printer.any_of(mask)})"):
            body(block)
            yields = yields_of(printer, block)
            chosen = [f"select({c}, {y}, {mask})" for c, y in zip(names, yields, strict=True)]
            assign(printer, names, chosen)
    bind_results(printer, instruction, names)


# -- values of a block ---------------------------------------------------------------------------
def block_of(instruction: Instruction) -> Block:
    """The body of a structured instruction."""
    assert instruction.block is not None, f"{instruction.op} has a body"
    return instruction.block


def bind_index(printer: Printer, block: Block, name: str) -> None:
    """Name the index of a block."""
    assert block.index is not None, "this block counts"
    printer.values[block.index.number] = name


def start_carried(printer: Printer, block: Block, inits: tuple[Value, ...]) -> list[str]:
    """Declare a variable for each carried value; inside of the block it has the value's name."""
    names = []
    for carried, init in zip(block.carried, inits, strict=True):
        name = printer.fresh("c")
        text = printer.operand(init, lane=carried.lane)
        printer.line(f"var {name}: {printer.type_of(carried)} = {text};")
        printer.values[carried.number] = name
        names.append(name)
    return names


def yields_of(printer: Printer, block: Block) -> list[str]:
    """Return what a block yields, in WGSL."""
    return [
        printer.operand(value, lane=carried.lane)
        for value, carried in zip(block.yields, block.carried, strict=True)
    ]


def assign(printer: Printer, names: list[str], yields: list[str]) -> None:
    """Assign all at once: a yield may be what another variable holds."""
    after = [printer.let(text) for text in yields] if len(names) > 1 else yields
    for name, text in zip(names, after, strict=True):
        printer.line(f"{name} = {text};")


def bind_results(printer: Printer, instruction: Instruction, names: list[str]) -> None:
    """Bind results to the present values of variables, which later loops may change."""
    for value, name in zip(instruction.results, names, strict=True):
        printer.bind(value, name)

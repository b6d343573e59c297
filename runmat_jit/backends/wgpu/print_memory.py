"""Printing of ``load``, ``store`` and ``gather``: nothing outside the live lanes is written.

A ``bool`` buffer is an array of words of four bools. Where it is written, its words are atomic:
threads that store neighboring bools share a word.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace

from runmat_jit.backends.wgpu.printer import WGSL_TYPES, Memory, Printer
from runmat_jit.core.frozen import frozen
from runmat_jit.kernel.ir import Instruction, Value
from runmat_jit.kernel.walk import stored_values


@frozen
class _Access:
    """Elements ``base + step * spacing * lane`` of a buffer; ``step`` is an integer or WGSL."""

    memory: Memory
    base: str
    step: str | int
    spacing: int = 1

    def at(self, lane: int) -> str:
        """Index of a lane's element."""
        if lane == 0 or self.step == 0:
            return self.base
        lane *= self.spacing
        if self.step in (1, -1):
            return f"{self.base} {'+' if self.step == 1 else '-'} {lane}"
        return f"{self.base} + {lane} * ({self.step})"


def print_load(printer: Printer, instruction: Instruction) -> None:
    """Elements of the live lanes, or one element for all."""
    access, (result,) = _access(printer, instruction), instruction.results
    _touch(printer, access.memory, printer.read)
    if not result.lane:
        printer.bind(result, _one(access.memory, printer, access.base))
    elif "window" in instruction.attrs:
        printer.bind(result, _window(printer, access, instruction.args[0], result))
    elif access.memory.wide:
        printer.bind(result, _whole(printer, access))
    else:
        lanes = [
            _one(access.memory, printer, _inside(printer, access, lane))
            for lane in range(printer.lanes)
        ]
        printer.bind(result, _together(printer, result, lanes))


def print_gather(printer: Printer, instruction: Instruction) -> None:
    """Elements at an index of each lane; dead lanes read the first element."""
    memory, (index,), (result,) = (
        printer.memory_of(instruction),
        instruction.args,
        instruction.results,
    )
    _touch(printer, memory, printer.read)
    text = printer.operand(index, lane=index.lane)
    if index.type == "i64":
        text = f"{printer.vector('i32', lane=index.lane)}({text})"
    if not index.lane:
        printer.bind(result, _one(memory, printer, printer.name(_shifted(memory, text))))
        return
    if printer.live is not None:
        text = f"select({printer.splat('i32', '0')}, {text}, {printer.live})"
    if memory.origin:
        text = f"({text}) + {printer.splat('i32', memory.origin)}"
    name = printer.name(text)
    lanes = [_one(memory, printer, printer.component(name, lane)) for lane in range(printer.lanes)]
    printer.bind(result, _together(printer, result, lanes))


def print_store(printer: Printer, instruction: Instruction) -> None:
    """Store the live lanes, or one value for the cell by its first thread."""
    access, values = _access(printer, instruction), stored_values(instruction)
    _touch(printer, access.memory, printer.written)
    if access.step == 0:
        text = printer.operand(values[0], lane=False)
        with printer.nest("if (live && tl == 0)"):
            _store_one(printer, access.memory, access.base, text)
        return
    names = [printer.name(printer.operand(value, lane=True)) for value in values]
    with printer.nest("if (live)") if printer.in_cell else nullcontext():
        for number, name in enumerate(names):
            base = f"{access.base} + {number}" if number else access.base
            _store_lanes(printer, replace(access, base=base), name)


def barrier(printer: Printer) -> None:
    """Wait for all threads of the workgroup, and for what they stored."""
    printer.line("storageBarrier();")
    printer.read.clear()
    printer.written.clear()


def order(printer: Printer, reads: set[str], writes: set[str]) -> None:
    """Put a barrier before accesses that must see, or must not overtake, earlier ones."""
    names = (reads | writes) & printer.ordered
    if not names.isdisjoint(printer.written) or not (writes & names).isdisjoint(printer.read):
        barrier(printer)


# -- addresses -----------------------------------------------------------------------------------
def begin_of(printer: Printer, instruction: Instruction) -> tuple[Memory, str]:
    """The memory of an access, and the name of its index there."""
    access = _access(printer, instruction)
    return access.memory, access.base


def _access(printer: Printer, instruction: Instruction) -> _Access:
    """The access, its index named."""
    memory, stride = printer.memory_of(instruction), instruction.attrs["stride"]
    assert isinstance(stride, int | str), f"{instruction.op} has a stride"
    index = instruction.args[0]
    base = printer.name(_shifted(memory, printer.uniform(index)))
    if stride != "value":
        return _Access(memory, base, int(stride), printer.schedule.spacing)
    step = printer.uniform(instruction.args[-1])
    return _Access(memory, base, step, printer.schedule.spacing)


def _shifted(memory: Memory, index: str) -> str:
    return f"{index} + {memory.origin}" if memory.origin else index


def _inside(printer: Printer, access: _Access, lane: int) -> str:
    """Index of a lane's element; that of one that may be read where the lane is dead."""
    at = access.at(lane)
    if printer.live is None or (lane == 0 and printer.first_is_live):
        return at
    safe = access.base if printer.first_is_live else "0"
    return f"select({safe}, {at}, {printer.component(printer.live, lane)})"


def _touch(printer: Printer, memory: Memory, accesses: set[str]) -> None:
    if memory.buffer in printer.ordered:
        accesses.add(memory.buffer)


# -- loads ---------------------------------------------------------------------------------------
def _whole(printer: Printer, access: _Access) -> str:
    """One vector, or one word of four bools."""
    memory, base = access.memory, access.base
    if printer.live is not None and not printer.first_is_live:
        base = f"select(0, {base}, {printer.any_of(printer.live)})"
    place = f"({base}) >> {_shift(printer.lanes)}u"
    if memory.element != "bool":
        return f"{memory.name}[{place}]"
    return f"unpack4xU8({_word(memory, place)}) != vec4<u32>(0u)"


def _window(printer: Printer, access: _Access, index: Value, result: Value) -> str:
    """Unaligned neighbors, assembled from two aligned vectors.

    Indices are clamped to the buffer.
    """
    memory, lanes = access.memory, printer.lanes
    if not memory.wide:
        each = [_nearest(memory, access.at(lane)) for lane in range(lanes)]
        return _together(printer, result, each)
    known, base, first = printer.views.windows.get(index.number), access.base, 0
    if known is not None:
        start = known[1].elements
        if known[1].is_near:
            base = _shifted(memory, printer.uniform(known[0]))
            first, start = start >> _shift(lanes), start & (lanes - 1)
    vector = printer.once(f"({base}) >> {_shift(lanes)}u")
    pair = [
        printer.once(_nearest(memory, f"{vector} + {number}" if number else vector))
        for number in (first, first + 1)[: 1 if known and not start % lanes else 2]
    ]
    elements = [printer.component(vector, lane) for vector in pair for lane in range(lanes)]
    shifted = [
        _together(printer, result, elements[number : number + lanes])
        for number in range(1, len(elements) - lanes + 1)
    ]
    found = [pair[0], *shifted]
    if known is not None:
        return found[start % lanes]
    place = printer.name(f"({access.base}) & {lanes - 1}")
    text = pair[0]
    for number in range(1, lanes):
        text = f"select({text}, {found[number]}, {place} == {number})"
    return text


def _nearest(memory: Memory, index: str) -> str:
    """Load of a vector or element at the index clamped to the buffer."""
    return f"{memory.name}[clamp({index}, 0, i32(arrayLength(&{memory.name})) - 1)]"


def _one(memory: Memory, printer: Printer, index: str) -> str:
    """One element as a scalar."""
    if memory.element == "bool":
        word = _word(memory, f"({index}) >> 2u")
        return f"(({word} >> (u32(({index}) & 3) * 8u)) & 255u) != 0u"
    if memory.wide:
        place, within = f"({index}) >> {_shift(printer.lanes)}u", f"({index}) & {printer.lanes - 1}"
        return f"{memory.name}[{place}][{within}]"
    return f"{memory.name}[{index}]"


def _word(memory: Memory, place: str) -> str:
    return f"atomicLoad(&{memory.name}[{place}])" if memory.atomic else f"{memory.name}[{place}]"


def _shift(lanes: int) -> int:
    return lanes.bit_length() - 1


def _together(printer: Printer, result: Value, lanes: list[str]) -> str:
    vector = printer.vector(WGSL_TYPES[result.type])
    return f"{vector}({', '.join(lanes)})" if printer.lanes > 1 else lanes[0]


# -- stores --------------------------------------------------------------------------------------
def _store_lanes(printer: Printer, access: _Access, value: str) -> None:
    """A whole vector where all lanes are live and lie in one, else lane by lane."""
    if not access.memory.wide:
        _store_each(printer, access, value)
        return
    place = f"{access.base} >> {_shift(printer.lanes)}u"
    if access.memory.element == "bool":
        packed = f"pack4xU8(select(vec4<u32>(0u), vec4<u32>(1u), {value}))"
        whole = f"atomicStore(&{access.memory.name}[{place}], {packed});"
    else:
        whole = f"{access.memory.name}[{place}] = {value};"
    if printer.live is None:
        printer.line(whole)
        return
    with printer.nest(f"if (all({printer.live}))"):
        printer.line(whole)
    if printer.live_together:
        return
    with printer.nest("else"):
        _store_each(printer, access, value)


def _store_each(printer: Printer, access: _Access, value: str) -> None:
    for lane in range(printer.lanes):
        one = printer.component(value, lane)
        if printer.live is None:
            _store_one(printer, access.memory, access.at(lane), one)
            continue
        with printer.nest(f"if ({printer.component(printer.live, lane)})"):
            _store_one(printer, access.memory, access.at(lane), one)


def _store_one(printer: Printer, memory: Memory, index: str, value: str) -> None:
    if memory.element != "bool":
        printer.line(f"{_one(memory, printer, index)} = {value};")
        return
    word, shift = f"&{memory.name}[({index}) >> 2u]", f"(u32(({index}) & 3) * 8u)"
    printer.line(f"atomicAnd({word}, ~(255u << {shift}));")
    printer.line(f"atomicOr({word}, select(0u, 1u, {value}) << {shift});")

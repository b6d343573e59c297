"""Lowering of ``load``, ``store`` and ``gather``: no access outside the live lanes, any alignment.

A bool buffer holds bytes; whatever is not zero loads as set, and what is stored is 0 or 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from runmat_jit.backends.llvm.emitter import LLVM_TYPES, Emitter, Operands
from runmat_jit.core.frozen import frozen
from runmat_jit.kernel.ir import Buffer, Instruction, Table, Value
from runmat_jit.kernel.primitives import NARROW, SIZES
from runmat_jit.kernel.walk import stored_values

_LARGE_VECTOR: Final = 64
"""Bytes of a vector of the processors that mask stores."""


@frozen
class _Access:
    """What a load or store touches: elements ``base + step * lane``."""

    element: str
    base: str
    stride: int | str
    step: Value | None

    @property
    def scalar(self) -> str:
        return LLVM_TYPES[self.element]

    @property
    def nbytes(self) -> int:
        return SIZES[self.element]


def _access(emitter: Emitter, instruction: Instruction) -> _Access:
    buffer, stride = instruction.attrs["buffer"], instruction.attrs["stride"]
    assert isinstance(buffer, Buffer), f"{instruction.op} needs a buffer"
    assert isinstance(stride, int | str), f"{instruction.op} needs a stride"
    index = emitter.uniform(instruction.args[0])
    base = _moved(emitter, buffer.element, emitter.pointer(buffer), index)
    step = instruction.args[-1] if stride == "value" else None
    return _Access(buffer.element, base, stride, step)


def _load(emitter: Emitter, instruction: Instruction) -> None:
    assert instruction.attrs.get("window") != "open", "these are for shaders"
    access, (result,) = _access(emitter, instruction), instruction.results
    if access.stride == 0:
        emitter.bind(result, [_load_one(emitter, access.element, access.base)])
        return
    if access.step is None:
        raws = [_load_row(emitter, access, at, mask) for at, mask in _rows(emitter, access)]
    elif access.step.literal == 2 and emitter.live is None:
        raws = [_load_every_second(emitter, access, u) for u in range(emitter.unroll)]
    elif emitter.live is None:
        raws = _load_steps(emitter, access)
    else:
        raws = _gather(emitter, access.element, _strided(emitter, access))
    emitter.bind(result, _from_memory(emitter, raws, access.element))


def _store(emitter: Emitter, instruction: Instruction) -> None:
    access, values = _access(emitter, instruction), stored_values(instruction)
    if len(values) > 1:
        _store_beside(emitter, access, values)
        return
    (value,) = values
    if access.stride == 0:
        one = emitter.uniform(value)
        if access.element == "bool":
            one = emitter.put(f"zext i1 {one} to i8")
        elif access.element in NARROW:
            one = emitter.put(f"trunc i64 {one} to {access.scalar}")
        emitter.line(f"store {access.scalar} {one}, ptr {access.base}, align {access.nbytes}")
        return
    raws = _to_memory(emitter, emitter.lanes(value), access.element)
    if access.step is not None and access.step.literal == 2 and _masks_stores(emitter, access):
        for u, raw in enumerate(raws):
            _store_every_second(emitter, access, raw, u)
        return
    if access.step is not None:
        (_store_steps if emitter.live is None else _scatter)(emitter, access, raws)
        return
    for raw, (at, mask) in zip(raws, _rows(emitter, access), strict=True):
        _store_row(emitter, access, raw, at, mask)


def _store_beside(emitter: Emitter, access: _Access, values: Sequence[Value]) -> None:
    """Interleaved vectors."""
    raws = [_to_memory(emitter, emitter.lanes(value), access.element) for value in values]
    count, width = len(values), emitter.width
    whole, mask = f"<{count * width} x {access.scalar}>", f"<{count * width} x i1>"
    order = [width * place + lane for lane in range(width) for place in range(count)]
    for u in range(emitter.unroll):
        parts, wide = [raw[u] for raw in raws], width
        while len(parts) > 1:  # the last shuffle puts elements in their order
            chosen = order if len(parts) == 2 else [*range(2 * wide)]
            pairs = zip(parts[::2], parts[1::2], strict=True)
            kind = f"<{wide} x {access.scalar}>"
            parts = [_shuffled(emitter, kind, pair, chosen) for pair in pairs]
            wide *= 2
        at = _moved(emitter, access.element, access.base, str(u * count * width))
        if emitter.live is None:
            emitter.line(f"store {whole} {parts[0]}, ptr {at}, align {access.nbytes}")
            continue
        spread = [lane for lane in range(width) for _ in range(count)]
        live = _shuffled(emitter, emitter.vector("i1"), (emitter.live[u], "poison"), spread)
        suffix = emitter.suffix(access.element, lane=False)
        name = f"llvm.masked.store.v{count * width}{suffix}.p0"
        place = f"align {access.nbytes} {at}"
        emitter.line(emitter.call(name, "void", [(whole, parts[0]), ("ptr", place), (mask, live)]))


def _masks_stores(emitter: Emitter, access: _Access) -> bool:
    """True if vectors are stored under a mask as soon as without: those of 512 bits are."""
    return emitter.live is None and emitter.width * access.nbytes == _LARGE_VECTOR


def _load_gather(emitter: Emitter, instruction: Instruction) -> None:
    buffer, (index,), (result,) = instruction.attrs["buffer"], instruction.args, instruction.results
    assert isinstance(buffer, Buffer | Table), "gather reads a buffer or a table"
    base = emitter.pointer(buffer)
    offsets = _as_i64(emitter, index)
    if not result.lane:
        at = _moved(emitter, buffer.element, base, offsets[0])
        emitter.bind(result, [_load_one(emitter, buffer.element, at)])
        return
    if isinstance(buffer, Buffer) and not emitter.live:
        raws = [_load_each(emitter, buffer.element, base, o) for o in offsets]
    else:
        pointers = [_many(emitter, buffer.element, base, o) for o in offsets]
        raws = _gather(emitter, buffer.element, pointers)
    emitter.bind(result, _from_memory(emitter, raws, buffer.element))


def _load_each(emitter: Emitter, element: str, base: str, offsets: str) -> str:
    """One load a lane: processors take longer for gathers from memory that is not in cache."""
    vector, scalar, found = emitter.vector(element), LLVM_TYPES[element], "poison"
    for lane in range(emitter.width):
        number = f"extractelement {emitter.vector('i64')} {offsets}, i32 {lane}"
        at = _moved(emitter, element, base, emitter.put(number))
        one = emitter.put(f"load {scalar}, ptr {at}, align {SIZES[element]}")
        found = emitter.put(f"insertelement {vector} {found}, {scalar} {one}, i32 {lane}")
    return found


def _steps(emitter: Emitter, access: _Access) -> Iterator[list[str]]:
    """Addresses of the elements of each vector in flight, ``step`` elements apart."""
    assert access.step is not None, "a strided access has its step as a value"
    step, at = emitter.uniform(access.step), access.base
    for u in range(emitter.unroll):
        places = []
        for lane in range(emitter.width):
            if u or lane:
                at = _moved(emitter, access.element, at, step)
            places.append(at)
        yield places


def _load_steps(emitter: Emitter, access: _Access) -> list[str]:
    """One load a lane, as :func:`_load_each`."""
    vector, scalar, raws = emitter.vector(access.element), access.scalar, []
    for places in _steps(emitter, access):
        found = "poison"
        for lane, at in enumerate(places):
            one = emitter.put(f"load {scalar}, ptr {at}, align {access.nbytes}")
            found = emitter.put(f"insertelement {vector} {found}, {scalar} {one}, i32 {lane}")
        raws.append(found)
    return raws


def _store_steps(emitter: Emitter, access: _Access, raws: Operands) -> None:
    """One store a lane, in their order."""
    vector, scalar = emitter.vector(access.element), access.scalar
    for raw, places in zip(raws, _steps(emitter, access), strict=True):
        for lane, at in enumerate(places):
            one = emitter.put(f"extractelement {vector} {raw}, i32 {lane}")
            emitter.line(f"store {scalar} {one}, ptr {at}, align {access.nbytes}")


# -- contiguous elements, upwards or downwards ---------------------------------------------------
def _rows(emitter: Emitter, access: _Access) -> list[tuple[str, str | None]]:
    """Lowest address of each vector in flight, and its live lanes in the order of memory."""
    rows: list[tuple[str, str | None]] = []
    for u in range(emitter.unroll):
        mask = emitter.live[u] if emitter.live else None
        if access.stride == 1:
            distance = u * emitter.width
        else:
            distance = -(u * emitter.width + emitter.width - 1)
            mask = mask and _reversed(emitter, "i1", mask)
        rows.append((_moved(emitter, access.element, access.base, str(distance)), mask))
    return rows


def _load_row(emitter: Emitter, access: _Access, at: str, mask: str | None) -> str:
    vector = emitter.vector(access.element)
    if mask is None:
        row = emitter.put(f"load {vector}, ptr {at}, align {access.nbytes}")
    else:
        name = f"llvm.masked.load.{emitter.suffix(access.element, lane=True)}.p0"
        args = [
            ("ptr", f"align {access.nbytes} {at}"),
            (emitter.vector("i1"), mask),
            (vector, "zeroinitializer"),
        ]
        row = emitter.put(emitter.call(name, vector, args))
    return row if access.stride == 1 else _reversed(emitter, access.element, row)


def _store_row(emitter: Emitter, access: _Access, raw: str, at: str, mask: str | None) -> None:
    vector = emitter.vector(access.element)
    if access.stride != 1:
        raw = _reversed(emitter, access.element, raw)
    if mask is None:
        emitter.line(f"store {vector} {raw}, ptr {at}, align {access.nbytes}")
        return
    name = f"llvm.masked.store.{emitter.suffix(access.element, lane=True)}.p0"
    args = [
        (vector, raw),
        ("ptr", f"align {access.nbytes} {at}"),
        (emitter.vector("i1"), mask),
    ]
    emitter.line(emitter.call(name, "void", args))


def _load_every_second(emitter: Emitter, access: _Access, u: int) -> str:
    """Elements 0, 2, 4, ... by two loads that overlap by one element, to end at the last one."""
    vector, width = emitter.vector(access.element), emitter.width
    halves = []
    for distance in (2 * u * width, 2 * u * width + width - 1):
        at = _moved(emitter, access.element, access.base, str(distance))
        halves.append(emitter.put(f"load {vector}, ptr {at}, align {access.nbytes}"))
    chosen = [2 * j if 2 * j < width else 2 * j + 1 for j in range(width)]
    return _shuffled(emitter, vector, (halves[0], halves[1]), chosen)


def _store_every_second(emitter: Emitter, access: _Access, raw: str, u: int) -> None:
    """Elements 0, 2, 4, ... by two stores that leave alone what is between them."""
    vector, width = emitter.vector(access.element), emitter.width
    name = f"llvm.masked.store.{emitter.suffix(access.element, lane=True)}.p0"
    every_second = "<" + ", ".join(f"i1 {(lane + 1) % 2}" for lane in range(width)) + ">"
    for half in range(2):
        at = _moved(emitter, access.element, access.base, str((2 * u + half) * width))
        spread = [(half * width + lane) // 2 for lane in range(width)]
        args = [
            (vector, _shuffled(emitter, vector, (raw, "poison"), spread)),
            ("ptr", f"align {access.nbytes} {at}"),
            (emitter.vector("i1"), every_second),
        ]
        emitter.line(emitter.call(name, "void", args))


# -- any addresses -------------------------------------------------------------------------------
def _strided(emitter: Emitter, access: _Access) -> Operands:
    """Addresses ``base + step * lane`` of each vector in flight."""
    assert access.step is not None, "a strided access has its step as a value"
    vector, step = emitter.vector("i64"), emitter.uniform(access.step)
    numbers = emitter.lane_numbers("i64")
    offsets = emitter.put(f"mul {vector} {emitter.lanes(access.step)[0]}, {numbers}")
    pointers = []
    for u in range(emitter.unroll):
        distance = emitter.put(f"mul i64 {step}, {u * emitter.width}")
        at = _moved(emitter, access.element, access.base, distance)
        pointers.append(_many(emitter, access.element, at, offsets))
    return pointers


def _gather(emitter: Emitter, element: str, pointers: Operands) -> Operands:
    vector = emitter.vector(element)
    name = f"llvm.masked.gather.{emitter.suffix(element, lane=True)}.v{emitter.width}p0"
    return [
        emitter.put(
            emitter.call(
                name,
                vector,
                [
                    (f"<{emitter.width} x ptr>", f"align {SIZES[element]} {many}"),
                    (emitter.vector("i1"), mask),
                    (vector, "zeroinitializer"),
                ],
            )
        )
        for many, mask in zip(pointers, emitter.live_masks(), strict=True)
    ]


def _scatter(emitter: Emitter, access: _Access, raws: Operands) -> None:
    name = f"llvm.masked.scatter.{emitter.suffix(access.element, lane=True)}.v{emitter.width}p0"
    rows = zip(raws, _strided(emitter, access), emitter.live_masks(), strict=True)
    for raw, many, mask in rows:
        args = [
            (emitter.vector(access.element), raw),
            (f"<{emitter.width} x ptr>", f"align {access.nbytes} {many}"),
            (emitter.vector("i1"), mask),
        ]
        emitter.line(emitter.call(name, "void", args))


# -- addresses and elements ----------------------------------------------------------------------
def _moved(emitter: Emitter, element: str, base: str, distance: str) -> str:
    if distance == "0":
        return base
    return emitter.put(f"getelementptr {LLVM_TYPES[element]}, ptr {base}, i64 {distance}")


def _many(emitter: Emitter, element: str, base: str, offsets: str) -> str:
    vector = emitter.vector("i64")
    return emitter.put(f"getelementptr {LLVM_TYPES[element]}, ptr {base}, {vector} {offsets}")


def _as_i64(emitter: Emitter, index: Value) -> Operands:
    operands = emitter.operands(index, lane=index.lane)
    if LLVM_TYPES[index.type] == "i64":
        return operands
    before = emitter.type_of(index)
    after = emitter.vector("i64") if index.lane else "i64"
    return [emitter.put(f"sext {before} {x} to {after}") for x in operands]


def _load_one(emitter: Emitter, element: str, at: str) -> str:
    raw = emitter.put(f"load {LLVM_TYPES[element]}, ptr {at}, align {SIZES[element]}")
    if element in NARROW:
        return emitter.put(f"{_extend(element)} {LLVM_TYPES[element]} {raw} to i64")
    return emitter.put(f"icmp ne i8 {raw}, 0") if element == "bool" else raw


def _extend(element: str) -> str:
    """The instruction that makes an element one of 64 bits."""
    return "zext" if element[0] == "u" else "sext"


def _from_memory(emitter: Emitter, raws: Operands, element: str) -> Operands:
    if element in NARROW:
        before, after = emitter.vector(element), emitter.vector("i64")
        return [emitter.put(f"{_extend(element)} {before} {raw} to {after}") for raw in raws]
    if element != "bool":
        return raws
    vector = emitter.vector("bool")
    return [emitter.put(f"icmp ne {vector} {raw}, zeroinitializer") for raw in raws]


def _to_memory(emitter: Emitter, values: Operands, element: str) -> Operands:
    if element in NARROW:
        before, after = emitter.vector("i64"), emitter.vector(element)
        return [emitter.put(f"trunc {before} {value} to {after}") for value in values]
    if element != "bool":
        return values
    before, after = emitter.vector("i1"), emitter.vector("bool")
    return [emitter.put(f"zext {before} {value} to {after}") for value in values]


def _reversed(emitter: Emitter, kind: str, operand: str) -> str:
    vector, backwards = emitter.vector(kind), range(emitter.width - 1, -1, -1)
    return _shuffled(emitter, vector, (operand, "poison"), list(backwards))


def _shuffled(emitter: Emitter, vector: str, operands: tuple[str, str], chosen: list[int]) -> str:
    indices = ", ".join(f"i32 {j}" for j in chosen)
    return emitter.put(
        f"shufflevector {vector} {operands[0]}, {vector} {operands[1]}, "
        f"<{len(chosen)} x i32> <{indices}>"
    )


MEMORY: dict[str, Callable[[Emitter, Instruction], None]] = {
    "load": _load,
    "store": _store,
    "gather": _load_gather,
}

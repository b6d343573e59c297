"""Lowering of the primitives, ``select``, ``lane_id`` and ``note``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from runmat_jit.backends.llvm.emitter import (
    LLVM_TYPES,
    Emitter,
    Operands,
    literal,
    splat_literal,
)
from runmat_jit.backends.llvm.flags import flags_of
from runmat_jit.backends.llvm.scale2 import scale2
from runmat_jit.kernel.ir import Buffer, Instruction
from runmat_jit.kernel.primitives import FLOATS, SIZES
from runmat_jit.kernel.walk import note_bit

# name -> (float instruction, integer instruction)
_BINARY = {
    "add": ("fadd", "add"),
    "sub": ("fsub", "sub"),
    "mul": ("fmul", "mul"),
    "div": ("fdiv", ""),
    "sdiv": ("", "sdiv"),
    "srem": ("", "srem"),
    "and": ("", "and"),
    "or": ("", "or"),
    "xor": ("", "xor"),
    "shl": ("", "shl"),
    "lshr": ("", "lshr"),
    "ashr": ("", "ashr"),
}
_COMPARE = {
    "lt": ("fcmp olt", "icmp slt"),
    "le": ("fcmp ole", "icmp sle"),
    "gt": ("fcmp ogt", "icmp sgt"),
    "ge": ("fcmp oge", "icmp sge"),
    "eq": ("fcmp oeq", "icmp eq"),
    "ne": ("fcmp une", "icmp ne"),
    "ult": ("", "icmp ult"),
}
_INTRINSIC = {
    "fma": "llvm.fma",
    "sqrt": "llvm.sqrt",
    "rint": "llvm.roundeven",
    "nearest": "llvm.roundeven",
    "floor": "llvm.floor",
    "ceil": "llvm.ceil",
    "trunc_float": "llvm.trunc",
    "copysign": "llvm.copysign",
}
_CONVERSIONS = (
    "sitofp",
    "uitofp",
    "fptosi",
    "fpext",
    "fptrunc",
    "trunc",
    "zext",
    "sext",
    "bitcast",
)

WORD = "i32"
"""In whose lanes the bits of notes are accumulated; no value of this type is noted."""

Lowering = Callable[[Emitter, Instruction], None]


def map_lanes(emitter: Emitter, instruction: Instruction, compute: Callable[..., str]) -> None:
    """Bind the result to ``compute`` of the operands, for each vector in flight."""
    (result,) = instruction.results
    columns = [emitter.operands(a, lane=result.lane) for a in instruction.args]
    emitter.bind(result, [compute(*row) for row in zip(*columns, strict=True)])


def _binary(emitter: Emitter, instruction: Instruction) -> None:
    (result,) = instruction.results
    name = _BINARY[instruction.op][result.type not in FLOATS]
    kind = emitter.type_of(result)
    map_lanes(emitter, instruction, lambda a, b: emitter.put(f"{name} {kind} {a}, {b}"))


def _divide(emitter: Emitter, instruction: Instruction) -> None:
    """Divide by one in lanes that are not live: they may hold a zero divisor, which traps."""
    (result,) = instruction.results
    if emitter.live is None or not result.lane:
        _binary(emitter, instruction)
        return
    kind, mask = emitter.type_of(result), emitter.vector("i1")
    ones = f"splat ({LLVM_TYPES[result.type]} 1)"
    numerators, divisors = (emitter.lanes(a) for a in instruction.args)
    quotients = []
    for a, b, live in zip(numerators, divisors, emitter.live, strict=True):
        safe = emitter.put(f"select {mask} {live}, {kind} {b}, {kind} {ones}")
        quotients.append(emitter.put(f"{instruction.op} {kind} {a}, {safe}"))
    emitter.bind(result, quotients)


def _compare(emitter: Emitter, instruction: Instruction) -> None:
    (result,) = instruction.results
    operand = instruction.args[0].type
    name = _COMPARE[instruction.op][operand not in FLOATS]
    kind = emitter.vector(operand) if result.lane else LLVM_TYPES[operand]
    map_lanes(emitter, instruction, lambda a, b: emitter.put(f"{name} {kind} {a}, {b}"))


def _isnan(emitter: Emitter, instruction: Instruction) -> None:
    kind = emitter.type_of(instruction.args[0])
    map_lanes(emitter, instruction, lambda a: emitter.put(f"fcmp uno {kind} {a}, {a}"))


def _neg(emitter: Emitter, instruction: Instruction) -> None:
    (result,) = instruction.results
    kind = emitter.type_of(result)
    if result.type in FLOATS:
        map_lanes(emitter, instruction, lambda a: emitter.put(f"fneg {kind} {a}"))
    else:
        zero = "zeroinitializer" if result.lane else "0"
        map_lanes(emitter, instruction, lambda a: emitter.put(f"sub {kind} {zero}, {a}"))


def _abs(emitter: Emitter, instruction: Instruction) -> None:
    (result,) = instruction.results
    kind, suffix = emitter.type_of(result), emitter.suffix(result.type, lane=result.lane)
    if result.type in FLOATS:
        name, more = f"llvm.fabs.{suffix}", []
    else:
        name, more = f"llvm.abs.{suffix}", [("i1", "false")]
    map_lanes(
        emitter,
        instruction,
        lambda a: emitter.put(emitter.call(name, kind, [(kind, a), *more])),
    )


def _intrinsic(emitter: Emitter, instruction: Instruction) -> None:
    (result,) = instruction.results
    kind = emitter.type_of(result)
    name = f"{_INTRINSIC[instruction.op]}.{emitter.suffix(result.type, lane=result.lane)}"
    map_lanes(
        emitter,
        instruction,
        lambda *args: emitter.put(emitter.call(name, kind, [(kind, a) for a in args])),
    )


def _convert(emitter: Emitter, instruction: Instruction) -> None:
    (value,), (result,) = instruction.args, instruction.results
    before = emitter.vector(value.type) if result.lane else LLVM_TYPES[value.type]
    after = emitter.type_of(result)
    if before == after:  # an index is an i64 here
        emitter.bind(result, emitter.operands(value, lane=result.lane))
        return
    name = instruction.op
    map_lanes(emitter, instruction, lambda a: emitter.put(f"{name} {before} {a} to {after}"))


def _mulhi(emitter: Emitter, instruction: Instruction) -> None:
    """Widen, multiply, shift, narrow: LLVM selects the widening multiplication by itself."""
    (result,) = instruction.results
    narrow = emitter.type_of(result)
    wide = emitter.vector("i64") if result.lane else "i64"
    shift = "splat (i64 32)" if result.lane else "32"

    def high(a: str, b: str) -> str:
        a, b = (emitter.put(f"zext {narrow} {x} to {wide}") for x in (a, b))
        product = emitter.put(f"mul {wide} {a}, {b}")
        return emitter.put(
            f"trunc {wide} {emitter.put(f'lshr {wide} {product}, {shift}')} to {narrow}"
        )

    map_lanes(emitter, instruction, high)


def _scale2(emitter: Emitter, instruction: Instruction) -> None:
    (result,) = instruction.results
    map_lanes(
        emitter, instruction, lambda x, n: scale2(emitter, x, n, result.type, lane=result.lane)
    )


def _select(emitter: Emitter, instruction: Instruction) -> None:
    (result,) = instruction.results
    mask = emitter.vector("i1") if result.lane else "i1"
    kind = emitter.type_of(result)
    map_lanes(
        emitter,
        instruction,
        lambda c, a, b: emitter.put(f"select {mask} {c}, {kind} {a}, {kind} {b}"),
    )


def _libm(emitter: Emitter, instruction: Instruction) -> None:
    """A call of the C library's function: LLVM may not replace it by what has other bits."""
    name, (result,) = str(instruction.attrs["function"]), instruction.results
    args = [("double", emitter.uniform(a)) for a in instruction.args]
    emitter.bind(result, [emitter.put(emitter.call(name, "double", args) + " nobuiltin nounwind")])


def _ask(emitter: Emitter, instruction: Instruction) -> None:
    """Call it; what it does with the machine's flags is undone."""
    every = ("i32", str(sum(flags_of(emitter.target))))
    seen = emitter.put(emitter.call("fetestexcept", "i32", [every]))
    address = emitter.uniform(instruction.args[0])
    function = emitter.put(f"inttoptr i64 {address} to ptr")
    answer = emitter.put(f"call i64 {function}() nounwind")
    emitter.put(emitter.call("feraiseexcept", "i32", [("i32", seen)]))
    emitter.bind(instruction.results[0], [emitter.put(f"icmp ne i64 {answer}, 0")])


def _invoke(emitter: Emitter, instruction: Instruction) -> None:
    """Call what works on memory alone; an address is passed as an integer of its size."""
    address, *given = instruction.args
    function = emitter.put(f"inttoptr i64 {emitter.uniform(address)} to ptr")
    args = ", ".join(f"{LLVM_TYPES[a.type]} {emitter.uniform(a)}" for a in given)
    if not instruction.results:
        emitter.line(f"call void {function}({args}) nounwind")
        return
    (result,) = instruction.results
    made = emitter.put(f"call {LLVM_TYPES[result.type]} {function}({args}) nounwind")
    emitter.bind(result, [made])


def _multiply(emitter: Emitter, instruction: Instruction) -> None:
    """Call NumPy's inner loop, with the flags of the machine as NumPy has them for it."""
    address, *numbers = instruction.args
    buffers = [instruction.attrs[name] for name in ("left", "right", "product")]
    size = SIZES[buffers[0].element] if isinstance(buffers[0], Buffer) else 8
    words = emitter.allocate("i64", len(buffers) + len(numbers))

    def at(place: int) -> str:
        return emitter.put(f"getelementptr i64, ptr {words}, i64 {place}")

    for place, buffer in enumerate(buffers):
        assert isinstance(buffer, Buffer), "a product names its buffers"
        emitter.line(f"store ptr {emitter.pointer(buffer)}, ptr {at(place)}, align 8")
    for place, number in enumerate(numbers):
        word = emitter.uniform(number)
        if place >= _EXTENTS:
            word = emitter.put(f"mul i64 {word}, {size}")
        emitter.line(f"store i64 {word}, ptr {at(len(buffers) + place)}, align 8")
    function = emitter.put(f"inttoptr i64 {emitter.uniform(address)} to ptr")
    every = ("i32", str(sum(flags_of(emitter.target))))
    emitter.put(emitter.call("feclearexcept", "i32", [every]))
    extents, steps = at(len(buffers)), at(len(buffers) + _EXTENTS)
    given = f"ptr {words}, ptr {extents}, ptr {steps}, ptr null"
    emitter.line(f"call void {function}({given}) nounwind")
    seen = emitter.put(emitter.call("fetestexcept", "i32", [every]))
    emitter.bind(instruction.results[0], [emitter.put(f"icmp ne i32 {seen}, 0")])


_EXTENTS: Final = 4
"""Of products: matrices, rows, terms and columns."""


def _keep(emitter: Emitter, instruction: Instruction) -> None:
    """An empty piece of machine code that reads the value."""
    (value,) = instruction.args
    register = "w" if emitter.target.architecture == "aarch64" else "x"
    kind = LLVM_TYPES[value.type]
    emitter.line(f'call void asm sideeffect "", "{register}"({kind} {emitter.uniform(value)})')


def _splat(emitter: Emitter, instruction: Instruction) -> None:
    emitter.bind(instruction.results[0], emitter.lanes(instruction.args[0]))


def _unknown(emitter: Emitter, instruction: Instruction) -> None:
    """The constant itself: nothing is reassociated here."""
    emitter.bind(instruction.results[0], emitter.operands(instruction.args[0], lane=False))


def _lane_id(emitter: Emitter, instruction: Instruction) -> None:
    (result,) = instruction.results
    numbers = [emitter.lane_numbers(result.type, u * emitter.width) for u in range(emitter.unroll)]
    emitter.bind(result, numbers)


def _note(emitter: Emitter, instruction: Instruction) -> None:
    """Accumulate ``v * 0``, which stays zero while every ``v`` is finite; dead lanes count as 0.

    Of notes of other bits than the lowest, accumulate the bits.
    """
    (value,) = instruction.args
    kind = emitter.vector(value.type)
    masks: list[str | None] = list(emitter.live) if emitter.live and value.lane else []
    operands: Operands = emitter.lanes(value)
    if not value.lane:  # a uniform value is in every vector: one of them is enough
        operands = operands[:1]
    kind_of_sums = accumulator(instruction)
    sums = list(emitter.events[kind_of_sums])
    for u, operand in enumerate(operands):
        seen = operand
        if masks:
            mask = emitter.vector("i1")
            seen = emitter.put(f"select {mask} {masks[u]}, {kind} {seen}, {kind} zeroinitializer")
        if kind_of_sums == WORD:
            word = emitter.vector(WORD)
            fired = seen if value.type == "i1" else _not_finite(emitter, kind, value.type, seen)
            bit = f"splat (i32 {literal(1 << note_bit(instruction), WORD)})"
            mask = emitter.vector("i1")
            chosen = f"select {mask} {fired}, {word} {bit}, {word} zeroinitializer"
            sums[u] = emitter.put(f"or {word} {sums[u]}, {emitter.put(chosen)}")
        elif value.type == "i1":
            sums[u] = emitter.put(f"or {kind} {sums[u]}, {seen}")
        else:
            name = f"llvm.fma.{emitter.suffix(value.type, lane=True)}"
            args = [(kind, seen), (kind, "zeroinitializer"), (kind, sums[u])]
            sums[u] = emitter.put(emitter.call(name, kind, args))
    emitter.events[kind_of_sums] = sums


def accumulator(note: Instruction) -> str:
    """The type in whose lanes a note is accumulated."""
    return WORD if note_bit(note) else note.args[0].type


def _not_finite(emitter: Emitter, kind: str, element: str, value: str) -> str:
    name = f"llvm.fabs.{emitter.suffix(element, lane=True)}"
    magnitude = emitter.put(emitter.call(name, kind, [(kind, value)]))
    return emitter.put(f"fcmp ueq {kind} {magnitude}, {splat_literal(float('inf'), element)}")


STRAIGHT: dict[str, Lowering] = {
    **dict.fromkeys(_BINARY, _binary),
    "sdiv": _divide,
    "srem": _divide,
    **dict.fromkeys(_COMPARE, _compare),
    **dict.fromkeys(_INTRINSIC, _intrinsic),
    **dict.fromkeys(_CONVERSIONS, _convert),
    "isnan": _isnan,
    "neg": _neg,
    "abs": _abs,
    "mulhi": _mulhi,
    "scale2": _scale2,
    "select": _select,
    "keep": _keep,
    "ask": _ask,
    "libm": _libm,
    "invoke": _invoke,
    "multiply": _multiply,
    "splat": _splat,
    "unknown": _unknown,
    "lane_id": _lane_id,
    "note": _note,
}

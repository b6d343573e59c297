"""The state of one lowering: text written so far, operands of values, live lanes, events."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import field

from runmat_jit.backends.llvm.target import Target
from runmat_jit.core.slotted import slotted
from runmat_jit.kernel.ir import Buffer, Literal, Table, Value
from runmat_jit.kernel.primitives import FLOATS, NARROW

LLVM_TYPES = {
    "f32": "float",
    "f64": "double",
    "i32": "i32",
    "i64": "i64",
    "index": "i64",
    "i1": "i1",
    "bool": "i8",
    **{element: f"i{8 * size}" for element, size in NARROW.items()},
}
"""LLVM's name of a value type, or of an element of memory."""

Operands = list[str]
"""The text of a value: one entry where it is uniform, one a vector in flight where per lane."""

Slots = list[tuple[str, str]]
"""LLVM type and text of values that a block carries."""


@slotted
class Emitter:
    """Collects LLVM text; every module ``lower_*`` writes through it."""

    target: Target
    width: int
    unroll: int
    splatted: frozenset[int]
    lines: list[str] = field(default_factory=list)
    allocas: list[str] = field(default_factory=list)
    declarations: dict[str, str] = field(default_factory=dict)
    values: dict[int, Operands] = field(default_factory=dict)
    splats: dict[int, str] = field(default_factory=dict)
    pointers: dict[str, str] = field(default_factory=dict)
    live: Operands | None = None
    events: dict[str, Operands] = field(default_factory=dict)
    label: str = "entry"
    in_cell: bool = False
    end_of_cell: str = ""
    left: list[str] = field(default_factory=list)
    """Blocks from which the cell may be left that is written."""
    _count: int = 0

    # -- text ------------------------------------------------------------------------------------
    def fresh(self) -> str:
        """A name no instruction has yet."""
        self._count += 1
        return f"%t{self._count}"

    def fresh_label(self) -> str:
        """A name no basic block has yet."""
        self._count += 1
        return f"b{self._count}"

    def line(self, text: str) -> None:
        """Write an instruction without a result."""
        self.lines.append(f"  {text}")

    def put(self, text: str) -> str:
        """Write an instruction; the name of its result."""
        name = self.fresh()
        self.lines.append(f"  {name} = {text}")
        return name

    def begin(self, label: str) -> None:
        """Start a basic block."""
        self.lines.append(f"{label}:")
        self.label = label

    def call(self, name: str, result: str, args: Sequence[tuple[str, str]]) -> str:
        """Text of a call of an intrinsic, which is declared; ``args`` are types and operands."""
        types = ", ".join(t for t, _ in args)
        self.declarations[name] = f"declare {result} @{name}({types})"
        return f"call {result} @{name}({', '.join(f'{t} {a}' for t, a in args)})"

    def allocate(self, kind: str, lanes: int) -> str:
        """Address of memory for ``lanes`` values, made once where the function begins."""
        name = self.fresh()
        self.allocas.append(f"  {name} = alloca [{lanes} x {LLVM_TYPES[kind]}], align 64")
        return name

    # -- types -----------------------------------------------------------------------------------
    def vector(self, kind: str) -> str:
        """LLVM's vector type of one vector of lanes."""
        return f"<{self.width} x {LLVM_TYPES[kind]}>"

    def type_of(self, value: Value) -> str:
        """LLVM's type of one operand of a value."""
        return self.vector(value.type) if value.lane else LLVM_TYPES[value.type]

    def suffix(self, kind: str, *, lane: bool) -> str:
        """How an overloaded intrinsic spells the type."""
        scalar = {"float": "f32", "double": "f64"}.get(LLVM_TYPES[kind], LLVM_TYPES[kind])
        return f"v{self.width}{scalar}" if lane else scalar

    # -- values ----------------------------------------------------------------------------------
    def bind(self, value: Value, operands: Operands) -> None:
        """Define a value; a uniform one that lanes need is splat here, outside inner loops."""
        assert len(operands) == (self.unroll if value.lane else 1), "one operand a vector"
        self.values[value.number] = operands
        if value.number in self.splatted:
            self.splats[value.number] = self.splat(operands[0], value.type)

    def splat(self, scalar: str, kind: str) -> str:
        """A vector with the same scalar in every lane."""
        vector = self.vector(kind)
        one = self.put(f"insertelement {vector} poison, {LLVM_TYPES[kind]} {scalar}, i64 0")
        zeros = f"<{self.width} x i32> zeroinitializer"
        return self.put(f"shufflevector {vector} {one}, {vector} poison, {zeros}")

    def uniform(self, value: Value) -> str:
        """The text of a uniform value."""
        if value.literal is not None:
            return literal(value.literal, value.type)
        return self.values[value.number][0]

    def lanes(self, value: Value) -> Operands:
        """The text of a value where lanes are wanted, one entry a vector in flight."""
        if value.literal is not None:
            return [splat_literal(value.literal, value.type)] * self.unroll
        if value.lane:
            return self.values[value.number]
        return [self.splats[value.number]] * self.unroll

    def operands(self, value: Value, *, lane: bool) -> Operands:
        """The text of a value as lanes, or as one uniform entry."""
        return self.lanes(value) if lane else [self.uniform(value)]

    def pointer(self, buffer: Buffer | Table) -> str:
        """The address a buffer or table parameter holds."""
        return self.pointers[buffer.name]

    # -- lanes that are live ---------------------------------------------------------------------
    def live_masks(self) -> Operands:
        """Masks of the live lanes, one a vector in flight."""
        return self.live or ["splat (i1 true)"] * self.unroll

    def any_of(self, masks: Operands) -> str:
        """True if any lane of any of the masks is set, as an i1."""
        mask = self.vector("i1")
        together = masks[0]
        for other in masks[1:]:
            together = self.put(f"or {mask} {together}, {other}")
        name = f"llvm.vector.reduce.or.v{self.width}i1"
        return self.put(self.call(name, "i1", [(mask, together)]))

    def lane_numbers(self, kind: str, first: int = 0) -> str:
        """The constant vector ``first, first + 1, ...``."""
        scalar = LLVM_TYPES[kind]
        return "<" + ", ".join(f"{scalar} {first + j}" for j in range(self.width)) + ">"

    def mask_below(self, position: str, end: str) -> str:
        """Mask of the lanes ``j`` with ``position + j < end``; at least one lane is set."""
        left = self.put(f"sub i64 {end}, {position}")
        args = [("i64", left), ("i64", str(self.width))]
        left = self.put(self.call("llvm.umin.i64", "i64", args))
        left = self.splat(self.put(f"trunc i64 {left} to i32"), "i32")
        return self.put(f"icmp ult {self.vector('i32')} {self.lane_numbers('i32')}, {left}")


def literal(number: Literal, kind: str) -> str:
    """A constant as LLVM text: floats by their bits, integers as signed decimals."""
    if kind == "i1":
        return "true" if number else "false"
    if kind in FLOATS:
        return f"0x{double_bits(float(number), kind):016X}"
    bits = 32 if kind == "i32" else 64
    number = int(number)
    return str((number + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1))


def splat_literal(number: Literal, kind: str) -> str:
    """A constant in every lane."""
    return f"splat ({LLVM_TYPES[kind]} {literal(number, kind)})"


def double_bits(number: float, kind: str) -> int:
    """Bits of the double that LLVM's text holds for a constant; rounded to f32 where it is one."""
    if kind == "f32":
        number = struct.unpack("<f", struct.pack("<f", number))[0]
    bits: int = struct.unpack("<Q", struct.pack("<d", number))[0]
    return bits

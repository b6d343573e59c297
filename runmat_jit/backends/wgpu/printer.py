"""State of printing one shader: source so far, names of values, live lanes, opaque values."""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field

from runmat_jit.backends.wgpu.arithmetic import Arithmetic
from runmat_jit.backends.wgpu.library import library_function
from runmat_jit.backends.wgpu.rows import Rows
from runmat_jit.backends.wgpu.schedule import Schedule
from runmat_jit.backends.wgpu.uses import Uses
from runmat_jit.backends.wgpu.views import Views
from runmat_jit.core.frozen import frozen
from runmat_jit.core.slotted import slotted
from runmat_jit.kernel.ir import Buffer, Instruction, Literal, Table, Value
from runmat_jit.kernel.primitives import FLOATS

WGSL_TYPES = {"f32": "f32", "f64": "f64", "i32": "i32", "i64": "i64", "index": "i32", "i1": "bool"}
"""WGSL's name of a value type: addresses have 32 bits here."""

UNSIGNED = {"f32": "u32", "i32": "u32", "index": "u32", "f64": "u64", "i64": "u64"}

_TYPES = frozenset({"f16", "f32", "f64", "i32", "i64", "u32", "u64"})
"""Letters with counts that are no names."""

_NAME = re.compile(r"[A-Za-z]\w*(\.\w+)?|\d+i")
"""Names, components of vectors, and whole numbers."""

COMPONENTS = "xyzw"

_SUFFIX = {"u32": "u", "u64": "lu"}

_NARROWING = ("fptrunc", "sitofp", "uitofp")
_TO_WHOLE = ("floor", "ceil", "trunc_float", "rint")
"""Conversions that may round."""


@frozen
class Memory:
    """Shader type of a buffer: ``wide`` of vectors, ``atomic`` of words of four bools."""

    buffer: str
    name: str
    element: str
    wide: bool
    atomic: bool
    origin: str | None


@slotted
class Printer:
    """Collects WGSL; every module ``print_*`` writes through it."""

    schedule: Schedule
    arithmetic: Arithmetic
    uses: Uses
    memory: Mapping[str, Memory]
    views: Views = field(default_factory=Views)
    whole_part: bool = False
    """No thread of a parallel axis of lanes has lanes beyond its end."""
    ordered: frozenset[str] = frozenset()
    aliased: frozenset[str] = frozenset()
    """Buffers that share memory with a buffer that the kernel writes."""
    lines: list[str] = field(default_factory=list)
    values: dict[int, str] = field(default_factory=dict)
    functions: dict[str, str] = field(default_factory=dict)
    shared: dict[str, int] = field(default_factory=dict)
    """Vectors of workgroup memory by value type."""
    extremes: int = 0
    """Minima and maxima whose integers are in workgroup memory."""
    own_shared: dict[str, str] = field(default_factory=dict)
    """Types of other workgroup memory by its name."""
    live: str | None = None
    """The mask of the live lanes; None where all are."""
    first_is_live: bool = True
    live_together: bool = False
    """Either all lanes of a thread are live or none."""
    rows: Rows | None = None
    """What is in registers of the rows of a cell; None where they stay in memory."""
    along: tuple[Instruction, ...] = ()
    """Accesses of a loop along lines, which a workgroup copies together."""
    in_cell: bool = False
    in_lanes: bool = False
    lane_ids: set[int] = field(default_factory=set)
    counts: dict[int, str] = field(default_factory=dict)
    """The first of consecutive numbers, in WGSL, by the values that have them."""
    known: dict[str, str] = field(default_factory=dict)
    """Names of expressions that are written once in the block of statements."""
    noted: bool = False
    read: set[str] = field(default_factory=set)
    written: set[str] = field(default_factory=set)
    """Ordered buffers touched since the last barrier."""
    depth: int = 1
    _count: int = 0

    # -- text ------------------------------------------------------------------------------------
    @property
    def lanes(self) -> int:
        """Lanes of a thread."""
        return self.schedule.lanes

    def fresh(self, letter: str = "v") -> str:
        """A name that nothing has yet."""
        self._count += 1
        name = f"{letter}{self._count}"
        return self.fresh(letter) if name in _TYPES else name

    def line(self, text: str) -> None:
        """Write a statement."""
        self.lines.append("  " * self.depth + text)

    def let(self, text: str, letter: str = "v") -> str:
        """Name an expression."""
        name = self.fresh(letter)
        self.line(f"let {name} = {text};")
        return name

    def name(self, text: str) -> str:
        """A name for an expression; its own where it is one."""
        return text if _NAME.fullmatch(text) else self.let(text)

    def once(self, text: str) -> str:
        """A name for an expression that has the same value all over the block of statements."""
        found = self.known.get(text)
        if found is None:
            found = self.known[text] = self.name(text)
        return found

    @contextmanager
    def nest(self, head: str) -> Iterator[None]:
        """Write a block of statements."""
        self.line(f"{head} {{".lstrip())
        self.depth += 1
        self.known.clear()
        yield
        self.known.clear()
        self.depth -= 1
        self.line("}")

    # -- types -----------------------------------------------------------------------------------
    def vector(self, scalar: str, *, lane: bool = True) -> str:
        """WGSL's vector of a thread's lanes, or the scalar."""
        return f"vec{self.lanes}<{scalar}>" if lane and self.lanes > 1 else scalar

    def type_of(self, value: Value) -> str:
        """WGSL's type of a value."""
        return self.vector(WGSL_TYPES[value.type], lane=value.lane)

    def splat(self, scalar: str, text: str, *, lane: bool = True) -> str:
        """A scalar in every lane."""
        return f"{self.vector(scalar)}({text})" if lane and self.lanes > 1 else text

    def component(self, text: str, lane: int) -> str:
        """One lane of a name."""
        return f"{text}.{COMPONENTS[lane]}" if self.lanes > 1 else text

    def numbers(self, scalar: str = "i32") -> str:
        """The iterations of a thread's lanes, from that of the first: ``0, 1, ...``."""
        listed = ", ".join(str(lane * self.schedule.spacing) for lane in range(self.lanes))
        return f"{self.vector(scalar)}({listed})"

    # -- values ----------------------------------------------------------------------------------
    def bind(self, value: Value, text: str) -> None:
        """Define a value by an expression, which gets a name."""
        self.values[value.number] = self.name(text)

    def uniform(self, value: Value) -> str:
        """WGSL expression of a uniform value."""
        if value.literal is not None:
            return literal(value.literal, value.type)
        return self.values[value.number]

    def operand(self, value: Value, *, lane: bool) -> str:
        """WGSL expression of a value, splat to lanes if lanes are needed."""
        text = self.uniform(value)
        if lane and not value.lane:
            return self.splat(WGSL_TYPES[value.type], text)
        return text

    def hidden(self, value: Value, *, lane: bool) -> str:
        """The same as ``operand``, but a constant is hidden from the driver."""
        if value.literal is None:
            return self.operand(value, lane=lane)
        text = opaque_literal(value.literal, value.type)
        return self.splat(WGSL_TYPES[value.type], text, lane=lane)

    def operands(self, instruction: Instruction) -> list[str]:
        """Operands as lanes or scalars; constants alone would be computed before it runs."""
        (result,), args = instruction.results, instruction.args
        known = all(a.literal is not None for a in args)
        return [(self.hidden if known else self.operand)(a, lane=result.lane) for a in args]

    def constant(self, number: Literal, kind: str, *, lane: bool) -> str:
        """WGSL expression of a constant, splat to lanes if lanes are needed."""
        return self.splat(WGSL_TYPES[kind], literal(number, kind), lane=lane)

    def call(self, name: str, kind: str, *args: str, lane: bool) -> str:
        """WGSL call of a library function, which is added to the shader."""
        width = self.lanes if lane else 1
        full = f"{name}_{kind}_{width}"
        if full not in self.functions:
            found = library_function(name, kind, width, wide=self.arithmetic.wide)
            self.functions[full] = found.text
            for needed in found.needs:
                self.call(needed, kind, lane=lane)
        return f"{full}({', '.join(args)})"

    # -- protection ------------------------------------------------------------------------------
    @property
    def opaque(self) -> bool:
        """True if all floats are to be kept from the driver's rules."""
        return self.arithmetic.guard == "or"

    @property
    def keeps_sums(self) -> bool:
        """True if sums of sums are to be kept from the driver's rules."""
        return self.arithmetic.guard in ("sums", "or")

    def keep(self, text: str, kind: str, *, lane: bool) -> str:
        """A float that no rule of floats relates to what it was computed from, where all are."""
        return self.hide(text, kind, lane=lane) if self.opaque else text

    def hide(self, text: str, kind: str, *, lane: bool) -> str:
        """A float that no rule of floats relates to what it was computed from."""
        return self.call("keep", kind, text, lane=lane)

    def is_fed(self, value: Value) -> bool:
        """True if another float operation takes the value."""
        return value.number in self.uses.fed

    def is_merged(self, product: Instruction) -> bool:
        """True if the driver may merge a product with a sum, or two constant factors."""
        (result,), uses = product.results, self.uses
        if self.arithmetic.exact:
            return self.is_fed(result)
        by_constant = any(a.literal is not None for a in product.args)
        return result.number in uses.merged or (by_constant and result.number in uses.scaled)

    def is_kept(self, op: str, value: Value) -> bool:
        """True if the result of an operation that rounds is to be kept."""
        if self.opaque or (op in _NARROWING and value.type == "f32" and self.widens):
            return self.is_fed(value)
        summed = op in ("add", "sub", "nearest") and value.number in self.uses.summed
        return summed and self.keeps_sums

    @property
    def widens(self) -> bool:
        """True if a float32 is converted to float64.

        A driver that sees its origin, a float64 or an integer, would use that instead.
        """
        arithmetic = self.arithmetic
        corrects = arithmetic.wide and (arithmetic.correct or arithmetic.correct_before_jumps)
        return self.uses.widens or "f32" in arithmetic.emulate_fma or bool(corrects)

    def adds_by_fma(self, op: str, value: Value) -> bool:
        """True if a sum that is to be kept is one of a product with an unknown 1: that is free."""
        fused = value.type in self.arithmetic.fused and self.arithmetic.guard == "sums"
        return fused and op in ("add", "sub") and self.is_kept(op, value)

    def corrects(self, op: str, value: Value) -> bool:
        """True if the result of a division or square root is not to be what the adapter gives."""
        pair, arithmetic = (op, value.type), self.arithmetic
        before = pair in arithmetic.correct_before_jumps and value.number in self.uses.before_jumps
        return before or pair in arithmetic.correct

    def flushes(self, kind: str) -> bool:
        """True if the adapter takes subnormal numbers of a type for zeros."""
        return kind in self.arithmetic.flushed

    def rounds_by_bits(self, op: str, kind: str) -> bool:
        """True if numbers of a type are rounded to whole ones by their bits."""
        if op in ("floor", "ceil") and self.flushes(kind):
            return True
        return op in _TO_WHOLE and kind in self.arithmetic.whole_by_bits

    # -- lanes -----------------------------------------------------------------------------------
    @contextmanager
    def masked(self, mask: str, *, first: bool, whole: bool = False) -> Iterator[None]:
        """Statements in which only some lanes are live.

        ``first``: the first of them is; ``whole``: either all of a thread are or none.
        """
        outer = self.live, self.first_is_live, self.live_together
        self.live_together = whole and self.live is None
        self.live = self.let(mask if self.live is None else f"({mask}) & {self.live}", "m")
        self.first_is_live = first and self.first_is_live
        yield
        self.live, self.first_is_live, self.live_together = outer

    @contextmanager
    def all_live(self) -> Iterator[None]:
        """Statements that only threads reach all of whose lanes are live, in a cell that is."""
        outer = self.live, self.first_is_live, self.live_together, self.in_cell
        self.live, self.first_is_live, self.live_together, self.in_cell = None, True, False, False
        yield
        self.live, self.first_is_live, self.live_together, self.in_cell = outer

    @contextmanager
    def lanes_inside(self) -> Iterator[None]:
        """Statements that threads run on their own: nothing in them may wait for others."""
        self.in_lanes = True
        yield
        self.in_lanes = False

    def recall(self, accesses: tuple[set[str], set[str]]) -> None:
        """Add accesses (reads, writes) that no barrier may have followed."""
        self.read |= accesses[0]
        self.written |= accesses[1]

    def any_of(self, mask: str) -> str:
        """True if any lane of a mask is set."""
        return f"any({mask})" if self.lanes > 1 else mask

    # -- memory ----------------------------------------------------------------------------------
    def memory_of(self, instruction: Instruction) -> Memory:
        """Shader type of the buffer of an access."""
        buffer = instruction.attrs["buffer"]
        assert isinstance(buffer, Buffer | Table), f"{instruction.op} names its buffer"
        return self.memory[buffer.name]


def literal(number: Literal, kind: str) -> str:
    """WGSL literal of a constant.

    Infinity, NaN, zeros and subnormal numbers, which WGSL cannot write or may not keep, are made of
    bits that the driver does not know when it compiles.
    """
    if kind == "i1":
        return "true" if number else "false"
    if kind in FLOATS:
        return _float_literal(float(number), kind)
    bits, suffix = (64, "li") if kind == "i64" else (32, "i")
    number = (int(number) + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1)
    if number == -(1 << bits - 1):
        return f"bitcast<{WGSL_TYPES[kind]}>({1 << bits - 1}{_SUFFIX[UNSIGNED[kind]]})"
    return f"{number}{suffix}" if number >= 0 else f"({number}{suffix})"


def _float_literal(number: float, kind: str) -> str:
    code, unsigned = ("<f", "<I") if kind == "f32" else ("<d", "<Q")
    packed = struct.pack(code, number)
    rounded: float = struct.unpack(code, packed)[0]
    smallest = 2.0**-126 if kind == "f32" else 2.0**-1022
    if math.isfinite(rounded) and abs(rounded) >= smallest:
        text = abs(rounded).hex() + ("f" if kind == "f32" else "lf")
        return text if rounded > 0 else f"(-{text})"
    bits = struct.unpack(unsigned, packed)[0]
    if kind == "f32":
        return f"bitcast<f32>({bits}u | zero)"
    return f"bitcast<f64>({bits}lu | u64(zero))"


def opaque_literal(number: Literal, kind: str) -> str:
    """A constant that the driver does not know."""
    if kind == "i1":
        return literal(number, kind)
    text, word = literal(number, kind), UNSIGNED[kind]
    zero = "zero" if word == "u32" else "u64(zero)"
    if "zero" in text:
        return text
    return f"bitcast<{WGSL_TYPES[kind]}>(bitcast<{word}>({text}) | {zero})"

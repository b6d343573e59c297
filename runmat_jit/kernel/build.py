"""Builds kernels: straight-line code by operators and ``prim``, blocks by ``with``."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import field
from types import TracebackType
from typing import Self, TypeVar

from runmat_jit.core.frozen import frozen_object
from runmat_jit.core.slotted import slotted
from runmat_jit.kernel.ir import (
    Block,
    Buffer,
    Function,
    Instruction,
    Kernel,
    Literal,
    Parameter,
    Scalar,
    Table,
    Value,
)
from runmat_jit.kernel.primitives import LIBM, PRIMITIVES, VALUE_OF_ELEMENT, accepts

Number = Value | Literal
P = TypeVar("P", Buffer, Scalar, Table)


@frozen_object
class Matrix:
    """Where a matrix begins in a buffer, and the steps from one element of an axis to the next."""

    buffer: Buffer
    begin: Number
    steps: tuple[Number, Number]


@slotted
class OpenBlock:
    """A structured block under construction; its results are in ``out`` after the ``with``."""

    builder: Builder
    op: str
    args: tuple[Value, ...]
    inits: tuple[Value, ...]
    combines: tuple[str, ...] = ()
    carry: tuple[Value, ...] = ()
    out: tuple[Value, ...] = ()
    matrices: tuple[Buffer, ...] = ()
    lanes: int | None = None
    _index: Value | None = None
    _yields: tuple[Value, ...] = ()

    @property
    def i(self) -> Value:
        """The block's index, a uniform value of type ``index`` (the first of a vector of lanes)."""
        assert self._index is not None, f"{self.op} has no index"
        return self._index

    def __enter__(self) -> Self:
        self.builder.enter(self)
        return self

    def yield_(self, *values: Number) -> None:
        """Give the values carried to the next iteration, combined, or chosen."""
        kinds = self.combine_types if self.combines else tuple(v.type for v in self.carry)
        kinds = ("i1", *kinds) if self.op == "while" else kinds
        assert len(values) == len(kinds), f"{self.op} carries {len(kinds)} values"
        self._yields = tuple(self.builder.const(v, t) for v, t in zip(values, kinds, strict=True))

    combine_types: tuple[str, ...] = ()

    def __exit__(
        self, error: type[BaseException] | None, value: object, trace: TracebackType | None
    ) -> None:
        if error is None:
            self.builder.leave(self, self._yields)


@slotted
class Builder:
    """Collects parameters and instructions of one kernel.

    ``builtins`` are the functions of an adapter that expansions may use, where results need not
    have the bits of a CPU; None where they must.
    """

    builtins: frozenset[str] | None = None
    parameters: list[Parameter] = field(default_factory=list)
    arguments: dict[str, Value] = field(default_factory=dict)
    functions: dict[str, Function] = field(default_factory=dict)
    noted: Value | None = None
    """Mask of the lanes whose events are noted; None: all."""
    _count: int = 0
    _stack: list[list[Instruction]] = field(default_factory=lambda: [[]])
    _constants: dict[tuple[str, bytes], Value] = field(default_factory=dict)

    # -- parameters ------------------------------------------------------------------------------
    def buffer(self, name: str, element: str, *, written: bool = False) -> Buffer:
        """Declare a buffer parameter; ``element`` is f32, f64, i32, i64 or bool."""
        return self._declare(Buffer(name, element, written))

    def scalar(self, name: str, kind: str, multiple_of: int = 1) -> Value:
        """Declare a uniform scalar parameter and give its value."""
        self._declare(Scalar(name, kind, multiple_of))
        self.arguments[name] = self._value(kind, lane=False)
        return self.arguments[name]

    def table(self, name: str, element: str) -> Table:
        """Declare (once) a constant table of a mathematical expansion."""
        table = Table(name, element)
        return table if table in self.parameters else self._declare(table)

    def _declare(self, parameter: P) -> P:
        self.parameters.append(parameter)
        return parameter

    # -- straight-line code ----------------------------------------------------------------------
    def const(self, number: Number, kind: str) -> Value:
        """The number as a constant of the given type (a value passes through)."""
        if isinstance(number, Value):
            assert number.type == kind, f"a {number.type} value stands where {kind} is wanted"
            return number
        key = (kind, _bits(number, kind))
        if key not in self._constants:
            self._count += 1
            self._constants[key] = Value(
                self._count, kind, lane=False, builder=self, literal=number
            )
        return self._constants[key]

    def prim(self, op: str, *args: Number, to: str | None = None) -> Value:
        """Emit a primitive; plain numbers take the type of the first operand that is a value."""
        primitive = PRIMITIVES[op]
        assert len(args) == primitive.arity, f"{op} takes {primitive.arity} operands"
        kind = next(a.type for a in args if isinstance(a, Value))
        assert accepts(primitive.domain, kind), f"{op} does not take {kind}"
        operands = tuple(self.const(a, kind) for a in args)
        result = {"same": kind, "i1": "i1"}.get(primitive.result) or to
        assert result is not None, f"{op} needs the type to convert to"
        return self.emit(op, operands, result)

    def binary(self, op: str, lhs: Number, rhs: Number) -> Value:
        """Emit a two-operand primitive."""
        return self.prim(op, lhs, rhs)

    def fma(self, a: Number, b: Number, c: Number) -> Value:
        """``a * b + c`` with one rounding."""
        return self.prim("fma", a, b, c)

    def eq(self, a: Number, b: Number) -> Value:
        """True if two values are equal."""
        return self.prim("eq", a, b)

    def ne(self, a: Number, b: Number) -> Value:
        """True if two values differ."""
        return self.prim("ne", a, b)

    def select(self, condition: Value, chosen: Number, other: Number) -> Value:
        """``chosen`` where the i1 condition holds, else ``other``."""
        kind = next(v.type for v in (chosen, other) if isinstance(v, Value))
        return self.emit(
            "select", (condition, self.const(chosen, kind), self.const(other, kind)), kind
        )

    def builtin(self, function: str, x: Value) -> Value:
        """A function of the adapter, of a float32."""
        assert function in (self.builtins or ()), f"{function} may be used"
        return self.emit("builtin", (x,), x.type, function=function)

    def libm(self, function: str, *args: Value) -> Value:
        """The C library's function of float64 that is uniform."""
        assert LIBM[function] == len(args), f"{function} takes {LIBM[function]} operands"
        return self.emit("libm", args, "f64", function=function)

    def ask(self, address: Value) -> Value:
        """True if the caller of the kernel wants it to end."""
        return self.emit("ask", (address,), "i1", lane=False)

    def invoke(self, function: Value, *args: Value) -> None:
        """Call a C function, which works on memory alone: its address, and what it is given."""
        self._stack[-1].append(Instruction("invoke", (function, *args)))

    def invoked(self, kind: str, function: Value, *args: Value) -> Value:
        """What a C function gives, of this type, which likewise may change memory."""
        return self.emit("invoke", (function, *args), kind, lane=False)

    def multiply(
        self, function: Value, matrices: Sequence[Buffer], numbers: Sequence[Number]
    ) -> Value:
        """Products of matrices by NumPy's inner loop: whether there was a floating-point event.

        ``matrices`` are the left ones, the right ones, and the products; ``numbers`` their extents
        and steps, see :class:`.ir.Instruction`.
        """
        attrs = dict(zip(("left", "right", "product"), matrices, strict=True))
        args = (function, *(self.const(number, "index") for number in numbers))
        return self.emit("multiply", args, "i1", lane=False, **attrs)

    def below(self, x: Value, limit: float) -> Value:
        """True if a float's magnitude is below a limit; open for NaN."""
        return self.emit("below", (x, self.const(limit, x.type)), "i1")

    def beyond(self, x: Value, limit: float) -> Value:
        """True if a float's magnitude is not below a limit; open for NaN."""
        return self.emit("beyond", (x, self.const(limit, x.type)), "i1")

    def unknown(self, number: Literal, kind: str) -> Value:
        """A constant that the adapter's compiler does not know."""
        return self.emit("unknown", (self.const(number, kind),), kind)

    def convert(self, op: str, value: Value, to: str) -> Value:
        """Emit a conversion (``sitofp fptosi fpext fptrunc trunc zext sext bitcast uitofp``)."""
        return self.prim(op, value, to=to)

    def emit(
        self,
        op: str,
        args: tuple[Value, ...],
        kind: str,
        *,
        lane: bool | None = None,
        **attrs: object,
    ) -> Value:
        """Append an instruction with one result, per lane if any operand is (unless told)."""
        result = self._value(kind, lane=any(a.lane for a in args) if lane is None else lane)
        self._stack[-1].append(Instruction(op, args, (result,), attrs))
        return result

    # -- memory ----------------------------------------------------------------------------------
    def load(self, buffer: Buffer, index: Number, stride: Number = 1) -> Value:
        """Elements at ``index + stride * lane``: stride 0 is one uniform element."""
        kind = VALUE_OF_ELEMENT.get(buffer.element, buffer.element)
        args, code = self._address(index, stride)
        return self.emit("load", args, kind, lane=code != 0, buffer=buffer, stride=code)

    def load_window(self, buffer: Buffer, index: Number, window: str) -> Value:
        """Elements at ``index + lane``, put together of vectors (attr ``window``)."""
        args, attrs = (self.const(index, "index"),), {"stride": 1, "window": window}
        return self.emit("load", args, buffer.element, lane=True, buffer=buffer, **attrs)

    def store(self, buffer: Buffer, index: Number, value: Number, stride: Number = 1) -> None:
        """Store at ``index + stride * lane``; stride 0 stores one uniform value."""
        assert buffer.written, f"{buffer.name} was declared read-only"
        kind = VALUE_OF_ELEMENT.get(buffer.element, buffer.element)
        args, code = self._address(index, stride)
        args = (args[0], self.const(value, kind), *args[1:])
        self._stack[-1].append(Instruction("store", args, attrs={"buffer": buffer, "stride": code}))

    def store_beside(self, buffer: Buffer, index: Number, values: Sequence[Value]) -> None:
        """Store the values of each lane side by side, and those of the next lane after them."""
        assert buffer.written, f"{buffer.name} was declared read-only"
        args, code = self._address(index, len(values))
        attrs = {"buffer": buffer, "stride": code}
        self._stack[-1].append(Instruction("store", (args[0], *values, args[1]), attrs=attrs))

    def gather(self, buffer: Buffer | Table, index: Value) -> Value:
        """Elements at an index of each lane; one element where the index is uniform."""
        kind = VALUE_OF_ELEMENT.get(buffer.element, buffer.element)
        return self.emit("gather", (index,), kind, buffer=buffer)

    def _address(self, index: Number, stride: Number) -> tuple[tuple[Value, ...], int | str]:
        at = self.const(index, "index")
        assert not at.lane, "a load or store has a uniform index and a lane stride"
        if isinstance(stride, Value):
            return (at, stride), "value"
        if stride in (-1, 0, 1):
            return (at,), int(stride)
        return (at, self.const(stride, "index")), "value"

    def splat(self, number: Number, kind: str) -> Value:
        """The number in every lane: what a ``loop`` carries per lane may start as a constant."""
        return self.emit("splat", (self.const(number, kind),), kind, lane=True)

    def note(self, value: Value, bit: int = 0) -> None:
        """Set a bit of the kernel's event word where a float is not finite or an i1 is set.

        Only where :attr:`noted` is set, if it is given.
        """
        if self.noted is not None:
            value = self.noted & value if value.type == "i1" else self.select(self.noted, value, 0)
        attrs = {"bit": bit} if bit else {}
        self._stack[-1].append(Instruction("note", (value,), attrs=attrs))

    def leave_if(self, condition: Value) -> None:
        """End the cell that runs where a uniform i1 is set: nothing after it happens."""
        self._stack[-1].append(Instruction("leave", (condition,)))

    def keep(self, value: Value) -> None:
        """Have a uniform float computed, whoever needs it: the machine's flags tell of it."""
        self._stack[-1].append(Instruction("keep", (value,)))

    def lane_id(self, kind: str = "i32") -> Value:
        """The number of the logical lane, counted from the block's index."""
        return self.emit("lane_id", (), kind, lane=True)

    # -- blocks ----------------------------------------------------------------------------------
    def grid(self, n: Number) -> OpenBlock:
        """Independent cells ``0 .. n``; top level only."""
        return OpenBlock(self, "grid", (self.const(n, "index"),), ())

    def lanes(self, lo: Number, hi: Number) -> OpenBlock:
        """Independent iterations, one a lane."""
        return OpenBlock(self, "lanes", (self.const(lo, "index"), self.const(hi, "index")), ())

    def total(
        self,
        lo: Number,
        hi: Number,
        combines: Sequence[tuple[str, str]],
        *,
        lanes: int | None = None,
    ) -> OpenBlock:
        """A reduction of the fixed shape.

        Args:
            lo: The first iteration.
            hi: The end of the iterations.
            combines: The operation and the value type of each result.
            lanes: 1 for the order of columns, None for that of rows.

        """
        args = (self.const(lo, "index"), self.const(hi, "index"))
        names, kinds = tuple(c for c, _ in combines), tuple(t for _, t in combines)
        return OpenBlock(self, "total", args, (), names, combine_types=kinds, lanes=lanes)

    def contract(
        self, rows: Number, columns: Number, terms: Number, left: Matrix, right: Matrix
    ) -> OpenBlock:
        """The product of two matrices; its block carries the number of a row, and its sums.

        Args:
            rows: Of the left matrix and of the product.
            columns: Of the right matrix and of the product.
            terms: Of each sum.
            left: Its rows and terms.
            right: Its terms and columns.

        """
        extents = [self.const(extent, "index") for extent in (rows, columns, terms)]
        for matrix in (left, right):
            extents += [self.const(number, "index") for number in (matrix.begin, *matrix.steps)]
        return OpenBlock(self, "contract", tuple(extents), (), matrices=(left.buffer, right.buffer))

    def loop(self, lo: Number, hi: Number, inits: Sequence[Value] = (), step: int = 1) -> OpenBlock:
        """A sequential loop whose values are carried in registers."""
        args = tuple(self.const(v, "index") for v in (lo, hi, step))
        return OpenBlock(self, "loop", args, tuple(inits))

    def while_(self, inits: Sequence[Value] = ()) -> OpenBlock:
        """A sequential loop; the first value it yields says whether it runs again."""
        return OpenBlock(self, "while", (), tuple(inits))

    def if_(self, condition: Value, inits: Sequence[Value] = ()) -> OpenBlock:
        """A uniform branch; its results are the inits where it is not taken."""
        return OpenBlock(self, "if", (condition,), tuple(inits))

    def if_any(self, mask: Value, inits: Sequence[Value]) -> OpenBlock:
        """A rare path for the lanes whose mask is set; the others keep the inits.

        Where the mask is uniform this is ``if``: the same mathematics serves uniform values.
        """
        return OpenBlock(self, "if_any" if mask.lane else "if", (mask,), tuple(inits))

    def enter(self, block: OpenBlock) -> None:
        """Begin a block's body (called by its ``with``)."""
        self._stack.append([])
        if block.op in ("grid", "lanes", "total", "loop", "contract"):
            block._index = self._value("index", lane=False)
        block.carry = tuple(
            self._value(v.type, lane=v.lane or block.op == "if_any") for v in block.inits
        )
        if block.op == "contract":
            kind = block.matrices[0].element
            block.carry = self._value("index", lane=False), self._value(kind, lane=True)

    def leave(self, block: OpenBlock, yields: tuple[Value, ...]) -> None:
        """Close a block's body and bind its results (called by its ``with``)."""
        body = tuple(self._stack.pop())
        attrs: dict[str, object] = {}
        if block.combines:
            block.out = tuple(self._value(t, lane=False) for t in block.combine_types)
            attrs = {"combines": block.combines}
            attrs |= {} if block.lanes is None else {"lanes": block.lanes}
        elif block.op == "contract":
            attrs = dict(zip(("left", "right"), block.matrices, strict=True))
        else:
            block.out = tuple(self._value(c.type, lane=c.lane) for c in block.carry)
        inner = Block(block._index, block.carry, body, yields)
        args = block.args + block.inits
        self._stack[-1].append(Instruction(block.op, args, block.out, attrs, inner))

    def open_body(self) -> list[Instruction]:
        """Begin a list of instructions that has no place yet; what is emitted goes there."""
        self._stack.append([])
        return self._stack[-1]

    def close_body(self, body: list[Instruction]) -> None:
        """End such a list: it stands nowhere until :meth:`extend` places it."""
        while self._stack.pop() is not body:  # blocks that an exception has left open
            pass

    def extend(self, body: list[Instruction]) -> None:
        """Place the instructions of such a list here."""
        self._stack[-1].extend(body)

    def begin(self, block: OpenBlock) -> list[Instruction]:
        """Begin a block whose body is emitted bit by bit (:meth:`within`), until :meth:`end`."""
        self.enter(block)
        return self._stack.pop()

    @contextmanager
    def within(self, body: list[Instruction]) -> Iterator[None]:
        """Emit into the body of such a block."""
        self._stack.append(body)
        yield
        self.close_body(body)

    @contextmanager
    def outside(self, body: list[Instruction]) -> Iterator[None]:
        """Emit where one was before going on with such a body."""
        assert self._stack[-1] is body, "no block within it is open"
        self._stack.pop()
        yield
        self._stack.append(body)

    def end(
        self,
        block: OpenBlock,
        body: list[Instruction],
        yields: Sequence[Value] = (),
        bounds: tuple[Value, ...] | None = None,
    ) -> None:
        """Place such a block here; ``bounds``: those that are known only now."""
        block.args = block.args if bounds is None else bounds
        self._stack.append(body)
        self.leave(block, tuple(yields))

    def placeholder(self, kind: str) -> Value:
        """A value that nothing defines, for instructions that will have no place."""
        return self._value(kind, lane=False)

    # -- cold functions ---------------------------------------------------------------------------
    def call(
        self,
        name: str,
        args: Sequence[Value],
        results: Sequence[str],
        body: Callable[[Builder, tuple[Value, ...]], tuple[Value, ...]],
        tables: Sequence[Table] = (),
    ) -> tuple[Value, ...]:
        """Run a cold function of per-lane values, built at its first call.

        Where all operands are uniform, so are the results.
        """
        if name not in self.functions:
            parameters = tuple(self._value(a.type, lane=True) for a in args)
            self._stack.append([])
            outs = body(self, parameters)
            self.functions[name] = Function(
                name, parameters, tuple(tables), tuple(self._stack.pop()), outs
            )
        lane = any(a.lane for a in args)
        outs = tuple(self._value(t, lane=lane) for t in results)
        self._stack[-1].append(Instruction("call", tuple(args), outs, {"function": name}))
        return outs

    def finish(self) -> Kernel:
        """The kernel built so far."""
        assert len(self._stack) == 1, "a block is still open"
        return Kernel(
            tuple(self.parameters),
            dict(self.arguments),
            tuple(self.functions.values()),
            tuple(self._stack[0]),
        )

    def _value(self, kind: str, *, lane: bool) -> Value:
        self._count += 1
        return Value(self._count, kind, lane=lane, builder=self)


def _bits(number: Literal, kind: str) -> bytes:
    if kind in ("f32", "f64"):
        return struct.pack("<d", number)
    return struct.pack("<q", int(number))

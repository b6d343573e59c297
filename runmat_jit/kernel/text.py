"""The text of a kernel: what snapshots show, and the key of compiled kernels.

Equal text means equal code: values are renumbered in program order, parameters stand with their
names and facts, constants with their bits. Nothing in it depends on sizes of arrays or on the
order in which a process built its kernels. Per-lane types stand in angle brackets::

    kernel(x: f32[], y: f32[] written, n: index)
    lanes %0 in [0, n)
      %1: <f32> = load x[%0] stride 1
      %2: <f32> = mul %1, 0x1.8p+1
      store y[%0] stride 1 = %2
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from dataclasses import field

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
from runmat_jit.kernel.primitives import FLOATS
from runmat_jit.kernel.walk import note_bit, stored_values

_INDENT = "  "


def to_text(kernel: Kernel) -> str:
    """The kernel as text, one instruction a line; equal text means equal code."""
    printer = _Printer({value.number: name for name, value in kernel.arguments.items()})
    parameters = ", ".join(_parameter(p) for p in kernel.parameters)
    lines = [f"kernel({parameters})"]
    for function in kernel.functions:
        lines += printer.function(function)
    lines += printer.body(kernel.body, "")
    return "\n".join(lines) + "\n"


@slotted
class _Printer:
    names: dict[int, str]
    _count: int = field(default=0)

    def define(self, value: Value) -> str:
        """Give a value the next number; the text of its definition."""
        self.names[value.number] = f"%{self._count}"
        self._count += 1
        return f"{self.names[value.number]}: {_type(value)}"

    def use(self, value: Value) -> str:
        if value.literal is not None:
            return constant(value.literal, value.type)
        return self.names[value.number]

    def uses(self, values: Sequence[Value]) -> str:
        return ", ".join(self.use(v) for v in values)

    def function(self, function: Function) -> list[str]:
        parameters = [self.define(v) for v in function.parameters]
        parameters += [_parameter(t) for t in function.tables]
        return [
            f"function {function.name}({', '.join(parameters)})",
            *self.body(function.body, _INDENT),
            f"{_INDENT}return {self.uses(function.results)}",
        ]

    def body(self, body: Sequence[Instruction], indent: str) -> list[str]:
        lines: list[str] = []
        for instruction in body:
            lines += self.instruction(instruction, indent)
        return lines

    def instruction(self, instruction: Instruction, indent: str) -> list[str]:
        right = self.right_side(instruction)
        inner: list[str] = []
        if instruction.block is not None:
            head, inner = self.block(instruction, instruction.block, indent + _INDENT)
            right += head
        results = ", ".join(self.define(r) for r in instruction.results)
        return [f"{indent}{results}{' = ' if results else ''}{right}", *inner]

    def right_side(self, instruction: Instruction) -> str:
        """Operation and operands, without what a block adds."""
        op, args, attrs = instruction.op, instruction.args, instruction.attrs
        if op in ("load", "store"):
            stride = attrs["stride"] if attrs["stride"] != "value" else self.use(args[-1])
            place = f"{_buffer_name(instruction)}[{self.use(args[0])}] stride {stride}"
            place += f" window {attrs['window']}" if "window" in attrs else ""
            return f"{op} {place}" + (
                f" = {self.uses(stored_values(instruction))}" if op == "store" else ""
            )
        if op == "gather":
            return f"gather {_buffer_name(instruction)}[{self.use(args[0])}]"
        if op in ("call", "builtin", "libm"):
            return f"{op} {attrs['function']}({self.uses(args)})"
        if instruction.block is not None:
            return op
        if op == "multiply":
            left, right, product = (attrs[each] for each in ("left", "right", "product"))
            assert isinstance(product, Buffer), "a product names its buffers"
            assert isinstance(left, Buffer), "likewise"
            assert isinstance(right, Buffer), "likewise"
            return f"multiply {product.name} = {left.name} @ {right.name} {self.uses(args)}"
        if op == "note" and note_bit(instruction):
            return f"note {self.uses(args)} bit {note_bit(instruction)}"
        return f"{op} {self.uses(args)}".rstrip()

    def block(self, instruction: Instruction, block: Block, indent: str) -> tuple[str, list[str]]:
        """What follows the operation of a structured instruction, and the lines of its body."""
        args = instruction.args
        if instruction.op == "contract":
            return self.contract(instruction, block), self.body(block.body, indent)
        inits = args[len(args) - len(block.carried) :]
        bounds = [self.use(a) for a in args[: len(args) - len(block.carried)]]
        head = ""
        if block.index is not None:
            index = self.define(block.index).partition(":")[0]
            lo, hi = bounds[:2] if len(bounds) > 1 else ("0", bounds[0])
            head = f" {index} in [{lo}, {hi})" + (f" step {bounds[2]}" if bounds[2:] else "")
            head += " in one lane" if instruction.attrs.get("lanes") == 1 else ""
        elif bounds:
            head = f" {bounds[0]}"
        started = [self.use(v) for v in inits]
        carried = [
            f"{self.define(v)} = {start}" for v, start in zip(block.carried, started, strict=True)
        ]
        if carried:
            head += f" carry {', '.join(carried)}"
        lines = self.body(block.body, indent)
        if block.yields:
            combines = instruction.attrs.get("combines", ("",) * len(block.yields))
            assert isinstance(combines, tuple), "a total names how it combines"
            yields = zip(combines, block.yields, strict=True)
            lines.append(
                f"{indent}yield {', '.join(f'{c} {self.use(v)}'.strip() for c, v in yields)}"
            )
        return head, lines

    def contract(self, instruction: Instruction, block: Block) -> str:
        """``%row by %column in [rows, columns): sum = left[begin, ...] @ right[...] of terms``."""
        rows, columns, terms, *places = map(self.use, instruction.args)
        assert block.index is not None, "it counts columns"
        left, right = (
            f"{_matrix(instruction, side)}[{', '.join(places[begin : begin + 3])}]"
            for side, begin in (("left", 0), ("right", 3))
        )
        row, total = map(self.define, block.carried)
        column = self.define(block.index).partition(":")[0]
        places_of = f"{row.partition(':')[0]} in [0, {rows}), {column} in [0, {columns})"
        return f" {places_of} sum {total} = {left} @ {right} of {terms}"


def constant(number: Literal, kind: str) -> str:
    """A constant by its bits, with its type where the notation does not say it."""
    if kind == "i1":
        return "true" if number else "false"
    if kind not in FLOATS:
        return str(int(number)) if kind == "index" else f"{int(number)}:{kind}"
    code = "<f" if kind == "f32" else "<d"
    rounded: float = struct.unpack(code, struct.pack(code, number))[0]
    if math.isnan(rounded):
        return f"nan({struct.pack('>d', rounded).hex()}):{kind}"
    return f"{rounded.hex()}:{kind}"


def _type(value: Value) -> str:
    return f"<{value.type}>" if value.lane else value.type


def _parameter(parameter: Parameter) -> str:
    if isinstance(parameter, Scalar):
        fact = f" multiple of {parameter.multiple_of}" if parameter.multiple_of != 1 else ""
        return f"{parameter.name}: {parameter.type}{fact}"
    if isinstance(parameter, Table):
        return f"{parameter.name}: table {parameter.element}[]"
    return f"{parameter.name}: {parameter.element}[]{' written' if parameter.written else ''}"


def _matrix(instruction: Instruction, side: str) -> str:
    buffer = instruction.attrs[side]
    assert isinstance(buffer, Buffer), "a contraction names its buffers"
    return buffer.name


def _buffer_name(instruction: Instruction) -> str:
    buffer = instruction.attrs["buffer"]
    assert isinstance(buffer, Buffer | Table), f"{instruction.op} names its buffer"
    return buffer.name

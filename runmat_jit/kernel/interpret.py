"""Runs a kernel with NumPy, all lanes of a block as one vector: the oracle of every backend.

Slow, and as plain as the definition in :mod:`runmat_jit.kernel.ir`: it checks every access
against the bounds of its buffer, and rounds every ``fma`` exactly.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, Final

import numpy as np

from runmat_jit.core.frozen import frozen
from runmat_jit.core.slotted import slotted
from runmat_jit.kernel.evaluate import DTYPES, Array, c_function, evaluate
from runmat_jit.kernel.ir import (
    Block,
    Buffer,
    Function,
    Instruction,
    Kernel,
    Literal,
    Scalar,
    Table,
    Value,
)
from runmat_jit.kernel.primitives import TOTAL_BLOCKS, TOTAL_STEPS, identity
from runmat_jit.kernel.walk import lanes_of_total, note_bit, stored_values


@frozen
class Memory:
    """Elements of a buffer; index 0 is ``elements[origin]``, and indices may be negative."""

    elements: Array
    origin: int = 0


Argument = Memory | Array | Literal


def interpret(
    kernel: Kernel, arguments: Mapping[str, Argument], part: tuple[int, int] | None = None
) -> int:
    """Run a kernel on one-dimensional arrays, which it writes; the word in which it notes events.

    Args:
        kernel: A valid kernel.
        arguments: Memory of buffers and tables and numbers of scalars, by name.
        part: Cells or iterations to run, by default the whole parallel axis.

    Raises:
        AssertionError: An access is outside of its buffer, or a ``total`` is too long.

    """
    interpreter = _Interpreter({f.name: f for f in kernel.functions}, part)
    for parameter in kernel.parameters:
        argument = arguments[parameter.name]
        if isinstance(parameter, Scalar):
            value = kernel.arguments[parameter.name]
            assert not isinstance(argument, Memory), f"{parameter.name} is a scalar"
            interpreter.values[value.number] = np.asarray(argument, DTYPES[value.type])
        else:
            memory = argument if isinstance(argument, Memory) else Memory(np.asarray(argument))
            interpreter.memory[parameter.name] = memory
    interpreter.run(kernel.body)
    return interpreter.event


_C_TYPES: Final[Mapping[str, Any]] = {
    "i64": ctypes.c_int64,
    "f64": ctypes.c_double,
    "f32": ctypes.c_float,
}
"""What a C function takes and gives."""


class _Left(Exception):  # noqa: N818  (no error: how Python leaves a cell)
    """A cell has ended before its last instruction."""


@slotted
class _Interpreter:
    functions: Mapping[str, Function]
    part: tuple[int, int] | None
    values: dict[int, Array] = field(default_factory=dict)
    memory: dict[str, Memory] = field(default_factory=dict)
    live: Array | None = None
    in_cell: bool = False
    event: int = 0

    # -- values ----------------------------------------------------------------------------------
    def get(self, value: Value) -> Array:
        if value.literal is not None:
            return np.asarray(value.literal).astype(DTYPES[value.type])
        return self.values[value.number]

    def number(self, value: Value) -> int:
        return int(self.get(value))

    def set(self, value: Value, result: Array) -> None:
        shape = self.lane_shape() if value.lane else ()
        self.values[value.number] = np.broadcast_to(result, shape).astype(DTYPES[value.type])

    def lane_shape(self) -> tuple[int, ...]:
        assert self.live is not None, "lanes are inside of lanes or total"
        return (self.live.size,)

    def set_all(self, values: Sequence[Value], results: Sequence[Array]) -> None:
        for value, result in zip(values, results, strict=True):
            self.set(value, result)

    # -- instructions ----------------------------------------------------------------------------
    def run(self, body: Sequence[Instruction]) -> None:
        for instruction in body:
            special = _SPECIAL.get(instruction.op)
            if special is not None:
                special(self, instruction)
                continue
            (result,) = instruction.results
            args = tuple(self.get(a) for a in instruction.args)
            self.set(result, evaluate(instruction.op, args, result.type))

    def load(self, instruction: Instruction) -> None:
        (result,) = instruction.results
        memory, at, live = self.access(instruction)
        element = np.zeros(at.shape, memory.elements.dtype)
        element[live] = memory.elements[at[live]]
        self.set(result, element if result.lane else element[0])

    def store(self, instruction: Instruction) -> None:
        memory, at, live = self.access(instruction)
        for place, value in enumerate(stored_values(instruction)):
            stored = np.broadcast_to(self.get(value), at.shape)
            memory.elements[at[live] + place] = stored[live]

    def access(self, instruction: Instruction) -> tuple[Memory, Array, Array]:
        """Memory, positions in it, and which of them are live; a uniform access is one lane."""
        stride, buffer = instruction.attrs.get("stride", "none"), instruction.attrs["buffer"]
        memory, index = self.memory_of(buffer), self.get(instruction.args[0])
        step = self.number(instruction.args[-1]) if stride == "value" else stride
        if isinstance(step, int) and step != 0:
            index = index + step * np.arange(self.lane_shape()[0])
        live = self.live if index.ndim and self.live is not None else np.ones(1, np.bool_)
        at = np.atleast_1d(index).astype(np.int64) + memory.origin
        if instruction.attrs.get("window") == "open":
            at = np.clip(at, 0, memory.elements.size - 1)
        inside = (at[live] >= 0) & (at[live] < memory.elements.size)
        assert inside.all(), f"{instruction.op} outside of its buffer"
        return memory, at, live

    def note(self, instruction: Instruction) -> None:
        value = self.get(instruction.args[0])
        fired = value if value.dtype == np.bool_ else ~np.isfinite(value)
        happened = bool(fired[self.live].any() if fired.ndim else fired)
        self.event |= happened << note_bit(instruction)

    def lane_id(self, instruction: Instruction) -> None:
        self.set(instruction.results[0], np.arange(self.lane_shape()[0]))

    def splat(self, instruction: Instruction) -> None:
        self.set(instruction.results[0], self.get(instruction.args[0]))

    def call(self, instruction: Instruction) -> None:
        function, outer = self.functions[str(instruction.attrs["function"])], self.live
        uniform = not any(a.lane for a in instruction.args)
        if uniform:
            self.live = np.ones(1, np.bool_)
        self.set_all(function.parameters, [self.get(a) for a in instruction.args])
        self.run(function.body)
        results = [np.atleast_1d(self.get(r)) for r in function.results]
        self.live = outer
        self.set_all(instruction.results, [r[0] if uniform else r for r in results])

    # -- blocks ----------------------------------------------------------------------------------
    def grid(self, instruction: Instruction) -> None:
        block, self.in_cell = _block(instruction), True
        for cell in range(*(self.part or (0, self.number(instruction.args[0])))):
            before = self.event
            try:
                self.iteration(block, cell)
            except _Left:
                self.event = before

    def iteration(self, block: Block, index: int) -> None:
        assert block.index is not None, "this block counts"
        self.values[block.index.number] = np.asarray(index, np.int64)
        self.run(block.body)

    def lanes(self, instruction: Instruction) -> None:
        lo, hi = (self.number(a) for a in instruction.args)
        if self.part is not None and not self.in_cell:
            lo, hi = self.part
        if lo < hi:
            self.live = np.ones(hi - lo, np.bool_)
            self.iteration(_block(instruction), lo)
            self.live = None

    def total(self, instruction: Instruction) -> None:
        """The reduction of fixed shape, step by step."""
        block, combines = _block(instruction), instruction.attrs["combines"]
        assert isinstance(combines, tuple), "a total names how it combines"
        kinds = [r.type for r in instruction.results]
        lo, hi = (self.number(a) for a in instruction.args)
        lanes = lanes_of_total(instruction)
        assert hi - lo <= TOTAL_BLOCKS * TOTAL_STEPS * lanes, "a total is too long"
        starts = [
            np.full(lanes, identity(c, k), DTYPES[k]) for c, k in zip(combines, kinds, strict=True)
        ]

        def combined(left: Sequence[Array], right: Sequence[Array]) -> list[Array]:
            rows = zip(combines, left, right, kinds, strict=True)
            return [evaluate(c, (a, b), k) for c, a, b, k in rows]

        sums = starts
        for first in range(lo, hi, TOTAL_STEPS * lanes):
            partial = starts
            for step in range(first, min(first + TOTAL_STEPS * lanes, hi), lanes):
                self.live = np.arange(step, step + lanes) < hi
                self.iteration(block, step)
                added = combined(partial, [self.get(y) for y in block.yields])
                rows = zip(partial, added, strict=True)
                partial = [np.where(self.live, new, old) for old, new in rows]
                self.live = None
            sums = combined(sums, partial)
        while lanes > 1:
            lanes //= 2
            sums = combined([s[:lanes] for s in sums], [s[lanes:] for s in sums])
        self.set_all(instruction.results, [s[0] for s in sums])

    def contract(self, instruction: Instruction) -> None:
        """Each row of the product, its terms in order."""
        block = _block(instruction)
        rows, columns, terms, *steps = [self.number(a) for a in instruction.args]
        left, right = (self.memory_of(instruction.attrs[side]) for side in ("left", "right"))
        a = _matrix(left, (rows, terms), (steps[0], steps[1], steps[2]))
        b = _matrix(right, (terms, columns), (steps[3], steps[4], steps[5]))
        kind = block.carried[1].type
        for row in range(rows if columns else 0):
            self.live = np.ones(columns, np.bool_)
            sums = np.zeros(columns, DTYPES[kind])
            for term in range(terms):
                sums = evaluate("fma", (a[row, term], b[term], sums), kind)
            self.set_all(block.carried, [np.asarray(row), sums])
            self.iteration(block, 0)
            self.live = None

    def memory_of(self, buffer: object) -> Memory:
        assert isinstance(buffer, Buffer | Table), "an instruction names its buffer"
        return self.memory[buffer.name]

    def loop(self, instruction: Instruction) -> None:
        block = _block(instruction)
        lo, hi, step = (self.number(a) for a in instruction.args[:3])
        carried = [self.get(a) for a in instruction.args[3:]]
        for index in range(lo, hi, step):
            self.set_all(block.carried, carried)
            self.iteration(block, index)
            carried = [self.get(y) for y in block.yields]
        self.set_all(instruction.results, carried)

    def repeat(self, instruction: Instruction) -> None:
        block, carried = _block(instruction), [self.get(a) for a in instruction.args]
        going_on = True
        while going_on:
            self.set_all(block.carried, carried)
            self.run(block.body)
            again, *carried = [self.get(y) for y in block.yields]
            going_on = bool(again)
        self.set_all(instruction.results, carried)

    def leave(self, instruction: Instruction) -> None:
        if self.get(instruction.args[0]):
            raise _Left

    def branch(self, instruction: Instruction) -> None:
        block, carried = _block(instruction), [self.get(a) for a in instruction.args[1:]]
        if self.get(instruction.args[0]):
            self.set_all(block.carried, carried)
            self.run(block.body)
            carried = [self.get(y) for y in block.yields]
        self.set_all(instruction.results, carried)

    def builtin(self, instruction: Instruction) -> None:
        """NumPy's function: adapters differ from it by what a test of them finds."""
        function = getattr(np, str(instruction.attrs["function"]))
        with np.errstate(all="ignore"):
            self.set_all(instruction.results, [function(self.get(instruction.args[0]))])

    def keep(self, instruction: Instruction) -> None:
        self.get(instruction.args[0])

    def ask(self, instruction: Instruction) -> None:
        self.set_all(instruction.results, [np.asarray(0)])

    def invoke(self, instruction: Instruction) -> None:
        function, *given = instruction.args
        result = next((_C_TYPES[value.type] for value in instruction.results), None)
        kind = ctypes.CFUNCTYPE(result, *(_C_TYPES[a.type] for a in given))
        made = kind(int(self.get(function)))(*(self.get(a).item() for a in given))
        self.set_all(instruction.results, [np.asarray(made) for _ in instruction.results])

    def multiply(self, instruction: Instruction) -> None:
        count, rows, terms, columns, *steps = (self.number(a) for a in instruction.args[1:])
        shapes = (count, rows, terms), (count, terms, columns), (count, rows, columns)
        found = []
        for number, (name, shape) in enumerate(
            zip(("left", "right", "product"), shapes, strict=True)
        ):
            memory = self.memory_of(instruction.attrs[name])
            elements = memory.elements[memory.origin :]
            size = elements.itemsize
            strides = [size * s for s in (steps[number], *steps[3 + 2 * number : 5 + 2 * number])]
            found.append(np.lib.stride_tricks.as_strided(elements, shape, strides))
        left, right, product = found
        seen = list[str]()
        reports: Any = dict.fromkeys(("divide", "over", "invalid"), "call")
        with np.errstate(**reports, under="ignore", call=lambda what, _flag: seen.append(what)):
            product[...] = np.matmul(left, right)
        self.set(instruction.results[0], np.asarray(bool(seen)))

    def libm(self, instruction: Instruction) -> None:
        function = c_function(str(instruction.attrs["function"]))
        args = [float(self.get(a)) for a in instruction.args]
        self.set_all(instruction.results, [np.asarray(function(*args))])

    def below(self, instruction: Instruction) -> None:
        x, limit = map(self.get, instruction.args)
        self.set_all(instruction.results, [np.abs(x) < limit])

    def beyond(self, instruction: Instruction) -> None:
        x, limit = map(self.get, instruction.args)
        self.set_all(instruction.results, [np.abs(x) >= limit])

    def unknown(self, instruction: Instruction) -> None:
        self.set_all(instruction.results, [self.get(instruction.args[0])])

    def if_any(self, instruction: Instruction) -> None:
        block, outer = _block(instruction), self.live
        carried = [self.get(a) for a in instruction.args[1:]]
        mask = self.get(instruction.args[0]) & outer
        if mask.any():
            self.set_all(block.carried, carried)
            self.live = mask
            self.run(block.body)
            self.live = outer
            rows = zip([self.get(y) for y in block.yields], carried, strict=True)
            carried = [np.where(mask, new, old) for new, old in rows]
        self.set_all(instruction.results, carried)


def _matrix(memory: Memory, shape: tuple[int, int], place: tuple[int, int, int]) -> Array:
    """A matrix in memory: ``place`` is where it begins, and the steps of its axes."""
    begin, down, across = place
    rows, columns = np.ogrid[: shape[0], : shape[1]]
    found: Array = memory.elements[memory.origin + begin + down * rows + across * columns]
    return found


def _block(instruction: Instruction) -> Block:
    assert instruction.block is not None, f"{instruction.op} has a body"
    return instruction.block


_SPECIAL = {
    "load": _Interpreter.load,
    "store": _Interpreter.store,
    "gather": _Interpreter.load,
    "note": _Interpreter.note,
    "lane_id": _Interpreter.lane_id,
    "splat": _Interpreter.splat,
    "call": _Interpreter.call,
    "keep": _Interpreter.keep,
    "ask": _Interpreter.ask,
    "invoke": _Interpreter.invoke,
    "multiply": _Interpreter.multiply,
    "libm": _Interpreter.libm,
    "builtin": _Interpreter.builtin,
    "unknown": _Interpreter.unknown,
    "below": _Interpreter.below,
    "beyond": _Interpreter.beyond,
    "grid": _Interpreter.grid,
    "lanes": _Interpreter.lanes,
    "total": _Interpreter.total,
    "contract": _Interpreter.contract,
    "loop": _Interpreter.loop,
    "while": _Interpreter.repeat,
    "leave": _Interpreter.leave,
    "if": _Interpreter.branch,
    "if_any": _Interpreter.if_any,
}

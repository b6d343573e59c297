"""What an iteration of a kernel's top block computes: instructions by class and width.

Counted is the hot path: cold functions and ``if_any`` are not. Loops count as often as they turn,
where their bounds follow from the numbers that a launch is given; in a ``grid`` those of its first
cell stand for all. What nobody can know beforehand counts once.
"""

from __future__ import annotations

import math
import operator
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Final, Literal

from runmat_jit.kernel.ir import Buffer, Instruction, Kernel, Scalar, Value
from runmat_jit.kernel.primitives import SIZES

Class = Literal["arithmetic", "division", "conversion", "gather", "scalar"]
"""``arithmetic``: whatever takes about as long as an addition, loads and stores of neighbors among
it; ``division`` with square roots; ``conversion`` between types; ``gather``: an element by its
index, or at a distance from its neighbors that a launch gives; ``scalar``: an instruction that is
not made for lanes."""
Work = Mapping[tuple[Class, int], float]
"""Instructions by class and bytes of what they give (4 or 8)."""

_DIVISION: Final = frozenset({"div", "sqrt", "sdiv", "srem"})
_CONVERSION: Final = frozenset({"sitofp", "uitofp", "fptosi", "fpext", "fptrunc"})
_FREE: Final = frozenset({"splat", "lane_id", "note", "unknown", "bitcast", "keep"})
"""No instructions of their own, or few for many others."""
_CALLED: Final = 40.0
"""Additions that a call costs: of the C library, or of NumPy's loops."""
_KNOWN: Final[Mapping[str, Callable[..., float]]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "sdiv": lambda a, b: math.trunc(a / b) if b else 0,
    "srem": lambda a, b: math.fmod(a, b) if b else 0,
    "shl": lambda a, b: a * 2.0**b,
    "ashr": lambda a, b: math.floor(a / 2.0**b),
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
    "eq": operator.eq,
    "ne": operator.ne,
    "select": lambda chosen, a, b: a if chosen else b,
    "zext": lambda a: a,
    "sext": lambda a: a,
    "trunc": lambda a: a,
}
"""Instructions on whole numbers that bounds are made of."""


def count_work(kernel: Kernel, numbers: Sequence[object]) -> Work:
    """The work of an iteration of the top block.

    Args:
        kernel: A kernel.
        numbers: For each parameter the whole number that a launch gives it; anything else where it
            gives none.

    """
    counting = _Counting()
    for parameter, number in zip(kernel.parameters, numbers, strict=True):
        if isinstance(parameter, Scalar) and type(number) is int:
            counting.known[kernel.arguments[parameter.name]] = number
    counting.top(kernel.body)
    return counting.work


class _Counting:
    """Counts, and knows the whole numbers that follow from those of the launch."""

    def __init__(self) -> None:
        self.work: defaultdict[tuple[Class, int], float] = defaultdict(float)
        self.known: dict[Value, float] = {}
        self._in_lanes = False

    def top(self, body: Sequence[Instruction]) -> None:
        """A kernel's body: what is beside its parallel block happens once a run."""
        for instruction in body:
            block = instruction.block
            if instruction.op in ("grid", "lanes") and block is not None:
                if block.index is not None:
                    self.known[block.index] = 0
                self._in_lanes = instruction.op == "lanes"
                self.body(block.body, 1.0)
            else:
                self.note(instruction)

    def body(self, body: Sequence[Instruction], times: float) -> None:
        """Instructions that are made so often."""
        for instruction in body:
            if instruction.op in ("if_any", "note"):
                continue
            if instruction.block is not None:
                self.block(instruction, times)
                continue
            self.note(instruction)
            if instruction.op not in _FREE:
                self.add(instruction, times)

    def block(self, instruction: Instruction, times: float) -> None:
        """A block in it, as often as it turns."""
        block, turns = instruction.block, 1.0
        assert block is not None, "the caller has looked"
        if instruction.op in ("lanes", "total", "loop"):
            low, high = (self.number(value) for value in instruction.args[:2])
            step = self.number(instruction.args[2]) if instruction.op == "loop" else 1
            if low is not None and high is not None and step:
                turns = max(0.0, math.ceil((high - low) / step))
            if block.index is not None and low is not None:
                self.known[block.index] = low
        elif instruction.op == "contract":
            sizes = [self.number(value) or 1.0 for value in instruction.args[:3]]
            self.work["arithmetic", 4] += times * math.prod(sizes)
            turns = sizes[0] * sizes[1]
        outside = self._in_lanes
        self._in_lanes = outside or instruction.op not in ("loop", "while", "if")
        self.body(block.body, times * turns)
        self._in_lanes = outside

    def note(self, instruction: Instruction) -> None:
        """Know a whole number that follows from others."""
        meaning = _KNOWN.get(instruction.op)
        if meaning is None or len(instruction.results) != 1 or instruction.results[0].lane:
            return
        given = [self.number(value) for value in instruction.args]
        if None not in given:
            self.known[instruction.results[0]] = meaning(*given)

    def number(self, value: Value) -> float | None:
        """A number that is known."""
        return value.literal if value.literal is not None else self.known.get(value)

    def add(self, instruction: Instruction, times: float) -> None:
        """Count one instruction so often; in lanes, what is not made for lanes costs nothing."""
        op, values = instruction.op, (*instruction.results, *instruction.args)
        lanes = [value for value in values if value.lane]
        width = max((SIZES.get(value.type, 4) for value in lanes), default=4)
        if op == "multiply":
            extents = [self.number(value) for value in instruction.args[1:5]]
            buffer = instruction.attrs["product"]
            assert isinstance(buffer, Buffer), "a product names its buffers"
            self.work["scalar", 8] += times * _CALLED
            known = [extent for extent in extents if extent is not None]
            if len(known) == len(extents):
                self.work["arithmetic", SIZES[buffer.element]] += times * math.prod(known)
        elif op in ("libm", "invoke", "call"):
            self.work["scalar", 8] += times * _CALLED
        elif op == "gather" or (lanes and instruction.attrs.get("stride", 1) == "value"):
            self.work["gather", width] += times
        elif not lanes:
            self.work["scalar", 8] += 0.0 if self._in_lanes else times
        elif op in _DIVISION:
            self.work["division", width] += times
        elif op in _CONVERSION:
            self.work["conversion", width] += times
        else:
            self.work["arithmetic", width] += times

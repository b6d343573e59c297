"""Minima and maxima in single precision, by the bits of the floats.

Where an adapter flushes subnormal numbers, its comparisons take them for zero: floats would
be compared by ten operations. Of their bits, the largest signed integer is the largest float that
is not negative, the largest unsigned integer the smallest negative float; both are NaNs where there
is one of their sign. The extreme of a range on one side of zero is the smallest integer. So three
operations an element are enough. They distinguish zeros of both signs, of which the operation takes
the later one: where zeros are tied, the extreme is computed again.
"""

from __future__ import annotations

from runmat_jit.backends.wgpu.printer import Printer

_INFINITE, _MINUS_INFINITE, _LOWEST = "0x7f800000", "0xff800000", "0x80000000"
"""Bits of the infinities, and of -0.0: the lowest signed integer."""


def is_keyed(printer: Printer, op: str, kind: str) -> bool:
    """True if an operation is computed by bits."""
    return op in ("min", "max") and kind == "f32" and printer.flushes(kind)


class Extreme:
    """The three integers of the values so far, in variables of a shader.

    ``lane``: of each lane of a thread. ``above``: the largest signed one; ``below``: the largest
    unsigned one; ``near``: the smallest one, unsigned for a maximum, signed for a minimum.
    """

    def __init__(self, printer: Printer, op: str, *, lane: bool) -> None:
        self.printer, self.op, self.lane = printer, op, lane
        self.above, self.below, self.near = (printer.fresh(letter) for letter in "hln")
        self.signed = "u32" if op == "max" else "i32"
        self.start = f"{_MINUS_INFINITE}u" if op == "max" else f"{_INFINITE}u"
        near = self.start if op == "max" else f"{_INFINITE}i"
        lowest = f"bitcast<i32>({_LOWEST}u)"
        for name, kind, first in (
            (self.above, "i32", lowest),
            (self.below, "u32", "0u"),
            (self.near, self.signed, near),
        ):
            text = printer.splat(kind, first, lane=lane)
            printer.line(f"var {name}: {printer.vector(kind, lane=lane)} = {text};")

    def add(self, x: str, live: str | None) -> None:
        """Take in the live lanes of a value."""
        printer = self.printer
        bits = f"bitcast<{printer.vector('u32', lane=self.lane)}>({x})"
        if live is not None:
            bits = f"select({printer.splat('u32', self.start, lane=self.lane)}, {bits}, {live})"
        bits = printer.let(bits)
        signed = printer.let(f"bitcast<{printer.vector('i32', lane=self.lane)}>({bits})")
        self._take(signed, bits, bits if self.signed == "u32" else signed)

    def add_lanes(self, other: Extreme) -> None:
        """Take in all lanes of an extreme of each lane."""
        for lane in range(self.printer.lanes):
            names = (other.above, other.below, other.near)
            self._take(*(self.printer.component(name, lane) for name in names))

    def add_packed(self, packed: str) -> None:
        """Take in what ``packed`` has made."""
        near = f"{packed}.z" if self.signed == "i32" else f"bitcast<u32>({packed}.z)"
        self._take(f"{packed}.x", f"bitcast<u32>({packed}.y)", near)

    def packed(self) -> str:
        """The three integers as one vector."""
        return f"vec3<i32>({self.above}, bitcast<i32>({self.below}), bitcast<i32>({self.near}))"

    def _take(self, above: str, below: str, near: str) -> None:
        line = self.printer.line
        line(f"{self.above} = max({self.above}, {above});")
        line(f"{self.below} = max({self.below}, {below});")
        line(f"{self.near} = min({self.near}, {near});")

    def value(self) -> str:
        """The extreme, or a NaN."""
        printer, lane = self.printer, self.lane
        above, near = f"bitcast<{printer.vector('u32', lane=lane)}>({self.above})", self.near
        if self.op == "max":
            positive = f"{self.above} >= {printer.splat('i32', '0i', lane=lane)}"
            best = f"select({near}, {above}, {positive})"
            limit = printer.splat("u32", f"{_MINUS_INFINITE}u", lane=lane)
            other, is_nan = self.below, f"{self.below} > {limit}"
        else:
            negative = f"{self.below} >= {printer.splat('u32', f'{_LOWEST}u', lane=lane)}"
            near = f"bitcast<{printer.vector('u32', lane=lane)}>({near})"
            best = f"select({near}, {self.below}, {negative})"
            limit = printer.splat("i32", f"{_INFINITE}i", lane=lane)
            other, is_nan = above, f"{self.above} > {limit}"
        bits = f"select({best}, {other}, {is_nan})"
        return f"bitcast<{printer.vector('f32', lane=lane)}>({bits})"

    def is_tie(self) -> str:
        """The mask of lanes whose extreme is a zero that may not be the last one."""
        printer, lane = self.printer, self.lane
        if self.op == "max":
            return f"{self.above} == {printer.splat('i32', '0i', lane=lane)}"
        return f"{self.below} == {printer.splat('u32', f'{_LOWEST}u', lane=lane)}"

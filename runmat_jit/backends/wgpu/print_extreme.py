"""Minima and maxima in single precision, by integers in the order of the floats.

Where an adapter flushes subnormal numbers, its comparisons do not tell them from zero: floats would
be compared by ten operations. Integers made of their bits have the same order, and NaNs lie beyond
both infinities: the largest and the smallest of these integers, four operations an element, tell
the extreme and if there was a NaN. They tell zeros of both signs apart, of which the operation
takes the later one: who finds a tie of zeros computes the extreme anew.
"""

from __future__ import annotations

from runmat_jit.backends.wgpu.printer import Printer

_INFINITE, _MINUS_INFINITE = "2139095040i", "-2139095041i"
"""The integers of the infinities."""


def is_keyed(printer: Printer, op: str, kind: str) -> bool:
    """True if an operation is computed by integers."""
    return op in ("min", "max") and kind == "f32" and printer.flushes(kind)


class Extreme:
    """The largest and the smallest integer of the values so far, in variables of a shader."""

    def __init__(self, printer: Printer, op: str) -> None:
        self.printer, self.op = printer, op
        self.largest, self.smallest = printer.fresh("h"), printer.fresh("l")
        kind = printer.vector("i32")
        for name, start in ((self.largest, _MINUS_INFINITE), (self.smallest, _INFINITE)):
            printer.line(f"var {name}: {kind} = {printer.splat('i32', start)};")

    def add(self, x: str, live: str | None) -> None:
        """Take in the live lanes of a value."""
        printer = self.printer
        bits = printer.let(f"bitcast<{printer.vector('i32')}>({x})")
        key = printer.let(self._flipped(bits, lane=True))
        for name, function, start in (
            (self.largest, "max", _MINUS_INFINITE),
            (self.smallest, "min", _INFINITE),
        ):
            text = key if live is None else f"select({printer.splat('i32', start)}, {key}, {live})"
            printer.line(f"{name} = {function}({name}, {text});")

    def over_lanes(self) -> tuple[str, str]:
        """The integers over all lanes of the thread: of the extreme, and the other one."""
        found = []
        for name, function in ((self.largest, "max"), (self.smallest, "min")):
            text = self.printer.component(name, 0)
            for lane in range(1, self.printer.lanes):
                text = f"{function}({text}, {self.printer.component(name, lane)})"
            found.append(self.printer.let(text))
        return (found[0], found[1]) if self.op == "max" else (found[1], found[0])

    def value(self) -> str:
        """The extreme of each lane."""
        both = self.largest, self.smallest
        return self.value_of(*(both if self.op == "max" else both[::-1]), lane=True)

    def value_of(self, key: str, other: str, *, lane: bool) -> str:
        """Return the float of an integer; a NaN on the other side comes first."""
        bound = _MINUS_INFINITE if self.op == "max" else _INFINITE
        sign = "<" if self.op == "max" else ">"
        beyond = f"{other} {sign} {self.printer.splat('i32', bound, lane=lane)}"
        float_ = self.printer.vector("f32", lane=lane)
        one, nan = (f"bitcast<{float_}>({self._flipped(k, lane=lane)})" for k in (key, other))
        return f"select({one}, {nan}, {beyond})"

    def is_tie(self) -> str:
        """Return the mask of lanes whose extreme is a zero that may not be the last one."""
        return self.tie_of(self.largest if self.op == "max" else self.smallest, lane=True)

    def tie_of(self, key: str, *, lane: bool = False) -> str:
        """The same of an integer of the extreme."""
        zero = "0i" if self.op == "max" else "-1i"
        return f"{key} == {self.printer.splat('i32', zero, lane=lane)}"

    def _flipped(self, bits: str, *, lane: bool) -> str:
        """Invert the bits of negative values but for the sign: both conversions."""
        shift, rest = (
            self.printer.splat(kind, text, lane=lane)
            for kind, text in (("u32", "31u"), ("i32", "2147483647i"))
        )
        return f"{bits} ^ (({bits} >> {shift}) & {rest})"

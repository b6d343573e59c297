"""Kernel code of exact tests for floating-point events.

Classes are compared by the bits of magnitudes, as integers: finite below infinite below NaN.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from dataclasses import field

from runmat_jit.core.frozen import frozen
from runmat_jit.core.slotted import slotted
from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.ir import Value
from runmat_jit.plan.notes import LARGE, NEGATIVE, OPEN, POSITIVE, EventBits


@frozen
class _Format:
    """Magnitudes of a float type as integers."""

    integer: str
    mask: int
    infinity: int
    quiet: int
    """The least NaN that signals nothing."""
    large: int
    """So many terms that no sum of smaller ones overflows fit into no memory."""


_FORMATS = {
    "f32": _Format("i32", 0x7FFF_FFFF, 0x7F80_0000, 0x7FC0_0000, (127 + 128 - 48) << 23),
    "f64": _Format(
        "i64",
        0x7FFF_FFFF_FFFF_FFFF,
        0x7FF0_0000_0000_0000,
        0x7FF8_0000_0000_0000,
        (1023 + 1024 - 48) << 52,
    ),
}


@slotted
class ExactNotes:
    """Writes tests with a builder; ``magnitudes`` are those of values that are known by now.

    ``asked`` are values of which it is noted where they signal.
    """

    builder: Builder
    magnitudes: dict[int, Value] = field(default_factory=dict)
    asked: set[int] = field(default_factory=set)

    def rise(self, value: Value, operands: Sequence[Value], strict: Sequence[Value]) -> None:
        """Note that a value is of a higher class than all operands.

        A NaN that signals is of a lower class than those that do not, which results are: it excuses
        nothing. Of several operands, one may hide another that signals.
        """
        form, k = _FORMATS[value.type], self.builder
        reached = self._magnitude(value)
        reached = k.select(reached < form.quiet, reached, form.quiet)
        k.note(reached > self._excused(operands, strict, form))
        if len(operands) > 1:
            self._signals(operands)

    def events(
        self,
        value: Value,
        operands: Sequence[Value],
        strict: Sequence[Value],
        divisor: Value | None,
        bits: EventBits,
    ) -> None:
        """Note each kind of event of one operation by its bit."""
        form, k = _FORMATS[value.type], self.builder
        magnitude, excused = self._magnitude(value), self._excused(operands, strict, form)
        k.note((magnitude > form.infinity) & (excused <= form.infinity), bits.nan)
        infinite = k.eq(magnitude, form.infinity) & (excused < form.infinity)
        if divisor is not None:
            by_zero = k.eq(divisor, 0.0)
            k.note(infinite & by_zero, bits.pole)
            infinite = infinite & k.prim("xor", by_zero, True)
        k.note(infinite, bits.infinite)
        self._signals(operands)

    def term(self, value: Value) -> None:
        """Note what may make a sum of such terms overflow, or invalid."""
        form, k = _FORMATS[value.type], self.builder
        magnitude, infinity = self._magnitude(value), float("inf")
        k.note((magnitude > form.large) & (magnitude < form.infinity), LARGE)
        k.note(k.eq(value, infinity), POSITIVE)
        k.note(k.eq(value, -infinity), NEGATIVE)
        self._signals((value,))

    def moment(self, value: Value, mean: Value) -> None:
        """Note a sum of squared deviations that is not finite, or nearly so, unless there are NaN.

        A mean that is infinite leaves a NaN where an element is.
        """
        form = _FORMATS[value.type]
        excused = self._magnitude(mean) > form.infinity
        odd = self._magnitude(value) > form.large
        self.builder.note(odd & self.builder.prim("xor", excused, True), OPEN)

    def products(
        self,
        sums: Sequence[Value],
        terms: Value,
        factors_of: Callable[[Value], tuple[Sequence[Value], Value]],
    ) -> None:
        """Note sums of products that are not finite, but where only quiet NaNs make them so.

        ``factors_of`` a term: one of each sum, and one that they share. All are read once more, as
        a rare path: the others must be so small that no sum of their products overflows.
        """
        form, k = _FORMATS[sums[0].type], self.builder
        odd = [self._magnitude(value) >= form.infinity for value in sums]
        with k.if_any(functools.reduce(operator.or_, odd), ()):
            nothing = [k.splat(0, form.integer)] * (len(sums) + 1)
            with k.loop(0, terms, nothing) as loop:
                own, shared = factors_of(loop.i)
                largest = []
                for factor, carried in zip((*own, shared), loop.carry, strict=True):
                    bits = k.convert("bitcast", factor, form.integer) & form.mask
                    counts = (bits > carried) & (bits < form.quiet)
                    largest.append(k.select(counts, bits, carried))
                loop.yield_(*largest)
            *each, common = [k.convert("bitcast", bits, sums[0].type) for bits in loop.out]
            for is_odd, factor in zip(odd, each, strict=True):
                product = k.convert("bitcast", factor * common, form.integer) & form.mask
                k.note(is_odd & (product >= form.large), OPEN)

    def _signals(self, values: Sequence[Value]) -> None:
        """Note NaNs that signal: whatever reads one may report an event."""
        for value in values:
            if value.number not in self.asked:
                self.asked.add(value.number)
                form, magnitude = _FORMATS[value.type], self._magnitude(value)
                signals = (magnitude > form.infinity) & (magnitude < form.quiet)
                self.builder.note(signals, OPEN)

    def _excused(self, operands: Sequence[Value], strict: Sequence[Value], form: _Format) -> Value:
        """The highest magnitude that is no event, in a result's format."""
        k = self.builder
        excused = k.const(form.infinity - 1, form.integer)
        for operand in operands:
            own = self._class_of(operand, strict, form)
            excused = k.select(excused > own, excused, own)
        return excused

    def _class_of(self, operand: Value, strict: Sequence[Value], form: _Format) -> Value:
        """A magnitude that excuses as much as the operand does, in the result's format."""
        k, own = self.builder, _FORMATS[operand.type]
        magnitude = self._magnitude(operand)
        if operand in strict:
            magnitude = k.select(magnitude > own.infinity, magnitude, 0)
        if own is form:
            return magnitude
        found = k.const(0, form.integer)
        for at, here in (
            (own.infinity, form.infinity),
            (own.infinity + 1, form.infinity + 1),
            (own.quiet, form.quiet),
        ):
            found = k.select(magnitude < at, found, here)
        return found

    def _magnitude(self, value: Value) -> Value:
        known = self.magnitudes.get(value.number)
        if known is None:
            form, k = _FORMATS[value.type], self.builder
            known = k.convert("bitcast", value, form.integer) & form.mask
            self.magnitudes[value.number] = known
        return known

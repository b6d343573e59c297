"""Printing of comparisons: of floats so that NaN is what it is, and subnormal numbers no zeros."""

from __future__ import annotations

import math
import struct

from runmat_jit.backends.wgpu.printer import UNSIGNED, Printer
from runmat_jit.kernel.ir import Instruction, Value
from runmat_jit.kernel.primitives import FLOATS

COMPARISONS = {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}
_TURNED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq", "ne": "ne"}
"""What holds of (b, a) where an operation holds of (a, b)."""
_INFINITY, _SIGN = 0x7F800000, 0x80000000


def compare(printer: Printer, instruction: Instruction) -> str:
    """True if ``lt le gt ge eq ne`` holds; false, or true for ``ne``, where an operand is NaN."""
    (result,), args, op = instruction.results, instruction.args, instruction.op
    kind = args[0].type
    if kind == "i1":
        a, b = (printer.hidden(value, lane=result.lane) for value in args)
        return f"{a} {COMPARISONS[op]} {b}"
    a, b = printer.operands(instruction)
    if kind not in FLOATS:
        return f"{a} {COMPARISONS[op]} {b}"
    if printer.flushes(kind):
        return _compare_bits(printer, instruction, a, b)
    kept = printer.keep(a, kind, lane=result.lane)  # apart from a select between the same numbers
    if op != "ne":
        return f"{kept} {COMPARISONS[op]} {b}"
    nan = [printer.call("nan", kind, x, lane=result.lane) for x in (a, b)]
    return f"({kept} != {b}) | {' | '.join(nan)}"


def _compare_bits(printer: Printer, instruction: Instruction, a: str, b: str) -> str:
    """Floats are ordered as integers made of their bits; NaN apart."""
    (result,), op, (first, second) = instruction.results, instruction.op, instruction.args
    kind, lane = first.type, result.lane
    if kind == "f32" and first.literal is None and _is_number(second):
        return _compare_with_constant(printer, op, a, float(second.literal or 0.0), lane=lane)
    if kind == "f32" and second.literal is None and _is_number(first):
        op, number = _TURNED[op], float(first.literal or 0.0)
        return _compare_with_constant(printer, op, b, number, lane=lane)
    nan = " | ".join(printer.call("nan", kind, x, lane=lane) for x in (a, b))
    x, y = (printer.call("order", kind, each, lane=lane) for each in (a, b))
    holds = f"({x} {COMPARISONS[op]} {y})"
    return f"{holds} | {nan}" if op == "ne" else f"{holds} & !({nan})"


def _is_number(value: Value) -> bool:
    return value.literal is not None and not math.isnan(float(value.literal))


def _compare_with_constant(printer: Printer, op: str, x: str, number: float, *, lane: bool) -> str:
    """True if a float32 is in the range of bits for which a comparison with a constant holds."""
    word = printer.vector(UNSIGNED["f32"], lane=lane)
    bits = printer.name(f"bitcast<{word}>({x})")

    def among(first: int, last: int) -> str:
        """True if the bits are from ``first`` to ``last``, which there is at least one of."""
        least, count = (printer.splat("u32", f"{n}u", lane=lane) for n in (first, last - first))
        if first == last:
            return f"({bits} == {least})"
        return f"({bits} <= {count})" if first == 0 else f"(({bits} - {least}) <= {count})"

    found = " | ".join(among(*each) for each in _ranges(op, number))
    if not found:
        return printer.splat("bool", "false", lane=lane)
    return f"!({found})" if op == "ne" else found


def _ranges(op: str, number: float) -> list[tuple[int, int]]:
    """First and last bits of the float32 numbers of which a comparison with a constant holds.

    Of those that are not equal to the constant where the comparison is ``ne``: NaN is among them.
    """
    (bits,) = struct.unpack("<I", struct.pack("<f", number))
    magnitude, negative = bits & ~_SIGN, bits >= _SIGN
    if op in ("eq", "ne"):
        return [(bits, bits)] if magnitude else [(0, 0), (_SIGN, _SIGN)]
    below, strict = op in ("lt", "le"), op in ("lt", "gt")
    if magnitude == 0:  # both zeros are on one side
        side, other = (_SIGN, 0) if below else (0, _SIGN)
        same = [(side + 1, side + _INFINITY)] if strict else [(side, side + _INFINITY)]
        return same if strict else [*same, (other, other)]
    if below == negative:  # from the constant away from zero
        side = _SIGN if negative else 0
        first = magnitude + strict
        return [(side + first, side + _INFINITY)] if first <= _INFINITY else []
    side, other = (_SIGN, 0) if negative else (0, _SIGN)  # toward zero, and all of the other sign
    return [(side, side + magnitude - strict), (other, other + _INFINITY)]

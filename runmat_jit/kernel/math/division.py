"""Remainders and floor division, bit for bit NumPy's."""

from __future__ import annotations

import math

from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.ir import Value
from runmat_jit.kernel.math.formats import format_of, not_


def fmod(k: Builder, a: Value, b: Value) -> Value:
    """The remainder with the sign of ``a`` (C's ``fmod``); whole numbers: 0 where ``b`` is 0."""
    if a.type not in ("f32", "f64"):
        quotient, divisor = _truncated_quotient(k, a, b)
        return _zero_where(k, k.eq(b, 0), a - quotient * divisor)
    return k.prim("copysign", _remainder_of_magnitudes(k, a, b), a)


def floor_divide(k: Builder, a: Value, b: Value) -> Value:
    """The quotient rounded down; whole numbers: 0 where ``b`` is 0."""
    if a.type not in ("f32", "f64"):
        return _floor_divmod_integers(k, a, b)[0]
    quotient = a / b
    return k.select(k.eq(b, 0.0), quotient, _floor_divmod(k, a, b, quotient)[0])


def remainder(k: Builder, a: Value, b: Value) -> Value:
    """The remainder with the sign of ``b``; whole numbers: 0 where ``b`` is 0."""
    if a.type not in ("f32", "f64"):
        return _floor_divmod_integers(k, a, b)[1]
    return _sign_corrected(k, fmod(k, a, b), b)


def divmod_(k: Builder, a: Value, b: Value) -> tuple[Value, Value]:
    """``floor_divide`` and ``remainder`` for the price of one."""
    if a.type not in ("f32", "f64"):
        return _floor_divmod_integers(k, a, b)
    quotient = a / b
    floored, rest = _floor_divmod(k, a, b, quotient)
    return k.select(k.eq(b, 0.0), quotient, floored), rest


def _floor_divmod(k: Builder, a: Value, b: Value, quotient: Value) -> tuple[Value, Value]:
    """The steps of NumPy's ``npy_divmod``, roundings included; ``b`` is not 0."""
    rest = fmod(k, a, b)
    whole = (a - rest) / b
    whole = k.select(_opposed(k, rest, b), whole - 1.0, whole)
    floored = k.prim("floor", whole)
    floored = k.select(whole - floored > 0.5, floored + 1.0, floored)
    zero = k.prim("copysign", k.const(0.0, a.type), quotient)
    floored = k.select(k.eq(whole, 0.0), zero, floored)
    return floored, _sign_corrected(k, rest, b)


def _opposed(k: Builder, rest: Value, b: Value) -> Value:
    """Whether a remainder that is not 0 lies on the other side of 0 than the divisor."""
    return k.ne(rest, 0.0) & k.prim("xor", b < 0.0, rest < 0.0)


def _sign_corrected(k: Builder, rest: Value, b: Value) -> Value:
    """``fmod`` brought to the sign of the divisor."""
    zero = k.prim("copysign", k.const(0.0, b.type), b)
    moved = k.select(_opposed(k, rest, b), rest + b, rest)
    return k.select(k.eq(rest, 0.0), zero, moved)


def _remainder_of_magnitudes(k: Builder, a: Value, b: Value) -> Value:
    """``fmod(|a|, |b|)``, exact: one division where the quotient fits the format's digits."""
    dividend, divisor = k.prim("abs", a), k.prim("abs", b)
    quotient = k.prim("trunc_float", dividend / divisor)
    rest = _reduced(k, dividend, divisor, quotient)
    # False as well for an infinite or zero divisor and for NaN: the rest is NaN then.
    usual = (quotient < format_of(a).integral) & (rest < divisor)
    rare = not_(k, usual)
    with k.if_any(rare, [rest]) as unusual:
        special = _long_division(k, dividend, divisor)
        unusual.yield_(k.select(rare, special, unusual.carry[0]))
    return unusual.out[0]


def _reduced(k: Builder, dividend: Value, divisor: Value, quotient: Value) -> Value:
    """``dividend - quotient divisor``, exact, for a quotient that may be 1 too large."""
    rest = k.fma(-quotient, divisor, dividend)
    return k.select(rest < 0.0, rest + divisor, rest)


# Digits of a quotient found by one step, and steps for the largest number by the smallest.
_STEP_DIGITS = {"f32": 22, "f64": 50}
_STEPS = {"f32": 13, "f64": 42}


def _long_division(k: Builder, dividend: Value, divisor: Value) -> Value:
    """``fmod`` of any magnitudes: remainders by ``divisor 2**(digits j)`` for falling j.

    Not a cold function, because those have no loops.
    """
    kind = dividend.type
    digits, steps = _STEP_DIGITS[kind], _STEPS[kind]
    # Chosen by the divisor as well, so that it is per lane from the start if either operand is.
    start = k.select(k.prim("isnan", divisor), divisor, dividend)
    with k.loop(0, steps, [start]) as division:
        (rest,) = division.carry
        # Half of the shift at a time: a scale by all of it would be out of range.
        half = k.convert("sitofp", (steps - 1) - division.i, kind) * (digits / 2)
        shifted = k.prim("scale2", k.prim("scale2", divisor, half), half)
        quotient = k.prim("trunc_float", rest / shifted)
        reduced = _reduced(k, rest, shifted, quotient)
        division.yield_(k.select(shifted < math.inf, reduced, rest))
    result = k.select(k.eq(divisor, math.inf), dividend, division.out[0])
    defined = (dividend < math.inf) & (divisor > 0.0)
    return k.select(defined, result, math.nan)


def _truncated_quotient(k: Builder, a: Value, b: Value) -> tuple[Value, Value]:
    """The quotient toward 0, and the divisor used: 1 in place of 0, and of -1 under ``MIN``."""
    if b.literal not in (None, 0, -1):
        return k.prim("sdiv", a, b), b
    smallest = -(1 << ({"i32": 32, "i64": 64}[a.type] - 1))
    unsafe = k.eq(b, 0) | (k.eq(b, -1) & k.eq(a, smallest))
    divisor = k.select(unsafe, 1, b)
    return k.prim("sdiv", a, divisor), divisor


def _floor_divmod_integers(k: Builder, a: Value, b: Value) -> tuple[Value, Value]:
    quotient, divisor = _truncated_quotient(k, a, b)
    rest = a - quotient * divisor
    below = k.ne(rest, 0) & ((rest ^ divisor) < 0)
    zero = k.eq(b, 0)
    return (
        _zero_where(k, zero, k.select(below, quotient - 1, quotient)),
        _zero_where(k, zero, k.select(below, rest + divisor, rest)),
    )


def _zero_where(k: Builder, condition: Value, x: Value) -> Value:
    return k.select(condition, 0, x)

"""Remainders and floor division, bit for bit NumPy's."""

from __future__ import annotations

import math

from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.ir import Value
from runmat_jit.kernel.math.formats import bits_of, format_of, not_


def fmod(k: Builder, a: Value, b: Value) -> Value:
    """The remainder with the sign of ``a`` (C's ``fmod``); whole numbers: 0 where ``b`` is 0."""
    if a.type not in ("f32", "f64"):
        quotient, divisor = _truncated_quotient(k, a, b)
        return _zero_where(k, k.eq(b, 0), a - quotient * divisor)
    return _fmod_of_floats(k, a, b)


def floor_divide(k: Builder, a: Value, b: Value) -> Value:
    """The quotient rounded down; whole numbers: 0 where ``b`` is 0."""
    if a.type not in ("f32", "f64"):
        return _floor_divmod_integers(k, a, b)[0]
    quotient = _quotient_by_zero(a, b)
    return k.select(k.eq(b, 0.0), quotient, _floor_divmod(k, a, b, quotient)[0])


def remainder(k: Builder, a: Value, b: Value) -> Value:
    """The remainder with the sign of ``b``; whole numbers: 0 where ``b`` is 0."""
    if a.type not in ("f32", "f64"):
        return _floor_divmod_integers(k, a, b)[1]
    return _sign_corrected(k, fmod(k, a, b), b)


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


def _quotient_by_zero(a: Value, b: Value) -> Value:
    """``a / b`` where ``b`` is 0, elsewhere a number of the same sign."""
    if b.literal is not None and abs(b.literal) > 0:  # and not NaN
        return a if b.literal > 0 else -a
    return a / b


def _opposed(k: Builder, rest: Value, b: Value) -> Value:
    """True if a remainder that is not 0 lies on the other side of 0 than the divisor."""
    return k.ne(rest, 0.0) & k.prim("xor", b < 0.0, rest < 0.0)


def _sign_corrected(k: Builder, rest: Value, b: Value) -> Value:
    """``fmod`` brought to the sign of the divisor."""
    zero = k.prim("copysign", k.const(0.0, b.type), b)
    moved = k.select(_opposed(k, rest, b), rest + b, rest)
    return k.select(k.eq(rest, 0.0), zero, moved)


def _fmod_of_floats(k: Builder, a: Value, b: Value) -> Value:
    """``fmod``, exact: one division where the quotient fits the format's digits."""
    dividend, divisor = k.prim("abs", a), k.prim("abs", b)
    # A subnormal dividend counts as 0: quotients and products of those are slow on many machines.
    subnormal = dividend < format_of(a).smallest_normal
    counted = k.select(subnormal, 0.0, dividend)
    quotient = k.prim("trunc_float", counted / divisor)
    rest = k.select(subnormal, dividend, _reduced(k, counted, divisor, quotient))
    # False as well for an infinite or zero divisor and for NaN: the rest is NaN then.
    unusual = not_(k, (quotient < format_of(a).integral) & (rest < divisor))
    result = k.prim("copysign", rest, a)
    if b.literal is not None and math.isfinite(b.literal) and b.literal != 0:
        finite = dividend < math.inf
        return _with_long_division(k, a, b, unusual & finite, k.select(finite, result, a - a))
    with k.if_any(unusual, [result]) as rare:
        rare.yield_(_rare_fmod(k, a, b, unusual))
    return rare.out[0]


def _rare_fmod(k: Builder, a: Value, b: Value, unusual: Value) -> Value:
    """``fmod`` of any floats: steps of a long division where both are finite, which is rarer."""
    dividend, divisor = k.prim("abs", a), k.prim("abs", b)
    defined = (dividend < math.inf) & (divisor > 0.0)
    long = defined & (divisor < math.inf) & unusual
    return _with_long_division(k, a, b, long, k.select(defined, a, _undefined(k, a, b)))


def _with_long_division(k: Builder, a: Value, b: Value, long: Value, result: Value) -> Value:
    with k.if_any(long, [result]) as division:
        rest = _long_division(k, k.prim("abs", a), k.prim("abs", b))
        division.yield_(k.prim("copysign", rest, a))
    return division.out[0]


def _undefined(k: Builder, a: Value, b: Value) -> Value:
    """The first operand that is NaN, quiet, else the NaN that the machine makes."""
    nan = k.select(not_(k, k.prim("isnan", a)) & k.prim("isnan", b), b, a)
    return (nan - nan) * math.inf


def _reduced(k: Builder, dividend: Value, divisor: Value, quotient: Value) -> Value:
    """``dividend - quotient divisor``, exact, for a quotient that may be 1 too large."""
    rest = k.fma(-quotient, divisor, dividend)
    return k.select(rest < 0.0, rest + divisor, rest)


# Digits of a quotient found by one step, and the steps for the largest number by the smallest: in
# groups, which are skipped where no quotient is so long.
_STEP_DIGITS = {"f32": 22, "f64": 50}
_STEPS = {"f32": (3, 5), "f64": (6, 7)}


def _long_division(k: Builder, dividend: Value, divisor: Value) -> Value:
    """``fmod`` of finite magnitudes: remainders by ``divisor 2**(digits j)`` for falling j.

    Not a cold function, because those have no loops.
    """
    kind = dividend.type
    groups, steps = _STEPS[kind]
    # Of the quotient, to base 2**digits; half a digit more, so that no rounding counts.
    exponent = (_quotient_exponent(k, dividend, divisor) + 0.5) * (1 / _STEP_DIGITS[kind])
    # Chosen by the divisor as well, so that it is per lane from the start if either operand is.
    start = k.select(k.prim("isnan", divisor), divisor, dividend)
    with k.loop(0, groups, [start]) as division:
        first = k.convert("sitofp", (groups - 1 - division.i) * steps, kind)
        with k.if_any(exponent > first, division.carry) as group:
            with k.loop(0, steps, group.carry) as remainders:
                step = first + k.convert("sitofp", (steps - 1) - remainders.i, kind)
                remainders.yield_(_step(k, remainders.carry[0], divisor, exponent, step))
            group.yield_(*remainders.out)
        division.yield_(*group.out)
    return division.out[0]


def _step(k: Builder, rest: Value, divisor: Value, exponent: Value, step: Value) -> Value:
    """The remainder of ``rest`` by the divisor times a power of two, where ``exponent`` allows."""
    with k.if_any(exponent > step, [rest]) as needed:
        # Half of the shift at a time: a scale by all of it would be out of range.
        half = step * (_STEP_DIGITS[rest.type] / 2)
        shifted = k.prim("scale2", k.prim("scale2", divisor, half), half)
        reduced = _reduced(k, rest, shifted, k.prim("trunc_float", rest / shifted))
        needed.yield_(k.select(shifted < math.inf, reduced, rest))
    return needed.out[0]


def _quotient_exponent(k: Builder, dividend: Value, divisor: Value) -> Value:
    """A float that is at least the binary exponent of a quotient of magnitudes."""
    form = format_of(divisor)
    low = k.select(divisor < form.smallest_normal, k.const(form.fraction, form.integer), 0)
    fields = [k.prim("lshr", bits_of(k, x), form.fraction) for x in (dividend, divisor)]
    return k.convert("sitofp", fields[0] - fields[1] + low, dividend.type)


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

"""Random bits to random numbers; every function takes an i32 or i64 value of random bits."""

from __future__ import annotations

from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.ir import Value
from runmat_jit.kernel.math.coefficients import PI_PAIR, SINE
from runmat_jit.kernel.math.formats import FORMATS, format_of_bits, xor_sign
from runmat_jit.kernel.math.logarithm import _log_of_parts as log_of_parts
from runmat_jit.kernel.math.logarithm_parts import significand_and_exponent
from runmat_jit.kernel.math.polynomial import horner
from runmat_jit.kernel.math.wide_product import high_of_product


def uniform(k: Builder, bits: Value) -> Value:
    """A multiple of 2**-24 (f64: 2**-53) in [0, 1), from the upper bits."""
    kind, format_ = format_of_bits(bits)
    digits = format_.fraction + 1
    whole = k.prim("lshr", bits, format_.width - digits)
    return k.convert("sitofp", whole, kind) * 2.0**-digits


def bounded(k: Builder, bits: Value, last: Value) -> Value:
    """A whole number of [0, last], all i64 values taken as unsigned.

    ``floor(bits (last + 1) / 2**64)``: no number's probability is off by 2**-64 or more.
    """
    low = bits * last
    carry = k.prim("ult", low + bits, bits)
    return high_of_product(k, bits, last) + k.convert("zext", carry, "i64")


def normal(k: Builder, radius_bits: Value, angle_bits: Value) -> Value:
    """A normal number: ``sqrt(-2 log(u)) sin(2 pi v)`` (Box and Muller 1958).

    ``u`` is :func:`open_uniform` of ``radius_bits``; ``v`` is ``angle_bits``, signed, in units of
    2**-32 (f64: 2**-64) of a turn, rounded to a float once its half turn has been taken off. Adding
    a quarter turn to ``angle_bits`` gives the other number of the pair. The root and the sine are
    sums of two floats, so that only the logarithm's and the last rounding count.
    """
    return _of_radius(k, _radius(k, radius_bits), angle_bits)


def normals(k: Builder, radius_bits: Value, angle_bits: Value) -> tuple[Value, Value]:
    """Both numbers of a pair, as of :func:`normal`: a quarter turn ahead, and at the angle."""
    radius = _radius(k, radius_bits)
    quarter = 1 << (format_of_bits(angle_bits)[1].width - 2)
    ahead = _of_radius(k, radius, angle_bits + quarter)
    return ahead, _of_radius(k, radius, angle_bits)


def _radius(k: Builder, radius_bits: Value) -> tuple[Value, Value]:
    """The root, a sum of two floats."""
    u = open_uniform(k, radius_bits)
    bits = k.convert("bitcast", u, FORMATS[u.type].integer)
    square = log_of_parts(k, *significand_and_exponent(k, bits)) * -2.0
    radius = k.prim("sqrt", square)
    return radius, k.fma(-radius, radius, square) / (radius + radius)


def _of_radius(k: Builder, root: tuple[Value, Value], angle_bits: Value) -> Value:
    """A root times a sine."""
    radius, radius_low = root
    sine, sine_low, sign = _sine_of_turns(k, angle_bits)
    correction = k.fma(radius_low, sine, radius * sine_low)
    return xor_sign(k, k.fma(radius, sine, correction), sign)


def open_uniform(k: Builder, bits: Value) -> Value:
    """``(m + 1/2) 2**-31`` (f64: ``2**-63``), m the upper 31 (63) bits as a float, and below 1."""
    kind, format_ = format_of_bits(bits)
    unit = 2.0 ** (1 - format_.width)
    whole = k.convert("sitofp", k.prim("lshr", bits, 1), kind)
    u = k.fma(whole, unit, unit / 2)
    return k.select(u < 1.0, u, 1.0 - 2.0 ** -(format_.fraction + 1))


def _sine_of_turns(k: Builder, angle: Value) -> tuple[Value, Value, Value]:
    """The sine of a whole angle, a turn being ``2**width``: a sum of two, and a sign bit to flip.

    The half turn nearest to the angle is taken off exactly; what is left is multiplied by a pi of
    twice the digits, so that the sine is accurate next to its zeros as well.
    """
    kind, format_ = format_of_bits(angle)
    sign = (angle + (1 << (format_.width - 2))) & format_.sign
    whole = k.convert("sitofp", angle ^ sign, kind)
    pi, pi_low = (part * 2.0 ** (1 - format_.width) for part in PI_PAIR[kind])
    x = whole * pi
    x_low = k.fma(whole, pi_low, k.fma(whole, pi, -x))
    eighth = x * -0.125
    z = eighth * x
    bend = k.fma(eighth, x, horner(k, z, SINE[kind]) * z)  # sin(x) / x - 1
    cosine = k.fma(z, k.fma(z, 8 / 3, 4.0), 1.0)  # enough digits for x_low
    high = k.fma(bend, x, x)
    return high, k.fma(x_low, cosine, k.fma(bend, x, x - high)), sign

"""The error function and its complement.

``erf(x) = x + x R(x**2)`` for small arguments, beyond them ``erfc(x) = exp(-x**2) G(x)`` with
``(1 + 2 x) G(x) = 1 + P(q)``, ``q = (x - 4) / (x + 4)`` (Shepherd and Laframboise, 1981). Factors
are sums of two, so that the product is rounded nearly once.
"""

from __future__ import annotations

from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.ir import Value
from runmat_jit.kernel.math.coefficients import ERF_OF_SQUARE, SCALED_ERFC
from runmat_jit.kernel.math.double_word import fast_two_sum, two_product
from runmat_jit.kernel.math.exponential import exp_parts
from runmat_jit.kernel.math.polynomial import horner
from runmat_jit.kernel.math.scaling import times_power_of_two

# Up to here the function is a polynomial times its argument.
_SMALL = 0.75

# From here on the complement is 0.
_ZERO_FROM = {"f32": 10.25, "f64": 27.5}

# From here on the function is 1.
_ONE_FROM = {"f32": 4.0, "f64": 6.0}

# Lost in the sum with any square that counts; smaller ones are subnormal, which is slow.
_NEAR_ZERO = {"f32": 2.0**-100, "f64": 2.0**-900}

# Where the quotient is 0.
_CENTER = 4.0


def erf(k: Builder, x: Value) -> Value:
    """``2 / sqrt(pi)`` times the integral of ``exp(-t**2)`` from 0 to ``x``."""
    magnitude = k.prim("abs", x)
    small = magnitude < _SMALL
    end = _ONE_FROM[x.type]
    counted = k.select(small, _SMALL, k.select(magnitude > end, end, magnitude))
    high, low, n = _complement(k, counted)
    power = k.prim("scale2", k.const(1.0, x.type), n)
    far = k.fma(-high, power, 1.0) - low * power
    result = k.select(small, magnitude + _excess(k, magnitude), far)
    return k.prim("copysign", result, x)


def erfc(k: Builder, x: Value) -> Value:
    """``1 - erf(x)``, accurate where that is small, down to subnormal numbers."""
    magnitude = k.prim("abs", x)
    small, end = magnitude < _SMALL, _ZERO_FROM[x.type]
    counted = k.select(small, _SMALL, k.select(magnitude > end, end, magnitude))
    high, low, n = _complement(k, counted)
    tail = times_power_of_two(k, high + low, n)
    far = k.select(x < 0.0, 2.0 - tail, tail)
    signed = k.select(small, x, 0.0)
    near = 1.0 - signed
    near = near + (((1.0 - near) - signed) - _excess(k, signed))
    return k.select(small, near, far)


def _excess(k: Builder, x: Value) -> Value:
    """``erf(x) - x`` of a small argument."""
    z = k.fma(x, x, _NEAR_ZERO[x.type])
    return horner(k, z, ERF_OF_SQUARE[x.type]) * x


def _complement(k: Builder, x: Value) -> tuple[Value, Value, Value]:
    """``(h, l, n)`` with ``erfc(x) = 2**n (h + l)`` of an argument that is not small."""
    above = x + _CENTER
    reciprocal = 1.0 / above
    q = (x - _CENTER) * reciprocal
    rest = k.fma(q, -x, k.fma(q + 1.0, -_CENTER, x))
    q = k.fma(reciprocal, rest, q)
    p = horner(k, q, SCALED_ERFC[x.type])
    half = 0.5 / (x + 0.5)
    g = k.fma(p, half, half)
    g_low = half * ((p - g) + k.fma(g + g, -x, 1.0))
    square, square_low = two_product(k, x, x)
    power, power_low, n = exp_parts(k, -square, -square_low)
    high, error = two_product(k, power, g)
    return (*fast_two_sum(high, error + k.fma(power, g_low, power_low * g)), n)

"""What logarithms and powers share: floats taken apart, and a logarithm of twice the digits."""

from __future__ import annotations

from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.ir import Value
from runmat_jit.kernel.math.coefficients import LOG2_TAIL, TWO_OVER_LN2, TWO_THIRDS_OVER_LN2
from runmat_jit.kernel.math.double_word import Pair, fast_two_sum, multiply
from runmat_jit.kernel.math.formats import bits_of, float_of, format_of, format_of_bits
from runmat_jit.kernel.math.polynomial import horner

_SQRT_HALF_BITS = {"f32": 0x3F3504F3, "f64": 0x3FE6A09E667F3BCD}


def significand_and_exponent(k: Builder, bits: Value) -> tuple[Value, Value]:
    """A positive normal float as ``m 2**e``, ``sqrt(1/2) <= m < sqrt(2)``, with a float e."""
    kind, format_ = format_of_bits(bits)
    e = (bits - _SQRT_HALF_BITS[kind]) >> format_.fraction
    return float_of(k, bits - (e << format_.fraction)), k.convert("sitofp", e, kind)


def normalized_subnormal(k: Builder, x: Value) -> tuple[Value, float]:
    """A positive subnormal float times a power of two, and that power's exponent.

    By its bits as the fraction of a number from 1 to 2: products of subnormals are slow.
    """
    one = format_of(x).bias << format_of(x).fraction
    return float_of(k, bits_of(k, x) | one) - 1.0, float(format_of(x).bias - 1)


def log2_pair(k: Builder, m: Value, e: Value) -> Pair:
    """``e + log2(m)`` with twice the digits, by ``log2(m) = 2 atanh(s) / log(2)``."""
    kind = m.type
    f, g = m - 1.0, m + 1.0
    reciprocal = 1.0 / g
    s = f * reciprocal
    s_low = k.fma(-s, m - (g - 1.0), k.fma(-s, g, f)) * reciprocal
    z = s * s
    z_low = k.fma(s + s, s_low, k.fma(s, s, -z))
    tail = horner(k, z, LOG2_TAIL[kind]) * z
    c, c_low = fast_two_sum(k.const(TWO_THIRDS_OVER_LN2[kind][0], kind), tail)
    u, u_low = multiply(k, (z, z_low), (c, c_low + TWO_THIRDS_OVER_LN2[kind][1]))
    w, w_low = fast_two_sum(k.const(TWO_OVER_LN2[kind][0], kind), u)
    a, a_low = multiply(k, (s, s_low), (w, w_low + (u_low + TWO_OVER_LN2[kind][1])))
    total, error = fast_two_sum(e, a)
    return total, error + a_low

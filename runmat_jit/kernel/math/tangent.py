"""The tangent over all floats."""

from __future__ import annotations

import math

from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.ir import Value
from runmat_jit.kernel.math.coefficients import PI, TANGENT
from runmat_jit.kernel.math.double_word import fast_two_sum, two_product
from runmat_jit.kernel.math.formats import bits_of, xor_sign
from runmat_jit.kernel.math.payne_hanek import reduce_large_for_tangent
from runmat_jit.kernel.math.polynomial import horner

# Up to here the three parts of pi leave a relative error of r far below one unit.
_LIMIT = {"f32": 2.0**16, "f64": 2.0**36}

# Below, the cube of the argument is less than a quarter of its last place.
_TINY = {"f32": 2.0**-13, "f64": 2.0**-27}

# Lost in the sum with any square that counts; smaller ones are subnormal, which is slow.
_NEAR_ZERO = {"f32": 2.0**-100, "f64": 2.0**-900}


def tan(k: Builder, x: Value) -> Value:
    """Tangent of an angle in radians.

    It is ``tan(r)`` or ``-1 / tan(r)`` with ``x = n pi / 2 + r``, for even and odd n. Next to the
    poles that is ``-1 / r``, and everywhere ``-1 / tan(r)`` has all errors of ``tan(r)``: r and
    ``tan(r)`` are sums of two.
    """
    magnitude = k.prim("abs", x)
    tiny = magnitude < _TINY[x.type]
    r, low, odd = _reduce(k, k.select(tiny, 0.0, magnitude))
    z = k.fma(r, r, _NEAR_ZERO[x.type])
    series = horner(k, z, TANGENT[x.type]) * z
    slope = k.fma(z, k.fma(z, 2 / 3, 1.0), 1.0)  # enough digits for the low part
    high, low = fast_two_sum(r, k.fma(series, r, low * slope))
    # Of 1 / tan(r) by one step with the remainder.
    cotangent = -1.0 / high
    rest = k.fma(cotangent, low, k.fma(cotangent, high, 1.0))
    result = k.select(odd, k.fma(cotangent, rest, cotangent), high)
    return k.select(tiny, x, xor_sign(k, result, bits_of(k, x)))


def _reduce(k: Builder, x: Value) -> tuple[Value, Value, Value]:
    """``(r, low, odd)`` with ``x = n pi / 2 + r + low``."""
    n = k.prim("nearest", x * (2 / math.pi))
    first, second, third = (part / 2 for part in PI[x.type])
    r = k.fma(n, -first, x)  # exact, and so is what the sum with a rounded product loses
    product, error = two_product(k, n, k.const(second, x.type))
    r, lost = fast_two_sum(r, -product)
    low = k.fma(n, -third, lost - error)
    large = (x >= _LIMIT[x.type]) & (x < math.inf)
    with k.if_any(large, [r, low, n]) as rare:
        rare.yield_(*reduce_large_for_tangent(k, x))
    r, low, n = rare.out
    half = n * 0.5
    return r, low, k.ne(k.prim("nearest", half), half)

"""Products with powers of two whose results may be subnormal."""

from __future__ import annotations

from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.ir import Value
from runmat_jit.kernel.math.formats import float_of, format_of


def times_power_of_two(k: Builder, x: Value, n: Value) -> Value:
    """``x 2**n``, rounded once, for ``x`` in [1/2, 2) and a whole float ``n``.

    ``n`` is at least twice the exponent of the smallest number; where it is NaN, ``x`` is NaN.
    Instructions whose results are subnormal take a hundred times their time on many machines:
    subnormal results are whole numbers in the unit of the smallest, whose bits are the result's.
    """
    form = format_of(x)
    least = 2.0 - form.bias  # from here on results are normal, below they have the smallest unit
    small = n < least
    result = k.prim("scale2", x, k.select(small, least, n))
    with k.if_any(small, [result]) as subnormal:
        count = k.prim("scale2", x, k.select(small, n + float(form.bias - 1 + form.fraction), 0.0))
        whole = k.select(small, k.prim("rint", count), 0.0)
        subnormal.yield_(float_of(k, k.convert("fptosi", whole, form.integer)))
    return subnormal.out[0]

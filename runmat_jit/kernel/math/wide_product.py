"""Products of 64-bit whole numbers in 128 bits, for types that have no wider one."""

from __future__ import annotations

from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.ir import Value

_LOW = (1 << 32) - 1


def high_of_product(k: Builder, a: Value, b: Value) -> Value:
    """The upper 64 bits of the product of two i64 values taken as unsigned."""
    a_low, a_high = _halves(k, a)
    b_low, b_high = _halves(k, b)
    one, other = a_low * b_high, a_high * b_low
    carried = k.prim("lshr", a_low * b_low, 32) + (one & _LOW) + (other & _LOW)
    upper = k.prim("lshr", one, 32) + k.prim("lshr", other, 32)
    return a_high * b_high + upper + k.prim("lshr", carried, 32)


def _halves(k: Builder, x: Value) -> tuple[Value, Value]:
    return x & _LOW, k.prim("lshr", x, 32)

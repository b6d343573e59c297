"""Error-free transformations: sums and products as unevaluated pairs (Dekker 1971, Knuth)."""

from __future__ import annotations

from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.ir import Value

Pair = tuple[Value, Value]


def two_sum(a: Value, b: Value) -> Pair:
    """The rounded sum and its error."""
    total = a + b
    b_seen = total - a
    return total, (a - (total - b_seen)) + (b - b_seen)


def fast_two_sum(a: Value, b: Value) -> Pair:
    """The same where ``|a| >= |b|``, or ``a`` is 0."""
    total = a + b
    return total, b - (total - a)


def two_product(k: Builder, a: Value, b: Value) -> Pair:
    """The rounded product and its error."""
    product = a * b
    return product, k.fma(a, b, -product)


def multiply(k: Builder, a: Pair, b: Pair) -> Pair:
    """The product of two pairs, without the product of their low parts."""
    high, error = two_product(k, a[0], b[0])
    return high, k.fma(a[0], b[1], k.fma(a[1], b[0], error))

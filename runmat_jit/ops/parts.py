"""Complex numbers by their parts: kernels compute with real numbers alone.

A row that covers complex operands says what it is made of in terms of real and imaginary parts,
each of which is a value of the graph. The formulas are NumPy's: rows of arithmetic have its bits.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Final

import numpy as np

from runmat_jit.core.frozen import frozen
from runmat_jit.core.types import TensorType, broadcast_shapes, is_complex, part_dtype
from runmat_jit.ops.spec import Make
from runmat_jit.ops.structure import constant_params

_BOOL: Final = np.dtype(bool)
_HUGE: Final = {np.dtype("float32"): 87.0, np.dtype("float64"): 700.0}
"""Above, the exponential of a real number may be too large where a part of a complex one is not."""

EXPONENTS: Final = range(2, 9)
"""Exponents for which :func:`power` is a formula."""


@frozen
class Real:
    """A value of a graph that is real, with the operations that formulas need."""

    make: Make
    node: Any

    @property
    def dtype(self) -> np.dtype:
        found: np.dtype = self.node.type.dtype
        return found

    def row(self, name: str, *others: Real | float, to: np.dtype | None = None) -> Real:
        """An elementwise row of this value and others, whose result has its dtype, or another."""
        nodes = (self.node, *(self.number(other).node for other in others))
        shape = broadcast_shapes(*(node.type.shape for node in nodes))
        return Real(self.make, self.make(name, nodes, {}, TensorType(to or self.dtype, shape)))

    def number(self, value: Real | float) -> Real:
        """A number of this dtype."""
        if isinstance(value, Real):
            return value
        kind = TensorType(self.dtype, ())
        return Real(self.make, self.make("constant", (), constant_params(value, self.dtype), kind))

    def cast(self, dtype: np.dtype) -> Real:
        """The value in another dtype."""
        if dtype == self.dtype:
            return self
        kind = TensorType(dtype, self.node.type.shape)
        return Real(self.make, self.make("cast", (self.node,), {"dtype": dtype.name}, kind))

    def reduced(self, name: str, kind: TensorType, params: dict[str, Hashable]) -> Real:
        """A reduction, whose result's type is that of a part of ``kind``."""
        dtype = part_dtype(kind.dtype)
        params = params | {"dtype": dtype.name}
        made = self.make(name, (self.node,), params, TensorType(dtype, kind.shape))
        return Real(self.make, made)

    def __neg__(self) -> Real:
        return self.row("negative")

    def __add__(self, other: Real | float) -> Real:
        return self.row("add", other)

    def __sub__(self, other: Real | float) -> Real:
        return self.row("subtract", other)

    def __mul__(self, other: Real | float) -> Real:
        return self.row("multiply", other)

    def __truediv__(self, other: Real | float) -> Real:
        return self.row("divide", other)

    def __and__(self, other: Real) -> Real:
        return self.row("logical_and", other)

    def __or__(self, other: Real) -> Real:
        return self.row("logical_or", other)

    def is_(self, comparison: str, other: Real | float) -> Real:
        """True if it is ``equal``, ``less`` and so on."""
        return self.row(comparison, other, to=_BOOL)

    def times_plus(self, factor: Real, term: Real) -> Real:
        """``self * factor + term`` with one rounding."""
        return self.row("fma", factor, term)

    def choose(self, chosen: Real, other: Real | float) -> Real:
        """Where this is true the one, else the other."""
        return self.row("where", chosen, chosen.number(other), to=chosen.dtype)


@frozen
class Complex:
    """A value of a graph that is complex."""

    re: Real
    im: Real


Number = Real | Complex
Formula = Callable[..., Number]
"""Of operands and parameters by name; rows that reduce are given ``kind``, the result's type."""


def parts_of(make: Make, node: Any) -> Number:
    """A value of a graph as formulas take it."""
    if not is_complex(node.type.dtype):
        return Real(make, node)
    kind = TensorType(part_dtype(node.type.dtype), node.type.shape)
    return Complex(*(Real(make, make(part, (node,), {}, kind)) for part in ("real", "imag")))


def joined(make: Make, number: Number, kind: TensorType) -> Any:
    """The node of what a formula gives, a value of type ``kind``."""
    if isinstance(number, Real):
        return number.node
    assert is_complex(kind.dtype), f"complex numbers are no {kind}"
    return make("complex_of", (number.re.node, number.im.node), {}, kind)


# -- arithmetic ------------------------------------------------------------------------------------
def add(x: Complex, y: Complex) -> Complex:
    return Complex(x.re + y.re, x.im + y.im)


def subtract(x: Complex, y: Complex) -> Complex:
    return Complex(x.re - y.re, x.im - y.im)


def multiply(x: Complex, y: Complex) -> Complex:
    """NumPy's loops round the second products, and each sum with the first ones once."""
    re = x.re.times_plus(y.re, -(x.im * y.im))
    return Complex(re, x.re.times_plus(y.im, x.im * y.re))


def square(x: Complex) -> Complex:
    return multiply(x, x)


def divide(x: Complex, y: Complex) -> Complex:
    """By Smith's method, as NumPy: the smaller part of the divisor by the larger one."""
    across = y.re.row("absolute").is_("at_least", y.im.row("absolute"))
    large, small = across.choose(y.re, y.im), across.choose(y.im, y.re)
    zero = large.is_("equal", 0.0)
    ratio = small / zero.choose(large.number(1.0), large)
    scale = large.number(1.0) / zero.choose(y.re.row("absolute"), large + small * ratio)
    first, second = across.choose(x.re, x.im), across.choose(x.im, x.re)
    re = zero.choose(first, first + second * ratio)
    crossed = across.choose(second - first * ratio, first * ratio - second)
    return Complex(re * scale, zero.choose(x.im, crossed) * scale)


def product(x: Complex, y: Complex) -> Complex:
    """The product as NumPy's powers compute it: each part is rounded three times."""
    return Complex(x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re)


def power(x: Complex, _y: Number, *, exponent: int, **_params: Any) -> Complex:
    """By repeated squaring, as NumPy's powers; the second one is a ufunc of its own."""
    if exponent == 2:
        return square(x)
    if exponent == 3:
        found = product(x, product(x, x))
    else:
        found, squared = Complex(x.re.number(1.0), x.re.number(0.0)), x
        while exponent:
            if exponent & 1:
                found = product(found, squared)
            exponent >>= 1
            squared = product(squared, squared) if exponent else squared
    zero = x.re.is_("equal", 0.0) & x.im.is_("equal", 0.0)
    nothing = x.re.number(0.0)
    return Complex(zero.choose(nothing, found.re), zero.choose(nothing, found.im))


def reciprocal(x: Complex) -> Complex:
    """Like NumPy: by the ratio of the smaller part and the larger one."""
    across = x.re.row("absolute").is_("at_least", x.im.row("absolute"))
    large, small = across.choose(x.re, x.im), across.choose(x.im, x.re)
    ratio = small / large
    norm = large + small * ratio
    one = ratio.number(1.0)
    return Complex(across.choose(one, ratio) / norm, across.choose(-ratio, -1.0) / norm)


def negative(x: Complex) -> Complex:
    return Complex(-x.re, -x.im)


def positive(x: Complex) -> Complex:
    return x


def conjugate(x: Complex) -> Complex:
    return Complex(x.re, -x.im)


def absolute(x: Complex) -> Real:
    return x.re.row("hypot", x.im)


def angle(x: Complex) -> Real:
    return x.im.row("arctan2", x.re)


def exp(x: Complex) -> Complex:
    """``e**re`` times cosine and sine; special values as C's Annex G says."""
    sine, cosine = x.im.row("sin"), x.im.row("cos")
    infinity = float("inf")
    huge = x.re.is_("greater", _HUGE[x.re.dtype])
    half = huge.choose(x.re * 0.5, x.re).row("exp")
    rest = huge.choose(half, 1.0)
    endless = x.im.row("isfinite", to=_BOOL).row("logical_not")
    whole = half * rest
    re = endless.choose(whole * cosine, half * cosine * rest)
    vanishes = endless & x.re.is_("equal", -infinity)
    explodes = endless & x.re.is_("equal", infinity)
    re = vanishes.choose(half, explodes.choose(half, re))
    im = vanishes.choose(half.row("copysign", x.im), half * sine * rest)
    return Complex(re, x.im.is_("equal", 0.0).choose(x.im, im))


# -- comparisons and choices -----------------------------------------------------------------------
def equal(x: Complex, y: Complex) -> Real:
    return x.re.is_("equal", y.re) & x.im.is_("equal", y.im)


def not_equal(x: Complex, y: Complex) -> Real:
    return x.re.is_("not_equal", y.re) | x.im.is_("not_equal", y.im)


def isnan(x: Complex) -> Real:
    return x.re.row("isnan", to=_BOOL) | x.im.row("isnan", to=_BOOL)


def isinf(x: Complex) -> Real:
    return x.re.row("isinf", to=_BOOL) | x.im.row("isinf", to=_BOOL)


def isfinite(x: Complex) -> Real:
    return x.re.row("isfinite", to=_BOOL) & x.im.row("isfinite", to=_BOOL)


def where(condition: Real, x: Complex, y: Complex) -> Complex:
    return Complex(condition.choose(x.re, y.re), condition.choose(x.im, y.im))


def put(base: Complex, mask: Real, value: Complex) -> Complex:
    return where(mask, value, base)


def cast(x: Number, *, dtype: str) -> Complex:
    """To a complex dtype."""
    part = part_dtype(np.dtype(dtype))
    if isinstance(x, Complex):
        return Complex(x.re.cast(part), x.im.cast(part))
    found = x.cast(part)
    return Complex(found, found.number(0.0))


# -- reductions ------------------------------------------------------------------------------------
def sum_(x: Complex, *, kind: TensorType, **params: Any) -> Complex:
    return Complex(x.re.reduced("sum", kind, params), x.im.reduced("sum", kind, params))


def mean(x: Complex, *, kind: TensorType, count: Real, **params: Any) -> Complex:
    """The sum divided by a complex number of elements."""
    return divide(sum_(x, kind=kind, **params), Complex(count, count.number(0.0)))

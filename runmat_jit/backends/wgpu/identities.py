"""Formulas whose results are known, and which some driver computes otherwise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from runmat_jit.core.frozen import frozen
from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.ir import Value
from runmat_jit.kernel.math.casts import cast
from runmat_jit.kernel.math.division import floor_divide, remainder
from runmat_jit.kernel.math.exponential import exp
from runmat_jit.kernel.math.extrema import maximum, minimum
from runmat_jit.kernel.math.formats import bits_of, float_of, format_of
from runmat_jit.kernel.math.hyperbolic import tanh
from runmat_jit.kernel.math.logarithm import log, log1p
from runmat_jit.kernel.math.power import power
from runmat_jit.kernel.math.rounding import clamp, rint, trunc
from runmat_jit.kernel.math.trigonometric import cos, sin

Floats = np.ndarray[Any, Any]

FLOAT_DTYPES: dict[str, type[np.floating[Any]]] = {"f32": np.float32, "f64": np.float64}
_COUNT = 1024


@frozen
class Formula:
    """A formula as kernel code and in NumPy, of ordinary, small and special numbers.

    Results may be off by ``units`` ULP; 0: they must be equal bit by bit.
    """

    build: Callable[..., Value]
    expect: Callable[..., Any]
    units: int = 0

    def share(self, got: Floats, operands: tuple[Floats, ...]) -> float:
        """The share of results that are as expected; all NaN are one."""
        with np.errstate(all="ignore"):
            want = np.asarray(self.expect(*operands), got.dtype)
            near = np.abs(got - want) <= self.units * np.spacing(np.abs(want))
        same = equal_bits(got, want)
        return float(np.mean(same | near if self.units else same))


def equal_bits(a: Floats, b: Floats) -> Floats:
    """Elements that have equal bits; all NaN are one."""
    unsigned = f"u{a.itemsize}"
    equal: Floats = a.view(unsigned) == b.view(unsigned)
    return equal | (np.isnan(a) & np.isnan(b))


def same_bits(a: Floats, b: Floats) -> bool:
    """True if all elements have equal bits."""
    return bool(equal_bits(a, b).all())


def operands_of(kind: str) -> tuple[Floats, ...]:
    """Ordinary numbers, small ones, and all kinds of special ones."""
    dtype, rng = FLOAT_DTYPES[kind], np.random.default_rng(0)
    x = rng.uniform(1, 2, _COUNT).astype(dtype)
    h = (rng.uniform(1, 2, _COUNT) * 1e-6).astype(dtype)
    limits = np.finfo(dtype)
    numbers = [0.0, -0.0, np.inf, -np.inf, np.nan, limits.tiny, limits.max, 1.5, -2.5]
    return x, h, np.resize(np.array(numbers, dtype), _COUNT)


def _number(x: Floats, value: float) -> Any:
    """The number rounded to the type of ``x``."""
    return x.dtype.type(value)


def _rounded_by_shifting(_: Builder, x: Value, *__: Value) -> Value:
    shifter = 1.5 * 2.0 ** (23 if x.type == "f32" else 52)
    return (x + shifter) - shifter


def _sine(x: Floats) -> Floats:
    """NumPy's in float64: that of float32 is far off near multiples of pi."""
    return np.asarray(np.sin(x.astype(np.float64)))


def _wide(x: Floats) -> Floats:
    return x.astype(np.float64)


def _power(x: Floats, y: Floats) -> Floats:
    """Likewise."""
    return np.asarray(np.power(x.astype(np.float64), y.astype(np.float64)))


IDENTITIES: dict[str, Formula] = {
    "a b - a c": Formula(
        lambda _k, x, *_: x * x - x * 1.1, lambda x, *_: x * x - x * _number(x, 1.1)
    ),
    "a c d": Formula(
        lambda _k, x, *_: x * 0.1 * 0.3, lambda x, *_: x * _number(x, 0.1) * _number(x, 0.3)
    ),
    "a + c + d": Formula(
        lambda _k, x, *_: x + 0.1 + 0.2, lambda x, *_: x + _number(x, 0.1) + _number(x, 0.2)
    ),
    "rounding by shifting": Formula(_rounded_by_shifting, lambda x, *_: np.rint(x)),
    "error of a sum": Formula(lambda _k, x, h, _: (x + h) - x, lambda x, h, _: (x + h) - x),
    "difference with itself": Formula(lambda _k, _x, _h, s: s - s, lambda _x, _h, s: s - s),
    "product with zero": Formula(
        lambda _k, _x, _h, s: s * 0.0, lambda _x, _h, s: s * _number(s, 0.0)
    ),
    "zero minus zero": Formula(lambda _k, _x, _h, s: 0.0 - s, lambda _x, _h, s: _number(s, 0) - s),
    "sum with zero": Formula(lambda _k, _x, _h, s: s + 0.0, lambda _x, _h, s: s + _number(s, 0)),
    "NaN in a clamp": Formula(
        lambda k, _x, _h, s: clamp(k, s, 2.0),
        lambda _x, _h, s: np.clip(s, _number(s, -2), _number(s, 2)),
    ),
    "rounding to float32": Formula(
        lambda k, x, *_: cast(k, cast(k, x * 0.1, "f32"), x.type),
        lambda x, *_: (x * _number(x, 0.1)).astype(np.float32),
    ),
    "integer to float32": Formula(
        lambda k, x, *_: cast(k, cast(k, cast(k, x * 1e9, "i32"), "f32"), x.type),
        lambda x, *_: (x * _number(x, 1e9)).astype(np.int32).astype(np.float32),
    ),
    "not less": Formula(
        lambda k, x, h, s: k.select(k.prim("xor", s < 1.0, True), x, h),
        lambda x, h, s: np.where(s < 1, h, x),
    ),
}
"""What holds in IEEE arithmetic, whatever the hardware."""

HARDWARE: dict[str, Formula] = {
    "fma": Formula(  # rounding the product would leave half of the digits
        lambda k, x, *_: k.fma(x, 1.0 + 2.0**-12, -x), lambda x, *_: x * _number(x, 2.0**-12)
    ),
    "division": Formula(lambda _k, x, h, _: h / x, lambda x, h, _: h / x),
    "sqrt": Formula(lambda k, x, *_: k.prim("sqrt", x), lambda x, *_: np.sqrt(x)),
    "subnormals": Formula(
        lambda _k, x, *_: x * float(np.finfo(FLOAT_DTYPES[x.type]).tiny) * 0.125,
        lambda x, *_: x * np.finfo(x.dtype).tiny * _number(x, 0.125),
    ),
    "trunc": Formula(lambda k, _x, _h, s: trunc(k, s), lambda _x, _h, s: np.trunc(s)),
    "rint": Formula(lambda k, _x, _h, s: rint(k, s), lambda _x, _h, s: np.rint(s)),
}
"""What hardware rounds correctly, or does not."""

FUNCTIONS: dict[str, Formula] = {
    "exp": Formula(lambda k, x, *_: exp(k, x * 7.0), lambda x, *_: np.exp(x * _number(x, 7)), 4),
    "log": Formula(lambda k, x, h, _: log(k, x + h), lambda x, h, _: np.log(x + h), 6),
    "log1p": Formula(lambda k, _x, h, _s: log1p(k, h), lambda _x, h, _s: np.log1p(h), 4),
    "sin": Formula(lambda k, x, *_: sin(k, x * 3.0), lambda x, *_: _sine(x * _number(x, 3)), 6),
    "sin of large": Formula(
        lambda k, x, *_: sin(k, x * 2.0**24), lambda x, *_: _sine(x * _number(x, 2.0**24)), 6
    ),
    "cos": Formula(
        lambda k, x, *_: cos(k, x * 3.0), lambda x, *_: np.cos(_wide(x * _number(x, 3))), 6
    ),
    "tanh": Formula(lambda k, x, *_: tanh(k, x), lambda x, *_: np.tanh(x), 4),
    "power": Formula(
        lambda k, x, *_: power(k, x, x * 50.0), lambda x, *_: _power(x, x * _number(x, 50)), 4
    ),
    "exp of special": Formula(lambda k, _x, _h, s: exp(k, s), lambda _x, _h, s: np.exp(s), 4),
    "log of special": Formula(lambda k, _x, _h, s: log(k, s), lambda _x, _h, s: np.log(s), 6),
}
"""Our own expansions; NumPy's errors are part of the units."""

JUMPS: dict[str, Formula] = {
    "floor_divide": Formula(
        lambda k, x, *_: floor_divide(k, x * 3.0, x),
        lambda x, *_: np.floor_divide(x * _number(x, 3), x),
    ),
    "remainder": Formula(
        lambda k, x, h, s: remainder(k, x, k.select(s > 1.0, h, s)),
        lambda x, h, s: np.remainder(x, np.where(s > 1, h, s)),
    ),
    "rint": Formula(lambda k, x, *_: rint(k, x * 2.5), lambda x, *_: np.rint(x * _number(x, 2.5))),
    "conversion": Formula(
        lambda k, x, *_: cast(k, cast(k, x * 1000.0, "i32"), x.type),
        lambda x, *_: np.trunc(x * _number(x, 1000)),
    ),
    "maximum": Formula(lambda k, _x, h, s: maximum(k, s, h), lambda _x, h, s: np.maximum(s, h)),
    "minimum": Formula(lambda k, _x, h, s: minimum(k, h, s), lambda _x, h, s: np.minimum(h, s)),
    "floor of small": Formula(
        lambda k, x, *_: k.prim("floor", -_small(k, x)), lambda x, *_: np.full_like(x, -1)
    ),
    "ceil of small": Formula(
        lambda k, x, *_: k.prim("ceil", _small(k, x)), lambda x, *_: np.full_like(x, 1)
    ),
    "small is not zero": Formula(
        lambda k, x, *_: k.select(_small(k, x) > 0.0, x, 0.0), lambda x, *_: x
    ),
    "magnitude of small": Formula(
        lambda k, x, *_: k.select(
            _same_bits(k, k.prim("abs", -_small(k, x)), _small(k, x)), x, 0.0
        ),
        lambda x, *_: x,
    ),
}
"""Operations whose results jump: they are the CPU's, whatever the precision."""


def _small(k: Builder, x: Value) -> Value:
    """A subnormal number of the digits of ``x``, made without arithmetic."""
    return float_of(k, (bits_of(k, x) & (format_of(x).smallest_normal_bits - 1)) | 1)


def _same_bits(k: Builder, a: Value, b: Value) -> Value:
    return k.eq(bits_of(k, a), bits_of(k, b))

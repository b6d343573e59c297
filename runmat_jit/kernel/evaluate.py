"""What each primitive means, in NumPy: the definition that backends are tested against."""

from __future__ import annotations

import ctypes
import math
import sys
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from runmat_jit.kernel.primitives import LIBM

Array = np.ndarray[Any, Any]
"""Lanes of a value, or one number of no dimension where it is uniform."""

DTYPES: dict[str, type[np.generic]] = {
    "f32": np.float32,
    "f64": np.float64,
    "i32": np.int32,
    "i64": np.int64,
    "index": np.int64,
    "i1": np.bool_,
}


def evaluate(op: str, args: tuple[Array, ...], to: str) -> Array:
    """The result of a primitive (or ``select``), of value type ``to``."""
    with np.errstate(all="ignore"):
        if op in _CONVERSIONS:
            return np.asarray(_CONVERSIONS[op](args[0], np.dtype(DTYPES[to])))
        return np.asarray(_MEANING[op](*args))


@cache  # a memo: the process has one C library
def c_function(name: str) -> Callable[..., float]:
    """The C library's function of float64."""
    library = ctypes.CDLL("ucrtbase" if sys.platform == "win32" else None)
    function = library[name]
    function.restype, function.argtypes = ctypes.c_double, [ctypes.c_double] * LIBM[name]
    return function


def _unsigned(x: Array) -> Array:
    return x if x.dtype == np.bool_ else np.asarray(x.view(f"u{x.dtype.itemsize}"))


def _sdiv(a: Array, b: Array) -> Array:
    """The quotient rounded toward zero; the remainder has the sign of ``a``."""
    return np.asarray((a - np.fmod(a, b)) // b)


def _mulhi(a: Array, b: Array) -> Array:
    product = _unsigned(a).astype(np.uint64) * _unsigned(b).astype(np.uint64)
    return np.asarray((product >> np.uint64(32)).astype(np.uint32).view(np.int32))


def _lshr(a: Array, b: Array) -> Array:
    return np.asarray(np.right_shift(_unsigned(a), _unsigned(b)).view(a.dtype))


def _scale2(x: Array, n: Array) -> Array:
    whole = np.nan_to_num(np.clip(n, -5000, 5000)).astype(np.int32)
    return np.asarray(np.ldexp(x, whole))


def _fma(a: Array, b: Array, c: Array) -> Array:
    return _fma_f32(a, b, c) if a.dtype == np.float32 else np.vectorize(_fma_f64)(a, b, c)


def _fma_f32(a: Array, b: Array, c: Array) -> Array:
    """The exact product, added in double precision rounded to odd, then rounded once.

    Rounding to odd keeps in the last bit whether anything was lost, so that the second rounding
    is that of the exact sum (53 >= 24 + 2 bits).
    """
    product = a.astype(np.float64) * b.astype(np.float64)
    total = np.asarray(product + c)
    part = total - product
    error = (product - (total - part)) + (c - part)
    inexact = np.isfinite(total) & (error != 0) & (total.view(np.int64) & 1 == 0)
    towards = np.nextafter(total, np.copysign(np.inf, error))
    return np.where(inexact, towards, total).astype(np.float32)


def _fma_f64(a: float, b: float, c: float) -> float:
    """One value, by exact fractions: dividing two integers rounds correctly in Python."""
    if not (math.isfinite(a) and math.isfinite(b)):
        return a * b + c
    if not math.isfinite(c):
        return c
    exact = Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))
    if exact == 0:
        return a * b + c  # nothing is lost, and the zero has the right sign
    try:
        return float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


def _sext(x: Array, to: np.dtype[Any]) -> Array:
    return -x.astype(to) if x.dtype == np.bool_ else x.astype(to)


def _trunc(x: Array, to: np.dtype[Any]) -> Array:
    return (x & 1).astype(to) if to == np.bool_ else x.astype(to)


def _chosen(condition: Array, chosen: Array, other: Array) -> Array:
    return np.asarray(np.where(condition, chosen, other))


_MEANING: dict[str, Callable[..., Array]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "sdiv": _sdiv,
    "srem": np.fmod,
    "neg": np.negative,
    "abs": np.abs,
    "fma": _fma,
    "sqrt": np.sqrt,
    "rint": np.rint,
    "nearest": np.rint,
    "floor": np.floor,
    "ceil": np.ceil,
    "trunc_float": np.trunc,
    "copysign": np.copysign,
    "scale2": _scale2,
    "mulhi": _mulhi,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "shl": np.left_shift,
    "lshr": _lshr,
    "ashr": np.right_shift,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "eq": np.equal,
    "ne": np.not_equal,
    "ult": lambda a, b: np.less(_unsigned(a), _unsigned(b)),
    "isnan": np.isnan,
    "select": _chosen,
    # how a ``total`` combines: the second where equal, the first NaN otherwise
    "min": lambda a, b: _chosen((a < b) | (a != a), a, b),  # noqa: PLR0124 - true for NaN only
    "max": lambda a, b: _chosen((a > b) | (a != a), a, b),  # noqa: PLR0124 - true for NaN only
}
_CONVERSIONS: dict[str, Callable[[Array, np.dtype[Any]], Array]] = {
    "sitofp": lambda x, to: x.astype(to),
    "uitofp": lambda x, to: _unsigned(x).astype(to),
    "fptosi": lambda x, to: x.astype(to),
    "fpext": lambda x, to: x.astype(to),
    "fptrunc": lambda x, to: x.astype(to),
    "trunc": _trunc,
    "zext": lambda x, to: _unsigned(x).astype(to),
    "sext": _sext,
    "bitcast": lambda x, to: x.view(to),
}

"""Rows that convert angles, with NumPy's bits: one product."""

from __future__ import annotations

import math

import numpy as np

from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.ir import Value
from runmat_jit.kernel.math.formats import nearest
from runmat_jit.ops import sign
from runmat_jit.ops.elementwise import PASSES, elementwise
from runmat_jit.ops.spec import Event, Op

_LARGER: frozenset[Event] = frozenset({"overflow", "underflow"})
_SMALLER: frozenset[Event] = frozenset({"underflow"})
_GPU = {"float32": 2.0, "float64": 2.0}
"""Errors of the exact function: the factor is rounded, then the product."""


def _in_degrees(k: Builder, x: Value) -> Value:
    return x * k.const(_ratio(180.0, math.pi, x.type), x.type)


def _in_radians(k: Builder, x: Value) -> Value:
    return x * k.const(_ratio(math.pi, 180.0, x.type), x.type)


def _ratio(dividend: float, divisor: float, kind: str) -> float:
    """The quotient, operands and result rounded to the format, as NumPy's own constants are."""
    return nearest(nearest(dividend, kind) / nearest(divisor, kind), kind)


def _row(ufunc: np.ufunc, *, to_degrees: bool) -> Op:
    return elementwise(
        ufunc,
        "Degrees of an angle in radians." if to_degrees else "Radians of an angle in degrees.",
        _in_degrees if to_degrees else _in_radians,
        (PASSES,),
        events=_LARGER if to_degrees else _SMALLER,
        gpu_ulp=_GPU,
        sign=sign.least,
    )


ROWS = (
    _row(np.degrees, to_degrees=True),
    _row(np.rad2deg, to_degrees=True),
    _row(np.radians, to_degrees=False),
    _row(np.deg2rad, to_degrees=False),
)

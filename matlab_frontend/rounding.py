"""MATLAB's rounding, half away from zero, and saturating conversion to integer classes."""

from __future__ import annotations

import math

import numpy as np

from matlab_frontend.engine import Engine, Operand
from matlab_frontend.values.array import Data


def round_half_away(engine: Engine, data: Operand) -> Data:
    """The nearest whole number; halves go away from zero."""
    whole = engine.apply("trunc", data)
    rest = engine.apply("absolute", engine.apply("subtract", data, whole))
    step = engine.apply("copysign", engine.apply("greater_equal", rest, 0.5), data)
    return engine.apply("add", whole, step)


def saturate(engine: Engine, data: Data, dtype: np.dtype) -> Data:
    """Numbers as an integer class keeps them: rounded, clipped to its range, NaN as 0."""
    if data.dtype == dtype:
        return data
    if data.dtype.kind == "b":
        return engine.cast(data, dtype)
    limits = np.iinfo(dtype)
    if type(data) is np.ndarray and data.size == 1 and data.dtype.kind == "f":
        return np.full(data.shape, saturate_number(data.item(), limits), dtype)
    if data.dtype.kind in "iu":
        return engine.host(_clip_integers, data, dtype)
    if data.dtype.kind == "c":
        data = engine.host(np.real, data)
    if dtype.itemsize == 8:
        return engine.host(_saturate_wide, data, dtype)
    rounded = round_half_away(engine, engine.cast(data, np.dtype(np.float64)))
    clipped = engine.apply(
        "minimum", engine.apply("maximum", rounded, float(limits.min)), float(limits.max)
    )
    number = engine.apply("where", engine.apply("isnan", clipped), 0.0, clipped)
    return engine.cast(number, dtype)


def saturate_number(number: float, limits: np.iinfo) -> int:
    """One number as an integer class keeps it."""
    if not math.isfinite(number):
        return 0 if math.isnan(number) else int(limits.max if number > 0 else limits.min)
    whole = math.trunc(number)
    if abs(number - whole) >= 0.5:
        whole += 1 if number > 0 else -1
    return int(min(max(whole, limits.min), limits.max))


def _clip_integers(data: np.ndarray, dtype: np.dtype) -> np.ndarray:
    limits, own = np.iinfo(dtype), np.iinfo(data.dtype)
    low, high = max(limits.min, own.min), min(limits.max, own.max)
    return np.asarray(np.clip(data, low, high), dtype)


def _saturate_wide(data: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Saturate to 64 bits, whose limits are no doubles."""
    limits = np.iinfo(dtype)
    whole = np.trunc(data)
    whole = whole + np.copysign(np.abs(data - whole) >= 0.5, data)
    high, low = whole >= float(limits.max), whole <= float(limits.min)
    inside = np.where(high | low | np.isnan(whole), 0, whole).astype(dtype)
    made = np.where(high, limits.max, np.where(low, limits.min, inside))
    return np.asarray(made, dtype)

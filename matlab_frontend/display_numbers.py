"""Columns of numbers: widths, digits and common scale factors of MATLAB's formats."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

LINE_WIDTH = 80
TIMES = "\N{MULTIPLICATION SIGN}"
"""Stands between extents: 2-by-3 is shown with this sign."""
_WIDE_INTEGER = 1e9
"""Whole numbers from here on are shown with an exponent."""


@dataclass(frozen=True, slots=True)
class Style:
    """What ``format`` chose: digits after the point, of doubles and of singles."""

    digits: int
    single_digits: int

    def for_single(self) -> Style:
        """The style of single precision."""
        return replace(self, digits=self.single_digits)


SHORT = Style(4, 4)
LONG = Style(15, 7)


@dataclass(frozen=True, slots=True)
class Layout:
    """How the elements of one array are shown: each takes ``width`` characters."""

    element: Callable[[Any], str]
    width: int
    scale_text: str = ""


def logical_layout() -> Layout:
    """``   1   0``."""
    return Layout(lambda x: f"   {int(x)}", 4)


def integer_layout(table: np.ndarray) -> Layout:
    """Integer classes: as wide as the longest number, two blanks between."""
    digits = max(len(str(int(table.min()))), len(str(int(table.max()))))
    width = digits + (2 if table.size > 1 and table.min() < 0 else 3)
    width = digits + 3 if table.min() >= 0 else width
    return Layout(lambda x: f"{x:>{width}d}", width)


def float_layout(table: np.ndarray, style: Style) -> Layout:
    """Double and single: whole numbers, fixed point, or fixed point times a power of ten."""
    finite = np.abs(table[np.isfinite(table)]).astype(float)
    largest = float(finite.max(initial=0.0))
    if not np.any(np.trunc(finite) != finite):
        return _whole_layout(table, largest, style)
    if table.size == 1:
        return _scalar_layout(largest, style)
    width = style.digits + 6
    if largest >= 1000 or largest < 0.001:
        exponent = math.floor(math.log10(largest)) + (1 if largest < 1 else 0)
        scale = 10.0**exponent
        text = f"1.0e{exponent:+03d}"
        return Layout(lambda x: _fixed(x, scale, style.digits, width), width, text)
    return Layout(lambda x: _fixed(x, 1.0, style.digits, width), width)


def complex_layout(table: np.ndarray, style: Style) -> Layout:
    """Complex numbers: both parts fixed, the imaginary one with its sign and ``i``."""
    parts = np.concatenate((table.real.ravel(), table.imag.ravel()))
    finite = np.abs(parts[np.isfinite(parts)])
    largest = float(finite.max(initial=0.0))
    whole = not np.any(np.trunc(finite) != finite)
    digits = 0 if whole else style.digits
    scale, text = 1.0, ""
    if not whole and (largest >= 1000 or largest < 0.001):
        exponent = math.floor(math.log10(largest)) + (1 if largest < 1 else 0)
        scale, text = 10.0**exponent, f"1.0e{exponent:+03d}"
    body = max(len(f"{largest / scale:.{digits}f}"), digits + 2 if digits else 1)
    width = body + 3

    def element(x: complex) -> str:
        sign = "-" if math.copysign(1.0, x.imag) < 0 else "+"
        real = f"{x.real / scale:.{digits}f}"
        imaginary = f"{abs(x.imag) / scale:.{digits}f}"
        return f"{real:>{width}} {sign} {imaginary:>{body}}i"

    return Layout(element, width + body + 4, text)


def _whole_layout(table: np.ndarray, largest: float, style: Style) -> Layout:
    if largest >= _WIDE_INTEGER:
        if table.size == 1:
            return _scalar_layout(largest, style)
        exponent = math.floor(math.log10(largest))
        scale, width = 10.0**exponent, style.digits + 6
        text = f"1.0e{exponent:+03d}"
        return Layout(lambda x: _fixed(x, scale, style.digits, width), width, text)
    digits = len(str(int(largest)))
    width = 6 if digits <= 3 else 12
    return Layout(lambda x: f"{_special(x) or int(x):>{width}}", width)


def _scalar_layout(size: float, style: Style) -> Layout:
    """A scalar with a fraction: fixed point from 0.001 below 1000, else an exponent."""
    digits = style.digits
    if 0.001 <= size < 1000:
        if digits > 4:
            digits = max(digits - max(math.floor(math.log10(size)), 0), 0)
        width = style.digits + 6
        return Layout(lambda x: f"{x:>{width}.{digits}f}", width)
    width = digits + 9
    return Layout(lambda x: f"{x:>{width}.{digits}e}", width)


def _fixed(x: float, scale: float, digits: int, width: int) -> str:
    if x == 0:
        return f"{0:>{width}}"
    return f"{_special(x) or format(x / scale, f'.{digits}f'):>{width}}"


def _special(x: float) -> str:
    if math.isnan(x):
        return "NaN"
    return "" if math.isfinite(x) else "Inf" if x > 0 else "-Inf"

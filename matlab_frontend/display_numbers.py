"""Columns of numbers: widths, digits and common scale factors of MATLAB's formats."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from runmat_jit.core.frozen import frozen

LINE_WIDTH = 80
TIMES = "\N{MULTIPLICATION SIGN}"
"""Stands between extents: 2-by-3 is shown with this sign."""
_LEAST = 0.001
"""Numbers with fractions are shown with a power of ten up to here."""
_COMPLEX_LIMIT = 100.0
"""From here on, complex numbers are shown with a power of ten in all formats."""
_WIDE_INTEGER = 1e9
"""Whole numbers from here on are shown with an exponent."""


@frozen
class Style:
    """What ``format`` chose.

    Attributes:
        digits: Digits after the point.
        width: Characters of a number in fixed point.
        limit: From here on, numbers with fractions are shown with a power of ten.
        margin: Blanks before a number with an exponent, its sign included.
        significant: Each number with so many significant digits, in the shorter of both notations,
            and no common factor; 0: not so.

    """

    digits: int
    width: int
    limit: float
    margin: int
    significant: int = 0


@frozen
class Styles:
    """The styles of double and single precision."""

    double: Style
    single: Style


SHORT = Styles(Style(4, 10, 1000.0, 3), Style(4, 10, 1000.0, 3))
LONG = Styles(Style(15, 20, 100.0, 5), Style(7, 12, 100.0, 5))
SHORT_G = Styles(Style(4, 13, 1000.0, 3, 5), Style(4, 13, 1000.0, 3, 5))
LONG_G = Styles(Style(15, 26, 100.0, 5, 15), Style(7, 15, 100.0, 5, 7))
STYLES = {"short": SHORT, "long": LONG, "shortg": SHORT_G, "longg": LONG_G}
"""By the words of ``format``, without blanks."""


@frozen
class Layout:
    """How the elements of one array are shown: each takes ``width`` characters."""

    element: Callable[[Any], str]
    width: int
    scale_text: str = ""


def logical_layout() -> Layout:
    """``   1   0``."""
    return Layout(lambda x: f"   {int(x)}", 4)


def integer_layout(table: np.ndarray) -> Layout:
    """Integer classes: three blanks and the longest number."""
    width = max(len(str(int(table.min()))), len(str(int(table.max())))) + 3
    return Layout(lambda x: f"{x:>{width}d}", width)


def float_layout(table: np.ndarray, style: Style) -> Layout:
    """Double and single: whole numbers, fixed point, or fixed point times a power of ten."""
    largest, whole = _measure(np.abs(table))
    if whole and largest < _WIDE_INTEGER:
        width = 6 if largest < 1000 else 12
        return Layout(lambda x: f"{_special(x) or int(x):>{width}}", width)
    if style.significant:
        return Layout(lambda x: f"{_general(x, style):>{style.width}}", style.width)
    if table.size == 1:
        return _scalar_layout(largest, style)
    exponent = _scale_exponent(largest, style)
    scale = 10.0**exponent
    return Layout(
        lambda x: _fixed(x, scale, style.digits, style.width),
        style.width,
        f"1.0e{exponent:+03d}" if exponent else "",
    )


def _general(x: float, style: Style) -> str:
    """A number in the shorter of both notations."""
    return _special(x) or f"{x:.{style.significant}g}"


def complex_layout(table: np.ndarray, style: Style) -> Layout:
    """Complex numbers: both parts in fixed point, the imaginary one with its sign and ``i``."""
    if style.significant:
        return _general_complex(style)
    parts = np.abs(np.concatenate((table.real.ravel(), table.imag.ravel())))
    largest, _ = _measure(parts)
    digits = style.digits
    exponent = _scale_exponent(largest, replace(style, limit=_COMPLEX_LIMIT))
    if exponent and table.size == 1:
        return _complex_scalar_layout(digits)
    scale = 10.0**exponent
    body = len(f"{largest / scale:.{digits}f}")
    real_width = body + 3

    def element(x: complex) -> str:
        sign = "-" if math.copysign(1.0, x.imag) < 0 else "+"
        real, imaginary = (
            _special(part) or f"{part / scale:.{digits}f}" for part in (x.real, abs(x.imag))
        )
        return f"{real:>{real_width}} {sign} {imaginary:>{body}}i"

    return Layout(element, real_width + body + 4, f"1.0e{exponent:+03d}" if exponent else "")


def _general_complex(style: Style) -> Layout:
    """Complex numbers whose parts are in the shorter of both notations."""

    def element(x: complex) -> str:
        sign = "-" if math.copysign(1.0, x.imag) < 0 else "+"
        real, imaginary = (_general(part, style) for part in (x.real, abs(x.imag)))
        return f"{real:>{style.width}} {sign} {imaginary:>{style.width - 3}}i"

    return Layout(element, 2 * style.width + 1)


def _complex_scalar_layout(digits: int) -> Layout:
    """A complex scalar whose parts are shown with powers of ten of their own."""

    def element(x: complex) -> str:
        sign = "-" if math.copysign(1.0, x.imag) < 0 else "+"
        real, imaginary = (_special(part) or f"{part:.{digits}e}" for part in (x.real, abs(x.imag)))
        return f"{real:>{digits + 9}} {sign} {imaginary}i"

    return Layout(element, 2 * digits + 20)


def _measure(sizes: np.ndarray) -> tuple[float, bool]:
    """The largest finite size, and whether all finite ones are whole."""
    finite = sizes[np.isfinite(sizes)].astype(float)
    return float(finite.max(initial=0.0)), not np.any(np.trunc(finite) != finite)


def _scale_exponent(largest: float, style: Style) -> int:
    """The power of ten before a matrix: where numbers are too large or too small without it."""
    if largest == 0 or _LEAST < largest < style.limit:
        return 0
    power = math.log10(largest)
    return math.ceil(power) if largest < 1 else math.floor(power)


def _scalar_layout(size: float, style: Style) -> Layout:
    """A scalar with a fraction: fixed point, or an exponent where it is large or small."""
    digits = style.digits
    if _LEAST < size < style.limit:
        return Layout(lambda x: f"{x:>{style.width}.{digits}f}", style.width)
    width = digits + 6 + style.margin
    return Layout(lambda x: f"{x:>{width}.{digits}e}", width)


def _fixed(x: float, scale: float, digits: int, width: int) -> str:
    if x == 0:
        return f"{0:>{width}}"
    return f"{_special(x) or format(x / scale, f'.{digits}f'):>{width}}"


def _special(x: float) -> str:
    if math.isnan(x):
        return "NaN"
    return "" if math.isfinite(x) else "Inf" if x > 0 else "-Inf"


def in_groups(lines: Sequence[Sequence[str]], widths: Sequence[int]) -> Iterator[str]:
    """Lines of columns, in groups of columns that fit the window."""
    first = 0
    while first < len(widths):
        last, taken = first + 1, widths[first]
        while last < len(widths) and taken + widths[last] <= LINE_WIDTH:
            taken += widths[last]
            last += 1
        if (first, last) != (0, len(widths)):
            yield _columns_title(first + 1, last)
            yield ""
        for line in lines:
            yield "".join(line[first:last])
        if last < len(widths):
            yield ""
        first = last


def _columns_title(first: int, last: int) -> str:
    if first == last:
        return f"  Column {first}"
    return f"  Columns {first} {'and' if last == first + 1 else 'through'} {last}"

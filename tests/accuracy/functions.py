"""The rows whose bits are ours, as native functions, with exact references of several speeds."""

from dataclasses import dataclass
from functools import cache

import mpmath
import numpy as np

from runmat_jit.ops.table import ROWS
from tests.ops.kernels import by_machine, element_kernel

EXACT = {"log": mpmath.log, "sin": mpmath.sin, "cos": mpmath.cos, "exp": mpmath.exp}
EXACT |= {"tanh": mpmath.tanh, "power": mpmath.power, "pow": mpmath.power}
EXACT |= {"exp2": lambda x: mpmath.power(2, x), "log2": lambda x: mpmath.log(x, 2)}
EXACT |= {name: getattr(mpmath, name) for name in ("expm1", "log10", "log1p", "sinh", "cosh")}
EXACT |= {"arctan": mpmath.atan, "arctan2": mpmath.atan2, "hypot": mpmath.hypot}
EXACT |= {"arcsin": mpmath.asin, "arccos": mpmath.acos}
EXACT |= {"tan": mpmath.tan, "arcsinh": mpmath.asinh, "arccosh": mpmath.acosh}
EXACT |= {"arctanh": mpmath.atanh}
EXACT["logaddexp"] = lambda x, y: max(x, y) + mpmath.log1p(mpmath.exp(-abs(x - y)))
EXACT["logaddexp2"] = lambda x, y: (
    max(x, y) + mpmath.log1p(mpmath.power(2, -abs(x - y))) / mpmath.log(2)
)
EXACT |= {"expit": lambda x: 1 / (1 + mpmath.exp(-x)), "erf": mpmath.erf, "erfc": mpmath.erfc}
EXACT |= {"logit": lambda x: mpmath.log(x / (1 - x)), "entr": lambda x: -x * mpmath.log(x)}
EXACT |= {"xlogy": lambda x, y: x * mpmath.log(y), "xlog1py": lambda x, y: x * mpmath.log1p(y)}
EXACT["cbrt"] = lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x))
EXACT["float_power"] = mpmath.power
SUMS = ("logaddexp", "logaddexp2")
"""Rows whose two terms may cancel: the unit is that of the largest of both and the result."""
_POWERS = ("pow", "float_power")
"""Rows with the kernel code of ``power``."""
OURS = [r for r in ROWS.values() if r.kind == "elementwise" and r.ulp and r.spellings]
UNARY = tuple(row.name for row in OURS if row.arity == 1)
"""Rows of mathematics with one operand: their float32 inputs can all be tried."""
NAMES = (*UNARY, *(row.name for row in OURS if row.arity == 2 and row.name not in _POWERS))
DTYPES = ("float32", "float64")
ALL = 1 << 32
"""Numbers of float32."""
EXTENDED = np.finfo(np.longdouble).nmant >= 63
"""Whether NumPy has a type with enough digits to judge float64 by: mpmath is 1000 times slower."""


@dataclass(frozen=True)
class Format:
    """An IEEE format: stored digits and the exponents of its normal numbers."""

    digits: int
    least: int
    largest: int


FORMATS = {"float32": Format(23, -126, 127), "float64": Format(52, -1022, 1023)}


@cache
def _kernel(name, dtype):
    row, dtype = ROWS[name], np.dtype(dtype)
    params = {"exponent": None, "single": False} if name == "power" else {}
    return element_kernel(row, (dtype,) * row.arity, dtype, params)


def ours(name, *operands):
    """The row's native code on arrays of one dtype."""
    dtype = operands[0].dtype
    return by_machine(_kernel(name, dtype.name), operands, dtype)[0]


def wider(name, *operands):
    """NumPy's function in the next wider format, whose own error does not count."""
    dtype = {"float32": np.float64, "float64": np.longdouble}[operands[0].dtype.name]
    with np.errstate(all="ignore"):
        return getattr(np, name)(*(x.astype(dtype) for x in operands))


def errors_of(name, *operands):
    """Units in the last place by which the row's native code is off."""
    got, exact = ours(name, *operands), wider(name, *operands)
    if name not in SUMS:
        return errors(got, exact)
    with np.errstate(all="ignore"):
        unit = largest_term(exact, np.maximum(*operands), np.maximum)
        return errors(got, exact, np.where(np.isfinite(unit), unit, exact))


def largest_term(exact, larger, maximum=max):
    """The largest of a sum of one term and another one, and both, in magnitude."""
    return maximum(maximum(abs(exact), abs(larger)), abs(exact - larger))


def errors(got, exact, unit=None):
    """Units in the last place between results and numbers of a wider format.

    The unit is that of the exact number, or of what is given. An infinite result counts as the
    first power of two that the format does not hold; NaN in one place only is infinitely wrong.
    """
    form = FORMATS[got.dtype.name]
    with np.errstate(all="ignore"):
        off = np.abs(got - exact) * _places_of_one(exact if unit is None else unit, form)
        bounded = np.isfinite(off)
        if not bounded.all():
            rare = ~bounded
            off[rare] = _unbounded(got[rare].astype(exact.dtype), exact[rare], form)
    return off.astype(np.float64, copy=False)


def _places_of_one(exact, form):
    """One in units in the last place of each number."""
    if exact.dtype == np.float64:  # by the bits: four times faster
        exponent = ((exact.view(np.int64) >> 52) & 0x7FF) - 1023
        scale = form.digits + 1023 - np.maximum(exponent, form.least)
        return (scale << 52).view(np.float64)
    exponent = np.maximum(np.frexp(exact)[1] - 1, form.least)
    return np.ldexp(exact.dtype.type(1), form.digits - exponent)


def _unbounded(got, exact, form):
    first_above = np.ldexp(exact.dtype.type(1), form.largest + 1)
    bounded = np.clip(exact, -first_above, first_above)
    off = np.abs(np.clip(got, -first_above, first_above) - bounded)
    undefined = np.where(np.isnan(got) == np.isnan(exact), 0.0, np.inf)
    return np.where(np.isnan(got) | np.isnan(exact), undefined, off * _places_of_one(bounded, form))


def exact_error(name, result, *operands):
    """The same for one result, by mpmath."""
    form = FORMATS[result.dtype.name]
    numbers = [mpmath.mpf(float(x)) for x in operands]
    with mpmath.workprec(1400):  # the largest angle has 1024 digits before the point
        value = EXACT[name](*numbers)
        largest = largest_term(value, max(numbers)) if name in SUMS else value
        unit = mpmath.ldexp(1, max(mpmath.frexp(largest)[1] - 1, form.least) - form.digits)
        first_above = mpmath.ldexp(1, form.largest + 1)
        bounded = [max(min(mpmath.mpf(float(v)), first_above), -first_above) for v in (result,)]
        return float(abs(bounded[0] - max(min(value, first_above), -first_above)) / unit)

# ruff: noqa: INP001 - a script, no part of a package
"""Fits the polynomials of the mathematical expansions and writes their coefficients.

    python tools/fit_coefficients.py > runmat_jit/kernel/math/coefficients.py

Each polynomial is a least-squares fit at Chebyshev nodes (near-minimax). Its coefficients are
rounded to the format one after another, constant term first, and the higher ones are fitted again
after each rounding, so that they make up for what rounding lost. Needs mpmath.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass

import mpmath as mp  # type: ignore[import-untyped] # it has no stubs

PRECISION = 200  # bits
NODES_PER_COEFFICIENT = 4
DIGITS = {"f32": 24, "f64": 53}
Real = Callable[[mp.mpf], mp.mpf]


@dataclass(frozen=True, slots=True)
class Fit:
    """``function(x) ~ c[0] + c[1] x + ...`` on an interval, errors weighed by ``weight(x)``."""

    name: str
    function: Real
    lo: float
    hi: float
    counts: dict[str, int]
    doc: str
    weight: Real = lambda _: mp.mpf(1)


def round_to(x: mp.mpf, digits: int) -> float:
    """The nearest number with so many binary digits."""
    if x == 0:
        return 0.0
    unit = mp.ldexp(1, mp.frexp(x)[1] - digits)
    return float(mp.nint(x / unit) * unit)


def split(x: mp.mpf, *digits: int) -> tuple[float, ...]:
    """The number as an unevaluated sum of numbers with so many binary digits each."""
    parts = []
    for count in digits:
        parts.append(round_to(x, count))
        x = x - parts[-1]
    return tuple(parts)


def split_from_below(x: mp.mpf, *digits: int) -> tuple[float, ...]:
    """As ``split`` of a positive number, all parts positive."""
    parts = []
    for count in digits:
        unit = mp.ldexp(1, mp.frexp(x)[1] - count)
        parts.append(float(mp.floor(x / unit) * unit))
        x = x - parts[-1]
    return tuple(parts)


def nodes(lo: float, hi: float, count: int) -> list[mp.mpf]:
    """Chebyshev nodes of an interval."""
    middle, half = (mp.mpf(lo) + hi) / 2, (mp.mpf(hi) - lo) / 2
    return [middle + half * mp.cos(mp.pi * (i + mp.mpf(1) / 2) / count) for i in range(count)]


def fit(job: Fit, kind: str) -> tuple[float, ...]:
    """Coefficients for the format ``f32`` or ``f64``, constant term first."""
    with mp.workprec(PRECISION):
        count = job.counts[kind]
        points = nodes(job.lo, job.hi, NODES_PER_COEFFICIENT * count)
        weights = [job.weight(x) for x in points]
        rest = [job.function(x) for x in points]
        rounded: list[float] = []
        for power in range(count):
            rows = [
                [w * x**j for j in range(power, count)]
                for x, w in zip(points, weights, strict=True)
            ]
            right = [w * r for w, r in zip(weights, rest, strict=True)]
            rounded.append(
                round_to(mp.lu_solve(mp.matrix(rows), mp.matrix(right))[0], DIGITS[kind])
            )
            rest = [r - rounded[-1] * x**power for x, r in zip(points, rest, strict=True)]
        return tuple(rounded)


def sine_tail(z: mp.mpf, shift: str = "0") -> mp.mpf:
    """``(sin(r - shift r**5) / r - 1) / z - 1`` for ``z = -r**2 / 8``."""
    r = mp.sqrt(-8 * z)
    return (mp.sin(r - mp.mpf(shift) * r**5) / r - 1) / z - 1


def odd_tail(function: Real) -> Real:
    """``(f(sqrt(z)) / sqrt(z) - 1) / z`` of an odd function."""
    return lambda z: (function(mp.sqrt(z)) / mp.sqrt(z) - 1) / z


atanh_tail = odd_tail(mp.atanh)


def sine_weight(z: mp.mpf) -> mp.mpf:
    """Relative error of ``sin(r)`` for an error of its tail."""
    r = mp.sqrt(-8 * z)
    return z * r / mp.sin(r)


def scaled_erfc(q: mp.mpf) -> mp.mpf:
    """``(1 + 2 x) exp(x**2) erfc(x) - 1`` for ``q = (x - 4) / (x + 4)``."""
    x = 4 * (1 + q) / (1 - q)
    return (1 + 2 * x) * mp.exp(x * x) * mp.erfc(x) - 1


FITS = (
    Fit(
        "EXP",
        lambda r: (mp.exp(r) - 1) / r,
        -0.3475,
        0.3475,
        {"f32": 6, "f64": 11},
        "(exp(r) - 1) / r",
        weight=abs,
    ),
    Fit(
        "EXP2",
        lambda r: (mp.mpf(2) ** r - 1) / r,
        -0.5005,
        0.5005,
        {"f32": 6, "f64": 12},
        "(2**r - 1) / r",
        weight=abs,
    ),
    Fit(
        "TANH",
        lambda r: (mp.expm1(2 * r) / 2 - r - r**2) / r**3,
        1e-20,
        0.34661,
        {"f32": 4, "f64": 9},
        "((exp(2 r) - 1) / 2 - r - r**2) / r**3",
        weight=lambda r: r**3 / mp.expm1(2 * r),
    ),
    Fit(
        "EXPM1",
        lambda r: (mp.expm1(r) - r) / r**2,
        -0.3475,
        0.3475,
        {"f32": 5, "f64": 10},
        "(exp(r) - 1 - r) / r**2",
        weight=lambda r: r * r / mp.expm1(r),
    ),
    Fit(
        "ARCTAN",
        odd_tail(mp.atan),
        1e-20,
        1.0,
        {"f32": 9, "f64": 20},
        "(arctan(t) / t - 1) / t**2, in t**2",
        weight=lambda z: z,
    ),
    Fit(
        "ARCTAN_OF_HALF",
        odd_tail(mp.atan),
        1e-20,
        0.25,
        {"f32": 5, "f64": 11},
        "(arctan(t) / t - 1) / t**2, in t**2, for t up to 1/2",
        weight=lambda z: z,
    ),
    Fit(
        "ARCSIN",
        odd_tail(mp.asin),
        1e-20,
        0.25,
        {"f32": 5, "f64": 12},
        "(arcsin(t) / t - 1) / t**2, in t**2, for t up to 1/2",
        weight=lambda z: z,
    ),
    Fit(
        "SINH",
        odd_tail(mp.sinh),
        1e-20,
        0.3475**2,
        {"f32": 3, "f64": 5},
        "(sinh(r) / r - 1) / r**2, in r**2",
        weight=lambda z: z,
    ),
    Fit(
        "COSH",
        lambda z: (mp.cosh(mp.sqrt(z)) - 1) / z,
        1e-20,
        0.3475**2,
        {"f32": 3, "f64": 6},
        "(cosh(r) - 1) / r**2, in r**2",
        weight=lambda z: z,
    ),
    Fit(
        "SINE",
        sine_tail,
        -(1.58**2) / 8,
        -1e-20,
        {"f32": 4, "f64": 8},
        "(sin(r) / r - 1) / z - 1, in z = -r**2 / 8",
        weight=sine_weight,
    ),
    Fit(
        "SINE_OF_ANGLE",
        lambda z: sine_tail(z, "1.75e-8"),
        -(1.58**2) / 8,
        -1e-20,
        {"f32": 5},
        "(sin(r - 1.75e-8 r**5) / r - 1) / z - 1, in z = -r**2 / 8",
        weight=sine_weight,
    ),
    Fit(
        "ERF_OF_SQUARE",
        lambda z: mp.erf(mp.sqrt(z)) / mp.sqrt(z) - 1,
        1e-20,
        0.75**2,
        {"f32": 6, "f64": 12},
        "erf(x) / x - 1, in x**2, for x up to 3/4",
    ),
    Fit(
        "SCALED_ERFC",
        scaled_erfc,
        (0.749 - 4) / (0.749 + 4),
        (27.5 - 4) / (27.5 + 4),
        {"f32": 12, "f64": 22},
        "(1 + 2 x) exp(x**2) erfc(x) - 1, in (x - 4) / (x + 4), for x from 3/4 on",
    ),
    Fit(
        "TANGENT",
        odd_tail(mp.tan),
        1e-20,
        0.7855**2,
        {"f32": 6, "f64": 14},
        "(tan(r) / r - 1) / r**2, in r**2",
        weight=lambda z: z,
    ),
    Fit(
        "SINE_OF_SQUARE",
        odd_tail(mp.sin),
        1e-20,
        1.5709**2,
        {"f32": 4},
        "(sin(r) / r - 1) / r**2, in r**2",
        weight=lambda z: z,
    ),
    Fit(
        "TANH_OF_SQUARE",
        odd_tail(mp.tanh),
        1e-20,
        0.6001**2,
        {"f32": 5},
        "(tanh(r) / r - 1) / r**2, in r**2",
        weight=lambda z: z,
    ),
    Fit(
        "LOG_F32",
        lambda f: (mp.log1p(f) - f + f * f / 2) / f**3,
        -0.29292,
        0.41425,
        {"f32": 8},
        "(log(1 + f) - f + f**2 / 2) / f**3",
        weight=lambda f: f**3 / mp.log1p(f),
    ),
    Fit(
        "LOG_F64",
        lambda z: 2 * atanh_tail(z),
        1e-20,
        0.02945,
        {"f64": 7},
        "2 (atanh(s) - s) / s**3, in s**2",
        weight=lambda z: z,
    ),
    Fit(
        "ARCTANH",
        odd_tail(mp.atanh),
        1e-20,
        0.0775,
        {"f32": 4, "f64": 9},
        "(arctanh(s) / s - 1) / s**2, in s**2",
        weight=lambda z: z,
    ),
    Fit(
        "LOG2_TAIL",
        lambda z: 2 / mp.log(2) * (atanh_tail(z) - mp.mpf(1) / 3) / z,
        1e-20,
        0.02945,
        {"f32": 3, "f64": 7},
        "2 / log(2) (atanh(s) - s - s**3 / 3) / s**5, in s**2",
        weight=lambda z: z * z,
    ),
)


def constants() -> dict[str, tuple[str, dict[str, tuple[float, ...]]]]:
    """Constants as unevaluated sums; leading parts leave room for an exact product."""
    with mp.workprec(PRECISION):
        ln2, pi = mp.log(2), +mp.pi
        return {
            "LN2": (
                "log(2); the first part times an exponent is exact",
                {"f32": split(ln2, 16, 24), "f64": split(ln2, 42, 53)},
            ),
            "PI": (
                "pi",
                {"f32": split(pi, 24, 24, 24), "f64": split(pi, 53, 53, 53)},
            ),
            "PI_FROM_BELOW": (
                "pi, in parts of one sign",
                {"f32": split_from_below(pi, 24, 24, 24)},
            ),
            "PI_PAIR": ("pi", {"f32": split(pi, 24, 24), "f64": split(pi, 53, 53)}),
            "LOG10_2": (
                "log10(2)",
                {"f32": split(mp.log10(2), 24, 24), "f64": split(mp.log10(2), 53, 53)},
            ),
            "LOG2_E": (
                "1 / log(2)",
                {"f32": split(1 / ln2, 24, 24), "f64": split(1 / ln2, 53, 53)},
            ),
            "LOG10_E": (
                "1 / log(10)",
                {"f32": split(1 / mp.log(10), 24, 24), "f64": split(1 / mp.log(10), 53, 53)},
            ),
            "TWO_OVER_LN2": (
                "2 / log(2)",
                {"f32": split(2 / ln2, 24, 24), "f64": split(2 / ln2, 53, 53)},
            ),
            "TWO_THIRDS_OVER_LN2": (
                "2 / (3 log(2))",
                {"f32": split(2 / ln2 / 3, 24, 24), "f64": split(2 / ln2 / 3, 53, 53)},
            ),
        }


def definition(name: str, doc: str, values: dict[str, tuple[float, ...]]) -> str:
    """The lines that define one constant."""
    lines = [f"{name}: Coefficients = {{"]
    for kind, numbers in values.items():
        lines.append(f'    "{kind}": _floats(')
        lines += [f'        "{number.hex()}",' for number in numbers]
        lines.append("    ),")
    return "\n".join([*lines, "}", f'"""{doc}."""', ""])


HEADER = '''"""Coefficients of the expansions, written by ``tools/fit_coefficients.py``.

Polynomials are listed constant term first; split constants are unevaluated sums.
"""

from __future__ import annotations

Coefficients = dict[str, tuple[float, ...]]


def _floats(*digits: str) -> tuple[float, ...]:
    return tuple(map(float.fromhex, digits))

'''


def module_text() -> str:
    """The complete module of coefficients."""
    parts = [definition(name, doc, values) for name, (doc, values) in constants().items()]
    parts += [
        definition(job.name, job.doc, {kind: fit(job, kind) for kind in job.counts}) for job in FITS
    ]
    return HEADER + "\n" + "\n".join(parts)


if __name__ == "__main__":
    sys.stdout.write(module_text())

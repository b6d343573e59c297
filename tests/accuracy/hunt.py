"""A search for large errors where not all operands can be tried: ``python -m tests.accuracy.hunt``.

Names of rows as arguments, then (``--seconds 300``) how long each dtype of each is searched, from
another ``--seed`` at each run. Candidates: numbers of all exponents, usual ones, those whose result
lies next to a power of two, those next to where the reduction of the argument changes, the angles
that lie closest to multiples of pi / 2, and the neighbors of the worst that were found so far.
Judged by the next wider format, the worst again by mpmath. A record is only ever raised.
"""

import argparse
import heapq
import itertools
import sys
import time
from fractions import Fraction

import numpy as np

from runmat_jit.kernel.math.tables import _one_over_pi
from runmat_jit.ops.table import ROWS
from tests.accuracy.functions import (
    ALL,
    DTYPES,
    FORMATS,
    NAMES,
    errors_of,
    exact_error,
    ours,
)
from tests.accuracy.record import Found, keep, record, worst_of

BATCH = 1 << 17
KEPT = 8
REFINED = 64
LN2 = np.log(2.0)
DIGITS = 1300
_INVERSE = {
    "exp": lambda v, n: np.log(np.abs(v)) + 0 * n,
    "log": lambda v, n: np.exp(np.where(n % 2, v, -v)),
    "sin": lambda v, n: np.arcsin(v) + n * np.pi,
    "cos": lambda v, n: np.arccos(v) + n * np.pi,
    "tanh": lambda v, n: np.arctanh(v) + 0 * n,
    "exp2": lambda v, n: np.log2(np.abs(v)) + n % 64,
    "expm1": lambda v, n: np.log1p(v) + 0 * n,
    "log2": lambda v, n: np.exp2(np.where(n % 2, v, -v)),
    "log10": lambda v, n: 10 ** np.where(n % 2, v, -v),
    "log1p": lambda v, n: np.expm1(np.where(n % 2, v, -v)),
    "sinh": lambda v, n: np.arcsinh(np.ldexp(v, n % 40)),
    "cosh": lambda v, n: np.arccosh(np.ldexp(1 + np.abs(v), n % 40)),
    "arctan": lambda v, n: np.tan(v) + 0 * n,
    "arcsin": lambda v, n: np.sin(v) + 0 * n,
    "arccos": lambda v, n: np.cos(v + n % 3),
    "cbrt": lambda v, n: np.ldexp(1 + v, n % 60) ** 3,
    "tan": lambda v, n: np.arctan(np.ldexp(v, n % 20)) + n * np.pi,
    "arcsinh": lambda v, n: np.sinh(np.where(n % 2, v, 32 * v)),
    "arccosh": lambda v, n: np.cosh(np.where(n % 2, v, 32 * v)),
    "arctanh": lambda v, n: np.tanh(np.where(n % 2, v, 8 * v)),
}
_SECOND = {
    "arctan2": lambda v, x: x * np.tan(v),
    "logaddexp": lambda v, x: x + np.log(np.expm1(np.abs(v))),
    "logaddexp2": lambda v, x: x + np.log2(np.expm1(np.abs(v) * LN2)),
    "hypot": lambda v, x: x * np.sqrt(np.abs(v) * (2 + np.abs(v))),
}
"""The other operand, given one and the result, or (but of arctan2) by how much that exceeds it."""
_CHANGES = {
    "exp": lambda n: (n + 0.5) * LN2,
    "log": lambda n: np.sqrt(0.5) * np.exp2(n % 40 - 20.0),
    "sin": lambda n: (n + 0.5) * np.pi,
    "cos": lambda n: n * np.pi,
    "tanh": lambda n: np.where(n % 8, (n % 60) * LN2 / 2, 0.34),
    "exp2": lambda n: n % 2048 - 1023.5,
    "expm1": lambda n: (n % 1100 - 64.5) * LN2,
    "log2": lambda n: np.sqrt(0.5) * np.exp2(n % 40 - 20.0),
    "log10": lambda n: np.sqrt(0.5) * np.exp2(n % 40 - 20.0),
    "log1p": lambda n: np.sqrt(0.5) * np.exp2(n % 40) - 1,
    "sinh": lambda n: (n % 1026 + 0.5) * LN2,
    "cosh": lambda n: (n % 1026 + 0.5) * LN2,
    "arctan": lambda n: np.where(n % 2, 0.5, 2.0),
    "arcsin": lambda n: np.where(n % 2, 0.5, -0.5),
    "arccos": lambda n: np.where(n % 2, 0.5, -0.5),
    "cbrt": lambda n: np.exp2(n % 90 - 45.0),
    "tan": lambda n: (n + 0.5) * np.pi / 2,
    "arcsinh": lambda n: np.sinh((n % 60 + 0.5) * LN2),
    "arccosh": lambda n: np.cosh((n % 60 + 0.5) * LN2),
    "arctanh": lambda n: np.tanh((n % 50 + 0.75) * LN2 / 2),
}
"""Arguments at which the multiple that is taken off becomes another one."""


def anywhere(name, dtype, rng):
    """Random bits."""
    unsigned = np.dtype(f"u{np.dtype(dtype).itemsize}")
    bits = rng.integers(0, 2**64, (ROWS[name].arity, BATCH), np.uint64)
    return list(bits.astype(unsigned).view(dtype))


def usual(name, dtype, rng):
    """Numbers of the row's domain, and of the unit interval around 0 or 1."""
    low, high = ROWS[name].domain
    near = rng.normal(1.0 if name in ("log", "power", "arccosh") else 0.0, 0.5, BATCH)
    x = np.where(rng.random(BATCH) < 0.5, rng.uniform(low, high, BATCH), near)
    if ROWS[name].arity == 1:
        return [x.astype(dtype)]
    if name != "power":
        return [x.astype(dtype), rng.permutation(x).astype(dtype)]
    x = np.abs(x).astype(dtype)
    with np.errstate(all="ignore"):
        digits = np.log2(x.astype(np.float64))
        y = rng.uniform(FORMATS[dtype].least * 1.05, FORMATS[dtype].largest + 1, BATCH) / digits
    return [x, y.astype(dtype)]


def beside_powers_of_two(name, dtype, rng):
    """Arguments whose result is a little below or above a power of two."""
    n = rng.integers(0, 1 << rng.integers(1, 38), BATCH)
    digits = rng.integers(1, 30, BATCH)
    value = np.exp2(-digits) * (1 + rng.normal(0, 1, BATCH) * np.exp2(-rng.integers(2, 40, BATCH)))
    if name in _INVERSE:
        return [_INVERSE[name](np.minimum(value, 1 - 2.0**-53), n).astype(dtype)]
    x = np.exp(rng.normal(0, 3, BATCH)).astype(dtype)
    if name in _SECOND:
        return [_SECOND[name](value, x.astype(np.float64)).astype(dtype), x]
    with np.errstate(all="ignore"):
        return [x, (np.log(value) / np.log(x.astype(np.float64))).astype(dtype)]


def beside_changes(name, dtype, rng):
    """Arguments next to where the reduction changes."""
    if name == "power":
        x = np.exp2(rng.integers(-40, 40, BATCH) + 0.5)
        y = (rng.integers(-900, 900, BATCH) + 0.5) / np.log2(x)
        noise = 1 + rng.normal(0, 1, (2, BATCH)) * np.exp2(-rng.integers(2, 50, (2, BATCH)))
        return [(x * noise[0]).astype(dtype), (y * noise[1]).astype(dtype)]
    if name in _SECOND:
        x, quotient = rng.uniform(1, 2, BATCH), np.exp2(rng.integers(-1, 2, BATCH))
        noise = 1 + rng.normal(0, 1, BATCH) * np.exp2(-rng.integers(2, 50, BATCH))
        return [(x * quotient * noise).astype(dtype), x.astype(dtype)]
    n = rng.integers(0, 1 << rng.integers(1, 38), BATCH)
    noise = 1 + rng.normal(0, 1, BATCH) * np.exp2(-rng.integers(2, 50, BATCH))
    return [(_CHANGES[name](n) * noise).astype(dtype)]


def closest_angles(name, dtype, rng):
    """Numbers closest to multiples of pi / 2, by the continued fractions of 2**e 2 / pi."""
    if name not in ("sin", "cos", "tan"):
        return []
    form = FORMATS[dtype]
    found = [
        x for e in range(-form.digits, form.largest - form.digits + 1) for x in _closest(form, e)
    ]
    x = np.array(found, dtype)
    integers = x.view(f"i{x.itemsize}")
    return [(integers[:, None] + rng.integers(-3, 4, 8)).ravel().view(dtype)]


def _closest(form, exponent):
    """Significands m, so many digits long, for which m 2**exponent is close to n pi / 2."""
    ratio = Fraction(_one_over_pi(DIGITS), 1 << (DIGITS - 1)) * Fraction(2) ** exponent
    least, most = 1 << form.digits, 1 << (form.digits + 1)
    before, q = 0, 1
    rest = ratio - ratio.__floor__()
    while rest and q < most:
        for multiple in {1, -(-least // q)}:
            if least <= q * multiple < most:
                yield float(q * multiple) * 2.0**exponent
        rest = 1 / rest
        term = rest.__floor__()
        rest -= term
        before, q = q, term * q + before


def neighbors(worst, dtype, rng):
    """Floats around the worst so far: next to them, near them, and with another exponent."""
    centers = np.array([operands for _, _, operands in worst], dtype)
    chosen = centers[rng.integers(0, len(centers), BATCH)].T
    integer = np.dtype(f"i{np.dtype(dtype).itemsize}")
    digits = FORMATS[dtype].digits
    steps = rng.integers(0, 1 << rng.integers(1, digits - 4), chosen.shape) * rng.choice([-1, 1])
    steps = steps + (rng.integers(-2, 3, chosen.shape) << digits) * (rng.random() < 0.3)
    moved = np.ascontiguousarray(chosen).view(integer) + steps.astype(integer)
    return list(moved.view(dtype))


SOURCES = (anywhere, usual, beside_powers_of_two, beside_changes)


def hunt(name, dtype, seconds, seed):
    """(how many operands were tried, the worst of them)."""
    rng, counter = np.random.default_rng(seed), itertools.count()
    known = [(f.error, next(counter), f.operands) for f in _known(name, dtype)]
    worst = [(error, next(counter), operands) for error, operands in _judged(name, dtype, known)]
    heapq.heapify(worst)
    end, tried = time.perf_counter() + seconds, 0
    batches = itertools.chain([closest_angles], itertools.cycle((*SOURCES, neighbors)))
    for source in batches:
        if time.perf_counter() > end:
            break
        if source is neighbors:
            operands = neighbors(worst, dtype, rng)
        else:
            operands = source(name, dtype, rng)
        if not operands:
            continue
        off = errors_of(name, *operands)
        tried += off.size
        for index in np.argpartition(off, -4)[-4:]:
            entry = float(off[index]), next(counter), tuple(float(x[index]) for x in operands)
            if any(entry[2] == other for _, _, other in worst):
                continue
            (heapq.heappush if len(worst) < REFINED else heapq.heappushpop)(worst, entry)
    return tried, [Found(*judged) for judged in sorted(_judged(name, dtype, worst), reverse=True)]


def _known(name, dtype):
    return worst_of(name, dtype) if dtype in record().get(name, {}) else []


def _judged(name, dtype, worst):
    for _, _, operands in heapq.nlargest(KEPT, worst):
        typed = [np.array([x], dtype) for x in operands]
        yield exact_error(name, ours(name, *typed)[0], *(x[0] for x in typed)), operands


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", default=list(NAMES))
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--seed", type=int, default=time.time_ns())
    arguments = parser.parse_args()
    for name in arguments.names:
        for dtype in DTYPES:
            before = record().get(name, {}).get(dtype, {}).get("inputs", 0)
            if before == ALL:
                continue
            tried, found = hunt(name, dtype, arguments.seconds, arguments.seed)
            keep(name, dtype, before + tried, found)
            worst = f"{found[0].error:.4f} ULP at {found[0].operands}"
            sys.stdout.write(f"{name} {dtype}: {worst}, {tried:.1e} tried\n")


if __name__ == "__main__":
    main()

"""Number theory, bits, and special functions of whole numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import combinations

import numpy as np

from matlab_frontend.builtins.elementwise import floating
from matlab_frontend.builtins.registry import Builtin, Call, builtin
from matlab_frontend.errors import MatlabError
from matlab_frontend.operators import broadcast_shape
from matlab_frontend.values.array import Value, kind_of
from matlab_frontend.values.kinds import DTYPES, INTEGER_KINDS
from matlab_frontend.values.make import row, wrap
from matlab_frontend.values.read import array_of, integer_of, known, number_of


@builtin("primes")
def primes(call: Call, limit: Value) -> Value:
    """The primes up to a limit, as a row."""
    n = int(number_of(call.engine, limit))
    sieve = np.ones(max(n + 1, 2), bool)
    sieve[:2] = False
    for k in range(2, math.isqrt(max(n, 0)) + 1):
        if sieve[k]:
            sieve[k * k :: k] = False
    return row(np.flatnonzero(sieve[: n + 1]).astype(float))


@builtin("isprime")
def isprime(call: Call, x: Value) -> Value:
    """True where an element is prime."""
    data = call.engine.look(array_of(x).data)
    flags = [_is_prime(int(number)) for number in data.ravel()]
    return wrap("logical", np.array(flags, bool).reshape(data.shape))


def _is_prime(n: int) -> bool:
    return n > 1 and all(n % k for k in range(2, math.isqrt(n) + 1))


@builtin("factor")
def factor(call: Call, x: Value) -> Value:
    """The prime factors of a number, as a row."""
    n = integer_of(call.engine, x)
    found: list[float] = []
    k = 2
    while k * k <= n:
        while n % k == 0:
            found.append(float(k))
            n //= k
        k += 1
    return row([*found, float(n)] if n > 1 or not found else found)


@builtin("factorial")
def factorial(call: Call, x: Value) -> Value:
    """The product of the whole numbers up to each element."""
    data = call.engine.look(array_of(x).data)
    if np.any(data < 0) or np.any(data != np.trunc(data)):
        raise MatlabError(
            "MATLAB:factorial:NNegativeInt",
            "N must be an array of real non-negative integers.",
        )
    made = [float(math.factorial(int(n))) if n < 171 else math.inf for n in data.ravel()]
    return wrap("double", np.array(made).reshape(data.shape))


@builtin("nchoosek")
def nchoosek(call: Call, n: Value, k: Value) -> Value:
    """Binomial coefficients, or the combinations of a vector's elements as rows."""
    count = integer_of(call.engine, k)
    elements = known(call.engine, n).ravel()
    if elements.size == 1:
        return float(math.comb(int(elements[0]), count))
    table = np.array(list(combinations(elements, count)))
    return wrap("double", np.ascontiguousarray(table.T))


def _pairwise(name: str, function: Callable[[int, int], int], doc: str) -> Builtin:
    def run(call: Call, x: Value, y: Value) -> Value:
        broadcast_shape(x, y)
        a, b = (call.engine.look(array_of(part).data) for part in (x, y))
        pairs = np.broadcast(a, b)
        made = [float(function(int(p), int(q))) for p, q in pairs]
        kind = next((k for k in (kind_of(x), kind_of(y)) if k in INTEGER_KINDS), "double")
        return wrap(kind, np.array(made).reshape(pairs.shape).astype(DTYPES[kind]))

    return Builtin(name, run, 2, 2, doc)


def _shift(value: int, places: int) -> int:
    return value << places if places >= 0 else value >> -places


@builtin("nextpow2")
def nextpow2(call: Call, x: Value) -> Value:
    """The exponents of the next powers of two."""
    data = np.abs(call.engine.look(array_of(x).data).astype(float))
    mantissa, exponent = np.frexp(data)
    return wrap("double", np.where(mantissa == 0.5, exponent - 1, exponent).astype(float))


@builtin("idivide")
def idivide(call: Call, x: Value, y: Value) -> Value:
    """Integer quotients, rounded toward zero."""
    a, b = array_of(x), array_of(y)
    kind = a.kind if a.kind in INTEGER_KINDS else b.kind
    left, right = (call.engine.look(array.data).astype(float) for array in (a, b))
    return wrap(kind, np.trunc(left / right).astype(DTYPES[kind]))


def _special(name: str, doc: str) -> Builtin:
    def run(call: Call, x: Value) -> Value:
        from scipy import special  # noqa: PLC0415  (SciPy loads slowly and few programs need it)

        data = call.engine.look(array_of(x).data).astype(float)
        return wrap("double", np.asarray(getattr(special, name)(data)))

    return Builtin(name, run, 1, 1, doc)


def _reciprocal(name: str, row_name: str, doc: str) -> Builtin:
    def run(call: Call, x: Value) -> Value:
        array = floating(call.engine, name, x)
        return wrap(
            array.kind, call.engine.apply("divide", 1.0, call.engine.apply(row_name, array.data))
        )

    return Builtin(name, run, 1, 1, doc)


def _degrees(name: str, row_name: str, doc: str) -> Builtin:
    def run(call: Call, x: Value) -> Value:
        data = call.engine.look(array_of(x).data).astype(float)
        turns = np.remainder(data, 360.0)
        made = getattr(np, row_name)(np.deg2rad(turns))
        if row_name != "tan":
            zero = (90.0, 270.0) if row_name == "cos" else (0.0, 180.0)
            made = np.where(np.isin(turns, zero), 0.0, made)
            half = {"sin": (30.0, 150.0), "cos": (60.0, 300.0)}[row_name]
            made = np.where(np.isin(turns, half), 0.5, made)
        return wrap("double", made)

    return Builtin(name, run, 1, 1, doc)


@builtin("deg2rad")
def deg2rad(call: Call, x: Value) -> Value:
    """Radians from degrees."""
    return wrap("double", call.engine.apply("multiply", array_of(x).data, math.pi / 180))


@builtin("rad2deg")
def rad2deg(call: Call, x: Value) -> Value:
    """Degrees from radians."""
    return wrap("double", call.engine.apply("multiply", array_of(x).data, 180 / math.pi))


GENERATED = (
    _pairwise("gcd", math.gcd, "Greatest common divisors."),
    _pairwise("lcm", math.lcm, "Least common multiples."),
    _pairwise("bitand", int.__and__, "Bits that are set in both numbers."),
    _pairwise("bitor", int.__or__, "Bits that are set in either number."),
    _pairwise("bitxor", int.__xor__, "Bits that are set in exactly one number."),
    _pairwise("bitshift", _shift, "Bits moved to the left, or to the right where negative."),
    _special("gamma", "The gamma function."),
    _special("gammaln", "The logarithm of the gamma function."),
    _special("erf", "The error function."),
    _special("erfc", "One less the error function."),
    _special("erfinv", "The inverse of the error function."),
    _reciprocal("sec", "cos", "Secant of radians."),
    _reciprocal("csc", "sin", "Cosecant of radians."),
    _reciprocal("cot", "tan", "Cotangent of radians."),
    _degrees("sind", "sin", "Sine of degrees."),
    _degrees("cosd", "cos", "Cosine of degrees."),
    _degrees("tand", "tan", "Tangent of degrees."),
)

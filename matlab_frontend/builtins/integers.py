"""Number theory, and functions of whole numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations, permutations

import numpy as np

from matlab_frontend.builtins.registry import Builtin, Call, builtin
from matlab_frontend.concatenation import convert
from matlab_frontend.errors import MatlabError
from matlab_frontend.operators import broadcast_shape, result_kind
from matlab_frontend.rounding import saturate
from matlab_frontend.values.array import Array, Value, kind_of
from matlab_frontend.values.kinds import DTYPES, INTEGER_KINDS, NUMERIC_KINDS
from matlab_frontend.values.make import reverse, wrap
from matlab_frontend.values.read import array_of, integer_of, known, number_of, text_of


@builtin("primes")
def primes(call: Call, limit: Value) -> Value:
    """The primes up to a limit, as a row."""
    n = int(number_of(call.engine, limit))
    sieve = np.ones(max(n + 1, 2), bool)
    sieve[:2] = False
    for k in range(2, math.isqrt(max(n, 0)) + 1):
        if sieve[k]:
            sieve[k * k :: k] = False
    return _of_class_of(limit, np.flatnonzero(sieve[: n + 1]))


def _of_class_of(x: Value, numbers: Sequence[int] | np.ndarray) -> Value:
    """Whole numbers as a row of the class of another value."""
    kind = kind_of(x) if kind_of(x) in NUMERIC_KINDS else "double"
    return wrap(kind, np.array(numbers, DTYPES[kind]).reshape(-1, 1))


@builtin("isprime")
def isprime(call: Call, x: Value) -> Value:
    """True where an element is prime."""
    data = call.engine.look(array_of(x).data)
    if data.dtype.kind == "c" or np.any(data < 0) or np.any(data != np.trunc(data)):
        raise MatlabError(
            "MATLAB:isprime:InputNotPosInt", "All elements must be nonnegative integers."
        )
    flags = [_is_prime(int(number)) for number in data.ravel()]
    return wrap("logical", np.array(flags, bool).reshape(data.shape))


def _is_prime(n: int) -> bool:
    return n > 1 and all(n % k for k in range(2, math.isqrt(n) + 1))


@builtin("factor")
def factor(call: Call, x: Value) -> Value:
    """The prime factors of a number, as a row."""
    n = integer_of(call.engine, x)
    if n < 0:
        raise MatlabError("MATLAB:factor:InputMustBeNonnegative", "It must not be negative.")
    found: list[int] = []
    k = 2
    while k * k <= n:
        while n % k == 0:
            found.append(k)
            n //= k
        k += 1
    return _of_class_of(x, [*found, n] if n > 1 or not found else found)


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
    kind = kind_of(x) if kind_of(x) in NUMERIC_KINDS else "double"
    numbers = Array("double", np.array(made).reshape(data.shape))
    return wrap(kind, convert(call.engine, numbers, kind))


@builtin("nchoosek")
def nchoosek(call: Call, n: Value, k: Value) -> Value:
    """Binomial coefficients, or the combinations of a vector's elements as rows."""
    count = integer_of(call.engine, k)
    elements = known(call.engine, n).ravel()
    if elements.size == 1:
        return float(math.comb(int(elements[0]), count))
    table = np.array(list(combinations(elements, count)), elements.dtype).reshape(-1, count)
    return wrap(kind_of(n), np.ascontiguousarray(table.T))


def _pairwise(name: str, function: Callable[[int, int], int], doc: str) -> Builtin:
    def run(call: Call, x: Value, y: Value) -> Value:
        broadcast_shape(x, y)
        a, b = (call.engine.look(array_of(part).data) for part in (x, y))
        if any(part.dtype.kind == "f" and np.any(part != np.trunc(part)) for part in (a, b)):
            raise MatlabError(f"MATLAB:{name}:mustBeInteger", "Inputs must be whole numbers.")
        pairs = np.broadcast(a, b)
        made = [float(function(int(p), int(q))) for p, q in pairs]
        kind = next((k for k in (kind_of(x), kind_of(y)) if k in INTEGER_KINDS), "double")
        return wrap(kind, np.array(made).reshape(pairs.shape).astype(DTYPES[kind]))

    return Builtin(name, run, 2, 2, doc)


@builtin("nextpow2")
def nextpow2(call: Call, x: Value) -> Value:
    """The exponents of the next powers of two."""
    data = np.abs(call.engine.look(array_of(x).data)).astype(float)
    mantissa, exponent = np.frexp(data)
    whole = np.where(mantissa == 0.5, exponent - 1, exponent)
    made = np.where(np.isfinite(data), whole, data)
    kind = "single" if kind_of(x) == "single" else "double"
    return wrap(kind, made.astype(DTYPES[kind]))


@builtin("idivide")
def idivide(call: Call, x: Value, y: Value, rounding: Value | None = None) -> Value:
    """Integer quotients, rounded toward zero unless ``floor``, ``ceil`` or ``round`` is given."""
    broadcast_shape(x, y)
    a, b = array_of(x), array_of(y)
    kind = result_kind(a, b)
    word = "fix" if rounding is None else text_of(rounding)
    if kind not in INTEGER_KINDS or word not in _QUOTIENTS:
        raise MatlabError(
            "MATLAB:idivide:InvalidInput", "idivide needs an integer class and a known rounding."
        )
    limits = np.iinfo(DTYPES[kind])
    left, right = (saturate(call.engine, array.data, DTYPES[kind]) for array in (a, b))
    pairs = np.broadcast(*(call.engine.look(data).astype(object) for data in (left, right)))
    made = [_quotient(int(p), int(q), word, limits) for p, q in pairs]
    return wrap(kind, np.array(made, DTYPES[kind]).reshape(pairs.shape))


_QUOTIENTS: Mapping[str, Callable[[int, int], int]] = {
    "fix": lambda p, q: abs(p) // abs(q) if (p < 0) == (q < 0) else -(abs(p) // abs(q)),
    "floor": lambda p, q: p // q,
    "ceil": lambda p, q: -(-p // q),
    "round": lambda p, q: (2 * abs(p) + abs(q)) // (2 * abs(q)) * (1 if (p < 0) == (q < 0) else -1),
}
"""Exact quotients of whole numbers, by how they are rounded."""


def _quotient(p: int, q: int, word: str, limits: np.iinfo) -> int:
    """A quotient within the limits of a class; by zero it is the largest one, or 0 of 0."""
    if q == 0:
        return 0 if p == 0 else limits.max if p > 0 else limits.min
    return min(max(_QUOTIENTS[word](p, q), limits.min), limits.max)


@builtin("perms")
def perms(call: Call, x: Value) -> Value:
    """All orders of a vector's elements as rows, the last order first."""
    array = array_of(x)
    data = call.engine.look(array.data).ravel()
    orders = np.array(list(permutations(range(data.size - 1, -1, -1))), int)
    if not data.size:
        return Array(array.kind, data.reshape(0, 1))
    return wrap(array.kind, reverse(data[orders.reshape(-1, data.size)]))


GENERATED = (
    _pairwise("gcd", math.gcd, "Greatest common divisors."),
    _pairwise("lcm", math.lcm, "Least common multiples."),
)

"""Indices as polynomials over what is not an index expression: the proof that lanes may be cut.

Lanes that run together read ``index + stride * lane``, where ``index`` is that of the first. This
is the same memory for every number of lanes only where ``index`` grows by ``stride`` from one
iteration to the next, so where its coefficient of the block's index is the stride.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping

from runmat_jit.kernel.ir import Instruction, Value
from runmat_jit.kernel.primitives import INTEGERS

Monomial = tuple[int, ...]
"""Sorted numbers of the values multiplied."""

Polynomial = Mapping[Monomial, int]
"""Integer coefficients; no entry is zero."""

_TERMS = 64
"""Longer ones are variables of their own: hashing a counter would make huge ones."""

_WIDE = {"i64", "index"}

ZERO: Polynomial = {}
ONE: Polynomial = {(): 1}


def of_value(value: Value, known: Mapping[int, Polynomial]) -> Polynomial:
    """The polynomial of a value; one that is not ``known`` is a variable of its own."""
    if value.literal is not None and value.type in INTEGERS:
        return {(): int(value.literal)} if value.literal else ZERO
    return known.get(value.number, {(value.number,): 1})


def of_instruction(instruction: Instruction, known: Mapping[int, Polynomial]) -> Polynomial | None:
    """The polynomial of the result of a uniform integer instruction, where it is a short one.

    Integers wrap, so a narrower one has the same polynomial.
    """
    op, args, (result,) = instruction.op, instruction.args, instruction.results
    if result.type not in INTEGERS:
        return None
    operands = [of_value(a, known) for a in args]
    if op == "trunc" or (op in ("sext", "zext") and {args[0].type, result.type} <= _WIDE):
        return operands[0]
    if op not in _RULES:
        return None
    found = _RULES[op](*operands)
    return found if len(found) <= _TERMS else None


def coefficient(polynomial: Polynomial, variable: int) -> Polynomial | None:
    """What ``variable`` is multiplied by; ``None`` where it stands in a higher power."""
    found: dict[Monomial, int] = {}
    for monomial, factor in polynomial.items():
        power = monomial.count(variable)
        if power > 1:
            return None
        if power == 1:
            found[tuple(v for v in monomial if v != variable)] = factor
    return found


def mentions(polynomial: Polynomial, variables: frozenset[int]) -> bool:
    """True if any of the variables stands in the polynomial."""
    return any(v in variables for monomial in polynomial for v in monomial)


def product(a: Polynomial, b: Polynomial) -> Polynomial:
    """The product of two polynomials."""
    total: Counter[Monomial] = Counter()
    for m, f in a.items():
        for n, g in b.items():
            total[tuple(sorted(m + n))] += f * g
    return {m: f for m, f in total.items() if f}


def _add(a: Polynomial, b: Polynomial) -> Polynomial:
    total = Counter(a)
    for monomial, factor in b.items():
        total[monomial] += factor
    return {m: f for m, f in total.items() if f}


def _negate(a: Polynomial) -> Polynomial:
    return {m: -f for m, f in a.items()}


def _subtract(a: Polynomial, b: Polynomial) -> Polynomial:
    return _add(a, _negate(b))


_RULES: dict[str, Callable[..., Polynomial]] = {
    "add": _add,
    "sub": _subtract,
    "mul": product,
    "neg": _negate,
}

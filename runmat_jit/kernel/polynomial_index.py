"""Indices as polynomials over what is not an index expression: the proof that lanes may be cut.

Lanes that run together read ``index + stride * lane``, where ``index`` is that of the first. This
is the same memory for every number of lanes only where ``index`` grows by ``stride`` from one
iteration to the next, so where its coefficient of the block's index is the stride.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from runmat_jit.kernel.ir import Instruction, Value
from runmat_jit.kernel.primitives import INTEGERS

Monomial = tuple[int, ...]
"""Sorted numbers of the values multiplied."""

Polynomial = Mapping[Monomial, int]
"""Integer coefficients; no entry is zero."""

ZERO: Polynomial = {}
ONE: Polynomial = {(): 1}


def of_value(value: Value, known: Mapping[int, Polynomial]) -> Polynomial:
    """The polynomial of a value; one that is not ``known`` is a variable of its own."""
    if value.literal is not None:
        return {(): int(value.literal)} if value.literal else ZERO
    return known.get(value.number, {(value.number,): 1})


def of_instruction(instruction: Instruction, known: Mapping[int, Polynomial]) -> Polynomial | None:
    """The polynomial of the result of a uniform integer instruction, where it is one.

    Integers wrap, so a narrower one has the same polynomial.
    """
    ops = ("add", "sub", "mul", "neg", "trunc")
    if instruction.op not in ops or instruction.results[0].type not in INTEGERS:
        return None
    operands = [of_value(a, known) for a in instruction.args]
    match instruction.op:
        case "add":
            return _sum(operands[0], operands[1], 1)
        case "sub":
            return _sum(operands[0], operands[1], -1)
        case "trunc":
            return operands[0]
        case "neg":
            return _sum(ZERO, operands[0], -1)
        case _:
            return _product(operands[0], operands[1])


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
    """Whether any of the variables stands in the polynomial."""
    return any(v in variables for monomial in polynomial for v in monomial)


def _sum(a: Polynomial, b: Polynomial, sign: int) -> Polynomial:
    total = Counter(a)
    for monomial, factor in b.items():
        total[monomial] += sign * factor
    return {m: f for m, f in total.items() if f}


def _product(a: Polynomial, b: Polynomial) -> Polynomial:
    total: Counter[Monomial] = Counter()
    for m, f in a.items():
        for n, g in b.items():
            total[tuple(sorted(m + n))] += f * g
    return {m: f for m, f in total.items() if f}

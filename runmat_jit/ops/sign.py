"""What rows say of signs, so that a root is known to be real before anything is computed."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, TypeAlias


class Sign(IntEnum):
    """What holds for all elements of an array that are not NaN; each includes those before."""

    ANY = 0
    NOT_BELOW = 1
    """None is below zero; -0.0 may be among them."""
    CLEAR = 2
    """None has its sign bit set."""


@dataclass(frozen=True, slots=True)
class Fact:
    """What is known of an operand: ``number`` where it is one known number."""

    sign: Sign
    number: float | None = None
    identity: Any = None
    """The same object for the same operand."""


SignRule: TypeAlias = Callable[[tuple[Fact, ...], Mapping[str, Hashable]], Sign]
"""The sign of a float result, of what is known of the operands and the parameters."""


def fact_of_number(number: float) -> Fact:
    """What is known of a known number; NaN may be anything, for rows that drop it."""
    if math.isnan(number):
        return Fact(Sign.ANY, number)
    clear = math.copysign(1.0, number) > 0
    return Fact(Sign.CLEAR if clear else Sign.NOT_BELOW if number == 0 else Sign.ANY, number)


def clear(_facts: tuple[Fact, ...], _params: Mapping[str, Hashable]) -> Sign:
    """Magnitudes, exponentials, squares."""
    return Sign.CLEAR


def least(facts: tuple[Fact, ...], _params: Mapping[str, Hashable]) -> Sign:
    """As the operand of which least is known: sums, products, what keeps or picks values."""
    return min(fact.sign for fact in facts)


def least_of_choices(facts: tuple[Fact, ...], _params: Mapping[str, Hashable]) -> Sign:
    """As ``least``, of all but a condition."""
    return min(fact.sign for fact in facts[1:])


def product(facts: tuple[Fact, ...], params: Mapping[str, Hashable]) -> Sign:
    """As ``least``; a number times itself has no sign."""
    first, second = facts
    same = first.identity is not None and first.identity == second.identity
    return Sign.CLEAR if same else least(facts, params)


def quotient(facts: tuple[Fact, ...], _params: Mapping[str, Hashable]) -> Sign:
    """The dividend's, by a divisor that is not -0.0."""
    dividend, divisor = facts
    return dividend.sign if divisor.sign is Sign.CLEAR else Sign.ANY


def larger(facts: tuple[Fact, ...], params: Mapping[str, Hashable]) -> Sign:
    """A number bounds the result from below; of equal zeros either may come."""
    bounds = [fact.number for fact in facts if fact.number is not None]
    if any(bound > 0 for bound in bounds):
        return Sign.CLEAR
    return max(least(facts, params), Sign.NOT_BELOW if any(b == 0 for b in bounds) else Sign.ANY)


def power(facts: tuple[Fact, ...], params: Mapping[str, Hashable]) -> Sign:
    """Even powers have no sign, and powers of what has none."""
    base, exponent = facts
    given = params.get("exponent")
    number = given if isinstance(given, int | float) else exponent.number
    if base.sign is Sign.CLEAR or (number is not None and number % 2 == 0):
        return Sign.CLEAR
    positive = number is not None and number > 0
    return Sign.NOT_BELOW if positive and base.sign is Sign.NOT_BELOW else Sign.ANY


def count(_facts: tuple[Fact, ...], params: Mapping[str, Hashable]) -> Sign:
    """Numbers that rise from a start."""
    given = [params.get(name) for name in ("start", "step")]
    rises = all(isinstance(number, int | float) and number >= 0 for number in given)
    return Sign.NOT_BELOW if rises else Sign.ANY

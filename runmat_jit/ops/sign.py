"""Signs and bounds of results by operation: shows that a root is real before it is computed."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping
from enum import IntEnum
from typing import Any, TypeAlias

from runmat_jit.core.frozen import frozen


class Sign(IntEnum):
    """Lower bound of all elements that are not NaN; each member includes those before."""

    ANY = 0
    NOT_BELOW = 1
    """None is below zero; -0.0 may be among them."""
    CLEAR = 2
    """None has its sign bit set."""


class Top(IntEnum):
    """Upper bound of all elements that are not NaN; each member includes those before."""

    ANY = 0
    ONE = 1
    """None is above one: uniform random numbers, truth values."""
    ZERO = 2
    """None is above zero: logarithms of such numbers."""


@frozen
class Fact:
    """Known facts of an operand; ``number`` if it is a known scalar."""

    sign: Sign
    number: float | None = None
    identity: Any = None
    """The same object for the same operand."""
    top: Top = Top.ANY


SignRule: TypeAlias = Callable[[tuple[Fact, ...], Mapping[str, Hashable]], Sign]
"""The sign of a float result, of what is known of the operands and the parameters."""
TopRule: TypeAlias = Callable[[tuple[Fact, ...], Mapping[str, Hashable]], Top]
"""What a float result does not exceed, likewise."""


def fact_of_number(number: float) -> Fact:
    """Facts of a known scalar; NaN has all of them, for operations that ignore it."""
    if math.isnan(number):
        return Fact(Sign.ANY, number)
    clear = math.copysign(1.0, number) > 0
    known = Sign.CLEAR if clear else Sign.NOT_BELOW if number == 0 else Sign.ANY
    top = Top.ZERO if number <= 0 else Top.ONE if number <= 1 else Top.ANY
    return Fact(known, number, top=top)


def clear(_facts: tuple[Fact, ...], _params: Mapping[str, Hashable]) -> Sign:
    """Magnitudes, exponentials, squares."""
    return Sign.CLEAR


def least(facts: tuple[Fact, ...], _params: Mapping[str, Hashable]) -> Sign:
    """Return the weakest sign of the operands: sums, products, selections and copies."""
    return min(fact.sign for fact in facts)


def least_of_choices(facts: tuple[Fact, ...], _params: Mapping[str, Hashable]) -> Sign:
    """Like ``least``, of all but a condition."""
    return min(fact.sign for fact in facts[1:])


def opposite(facts: tuple[Fact, ...], _params: Mapping[str, Hashable]) -> Sign:
    """Return the sign of the negated operand."""
    return Sign.NOT_BELOW if facts[0].top is Top.ZERO else Sign.ANY


def difference(facts: tuple[Fact, ...], _params: Mapping[str, Hashable]) -> Sign:
    """Return the sign of a difference: from a scalar's bound, or less what is not positive."""
    first, second = facts
    if first.number is not None:
        limit = Top.ONE if first.number >= 1 else Top.ZERO if first.number >= 0 else None
        return Sign.CLEAR if limit is not None and second.top >= limit else Sign.ANY
    return min(first.sign, Sign.NOT_BELOW) if second.top is Top.ZERO else Sign.ANY


def product(facts: tuple[Fact, ...], params: Mapping[str, Hashable]) -> Sign:
    """Like ``least``, but clear for squares, and not below zero for two operands up to zero."""
    first, second = facts
    if first.identity is not None and first.identity == second.identity:
        return Sign.CLEAR
    both = first.top is Top.ZERO and second.top is Top.ZERO
    return Sign.NOT_BELOW if both else least(facts, params)


def quotient(facts: tuple[Fact, ...], _params: Mapping[str, Hashable]) -> Sign:
    """The dividend's, by a divisor that is not -0.0; the other one by a number below zero."""
    dividend, divisor = facts
    if divisor.number is not None and divisor.number < 0:
        return Sign.NOT_BELOW if dividend.top is Top.ZERO else Sign.ANY
    return dividend.sign if divisor.sign is Sign.CLEAR else Sign.ANY


def larger(facts: tuple[Fact, ...], params: Mapping[str, Hashable]) -> Sign:
    """A number bounds the result from below; of equal zeros either may come."""
    bounds = [fact.number for fact in facts if fact.number is not None]
    if any(bound > 0 for bound in bounds):
        return Sign.CLEAR
    return max(least(facts, params), Sign.NOT_BELOW if any(b == 0 for b in bounds) else Sign.ANY)


def power(facts: tuple[Fact, ...], params: Mapping[str, Hashable]) -> Sign:
    """Return the sign of a power: the sign bit is clear for even exponents or a clear base."""
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


def highest(facts: tuple[Fact, ...], _params: Mapping[str, Hashable]) -> Top:
    """Return the weakest upper bound of the operands: selections and copies."""
    return min(fact.top for fact in facts)


def highest_of_choices(facts: tuple[Fact, ...], _params: Mapping[str, Hashable]) -> Top:
    """Like ``highest``, of all but a condition."""
    return min(fact.top for fact in facts[1:])


def smaller(facts: tuple[Fact, ...], _params: Mapping[str, Hashable]) -> Top:
    """Return the strongest upper bound of the operands, where NaN propagates."""
    return max(fact.top for fact in facts)


def smaller_number(facts: tuple[Fact, ...], params: Mapping[str, Hashable]) -> Top:
    """Like ``highest``, or a known number, which wins over NaN too."""
    bounds = [fact.top for fact in facts if fact.number is not None]
    return max([highest(facts, params), *bounds])


def total(facts: tuple[Fact, ...], _params: Mapping[str, Hashable]) -> Top:
    """Return the upper bound of a sum in which at most one operand exceeds zero."""
    tops = sorted(fact.top for fact in facts)
    return tops[0] if tops[1:] in ([], [Top.ZERO]) and Top.ZERO in tops else Top.ANY


def zero_below(facts: tuple[Fact, ...], _params: Mapping[str, Hashable]) -> Top:
    """Return the upper bound of the negated operand: zero if it is not negative."""
    return Top.ZERO if facts[0].sign >= Sign.NOT_BELOW else Top.ANY


def top_of_difference(facts: tuple[Fact, ...], _params: Mapping[str, Hashable]) -> Top:
    """Return the first operand's upper bound if the second one is not below zero."""
    return facts[0].top if facts[1].sign >= Sign.NOT_BELOW else Top.ANY


def top_of_product(facts: tuple[Fact, ...], _params: Mapping[str, Hashable]) -> Top:
    """Return the upper bound of a product: of opposite signs, or of factors in [0, 1]."""
    first, second = facts
    signs = first.sign >= Sign.NOT_BELOW, second.sign >= Sign.NOT_BELOW
    if (signs[0] and second.top is Top.ZERO) or (signs[1] and first.top is Top.ZERO):
        return Top.ZERO
    return min(first.top, second.top, Top.ONE) if all(signs) else Top.ANY


def top_of_square(facts: tuple[Fact, ...], _params: Mapping[str, Hashable]) -> Top:
    """Return the upper bound of a square: of a factor in [0, 1]."""
    between = facts[0].sign >= Sign.NOT_BELOW and facts[0].top >= Top.ONE
    return Top.ONE if between else Top.ANY


def top_of_power(facts: tuple[Fact, ...], params: Mapping[str, Hashable]) -> Top:
    """Like ``top_of_square`` of squares; other powers are not rounded as exactly."""
    given = params.get("exponent", facts[1].number)
    return top_of_square(facts[:1], params) if given == 2 else Top.ANY


def top_of_quotient(facts: tuple[Fact, ...], _params: Mapping[str, Hashable]) -> Top:
    """Return the upper bound of a quotient: of what is not positive, by what is not negative."""
    dividend, divisor = facts
    negative = dividend.top is Top.ZERO and divisor.sign is Sign.CLEAR
    return Top.ZERO if negative else Top.ANY


def logarithm(facts: tuple[Fact, ...], _params: Mapping[str, Hashable]) -> Top:
    """Logarithms of what does not exceed one are not above zero."""
    return Top.ZERO if facts[0].top >= Top.ONE else Top.ANY


def one(_facts: tuple[Fact, ...], _params: Mapping[str, Hashable]) -> Top:
    """Uniform random numbers."""
    return Top.ONE

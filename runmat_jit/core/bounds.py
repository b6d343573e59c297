"""Conditions on numbers that have names: which of them say all that the others say."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

Condition = tuple[str, str, str, bool]
"""A comparison's sign, a name, another name or an integer as text, and what was found."""

_OPPOSITE: Final = {"<": ">=", ">=": "<", ">": "<=", "<=": ">", "==": "!=", "!=": "=="}


def tightest(conditions: Iterable[Condition]) -> list[Condition]:
    """The conditions, in order, without those that another one on the same name implies.

    Only comparisons with integers are looked at; of several that say the same the first stays.
    """
    conditions = list(conditions)
    ranges = {condition: found for condition in conditions if (found := _range(condition))}
    lower: dict[str, int] = {}
    upper: dict[str, int] = {}
    for (_, name, _, _), (least, most) in ranges.items():
        if least is not None:
            lower[name] = max(least, lower.get(name, least))
        if most is not None:
            upper[name] = min(most, upper.get(name, most))
    kept: list[Condition] = []
    said: set[tuple[str, str, int]] = set()
    for condition in conditions:
        name = condition[1]
        news = _news(condition, ranges.get(condition), lower.get(name), upper.get(name))
        if news is None or not said.issuperset((name, *each) for each in news):
            kept.append(condition)
            said.update((name, *each) for each in news or ())
    return kept


def _news(
    condition: Condition,
    range_: tuple[int | None, int | None] | None,
    lower: int | None,
    upper: int | None,
) -> list[tuple[str, int]] | None:
    """What a condition says of its name beyond the bounds; None where that is not known."""
    if range_ is None:
        number = _number(condition[2])
        if number is None or _sign(condition) != "!=":
            return None
        outside = (lower is not None and number < lower) or (upper is not None and number > upper)
        return [] if outside else [("!=", number)]
    least, most = range_
    news = []
    if least is not None and least == lower:
        news.append((">=", least))
    if most is not None and most == upper:
        news.append(("<=", most))
    return news


def _range(condition: Condition) -> tuple[int | None, int | None] | None:
    """The least and the greatest number that meet it; None where it is no range."""
    number, sign = _number(condition[2]), _sign(condition)
    if number is None or sign == "!=":
        return None
    least = {">=": number, ">": number + 1, "==": number}.get(sign)
    most = {"<=": number, "<": number - 1, "==": number}.get(sign)
    return least, most


def _sign(condition: Condition) -> str:
    sign, _, _, holds = condition
    return sign if holds else _OPPOSITE[sign]


def _number(name: str) -> int | None:
    """The integer that a name is, if it is no name."""
    return None if name[0] in "sf" else int(name.strip("()"))

"""Statistics of interleaved rounds: a ratio a round, their median and its interval."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True, slots=True)
class Ratio:
    """Median of per-round ratios with the order statistics that enclose it."""

    median: float
    low: float
    high: float
    coverage: float  # probability that [low, high] holds the true median, at least 0.95 if it can
    rounds: int

    def __str__(self) -> str:
        return f"{self.median:.2f}x [{self.low:.2f}, {self.high:.2f}]"


def ratio_of_rounds(times: Sequence[float], baseline: Sequence[float]) -> Ratio:
    """How many times longer `times` took than `baseline`, round by round.

    The interval is the sign test's: it assumes nothing about how the times are distributed.
    """
    ratios = sorted(a / b for a, b in zip(times, baseline, strict=True))
    rounds = len(ratios)
    rank = _widest_rank(rounds)
    return Ratio(
        median=median(ratios),
        low=ratios[rank],
        high=ratios[rounds - 1 - rank],
        coverage=1 - 2 * _tail(rounds, rank),
        rounds=rounds,
    )


def _tail(rounds: int, rank: int) -> float:
    """Probability that at most `rank` of `rounds` fair coins show heads."""
    return sum(math.comb(rounds, k) for k in range(rank + 1)) / 2**rounds


def _widest_rank(rounds: int) -> int:
    """The largest rank whose interval still covers 95 %; 0 (the extremes) where none does."""
    rank = 0
    while rank + 1 < rounds / 2 and 1 - 2 * _tail(rounds, rank + 1) >= 0.95:
        rank += 1
    return rank

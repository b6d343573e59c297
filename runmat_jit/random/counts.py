"""Distributions of whole numbers that are not bounded by two numbers alone."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from runmat_jit.random.continuous import Continuous
from runmat_jit.random.parameters import Array, Parameters, parameters, refuse_unless, rounds
from runmat_jit.random.stream import Size

FEW: Final = 10
"""A mean below which counts are found by adding up probabilities, as in Hoermann's papers."""
_MOST: Final = float(np.iinfo(np.int64).max)
_LARGEST_MEAN: Final = _MOST - 10 * np.sqrt(_MOST)


class Counts(Continuous):
    """Draws counts; arguments and errors are those of NumPy's methods."""

    def poisson(self, lam: Any = 1.0, size: Size = None) -> Any:
        """Number of events whose mean is given."""
        refuse_unless(lambda value: value >= 0, "lam < 0 or lam is NaN", lam)
        refuse_unless(lambda value: value <= _LARGEST_MEAN, "lam value too large", lam)
        given = parameters(size, lam=lam)
        (mean,) = given.values
        return counted(given, self._by_size(mean < FEW, self._few_events, self._many_events, mean))

    def binomial(self, n: Any, p: Any, size: Size = None) -> Any:
        """Number of successes in n trials, each with probability p."""
        trials = np.asarray(n)
        refuse_unless(lambda value: value >= 0, "n < 0", trials)
        refuse_unless(lambda value: (value >= 0) & (value <= 1), "p < 0, p > 1 or p is NaN", p)
        given = parameters(size, n=np.trunc(np.asarray(trials, np.float64)), p=p)
        of, chance = given.values
        rare = np.minimum(chance, 1 - chance)
        found = self._by_size(of * rare < FEW, self._few_successes, self._many_successes, of, rare)
        return counted(given, np.where(chance > 0.5, of - found, found))

    def geometric(self, p: Any, size: Size = None) -> Any:
        """At which trial the first one succeeds."""
        words = "p <= 0, p > 1 or p contains NaNs"
        refuse_unless(lambda value: (value > 0) & (value <= 1), words, p)
        given = parameters(size, p=p)
        with np.errstate(divide="ignore"):
            trials = np.ceil(-self.standard_exponential(given.count) / np.log1p(-given.values[0]))
        return counted(given, np.maximum(trials, 1))

    def negative_binomial(self, n: Any, p: Any, size: Size = None) -> Any:
        """Number of trials that fail before n succeed: events whose mean is a gamma number."""
        refuse_unless(lambda value: value > 0, "n <= 0", n)
        words = "p <= 0, p > 1 or p contains NaNs"
        refuse_unless(lambda value: (value > 0) & (value <= 1), words, p)
        given = parameters(size, n=n, p=p)
        successes, chance = given.values
        mean = self.standard_gamma(successes) * (1 - chance) / chance
        drawn: Array = self.poisson(np.minimum(mean, _LARGEST_MEAN))
        return counted(given, drawn)

    def multinomial(self, n: Any, pvals: Any, size: Size = None) -> Array:
        """Number of n trials that have each of some outcomes."""
        chances = np.asarray(pvals, np.float64)
        refuse_unless(lambda value: value >= 0, "n < 0", n)
        words = "pvals < 0, pvals > 1 or pvals contains NaNs"
        refuse_unless(lambda value: (value >= 0) & (value <= 1), words, chances)
        if chances.ndim != 1 or not chances.size:
            raise ValueError("pvals must have one dimension and an outcome")
        if chances[:-1].sum() > 1 + 1e-12:
            raise ValueError("sum(pvals[:-1]) > 1.0")
        given = parameters(size, n=n)
        left, rest = given.values[0].copy(), 1.0
        found = np.zeros((given.count, chances.size), np.int64)
        for outcome, chance in enumerate(chances[:-1]):
            share = min(1.0, chance / rest) if rest > 0 else 0.0
            found[:, outcome] = self.binomial(left, share)
            left -= found[:, outcome]
            rest -= chance
        found[:, -1] = left
        return found.reshape(*given.shape, chances.size)

    # -- pieces ----------------------------------------------------------------------------------
    def _by_size(self, few: Array, of_few: Any, of_many: Any, *values: Array) -> Array:
        """Counts, those of small means in one way and the others in another."""
        found = np.empty(few.size)
        for chosen, draw in ((few, of_few), (~few, of_many)):
            places = np.flatnonzero(chosen)
            if places.size:
                found[places] = draw(*(value[places] for value in values))
        return found

    def _few_events(self, mean: Array) -> Array:
        return self._added_up(np.exp(-mean), lambda k, at: mean[at] / k)

    def _few_successes(self, trials: Array, chance: Array) -> Array:
        odds = chance / (1 - chance)
        first = np.exp(trials * np.log1p(-chance))
        return self._added_up(first, lambda k, at: np.maximum(trials[at] - k + 1, 0) / k * odds[at])

    def _added_up(self, first: Array, ratio: Any) -> Array:
        """The count at which the probabilities of it and of those before exceed a uniform number.

        ``first``: those of 0; ``ratio`` gives each one by the one before.
        """
        share, found = self.random(first.size), np.zeros(first.size)
        chance, total = first.copy(), first.copy()
        pending, count = np.flatnonzero(share >= total), 0
        while pending.size:
            count += 1
            chance[pending] *= ratio(count, pending)
            before = total[pending]
            total[pending] += chance[pending]
            found[pending] = count
            going = (share[pending] >= total[pending]) & (total[pending] > before)
            pending = pending[going]
        return found

    def _many_events(self, mean: Array) -> Array:
        """By Hoermann's transformed rejection (PTRS, 1993)."""
        from scipy.special import gammaln  # noqa: PLC0415  (rarely needed)

        wide = 0.931 + 2.53 * np.sqrt(mean)
        long, squeeze = -0.059 + 0.02483 * wide, 0.9277 - 3.6224 / (wide - 2)
        scale, logs = 1.1239 + 1.1328 / (wide - 3.4), np.log(mean)

        def attempt(at: Array) -> tuple[Array, Array]:
            side, height, near = self._hat(at.size)
            count = np.floor((2 * long[at] / near + wide[at]) * side + mean[at] + 0.43)
            known = np.maximum(count, 0)
            left = np.log(height * scale[at] / (long[at] / near**2 + wide[at]))
            right = known * logs[at] - mean[at] - gammaln(known + 1)
            inside = (near >= 0.07) & (height <= squeeze[at])
            outside = (count < 0) | ((near < 0.013) & (height > near))
            return count, inside | (~outside & (left <= right))

        return rounds(mean.size, attempt)

    def _many_successes(self, trials: Array, chance: Array) -> Array:
        """By Hoermann's transformed rejection (BTRS, 1993)."""
        from scipy.special import gammaln  # noqa: PLC0415  (rarely needed)

        spread = np.sqrt(trials * chance * (1 - chance))
        wide = 1.15 + 2.53 * spread
        long, squeeze = -0.0873 + 0.0248 * wide + 0.01 * chance, 0.92 - 4.2 / wide
        scale, center = (2.83 + 5.1 / wide) * spread, trials * chance + 0.5
        odds, mode = np.log(chance / (1 - chance)), np.floor((trials + 1) * chance)
        at_mode = gammaln(mode + 1) + gammaln(trials - mode + 1)

        def attempt(at: Array) -> tuple[Array, Array]:
            side, height, near = self._hat(at.size)
            count = np.floor((2 * long[at] / near + wide[at]) * side + center[at])
            known = np.clip(count, 0, trials[at])
            left = np.log(height * scale[at] / (long[at] / near**2 + wide[at]))
            ways = at_mode[at] - gammaln(known + 1) - gammaln(trials[at] - known + 1)
            right = ways + (known - mode[at]) * odds[at]
            inside = (near >= 0.07) & (height <= squeeze[at])
            return count, (count == known) & (inside | (left <= right))

        return rounds(trials.size, attempt)

    def _hat(self, count: int) -> tuple[Array, Array, Array]:
        """A uniform number about 0, one of (0, 1), and how far the first is from the ends."""
        side = self._open(count) - 0.5
        return side, self._open(count), 0.5 - np.abs(side)


def counted(given: Parameters, drawn: Array) -> Any:
    """What a method returns, as whole numbers; no number is greater than 2**63 - 1."""
    largest = np.iinfo(np.int64).max
    with np.errstate(invalid="ignore"):
        whole = np.where(drawn >= _MOST, largest, drawn.astype(np.int64))
    return given.result(whole)

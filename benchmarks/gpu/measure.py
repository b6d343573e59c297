"""Interleaved rounds on one device: clocks fall when it idles, so each round warms it up first.

Nobody asks for floating-point events, which torch does not report: no call waits for another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.gpu.implementations import Implementation

Inputs = tuple[tuple[Any, ...], tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class Pace:
    rounds: int
    warm_s: float  # of work before each measurement
    measured_s: float  # of work in each measurement


FULL = Pace(rounds=15, warm_s=0.5, measured_s=0.2)
QUICK = Pace(rounds=3, warm_s=0.0, measured_s=0.0)


def time_rounds(
    sides: Sequence[tuple[Implementation, Inputs]], pace: Pace
) -> dict[str, list[float]]:
    """Seconds of a call for each side and round; two inputs alternate, all results are waited for.

    The device works without a pause from the beginning of a measurement to its end; what is timed
    are as many calls as fill `measured_s`, at least two.
    """
    seconds: dict[str, list[float]] = {side.name: [] for side, _ in sides}
    with np.errstate(all="ignore"):
        for _ in range(pace.rounds):
            for side, inputs in sides:
                typical = _calls(side, inputs, 2)
                for _ in range(int(pace.warm_s / typical)):
                    side.run(*inputs[0])
                side.wait()
                count = max(2, 2 * int(pace.measured_s / typical / 2))
                seconds[side.name].append(_calls(side, inputs, count))
    return seconds


def _calls(side: Implementation, inputs: Inputs, count: int) -> float:
    start = perf_counter()
    for index in range(count):
        side.run(*inputs[index % 2])
    side.wait()
    return (perf_counter() - start) / count

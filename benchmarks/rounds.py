"""Interleaved rounds over several workers: A B C, A B C, … so that all meet the same machine."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from benchmarks.cases.case import Case, Shape
from benchmarks.worker import Worker

Progress = Callable[[str], None]
ROUND_SECONDS = 0.15  # of work in a round, so that clocks and thread pools are awake


@dataclass(frozen=True, slots=True)
class Pace:
    rounds: int
    pause_s: float  # between two workers: spinning threads of the one before fall asleep


@dataclass(frozen=True, slots=True)
class Contest:
    """One case at one shape, held by one worker a peer."""

    case: Case
    shape: Shape
    workers: Sequence[Worker]
    progress: Progress


@dataclass(frozen=True, slots=True)
class Rounds:
    """Seconds of a call for each peer and round; `calls` is how many one round held."""

    mode: str
    shape: Shape
    seconds: dict[str, list[float]]
    calls: dict[str, int]


def run_dropped(contest: Contest, pace: Pace) -> Rounds:
    """Each result is freed before the next call."""
    typical = {worker.peer: worker.call("warm_up", calls=3) for worker in contest.workers}
    calls = {peer: _even(ROUND_SECONDS / seconds) for peer, seconds in typical.items()}
    return Rounds("dropped", contest.shape, _interleave(contest, pace, "dropped", calls), calls)


def run_kept(contest: Contest, pace: Pace) -> Rounds:
    """All results stay alive until the end, so recycling of their memory cannot help.

    The first round is not counted: it uses up what earlier calls have left to recycle.

    Raises:
        MemoryError: not even four results of each peer fit into half of the free memory.
    """
    case, shape = contest.case, contest.shape
    budget = _available_bytes() // 2 // len(contest.workers)
    results = min(64, budget // case.result_bytes(shape))
    rounds = min(pace.rounds, results // 2 - 1)
    if rounds < 1:
        raise MemoryError(f"{case.name} {shape}: too little memory to keep four results a peer")
    each = min(4, results // (rounds + 1))
    calls = dict.fromkeys((worker.peer for worker in contest.workers), each)
    seconds = _interleave(contest, Pace(rounds + 1, pace.pause_s), "keep", calls)
    return Rounds("kept", shape, {peer: times[1:] for peer, times in seconds.items()}, calls)


def run_small(contest: Contest, pace: Pace) -> Rounds:
    """Arrays of 100 elements: what a call costs besides its work."""
    typical = {worker.peer: worker.call("small", calls=200) for worker in contest.workers}
    calls = {p: min(50_000, max(200, int(ROUND_SECONDS / s))) for p, s in typical.items()}
    return Rounds("small", contest.shape, _interleave(contest, pace, "small", calls), calls)


def _interleave(
    contest: Contest, pace: Pace, mode: str, calls: dict[str, int]
) -> dict[str, list[float]]:
    seconds: dict[str, list[float]] = {worker.peer: [] for worker in contest.workers}
    for index in range(pace.rounds):
        contest.progress(f"{contest.case.name}: {mode}, round {index + 1} of {pace.rounds}")
        for worker in contest.workers:
            time.sleep(pace.pause_s)
            seconds[worker.peer].append(worker.call(mode, calls=calls[worker.peer]))
    return seconds


def _even(calls: float) -> int:
    """At least two and at most 40 calls, as many of each input."""
    return max(2, min(40, 2 * round(calls / 2)))


def _available_bytes() -> int:
    pages = "SC_AVPHYS_PAGES"
    if pages not in os.sysconf_names:
        return 4 << 30
    return os.sysconf(pages) * os.sysconf("SC_PAGE_SIZE")

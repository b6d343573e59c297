"""`python -m benchmarks.placement`: where `auto` runs programs, and what other choices would cost.

Each program of ``benchmarks.gpu.programs`` at three sizes, with NumPy's arrays (copied to a device
and back where it runs there): timed on the CPU, on the GPU, and as ``auto`` chooses; what was
predicted stands beside what was measured. Without a GPU: the CPU's predictions, and threads.
"""

from __future__ import annotations

import argparse
import itertools
import math
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import Any

import numpy as np

import runmat_jit as runmat
from benchmarks.gpu.breadth import check
from benchmarks.gpu.programs import PROGRAMS, Program
from runmat_jit.compiler.samples import rate_samples, stream
from runmat_jit.compiler.timed_sample import TimedSample, least_us
from runmat_jit.runtime.session import current_session

SIZES = (1 << 12, 1 << 18, 1 << 24)
QUICK = (1 << 10,)
ROUNDS = 5
WARM_CALLS, WARM_S = 64, 2.0
NEAR = 1.5
"""By which a prediction may be wrong."""
TOLERATED = 1.05
"""By which a choice may be slower before it counts as wrong: clocks say no better."""


@dataclass(frozen=True, slots=True)
class Case:
    """A program at a size: microseconds by device, of ``auto``, and as predicted."""

    name: str
    size: int
    measured: dict[str, float]
    auto: float
    chosen: str
    predicted: dict[str, float]

    @property
    def loss(self) -> float:
        """The time on the chosen device as a multiple of the least."""
        return self.measured[self.chosen] / min(self.measured.values())


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.placement", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small arrays: a test")
    parser.add_argument("--only", metavar="TEXT", default="", help="programs with this in the name")
    options = parser.parse_args(arguments)
    session = current_session()
    devices = ["cpu"]
    if session.may_have_gpu and session.hardware_gpu() is not None and session.may_have_gpu:
        devices.append("gpu")
    print(f"profiles: {session.profile.name}, measured {session.profile.measured}", end="")
    if len(devices) > 1:
        print(f"; {session.gpu_profile.name}, measured {session.gpu_profile.measured}", end="")
    print()
    programs = [program for program in PROGRAMS if options.only in program.name]
    sizes = QUICK if options.quick else SIZES
    cases = [case for program in programs for size in sizes for case in run(program, size, devices)]
    tell(cases, devices)
    threads(2 if options.quick else 8)
    return 0


def run(program: Program, size: int, devices: Sequence[str]) -> list[Case]:
    """Measure one program; none where it is not one program of numbers."""
    host = program.make(np.random.default_rng(0), size)
    measured: dict[str, float] = {}
    predicted: dict[str, float] = {}
    for device in devices:
        fn = runmat.jit(program.numpy, device=device)
        measured[device] = time_of(fn, host)
        found = fn.explain(*host).to_dict()["placements"]
        if not found or {each["device"] for each in found} != {device}:
            return []
        predicted[device] = sum(each["predicted_us"][device] for each in found)
    fn = runmat.jit(program.numpy, device="auto")
    auto = time_of(fn, host)
    check(program, np.asarray(fn(*host)), host)
    chosen = {each["device"] for each in fn.explain(*host).to_dict()["placements"]}
    if len(chosen) != 1:
        return []
    case = Case(program.name, size, measured, auto, chosen.pop(), predicted)
    told = "".join(
        f"   {device} {measured[device]:10.1f} ({predicted[device]:10.1f})" for device in devices
    )
    print(f"{case.name:20}{size:>10}{told}   auto {auto:10.1f} on {case.chosen}", flush=True)
    return [case]


def time_of(fn: Callable[..., Any], host: tuple[np.ndarray, ...]) -> float:
    """Microseconds of a warm call, the median of some rounds' least."""
    end = time.perf_counter() + WARM_S
    for number in itertools.count():  # calls are tried both ways, too, before they settle
        fn(*host)
        if number > WARM_CALLS or (number > ROUNDS and time.perf_counter() > end):
            break
    found = []
    for _ in range(ROUNDS):
        best = math.inf
        end = time.perf_counter() + 0.01
        while True:
            start = time.perf_counter()
            fn(*host)
            done = time.perf_counter()
            best = min(best, done - start)
            if done > end:
                break
        found.append(best)
    return 1e6 * median(found)


def tell(cases: Sequence[Case], devices: Sequence[str]) -> None:
    """What the cases have in common."""
    if not cases:
        print("no case was measured")
        return
    for device in devices:
        ratios = [case.predicted[device] / case.measured[device] for case in cases]
        near = sum(1 / NEAR <= ratio <= NEAR for ratio in ratios) / len(ratios)
        middle = median(ratios)
        print(f"{device}: {near:.0%} predicted within {NEAR}x; the median is {middle:.2f} of it")
    if len(devices) > 1:
        wrong = sum(case.loss > TOLERATED for case in cases) / len(cases)
        least = sum(min(case.measured.values()) for case in cases)
        lost = sum(case.measured[case.chosen] for case in cases) / least - 1
        worst = max(cases, key=lambda case: case.loss)
        print(f"choices that are wrong: {wrong:.0%}; time lost by them: {lost:.1%}")
        print(f"the worst: {worst.name}, {worst.size} elements, {worst.loss:.2f} times the least")
    slower = [case.auto / min(case.measured.values()) for case in cases]
    print(f"auto against the better of all: median {median(slower):.2f}, worst {max(slower):.2f}")


def threads(doublings: int) -> None:
    """Launches of sample kernels: as the profile lets them, against one thread and all threads."""
    session, ratios = current_session(), []
    for sample in (stream("f32"), stream("f64"), *rate_samples()):
        for power in range(doublings):
            timed = TimedSample(session, sample, 1 << (10 + 2 * power), 1 << 14)
            times = [least_us(partial(timed.launch, parallel=flag)) for flag in (False, True)]
            chosen = times[timed.is_parallel(session.profile)]
            ratios.append(min(times) / chosen)
    print(
        f"threads, {len(ratios)} launches: mean {np.mean(ratios):.3f} of the better of one and "
        f"{session.threads} threads, worst {min(ratios):.2f}"
    )


if __name__ == "__main__":
    sys.exit(main())

"""Warm calls of one program at one size, decorated and plain in alternation.

No two calls get the same data: what a decorated function remembers of data is of no use to it, and
a new outcome of a decision costs what it costs. Parity is checked before anything is timed.
"""

from __future__ import annotations

import contextlib
import gc
import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

import runmat_jit as runmat
from benchmarks.never_slower.sizes import Size
from runmat_jit.api import JitFunction
from runmat_jit.capture import trial
from runmat_jit.capture.function import MISSES_LIMIT
from runmat_jit.capture.replay.bailout import BAILOUT_CALLS
from tests.parity.parity import compare_calls, fresh_arguments
from tests.parity.program import Program

WARM_CALLS = MISSES_LIMIT + BAILOUT_CALLS + trial.CALLS + 4
"""After which a function whose replays come to no end, gain nothing or lose is let through."""
WARM_S = 4.0
WARM_AT_LEAST = 6
"""Calls, whatever they take."""
ROUNDS_S = 0.1
ROUNDS = (6, 32)
"""At least, whatever they take, and at most; even, so that each is first as often."""


@dataclass(frozen=True, slots=True)
class Measured:
    """What was found of a program at a size."""

    program: str
    variant: str
    asked: int | None
    elements: int
    ratio: float = float("nan")
    """Times as long as plain Python (:func:`ratio_of`); NaN where ``failed`` tells why."""
    ours_us: float = float("nan")
    plain_us: float = float("nan")
    settled: bool = True
    """It had :data:`WARM_CALLS` calls before it was timed."""
    why: str = ""
    """What a warm call does, in a line."""
    failed: str = ""


def measure(program: Program, variant: str, size: Size) -> Measured:
    """Check and time one program at one size."""
    head = program.name, variant, size.asked, size.elements
    decorated = runmat.jit(program.fn)
    try:
        for seed in (0, 1):
            compare_calls(program, decorated, size.configuration, seed)
    except AssertionError as difference:
        return Measured(*head, failed=f"differs: {str(difference)[:200]}")
    settled = warm_up(program, decorated, size)
    before = runmat.telemetry.snapshot()
    ours, plain = alternate(program, decorated, size)
    counted = per_call(before, runmat.telemetry.snapshot(), len(ours))
    args, kwargs = fresh_arguments(program, size.configuration, 0)
    return Measured(
        *head,
        ratio=ratio_of(ours, plain),
        ours_us=1e6 * median(ours),
        plain_us=1e6 * median(plain),
        settled=settled,
        why=why(decorated, counted, args, kwargs),
    )


def warm_up(program: Program, decorated: Callable[..., Any], size: Size) -> bool:
    """Calls on new data until bypasses have settled; False: until the time was up."""
    start = perf_counter()
    for number in range(WARM_CALLS):
        if perf_counter() - start > WARM_S and number >= WARM_AT_LEAST:
            return False
        timed(program, decorated, size, 2 + number)
    return True


def alternate(
    program: Program, decorated: Callable[..., Any], size: Size
) -> tuple[list[float], list[float]]:
    """Seconds of calls of both, round by round on equal data, each first in every second one."""
    times: dict[bool, list[float]] = {True: [], False: []}
    start, seed = perf_counter(), 1000
    while len(times[True]) < ROUNDS[0] or len(times[True]) % 2 or perf_counter() - start < ROUNDS_S:
        if len(times[True]) == ROUNDS[1]:
            break
        for ours in (seed % 2 == 0, seed % 2 == 1):
            fn = decorated if ours else program.fn
            times[ours].append(timed(program, fn, size, seed))
        seed += 1
    return times[True], times[False]


def ratio_of(ours: list[float], plain: list[float]) -> float:
    """The median over two rounds each: who is first finds cold caches, and each is first once."""
    rounds = [a / b for a, b in zip(ours, plain, strict=True)]
    return median(math.sqrt(a * b) for a, b in zip(rounds[::2], rounds[1::2], strict=True))


def timed(program: Program, fn: Callable[..., Any], size: Size, seed: int) -> float:
    """Seconds of one call on fresh arguments; what it gives is freed within them."""
    args, kwargs = fresh_arguments(program, size.configuration, seed)
    np.random.seed(12345)  # noqa: NPY002  (programs draw from the global generator)
    gc.disable()
    start = perf_counter()
    with contextlib.suppress(Exception):  # programs raise by design: parity has been checked
        fn(*args, **kwargs)
    seconds = perf_counter() - start
    gc.enable()
    return seconds


def per_call(before: dict[str, Any], after: dict[str, Any], calls: int) -> dict[str, float]:
    """Counts of telemetry for each of the decorated calls."""
    return {n: (after[n] - before[n]) / calls for n in after if isinstance(after[n], int)}


def why(decorated: Any, counted: dict[str, float], args: Any, kwargs: Any) -> str:
    """What a warm call does, and what keeps it from doing less."""
    if not isinstance(decorated, JitFunction):
        return ""
    with warnings.catch_warnings(action="ignore"):
        told = decorated.explain(*args, **kwargs)
    host = [name for region in told.regions if region.kind == "host" for name in region.operations]
    parts = [
        told.mode,
        f"{counted['kernel_launches']:.0f} kernels in {len(told.regions) - len(host)} regions",
    ]
    if told.host_calls or host:
        names = [call.partition(" (")[0] for call in told.host_calls] + host
        common = ", ".join(dict.fromkeys(names[:8]))
        parts.append(f"{len(names)} host calls ({common})")
    for name, text in NOTED.items():
        if counted[name] >= 0.05:
            parts.append(f"{text} {counted[name]:.2f} a call")
    parts += sorted({reason.id for reason in told.reasons})
    parts += [note for note in told.notes if "there was no record" not in note]
    return "; ".join(parts)


NOTED = {
    "calls_recorded": "recorded",
    "calls_plain": "plain",
    "events_checked": "events looked at",
    "kernels_compiled": "compiled",
}

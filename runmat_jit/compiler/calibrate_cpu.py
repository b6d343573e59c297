"""Measures the profile of the processor: small kernels on one thread and on all, and products."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from runmat_jit.compiler.samples import rate_samples, stream
from runmat_jit.compiler.timed_sample import GRAIN, LEAST_SHARE, TimedSample, least_us, rate_of
from runmat_jit.plan.profile import CPU, MEMORY, Bandwidth, Products, Profile

if TYPE_CHECKING:
    from runmat_jit.runtime.session import Session

Tell = Callable[[str], None]
"""Is told what is measured next."""

_WORKING_SETS: Final = (24 << 10, 768 << 10, 12 << 20, 96 << 20)
"""Bytes that are streamed: in the caches of a core, in one that cores share, and in memory."""
_OF_A_CORE: Final = 1 << 20
"""Bytes that a core keeps near itself, about."""
_UP_TO: Final = (48 << 10, 2 << 20, 32 << 20, MEMORY)
"""Where each of them holds: about half way to the next, in its order of magnitude."""
_SIDES: Final = ((64, 2.0 * 128**3), (384, 2.0 * 700**3), (1024, float(MEMORY)))
"""Sides of the square products that are measured, and the most operations each stands for."""
_WAKES: Final = 40
_LEAST_WAKE_US: Final = 1.0


def measure_cpu(session: Session, tell: Tell = lambda _what: None) -> Profile:
    """The profile of this machine's cores, with the session's number of threads.

    Args:
        session: Its backend compiles and its pool runs what is timed.
        tell: Is told what is measured next.

    """
    tell("memory")
    launch_us = TimedSample(session, stream("f64"), 1).us()
    bandwidth = tuple(_bandwidths(session, launch_us))
    tell("instructions")
    rates = _rates(session, launch_us)
    tell("threads")
    wake_us = _wake_us(session, launch_us) if session.threads > 1 else 0.0
    tell("products")
    return Profile(
        *(session.jit.target.cpu, session.threads, bandwidth, rates, tuple(_products())),
        *(launch_us, wake_us),
        measured=True,
    )


def _bandwidths(session: Session, launch_us: float) -> Iterable[Bandwidth]:
    """Of each working set; one thread is never faster with a larger one.

    Caches that each core has of its own are as many times as fast as there are threads: over so
    little, waking them would be measured.
    """
    one = every = float("inf")
    for nbytes, up_to in zip(_WORKING_SETS, _UP_TO, strict=True):
        timed = TimedSample(session, stream("f64"), nbytes // 16, max(GRAIN, nbytes // 4096))
        one = min(one, nbytes / max(timed.us() - launch_us, LEAST_SHARE))
        if session.threads == 1 or nbytes <= _OF_A_CORE:
            yield Bandwidth(up_to, one, one * session.threads)
            continue
        every = max(one, min(every, nbytes / max(timed.us(parallel=True), LEAST_SHARE)))
        yield Bandwidth(up_to, one, every)


def _rates(session: Session, launch_us: float) -> Mapping[str, float]:
    """Of each class of instructions."""
    rates = dict(CPU.rates)
    for sample in rate_samples():
        us = TimedSample(session, sample, sample.size).us() - launch_us
        rates.update(dict.fromkeys(sample.names, rate_of(sample, sample.size, us, rates)))
    return rates


def _wake_us(session: Session, launch_us: float) -> float:
    """What a launch for all threads takes longer than one for the caller, over next to nothing.

    Threads sleep after a while; then it is a call of the system that wakes them. The mean of both,
    since calls come in a row or after a pause.
    """
    timed = TimedSample(session, stream("f64"), 2 * GRAIN)
    awake = timed.us(parallel=True) - timed.us() / 2
    asleep = []
    for _ in range(_WAKES):
        time.sleep(2e-4)
        start = time.perf_counter_ns()
        timed.launch(parallel=True)
        asleep.append((time.perf_counter_ns() - start) / 1e3)
    first = sorted(asleep)[_WAKES // 4] - launch_us
    return math.sqrt(max(awake, _LEAST_WAKE_US) * max(first, _LEAST_WAKE_US))


def _products() -> Iterable[Products]:
    """Of square matrices, as NumPy multiplies them."""
    for side, up_to in _SIDES:
        yield Products(up_to, *(_product(side, kind) for kind in (np.float32, np.float64)))


def _product(side: int, kind: type[np.floating[Any]]) -> float:
    """Operations a microsecond."""
    a = np.full((side, side), 0.5, kind)
    out = np.empty_like(a)
    return 2.0 * side**3 / least_us(lambda: np.matmul(a, a, out))

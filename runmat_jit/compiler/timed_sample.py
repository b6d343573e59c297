"""Times samples on the CPU.

The least of some times counts: whatever else a machine does makes times longer, never shorter.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from runmat_jit.compiler.samples import ELEMENTS, Sample
from runmat_jit.kernel.ir import Buffer
from runmat_jit.kernel.work import count_work

if TYPE_CHECKING:
    from runmat_jit.plan.profile import Profile
    from runmat_jit.runtime.session import Session

WINDOW_MS: Final = 15.0
GRAIN: Final = 4096
LEAST_SHARE: Final = 0.05
"""Of a time, that is believed to be an instruction's own where clocks say less."""
_LEAST_RATE: Final = 1e-9
_LEAST_RUNS: Final = 5
"""Of a time that counts: libraries start threads of their own in the first ones."""
_LONG_NS: Final = 40_000
"""From which a time is not blurred by what it takes to ask the clock, some 0.1 us."""


def least_us(run: Callable[[], object], *, window_ms: float | None = None) -> float:
    """The least time of a run, of as many as a window has room for, at least five.

    Short ones are timed together, so that the clock does not count.
    """
    run()  # what is made at the first time
    end, together = (
        time.perf_counter_ns() + int((WINDOW_MS if window_ms is None else window_ms) * 1e6),
        1,
    )
    found, times = float("inf"), 0
    while times < _LEAST_RUNS or time.perf_counter_ns() < end:
        start = time.perf_counter_ns()
        for _ in range(together):
            run()
        took = time.perf_counter_ns() - start
        found, times = min(found, took / 1e3 / together), times + 1
        if took < _LONG_NS:
            together *= 2
    return found


class TimedSample:
    """A sample on the CPU, bound to arrays of so many elements."""

    def __init__(self, session: Session, sample: Sample, size: int, grain: int = GRAIN) -> None:
        kernel = sample.kernel
        self.sample, self.size, self.grain = sample, size, grain
        self.run, self.compiled = session.launcher.run, session.backend.compile(kernel)
        buffers = [p for p in kernel.parameters if isinstance(p, Buffer)]
        self.arrays = tuple(filled(p, size) for p in buffers)
        self.events = np.zeros(1, np.int64)
        self.block = np.zeros(len(kernel.parameters) + 1, np.int64)
        self.block[len(buffers)] = size
        self.block[self.compiled.events_slot] = self.events.ctypes.data

    def launch(self, *, parallel: bool = False) -> None:
        """One launch over all elements."""
        address = int(self.block.ctypes.data)
        self.run(*(self.compiled.address, self.arrays, address, self.size, self.grain, parallel))

    def us(self, *, parallel: bool = False) -> float:
        """Least time of a launch over all elements, that of calling it included."""
        address = int(self.block.ctypes.data)
        args = self.compiled.address, self.arrays, address, self.size, self.grain, parallel
        return least_us(partial(self.run, *args))

    def is_parallel(self, profile: Profile) -> bool:
        """True if a program would wake other threads for it."""
        us = profile.iteration_us(count_work(self.sample.kernel, self.sample.numbers(self.size)))
        return profile.is_parallel(self.size, sum(each.nbytes for each in self.arrays), us)


def filled(parameter: Buffer, size: int) -> np.ndarray[Any, Any]:
    """Ordinary numbers, for an index those of random elements."""
    if parameter.element in ("i32", "i64"):
        rng = np.random.default_rng(1)
        return rng.integers(0, size, size).astype(ELEMENTS[parameter.element])
    return np.resize(np.linspace(0.5, 2.0, 4096, dtype=ELEMENTS[parameter.element]), size)


def rate_of(sample: Sample, size: int, us: float, rates: Mapping[str, float]) -> float:
    """Time of an instruction: what is left of ``us`` without the known instructions of others."""
    work = count_work(sample.kernel, sample.numbers(size))
    mine = sum(number for (kind, _), number in work.items() if kind == sample.kind)
    others = sum(
        number * rates[f"{kind}{width}"]
        for (kind, width), number in work.items()
        if kind != sample.kind
    )
    each = max(us, LEAST_SHARE * us) / size
    return max(each - others, LEAST_SHARE * each, _LEAST_RATE) / mine

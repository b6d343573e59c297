"""Timing loops. Two inputs alternate in each, so a remembered result would be the wrong one."""

from __future__ import annotations

import gc
from collections.abc import Callable
from statistics import median
from time import perf_counter
from typing import Any

Inputs = tuple[tuple[Any, ...], tuple[Any, ...]]


def time_dropped(run: Callable[..., Any], inputs: Inputs, calls: int) -> float:
    """Median seconds of a call whose result is freed before the next; freeing is counted."""
    return median(_timed(run, inputs, calls, keep=None))


def time_kept(run: Callable[..., Any], inputs: Inputs, calls: int, kept: list[Any]) -> float:
    """Median seconds of a call whose result stays alive in `kept`: its memory must be new."""
    return median(_timed(run, inputs, calls, keep=kept))


def time_small(run: Callable[..., Any], inputs: Inputs, calls: int) -> float:
    """Mean seconds of a call that is too short for a clock reading of its own."""
    first, second = inputs
    gc.disable()
    start = perf_counter()
    for _ in range(calls // 2):
        run(*first)
        run(*second)
    seconds = perf_counter() - start
    gc.enable()
    return seconds / (calls // 2 * 2)


def time_first(run: Callable[..., Any], inputs: Inputs, has_compiled: Callable[[], bool]) -> float:
    """Seconds until the first call that ran compiled code has returned.

    Raises:
        RuntimeError: 100 calls did not run any compiled code.
    """
    start = perf_counter()
    for _ in range(100):
        run(*inputs[0])
        if has_compiled():
            return perf_counter() - start
    raise RuntimeError("100 calls did not run any compiled code")


def _timed(
    run: Callable[..., Any], inputs: Inputs, calls: int, *, keep: list[Any] | None
) -> list[float]:
    times = []
    gc.disable()
    for index in range(calls):
        arguments = inputs[index % 2]
        start = perf_counter()
        result = run(*arguments)
        if keep is not None:
            keep.append(result)
        del result
        times.append(perf_counter() - start)
    gc.enable()
    return times

"""Counters of what happened: calls, traces, compiles, kernels, bytes."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

EVENTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "calls_plain": "Calls that ran as plain Python.",
        "calls_recorded": "Calls in which Python ran and was recorded.",
        "calls_replayed": "Calls in which Python did not run.",
        "traces_published": "Recordings that may be replayed.",
        "programs_built": "Graphs that were optimized, cut into regions and lowered.",
        "kernels_compiled": "Kernels that were compiled to native code.",
        "kernel_launches": "Kernels that were run.",
        "bytes_moved": "Bytes that the launched kernels read and wrote at least.",
        "events_checked": "Runs whose floating-point events were looked at one by one.",
    }
)
"""Every counter and its meaning."""


class Telemetry:
    """Counts; safe to use from several threads."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._regions: Counter[str] = Counter()
        self._lock = threading.Lock()

    def count(self, event: str, amount: int = 1) -> None:
        """Add to a counter."""
        assert event in EVENTS, f"{event} is no counter"
        with self._lock:
            self._counts[event] += amount

    def count_regions(self, kinds: Mapping[str, int]) -> None:
        """Add to the counters of fusion kinds."""
        with self._lock:
            self._regions.update(kinds)

    def snapshot(self) -> dict[str, object]:
        """All counters by name; ``regions`` holds the regions built, by fusion kind."""
        with self._lock:
            counts = {event: self._counts[event] for event in EVENTS}
            return {**counts, "regions": dict(self._regions)}

    def reset(self) -> None:
        """Set every counter to 0."""
        with self._lock:
            self._counts.clear()
            self._regions.clear()

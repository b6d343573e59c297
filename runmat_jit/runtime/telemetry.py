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
        "gpu_launches": "Kernels that were run on a GPU.",
        "bytes_moved": "Bytes that the launched kernels read and wrote at least.",
        "events_checked": "Runs whose floating-point events were looked at one by one.",
    }
)
"""Every counter and its meaning."""


class Telemetry:
    """Counts. Each thread counts for itself and takes no lock; a snapshot adds up."""

    def __init__(self) -> None:
        self._own = threading.local()
        self._all: list[dict[str, int]] = []
        self._regions: Counter[str] = Counter()
        self._lock = threading.Lock()

    def count(self, event: str, amount: int = 1) -> None:
        """Add to a counter."""
        try:
            self._own.counts[event] += amount
        except AttributeError:
            self._register()
            self._own.counts[event] += amount

    def _register(self) -> None:
        self._own.counts = dict.fromkeys(EVENTS, 0)
        with self._lock:
            self._all.append(self._own.counts)

    def count_regions(self, kinds: Mapping[str, int]) -> None:
        """Add to the counters of fusion kinds."""
        with self._lock:
            self._regions.update(kinds)

    def snapshot(self) -> dict[str, object]:
        """All counters by name; ``regions`` holds the regions built, by fusion kind."""
        with self._lock:
            counts = {event: sum(own[event] for own in self._all) for event in EVENTS}
            return {**counts, "regions": dict(self._regions)}

    def reset(self) -> None:
        """Set every counter to 0."""
        with self._lock:
            for own in self._all:
                own.update(dict.fromkeys(EVENTS, 0))
            self._regions.clear()

"""Counters of what happened: calls, traces, compiles, kernels, bytes."""

from __future__ import annotations

import threading
import weakref
from collections import Counter
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Protocol

from runmat_jit.core.locks import new_lock

if TYPE_CHECKING:
    from runmat_jit.runtime.timeline import Timeline

EVENTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "calls_plain": "Calls that ran as plain Python.",
        "calls_recorded": "Calls in which Python ran and was recorded.",
        "calls_replayed": "Calls in which Python did not run.",
        "calls_retraced": "Of those, calls that a replay had begun.",
        "traces_published": "Recordings that may be replayed.",
        "programs_built": "Graphs that were optimized, cut into regions and lowered.",
        "kernels_compiled": "Kernels that were compiled to native code.",
        "kernel_launches": "Kernels that were run.",
        "gpu_launches": "Kernels that were run on a GPU.",
        "gpu_submits": "Lists of commands that were handed to a GPU.",
        "gpu_pipelines": "Shaders that were compiled for a GPU.",
        "gpu_bind_groups": "Lists of arrays that were bound to a shader.",
        "bytes_moved": "Bytes that the launched kernels read and wrote at least.",
        "bytes_uploaded": "Bytes of arrays that were copied to a GPU.",
        "bytes_downloaded": "Bytes of arrays that were copied back from a GPU.",
        "loops_run": "Loops over elements that ran natively.",
        "loops_tiled": "Of those, the ones that ran in tiles of lanes.",
        "loops_in_registers": "Of those, the ones whose arrays were in registers.",
        "loop_turns": "Turns of these loops, the outer ones.",
        "loops_left": "Native runs that ended for Python to run the loop from its beginning.",
        "events_checked": "Runs whose floating-point events were looked at one by one.",
    }
)
"""Every counter and its meaning."""


PLACEMENTS: Final = 256
"""Decisions that are kept: programs are placed when they are made, not at every call."""


class Counting(Protocol):
    """What counts by itself: a gate, or what makes gates."""

    def flush(self) -> None:
        """Have what has been done so far counted."""


class Telemetry:
    """Counts. Each thread counts for itself and takes no lock; a snapshot adds up.

    Counts of threads that have ended are added to one total when a new thread begins to count.
    """

    def __init__(self) -> None:
        self._own = threading.local()
        self._all: list[tuple[weakref.ref[threading.Thread], dict[str, int]]] = []
        self._ended = Counter[str]()
        self._regions: Counter[str] = Counter()
        self._loops: dict[str, Counter[str]] = {}
        self._placements: list[Callable[[], Mapping[str, object]]] = []
        self.timeline: Timeline | None = None
        """What took how long, where an option asks for it."""
        self._gates: weakref.WeakSet[Counting] = weakref.WeakSet()
        self._lock = new_lock()

    def counts_of(self, gate: Counting) -> None:
        """Ask a gate, too, before counts are given."""
        with self._lock:
            self._gates.add(gate)

    def _flush(self) -> None:
        with self._lock:
            gates = list(self._gates)
        for gate in gates:
            gate.flush()

    def count(self, event: str, amount: int = 1) -> None:
        """Add to a counter."""
        try:
            self._own.counts[event] += amount
        except AttributeError:
            self._register()
            self._own.counts[event] += amount

    def count_run(self, launches: int, nbytes: int, on_gpu: int = 0) -> None:
        """Count the kernels that a program has run, and the bytes that they moved at least.

        ``on_gpu``: how many of the kernels ran on a GPU.
        """
        try:
            counts = self._own.counts
        except AttributeError:
            self._register()
            counts = self._own.counts
        counts["kernel_launches"] += launches
        counts["bytes_moved"] += nbytes
        counts["gpu_launches"] += on_gpu

    def _register(self) -> None:
        self._own.counts = dict.fromkeys(EVENTS, 0)
        mine = weakref.ref(threading.current_thread())
        with self._lock:
            alive = []
            for thread, counts in self._all:
                if is_alive(thread()):
                    alive.append((thread, counts))
                else:
                    self._ended.update(counts)
            self._all = [*alive, (mine, self._own.counts)]

    def count_regions(self, kinds: Mapping[str, int]) -> None:
        """Add to the counters of fusion kinds."""
        with self._lock:
            self._regions.update(kinds)

    def count_loop(self, kind: str, turns: int, start_ns: int = 0, *, runs: int = 1) -> None:
        """Count native runs of a loop of some kind, their iterations, and when the one began."""
        if self.timeline is not None:
            self.timeline.add("loop", kind, start_ns, turns=turns)
        with self._lock:
            self._loops.setdefault(kind, Counter()).update(runs=runs, turns=turns)

    def count_placement(self, decision: Callable[[], Mapping[str, object]]) -> None:
        """Note where a program was placed, of which devices, and why; the latest ones stay.

        ``decision`` tells it, with what the program has taken so far.
        """
        with self._lock:
            self._placements.append(decision)
            del self._placements[:-PLACEMENTS]

    def snapshot(self) -> dict[str, object]:
        """All counters by name.

        ``regions`` holds the regions built, by fusion kind; ``loops`` the native runs of loops and
        their iterations, by kind; ``placements`` the latest decisions of the cost model.
        """
        self._flush()
        with self._lock:
            everyone = (self._ended, *(own for _, own in self._all))
            counts = {event: sum(own[event] for own in everyone) for event in EVENTS}
            loops = {kind: dict(found) for kind, found in self._loops.items()}
            decisions = list(self._placements)
        placements = [dict(told()) for told in decisions]
        found = {**counts, "regions": dict(self._regions), "loops": loops}
        return {**found, "placements": placements}

    def reset(self) -> None:
        """Set every counter to 0."""
        self._flush()
        with self._lock:
            for _, own in self._all:
                own.update(dict.fromkeys(EVENTS, 0))
            self._ended.clear()
            self._regions.clear()
            self._loops.clear()
            self._placements.clear()


def is_alive(thread: threading.Thread | None) -> bool:
    """True if a thread may still count."""
    return thread is not None and thread.is_alive()

"""What took how long: spans of calls, compiling, programs and loops, written when a process ends.

Recorded only where an option names a file for it: each call is then made by Python, so that it can
be seen.
"""

from __future__ import annotations

import atexit
import json
import os
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter_ns
from typing import Any, Final, Literal, NamedTuple

from runmat_jit.core.locks import new_lock

SCHEMA: Final = 1
"""Version of the telemetry file: raised where a field changes its meaning or goes."""
MOST: Final = 200_000
"""Spans that are kept one by one; the totals count all."""

Category = Literal["call", "compile", "program", "loop"]


class Span(NamedTuple):
    """Something that took time; microseconds since the timeline began."""

    category: Category
    name: str
    start_us: float
    us: float
    thread: int
    details: Mapping[str, Any]


class Timeline:
    """The spans of a process."""

    def __init__(self) -> None:
        self.begun = perf_counter_ns()
        self.spans: list[Span] = []
        self.dropped = 0
        self._totals: dict[tuple[str, str, str], list[float]] = {}
        self._lock = new_lock()
        self._paths: dict[Path, Callable[[], object]] = {}
        self._process = os.getpid()

    @contextmanager
    def span(self, category: Category, name: str, **details: Any) -> Iterator[None]:
        """Have a block count as a span, also where it raises."""
        start = perf_counter_ns()
        try:
            yield
        finally:
            self.add(category, name, start, **details)

    def add(self, category: Category, name: str, start_ns: int, **details: Any) -> None:
        """Note what began then (of ``perf_counter_ns``) and ends now."""
        took = (perf_counter_ns() - start_ns) / 1e3
        start = (start_ns - self.begun) / 1e3
        device = str(details.get("device", "cpu"))
        with self._lock:
            total = self._totals.setdefault((category, name, device), [0.0, 0.0, 0.0, 0.0, 0.0])
            total[0] += 1
            total[1] += took
            total[2] += details.get("launches", 0)
            total[3] += details.get("bytes", 0)
            total[4] += details.get("kernels_us", 0.0)
            if len(self.spans) >= MOST:
                self.dropped += 1
                return
            thread = threading.get_ident()
            self.spans.append(Span(category, name, start, took, thread, details))

    def totals(self) -> list[dict[str, object]]:
        """What all spans of a name took, the longest first."""
        with self._lock:
            found = sorted(self._totals.items(), key=lambda item: -item[1][1])
        return [
            {
                "category": category,
                "name": name,
                "device": device,
                "count": int(count),
                "us": round(us, 1),
                "launches": int(launches),
                "bytes": int(nbytes),
                "kernels_us": round(kernels_us, 1),
            }
            for (category, name, device), (count, us, launches, nbytes, kernels_us) in found
        ]

    def trace(self) -> dict[str, object]:
        """The spans as Chrome's trace format, which Perfetto opens."""
        with self._lock:
            spans, dropped = list(self.spans), self.dropped
        events = [
            {
                "name": span.name,
                "cat": span.category,
                "ph": "X",
                "ts": span.start_us,
                "dur": span.us,
                "pid": self._process,
                "tid": span.thread,
                "args": dict(span.details),
            }
            for span in spans
        ]
        return {"traceEvents": events, "otherData": {"dropped": dropped}}

    def write_at_exit(self, path: str, contents: Callable[[], object]) -> None:
        """Write a file when this process (not one that it forks) ends."""
        target = Path(path).absolute()
        first = not self._paths
        self._paths[target] = contents
        if first:
            atexit.register(self.write)

    def write(self) -> None:
        """Write the files now."""
        if os.getpid() != self._process:
            return
        for path, contents in self._paths.items():
            part = path.with_name(f"{path.name}.{self._process}.part")
            try:
                part.write_text(json.dumps(contents(), indent=1) + "\n", encoding="utf-8")
                part.replace(path)
            except OSError as error:
                from runmat_jit.core.log import LOG  # noqa: PLC0415  (rare)

                LOG.warning("%s was not written: %s", path, error)

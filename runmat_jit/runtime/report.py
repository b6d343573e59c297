"""What the telemetry file says: counters, times, caches, and the machine."""

from __future__ import annotations

import platform
import sys
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from runmat_jit.runtime.timeline import SCHEMA

if TYPE_CHECKING:
    from runmat_jit.runtime.session import Session


def report(session: Session) -> dict[str, object]:
    """All that is known of what this process did, as plain values (the guide has the fields)."""
    counters = dict(session.telemetry.snapshot())
    timeline, opened = session.telemetry.timeline, session.opened_gpu
    parts = {name: counters.pop(name) for name in ("regions", "loops", "placements")}
    cache: Any = session.__dict__.get("object_cache")
    return {
        "schema": SCHEMA,
        "package": _version("runmat-jit"),
        "python": platform.python_version(),
        "numpy": _version("numpy"),
        "machine": platform.machine(),
        "threads": session.threads,
        "gpu": None if opened is None else str(opened.info),
        "counters": counters,
        **parts,
        "times": [] if timeline is None else timeline.totals(),
        "caches": {
            "object_hits": 0 if cache is None else cache.hits,
            "object_misses": 0 if cache is None else cache.misses,
        },
        "peak_memory_bytes": _peak_memory(),
    }


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _peak_memory() -> int | None:
    """The most memory that this process has had; None where the system does not tell."""
    try:
        import resource  # noqa: PLC0415  (not on every system)
    except ImportError:
        return None
    found = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return found if sys.platform == "darwin" else found * 1024

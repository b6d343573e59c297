"""Counters of what this process did: ``snapshot()`` and ``reset()``."""

from __future__ import annotations

from runmat_jit.runtime.session import current_session

__all__ = ["reset", "snapshot"]


def snapshot() -> dict[str, object]:
    """All counters by name; their meanings are in ``runmat_jit.runtime.telemetry.EVENTS``.

    ``regions`` holds the number of regions built, by fusion kind; ``loops`` the native runs of
    loops and their iterations, by kind.
    """
    return current_session().telemetry.snapshot()


def reset() -> None:
    """Set every counter to 0."""
    current_session().telemetry.reset()

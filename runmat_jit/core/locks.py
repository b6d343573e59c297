"""Locks that are free in a forked child.

A child has but the thread that forked. A lock that another one held at that moment would never be
released there, so that all locks of the package are made here and are new in a child. What they
guard must be whole whenever Python may switch threads: entries that are put into place at once.
"""

from __future__ import annotations

import os
import threading
import weakref
from typing import Any, Final

_LOCKS: Final[weakref.WeakSet[Any]] = weakref.WeakSet()


def new_lock() -> threading.Lock:
    """A lock."""
    lock = threading.Lock()
    _LOCKS.add(lock)
    return lock


def new_rlock() -> threading.RLock:
    """A lock that its owner may take again."""
    lock = threading.RLock()
    _LOCKS.add(lock)
    return lock


def _release_all() -> None:
    for lock in list(_LOCKS):
        lock._at_fork_reinit()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_release_all)

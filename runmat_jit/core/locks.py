"""Locks that a signal handler and a forked child may meet at any moment.

A handler runs on the thread that it interrupts, which may hold a lock that the handler takes, too:
all locks may be taken again by their owner. A child has but the thread that forked: locks that
others held are free there, those of its own thread stay taken. In both cases somebody sees what a
lock guards before its owner has left it. So it must be whole whenever Python may switch threads:
entries are put into place at once.
"""

from __future__ import annotations

import os
import sys
import threading
import weakref
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from typing import Any, Final, Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

_LOCKS: Final[weakref.WeakSet[Any]] = weakref.WeakSet()


def new_lock() -> threading.RLock:
    """A lock that its owner may take again."""
    lock = threading.RLock()
    _LOCKS.add(lock)
    return lock


class Made(Generic[K, V]):
    """Values that are made once for each key: threads that want the same one wait for the first.

    A signal handler that wants what the thread beneath it is making makes another one.
    """

    def __init__(self) -> None:
        self._values: dict[K, V] = {}
        self._making: dict[K, threading.RLock] = {}

    def __len__(self) -> int:
        return len(self._values)

    def get(self, key: K, make: Callable[[], V]) -> V:
        """The value of a key; what ``make`` raises, the next call may have no reason for."""
        known = self._values.get(key)
        if known is None:
            with self._making.setdefault(key, new_lock()):
                known = self._values.get(key)
                if known is None:
                    known = self._values[key] = make()
            self._making.pop(key, None)
        return known


def llvm_lock() -> Any:
    """What whoever calls LLVM holds, in this package or another; None before LLVM is loaded.

    No child is forked meanwhile: LLVM's own locks would stay taken there.
    """
    binding = sys.modules.get("llvmlite.binding.ffi")
    lock = getattr(getattr(binding, "lib", None), "_lock", None)
    return getattr(lock, "_lock", None)


@contextmanager
def llvm_lock_as_found() -> Iterator[None]:
    """Leave LLVM's lock as it was, whatever is raised within.

    What a signal handler raises may come between llvmlite's taking and its releasing it: all other
    threads would wait for ever.
    """
    before = llvm_lock()
    owned = before is not None and before._is_owned()
    try:
        yield
    except BaseException:
        lock = llvm_lock()
        while lock is not None and not owned and lock._is_owned():
            lock.release()
        raise


def _release_others() -> None:
    for lock in list(_LOCKS):
        if not lock._is_owned():
            lock._at_fork_reinit()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_release_others)

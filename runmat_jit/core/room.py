"""Room on the stack: where a frame of the user's stands, several of ours may stand with it."""

from __future__ import annotations

import sys
import threading
from typing import Final

from runmat_jit.core.locks import new_lock

FRAMES_FOR_ONE: Final = 5


class Room:
    """Raises Python's limit of recursion while calls of decorated functions run.

    Entered again, it stays as it is, so that a recursion gets no deeper than it may.
    """

    def __init__(self) -> None:
        self._lock = new_lock()
        self._entered: dict[int, int] = {}  # by thread
        self._limits = (0, 0)

    def __enter__(self) -> None:
        thread = threading.get_ident()
        with self._lock:
            if not self._entered:
                limit = sys.getrecursionlimit()
                self._limits = limit, FRAMES_FOR_ONE * limit
                sys.setrecursionlimit(self._limits[1])
            self._entered[thread] = self._entered.get(thread, 0) + 1

    def __exit__(self, *_: object) -> None:
        thread = threading.get_ident()
        with self._lock:
            self._entered[thread] -= 1
            if not self._entered[thread]:
                del self._entered[thread]
                self._leave()

    def forget_threads(self) -> None:
        """In a forked child, which has this thread alone."""
        thread = threading.get_ident()
        self._entered = {thread: self._entered[thread]} if thread in self._entered else {}
        self._leave()

    def _leave(self) -> None:
        if not self._entered and sys.getrecursionlimit() == self._limits[1]:
            sys.setrecursionlimit(self._limits[0])

"""Room on the stack: where a frame of the user's stands, several of ours may stand with it."""

from __future__ import annotations

import sys
import threading
from typing import Final

FRAMES_FOR_ONE: Final = 5


class Room:
    """Raises Python's limit of recursion while calls of decorated functions run.

    Entered again, it stays as it is, so that a recursion gets no deeper than it may.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._entered = 0
        self._limits = (0, 0)

    def __enter__(self) -> None:
        with self._lock:
            if not self._entered:
                limit = sys.getrecursionlimit()
                self._limits = limit, FRAMES_FOR_ONE * limit
                sys.setrecursionlimit(self._limits[1])
            self._entered += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._entered -= 1
            if not self._entered and sys.getrecursionlimit() == self._limits[1]:
                sys.setrecursionlimit(self._limits[0])

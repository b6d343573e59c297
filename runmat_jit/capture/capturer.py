"""What all decorated functions of a session share."""

from __future__ import annotations

import sys
import threading
from typing import Any

from runmat_jit.capture.boundary import Boundary
from runmat_jit.capture.convert import Rewriter
from runmat_jit.capture.lines import Lines
from runmat_jit.capture.patterns import Patterns
from runmat_jit.capture.tracer import Tracer
from runmat_jit.core.errstate import ErrorStates
from runmat_jit.core.protocols import Executor

FRAMES_FOR_ONE = 5


class Active(threading.local):
    """The tracer of the recording that runs on this thread."""

    tracer: Tracer | None = None
    boundary: Boundary | None = None
    """Of the call with arrays of ours that runs on this thread."""

    def lend(self, value: Any) -> Any:
        """What stands in the call that runs for a value that it read from outside."""
        return value if self.boundary is None else self.boundary.lend_any(value)


class Depth:
    """Room on the stack while recordings run: hooks take several frames for each of the user's."""

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


class Capturer:
    """What all decorated functions of a session share."""

    def __init__(self, executor: Executor, states: ErrorStates) -> None:
        self.executor, self.states = executor, states
        self.rewriter = Rewriter()
        self.active = Active()
        self.depth = Depth()
        self.lines, self.patterns = Lines(), Patterns()

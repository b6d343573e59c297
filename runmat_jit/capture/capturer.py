"""State that all decorated functions of a session share."""

from __future__ import annotations

import threading
from typing import Any

from runmat_jit.capture.array import Boundary
from runmat_jit.capture.record.batch_cache import BatchCache
from runmat_jit.capture.record.inline_cache import InlineCache
from runmat_jit.capture.record.tracer import Tracer
from runmat_jit.capture.source.convert import Rewriter
from runmat_jit.capture.tape.lines import Lines
from runmat_jit.core.errstate import ErrorStates
from runmat_jit.core.protocols import Executor
from runmat_jit.core.room import Room


class Active(threading.local):
    """The tracer of the recording that runs on this thread."""

    tracer: Tracer | None = None
    boundary: Boundary | None = None
    """Of the call with arrays of ours that runs on this thread."""

    def lend(self, value: Any) -> Any:
        """Stand-in, in the call that runs, for a value that it read from outside."""
        return value if self.boundary is None else self.boundary.lend_any(value)


class Capturer:
    """State that all decorated functions share; ``checked``: see :class:`BatchCache`."""

    def __init__(
        self, executor: Executor, states: ErrorStates, room: Room, *, checked: bool = False
    ) -> None:
        self.executor, self.states = executor, states
        self.rewriter = Rewriter()
        self.active = Active()
        self.room = room
        self.lines, self.inline_cache = Lines(), InlineCache()
        self.batch_cache = BatchCache(checked)

"""State that all decorated functions of a session share."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from runmat_jit.capture.record.batch_cache import BatchCache
from runmat_jit.capture.record.inline_cache import InlineCache
from runmat_jit.capture.record.tracer import Tracer
from runmat_jit.capture.source.convert import Rewriter
from runmat_jit.capture.tape.lines import Lines
from runmat_jit.core.errstate import ErrorStates
from runmat_jit.core.protocols import Boundary, Executor
from runmat_jit.core.stack_space import Room


class Active(threading.local):
    """The tracer of the recording that runs on this thread."""

    tracer: Tracer | None = None
    recorded: Any = None
    """The function whose call that is."""
    boundary: Boundary | None = None
    """Of the call with arrays of ours that runs on this thread."""

    @contextmanager
    def interrupted(self) -> Iterator[None]:
        """Within the block, which a signal handler runs, nothing is being recorded."""
        around = self.tracer, self.boundary
        self.tracer = self.boundary = None
        try:
            yield
        finally:
            self.tracer, self.boundary = around

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

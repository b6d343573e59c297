"""``warnings.catch_warnings``: the filters of a part of a call, set again by each replay.

Warnings that are to be exceptions or to be kept in a list are for Python.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from runmat_jit.capture.record import host_calls
from runmat_jit.capture.replay.saved_filters import Filters, enter, leave
from runmat_jit.capture.tape.entries import Call, Ref

if TYPE_CHECKING:
    from runmat_jit.capture.record.hooks import Hooks
    from runmat_jit.capture.record.tracer import Tracer

SETTERS: Final[frozenset[Any]] = frozenset(
    (warnings.simplefilter, warnings.filterwarnings, warnings.resetwarnings)
)


class CaughtWarnings:
    """Stands for a ``catch_warnings`` in a recording."""

    def __init__(self, tracer: Tracer) -> None:
        self.tracer = tracer
        self.slot = -1
        self.filters: Filters | None = None

    def __enter__(self) -> None:
        tracer = self.tracer
        tracer.flush()
        self.slot = tracer.slot()
        steps, line = tracer.tape, tracer.here()
        fed = steps.fed_operation(enter)
        if fed is None or steps.resume is None:
            self.filters = enter()
        else:
            self.filters = steps.resume.slots[self.slot]
        steps.note(Call(enter, (), {}, Ref(self.slot), line))

    def __exit__(self, *error: object) -> None:
        tracer, filters = self.tracer, self.filters
        assert filters is not None, "the statement has begun"
        if tracer.closed:
            filters.put_back()
            return
        tracer.flush()
        steps, line = tracer.tape, tracer.here()
        if steps.fed_operation(leave) is None:
            filters.put_back()
        steps.note(Call(leave, (Ref(self.slot),), {}, None, line))


def caught(hooks: Hooks, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """``warnings.catch_warnings()``; with arguments it is an effect."""
    if args or kwargs:
        return host_calls.run_effect(
            hooks.tracer, warnings.catch_warnings, args, kwargs, "warnings are kept"
        )
    return CaughtWarnings(hooks.tracer)


def set_filter(hooks: Hooks, fn: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """``simplefilter`` and its siblings: called again by each replay."""
    action = args[0] if args else kwargs.get("action")
    if action == "error":
        return host_calls.run_effect(
            hooks.tracer, fn, args, kwargs, "warnings are to be exceptions"
        )
    return host_calls.run_host(hooks.tracer, fn, args, kwargs, writes=False)

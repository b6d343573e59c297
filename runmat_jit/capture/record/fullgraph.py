"""What of a call was not captured, and the exception of those who asked for all of it."""

from __future__ import annotations

import types
from typing import TYPE_CHECKING

from runmat_jit.core.errors import CaptureError
from runmat_jit.core.reasons import CAUSES, Reason
from runmat_jit.core.source import SourceLine

if TYPE_CHECKING:
    from runmat_jit.capture.record.records import Record


def reasons_of(record: Record) -> tuple[Reason, ...]:
    """Everything that a recording found which keeps it from being one compiled whole."""
    effects = [Reason(e.reason, e.detail, e.line.short() if e.line else "") for e in record.effects]
    refused = [
        Reason("one-by-one", f"operations ran one by one: {detail}") for detail in record.refused
    ]
    devices = [
        Reason("not-on-device", program.device_reason)
        for program in record.programs
        if program.device_reason
    ]
    return tuple(dict.fromkeys((*effects, *refused, *devices)))


def require_whole(fn: types.FunctionType, record: Record) -> None:
    """Refuse a recording of which Python, or NumPy, would have to do a part at each call.

    Raises:
        CaptureError: with the first reason.

    """
    reasons = reasons_of(record)
    if reasons:
        line = record.effects[0].line if record.effects else None
        raise not_whole(fn, reasons[0], line)


def not_whole(fn: types.FunctionType, reason: Reason, line: SourceLine | None) -> CaptureError:
    """The exception for ``fullgraph=True``: what, where, what to do, where to read on."""
    code = fn.__code__
    place = str(line) if line is not None else f"{code.co_filename}:{code.co_firstlineno}"
    cause = CAUSES[reason.id]
    return CaptureError(
        f"{fn.__qualname__} is not captured whole: {reason.id}: {reason.detail}\n"
        f"  at {place}\n"
        f"  {cause.cause}\n"
        f"  {cause.hint}\n"
        f"  See {cause.page}",
        reason,
    )

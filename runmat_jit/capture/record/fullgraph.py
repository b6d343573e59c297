"""The exception of those who asked for the whole of a function to be captured."""

from __future__ import annotations

import types

from runmat_jit.core.errors import CaptureError
from runmat_jit.core.reasons import CAUSES, Reason
from runmat_jit.core.source import SourceLine


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

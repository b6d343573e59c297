"""True if a debugger, or what measures coverage, follows the lines of this thread."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from runmat_jit.core.gates import GateWriter

_MONITORING: Final[Any] = getattr(sys, "monitoring", None)  # from Python 3.12 on


def is_watched() -> bool:
    """Return True if a debugger, or what measures coverage, follows the lines of this thread."""
    if sys.gettrace() is not None or _MONITORING is None:
        return sys.gettrace() is not None
    tools = (_MONITORING.DEBUGGER_ID, _MONITORING.COVERAGE_ID)
    return any(_MONITORING.get_tool(tool) for tool in tools)


def guard_unwatched(write: GateWriter) -> None:
    """Guards of an entry: nobody follows the lines of the thread."""
    write.gives(sys.gettrace, (), None)
    if _MONITORING is not None:
        for tool in (_MONITORING.DEBUGGER_ID, _MONITORING.COVERAGE_ID):
            write.gives(_MONITORING.get_tool, (tool,), None)

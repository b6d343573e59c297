"""Frames for unknown code: one up it finds the user's function, at its line, with its variables.

Some code looks at the variables of who calls it (``DataFrame.query``, ``numexpr.evaluate``,
``eval``), or at the place (loggers). The program's own frame holds traced values, and frames of
ours lie before it. So unknown code is called from a frame that stands in for it, and that from one
for its caller, up to the line that called the decorated function.
"""

from __future__ import annotations

import types
from collections import UserDict
from collections.abc import Mapping, Sequence
from sys import _getframe as frame_above
from typing import Any, Final

from runmat_jit.capture.record.recording import Recording
from runmat_jit.capture.record.release import Release
from runmat_jit.capture.source.hook_calls import RUNTIME
from runmat_jit.capture.tape.call_forms import CallForm
from runmat_jit.capture.tape.lines import STAND_IN, Lines, is_boundary
from runmat_jit.core.frames import UNCOUNTED, uncounted
from runmat_jit.core.slotted import slotted_object


@slotted_object
class CallFrom:
    """The call that a frame makes; a constant of its code."""

    _rm_fn: Any
    _rm_args: Sequence[Any]
    _rm_named: Mapping[str, Any]


class Variables(UserDict[str, Any]):
    """The variables of a frame with their real values, which are looked at when they are wanted."""

    def __init__(self, frame: types.FrameType, recording: Recording | None) -> None:
        self._frame, self._recording = frame, recording
        self._data: dict[str, Any] | None = None

    @property
    def data(self) -> dict[str, Any]:  # type: ignore[override]  # made at its first use
        """The names and values."""
        if self._data is None:
            self._data = variables(self._frame, self._recording)
        return self._data

    def clear(self) -> None:
        """Let the values go, which come again at the next look, as those of a frame do."""
        self._data = None

    def copy(self) -> dict[str, Any]:  # type: ignore[override]  # as that of a frame's own
        """The names and values, for others to change."""
        return self.data.copy()

    __copy__ = copy  # type: ignore[assignment]  # likewise


class ReleaseVariables(Release):
    """Real values of variables, which the program goes on using."""

    def function(self, value: types.FunctionType) -> Any:
        """A function made in the recording: its cells are the program's own variables."""
        return value


def variables(frame: types.FrameType, recording: Recording | None) -> dict[str, Any]:
    """The variables of a frame as they are in plain Python; ``recording``: which it belongs to."""
    found = dict(frame.f_locals)
    hooks = found.pop(RUNTIME, None)
    if hooks is not None and frame.f_code.co_name == hooks.fn.__name__:
        for name, cell in hooks.cells.items():
            if cell != types.CellType():
                found.setdefault(name, cell.cell_contents)
    found = {name: value for name, value in found.items() if name[:8] != ".operand"}
    if recording is None:
        return found
    release = ReleaseVariables(recording, disown=False)
    return {name: release(value) for name, value in found.items()}


@uncounted
def call(
    lines: Lines,
    recording: Recording | None,
    fn: Any,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    *,
    counted: bool = True,
) -> Any:
    """``fn(*args, **kwargs)``, called from a frame like the user's that is running.

    ``recording``: whose values its variables may be; None: they are real. ``counted``: warnings
    count that frame, and ours; else those alone that it stands in for.
    """
    if isinstance(fn, CallForm):
        fn, args = fn.spelled(args)
    frame: types.FrameType | None = frame_above(1)
    inside, copies = True, 0
    while frame is not None:
        code = frame.f_code
        if code.co_names == STAND_IN.co_names:
            copies += 1
            if copies > _COPIES:
                break
        elif copies:  # these frames have stand-ins already
            break
        if not lines.is_ours(code.co_filename):
            seen = Variables(frame, recording if inside else None)
            line = stand_in(frame, CallFrom(fn, args, kwargs), counted=counted)
            fn, args, kwargs = eval, (line, frame.f_globals, seen), {}
            if not inside:
                break
        inside = inside and not is_boundary(code)
        frame = frame.f_back
    return fn(*args, **kwargs)


def stand_in(frame: types.FrameType, made: CallFrom, *, counted: bool) -> types.CodeType:
    """Code that makes a call from the line that a frame is at."""
    code = frame.f_code
    return STAND_IN.replace(
        co_filename=code.co_filename + ("" if counted else UNCOUNTED),
        co_firstlineno=frame.f_lineno,
        co_name=code.co_name,
        co_qualname=code.co_qualname,
        co_consts=tuple([made if const == _PLACEHOLDER else const for const in STAND_IN.co_consts]),
    )


_PLACEHOLDER: Final = "call"
_COPIES: Final = 2
"""Stand-ins of a call from unknown code that have some of their own in the call that it makes.

A program that is recursive through such code has frames of ours between two of its own, and may
come as deep as in plain Python: so they must be few.
"""

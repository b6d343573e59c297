"""The user's lines: where a recording is, and calls made as if from there.

NumPy attributes a warning to the line that called it, by looking at the stack. Between that line
and NumPy stand our own frames, or, in a replay, nothing of the user's at all. A call through
:meth:`Line.call` is made by a frame whose file, line, function and module are the user's.
"""

from __future__ import annotations

import dis
import sys
import types
from collections.abc import Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any, Final

from runmat_jit.capture.tape.call_forms import FORMS
from runmat_jit.core.frames import UNCOUNTED
from runmat_jit.core.frozen import frozen_object
from runmat_jit.core.slotted import slotted
from runmat_jit.core.source import Caller, SourceLine, is_calling

_HERE: Final = Path(__file__).parents[1]
_CALLING: Final = ("api.py", "array.py", "dispatcher.py", "jit_function.py")
_OURS: Final = (str(_HERE), *(str(_HERE.with_name(name)) for name in _CALLING))
_RUNNING: Final = frozenset(("record", "replay", "call_eagerly"))
"""Functions that run a call: the recorder's, the tree's, and that of eager execution."""
_BINARY_OP: Final = dis.opmap["BINARY_OP"]
_UNPACK_SEQUENCE: Final = dis.opmap["UNPACK_SEQUENCE"]

STAND_IN: Final = compile("'call'._rm_fn(*'call'._rm_args, **'call'._rm_named)", "", "eval")
"""Code of a frame that stands in for one of the user's; its constant is the call."""


@frozen_object
class Line:
    """One line of the user's code; known by identity."""

    source: SourceLine
    code: types.CodeType
    _call: Caller

    def is_of(self, frame: types.FrameType) -> bool:
        """Whether a frame runs this line's code, with the globals that it had."""
        return self.code is frame.f_code and self.source.namespace is frame.f_globals

    def call(self, fn: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """``fn(*args, **kwargs)``, called from this line."""
        if type(fn) in FORMS:  # what it calls itself, so that no frame of ours does
            fn, args = fn.spelled(args)
        return self._call(fn, args, kwargs)


@slotted
class Lines:
    """The lines that the recordings of a session have seen, each made once."""

    _known: dict[tuple[int, int], Line] = field(default_factory=dict)
    _at: dict[tuple[int, int], Line] = field(default_factory=dict)
    """The same lines by instruction: Python walks all of a code's table to find its number."""
    _ours: dict[str, bool] = field(default_factory=dict)  # by name of file

    def here(self, callers: int = 0) -> Line | None:
        """The user's line that is running; None where no code but ours is on the stack.

        ``callers``: how many callers of the function that asks are certainly ours.
        """
        frame = self.frame(callers + 1)
        if frame is None:
            return None
        code = frame.f_code
        at = id(code), frame.f_lasti
        line = self._at.get(at)
        if line is None or not line.is_of(frame):
            line = self._at[at] = self.line(frame)
        return line

    def place(self) -> tuple[int, int] | None:
        """The instruction of the user's that is running: of which code, and where in it."""
        frame = self.frame(1)
        return None if frame is None else (id(frame.f_code), frame.f_lasti)

    def at_operator(self) -> bool:
        """Whether the user's instruction that is running is an operator of two values."""
        frame = self.frame(1)
        return frame is not None and frame.f_code.co_code[frame.f_lasti] == _BINARY_OP

    def unpacked(self) -> int:
        """How many values the user's instruction that is running takes out of one, if it does."""
        frame = self.frame(1)
        if frame is None:
            return 0
        operation, count = frame.f_code.co_code[frame.f_lasti : frame.f_lasti + 2]
        return count if operation == _UNPACK_SEQUENCE else 0

    def frame(self, callers: int) -> types.FrameType | None:
        """The user's frame that is running; None where no code but ours is on the stack."""
        frame: types.FrameType | None = sys._getframe(2 + callers)
        ours = self._ours
        while frame is not None:
            code = frame.f_code
            found = ours.get(code.co_filename)
            if not (self.is_ours(code.co_filename) if found is None else found):
                break
            frame = frame.f_back
        return frame

    def line(self, frame: types.FrameType) -> Line:
        """The line that a frame is at."""
        code, number = frame.f_code, frame.f_lineno
        line = self._known.get((id(code), number))
        if line is None or not line.is_of(frame):
            line = self._known[id(code), number] = line_of(code, number, frame.f_globals)
        return line

    def is_ours(self, filename: str) -> bool:
        """Whether a file is one whose frames are not the user's."""
        found = self._ours.get(filename)
        if found is None:
            found = self._ours[filename] = filename.startswith(_OURS)
        return found


def line_of(code: types.CodeType, number: int, namespace: dict[str, Any]) -> Line:
    """A line of a function's code."""
    source = SourceLine(code.co_filename, number, code.co_name, namespace)
    return Line(source, code, source.caller())


def call_at(line: Line | None, fn: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """``fn(*args, **kwargs)``, called from a line of the user's if there is one."""
    return fn(*args, **kwargs) if line is None else line.call(fn, args, kwargs)


def is_ours(code: types.CodeType) -> bool:
    """Whether a frame with this code is one that users need not see."""
    stands_in = code.co_names == STAND_IN.co_names
    return code.co_filename.startswith(_OURS) or is_calling(code) or stands_in


def hide_our_frames(error: BaseException) -> None:
    """Take our own frames out of the tracebacks of an exception and of what led to it."""
    seen: set[int] = set()
    chain: list[BaseException | None] = [error]
    while chain:
        each = chain.pop()
        if each is None or id(each) in seen:
            continue
        seen.add(id(each))
        chain += [each.__cause__, each.__context__]
        each.__traceback__ = without_our_frames(each.__traceback__)


def without_our_frames(traceback: types.TracebackType | None) -> types.TracebackType | None:
    """The traceback without the frames that are ours."""
    kept: list[types.TracebackType] = []
    while traceback is not None:
        if not is_ours(traceback.tb_frame.f_code):
            kept.append(traceback)
        traceback = traceback.tb_next
    below: types.TracebackType | None = None
    for each in reversed(kept):
        each.tb_next = below
        below = each
    return below


def is_boundary(code: types.CodeType) -> bool:
    """Whether a frame with this code records or replays a call: the caller's lies behind it."""
    return code.co_name in _RUNNING and code.co_filename.startswith(str(_HERE))


def stack_level(level: int) -> int:
    """The ``stacklevel`` that means the user's ``level`` to ``warnings.warn`` under ``call_at``.

    To be called by the function that calls :func:`call_at`. The calling line itself is level 1;
    further levels skip the frames that are ours.
    """
    if level <= 1:
        return level
    frame: types.FrameType | None = sys._getframe(1)
    depth, seen = 3, 0  # the line's frame, Line.call and call_at
    while frame is not None:
        depth += not frame.f_code.co_filename.endswith(UNCOUNTED)
        seen += not frame.f_code.co_filename.startswith(_OURS)
        if seen == level:
            break
        frame = frame.f_back
    else:
        depth += 1  # there is no such line, and Python says so
    return depth

"""The user's lines: where a recording is, and calls made as if from there.

NumPy attributes a warning to the line that called it, by looking at the stack. Between that line
and NumPy stand our own frames, or, in a replay, nothing of the user's at all. A call through
:meth:`Line.call` is made by a frame whose file, line, function and module are the user's.
"""

from __future__ import annotations

import dis
import sys
import types
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from runmat_jit.capture.tape.call_forms import FORMS
from runmat_jit.core.frames import UNCOUNTED
from runmat_jit.core.frozen import frozen_object
from runmat_jit.core.source import Namespace, Namespaces, SourceLine, is_calling

_HERE: Final = Path(__file__).parents[1]
_CALLING: Final = (
    "api.py",
    "array.py",
    "dispatcher.py",
    "jit_function.py",
    "plain_tier.py",
    "core/frames.py",
)
_OURS: Final = (str(_HERE), *(str(_HERE.parent / name) for name in _CALLING))
_RUNNING: Final = frozenset(("record", "replay"))
"""Functions that run a call: the recorder's and the tree's."""
_BINARY_OP: Final = dis.opmap["BINARY_OP"]
_UNPACK_SEQUENCE: Final = dis.opmap["UNPACK_SEQUENCE"]

STAND_IN: Final = compile("'call'._rm_fn(*'call'._rm_args, **'call'._rm_named)", "", "eval")
"""Code of a frame that stands in for one of the user's; its constant is the call."""


@frozen_object
class Site:
    """An instruction's line, as a session remembers it: keeps no code and no globals alive."""

    code: weakref.ref[types.CodeType]
    source: SourceLine
    calling: types.CodeType

    def is_of(self, frame: types.FrameType) -> bool:
        """True if a frame runs this site's code, with the globals that it had."""
        return self.code() is frame.f_code and self.namespace == id(frame.f_globals)

    @property
    def namespace(self) -> int:
        """Identity of the globals."""
        assert self.source.namespace is not None, "the frame had globals"
        return self.source.namespace.identity


@frozen_object
class Line:
    """One line of the user's code, for the one who holds it: with the globals of its module."""

    source: SourceLine
    _call: Any

    @property
    def namespace(self) -> dict[str, Any]:
        """Globals of the line's module."""
        found: dict[str, Any] = self._call.__globals__
        return found

    def call(self, fn: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """``fn(*args, **kwargs)``, called from this line."""
        if type(fn) in FORMS:  # what it calls itself, so that no frame of ours does
            fn, args = fn.spelled(args)
        return self._call(fn, args, kwargs)


class Lines:
    """The lines of a session's programs; each answer holds its module's globals, this does not."""

    def __init__(self) -> None:
        self.namespaces = Namespaces()
        self._sites: dict[tuple[int, int], Site] = {}
        """By instruction: Python walks all of a code's table to find its line."""
        self._known: dict[SourceLine, tuple[SourceLine, types.CodeType]] = {}
        """Each line once, with code that calls from it."""
        self._ours: dict[str, bool] = {}
        """By name of file."""

    def recorded(self) -> RecordedLines:
        """The lines of one recording."""
        return RecordedLines(self)

    def here(self, callers: int = 0) -> Line | None:
        """The user's line that is running; None where no code but ours is on the stack.

        ``callers``: how many callers of the function that asks are certainly ours.
        """
        frame = self.frame(callers + 1)
        if frame is None:
            return None
        return self.at(frame)

    def at(self, frame: types.FrameType) -> Line:
        """The line that a frame is at."""
        site = self.site(frame)
        line = Line(site.source, types.FunctionType(site.calling, frame.f_globals))
        if not self.namespaces.has(site.namespace):
            self.namespaces.note(line._call)
        return line

    def site(self, frame: types.FrameType) -> Site:
        """The site of the instruction that a frame is at."""
        at = id(frame.f_code), frame.f_lasti
        site = self._sites.get(at)
        if site is None or not site.is_of(frame):
            if len(self._sites) >= SITES_LIMIT:
                self._sites.clear()
                self._known.clear()
            site = self._sites[at] = self._site_of(frame)
        return site

    def _site_of(self, frame: types.FrameType) -> Site:
        code = frame.f_code
        namespace = Namespace.of(frame.f_globals, self.namespaces)
        source = SourceLine(code.co_filename, frame.f_lineno, code.co_name, namespace)
        known = self._known.get(source)
        if known is None:
            known = self._known[source] = source, source.calling()
        return Site(weakref.ref(code), *known)

    def place(self) -> tuple[int, int] | None:
        """The instruction of the user's that is running: of which code, and where in it."""
        frame = self.frame(1)
        return None if frame is None else (id(frame.f_code), frame.f_lasti)

    def at_operator(self) -> bool:
        """True if the user's instruction that is running is an operator of two values."""
        frame = self.frame(1)
        return frame is not None and frame.f_code.co_code[frame.f_lasti] == _BINARY_OP

    def unpacked(self) -> int:
        """Number of values the user's instruction that is running takes out of one, if it does."""
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

    def is_ours(self, filename: str) -> bool:
        """True if a file is one whose frames are not the user's."""
        found = self._ours.get(filename)
        if found is None:
            found = self._ours[filename] = filename.startswith(_OURS)
        return found


class RecordedLines(Lines):
    """The lines of one recording, each made once: its tape holds them, and a program its tape."""

    def __init__(self, lines: Lines) -> None:
        self.namespaces, self._ours = lines.namespaces, lines._ours
        self._sites, self._known = lines._sites, lines._known
        self._made: dict[int, Line] = {}

    def at(self, frame: types.FrameType) -> Line:
        """The line that a frame is at; the same object at each look."""
        site = self.site(frame)
        line = self._made.get(id(site.source))  # which the line keeps alive
        if line is None:
            made = types.FunctionType(site.calling, frame.f_globals)
            line = self._made[id(site.source)] = Line(site.source, made)
            self.namespaces.note(made)
        return line


SITES_LIMIT: Final = 100_000
"""Instructions whose lines a session remembers."""


def call_at(line: Line | None, fn: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """``fn(*args, **kwargs)``, called from a line of the user's if there is one."""
    return fn(*args, **kwargs) if line is None else line.call(fn, args, kwargs)


def is_ours(code: types.CodeType) -> bool:
    """True if a frame with this code is one that users need not see."""
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


class _Hidden:
    """A block that exceptions leave without our frames in their tracebacks."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, _kind: object, error: BaseException | None, _traceback: object) -> None:
        if error is not None:
            hide_our_frames(error)


HIDDEN: Final = _Hidden()


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
    """True if a frame with this code records or replays a call: the caller's lies behind it."""
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

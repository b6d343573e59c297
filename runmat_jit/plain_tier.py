"""Plain calls of a decorated function, which are counted until it pays to compile it.

Nothing of the compiler is loaded for them.
"""

from __future__ import annotations

import functools
import sys
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, Protocol

from runmat_jit.core.config import asks_for_first_call
from runmat_jit.core.epoch import STATE, Depth, is_exception
from runmat_jit.core.evidence import Evidence
from runmat_jit.core.frames import UNCOUNTED, uncounted
from runmat_jit.core.source import calls_itself
from runmat_jit.runtime.session import Session, current_session

if TYPE_CHECKING:
    from runmat_jit.core.room import RoomForFrames

DEPTH_LIMIT: Final = 200
"""Calls of decorated functions within each other, each of which takes some of the C stack."""


NESTED: Final = Depth()
"""Calls of decorated functions that run on this thread."""


def counted(
    fn: Callable[..., Any], look: Callable[[int, Any, Any], Any], *, calls: int, token: object
) -> Callable[..., Any]:
    """A function that calls ``fn``, and counts.

    ``look`` makes the call after ``calls`` others, and each while ``token`` is not that of the
    process: it is given the number of calls since it was asked last, and the arguments.
    """
    left, state = calls, STATE

    @uncounted
    def call(*args: Any, **kwargs: Any) -> Any:
        nonlocal left
        left -= 1
        try:
            if left < 0 or state.token is not token:
                return look(calls - left, args, kwargs)
            return fn(*args, **kwargs)
        except BaseException as error:
            error.__traceback__ = without_ours(error.__traceback__)
            raise

    return call


def without_ours(traceback: types.TracebackType | None) -> types.TracebackType | None:
    """A traceback without the frames of ours that it begins with."""
    while traceback and traceback.tb_frame.f_code.co_filename.endswith(UNCOUNTED):
        traceback = traceback.tb_next
    return traceback


class Decorated(Protocol):
    """What the tier needs of the dispatcher of a decorated function."""

    target: Callable[..., Any]
    fn: Any
    options: dict[str, Any]
    install: Callable[[Callable[..., Any]], None]

    def call(self, /, *args: Any, **kwargs: Any) -> Any:
        """Make a call that is recorded, or replayed."""

    def plain(self, fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Make a plain call; frames of ours take no room from a recursion."""

    def is_off(self, session: Session) -> bool:
        """Return True if decorated functions are plain Python here and now."""

    def recursive_form(self) -> types.FunctionType:
        """Return the function with calls of itself that need nothing but Python's frames."""

    def with_loops(self, session: Session) -> Callable[..., Any]:
        """Return what makes plain calls whose loops may run natively."""

    def come_back(self) -> None:
        """Look at all calls again."""


class PlainTier:
    """Plain calls of one function; while it is open, they are not recorded.

    It is never open for a function that is asked to be compiled at its first call.
    """

    def __init__(self, decorated: Decorated) -> None:
        self.decorated, target = decorated, decorated.target
        inner = getattr(target, "func", getattr(target, "__func__", target))  # partials, methods
        self.evidence = Evidence(inner if type(inner) is types.FunctionType else decorated.fn)
        options = decorated.options
        self.is_open = not (options["fullgraph"] or asks_for_first_call(options))

    def entry(self) -> Callable[..., Any]:
        """Return what is called: it looks at the first call."""
        return counted(self.decorated.target, self.look, calls=0, token=None)

    @uncounted
    def look(self, calls: int, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Make a call in the plain tier, which may be its last there."""
        session, token, decorated = current_session(), STATE.token, self.decorated
        if is_exception() and not decorated.is_off(session):
            return decorated.call(*args, **kwargs)  # within a recording, which follows it
        if self.compiles_first(session):
            self.close()
            return decorated.call(*args, **kwargs)
        fn = decorated.target
        if decorated.is_off(session):
            return decorated.plain(fn, args, kwargs)
        gap = self.evidence.add(calls, args, kwargs)
        if self.evidence.pays:
            self.evidence.calls -= 1  # this one is recorded
            self.close()
            return decorated.call(*args, **kwargs)
        if self.evidence.wants_loops and fn is decorated.fn:
            fn = decorated.with_loops(session)
        if self.evidence.recurs:
            fn = functools.partial(self.call_recursively, session.room.for_frames(4))
        if self.is_open:
            decorated.install(counted(fn, self.look, calls=gap, token=token or object()))
        return decorated.plain(fn, args, kwargs)

    @uncounted
    def call_recursively(self, room: RoomForFrames, /, *args: Any, **kwargs: Any) -> Any:
        """Call a function that may be within another call of it: as deep as undecorated."""
        fn = self.decorated.fn  # whose loops are as they stand
        if NESTED.depth >= DEPTH_LIMIT and calls_itself(fn.__code__, fn.__name__):
            return self.decorated.recursive_form()(*args, **kwargs)
        NESTED.depth += 1
        try:
            with room:
                return self.decorated.target(*args, **kwargs)
        finally:
            NESTED.depth -= 1

    def compiles_first(self, session: Session) -> bool:
        """Return True if a first call is compiled: it is asked for, or there are arrays of ours."""
        return self.keeps_bits(session) or "runmat_jit.array" in sys.modules

    def keeps_bits(self, session: Session) -> bool:
        """Return True if calls are compiled at once, and stay so where that makes a difference."""
        options = self.decorated.options
        if options["fullgraph"] or asks_for_first_call(options):
            return True
        return options.get("compile") != "hot" and session.config.compiles_first

    def close(self) -> None:
        """Record and compile from now on."""
        self.is_open = False
        self.decorated.come_back()

    @property
    def waits(self) -> str | None:
        """Note that calls are not compiled yet; None if they are."""
        if not self.is_open or self.compiles_first(current_session()):
            return None
        evidence = self.evidence
        share = 100 * evidence.least // max(1, evidence.price)
        return (
            f"calls are plain Python until they have done enough work: {evidence.calls} have done "
            f"{share} % of it"
        )

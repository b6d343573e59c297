"""Plain calls of a decorated function, which are counted until it pays to compile it.

Nothing of the compiler is loaded for them.
"""

from __future__ import annotations

import functools
import inspect
import sys
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, Protocol

from runmat_jit.core.config import asks_for_first_call
from runmat_jit.core.epoch import STATE, Depth, is_exception
from runmat_jit.core.evidence import DATA, Evidence
from runmat_jit.core.frames import UNCOUNTED, uncounted
from runmat_jit.core.hotness import OFTEN
from runmat_jit.core.source import calls_itself
from runmat_jit.core.wording import count
from runmat_jit.runtime.session import CURRENT, Session, current_session

if TYPE_CHECKING:
    from runmat_jit.core.stack_space import RoomForFrames

DEPTH_LIMIT: Final = 200
"""Calls of decorated functions within each other, each of which takes some of the C stack."""
FOREVER: Final = sys.maxsize
"""Calls until the next look at a function that is switched off."""
SHALLOW: Final = 32
"""Calls within each other for which the stack need not be extended."""
FRAMES: Final = 4
"""Frames of ours for each of them."""
NESTED: Final = Depth()
"""Calls of decorated functions that run on this thread."""


_TEXT: Final = """
def made(fn, look, state, token, calls, without_ours):
    left = calls
    def call({declared}):
        nonlocal left, calls
        left -= 1
        try:
            if left < 0 or state.token is not token:
                decided = look(calls - left, {given}, token)
                if decided.__class__ is not int:
                    return decided({passed})
                left = calls = decided
            return fn({passed})
        except BaseException as error:
            error.__traceback__ = without_ours(error.__traceback__)
            raise
    return call
"""
_OWN_NAMES: Final = frozenset(
    ("fn", "look", "state", "token", "calls", "without_ours", "left", "decided", "int", "error")
)


@functools.lru_cache(maxsize=256)  # a memo of a pure function
def _maker(names: tuple[str, ...] | None) -> Callable[..., Any]:
    """Make functions of :data:`_TEXT` with these parameters; None: with any."""
    declared = "*args, **kwargs" if names is None else ", ".join(names)
    given = "args, kwargs" if names is None else f"({declared}{',' * bool(names)}), {{}}"
    text = _TEXT.format(declared=declared, given=given, passed=declared)
    namespace: dict[str, Any] = {}
    exec(compile(text, __file__ + UNCOUNTED, "exec"), namespace)  # noqa: S102  (text of ours)
    return namespace["made"]  # type: ignore[no-any-return]  # a function


def counted(
    fn: Callable[..., Any],
    look: Callable[[int, Any, Any, object], Callable[..., Any] | int],
    *,
    calls: int,
    token: object,
    like: types.FunctionType | None = None,
) -> Callable[..., Any]:
    """Return a function that calls ``fn``, and counts.

    ``look`` is asked before the call after ``calls`` others, and before each while ``token`` is not
    that of the process. It is given the number of calls since it was asked last, the arguments and
    the token, and answers with what makes the call, or with the number of calls until it is to be
    asked again. ``like``: a function whose parameters are taken.
    """
    names = None
    if like is not None:
        code = like.__code__
        names = code.co_varnames[: code.co_argcount]
        flags = code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS)
        others = code.co_kwonlyargcount or code.co_posonlyargcount or like.__defaults__
        if flags or others or not _OWN_NAMES.isdisjoint(names):
            names = None
    call = _maker(names)(fn, look, STATE, token, calls, without_ours)
    if names is not None and like is not None:
        call.__name__, call.__qualname__ = like.__name__, like.__qualname__  # errors name it
    return call  # type: ignore[no-any-return]  # a function


def sees_data(fn: Any) -> bool:
    """Return True if the variables around a function hold data, which no recording keeps alive."""
    try:
        return all(type(cell.cell_contents) in DATA for cell in fn.__closure__ or ())
    except ValueError:  # one has no value yet
        return False


def without_ours(traceback: types.TracebackType | None) -> types.TracebackType | None:
    """A traceback without the frames of ours that it begins with."""
    while traceback and traceback.tb_frame.f_code.co_filename.endswith(UNCOUNTED):
        traceback = traceback.tb_next
    return traceback


class Decorated(Protocol):
    """Dispatcher of a decorated function, as the tier needs it."""

    target: Callable[..., Any]
    fn: Any
    options: dict[str, Any]
    install: Callable[[Callable[..., Any]], None]

    def call(self, /, *args: Any, **kwargs: Any) -> Any:
        """Make a call that is recorded, or replayed."""

    def is_off(self, session: Session) -> bool:
        """Return True if decorated functions are plain Python here and now."""

    def recursive_form(self) -> types.FunctionType:
        """Return the function with calls of itself that need nothing but Python's frames."""

    def with_loops(self, session: Session) -> Callable[..., Any]:
        """Return what makes plain calls whose loops may run natively."""

    def with_frames(self, session: Session) -> Callable[..., Any]:
        """Return what makes plain calls that find the frames of their callers."""

    def come_back(self) -> None:
        """Look at all calls again."""

    def shared(self, session: Session, *, make: bool) -> Callable[..., Any] | None:
        """Return what calls functions with this one's code; None if it is not known."""


class PlainTier:
    """Plain calls of one function; while it is open, they are not recorded.

    It is never open for a function that is asked to be compiled at its first call, nor for a
    dispatcher shared by functions with one code object: each of them has a tier of its own.
    """

    def __init__(self, decorated: Decorated, code: types.CodeType | None = None) -> None:
        self.decorated, target = decorated, decorated.target
        inner = getattr(target, "func", getattr(target, "__func__", target))  # partials, methods
        self.fn = inner if type(inner) is types.FunctionType else decorated.fn
        options = decorated.options
        self._shared = code
        self.is_open = not (code or options["fullgraph"] or asks_for_first_call(options))
        self.with_loops = self._is_known = False
        self.calls = 0
        """Plain calls, as far as they have been counted."""

    @property
    def code(self) -> types.CodeType:
        """Code of the function, or of those that it calls."""
        return self._shared or self.fn.__code__

    @property
    def evidence(self) -> Evidence:
        """Evidence of the function in the current session."""
        return current_session().evidence(self.code)

    def entry(self) -> Callable[..., Any]:
        """Return what is called: it looks at the first call, unless the code is known."""
        fn, calls, session = self.decorated.target, 0, CURRENT.session
        if session is not None and STATE.token is not None and not self.compiles_first(session):
            evidence = session.evidence(self.fn.__code__)
            if evidence.shows_frames:
                return fn
            self._count(evidence)
            plain = fn is self.fn and not (evidence.recurs or evidence.wants_loops)
            if plain and evidence.made <= evidence.gap:
                calls = min(evidence.gap, OFTEN)
            elif (shared := self.shared(session, evidence)) is not None:
                return shared
        if not calls:
            return counted(fn, self.look, calls=0, token=None)
        return counted(fn, self.look, calls=calls, token=STATE.token, like=self.fn)

    @uncounted
    def look(
        self, calls: int, args: tuple[Any, ...], kwargs: dict[str, Any], known: object
    ) -> Callable[..., Any] | int:
        """Decide about a call: what makes it, or how many more are made as this one."""
        session, token, decorated = current_session(), STATE.token, self.decorated
        if is_exception():  # it is off, or within a recording, which follows it
            return decorated.call
        if session.config.disable_jit:
            fn = decorated.target  # until there are other options, which is another token
            like = fn if isinstance(fn, types.FunctionType) else None
            decorated.install(counted(fn, self.look, calls=FOREVER, token=token, like=like))
            return fn
        if decorated.is_off(session):
            return decorated.target
        if self.compiles_first(session):
            self.close()
            return decorated.call
        evidence = session.evidence(self.fn.__code__)
        evidence.ledger = session.ledger
        self._count(evidence)
        gap = evidence.add(self.fn, calls + evidence.others(), args, kwargs)
        if evidence.shows_frames:
            plain = decorated.with_frames(session)  # once: from then on none of ours are there
            decorated.install(decorated.target)
            return plain
        shared = self.shared(session, evidence)
        if shared is not None or (evidence.pays and (self.with_loops or not evidence.wants_loops)):
            evidence.calls -= 1  # this one is recorded
            self.calls += calls - 1
            session.telemetry.count("calls_plain", calls - 1)
            if shared is None:
                self.close()
                return decorated.call
            decorated.install(shared)
            return shared
        self.calls += calls
        session.telemetry.count("calls_plain", calls)
        fn = decorated.target
        with_loops = evidence.wants_loops and fn is decorated.fn
        if token is known and with_loops is self.with_loops:
            return gap
        self.with_loops = with_loops
        if with_loops:
            fn = decorated.with_loops(session)
        if evidence.recurs:
            room = session.room.for_frames(FRAMES), session.room.for_frames(FRAMES * SHALLOW)
            fn = functools.partial(self.call_recursively, *room)
        if self.is_open and token is not None:
            like = fn if isinstance(fn, types.FunctionType) else None
            decorated.install(counted(fn, self.look, calls=gap, token=token, like=like))
        return fn

    @uncounted
    def call_recursively(
        self, room: RoomForFrames, room_so_far: RoomForFrames, /, *args: Any, **kwargs: Any
    ) -> Any:
        """Call a function that may be within another call of it: as deep as undecorated.

        The stack is extended for many calls within each other.
        """
        fn, depth = self.decorated.fn, NESTED.depth
        NESTED.depth = depth + 1
        try:
            if depth < SHALLOW:
                return self.decorated.target(*args, **kwargs)
            if depth >= DEPTH_LIMIT and calls_itself(fn.__code__, fn.__name__):
                return self.decorated.recursive_form()(*args, **kwargs)
            with room_so_far if depth == SHALLOW else room:
                return self.decorated.target(*args, **kwargs)
        finally:
            NESTED.depth = depth

    def shared(self, session: Session, evidence: Evidence) -> Callable[..., Any] | None:
        """Return the dispatcher shared by functions with this code; None if each has its own."""
        fn, decorated = self.decorated.fn, self.decorated
        if not (evidence.is_made_anew and decorated.target is fn and sees_data(fn)):
            return None
        pays = evidence.pays and not calls_itself(fn.__code__, fn.__name__)
        found = decorated.shared(session, make=pays)
        return None if found is None else functools.partial(found, fn)

    def _count(self, evidence: Evidence) -> None:
        """Count the function among those with its code."""
        evidence.functions += not self._is_known
        evidence.made += not self._is_known
        self._is_known = True

    def compiles_first(self, session: Session) -> bool:
        """Return True if a first call is compiled: it is asked for, or there are arrays of ours."""
        return self.keeps_bits(session) or "runmat_jit.array" in sys.modules

    def keeps_bits(self, session: Session) -> bool:
        """Return True if calls are compiled at once, and stay so where that makes a difference."""
        options = self.decorated.options
        if options["fullgraph"] or asks_for_first_call(options):
            return True
        return options.get("compile") != "hot" and session.config.compiles_first

    def open(self) -> None:
        """Make plain calls again, until the function has earned another recording."""
        if self._shared:
            known = current_session().made_anew
            for kind in [kind for kind in known if kind[0] == self._shared]:
                del known[kind]
            return
        self.is_open = True
        self.decorated.come_back()

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
        calls = count(evidence.calls, "call")
        return f"not compiled yet: {calls} did {share} % of the work after which compiling pays"

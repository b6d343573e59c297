"""What happens when a decorated function is called."""

from __future__ import annotations

import functools
import inspect
import sys
import types
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from runmat_jit.core.config import asks_for_first_call
from runmat_jit.core.epoch import DISABLED, exception
from runmat_jit.core.frames import call_of, uncounted
from runmat_jit.core.hotness import ENTRIES
from runmat_jit.core.interpreter import unsupported_interpreter
from runmat_jit.core.loading import LOADER, VERIFYING
from runmat_jit.core.locks import new_lock
from runmat_jit.core.reasons import Reason
from runmat_jit.core.source import calls_itself, looks_at_frames
from runmat_jit.core.watching import is_watched
from runmat_jit.plain_tier import DEPTH_LIMIT, NESTED, PlainTier
from runmat_jit.runtime.session import CURRENT, Session, current_session

if TYPE_CHECKING:
    from runmat_jit.capture.capturer import Capturer
    from runmat_jit.capture.function import CapturedFunction
    from runmat_jit.capture.replay.bailout import LetThrough
    from runmat_jit.capture.trial import Trial
    from runmat_jit.core.gates import Gate


def warn_if_unsupported(level: int) -> None:
    """Warn, once in a process, where decorated functions are plain Python whatever they do.

    ``level``: as ``warnings.warn`` counts it, from the caller on.
    """
    if UNSUPPORTED is not None and not CURRENT.has_warned:
        CURRENT.has_warned = True
        import warnings  # noqa: PLC0415  (rarely needed)

        warnings.warn(
            f"decorated functions run as plain Python: {UNSUPPORTED}",
            RuntimeWarning,
            stacklevel=level + 1,
        )


@contextmanager
def disable() -> Iterator[None]:
    """Within the block, decorated functions of this thread run as plain Python."""
    DISABLED.depth += 1
    try:
        with exception():
            yield
    finally:
        DISABLED.depth -= 1


UNSUPPORTED: Final = unsupported_interpreter()
"""Reason why decorated functions are plain Python in this process, if they are."""
_LINES: Final = ("runmat_jit.capture.tape.lines",)


def is_off(session: Session) -> bool:
    """True if decorated functions are plain Python here and now."""
    return bool(DISABLED.depth or session.config.disable_jit or UNSUPPORTED or is_watched())


def off_reason(session: Session) -> Reason | None:
    """Reason why decorated functions are plain Python here and now; None where they are not."""
    if UNSUPPORTED is not None:
        return Reason("switched-off", UNSUPPORTED)
    if DISABLED.depth or session.config.disable_jit:
        return Reason("switched-off", "decorated functions are plain Python here")
    return Reason("debugger", "Python is watched line by line") if is_watched() else None


class Dispatcher:
    """Decides for each call of a decorated function whether it is captured or plain Python.

    A function is plain Python until its calls have done enough work (:class:`Evidence`).

    ``install`` puts what is to be called into the place of :meth:`call`: a gate for warm calls, a
    bypass to the function itself for calls from which nothing is gained, or :meth:`call` again.
    ``target`` is what was decorated, ``fn`` a function that is or calls it.
    """

    def __init__(
        self,
        target: Callable[..., Any],
        fn: Any,
        options: dict[str, Any],
        source: str | None,
        install: Callable[[Callable[..., Any]], None],
        *,
        code: types.CodeType | None = None,
    ) -> None:
        self.target, self.fn, self.options, self.source = target, fn, options, source
        self.captured: tuple[Session, CapturedFunction] | None = None
        self.plain_tier = PlainTier(self, code)
        self.install = install
        self._behind_gate: Callable[..., Any] = self.entry
        self._gate: Gate | None = None
        self._trial: Trial | None = None
        self._let_through: tuple[LetThrough, ...] | None = None
        self._recursive: tuple[types.CodeType, types.FunctionType] | None = None
        self._lock = new_lock()

    is_off = staticmethod(is_off)

    @property
    def entry(self) -> Callable[..., Any]:
        """Callable of a first call: plain Python that counts, or :meth:`call`.

        It is the function itself if that asks for frames: such a function is never captured, so
        that it finds its caller's frame.
        """
        if looks_at_frames(self.fn.__code__) and not self.options["fullgraph"]:
            return self.target
        return self.plain_tier.entry() if self.plain_tier.is_open else self.call

    @uncounted
    def recorded(self, /, *args: Any, **kwargs: Any) -> Any:
        """Make a call for the sake of its record."""
        if self.entry is self.target:  # it asks for frames
            return self.target(*args, **kwargs)
        with self.plain_tier.evidence.asked():
            return self.call(*args, **kwargs)

    @uncounted
    def call(self, /, *args: Any, **kwargs: Any) -> Any:
        """One call; within too many others it is plain, and takes no C stack from Python."""
        if NESTED.depth >= DEPTH_LIMIT and not self.options["fullgraph"]:
            return self.recursive_form()(*args, **kwargs)
        NESTED.depth += 1
        held = self.captured
        try:
            session = current_session()
            if held is not None and held[0] is session:
                let_through = held[1].bailout.find(args, kwargs)
                if let_through is not None:
                    self.bail_out(*held)
                    fn = self.target if is_off(session) else held[1].call_plainly
                    return self.plain(fn, args, kwargs)
            if is_off(session):
                return self.plain(self.target, args, kwargs)
            if held is None and not LOADER.load():
                return self.plain(self.target, args, kwargs)
            now = held is not None and held[0] is session
            captured = held[1] if held is not None and now else self.capture(session)
            if session.config.verify == 2:
                LOADER.load(VERIFYING)
                from runmat_jit.verified_call import verified_call  # noqa: PLC0415  (loaded)

                return verified_call(captured, args, kwargs)
            if session.timeline is not None:
                with session.timeline.span("call", self.fn.__qualname__):
                    return captured.call(args, kwargs)
            return captured.call(args, kwargs)
        except BaseException as error:
            if LOADER.load(_LINES):
                from runmat_jit.capture.tape.lines import hide_our_frames  # noqa: PLC0415  (see capture)

                hide_our_frames(error)
            raise
        finally:
            NESTED.depth -= 1

    @uncounted
    def plain(self, fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A call that is not captured; frames of ours take no room from a recursion."""
        session, arrays = current_session(), sys.modules.get("runmat_jit.array")
        plain_call = getattr(arrays, "plain_call", None)
        if plain_call is None:  # then there are no arrays of ours
            with session.room_for_plain:
                return fn(*args, **kwargs)
        with session.room_for_arrays:
            return plain_call(fn, args, kwargs)

    def with_loops(self, session: Session) -> Callable[..., Any]:
        """Return what makes plain calls whose loops may run natively."""
        return self.capture(session).call_direct if LOADER.load() else self.target

    def with_frames(self, session: Session) -> Callable[..., Any]:
        """Return what makes plain calls that find the frames of their callers."""
        return self.capture(session).call_from_frames if LOADER.load() else self.target

    def capture(self, session: Session) -> CapturedFunction:
        """What is known of the function in a session."""
        LOADER.load()
        from runmat_jit.capture.capturer import Capturer  # noqa: PLC0415  (loaded here)
        from runmat_jit.capture.function import CapturedFunction  # noqa: PLC0415  (loaded here)

        with self._lock:
            if self.captured is None or self.captured[0] is not session:
                device = self.options["device"] or session.config.device
                make = functools.partial(_make_capturer, device=device)
                capturer = session.service(Capturer, make, device)
                first = self.plain_tier.compiles_first(session)
                made = CapturedFunction(
                    *(self.fn, capturer, self.source),
                    whole=self.options["fullgraph"],
                    keeps_bits=self.plain_tier.keeps_bits(session),
                    evidence=None if first else self.plain_tier.evidence,
                    install=self.set_gate,
                    go_back=self.plain_tier.open,
                )
                self.captured = session, made
                self._trial = self.trial_of(session, made)
                self.come_back()
            return self.captured[1]

    def shared(self, session: Session, *, make: bool) -> Callable[..., Any] | None:
        """Return what calls functions with this one's code; None if it is not known."""
        known, kind = session.made_anew, (self.fn.__code__, *self.options.items())
        found = known.get(kind)
        if found is None and make:
            if len(known) >= ENTRIES:
                del known[next(iter(known))]
            found = known.setdefault(kind, CallsOfCode(self.fn.__code__, self.options))
        return found

    def trial_of(self, session: Session, captured: CapturedFunction) -> Trial | None:
        """What times calls both ways, where either may be chosen."""
        config, device = session.config, self.options["device"] or session.config.device
        chosen = self.options["fullgraph"] or config.verify or config.wants_times
        chosen = chosen or asks_for_first_call({"device": device})
        if chosen or not config.trials or calls_itself(self.fn.__code__, self.fn.__name__):
            return None
        from runmat_jit.capture.trial import Trial  # noqa: PLC0415  (see capture)

        def applies() -> bool:
            return current_session() is session and not is_off(session)

        return Trial(captured, applies, self.come_back)

    def bail_out(self, session: Session, captured: CapturedFunction) -> None:
        """Let calls of some kinds through, as long as the session is in use."""
        kinds = captured.bailout.kinds
        if self._let_through is kinds or session is not CURRENT.session:
            return
        from runmat_jit.capture.replay.bypass import make_bypass  # noqa: PLC0415  (see capture)

        self._let_through = kinds
        room = None
        if calls_itself(self.fn.__code__, self.fn.__name__):
            room = session.room.for_frames(1)

        def returned(let_through: LetThrough) -> None:
            if captured.bailout.has_returned(let_through):
                self.come_back()

        fn = self.fn if room is None else self.recursive_form()
        has_form = room is None and captured.has_direct_form
        made = make_bypass(
            *(self.fn, kinds, session, self.call),
            plain=fn,
            room=room,
            form=captured.direct_form if has_form else None,
            returned=returned,
        )
        captured.gatekeeper.close()
        if self._trial is not None and not self._trial.open:
            self._trial.stop()
        self.set_behind_gate(made)

    def recursive_form(self) -> types.FunctionType:
        """The function with calls of itself that need nothing but Python's frames."""
        found = self._recursive
        if found is not None and found[0] is self.fn.__code__:
            return found[1]
        from runmat_jit.capture.source.recursive import recursive_form  # noqa: PLC0415  (as capture)

        own = weakref.ref(self)  # the form's code leads to this test: no cycle through code

        def is_it(called: Any) -> bool:
            dispatcher = getattr(called, "_dispatcher", None)
            return dispatcher is not None and dispatcher is own()

        made = recursive_form(self.fn, self.source, is_it)
        self._recursive = self.fn.__code__, made
        return made

    def come_back(self) -> None:
        """Look at all calls again."""
        self._let_through = None
        self.set_behind_gate(self.entry)

    def set_behind_gate(self, call: Callable[..., Any]) -> None:
        """What makes the calls that a gate does not."""
        self._behind_gate = call
        self.set_gate(self._gate)

    def set_gate(self, gate: Gate | None) -> None:
        """Have calls go through a gate first, or through none."""
        self._gate, trial = gate, self._trial
        if gate is not None:
            gate.set_fallback(self._behind_gate)
        way = self._behind_gate if gate is None or self.plain_tier.is_open else gate.call
        if trial is None or self.plain_tier.is_open:
            self.install(way)
            return
        if gate is None:
            trial.again()
        trial.way = way
        self.install(trial.call if trial.active else way)

    def clear(self) -> None:
        """Forget what is known of the function in the current session."""
        self.capture(current_session()).clear()
        self.come_back()


class CallsOfCode:
    """Dispatcher shared by functions with one code object, as closures made again and again."""

    __slots__ = ("__call__", "__weakref__", "_dispatcher")
    __call__: Callable[..., Any]

    def __init__(self, code: types.CodeType, options: dict[str, Any]) -> None:
        install = functools.partial(install_in, weakref.ref(self))
        text = inspect.getsource(sys.modules[call_of.__module__])
        self._dispatcher = Dispatcher(call_of, call_of, options, text, install, code=code)
        install(self._dispatcher.entry)


def install_in(owner: weakref.ref[Any], call: Callable[..., Any]) -> None:
    """Set what is called from now on instead of an object that may be gone."""
    if (found := owner()) is not None:
        object.__setattr__(found, "__call__", call)


def _make_capturer(session: Session, device: str) -> Capturer:
    from runmat_jit.capture.capturer import Capturer  # noqa: PLC0415  (see _capture)
    from runmat_jit.compiler.compiler import Compiler, DeviceExecutor  # noqa: PLC0415  (likewise)

    compiler = session.service(Compiler, Compiler)
    checked = bool(session.config.verify)
    executor = DeviceExecutor(compiler, device)
    return Capturer(executor, session.states, session.room, checked=checked)

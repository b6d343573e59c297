"""What happens when a decorated function is called."""

from __future__ import annotations

import functools
import sys
import threading
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from runmat_jit.core.frames import uncounted
from runmat_jit.core.locks import new_lock
from runmat_jit.core.reasons import Reason
from runmat_jit.runtime.session import CURRENT, Session, current_session

if TYPE_CHECKING:
    from runmat_jit.capture.capturer import Capturer
    from runmat_jit.capture.function import CapturedFunction
    from runmat_jit.capture.replay.bailout import Kind


class _Disabled(threading.local):
    depth: int = 0


_disabled = _Disabled()


@contextmanager
def disable() -> Iterator[None]:
    """Within the block, decorated functions of this thread run as plain Python."""
    _disabled.depth += 1
    try:
        yield
    finally:
        _disabled.depth -= 1


_MONITORING: Final[Any] = getattr(sys, "monitoring", None)  # from Python 3.12 on


def is_watched() -> bool:
    """Whether a debugger, or what measures coverage, follows the lines of this thread."""
    if sys.gettrace() is not None or _MONITORING is None:
        return sys.gettrace() is not None
    tools = (_MONITORING.DEBUGGER_ID, _MONITORING.COVERAGE_ID)
    return any(_MONITORING.get_tool(tool) for tool in tools)


def off_reason(session: Session) -> Reason | None:
    """Why decorated functions are plain Python here and now; None where they are not."""
    if _disabled.depth or session.config.disable_jit:
        return Reason("switched-off", "decorated functions are plain Python here")
    return Reason("debugger", "Python is watched line by line") if is_watched() else None


class Dispatcher:
    """Decides for each call of a decorated function whether it is captured or plain Python.

    ``install`` puts what is to be called into the place of :meth:`call`: a bypass to the function
    itself for calls from which nothing is gained, or :meth:`call` again. ``target`` is what was
    decorated, ``fn`` a function that is or calls it.
    """

    def __init__(
        self,
        target: Callable[..., Any],
        fn: Any,
        options: dict[str, Any],
        source: str | None,
        install: Callable[[Callable[..., Any]], None],
    ) -> None:
        self.target, self.fn, self.options, self.source = target, fn, options, source
        self.captured: tuple[Session, CapturedFunction] | None = None
        self._install = install
        self._let_through: tuple[Kind, ...] | None = None
        self._lock = new_lock()

    @uncounted
    def call(self, /, *args: Any, **kwargs: Any) -> Any:
        """One call."""
        held = self.captured
        try:
            session = current_session()
            if held is not None and held[0] is session and held[1].bailout.holds(args, kwargs):
                self.bail_out(*held)
                return self.plain(self.fn, args, kwargs)
            if _disabled.depth or session.config.disable_jit or is_watched():
                return self.plain(self.target, args, kwargs)
            now = held is not None and held[0] is session
            captured = held[1] if held is not None and now else self.capture(session)
            if session.config.verify == 2:
                from runmat_jit.capture.compare_calls import verified_call  # noqa: PLC0415  (rarely used)

                return verified_call(captured, args, kwargs)
            return captured.call(args, kwargs)
        except BaseException as error:
            from runmat_jit.capture.tape.lines import hide_our_frames  # noqa: PLC0415  (see capture)

            hide_our_frames(error)
            raise

    @uncounted
    def plain(self, fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A call that is not captured; frames of ours take no room from a recursion."""
        from runmat_jit.capture.array import plain_call  # noqa: PLC0415  (rarely used)

        with current_session().room:
            return plain_call(fn, args, kwargs)

    def capture(self, session: Session) -> CapturedFunction:
        """What is known of the function in a session."""
        # Here the compiler is loaded: importing the package and decorating cost nothing.
        from runmat_jit.capture.capturer import Capturer  # noqa: PLC0415
        from runmat_jit.capture.function import CapturedFunction  # noqa: PLC0415

        with self._lock:
            if self.captured is None or self.captured[0] is not session:
                device = self.options["device"] or session.config.device
                make = functools.partial(_make_capturer, device=device)
                capturer = session.service(Capturer, make, device)
                whole, text = self.options["fullgraph"], self.source
                made = CapturedFunction(self.fn, capturer, text, whole=whole)
                self.captured = session, made
                self.come_back()
            return self.captured[1]

    def bail_out(self, session: Session, captured: CapturedFunction) -> None:
        """Let calls of some kinds through, as long as the session is in use."""
        kinds = captured.bailout.kinds
        if self._let_through is kinds or session is not CURRENT.session:
            return
        from runmat_jit.capture.replay.bypass import make_bypass  # noqa: PLC0415  (see capture)

        self._let_through = kinds
        room = session.room if calls_itself(self.fn.__code__, self.fn.__name__) else None
        self._install(make_bypass(self.fn, kinds, session, self.call, room))

    def come_back(self) -> None:
        """Look at all calls again."""
        self._let_through = None
        self._install(self.call)

    def clear(self) -> None:
        """Forget what is known of the function in the current session."""
        self.capture(current_session()).clear()
        self.come_back()


def calls_itself(code: types.CodeType, name: str) -> bool:
    """Whether a function's code, or that of a function in it, uses its own name."""
    inner = [const for const in code.co_consts if isinstance(const, types.CodeType)]
    names = (*code.co_names, *code.co_freevars)
    return name in names or any(calls_itself(each, name) for each in inner)


def _make_capturer(session: Session, device: str) -> Capturer:
    from runmat_jit.capture.capturer import Capturer  # noqa: PLC0415  (see _capture)
    from runmat_jit.compiler.compiler import Compiler, DeviceExecutor  # noqa: PLC0415  (likewise)

    compiler = session.service(Compiler, Compiler)
    checked = bool(session.config.verify)
    executor = DeviceExecutor(compiler, device)
    return Capturer(executor, session.states, session.room, checked=checked)

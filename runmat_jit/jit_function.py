"""What ``jit`` makes of a function: an object that is called like it, and can be asked."""

from __future__ import annotations

import functools
import inspect
import sys
import threading
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, ParamSpec, TypeVar

from runmat_jit.compiler.explain import Explanation, reports_of, show_host_call
from runmat_jit.core.errors import ArgumentError, CaptureError
from runmat_jit.core.reasons import Reason
from runmat_jit.runtime.session import Session, current_session

if TYPE_CHECKING:
    from runmat_jit.capture.function import CapturedFunction, Capturer, Record
    from runmat_jit.compiler.compiler import Compiled

P = ParamSpec("P")
R = TypeVar("R")


class CacheInfo(NamedTuple):
    """Calls and traces of a decorated function."""

    hits: int
    """Calls in which Python did not run."""
    misses: int
    """Calls in which Python ran and was recorded."""
    plain: int
    """Calls that ran as plain Python."""
    keys: int
    """Different kinds of arguments seen."""
    traces: int
    """Traces kept."""
    last_failed_guard: str
    """Why the last trace that did not hold did not."""


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


def is_watched() -> bool:
    """Whether a debugger, or what measures coverage, follows the lines of this thread."""
    if sys.gettrace() is not None:
        return True
    monitoring: Any = getattr(sys, "monitoring", None)  # from Python 3.12 on
    return monitoring is not None and any(
        monitoring.get_tool(tool) for tool in (monitoring.DEBUGGER_ID, monitoring.COVERAGE_ID)
    )


def off_reason(session: Session) -> Reason | None:
    """Why decorated functions are plain Python here and now; None where they are not."""
    if _disabled.depth or session.config.disable_jit:
        return Reason("switched-off", "decorated functions are plain Python here")
    return Reason("debugger", "Python is watched line by line") if is_watched() else None


class JitFunction(Generic[P, R]):
    """A function that is recorded at its first call and replayed as compiled kernels."""

    def __init__(self, fn: Callable[P, R], options: dict[str, Any]) -> None:
        functools.update_wrapper(self, fn)
        self.__wrapped__ = fn
        self._options = options
        self._captured: tuple[Session, CapturedFunction] | None = None
        self._lock = threading.Lock()

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        session = current_session()
        if _disabled.depth or session.config.disable_jit or is_watched():
            from runmat_jit.capture.boundary import plain_call  # noqa: PLC0415  (rarely used)

            return plain_call(self.__wrapped__, args, kwargs)  # type: ignore[no-any-return]  # as fn
        held = self._captured
        captured = held[1] if held is not None and held[0] is session else self._capture(session)
        if session.config.verify == 2:
            from runmat_jit.capture.verify import verified_call  # noqa: PLC0415  (rarely used)

            return verified_call(captured, args, kwargs)  # type: ignore[no-any-return]  # as fn
        return captured.call(args, kwargs)  # type: ignore[no-any-return]  # what fn returns

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def __repr__(self) -> str:
        return f"<jit of {self.__wrapped__!r}>"

    def __reduce__(self) -> Any:
        """By name where the name finds this object, as functions are; else function and options."""
        found: Any = sys.modules.get(self.__module__)
        path: str = self.__dict__["__qualname__"]  # set by update_wrapper
        for name in path.split("."):
            found = getattr(found, name, None)
        if found is self:
            return path
        return _rebuild, (self.__wrapped__, self._options)

    def _capture(self, session: Session) -> CapturedFunction:
        # Here the compiler is loaded: importing the package and decorating cost nothing.
        from runmat_jit.capture.function import CapturedFunction, Capturer  # noqa: PLC0415

        with self._lock:
            if self._captured is None or self._captured[0] is not session:
                device = self._options["device"] or session.config.device
                make = functools.partial(_make_capturer, device=device)
                capturer = session.service(Capturer, make, device)
                fn: Any = self.__wrapped__
                whole = self._options["fullgraph"]
                self._captured = session, CapturedFunction(fn, capturer, None, whole=whole)
            return self._captured[1]

    # -- what it tells ---------------------------------------------------------------------------
    def explain(self, *args: P.args, **kwargs: P.kwargs) -> Explanation:
        """What happens with a call like this one.

        Answers from the record of such calls; without one it makes an ordinary call, effects
        included, and says so.
        """
        name = self.__wrapped__.__qualname__
        session = current_session()
        captured, off = self._capture(session), off_reason(session)
        if off is not None:
            return Explanation(name, "plain Python", (), (off,))
        record = captured.record_of(args, kwargs)
        notes: tuple[str, ...] = ()
        if record is None:
            record = self._record(captured, args, kwargs)
            notes = ("there was no record of such a call, so one ordinary call was made",)
        if record is None:
            assert captured.plain is not None, "a call without a record was plain"
            return Explanation(name, "plain Python", (), (captured.plain,), notes)
        from runmat_jit.capture.wholeness import reasons_of  # noqa: PLC0415  (see _capture)

        return Explanation(
            name,
            "replayed" if record.traces else "recorded at every call",
            tuple(reports_of(record.programs)),
            reasons_of(record),
            notes,
            tuple(map(show_host_call, record.host_calls)),
        )

    def _record(self, captured: CapturedFunction, args: Any, kwargs: Any) -> Record | None:
        """Make an ordinary call, and give what is then known of such calls."""
        try:
            made = self(*args, **kwargs)
        except CaptureError:  # fullgraph=True: the record says why
            made = None
        if inspect.iscoroutine(made):
            made.close()  # nobody will await it
        return captured.record_of(args, kwargs)

    def source(self, *args: Any, backend: str = "llvm", **kwargs: Any) -> str:
        """The generated code of a call like this one.

        Args:
            *args: Arguments of the call; without a record of such calls one is made.
            backend: ``llvm``, ``wgsl``, ``kernel`` (the backend-neutral text) or ``graph``.
            **kwargs: Keyword arguments of the call.

        Raises:
            ArgumentError: the backend has another name.
            BackendError: WGSL is asked for and no adapter was found.

        """
        if backend not in _SOURCES:
            raise ArgumentError(f"backend={backend!r}: there are {', '.join(_SOURCES)}")
        session = current_session()
        captured = self._capture(session)
        record = captured.record_of(args, kwargs)
        if record is None:
            record = self._record(captured, args, kwargs)
        programs = () if record is None else record.programs
        return "\n".join(_SOURCES[backend](session, program) for program in programs)

    def cache_info(self) -> CacheInfo:
        """Counts of calls and traces."""
        captured = self._capture(current_session())
        counts = captured.counts
        records = list(captured.records.values())
        return CacheInfo(
            hits=counts.replayed,
            misses=counts.recorded,
            plain=counts.plain,
            keys=len(records),
            traces=sum(len(record.traces) for record in records),
            last_failed_guard=captured.last_failed,
        )

    def clear_cache(self) -> None:
        """Forget all traces; compiled kernels stay."""
        self._capture(current_session()).clear()


def _rebuild(fn: Callable[..., Any], options: dict[str, Any]) -> JitFunction[..., Any]:
    return JitFunction(fn, options)


def _make_capturer(session: Session, device: str) -> Capturer:
    from runmat_jit.capture.function import Capturer  # noqa: PLC0415  (see _capture)
    from runmat_jit.compiler.compiler import Compiler, DeviceExecutor  # noqa: PLC0415  (likewise)

    compiler = session.service(Compiler, Compiler)
    return Capturer(DeviceExecutor(compiler, device), session.states)


def _graph_source(_session: Session, compiled: Compiled) -> str:
    from runmat_jit.graph.text import to_text  # noqa: PLC0415  (see _capture)

    return to_text(compiled.plan.graph)


def _kernel_source(_session: Session, compiled: Compiled) -> str:
    from runmat_jit.kernel.text import to_text  # noqa: PLC0415  (see _capture)

    return "\n".join(map(to_text, compiled.kernels))


def _wgsl_source(session: Session, compiled: Compiled) -> str:
    return "\n".join(map(session.gpu.backend.source, compiled.kernels))


def _llvm_source(session: Session, compiled: Compiled) -> str:
    return "\n".join(map(session.backend.source, compiled.kernels))


_SOURCES: dict[str, Callable[[Session, Compiled], str]] = {
    "llvm": _llvm_source,
    "wgsl": _wgsl_source,
    "kernel": _kernel_source,
    "graph": _graph_source,
}

"""The public functions: ``jit`` and what decorated functions can tell."""

from __future__ import annotations

import functools
import inspect
import os
import sys
import threading
import types
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, ParamSpec, TypeVar, overload

from runmat_jit.compiler.explain import Explanation, Reason, reports_of, show_host_call, show_line
from runmat_jit.core.config import DEVICES, OPTIONS, Config
from runmat_jit.core.errors import ArgumentError, CaptureError, ConfigError
from runmat_jit.core.types import COMPILED_DTYPES
from runmat_jit.runtime.gpu import DeviceInfo, gpu_devices
from runmat_jit.runtime.session import Session, current_session, use_session

if TYPE_CHECKING:
    from runmat_jit.capture.function import CapturedFunction, Capturer, Record
    from runmat_jit.capture.tracer import Tracer
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
        if _disabled.depth or session.config.disable_jit:
            return self.__wrapped__(*args, **kwargs)
        held = self._captured
        captured = held[1] if held is not None and held[0] is session else self._capture(session)
        if session.config.verify == 2:
            from runmat_jit.capture.verify import verified_call  # noqa: PLC0415  (rarely used)

            return verified_call(captured, args, kwargs)  # type: ignore[no-any-return]  # as fn
        result = captured.call(args, kwargs)
        if self._options["fullgraph"]:
            self._require_whole(captured, args, kwargs)
        return result  # type: ignore[no-any-return]  # what fn returns

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
                self._captured = session, CapturedFunction(fn, capturer, None)
            return self._captured[1]

    def _require_whole(self, captured: CapturedFunction, args: Any, kwargs: Any) -> None:
        reasons = self._reasons(captured, captured.record_of(args, kwargs))
        if reasons:
            raise CaptureError(
                f"{self.__wrapped__.__qualname__} is not captured whole: {reasons[0]}"
            )

    # -- what it tells ---------------------------------------------------------------------------
    def explain(self, *args: P.args, **kwargs: P.kwargs) -> Explanation:
        """What happens with a call like this one.

        Answers from the record of such calls; without one it makes an ordinary call, effects
        included, and says so.
        """
        captured = self._capture(current_session())
        notes: tuple[str, ...] = ()
        record = captured.record_of(args, kwargs)
        if record is None:
            self(*args, **kwargs)
            record = captured.record_of(args, kwargs)
            notes = ("there was no record of such a call, so one ordinary call was made",)
        programs = () if record is None else record.programs
        mode = "plain Python"
        if record is not None:
            mode = "replayed" if record.traces else "recorded at every call"
        return Explanation(
            self.__wrapped__.__qualname__,
            mode,
            tuple(reports_of(programs)),
            self._reasons(captured, record),
            notes,
            () if record is None else tuple(map(show_host_call, record.host_calls)),
        )

    @staticmethod
    def _reasons(captured: CapturedFunction, record: Record | None) -> tuple[Reason, ...]:
        if record is None:
            disabled = "it is switched off" if not captured.plain_reason else captured.plain_reason
            return (Reason("plain-call", disabled),)
        effects = [
            Reason(e.reason, e.detail, show_line(e.line) if e.line else "") for e in record.effects
        ]
        refused = [
            Reason("one-by-one", f"operations ran one by one: {why}") for why in record.refused
        ]
        devices = [
            Reason("not-on-device", program.device_reason)
            for program in record.programs
            if program.device_reason
        ]
        return tuple(dict.fromkeys((*effects, *refused, *devices)))

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
            self(*args, **kwargs)
            record = captured.record_of(args, kwargs)
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


@overload
def jit(fn: Callable[P, R], /) -> JitFunction[P, R]: ...
@overload
def jit(
    *, device: str | None = ..., precision: str = ..., fullgraph: bool = ...
) -> Callable[[Callable[P, R]], JitFunction[P, R]]: ...
def jit(
    fn: Callable[..., Any] | None = None,
    /,
    *,
    device: str | None = None,
    precision: str = "exact",
    fullgraph: bool = False,
) -> Any:
    """Compile a function of plain NumPy code; use as ``@jit`` or ``@jit(...)``.

    Args:
        fn: The function: its results, exceptions and writes to arguments stay NumPy's.
        device: Where regions run: ``cpu``, ``gpu`` (the CPU where that cannot be, with a reason in
            ``explain()``), or ``auto`` (the cost model; today the CPU). None: the option's value.
        precision: ``exact``: every value within its documented error bound.
        fullgraph: Raise :class:`CaptureError` after a call of which Python ran a part: its effects
            have happened, its result is lost.

    Raises:
        ArgumentError: ``fn`` is a class or no function, or an option has an unknown value.

    """
    options = {"device": device, "precision": precision, "fullgraph": fullgraph}
    if device is not None and device not in DEVICES:
        raise ArgumentError(f"device={device!r}: there are {', '.join(DEVICES)}")
    if precision != "exact":
        raise ArgumentError(f"precision={precision!r}: there is exact")
    if fn is None:
        return lambda function: jit(function, **options)
    if isinstance(fn, JitFunction):
        return fn
    if isinstance(fn, staticmethod | classmethod):
        return type(fn)(jit(fn.__func__, **options))
    if inspect.isclass(fn):
        methods = ", ".join(n for n, v in vars(fn).items() if inspect.isfunction(v)) or "a function"
        raise ArgumentError(f"{fn.__name__} is a class; decorate its methods instead: {methods}")
    if not isinstance(fn, types.FunctionType):
        raise ArgumentError(
            f"jit takes a Python function, not a {type(fn).__name__}; wrap it in a function"
        )
    return JitFunction(fn, options)


@contextmanager
def disable() -> Iterator[None]:
    """Within the block, decorated functions of this thread run as plain Python."""
    _disabled.depth += 1
    try:
        yield
    finally:
        _disabled.depth -= 1


def program_tracer(device: str = "cpu") -> Tracer:
    """A recording that belongs to no function: what a front end of another language calls.

    Its operations are deferred and run in compiled batches, and are never repeated from a trace.
    """
    from runmat_jit.capture.tracer import Tracer  # noqa: PLC0415  (see _capture)
    from runmat_jit.compiler.compiler import Compiler, DeviceExecutor  # noqa: PLC0415  (likewise)

    session = current_session()
    executor = DeviceExecutor(session.service(Compiler, Compiler), device)
    lines: Any = _NoLines()
    tracer = Tracer(executor, session.states, lines, 0)
    tracer.effect("program", "a program is recorded as it runs")
    return tracer


class _NoLines:
    """The lines of a program that is not Python's."""

    def here(self) -> None:
        """No line of Python's."""


def devices() -> tuple[DeviceInfo, ...]:
    """The CPU and the adapters of this machine, software adapters marked.

    The first call in a process may take a second: adapters are looked for in a process of its own.
    """
    session = current_session()
    processor = DeviceInfo(
        "cpu",
        session.jit.target.cpu,
        "llvm" if session.unsupported is None else "reference",
        software=False,
        dtypes=tuple(dtype.name for dtype in COMPILED_DTYPES),
    )
    return (processor, *gpu_devices(session.findings_directory(), session.log))


def config(**changes: Any) -> Config:
    """Change options of the current session; give the configuration now in force.

    Options are those of the environment variables, see ``docs/reference/config.md``. What was
    compiled before an option changed is compiled anew where the option matters.

    Raises:
        ConfigError: an option has an unknown name or value.

    """
    session = current_session()
    options = {option.name: option for option in OPTIONS}
    values: dict[str, Any] = {}
    for name, value in changes.items():
        if name not in options:
            raise ConfigError(f"there is no option {name!r}; there are {', '.join(options)}")
        try:
            values[name] = options[name].read(as_text(value))
        except (ValueError, TypeError) as error:
            raise ConfigError(f"{name}={value!r}: {error}") from None
    if values:
        sources = {**session.config.sources, **dict.fromkeys(values, "config()")}
        use_session(session.configured(replace(session.config, **values, sources=sources)))
    return current_session().config


def as_text(value: Any) -> str:
    """An option's value as its environment variable would hold it.

    Raises:
        TypeError: no variable could hold it.

    """
    if isinstance(value, bool | int):
        return str(int(value))
    if isinstance(value, str | os.PathLike):
        return os.fspath(value)
    if isinstance(value, Iterable):
        return ",".join(value)
    raise TypeError(f"an option is a string, a number, a path or names, not {type(value).__name__}")

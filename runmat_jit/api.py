"""The public functions: ``jit``, ``devices`` and ``config``."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple, ParamSpec, TypeVar, overload

from runmat_jit.core.config import COMPILES, DEVICES, OPTIONS, Config
from runmat_jit.core.errors import ArgumentError, ConfigError
from runmat_jit.core.source import SourceLine
from runmat_jit.core.types import COMPILED_DTYPES
from runmat_jit.dispatcher import warn_if_unsupported
from runmat_jit.jit_function import JitFunction
from runmat_jit.runtime.gpu import DeviceInfo, gpu_devices
from runmat_jit.runtime.session import current_session, use_session

if TYPE_CHECKING:
    from runmat_jit.capture.record.tracer import Tracer
    from runmat_jit.loops.sites import Loops

P = ParamSpec("P")
R = TypeVar("R")


@overload
def jit(
    fn: Callable[P, R],
    /,
    *,
    device: str | None = ...,
    precision: str = ...,
    fullgraph: bool = ...,
    compile: str | None = ...,
) -> JitFunction[P, R]: ...
@overload
def jit(
    *,
    device: str | None = ...,
    precision: str = ...,
    fullgraph: bool = ...,
    compile: str | None = ...,
) -> Callable[[Callable[P, R]], JitFunction[P, R]]: ...
def jit(
    fn: Callable[..., Any] | None = None,
    /,
    *,
    device: str | None = None,
    precision: str = "exact",
    fullgraph: bool = False,
    compile: str | None = None,  # noqa: A002  (as the option is called)
) -> Any:
    """Compile a function of plain NumPy code; use as ``@jit`` or ``@jit(...)``.

    Calls are plain Python until the function has run for about as long as compiling takes.

    Args:
        fn: The function: its results, exceptions and writes to arguments stay NumPy's. Also a
            method, a partial, an object with ``__call__``; of a property, its getter.
        device: Where programs run: ``cpu``, ``gpu`` (the CPU where that cannot be, with a reason in
            ``explain()``), or ``auto``, the device that is predicted to take least. None: the
            option's value, which is ``auto`` unless it is changed.
        precision: ``exact``: every value within its documented error bound.
        fullgraph: Raise :class:`CaptureError` at the line that cannot be captured, instead of
            letting Python run it at each call. What the call did before has happened.
        compile: ``hot``: once the calls so far have done enough work; ``first call``: at once. So
            do ``fullgraph``, ``device="gpu"`` and arguments that live on a device. None: the
            option's value, which is ``hot`` unless it is changed.

    Raises:
        ArgumentError: ``fn`` is a class or not callable, or an option has an unknown value.

    """
    if device is not None and device not in DEVICES:
        raise ArgumentError(f"device={device!r}: there are {', '.join(DEVICES)}")
    if precision != "exact":
        raise ArgumentError(f"precision={precision!r}: there is exact")
    if not isinstance(fullgraph, bool):
        raise ArgumentError(f"fullgraph={fullgraph!r}: there are True and False")
    if compile is not None and compile not in COMPILES:
        raise ArgumentError(f"compile={compile!r}: there are {', '.join(COMPILES)}")
    options = {"device": device, "precision": precision, "fullgraph": fullgraph, "compile": compile}
    warn_if_unsupported(2)
    return partial(_decorated, options) if fn is None else _decorated(options, fn)


_NO_OPTIONS: Final = {"device": None, "precision": "exact", "fullgraph": False, "compile": None}


def _decorated(options: dict[str, Any], fn: Any, /) -> Any:
    """What ``jit`` makes of a function, and of what holds or is called like one."""
    if isinstance(fn, JitFunction):
        same = options in (_NO_OPTIONS, fn._options)
        return fn if same else JitFunction(fn.__wrapped__, options)
    if isinstance(fn, staticmethod | classmethod):
        return type(fn)(_decorated(options, fn.__func__))
    if inspect.isclass(fn):
        methods = ", ".join(n for n, v in vars(fn).items() if inspect.isfunction(v)) or "a function"
        raise ArgumentError(f"{fn.__name__} is a class; decorate its methods instead: {methods}")
    if isinstance(fn, property):
        getter = None if fn.fget is None else _decorated(options, fn.fget)
        return property(getter, fn.fset, fn.fdel, fn.__doc__)
    if not callable(fn):
        raise ArgumentError(f"jit takes a function, or what is called like one, not {fn!r}")
    return JitFunction(fn, options)


def program_tracer(
    device: str = "cpu", where: Callable[[], SourceLine | None] = lambda: None
) -> Tracer:
    """A recording that belongs to no function: what a front end of another language calls.

    Its operations are deferred and run in compiled batches, and are never repeated from a trace.
    ``where`` says which line of the program runs.
    """
    from runmat_jit.capture.record.batch_cache import BatchCache  # noqa: PLC0415  (see _capture)
    from runmat_jit.capture.record.tracer import Tracer  # noqa: PLC0415  (see _capture)
    from runmat_jit.compiler.compiler import Compiler, DeviceExecutor  # noqa: PLC0415  (likewise)

    session = current_session()
    executor = DeviceExecutor(session.service(Compiler, Compiler), device)
    lines: Any = _ProgramLines(where)
    known = BatchCache(checked=bool(session.config.verify))
    tracer = Tracer(executor, session.states, lines, 0, batch_cache=known)
    tracer.tape.repeat_nothing()
    return tracer


def native_loops() -> Loops | None:
    """What makes loops of another language's programs run natively; None: nothing does."""
    from runmat_jit.compiler.compiler import Compiler, DeviceExecutor  # noqa: PLC0415  (see _capture)

    return DeviceExecutor(current_session().service(Compiler, Compiler), "cpu").loops()


class _ProgramLines(NamedTuple):
    """The lines of a program that is not Python's."""

    where: Callable[[], SourceLine | None]

    def here(self, callers: int = 0) -> _ProgramLine | None:
        """The line that runs, whatever is on the stack."""
        del callers
        source = self.where()
        return None if source is None else _ProgramLine(source)

    def at_operator(self) -> bool:
        """True if an operator is running: nobody knows."""
        return False

    def is_ours(self, filename: str) -> bool:
        """True if Python frames of a file are not the program's: none is."""
        del filename
        return True

    def place(self) -> tuple[str, int] | None:
        """Return what tells the program's instructions apart: the file, and the line in it."""
        source = self.where()
        return None if source is None else (source.filename, source.line)


class _ProgramLine(NamedTuple):
    source: SourceLine

    def call(self, fn: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """Call from nowhere in Python: no frame of its own says this line."""
        return fn(*args, **kwargs)


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


def synchronize() -> None:
    """Wait until devices have done what was asked of them so far.

    Calls whose arrays stay on a device return before their kernels are done. To time them, wait.

    Raises:
        BackendError: the device is lost, or refused what it was given.

    """
    gpu = current_session().opened_gpu
    if gpu is not None:
        with gpu.lock:
            gpu.backend.device.wait()


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

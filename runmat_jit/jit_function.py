"""What ``jit`` makes of a function: an object that is called like it, and can be asked."""

from __future__ import annotations

import functools
import inspect
import sys
import types
import weakref
from collections.abc import Callable
from typing import (
    TYPE_CHECKING,
    Any,
    Concatenate,
    Final,
    Generic,
    NamedTuple,
    ParamSpec,
    TypeVar,
    overload,
)

from runmat_jit.compiler.explain import Explanation, show_host_call
from runmat_jit.compiler.region_report import Behind, reports_of
from runmat_jit.core.errors import ArgumentError, CaptureError
from runmat_jit.core.reasons import Reason
from runmat_jit.dispatcher import Dispatcher, install_in, off_reason
from runmat_jit.runtime.session import Session, current_session

if TYPE_CHECKING:
    from runmat_jit.capture.function import CapturedFunction
    from runmat_jit.capture.record.records import Record
    from runmat_jit.capture.replay.bailout import LetThrough
    from runmat_jit.compiler.compile_graph import CompiledGraph

P = ParamSpec("P")
Q = ParamSpec("Q")
R = TypeVar("R")
S = TypeVar("S")


class CacheInfo(NamedTuple):
    """Calls and traces of a decorated function."""

    hits: int
    """Calls in which Python did not run."""
    misses: int
    """Calls in which Python ran and was recorded."""
    plain: int
    """Calls that ran as plain Python."""
    keys: int
    """Different kinds of arguments recorded; kinds that differ in extents alone share traces."""
    traces: int
    """Traces kept."""
    last_failed_guard: str
    """Reason why the last trace that did not hold did not."""
    segments: int
    """Nodes of the trees of traces: what runs between two decisions of Python."""
    retraces: int
    """Calls that a replay began and a recording finished: a new outcome, or a guard that failed."""


_bind: Final = types.MethodType
_NAMES: Any = functools.WRAPPER_ASSIGNMENTS  # of which type checkers know those of one version
_ASSIGNED: Final = tuple([name for name in _NAMES if name != "__annotate__"])
"""Attributes that are copied; annotations that are deferred stay the function's own."""
_CLASS_METHODS: Final = ("__class_getitem__", "__init_subclass__")


def _of_function(name: str) -> Any:
    """An attribute that is the function's own, and is set there."""

    def get(self: JitFunction[..., Any]) -> Any:
        return getattr(self._function, name)

    def set_(self: JitFunction[..., Any], value: Any) -> None:
        setattr(self._function, name, value)
        self._dispatcher.come_back()

    return property(get, set_)


def caller_of(target: Callable[P, R]) -> Callable[P, R]:
    """A function that calls something else: a method, a partial, an object with ``__call__``."""

    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        return target(*args, **kwargs)

    function: Any = getattr(target, "func", target)  # of a partial
    name = getattr(function, "__qualname__", type(function).__qualname__)
    call.__name__, call.__qualname__ = name.rpartition(".")[2], name
    call.__doc__ = getattr(function, "__doc__", None)
    call.__module__ = getattr(function, "__module__", None) or type(function).__module__
    return call


_ASIDE = "runs undecorated: earlier calls were not faster when compiled (stepped aside)"


class JitFunction(Generic[P, R]):
    """A function that is recorded once that pays, and replayed as compiled kernels."""

    __code__ = _of_function("__code__")
    __defaults__ = _of_function("__defaults__")
    __kwdefaults__ = _of_function("__kwdefaults__")
    __closure__ = _of_function("__closure__")
    __globals__ = _of_function("__globals__")
    if sys.version_info >= (3, 14):  # before, `update_wrapper` copies the one dict
        __annotations__ = _of_function("__annotations__")
        __annotate__ = _of_function("__annotate__")

    __slots__ = ("__call__", "__dict__", "__weakref__")
    # What is called is found in each object: the dispatcher, or a bypass to the function itself.
    if TYPE_CHECKING:

        def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R: ...

    def __init__(
        self, fn: Callable[P, R], options: dict[str, Any], source: str | None = None
    ) -> None:
        self._function: Any = fn if isinstance(fn, types.FunctionType) else caller_of(fn)
        functools.update_wrapper(self, self._function, _ASSIGNED)
        self.__wrapped__ = fn
        self._options, self._source = options, source
        install = functools.partial(install_in, weakref.ref(self))
        self._dispatcher = Dispatcher(fn, self._function, options, source, install)
        object.__setattr__(self, "__call__", self._dispatcher.entry)

    @overload
    def __get__(self, instance: None, owner: type | None = None, /) -> JitFunction[P, R]: ...
    @overload
    def __get__(
        self: JitFunction[Concatenate[S, Q], R], instance: S, owner: type | None = None, /
    ) -> Callable[Q, R]: ...
    def __get__(self, instance: Any, owner: type | None = None, /) -> Any:
        return self if instance is None else _bind(self, instance)

    def __set_name__(self, owner: type, name: str) -> None:
        """Python makes class methods of functions of these names, where they are in a class."""
        if name in _CLASS_METHODS and vars(owner).get(name) is self:
            setattr(owner, name, classmethod(self))

    def __repr__(self) -> str:
        return f"<jit of {self.__wrapped__!r}>"

    # -- copies ----------------------------------------------------------------------------------
    def __copy__(self) -> JitFunction[P, R]:
        return self  # as functions are

    def __deepcopy__(self, _memo: Any) -> JitFunction[P, R]:
        return self

    def __reduce__(self) -> Any:
        """By name where the name finds this object, as functions are.

        Else by the function, the options and the text of the function's file; never with traces.
        ``cloudpickle`` carries what ``__main__`` defines to processes that have another
        ``__main__``: then a name finds nothing.
        """
        module = getattr(self, "__module__", "")
        found: Any = sys.modules.get(module)
        path = str(self.__dict__.get("__qualname__", ""))  # of the function, not of this class
        for name in path.split("."):
            found = getattr(found, name, None)
        pickler = sys._getframe(1).f_globals.get("__name__", "")
        if found is self and not (module == "__main__" and "cloudpickle" in pickler):
            return path
        from runmat_jit.capture.source.locate import source_text  # noqa: PLC0415  (see _capture)

        text = source_text(self._function, self._source)
        return JitFunction, (self.__wrapped__, self._options, text)

    @property
    def _captured(self) -> tuple[Session, CapturedFunction] | None:
        return self._dispatcher.captured

    # -- what it tells ---------------------------------------------------------------------------
    def explain(self, *args: P.args, **kwargs: P.kwargs) -> Explanation:
        """What happens with a call like this one.

        Answers from the record of such calls; without one it makes an ordinary call, effects
        included, and says so.

        Raises:
            ArgumentError: no call takes these arguments.

        """
        self._require_arguments(args, kwargs)
        name = self._function.__qualname__
        session = current_session()
        captured, off = self._dispatcher.capture(session), off_reason(session)
        if off is not None:
            return Explanation(name, "plain Python", (), (off,))
        record = known_of().record_of(captured, args, kwargs)
        notes: tuple[str, ...] = ()
        if record is None:
            record = self._record(captured, args, kwargs)
            notes = ("there was no record of such a call, so one ordinary call was made",)
        if record is None:
            if captured.bailout.find(args, kwargs) is not None:
                notes += (_ASIDE,)
            plain = captured.plain or captured.refusal()
            reasons = () if plain is None else (plain,)
            return Explanation(name, "plain Python", (), reasons, notes)
        let_through = captured.bailout.find(args, kwargs)
        return self._of_record(captured, captured.key_of(args, kwargs), record, let_through, notes)

    def explanations(self) -> tuple[Explanation, ...]:
        """What has happened with the calls so far: one answer for each kind of them."""
        captured = self._dispatcher.capture(current_session())
        return tuple(
            self._of_record(captured, key, record, captured.bailout.of_tally(record.tally), ())
            for key, record in list(captured.records.items())
        )

    def story(self) -> str:
        """Return why no call was recorded, in words."""
        return str(self.unrecorded() or f"{self._function.__qualname__}: no call of it was seen")

    def unrecorded(self) -> Explanation | None:
        """Return the explanation of calls that were not recorded; None: there were none."""
        captured = self._dispatcher.capture(current_session())
        name, plain = self._function.__qualname__, captured.plain or captured.refusal()
        tier = self._dispatcher.plain_tier
        if plain is not None:
            return Explanation(name, "plain Python", (), (plain,))
        if not (tier.calls and tier.waits):
            return None
        loops = known_of().loops_of(captured)
        return Explanation(name, "plain Python", (), (), (tier.waits,), loops=loops)

    def _of_record(
        self,
        captured: CapturedFunction,
        key: Any,
        record: Record,
        let_through: LetThrough | None,
        notes: tuple[str, ...],
    ) -> Explanation:
        """What a record tells of calls with its key."""
        from runmat_jit.capture.record.records import reasons_of  # noqa: PLC0415  (see _capture)
        from runmat_jit.compiler.placement import decision_about  # noqa: PLC0415  (likewise)

        session = current_session()
        mode = "replayed" if record.root.outcomes else "recorded at every call"
        if (waits := self._dispatcher.plain_tier.waits) is not None:
            mode, notes = "plain Python", (*notes, waits)
        elif let_through is not None:
            mode = "plain Python"
            notes += (_ASIDE,)
        elif record.given_up:
            mode = "plain Python"
        elif record.driven:
            notes += ("replays did not come to an end: Python decides otherwise in each call",)
        elif (why := captured.gatekeeper.refusal(key)) is not None:
            notes += (f"each call is replayed by Python, not by native code: {why}",)
        loops = known_of().loops_of(captured)
        return Explanation(
            self._function.__qualname__,
            mode,
            tuple(reports_of(record.programs)),
            (*reasons_of(record), *self._loops_on_the_cpu(session, loops)),
            notes,
            tuple(map(show_host_call, record.host_calls)),
            loops,
            tuple(dict.fromkeys(decision_about(session, each) for each in record.programs)),
            Behind(getattr(self._function, "__code__", None), tuple(record.programs)),
        )

    def _loops_on_the_cpu(self, session: Session, loops: tuple[str, ...]) -> tuple[Reason, ...]:
        """Return the reason why native loops do not run on the GPU that was asked for."""
        device = self._dispatcher.options["device"] or session.config.device
        if device != "gpu" or not any(": natively" in loop for loop in loops):
            return ()
        why = "loops over NumPy's arrays run on the CPU; arrays of runmat.asarray(x, 'gpu') do not"
        return (Reason("not-on-device", why),)

    def _require_arguments(self, args: Any, kwargs: Any) -> None:
        """Refuse what no call takes, before one is made: methods are easily asked without self."""
        try:
            inspect.signature(self).bind(*args, **kwargs)
        except TypeError as error:
            name = self._function.__qualname__
            raise ArgumentError(
                f"{name}: {error}; explain() and source() take the arguments of a call, those of a "
                f"method with the object first: {name}.explain(...)"
            ) from None
        except ValueError:  # a builtin tells no signature
            return

    def _record(self, captured: CapturedFunction, args: Any, kwargs: Any) -> Record | None:
        """Make an ordinary call, and give what is then known of such calls."""
        key = captured.key_of(args, kwargs)  # the call may change its arguments
        try:
            made: Any = self._dispatcher.recorded(*args, **kwargs)
        except CaptureError:  # fullgraph=True: the record says why
            made = None
        if inspect.iscoroutine(made):
            made.close()  # nobody will await it
        return known_of().record_at(captured, key)  # type: ignore[no-any-return]  # a record

    def source(self, *args: Any, backend: str = "llvm", **kwargs: Any) -> str:
        """The generated code of a call like this one.

        Args:
            *args: Arguments of the call; without a record of such calls one is made.
            backend: ``llvm``, ``wgsl``, ``kernel`` (the backend-neutral text), ``graph``, or
                ``loops`` (what is known of each loop, or why it is refused).
            **kwargs: Keyword arguments of the call.

        Raises:
            ArgumentError: the backend has another name, or no call takes these arguments.
            BackendError: WGSL is asked for and no adapter was found.

        """
        if backend not in (*_SOURCES, "loops"):
            raise ArgumentError(f"backend={backend!r}: there are {', '.join(_SOURCES)}, loops")
        self._require_arguments(args, kwargs)
        session = current_session()
        captured = self._dispatcher.capture(session)
        record = known_of().record_of(captured, args, kwargs)
        if record is None:
            record = self._record(captured, args, kwargs)
        if backend == "loops":
            return _text_of_loops(captured)
        programs = () if record is None else record.programs
        return "\n".join(_SOURCES[backend](session, program) for program in programs)

    def cache_info(self) -> CacheInfo:
        """Counts of calls and traces."""
        captured = self._dispatcher.capture(current_session())
        captured.gatekeeper.flush()
        counts, plain = captured.counts, captured.counts.plain + self._dispatcher.plain_tier.calls
        from runmat_jit.capture.replay.tree import segments_of  # noqa: PLC0415  (likewise)
        from runmat_jit.capture.tape.entries import Return  # noqa: PLC0415  (see _capture)

        segments = [
            segment for root in known_of().trees_of(captured) for segment in segments_of(root)
        ]
        return CacheInfo(
            hits=counts.replayed,
            misses=counts.recorded,
            plain=plain,
            keys=len(captured.records),
            traces=sum(type(segment.exit) is Return for segment in segments),
            last_failed_guard=captured.last_failed,
            segments=len(segments),
            retraces=counts.retraced,
        )

    def clear_cache(self) -> None:
        """Forget all traces; compiled kernels stay."""
        self._dispatcher.clear()


def known_of() -> Any:
    """Return the module that tells what is known of a function."""
    from runmat_jit.capture import known  # noqa: PLC0415  (see _capture)

    return known


def _text_of_loops(captured: CapturedFunction) -> str:
    """Describe the loops of a function, and why others are refused."""
    from runmat_jit.loops.describe import describe  # noqa: PLC0415  (see _capture)

    capturer = captured.capturer
    known = capturer.executor.loops()
    found: Any = capturer.rewriter.find(captured.fn, captured.carried)
    if known is None or not hasattr(found, "loops"):
        return ""
    calls = [call for loop in found.loops for call in known.calls_of(loop)]
    refused = [f"loop of line {n}: refused: {why}" for n, why in found.refused_loops.items()]
    return "\n".join([*map(describe, calls), *refused])


def _graph_source(_session: Session, compiled: CompiledGraph) -> str:
    from runmat_jit.graph.text import to_text  # noqa: PLC0415  (see _capture)

    return to_text(compiled.plan.graph)


def _kernel_source(_session: Session, compiled: CompiledGraph) -> str:
    from runmat_jit.kernel.text import to_text  # noqa: PLC0415  (see _capture)

    return "\n".join(map(to_text, compiled.kernels))


def _wgsl_source(session: Session, compiled: CompiledGraph) -> str:
    return "\n".join(map(session.gpu.backend.source, compiled.kernels))


def _llvm_source(session: Session, compiled: CompiledGraph) -> str:
    return "\n".join(map(session.backend.source, compiled.kernels))


_SOURCES: dict[str, Callable[[Session, CompiledGraph], str]] = {
    "llvm": _llvm_source,
    "wgsl": _wgsl_source,
    "kernel": _kernel_source,
    "graph": _graph_source,
}

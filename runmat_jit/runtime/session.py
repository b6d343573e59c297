"""The session, which has all mutable state: options, native code, threads, memory, counters.

Importing this module loads no backend: decorated functions must not make a program start slowly.
"""

from __future__ import annotations

import os
import sys
import threading
import types
import weakref
from collections.abc import Callable, Hashable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from runmat_jit.core.config import Config, read_config
from runmat_jit.core.epoch import begin_epoch
from runmat_jit.core.errors import BackendError
from runmat_jit.core.errstate import ErrorStates
from runmat_jit.core.evidence import Evidence, Ledger
from runmat_jit.core.inner_loops import product_loop
from runmat_jit.core.loading import LOADER, STAGES
from runmat_jit.core.locks import llvm_lock, new_lock
from runmat_jit.core.log import LOG, PLACEMENT, show
from runmat_jit.core.stack_space import Room
from runmat_jit.runtime.gpu import Gpu, might_have_gpu, open_gpu
from runmat_jit.runtime.telemetry import Telemetry

if TYPE_CHECKING:
    from runmat_jit.backends.llvm.allocator import ResultAllocator
    from runmat_jit.backends.llvm.backend import LlvmBackend
    from runmat_jit.backends.llvm.jit import Jit
    from runmat_jit.backends.llvm.launcher import Launcher
    from runmat_jit.backends.llvm.object_cache import ObjectCache
    from runmat_jit.backends.llvm.pool import ThreadPool
    from runmat_jit.plan.place import Decision
    from runmat_jit.plan.profile import Profile
    from runmat_jit.runtime.profiles import Profiles
    from runmat_jit.runtime.timeline import Timeline

S = TypeVar("S")


V = TypeVar("V")


class Once(Generic[V]):
    """A property that is computed at its first use, by one thread, and kept."""

    def __init__(self, make: Callable[[Any], V]) -> None:
        self.make, self.name = make, ""
        self.__doc__ = make.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, session: Session, owner: type) -> V:
        with session.locks[self.name]:
            if self.name not in session.__dict__:
                session.__dict__[self.name] = self.make(session)
            return session.__dict__[self.name]  # type: ignore[no-any-return]  # what make() gave


class Session:
    """State of one use of the package; native parts are made when first needed."""

    def __init__(self, config: Config | None = None, telemetry: Telemetry | None = None) -> None:
        self.config = read_config() if config is None else config
        self.telemetry = Telemetry() if telemetry is None else telemetry
        self.states = ErrorStates()
        self.room = Room()
        self.ledger = Ledger()
        self._evidence: weakref.WeakKeyDictionary[Any, Evidence] = weakref.WeakKeyDictionary()
        self.made_anew: dict[tuple[Any, ...], Callable[..., Any]] = {}
        """Dispatchers shared by functions with one code object, by that code and the options."""
        self.room_for_plain = self.room.for_frames(3)  # of the plain tier and the dispatcher
        self.room_for_arrays = self.room.for_frames(4)  # and of `plain_call`
        self.log = LOG
        if self.config.log:
            show(self.config.log)
        self._services: dict[Hashable, Any] = {}
        self._tables: dict[str, np.ndarray] = {}
        self._lock = new_lock()
        self._has_no_gpu = False
        self.locks = {name: new_lock() for name in _NATIVE}
        self.observe()
        _sessions.add(self)

    def observe(self) -> None:
        """Note what takes how long, if an option names a file for it."""
        if not self.config.wants_times:
            return
        from runmat_jit.runtime.report import report  # noqa: PLC0415  (rarely wanted)
        from runmat_jit.runtime.timeline import Timeline  # noqa: PLC0415  (likewise)

        timeline = self.telemetry.timeline = self.telemetry.timeline or Timeline()
        if self.config.telemetry_out:
            timeline.write_at_exit(self.config.telemetry_out, lambda: report(self))
        if self.config.trace_out:
            timeline.write_at_exit(self.config.trace_out, timeline.trace)

    @property
    def timeline(self) -> Timeline | None:
        """Recorder of a timeline; None unless one was requested."""
        return self.telemetry.timeline if self.config.wants_times else None

    def service(self, kind: type[S], make: Callable[[Session], S], variant: str = "") -> S:
        """The one instance (of this variant) of an upper layer's state in this session."""
        key = (kind, variant)
        found = self._services.get(key)
        if found is None:
            with self._lock:
                found = self._services.get(key)
                if found is None:
                    found = self._services[key] = make(self)
        return found

    def evidence(self, code: types.CodeType) -> Evidence:
        """Return the evidence of functions with some code."""
        found = self._evidence.get(code)
        if found is None:
            found = self._evidence.setdefault(code, Evidence())
        return found

    @property
    def threads(self) -> int:
        """Threads of the CPU backend."""
        return self.config.num_threads or available_cores()

    @Once
    def unsupported(self) -> str | None:
        """Reason why this machine runs no kernels; None where it does."""
        from runmat_jit.backends.llvm.target import unsupported_reason  # noqa: PLC0415  (first use)

        return unsupported_reason(self.jit.target)

    @Once
    def jit(self) -> Jit:
        """Compiles and loads native code."""
        from runmat_jit.backends.llvm.jit import Jit  # noqa: PLC0415  (first use)

        if not (self.config.progress and sys.stderr.isatty()):
            return Jit(self.object_cache)
        from runmat_jit.core.status_line import CompileProgress  # noqa: PLC0415  (where asked for)

        return Jit(self.object_cache, CompileProgress())

    @Once
    def object_cache(self) -> ObjectCache | None:
        """Object code kept between processes; None where the directory is ``none``."""
        from runmat_jit.backends.llvm.object_cache import ObjectCache  # noqa: PLC0415  (first use)

        if self.config.cache_dir == "none":
            return None
        return ObjectCache(cache_directory(self.config) / "objects")

    @Once
    def backend(self) -> LlvmBackend:
        """Kernels to native code."""
        from runmat_jit.backends.llvm.backend import LlvmBackend  # noqa: PLC0415  (first use)

        return LlvmBackend(self.jit)

    @Once
    def pool(self) -> ThreadPool:
        """Native threads."""
        from runmat_jit.backends.llvm.pool import ThreadPool  # noqa: PLC0415  (first use)

        return ThreadPool(self.jit, self.threads)

    @Once
    def launcher(self) -> Launcher:
        """Runs kernels."""
        from runmat_jit.backends.llvm.launcher import Launcher  # noqa: PLC0415  (first use)

        return Launcher(self.jit, self.pool)

    @Once
    def allocator(self) -> ResultAllocator:
        """Memory of large results."""
        from runmat_jit.backends.llvm.allocator import ResultAllocator  # noqa: PLC0415  (first use)

        return ResultAllocator(self.jit)

    @Once
    def profiles(self) -> Profiles:
        """Measured profiles of this machine's devices."""
        from runmat_jit.runtime.profiles import Profiles  # noqa: PLC0415  (first use)

        directory = None
        if self.config.cache_dir != "none":
            directory = cache_directory(self.config) / "profiles"
        return Profiles(directory)

    def identity(self) -> tuple[object, ...]:
        """Cache key of the profile of this machine's cores."""
        host = self.jit.host
        return ("cpu", host.target, host.llvm_version, self.threads)

    @Once
    def profile(self) -> Profile:
        """Profile of this machine's cores: measured, or as shipped."""
        from runmat_jit.plan.profile import shipped_cpu  # noqa: PLC0415  (first use)

        return self.profiles.find(*self.identity()) or shipped_cpu(self.threads)

    @Once
    def gpu_profile(self) -> Profile:
        """Profile of the GPU in use: measured, or as shipped.

        Raises:
            BackendError: there is none that works.

        """
        from runmat_jit.plan.profile import GPU  # noqa: PLC0415  (first use)

        return self.profiles.find("gpu", self.gpu.info.key) or GPU

    @property
    def opened_gpu(self) -> Gpu | None:
        """The GPU, if it has been opened."""
        found: Gpu | None = self.__dict__.get("gpu")
        return found

    @property
    def may_have_gpu(self) -> bool:
        """True if it may be worth while to look for a GPU that is no software; asks no driver."""
        opened = self.opened_gpu
        return might_have_gpu() if opened is None else not opened.info.software

    def hardware_gpu(self) -> Gpu | None:
        """The GPU in use, which is opened if it was not; None where there is none that works."""
        if self.opened_gpu is None and not self._has_no_gpu:
            try:
                _ = self.gpu
            except BackendError:  # an interrupt says nothing about adapters
                self._has_no_gpu = True
        return self.opened_gpu

    def note_decision(self, decision: Decision, told: Callable[[], dict[str, object]]) -> None:
        """Count the placement of a program in telemetry, and log it."""
        self.telemetry.count_placement(told)
        self.log.getChild(PLACEMENT).debug("placed %s", decision)

    @Once
    def gpu(self) -> Gpu:
        """The GPU in use.

        Raises:
            BackendError: there is none that works.

        """
        if CURRENT.gpu_left_behind:
            raise BackendError(
                "a forked process cannot use the GPU of its parent: start it by 'spawn'"
            )
        directory, reproducible = self.findings_directory(), self.config.wants_cpu_bits
        gpu = open_gpu(directory, self.log, reproducible=reproducible)
        device, known = gpu.backend.device, self.profiles.find("gpu", gpu.info.key)
        if known is not None and known.tuning is not None:
            device.tuning = known.tuning
        device.count = self.telemetry.count
        if self.unsupported is None:
            device.submit_by(self.jit.functions, available_cores())
        return gpu

    def findings_directory(self) -> Path | None:
        """Directory of the test results of adapters."""
        if self.config.cache_dir == "none":
            return None
        return cache_directory(self.config) / "adapters"

    def configured(self, config: Config) -> Session:
        """A session of other options that shares counters, native code and memory with this one."""
        other = Session(config, self.telemetry)
        other.states, other.room = self.states, self.room
        shared = {"unsupported", "jit", "backend", "allocator", "object_cache"}
        if other.threads == self.threads:
            shared |= {"pool", "launcher", "profile"}
        other.__dict__.update({name: v for name, v in self.__dict__.items() if name in shared})
        if "gpu_profile" in self.__dict__:
            other.__dict__["gpu_profile"] = self.gpu_profile
        if "gpu" in self.__dict__:
            other.__dict__["gpu"] = self.gpu.at(reproducible=config.wants_cpu_bits)
        other._tables = self._tables
        return other

    def table(self, name: str) -> np.ndarray:
        """A constant table of a mathematical expansion, computed once."""
        found = self._tables.get(name)
        if found is None:
            LOADER.load(STAGES)
            from runmat_jit.kernel.math.tables import table  # noqa: PLC0415  (loaded here)
            from runmat_jit.lower.blas_product import ADDRESS  # noqa: PLC0415  (likewise)

            if name.startswith(ADDRESS):
                found = np.array([product_loop(name.removeprefix(ADDRESS))], np.int64)
            else:
                found = np.ascontiguousarray(table(name))
            self._tables[name] = found
        return found

    def after_fork(self) -> None:
        """In a forked child: native threads of the parent are gone, and its GPU."""
        made = self.__dict__
        if "pool" in made:
            self.pool.forget_workers()
        if "gpu" in made:
            self.gpu.backend.device.leave_behind()


_NATIVE = tuple(name for name, value in vars(Session).items() if isinstance(value, Once))


def cache_directory(config: Config) -> Path:
    """Directory of files that are kept between processes."""
    if config.cache_dir:
        return Path(config.cache_dir)
    if sys.platform == "linux":  # as `platformdirs`, which loads slowly, says in these cases
        home = os.environ.get("HOME", "")
        for caches in (os.environ.get("XDG_CACHE_HOME", ""), home and f"{home.rstrip('/')}/.cache"):
            if caches.startswith("/"):
                return Path(caches, "runmat_jit")
    LOADER.load(("platformdirs",))
    import platformdirs  # noqa: PLC0415  (loaded here)

    return platformdirs.user_cache_path("runmat_jit", appauthor=False)


def available_cores() -> int:
    """Cores that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1


_sessions: weakref.WeakSet[Session] = weakref.WeakSet()


class _Current:
    """The session that decorated functions use."""

    def __init__(self) -> None:
        self.session: Session | None = None
        self.lock = new_lock()
        self.gpu_left_behind = False
        """True if a parent of this process has used a GPU."""
        self.has_warned = False
        """True once the warning about an unsupported interpreter was issued."""


CURRENT = _Current()


def current_session() -> Session:
    """The session in use, made at the first call."""
    session = CURRENT.session
    if session is None:
        with CURRENT.lock:
            session = CURRENT.session
            if session is None:
                session = CURRENT.session = Session()
    return session


def use_session(session: Session | None, *, instead_of: Session | None = None) -> Session | None:
    """Make another session (None: a new one, at the next use) current; give the one before.

    ``instead_of``: only where this one is current.
    """
    with CURRENT.lock:
        if instead_of is not None and CURRENT.session is not instead_of:
            return CURRENT.session
        before, CURRENT.session = CURRENT.session, session
        begin_epoch()
    return before


_forking = threading.local()
"""The lock that this thread has taken to fork: LLVM may be loaded in between."""


def _before_fork() -> None:
    LOADER.before_fork()  # first: what it waits for may want LLVM's lock
    _forking.lock = lock = llvm_lock()
    if lock is not None:
        lock.acquire()


def _give_back_llvm() -> None:
    lock, _forking.lock = getattr(_forking, "lock", None), None
    if lock is not None and lock._is_owned():
        lock.release()


def _after_fork_in_parent() -> None:
    _give_back_llvm()
    LOADER.after_fork()


def _after_fork_in_child() -> None:
    _give_back_llvm()
    LOADER.after_fork()
    CURRENT.gpu_left_behind = CURRENT.gpu_left_behind or "wgpu" in sys.modules
    for session in list(_sessions):
        session.after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before_fork,
        after_in_parent=_after_fork_in_parent,
        after_in_child=_after_fork_in_child,
    )

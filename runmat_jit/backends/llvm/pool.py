"""A pool of native threads that never touch a Python object."""

from __future__ import annotations

import contextlib
import ctypes
import weakref
from collections.abc import Callable, Iterator

from runmat_jit.backends.llvm.jit import Jit
from runmat_jit.backends.llvm.permanent_memory import permanent_memory, word_at
from runmat_jit.backends.llvm.pool_layout import (
    CLOSED_TICKET,
    POOL_FIELDS,
    WORKER_BYTES,
    WORKER_FIELDS,
    WORKERS_OFFSET,
)
from runmat_jit.backends.llvm.pool_text import POOL_FUNCTIONS, pool_symbols, pool_text
from runmat_jit.backends.llvm.symbols import process_symbols
from runmat_jit.core.loading import LOADER
from runmat_jit.core.locks import new_lock

_FAILED_THREAD = ctypes.c_ulong(-1).value


class ThreadPool:
    """Runs kernels over a range in chunks, on the calling thread and native workers.

    The first run compiles the pool's code and creates the workers. They are started and parked
    through CPython's own thread functions, which need no GIL and exist on every platform. The
    caller takes part and waits for no worker that has not begun a chunk, so busy cores, workers
    lost in a fork and a second Python thread that calls meanwhile cost speed only.

    Args:
        jit: Compiles and loads the pool's code.
        threads: Threads that work on a run, the caller included, at least 1.
        spin: Pauses (about 25 ns each) that an idle worker spins for before it parks.
        slice_ms: A run returns to Python after about so long, so that signals are seen; it
            resumes where it stopped.

    """

    def __init__(self, jit: Jit, threads: int, spin: int = 4000, slice_ms: int = 40) -> None:
        if threads < 1:
            raise ValueError(f"a pool needs at least 1 thread, not {threads}")
        self.threads = threads
        self._jit = jit
        self._starting = new_lock()
        # Never freed: workers read it for as long as they live.
        self.address = permanent_memory(WORKERS_OFFSET + WORKER_BYTES * (threads - 1))
        self._word("spin").value = spin
        self._word("slice_ms").value = slice_ms
        self.forget_workers()
        # Also called when the pool is collected and when the interpreter exits.
        self.close: Callable[[], object] = weakref.finalize(self, _close, self.address)

    @property
    def workers(self) -> int:
        """Native threads that exist now."""
        return self._word("workers").value

    def run(self, kernel: int, args: int, total: int, grain: int) -> None:
        """Call ``kernel(args, lo, hi)`` for chunks that make up ``[0, total)``.

        Every ``lo`` is a multiple of ``grain``; a chunk has ``grain`` elements, the last may have
        less. Which thread runs a chunk, and in which order, is not defined. Returns when all are
        done; no Python object may be touched by the kernel, since the GIL is released.

        Args:
            kernel: Address of a ``void (i64* args, i64 lo, i64 hi)``.
            args: Address of its argument block.
            total: Elements, may be 0.
            grain: Elements in a chunk, at least 1.

        Raises:
            KeyboardInterrupt: Or whatever a signal handler raises, after a whole chunk.

        """
        if self._word("missing").value:
            self.start()
        parallel_for = _PARALLEL_FOR(self._word("parallel_for").value)
        position = parallel_for(self.address, kernel, args, 0, total, grain)
        while position < total:
            position = parallel_for(self.address, kernel, args, position, total, grain)

    def start(self) -> None:
        """Load the pool's code and create the workers, unless both have been done."""
        with self._starting:
            missing = self._word("missing")
            if missing.value and not self._word("worker").value:
                self._load()
            if not missing.value:  # or a signal handler has created them meanwhile
                return
            missing.value = 0
            if not self._word("closing").value:
                with _signals_blocked():
                    self._create_workers()

    def forget_workers(self) -> None:
        """Take the pool back to its first state: in a forked child, whose workers do not exist.

        The next run creates new ones. To be called only while no other thread uses the pool.
        """
        for name in ("workers", "busy", "caller_parked"):
            self._word(name).value = 0
        self._word("caller_lock").value = _taken_lock()
        self._word("ticket").value = CLOSED_TICKET
        self._word("missing").value = 1

    def _load(self) -> None:
        target = self._jit.target
        # Better code takes 12 ms more, and gains nothing measurable beside a wake-up.
        symbols = process_symbols(pool_symbols(target))
        addresses = self._jit.functions(pool_text(target), POOL_FUNCTIONS, symbols, codegen_level=0)
        for name, address in addresses.items():
            self._word(name).value = address

    def _create_workers(self) -> None:
        """As many as the system allows; with fewer, or none, a run is only slower."""
        function = self._word("worker").value
        for index in range(self.threads - 1):
            worker = self.address + WORKERS_OFFSET + WORKER_BYTES * index
            word_at(worker + WORKER_FIELDS["parked"]).value = 0
            word_at(worker + WORKER_FIELDS["lock"]).value = _taken_lock()
            word_at(worker + WORKER_FIELDS["pool"]).value = self.address
            if _start_new_thread(function, worker) == _FAILED_THREAD:
                return
            self._word("workers").value = index + 1

    def _word(self, name: str) -> ctypes.c_int64:
        return word_at(self.address + POOL_FIELDS[name])


_PARALLEL_FOR = ctypes.CFUNCTYPE(
    ctypes.c_int64, *[ctypes.c_void_p] * 3, *[ctypes.c_int64] * 3
)  # releases the GIL
_STOP = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


def _close(pool: int) -> None:
    stop = word_at(pool + POOL_FIELDS["stop"]).value
    word_at(pool + POOL_FIELDS["closing"]).value = 1
    if stop:
        _STOP(stop)(pool)


def _taken_lock() -> int:
    """A lock that is held, for a thread to sleep on until another releases it; never freed."""
    allocate = ctypes.pythonapi["PyThread_allocate_lock"]
    allocate.argtypes, allocate.restype = [], ctypes.c_void_p
    acquire = ctypes.pythonapi["PyThread_acquire_lock"]
    acquire.argtypes, acquire.restype = [ctypes.c_void_p, ctypes.c_int], ctypes.c_int
    lock: int | None = allocate()
    if lock is None:
        raise MemoryError("no memory for a lock of the thread pool")
    acquire(lock, 1)
    return lock


def _start_new_thread(function: int, argument: int) -> int:
    start = ctypes.pythonapi["PyThread_start_new_thread"]
    start.argtypes, start.restype = [ctypes.c_void_p, ctypes.c_void_p], ctypes.c_ulong
    identifier: int = start(function, argument)
    return identifier


@contextlib.contextmanager
def _signals_blocked() -> Iterator[None]:
    """Threads created inside leave signals to Python's own threads, whose sleep they interrupt."""
    LOADER.load(("signal",))
    import signal  # noqa: PLC0415  (loaded here)

    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    old = signal.pthread_sigmask(signal.SIG_SETMASK, signal.valid_signals())
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, old)

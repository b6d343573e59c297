"""Dispatches are encoded and submitted by native code, behind each other by a thread of its own.

Through wgpu-py each of ten calls takes its time. One native function makes them all through
wgpu-native's C interface, whose objects are those of wgpu-py; some 15 to 30 us remain, most of them
the driver's. So only what finds the device idle is submitted by its caller. What follows goes into
a ring, which takes a microsecond, and a thread submits whatever is there as one command buffer.

Whoever uses the queue otherwise, or destroys a buffer, flushes the ring first (``Device.queue``
does). Errors are caught as wgpu-py catches them: nothing is submitted that was not encoded without
one, which would end the process. What fails in the thread is raised by who comes next: from then on
nothing is submitted, since nobody knows what arrays hold.
"""

from __future__ import annotations

import ctypes
import re
import threading
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from runmat_jit.backends.wgpu.native_queue_text import (
    FUNCTIONS,
    ITEMS,
    MAPPED,
    OFFSETS,
    STATE_BYTES,
    TEXT,
)
from runmat_jit.backends.wgpu.staging import ABANDONED, Staging
from runmat_jit.core.frozen import frozen_object

if TYPE_CHECKING:
    from runmat_jit.backends.wgpu.run import Batch, Dispatch

CompileFunctions = Callable[[str, Sequence[str], Mapping[str, int]], dict[str, int]]
"""Gives the addresses of a module's functions: of its LLVM text, their names, external symbols."""
_PATIENT, _HASTY = 4000, 400
"""Pauses, of some 25 ns each, for which the thread spins before it sleeps: where there are more
than two cores, and where it would take one of two.
"""


class NativeItem(ctypes.Structure):
    """Dispatches, how many, a buffer whose first word is cleared before them, or none; copies."""

    _fields_ = (
        ("dispatches", ctypes.c_void_p),
        ("count", ctypes.c_int64),
        ("cleared", ctypes.c_void_p),
        ("copies", ctypes.c_void_p),
    )


MOST_FETCHED = 15
"""Scalars that one submission copies to the host, beside the word of events."""
SLOT = 16
"""Bytes of each."""


class NativeCopies(ctypes.Structure):
    """Copies of scalars to a mappable buffer: a count, the buffer, then sources, offsets, bytes."""

    _fields_ = (
        ("count", ctypes.c_int64),
        ("staging", ctypes.c_void_p),
        ("parts", ctypes.c_int64 * (3 * (MOST_FETCHED + 1))),
    )


class NativeRequest(ctypes.Structure):
    """Request to read a mappable buffer, in the layout of native code."""

    _fields_ = (
        ("buffer", ctypes.c_void_p),
        ("nbytes", ctypes.c_int64),
        ("done", ctypes.c_void_p),
        ("target", ctypes.c_void_p),
    )


class NativeDispatch(ctypes.Structure):
    """One dispatch, as native code reads it."""

    _fields_ = (
        ("pipeline", ctypes.c_void_p),
        ("group", ctypes.c_void_p),
        ("x", ctypes.c_uint32),
        ("y", ctypes.c_uint32),
        ("z", ctypes.c_uint32),
        ("_", ctypes.c_uint32),
    )


@frozen_object
class NativeBatch:
    """Dispatches in native memory; ``given``: their address, their count, the cleared buffer."""

    dispatches: Any
    given: tuple[int, int, int | None]


class NativeQueue:
    """The queue of one device; to be put into by one thread at a time.

    Args:
        device: Wgpu's device.
        compile_functions: Makes native code.
        cores: Of the machine; a single one has no thread for this.

    Raises:
        AttributeError: This is another wgpu than that whose parts are known.

    """

    def __init__(self, device: Any, compile_functions: CompileFunctions, cores: int) -> None:
        from wgpu.backends.wgpu_native import _api, _ffi  # noqa: PLC0415 - see adapter

        if _ffi.lib.WGPUMapAsyncStatus_Success != MAPPED:
            raise AttributeError("WGPUMapAsyncStatus_Success")
        self._errors = _api.error_handler
        self._cast = _ffi.ffi.cast
        found = compile_functions(TEXT, FUNCTIONS, _symbols(ctypes.CDLL(_ffi.lib_path)))
        self._put, self._flush = _PUT(found["put"]), _STATE(found["flush"])
        self._finish = _STATE(found["finish"])
        self._encode, self._submit = _ENCODE(found["encode_one"]), _SUBMIT(found["submit"])
        self._fetch, self._mapped = _FETCH(found["fetch"]), _MAPPED(found["mapped"])
        self._map, self._unmap = _MAP(found["map"]), _UNMAP(found["unmap"])
        self._slots: Slots | None = None
        self._state = ctypes.create_string_buffer(STATE_BYTES)
        self._at = ctypes.addressof(self._state)
        self._head, self._done, self._failed = map(self._word, ("head", "done", "failed"))
        self._word("device").value = self._address(device)
        self._word("queue").value = self._address(device.queue)
        self._word("lock").value = _taken_lock()
        self._word("spin").value = _PATIENT if cores > 2 else _HASTY
        self._has_thread = cores > 1
        self._slot = _ErrorSlot(self._failed)
        self._kept: list[Any] = [None] * ITEMS
        """What the items of the ring refer to."""
        self._is_idle = True
        """Nothing has been submitted since somebody waited for all."""
        serve = _STATE(found["serve"])
        self._thread = threading.Thread(
            target=_serve,
            args=(serve, self._state, self._errors._get_proxy_stack, self._slot),
            name="runmat gpu queue",
            daemon=True,
        )
        self._is_started = False
        self.close: Callable[[], object] = weakref.finalize(
            self, _close, self._state, self._thread, found["flush"]
        )
        """Submit what waits, and end the thread; also called when the interpreter exits."""

    def prepare(self, dispatches: Sequence[Dispatch], cleared: Any) -> NativeBatch:
        """Lay dispatches out for native code; the caller keeps them alive as long as the result.

        ``cleared``: a buffer whose first word is cleared before them, or None.
        """
        made = (NativeDispatch * len(dispatches))(
            *(
                NativeDispatch(self._address(d.shader.pipeline), self._address(d.group), *d.groups)
                for d in dispatches
            )
        )
        address = None if cleared is None else self._address(cleared)
        return NativeBatch(made, (ctypes.addressof(made), len(made), address))

    def put(self, batch: Batch) -> str | None:
        """Submit a batch now or soon; what went wrong with this or one before, if anything did."""
        if self._failed.value:
            return self._slot.message or "it has failed before"
        given, number = batch.native.given, self._head.value
        if not self._has_thread or (self._is_idle and self._done.value == number):
            self._is_idle = False
            return self._submit_one(NativeItem(*given))
        if not self._is_started:
            self._start()
        while self._put(self._at, *given):
            self._flush(self._at, ITEMS // 2)
        self._kept[number % ITEMS] = batch
        return None

    def holds(self, uniforms: Any) -> bool:
        """True if a batch with these numbers was put, and may not be submitted yet."""
        waiting = range(self._done.value, self._head.value)
        return any(self._kept[number % ITEMS].uniforms is uniforms for number in waiting)

    def flush(self) -> str | None:
        """Return when all that was put is submitted; what went wrong, if anything did."""
        if self._done.value != self._head.value:
            self._flush(self._at, 0)
        return self._slot.message if self._failed.value else None

    def finish(self) -> str | None:
        """Return when the device has done all that was put; what went wrong, if anything did."""
        failed, _ = self._told(self._finish, 0)
        self._is_idle = True
        return (self._slot.message or failed) if self._failed.value else failed

    def fetch(
        self, batch: Batch, sources: Sequence[tuple[Any, int]], make: Callable[[int], Staging]
    ) -> tuple[str | None, bytes]:
        """Submit a batch and wait for scalars, each in a slot of :data:`SLOT` bytes.

        Args:
            batch: What is run.
            sources: Buffers, and the bytes wanted of the beginning of each.
            make: Makes a mappable buffer of some bytes.

        Returns:
            What went wrong, if anything did; the slots, in order.

        """
        failed = self.flush()
        if failed is not None:
            return failed, b""
        if self._slots is None:
            self._slots = Slots(make(SLOT * (MOST_FETCHED + 1)), self._address)
        slots = self._slots
        slots.ask([(self._address(buffer), nbytes) for buffer, nbytes in sources])
        item = NativeItem(*batch.native.given, ctypes.addressof(slots.copies))
        failed, commands = self._told(self._encode, ctypes.addressof(item))
        self._failed.value = failed is not None  # then it is not submitted
        late, found = self._told(self._fetch, commands, ctypes.addressof(slots.request))
        self._failed.value = 0
        self._is_idle = True
        if not found:
            ABANDONED.append(self._slots)
            self._slots = None
            late = late or "the device is lost: a scalar could not be read"
        return failed or late, slots.target.raw

    def map(self, staging: Staging, nbytes: int) -> str | None:
        """Begin to map a buffer; what went wrong, if anything did."""
        mode, done = 1 if staging.reads else 2, ctypes.addressof(staging.done)
        self._errors.capture("runmat")
        try:
            self._map(self._address(staging.buffer), mode, nbytes, done)
        finally:
            failed = self._errors.release("runmat")
        return None if failed is None else str(failed[1])

    def mapped(self, staging: Staging, nbytes: int) -> int:
        """Wait until a buffer is mapped; its address, or 0 where it cannot be."""
        done = ctypes.addressof(staging.done)
        return self._mapped(self._at, self._address(staging.buffer), nbytes, done) or 0

    def unmap(self, staging: Staging) -> None:
        """Give a mapped buffer back to the device."""
        self._unmap(self._address(staging.buffer))

    def waited(self) -> None:
        """All that was put is over: somebody has waited for it otherwise."""
        self._is_idle = True

    def _submit_one(self, item: NativeItem) -> str | None:
        """Submit what is not in the ring, from this thread; what went wrong, if anything did."""
        failed, commands = self._told(self._encode, ctypes.addressof(item))
        self._failed.value = failed is not None  # then it is not submitted
        late, _ = self._told(self._submit, commands)
        self._failed.value = 0  # nothing else is concerned
        if failed is not None and "lost" in failed.lower():
            self._slot.message = failed  # everything is
        return failed or late

    def _told(self, function: Callable[..., Any], *given: Any) -> tuple[str | None, Any]:
        """Error of a native function: wgpu's message, and the function's result."""
        self._errors.capture("runmat")
        try:
            found = function(self._at, *given)
        finally:
            failed = self._errors.release("runmat")
        return None if failed is None else str(failed[1]), found

    def _start(self) -> None:
        self._is_started = True
        self._thread.start()

    def _word(self, name: str) -> ctypes.c_int64:
        return ctypes.c_int64.from_buffer(self._state, OFFSETS[name])

    def _address(self, handle: Any) -> int:
        """Address of the native object behind one of wgpu-py."""
        return int(self._cast("intptr_t", handle._internal))


class Slots:
    """A mappable buffer for scalars, and the structures by which native code copies them."""

    def __init__(self, staging: Staging, address: Callable[[Any], int]) -> None:
        self.staging = staging
        self.target = ctypes.create_string_buffer(staging.nbytes)
        self.copies = NativeCopies(0, address(staging.buffer))
        self.request = NativeRequest(
            address(staging.buffer),
            0,
            ctypes.addressof(staging.done),
            ctypes.addressof(self.target),
        )

    def ask(self, sources: Sequence[tuple[int, int]]) -> None:
        """Have the beginnings of buffers copied, each to a slot of its own."""
        self.copies.count, self.request.nbytes = len(sources), SLOT * len(sources)
        parts = self.copies.parts
        for number, (buffer, nbytes) in enumerate(sources):
            parts[3 * number : 3 * number + 3] = buffer, SLOT * number, nbytes


class _ErrorSlot:
    """Slot in which wgpu-py leaves the thread's last error; native code tests it."""

    name = "runmat"
    type: str | None = None

    def __init__(self, failed: ctypes.c_int64) -> None:
        self._failed = failed
        self._message: str | None = None

    @property
    def message(self) -> str | None:
        return self._message

    @message.setter
    def message(self, text: str | None) -> None:
        self._message = text
        if text is not None:
            self._failed.value = 1


def _serve(
    serve: Callable[[int, int], None], state: Any, stack_of: Callable[[], Any], slot: _ErrorSlot
) -> None:
    stack_of().append(slot)
    serve(ctypes.addressof(state), 0)


def _close(state: Any, thread: threading.Thread, flush: int) -> None:
    address = ctypes.addressof(state)
    if not thread.is_alive():
        return
    _STATE(flush)(address, 0)
    closing, parked, lock = (
        ctypes.c_int64.from_buffer(state, OFFSETS[name]) for name in ("closing", "parked", "lock")
    )
    closing.value = 1
    while thread.is_alive():
        if parked.value:
            parked.value = 0
            _RELEASE_LOCK(lock.value)
        thread.join(0.001)


def _symbols(library: ctypes.CDLL) -> dict[str, int]:
    """Addresses of the C functions that native code calls."""
    found = {}
    for name in set(re.findall(r"declare \w+ @(\w+)\(", TEXT)):
        function = getattr(library if name.startswith("wgpu") else ctypes.pythonapi, name)
        found[name] = ctypes.cast(function, ctypes.c_void_p).value or 0
    return found


def _taken_lock() -> int:
    """Create an acquired lock on which the thread sleeps; it is never freed."""
    lock: int | None = _ALLOCATE_LOCK()
    if lock is None:
        raise MemoryError("no memory for a lock of the native queue")
    _ACQUIRE_LOCK(lock, 1)
    return lock


def _of_python(name: str, restype: Any, *argtypes: Any) -> Any:
    """A function of CPython's C API, whose types are ours alone."""
    function = ctypes.pythonapi[name]
    function.restype, function.argtypes = restype, argtypes
    return function


_ALLOCATE_LOCK = _of_python("PyThread_allocate_lock", ctypes.c_void_p)
_ACQUIRE_LOCK = _of_python("PyThread_acquire_lock", ctypes.c_int, ctypes.c_void_p, ctypes.c_int)
_RELEASE_LOCK = _of_python("PyThread_release_lock", None, ctypes.c_void_p)

# These keep the interpreter's lock: what wgpu-native calls back is Python.
_PUT = ctypes.PYFUNCTYPE(
    ctypes.c_int64,
    *(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p),
)
_ENCODE = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
_SUBMIT = ctypes.PYFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)
_MAP = ctypes.PYFUNCTYPE(None, *(ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p))
_UNMAP = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
# These let others have it: the thread may be told of an error, by Python, before they return.
_STATE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64)
_FETCH = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
_MAPPED = ctypes.CFUNCTYPE(
    ctypes.c_void_p, *(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p)
)

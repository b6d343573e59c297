"""Copies between the host's memory and a device's, through mappable buffers that are kept.

A driver takes milliseconds to make pinned memory, and its pages fault when they are first touched:
a ring of buffers is made once. While threads copy one of them, the device copies the next.
"""

from __future__ import annotations

import ctypes
import itertools
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any, Final, Protocol

import numpy as np

from runmat_jit.core.errors import BackendError
from runmat_jit.core.locks import new_lock

PIECE = 1 << 24
"""Bytes of a buffer of the ring. Drivers make larger ones a thousand times slower."""
BUFFERS = 4
"""Buffers of the ring: some are copied by the device, one by the host."""
SPACER = 256
"""Bytes of a buffer that is made before a ring, and kept. wgpu takes pinned memory from the driver
in blocks of a few pieces: were all blocks full, each small copy would make one, for 40 ms, and free
it. Behind this buffer, the pieces of a ring fill no block.
"""
SHARE = 1 << 21
"""Bytes that a thread copies at least."""
MOST_THREADS = 8
"""Threads that copy: what saturates the memory of usual machines."""
ABANDONED: Final[list[Any]] = []
"""Mappable buffers of copies that did not end. They are never freed: the driver may still report
that they are mapped, in memory of theirs, and a thread may still copy.
"""
Bytes = np.ndarray[Any, Any]


class Opened(Protocol):
    """Wgpu's device, and its queue, to which all that was put is submitted."""

    @property
    def handle(self) -> Any: ...

    @property
    def queue(self) -> Any: ...


class Mapper(Protocol):
    """Maps buffers natively (:class:`.native_queue.NativeQueue`)."""

    def map(self, staging: Any, nbytes: int) -> str | None:
        """Begin to map a buffer; what went wrong, if anything did."""

    def mapped(self, staging: Any, nbytes: int) -> int:
        """Wait until a buffer is mapped; its address, or 0 where it cannot be."""

    def unmap(self, staging: Any) -> None:
        """Give a mapped buffer back to the device."""


class Staging:
    """A mappable buffer, for contents that the host reads, or that it writes."""

    def __init__(self, device: Opened, queue: Mapper, nbytes: int, *, reads: bool) -> None:
        import wgpu  # noqa: PLC0415 - loaded by whoever made the device

        flags = wgpu.BufferUsage
        usage = flags.MAP_READ | flags.COPY_DST if reads else flags.MAP_WRITE | flags.COPY_SRC
        self.buffer: Any = device.handle.create_buffer(size=nbytes, usage=usage)
        self.nbytes, self.reads = nbytes, reads
        self.done = ctypes.c_int64()
        self._queue = queue

    def begin(self, nbytes: int) -> None:
        """Have the first bytes mapped once the device has done what was submitted."""
        failed = self._queue.map(self, nbytes)
        if failed is not None:
            raise BackendError(failed)

    def content(self, nbytes: int) -> Bytes:
        """Return the mapped bytes; they may be used until :meth:`end`.

        Raises:
            BackendError: The device is lost.

        """
        address = self._queue.mapped(self, nbytes)
        if not address:
            raise BackendError("the device is lost: its memory could not be mapped")
        return np.ctypeslib.as_array((ctypes.c_uint8 * nbytes).from_address(address))

    def end(self) -> None:
        """Give the mapped bytes back to the device."""
        self._queue.unmap(self)


class Transfers:
    """Copies of whole words between arrays of bytes and buffers of one device."""

    def __init__(self, device: Opened, queue: Mapper) -> None:
        self._device, self._queue = device, queue
        self._rings: dict[bool, list[Staging]] = {}
        self._spacers: dict[bool, Staging] = {}
        self._threads: ThreadPoolExecutor | None = None
        self._lock = new_lock()

    def download(self, source: Any, into: Bytes) -> None:
        """Copy the first bytes of a buffer, after everything submitted so far."""
        self._with_ring(lambda ring: self._download(ring, source, into), reads=True)

    def upload(self, content: Bytes, target: Any) -> None:
        """Copy bytes to the beginning of a buffer; the last word is filled with zeros."""
        self._with_ring(lambda ring: self._upload(ring, content, target), reads=False)

    def close(self) -> None:
        """Give all buffers back."""
        with self._lock:
            rings, self._rings = [*self._rings.values(), self._spacers.values()], {}
            self._spacers = {}
        for staging in itertools.chain(*rings):
            staging.buffer.destroy()

    def _with_ring(self, copy: Callable[[list[Staging]], None], *, reads: bool) -> None:
        """Copy through a ring, which is abandoned if the copy is interrupted or fails."""
        with self._lock:
            ring = self._rings.pop(reads, [])
            try:
                copy(ring)
            except BaseException:
                ABANDONED.append(ring)
                raise
            self._rings[reads] = ring

    def _staging(self, ring: list[Staging], number: int, *, reads: bool) -> Staging:
        if not ring and reads not in self._spacers:
            self._spacers[reads] = Staging(self._device, self._queue, SPACER, reads=reads)
        while len(ring) <= number % BUFFERS:
            ring.append(Staging(self._device, self._queue, PIECE, reads=reads))
        return ring[number % BUFFERS]

    def _download(self, ring: list[Staging], source: Any, into: Bytes) -> None:
        starts = range(0, into.size, PIECE)
        begun = 0
        for number, start in enumerate(starts):
            while begun < min(number + BUFFERS, len(starts)):
                self._begin(self._staging(ring, begun, reads=True), source, starts[begun], into)
                begun += 1
            staging, part = ring[number % BUFFERS], into[start : start + PIECE]
            self._copy(staging.content(words(part.size))[: part.size], part)
            staging.end()

    def _begin(self, staging: Staging, source: Any, start: int, into: Bytes) -> None:
        nbytes = words(min(PIECE, into.size - start))
        self._submit(source, start, staging.buffer, 0, nbytes)
        staging.begin(nbytes)

    def _upload(self, ring: list[Staging], content: Bytes, target: Any) -> None:
        for number, start in enumerate(range(0, content.size, PIECE)):
            staging, part = (
                self._staging(ring, number, reads=False),
                content[start : start + PIECE],
            )
            nbytes = words(part.size)
            staging.begin(nbytes)
            mapped = staging.content(nbytes)
            self._copy(part, mapped[: part.size])
            mapped[part.size :] = 0
            staging.end()
            self._submit(staging.buffer, 0, target, start, nbytes)

    def _submit(self, source: Any, start: int, target: Any, offset: int, nbytes: int) -> None:
        encoder = self._device.handle.create_command_encoder()
        encoder.copy_buffer_to_buffer(source, start, target, offset, nbytes)
        self._device.queue.submit([encoder.finish()])

    def _copy(self, source: Bytes, target: Bytes) -> None:
        """Copy bytes, by several threads where they are many."""
        count = min(MOST_THREADS, os.cpu_count() or 1, source.size // SHARE)
        if count < 2:
            np.copyto(target, source)
            return
        if self._threads is None:
            self._threads = ThreadPoolExecutor(MOST_THREADS, "runmat transfer")
        share = words(-(-source.size // count))
        parts = [slice(at, at + share) for at in range(0, source.size, share)]
        try:
            copies = [self._threads.submit(np.copyto, target[part], source[part]) for part in parts]
        except RuntimeError:  # no thread can be started: there are too many, or Python ends
            self._threads.shutdown(cancel_futures=True)  # copies that wait would come too late
            self._threads = None
            np.copyto(target, source)
            return
        try:
            for each in copies:
                each.result()
        finally:
            wait(copies)


def words(nbytes: int) -> int:
    """Return bytes of whole words, of which transfers are."""
    return -(-nbytes // 4) * 4

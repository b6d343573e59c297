"""Device memory: buffers padded to whole vectors, kept for reuse, and copies from and to NumPy."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import field
from typing import Any

import numpy as np

from runmat_jit.backends.wgpu.adapter import ALIGNMENT, Device, errors_of
from runmat_jit.backends.wgpu.staging import Transfers
from runmat_jit.core.errors import BackendError
from runmat_jit.core.frozen import frozen_object
from runmat_jit.core.locks import new_lock
from runmat_jit.core.slotted import slotted
from runmat_jit.core.types import is_complex, part_dtype

_TRANSFER = 1 << 24
"""Bytes that wgpu copies at once, where no ring does: what the driver stages stays small."""
_RING_BYTES = 1 << 20
"""Bytes from which uploads go through the ring."""


_MOST_PASSED_BY = 256
"""Allocations after which a buffer that none of them took is given back, if much is kept."""


@frozen_object
class DeviceArray:
    """Elements on a device; index 0 of a kernel's buffer is element ``origin``.

    ``size`` elements of ``dtype`` stand at the beginning of ``buffer``, which is longer. ``key`` is
    equal where kernels are bound to the same memory.
    """

    buffer: Any
    dtype: np.dtype[Any]
    size: int
    origin: int = 0
    key: tuple[int, int, int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.key = id(self.buffer), self.origin, self.size  # type: ignore[misc]  # it is new

    @property
    def nbytes(self) -> int:
        return self.size * self.dtype.itemsize

    def in_parts(self) -> DeviceArray:
        """The same as kernels see it: complex numbers are two real ones beside each other."""
        if not is_complex(self.dtype):
            return self
        return DeviceArray(self.buffer, part_dtype(self.dtype), 2 * self.size, 2 * self.origin)


@slotted
class _Block:
    """A buffer, its number, and the latest array of it.

    ``freed``: how many allocations there had been when it was last given back.
    """

    array: DeviceArray
    number: int
    nbytes: int
    freed: int = 0


class DeviceMemory:
    """Buffers of one device; freed ones are kept, since a driver takes its time to make large ones.

    Callers return the memory that they take. It is referenced from here, too: otherwise a buffer in
    a reference cycle would be released by its own finalizer and returned by its owner's.

    ``used_nbytes`` are handed out, ``kept_nbytes`` are free. Kept is what was freed last: no more
    than was ever in use at once, and nothing that many allocations have passed by.

    Args:
        device: Where the memory is.
        keep_nbytes: What is kept at least, if so much was freed.

    """

    def __init__(self, device: Device, keep_nbytes: int = 1 << 26) -> None:
        self.device = device
        self.keep_nbytes = keep_nbytes
        self.kept_nbytes = self.used_nbytes = self.most_nbytes = 0
        self._free: dict[int, deque[_Block]] = {}
        self._handed_out: dict[int, _Block] = {}
        """By the identity of their buffers; blocks are numbered as they are made."""
        self._made = itertools.count()
        self._discarded: deque[DeviceArray] = deque()
        self._allocations = 0
        self._lock = new_lock()
        self._transfers: Transfers | None = None

    @property
    def transfers(self) -> Transfers | None:
        """The ring of mappable buffers; None where nothing is submitted natively."""
        if self._transfers is None and self.device.native is not None:
            self._transfers = Transfers(self.device, self.device.native)
        return self._transfers

    def empty(self, size: int, dtype: np.dtype[Any], origin: int = 0) -> DeviceArray:
        """Memory for ``size`` elements, with any contents.

        Raises:
            BackendError: The device has no buffers of that size.

        """
        nbytes = padded(size * dtype.itemsize)
        given_up: Sequence[Any] = ()
        with self._lock:
            while self._discarded:
                self._take_back(self._discarded.popleft())
            self._allocations += 1
            self.used_nbytes += nbytes
            self.most_nbytes = max(self.most_nbytes, self.used_nbytes)
            block = self._taken(nbytes)
            if self.kept_nbytes > self.keep_nbytes:
                given_up = self._given_up()
        if given_up:
            self._destroy(given_up)
        if block is None:
            try:
                made = self._create_or_make_room(nbytes)
            except BackendError:
                with self._lock:
                    self.used_nbytes -= nbytes
                raise
            block = _Block(DeviceArray(made, dtype, size, origin), next(self._made), nbytes)
        array = block.array
        if array.dtype is not dtype or array.size != size or array.origin != origin:
            block.array = array = DeviceArray(array.buffer, dtype, size, origin)
        self._handed_out[id(array.buffer)] = block
        return array

    def upload(self, array: np.ndarray[Any, Any]) -> DeviceArray:
        """A copy of an array's memory, from its lowest to its highest element.

        The origin is the array's first element, so that a kernel's strides hold on the device.
        """
        flat, origin = memory_of(array)
        found = self.empty(flat.size, array.dtype, origin)
        try:
            self.write(found, flat)
        except BackendError:
            self.free((found,))
            raise
        return found

    def write(self, target: DeviceArray, flat: np.ndarray[Any, Any]) -> None:
        """Copy contiguous elements to the beginning of device memory."""
        content = np.ascontiguousarray(flat).reshape(-1).view(np.uint8)
        self.device.count("bytes_uploaded", content.size)
        whole, transfers = content.size // 4 * 4, self.transfers
        with errors_of(self.device.info):
            if transfers is not None and content.size >= _RING_BYTES:
                transfers.upload(content, target.buffer)
                return
            for start in range(0, whole, _TRANSFER):
                part = content[start : min(start + _TRANSFER, whole)]
                self.device.queue.write_buffer(target.buffer, start, part)
            if whole < content.size:  # transfers are of whole words
                rest = content[whole:].tobytes().ljust(4, b"\0")
                self.device.queue.write_buffer(target.buffer, whole, rest)

    def download(
        self, source: DeviceArray, into: np.ndarray[Any, Any] | None = None
    ) -> np.ndarray[Any, Any]:
        """The elements, after everything submitted so far, in a fresh array or a given one."""
        found = np.empty(source.size, source.dtype) if into is None else into
        content = found.view(np.uint8)
        self.device.count("bytes_downloaded", source.nbytes)
        transfers = self.transfers
        with errors_of(self.device.info):
            if transfers is not None and source.nbytes:
                transfers.download(source.buffer, content.reshape(-1)[: source.nbytes])
                self.device.waited()
                return found
            for start in range(0, source.nbytes, _TRANSFER):
                count = min(_TRANSFER, source.nbytes - start)
                words = -(-count // 4) * 4
                read = self.device.queue.read_buffer(source.buffer, start, words)
                content[start : start + count] = np.frombuffer(read, np.uint8)[:count]
        self.device.waited()
        return found

    def duplicate(self, source: DeviceArray) -> DeviceArray:
        """A copy of device memory, made there after everything submitted so far."""
        made = self.empty(source.size, source.dtype, source.origin)
        try:
            self._copy(source, made, 0, made.buffer.size)
        except BackendError:
            self.free((made,))
            raise
        return made

    def copy(self, source: DeviceArray, target: DeviceArray, offset: int) -> None:
        """Copy all elements to a byte offset of another array; both are multiples of 4 bytes."""
        self._copy(source, target, offset, source.nbytes)

    def _copy(self, source: DeviceArray, target: DeviceArray, offset: int, nbytes: int) -> None:
        with errors_of(self.device.info):
            encoder = self.device.handle.create_command_encoder()
            encoder.copy_buffer_to_buffer(source.buffer, 0, target.buffer, offset, nbytes)
            self.device.queue.submit([encoder.finish()])

    def discard(self, array: DeviceArray) -> None:
        """Like ``free``, at the next allocation: finalizers, which run anywhere, take no lock."""
        self._discarded.append(array)

    def collect(self) -> None:
        """Free what was discarded."""
        with self._lock:
            discarded = [self._discarded.popleft() for _ in range(len(self._discarded))]
        self.free(discarded)

    def free(self, arrays: Iterable[DeviceArray]) -> None:
        """Take buffers back; nobody may use the arrays any more."""
        for array in arrays:
            with self._lock:
                self._take_back(array)
                given_up = self._given_up()
            self._destroy(given_up)

    def _take_back(self, array: DeviceArray) -> None:
        """Return a buffer to the pool; the caller has the lock."""
        block = self._handed_out.pop(id(array.buffer))
        block.freed, nbytes = self._allocations, block.nbytes
        self.used_nbytes -= nbytes
        self.kept_nbytes += nbytes
        stock = self._free.get(nbytes)
        if stock is None:
            self._free[nbytes] = stock = deque()
        stock.append(block)

    def clear(self) -> None:
        """Give all kept buffers back to the driver."""
        with self._lock:
            buffers = [kept.array.buffer for stock in self._free.values() for kept in stock]
            self._free.clear()
            self.kept_nbytes = 0
            self.most_nbytes = self.used_nbytes
        self._destroy(buffers)
        if self._transfers is not None:
            self._transfers.close()

    def _destroy(self, buffers: Sequence[Any]) -> None:
        """Give buffers back to the driver; what refers to them has been submitted."""
        if buffers:
            self.device.flush()
        for buffer in buffers:
            buffer.destroy()

    def _taken(self, nbytes: int) -> _Block | None:
        """Take the oldest buffer of a size from the pool; the caller has the lock.

        Calls that are alike get the same ones, which are bound already.
        """
        stock = self._free.get(nbytes)
        if not stock:
            return None
        self.kept_nbytes -= nbytes
        if len(stock) == 1:
            return self._free.pop(nbytes).pop()
        found = min(stock, key=_number)
        stock.remove(found)
        return found

    def _given_up(self) -> list[Any]:
        """Take buffers beyond the limit or the age from the pool; the caller has the lock."""
        if self.kept_nbytes <= self.keep_nbytes:
            return []
        most = max(self.keep_nbytes, self.most_nbytes - self.used_nbytes)
        old = self._allocations - _MOST_PASSED_BY
        found = []
        while self._free:
            nbytes = min(self._free, key=lambda size: self._free[size][0].freed)
            stock = self._free[nbytes]
            if self.kept_nbytes <= most and stock[0].freed >= old:
                break
            found.append(stock.popleft().array.buffer)
            self.kept_nbytes -= nbytes
            if not stock:
                del self._free[nbytes]
            if self.kept_nbytes <= self.keep_nbytes:
                break
        return found

    def _create_or_make_room(self, nbytes: int) -> Any:
        """Create a buffer; if the device is out of memory, release the pool and try again."""
        try:
            return self._create(nbytes)
        except BackendError:
            if not self.kept_nbytes:
                raise
            self.clear()
            return self._create(nbytes)

    def _create(self, nbytes: int) -> Any:
        import wgpu  # noqa: PLC0415 - loaded by whoever made the device

        most = self.device.info.limits["max-buffer-size"]
        if nbytes > most:
            raise BackendError(
                f"{self.device.info} has no buffers of {nbytes} bytes (at most {most})"
            )
        usage = wgpu.BufferUsage.STORAGE | wgpu.BufferUsage.COPY_SRC | wgpu.BufferUsage.COPY_DST
        with errors_of(self.device.info):
            return self.device.handle.create_buffer(size=nbytes, usage=usage)


def _number(block: _Block) -> int:
    return block.number


def padded(nbytes: int) -> int:
    """Bytes of the buffer for this many: whole vectors may be read and written at its end."""
    return max(-(-nbytes // ALIGNMENT), 1) * ALIGNMENT


def memory_of(array: np.ndarray[Any, Any]) -> tuple[np.ndarray[Any, Any], int]:
    """All elements between the lowest and the highest of an array, and the number of the first."""
    if array.size == 0:
        return np.empty(0, array.dtype), 0
    reaches = [
        stride // array.itemsize * (extent - 1)
        for stride, extent in zip(array.strides, array.shape, strict=True)
    ]
    low, high = sum(r for r in reaches if r < 0), sum(r for r in reaches if r > 0)
    corner = array[tuple(slice(None, None, -1 if r < 0 else 1) for r in reaches)]
    flat = np.lib.stride_tricks.as_strided(corner, (high - low + 1,), (array.itemsize,))
    return flat, -low

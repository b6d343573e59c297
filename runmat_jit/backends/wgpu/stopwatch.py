"""Time that a device takes for its dispatches, by its own clock."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from runmat_jit.backends.wgpu.adapter import errors_of
from runmat_jit.core.errors import BackendError

if TYPE_CHECKING:
    from runmat_jit.backends.wgpu.adapter import Device

_FEATURE = "timestamp-query"


class Stopwatch:
    """Times one submission; ``us`` waits for it."""

    def __init__(self, device: Device) -> None:
        import wgpu  # noqa: PLC0415 - loaded by whoever made the device

        self.device, self.is_used = device, False
        self._us: float | None = None
        with errors_of(device.info):
            self._queries = device.handle.create_query_set(type="timestamp", count=2)
            self._stamps = device.handle.create_buffer(
                size=16, usage=wgpu.BufferUsage.QUERY_RESOLVE | wgpu.BufferUsage.COPY_SRC
            )

    @property
    def writes(self) -> dict[str, Any]:
        """Descriptor that makes a compute pass write timestamps at its begin and end."""
        return {
            "query_set": self._queries,
            "beginning_of_pass_write_index": 0,
            "end_of_pass_write_index": 1,
        }

    def resolve(self, encoder: Any) -> None:
        """Have both copied to where they can be read; after the pass."""
        encoder.resolve_query_set(self._queries, 0, 2, self._stamps, 0)
        self.is_used = True

    @property
    def us(self) -> float | None:
        """Microseconds of the pass; None if there was none, or its timestamps are not ordered.

        Raises:
            BackendError: The device is lost.

        """
        if self._us is None and self.is_used:
            with errors_of(self.device.info):
                stamps = np.frombuffer(self.device.queue.read_buffer(self._stamps), np.uint64)
            self.device.waited()
            ticks = int(stamps[1]) - int(stamps[0])
            self._us = max(ticks, 0) * _ns_of_a_tick(self.device) / 1e3
        return self._us or None


def stopwatch_of(device: Device) -> Stopwatch | None:
    """A new one; None where the device has no clock, or is lost."""
    if device.lost or _FEATURE not in device.info.features:
        return None
    try:
        return Stopwatch(device)
    except BackendError:  # the run will tell
        return None


def _ns_of_a_tick(device: Device) -> float:
    """Nanoseconds of a tick of the clock; 1, as on most devices, if wgpu-py does not know."""
    try:
        from wgpu.backends.wgpu_native import _api  # noqa: PLC0415 - see above

        return float(_api.libf.wgpuQueueGetTimestampPeriod(device.queue._internal)) or 1.0
    except (ImportError, AttributeError):
        return 1.0

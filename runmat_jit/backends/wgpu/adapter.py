"""Adapters of this machine, and devices made from them with every limit and feature we use.

``wgpu`` is imported on first use: a program that never asks for a GPU does not load it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from runmat_jit.backends.wgpu.native_queue import CompileFunctions, NativeQueue
from runmat_jit.backends.wgpu.schedule import Limits
from runmat_jit.core.errors import BackendError
from runmat_jit.core.frozen import frozen
from runmat_jit.plan.profile import TUNING

_WANTED_LIMITS = (
    "max-buffer-size",
    "max-storage-buffer-binding-size",
    "max-storage-buffers-per-shader-stage",
    "max-compute-workgroup-storage-size",
    "max-compute-invocations-per-workgroup",
    "max-compute-workgroup-size-x",
)
_WANTED_FEATURES = ("shader-f64", "shader-int64", "subgroup", "timestamp-query")
_PREFERRED_BACKENDS = ("Vulkan", "Metal", "D3D12")
ALIGNMENT = 256
"""Bytes to which bindings are aligned everywhere; devices may allow less, never ask for more."""


class DeviceLost(BackendError):  # noqa: N818 - the name that WebGPU gives this event
    """The device is lost, with the contents of its buffers; another one must be created."""


@frozen
class AdapterInfo:
    """Description of an adapter, as it reports it; a ``software`` adapter computes on the CPU."""

    name: str
    vendor: str
    driver: str
    backend: str
    software: bool
    features: frozenset[str]
    limits: Mapping[str, int]

    @property
    def key(self) -> str:
        """Cache key of the adapter and its driver's version."""
        return f"{self.vendor}; {self.name}; {self.driver}; {self.backend}"

    @property
    def kinds(self) -> frozenset[str]:
        """Types of 64 bits that its shaders have; float64 needs integers as wide."""
        wide = {"i64"} if "shader-int64" in self.features else set()
        return frozenset(wide | ({"f64"} if wide and "shader-f64" in self.features else set()))

    def __str__(self) -> str:
        return f"{self.name} ({self.backend}{', software' if self.software else ''})"


@frozen
class Adapter:
    """An adapter: its description, and wgpu's object."""

    info: AdapterInfo
    handle: Any


def adapters() -> tuple[Adapter, ...]:
    """Adapters that can run kernels, real GPUs first.

    Empty where wgpu is missing or finds no driver. The older interfaces (OpenGL) are left out: the
    same hardware is listed under a newer one, or lacks what kernels need.
    """
    try:
        import wgpu  # noqa: PLC0415 - only who asks for a GPU loads it
    except (ImportError, OSError, RuntimeError):  # not installed, or its library does not load
        return ()
    found = [Adapter(describe(handle), handle) for handle in wgpu.gpu.enumerate_adapters_sync()]
    usable = [a for a in found if a.info.backend in _PREFERRED_BACKENDS]
    return tuple(sorted(usable, key=lambda adapter: adapter.info.software))


def describe(handle: Any) -> AdapterInfo:
    """The description of wgpu's adapter object."""
    info = handle.info
    return AdapterInfo(
        name=str(info["device"]),
        vendor=str(info["vendor"] or info["vendor_id"]),
        driver=str(info["description"]),
        backend=str(info["backend_type"]),
        software=info["adapter_type"] == "CPU",
        features=frozenset(handle.features),
        limits={name: int(handle.limits[name]) for name in _WANTED_LIMITS},
    )


def _count_nothing(_event: str, _amount: int) -> None:
    """Count nothing: the default of :class:`Device`."""


class Device:
    """A device with all limits of its adapter, and the features that kernels may use.

    ``count`` is called for pipelines, bind groups and submissions. ``lost`` is set by the caller
    that got :class:`DeviceLost`: the device is unusable from then on.
    """

    def __init__(self, adapter: Adapter) -> None:
        self.info = adapter.info
        self.count: Callable[[str, int], None] = _count_nothing
        self.lost = False
        self.native: NativeQueue | None = None
        """What encodes and submits dispatches natively; None: wgpu-py does."""
        self.tuning = TUNING
        """What schedules go by beside the limits."""
        self._left_behind = False
        with errors_of(adapter.info):
            self._handle: Any = adapter.handle.request_device_sync(
                required_features=[f for f in _WANTED_FEATURES if f in adapter.info.features],
                required_limits=dict(adapter.info.limits),
            )

    @property
    def handle(self) -> Any:
        """Wgpu's device.

        Raises:
            DeviceLost: This is a child of the process that opened it.

        """
        if self._left_behind:
            raise DeviceLost(f"{self.info} was lost: a forked process cannot use its parent's")
        return self._handle

    def submit_by(self, compile_functions: CompileFunctions, cores: int) -> None:
        """Have native code submit dispatches, where this is the wgpu-py whose parts are known."""
        with suppress(ImportError, AttributeError):
            self.native = NativeQueue(self.handle, compile_functions, cores)

    def leave_behind(self) -> None:
        """In a forked child, where the driver's threads do not exist: never call it again."""
        self.lost = self._left_behind = True

    @property
    def queue(self) -> Any:
        """Wgpu's queue, to which all that was put into the native one is submitted.

        Raises:
            BackendError: That has failed.

        """
        handle = self.handle
        failed = None if self.native is None else self.native.flush()
        if failed is not None:
            raise error_of(self.info, failed)
        return handle.queue

    @property
    def limits(self) -> Limits:
        """Limits that schedules depend on."""
        limits = self.info.limits
        threads = min(
            limits["max-compute-invocations-per-workgroup"], limits["max-compute-workgroup-size-x"]
        )
        shared = limits["max-compute-workgroup-storage-size"]
        return Limits(threads, shared, self.info.software, self.tuning)

    @property
    def largest_binding(self) -> int:
        """Bytes of a buffer that one launch can see, a multiple of ``ALIGNMENT``."""
        limits = self.info.limits
        most = min(limits["max-storage-buffer-binding-size"], limits["max-buffer-size"])
        return most // ALIGNMENT * ALIGNMENT

    def wait(self) -> None:
        """Return when everything submitted so far is done.

        Raises:
            BackendError: Something has failed.

        """
        handle, native = self.handle, self.native
        if native is None:
            with errors_of(self.info):
                handle._poll_wait()  # the queue's own call fails in wgpu-py 0.32
            return
        failed = native.finish()
        if failed is not None:
            raise error_of(self.info, failed)

    def waited(self) -> None:
        """Somebody has waited for everything submitted so far."""
        if self.native is not None:
            self.native.waited()

    def flush(self) -> None:
        """Return when nothing waits to be submitted, whatever has come of it."""
        if self.native is not None:
            self.native.flush()

    def close(self) -> None:
        """Give the device back; using it later raises ``DeviceLost``."""
        if self.native is not None:
            self.native.close()
        self.handle.destroy()


@contextmanager
def errors_of(info: AdapterInfo) -> Iterator[None]:
    """Raise wgpu's errors as our own.

    Raises:
        DeviceLost: The device is gone.
        BackendError: Anything else went wrong in the driver.

    """
    import wgpu  # noqa: PLC0415 - loaded by whoever made the adapter

    try:
        yield
    except (wgpu.GPUError, RuntimeError) as error:
        if isinstance(error, BackendError):
            raise
        raise error_of(info, str(error)) from error


def error_of(info: AdapterInfo, text: str) -> BackendError:
    """The error of our own for what wgpu says went wrong."""
    kind = DeviceLost if "lost" in text.lower() or "destroyed" in text.lower() else BackendError
    return kind(f"{info}: {text}")

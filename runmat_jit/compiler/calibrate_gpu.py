"""Measures the profile of an adapter: transfers, small kernels, and what it takes to wait."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from runmat_jit.backends.wgpu.memory import DeviceArray
from runmat_jit.backends.wgpu.run import KernelRun, WgpuRunner
from runmat_jit.compiler.samples import Sample, rate_samples, stream
from runmat_jit.compiler.timed_sample import LEAST_SHARE, filled, least_us, rate_of
from runmat_jit.kernel.ir import Buffer
from runmat_jit.plan.profile import GPU, MEMORY, Bandwidth, Link, Products, Profile

if TYPE_CHECKING:
    from runmat_jit.runtime.gpu import Gpu

_SERVER = 0.01
"""Of the shipped rates: what others' instructions take at most in a sample, before it is known."""
Tell = Callable[[str], None]
"""Is told what is measured next."""


def measure_gpu(gpu: Gpu, tell: Tell = lambda _what: None, *, elements: int = 1 << 25) -> Profile:
    """The profile of an opened adapter; what it cost to open is taken from the shipped one.

    Args:
        gpu: The adapter.
        tell: Is told what is measured next.
        elements: Of float32, in the largest array.

    Raises:
        BackendError: the device is lost, or has no room.

    """
    with gpu.lock:
        tell("transfers")
        link = _link(gpu, elements // 4)
        tell("memory")
        small, large = (_streamed(gpu, size) for size in (elements // 32, elements))
        tell("instructions")
        rates = _device_rates(gpu, elements // 8)
        launch_us = _device_launch_us(gpu)
    near = max(small, large)
    tiers = (Bandwidth(elements // 4, near, near), Bandwidth(MEMORY, large, large))
    speed = 1.0 / rates["arithmetic4"]
    products = tuple(
        Products(
            each.up_to,
            each.single * speed * GPU.rates["arithmetic4"],
            each.double * speed * GPU.rates["arithmetic4"],
        )
        for each in GPU.products
    )
    made = Profile(str(gpu.info), 1, tiers, rates, products, launch_us, 0.0, link, measured=True)
    gpu.backend.memory.collect()
    return made


class _OnDevice:
    """A sample on a device, submitted several times in a batch."""

    def __init__(self, gpu: Gpu, sample: Sample, size: int) -> None:
        self.gpu, self.size = gpu, size
        self.runner = WgpuRunner(gpu.backend)
        memory, kernel = gpu.backend.memory, sample.kernel
        buffers = [p for p in kernel.parameters if isinstance(p, Buffer)]
        self.arrays: dict[str, DeviceArray] = {
            p.name: memory.upload(filled(p, size)) for p in buffers
        }
        self.run = KernelRun(kernel, {**self.arrays, "n": size}, (0, size))

    def us(self, times: int) -> float:
        """Least time of a run: the difference between many and one, in one submission each."""
        one, many = (self.runner.prepare([self.run] * number) for number in (1, times + 1))

        def timed(batch: Any) -> float:
            def once() -> None:
                self.runner.submit(batch)
                self.gpu.backend.device.wait()

            return least_us(once, window_ms=30.0)

        return max(timed(many) - timed(one), 0.01) / times

    def close(self) -> None:
        """Give its memory back."""
        self.gpu.backend.memory.free(self.arrays.values())


def _on_device(gpu: Gpu, sample: Sample, size: int, times: int) -> float:
    made = _OnDevice(gpu, sample, size)
    try:
        return made.us(times)
    finally:
        made.close()


def _streamed(gpu: Gpu, size: int) -> float:
    """Bytes that a device reads and writes in a microsecond."""
    return 8.0 * size / _on_device(gpu, stream("f32"), size, 8)


def _device_launch_us(gpu: Gpu) -> float:
    """What a kernel over next to nothing takes beside others."""
    return max(_on_device(gpu, stream("f32"), 64, 32), 0.5)


def _device_rates(gpu: Gpu, size: int) -> Mapping[str, float]:
    """Of the classes that tell devices apart; the others keep their relation to these."""
    rates = {name: rate * _SERVER for name, rate in GPU.rates.items()}
    bare = _on_device(gpu, stream("f32"), size, 4)
    for sample in rate_samples():
        if gpu.backend.unsupported(sample.kernel) is None:
            us = _on_device(gpu, sample, size, 4) - bare
            rate = rate_of(sample, size, max(us, LEAST_SHARE * bare), rates)
            rates.update(dict.fromkeys(sample.names, rate))
    faster = rates["arithmetic4"] / GPU.rates["arithmetic4"]
    return rates | {"scalar8": GPU.rates["scalar8"] * faster}


def _link(gpu: Gpu, size: int) -> Link:
    """Transfers of so many float32, and what it takes to submit and to wait."""
    shipped = GPU.link
    assert shipped is not None, "cards have a bus"
    memory, runner = gpu.backend.memory, WgpuRunner(gpu.backend)
    host = np.ones(size, np.float32)
    held: list[DeviceArray] = []

    def up(array: np.ndarray) -> None:
        held.append(memory.upload(array))
        gpu.backend.device.wait()
        memory.free([held.pop()])

    few, there = host[:64], memory.upload(host)
    little = memory.upload(few)
    download_us = least_us(lambda: memory.download(little))
    download = least_us(lambda: memory.download(there), window_ms=30.0) - download_us
    upload_us = least_us(partial(up, few))
    upload = least_us(partial(up, host), window_ms=30.0) - upload_us
    tiny = _OnDevice(gpu, stream("f32"), 64)
    batch = runner.prepare([tiny.run])
    submitted = least_us(lambda: runner.submit(batch), window_ms=20.0)
    gpu.backend.device.wait()

    def waited() -> None:
        runner.submit(batch)
        gpu.backend.device.wait()

    waiting = max(least_us(waited, window_ms=30.0) - submitted, 1.0)
    memory.free([there, little])
    tiny.close()
    return replace(
        shipped,
        upload=host.nbytes / max(upload, 1.0),
        download=host.nbytes / max(download, 1.0),
        upload_us=upload_us,
        download_us=download_us,
        submission_us=submitted,
        waiting_us=waiting,
    )

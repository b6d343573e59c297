"""Measures the profile of an adapter: transfers, small kernels, and what it takes to wait."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from runmat_jit.backends.wgpu.memory import DeviceArray
from runmat_jit.backends.wgpu.run import KernelRun, WgpuRunner
from runmat_jit.backends.wgpu.schedule import (
    Schedule,
    Tile,
    contract_of,
    fitting_tiles,
)
from runmat_jit.compiler.samples import (
    ELEMENTS,
    Sample,
    column_sums,
    product,
    rate_samples,
    stream,
)
from runmat_jit.compiler.timed_sample import LEAST_SHARE, filled, least_us, rate_of
from runmat_jit.kernel.ir import Buffer, Kernel
from runmat_jit.passes.fusion.reduction_shape import COLUMN_CELL
from runmat_jit.plan.profile import (
    GPU,
    MEMORY,
    TUNING,
    Bandwidth,
    Link,
    Pace,
    Products,
    Profile,
    Tuning,
)

if TYPE_CHECKING:
    from runmat_jit.runtime.gpu import Gpu

_TERMS = 1024
"""Of the products by which tiles are compared."""
_SHARE = 240
"""Such a product has 24 tiles below each other: some for each processor of a large GPU."""
_LANES, _COLUMNS = 4, 1024
"""Columns that a thread adds, and all of them."""
_WARMING_MS, _WINDOW_MS = 150.0, 10.0
"""In which a GPU gets going, and in which a sample is timed."""
_BUSY = 0.9
"""Of the bandwidth, that columns have to reach: more is lost by storing parts of them."""
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
        link = _link(gpu, elements // 8)
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
    with gpu.lock:
        tell("schedules")
        tuning = _tuning(gpu, large, elements)
    made = Profile(
        str(gpu.info), 1, tiers, rates, products, launch_us, 0.0, link, tuning, measured=True
    )
    gpu.backend.memory.collect()
    return made


class _OnDevice:
    """A kernel on a device, bound to be submitted once and some ``times`` more in a batch.

    ``arguments`` are numbers, and arrays on the device, by parameter.
    """

    def __init__(
        self,
        gpu: Gpu,
        kernel: Kernel,
        arguments: Mapping[str, DeviceArray | int],
        times: int,
        schedule: Schedule | None = None,
    ) -> None:
        self.gpu, self.runner, self.times = gpu, WgpuRunner(gpu.backend), times
        cells = arguments.get("n", 1)
        assert isinstance(cells, int), "a number"
        run = KernelRun(kernel, arguments, (0, cells), schedule)
        self.one, self.many = (self.runner.prepare([run] * number) for number in (1, times + 1))

    def us(self, *, window_ms: float = _WINDOW_MS) -> float:
        """Least time of a run: the difference between many and one, in one submission each."""

        def timed(batch: Any) -> float:
            def once() -> None:
                self.runner.submit(batch)
                self.gpu.backend.device.wait()

            return least_us(once, window_ms=window_ms)

        return max(timed(self.many) - timed(self.one), 0.01) / self.times


@contextmanager
def _sample_on_device(gpu: Gpu, sample: Sample, size: int, times: int) -> Iterator[_OnDevice]:
    memory = gpu.backend.memory
    buffers = [p for p in sample.kernel.parameters if isinstance(p, Buffer)]
    arrays = {
        p.name: memory.empty(size, np.dtype(ELEMENTS[p.element]))
        if p.written
        else memory.upload(filled(p, size))
        for p in buffers
    }
    try:
        yield _OnDevice(gpu, sample.kernel, {**arrays, "n": size}, times)
    finally:
        memory.free(arrays.values())


def _on_device(gpu: Gpu, sample: Sample, size: int, times: int) -> float:
    with _sample_on_device(gpu, sample, size, times) as made:
        return made.us()


def _tuning(gpu: Gpu, bandwidth: float, elements: int) -> Tuning:
    """The pace of each tile of products, and the threads with which columns are added fast.

    All is compiled before anything is timed: a GPU that has waited for that is slow at first.

    Args:
        gpu: The adapter.
        bandwidth: Bytes a microsecond that the device moves.
        elements: Of the arrays that are read and written, where products need no more.

    """
    kernel = product("f32")
    contract = contract_of(kernel.body[-1])
    assert contract is not None, "the sample is a product"
    tiles = fitting_tiles(contract, _LANES, gpu.backend.device.limits)
    side = max(1, math.isqrt(elements) // _SHARE)
    cells = max(1, elements // COLUMN_CELL // _COLUMNS)
    added = cells * COLUMN_CELL * _COLUMNS
    largest = max(tile.rows * tile.columns for tile in tiles) * side**2
    size = max(added, largest, (tiles[0].rows + tiles[0].columns) * side * _TERMS)
    memory, kind = gpu.backend.memory, np.dtype(np.float32)
    arrays = [memory.empty(size, kind) for _ in range(2)]
    try:
        named = dict(zip("xy", arrays, strict=True))
        numbers = {"n": cells, "columns": _COLUMNS}
        columns = _OnDevice(gpu, column_sums("f32", COLUMN_CELL), {**named, **numbers}, 4)
        with ThreadPoolExecutor() as pool:  # a driver takes longest to compile these
            pairs = list(pool.map(partial(_pair, gpu, kernel, (1, side), arrays), tiles))
        columns.us(window_ms=_WARMING_MS)
        reached = 4.0 * added / columns.us()
        paces = dict(TUNING.tiles)
        for tile, pair in zip(tiles, pairs, strict=True):
            one, many = (made.us() for made in pair)
            paces[tile.name] = Pace(one * 1024 / _TERMS, max(1.0, side**2 * one / many))
    finally:
        memory.free(arrays)
    threads = cells * _COLUMNS // _LANES
    return Tuning(paces, max(1, int(threads * _BUSY * bandwidth / reached)))


def _pair(
    gpu: Gpu, kernel: Kernel, sides: tuple[int, int], arrays: Sequence[DeviceArray], tile: Tile
) -> list[_OnDevice]:
    """Products that have so many tiles below and beside each other; zeros, whatever they cost."""
    read, written = arrays
    schedule = Schedule(_LANES, tile.threads, tile.threads, tile=tile)
    made = []
    for side in sides:
        arguments: dict[str, DeviceArray | int] = {"a": read, "b": read, "c": written}
        arguments |= {"rows": side * tile.rows, "columns": side * tile.columns, "terms": _TERMS}
        made.append(_OnDevice(gpu, kernel, arguments, 2 if side > 1 else 16, schedule))
    return made


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
    memory = gpu.backend.memory
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
    with _sample_on_device(gpu, stream("f32"), 64, 1) as tiny:
        submitted = least_us(lambda: tiny.runner.submit(tiny.one), window_ms=20.0)
        gpu.backend.device.wait()

        def waited() -> None:
            tiny.runner.submit(tiny.one)
            gpu.backend.device.wait()

        waiting = max(least_us(waited, window_ms=30.0) - submitted, 1.0)
    memory.free([there, little])
    return replace(
        shipped,
        upload=host.nbytes / max(upload, 1.0),
        download=host.nbytes / max(download, 1.0),
        upload_us=upload_us,
        download_us=download_us,
        submission_us=submitted,
        waiting_us=waiting,
    )

"""Cuts a kernel's parallel axis into parts whose buffers fit into bindings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from runmat_jit.backends.wgpu.adapter import ALIGNMENT
from runmat_jit.backends.wgpu.memory import DeviceArray, padded
from runmat_jit.backends.wgpu.ranges import Interval, ranges_of
from runmat_jit.core.errors import BackendError
from runmat_jit.core.frozen import frozen
from runmat_jit.kernel.ir import Kernel

SMALLEST_PART = 4096
"""Lanes in a part, which is a multiple of this many; a ``grid`` may be cut between any cells."""


@frozen
class Window:
    """Bytes of a buffer that one dispatch sees, and the element of them that is index 0."""

    offset: int
    nbytes: int
    origin: int


@frozen
class Part:
    """Cells or iterations ``[lo, hi)`` and the windows of the buffers, by parameter."""

    lo: int
    hi: int
    windows: Mapping[str, Window]


def parts_of(
    kernel: Kernel,
    arrays: Mapping[str, DeviceArray],
    numbers: Mapping[str, int],
    part: tuple[int, int],
    largest: int,
) -> Iterator[Part]:
    """Parts of a launch, in order.

    Args:
        kernel: A valid kernel.
        arrays: What buffers and tables are bound to, by parameter.
        numbers: Index scalars by name.
        part: Cells or iterations to run.
        largest: Bytes of the largest binding.

    Raises:
        BackendError: A buffer is larger than a binding and all of it may be needed at once.

    """
    lo, hi = part
    large = {name for name, a in arrays.items() if padded(a.nbytes) > largest}
    least = 1 if kernel.body[-1].op == "grid" else SMALLEST_PART
    size = hi - lo
    while lo < hi:
        end = min(lo + size, hi)
        accesses = ranges_of(kernel, numbers, (lo, end)).accesses if large else {}
        windows = {n: _window(a, accesses.get(n), largest, n in large) for n, a in arrays.items()}
        fitting = {name: window for name, window in windows.items() if window is not None}
        if len(fitting) == len(windows):
            yield Part(lo, end, fitting)
            lo = end
            continue
        size = -(-size // 2 // least) * least
        if size >= end - lo:
            raise BackendError(
                f"buffers of more than {largest} bytes, the device's largest binding, are needed "
                "at once; keep the arrays on the CPU (device='cpu')"
            )


def _window(
    array: DeviceArray,
    touched: Interval | None,
    largest: int,
    large: bool,  # noqa: FBT001 - one of two ways
) -> Window | None:
    """The window of one buffer; None where it is too large."""
    if not large:
        return Window(0, padded(array.nbytes), array.origin)
    if touched is None:
        return None
    itemsize = array.dtype.itemsize
    low, high = (min(max(at + array.origin, 0), array.size - 1) for at in touched)
    first, end = low * itemsize // ALIGNMENT * ALIGNMENT, padded((high + 1) * itemsize)
    if end - first > largest:
        return None
    return Window(first, end - first, array.origin - first // itemsize)

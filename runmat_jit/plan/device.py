"""Choice of the device that a program runs on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from runmat_jit.core.frozen import frozen
from runmat_jit.graph.text import operation_name

if TYPE_CHECKING:
    from runmat_jit.passes.fusion.region import Region


@frozen
class Device:
    """A device as plans know it: ``cpu`` or ``gpu``.

    ``builtins`` are functions of an adapter that its kernels may use; None: kernels that give the
    same bits everywhere. ``reason`` says why it is not the device that was asked for.
    """

    kind: str
    builtins: frozenset[str] | None = None
    reason: str = ""


CPU = Device("cpu")


def choose_device(wanted: str, regions: Sequence[Region], find_gpu: Callable[[], Device]) -> Device:
    """The device of a program. One with host calls or scans stays in the host's memory.

    Args:
        wanted: ``cpu`` or ``gpu``.
        regions: What runs there.
        find_gpu: The GPU, or the CPU with the reason why there is none; asked only if one could be
            used, since opening an adapter takes a while.

    """
    if wanted != "gpu":
        return CPU
    host = next((region for region in regions if region.is_host), None)
    if host is not None:
        name = operation_name(host.nodes[0])
        return Device("cpu", reason=f"{name} is computed by NumPy, in the host's memory")
    scan = next((n for region in regions for n in region.nodes if n.op.scan is not None), None)
    if scan is not None:
        return Device(
            "cpu", reason=f"{scan.op.name} takes one element after the other, in NumPy's order"
        )
    return find_gpu()

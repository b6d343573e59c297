"""Choice of the device that a program runs on."""

from __future__ import annotations

from collections.abc import Callable

from runmat_jit.core.frozen import frozen


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


def choose_device(wanted: str, find_gpu: Callable[[], Device]) -> Device:
    """The device of a program.

    Args:
        wanted: ``cpu`` or ``gpu``.
        find_gpu: The GPU, or the CPU with the reason why there is none; asked only if one could be
            used, since opening an adapter takes a while.

    """
    return find_gpu() if wanted == "gpu" else CPU

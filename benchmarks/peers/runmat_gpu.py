"""`runmat.jit(device="gpu")` over the plain NumPy function; NumPy arrays in and out."""

from __future__ import annotations

import runmat_jit as runmat
from benchmarks.peers.peer import Implementation, PeerUnavailableError
from benchmarks.program import Program


def adapter_name(peer: str) -> str:
    """Return the name of the GPU.

    Raises:
        PeerUnavailableError: there is none.

    """
    adapters = [device for device in runmat.devices() if device.kind == "gpu"]
    if not adapters:
        raise PeerUnavailableError(f"{peer}: there is no GPU adapter here")
    return adapters[0].name


def implement(_name: str, program: Program) -> Implementation:
    return Implementation(
        "runmat_gpu",
        {"runmat_jit": runmat.__version__},
        runmat.jit(program.fn, device="gpu"),
        threads=0,
        note=f"{adapter_name('runmat_gpu')}; arrays are transferred in each call",
    )

"""`runmat.jit(device="gpu")` over the plain NumPy function; NumPy arrays in and out."""

from __future__ import annotations

import runmat_jit as runmat
from benchmarks.peers.peer import Implementation, PeerUnavailableError
from benchmarks.program import Program


def implement(_name: str, program: Program) -> Implementation:
    adapters = [device for device in runmat.devices() if device.kind == "gpu"]
    if not adapters:
        raise PeerUnavailableError("runmat_gpu: there is no GPU adapter here")
    return Implementation(
        "runmat_gpu",
        {"runmat_jit": runmat.__version__},
        runmat.jit(program.fn, device="gpu"),
        threads=0,
        note=f"{adapters[0].name}; arrays are transferred in each call",
    )

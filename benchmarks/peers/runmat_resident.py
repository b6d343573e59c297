"""`runmat.jit` over the plain NumPy function, on arrays that lie on the GPU, and stay there."""

from __future__ import annotations

from typing import Any

import numpy as np

import runmat_jit as runmat
from benchmarks.peers.peer import Implementation
from benchmarks.peers.runmat_gpu import adapter_name
from benchmarks.program import Arguments, Program


def on_device(arguments: Arguments) -> tuple[Any, ...]:
    return tuple(
        runmat.asarray(each, device="gpu") if isinstance(each, np.ndarray) else each
        for each in arguments
    )


def to_numpy(result: Any) -> Any:
    if isinstance(result, tuple):
        return tuple(map(to_numpy, result))
    return np.asarray(result)


def implement(_name: str, program: Program) -> Implementation:
    return Implementation(
        "runmat_resident",
        {"runmat_jit": runmat.__version__},
        runmat.jit(program.fn, device="gpu"),
        threads=0,
        prepare=on_device,
        to_numpy=to_numpy,
        wait=runmat.synchronize,
        resident=True,
        note=adapter_name("runmat_resident"),
    )

"""`runmat.jit(device="cpu")` over the plain NumPy function, to compare with automatic choices."""

from __future__ import annotations

import runmat_jit as runmat
from benchmarks.peers.peer import Implementation
from benchmarks.program import Program
from runmat_jit.runtime.session import current_session


def implement(_name: str, program: Program) -> Implementation:
    return Implementation(
        "runmat_cpu",
        {"runmat_jit": runmat.__version__},
        runmat.jit(program.fn, device="cpu"),
        threads=current_session().threads,
    )

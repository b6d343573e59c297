"""`runmat.jit` over the plain NumPy function; arrays in, arrays out."""

from __future__ import annotations

import numpy as np

import runmat_jit as runmat
from benchmarks.peers.peer import Implementation
from benchmarks.program import Program
from runmat_jit.runtime.session import current_session


def implement(_name: str, program: Program) -> Implementation:
    return Implementation(
        "runmat",
        {"runmat_jit": runmat.__version__, "numpy": np.__version__},
        runmat.jit(program.fn),
        threads=current_session().threads,
    )

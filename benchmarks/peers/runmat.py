"""`runmat.jit` over the case's own plain NumPy function; arrays in, arrays out."""

from __future__ import annotations

import numpy as np

import runmat_jit as runmat
from benchmarks.cases.case import Case
from benchmarks.peers.peer import Implementation
from runmat_jit.runtime.session import current_session


def implement(case: Case) -> Implementation:
    return Implementation(
        peer="runmat",
        versions={"runmat_jit": runmat.__version__, "numpy": np.__version__},
        threads=current_session().threads,
        run=runmat.jit(case.function),
        has_compiled=lambda: runmat.telemetry.snapshot()["kernel_launches"] > 0,
    )

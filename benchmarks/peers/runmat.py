"""`runmat.jit` over the case's own plain NumPy function; arrays in, arrays out."""

from __future__ import annotations

import numpy as np

import runmat_jit as runmat
from benchmarks.cases.case import Case
from benchmarks.peers.peer import Implementation


def implement(case: Case) -> Implementation:
    return Implementation(
        peer="runmat",
        versions={"runmat_jit": runmat.__version__, "numpy": np.__version__},
        threads=runmat.config().num_threads,
        run=runmat.jit(case.function),
    )

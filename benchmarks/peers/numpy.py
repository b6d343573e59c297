"""NumPy itself: the plain function."""

from __future__ import annotations

import numpy as np

from benchmarks.cases.case import Case
from benchmarks.peers.peer import Implementation


def implement(case: Case) -> Implementation:
    return Implementation(
        peer="numpy",
        versions={"numpy": np.__version__},
        threads=1,
        run=case.function,
    )

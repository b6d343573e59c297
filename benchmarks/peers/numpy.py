"""NumPy itself: the plain function."""

from __future__ import annotations

import numpy as np

from benchmarks.peers.peer import Implementation
from benchmarks.program import Program


def implement(_name: str, program: Program) -> Implementation:
    return Implementation("numpy", {"numpy": np.__version__}, program.fn)

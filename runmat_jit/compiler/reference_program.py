"""A program that NumPy runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from runmat_jit.compiler.events import EventFinder, report
from runmat_jit.core.loading import EVENTS, LOADER
from runmat_jit.graph.node import Graph


class ReferenceProgram:
    """Runs a graph by NumPy, where this machine runs no kernels."""

    def __init__(self, graph: Graph) -> None:
        self.graph, self.events = graph, EventFinder(graph)

    def run(self, inputs: Sequence[Any], warn: frozenset[str]) -> list[np.ndarray]:
        """Report events, then interpret."""
        if warn:
            report(self.events(inputs, warn))
        LOADER.load(EVENTS)
        from runmat_jit.backends.reference.interpret import run  # noqa: PLC0415  (loaded here)

        with np.errstate(all="ignore"):
            return run(self.graph, inputs)

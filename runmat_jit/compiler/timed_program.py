"""Programs whose runs are spans of the timeline."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any

import numpy as np

from runmat_jit.plan.cost import cost_of

if TYPE_CHECKING:
    from runmat_jit.compiler.compile_graph import CompiledGraph
    from runmat_jit.runtime.timeline import Timeline


class TimedProgram:
    """A program of the name of its regions' kinds; on a GPU a run ends when its kernels do."""

    def __init__(self, compiled: CompiledGraph, timeline: Timeline) -> None:
        self.program, self.timeline = compiled.program, timeline
        regions = compiled.plan.regions
        self.name = ", ".join(dict.fromkeys(region.kind for region in regions)) or "nothing"
        costs = [cost_of(region, compiled.plan.in_place) for region in regions]
        self.details = {
            "device": compiled.device,
            "launches": len(compiled.kernels),
            "bytes": int(sum(cost.bytes_read + cost.bytes_written for cost in costs)),
            "lines": [
                node.line.short() for region in regions for node in region.nodes if node.line
            ][:1],
        }

    def run(self, inputs: Sequence[Any], warn: frozenset[str]) -> list[np.ndarray]:
        """Run the program (as Program)."""
        time_kernels = getattr(self.program, "time_kernels", None)
        stopwatch = None if time_kernels is None else time_kernels()
        start, details = perf_counter_ns(), self.details
        try:
            results = self.program.run(inputs, warn)
            if stopwatch is not None and stopwatch.us is not None:
                details = {**details, "kernels_us": stopwatch.us}
            return results
        finally:
            self.timeline.add("program", self.name, start, **details)

"""Programs whose inputs and results may stay where they are: what calls with arrays of ours run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from runmat_jit.core.protocols import Program
from runmat_jit.graph.node import Graph, Into
from runmat_jit.runtime.arrays import adopted, host_written, to_host


class HostProgram:
    """A program of the host's memory: inputs are brought there, results may go to devices later."""

    def __init__(self, program: Program, graph: Graph) -> None:
        self.program = program
        self.written = written_inputs(graph)

    def run(self, inputs: Sequence[Any], warn: frozenset[str]) -> list[np.ndarray]:
        """Run on one array (0-d for scalars) for each input; give the fresh results (as Program).

        Raises:
            BackendError: what an input held is lost with its device; nothing was written.

        """
        for value in inputs:
            to_host(value)
        for number in self.written:
            host_written(inputs[number])
        results = self.program.run(inputs, warn)
        return [adopted(result) if result.shape else result for result in results]


def written_inputs(graph: Graph) -> tuple[int, ...]:
    """The numbers of the inputs that a graph writes."""
    targets = [output.target for output in graph.outputs]
    return tuple(dict.fromkeys(target.input for target in targets if isinstance(target, Into)))

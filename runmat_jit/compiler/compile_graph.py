"""Programs of graphs: what the stages made of one, with what runs it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from runmat_jit.compiler.lower_program import LoweredProgram, flattened, lower_program
from runmat_jit.compiler.native_program import NativeProgram
from runmat_jit.compiler.reference_program import ReferenceProgram
from runmat_jit.core.config import FUSION_KINDS
from runmat_jit.core.frozen import frozen
from runmat_jit.core.protocols import Program
from runmat_jit.graph.node import Graph
from runmat_jit.kernel.ir import Kernel
from runmat_jit.plan.plan import Plan
from runmat_jit.runtime.session import Session


@frozen
class CompiledGraph:
    """A program and everything that ``explain()`` says about it."""

    program: Program
    lowered: LoweredProgram

    @property
    def captured(self) -> Graph:
        """The graph as it was captured."""
        return self.lowered.captured

    @property
    def plan(self) -> Plan:
        """Its regions in order, and where they run."""
        return self.lowered.plan

    @property
    def kernels(self) -> tuple[Kernel, ...]:
        """Its kernels in order."""
        return self.lowered.kernels

    @property
    def device(self) -> str:
        """Where it runs."""
        return self.plan.device.kind

    @property
    def device_reason(self) -> str:
        """Why it does not run on the device that was asked for."""
        return self.plan.device.reason

    def run(self, inputs: Sequence[Any], warn: frozenset[str]) -> list[np.ndarray]:
        """Run the program."""
        return self.program.run(inputs, warn)


def compile_graph(
    session: Session,
    graph: Graph,
    device: str = "cpu",
    *,
    disabled: frozenset[str] = frozenset(),
) -> CompiledGraph:
    """The program of a captured graph (arguments as :func:`lower_program`)."""
    lowered = lower_program(session, graph, device=device, disabled=disabled)
    session.telemetry.count("programs_built")
    kinds = (region.kind for region in lowered.plan.regions if region.kind != "host")
    session.telemetry.count_regions(Counter(kinds))
    return CompiledGraph(executable(session, lowered), lowered)


def executable(session: Session, lowered: LoweredProgram) -> Program:
    """What runs a lowered graph of numbers."""
    if lowered.code is None:
        return ReferenceProgram(lowered.captured)
    native = NativeProgram(session, lowered.code, lowered.captured)
    if lowered.plan.device.kind == "cpu":
        return native
    from runmat_jit.compiler.gpu_program import GpuProgram  # noqa: PLC0415  (loads no GPU code before)

    return GpuProgram(session, lowered.plan, list(flattened(lowered.launches)), native)


def verified(session: Session, compiled: CompiledGraph) -> CompiledGraph:
    """The same program, each run of which is compared with its graph op by op."""
    from runmat_jit.compiler.verified_program import VerifiedProgram, every_value  # noqa: PLC0415  (rare)

    optimized = compiled.plan.graph
    graph, nodes = every_value(optimized)
    single = lower_program(session, graph, disabled=frozenset(FUSION_KINDS), passes=())
    alone = executable(session, single)
    program = VerifiedProgram(compiled.program, alone, optimized, nodes)
    return replace(compiled, program=program)


def made_resident(compiled: CompiledGraph) -> CompiledGraph:
    """The same program for arrays whose contents may be on a device."""
    from runmat_jit.compiler.gpu_program import GpuProgram  # noqa: PLC0415  (see executable)
    from runmat_jit.compiler.resident import HostProgram  # noqa: PLC0415  (first use)
    from runmat_jit.compiler.resident_gpu import ResidentGpuProgram  # noqa: PLC0415  (see executable)

    graph, program = compiled.plan.graph, compiled.program
    if not isinstance(program, GpuProgram):
        return replace(compiled, program=HostProgram(program, graph))
    host = HostProgram(program.native, graph)
    return replace(compiled, program=ResidentGpuProgram(program, graph, host))

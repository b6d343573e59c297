"""Programs of graphs: what the stages made of one, with what runs it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import field, replace
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from runmat_jit.compiler.events import AT_FIRST, BOTH_MODES, RISES_ONLY, Watch, Way
from runmat_jit.compiler.kept_programs import KeptPrograms
from runmat_jit.compiler.measured import Measured
from runmat_jit.compiler.native_code import NativeCode
from runmat_jit.compiler.native_program import NativeProgram
from runmat_jit.compiler.reference_program import ReferenceProgram
from runmat_jit.core.config import FUSION_KINDS
from runmat_jit.core.frozen import frozen
from runmat_jit.core.loading import GPU, LOADER, STAGES, VERIFYING
from runmat_jit.core.protocols import Program
from runmat_jit.core.types import is_complex
from runmat_jit.graph.node import Graph
from runmat_jit.plan.device import CPU, Device
from runmat_jit.runtime.session import Session

if TYPE_CHECKING:
    from runmat_jit.compiler.lower_program import LoweredProgram
    from runmat_jit.kernel.ir import Kernel
    from runmat_jit.plan.place import Decision
    from runmat_jit.plan.plan import Plan

Lower = Callable[[], "LoweredProgram"]
"""Gives what the stages make of a graph, which has been made or is when it is first asked for."""


@frozen
class CompiledGraph:
    """A program and everything that ``explain()`` says about it."""

    program: Program
    captured: Graph
    """The graph as it was captured."""
    chosen: Device
    """Where it runs."""
    lower: Lower
    decision: Decision | None = None
    """Where ``auto`` decided that it runs, and why; None where somebody else has decided."""
    measured: Measured = field(default_factory=Measured)
    """What its runs have taken."""

    @property
    def lowered(self) -> LoweredProgram:
        """What the stages made of the graph."""
        return self.lower()

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
        return self.chosen.kind

    @property
    def device_reason(self) -> str:
        """Reason why it does not run on the device that was asked for."""
        return self.chosen.reason

    def run(self, inputs: Sequence[Any], warn: frozenset[str]) -> list[np.ndarray]:
        """Run the program."""
        measured = self.measured
        if measured.is_complete:
            return self.program.run(inputs, warn)
        return measured.run(self.program, inputs, warn)


def compile_graph(
    session: Session,
    graph: Graph,
    device: str = "cpu",
    *,
    disabled: frozenset[str] = frozenset(),
) -> CompiledGraph:
    """The program of a captured graph (arguments as :func:`lower_program`).

    Where an earlier process has kept it, no stage runs before somebody asks for more than results.
    ``auto`` is a device, too: the one that is predicted to take least.
    """
    if device == "auto":
        return _placed(session, graph, disabled)

    @cache
    def lower() -> LoweredProgram:
        LOADER.load(STAGES)
        from runmat_jit.compiler.lower_program import lower_program  # noqa: PLC0415  (loaded here)

        return lower_program(session, graph, device=device, disabled=disabled)

    programs = session.service(KeptPrograms, KeptPrograms)
    key = programs.key(graph, disabled) if device == "cpu" else None
    kept = None if key is None else programs.find(key)
    if kept is not None:
        kinds, chosen = kept.kinds, CPU
        program: Program = native_program(session, graph, kept.code, lower)
    else:
        lowered = lower()
        kinds = tuple([region.kind for region in lowered.plan.regions if region.kind != "host"])
        if key is not None and lowered.code is not None:
            programs.keep(key, kinds, lowered.code)
        chosen, program = lowered.plan.device, executable(session, lowered, lower)
    session.telemetry.count("programs_built")
    session.telemetry.count_regions(Counter(kinds))
    return CompiledGraph(program, graph, chosen, lower)


def _placed(session: Session, graph: Graph, disabled: frozenset[str]) -> CompiledGraph:
    """The program of a graph on the device that is predicted to take least."""
    from runmat_jit.compiler.placement import placed  # noqa: PLC0415  (where there may be a GPU)

    on_cpu = compile_graph(session, graph, "cpu", disabled=disabled)
    found, decision = placed(
        session, graph, on_cpu, lambda: compile_graph(session, graph, "gpu", disabled=disabled)
    )
    measured = found.measured  # and not the program, which need not live as long
    session.note_decision(decision, lambda: measured.told(decision).to_dict())
    return replace(found, decision=decision)


def executable(session: Session, lowered: LoweredProgram, lower: Lower | None = None) -> Program:
    """What runs a lowered graph of numbers."""
    if lowered.code is None:
        return ReferenceProgram(lowered.captured)
    native = native_program(session, lowered.captured, lowered.code, lower or (lambda: lowered))
    if lowered.plan.device.kind == "cpu":
        return native
    LOADER.load(GPU)
    from runmat_jit.compiler.gpu_program import GpuProgram  # noqa: PLC0415  (loads no GPU code before)
    from runmat_jit.compiler.lower_program import flattened, with_notes  # noqa: PLC0415  (they ran)

    def build(way: Way) -> GpuProgram | None:
        noting = with_notes(session, lowered, *way)
        return None if noting is None else make(noting, way)

    def make(program: LoweredProgram, way: Way = AT_FIRST) -> GpuProgram:
        launches = list(flattened(program.launches))
        return GpuProgram(session, program.plan, launches, native, watch, way=way)

    # a GPU rounds otherwise, and may overflow where NumPy just does not
    watch = Watch(lowered.captured, session.telemetry.count, build, RISES_ONLY)
    return make(lowered)


def native_program(
    session: Session, captured: Graph, code: NativeCode, lower: Lower
) -> NativeProgram:
    """The CPU's program, and those to which it changes where its kernels note events."""

    def build(way: Way) -> NativeProgram | None:
        lowered = lower()
        from runmat_jit.compiler.lower_program import on_cpu, with_notes  # noqa: PLC0415  (loaded here)

        noting = with_notes(session, on_cpu(lowered), *way)
        if noting is None or noting.code is None:
            return None
        return NativeProgram(session, noting.code, watch, way)

    # an operation on complex numbers is several ones, of which none tells of its events
    splits = any(is_complex(node.type.dtype) for node in captured.nodes)
    modes = RISES_ONLY if splits else BOTH_MODES
    watch = Watch(captured, session.telemetry.count, build, modes)
    return NativeProgram(session, code, watch)


def verified(session: Session, compiled: CompiledGraph) -> CompiledGraph:
    """The same program, each run of which is compared with its graph op by op."""
    optimized = compiled.plan.graph
    LOADER.load(VERIFYING)
    from runmat_jit.compiler.lower_program import lower_program  # noqa: PLC0415  (loaded by now)
    from runmat_jit.compiler.verified_program import VerifiedProgram, every_value  # noqa: PLC0415  (rare)

    graph, nodes = every_value(optimized)
    single = lower_program(session, graph, disabled=frozenset(FUSION_KINDS), passes=())
    alone = executable(session, single)
    program = VerifiedProgram(compiled.program, alone, optimized, nodes)
    return replace(compiled, program=program)


def made_resident(compiled: CompiledGraph) -> CompiledGraph:
    """The same program for arrays whose contents may be on a device."""
    LOADER.load(GPU)
    from runmat_jit.compiler.gpu_program import GpuProgram  # noqa: PLC0415  (see executable)
    from runmat_jit.compiler.resident import HostProgram  # noqa: PLC0415  (first use)
    from runmat_jit.compiler.resident_gpu import ResidentGpuProgram  # noqa: PLC0415  (see executable)

    graph, program = compiled.plan.graph, compiled.program
    if not isinstance(program, GpuProgram):
        return replace(compiled, program=HostProgram(program, graph), measured=Measured())
    host = HostProgram(program.native, graph)
    resident = ResidentGpuProgram(program, graph, host)
    return replace(compiled, program=resident, measured=Measured(ends=False))

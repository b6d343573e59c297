"""The pipeline: a graph goes through every stage, from top to bottom."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from functools import partial

from runmat_jit.compiler.link import link
from runmat_jit.compiler.native_code import NativeCode
from runmat_jit.core.errors import BackendError
from runmat_jit.core.frozen import frozen
from runmat_jit.graph.node import Graph
from runmat_jit.kernel.ir import Kernel
from runmat_jit.lower.launch import Launch
from runmat_jit.lower.lower import lower_plan
from runmat_jit.passes.fusion.blas_products import with_blas_products
from runmat_jit.passes.fusion.centered_gram import KIND as CENTERED_GRAM
from runmat_jit.passes.fusion.centered_gram import centered_grams
from runmat_jit.passes.fusion.device_products import products_for_device
from runmat_jit.passes.fusion.explained_variance import KIND as EXPLAINED_VARIANCE
from runmat_jit.passes.fusion.explained_variance import diagonals_of_products
from runmat_jit.passes.fusion.grower import grow
from runmat_jit.passes.fusion.kinds import enabled_kinds
from runmat_jit.passes.fusion.own_products import with_own_products
from runmat_jit.passes.pipeline import PASSES, PASSES_OF_A_GPU, Pass, optimize
from runmat_jit.passes.split_extremes import split_extremes
from runmat_jit.plan.device import CPU, Device, choose_device
from runmat_jit.plan.make_plan import make_plan
from runmat_jit.plan.notes import RISES, Mode, notes_of_each
from runmat_jit.plan.plan import Plan
from runmat_jit.runtime.session import Session

Launches = tuple[tuple[Launch, ...], ...]
"""The launches of each region of a plan."""


@frozen
class LoweredProgram:
    """What the stages made of a graph; its extents may be numbers or formulas.

    ``launches`` are those of the plan's device. ``code`` is the CPU's in any case, of its own plan
    ``on_cpu``, which takes over where a GPU fails; None on a machine that runs no kernels.
    """

    captured: Graph
    plan: Plan
    on_cpu: Plan
    launches: Launches = ()
    code: NativeCode | None = None

    @property
    def kernels(self) -> tuple[Kernel, ...]:
        """The kernels that run on the plan's device, in order."""
        if self.code is not None and self.plan.device.kind == "cpu":
            return self.code.kernels
        return tuple(launch.kernel for launch in flattened(self.launches))


def lower_program(
    session: Session,
    graph: Graph,
    *,
    device: str = "cpu",
    disabled: frozenset[str] = frozenset(),
    passes: Sequence[Pass] = PASSES,
) -> LoweredProgram:
    """Take a captured graph through passes, fusion, planning, lowering and linking.

    Args:
        session: Its backends compile, and its devices are there to choose from.
        graph: The graph; where extents are formulas, so are the numbers of the program.
        device: The device asked for, ``cpu`` or ``gpu``.
        disabled: Names of fusion kinds that are switched off.
        passes: What happens to the graph first.

    """
    kinds = {kind.name for kind in enabled_kinds(disabled)}

    def optimized_by(passes: Sequence[Pass]) -> Graph:
        found = optimize(graph, passes)
        return diagonals_of_products(found) if EXPLAINED_VARIANCE in kinds else found

    optimized = optimized_by(passes)
    chosen = choose_device(device, optimized, partial(find_gpu, session))
    if chosen.kind == "gpu":
        for_device = optimized
        if passes is PASSES and "i64" in session.gpu.info.kinds:  # of positions
            for_device = optimized_by(PASSES_OF_A_GPU)
        for_device = split_extremes(products_for_device(for_device))
        plan = plan_for(for_device, chosen, disabled)
        launches = lower_plan(plan)
        refusal = find_refusal(session, plan, launches)
        if refusal is None:
            on_cpu = plan_for(for_device, CPU, disabled)
            code = link(session, graph, on_cpu, lower_plan(on_cpu))
            return LoweredProgram(graph, plan, on_cpu, launches, code)
        chosen = Device("cpu", reason=refusal)
    if CENTERED_GRAM in kinds:
        optimized = centered_grams(optimized)
    plan = plan_for(optimized, chosen, disabled)
    if session.unsupported is not None:
        return LoweredProgram(graph, plan, plan)
    launches = lower_plan(plan)
    return LoweredProgram(graph, plan, plan, launches, link(session, graph, plan, launches))


def plan_for(graph: Graph, device: Device, disabled: frozenset[str]) -> Plan:
    """The plan of an optimized graph on a device."""
    regions = with_own_products(
        graph, grow(graph, disabled, device=device.kind), disabled, device=device.kind
    )
    if device.kind == "cpu":
        regions = with_blas_products(graph, regions)
    return make_plan(graph, regions, device)


def with_notes(
    session: Session,
    lowered: LoweredProgram,
    mode: Mode,
    names: Collection[str] | None = None,
) -> LoweredProgram | None:
    """The same program, whose kernels note events in another way; None where none can be made.

    ``names``: of the operations that are told apart in mode ``each``; None: all.
    """
    each = (node for region in lowered.plan.regions for node in region.nodes)
    notes = notes_of_each(each, names) if mode == "each" else RISES
    plan, cpu = (replace(plan, notes=notes) for plan in (lowered.plan, lowered.on_cpu))
    launches = lower_plan(plan)
    if find_refusal(session, plan, launches) is not None:
        return None
    for_cpu = launches if plan.device.kind == "cpu" else lower_plan(cpu)
    code = link(session, lowered.captured, cpu, for_cpu)
    return LoweredProgram(lowered.captured, plan, cpu, launches, code)


def on_cpu(lowered: LoweredProgram) -> LoweredProgram:
    """The same program, to be made for the CPU."""
    return replace(lowered, plan=lowered.on_cpu)


def find_gpu(session: Session) -> Device:
    """The session's GPU; the CPU, with the reason, where it cannot be used."""
    try:
        gpu = session.gpu
    except BackendError as error:
        return Device("cpu", reason=str(error))
    if gpu.backend.device.lost:
        return Device("cpu", reason=f"{gpu.info} was lost")
    if session.unsupported is not None:
        return Device("cpu", reason="this machine runs no kernels")
    return Device("gpu", gpu.builtins, gpu.backend.device.limits.tuning.column_threads)


def find_refusal(session: Session, plan: Plan, launches: Launches) -> str | None:
    """Reason why the plan's device cannot run some kernel; None where it can run all."""
    if plan.device.kind == "cpu":
        return None
    refuse = session.gpu.backend.unsupported
    reasons = (refuse(launch.kernel) for launch in flattened(launches))
    return next((reason for reason in reasons if reason is not None), None)


def flattened(launches: Launches) -> Iterable[Launch]:
    """All launches in order."""
    return (launch for group in launches for launch in group)

"""Links a program: compiles its kernels, and binds them and its host calls to memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from runmat_jit.compiler.binding import arrays_first, bind
from runmat_jit.compiler.host_step import HostStep, bind_host_step
from runmat_jit.compiler.native_code import Bound, NativeCode
from runmat_jit.core.frozen import frozen
from runmat_jit.graph.node import Graph, Node, topological
from runmat_jit.kernel.ir import Kernel
from runmat_jit.kernel.work import count_work
from runmat_jit.lower.launch import Launch
from runmat_jit.ops.product import product_in
from runmat_jit.passes.fusion.region import Region
from runmat_jit.plan.argument import Argument, HostOperand, NodeBuffer
from runmat_jit.plan.cost import share_beside_blas
from runmat_jit.plan.host_operands import host_operands
from runmat_jit.plan.layout import Layout
from runmat_jit.plan.place_memory import keys_of, place_memory
from runmat_jit.plan.plan import Plan
from runmat_jit.runtime.session import Session


def link(
    session: Session, captured: Graph, plan: Plan, launches: tuple[tuple[Launch, ...], ...]
) -> NativeCode:
    """Compile the launches of each region, bind them and the host calls.

    Args:
        session: Its backend compiles.
        captured: The graph before all passes, whose events are reported.
        plan: What was lowered.
        launches: The launches of each region.

    """
    steps = [
        step
        for region, group in zip(plan.regions, launches, strict=True)
        for step in (host_steps(region, plan) if region.is_host else map(kernel_step, group))
    ]
    multiplies = any(isinstance(step, _CallStep) and step.is_product for step in steps)
    layout = place_memory(plan, [step.uses for step in steps])
    before = session.backend.compiles
    idle = idle_results(layout, steps)
    bound: list[Bound] = []
    calls: list[HostStep] = []
    for number, step in enumerate(steps):
        if isinstance(step, _KernelStep):
            compiled = session.backend.compile(step.kernel)
            launch = beside_blas(step.launch) if multiplies else step.launch
            us = session.profile.iteration_us(count_work(launch.kernel, launch.arguments))
            bound.append(bind(launch, step.uses, layout.places, compiled, us))
        else:
            done = idle.get(number, ())
            calls.append(bind_host_step(step.node, step.operands, layout, len(bound), done))
    session.telemetry.count("kernels_compiled", session.backend.compiles - before)
    tables = tuple(map(session.table, layout.tables))
    kernels = tuple(step.kernel for step in steps if isinstance(step, _KernelStep))
    return NativeCode(layout, tables, tuple(bound), tuple(calls), kernels, is_blind(captured))


@frozen
class _KernelStep:
    """A launch whose arrays come first among its arguments."""

    launch: Launch
    kernel: Kernel
    uses: Sequence[Argument]


@frozen
class _CallStep:
    """A host call and its operands."""

    node: Node
    operands: Sequence[HostOperand]

    @property
    def is_product(self) -> bool:
        """True if BLAS computes it."""
        return product_in(self.node.params) is not None

    @property
    def uses(self) -> Sequence[Argument | HostOperand]:
        """What it reads and gives."""
        return (*self.operands, NodeBuffer(self.node))


def beside_blas(launch: Launch) -> Launch:
    """The launch in larger shares."""
    return replace(launch, grain=share_beside_blas(launch.total, launch.nbytes))


def kernel_step(launch: Launch) -> _KernelStep:
    """The launch with its arguments as the launcher fills them."""
    return _KernelStep(launch, *arrays_first(launch.kernel, launch.arguments))


def host_steps(region: Region, plan: Plan) -> list[_CallStep]:
    """The call of a region; none where nobody asks for its result."""
    return [_CallStep(node, host_operands(node, plan.orders)) for node in region.outputs]


def idle_results(
    layout: Layout, steps: Sequence[_KernelStep | _CallStep]
) -> dict[int, tuple[int, ...]]:
    """For host calls, by the number of the step: the results of others that are needed no more."""
    returned = {buffer.place for buffer in layout.buffers if buffer.returned}
    sources = [
        *(commit.source for commit in layout.commits),
        *(copied for copied, _ in layout.copies),
    ]
    returned -= {*layout.fresh, *sources}
    uses = [{layout.places[key] for key in keys_of(step.uses)} for step in steps]
    last = {place: number for number, places in enumerate(uses) for place in places & returned}
    found: dict[int, tuple[int, ...]] = {}
    for number, step in enumerate(steps):
        if isinstance(step, _CallStep):
            found[number] = tuple(sorted(place for place in last if last[place] < number))
            last = {place: until for place, until in last.items() if until >= number}
    return found


def is_blind(graph: Graph) -> bool:
    """True if something is empty, so that kernels may not compute all of what NumPy computes."""
    nodes = topological(graph.nodes)
    return any(0 in node.type.shape for node in nodes) and any(node.op.events for node in nodes)

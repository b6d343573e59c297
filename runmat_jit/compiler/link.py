"""Links kernels: compiles each, and binds it to the memory of a program."""

from __future__ import annotations

import numpy as np

from runmat_jit.compiler.binding import Bound, arrays_first, bind
from runmat_jit.core.frozen import frozen
from runmat_jit.graph.node import Graph, topological
from runmat_jit.kernel.ir import Kernel
from runmat_jit.lower.launch import Launch
from runmat_jit.plan.layout import Layout
from runmat_jit.plan.place_memory import place_memory
from runmat_jit.plan.plan import Plan
from runmat_jit.runtime.session import Session


@frozen
class NativeCode:
    """Machine code of a program, and the memory that it is bound to.

    ``blind``: a kernel may run over nothing, and so not see an event of a scalar that it computes.
    """

    layout: Layout
    tables: tuple[np.ndarray, ...]
    launches: tuple[Bound, ...]
    kernels: tuple[Kernel, ...]
    blind: bool


def link(
    session: Session, captured: Graph, plan: Plan, launches: tuple[tuple[Launch, ...], ...]
) -> NativeCode:
    """Compile the launches of each region, and bind them.

    Args:
        session: Its backend compiles.
        captured: The graph before all passes, whose events are reported.
        plan: What was lowered.
        launches: The launches of each region.

    """
    flat = [launch for group in launches for launch in group]
    ordered = [arrays_first(launch.kernel, launch.arguments) for launch in flat]
    layout = place_memory(plan, [arguments for _, arguments in ordered])
    before = session.backend.compiles
    compiled = [session.backend.compile(kernel) for kernel, _ in ordered]
    session.telemetry.count("kernels_compiled", session.backend.compiles - before)
    bound = [
        bind(launch, arguments, layout.places, code)
        for launch, (_, arguments), code in zip(flat, ordered, compiled, strict=True)
    ]
    tables = tuple(map(session.table, layout.tables))
    kernels = tuple(kernel for kernel, _ in ordered)
    return NativeCode(layout, tables, tuple(bound), kernels, is_blind(captured))


def is_blind(graph: Graph) -> bool:
    """Whether something is empty, so that kernels may not compute all of what NumPy computes."""
    nodes = topological(graph.nodes)
    return any(0 in node.type.shape for node in nodes) and any(node.op.events for node in nodes)

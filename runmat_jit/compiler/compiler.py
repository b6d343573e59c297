"""The only place where the stages meet: graph, passes, regions, plan, kernels, program."""

from __future__ import annotations

import math
import threading
from collections import Counter, OrderedDict
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from runmat_jit.compiler.binding import Bound, arrays_first, bind
from runmat_jit.compiler.lifetimes import take_turns
from runmat_jit.compiler.program import Buffer, Commit, Layout, NativeProgram, report
from runmat_jit.compiler.whole_writes import with_whole_writes
from runmat_jit.core.config import FUSION_KINDS
from runmat_jit.core.errors import BackendError
from runmat_jit.core.frozen import frozen
from runmat_jit.core.locks import new_lock
from runmat_jit.core.protocols import Program
from runmat_jit.core.types import c_strides
from runmat_jit.graph.node import Graph, Into, Node, topological
from runmat_jit.graph.structure import structure
from runmat_jit.kernel.ir import Kernel
from runmat_jit.lower.launch import Launch, Scratch, TableBuffer
from runmat_jit.lower.lower import lower
from runmat_jit.passes.fusion.grower import grow
from runmat_jit.passes.pipeline import optimize
from runmat_jit.plan.make_plan import make_plan
from runmat_jit.plan.plan import Plan
from runmat_jit.runtime.session import Session

if TYPE_CHECKING:
    from runmat_jit.backends.reference.events import EventReport
    from runmat_jit.compiler.template import Template
    from runmat_jit.core.extent import Scope

PROGRAM_LIMIT = 512
"""Programs kept: the least recently used go first. Their kernels stay compiled."""
TEMPLATE_LIMIT = 128
"""Graphs kept of which there are programs for every shape, likewise."""


@frozen
class Compiled:
    """A program and everything that ``explain()`` says about it."""

    program: Program
    captured: Graph
    plan: Plan
    launches: tuple[tuple[Launch, ...], ...]
    """The launches of each region."""
    kernels: tuple[Kernel, ...]
    device: str = "cpu"
    device_reason: str = ""
    """Why it does not run on the device that was asked for."""

    def run(self, inputs: Sequence[Any], warn: frozenset[str]) -> list[np.ndarray]:
        """Run the program."""
        return self.program.run(inputs, warn)


class Compiler:
    """Compiles graphs for one session; implements capture's ``Executor``."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.count = session.telemetry.count
        self._programs: OrderedDict[Any, Compiled] = OrderedDict()
        self._templates: OrderedDict[Any, Template] = OrderedDict()
        self._lock = new_lock()
        self._building: dict[Any, threading.Lock] = {}

    def forget_threads(self) -> None:
        """In a forked child: nobody builds what threads of the parent had begun to."""
        self._building = {}

    def compile(self, graph: Graph, device: str = "cpu", *, resident: bool = False) -> Compiled:
        """The program of a graph; one for each device and structure, the user's lines included.

        ``resident``: its inputs may be arrays whose contents are on a device, and its results stay.
        """
        key = (device, structure(graph), resident)
        known = self._known(key)
        if known is not None:
            return known
        with self._lock:
            building = self._building.setdefault(key, new_lock())
        with building:  # threads that want the same program wait for the first
            compiled = self._known(key)
            if compiled is None:
                compiled = self._compile(graph, device, resident=resident)
        with self._lock:
            self._building.pop(key, None)
            self._programs[key] = compiled
            if len(self._programs) > PROGRAM_LIMIT:
                self._programs.popitem(last=False)
        return compiled

    def template(self, graph: Graph, scope: Scope) -> Template:
        """The programs of a graph of extents, whose conditions the scope has; one a structure."""
        from runmat_jit.compiler.template import Template  # noqa: PLC0415  (it needs this module)

        conditions = tuple(scope.conditions)
        key = (structure(graph), tuple(scope.formulas), scope.symbols, conditions)
        with self._lock:
            known = self._templates.get(key)
            if known is None:
                scope.close()
                known = self._templates[key] = Template(self, graph, scope)
                if len(self._templates) > TEMPLATE_LIMIT:
                    self._templates.popitem(last=False)
            self._templates.move_to_end(key)
            return known

    def _known(self, key: Any) -> Compiled | None:
        with self._lock:
            known = self._programs.get(key)
            if known is not None:
                self._programs.move_to_end(key)
            return known

    def _compile(self, graph: Graph, device: str, *, resident: bool) -> Compiled:
        if resident:
            whole = with_whole_writes(graph) if device == "gpu" else graph
            return made_resident(self.compile(whole, device))
        compiled = build(self.session, graph, self.session.config.disable_fusion)
        if device == "gpu":
            compiled = on_gpu(self.session, compiled)
        if self.session.config.verify == 1:
            compiled = verified(self.session, compiled)
        return compiled


def build(session: Session, graph: Graph, disabled: frozenset[str]) -> Compiled:
    """Take a captured graph through every stage."""
    session.telemetry.count("programs_built")
    return assemble(session, graph, optimize(graph), disabled)


def verified(session: Session, compiled: Compiled) -> Compiled:
    """The same program, each run of which is compared with its graph op by op."""
    from runmat_jit.compiler.verified_program import VerifiedProgram, every_value  # noqa: PLC0415  (rare)

    optimized = compiled.plan.graph
    graph, nodes = every_value(optimized)
    single = assemble(session, graph, graph, frozenset(FUSION_KINDS))
    program = VerifiedProgram(compiled.program, single.program, optimized, nodes)
    return replace(compiled, program=program)


def assemble(
    session: Session, graph: Graph, optimized: Graph, disabled: frozenset[str]
) -> Compiled:
    """Cut an optimized graph into regions, lower and link them; ``graph`` is what it came from."""
    plan = make_plan(optimized, grow(optimized, disabled))
    session.telemetry.count_regions(Counter(region.kind for region in plan.regions))
    if session.unsupported is not None:
        return Compiled(ReferenceProgram(graph), graph, plan, (), ())
    launches = tuple(lower(region, plan) for region in plan.regions)
    return link(session, graph, plan, launches)


def link(
    session: Session, captured: Graph, plan: Plan, launches: tuple[tuple[Launch, ...], ...]
) -> Compiled:
    """Compile the kernels and bind them to a program's memory."""
    layout, bound, kernels, nodes = place(session, plan, launches)
    finder = EventFinder(captured)
    program = NativeProgram(session, layout, bound, finder, nodes, blind=is_blind(captured))
    return Compiled(program, captured, plan, launches, kernels)


def is_blind(graph: Graph) -> bool:
    """Whether something is empty, so that kernels may not compute all of what NumPy computes."""
    nodes = topological(graph.nodes)
    return any(0 in node.type.shape for node in nodes) and any(node.op.events for node in nodes)


def place(
    session: Session, plan: Plan, launches: tuple[tuple[Launch, ...], ...]
) -> tuple[Layout, tuple[Bound, ...], tuple[Kernel, ...], dict[Node, int]]:
    """The memory of a program, its launches bound to it, their kernels, the number of each node."""
    places = Places(session, plan)
    bound: list[Bound] = []
    kernels: list[Kernel] = []
    for launch in (launch for group in launches for launch in group):
        kernel, arguments = arrays_first(launch.kernel, launch.arguments)
        before = session.backend.compiles
        compiled = session.backend.compile(kernel)
        session.telemetry.count("kernels_compiled", session.backend.compiles - before)
        places.add_temporaries(arguments)
        kernels.append(kernel)
        bound.append(bind(launch, arguments, places.numbers, compiled))
    layout = places.layout([launch.uses for launch in bound])
    nodes = {key: number for key, number in places.numbers.items() if isinstance(key, Node)}
    return layout, tuple(bound), tuple(kernels), nodes


def on_gpu(session: Session, compiled: Compiled) -> Compiled:
    """The same program on the session's GPU; as it is, with the reason, where that cannot be."""
    from runmat_jit.compiler.gpu_program import GpuProgram  # noqa: PLC0415  (loads no GPU code before)

    try:
        gpu = session.gpu
    except BackendError as error:
        return replace(compiled, device_reason=str(error))
    if gpu.backend.device.lost:
        return replace(compiled, device_reason=f"{gpu.info} was lost")
    if not isinstance(compiled.program, NativeProgram):
        return replace(compiled, device_reason="this machine runs no kernels")
    plan, regions, kernels = compiled.plan, compiled.launches, compiled.kernels
    if gpu.builtins is not None:
        plan = replace(plan, builtins=gpu.builtins)
        regions = tuple(lower(region, plan) for region in plan.regions)
        kernels = tuple(launch.kernel for group in regions for launch in group)
    launches = [launch for group in regions for launch in group]
    program = GpuProgram(session, gpu, plan, launches, compiled.program)
    reason = program.unsupported()
    if reason is not None:
        return replace(compiled, device_reason=reason)
    return replace(compiled, program=program, launches=regions, kernels=kernels, device="gpu")


def made_resident(compiled: Compiled) -> Compiled:
    """The same program for arrays whose contents may be on a device."""
    from runmat_jit.compiler.gpu_program import GpuProgram  # noqa: PLC0415  (see on_gpu)
    from runmat_jit.compiler.resident import HostProgram  # noqa: PLC0415  (first use)
    from runmat_jit.compiler.resident_gpu import ResidentGpuProgram  # noqa: PLC0415  (see on_gpu)

    graph, program = compiled.plan.graph, compiled.program
    if not isinstance(program, GpuProgram):
        return replace(compiled, program=HostProgram(program, graph))
    host = HostProgram(program.native, graph)
    return replace(compiled, program=ResidentGpuProgram(program, graph, host))


class DeviceExecutor:
    """A compiler whose programs run on one device: what capture is given."""

    def __init__(self, compiler: Compiler, device: str, *, resident: bool = False) -> None:
        self.compiler, self.device, self.is_resident = compiler, device, resident
        self.count = compiler.count

    def compile(self, graph: Graph) -> Compiled:
        """The program of a graph on this device."""
        return self.compiler.compile(graph, self.device, resident=self.is_resident)

    def template(self, graph: Graph, scope: Scope) -> Template | None:
        """The programs of a graph for every shape; None where programs are not plainly native."""
        session = self.compiler.session
        if self.device != "cpu" or self.is_resident or session.config.verify == 1:
            return None
        if session.unsupported is not None:
            return None
        return self.compiler.template(graph, scope)

    def resident(self) -> DeviceExecutor:
        """The same for calls with arrays whose contents may be on a device."""
        return DeviceExecutor(self.compiler, self.device, resident=True)


class Places:
    """Numbers the memory of a program while its launches are bound."""

    def __init__(self, session: Session, plan: Plan) -> None:
        self.session, self.plan = session, plan
        inputs = plan.graph.inputs
        self.numbers: dict[Node | Scratch | str, int] = {n: i for i, n in enumerate(inputs)}
        self.constants: list[np.ndarray] = []
        self.buffers: list[Buffer] = []
        self.stored = [node for region in plan.regions for node in region.outputs]
        # Constants are numbered before buffers, and not known before the kernels are: leave room.
        self.room = _TABLES_AT_MOST
        for node in self.stored:
            base = plan.in_place.get(node)
            if base is None:
                self.add_buffer(node, node.type.shape, node.type.dtype, plan.orders[node])
            else:
                self.numbers[node] = self.numbers[base]

    def add_buffer(
        self, key: Any, shape: tuple[int, ...], dtype: np.dtype, order: tuple[int, ...]
    ) -> int:
        """A buffer that every run makes anew."""
        place = len(self.plan.graph.inputs) + self.room + len(self.buffers)
        plain = order == tuple(range(len(shape)))
        strides = None if plain else tuple(s * dtype.itemsize for s in c_strides(shape, order))
        nbytes = math.prod(shape) * dtype.itemsize
        self.buffers.append(Buffer(place, shape, dtype, strides, nbytes))
        self.numbers[key] = place
        return place

    def add_temporaries(self, arguments: Sequence[Any]) -> None:
        """Number the scratch and tables that a launch mentions."""
        for argument in arguments:
            if isinstance(argument, Scratch) and argument not in self.numbers:
                self.add_buffer(argument, (argument.size,), argument.dtype, (0,))
            elif isinstance(argument, TableBuffer) and argument.name not in self.numbers:
                self.numbers[argument.name] = len(self.plan.graph.inputs) + len(self.constants)
                self.constants.append(self.session.table(argument.name))

    def layout(self, uses: Sequence[Sequence[int]]) -> Layout:
        """The finished layout; unused room is filled with an empty array.

        ``uses`` lists, for each launch, the places that it reads or writes.
        """
        fresh: list[int] = []
        copies: list[tuple[int, int]] = []
        commits: list[Commit] = []
        outputs, inputs = self.plan.graph.outputs, len(self.plan.graph.inputs)
        writes = sum(isinstance(output.target, Into) for output in outputs)
        for output in outputs:
            node, target, source = output.node, output.target, self.numbers[output.node]
            plain = tuple(range(node.type.ndim))
            if isinstance(target, Into):  # an input may be written before it is read as a value
                order = self.plan.orders.get(node, plain)
                shared = source < inputs and writes > 1
            else:
                order = target.order
                shared = source in fresh or source < inputs
                shared = shared or self.plan.orders.get(node) != order
            if shared:
                key = ("copy", len(copies))
                place = self.add_buffer(key, node.type.shape, node.type.dtype, order)
                copies.append((source, place))
                source = place
            if isinstance(target, Into):
                commits.append(self.commit(node, source, target))
            else:
                fresh.append(source)
        room = self.room - len(self.constants)
        assert room >= 0, "more tables than expansions have"
        constants = (*self.constants, *(np.empty(0) for _ in range(room)))
        kept = {
            *fresh,
            *(commit.source for commit in commits),
            *(n for pair in copies for n in pair),
        }
        buffers = take_turns(self.buffers, uses, kept)
        return Layout(inputs, constants, buffers, tuple(fresh), tuple(copies), tuple(commits))

    def commit(self, node: Node, source: int, target: Into) -> Commit:
        """How a value is written into an input."""
        base = self.plan.graph.inputs[target.input]
        size = base.type.dtype.itemsize
        whole = (
            target.offset == 0
            and node.type.shape == base.type.shape
            and target.strides == base.params["strides"]
        )
        strides = tuple(stride * size for stride in target.strides)
        return Commit(source, target.input, target.offset * size, node.type.shape, strides, whole)


_TABLES_AT_MOST = 4


class EventFinder:
    """Finds events by interpreting the graph as it was captured."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph

    def __call__(self, inputs: Sequence[Any], warn: frozenset[str]) -> Sequence[EventReport]:
        from runmat_jit.backends.reference.events import report_events  # noqa: PLC0415  (rare)

        state = {
            event: "warn" if event in warn else "ignore"
            for event in ("divide", "over", "under", "invalid")
        }
        return report_events(self.graph, inputs, state)


class ReferenceProgram:
    """Runs a graph by NumPy, where this machine runs no kernels."""

    def __init__(self, graph: Graph) -> None:
        self.graph, self.events = graph, EventFinder(graph)

    def run(self, inputs: Sequence[Any], warn: frozenset[str]) -> list[np.ndarray]:
        """Report events, then interpret."""
        if warn:
            report(self.events(inputs, warn))
        from runmat_jit.backends.reference.interpret import run  # noqa: PLC0415  (rare)

        with np.errstate(all="ignore"):
            return run(self.graph, inputs)

"""The programs of a session: one for each graph, compiled when it is first asked for."""

from __future__ import annotations

import ctypes
import threading
from collections import OrderedDict
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from runmat_jit.backends.llvm.object_layout import object_layout
from runmat_jit.compiler.compile_graph import (
    CompiledGraph,
    compile_graph,
    made_resident,
    verified,
)
from runmat_jit.compiler.timed_program import TimedProgram
from runmat_jit.compiler.whole_writes import with_whole_writes
from runmat_jit.core.loading import GATES, LOADER, LOOPS, SHAPES
from runmat_jit.core.locks import new_lock
from runmat_jit.graph.node import Graph
from runmat_jit.graph.structure import structure
from runmat_jit.runtime.session import Session

if TYPE_CHECKING:
    from runmat_jit.compiler.gate_writer import Gates
    from runmat_jit.compiler.template import Template
    from runmat_jit.core.extent import Scope
    from runmat_jit.loops.sites import Loops

PROGRAM_LIMIT = 512
"""Programs kept: the least recently used go first. Their kernels stay compiled."""
TEMPLATE_LIMIT = 128
"""Graphs kept of which there are programs for every shape, likewise."""


class Compiler:
    """Compiles graphs for one session; implements capture's ``Executor``."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.count = session.telemetry.count
        self._programs: OrderedDict[Any, CompiledGraph] = OrderedDict()
        self._templates: OrderedDict[Any, Template] = OrderedDict()
        self._lock = new_lock()
        self._building: dict[Any, threading.RLock] = {}
        self._timed: dict[int, tuple[CompiledGraph, CompiledGraph]] = {}

    def compile(
        self, graph: Graph, device: str = "cpu", *, resident: bool = False
    ) -> CompiledGraph:
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
                timeline = self.session.timeline
                with nullcontext() if timeline is None else timeline.span("compile", device):
                    compiled = self._compile(graph, device, resident=resident)
        with self._lock:
            self._building.pop(key, None)
            self._programs[key] = compiled
            if len(self._programs) > PROGRAM_LIMIT:
                self._programs.popitem(last=False)
        return compiled

    def timed(self, compiled: CompiledGraph) -> CompiledGraph:
        """The same program, each run of which is a span of the timeline; one for each."""
        timeline = self.session.timeline
        assert timeline is not None, "somebody asks"
        with self._lock:
            known = self._timed.get(id(compiled))
            if known is None or known[0] is not compiled:
                program = TimedProgram(compiled, timeline)
                known = self._timed[id(compiled)] = compiled, replace(compiled, program=program)
        return known[1]

    def template(self, graph: Graph, scope: Scope) -> Template:
        """The programs of a graph of extents, whose conditions the scope has; one a structure."""
        LOADER.load(SHAPES)
        from runmat_jit.compiler.template import Template  # noqa: PLC0415  (loaded here)

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

    def _known(self, key: Any) -> CompiledGraph | None:
        with self._lock:
            known = self._programs.get(key)
            if known is not None:
                self._programs.move_to_end(key)
            return known

    def _compile(self, graph: Graph, device: str, *, resident: bool) -> CompiledGraph:
        if resident:
            whole = with_whole_writes(graph) if device == "gpu" else graph
            return made_resident(self.compile(whole, device))
        disabled = self.session.config.disable_fusion
        compiled = compile_graph(self.session, graph, device, disabled=disabled)
        if self.session.config.verify == 1:
            compiled = verified(self.session, compiled)
        return compiled


def _make_loops(session: Session) -> Loops:
    from runmat_jit.loops.program import Services  # noqa: PLC0415  (loaded by now)
    from runmat_jit.loops.sites import Loops  # noqa: PLC0415  (likewise)
    from runmat_jit.loops.transposing import Transposing  # noqa: PLC0415  (likewise)

    def table(name: str) -> int:
        return int(session.table(name).__array_interface__["data"][0])

    backend, count = session.backend, session.telemetry.count

    def run_cells(cells: Sequence[Sequence[tuple[int, int]]]) -> list[list[int]]:
        number = len(cells[0])
        steps = (ctypes.c_int64 * (2 * number * len(cells)))(
            *(word for cell in cells for step in cell for word in step)
        )
        seen = (ctypes.c_int64 * (number * len(cells)))()
        args = (ctypes.c_int64 * 3)(number, ctypes.addressof(steps), ctypes.addressof(seen))
        session.pool.run(backend.watched_cells(), ctypes.addressof(args), len(cells), 1)
        return [seen[at : at + number] for at in range(0, len(seen), number)]

    services = Services(
        *(backend.compile, table, backend.watched_call, run_cells, Transposing(backend.compile)),
        *(count, session.telemetry.count_loop),
        *(session.states, session.config.disable_loop_fusion),
        shows_progress=session.config.progress,
        times_runs=session.config.trials,
    )
    return Loops(services)


class DeviceExecutor:
    """A compiler whose programs run on one device: what capture is given."""

    def __init__(self, compiler: Compiler, device: str, *, resident: bool = False) -> None:
        # What ``auto`` computes on the CPU is computed as ``cpu`` says, by the same programs.
        self.compiler, self.device = compiler, "gpu" if device == "gpu" else "cpu"
        self.places = device == "auto" and compiler.session.may_have_gpu
        """True if each graph runs on the device that is predicted to take least."""
        self.is_resident = resident
        self.count = compiler.count

    def compile(self, graph: Graph) -> CompiledGraph:
        """The program of a graph on this device."""
        device = "auto" if self.places else self.device
        compiled = self.compiler.compile(graph, device, resident=self.is_resident)
        return compiled if self.compiler.session.timeline is None else self.compiler.timed(compiled)

    def template(self, graph: Graph, scope: Scope) -> Template | None:
        """The programs of a graph for every shape; None where programs are not plainly native."""
        session = self.compiler.session
        if self.device != "cpu" or self.is_resident or session.config.verify == 1:
            return None
        if session.timeline is not None:
            return None
        if session.unsupported is not None:
            return None
        if self.places and not self._is_the_cpus(graph):
            return None
        return self.compiler.template(graph, scope)

    def _is_the_cpus(self, graph: Graph) -> bool:
        """True if the CPU runs a graph for all extents of its scope; otherwise each is placed."""
        from runmat_jit.compiler.placement import may_win, stays_small  # noqa: PLC0415  (only here)

        session = self.compiler.session
        return not may_win(session, graph) or stays_small(session, graph)

    @property
    def place(self) -> tuple[str, bool]:
        """The device, and whether arrays stay there."""
        return self.device, self.is_resident

    @property
    def takes_products(self) -> bool:
        """True if graphs may have products of floats: kernels compute all of them."""
        return self.device == "gpu"

    @property
    def on_gpu(self) -> bool:
        """True if it is a GPU: kernels have turns as loops there, and are bound to memory."""
        return self.device == "gpu"

    @property
    def makes_draws(self) -> bool:
        """True if kernels are to make random numbers: what the host makes has to be copied.

        Positions of streams have 64 bits, which not every adapter has.
        """
        gpu = self.compiler.session.opened_gpu if self.on_gpu else None
        return self.on_gpu and (gpu is None or "i64" in gpu.info.kinds)

    @property
    def takes_host_calls(self) -> bool:
        """True if graphs may have host calls: where kernels run in the host's memory."""
        on_host = self.device == "cpu" and not self.is_resident
        return on_host and self.compiler.session.unsupported is None

    def loops(self) -> Loops | None:
        """Loops that run natively; None where programs are not plainly native."""
        session = self.compiler.session
        if self.is_resident or session.config.verify or session.unsupported is not None:
            return None
        if "element_loop" in session.config.disable_loop_fusion:
            return None
        if not LOADER.load(LOOPS):
            return None
        from runmat_jit.loops.sites import Loops  # noqa: PLC0415  (loaded here)

        return session.service(Loops, _make_loops)

    def gates(self) -> Gates | None:
        """What makes gates; None where programs are not plainly native."""
        session = self.compiler.session
        if self.is_resident or session.config.verify or session.timeline is not None:
            return None
        if session.unsupported is not None or object_layout() is None:
            return None
        if not LOADER.load(GATES):
            return None
        from runmat_jit.compiler.gate_writer import Gates  # noqa: PLC0415  (loaded)

        return session.service(Gates, Gates)

    def resident(self, home: str) -> DeviceExecutor:
        """The same for calls with arrays of ours, of which some are for the device ``home``.

        ``auto`` computes there: moving them takes longer than what a better device would gain.
        """
        opened = self.compiler.session.opened_gpu is not None
        there = "gpu" if self.places and opened and home == "gpu" else self.device
        return DeviceExecutor(self.compiler, there, resident=True)

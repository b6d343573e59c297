"""A graph's program for every shape, those included that no recording has seen.

A dynamic program holds where the stages would have taken the same decisions. Where none holds (a
reduction in two steps, another tiling) the program of the shape itself is compiled, and a further
dynamic one made.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from runmat_jit.compiler.dynamic_program import DynamicProgram, Extents, make_dynamic_program
from runmat_jit.compiler.events import ALARMS, AT_FIRST, RISING, EventFinder, Way, report
from runmat_jit.core.extent import Scope
from runmat_jit.core.locks import new_lock
from runmat_jit.core.log import LOG
from runmat_jit.graph.node import Graph
from runmat_jit.graph.renumber import concrete, is_named
from runmat_jit.passes.events import possible_events

if TYPE_CHECKING:
    import numpy as np

    from runmat_jit.compiler.compile_graph import CompiledGraph
    from runmat_jit.compiler.compiler import Compiler

DYNAMIC_LIMIT = 16
"""Dynamic programs of one graph: conditions divide its shapes."""
FAILURES = 3
"""Dynamic programs that were wrong, after which each shape has a program of its own."""
STATIC_LIMIT = 16
"""Programs of single shapes that are kept: the least recently made go first."""


class Template:
    """Runs a graph of extents for any extents that meet the conditions of its scope.

    No dynamic program is believed at once: it is compared with what the compiler makes for other
    extents before a call relies on it.
    """

    def __init__(self, compiler: Compiler, graph: Graph, scope: Scope) -> None:
        self.compiler, self.graph, self.scope = compiler, graph, scope
        self._possible = possible_events(graph)
        self.dynamic: tuple[DynamicProgram, ...] = ()
        self._untried: tuple[DynamicProgram, ...] = ()
        self._failures = 0
        self._way: Way = AT_FIRST
        self._alarms = 0
        self._alarmed: tuple[Extents, ...] = ()
        """The extents of the last runs in which events were reported."""
        self._alarming: frozenset[Extents] = frozenset()
        """Those of which each run has a program of its own."""
        self._static: OrderedDict[Extents, CompiledGraph] = OrderedDict()
        self._lock = new_lock()

    def run(
        self, extents: Extents, inputs: Sequence[Any], warn: frozenset[str]
    ) -> list[np.ndarray]:
        """Run on one value for each input, as a program does.

        Raises:
            EventsRaise: an event occurred while the warnings filters raise; nothing was written.

        """
        warn = warn & self._possible
        if self._alarming and extents in self._alarming:
            return self.at(extents).run(inputs, warn)
        programs = self.dynamic
        for program in programs:
            results = program.run(inputs, warn, *extents)
            if results is not None:
                if program is not programs[0]:  # what was used last is tried first
                    others = (each for each in programs if each is not program)
                    self.dynamic = (program, *others)
                return results
        known = self._static.get(extents)
        return (self.prepare(extents) if known is None else known).run(inputs, warn)

    def shaped(self, extents: Extents) -> DynamicProgram | None:
        """The program that runs for these extents, if it is one for others, too."""
        if extents in self._alarming:
            return None
        return next((program for program in self.dynamic if program.holds(extents)), None)

    def at(self, extents: Extents) -> CompiledGraph:
        """The program that the compiler makes for these extents."""
        with self._lock:
            known = self._static.get(extents)
            if known is None:
                known = self.compiler.compile(concrete(self.graph, self.scope, extents))
                self._static[extents] = known
                if len(self._static) > STATIC_LIMIT:
                    self._static.popitem(last=False)
            return known

    def prepare(self, extents: Extents) -> CompiledGraph:
        """The same, and try a dynamic program by it, or make another one if none holds."""
        with self._lock:
            program = self.at(extents)
            if self._failures < FAILURES and not any(p.holds(extents) for p in self.dynamic):
                self._learn(extents, program)
            return program

    def _learn(self, extents: Extents, program: CompiledGraph) -> None:
        found = next((each for each in self._untried if each.holds(extents)), None)
        if found is None:
            if len(self.dynamic) + len(self._untried) < DYNAMIC_LIMIT:
                self._make(extents)
        elif extents != found.extents:  # its own numbers prove nothing
            self._untried = tuple(each for each in self._untried if each is not found)
            if found.describes(program, extents):
                self.dynamic = (*self.dynamic, found)
            else:
                self._failures += 1

    def _make(self, extents: Extents) -> None:
        try:
            session = self.compiler.session
            made = make_dynamic_program(
                session, self.graph, self.scope, extents, self.report, way=self._way
            )
        except Exception:  # the call has its program, and must not fail for the sake of later ones
            LOG.exception("no program for other shapes was made; please report this")
            self._failures += 1
        else:
            self._untried = (*self._untried, made)

    def describes(self, program: Any, extents: Extents) -> bool:
        """True if a program, of a graph that was recorded with these extents, is of this one."""
        recorded, values = getattr(program, "captured", None), self.scope.values(extents)
        assert values is not None, "the conditions are met"
        return isinstance(recorded, Graph) and is_named(self.graph, values, recorded)

    def report(self, inputs: Sequence[Any], warn: frozenset[str], extents: Extents) -> None:
        """Report the events of a run.

        After some alarms, programs are made whose kernels tell events from data. Where events
        recur, runs of these extents have their own program, which learns what NumPy says of them
        (see ``Watch``).

        Raises:
            EventsRaise: the warnings filters raise; nothing has been reported.

        """
        self.compiler.count("events_checked")
        with self._lock:
            self._alarms += 1
            if self._way == AT_FIRST and self._alarms >= ALARMS:
                self._way = RISING
                self.dynamic, self._untried, self._alarmed = (), (), ()
            elif extents in self._alarmed and len(self._alarming) < STATIC_LIMIT // 2:
                self._alarming |= {extents}
            self._alarmed = (extents, *self._alarmed[: STATIC_LIMIT // 2])
        report(EventFinder(concrete(self.graph, self.scope, extents))(inputs, warn))

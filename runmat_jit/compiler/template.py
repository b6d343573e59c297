"""A graph's program for every shape, those included that no recording has seen.

The stages compute a program's numbers (extents, strides, counts, sizes) from the extents of its
inputs and from nothing else. Given extents that remember their formulas they make a plan: the same
kernels, with a formula for each number, and the conditions under which the stages would have taken
the same decisions. Where no plan's conditions hold (a reduction in two steps, another tiling) the
program of the shape itself is compiled, and a further plan made.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

from runmat_jit.compiler.binding import Bound
from runmat_jit.compiler.call_plan import Run, call_plan, numbers_of
from runmat_jit.compiler.program import Buffer, Commit, Layout, NativeProgram, report
from runmat_jit.core.extent import Scope
from runmat_jit.core.frozen import frozen_object
from runmat_jit.core.locks import new_rlock
from runmat_jit.graph.node import Graph
from runmat_jit.graph.renumber import concrete, is_named, named
from runmat_jit.lower.lower import lower
from runmat_jit.passes.fusion.grower import grow
from runmat_jit.passes.pipeline import optimize
from runmat_jit.plan.make_plan import make_plan

if TYPE_CHECKING:
    import numpy as np

    from runmat_jit.compiler.compiler import Compiled, Compiler

LOG = logging.getLogger("runmat_jit")
PLANS = 16
"""Plans of one graph: conditions divide its shapes."""
FAILURES = 3
"""Plans that were wrong, after which each shape has a program of its own."""
PROGRAMS = 16
"""Programs of single shapes that are kept: the least recently made go first."""

Extents = tuple[int, ...]


class Template:
    """Runs a graph of extents for any extents that meet the conditions of its scope.

    No plan is believed at once: it is compared with what the compiler makes for other extents
    before a call relies on it.
    """

    def __init__(self, compiler: Compiler, graph: Graph, scope: Scope) -> None:
        self.compiler, self.graph, self.scope = compiler, graph, scope
        self.plans: tuple[Plan, ...] = ()
        self._untried: tuple[Plan, ...] = ()
        self._failures = 0
        self._programs: OrderedDict[Extents, Compiled] = OrderedDict()
        self._lock = new_rlock()

    def run(
        self, extents: Extents, inputs: Sequence[Any], warn: frozenset[str]
    ) -> list[np.ndarray]:
        """Run on one value for each input, as a program does.

        Raises:
            EventsRaise: an event occurred while the warnings filters raise; nothing was written.

        """
        plans = self.plans
        for plan in plans:
            results = plan.run(inputs, warn, *extents)
            if results is not None:
                if plan is not plans[0]:  # what was used last is tried first
                    self.plans = (plan, *(each for each in plans if each is not plan))
                return results
        known = self._programs.get(extents)
        return (self.prepare(extents) if known is None else known).run(inputs, warn)

    def at(self, extents: Extents) -> Compiled:
        """The program that the compiler makes for these extents."""
        with self._lock:
            known = self._programs.get(extents)
            if known is None:
                known = self.compiler.compile(concrete(self.graph, self.scope, extents))
                self._programs[extents] = known
                if len(self._programs) > PROGRAMS:
                    self._programs.popitem(last=False)
            return known

    def prepare(self, extents: Extents) -> Compiled:
        """The same, and try a plan by it, or make another plan if none holds."""
        with self._lock:
            program = self.at(extents)
            if self._failures < FAILURES and not any(p.holds(extents) for p in self.plans):
                self._learn(extents, program)
            return program

    def _learn(self, extents: Extents, program: Compiled) -> None:
        found = next((plan for plan in self._untried if plan.holds(extents)), None)
        if found is None:
            if len(self.plans) + len(self._untried) < PLANS:
                self._make(extents)
        elif extents != found.extents:  # its own numbers prove nothing
            self._untried = tuple(plan for plan in self._untried if plan is not found)
            if found.describes(program, extents):
                self.plans = (*self.plans, found)
            else:
                self._failures += 1

    def _make(self, extents: Extents) -> None:
        try:
            made = make_plan_at(self, extents)
        except Exception:  # the call has its program, and must not fail for the sake of later ones
            LOG.exception("no plan for other shapes was made; please report this")
            self._failures += 1
        else:
            self._untried = (*self._untried, made)

    def describes(self, program: Any, extents: Extents) -> bool:
        """Whether a program, of a graph that was recorded with these extents, is of this one."""
        recorded, values = getattr(program, "captured", None), self.scope.values(extents)
        assert values is not None, "the conditions are met"
        return isinstance(recorded, Graph) and is_named(self.graph, values, recorded)

    def report(self, inputs: Sequence[Any], warn: frozenset[str], extents: Extents) -> None:
        """Report the events of a run.

        Raises:
            EventsRaise: the warnings filters raise; nothing has been reported.

        """
        from runmat_jit.compiler.compiler import EventFinder  # noqa: PLC0415  (it makes templates)

        self.compiler.count("events_checked")
        report(EventFinder(concrete(self.graph, self.scope, extents))(inputs, warn))


@frozen_object
class Plan:
    """A program whose numbers are formulas over the symbols of a scope, made at ``extents``."""

    scope: Scope
    extents: Extents
    layout: Layout
    launches: tuple[Bound, ...]
    run: Run
    blind: bool

    def holds(self, extents: Extents) -> bool:
        """Whether the stages would have decided alike."""
        return self.scope.values(extents) is not None

    def describes(self, program: Any, extents: Extents) -> bool:
        """Whether a program, compiled for extents that it holds for, is this one."""
        native, values = getattr(program, "program", None), self.scope.values(extents)
        assert values is not None, "it holds for these extents"
        if not isinstance(native, NativeProgram) or native.blind is not self.blind:
            return False
        names = map(self.scope.name, numbers_of(self.layout, self.launches))
        numbers = [values[name] if name in values else int(name.strip("()")) for name in names]
        theirs = list(numbers_of(native.layout, native.launches))
        same = structure_of(self.layout, self.launches)
        return numbers == theirs and same == structure_of(native.layout, native.launches)


def make_plan_at(template: Template, extents: Extents) -> Plan:
    """Take a graph of extents, with these values, through every stage."""
    from runmat_jit.compiler.compiler import is_blind, place  # noqa: PLC0415  (it makes templates)

    session = template.compiler.session
    scope, values = template.scope.moved(extents)
    graph = named(template.graph, values)
    blind, optimized = is_blind(graph), optimize(graph)
    plan = make_plan(optimized, grow(optimized, session.config.disable_fusion))
    launches = tuple(lower(region, plan) for region in plan.regions)
    layout, bound, _, _ = place(session, plan, launches)
    run = call_plan(session, scope, layout, bound, template.report, blind=blind)
    scope.close()
    return Plan(scope, extents, layout, bound, run, blind)


# -- everything about a program that no number says ------------------------------------------------
def structure_of(layout: Layout, launches: Sequence[Bound]) -> Hashable:
    """Equal for programs that differ in numbers alone."""
    return (
        layout.inputs,
        len(layout.constants),
        tuple(map(_structure_of_buffer, layout.buffers)),
        layout.copies,
        tuple(map(_structure_of_commit, layout.commits)),
        tuple((b.address, b.places, len(b.block), b.scalars, b.instructions) for b in launches),
        layout.fresh,
    )


def _structure_of_buffer(buffer: Buffer) -> Hashable:
    strides, sizes = buffer.strides is None, len(buffer.sizes)
    return buffer.place, len(buffer.shape), buffer.dtype, strides, buffer.shares, sizes


def _structure_of_commit(commit: Commit) -> Hashable:
    return commit.source, commit.input, len(commit.shape), commit.whole

"""Regions with reductions: one kernel where a cell holds what is reduced, else kernels in turn.

In iteration, each phase runs the first step of its reductions over the elements, further steps over
partial results, and in the last of them whatever needs only the results; a last kernel computes the
elements that need the results of all phases. Elements are recomputed in each phase from what is
stored, never kept: reading an input again costs less than storing and loading.

Squared deviations (:mod:`moments`) take their first step in the phase in which their elements are
known, beside the sums of these, and the rest once the mean is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import field, replace
from typing import TypeVar

from runmat_jit.core.slotted import slotted
from runmat_jit.core.types import c_strides
from runmat_jit.graph.node import Node
from runmat_jit.lower.elementwise import lower_elementwise
from runmat_jit.lower.lane_reduction import lower_lanes, takes_all_phases
from runmat_jit.lower.launch import Launch
from runmat_jit.lower.moments import Moment, moment_of
from runmat_jit.lower.problem import Compute, Operand, Problem, Store
from runmat_jit.lower.product_rows import lower_rows_of, lower_with_product
from runmat_jit.lower.reduction_problem import (
    Center,
    Reduce,
    ReductionProblem,
    fits_a_team,
    runs_along,
)
from runmat_jit.lower.region_values import RegionValues
from runmat_jit.lower.spill import spilled
from runmat_jit.passes.fusion.edges import is_moment, reduced_axes
from runmat_jit.passes.fusion.reduction_shape import COLUMN_BLOCK, Step, next_step
from runmat_jit.passes.fusion.region import Region
from runmat_jit.plan.argument import NodeBuffer, Scratch
from runmat_jit.plan.plan import Plan

_LANES = 4
"""Columns that a thread of a device has."""
Key = TypeVar("Key")
Shape = tuple[int, ...]


def lower_reduction_region(region: Region, plan: Plan) -> tuple[Launch, ...]:
    """The kernels of a region with reductions, in order."""

    def lower(values: RegionValues) -> list[Launch]:
        lowering = _Lowering(region, values)
        if not lowering.in_one_kernel():
            lowering.in_turn()
        return lowering.launches

    return lower_with_product(region, plan, lower)


@slotted
class _Lowering:
    """A region being lowered: its values and the kernels so far."""

    region: Region
    values: RegionValues
    launches: list[Launch] = field(default_factory=list)
    moments: dict[Node, tuple[Moment, list[Scratch], Shape]] = field(default_factory=dict)
    """Those whose cells are known, with where that is kept, and its shape."""

    # -- the two ways ----------------------------------------------------------------------------
    def in_one_kernel(self) -> bool:
        """Lower to one kernel if each cell holds all that its results need."""
        levels, values = self.values.levels, self.values
        nodes = values.unstored()
        reduces = [node for node in nodes if node.op.reduction is not None]
        if len({(reduced_axes(n), self._first_step(n)) for n in reduces}) > 1:
            return False
        step = self._first_step(reduces[0])
        if not _finishes(step, levels.shape, reduced_axes(reduces[0])):
            return False
        phases = tuple(
            tuple(self._reduce(n, nodes, final=True) for n in reduces if levels.phase[n] == p + 1)
            for p in range(levels.phases)
        )
        outputs = [(n, values.store(n, NodeBuffer(n), nodes)) for n in self.region.outputs]
        problem = ReductionProblem(
            levels.shape,
            step,
            values.computes(nodes, reduces),
            phases,
            tuple((levels.phase[n], store) for n, store in outputs if levels.is_element(n)),
            tuple(store for n, store in outputs if not levels.is_element(n)),
            device=values.plan.device,
            notes=values.plan.notes,
        )
        along = runs_along(problem) if step.style == "row" else fits_a_team(problem)
        if not along and not takes_all_phases(problem):
            return False
        if problem.has_results():
            if along:
                problem = spilled(problem, levels.phase, self._memory_for)
                self._add(lower_rows_of(problem, values))
            else:
                self._add(lower_lanes(problem))
        return True

    def in_turn(self) -> None:
        """Lower phase by phase."""
        levels = self.values.levels
        reduces = [node for node in self.region.nodes if node.op.reduction is not None]
        for phase in range(levels.phases):
            begun = [node for node in reduces if self._begins(node) == phase]
            elements = self._element_outputs(phase)
            for step, together in _grouped(begun, self._first_step):
                self._run_steps(step, together, elements)
                elements = []
            moments = [n for n in reduces if is_moment(n) and levels.phase[n] == phase + 1]
            for _, same in _grouped(moments, reduced_axes):
                self._finish_moments(same)
            for node in levels.results:
                if levels.phase[node] == phase + 1 and node not in levels.home:
                    shape = _without(levels.shape, levels.results[node])
                    members = [*self._elements(), node]
                    self._elementwise(members, self.values.keep([node]), shape)
        rest = [n for p in range(levels.phases + 1) for n in self._element_outputs(p)]
        members = self._elements()
        stores = [self.values.store(node, NodeBuffer(node), members) for node in rest]
        self._elementwise(members, stores, levels.shape)

    # -- one phase -------------------------------------------------------------------------------
    def _run_steps(self, step: Step, reduces: Sequence[Node], elements: Sequence[Node]) -> None:
        """The first step of reductions that share it, then the rest for each set of axes."""
        values, shape = self.values, self.values.levels.shape
        moments = list(filter(is_moment, reduces))
        reduces = [n for n in reduces if n not in moments]
        step, *more = [step] if moments else self._stages(step, shape)
        done = [n for n in reduces if _finishes(step, shape, reduced_axes(n))]
        partial = {n: self._partial(n, step, shape) for n in reduces if n not in done}
        results = self._homed(done)
        members = [*self._elements(), *results]
        phase = tuple(self._reduce(n, members, final=n in done) for n in reduces)
        stores = [values.partial_store(n, memory, step, shape) for n, memory in partial.items()]
        problem = ReductionProblem(
            shape,
            step,
            values.computes(members, reduces),
            (phase,),
            tuple((0, values.store(n, NodeBuffer(n), members)) for n in elements),
            (*stores, *values.keep([*done, *results])),
            device=values.plan.device,
            notes=values.plan.notes,
        )
        for node in moments:
            problem = self._with_moment(problem, node, members)
        problem = problem.pruned()
        if step.style == "row" and runs_along(problem) is None:
            problem = self._laid_out(problem)
        self._reduction(problem)
        values.stored.update({node: NodeBuffer(node) for node in elements})
        for _, same in _grouped(list(partial), reduced_axes):
            read = {n: values.partial_read(n, partial[n], step.result(shape)) for n in same}
            self._finish(read, step.result(shape), more)

    def _with_moment(
        self, problem: ReductionProblem, node: Node, members: Collection[Node]
    ) -> ReductionProblem:
        """The first step with what each cell gives for squared deviations of its elements."""
        values, step, shape = self.values, problem.step, problem.extents
        x = values.operand(node.args[0], tuple(range(len(shape))), members)
        first, *second = problem.phases
        own = step.style == "row"
        total = next((r for r in first if own and r.operand == x and r.combine == "add"), None)
        moment = moment_of(node, None if total is None else total.node)
        if total is None:
            total = values.reduce(moment.total, x, final=False, whole=False)
            first = (*first, total) if own else first
        terms = tuple(
            values.reduce(result, term, final=False, whole=False)
            for result, term in ((moment.left, moment.rest), (moment.squares, moment.square))
        )
        phases = (first, sum(second, terms)) if own else ((*first, *terms),)
        memories = [self._partial(value, step, shape) for value in moment.of_cells]
        self.moments[node] = moment, memories, step.result(shape)
        stores = [
            values.partial_store(value, memory, step, shape)
            for value, memory in zip(moment.of_cells, memories, strict=True)
        ]
        center = Center(moment.center, total, moment.count, moment.weight, terms[1])
        return replace(
            problem,
            computes=(*problem.computes, *moment.within(x)),
            phases=phases,
            result_stores=(*problem.result_stores, *stores),
            centers=(*problem.centers, center),
        )

    def _finish_moments(self, nodes: Sequence[Node]) -> None:
        """Put the cells' squared deviations together, once the means are known."""
        values, axes = self.values, tuple(range(len(self.values.levels.shape)))
        means = {n: values.operand(n.args[1], axes, ()) for n in nodes}
        terms: dict[Node, Operand] = {}
        computes: list[Compute] = []
        for node in nodes:
            moment, memories, shape = self.moments.pop(node)
            pairs = zip(moment.of_cells, memories, strict=True)
            cells = [values.partial_read(value, memory, shape) for value, memory in pairs]
            computes += moment.between(cells, means[node])
            terms[node] = computes[-1].node
        self._finish(terms, shape, (), tuple(computes), means)

    def _laid_out(self, problem: ReductionProblem) -> ReductionProblem:
        """Store what is reduced in C order first, where no one stride leads along a row."""
        values, shape = self.values, problem.extents
        phase, *later = problem.phases
        operands = {reduce.operand: reduce for reduce in phase}
        copies = {o: values.scratch(reduce.dtype, shape) for o, reduce in operands.items()}
        stores = [
            Store(operand, memory, memory.dtype, (*c_strides(shape), 0))
            for operand, memory in copies.items()
        ]
        stores += [store for _, store in problem.element_stores]
        plan = values.plan
        laid_out = Problem((*shape, 1), problem.computes, tuple(stores), plan.device, plan.notes)
        self._add(lower_elementwise(laid_out.pruned()))
        read: dict[Operand, Operand] = {
            operand: values.partial_read(reduce.node, copies[operand], shape)
            for operand, reduce in operands.items()
        }
        return replace(
            problem,
            computes=tuple(
                replace(c, operands=tuple(read.get(o, o) for o in c.operands))
                for c in problem.computes
            ),
            phases=(tuple(replace(r, operand=read[r.operand]) for r in phase), *later),
            element_stores=(),
            centers=tuple(
                replace(c, total=replace(c.total, operand=read[c.total.operand]))
                for c in problem.centers
            ),
        ).pruned()

    def _finish(
        self,
        operands: Mapping[Node, Operand],
        shape: Shape,
        more: Sequence[Step],
        computed: tuple[Compute, ...] = (),
        means: Mapping[Node, Operand] = {},
    ) -> None:
        """The remaining steps of reductions over the same axes.

        Args:
            operands: What each reduces: partial results, or what is ``computed`` of them.
            shape: Of these.
            more: The next steps, as far as they are known.
            computed: By the first of these steps.
            means: That moments are about.

        """
        reduces = list(operands)
        values, axes, done = self.values, reduced_axes(reduces[0]), False
        while not done:
            step, *more = more or self._stages(next_step(shape, axes, reduces[0].type.dtype), shape)
            done = _finishes(step, shape, axes)
            phase = tuple(
                values.reduce(
                    n, operands[n], final=done, whole=False, mean=means.get(n) if done else None
                )
                for n in reduces
            )
            results = self._homed(reduces) if done else []
            computes = values.computes([*self._elements(), *results], reduces)
            if done:
                stores = values.keep([*reduces, *results])
            else:
                partial = {n: self._partial(n, step, shape) for n in reduces}
                stores = [values.partial_store(n, m, step, shape) for n, m in partial.items()]
            problem = ReductionProblem(
                shape,
                step,
                (*computed, *computes),
                (phase,),
                (),
                tuple(stores),
                device=values.plan.device,
                notes=values.plan.notes,
            )
            self._reduction(problem.pruned())
            shape, computed = step.result(shape), ()
            if not done:
                operands = {n: values.partial_read(n, partial[n], shape) for n in reduces}

    # -- kernels ---------------------------------------------------------------------------------
    def _elementwise(self, members: Sequence[Node], stores: Sequence[Store], shape: Shape) -> None:
        """A kernel without reductions."""
        if stores:
            computes = self.values.computes(members, ())
            plan, everything = self.values.plan, (*shape, 1)
            problem = Problem(everything, computes, tuple(stores), plan.device, plan.notes).pruned()
            self._add(lower_elementwise(problem))
            self.values.watch(compute.node for compute in problem.computes)

    def _reduction(self, problem: ReductionProblem) -> None:
        """The kernel of one step."""
        if not problem.has_results():
            return
        if problem.step.style == "row" and runs_along(problem):
            self._add(lower_rows_of(problem, self.values))
        else:
            self._add(lower_lanes(self._with_accumulators(problem)))
        self.values.watch(compute.node for compute in problem.computes)

    def _with_accumulators(self, problem: ReductionProblem) -> ReductionProblem:
        """Memory for running results of columns and of their blocks, as partial results lie.

        The threads of a device have theirs in registers, and so has whoever walks a short column.
        """
        style, short = problem.step.style, takes_all_phases(problem)
        if style != "column" or short or problem.device.kind == "gpu":
            return problem
        (phase,) = problem.phases
        shape, step = problem.extents, problem.step
        sums = tuple(
            self.values.partial_store(r.node, self._partial(r.node, step, shape), step, shape)
            for r in (*phase, *phase)
        )
        return replace(problem, accumulators=sums)

    def _add(self, launch: Launch | None) -> None:
        if launch is not None:
            self.launches.append(launch)

    # -- pieces ----------------------------------------------------------------------------------
    def _elements(self) -> list[Node]:
        """Members that are computed for every element, as far as they are not in memory yet."""
        values = self.values
        return [n for n in values.unstored() if values.levels.is_element(n)]

    def _element_outputs(self, phase: int) -> list[Node]:
        """Outputs among the elements that are known in a phase, where there are elements."""
        levels = self.values.levels
        if 0 in levels.shape:
            return []
        outputs = [n for n in self.region.outputs if n not in self.values.stored]
        return [n for n in outputs if levels.is_element(n) and levels.phase[n] == phase]

    def _begins(self, node: Node) -> int:
        """The phase in which a reduction takes its first step."""
        levels = self.values.levels
        if is_moment(node):
            return levels.phase.get(self.values.origin(node.args[0]), 0)
        return levels.phase[node] - 1

    def _homed(self, reduces: Iterable[Node]) -> list[Node]:
        """Results that the last kernel of these reductions can compute."""
        home = self.values.levels.home
        homes = {home[node] for node in reduces}
        return [n for n in self.region.nodes if n.op.reduction is None and home.get(n) in homes]

    def _reduce(self, node: Node, here: Collection[Node], *, final: bool) -> Reduce:
        axes = tuple(range(len(self.values.levels.shape)))
        operand = self.values.operand(node.args[0], axes, here)
        return self.values.reduce(node, operand, final=final, whole=True)

    def _memory_for(self, node: Node) -> Scratch:
        return self.values.scratch(node.type.dtype, self.values.levels.shape)

    def _partial(self, node: Node, step: Step, shape: Shape) -> Scratch:
        return self.values.scratch(node.type.dtype, step.result(shape))

    def _stages(self, step: Step, shape: Shape) -> list[Step]:
        """The steps that kernels take for one.

        Where a device is not busy with a thread for each cell of columns, their blocks are combined
        each by a thread, and then the cells of blocks: in the same order, through memory a
        sixteenth as large.
        """
        device = self.values.plan.device
        if device.kind != "gpu" or step.style != "column" or step.extent(shape) <= COLUMN_BLOCK:
            return [step]
        is_busy = math.prod(step.result(shape)) >= _LANES * device.column_threads
        return [step] if is_busy else [replace(step, cell=COLUMN_BLOCK)] * 2

    def _first_step(self, node: Node) -> Step:
        return next_step(self.values.levels.shape, reduced_axes(node), node.type.dtype)


def _finishes(step: Step, shape: Shape, axes: tuple[int, ...]) -> bool:
    """True if nothing is left to reduce after the step."""
    result = step.result(shape)
    return all(result[axis] == 1 for axis in axes)


def _without(shape: Shape, axes: tuple[int, ...]) -> Shape:
    return tuple(1 if axis in axes else extent for axis, extent in enumerate(shape))


def _grouped(nodes: Sequence[Node], key: Callable[[Node], Key]) -> list[tuple[Key, list[Node]]]:
    groups: dict[Key, list[Node]] = {}
    for node in nodes:
        groups.setdefault(key(node), []).append(node)
    return list(groups.items())

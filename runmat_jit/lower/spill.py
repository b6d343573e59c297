"""Keeping values of elements between the phases of one kernel.

Elements are computed again in every phase that needs them. Where that is dear, the first phase
stores them where an output of the kernel will lie in the end, and later phases load them from
there: the row is still in the first-level cache. A GPU has it in registers, and stores nothing
before the last phase. Values of several phases may follow one another there, as those of the
iterations of a loop do: each must be needed no longer once the next one is stored. Where no output
has room for such values they have memory of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

from runmat_jit.core.frozen import frozen
from runmat_jit.core.hardware import ACCESS_FLOPS
from runmat_jit.core.types import c_strides, is_complex
from runmat_jit.graph.node import Node
from runmat_jit.lower.problem import Operand, Store
from runmat_jit.lower.reduction_problem import Kept, ReductionProblem
from runmat_jit.plan.argument import Scratch

_DEAR_FLOPS = 2 * ACCESS_FLOPS
"""A store and a load of a row in cache cost about as much."""


_MANY_PHASES = 4
"""Phases of which each would compute again what all before it did."""


def spilled(
    problem: ReductionProblem, phase: Mapping[Node, int], memory_for: Callable[[Node], Scratch]
) -> ReductionProblem:
    """The problem with values kept from the phase that computes them for later ones.

    Args:
        problem: A kernel walks its rows once for each phase, and once for what comes after all.
        phase: Of each computation, the one in which it is known.
        memory_for: Makes temporary memory for values like one.

    """
    operands = {compute.node: compute.operands for compute in problem.computes}
    spill, kept = _Spill(problem, phase, operands), list[Kept]()
    for at, room in problem.element_stores:
        if room.mask is None and room.outside is None and not is_complex(room.dtype):
            kept += spill.in_place_of(at, room, kept)
    last, end = problem.phases[-1][0].operand, len(problem.phases)
    many = end >= _MANY_PHASES and problem.device.shares_tiles
    if many and isinstance(last, Node) and not is_complex(last.type.dtype):
        strides = (*c_strides(problem.extents), 0)
        own = Store(last, memory_for(last), last.type.dtype, strides)
        kept += spill.in_place_of(end + 1, own, kept)
    stores = tuple([(each.known, each.store) for each in kept])
    return replace(problem, kept=tuple(kept), element_stores=(*stores, *problem.element_stores))


@frozen
class _Spill:
    """Chooses the values that phases store for later ones."""

    problem: ReductionProblem
    phase: Mapping[Node, int]
    operands: Mapping[Node, tuple[Operand, ...]]

    def in_place_of(self, at: int, room: Store, others: Sequence[Kept]) -> list[Kept]:
        """Choose values to store, one after the other, in memory that phase ``at`` overwrites.

        ``others``: values that are already stored elsewhere.
        """
        found: list[Kept] = []
        for known in range(at):
            for node in self._dear(known, room, others):
                new = Kept(node, replace(room, value=node), known, at)
                before = [replace(each, until=min(each.until, known)) for each in found]
                every = [*others, *before, new]
                last = self._last_use(node, every)
                gone = all(self._last_use(each.node, every) <= known for each in before)
                if known < last <= at and gone:
                    found = [*before, new]
                    break
        return found

    def _dear(self, known: int, room: Store, others: Sequence[Kept]) -> list[Node]:
        """Return the values of a phase that fit and cost more to compute again than to load.

        The most expensive come first. GPU threads hold columns in registers: loads are free.
        """
        flops = {
            compute.node: self._flops(compute.node)
            for compute in self.problem.computes
            if self.phase[compute.node] == known
            and compute.node.type.dtype == room.dtype
            and compute.node.type.shape == self.problem.extents
        }
        least = 1.0 if self.problem.step.style == "column" else _DEAR_FLOPS
        taken = {each.node for each in others}
        dear = [node for node in flops if flops[node] >= least and node not in taken]
        return sorted(dear, key=flops.__getitem__, reverse=True)

    def _flops(self, node: Node) -> float:
        """Operations on an element to compute a value from what is in memory."""
        every = self._needed([node], ())
        return sum(n.op.flops for n in every if n.type.shape == self.problem.extents)

    def _last_use(self, node: Node, kept: Sequence[Kept]) -> int:
        """The last phase that needs a value."""
        for at in range(len(self.problem.phases), -1, -1):
            there = {each.node for each in kept if each.known < at <= each.until}
            if node in self._needed(self._wanted(at, kept), there):
                return at
        return 0

    def _wanted(self, at: int, kept: Sequence[Kept]) -> list[Operand]:
        """Return the operands of a phase's reductions and stores."""
        problem = self.problem
        phase = problem.phases[at] if at < len(problem.phases) else ()
        wanted = [reduce.operand for reduce in phase]
        wanted += [reduce.mean for reduce in phase if reduce.mean is not None]
        wanted += [operand for store in problem.stores_of(at) for operand in store.operands]
        return wanted + [each.node for each in kept if each.known == at]

    def _needed(self, wanted: Sequence[Operand], there: Collection[Node]) -> set[Node]:
        """Return the nodes that operands depend on; nodes in ``there`` are loaded, not computed."""
        found: set[Node] = set()
        waiting = list(wanted)
        while waiting:
            operand = waiting.pop()
            if isinstance(operand, Node) and operand in self.operands and operand not in found:
                found.add(operand)
                waiting += [] if operand in there else self.operands[operand]
        return found

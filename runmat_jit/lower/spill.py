"""Keeping an expensive value of a row between the phases of one kernel.

Elements are recomputed in every phase that needs them. Where that is dear, the first phase stores
them where an output of the kernel will lie in the end, and later phases load them from there: the
row is still in the first-level cache. Devices have it in registers, and store nothing before the
last phase.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from runmat_jit.core.hardware import ACCESS_FLOPS
from runmat_jit.graph.node import Node
from runmat_jit.lower.problem import Operand, Read, Store, needed
from runmat_jit.lower.reduction_problem import ReductionProblem

_DEAR_FLOPS = 2 * ACCESS_FLOPS
"""A store and a load of a row in cache cost about as much."""


def spilled(problem: ReductionProblem, phase: Mapping[Node, int]) -> ReductionProblem:
    """The problem with the dearest value that several phases need kept, if an output has room."""
    best = None
    for compute in problem.computes:
        known = phase[compute.node]
        later = [c for c in problem.computes if phase[c.node] > known]
        room = _room(problem, compute.node, known)
        if room is None or not any(compute.node in c.operands for c in later):
            continue
        flops = sum(c.node.op.flops for c in needed(problem.computes, [compute.node]))
        if flops >= _DEAR_FLOPS and (best is None or flops > best[0]):
            best = flops, compute.node, room
    if best is None:
        return problem
    _, node, room = best
    read = Read(room.memory, room.dtype, room.strides)
    return _with_kept(problem, node, phase, replace(room, value=node), read)


def _room(problem: ReductionProblem, node: Node, known: int) -> Store | None:
    """A store of elements of the node's dtype that happens later than the node is known."""
    stores = [store for at, store in problem.element_stores if at > known]
    fitting = [store for store in stores if store.dtype == node.type.dtype]
    return fitting[0] if fitting and node.type.shape == problem.extents else None


def _with_kept(
    problem: ReductionProblem, node: Node, phase: Mapping[Node, int], store: Store, read: Read
) -> ReductionProblem:
    known = phase[node]

    def seen(operand: Operand, at: int) -> Operand:
        return read if operand is node and at > known else operand

    computes = tuple(
        replace(c, operands=tuple(seen(o, phase[c.node]) for o in c.operands))
        for c in problem.computes
    )
    phases = tuple(
        tuple(replace(reduce, operand=seen(reduce.operand, at)) for reduce in each)
        for at, each in enumerate(problem.phases)
    )
    element_stores = (
        (known, store),
        *((at, replace(s, value=seen(s.value, at))) for at, s in problem.element_stores),
    )
    kept = replace(problem, computes=computes, phases=phases, element_stores=element_stores)
    return kept.pruned()

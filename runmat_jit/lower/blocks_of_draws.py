"""Draws of which a lane computes whole blocks: random numbers come some at a time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from runmat_jit.core.slotted import slotted
from runmat_jit.graph.node import Node
from runmat_jit.kernel.ir import Value
from runmat_jit.lower.body import Body
from runmat_jit.lower.iterations import Turns
from runmat_jit.lower.problem import Compute, Iota, Problem, Read, Store
from runmat_jit.ops.random import ELEMENTS_PER_BLOCK, numbers_of_block

_ROWS = ("random_uniform", "random_normal")


@slotted
class BlocksOfDraws:
    """The numbers of the blocks that a lane has computed; ``width`` elements are a lane's.

    ``drawn``: the draws of which elements side by side have numbers side by side.
    """

    width: int
    drawn: frozenset[Node]
    known: dict[tuple[Node, int], tuple[Value, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, problem: Problem, extent: int, turns: Turns | None) -> BlocksOfDraws:
        """Those of a problem over one axis of an extent; one element a lane if there are none."""
        steps: Mapping[Read, int] = {} if turns is None else turns.steps
        drawn = [c for c in problem.computes if _is_in_order(c, steps)]
        width = max([ELEMENTS_PER_BLOCK[c.node.type.dtype.itemsize] for c in drawn], default=1)
        if type(extent) is not int or extent % width:
            return cls(1, frozenset())
        return cls(width, frozenset([c.node for c in drawn]))

    def number(self, body: Body, compute: Compute) -> Value | None:
        """The number of the element that is emitted; None of what is no such draw."""
        node = compute.node
        if node not in self.drawn:
            return None
        per_block = ELEMENTS_PER_BLOCK[node.type.dtype.itemsize]
        block, place = divmod(body.place, per_block)
        if not place:
            index, key, counter = map(body.value, compute.operands)
            at = index >> (per_block.bit_length() - 1)
            kind = node.op.name, node.type.dtype.name
            self.known[node, block] = numbers_of_block(body.builder, *kind, at, (key, counter))
        return self.known[node, block][place]

    def may_store_beside(self, body: Body, store: Store) -> bool:
        """True if the elements of a lane are stored at once, side by side: by processors."""
        return self.width > 1 and store.mask is None and body.lies_side_by_side(store)


def draws_numbers(problem: Problem) -> bool:
    """True if a problem has random numbers whose blocks may be computed whole."""
    return any(compute.node.op.name in _ROWS for compute in problem.computes)


def _is_in_order(compute: Compute, steps: Mapping[Read, int]) -> bool:
    """True if a draw's elements are numbered one after another, from the first of a block on."""
    node, index = compute.node, compute.operands[0] if compute.operands else None
    if node.op.name not in _ROWS or not isinstance(index, Read):
        return False
    count, size = index.source, ELEMENTS_PER_BLOCK[node.type.dtype.itemsize]
    if not isinstance(count, Iota) or count.wide or (count.start, count.step) != (0, 1):
        return False
    return count.offset % size == 0 and steps.get(index, 0) % size == 0

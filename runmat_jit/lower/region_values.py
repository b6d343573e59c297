"""The values of a region with reductions while it is lowered: where each can be read by now."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import field

import numpy as np

from runmat_jit.core.slotted import slotted
from runmat_jit.core.types import c_strides
from runmat_jit.graph.node import Node
from runmat_jit.lower.events import noted_values
from runmat_jit.lower.operands import operand_of, spread
from runmat_jit.lower.problem import Compute, Memory, Operand, Read, Store
from runmat_jit.lower.product_sums import ProductRows
from runmat_jit.lower.reduction_levels import Axes, Levels
from runmat_jit.lower.reduction_problem import Reduce
from runmat_jit.passes.fusion.access import is_view, stored_strides
from runmat_jit.passes.fusion.reduction_shape import Step
from runmat_jit.passes.fusion.region import Region
from runmat_jit.plan.argument import NodeBuffer, Scratch
from runmat_jit.plan.plan import Plan

Shape = tuple[int, ...]
OF_BOOLS = {"max": "or", "add": "or", "min": "and", "mul": "and"}


@slotted
class RegionValues:
    """Makes the pieces of problems; remembers what has been stored and tested."""

    region: Region
    plan: Plan
    levels: Levels
    tested: frozenset[Node] = frozenset()
    stored: dict[Node, Memory] = field(default_factory=dict)
    rows: ProductRows | None = None
    """The product of the region, if its rows lie in a cache."""
    rows_read: int = 0
    """Kernels that read them."""
    _watched: set[Node] = field(default_factory=set)
    _scratches: int = 0

    def __post_init__(self) -> None:
        self.tested = noted_values(self.region)

    def origin(self, node: Node) -> Node:
        """The member that a member shows under another shape; any other value itself."""
        while is_view(node) and node in self.levels.phase:
            node = node.args[0]
        return node

    def unstored(self) -> list[Node]:
        """The members that are not in memory yet."""
        return [node for node in self.region.nodes if node not in self.stored]

    # -- memory ----------------------------------------------------------------------------------
    def next_scratch(self) -> int:
        """The number of a new temporary memory."""
        self._scratches += 1
        return self._scratches - 1

    def scratch(self, dtype: np.dtype, shape: Shape) -> Scratch:
        """New temporary memory for values of a shape, in C order."""
        return Scratch(self.next_scratch(), dtype, max(1, math.prod(shape)))

    def store(self, node: Node, memory: Memory, here: Collection[Node]) -> Store:
        """A store of a whole value by a kernel that computes ``here``."""
        axes = self.levels.axes[node]
        strides = spread(self._strides(node, memory), axes, node, self._rank)
        return Store(self.operand(node, axes, here), memory, node.type.dtype, (*strides, 0))

    def _strides(self, node: Node, memory: Memory) -> Shape:
        if isinstance(memory, NodeBuffer):
            return stored_strides(node, self.plan.orders)
        return c_strides(node.type.shape)

    @property
    def _rank(self) -> int:
        return len(self.levels.shape)

    # -- computations ----------------------------------------------------------------------------
    def operand(self, node: Node, axes: Axes, here: Collection[Node]) -> Operand:
        """How a kernel that computes ``here`` gets a value; ``axes`` are those of its user."""
        node = self.origin(node)
        if node in here:
            return node
        memory = self.stored.get(node)
        if memory is not None:
            strides = self._strides(node, memory)
            along = spread(strides, self.levels.axes[node], node, self._rank)
            return Read(memory, node.type.dtype, (*along, 0))
        found = operand_of(node, axes[len(axes) - node.type.ndim :], self._rank, here, self.plan)
        if isinstance(found, Read):
            return Read(found.source, found.dtype, (*found.strides, 0))
        return found

    def computes(self, nodes: Iterable[Node], seeds: Collection[Node]) -> tuple[Compute, ...]:
        """The computations of ``nodes``; ``seeds`` are results the kernel has beside them."""
        computed = [node for node in nodes if node.op.expand is not None]
        here = {*computed, *seeds}
        return tuple(
            Compute(
                node,
                tuple(self.operand(arg, self.levels.axes[node], here) for arg in node.args),
                node in self.tested and node not in self._watched,
                node not in self._watched,
            )
            for node in computed
        )

    def watch(self, nodes: Iterable[Node]) -> None:
        """Remember that a kernel has tested these values."""
        self._watched.update(nodes)

    def reduce(
        self,
        node: Node,
        operand: Operand,
        *,
        final: bool,
        whole: bool,
        mean: Operand | None = None,
    ) -> Reduce:
        """A reduction member, fed by ``operand``; ``mean``: that it is about."""
        assert node.op.reduction is not None, f"{node.op.name} reduces nothing"
        combine = node.op.reduction.combine
        if node.type.dtype == np.bool_:
            combine = OF_BOOLS.get(combine, combine)
        dtype, tested = node.type.dtype, node in self.tested
        return Reduce(node, operand, combine, dtype, final, tested, whole, mean)

    def keep(self, results: Sequence[Node]) -> list[Store]:
        """Stores of results that one kernel has, as far as outputs or other kernels want them."""
        homes = {self.levels.home.get(node) for node in results} - {None}
        stores = []
        for node in results:
            shown = [out for out in self.region.outputs if self.origin(out) is node]
            stores += [self.store(out, NodeBuffer(out), results) for out in shown]
            if node in shown:
                self.stored[node] = NodeBuffer(node)
            elif any(self.levels.home.get(user) not in homes for user in self._users(node)):
                memory = self.stored[node] = self.scratch(node.type.dtype, node.type.shape)
                stores.append(self.store(node, memory, results))
        return stores

    def _users(self, node: Node) -> list[Node]:
        return [user for user in self.region.nodes if node in map(self.origin, user.args)]

    def partial_store(self, node: Node, memory: Scratch, step: Step, shape: Shape) -> Store:
        """A store of partial results of a step that read ``shape``."""
        strides = c_strides(step.result(shape))
        kept = tuple(0 if a in step.axes else stride for a, stride in enumerate(strides))
        cell = strides[step.axes[-1]] if step.axes else 0
        return Store(node, memory, node.type.dtype, (*kept, cell))

    def partial_read(self, node: Node, memory: Scratch, shape: Shape) -> Read:
        """A read of partial results of a shape."""
        return Read(memory, node.type.dtype, (*c_strides(shape), 0))

"""Placement of a program's values in numbered memory."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

import numpy as np

from runmat_jit.core.types import c_strides
from runmat_jit.graph.node import Into, Node, Output
from runmat_jit.plan.argument import (
    Argument,
    HostOperand,
    InputScalar,
    NodeBuffer,
    NodeView,
    Scratch,
    TableBuffer,
)
from runmat_jit.plan.layout import Buffer, Commit, Layout
from runmat_jit.plan.plan import Plan
from runmat_jit.plan.shared_buffers import take_turns


def place_memory(plan: Plan, uses: Sequence[Sequence[Argument | HostOperand]]) -> Layout:
    """The memory of a planned program: its inputs, tables, and what every run makes anew.

    Args:
        plan: The plan.
        uses: The arguments of each launch, and what each host call reads and gives, in the order in
            which they run.

    """
    places = _Places(plan, [argument for launch in uses for argument in launch])
    return places.layout([[*map(places.numbers.__getitem__, keys_of(launch))] for launch in uses])


def keys_of(arguments: Sequence[Argument | HostOperand]) -> list[Node | Scratch | str]:
    """What these arguments name of a program's memory; others are numbers, or extents."""
    return [key_of(argument) for argument in arguments if isinstance(argument, InMemory)]


InMemory = NodeBuffer | NodeView | Scratch | InputScalar | TableBuffer


def key_of(argument: InMemory) -> Node | Scratch | str:
    """The node, scratch or table (by name) whose memory an argument stands for."""
    if isinstance(argument, TableBuffer):
        return argument.name
    if isinstance(argument, NodeView):
        return argument.base
    return argument if isinstance(argument, Scratch) else argument.node


class _Places:
    """Numbers memory: inputs, then tables, then buffers."""

    def __init__(self, plan: Plan, arguments: Sequence[Argument | HostOperand]) -> None:
        self.plan = plan
        inputs = plan.graph.inputs
        self.numbers: dict[Node | Scratch | str, int] = {n: i for i, n in enumerate(inputs)}
        tables = (argument.name for argument in arguments if isinstance(argument, TableBuffer))
        self.tables = tuple(dict.fromkeys(tables))
        self.numbers |= {name: len(inputs) + i for i, name in enumerate(self.tables)}
        self.buffers: list[Buffer] = []
        made = ((node, region) for region in plan.regions for node in region.outputs)
        for node, region in made:
            base = plan.in_place.get(node) or plan.direct.get(node)
            if base is None:
                returned, order = region.is_host, plan.orders[node]
                kind = node.type
                self.numbers[node] = self.add_buffer(
                    kind.shape, kind.dtype, order, returned=returned
                )
            else:
                self.numbers[node] = self.numbers[base]
        for argument in arguments:
            if isinstance(argument, Scratch) and argument not in self.numbers:
                place = self.add_buffer((argument.size,), argument.dtype, (0,))
                self.numbers[argument] = place

    def add_buffer(
        self,
        shape: tuple[int, ...],
        dtype: np.dtype,
        order: tuple[int, ...],
        *,
        returned: bool = False,
    ) -> int:
        """A buffer that every run makes anew."""
        place = len(self.plan.graph.inputs) + len(self.tables) + len(self.buffers)
        plain = order == tuple(range(len(shape)))
        strides = None if plain else tuple(s * dtype.itemsize for s in c_strides(shape, order))
        nbytes = math.prod(shape) * dtype.itemsize
        self.buffers.append(Buffer(place, shape, dtype, strides, nbytes, returned=returned))
        return place

    def layout(self, uses: Sequence[Sequence[int]]) -> Layout:
        """The finished layout; ``uses`` lists, for each launch, the places it reads or writes."""
        fresh: list[int] = []
        copies: list[tuple[int, int]] = []
        commits: list[Commit] = []
        written: list[int] = []
        for output in self.plan.graph.outputs:
            node, source = output.node, self.numbers[output.node]
            if node in self.plan.direct:
                written.append(source)
                continue
            order = self.copied_order(output, source, fresh)
            if order is not None:
                place = self.add_buffer(node.type.shape, node.type.dtype, order)
                copies.append((source, place))
                source = place
            if isinstance(output.target, Into):
                commits.append(self.commit(node, source, output.target))
            else:
                fresh.append(source)
        copied = {place for pair in copies for place in pair}
        kept = {*fresh, *(commit.source for commit in commits), *copied}
        return Layout(
            len(self.plan.graph.inputs),
            self.tables,
            take_turns(self.buffers, uses, kept),
            tuple(fresh),
            tuple(copies),
            tuple(commits),
            self.numbers,
            tuple(written),
        )

    def copied_order(
        self, output: Output, source: int, fresh: Collection[int]
    ) -> tuple[int, ...] | None:
        """The order of axes of the copy that an output needs; None where it needs none."""
        orders, outputs = self.plan.orders, self.plan.graph.outputs
        is_input = source < len(self.plan.graph.inputs)
        if isinstance(output.target, Into):  # an input may be written before it is read as a value
            writes = sum(isinstance(each.target, Into) for each in outputs)
            plain = tuple(range(output.node.type.ndim))
            return orders.get(output.node, plain) if is_input and writes > 1 else None
        order = output.target.order
        shared = is_input or source in fresh or orders.get(output.node) != order
        return order if shared else None

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

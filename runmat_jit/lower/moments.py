"""Squared deviations over cells: what a cell gives, and what is made of the cells.

A cell adds what its elements leave after a center, and the squares of that. The first tells the
mean of the cell better than the center, which is rounded; so cells are put together without an
error of first order, however far the mean is from zero. Squares are NaN where an element is
infinite; where they are infinite, they are too large, and so is the result.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from runmat_jit.core.frozen import frozen
from runmat_jit.core.types import TensorType
from runmat_jit.graph.apply import make_node
from runmat_jit.graph.constant import constant
from runmat_jit.graph.node import Node
from runmat_jit.lower.problem import Compute, Operand, Read
from runmat_jit.passes.fusion.edges import reduced_axes


@frozen
class Moment:
    """Values of the cells for squared deviations, ``node``: kernels alone have them.

    Attributes:
        node: What they are for.
        total: The sum that gives the center.
        count: How many elements ``total`` adds.
        weight: How many elements the cell has.
        center: What elements are taken from.
        rest: What is left of an element.
        square: Its square.
        left: The sum of what is left.
        squares: The sum of the squares.

    """

    node: Node
    total: Node
    count: Node
    weight: Node
    center: Node
    rest: Node
    square: Node
    left: Node
    squares: Node

    @property
    def of_cells(self) -> tuple[Node, ...]:
        """What is kept of each cell."""
        return self.center, self.weight, self.left, self.squares

    def within(self, x: Operand) -> tuple[Compute, ...]:
        """What a cell computes of its elements."""
        return (
            _unwatched(self.center, self.total, self.count),
            _unwatched(self.rest, x, self.center),
            _unwatched(self.square, self.rest),
        )

    def between(self, cells: Sequence[Read], mean: Operand) -> tuple[Compute, ...]:
        """What a cell adds to the result, computed last; ``cells`` are reads of ``of_cells``."""
        center, weight, left, squares = cells
        kind = self.center.type
        found: list[Compute] = []

        def computed(name: str, *operands: Operand, dtype: type | np.dtype = kind.dtype) -> Node:
            made = make_node(name, (), {}, TensorType(np.dtype(dtype), kind.shape))
            found.append(_unwatched(made, *operands))
            return found[-1].node

        further = computed("divide", left, weight)
        within = computed("subtract", squares, computed("multiply", left, further))
        within = computed("maximum", within, constant(0.0, kind.dtype))  # but for rounding it is
        apart = computed("add", computed("subtract", center, mean), further)
        both = computed("add", within, computed("multiply", weight, computed("square", apart)))
        computed("where", computed("isfinite", squares, dtype=bool), both, squares)
        return tuple(found)


def moment_of(node: Node, total: Node | None) -> Moment:
    """The values for squared deviations; ``total``: of a sum that the kernel makes anyway."""
    x, mean = node.args
    kept = mean.type
    over = {"axis": reduced_axes(node), "keepdims": True, "dtype": kept.dtype.name}
    if total is None:
        total = make_node("sum", (x,), over, kept)
    count, weight = (make_node("count", (), {"number": 0}, kept) for _ in range(2))
    center = make_node("divide", (total, count), {}, kept)
    rest = make_node("subtract", (x, center), {}, x.type)
    square = make_node("square", (rest,), {}, x.type)
    left, squares = (make_node("sum", (term,), over, kept) for term in (rest, square))
    return Moment(node, total, count, weight, center, rest, square, left, squares)


def _unwatched(node: Node, *operands: Operand) -> Compute:
    """A computation that reports nothing: the moment itself does."""
    return Compute(node, operands, watched=False)

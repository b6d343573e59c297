"""What one kernel of a reduction computes, and the loop nest for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from runmat_jit.graph.node import Node
from runmat_jit.lower.nest import Access, Nest, merge_axes
from runmat_jit.lower.problem import Compute, Memory, Operand, Read, Store, needed
from runmat_jit.passes.fusion.reduction_shape import Step


@dataclass(frozen=True, slots=True)
class Reduce:
    """A value combined along the reduced axes; ``node`` stands for the result.

    ``final``: this kernel makes the result itself, not partial results.
    """

    node: Node
    operand: Operand
    combine: str
    dtype: np.dtype
    final: bool
    tested: bool = False


@dataclass(frozen=True, slots=True)
class ReductionProblem:
    """One step of reductions over axes with extents, what feeds it and what uses its results.

    Strides of reads and stores have one entry an axis, and a last one for the number of the cell.

    Attributes:
        extents: The shape that is read.
        step: Which axes are combined, and how.
        computes: Computations on elements and on results, operands first.
        phases: Reductions in the order in which they can run; a later phase may use results of
            an earlier one. Several only where a cell holds all reduced elements.
        element_stores: Values of elements to store, with the phase in which they are known
            (``len(phases)``: after the last).
        result_stores: Values to store that do not vary along the reduced axes.

    """

    extents: tuple[int, ...]
    step: Step
    computes: tuple[Compute, ...]
    phases: tuple[tuple[Reduce, ...], ...]
    element_stores: tuple[tuple[int, Store], ...]
    result_stores: tuple[Store, ...]

    def accesses(self) -> tuple[Access, ...]:
        """All reads and stores, each once."""
        operands = [o for compute in self.computes for o in compute.operands]
        operands += [reduce.operand for phase in self.phases for reduce in phase]
        stores = [store for _, store in self.element_stores] + list(self.result_stores)
        operands += [store.value for store in stores]
        return (*dict.fromkeys(o for o in operands if isinstance(o, Read)), *stores)

    def pruned(self) -> ReductionProblem:
        """The same problem without computations that no reduction and no store needs."""
        wanted = [reduce.operand for phase in self.phases for reduce in phase]
        wanted += [store.value for _, store in self.element_stores]
        wanted += [store.value for store in self.result_stores]
        return replace(self, computes=needed(self.computes, wanted))

    def written(self) -> frozenset[Memory]:
        """All memory that is written."""
        elements = {store.memory for _, store in self.element_stores}
        return frozenset(elements | {store.memory for store in self.result_stores})

    def stores_of(self, phase: int) -> tuple[Store, ...]:
        """Stores of elements in one phase."""
        return tuple(store for at, store in self.element_stores if at == phase)


@dataclass(frozen=True, slots=True)
class ReductionNest:
    """A nest whose axes are: outer ones, the cell's number (if any), then as the kernel says."""

    nest: Nest
    outer: int
    cells: int | None
    """The axis that counts cells, None where one cell holds the whole group."""


def row_nest(problem: ReductionProblem) -> ReductionNest | None:
    """Lanes along the group. None where the group's axes do not lie as one in memory."""
    extents, columns, accesses = _split_axes(problem)
    group_extents, group_columns = merge_axes(*_take(problem.step.axes, extents, columns))
    if len(group_extents) > 1:
        return None
    outer_extents, outer_columns = merge_axes(*_outer(problem, extents, columns))
    count, cell_columns = _cell_axis(problem, columns)
    nest = Nest(
        (*outer_extents, *count, *group_extents),
        _strides(accesses, outer_columns, cell_columns, group_columns),
        len(outer_extents) + len(count),
    )
    return ReductionNest(nest, len(outer_extents), len(outer_extents) if count else None)


def column_nest(problem: ReductionProblem) -> ReductionNest:
    """Lanes along the last other axis, then the axes of the group."""
    extents, columns, accesses = _split_axes(problem)
    group_extents, group_columns = merge_axes(*_take(problem.step.axes, extents, columns))
    outer_extents, outer_columns = merge_axes(*_outer(problem, extents, columns))
    if not outer_extents:  # one result: one lane of a contiguous array
        outer_extents, outer_columns = [1], [[int(a.memory is not None)] for a in accesses]
    count, cell_columns = _cell_axis(problem, columns)
    outer = len(outer_extents) - 1
    nest = Nest(
        (*outer_extents[:-1], *count, outer_extents[-1], *group_extents),
        _strides(
            accesses,
            [column[:-1] for column in outer_columns],
            cell_columns,
            [column[-1:] for column in outer_columns],
            group_columns,
        ),
        outer + len(count),
    )
    return ReductionNest(nest, outer, outer if count else None)


def _split_axes(
    problem: ReductionProblem,
) -> tuple[tuple[int, ...], list[tuple[int, ...]], tuple[Access, ...]]:
    accesses = problem.accesses()
    return problem.extents, [access.strides for access in accesses], accesses


def _take(
    axes: Sequence[int], extents: Sequence[int], columns: Sequence[Sequence[int]]
) -> tuple[list[int], list[list[int]]]:
    return [extents[a] for a in axes], [[column[a] for a in axes] for column in columns]


def _outer(
    problem: ReductionProblem, extents: Sequence[int], columns: Sequence[Sequence[int]]
) -> tuple[list[int], list[list[int]]]:
    group = problem.step.axes
    axes = [a for a, extent in enumerate(extents) if extent != 1 and a not in group]
    return _take(axes, extents, columns)


def _cell_axis(
    problem: ReductionProblem, columns: Sequence[Sequence[int]]
) -> tuple[list[int], list[list[int]]]:
    cells = problem.step.cells(problem.extents)
    if cells == 1:
        return [], [[] for _ in columns]
    return [cells], [[column[-1]] for column in columns]


def _strides(
    accesses: Sequence[Access], *parts: Sequence[Sequence[int]]
) -> dict[Access, tuple[int, ...]]:
    rows = zip(*parts, strict=True)
    return {
        access: tuple(stride for part in row for stride in part)
        for access, row in zip(accesses, rows, strict=True)
    }

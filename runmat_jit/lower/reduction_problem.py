"""What one kernel of a reduction computes, and the loop nest for it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from runmat_jit.core.frozen import frozen
from runmat_jit.core.hardware import LANES
from runmat_jit.graph.node import Node
from runmat_jit.lower.nest import FEW_LANES, NEAR, Access, Nest, merge_axes, permute
from runmat_jit.lower.problem import Compute, Memory, Operand, Read, Store, needed
from runmat_jit.passes.events import reports_events
from runmat_jit.passes.fusion.reduction_shape import WHOLE_WORDS, Step, is_shared_by_threads
from runmat_jit.plan.device import CPU, Device
from runmat_jit.plan.notes import RESULTS, Notes

_MANY_RESULTS = 2 * LANES
"""Rows that fill some vectors if lanes run across them."""
_FEW_ELEMENTS = 3 * LANES // 4
"""Rows shorter than this are too short for vectors of their own."""


FIRST = "first"
"""How positions are combined: the one that belongs to the more extreme value, the lower of two."""


@frozen
class Reduce:
    """A value combined along the reduced axes; ``node`` stands for the result.

    Where ``combine`` is ``FIRST``, values are positions, and those before it in its phase are what
    stands there.
    ``final``: this kernel makes the result itself, not partial results. ``tested``: note a result
    that is not finite. ``whole``: the operand are the elements, not partial results. ``mean``: that
    of the elements, of a moment.
    """

    node: Node
    operand: Operand
    combine: str
    dtype: np.dtype
    final: bool
    tested: bool = False
    whole: bool = True
    mean: Operand | None = None

    @property
    def reports(self) -> bool:
        """True if it may report events."""
        return reports_events(self.node)


@frozen
class Center:
    """What the elements of a cell are taken from before they are squared: the mean of some.

    Attributes:
        node: The center; ``total`` over ``count``.
        total: The sum of the whole cell, one of the first phase; in columns that of the first
            block, in no phase.
        count: How many elements it adds.
        weight: How many the cell has.
        squares: The sum of the squares.

    """

    node: Node
    total: Reduce
    count: Node
    weight: Node
    squares: Reduce


@frozen
class Kept:
    """An elementwise value that one phase stores and later phases load.

    Attributes:
        node: The value.
        store: Writes it to the memory of an output that is stored later, or to temporary memory.
        known: The phase that computes and stores it.
        until: The last phase that loads it.

    """

    node: Node
    store: Store
    known: int
    until: int


@frozen
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
        accumulators: Memory for running results of each reduction (of the only phase), and then of
            each one's block; none where registers do.
        centers: Those of the cells, for moments.
        device: As of a plan.
        notes: As of a plan.
        kept: Values that are stored for later phases; ``element_stores`` has their stores.

    """

    extents: tuple[int, ...]
    step: Step
    computes: tuple[Compute, ...]
    phases: tuple[tuple[Reduce, ...], ...]
    element_stores: tuple[tuple[int, Store], ...]
    result_stores: tuple[Store, ...]
    accumulators: tuple[Store, ...] = ()
    centers: tuple[Center, ...] = ()
    device: Device = CPU
    notes: Notes = RESULTS
    kept: tuple[Kept, ...] = ()

    def accesses(self) -> tuple[Access, ...]:
        """All reads and stores, each once."""
        operands = [o for compute in self.computes for o in compute.operands]
        operands += self.reduced()
        stores = (*(s for _, s in self.element_stores), *self.result_stores)
        operands += [store.value for store in stores]
        reads = dict.fromkeys(o for o in operands if isinstance(o, Read))
        return (*reads, *stores, *self.accumulators)

    def reduced(self) -> list[Operand]:
        """What reductions take, and the means that moments are about."""
        reduces = [reduce for phase in self.phases for reduce in phase]
        reduces += [center.total for center in self.centers]
        means = [reduce.mean for reduce in reduces if reduce.mean is not None]
        return [*(reduce.operand for reduce in reduces), *means]

    def seeds(self) -> Iterator[Node]:
        """What blocks of the kernel define."""
        for phase in self.phases:
            yield from (reduce.node for reduce in phase)
        for center in self.centers:
            yield from (center.total.node, center.count, center.weight)

    def pruned(self) -> ReductionProblem:
        """The same problem without computations that no reduction and no store needs."""
        wanted = self.reduced()
        wanted += [store.value for _, store in self.element_stores]
        wanted += [store.value for store in self.result_stores]
        return replace(self, computes=needed(self.computes, wanted))

    def written(self) -> frozenset[Memory]:
        """All memory that is written."""
        stores = [store for _, store in self.element_stores]
        stores += [*self.result_stores, *self.accumulators]
        return frozenset(store.memory for store in stores)

    def stores_of(self, phase: int) -> tuple[Store, ...]:
        """Stores of elements in one phase."""
        return tuple(store for at, store in self.element_stores if at == phase)

    def kept_for(self, phase: int) -> dict[Node, Store]:
        """Return the values that a phase loads, with the earlier stores of them."""
        return {e.node: e.store for e in self.kept if e.known < phase <= e.until}

    def others(self) -> list[int]:
        """The axes that the step does not combine, those of extent 1 left out."""
        group = self.step.axes
        return [a for a, extent in enumerate(self.extents) if extent != 1 and a not in group]

    def has_results(self) -> bool:
        """True if anything is made: an axis that is kept may be without elements."""
        return all(self.extents[axis] for axis in self.others())

    def bulk(self) -> list[Read]:
        """Reads that vary along the combined axes and along others: most of what is read."""
        return [
            access
            for access in self.accesses()
            if isinstance(access, Read)
            and any(access.strides[axis] for axis in self.step.axes)
            and any(access.strides[axis] for axis in self.others())
        ]


@frozen
class ReductionNest:
    """A nest whose axes are: outer ones, the cell's number (if any), then as the kernel says."""

    nest: Nest
    outer: int
    cells: int | None
    """The axis that counts cells, None where one cell holds the whole group."""


def runs_along(problem: ReductionProblem) -> bool | None:
    """True if lanes should run along a row; False: across rows. None: neither suits all reads."""
    if row_nest(problem) is None:
        return False if _longest_other(problem) >= FEW_LANES else None
    few = problem.step.extent(problem.extents) < _FEW_ELEMENTS
    if few and len(problem.phases) == 1 and _longest_other(problem) >= _MANY_RESULTS:
        return False
    across = [_lies_across(problem, read) for read in problem.bulk()]
    if any(across) and _longest_other(problem) >= FEW_LANES:
        return False if all(across) else None
    return True


def fits_a_team(problem: ReductionProblem) -> bool:
    """True if threads of a GPU should share each column: a block of its elements a thread.

    The column is read once then, not once for each phase. A single reduction gains only where there
    are fewer columns than threads.
    """
    step, device = problem.step, problem.device
    if not device.shares_tiles or not is_shared_by_threads(step, problem.extents):
        return False
    whole = all(access.dtype in WHOLE_WORDS for access in problem.accesses())
    first = any(reduce.combine == FIRST for phase in problem.phases for reduce in phase)
    if first or not whole or row_nest(problem) is None:
        return False
    walks = len(problem.phases) + any(at == len(problem.phases) for at, _ in problem.element_stores)
    return walks > 1 or math.prod(step.result(problem.extents)) < device.column_threads


def _longest_other(problem: ReductionProblem) -> int:
    return max((problem.extents[axis] for axis in problem.others()), default=1)


def _lies_across(problem: ReductionProblem, read: Read) -> bool:
    along = min(abs(read.strides[axis]) or math.inf for axis in problem.step.axes)
    across = min(abs(read.strides[axis]) or math.inf for axis in problem.others())
    return along > NEAR and across < along


def row_nest(problem: ReductionProblem) -> ReductionNest | None:
    """Lanes along the group. None where the group's axes do not lie as one in memory."""
    accesses = problem.accesses()
    group_extents, group_columns = _merged(problem, problem.step.axes, accesses)
    if len(group_extents) > 1:
        return None
    outer_extents, outer_columns = _merged(problem, problem.others(), accesses)
    count, cell_columns = _cell_axis(problem, accesses)
    nest = Nest(
        (*outer_extents, *count, *group_extents),
        _strides(accesses, outer_columns, cell_columns, group_columns),
        len(outer_extents) + len(count),
    )
    return ReductionNest(nest, len(outer_extents), len(outer_extents) if count else None)


def lane_nest(problem: ReductionProblem) -> ReductionNest:
    """Lanes along another axis, then the axes of the group."""
    accesses = problem.accesses()
    group_extents, group_columns = _merged(problem, problem.step.axes, accesses)
    extents, columns = _lanes_last(problem, *_merged(problem, problem.others(), accesses))
    if not extents:  # one result: one lane of a contiguous array
        extents, columns = [1], [[int(a.memory is not None)] for a in accesses]
    count, cell_columns = _cell_axis(problem, accesses)
    outer = len(extents) - 1
    nest = Nest(
        (*extents[:-1], *count, extents[-1], *group_extents),
        _strides(
            accesses,
            [column[:-1] for column in columns],
            cell_columns,
            [column[-1:] for column in columns],
            group_columns,
        ),
        outer + len(count),
    )
    return ReductionNest(nest, outer, outer if count else None)


def _lanes_last(
    problem: ReductionProblem, extents: Sequence[int], columns: Sequence[Sequence[int]]
) -> tuple[list[int], list[list[int]]]:
    """The other axes, the one along which most reads are contiguous last."""
    axes = list(range(len(extents)))
    long = [axis for axis in axes if extents[axis] >= FEW_LANES] or axes
    bulk = set(problem.bulk())
    pairs = zip(problem.accesses(), columns, strict=True)
    reads = [column for access, column in pairs if access in bulk]
    if not reads:
        return [*extents], [[*column] for column in columns]
    near = min(reversed(long), key=lambda axis: sum(abs(column[axis]) for column in reads))
    order = [axis for axis in axes if axis != near] + [near]
    return merge_axes(*permute(order, extents, columns))


def _merged(
    problem: ReductionProblem, axes: Sequence[int], accesses: Sequence[Access]
) -> tuple[list[int], list[list[int]]]:
    return merge_axes(*permute(axes, problem.extents, [access.strides for access in accesses]))


def _cell_axis(
    problem: ReductionProblem, accesses: Sequence[Access]
) -> tuple[list[int], list[list[int]]]:
    cells = problem.step.cells(problem.extents)
    if cells == 1:
        return [], [[] for _ in accesses]
    return [cells], [[access.strides[-1]] for access in accesses]


def _strides(
    accesses: Sequence[Access], *parts: Sequence[Sequence[int]]
) -> dict[Access, tuple[int, ...]]:
    rows = zip(*parts, strict=True)
    return {
        access: tuple(stride for part in row for stride in part)
        for access, row in zip(accesses, rows, strict=True)
    }

"""Kernels over large arrays that run in turns, band of rows after band, while rows are in cache.

Each of some kernels in a row computes what the next ones read a few rows around, as the steps of a
stencil do. A kernel that is so many rows behind another reads what that has computed, and writes
over nothing that it still reads.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from runmat_jit.core.frozen import frozen
from runmat_jit.core.hardware import L3
from runmat_jit.graph.node import Node
from runmat_jit.lower.nest import Access
from runmat_jit.lower.problem import Compute, Iota, Operand, Problem, Read, Store
from runmat_jit.plan.argument import NodeBuffer
from runmat_jit.plan.plan import Plan

BAND: Final = L3 // 16
"""Bytes of a band of one array."""
MOST_BANDS: Final = 64
"""They are kernels' launches, each bound to its arguments by itself."""


def in_bands(problems: Sequence[Problem], plan: Plan) -> list[tuple[Problem, ...]]:
    """What large kernels compute, part by part in an order in which the parts may run.

    Args:
        problems: Of consecutive kernels, in order; large ones.
        plan: Where values lie.

    Returns:
        For each problem the parts that run from there on: its own and those of later ones, or none.

    """
    found: list[tuple[Problem, ...]] = []
    group: list[Problem] = []
    walks: list[Walk] = []
    behind: list[int] = []
    for problem in problems:
        walk = walk_of(problem, plan)
        lag = None if walk is None else _behind(walk, walks, behind)
        if walk is None or lag is None or lag > _height([*group, problem]):
            found += _put(group, behind)
            group, walks, behind, lag = [], [], [], 0
        group.append(problem)
        walks.append(walk or ())
        behind.append(lag)
    return found + _put(group, behind)


def _put(group: Sequence[Problem], behind: Sequence[int]) -> list[tuple[Problem, ...]]:
    """Problems that run together: in bands where there are several."""
    if len(group) < 2:
        return [(problem,) for problem in group]
    rows = [operator.index(problem.extents[0]) for problem in group]
    parts = tuple(_parts(group, rows, behind, _height(group)))
    return [parts, *[()] * (len(group) - 1)]


def _height(group: Sequence[Problem]) -> int:
    """Rows of a band."""
    rows = max(operator.index(problem.extents[0]) for problem in group)
    nbytes = operator.index(max(map(_bytes, group)))
    return -(-rows // max(1, min(MOST_BANDS, nbytes // BAND)))


def _behind(walk: Walk, walks: Sequence[Walk], behind: Sequence[int]) -> int | None:
    """Number of rows a problem is behind the first one; None if it cannot run beside the others.

    What it writes lies in memory that they have, too: others would be needed all at once.
    """
    known = {touch.memory for before in walks for touch in before}
    if any(touch.written and touch.memory not in known for touch in walk):
        return None
    lags = [_lag(walk, before) for before in walks]
    if None in lags:
        return None
    pairs = zip(behind, lags, strict=True)
    return max([0, *[before + lag for before, lag in pairs if lag is not None]])


def is_large(problem: Problem) -> bool:
    """True if no cache keeps what a kernel reads and writes."""
    rank = len(problem.extents)
    return rank > 1 and bool(_bytes(problem) * (len(problem.stores) + 1) >= L3)


def _bytes(problem: Problem) -> int:
    """Of the largest array that is written."""
    size = 1
    for extent in problem.extents:
        size *= extent
    return size * max(store.dtype.itemsize for store in problem.stores)


def _parts(
    problems: Sequence[Problem], rows: Sequence[int], behind: Sequence[int], height: int
) -> Iterator[Problem]:
    """The bands of all problems: each step takes each as far as its lag lets it."""
    done = [0] * len(problems)
    for step in itertools.count(1):
        for number, problem in enumerate(problems):
            end = min(rows[number], max(0, step * height - behind[number]))
            if end > done[number]:
                yield part_of(problem, done[number], end)
                done[number] = end
        if done == list(rows):
            return


# -- how a kernel walks through memory -------------------------------------------------------------
@frozen
class Touch:
    """The elements of some memory that belong to a row: of the first one the first and the last.

    Those of the next row are ``step`` further.
    """

    memory: Node
    first: int
    last: int
    step: int
    written: bool


Walk = tuple[Touch, ...]


def walk_of(problem: Problem, plan: Plan) -> Walk | None:
    """What a problem reads and writes, by rows; None where that is not known."""
    accesses: list[Access] = [*problem.reads(), *problem.stores]
    found = []
    for access in accesses:
        memory = access.memory
        if memory is None:
            continue
        if not isinstance(memory, NodeBuffer) or (isinstance(access, Read) and access.along):
            return None
        found.append(_touch(access, memory, problem, plan))
    return tuple(found)


def _touch(access: Access, memory: NodeBuffer, problem: Problem, plan: Plan) -> Touch:
    first = last = memory.offset + access.start
    for extent, stride in zip(problem.extents[1:], access.strides[1:], strict=True):
        reach = stride * (extent - 1)
        first, last = first + min(0, reach), last + max(0, reach)
    owner = memory.node
    while owner in plan.in_place or owner in plan.direct:
        owner = plan.in_place.get(owner) or plan.direct[owner]
    first, last, step = map(operator.index, (first, last, access.strides[0]))
    return Touch(owner, first, last, step, isinstance(access, Store))


def _lag(walk: Walk, before: Walk) -> int | None:
    """Number of rows a problem must be behind an earlier one; None if it must wait for its end."""
    lag = -(1 << 62)
    for mine, its in itertools.product(walk, before):
        if mine.memory is not its.memory or not (mine.written or its.written):
            continue
        if mine.step != its.step or mine.step <= 0:
            return None
        lag = max(lag, (mine.last - its.first) // mine.step)
    return lag


# -- parts of problems -----------------------------------------------------------------------------
def part_of(problem: Problem, begin: int, end: int) -> Problem:
    """Some rows of a problem: the same kernel, on memory that begins further on."""
    moved: dict[Read, Read] = {}

    def operand(given: Operand) -> Operand:
        if not isinstance(given, Read):
            return given
        if given not in moved:
            moved[given] = _further(given, begin * given.strides[0])
        return moved[given]

    computes = tuple(
        Compute(each.node, tuple(map(operand, each.operands)), each.tested, each.watched)
        for each in problem.computes
    )
    stores = tuple(
        replace(
            store,
            value=operand(store.value),
            mask=None if store.mask is None else operand(store.mask),
            memory=_buffer_further(store.memory, begin * store.strides[0]),
        )
        for store in problem.stores
    )
    extents = (end - begin, *problem.extents[1:])
    return replace(problem, extents=extents, computes=computes, stores=stores)


def _further(read: Read, elements: int) -> Read:
    source = read.source
    if isinstance(source, NodeBuffer):
        return replace(read, source=_buffer_further(source, elements))
    if isinstance(source, Iota):
        return replace(read, source=replace(source, offset=source.offset + elements))
    return read


def _buffer_further(memory: object, elements: int) -> NodeBuffer:
    assert isinstance(memory, NodeBuffer), "walk_of() has seen it"
    return NodeBuffer(memory.node, memory.offset + elements)

"""Equal iterations of an unrolled loop among recorded computations.

A kernel then has the code of one iteration, in a loop. Values of the iteration before are carried
in registers; addresses may advance in each iteration, by equal steps.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from runmat_jit.core.frozen import frozen
from runmat_jit.core.types import is_complex
from runmat_jit.graph.constant import constant_array, is_constant
from runmat_jit.graph.node import Node
from runmat_jit.lower.problem import Compute, Iota, Operand, Problem, Read
from runmat_jit.plan.argument import NodeBuffer

FEWEST = 4
"""Iterations that are worth a loop."""
OLDEST = 2
"""Iterations that a value may go back."""


@frozen
class Turns:
    """Iterations of some computations, the first of which are ``made``.

    Attributes:
        before: What is computed before them, ``after``: afterwards.
        made: What an iteration computes, as the first one does.
        count: How many iterations there are.
        carried: Values of the turn before and of earlier ones, as the first turn finds them: each
            with the one of the first iteration that it is the next time.
        steps: Of reads of the first iteration, elements by which they go on with each iteration.
        left: Values of late turns that are needed afterwards: which of ``made`` they are, and how
            many iterations from the end they were made.

    """

    before: tuple[Compute, ...]
    made: tuple[Compute, ...]
    after: tuple[Compute, ...]
    count: int
    carried: Mapping[Node, Node]
    steps: Mapping[Read, int]
    left: Mapping[Node, tuple[Node, int]]


def find_turns(problem: Problem) -> Turns | None:
    """The iterations of a problem, those that save most code; None where there are none.

    A graph has what one output needs before what the next one does: turns of several lie side by
    side in the order of their depths.
    """
    found = [_found(problem, order) for order in (problem.computes, _by_depth(problem.computes))]
    known = [turns for turns in found if turns is not None]
    return max(known, key=lambda turns: (turns.count - 1) * len(turns.made), default=None)


def _by_depth(computes: tuple[Compute, ...]) -> tuple[Compute, ...]:
    """Computations in the order of the longest way to them."""
    depths: dict[Operand, int] = {}
    for compute in computes:
        depths[compute.node] = 1 + max([depths.get(o, 0) for o in compute.operands], default=0)
    return tuple(sorted(computes, key=lambda compute: depths[compute.node]))


def _found(problem: Problem, computes: tuple[Compute, ...]) -> Turns | None:
    """The same of computations in this order."""
    kinds = _kinds(computes)
    places = {compute.node: place for place, compute in enumerate(computes)}
    best: tuple[int, int, int] = (0, 0, 0)  # computations saved, the first, the period
    for period in range(1, len(computes) // FEWEST + 1):
        first = 0
        for place in range(len(computes) - period + 1):
            ended = place == len(computes) - period
            if not ended and kinds[place] == kinds[place + period]:
                continue
            if place - first >= (FEWEST - 1) * period and place - first > best[0]:
                for begin, end in _alike(computes, places, first, place, period):
                    best = max(best, (end - begin, begin, period))
            first = place + 1
    saved, begin, period = best
    if not saved:
        return None
    return _turns(replace(problem, computes=computes), places, begin, period, saved // period + 1)


def _kinds(computes: Sequence[Compute]) -> list[int]:
    """Numbers of computations, equal where all but their operands is."""
    known: dict[object, int] = {}
    return [
        known.setdefault(
            (id(c.node.op), tuple(c.node.params.items()), c.node.type, c.tested, c.watched),
            len(known),
        )
        for c in computes
    ]


def _alike(
    computes: Sequence[Compute], places: Mapping[Node, int], first: int, end: int, period: int
) -> Iterable[tuple[int, int]]:
    """Spans of computations each of which is that a period later, one turn on."""
    begin = first
    for place in range(first, end + 1):
        if place < end and _goes_on(computes, places, place, period):
            continue
        if place - begin >= (FEWEST - 1) * period:
            yield begin, place
        begin = place + 1


def _goes_on(
    computes: Sequence[Compute], places: Mapping[Node, int], place: int, period: int
) -> bool:
    """True if a computation and that a period later have like operands."""
    here, there = computes[place].operands, computes[place + period].operands
    return all(
        one is other
        or (
            _is_further(one, other)
            if isinstance(one, Read)
            else isinstance(other, Node) and _same_place(one, other, places, place, period)
        )
        for one, other in zip(here, there, strict=True)
    )


def _same_place(
    one: Node, other: Node, places: Mapping[Node, int], place: int, period: int
) -> bool:
    """True if two values are at one place of their iterations, or the same constant."""
    if one not in places or other not in places:
        return is_constant(one) and is_constant(other) and _number(one) == _number(other)
    near = place - places[one] < (OLDEST + 1) * period
    return near and places[other] - places[one] == period


def _number(node: Node) -> tuple[str, bytes]:
    value = constant_array(node)
    return value.dtype.str, value.tobytes()


def _is_further(one: Read, other: Operand) -> bool:
    """True if two reads are of the same values but for where they begin."""
    return isinstance(other, Read) and (one == other or _step(one, other) is not None)


def _step(one: Read, other: Read) -> int | None:
    """Distance in elements to another read of the same memory, or count."""
    a, b = one.source, other.source
    if isinstance(a, Iota) and isinstance(b, Iota):
        same = replace(one, source=replace(a, offset=b.offset)) == other
        return b.offset - a.offset if same else None
    if isinstance(a, NodeBuffer) and isinstance(b, NodeBuffer) and one.along is None:
        same = replace(one, source=replace(a, offset=b.offset), start=other.start) == other
        return b.offset + other.start - a.offset - one.start if same else None
    return None


def _turns(
    problem: Problem, places: Mapping[Node, int], begin: int, period: int, count: int
) -> Turns | None:
    """The iterations from a computation on; fewer where reads do not go on evenly."""
    computes = problem.computes
    steps = _even_steps(computes, begin, period, count)
    complex_ = any(is_complex(compute.node.type.dtype) for compute in computes)
    if steps is None or complex_:  # parts of such numbers are carried by nobody
        return None
    end = begin + count * period
    made, after = computes[begin : begin + period], computes[end:]
    carried = _carried(computes, places, begin, period)
    left: dict[Node, tuple[Node, int]] = {}
    wanted = [o for c in after for o in c.operands]
    wanted += [operand for store in problem.stores for operand in store.operands]
    for operand in wanted:
        place = places.get(operand, -1) if isinstance(operand, Node) else -1
        if isinstance(operand, Node) and begin <= place < end:
            turn, which = divmod(place - begin, period)
            left[operand] = made[which].node, count - 1 - turn
    if carried is None:
        return None
    kept = set(carried.values())
    if any(age > 1 or (age and node not in kept) for node, age in left.values()):
        return None
    return Turns(computes[:begin], made, after, count, carried, steps, left)


def _carried(
    computes: Sequence[Compute], places: Mapping[Node, int], begin: int, period: int
) -> dict[Node, Node] | None:
    """What the first iteration has of iterations before, each with what that is the next time.

    None where some value of these is the same in all iterations, too.
    """
    made = computes[begin : begin + period]
    inside = {compute.node for compute in made}
    carried: dict[Node, Node] = {}
    same, needed = set[Operand](), list[Node]()
    for place, compute in enumerate(made, begin):
        for one, other in zip(compute.operands, computes[place + period].operands, strict=True):
            if one is other:
                same.add(one)
            elif isinstance(one, Node) and one in places and one not in inside:
                needed.append(one)
    while needed:
        node = needed.pop()
        if node not in carried:
            later = carried[node] = computes[places[node] + period].node
            if later not in inside:
                needed.append(later)
    return None if same & carried.keys() else carried


def _even_steps(
    computes: Sequence[Compute], begin: int, period: int, count: int
) -> dict[Read, int] | None:
    """By how much the reads of the first turn go on with each turn; None where that differs."""
    steps: dict[Read, int] = {}
    for place in range(begin, begin + period):
        for number, read in enumerate(computes[place].operands):
            if not isinstance(read, Read):
                continue
            turns = [computes[place + turn * period].operands[number] for turn in range(count)]
            found = {
                0 if one == other else _step(one, other)
                for one, other in itertools.pairwise(turns)
                if isinstance(one, Read) and isinstance(other, Read)
            }
            step = found.pop()
            if found or step is None or steps.setdefault(read, step) != step:
                return None
    return {read: step for read, step in steps.items() if step}


def rolled(problem: Problem, turns: Turns) -> Problem:
    """The problem with the computations of the first iteration alone."""
    return replace(problem, computes=(*turns.before, *turns.made, *turns.after))

"""The kinds of loops: names of what their bodies do, by which they are told of and switched off."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from runmat_jit.core.frozen import frozen
from runmat_jit.loops.emit import Emitted
from runmat_jit.loops.source import LoopSource


@frozen
class LoopKind:
    """A kind; ``describes`` tells whether a loop, given with its kernel, is of it."""

    name: str
    doc: str
    describes: Callable[[LoopSource, Emitted], bool]


def kind_of(source: LoopSource, emitted: Emitted) -> str:
    """The most special kind of a loop."""
    return next(kind.name for kind in reversed(LOOP_KINDS) if kind.describes(source, emitted))


def keeps_each_turn(source: LoopSource, _emitted: Emitted) -> bool:
    """True if each iteration stores, at its own place, what it has made of the iteration before."""
    target = getattr(source.node, "target", None)
    if not isinstance(target, ast.Name):
        return False
    follows = set(carried(source.node.body))
    for statement in stores(source.node.body):
        read = names_in(statement.value)
        for place in targets_of(statement):
            if isinstance(place, ast.Name):
                follows |= {place.id} if read & follows else set()
            elif isinstance(place, ast.Subscript) and target.id in names_in(place.slice):
                array = names_in(place.value)
                if read & follows or (array & read and is_at_other_place(statement.value, place)):
                    return True
    return False


def only_accumulates(source: LoopSource, emitted: Emitted) -> bool:
    """True if all that an iteration leaves to the next is sums, products or extremes so far."""
    body = source.node.body
    names = set(carried(body))
    if emitted.written or emitted.lists or not names or source.is_while:
        return False
    if any(names & names_in(test) for test in tests(body)):
        return False
    for statement in stores(body):
        bound = {each.id for each in targets_of(statement) if isinstance(each, ast.Name)}
        if (names - bound) & names_in(statement.value):
            return False
        if not all(accumulates(statement, name) for name in names & bound):
            return False
    return True


LOOP_KINDS: Final = (
    LoopKind("element_loop", "Elements, numbers and small arrays.", lambda _source, _emitted: True),
    LoopKind(
        "recurrent_loop",
        "Arrays of lanes that a turn makes of those of the turn before.",
        lambda _source, emitted: bool(emitted.lanes),
    ),
    LoopKind(
        "iterative_reduce",
        "Sums, products or extremes over the turns, and nothing else.",
        only_accumulates,
    ),
    LoopKind(
        "prefix_scan",
        "A recurrence of which each turn is kept: a filter, a running sum.",
        keeps_each_turn,
    ),
    LoopKind(
        "stochastic_evolution",
        "A recurrence with random numbers.",
        lambda _source, emitted: bool(emitted.drawn),
    ),
    LoopKind(
        "randomized_matmul",
        "A recurrence whose products take random numbers.",
        lambda source, emitted: bool(emitted.drawn) and multiplies(source),
    ),
)
"""From the most general to the most special."""

Store = ast.Assign | ast.AugAssign
_EXTREMES: Final = ("min", "max", "minimum", "maximum", "fmin", "fmax")


def stores(body: Sequence[ast.stmt]) -> Iterator[Store]:
    """The assignments in a body, those in branches and loops too, in order."""
    for statement in body:
        for node in ast.walk(statement):
            if isinstance(node, Store):
                yield node


def tests(body: Sequence[ast.stmt]) -> Iterator[ast.expr]:
    """What decides which statements of a body run."""
    for statement in body:
        for node in ast.walk(statement):
            if isinstance(node, ast.If | ast.While):
                yield node.test


def carried(body: Sequence[ast.stmt]) -> list[str]:
    """The names that an iteration reads before it binds them anew."""
    bound, found = set[str](), dict[str, None]()
    for statement in stores(body):
        read = names_in(statement.value)
        if isinstance(statement, ast.AugAssign):
            read |= names_in(statement.target)
        found.update(dict.fromkeys(sorted(read - bound)))
        bound |= {each.id for each in targets_of(statement) if isinstance(each, ast.Name)}
    return [name for name in found if name in bound]


def targets_of(statement: Store) -> Iterator[ast.expr]:
    """What an assignment binds or stores to, one by one."""
    waiting = list(statement.targets if isinstance(statement, ast.Assign) else [statement.target])
    while waiting:
        target = waiting.pop(0)
        if isinstance(target, ast.Tuple | ast.List):
            waiting = [*target.elts, *waiting]
        else:
            yield target


def accumulates(statement: Store, name: str) -> bool:
    """True if an assignment makes a name its own value so far, and something else."""
    if isinstance(statement, ast.AugAssign):
        return name not in names_in(statement.value)
    match statement.value:
        case ast.BinOp(left=ast.Name(id=first), right=other) if first == name:
            return name not in names_in(other)
        case ast.BinOp(left=other, op=ast.Add() | ast.Mult(), right=ast.Name(id=last)):
            return last == name and name not in names_in(other)
        case ast.Call(func=function, args=[one, other]):
            called = getattr(function, "attr", getattr(function, "id", ""))
            sides = [side for side in (one, other) if name not in names_in(side)]
            return called in _EXTREMES and len(sides) == 1
    return False


def is_at_other_place(value: ast.expr, place: ast.Subscript) -> bool:
    """True if an expression reads the array that is stored to, but at another place."""
    array, index = ast.dump(place.value), ast.dump(place.slice)
    return any(
        ast.dump(node.value) == array and ast.dump(node.slice) != index
        for node in ast.walk(value)
        if isinstance(node, ast.Subscript)
    )


def multiplies(source: LoopSource) -> bool:
    """True if there are matrix products in a body."""
    return any(
        isinstance(node, ast.MatMult)
        or (isinstance(node, ast.Attribute) and node.attr in ("dot", "matmul", "vecdot", "matvec"))
        for statement in source.node.body
        for node in ast.walk(statement)
    )


def names_in(node: ast.AST) -> set[str]:
    """The names in an expression."""
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}

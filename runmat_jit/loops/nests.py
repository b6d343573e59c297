"""Loops inside of the loop that is emitted: what they carry, and what is proven before them.

At the head of a loop what is known of a name is what is known before it, joined with what is known
at the end of a turn: that is tried until it settles. Indices that move along lines are proven to
stay within their extents before the first turn; the loop is written without tests of them, too.
"""

from __future__ import annotations

import ast
import functools
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from runmat_jit.core.frozen import frozen
from runmat_jit.kernel.ir import Value
from runmat_jit.loops import control_flow, lists, registers
from runmat_jit.loops.emitter import BROKEN, DOUBT, LIVE, Around, Emitter, Known, extent_of, tag
from runmat_jit.loops.returns import Loop
from runmat_jit.loops.source import bound_by
from runmat_jit.loops.values import (
    UNBOUND,
    Array,
    ComplexName,
    Item,
    Scalar,
    Unbound,
    Unknown,
    in_register,
    is_same,
    joined,
    literal,
    parts_of,
    register,
    register_type,
    scalar,
    widened,
)

_LISTENS: Final = 1 << 18
"""Iterations of an inner loop after which the caller is asked whether to go on."""
_UNROLLED: Final = 64
"""Times that a statement is written at most."""
_ROUNDS: Final = 6
"""Iterations after which what is known at the head of a loop is settled, or nothing is."""

Around_ = tuple[Item | None, Item | None]
"""True if the iteration around is live, and its loop over."""


@frozen
class Repeated:
    """A loop: its statement, and what emits the iteration of a number."""

    node: Loop
    turn: Callable[[Value], None]


@frozen
class Settled:
    """What is known of the names that a loop binds: at its head, and at the end of an iteration.

    ``inside``: what was found of its indices.
    """

    head: Known
    end: Known
    inside: Around


@frozen
class Carried:
    """What a loop carries: names, how each is held, and from what it starts."""

    settled: Settled
    names: Sequence[str]
    kinds: Mapping[str, str]
    starts: Sequence[Value] = ()


def repeat(e: Emitter, loop: Repeated, count: Value | None, begin: int = 0) -> None:
    """A loop inside of another: it may run no iteration at all.

    ``count``: its iterations, None for a ``while``; ``begin``: those that have been emitted before.
    """
    if e.streams is not None:
        raise Unknown("a loop within a turn")
    around, entry, k = _leave_turn(e), dict(e.names), e.k
    try:
        settled = settle(e, loop, begin)
    except Unknown as refused:
        if begin or refused.final:
            raise
        e.names = entry
        _enter_turn(e, around)
        _peel(e, loop, count)
        return
    carried = carried_by(e, loop.node, settled)
    starts = [control_flow.start(e, entry.get(name), carried.kinds[name]) for name in carried.names]
    results, end = (
        ([k.placeholder(kind) for kind in carried.kinds.values()], settled.end)
        if e.analyzing
        else _written(e, loop, replace(carried, starts=starts), count, begin)
    )
    e.names = dict(entry)
    for name in _names_bound(e, loop.node):
        e.names[name] = joined(entry.get(name, UNBOUND), end.get(name, UNBOUND))
    for name, value in zip(carried.names, results, strict=True):
        known = e.names.get(name)
        if isinstance(known, Array) and register(known) is not None:
            e.names[name] = in_register(known, value)
        elif isinstance(known, Scalar):
            e.names[name] = as_held(known, settled.head[name], value)
            if is_numpys_float(e.names[name]):
                e.arithmetic.made_at[value.number] = e.arithmetic.place
    _enter_turn(e, around)


def _written(
    e: Emitter, loop: Repeated, carried: Carried, count: Value | None, begin: int
) -> tuple[Sequence[Value], Known]:
    """Emit a loop that has been analyzed: its results, and what is known at its end."""
    k = e.k
    secure(e, carried.settled.inside, count)
    if count is None or breaks(loop.node):
        return _uncounted(e, loop, carried, count, begin)
    bounds = k.const(begin, "index"), k.convert("sext", count, "index")
    return counted(e, loop, carried, bounds)


def _leave_turn(e: Emitter) -> Around_:
    """Forget whether the iteration is live that is emitted, while another loop is."""
    return e.names.pop(LIVE, None), e.names.pop(BROKEN, None)


def _enter_turn(e: Emitter, around: Around_) -> None:
    """Go on in the iteration around, if there is one."""
    _leave_turn(e)
    for name, item in zip((LIVE, BROKEN), around, strict=True):
        if item is not None:
            e.names[name] = item


def _peel(e: Emitter, loop: Repeated, count: Value | None) -> None:
    """A loop whose first iteration is written by itself: names are of other classes there."""
    k, around, zero = e.k, _leave_turn(e), e.k.const(0, "i64")

    def run() -> None:
        over = first_turn(e, loop)
        if over.literal is True:
            return
        if over.literal is False:
            repeat(e, loop, count, begin=1)
            return
        going_on = k.prim("xor", e.arithmetic.truth(over), True)
        control_flow.choose(e, going_on, lambda: repeat(e, loop, count, begin=1), None)

    if count is None:
        run()
    else:
        control_flow.choose(e, zero < count, run, None)
    _enter_turn(e, around)


def unroll(e: Emitter, loop: Repeated, count: int) -> None:
    """A loop of few iterations, each written by itself.

    Raises:
        Unknown: loops around are, too, and all would be written too often.

    """
    if e.unrolled * count > _UNROLLED:
        raise Unknown("loops over tuples in each other, of many turns")
    around, often, e.unrolled = _leave_turn(e), e.unrolled, e.unrolled * max(count, 1)

    def run_from(number: int) -> None:
        over = first_turn(e, loop, number) if number < count else None
        if over is None or over.literal is True:
            return
        if over.literal is False:
            run_from(number + 1)
            return
        going_on = e.k.prim("xor", e.arithmetic.truth(over), True)
        control_flow.choose(e, going_on, lambda: run_from(number + 1), None)

    try:
        run_from(0)
    finally:
        e.unrolled = often
    _enter_turn(e, around)


def first_turn(e: Emitter, loop: Repeated, number: int = 0) -> Scalar:
    """Emit an iteration by itself, of what is known before it; whether the loop is over then."""
    known = _known_to(e, loop.node)
    settled = Settled(known, known, _entered(e, loop))
    turn(e, loop, Carried(settled, (), {}), (), e.k.const(number, "i64"))
    over = scalar(e.names[BROKEN])
    _leave_turn(e)
    return over


# -- ways to write a loop --------------------------------------------------------------------------
def _uncounted(
    e: Emitter,
    loop: Repeated,
    carried: Carried,
    count: Value | None,
    begin: int,
) -> tuple[Sequence[Value], Known]:
    """A loop that may be over before its count: what it carries out, and what is known then."""
    k, first = e.k, e.k.const(begin, "i64")
    some = k.const(True, "i1") if count is None else first < count
    guard = k.if_(some, carried.starts)
    with guard:
        block = k.while_([first, *carried.starts])
        with block:
            number, *values = block.carry
            end = turn(e, loop, carried, values, number, listens=True)
            following = number + 1
            over = e.arithmetic.truth(scalar(end[BROKEN]))
            again = k.prim("xor", over, True)
            if count is not None:
                again = again & (following < count)
            block.yield_(again, following, *yields(e, end, carried, values))
        guard.yield_(*block.out[1:])
    return guard.out, end


def counted(
    e: Emitter, loop: Repeated, carried: Carried, bounds: tuple[Value, Value]
) -> tuple[Sequence[Value], Known]:
    """A loop that nothing ends before its count.

    Where no other loop is in it, it is there twice: without tests of the indices that are known
    to stay within their extents in all iterations, and with them.
    """
    inside = carried.settled.inside
    if inside.safe is None or has_loops(loop.node):
        return counted_once(e, loop, carried, bounds)
    names, k, safe = dict(e.names), e.k, inside.safe
    results: Sequence[Value] = carried.starts
    for proven in (True, False):
        e.names = dict(names)
        inside.safe = k.const(proven, "i1")
        with e.aside() as instructions:
            values, end = counted_once(e, loop, carried, bounds)
            end = dict(end)
        block = k.if_(safe if proven else k.prim("xor", safe, True), results)
        with block:
            e.resume(instructions)
            block.yield_(*values)
        results = block.out
    return results, end


def counted_once(
    e: Emitter, loop: Repeated, carried: Carried, bounds: tuple[Value, Value]
) -> tuple[Sequence[Value], Known]:
    """The same, written once."""
    block = e.k.loop(*bounds, carried.starts)
    with block:
        values = list(block.carry)
        number = e.k.convert("sext", block.i, "i64")
        listens = has_loops(loop.node)
        end = turn(e, loop, carried, values, number, listens=listens)
        block.yield_(*yields(e, end, carried, values))
    return block.out, end


def turn(
    e: Emitter,
    loop: Repeated,
    carried: Carried,
    values: Sequence[Value],
    number: Value,
    *,
    listens: bool = False,
) -> Known:
    """Emit one iteration; what is known at its end.

    ``listens``: the caller of the kernel may want it to end here.
    """
    if e.streams is not None:  # slices are short
        assert e.streams.begun is not None, "a slice is emitted"
        e.streams.place = e.k.convert("sext", number - e.streams.begun, "index")
        listens = False
    arithmetic, inside = e.arithmetic, carried.settled.inside
    e.around.append(inside)
    before = arithmetic.loop, arithmetic.place
    arithmetic.loop = arithmetic.place = inside.number
    try:
        return _turn(e, loop, carried, values, number, listens=listens)
    finally:
        e.around.pop()
        arithmetic.loop, arithmetic.place = before


def _turn(
    e: Emitter,
    loop: Repeated,
    carried: Carried,
    values: Sequence[Value],
    number: Value,
    *,
    listens: bool,
) -> Known:
    arithmetic, head = e.arithmetic, carried.settled.head
    e.names = {**e.names, **{name: head[name] for name in _names_bound(e, loop.node)}}
    for name, value in zip(carried.names, values, strict=True):
        if register(head[name]) is not None:
            known = e.names[name] = in_register(head[name], value)
            if is_numpys_float(known):  # of the iteration before, where nobody may have used it
                arithmetic.made_at[value.number] = arithmetic.place
    e.names[LIVE] = literal(e.k, number=True)
    e.names[BROKEN] = literal(e.k, number=False)
    if listens:
        _listen(e, number)
    loop.turn(number)
    for name in sorted(_names_bound(e, loop.node)):
        item = e.names.get(name)
        if isinstance(item, Scalar) and isinstance(head[name], Scalar):
            arithmetic.used(item)  # in the next iteration
        elif isinstance(item, Scalar):
            arithmetic.dropped(item)
    return e.names


def _listen(e: Emitter, number: Value) -> None:
    """Ask the caller now and then whether to go on."""
    k = e.k
    doubt = e.arithmetic.truth(scalar(e.names[DOUBT]))
    with k.if_(k.eq(number & (_LISTENS - 1), _LISTENS - 1)) as rare:
        k.leave_if(doubt | k.ask(e.caller))
        rare.yield_()


def yields(e: Emitter, end: Known, carried: Carried, old: Sequence[Value]) -> list[Value]:
    """What an iteration carries on."""
    found = []
    for name, value in zip(carried.names, old, strict=True):
        item, kind = end.get(name), carried.kinds[name]
        found.append(
            value if item is None or register(item) is None else control_flow.held(e, item, kind)
        )
    return found


# -- before a loop ---------------------------------------------------------------------------------
def _entered(e: Emitter, loop: Repeated) -> Around:
    """A loop of which nothing is known yet."""
    return Around(e.k.placeholder("i64").number, isinstance(loop.node, ast.While))


def _known_to(e: Emitter, node: Loop) -> Known:
    """What is known now of the names that a loop binds."""
    return {name: e.names.get(name, UNBOUND) for name in _names_bound(e, node)}


def _names_bound(e: Emitter, node: Loop) -> frozenset[str]:
    """The names that a loop binds, and those under which more is followed."""
    names = bound_by(node)
    if e.has_complex:
        names |= {part for name in names for part in parts_of(name)}
    names |= {extent_of(name) for name in names & e.open_names}
    return names | {tag(name) for name in names & e.told} | {DOUBT} | e.hidden


def settle(e: Emitter, loop: Repeated, begun: int = 0) -> Settled:
    """Find the fixed point of a loop: what holds of its names at the head of each iteration.

    The search begins with the fixed point of an earlier analysis, if there is one: of an earlier
    iteration of the loop around it, or of the pass that precedes code generation. Fewer values were
    open then, so that this one lies at or above it, and nearly always is the same.
    ``begun``: iterations that have been emitted before.

    Raises:
        Unknown: that changes from iteration to iteration, or something in the loop is not known.

    """
    key = loop.node, begun
    entry, names, before = _known_to(e, loop.node), e.names, e.heads.get(key)
    has_one_context = not e.calling and e.unrolled == 1 and e.streams is None
    if before is not None and has_one_context:
        head = {name: first_guess(item, before.get(name, item)) for name, item in entry.items()}
        try:
            return _settled_from(e, loop, entry, head)
        except Unknown:
            e.names = names
    settled = _settled_from(e, loop, entry, dict(entry))
    if has_one_context:
        e.heads[key] = settled.head
    return settled


def first_guess(entry: Item, before: Item) -> Item:
    """First guess at a name at the head of a loop; ``before``: its earlier fixed point."""
    if isinstance(before, Scalar | ComplexName | Unbound):
        return widened(joined(entry, before), before)
    return entry


def _settled_from(e: Emitter, loop: Repeated, entry: Known, head: Known) -> Settled:
    """Iterate to a fixed point from what is known before a loop and a first guess."""
    around = e.names
    for number in range(_ROUNDS):
        inside = _entered(e, loop)
        tried = _tried if e.streams is None else _tried_in_lanes
        listed = lists.lists_as_they_are(e)
        try:
            end = tried(e, loop, head, inside)
        except Unknown as refused:
            lists.forget(e, listed)
            refused.final = not number
            raise
        new = {name: joined(entry[name], end.get(name, UNBOUND)) for name in head}
        new = {name: widened(item, head[name]) for name, item in new.items()}
        e.names = around
        is_settled = all(is_same(new[name], head[name]) for name in head)
        if not (is_settled and e.analyzing):
            lists.forget(e, listed)
        if is_settled:
            return Settled(head, end, inside)
        head = new
    raise Unknown("what is known of a name changes from turn to turn", loop.node.lineno)


def _tried(e: Emitter, loop: Repeated, head: Known, inside: Around) -> Known:
    """Analyze an iteration: what is known at its end."""
    with e.aside(), e.analysis():
        names = [name for name, item in head.items() if register(item) is not None]
        kinds = {name: register_type(head[name]) for name in names}
        values = [e.k.placeholder(kind) for kind in kinds.values()]
        number = e.k.placeholder("i64")
        carried = Carried(Settled(head, head, inside), names, kinds)
        return dict(turn(e, loop, carried, values, number))


def _tried_in_lanes(e: Emitter, loop: Repeated, head: Known, inside: Around) -> Known:
    """The same of two streams."""
    streams = registers.streams_of(e)
    slots = dict(streams.slots)
    with registers.lane_code(e, []):
        found = _tried(e, loop, head, inside)
    streams.slots = slots
    return found


def carried_by(e: Emitter, node: Loop, settled: Settled) -> Carried:
    """The names that are numbers from turn to turn, or at the end, and how they are held."""
    kinds: dict[str, str] = {}
    for name in sorted(_names_bound(e, node)):
        items = settled.head[name], settled.end.get(name)
        found = next((item for item in items if register(item) is not None), None)
        if found is not None:
            kinds[name] = register_type(found)
    return Carried(settled, list(kinds), kinds)


def secure(e: Emitter, inside: Around, count: Value | None) -> None:
    """See whether the indices that move along lines stay within their extents in all iterations."""
    if e.streams is not None:  # they are tested where numbers are computed, which takes no time
        return
    k, found = e.k, []
    if count is not None:
        found.append(k.prim("ult", count, 1 << 40))
    for line, extent in inside.accesses.values():
        if line.step and count is None:
            continue
        first = k.const(line.constant, "i64")
        for sign, value in line.terms:
            first = first + value if sign > 0 else first - value
        wide = k.convert("sext", extent, "i64")
        found.append(k.prim("ult", first, wide))
        if line.step and count is not None:
            found.append(k.prim("ult", first + (count - 1) * line.step, wide))
    if inside.accesses and found:
        inside.safe = functools.reduce(operator.and_, found)


def is_numpys_float(item: Item) -> bool:
    """True if a value may be a float of NumPy's, which tells of events."""
    return (
        isinstance(item, Scalar) and item.is_float and any(not kind.python for kind in item.kinds)
    )


def as_held(known: Scalar, head: Item, value: Value) -> Item:
    """What is known after a loop, in the type in which it was carried."""
    if known.type == value.type:
        return replace(known, value=value)
    return replace(head, value=value) if isinstance(head, Scalar) else UNBOUND


def has_loops(node: Loop) -> bool:
    """True if other loops are in a loop."""
    return any(isinstance(each, Loop) for each in ast.walk(node) if each is not node)


def breaks(node: Loop) -> bool:
    """True if a ``break`` may end a loop itself."""
    pending: list[ast.AST] = list(node.body)
    while pending:
        each = pending.pop()
        if isinstance(each, ast.Break):
            return True
        if isinstance(each, ast.If):
            pending.extend([*each.body, *each.orelse])
    return False

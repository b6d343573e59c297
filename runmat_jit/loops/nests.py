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
from runmat_jit.loops.iteration import Iteration
from runmat_jit.loops.source import Loop, bound_by
from runmat_jit.loops.values import (
    UNBOUND,
    Array,
    Item,
    Scalar,
    Unknown,
    in_register,
    is_same,
    joined,
    literal,
    parts_of,
    register,
    register_type,
    widened,
)
from runmat_jit.loops.ways import BROKEN, DOUBT, LIVE, Around, Known, tag

_LISTENS: Final = 1 << 18
"""Turns of an inner loop after which the caller is asked whether to go on."""
_ROUNDS: Final = 6
"""Turns after which what is known at the head of a loop is settled, or nothing is."""

Around_ = tuple[Item | None, Item | None]
"""Whether the turn around is live, and its loop over."""


@frozen
class Repeated:
    """A loop: its statement, and what emits the turn of a number."""

    node: Loop
    turn: Callable[[Value], None]


@frozen
class Settled:
    """What is known of the names that a loop binds: at its head, and at the end of a turn."""

    head: Known
    end: Known


@frozen
class Carried:
    """What a loop carries: names, how each is held, and from what it starts."""

    settled: Settled
    names: Sequence[str]
    kinds: Mapping[str, str]
    starts: Sequence[Value] = ()


class Nests(Iteration):
    """Emits loops."""

    __slots__ = ()

    def repeat(self, loop: Repeated, count: Value | None, begin: int = 0) -> None:
        """A loop inside of another: it may run no turn at all.

        ``count``: its turns, None for a ``while``; ``begin``: those that have been emitted before.
        """
        around, entry, k = self.leave_turn(), dict(self.names), self.k
        try:
            settled, inside = self.settle(loop)
        except Unknown:
            if begin:
                raise
            self.names = entry
            self.enter_turn(around)
            self.peel(loop, count)
            return
        carried = self.carried(loop.node, settled)
        self.secure(inside, count)
        starts = [self.start(entry.get(name), carried.kinds[name]) for name in carried.names]
        carried = replace(carried, starts=starts)
        if count is None or breaks(loop.node):
            results, end = self.uncounted(loop, carried, inside, count, begin)
        else:
            bounds = k.const(begin, "index"), k.convert("sext", count, "index")
            results, end = self.counted(loop, carried, inside, bounds)
        self.names = dict(entry)
        for name in self.bound(loop.node):
            self.names[name] = joined(entry.get(name, UNBOUND), end.get(name, UNBOUND))
        for name, value in zip(carried.names, results, strict=True):
            known = self.names.get(name)
            if isinstance(known, Array) and register(known) is not None:
                self.names[name] = in_register(known, value)
            elif isinstance(known, Scalar):
                self.names[name] = as_held(known, settled.head[name], value)
                if known.is_float and any(not kind.python for kind in known.kinds):
                    self.arithmetic.made_at[value.number] = self.arithmetic.place
        self.enter_turn(around)

    def leave_turn(self) -> Around_:
        """Forget whether the turn is live that is emitted, while another loop is."""
        return self.names.pop(LIVE, None), self.names.pop(BROKEN, None)

    def enter_turn(self, around: Around_) -> None:
        """Go on in the turn around, if there is one."""
        self.leave_turn()
        for name, item in zip((LIVE, BROKEN), around, strict=True):
            if item is not None:
                self.names[name] = item

    def peel(self, loop: Repeated, count: Value | None) -> None:
        """A loop whose first turn is written by itself: names are of other classes there."""
        k, around, zero = self.k, self.leave_turn(), self.k.const(0, "i64")

        def run() -> None:
            over = self.first_turn(loop)
            if over.literal is True:
                return
            if over.literal is False:
                self.repeat(loop, count, begin=1)
                return
            going_on = k.prim("xor", self.arithmetic.truth(over), True)
            self.choose(going_on, lambda: self.repeat(loop, count, begin=1), None)

        if count is None:
            run()
        else:
            self.choose(zero < count, run, None)
        self.enter_turn(around)

    def first_turn(self, loop: Repeated) -> Scalar:
        """Emit the first turn, of what is known before it; whether the loop is over then."""
        known = self.known_to(loop.node)
        zero = self.k.const(0, "i64")
        self.turn(loop, Carried(Settled(known, known), (), {}), (), zero, self.inside(loop))
        over = self.scalar(self.names[BROKEN])
        self.leave_turn()
        return over

    # -- ways to write a loop ----------------------------------------------------------------------
    def uncounted(
        self,
        loop: Repeated,
        carried: Carried,
        inside: Around,
        count: Value | None,
        begin: int,
    ) -> tuple[Sequence[Value], Known]:
        """A loop that may be over before its count: what it carries out, and what is known then."""
        k, first = self.k, self.k.const(begin, "i64")
        some = k.const(True, "i1") if count is None else first < count
        guard = k.if_(some, carried.starts)
        with guard:
            block = k.while_([first, *carried.starts])
            with block:
                number, *values = block.carry
                end = self.turn(loop, carried, values, number, inside, listens=True)
                following = number + 1
                over = self.arithmetic.truth(self.scalar(end[BROKEN]))
                again = k.prim("xor", over, True)
                if count is not None:
                    again = again & (following < count)
                block.yield_(again, following, *self.yields(end, carried, values))
            guard.yield_(*block.out[1:])
        return guard.out, end

    def counted(
        self, loop: Repeated, carried: Carried, inside: Around, bounds: tuple[Value, Value]
    ) -> tuple[Sequence[Value], Known]:
        """A loop that nothing ends before its count.

        Where no other loop is in it, it is there twice: without tests of the indices that are known
        to stay within their extents in all turns, and with them.
        """
        if inside.safe is None or has_loops(loop.node):
            return self.counted_once(loop, carried, inside, bounds)
        names, k, safe = dict(self.names), self.k, inside.safe
        results: Sequence[Value] = carried.starts
        for proven in (True, False):
            self.names = dict(names)
            inside.safe = k.const(proven, "i1")
            with self.aside() as instructions:
                values, end = self.counted_once(loop, carried, inside, bounds)
                end = dict(end)
            block = k.if_(safe if proven else k.prim("xor", safe, True), results)
            with block:
                self.resume(instructions)
                block.yield_(*values)
            results = block.out
        return results, end

    def counted_once(
        self, loop: Repeated, carried: Carried, inside: Around, bounds: tuple[Value, Value]
    ) -> tuple[Sequence[Value], Known]:
        """The same, written once."""
        block = self.k.loop(*bounds, carried.starts)
        with block:
            values = list(block.carry)
            number = self.k.convert("sext", block.i, "i64")
            listens = has_loops(loop.node)
            end = self.turn(loop, carried, values, number, inside, listens=listens)
            block.yield_(*self.yields(end, carried, values))
        return block.out, end

    def turn(
        self,
        loop: Repeated,
        carried: Carried,
        values: Sequence[Value],
        number: Value,
        inside: Around,
        *,
        listens: bool = False,
    ) -> Known:
        """Emit one turn; what is known at its end.

        ``listens``: the caller of the kernel may want it to end here.
        """
        arithmetic, head = self.arithmetic, carried.settled.head
        self.around.append(inside)
        before = arithmetic.loop, arithmetic.place
        arithmetic.loop = arithmetic.place = inside.number
        self.names = {**self.names, **{name: head[name] for name in self.bound(loop.node)}}
        for name, value in zip(carried.names, values, strict=True):
            if register(head[name]) is not None:
                self.names[name] = in_register(head[name], value)
        self.names[LIVE] = literal(self.k, number=True)
        self.names[BROKEN] = literal(self.k, number=False)
        if listens:
            self.listen(number)
        loop.turn(number)
        for name in sorted(self.bound(loop.node)):
            item = self.names.get(name)
            if isinstance(item, Scalar) and isinstance(head[name], Scalar):
                arithmetic.used(item)  # in the next turn
            elif isinstance(item, Scalar):
                arithmetic.dropped(item)
        self.around.pop()
        arithmetic.loop, arithmetic.place = before
        return self.names

    def listen(self, number: Value) -> None:
        """Ask the caller now and then whether to go on."""
        k = self.k
        doubt = self.arithmetic.truth(self.scalar(self.names[DOUBT]))
        with k.if_(k.eq(number & (_LISTENS - 1), _LISTENS - 1)) as rare:
            k.leave_if(doubt | k.ask(self.caller))
            rare.yield_()

    def yields(self, end: Known, carried: Carried, old: Sequence[Value]) -> list[Value]:
        """What a turn carries on."""
        found = []
        for name, value in zip(carried.names, old, strict=True):
            item, kind = end.get(name), carried.kinds[name]
            found.append(value if item is None or register(item) is None else self.held(item, kind))
        return found

    # -- before a loop -----------------------------------------------------------------------------
    def inside(self, loop: Repeated) -> Around:
        """A loop of which nothing is known yet."""
        return Around(self.k.placeholder("i64").number, isinstance(loop.node, ast.While))

    def known_to(self, node: Loop) -> Known:
        """What is known now of the names that a loop binds."""
        return {name: self.names.get(name, UNBOUND) for name in self.bound(node)}

    def bound(self, node: Loop) -> frozenset[str]:
        """The names that a loop binds, and those under which more is followed."""
        names = bound_by(node)
        if self.has_complex:
            names |= {part for name in names for part in parts_of(name)}
        return names | {tag(name) for name in names & self.told} | {DOUBT} | self.hidden

    def settle(self, loop: Repeated) -> tuple[Settled, Around]:
        """What is known of the names that a loop binds, at the beginning of each turn.

        Raises:
            Unknown: that changes from turn to turn, or something in the loop is not known.

        """
        entry = self.known_to(loop.node)
        head, around = dict(entry), self.names
        for _ in range(_ROUNDS):
            inside = self.inside(loop)
            end = self.tried(loop, head, inside)
            new = {name: joined(entry[name], end.get(name, UNBOUND)) for name in head}
            new = {name: widened(item, head[name]) for name, item in new.items()}
            self.names = around
            if all(is_same(new[name], head[name]) for name in head):
                return Settled(head, end), inside
            head = new
        raise Unknown("what is known of a name changes from turn to turn", loop.node.lineno)

    def tried(self, loop: Repeated, head: Known, inside: Around) -> Known:
        """What is known at the end of a turn, of which nothing is kept."""
        with self.aside(), self.nothing_appended():
            names = [name for name, item in head.items() if register(item) is not None]
            kinds = {name: register_type(head[name]) for name in names}
            values = [self.k.placeholder(kind) for kind in kinds.values()]
            number = self.k.placeholder("i64")
            carried = Carried(Settled(head, head), names, kinds)
            return dict(self.turn(loop, carried, values, number, inside))

    def carried(self, node: Loop, settled: Settled) -> Carried:
        """The names that are numbers from turn to turn, or at the end, and how they are held."""
        kinds: dict[str, str] = {}
        for name in sorted(self.bound(node)):
            items = settled.head[name], settled.end.get(name)
            found = next((item for item in items if register(item) is not None), None)
            if found is not None:
                kinds[name] = register_type(found)
        return Carried(settled, list(kinds), kinds)

    def secure(self, inside: Around, count: Value | None) -> None:
        """See whether the indices that move along lines stay within their extents in all turns."""
        k, found = self.k, []
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


def as_held(known: Scalar, head: Item, value: Value) -> Item:
    """What is known after a loop, in the type in which it was carried."""
    if known.type == value.type:
        return replace(known, value=value)
    return replace(head, value=value) if isinstance(head, Scalar) else UNBOUND


def has_loops(node: Loop) -> bool:
    """Whether other loops are in a loop."""
    return any(isinstance(each, Loop) for each in ast.walk(node) if each is not node)


def breaks(node: Loop) -> bool:
    """Whether a ``break`` may end a loop itself."""
    pending: list[ast.AST] = list(node.body)
    while pending:
        each = pending.pop()
        if isinstance(each, ast.Break):
            return True
        if isinstance(each, ast.If):
            pending.extend([*each.body, *each.orelse])
    return False

"""Emits the statements of a loop as kernel code, with what is known of every name on the way.

Names are values, not places: where ways meet (after an ``if``, at the head of a loop) what is known
of a name is joined, and a value chosen or carried. What is not known here raises
:class:`.values.Unknown`, and the loop runs as it stands.
"""

from __future__ import annotations

import ast
import builtins
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field, replace
from typing import Any, Final

import numpy as np

from runmat_jit.core.frozen import frozen
from runmat_jit.core.slotted import slotted
from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.ir import Instruction, Value
from runmat_jit.loops.arithmetic import Arithmetic
from runmat_jit.loops.source import Chain, bound_by, chain_of
from runmat_jit.loops.values import (
    EXTENT,
    LEAST,
    MOST,
    FLOAT,
    FLOAT64,
    INT,
    INT64,
    TRUTH,
    UNBOUND,
    Array,
    Axis,
    Item,
    Items,
    Line,
    Object,
    Scalar,
    Unbound,
    Unknown,
    held_as,
    is_held,
    is_same,
    joined,
    literal,
    numpy_kind,
    widened,
)

LIVE, BROKEN = "%live", "%broken"
"""Whether the turn of a loop still goes on, and whether the loop is to end."""
DOUBT = "%doubt"
"""Whether something has happened that Python has to do: then nothing computed here will count."""
_LISTENS: Final = 1 << 18
"""Turns of an inner loop after which the caller is asked whether to go on."""
_ROUNDS: Final = 6
"""Turns after which what is known at the head of a loop is settled, or nothing is."""
_TYPES: Final[dict[Any, np.dtype]] = {
    np.float64: np.dtype(np.float64),
    np.float32: np.dtype(np.float32),
    np.int64: np.dtype(np.int64),
    np.int32: np.dtype(np.int32),
    np.bool_: np.dtype(np.bool_),
}

Known = dict[str, Item]
"""What is known of names."""


@frozen
class Turns:
    """How often a ``for`` runs, and what its target is in turn ``k``."""

    count: Value
    item: Callable[[Value], Item]


@slotted
class Around:
    """A loop whose turn is emitted.

    ``accesses``: the indices that move along lines in it, each with its extent, by what identifies
    them; ``waits``: it is a ``while``; ``safe``: whether all of them stay within their extents, for all turns; None: nobody knows.
    """

    number: int
    waits: bool
    accesses: dict[Any, tuple[Line, Value]] = field(default_factory=dict)
    safe: Value | None = None


@frozen
class Carried:
    """What a loop carries: what is known of names at its head, those that it carries, and their starts."""

    head: Known
    names: Sequence[str]
    kinds: Mapping[str, str]
    starts: Sequence[Value]


@slotted
class Body:
    """The state of emitting a loop.

    ``chains`` are values from outside; ``names`` what is known here. ``written`` are the operands
    that are stored to. Of ``told`` names, which are read after the loop, it is followed under another name
    (:func:`tag`) whether the number is one of NumPy's.
    """

    k: Builder
    arithmetic: Arithmetic
    chains: Mapping[Chain, Item]
    names: Known
    written: set[int] = field(default_factory=set)
    told: frozenset[str] = frozenset()
    numpys: dict[int, Item] = field(default_factory=dict)
    """Whether numbers are NumPy's, by the numbers of their values, where it is decided in the kernel."""
    around: list[Around] = field(default_factory=list)
    """The loops whose turns are emitted, the innermost one last."""
    caller: Value | None = None
    """Address of who tells, in long loops within a turn, that the kernel is to end."""

    # -- statements --------------------------------------------------------------------------------
    def run(self, statements: Sequence[ast.stmt]) -> None:
        """Emit statements; what comes after one that may end the turn runs while it is live."""
        for position, statement in enumerate(statements):
            if isinstance(statement, ast.Break | ast.Continue):
                if isinstance(statement, ast.Break):
                    self.names[BROKEN] = literal(self.k, True)  # noqa: FBT003
                self.names[LIVE] = literal(self.k, False)  # noqa: FBT003
                return
            try:
                self.statement(statement)
            except Unknown as unknown:
                if unknown.line is None:
                    unknown.line = statement.lineno
                raise
            rest = statements[position + 1 :]
            live = self.names.get(LIVE)
            if rest and isinstance(live, Scalar) and live.literal is not True:
                self.choose(self.arithmetic.truth(live), lambda: self.run(rest), None)  # noqa: B023
                return

    def statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Assign(targets=targets, value=value):
                made = self.item(value)
                for target in targets:
                    self.assign(target, made)
            case ast.AugAssign(target=target, op=op, value=value):
                self.augment(target, type(op).__name__, value)
            case ast.If():
                self.branch(node)
            case ast.For():
                self.for_(node)
            case ast.While():
                self.while_(node)
            case ast.Pass() | ast.Expr(value=ast.Constant()):
                pass
            case _:
                raise Unknown(f"a statement of the kind {type(node).__name__}")

    def assign(self, target: ast.expr, made: Item) -> None:
        match target:
            case ast.Name(id=name):
                self.bind(name, made)
            case ast.Tuple(elts=targets):
                items = self.unpacked(made, len(targets))
                for each, item in zip(targets, items, strict=True):
                    self.assign(each, item)
            case ast.Subscript(value=base, slice=index):
                self.store(self.element(self.item(base), index), made)
            case _:
                raise Unknown(f"a store into {type(target).__name__}")

    def bind(self, name: str, made: Item) -> None:
        """Give a name its value; the one that it had is gone."""
        old = self.names.get(name)
        if isinstance(old, Scalar) and old is not made:
            self.arithmetic.dropped(old)
        if name in self.told:
            self.names[tag(name)] = self.is_numpys(made)
        self.names[name] = made

    def is_numpys(self, made: Item) -> Item:
        """Whether a number is one of NumPy's."""
        pythons = {kind.python for kind in made.kinds} if isinstance(made, Scalar) else set()
        if len(pythons) == 1:
            return literal(self.k, not pythons.pop())
        same = (name for name in self.told if self.names.get(name) is made and tag(name) in self.names)
        found = next((self.names[tag(name)] for name in same), UNBOUND)
        if isinstance(found, Unbound) and isinstance(made, Scalar):
            return self.numpys.get(made.value.number, UNBOUND)
        return found

    def bound(self, node: ast.For | ast.While) -> frozenset[str]:
        """The names that a loop binds, and those under which more is followed."""
        names = bound_by(node)
        return names | {tag(name) for name in names & self.told} | {DOUBT}

    def doubt(self, condition: Value) -> None:
        """From here on there is doubt where the condition holds."""
        if self.around and self.around[-1].waits:
            self.k.leave_if(condition)  # nothing is gained by going on
            return
        before = self.names[DOUBT]
        assert isinstance(before, Scalar), "it is a truth value from the beginning"
        value = condition if before.literal is False else before.value | condition
        self.names[DOUBT] = Scalar(frozenset((TRUTH,)), value)

    def unpacked(self, made: Item, count: int) -> tuple[Item, ...]:
        if not isinstance(made, Items) or len(made.items) != count:
            raise Unknown("an assignment to several names of what is no tuple of as many")
        return made.items

    def augment(self, target: ast.expr, op: str, value: ast.expr) -> None:
        match target:
            case ast.Name(id=name):
                old = self.read(Chain(name))
                self.bind(name, self.operate(op, old, self.item(value)))
            case ast.Subscript(value=base, slice=index):
                place = self.element(self.item(base), index)
                old = self.load(place)
                self.store(place, self.operate(op, old, self.item(value)))
            case _:
                raise Unknown(f"a store into {type(target).__name__}")

    def branch(self, node: ast.If) -> None:
        test = self.item(node.test)
        if isinstance(test, Scalar) and test.literal is not None:
            self.run(node.body if test.literal else node.orelse)
            return
        condition = self.arithmetic.truth(self.scalar(test))
        orelse = node.orelse
        otherwise = (lambda: self.run(orelse)) if orelse else None
        self.choose(condition, lambda: self.run(node.body), otherwise)

    # -- where ways meet ---------------------------------------------------------------------------
    def choose(
        self, condition: Value, then: Callable[[], None], otherwise: Callable[[], None] | None
    ) -> None:
        """One of two ways; what is known after both is joined."""
        before = dict(self.names)
        first = self.captured(then)
        after_first, self.names = self.names, dict(before)
        second = self.captured(otherwise) if otherwise is not None else []
        after_second = self.names
        changed = sorted(
            name
            for name in {*after_first, *after_second}
            if after_first.get(name) is not before.get(name)
            or after_second.get(name) is not before.get(name)
        )
        met = {
            name: joined(after_first.get(name, UNBOUND), after_second.get(name, UNBOUND))
            for name in changed
        }
        chosen = [name for name in changed if isinstance(met[name], Scalar)]
        kinds = {name: self.met(met, name).type for name in chosen}
        starts = [self.start(before.get(name), kinds[name]) for name in chosen]
        telling = {
            name
            for name in changed
            for known in (after_first, after_second)
            if self.is_new(known.get(name), before.get(name))
        }
        block = self.k.if_(condition, starts)
        with block:
            self.resume(first)
            self.drop(after_first, telling.difference(chosen))
            block.yield_(*(self.held(after_first[name], kinds[name]) for name in chosen))
        values = block.out
        if otherwise is not None:
            opposite = self.k.prim("xor", condition, True)
            block = self.k.if_(opposite, values)
            with block:
                self.resume(second)
                self.drop(after_second, telling.difference(chosen))
                block.yield_(*(self.held(after_second[name], kinds[name]) for name in chosen))
            values = block.out
        self.names = before
        self.names.update(met)
        for name, value in zip(chosen, values, strict=True):
            self.names[name] = replace(self.met(met, name), value=value)
            if name in telling:  # who needs the one needs what it was chosen from
                self.arithmetic.made_at[value.number] = self.arithmetic.place

    def is_new(self, item: Item | None, before: Item | None) -> bool:
        """Whether a name has got a result that nobody has used yet."""
        new = isinstance(item, Scalar) and item is not before
        return new and item.value.number in self.arithmetic.made_at  # type: ignore[union-attr]  # new

    def drop(self, known: Known, names: Iterable[str]) -> None:
        """The values of names that are known no more after a way."""
        for name in sorted(names):
            if isinstance(item := known.get(name), Scalar):
                self.arithmetic.dropped(item)

    def met(self, known: Known, name: str) -> Scalar:
        found = known[name]
        assert isinstance(found, Scalar), "numbers are chosen"
        return found

    def held(self, item: Item, kind: str) -> Value:
        assert isinstance(item, Scalar), "it was joined with a number"
        return held_as(self.k, item, kind)

    def start(self, item: Item | None, kind: str) -> Value:
        """What a name is where a way is not taken; anything, where it will not be read then."""
        if isinstance(item, Scalar) and is_held(item, kind):
            return held_as(self.k, item, kind)
        return self.k.const(False if kind == "i1" else 0, kind)

    def captured(self, emit: Callable[[], None]) -> list[Instruction]:
        """The instructions that something emits, to be put in their place later."""
        place, self.arithmetic.place = self.arithmetic.place, self.k.placeholder("i1").number
        with self.aside() as instructions:
            emit()
        self.arithmetic.place = place
        return instructions

    @contextmanager
    def aside(self) -> Iterator[list[Instruction]]:
        """Emit into a list of its own."""
        stack = self.k.open_body()
        try:
            yield stack
        finally:
            self.k.close_body(stack)

    def resume(self, instructions: list[Instruction]) -> None:
        self.k.extend(instructions)

    # -- loops -------------------------------------------------------------------------------------
    def for_(self, node: ast.For) -> None:
        turns = self.turns(node.iter)

        def turn(k: Value) -> None:
            self.assign(node.target, turns.item(k))
            self.run(node.body)

        self.loop(node, turns.count, turn)

    def while_(self, node: ast.While) -> None:
        def turn(_k: Value) -> None:
            self.turn_while(node)

        self.loop(node, None, turn)

    def turn_while(self, node: ast.While, ends: list[Known] | None = None) -> None:
        """A turn of a ``while``, its question included: it is broken where the answer is no.

        ``ends`` is given what is known where the answer was yes, at the end of the turn.
        """

        def run() -> None:
            self.run(node.body)
            if ends is not None:
                ends.append(dict(self.names))

        test = self.item(node.test)
        if isinstance(test, Scalar) and test.literal is not None:
            if test.literal:
                run()
            else:
                self.names[BROKEN] = literal(self.k, True)  # noqa: FBT003
            return

        def stop() -> None:
            self.names[BROKEN] = literal(self.k, True)  # noqa: FBT003

        condition = self.arithmetic.truth(self.scalar(test))
        self.choose(condition, run, stop)

    def loop(
        self,
        node: ast.For | ast.While,
        count: Value | None,
        turn: Callable[[Value], None],
        begin: int = 0,
    ) -> None:
        """A loop inside of another: it may run no turn at all.

        ``begin``: turns of it that have been emitted before.
        """
        around = self.names.get(LIVE), self.names.get(BROKEN)
        entry = dict(self.names)
        try:
            head, inside = self.settle(node, turn)
        except Unknown:
            if begin:
                raise
            self.names = entry
            self.peeled(node, count, turn)
            return
        carried, kinds = self.carried(node, head)
        k = self.k
        self.secure(inside, count)
        stops = count is None or breaks(node)
        starts = [self.start(entry.get(name), kinds[name]) for name in carried]
        if stops:
            zero = k.const(begin, "i64")
            some = k.const(True, "i1") if count is None else zero < count  # noqa: FBT003
            guard = k.if_(some, starts)
            with guard:
                block = k.while_([zero, *starts])
                with block:
                    number, *values = block.carry
                    end = self.turn(node, head, carried, values, lambda: turn(number), inside, number)
                    following = number + 1
                    broken = end[BROKEN]
                    assert isinstance(broken, Scalar), "it is a number at every end"
                    again = k.prim("xor", self.arithmetic.truth(broken), True)
                    if count is not None:
                        again = again & (following < count)
                    block.yield_(again, following, *self.yields(end, carried, kinds, values))
                guard.yield_(*block.out[1:])
            results = guard.out
        else:
            assert count is not None, "a loop that never breaks counts"
            limit = k.convert("sext", count, "index")
            bounds = k.const(begin, "index"), limit
            state = Carried(head, carried, kinds, starts)
            results, end = self.counted(node, state, inside, bounds, turn)
        self.names = dict(entry)
        for name in self.bound(node):
            self.names[name] = joined(entry.get(name, UNBOUND), end.get(name, UNBOUND))
        for name, value in zip(carried, results, strict=True):
            known = self.names.get(name)
            if isinstance(known, Scalar):
                self.names[name] = self.as_held(known, head[name], value)
                if known.is_float and any(not kind.python for kind in known.kinds):
                    self.arithmetic.made_at[value.number] = self.arithmetic.place
        self.leave_loop(around)

    def leave_loop(self, around: tuple[Item | None, Item | None]) -> None:
        """Go on in the turn around, if there is one."""
        for name, item in zip((LIVE, BROKEN), around, strict=True):
            self.names.pop(name, None)
            if item is not None:
                self.names[name] = item

    def peeled(
        self, node: ast.For | ast.While, count: Value | None, turn: Callable[[Value], None]
    ) -> None:
        """A loop whose first turn is written by itself: names are of other classes there."""
        k, around = self.k, (self.names.get(LIVE), self.names.get(BROKEN))
        zero = k.const(0, "i64")

        def run() -> None:
            inside = Around(k.placeholder("i64").number, isinstance(node, ast.While))
            self.turn(node, dict(self.known_to(node)), (), (), lambda: turn(zero), inside)
            broken = self.scalar(self.names[BROKEN])
            self.leave_loop(around)
            if broken.literal is True:
                return
            if broken.literal is False:
                self.loop(node, count, turn, begin=1)
                return
            going_on = k.prim("xor", self.arithmetic.truth(broken), True)
            self.choose(going_on, lambda: self.loop(node, count, turn, begin=1), None)

        if count is None:
            run()
        else:
            self.choose(zero < count, run, None)

    def known_to(self, node: ast.For | ast.While) -> Known:
        """What is known now of the names that a loop binds."""
        return {name: self.names.get(name, UNBOUND) for name in self.bound(node)}

    def counted(
        self,
        node: ast.For | ast.While,
        state: Carried,
        inside: Around,
        bounds: tuple[Value, Value],
        turn: Callable[[Value], None],
    ) -> tuple[tuple[Value, ...], Known]:
        """A loop that no ``break`` ends: what it carries out, and what is known then.

        Where no other loop is in it, it is there twice: without tests of the indices that are known
        to stay within their extents in all turns, and with them.
        """
        if inside.safe is None or has_loops(node):
            return self.counted_once(node, state, inside, bounds, turn)
        names, k, safe = dict(self.names), self.k, inside.safe
        made: list[tuple[list[Instruction], tuple[Value, ...], Known]] = []
        for proven in (True, False):
            self.names = dict(names)
            inside.safe = k.const(True, "i1") if proven else k.const(False, "i1")  # noqa: FBT003
            with self.aside() as instructions:
                values, end = self.counted_once(node, state, inside, bounds, turn)
            made.append((instructions, values, dict(end)))
        results: Sequence[Value] = state.starts
        for condition, (instructions, values, _) in zip(
            (safe, k.prim("xor", safe, True)), made, strict=True
        ):
            block = k.if_(condition, results)
            with block:
                self.resume(instructions)
                block.yield_(*values)
            results = block.out
        return tuple(results), made[0][2]

    def counted_once(
        self,
        node: ast.For | ast.While,
        state: Carried,
        inside: Around,
        bounds: tuple[Value, Value],
        turn: Callable[[Value], None],
    ) -> tuple[tuple[Value, ...], Known]:
        """The same, written once."""
        k = self.k
        block = k.loop(*bounds, state.starts)
        with block:
            values = list(block.carry)
            index = k.convert("sext", block.i, "i64")
            listened = index if has_loops(node) else None
            end = self.turn(
                node, state.head, state.names, values, lambda: turn(index), inside, listened
            )
            block.yield_(*self.yields(end, state.names, state.kinds, values))
        return block.out, end

    def listen(self, number: Value) -> None:
        """Ask the caller now and then whether to go on."""
        if self.caller is None:
            return
        k = self.k
        doubt = self.arithmetic.truth(self.scalar(self.names[DOUBT]))
        with k.if_(k.eq(number & (_LISTENS - 1), _LISTENS - 1)) as rare:
            k.leave_if(doubt | k.ask(self.caller))
            rare.yield_()

    def as_held(self, known: Scalar, head: Item, value: Value) -> Item:
        """What is known after a loop, in the type in which it was carried."""
        if known.type == value.type:
            return replace(known, value=value)
        return replace(head, value=value) if isinstance(head, Scalar) else Unbound()

    def turn(
        self,
        node: ast.For | ast.While,
        head: Known,
        carried: Sequence[str],
        values: Sequence[Value],
        emit: Callable[[], None],
        inside: Around,
        listened: Value | None = None,
    ) -> Known:
        """Emit one turn; what is known at its end.

        ``listened``: the number of the turn, where the caller may want the kernel to end.
        """
        self.around.append(inside)
        before, self.arithmetic.loop = self.arithmetic.loop, inside.number
        self.names = dict(self.names)
        for name in self.bound(node):
            self.names[name] = head[name]
        place, self.arithmetic.place = self.arithmetic.place, inside.number
        for name, value in zip(carried, values, strict=True):
            known = head[name]
            if isinstance(known, Scalar):
                self.names[name] = replace(known, value=value)
        self.names[LIVE] = literal(self.k, True)  # noqa: FBT003
        self.names[BROKEN] = literal(self.k, False)  # noqa: FBT003
        if listened is not None:
            self.listen(listened)
        emit()
        for name in sorted(self.bound(node)):
            item = self.names.get(name)
            if isinstance(item, Scalar):  # what is carried on is used in the next turn
                (self.arithmetic.used if isinstance(head[name], Scalar) else self.arithmetic.dropped)(
                    item
                )
        self.around.pop()
        self.arithmetic.place = place
        self.arithmetic.loop = before
        return self.names

    def secure(self, inside: Around, count: Value | None) -> None:
        """Before a loop: whether the indices that move along lines in it stay within extents."""
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
            safe = found[0]
            for each in found[1:]:
                safe = safe & each
            inside.safe = safe

    def yields(
        self, end: Known, carried: Sequence[str], kinds: Mapping[str, str], old: Sequence[Value]
    ) -> list[Value]:
        """What a turn carries on."""
        found = []
        for name, value in zip(carried, old, strict=True):
            item = end.get(name)
            found.append(
                held_as(self.k, item, kinds[name]) if isinstance(item, Scalar) else value
            )
        return found

    def settle(
        self, node: ast.For | ast.While, turn: Callable[[Value], None]
    ) -> tuple[Known, Around]:
        """What is known of the names that a loop binds, at the beginning of each turn."""
        entry = self.known_to(node)
        head, around = dict(entry), self.names
        for _ in range(_ROUNDS):
            inside = Around(self.k.placeholder("i64").number, isinstance(node, ast.While))
            end = self.tried(node, head, turn, inside)
            new = {name: joined(entry[name], end.get(name, UNBOUND)) for name in head}
            new = {name: widened(item, head[name]) for name, item in new.items()}
            self.names = around
            if all(is_same(new[name], head[name]) for name in head):
                return {**head, **{f"{name}\0": item for name, item in end.items()}}, inside
            head = new
        raise Unknown("what is known of a name changes from turn to turn", node.lineno)

    def tried(
        self,
        node: ast.For | ast.While,
        head: Known,
        turn: Callable[[Value], None],
        inside: Around,
    ) -> Known:
        """What is known at the end of a turn, of which nothing is kept."""
        with self.aside():
            names = [name for name, item in head.items() if isinstance(item, Scalar)]
            values = [self.k.placeholder(self.met(head, name).type) for name in names]
            number = self.k.placeholder("i64")
            return dict(self.turn(node, head, names, values, lambda: turn(number), inside))

    def carried(self, node: ast.For | ast.While, head: Known) -> tuple[list[str], dict[str, str]]:
        """The names that are numbers from turn to turn, or at the end, and how they are held."""
        kinds: dict[str, str] = {}
        for name in sorted(self.bound(node)):
            at_head, at_end = head[name], head.get(f"{name}\0")
            if isinstance(at_head, Scalar):
                kinds[name] = at_head.type
            elif isinstance(at_end, Scalar):
                kinds[name] = at_end.type
        return list(kinds), kinds

    def turns(self, node: ast.expr) -> Turns:
        """What a ``for`` iterates."""
        match node:
            case ast.Call(func=function, args=args):
                made_by = self.item(function)
                fn = made_by.value if isinstance(made_by, Object) else None
                if fn is range:
                    return self.range_(args)
                if fn is enumerate and len(args) == 1:
                    inner = self.turns(args[0])
                    return Turns(inner.count, lambda k: Items((self.counter(k), inner.item(k))))
                if fn is zip and args:
                    every = [self.turns(arg) for arg in args]
                    count = every[0].count
                    for other in every[1:]:
                        count = self.k.select(other.count < count, other.count, count)
                    return Turns(count, lambda k: Items(tuple(each.item(k) for each in every)))
                if fn is reversed and len(args) == 1:
                    inner = self.turns(args[0])
                    return Turns(inner.count, lambda k: inner.item(inner.count - 1 - k))
        iterated = self.item(node)
        if isinstance(iterated, Array) and iterated.axes:
            first, axes = iterated.axes[0], iterated.axes[1:]
            extent = self.k.convert("sext", first.extent, "i64")

            def element(k: Value) -> Item:
                at = self.k.convert("sext", k, "index")
                return self.load(self.moved(iterated, axes, at, first.stride))

            return Turns(extent, element)
        raise Unknown("a loop over what is no range and no array", node.lineno)

    def counter(self, k: Value) -> Scalar:
        line = Line(self.arithmetic.loop, 1, (), 0)
        return Scalar(frozenset((INT,)), k, 0, EXTENT, line=line)

    def range_(self, args: Sequence[ast.expr]) -> Turns:
        """``range`` of integers; the step is written in the program."""
        numbers = [self.scalar(self.item(arg)) for arg in args]
        if any(number.kinds != {INT} and number.type != "i64" for number in numbers):
            raise Unknown("a range of what are no integers")
        if len(numbers) == 1:
            numbers = [literal(self.k, 0), *numbers]
        start, stop = numbers[:2]
        step = numbers[2].literal if len(numbers) == 3 else 1
        if type(step) is not int or step == 0 or len(numbers) > 3:
            raise Unknown("a range whose step is not written in the program")
        k = self.k
        distance = self.arithmetic.operate("Sub", *((stop, start) if step > 0 else (start, stop)))
        wide = self.arithmetic.cast(distance, INT64)
        size = abs(step)
        count = wide if size == 1 else k.prim("sdiv", wide + (size - 1), size)
        count = k.select(wide > 0, count, 0)
        lowest, highest = (start.low, stop.high - 1) if step > 0 else (stop.low + 1, start.high)
        lowest, highest = max(lowest, LEAST), min(highest, MOST)
        top = stop.top if step > 0 else start.top
        if top is not None and step > 0:
            top = top[0], top[1] - 1
        first = self.arithmetic.cast(start, INT64)

        def item(number: Value) -> Scalar:
            value = first + number * step
            begin = self.arithmetic.line_of(replace(start, line=None))
            moves = Line(self.arithmetic.loop, step, (), 0) if abs(step) < 1 << 16 else None
            line = None if begin is None or moves is None else begin.plus(moves, 1)
            return Scalar(
                frozenset((INT,)), value, lowest, max(lowest, highest), top, line=line
            )

        return Turns(count, item)

    # -- elements of arrays ------------------------------------------------------------------------
    def element(self, base: Item, index: ast.expr) -> Array:
        """The part of an array that indices show."""
        if not isinstance(base, Array):
            raise Unknown("an item of what is no array")
        parts = index.elts if isinstance(index, ast.Tuple) else [index]
        if len(parts) > len(base.axes):
            raise Unknown("more indices than axes")
        found = base
        for part in parts:
            number = self.scalar(self.item(part))
            axis, rest = found.axes[0], found.axes[1:]
            found = self.moved(found, rest, self.checked(number, axis), axis.stride)
        return found

    def checked(self, number: Scalar, axis: Axis) -> Value:
        """An index within the extent of an axis, counted from its beginning."""
        k = self.k
        at = self.arithmetic.index(number)
        proven = number.top is not None and number.top[0] == axis.number and number.top[1] < 0
        if proven and number.low >= 0:
            return at
        safe = self.safe_along(number, axis)
        if safe is None or safe.literal is False:
            return self.within(number, at, axis)
        if safe.literal is True:
            return at
        unsafe = k.if_(k.prim("xor", safe, True), [at])
        with unsafe:
            unsafe.yield_(self.within(number, at, axis))
        return unsafe.out[0]

    def within(self, number: Scalar, at: Value, axis: Axis) -> Value:
        """An index, counted from the end where it is negative; leaves where it is out of range."""
        k = self.k
        if number.high < 0:
            at = at + axis.extent
        elif number.low < 0:
            at = k.select(at < 0, at + axis.extent, at)
        k.leave_if(k.prim("xor", k.prim("ult", at, axis.extent), True))
        return at

    def safe_along(self, number: Scalar, axis: Axis) -> Value | None:
        """Whether an index stays within its extent in all turns of the innermost loop."""
        line = self.arithmetic.line_of(number)
        if not self.around or line is None:
            return None
        inside = self.around[-1]
        terms = tuple([(sign, value.number) for sign, value in line.terms])
        key = line.step, terms, line.constant, axis.extent.number
        if inside.safe is not None:
            return inside.safe if key in inside.accesses else None
        inside.accesses[key] = line, axis.extent
        return None

    def moved(
        self, base: Array, axes: tuple[Axis, ...], at: Value, stride: Value | int
    ) -> Array:
        step = at if stride == 1 else at * stride
        offset = step if base.offset is None else base.offset + step
        return replace(base, offset=offset, axes=axes)

    def load(self, at: Array) -> Item:
        """An element; a part with axes is no value, but a place."""
        if at.axes:
            return at
        value = self.k.load(at.buffer, self.k.const(0, "index") if at.offset is None else at.offset, 0)
        kind = numpy_kind(at.dtype)
        return Scalar(frozenset((kind,)), value, *bounds_of(at.dtype), narrow=value.type == "f32")

    def store(self, at: Array, made: Item) -> None:
        if at.axes:
            raise Unknown("an assignment to more than one element")
        self.written.add(at.operand)
        value = self.arithmetic.stored(self.scalar(made), at.dtype)
        offset = self.k.const(0, "index") if at.offset is None else at.offset
        self.k.store(at.buffer, offset, value, 0)

    # -- expressions -------------------------------------------------------------------------------
    def scalar(self, item: Item) -> Scalar:
        """A value that is a number.

        Raises:
            Unknown: it is none.

        """
        if isinstance(item, Scalar):
            return item
        if isinstance(item, Unbound):
            raise Unknown(item.why)
        if isinstance(item, Array):
            raise Unknown("an operation on whole arrays")
        raise Unknown("an operation on what is no number")

    def operate(self, op: str, *items: Item) -> Scalar:
        return self.arithmetic.operate(op, *map(self.scalar, items))

    def item(self, node: ast.expr) -> Item:
        """The value of an expression."""
        match node:
            case ast.Constant(value=value):
                return Object(value) if isinstance(value, str) else literal(self.k, value)
            case ast.Name() | ast.Attribute():
                return self.named(node)
            case ast.BinOp(left=left, op=op, right=right):
                return self.operate(type(op).__name__, self.item(left), self.item(right))
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                truth = self.arithmetic.truth(self.scalar(self.item(operand)))
                return Scalar(frozenset((TRUTH,)), self.k.prim("xor", truth, True))
            case ast.UnaryOp(op=op, operand=operand):
                return self.operate(type(op).__name__, self.item(operand))
            case ast.Compare():
                return self.comparison(node)
            case ast.BoolOp(op=op, values=values):
                return self.boolean(isinstance(op, ast.And), values)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return self.either(test, body, orelse)
            case ast.Subscript(value=base, slice=index):
                return self.subscript(self.item(base), index)
            case ast.Tuple(elts=elts):
                return Items(tuple(self.item(each) for each in elts))
            case ast.NamedExpr(target=target, value=value):
                made = self.item(value)
                self.assign(target, made)
                return made
            case ast.Call(func=function, args=args):
                return self.call(function, args)
        raise Unknown(f"an expression of the kind {type(node).__name__}")

    def subscript(self, base: Item, index: ast.expr) -> Item:
        if isinstance(base, Items):
            for item in base.items:
                if isinstance(item, Scalar):
                    self.arithmetic.dropped(item)
            number = self.scalar(self.item(index)).literal
            if type(number) is not int or not -len(base.items) <= number < len(base.items):
                raise Unknown("an item of a tuple, by an index that is not written in the program")
            found: Item = base.items[number]
            return found
        return self.load(self.element(base, index))

    def read(self, chain: Chain) -> Item:
        """A name, or a value from outside."""
        if not chain.attributes and chain.name in self.names:
            return self.names[chain.name]
        return self.chains.get(chain, UNBOUND)

    def named(self, node: ast.expr) -> Item:
        chain = chain_of(node)
        if chain is not None and chain.name not in self.names and chain in self.chains:
            return self.chains[chain]
        if isinstance(node, ast.Attribute):
            return self.attribute(self.item(node.value), node.attr)
        assert chain is not None, "a name is a chain"
        found = self.read(chain)
        if isinstance(found, Unbound):
            raise Unknown(f"{chain.name}: {found.why}")
        return found

    def attribute(self, base: Item, name: str) -> Item:
        if isinstance(base, Array):
            if name == "shape":
                return Items(tuple(self.extent(axis) for axis in base.axes))
            if name == "ndim":
                return literal(self.k, len(base.axes))
            if name == "size" and len(base.axes) == 1:
                return self.extent(base.axes[0])
        raise Unknown(f"the attribute {name}")

    def extent(self, axis: Axis) -> Scalar:
        value = self.k.convert("sext", axis.extent, "i64")
        return Scalar(frozenset((INT,)), value, 0, EXTENT, (axis.number, 0))

    def comparison(self, node: ast.Compare) -> Item:
        """A chain of comparisons: the later ones are made where the earlier hold."""
        left = self.item(node.left)
        right = self.item(node.comparators[0])
        first = self.operate(type(node.ops[0]).__name__, left, right)
        if len(node.ops) == 1:
            return first

        def rest(place: int, left: Item) -> Scalar:
            right = self.item(node.comparators[place])
            found = self.operate(type(node.ops[place]).__name__, left, right)
            if place + 1 == len(node.ops):
                return found
            return self.both(found, lambda: rest(place + 1, right), when=True)

        return self.both(first, lambda: rest(1, right), when=True)

    def boolean(self, conjunction: bool, values: Sequence[ast.expr]) -> Scalar:  # noqa: FBT001
        first = self.scalar(self.item(values[0]))
        if len(values) == 1:
            return first
        return self.both(first, lambda: self.boolean(conjunction, values[1:]), when=conjunction)

    def both(self, first: Scalar, other: Callable[[], Scalar], *, when: bool) -> Scalar:
        """``first and other()`` (``when`` true) or ``first or other()``."""
        if first.literal is not None:
            return other() if bool(first.literal) is when else first
        condition = self.arithmetic.truth(first)
        if not when:
            condition = self.k.prim("xor", condition, True)
        return self.chosen(condition, other, lambda: first)

    def either(self, test: ast.expr, body: ast.expr, orelse: ast.expr) -> Item:
        decided = self.scalar(self.item(test))
        if decided.literal is not None:
            return self.item(body if decided.literal else orelse)
        return self.chosen(
            self.arithmetic.truth(decided),
            lambda: self.scalar(self.item(body)),
            lambda: self.scalar(self.item(orelse)),
        )

    def chosen(
        self, condition: Value, then: Callable[[], Scalar], otherwise: Callable[[], Scalar]
    ) -> Scalar:
        """One of two numbers, each of which is computed only where it is wanted."""
        name = "%chosen"
        around = self.names.pop(name, None)

        def put(compute: Callable[[], Scalar]) -> Callable[[], None]:
            def emit() -> None:
                made = self.names[name] = compute()
                self.names[tag(name)] = self.is_numpys(made)

            return emit

        self.choose(condition, put(then), put(otherwise))
        found, numpys = self.names.pop(name), self.names.pop(tag(name))
        if around is not None:
            self.names[name] = around
        found = self.scalar(found)
        self.numpys[found.value.number] = numpys
        return found

    # -- calls -------------------------------------------------------------------------------------
    def call(self, function: ast.expr, args: Sequence[ast.expr]) -> Item:
        if isinstance(function, ast.Attribute) and chain_of(function) not in self.chains:
            base = self.item(function.value)
            if isinstance(base, Scalar) and function.attr == "item" and not args:
                return self.python_number(base)
            if isinstance(base, Scalar) and function.attr == "copy" and not args:
                return self.copied(base)
            raise Unknown(f"the method {function.attr}")
        called = self.item(function)
        fn = called.value if isinstance(called, Object) else None
        if fn is len and len(args) == 1:
            return self.length(self.item(args[0]))
        operands = [self.scalar(self.item(arg)) for arg in args]
        if isinstance(fn, np.ufunc):
            if len(operands) != fn.nin or fn.nout != 1:
                raise Unknown(f"numpy.{fn.__name__} with other arguments")
            return self.arithmetic.ufunc(fn, operands)
        if isinstance(fn, types.BuiltinFunctionType) and fn.__module__ == "math":
            return self.arithmetic.math(fn, operands)
        handler = _BUILTINS.get(fn) if isinstance(fn, type | types.BuiltinFunctionType) else None
        if handler is not None:
            return handler(self, operands)
        if isinstance(fn, type) and fn in _TYPES and len(operands) == 1:
            return self.of_numpy(operands[0], _TYPES[fn])
        raise Unknown(f"a call of {getattr(fn, '__name__', 'what is not known')}")

    def length(self, of: Item) -> Scalar:
        if isinstance(of, Items):
            return literal(self.k, len(of.items))
        if isinstance(of, Array) and of.axes:
            return self.extent(of.axes[0])
        raise Unknown("the length of what is no array")

    def python_number(self, x: Scalar) -> Scalar:
        """``x.item()``: the number as one of Python's."""
        if any(kind.python for kind in x.kinds):
            raise Unknown("item() of a Python number")
        return self.as_python(x)

    def copied(self, x: Scalar) -> Scalar:
        """``x.copy()``: the same number."""
        if any(kind.python for kind in x.kinds):
            raise Unknown("copy() of a Python number")
        return x

    def as_python(self, x: Scalar) -> Scalar:
        dtype = {"f": FLOAT, "i": INT, "b": TRUTH}[TYPE_CHARS[x.type]]
        value = self.arithmetic.cast(x, dtype.dtype)
        return Scalar(frozenset((dtype,)), value, x.low, x.high, x.top, x.literal, x.narrow)

    def of_numpy(self, x: Scalar, dtype: np.dtype) -> Scalar:
        """``np.float64(x)`` and its siblings."""
        if x.is_float and dtype.kind == "i":
            raise Unknown("a float becomes an integer of NumPy's")
        value = self.arithmetic.cast(x, dtype)
        bounds = (x.low, x.high) if dtype.kind == "i" and not x.is_float else bounds_of(dtype)
        return Scalar(frozenset((numpy_kind(dtype),)), value, *bounds, narrow=value.type == "f32")

    def extreme(self, operands: Sequence[Scalar], op: str) -> Scalar:
        """``min`` or ``max`` of Python's: a later number wins where it compares so."""
        found = operands[0]
        for other in operands[1:]:
            best = found
            wins = self.arithmetic.truth(self.arithmetic.operate(op, other, best))
            met = joined(other, best)
            if not isinstance(met, Scalar):
                raise Unknown("the least or greatest of several classes")
            chosen = self.k.select(
                wins, held_as(self.k, other, met.type), held_as(self.k, best, met.type)
            )
            numpys = self.is_numpys(other), self.is_numpys(best)
            found = replace(met, value=chosen, literal=None, top=None, line=None)
            if isinstance(numpys[0], Scalar) and isinstance(numpys[1], Scalar):
                is_numpys = self.k.select(wins, numpys[0].value, numpys[1].value)
                self.numpys[chosen.number] = Scalar(frozenset((TRUTH,)), is_numpys)
        return found

    def integer(self, x: Scalar) -> Scalar:
        if x.is_float:
            return self.arithmetic.whole(
                self.k.prim("trunc_float", self.arithmetic.cast(x, FLOAT64))
            )
        if x.type == "i1":
            value = self.arithmetic.cast(x, INT64)
            return Scalar(frozenset((INT,)), value, 0, 1)
        return self.as_python(x)

    def magnitude(self, x: Scalar) -> Scalar:
        if x.type == "i1":
            raise Unknown("the magnitude of a truth value")
        if x.is_float:
            value = self.k.prim("abs", x.value)
            return replace(x, value=value, literal=None, top=None)
        low = -(1 << 31) if x.type == "i32" else LEAST
        if x.low <= low:
            self.k.leave_if(self.k.eq(x.value, low))
        value = self.k.prim("abs", x.value)
        high = max(abs(x.low), abs(x.high))
        return Scalar(x.kinds, value, 0, min(high, MOST), None)


TYPE_CHARS: Final = {"f32": "f", "f64": "f", "i32": "i", "i64": "i", "i1": "b"}


def tag(name: str) -> str:
    """Under which it is followed whether a number is one of NumPy's."""
    return f"{name}?"


def bounds_of(dtype: np.dtype) -> tuple[int, int]:
    """Between which numbers integers of a dtype lie."""
    if dtype.kind == "i":
        limits = np.iinfo(dtype)
        return int(limits.min), int(limits.max)
    return (0, 1) if dtype.kind == "b" else (LEAST, MOST)


def has_loops(node: ast.For | ast.While) -> bool:
    """Whether other loops are in a loop."""
    return any(isinstance(each, ast.For | ast.While) for each in ast.walk(node) if each is not node)


def breaks(node: ast.For | ast.While) -> bool:
    """Whether a ``break`` may end a loop itself."""
    pending: list[ast.AST] = list(node.body)
    while pending:
        each = pending.pop()
        if isinstance(each, ast.Break):
            return True
        if isinstance(each, ast.If):
            pending.extend([*each.body, *each.orelse])
    return False


def _one(handler: Callable[[Body, Scalar], Item]) -> Callable[[Body, list[Scalar]], Item]:
    def handle(body: Body, operands: list[Scalar]) -> Item:
        if len(operands) != 1:
            raise Unknown("a call with another number of arguments")
        return handler(body, operands[0])

    return handle


def _several(op: str) -> Callable[[Body, list[Scalar]], Item]:
    def handle(body: Body, operands: list[Scalar]) -> Item:
        if len(operands) < 2:
            raise Unknown("the least or greatest of one value")
        return body.extreme(operands, op)

    return handle


def _truth(body: Body, x: Scalar) -> Item:
    return Scalar(frozenset((TRUTH,)), body.arithmetic.truth(x))


def _float(body: Body, x: Scalar) -> Item:
    value = body.arithmetic.cast(x, FLOAT64)
    return Scalar(frozenset((FLOAT,)), value, narrow=x.narrow)


_BUILTINS: Final[dict[Any, Callable[[Body, list[Scalar]], Item]]] = {
    builtins.abs: _one(Body.magnitude),
    builtins.min: _several("Lt"),
    builtins.max: _several("Gt"),
    builtins.int: _one(Body.integer),
    builtins.float: _one(_float),
    builtins.bool: _one(_truth),
}

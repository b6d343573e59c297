"""The state of emitting a loop: what is known of names, and how it is joined where ways meet.

Names are values, not places: after an ``if`` what is known of a name is joined, and a value chosen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field
from typing import Any

from runmat_jit.core.frozen import frozen, frozen_object
from runmat_jit.core.slotted import slotted
from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.ir import Instruction, Value
from runmat_jit.loops.arithmetic import Arithmetic
from runmat_jit.loops.source import Chain, HelperSource
from runmat_jit.loops.values import (
    TRUTH,
    UNBOUND,
    Array,
    Complex,
    ComplexName,
    Item,
    Lazy,
    Line,
    Scalar,
    Unbound,
    Unknown,
    held_as,
    in_register,
    is_held,
    joined,
    literal,
    parts_of,
    register,
    register_type,
)

LIVE, BROKEN = "%live", "%broken"
"""Whether the turn of a loop still goes on, and whether the loop does not."""
DOUBT = "%doubt"
"""Whether something has happened that Python has to do: then nothing computed here will count."""

Known = dict[str, Item]
"""What is known of names."""


@slotted
class Around:
    """A loop whose turn is emitted.

    ``waits``: it is a ``while``. ``accesses``: the indices that move along lines in it, each with
    its extent, by what identifies them; ``safe``: whether all of them stay within their extents in
    all turns; None: nobody knows.
    """

    number: int
    waits: bool
    accesses: dict[Any, tuple[Line, Value]] = field(default_factory=dict)
    safe: Value | None = None


@frozen
class Given:
    """Stands for the operand of this chain."""

    chain: Chain


@frozen_object
class Helper:
    """A function of the program's, with what it reads from outside: operands and objects."""

    source: HelperSource
    values: Mapping[Chain, Any]


@slotted
class Ways:
    """The state of emitting a loop.

    ``chains`` are values from outside; ``names`` what is known here. ``caller`` is the address of
    who tells, in long loops within a turn, that the kernel is to end. ``written`` are the operands
    that are stored to. Of ``told`` names, which are read after the loop, it is followed under
    another name (:func:`tag`) whether the number is one of NumPy's.
    """

    k: Builder
    arithmetic: Arithmetic
    chains: Mapping[Chain, Item]
    names: Known
    caller: Value
    helpers: Mapping[Any, Helper] = field(default_factory=dict)
    """Functions of the program's that may be called."""
    calling: list[Any] = field(default_factory=list)
    """Those that are being called."""
    given: Mapping[Chain, Item] = field(default_factory=dict)
    """All operands, by their chains."""
    written: set[int] = field(default_factory=set)
    told: frozenset[str] = frozenset()
    hidden: frozenset[str] = frozenset()
    """What every loop carries, and every function is given, beside the names: where streams of
    random numbers are."""
    numpys: dict[int, Item] = field(default_factory=dict)
    """Whether numbers are NumPy's, by the numbers of their values, where the kernel decides it."""
    has_complex: bool = False
    """Whether names may hold complex numbers."""
    around: list[Around] = field(default_factory=list)
    """The loops whose turns are emitted, the innermost one last."""

    def bind(self, name: str, made: Item) -> None:
        """Give a name its value; the one that it had is gone."""
        old = self.names.get(name)
        if isinstance(old, Scalar) and old is not made:
            self.arithmetic.dropped(old)
        if isinstance(made, Complex):
            for part, number in zip(parts_of(name), (made.re, made.im), strict=True):
                self.bind(part, number)
            made = ComplexName(made.kinds)
        elif isinstance(old, ComplexName):
            for part in parts_of(name):
                self.bind(part, UNBOUND)
        if name in self.told:
            self.names[tag(name)] = self.is_numpys(made)
        self.names[name] = made

    def is_numpys(self, made: Item) -> Item:
        """Whether a number is one of NumPy's."""
        pythons = {kind.python for kind in made.kinds} if isinstance(made, Scalar) else set()
        if len(pythons) == 1:
            return literal(self.k, number=not pythons.pop())
        same = (
            name for name in self.told if self.names.get(name) is made and tag(name) in self.names
        )
        found = next((self.names[tag(name)] for name in same), UNBOUND)
        if isinstance(found, Unbound) and isinstance(made, Scalar):
            return self.numpys.get(made.value.number, UNBOUND)
        return found

    def doubt(self, condition: Value) -> None:
        """From here on there is doubt where the condition holds."""
        if self.around and self.around[-1].waits:
            self.k.leave_if(condition)  # nothing is gained by going on
            return
        before = self.names[DOUBT]
        assert isinstance(before, Scalar), "it is a truth value from the beginning"
        value = condition if before.literal is False else before.value | condition
        self.names[DOUBT] = Scalar(frozenset((TRUTH,)), value)

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
        chosen = [name for name in changed if register(met[name]) is not None]
        kinds = {name: register_type(met[name]) for name in chosen}
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
            self.names[name] = in_register(met[name], value)
            if name in telling:  # who needs the one needs what it was chosen from
                self.arithmetic.made_at[value.number] = self.arithmetic.place

    def is_new(self, item: Item | None, before: Item | None) -> bool:
        """Whether a name has got a result that nobody has used yet."""
        if not isinstance(item, Scalar) or item is before:
            return False
        return item.value.number in self.arithmetic.made_at

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
        if isinstance(item, Scalar):
            return held_as(self.k, item, kind)
        found = register(item)
        assert found is not None, "it was joined with what is held in a register"
        return found

    def start(self, item: Item | None, kind: str) -> Value:
        """What a name is where a way is not taken; anything, where it will not be read then."""
        if isinstance(item, Scalar) and is_held(item, kind):
            return held_as(self.k, item, kind)
        if isinstance(item, Array) and item.whole and kind == "index":
            return self.held(item, kind)
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

    def both(self, first: Scalar, other: Callable[[], Scalar], *, when: bool) -> Scalar:
        """``first and other()`` (``when`` true) or ``first or other()``."""
        if first.literal is not None:
            return other() if bool(first.literal) is when else first
        condition = self.arithmetic.truth(first)
        if not when:
            condition = self.k.prim("xor", condition, True)
        return self.chosen(condition, other, lambda: first)

    def chosen(
        self, condition: Value, then: Callable[[], Scalar], otherwise: Callable[[], Scalar]
    ) -> Scalar:
        """One of two real numbers, each of which is computed only where it is wanted."""
        return self.scalar(self.chosen_number(condition, then, otherwise))

    def chosen_number(
        self,
        condition: Value,
        then: Callable[[], Scalar | Complex],
        otherwise: Callable[[], Scalar | Complex],
    ) -> Scalar | Complex:
        """The same of any numbers."""
        names = name, tagged, *parts = "%chosen", tag("%chosen"), *parts_of("%chosen")
        around = {each: self.names.pop(each) for each in names if each in self.names}

        def put(compute: Callable[[], Scalar | Complex]) -> Callable[[], None]:
            def emit() -> None:
                made = compute()
                self.names[tagged] = self.is_numpys(made)
                if isinstance(made, Complex):
                    self.names |= dict(zip(parts, (made.re, made.im), strict=True))
                    self.names[name] = ComplexName(made.kinds)
                else:
                    self.names[name] = made

            return emit

        self.choose(condition, put(then), put(otherwise))
        found, numpys, *both = (self.names.pop(each, UNBOUND) for each in names)
        self.names |= around
        if isinstance(found, ComplexName):
            return Complex(found.kinds, *map(self.scalar, both))
        found = self.scalar(found)
        self.numpys[found.value.number] = numpys
        return found

    def number(self, item: Item) -> Scalar | Complex:
        """A value that is a number, real or complex.

        Raises:
            Unknown: it is none.

        """
        return item if isinstance(item, Complex) else self.scalar(item)

    def scalar(self, item: Item) -> Scalar:
        """A value that is a number.

        Raises:
            Unknown: it is none.

        """
        if isinstance(item, Scalar):
            return item
        if isinstance(item, Unbound):
            raise Unknown(item.why)
        if isinstance(item, Array | Lazy):
            raise Unknown("an array where a number is needed")
        if isinstance(item, Complex):
            raise Unknown("a complex number where a real one is needed")
        raise Unknown("an operation on what is no number")


def tag(name: str) -> str:
    """Under which it is followed whether a number is one of NumPy's."""
    return f"{name}?"

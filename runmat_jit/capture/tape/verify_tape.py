"""Verifier of tapes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from runmat_jit.capture.tape.entries import (
    CONSTANT,
    Branch,
    Call,
    Draw,
    Effect,
    Entry,
    Flush,
    Free,
    Guard,
    Length,
    Mark,
    Operation,
    Read,
    Return,
    Single,
    View,
    is_mark,
    refs,
)


class TapeError(AssertionError):
    """A tape that no recording may write."""


def verify_tape(tape: Sequence[Entry | Mark], inputs: int, start: int = 0) -> None:
    """Check a whole tape that may be repeated: numbers, slots, flushes, the end.

    Args:
        tape: Its items.
        inputs: Slots that hold leaves of the arguments, or what a replay has left.
        start: Entries before it.

    Raises:
        TapeError: what is wrong, with the item in question.

    """
    checker = _Checker(set(range(inputs)), start)
    for item in tape:
        checker.check(item)
    last = tape[-1] if tape else None
    if type(last) is not Return:
        raise TapeError(f"a tape ends with what is returned, not with {last}")
    if checker.pending:
        numbers = sorted(checker.pending)
        raise TapeError(f"operations {numbers} are computed by no flush before the end")


class _Checker:
    def __init__(self, known: set[int], number: int) -> None:
        self.known, self.number = known, number
        self.pending: dict[int, Operation] = {}
        self.ended = False

    def check(self, item: Entry | Mark) -> None:
        """One item, in its place."""
        if self.ended:
            raise TapeError(f"nothing comes after the end: {item}")
        if isinstance(item, Effect):
            raise TapeError(f"what has an effect is not repeated: {item}")
        reads, gives = slots_of(item)
        missing = [slot for slot in reads if slot not in self.known]
        if missing:
            raise TapeError(f"%{missing[0]} is read before anything gives it: {item}")
        self.known.update(gives)
        if type(item) is Flush:
            self.flushed(item)
        elif isinstance(item, Operation):
            if item.number != self.number:
                raise TapeError(f"entry {self.number} has the number {item.number}: {item}")
            self.pending[item.number] = item
        if self.pending and (isinstance(item, Branch) or writes(item)):
            raise TapeError(f"what is pending is computed before it: {item}")
        self.ended = isinstance(item, Return)
        self.number += not is_mark(item)

    def flushed(self, flush: Flush) -> None:
        """A flush computes all operations of lower numbers."""
        if flush.upto > self.number:
            raise TapeError(f"a flush computes what has been noted: {flush}")
        self.pending = {n: op for n, op in self.pending.items() if n >= flush.upto}


def writes(item: Entry | Mark) -> bool:
    """True if an item is a call that changes memory, or may raise after it has."""
    return type(item) is Call and item.writes


def slots_of(item: Entry | Mark) -> tuple[Iterable[int], Iterable[int]]:
    """The slots that an item reads, and those that it gives."""
    match item:
        case Operation() | View():
            return in_arguments(item), () if item.out is None else (item.out,)
        case Single():
            return in_arguments(item), (item.out,)
        case Call():
            return in_arguments(item), refs(item.out)
        case Read() | Length():
            return (), (item.slot,)
        case Draw():
            return refs(item.generator), (item.key, item.counter)
        case Guard():
            return (item.slot,), ()
        case Branch():
            return refs(item.value), ()
        case Flush():
            return [slot for slot, _ in item.inputs if slot != CONSTANT], [
                slot for slot, _ in item.outputs
            ]
        case Free():
            return item.slots, ()
        case Return():
            return returned(item), ()
    return (), ()


def in_arguments(call: Operation | View | Single | Call) -> list[int]:
    """The slots that the arguments of a call mention."""
    arguments = (*call.args, *(call.kwargs or {}).values())
    return [slot for argument in arguments for slot in refs(argument)]


def returned(leave: Return) -> list[int]:
    """The slots that a result is made of, but for the containers that it makes itself."""
    made: set[int] = set()
    read: list[int] = []
    for template in (*(back.values for back in leave.write_backs), leave.tree):
        stack = [template]
        while stack:
            item = stack.pop()
            slot, items = getattr(item, "slot", None), getattr(item, "items", None)
            if items is not None:
                stack.extend(items)
                if slot is not None:
                    made.add(slot)
            elif slot is not None:
                read.append(slot)
    return [slot for slot in read if slot not in made]

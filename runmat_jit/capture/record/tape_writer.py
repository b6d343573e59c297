"""Writes the tape of one recording; matches it against the log of a replay that went before."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Final

from runmat_jit.capture.record.traced import Traced
from runmat_jit.capture.replay.raised import attempt
from runmat_jit.capture.replay.resume import Resume
from runmat_jit.capture.replay.segment import segment
from runmat_jit.capture.replay.tree import Segment
from runmat_jit.capture.tape.entries import (
    Branch,
    Call,
    Effect,
    Entry,
    Free,
    Guard,
    Length,
    LibraryName,
    Mark,
    Operation,
    Raised,
    Read,
    Ref,
    Return,
)
from runmat_jit.capture.tape.storage import Watch
from runmat_jit.core.source import SourceLine

ENTRY_LIMIT = 200_000
"""Entries after which a trace is no longer kept."""
PATH_LIMIT = 1000
"""Decisions after which a trace is no longer kept."""

_NUMBERS: Final = (bool, int, float, complex)


class TapeWriter:
    """The tape of one recording, from where a replay left (``resume``) to its end.

    Entries that the replay has done are found in its log, and are not written again.
    """

    def __init__(self, resume: Resume | None, *, measured: bool = False) -> None:
        self.resume, self.measured = resume, measured
        self.count = 0
        """Entries so far, those of the log included."""
        self.items: list[Entry | Mark] = []
        self.effects: list[Effect] = []
        self.keeps_entries = True
        """True if operations are of interest once they are done."""
        self.dead: list[Watch] = []
        """Values that the program has forgotten since the last free."""
        self.diverged = ""
        self.too_long = False
        """There were more decisions than are kept."""
        self._once = False
        self._checked: set[Hashable] = set()
        self._branches = 0

    @property
    def publishable(self) -> bool:
        """True if the tape may be repeated without Python."""
        return not (self.effects or self._once)

    @property
    def feeding(self) -> bool:
        """True if the program is at something that a replay has done."""
        return self.resume is not None and self.count < self.resume.end

    @property
    def repeats(self) -> bool:
        """True if what is done now is to be done by replays."""
        return self.publishable and not self.feeding

    # -- writing -----------------------------------------------------------------------------------
    def note(self, entry: Entry) -> None:
        """Append an entry, or find it in the log of the replay."""
        resume = self.resume
        if resume is not None and self.count < resume.end:
            if resume.matches(self.count, entry):
                self.count += 1
                return
            self._diverge(str(entry))
        self.count += 1
        if len(self.items) < ENTRY_LIMIT:
            self.items.append(entry)
        elif not self.effects:
            self.stop(Effect("trace-too-long", f"{ENTRY_LIMIT} entries", None))

    def note_operation(self, operation: Operation) -> None:
        """Append a covered call, if anybody is interested."""
        if not self.keeps_entries:
            self.count += 1
        elif self.resume is not None or len(self.items) >= ENTRY_LIMIT:
            self.note(operation)
        else:
            self.count += 1
            self.items.append(operation)

    def mark(self, mark: Mark) -> None:
        """Append what has no number, while it matters to replays."""
        if self.publishable and not self.feeding:
            self.items.append(mark)

    def library_name(self, namespace: dict[str, Any], name: str, value: Any) -> None:
        """From here on the trace holds only while a library's name means this."""
        key = id(namespace), name
        if self.repeats and name in namespace and key not in self._checked:
            self._checked.add(key)
            self.items.append(LibraryName(namespace, name, value))

    def length(self, slot: int, number: int) -> None:
        """A slot holds a length of the arguments."""
        self.mark(Length(slot, number))

    def guard(self, guard: Guard, key: Hashable) -> None:
        """From here on the trace holds only while the guard does."""
        if (guard.slot, key) not in self._checked:
            self._checked.add((guard.slot, key))
            self.note(guard)

    def free(self) -> None:
        """Have replays forget what the program has forgotten."""
        if self.dead:
            self.mark(Free(tuple([watch.slot for watch in self.dead])))
            self.dead.clear()

    def branch(
        self,
        value: Any,
        outcome_of: Callable[[Any], Hashable],
        outcome: Hashable,
        line: SourceLine | None,
        size: int,
        *,
        resident: bool = False,
    ) -> None:
        """Python decides by a value: what follows is for this outcome. ``size``: slots in use."""
        fed = self.feeding
        self.note(Branch(value, outcome_of, outcome, line, size, resident))
        if fed or not self.publishable:
            return
        self._branches += 1
        if self._branches > PATH_LIMIT:
            self.too_long = True
            self.stop(Effect("trace-too-long", f"{PATH_LIMIT} decisions in one call", line))

    def stop(self, effect: Effect) -> None:
        """Python is needed from here on: nothing is to be repeated."""
        if self.feeding:
            self._diverge(str(effect))
        self.effects.append(effect)
        self.keeps_entries = self.resume is not None  # to match what is done with what was

    def interrupt(self) -> None:
        """The program ends where nobody could know, maybe at what a replay has done long since."""
        if self.resume is not None and self.count < self.resume.end:
            self.diverged, self.resume.end = "interrupted", self.count

    def repeat_nothing(self) -> None:
        """Nothing of the recording will be repeated, whatever it does."""
        self._once, self.keeps_entries = True, False

    def expect(self, effects: list[Effect]) -> None:
        """Effects that such calls are known to have."""
        self.effects.extend(effects)

    def finish(self, leave: Return, size: int) -> Segment | None:
        """End the tape: its segments, if they may be put where the replay left."""
        self.note(leave)
        resume = self.resume
        before = () if resume is None else resume.log[: resume.end]
        first = segment(self.items, size, before, measured=self.measured)
        settled = resume is None or (resume.whole and not self.diverged)
        return first if settled else None

    def forget(self) -> None:
        """Let go of the entries and of the replay: the call is over, and its segments are made."""
        if self.resume is not None:
            self.resume.slots.clear()
        self.items, self.dead, self.resume = [], [], None

    # -- what a replay has done --------------------------------------------------------------------
    def _diverge(self, found: str) -> None:
        """Python did not repeat what was recorded: it goes on by itself."""
        assert self.resume is not None, "there is something to repeat"
        expected = self.resume.log[self.count]
        assert not self.resume.writes, (
            f"the program depends on something that no guard saw: it came to {found}, not to "
            f"{expected}, after arrays had been written; please report it"
        )
        self.diverged = f"{found}, not {expected}"
        self.resume.end = self.count

    def pass_attempt(self) -> None:
        """Go past the forks before a call that has raised for some values."""
        while self.resume is not None and self.count < self.resume.end:
            entry = self.resume.log[self.count]
            if type(entry) is not Branch or entry.outcome_of is not attempt:
                break
            self.count += 1

    @property
    def at_attempt(self) -> bool:
        """True if a replay has left at the fork before the call that is made now."""
        resume = self.resume
        return resume is not None and resume.attempt and self.count == resume.end

    def fed_raise(self, fn: Any) -> Raised | None:
        """Exception of the call of ``fn`` that a replay has made here, if it raised."""
        if self.resume is None or self.count >= self.resume.end:
            return None
        found = self.resume.operation(self.count, fn)
        return found.raised if type(found) is Call else None

    def fed_operation(self, fn: Any) -> Any:
        """The call of ``fn`` that a replay has done here, if it has."""
        if self.resume is None or self.count >= self.resume.end:
            return None
        found = self.resume.operation(self.count, fn)
        if found is None:
            self._diverge(str(fn))
        return found

    def fed_call(self, fn: Any, operands: tuple[Any, ...]) -> Call | None:
        """The call of ``fn`` that a replay has made here, perhaps after reads of operands.

        None if it had other operands: those of a later iteration, where this one made no call.
        """
        resume, number = self.resume, self.count
        if resume is None:
            return None
        while number < resume.end and isinstance(resume.log[number], (Read, Guard)):
            number += 1
        entry = resume.log[number] if number < resume.end else None
        if type(entry) is not Call or entry.fn is not fn:
            return None
        pairs = zip(operands, entry.args, strict=False)
        return None if any(_differ(value, arg) for value, arg in pairs) else entry

    def fed_value(self, fn: Any, otherwise: Any) -> Any:
        """Result of the call of ``fn`` that a replay has made here, if it has."""
        found = self.fed_operation(fn) if self.feeding else None
        return otherwise if found is None else self._in_slot(found.out)

    def fed_number(self, fn: Any) -> tuple[bool, Any]:
        """True if a replay has called ``fn`` of Python's numbers here, and what it gave."""
        if self.resume is None or self.count >= self.resume.end:
            return False, None
        found = self.resume.operation(self.count, fn)
        return (False, None) if found is None else (True, self._in_slot(found.out))

    def fed_entry(self) -> Entry | None:
        """The entry that a replay has done here."""
        return self.resume.log[self.count] if self.feeding and self.resume is not None else None

    def fed_outcome(self) -> Hashable | None:
        """Outcome of the branch here, if a replay has been here: memory may be gone since."""
        if self.resume is None or self.count >= self.resume.end:
            return None
        entry = self.resume.log[self.count]
        return entry.outcome if type(entry) is Branch else None

    def fed_read(self) -> str | None:
        """The name of what a replay has read here, if it has."""
        if self.resume is None or self.count >= self.resume.end:
            return None
        entry = self.resume.log[self.count]
        return entry.source if type(entry) is Read else None

    def fed_state(self, slot: int, otherwise: Any) -> Any:
        """What a replay has read here, if it has; it may have changed since."""
        if self.fed_read() is None:
            return otherwise
        assert self.resume is not None, "a replay was here"
        return self.resume.slots[slot]

    def _in_slot(self, out: Any) -> Any:
        assert self.resume is not None, "a replay was here"
        return self.resume.slots[out if type(out) is int else out.slot]


def _differ(value: Any, arg: Any) -> bool:
    """Return True if a value is surely not the one that a call of the tape was given."""
    if type(value) is Traced:
        return type(arg) is Ref and arg.slot != value._rm_slot
    return type(value) is type(arg) and type(arg) in _NUMBERS and repr(value) != repr(arg)

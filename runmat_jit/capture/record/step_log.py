"""What a recording notes: the tape, and the segments that a replay runs."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

from runmat_jit.capture.replay.raised import Raised, attempt
from runmat_jit.capture.replay.resume import Feed
from runmat_jit.capture.replay.steps import Call, Check, Free, Step
from runmat_jit.capture.replay.tree import Fork, Names, Segment
from runmat_jit.capture.tape.entries import (
    Branch,
    Effect,
    Entry,
    Guard,
    Noted,
    Op,
    Read,
    Repeated,
    Return,
    op_of,
    refs,
)
from runmat_jit.capture.tape.storage import Watch
from runmat_jit.core.source import SourceLine

ENTRY_LIMIT = 200_000
"""Entries after which a trace is no longer kept."""
PATH_LIMIT = 1000
"""Decisions after which a trace is no longer kept."""


class Steps:
    """The notes of one recording.

    ``early`` runs before everything else of a segment: arithmetic on arguments that are Python
    numbers, and checks of what was decided by it. ``head`` is the first finished segment, the
    others hang on its fork.
    """

    def __init__(self, feed: Feed | None, *, measured: bool = False) -> None:
        self.feed, self.measured = feed, measured
        self.entries: list[Noted] = []
        self.count = 0  # of entries, those of the feed included
        self.early: list[Step] = []
        self.reads: list[Read] = []
        self.steps: list[Step] = []
        self.checked: set[Hashable] = set()
        self.names: list[tuple[dict[str, Any], str, Any]] = []
        self.effects: list[Effect] = []
        self.view_ops: dict[int, Op] = {}  # how each view was made, until a step needs it
        self.once = False  # nothing of it will be repeated, whatever it does
        self.keeps_entries = True  # operations are of interest once they are done
        self.filled: set[int] = set()  # slots to which steps have given arrays
        self.sized: set[int] = set()  # likewise, large or not as the call's extents say
        self.head: Segment | None = None
        self.forks = 0
        self.diverged = ""
        self._link: tuple[Fork, Hashable] | None = None
        self._start = 0 if feed is None else feed.end
        self._first = 0  # entry of the segment

    @property
    def publishable(self) -> bool:
        """Whether the trace may be repeated without Python."""
        return not (self.effects or self.once)

    @property
    def repeats(self) -> bool:
        """Whether what is done now is a step of what a replay does."""
        return self.publishable and not self.feeding

    def repeat_nothing(self) -> None:
        """Nothing of the recording will be repeated, whatever it does."""
        self.once, self.keeps_entries = True, False

    # -- what was done -----------------------------------------------------------------------------
    @property
    def feeding(self) -> bool:
        """Whether the program is at something that a replay has done."""
        return self.feed is not None and self.count < self.feed.end

    def note(self, entry: Entry) -> None:
        """Append to the tape, or find the entry on the trail of the feed."""
        if self.feed is not None and self.count < self.feed.end:
            if self.feed.matches(self.count, entry):
                self.count += 1
                return
            self.diverge(str(entry))
        self.count += 1
        if len(self.entries) < ENTRY_LIMIT:
            self.entries.append(entry)
        elif not self.effects:
            self.stop(Effect("trace-too-long", f"{ENTRY_LIMIT} entries", None))

    def note_operation(self, operation: Repeated) -> None:
        """Append a known call to the tape."""
        if self.feed is not None or len(self.entries) >= ENTRY_LIMIT:
            self.note(op_of(operation))
        else:
            self.count += 1
            self.entries.append(operation)

    def diverge(self, found: str) -> None:
        """Python did not repeat what was recorded: it goes on by itself."""
        assert self.feed is not None, "there is something to repeat"
        expected = self.feed.trail[self.count]
        assert not self.feed.writes, (
            f"the program depends on something that no guard saw: it came to {found}, not to "
            f"{expected}, after arrays had been written; please report it"
        )
        self.diverged = f"{found}, not {expected}"
        self.feed.end = self.count

    def pass_attempt(self) -> None:
        """Go past the forks before a call that has raised for some values."""
        while self.feed is not None and self.count < self.feed.end:
            entry = self.feed.trail[self.count]
            if type(entry) is not Branch or entry.outcome_of is not attempt:
                break
            self.count += 1

    @property
    def at_attempt(self) -> bool:
        """Whether a replay has left at the fork before the call that is made now."""
        return self.feed is not None and self.feed.attempt and self.count == self.feed.end

    def fed_raise(self, fn: Any) -> Raised | None:
        """What the call of ``fn`` raised that a replay has made here, if it did."""
        if self.feed is None or self.count >= self.feed.end:
            return None
        found = self.feed.operation(self.count, fn)
        return found.structure if found is not None and type(found.structure) is Raised else None

    def fed_operation(self, fn: Any) -> Op | None:
        """The call of ``fn`` that a replay has done here, if it has."""
        if self.feed is None or self.count >= self.feed.end:
            return None
        found = self.feed.operation(self.count, fn)
        if found is None:
            self.diverge(str(fn))
        return found

    def fed_number(self, fn: Any) -> tuple[bool, Any]:
        """Whether a replay has called ``fn`` of Python's numbers here, and what it gave."""
        if self.feed is None or self.count >= self.feed.end:
            return False, None
        found = self.feed.operation(self.count, fn)
        return (False, None) if found is None else (True, self.feed.slots[found.out.slot])

    def fed_outcome(self) -> Hashable | None:
        """What Python decides here, if a replay has been here: memory may be gone since."""
        if self.feed is None or self.count >= self.feed.end:
            return None
        entry = self.feed.trail[self.count]
        return entry.outcome if type(entry) is Branch else None

    def stop(self, effect: Effect) -> None:
        """Python is needed from here on: nothing is to be repeated."""
        if self.feeding:
            self.diverge(str(effect))
        self.effects.append(effect)
        self.keeps_entries = self.feed is not None  # to match what is done with what was
        self.steps.clear()
        self.early.clear()

    # -- what a replay does ------------------------------------------------------------------------
    def add(self, step: Step) -> None:
        """Add to what a replay runs."""
        if self.repeats:
            self.steps.append(step)

    def add_early(self, step: Step) -> None:
        """Add what a replay runs before anything else of the segment."""
        if self.repeats:
            self.early.append(step)

    def add_read(self, read: Read) -> None:
        """Add a read of outside state."""
        if self.repeats:
            self.reads.append(read)
        self.note(read)

    def add_name(self, namespace: dict[str, Any], name: str, value: Any) -> None:
        """From here on the trace holds only while a library's name means this."""
        key = id(namespace), name
        if self.publishable and not self.feeding and name in namespace and key not in self.checked:
            self.checked.add(key)
            self.names.append((namespace, name, value))

    def check(self, guard: Guard, key: Hashable) -> None:
        """From here on the trace holds only while the guard does."""
        if (guard.slot, key) not in self.checked:
            self.checked.add((guard.slot, key))
            self.add_early(Check(guard))
            self.note(guard)

    def free(self, dead: list[Watch]) -> None:
        """Have a replay forget arrays that the program has forgotten."""
        gone = tuple(watch.slot for watch in dead if watch.slot in self.filled)
        sized = tuple(watch.slot for watch in dead if watch.slot in self.sized)
        dead.clear()
        if gone or sized:
            self.filled.difference_update(gone)
            self.sized.difference_update(sized)
            self.add(Free(gone, self.count, maybe=sized))  # what was read of them is not read again

    def branch(
        self,
        value: Any,
        outcome_of: Callable[[Any], Hashable],
        outcome: Hashable,
        line: SourceLine | None,
        size: int,
    ) -> None:
        """Python decides by a value: what follows is for this outcome."""
        fed = self.feeding
        self.note(Branch(value, outcome_of, outcome, line))
        if fed or not self.publishable:
            return
        self.forks += 1
        if self.forks > PATH_LIMIT:
            self.stop(Effect("trace-too-long", f"{PATH_LIMIT} decisions in one call", line))
            return
        fork = Fork(value, outcome_of)
        self.finish(fork, size)
        self._link = fork, outcome

    def finish(self, leave: Fork | Return, size: int) -> None:
        """End a segment, of which ``size`` slots are in use; another one begins."""
        noted = self.entries[self._first :]
        segment = Segment(
            start=self._start,
            end=self._start + len(noted),
            size=size,
            early=tuple(self.early),
            names=names_of(self.names),
            reads=tuple(self.reads),
            steps=tuple(self.steps),
            noted=noted,
            exit=leave,
            measured=self.measured,
        )
        if self._link is None:
            self.head = segment
        else:
            fork, outcome = self._link
            fork.add(outcome, segment)
        self.early, self.reads, self.steps, self.names = [], [], [], []
        self._start, self._first = self.count, len(self.entries)

    # -- views -------------------------------------------------------------------------------------
    def add_view(self, op: Op) -> None:
        """Note how a view is made: a replay makes it where something needs it."""
        self.note(op)
        self.view_ops[op.out.slot] = op

    def need(self, template: Any) -> None:
        """Have a replay make the views that a template mentions."""
        items = template if isinstance(template, tuple) else (template,)
        for slot in [slot for item in items for slot in refs(item)]:
            chain = []
            while (op := self.view_ops.pop(slot, None)) is not None:
                chain.append(op)
                slot = op.args[0].slot  # noqa: PLW2901  (walks from the view to its base)
            for op in reversed(chain):
                self.filled.add(op.out.slot)  # views keep the memory of others
                self.add(Call(op))


def names_of(found: list[tuple[dict[str, Any], str, Any]]) -> tuple[Names, ...]:
    """What the names of libraries mean, by library."""
    libraries = {id(namespace): namespace for namespace, _, _ in found}
    return tuple(
        [
            Names.of(library, {name: value for other, name, value in found if other is library})
            for library in libraries.values()
        ]
    )

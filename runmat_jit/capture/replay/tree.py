"""The tree of what calls with one key have done: segments, and forks where Python decided.

A segment runs without Python. At a fork the outcome is computed from the values at hand; each
outcome seen so far has its continuations, of which the first whose guards and reads hold is taken.
An outcome that has none is left to Python (see :mod:`runmat_jit.capture.replay.resume`).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import field, replace
from operator import itemgetter
from typing import Any, NamedTuple

from runmat_jit.capture.replay.raised import attempt, may_be_caught
from runmat_jit.capture.replay.resume import Resume
from runmat_jit.capture.replay.steps import (
    BatchStep,
    CallStep,
    RaiseStep,
    SingleStep,
    Stale,
    Step,
    brought,
)
from runmat_jit.capture.tape.entries import Branch, Entry, Read, Ref, Return, build
from runmat_jit.core.frozen import frozen
from runmat_jit.core.slotted import slotted, slotted_object

VARIANT_LIMIT = 16
OUTCOME_LIMIT = 16
SEGMENT_LIMIT = 4000
"""Segments of one tree: the least recently used continuations go."""


class Names(NamedTuple):
    """Meanings of some names of a library: its functions may be replaced, as tests do."""

    namespace: dict[str, Any]
    get: Callable[[dict[str, Any]], Any]
    values: tuple[Any, ...]
    names: tuple[str, ...]

    @classmethod
    def of(cls, namespace: dict[str, Any], values: dict[str, Any]) -> Names:
        """These names."""
        first = next(iter(values))  # given twice: one name alone would not give a tuple
        given = values[first], *values.values()
        return cls(namespace, itemgetter(first, *values), given, tuple(values))


@slotted_object
class Segment:
    """A stretch of a call in which Python decides nothing.

    ``start`` entries lie before it and ``end`` before what follows; ``size`` slots are in use then;
    ``early`` steps, ``names`` and ``reads`` say whether it holds; ``used`` is the number of the
    last call that came here.
    """

    start: int
    end: int
    size: int
    early: tuple[Step, ...]
    names: tuple[Names, ...]
    reads: tuple[Read, ...]
    steps: tuple[Step, ...]
    log: list[Entry]
    """Resume log: the entries of the segment."""
    exit: Fork | Return
    used: int = 0
    measured: bool = False
    """It was recorded with traced lengths: so is what follows."""

    def holds(self, slots: list[Any]) -> str | Read:
        """Check arguments and outside state, filling its slots: what failed, or nothing."""
        for step in self.early:
            try:
                step.run(slots)
            except Stale as reason:
                return str(reason)
            except Exception as error:  # noqa: BLE001  (arithmetic may raise: Python is to do it)
                return f"{type(error).__name__}: {error}"
        try:
            for namespace, get, values, _ in self.names:
                if get(namespace) != values:
                    return "a function of a library is another one"
        except Exception as error:  # noqa: BLE001  (names that are gone, or compare as they like)
            return f"a function of a library: {type(error).__name__}: {error}"
        for read in self.reads:
            try:
                value = read.get(slots)
                held = read.holds(value, slots)
            except Exception:  # noqa: BLE001  (a read may raise anything: it does not hold)
                held = False
            if not held:
                return read
            slots[read.slot] = value
        return ""


@slotted_object
class Fork:
    """Where Python decides: the outcomes seen, each with its continuations.

    The tuples are replaced, never changed: a replay on another thread goes on with what it has.
    """

    value: Any = None
    """A template of what is decided by; None at the beginning of the call."""
    outcome_of: Callable[[Any], Hashable] = field(default=lambda _value: None)
    outcomes: dict[Hashable, tuple[Segment, ...]] = field(default_factory=dict)

    def outcome(self, slots: list[Any]) -> Hashable:
        """Outcome of the decision, for these values."""
        value = self.value
        found = slots[value.slot] if type(value) is Ref else build(value, slots)
        return self.outcome_of(found)

    def add(self, outcome: Hashable, segment: Segment) -> None:
        """Add a continuation; those used least recently go when there are too many."""
        known = sorted(self.outcomes.get(outcome, ()), key=lambda s: -s.used)
        kept = (segment, *known[: VARIANT_LIMIT - 1])
        if self.outcome_of is attempt:  # a call that does not raise is made once
            kept = tuple(
                sorted(kept, key=lambda s: any(type(step) is RaiseStep for step in s.steps))
            )
        self.outcomes[outcome] = kept
        if len(self.outcomes) > OUTCOME_LIMIT:
            others = [each for each in self.outcomes if each != outcome]
            del self.outcomes[min(others, key=self.last_use)]

    def last_use(self, outcome: Hashable) -> int:
        """The number of the last call that had this outcome."""
        return max(segment.used for segment in self.outcomes[outcome])


@slotted
class Departure:
    """Where a replay left a tree, and why: at ``outcome`` of ``fork``, after ``path``.

    ``done`` entries have been done.
    """

    fork: Fork
    outcome: Hashable
    path: list[tuple[Hashable, Segment]]
    """The segments, each with the outcome that led to it."""
    done: int
    slots: list[Any]
    reason: str
    stale: Read | None = None
    """The read of outside state that found something else, in the trace that got furthest."""
    raised: int | None = None
    """Which step of the last segment raised what the program may catch, if one did."""

    def resume(self) -> Resume | None:
        """Resume log for Python to go on from; None where nothing has been done."""
        if not self.done:
            return None
        batches = [step for _, segment in self.path for step in segment.steps]
        return Resume(
            log=self.log(),
            end=self.done,
            slots=self.slots,
            programs=tuple(s.shown(self.slots) for s in batches if isinstance(s, BatchStep)),
            whole=self.whole,
            writes=any(step.writes for step in batches if isinstance(step, (BatchStep, CallStep))),
            attempt=self.whole and self.fork.outcome_of is attempt,
        )

    def log(self) -> list[Entry]:
        """The entries of the path; its branches with this call's outcomes."""
        outcomes = [*(outcome for outcome, _ in self.path[1:]), self.outcome]
        log: list[Entry] = []
        for (_, segment), outcome in zip(self.path, outcomes, strict=True):
            log += segment.log
            if isinstance(log[-1], Branch):
                log[-1] = replace(log[-1], outcome=outcome)
        return log

    @property
    def measured(self) -> bool:
        """True if lengths were traced where it comes from."""
        return bool(self.path) and self.path[0][1].measured

    @property
    def whole(self) -> bool:
        """True if it left between two segments, so that a new one can be put there."""
        last = self.path[-1][1] if self.path else None
        return last is None or self.done == last.end


@frozen
class Middle:
    """A point within a replay: before a step of the last segment of a path from the root.

    ``fork`` is that which the segment hangs on.
    """

    fork: Fork
    path: tuple[tuple[Hashable, Segment], ...]
    number: int


def replay(
    root: Fork, slots: list[Any], call: int, middle: Middle | None = None
) -> tuple[Departure | None, Any]:
    """Walk a tree: the result of the call, or where and why Python is needed.

    Args:
        root: The fork at the beginning of the call.
        slots: The leaves of the arguments; gets the other slots.
        call: The number of the call, for what was used last.
        middle: From where on; what lies before has been done.

    """
    fork, outcome, done = root, None, 0
    path: list[tuple[Hashable, Segment]] = []
    candidates, number = fork.outcomes.get(outcome, ()), 0
    if middle is not None:
        *path, (outcome, begun) = middle.path
        fork, candidates, number = middle.fork, (begun,), middle.number
        done = path[-1][1].end if path else 0
    while True:
        reason: str | Read = "an outcome that no call has had"
        stale: Read | None = None
        for segment in candidates:
            if len(slots) < segment.size:
                slots.extend([None] * (segment.size - len(slots)))
            guarded = middle is None and (segment.names or segment.reads or segment.early)
            reason = segment.holds(slots) if guarded else ""
            middle = None
            if isinstance(reason, Read) and (stale is None or stale.slot < reason.slot):
                stale = reason
            if reason:
                continue
            path.append((outcome, segment))
            segment.used = call
            try:
                for step in segment.steps[number:] if number else segment.steps:
                    step.run(slots)
                    number += 1
                leave = segment.exit
                if isinstance(leave, Return):
                    return None, finish(leave, slots)
                done = segment.end
                fork, outcome = leave, leave.outcome(slots)
                candidates, number = fork.outcomes.get(outcome, ()), 0
                break
            except Exception as error:  # noqa: BLE001  (Python does it again, and raises it)
                done = max([done, *(upto(step, slots) for step in segment.steps[:number])])
                reason = f"{type(error).__name__}: {error}"
                if done > segment.start:
                    left = Departure(fork, outcome, path, done, slots, reason)
                    if number < len(segment.steps) and is_attempt(segment.steps[number], error):
                        left.raised = number
                    return left, None
                path.pop()  # nothing has been done: another continuation may go on from here
                number = 0
        else:
            return Departure(fork, outcome, path, done, slots, str(reason), stale), None


def upto(step: Step, slots: list[Any]) -> int:
    """Entries that are not to be done again after a step has been run."""
    return max(step.upto, step.warned_upto(slots) if type(step) is SingleStep else 0)


def is_attempt(step: Step, error: Exception) -> bool:
    """True if a step is a call that changes nothing, and has raised what a program may catch."""
    quiet = isinstance(step, SingleStep) or (isinstance(step, CallStep) and not step.writes)
    return quiet and may_be_caught(error)


def split(left: Departure) -> Departure:
    """Have a segment end before the call that has raised in it: there another may go on."""
    if left.raised is None:
        return left
    outcome, segment = left.path[-1]
    before, after = segment.steps[: left.raised], segment.steps[left.raised :]
    warned = [step.entry + 1 for step in before if type(step) is SingleStep and step.may_warn]
    done = max(left.done, *warned, 0)
    log = segment.log[: done - segment.start], segment.log[done - segment.start :]
    rest = replace(segment, start=done, early=(), names=(), reads=(), steps=after, log=log[1])
    fork = Fork(None, attempt, {None: (rest,)})
    first = replace(segment, end=done, steps=before, log=log[0], exit=fork)
    known = left.fork.outcomes.get(outcome, ())
    left.fork.outcomes[outcome] = tuple([first if s is segment else s for s in known])
    path = [*left.path[:-1], (outcome, first)]
    return replace(left, fork=fork, outcome=None, path=path, done=done, raised=None)


def finish(leave: Return, slots: list[Any]) -> Any:
    """Do to the arguments what was changed in them; give the result."""
    for back in leave.write_backs:
        back.edits.apply(slots[back.slot], brought(build(back.values, slots)))
    return build(leave.tree, slots)


def segments_of(fork: Fork) -> Iterator[Segment]:
    """All segments behind a fork."""
    stack = [fork]
    while stack:
        for segments in list(stack.pop().outcomes.values()):
            for segment in segments:
                yield segment
                if isinstance(segment.exit, Fork):
                    stack.append(segment.exit)


def copied(root: Fork) -> tuple[Fork, dict[Fork, Fork]]:
    """A tree of the same segments that grows by itself, and what became of each fork."""
    made = {root: Fork(root.value, root.outcome_of)}
    stack = [root]

    def copy(segment: Segment) -> Segment:
        leave = segment.exit
        if isinstance(leave, Return):
            return segment
        made[leave] = Fork(leave.value, leave.outcome_of)
        stack.append(leave)
        return replace(segment, exit=made[leave])

    while stack:
        fork = stack.pop()
        for outcome, segments in list(fork.outcomes.items()):
            made[fork].outcomes[outcome] = tuple(map(copy, segments))
    return made[root], made


def prune(root: Fork, limit: int = SEGMENT_LIMIT) -> None:
    """Take the least recently used continuations away while a tree has too many segments."""
    count = sum(1 for _ in segments_of(root))
    while count > limit:
        forks = [root, *(s.exit for s in segments_of(root) if isinstance(s.exit, Fork))]
        uses = [
            (fork.last_use(outcome), fork, outcome) for fork in forks for outcome in fork.outcomes
        ]
        oldest = min(use for use, _, _ in uses)
        fork, outcome = next((f, o) for use, f, o in uses if use == oldest)
        del fork.outcomes[outcome]
        count = sum(1 for _ in segments_of(root))

"""What a recording notes: the tape, and the steps that a replay runs."""

from __future__ import annotations

from typing import Any

from runmat_jit.capture.tape import Effect, Entry, Guard, Op, Read, refs
from runmat_jit.capture.trace import Call, Step

ENTRY_LIMIT = 200_000
"""Entries after which a trace is no longer kept."""


class Steps:
    """The notes of one recording.

    ``early`` runs before everything else: arithmetic on arguments that are Python numbers. It may
    find that the trace does not hold; what runs after a write must not, for what was written
    cannot be taken back.
    """

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.early: list[Step] = []
        self.steps: list[Step] = []
        self.reads: list[Read] = []
        self.guards: dict[int, Guard] = {}
        self.effects: list[Effect] = []
        self.view_ops: dict[int, Op] = {}  # how each view was made, until a step needs it
        self.wrote = False
        self.once = False  # nothing of it will be repeated, whatever it does

    @property
    def publishable(self) -> bool:
        """Whether the trace may be repeated without Python."""
        return not (self.effects or self.once)

    def note(self, entry: Entry) -> None:
        """Append to the tape."""
        if len(self.entries) < ENTRY_LIMIT:
            self.entries.append(entry)
        elif not self.effects:
            self.stop(Effect("trace-too-long", f"{ENTRY_LIMIT} entries", None))

    def stop(self, effect: Effect) -> None:
        """Nothing is to be repeated: Python is needed for this effect."""
        self.effects.append(effect)
        self.steps.clear()
        self.early.clear()

    def add(self, step: Step, *, writes: bool = False) -> None:
        """Add to what a replay runs."""
        self.wrote = self.wrote or writes
        if self.publishable:
            self.steps.append(step)

    def add_early(self, step: Step) -> None:
        """Add what a replay runs before anything can have been written."""
        if self.publishable:
            self.early.append(step)

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
                self.add(Call(op))

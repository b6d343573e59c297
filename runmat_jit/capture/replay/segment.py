"""From a tape to what a replay runs: segments of steps, cut where Python decides.

Operations leave no step: the flush that computes them does. A view is made where a step needs it.
Guards, lengths and arithmetic on arguments come before everything else of their segment, then names
of libraries and reads of outside state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import field
from typing import Any, Final

from runmat_jit.capture.replay.resume import same_structure
from runmat_jit.capture.replay.steps import (
    AdoptStep,
    BatchStep,
    CallStep,
    CheckStep,
    DrawingBatchStep,
    FreeStep,
    LengthStep,
    RaiseStep,
    SettleStep,
    SingleStep,
    Step,
)
from runmat_jit.capture.replay.tree import Fork, Names, Segment
from runmat_jit.capture.tape.entries import (
    Branch,
    Call,
    Entry,
    Flush,
    Free,
    Guard,
    Length,
    LibraryName,
    Mark,
    Operation,
    Read,
    Ref,
    Return,
    Single,
    View,
    is_mark,
    refs,
)
from runmat_jit.core.slotted import slotted


def segment(
    tape: Sequence[Entry | Mark], size: int, before: Sequence[Entry] = (), *, measured: bool = False
) -> Segment:
    """The first segment of a tape, with the others behind its forks.

    Args:
        tape: The items of a recording that may be repeated, up to its return.
        size: Slots in use at its end.
        before: The entries before it, which another tape has.
        measured: Lengths of arguments were traced.

    """
    maker = _Segments(len(before), measured)
    maker.views = {entry.out: entry for entry in before if type(entry) is View}
    for item in tape:
        if type(item) is Operation:  # nearly always
            maker.log.append(item)
            continue
        if not is_mark(item):
            maker.log.append(item)  # type: ignore[arg-type]  # as is_mark() says
        handler = _HANDLERS.get(type(item))
        if handler is not None:
            handler(maker, item)
    leave = maker.log[-1]
    assert isinstance(leave, Return), "a tape ends with what is returned"
    maker.end_segment(leave, size)
    assert maker.head is not None, "a segment has ended"
    return maker.head


@slotted
class _Segments:
    """The segment that is being made, and the ones before it."""

    start: int
    measured: bool
    log: list[Entry] = field(default_factory=list)
    early: list[Step] = field(default_factory=list)
    names: list[LibraryName] = field(default_factory=list)
    reads: list[Read] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    head: Segment | None = None
    link: tuple[Fork, Any] | None = None
    views: dict[int, View] = field(default_factory=dict)
    """How each view is made that no step has needed yet."""
    filled: set[int] = field(default_factory=set)
    """Slots to which steps have given large arrays."""
    sized: set[int] = field(default_factory=set)
    """Likewise, large or not as the extents of the call say."""

    @property
    def count(self) -> int:
        """Entries so far, those before the tape included."""
        return self.start + len(self.log)

    def need(self, templates: Iterable[Any]) -> None:
        """Make the views that a step reads."""
        for slot in [slot for item in templates for slot in refs(item)]:
            self.need_slot(slot)

    def need_slot(self, slot: int) -> None:
        """Make a view and those that it is a view of."""
        chain = []
        while (view := self.views.pop(slot, None)) is not None:
            chain.append(view)
            slot = view.args[0].slot
        for view in reversed(chain):
            self.filled.add(view.out)  # views keep the memory of others
            made = CallStep(view.fn, view.args, view.kwargs, Ref(view.out))
            self.steps.append(made)

    def end_segment(self, leave: Fork | Return, size: int) -> None:
        """Another segment begins."""
        made = Segment(
            start=self.start,
            end=self.count,
            size=size,
            early=tuple(self.early),
            names=names_of(self.names),
            reads=tuple(self.reads),
            steps=tuple(self.steps),
            log=self.log,
            exit=leave,
            measured=self.measured,
        )
        if self.link is None:
            self.head = made
        else:
            fork, outcome = self.link
            fork.add(outcome, made)
        self.start = self.count
        self.log, self.early, self.names, self.reads, self.steps = [], [], [], [], []


def _flush(maker: _Segments, mark: Flush) -> None:
    for slot, dtype in mark.inputs:
        if dtype is None:
            maker.need_slot(slot)
    maker.filled.update(mark.large)
    maker.sized.update(mark.sized)
    what = mark.program, mark.inputs, mark.outputs, mark.warn, mark.writes, mark.upto
    maker.steps.append(DrawingBatchStep(*what, mark.draws) if mark.draws else BatchStep(*what))


def _call(maker: _Segments, call: Call) -> None:
    if call.raised is not None:
        maker.need((*call.args, *call.kwargs.values()))
        kind, args, errstate = call.raised.kind, call.raised.args, call.errstate
        step = RaiseStep(
            call.fn, call.args, call.kwargs, kind, args, call.line, maker.count, errstate
        )
        maker.steps.append(step)
        return
    upto = 0 if call.again or call.early else maker.count
    check: Callable[[Any], bool] | None = None
    if call.checked:
        check = same_structure(call.structure)
    made = CallStep(
        call.fn,
        call.args,
        call.kwargs,
        call.out,
        call.structure,
        check,
        call.line,
        call.writes,
        upto,
        call.errstate,
        call.shape,
    )
    if call.early:
        maker.early.append(made)
        return
    arguments = (*call.args, *call.kwargs.values())
    maker.need(arguments)
    if call.resident:
        used = tuple([slot for entry in arguments for slot in refs(entry)])
        maker.steps.append(SettleStep(used, host_writes=call.writes))
    maker.steps.append(made)
    if call.resident:
        maker.steps.append(AdoptStep(call.new_slots))
    maker.filled.update(call.large)


def _single(maker: _Segments, single: Single) -> None:
    maker.need(single.args)
    if single.errstate is None and single.line is not None:
        maker.steps.append(
            SingleStep(
                single.fn,
                single.args,
                single.out,
                single.line,
                single.raising,
                single.quiet,
                single.number,
            )
        )
        return
    done = single.number + 1 if single.raising is not None and not single.quiet else 0
    state = single.raising if single.quiet else single.errstate
    step = CallStep(
        single.fn, single.args, {}, Ref(single.out), line=single.line, upto=done, errstate=state
    )
    maker.steps.append(step)


def _free(maker: _Segments, mark: Free) -> None:
    gone = tuple([slot for slot in mark.slots if slot in maker.filled])
    sized = tuple([slot for slot in mark.slots if slot in maker.sized])
    if gone or sized:
        maker.filled.difference_update(gone)
        maker.sized.difference_update(sized)
        maker.steps.append(FreeStep(gone, maker.count, maybe=sized))  # not read again


def _branch(maker: _Segments, branch: Branch) -> None:
    items = branch.value if type(branch.value) is tuple else (branch.value,)
    maker.need(items)
    if branch.resident:
        maker.steps.append(SettleStep(refs(branch.value), host_writes=False))
    fork = Fork(branch.value, branch.outcome_of)
    maker.end_segment(fork, branch.size)
    maker.link = fork, branch.outcome


def _return(maker: _Segments, leave: Return) -> None:
    maker.need((leave.tree, *(back.values for back in leave.write_backs)))


_HANDLERS: Final[dict[type, Callable[[_Segments, Any], None]]] = {
    Flush: _flush,
    Call: _call,
    Single: _single,
    Free: _free,
    Branch: _branch,
    Return: _return,
    View: lambda maker, view: maker.views.__setitem__(view.out, view),
    Guard: lambda maker, guard: maker.early.append(CheckStep(guard)),
    Length: lambda maker, mark: maker.early.append(LengthStep(mark.slot, mark.number)),
    Read: lambda maker, read: maker.reads.append(read),
    LibraryName: lambda maker, mark: maker.names.append(mark),
}


def names_of(found: Sequence[LibraryName]) -> tuple[Names, ...]:
    """Guards of the names of libraries, by library."""
    libraries = {id(mark.namespace): mark.namespace for mark in found}
    return tuple(
        [
            Names.of(library, {m.name: m.value for m in found if m.namespace is library})
            for library in libraries.values()
        ]
    )

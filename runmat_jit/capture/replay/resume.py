"""Resume log: the entries of a replay, for the Python run that takes over from it.

Python starts over at the beginning of the function. Each entry that it notes is found in the
log, and its values are those that the replay has computed: nothing is computed, drawn or written
twice. Where the log ends, recording goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from runmat_jit.capture.tape.entries import (
    Branch,
    Call,
    Entry,
    Nest,
    Operation,
    Read,
    Ref,
    Single,
    View,
    refs,
)
from runmat_jit.capture.tape.pytree import take_apart
from runmat_jit.capture.tape.storage import empty_strided
from runmat_jit.core.slotted import slotted

_WRITEABLE: Final = 0x400
"""The bit of ``flags.num``: ``flags.writeable`` warns for results of ``np.broadcast_arrays``."""


@slotted
class Resume:
    """The log of a replay up to where Python takes over, and the values in its slots.

    ``whole``: it ended where a segment ends. ``writes``: arrays were written on the way.
    ``attempt``: it ended before a call that may raise.
    """

    log: list[Entry]
    end: int
    slots: list[Any]
    programs: tuple[Any, ...]
    whole: bool
    writes: bool
    attempt: bool

    def matches(self, number: int, entry: Entry) -> bool:
        """True if Python has come to what the replay did there."""
        return bool(identity_of(self.log[number]) == identity_of(entry))

    def operation(self, number: int, fn: Any) -> Any:
        """The call that the replay did there, if it is one of ``fn``."""
        entry = self.log[number]
        same = isinstance(entry, _CALLS) and name_of(entry.fn) == name_of(fn)
        return entry if same else None

    def memory(self, slot: int) -> np.ndarray | None:
        """The array that a storage got; None if the program could not ask for it any more."""
        found = self.slots[slot] if slot < len(self.slots) else None
        return None if found is None else np.asarray(found)

    def left_of(self, pending: Sequence[Operation]) -> list[Operation]:
        """Give storages what the replay has computed; the operations that it has not."""
        left = []
        for operation in pending:
            if operation.number >= self.end:
                left.append(operation)
                continue
            storage = operation.target.storage
            if storage.memory is None:
                memory = self.memory(storage.slot)
                storage.memory, storage.hollow = storage.array(), memory is None
                if memory is not None:
                    storage.memory = memory
        return left

    def result(self, number: int, known: dict[int, Any]) -> Any:
        """Result of the call at a place of the log; ``known`` holds its operands by slot."""
        call = self.log[number]
        assert isinstance(call, Call), "operation() found it"
        after = self.log[number + 1] if number + 1 < self.end else None
        structure = call.structure
        if isinstance(after, Branch) and after.outcome_of is structure_of:
            structure = after.outcome
        if isinstance(after, Branch) and after.outcome_of is placed_structure:
            structure = after.outcome[0]  # type: ignore[index]  # placed_structure() gives pairs
        return self.rebuilt(call.out, structure, known)

    def rebuilt(self, template: Any, structure: Any, known: dict[int, Any]) -> Any:
        """A result of this structure."""
        if type(template) is Ref:
            operand = known.get(template.slot)
            found = self.slots[template.slot] if operand is None else operand
            return hollow(structure) if found is None else found
        if type(template) is Nest:
            made, parts = template.build, structure[1]
            pairs = zip(template.items, parts, strict=True)
            return made([self.rebuilt(item, part, known) for item, part in pairs])
        return template


_CALLS: Final = (Operation, Call, Single, View)


def identity_of(entry: Entry) -> Any:
    """Identity of an entry: two runs of one program note equal ones."""
    if isinstance(entry, _CALLS):
        args = [*entry.args, *(entry.kwargs or {}).values()]
        return name_of(entry.fn), slots_in(entry.out), tuple(slot for a in args for slot in refs(a))
    if type(entry) is Read:
        return "read", entry.slot, entry.source
    if type(entry) is Branch:
        return "branch", repr(entry.value)
    return str(entry)


def slots_in(out: Any) -> tuple[int, ...]:
    """The slots of a result."""
    return () if out is None else (out,) if type(out) is int else refs(out)


def name_of(fn: Any) -> str:
    """The name of a callable."""
    return str(getattr(fn, "__name__", fn))


def hollow(structure: Any) -> np.ndarray:
    """An unfilled array in place of one that was freed."""
    _, dtype, shape, strides, writeable = structure
    made = empty_strided(shape, dtype, strides)
    made.flags.writeable = bool(writeable)
    return made


def structure_of(value: Any) -> Any:
    """Structure of a value, on which later entries rely: everything but the numbers."""
    if isinstance(value, np.ndarray):
        writeable = value.flags.num & _WRITEABLE
        return type(value), value.dtype, value.shape, value.strides, writeable
    apart = take_apart(value)
    if apart is None:
        return type(value)
    structure, children = apart
    return structure, tuple(map(structure_of, children))


def placed_structure(values: tuple[Any, ...]) -> tuple[Any, tuple[int, ...]]:
    """Of a result and the arrays whose memory it shows: its structure, and where it shows them."""
    result, *bases = values
    distances = [
        address(array) - address(base)
        for array in arrays_in(result)
        for base in bases
        if np.may_share_memory(array, base)
    ]
    return structure_of(result), tuple(distances)


def arrays_in(value: Any) -> list[np.ndarray]:
    """The arrays of a result, in order."""
    if isinstance(value, np.ndarray):
        return [value]
    apart = take_apart(value)
    return [] if apart is None else [array for child in apart[1] for array in arrays_in(child)]


def address(array: np.ndarray) -> int:
    """Where an array's first element lies."""
    return int(array.__array_interface__["data"][0])


def same_structure(wanted: Any) -> Callable[[Any], bool]:
    """A test that a result has these types, dtypes, shapes and strides; of numbers, the class."""
    if isinstance(wanted, type):
        return lambda other: type(other) is wanted
    return lambda other: bool(structure_of(other) == wanted)

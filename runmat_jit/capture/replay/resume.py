"""What a replay has done, for the Python run that takes over from it.

Python starts over at the beginning of the function. Each entry that it notes is found on the
trail, and its values are those that the replay has computed: nothing is computed, drawn or written
twice. Where the trail ends, recording goes on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from runmat_jit.capture.tape.entries import Branch, Entry, Nest, Op, Read, Ref, refs
from runmat_jit.capture.tape.pytree import take_apart
from runmat_jit.capture.tape.storage import empty_strided

if TYPE_CHECKING:
    from runmat_jit.capture.tape.pending import Pending

_WRITEABLE: Final = 0x400
"""The bit of ``flags.num``: ``flags.writeable`` warns for results of ``np.broadcast_arrays``."""


@dataclass(slots=True)
class Feed:
    """Entries that a replay has done, and the values in its slots.

    ``whole``: it ended where a segment ends. ``writes``: arrays were written on the way.
    ``attempt``: it ended before a call that may raise.
    """

    trail: list[Entry]
    end: int
    slots: list[Any]
    programs: tuple[Any, ...]
    whole: bool
    writes: bool
    attempt: bool

    def matches(self, number: int, entry: Entry) -> bool:
        """Whether Python has come to what the replay did there."""
        return bool(identity_of(self.trail[number]) == identity_of(entry))

    def operation(self, number: int, fn: Any) -> Op | None:
        """The call that the replay did there, if it is one of ``fn``."""
        entry = self.trail[number]
        same = type(entry) is Op and name_of(entry.fn) == name_of(fn)
        return entry if same and isinstance(entry, Op) else None

    def memory(self, slot: int) -> np.ndarray | None:
        """The array that a storage got; None if the program could not ask for it any more."""
        found = self.slots[slot] if slot < len(self.slots) else None
        return None if found is None else np.asarray(found)

    def left_of(self, pending: Sequence[Pending]) -> list[Pending]:
        """Give storages what the replay has computed; the operations that it has not."""
        for operation in pending:
            storage = operation.target.storage
            if operation.entry < self.end and storage.memory is None:
                memory = self.memory(storage.slot)
                storage.memory, storage.hollow = storage.array(), memory is None
                if memory is not None:
                    storage.memory = memory
        return [operation for operation in pending if operation.entry >= self.end]

    def result(self, number: int, known: dict[int, Any]) -> Any:
        """What the call at a place of the trail gave; ``known`` holds its operands by slot."""
        call = self.trail[number]
        assert isinstance(call, Op), "operation() found it"
        after = self.trail[number + 1] if number + 1 < self.end else None
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


def identity_of(entry: Entry) -> Any:
    """What tells entries apart: two runs of one program note equal ones."""
    if type(entry) is Op:
        args = [*entry.args, *entry.kwargs.values()]
        return name_of(entry.fn), repr(entry.out), tuple(slot for a in args for slot in refs(a))
    if type(entry) is Read:
        return "read", entry.slot, entry.source
    if type(entry) is Branch:
        return "branch", repr(entry.value)
    return str(entry)


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
    """What later entries rely on: everything but the numbers."""
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

"""Native functions that make warm calls without Python code (see :mod:`.gate_text`)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Sequence
from dataclasses import field
from typing import Any, Final, NamedTuple

import numpy as np

from runmat_jit.backends.llvm.gate_text import (
    NUMPY_FUNCTIONS,
    gate_functions,
    gate_symbols,
    gate_text,
)
from runmat_jit.backends.llvm.gate_words import ENTRY_WORDS, GATE_WORDS, INSTRUCTION_WORDS
from runmat_jit.backends.llvm.jit import Jit
from runmat_jit.backends.llvm.launcher import builtin_function
from runmat_jit.backends.llvm.object_layout import object_layout
from runmat_jit.backends.llvm.symbols import numpy_functions, process_symbols
from runmat_jit.core.frozen import frozen_object
from runmat_jit.core.gates import NotForGates
from runmat_jit.core.hotness import ENTRIES
from runmat_jit.core.locks import new_lock

_AN_ARRAY: Final = np.empty(0)
_BUSY: Final = ENTRY_WORDS["busy"]
_HITS: Final = ENTRY_WORDS["hits"]
_FIRST: Final = len(GATE_WORDS)
MOST_REGISTERS: Final = 800
"""Of an entry: its calls have them on the stack, a thousand of which may be within each other."""


class GateCode:
    """The module of the operations, loaded once for a session."""

    def __init__(self, jit: Jit) -> None:
        layout = object_layout()
        assert layout is not None, "asked before"
        self.layout = layout
        symbols = process_symbols(gate_symbols()) | numpy_functions(NUMPY_FUNCTIONS)
        names, text = gate_functions(layout), gate_text(layout)
        self.addresses = jit.functions(text, names, symbols)
        self.left: deque[Owed] = deque()
        """What gates that are gone have done, and not told."""

    def gate(self, fallback: Callable[..., Any]) -> Gate:
        """Create a native function without entries."""
        return Gate(self.addresses["gate"], fallback, self.left)


class Owed(NamedTuple):
    """Counts of native calls that telemetry has not taken over yet."""

    replays: int
    launches: int
    nbytes: int
    tell: Callable[[], None]
    """Has counted what is counted elsewhere."""


@frozen_object
class Entry:
    """One native entry; ``count`` is called with the number of its calls and their work."""

    words: np.ndarray
    code: np.ndarray
    kept: tuple[Any, ...]
    """The objects and the memory whose addresses the code holds."""
    count: Callable[[int, Owed], None]
    key: Hashable
    """Of the kind of calls: an entry for the same kind takes its place."""
    work: np.ndarray
    """Launches and bytes of all calls."""
    replays: bool
    """Its calls count as replayed."""
    tell: Callable[[], None]
    """As of what is owed."""
    counted: list[int] = field(default_factory=lambda: [0, 0, 0])
    """Calls, launches and bytes that have been counted."""

    def owed(self) -> tuple[int, Owed]:
        """Calls that have not been counted, and their work; they are taken to be counted now."""
        now = [int(self.words[_HITS]), int(self.work[0]), int(self.work[1])]
        calls, launches, nbytes = [new - old for new, old in zip(now, self.counted, strict=True)]
        self.counted[:] = now
        return calls, Owed(calls if self.replays else 0, launches, nbytes, self.tell)


class EntryWriter:
    """Writes the code of one entry; ``names``: the arguments that are given by name, in order."""

    def __init__(self, code: GateCode, positional: int, names: Sequence[str]) -> None:
        self._addresses = code.addresses
        self._positional, self._names = positional, names
        self._arguments = self._registers = positional + len(names)
        self._instructions: list[tuple[int, ...]] = []
        self._kept: list[Any] = []
        self._labels: list[int | None] = []
        self._jumps: list[tuple[int, int, int]] = []
        self.begin()

    def register(self) -> int:
        """A register of the entry's own.

        Raises:
            NotForGates: there are no more.

        """
        if self._registers >= MOST_REGISTERS:
            raise NotForGates("too many values")
        self._registers += 1
        return self._registers - 1

    def emit(self, operation: str, *operands: int) -> None:
        """Append an instruction."""
        words = (self._addresses[operation], *operands)
        self._instructions.append((*words, *(0,) * (INSTRUCTION_WORDS - len(words))))

    def object(self, value: Any) -> int:
        """Address of an object, which the entry keeps alive."""
        self._kept.append(value)
        return id(value)

    def address(self, function: str) -> int:
        """Address of a function of the module."""
        return self._addresses[function]

    def mark(self) -> tuple[int, int]:
        """Return the present end of the code, for :meth:`back`."""
        return len(self._instructions), len(self._jumps)

    def back(self, mark: tuple[int, int]) -> None:
        """Take back what has been written since."""
        del self._instructions[mark[0] :], self._jumps[mark[1] :]

    def numbers(self, values: Sequence[int]) -> int:
        """Address of these numbers."""
        return self.memory(np.array([*values, 0], np.int64))

    def memory(self, array: np.ndarray) -> int:
        """Address of an array's elements."""
        self._kept.append(array)
        return int(array.ctypes.data)

    def label(self) -> int:
        """Create a label for a position in the code that is not known yet."""
        self._labels.append(None)
        return len(self._labels) - 1

    def place(self, label: int) -> None:
        """Bind a label to the next instruction."""
        self._labels[label] = len(self._instructions)

    def jump_unless(self, register: int, label: int) -> None:
        """Go on at a label where a truth value, in a 0-d array, is false."""
        self._jumps.append((len(self._instructions), 2, label))
        self.emit("jump_unless", register, 0)

    def begin(self) -> None:
        """The fallback makes the call where the entry cannot go on from now on."""
        self.emit("begin", self.object(Exception))

    def recover(self, label: int) -> None:
        """Go on at a label wherever the entry cannot go on from now on."""
        self._jumps.append((len(self._instructions), 1, label))
        self.emit("recover", 0, self.object(Exception))

    def entry(
        self,
        key: Hashable,
        count: Callable[[int, Owed], None],
        work: np.ndarray,
        *,
        replays: bool,
        tell: Callable[[], None],
    ) -> Entry:
        """Finish the entry."""
        code = np.array(self._instructions, np.int64)
        for row, column, label in self._jumps:
            target = self._labels[label]
            assert target is not None, "labels are placed"
            code[row, column] = code.ctypes.data + 8 * INSTRUCTION_WORDS * target
        names = self.numbers([self.object(name) for name in self._names])
        words = np.zeros(len(ENTRY_WORDS), np.int64)
        values = {
            "positional": self._positional,
            "named": len(self._names),
            "names": names,
            "code": code.ctypes.data,
            "owned": self._arguments,
            "registers": self._registers,
        }
        for name, value in values.items():
            words[ENTRY_WORDS[name]] = value
        return Entry(words, code, tuple(self._kept), count, key, work, replays, tell)


class Gate:
    """A function to call: runs the first entry whose guards hold, else the fallback."""

    def __init__(self, address: int, fallback: Callable[..., Any], left: deque[Owed]) -> None:
        self._left = left
        self._words = np.zeros(_FIRST + ENTRIES, np.int64)
        self._words[GATE_WORDS["entries"]] = self._words.ctypes.data + 8 * _FIRST
        self._entries: tuple[Entry, ...] = ()
        self._retired: list[Entry] = []
        self._lock = new_lock()
        self._fallbacks: list[Callable[..., Any]] = []
        self.set_fallback(fallback)
        held = (self._words, self)  # whoever has the function keeps the memory of its entries
        self.call: Callable[..., Any] = builtin_function(b"call", address, held, keywords=True)

    def set_fallback(self, fallback: Callable[..., Any]) -> None:
        """Set the function that makes all other calls from now on."""
        self._fallbacks.append(fallback)  # all are kept: a call may be in one
        self._words[GATE_WORDS["fallback"]] = id(fallback)

    @property
    def is_empty(self) -> bool:
        """True if the fallback makes all calls."""
        return not self._entries

    def add(self, entry: Entry) -> None:
        """Try an entry before all others."""
        with self._lock:
            self._add(entry)

    def _add(self, entry: Entry) -> None:
        others = [each for each in self._entries if each.key != entry.key][: ENTRIES - 1]
        gone = [each for each in self._entries if each not in others]
        self._set((entry, *others), tuple(gone))

    def has(self, key: Hashable) -> bool:
        """True if there is an entry for a kind of calls."""
        return any(entry.key == key for entry in self._entries)

    def remove(self, key: Hashable) -> None:
        """Take the entry of a kind of calls away."""
        with self._lock:
            kept = tuple([each for each in self._entries if each.key != key])
            self._set(kept, tuple([each for each in self._entries if each.key == key]))

    def clear(self) -> None:
        """Take all entries away."""
        with self._lock:
            self._set((), self._entries)

    def _set(self, entries: tuple[Entry, ...], gone: tuple[Entry, ...]) -> None:
        # A call on another thread may be within an entry, or about to look at one.
        for entry in gone:
            entry.words[ENTRY_WORDS["positional"]] = -1
        self._entries = entries
        for place, entry in enumerate(entries):
            self._words[_FIRST + place] = entry.words.ctypes.data
        self._words[GATE_WORDS["count"]] = len(entries)
        registers = [int(entry.words[ENTRY_WORDS["registers"]]) for entry in entries]
        self._words[GATE_WORDS["registers"]] = max(registers, default=0)
        running = [entry for entry in self._retired if entry.words[_BUSY]]
        self._flush()
        self._count(gone)
        self._retired = [*running, *gone]

    def flush(self) -> None:
        """Have calls so far counted."""
        with self._lock:
            self._flush()

    def _flush(self) -> None:
        self._count((*self._entries, *self._retired))

    def _count(self, entries: Sequence[Entry]) -> None:
        for entry in entries:
            calls, owed = entry.owed()
            if calls:
                entry.count(calls, owed)

    def __del__(self) -> None:
        # At any place, in the middle of whatever holds a lock: nothing is called that takes one,
        # or that makes an array (which has ended processes here).
        for entry in (*self._entries, *self._retired):
            self._left.append(entry.owed()[1])

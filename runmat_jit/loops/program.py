"""Calls of a loop: natively where that is known to give what Python gives, else as Python runs it.

A native run is a transaction. Arrays that it writes are copied first, and where it leaves (an index
out of range, an integer of more than 64 bits, an event that NumPy is to report, Ctrl-C) they get
their elements back: Python runs the loop from its beginning.
"""

from __future__ import annotations

import ctypes
import struct
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any, Final

import numpy as np

from runmat_jit.core.errstate import FLAGS, ErrorStates, warnings_raise
from runmat_jit.core.frozen import frozen_object
from runmat_jit.core.locks import new_lock
from runmat_jit.core.slotted import slotted
from runmat_jit.core.types import is_compiled_dtype
from runmat_jit.kernel.ir import Buffer, Kernel, Scalar, Table
from runmat_jit.kernel.walk import every_instruction
from runmat_jit.loops.emit import (
    DONE,
    LEFT,
    SLOTS,
    STATUS,
    TURNS,
    ArrayForm,
    Emitted,
    Form,
    Forms,
    NumberForm,
    ObjectForm,
    emit,
)
from runmat_jit.loops.source import Chain, LoopSource
from runmat_jit.loops.values import FLOAT, INT, TRUTH, Kind, Unknown, is_narrow, numpy_kind
from runmat_jit.loops.ways import Helper, tag

VARIANTS: Final = 12
"""Kernels of one loop; operands of further forms are left to Python."""
FACTUAL: Final = 6
"""Kernels of one loop after which others are told nothing of equal extents."""
ODD: Final = 2
"""Runs in a row that left for data that were not finite, after which each operation is watched."""
WORTH: Final = 400
"""Operations of Python's that take longer than a native call of a loop."""
POOR: Final = 8
"""Runs in a row that did less, after which Python runs a loop at once."""
EXITS: Final = 3
"""Runs in a row that left, after which Python runs a loop at once."""
SLICE: Final = 0.02
"""Seconds that a slice of a loop takes about: Ctrl-C and other threads wait no longer."""
_FIRST_SLICE: Final = 256
_SMALL, _MEDIUM = 1 << 24, 1 << 40
_WATCHED: Final = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)
_LISTENER: Final = ctypes.CFUNCTYPE(ctypes.c_int64)
_PYTHONS: Final = {int: INT, float: FLOAT, bool: TRUTH}

Compile = Callable[[Kernel], Any]


OPAQUE: Final = ObjectForm(None)
"""What is no number and no array of numbers: a loop that uses it runs as it stands."""


def forms_of(values: Mapping[Chain, Any], *, facts: bool) -> dict[Chain, Form]:
    """What a kernel is told of operands; ``facts``: which extents and numbers are equal, too."""
    seen: dict[int, int] = {}
    extents: dict[int, int] | None = None
    if facts:
        extents = {}
        for value in values.values():
            if type(value) is np.ndarray:
                for extent in value.shape:
                    extents.setdefault(extent, len(extents))
    return {c: form_of(v, n, seen, extents) for n, (c, v) in enumerate(values.items())}


def form_of(
    value: Any, number: int, seen: dict[int, int], extents: Mapping[int, int] | None = None
) -> Form:
    """What a kernel is told of an operand.

    ``seen``: arrays by identity, and their numbers; ``extents``: those of all arrays, and theirs.
    """
    kind = type(value)
    if kind is np.ndarray:
        if not is_compiled_dtype(value.dtype) or not value.flags.aligned or not value.ndim:
            return OPAQUE
        unit = value.strides[-1] == value.itemsize
        first = seen.setdefault(id(value), number)
        if extents is None:
            return ArrayForm(value.dtype, value.ndim, unit, first, apart(first, value.ndim))
        numbers = tuple([extents[extent] for extent in value.shape])
        return ArrayForm(value.dtype, value.ndim, unit, first, numbers)
    python = _PYTHONS.get(kind)
    if python is INT:
        magnitude = abs(value)
        high = next((b for b in (_SMALL, _MEDIUM) if magnitude <= b), 1 << 63)
        known = None if extents is None or value < 2 else extents.get(value)
        return OPAQUE if magnitude >= 1 << 63 else NumberForm(python, high, extent=known)
    if python is not None:
        return NumberForm(python, narrow=python is FLOAT and is_narrow(value))
    if isinstance(value, np.generic) and is_compiled_dtype(value.dtype):
        return NumberForm(numpy_kind(value.dtype), narrow=value.dtype == np.float32)
    return OPAQUE


def apart(number: int, ndim: int) -> tuple[int, ...]:
    """Numbers for the extents of an array of which nothing is known."""
    return tuple([-1 - 64 * number - axis for axis in range(ndim)])


@slotted
class Variant:
    """A kernel of a loop, with what it takes to run it."""

    emitted: Emitted
    address: int
    entry: Any
    chains: tuple[Chain, ...]
    tables: Mapping[str, int]
    parameters: tuple[Any, ...]
    asks: bool

    def run(self, values: Mapping[Chain, Any], events: int) -> tuple[tuple[Any, ...], int] | None:
        """Run the loop: its results and its turns; None where it left, or ran too few.

        ``events``: bits of those that are to be reported.
        """
        operands: list[Any] = [values.get(chain) for chain in self.chains]
        if not self.may_write(operands):
            return None
        backups = {number: operands[number].copy() for number in self.emitted.written}
        try:
            found = self.run_slices(values, operands, events)
            if found is not None:
                backups.clear()
            return found
        finally:
            for number, backup in backups.items():
                operands[number][...] = backup

    def run_slices(
        self,
        values: Mapping[Chain, Any],
        operands: Sequence[Any],
        events: int,
    ) -> tuple[tuple[Any, ...], int] | None:
        """Run the loop slice after slice, on the arrays themselves."""
        state, floats = self.begun(values)
        words, limit = self.arguments(operands, state, floats)
        turns, interrupted = _FIRST_SLICE, list[BaseException]()
        if self.asks:
            listener = _LISTENER(listening(interrupted).__next__)
            words[limit + 1] = ctypes.cast(listener, ctypes.c_void_p).value or 0
        while True:
            words[limit] = turns
            state[STATUS] = 0
            start = time.perf_counter()
            seen = self.entry(self.address, words)
            if interrupted:
                raise interrupted[0]
            if seen & events or state[STATUS] == LEFT:
                return None
            if state[STATUS] == DONE:
                break
            took = time.perf_counter() - start
            turns = max(1, min(turns * 32, int(turns * SLICE / max(took, 1e-6))))
        if state[TURNS] < self.emitted.begins:
            return None
        return self.results(state, floats), int(state[TURNS])

    def begun(self, values: Mapping[Chain, Any]) -> tuple[Any, Any]:
        """The state before the first turn: integers and floats."""
        slots = SLOTS + len(self.emitted.carried)
        state: Any = (ctypes.c_int64 * slots)()
        floats: Any = (ctypes.c_double * slots)()
        for place, (name, kind) in enumerate(self.emitted.carried, SLOTS):
            value: Any = values.get(Chain(name.removesuffix("?")))
            if name.endswith("?"):
                state[place] = isinstance(value, np.generic)
            elif kind in ("f32", "f64") and isinstance(value, (int, float, np.generic)):
                floats[place] = value
            elif isinstance(value, (int, np.integer, np.bool_)):  # others are bound before read
                state[place] = value
        return state, floats

    def results(self, state: Any, floats: Any) -> tuple[Any, ...]:
        """The results of a loop that has ended."""
        places = {name: place for place, (name, _) in enumerate(self.emitted.carried, SLOTS)}
        held = dict(self.emitted.carried)
        found = []
        for name, kinds in self.emitted.results:
            number = (floats if held[name] in ("f32", "f64") else state)[places[name]]
            numpys = len(kinds) == 1 or state[places[tag(name)]]
            found.append(made(number, kinds[-1] if numpys else kinds[0]))
        return tuple(found)

    def may_write(self, operands: Sequence[Any]) -> bool:
        """Whether the arrays that are written can be, and show no other one's elements."""
        for number in self.emitted.written:
            array = operands[number]
            if not array.flags.writeable or overlaps_itself(array):
                return False
            others = (other for other in operands if type(other) is np.ndarray)
            if any(o is not array and np.may_share_memory(array, o) for o in others):
                return False
        return True

    def arguments(
        self,
        operands: Sequence[Any],
        state: Any,
        floats: Any,
    ) -> tuple[Any, int]:
        """The argument block, and the place of the limit in it."""
        words = (ctypes.c_int64 * (len(self.parameters) + 2))()
        limit = 0
        for place, parameter in enumerate(self.parameters):
            name = parameter.name
            if isinstance(parameter, Table):
                words[place] = self.tables[name]
            elif name == "state":
                words[place] = ctypes.addressof(state)
            elif name == "floats":
                words[place] = ctypes.addressof(floats)
            elif name in ("limit", "caller"):
                limit = place - (name == "caller")
            elif isinstance(parameter, Buffer):
                number = int(name[1:])
                words[place] = address_of(operands[number])
            elif name[0] == "x":
                words[place] = bits_of(operands[int(name[1:])], parameter)
            else:
                number, axis = map(int, name[1:].split("_"))
                array = operands[number]
                extent = array.shape[axis]
                words[place] = extent if name[0] == "n" else array.strides[axis] // array.itemsize
        words[len(self.parameters)] = ctypes.addressof(words) + 8 * (len(self.parameters) + 1)
        return words, limit


class LoopLeft(Exception):  # noqa: N818  (a signal between our own layers, never a user's)
    """A loop does not run natively on these values; nothing has happened yet."""


@frozen_object
class Reads:
    """What a loop reads: what it is given, and what is the same in all calls.

    ``operands`` are arrays and numbers; ``helpers`` the functions of the program's among the
    ``objects``, and what they read.
    """

    operands: tuple[Chain, ...]
    objects: Mapping[Chain, Any]
    helpers: Mapping[Any, Helper]


class LoopCall:
    """A loop of a function, called with the values of its operands: its results, in their order.

    Args:
        source: The statement.
        name: Name of the function that it stands in.
        reads: What it reads.
        services: Of the session.

    """

    def __init__(
        self,
        source: LoopSource,
        name: str,
        reads: Reads,
        services: Services,
    ) -> None:
        self.source, self.services = source, services
        self.operands, self.objects, self.helpers = reads.operands, reads.objects, reads.helpers
        self.variants: dict[Any, Variant | Unknown] = {}
        self.known: dict[Any, Unknown | None] = {}
        self.exits = self.odd = self.poor = 0
        self.per_turn = 1
        """Operations of Python's in a turn, about."""
        self.turns = 0
        """Of the last run."""
        self.careful = self.ours = False
        self.__name__ = self.__qualname__ = f"loop of line {source.line} in {name}"
        self._lock = new_lock()

    def __call__(self, *values: Any) -> Any:
        """The results of the loop.

        Raises:
            LoopLeft: it does not run natively, and nothing has happened yet.

        """
        found = self.attempt(values)
        if found is None:
            raise LoopLeft(self.__name__)
        return found

    def attempt(self, values: Sequence[Any]) -> tuple[Any, ...] | None:
        """The results of a native run; None where there is none, and nothing has happened."""
        if self.gave_up:
            return None
        state = self.services.states.current()
        if state.immediate or (state.warn and warnings_raise()):
            return None
        given = dict(zip(self.operands, values, strict=True))
        found = None
        if not (self.careful and state.warn):
            found = self.attempt_with(given, state.warn, careful=False)
        if found is None and state.warn:
            found = self.attempt_with(given, state.warn, careful=True)
            self.odd = self.odd + 1 if found is not None else 0
            self.careful = self.odd >= ODD
        if found is None:
            self.exits += 1
            self.services.count("loops_left")
            return None
        self.exits, results, self.turns = 0, *found
        self.services.count("loops_run")
        self.services.count("loop_turns", self.turns)
        little = self.turns * self.per_turn < WORTH
        self.poor = self.poor + 1 if little else 0
        return results

    def attempt_with(
        self, given: Mapping[Chain, Any], warn: frozenset[str], *, careful: bool
    ) -> tuple[tuple[Any, ...], int] | None:
        """The results of a run by a kernel that looks at events so, and its turns."""
        variant = self.variant(given, careful=careful)
        if variant is None:
            return None
        events = 0 if careful else sum(1 << n for n, event in enumerate(FLAGS) if event in warn)
        return variant.run(given, events)

    @property
    def gave_up(self) -> bool:
        """Whether it has left so often, or done so little, that it is not tried any more."""
        return self.exits >= EXITS or self.poor >= POOR

    def obstacle(self, forms: Forms) -> Unknown | None:
        """What keeps the loop from running natively on operands of these forms; nothing is made."""
        key = tuple([forms[chain] for chain in self.operands])
        if key not in self.known:
            try:
                emit(self.source, self.complete(forms), self.helpers)
            except Unknown as unknown:
                self.known[key] = unknown
            else:
                self.known[key] = None
        return self.known[key]

    def report(self) -> str:
        """How the loop runs, for people."""
        native = [each for each in self.variants.values() if isinstance(each, Variant)]
        refused = [each for each in (*self.known.values(), *self.variants.values()) if each]
        why = next((each for each in refused if isinstance(each, Unknown)), None)
        if self.exits >= EXITS:
            return "in Python: native runs of it have left each time"
        if self.poor >= POOR:
            return "in Python: it does too little for a native run"
        if native:
            kernels = "1 kernel" if len(native) == 1 else f"{len(native)} kernels"
            return f"natively, by {kernels}; {self.turns} turns in the last call"
        if why is not None:
            at = "" if why.line is None else f" (line {why.line})"
            return f"in Python: {why.why}{at}"
        return "in Python: it does too little for a native run"

    def complete(self, forms: Forms) -> Forms:
        """Forms of the operands, with those of the objects."""
        return {**forms, **{chain: ObjectForm(value) for chain, value in self.objects.items()}}

    def variant(self, given: Mapping[Chain, Any], *, careful: bool) -> Variant | None:
        """The kernel for operands like these; None where there is none."""
        forms = forms_of(given, facts=len(self.variants) < FACTUAL)
        key = careful, tuple(forms.values())
        found = self.variants.get(key)
        if found is None:
            with self._lock:
                found = self.variants.get(key)
                if found is None and len(self.variants) < VARIANTS:
                    found = self.make(forms, careful=careful)
                    self.variants[key] = found
        return found if isinstance(found, Variant) else None

    def make(self, forms: Forms, *, careful: bool) -> Variant | Unknown:
        """The kernel, or why there is none."""
        complete = self.complete(forms)
        try:
            emitted = emit(self.source, complete, self.helpers, careful=careful)
            if emitted.ours and not careful:
                emitted = emit(self.source, complete, self.helpers, careful=True)
        except Unknown as unknown:
            return unknown
        self.ours = self.ours or emitted.ours
        compiled = self.services.compile(emitted.kernel)
        parameters, body = emitted.kernel.parameters, emitted.kernel.body
        tables = {p.name: self.services.table(p.name) for p in parameters if isinstance(p, Table)}
        return Variant(
            emitted,
            compiled.address,
            _WATCHED(self.services.watched_call()),
            tuple(complete),
            tables,
            parameters,
            any(instruction.op == "ask" for instruction in every_instruction(body)),
        )


@slotted
class Services:
    """What loops are given by the session that they run in."""

    compile: Compile
    table: Callable[[str], int]
    watched_call: Callable[[], int]
    count: Callable[..., None]
    states: ErrorStates = field(default_factory=ErrorStates)


def listening(interrupted: list[BaseException]) -> Iterator[int]:
    """Answers a kernel that asks whether to end; the exceptions that made it so are kept.

    Python handles signals where a generator goes on; a function is left before its first line.
    """

    def answers() -> Iterator[int]:
        while True:
            try:
                yield len(interrupted)
            except GeneratorExit:
                return
            except BaseException as error:  # noqa: BLE001  (raised as soon as the kernel has ended)
                interrupted.append(error)

    made = answers()
    next(made)
    return made


def made(value: float, kind: Kind) -> Any:
    """A result of its kind."""
    if not kind.python:
        return kind.dtype.type(value)
    return {"i": int, "f": float, "b": bool}[kind.dtype.kind](value)


def bits_of(value: Any, parameter: Scalar) -> int:
    """A number as the argument block holds it."""
    if parameter.type == "f64":
        return int(struct.unpack("<q", struct.pack("<d", value))[0])
    if parameter.type == "f32":
        return int(struct.unpack("<i", struct.pack("<f", value))[0])
    return int(value)


def address_of(array: np.ndarray) -> int:
    """Where the first element of an array lies."""
    return int(array.__array_interface__["data"][0])


def overlaps_itself(array: np.ndarray) -> bool:
    """Whether elements of an array may be at one place; of odd strides it is taken for granted."""
    steps = sorted((abs(s), e) for s, e in zip(array.strides, array.shape, strict=True) if e > 1)
    reach = array.itemsize
    for stride, extent in steps:
        if stride < reach:
            return True
        reach = stride * extent
    return False

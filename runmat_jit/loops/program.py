"""Calls of a loop: natively where that is known to give what Python gives, else as Python runs it.

A native run is a transaction. It works on copies of the arrays that it writes, and where it leaves
(an index out of range, an integer of more than 64 bits, an event that NumPy is to report, Ctrl-C)
nothing has happened yet: Python runs the loop from its beginning.
"""

from __future__ import annotations

import ctypes
import struct
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any, Final

import numpy as np

from runmat_jit.core.errstate import ErrorStates, warnings_raise
from runmat_jit.core.locks import new_lock
from runmat_jit.core.slotted import slotted
from runmat_jit.core.types import is_compiled_dtype
from runmat_jit.kernel.ir import Buffer, Kernel, Scalar, Table
from runmat_jit.kernel.walk import leaves
from runmat_jit.loops.body import tag
from runmat_jit.loops.emit import (
    DONE,
    MORE,
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

VARIANTS: Final = 12
"""Kernels of one loop; operands of further forms are left to Python."""
EXITS: Final = 3
"""Runs in a row that left, after which Python runs a loop at once."""
SLICE: Final = 0.02
"""Seconds that a slice of a loop takes about: Ctrl-C and other threads wait no longer."""
_FIRST_SLICE: Final = 256
_SMALL, _MEDIUM = 1 << 24, 1 << 40
_ENTRY: Final = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
_PYTHONS: Final = {int: INT, float: FLOAT, bool: TRUTH}

Compile = Callable[[Kernel], Any]


OPAQUE: Final = ObjectForm(None)
"""What is no number and no array of numbers: a loop that uses it runs as it stands."""


def form_of(value: Any, number: int, seen: dict[int, int]) -> Form:
    """What a kernel is told of an operand; ``seen``: arrays by identity, and their numbers."""
    kind = type(value)
    if kind is np.ndarray:
        if not is_compiled_dtype(value.dtype) or not value.flags.aligned or not value.ndim:
            return OPAQUE
        unit = value.strides[-1] == value.itemsize
        return ArrayForm(value.dtype, value.ndim, unit, seen.setdefault(id(value), number))
    python = _PYTHONS.get(kind)
    if python is INT:
        magnitude = abs(value)
        high = next((b for b in (_SMALL, _MEDIUM) if magnitude <= b), 1 << 63)
        return OPAQUE if magnitude >= 1 << 63 else NumberForm(python, high)
    if python is not None:
        return NumberForm(python, narrow=python is FLOAT and is_narrow(value))
    if isinstance(value, np.generic) and is_compiled_dtype(value.dtype):
        return NumberForm(numpy_kind(value.dtype), narrow=value.dtype == np.float32)
    return OPAQUE


@slotted
class Variant:
    """A kernel of a loop, with what it takes to run it."""

    emitted: Emitted
    entry: Any
    chains: tuple[Chain, ...]
    tables: Mapping[str, int]
    parameters: tuple[Any, ...]
    may_leave: bool

    def run(self, values: Mapping[Chain, Any], *, at_least: int) -> tuple[Any, ...] | None:
        """Run the loop: its results by name; None where it left, or ran too few turns."""
        operands = [values.get(chain) for chain in self.chains]
        work = self.copies(operands)
        if work is None:
            return None
        slots = SLOTS + len(self.emitted.carried)
        state, floats = (ctypes.c_int64 * slots)(), (ctypes.c_double * slots)()
        for place, (name, kind) in enumerate(self.emitted.carried, SLOTS):
            value = values.get(Chain(name.removesuffix("?")))
            if name.endswith("?"):
                state[place] = isinstance(value, np.generic)
            elif isinstance(value, (int, float, np.generic)):
                (floats if kind in ("f32", "f64") else state)[place] = value
        words, limit = self.arguments(operands, work, state, floats)
        turns = _FIRST_SLICE
        while True:
            words[limit] = turns
            state[STATUS] = 0
            start = time.perf_counter()
            self.entry(words, 0, 1)
            if state[STATUS] == DONE:
                break
            if state[STATUS] != MORE:
                return None
            took = time.perf_counter() - start
            turns = max(1, min(turns * 32, int(turns * SLICE / max(took, 1e-6))))
        if state[TURNS] < at_least:
            return None
        for number, copy in work.items():
            operands[number][...] = copy
        places = {name: place for place, (name, _) in enumerate(self.emitted.carried, SLOTS)}
        held = dict(self.emitted.carried)
        found = []
        for name, kinds in self.emitted.results:
            number = (floats if held[name] in ("f32", "f64") else state)[places[name]]
            numpys = len(kinds) == 1 or state[places[tag(name)]]
            found.append(made(number, kinds[-1] if numpys else kinds[0]))
        return tuple(found)

    def copies(self, operands: Sequence[Any]) -> dict[int, np.ndarray] | None:
        """Copies of the arrays that are written; None where writing them is Python's business."""
        found: dict[int, np.ndarray] = {}
        for number in self.emitted.written:
            array = operands[number]
            if not array.flags.writeable or overlaps_itself(array):
                return None
            for other in operands:
                if other is not array and type(other) is np.ndarray:
                    if np.may_share_memory(array, other):
                        return None
            if self.may_leave:
                found[number] = array.copy(order="C")
        return found

    def arguments(
        self,
        operands: Sequence[Any],
        work: Mapping[int, np.ndarray],
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
            elif name == "limit":
                limit = place
            elif isinstance(parameter, Buffer):
                number = int(name[1:])
                words[place] = address_of(work.get(number, operands[number]))
            elif name[0] == "x":
                words[place] = bits_of(operands[int(name[1:])], parameter)
            else:
                number, axis = map(int, name[1:].split("_"))
                array = work.get(number, operands[number])
                extent = array.shape[axis]
                words[place] = extent if name[0] == "n" else array.strides[axis] // array.itemsize
        words[len(self.parameters)] = ctypes.addressof(words) + 8 * (len(self.parameters) + 1)
        return words, limit


class LoopLeft(Exception):  # noqa: N818  (a signal between our own layers, never a user's)
    """A loop does not run natively on these values; nothing has happened yet."""


class LoopCall:
    """A loop of a function, called with the values of its operands: its results, in their order.

    Args:
        source: The statement.
        name: Name of the function that it stands in.
        operands: What is passed: arrays and numbers, and what no kernel reads.
        objects: What it reads that is the same in all calls.
        services: Of the session.

    """

    def __init__(
        self,
        source: LoopSource,
        name: str,
        operands: tuple[Chain, ...],
        objects: Mapping[Chain, Any],
        services: Services,
    ) -> None:
        self.source, self.operands = source, operands
        self.objects, self.services = objects, services
        self.variants: dict[Any, Variant | Unknown] = {}
        self.known: dict[Any, Unknown | None] = {}
        self.exits = self.work = 0
        self.ours = False
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
        variant = self.variant(given, watched=bool(state.warn))
        if variant is None:
            return None
        least = 2 if self.source.is_while else 1
        found = variant.run(given, at_least=least)
        self.exits = self.exits + 1 if found is None else 0
        return found

    @property
    def gave_up(self) -> bool:
        """Whether it has left so often that it is not tried any more."""
        return self.exits >= EXITS

    def obstacle(self, forms: Forms, *, watched: bool) -> Unknown | None:
        """What keeps the loop from running natively on operands of these forms; nothing is made."""
        key = watched, tuple([forms[chain] for chain in self.operands])
        if key not in self.known:
            try:
                emit(self.source, self.complete(forms), watched=watched)
            except Unknown as unknown:
                self.known[key] = unknown
            else:
                self.known[key] = None
        return self.known[key]

    def complete(self, forms: Forms) -> Forms:
        """Forms of the operands, with those of the objects."""
        return {**forms, **{chain: ObjectForm(value) for chain, value in self.objects.items()}}

    def variant(self, given: Mapping[Chain, Any], *, watched: bool) -> Variant | None:
        """The kernel for operands like these; None where there is none."""
        seen: dict[int, int] = {}
        forms = {c: form_of(v, n, seen) for n, (c, v) in enumerate(given.items())}
        key = watched, tuple(forms.values())
        found = self.variants.get(key)
        if found is None:
            with self._lock:
                found = self.variants.get(key)
                if found is None and len(self.variants) < VARIANTS:
                    found = self.variants[key] = self.make(forms, watched=watched)
        return found if isinstance(found, Variant) else None

    def make(self, forms: Forms, *, watched: bool) -> Variant | Unknown:
        """The kernel, or why there is none."""
        complete = self.complete(forms)
        try:
            emitted = emit(self.source, complete, watched=watched)
        except Unknown as unknown:
            return unknown
        self.ours = self.ours or emitted.ours
        compiled = self.services.compile(emitted.kernel)
        parameters = emitted.kernel.parameters
        tables = {p.name: self.services.table(p.name) for p in parameters if isinstance(p, Table)}
        return Variant(
            emitted,
            _ENTRY(compiled.address),
            tuple(complete),
            tables,
            parameters,
            leaves(emitted.kernel.body),
        )


@slotted
class Services:
    """What loops are given by the session that they run in."""

    compile: Compile
    table: Callable[[str], int]
    states: ErrorStates = field(default_factory=ErrorStates)


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
    """Whether elements of an array may be at one place; of odd strides that is taken for granted."""
    steps = sorted((abs(s), e) for s, e in zip(array.strides, array.shape, strict=True) if e > 1)
    reach = array.itemsize
    for stride, extent in steps:
        if stride < reach:
            return True
        reach = stride * extent
    return False

"""Native runs of one kernel of a loop: slices, copies of what it writes, signals between them."""

from __future__ import annotations

import ctypes
import struct
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np

from runmat_jit.core.frozen import frozen_object
from runmat_jit.kernel.ir import Buffer, Table
from runmat_jit.kernel.walk import every_instruction
from runmat_jit.loops.emit import DONE, LEFT, SLOTS, STATUS, TURNS, Emitted
from runmat_jit.loops.source import Chain
from runmat_jit.loops.values import Kind
from runmat_jit.loops.ways import tag

SLICE: Final = 0.02
"""Seconds that a slice of a loop takes about: Ctrl-C and other threads wait no longer."""
_FIRST_SLICE: Final = 256
WATCHED: Final = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)
"""Runs a kernel (its address) on an argument block; the bits of the events that happened."""
_LISTENER: Final = ctypes.CFUNCTYPE(ctypes.c_int64)
_DOUBLE, _SINGLE = struct.Struct("<d"), struct.Struct("<f4x")
_WORD: Final = struct.Struct("<q")
_FLOATS: Final = ("f32", "f64")


@frozen_object
class Variant:
    """A kernel of a loop, with what it takes to run it.

    Attributes:
        emitted: The kernel.
        address: Of its native code.
        entry: Runs it.
        words: The argument block; what differs from run to run is 0.
        fills: Of that, the places, what goes there, of which operand, along which axis.
        starts: Of the state: the places, what goes there, and the operand, if it is one.
        asks: It asks now and then whether to go on.

    """

    emitted: Emitted
    address: int
    entry: Any
    words: tuple[int, ...]
    fills: tuple[tuple[int, str, int, int], ...]
    starts: tuple[tuple[int, str, int], ...]
    asks: bool

    def run(self, operands: Sequence[Any], events: int) -> tuple[tuple[Any, ...], int] | None:
        """Run the loop: its results and its turns; None where it left, or ran too few.

        ``events``: bits of those that are to be reported.
        """
        written = self.emitted.written
        if not all(may_write(operands[number], operands) for number in written):
            return None
        backups = [(operands[number], operands[number].copy()) for number in written]
        try:
            found = self.run_slices(operands, events)
            if found is not None:
                backups.clear()
            return found
        finally:
            for array, backup in backups:
                array[...] = backup

    def run_slices(
        self, operands: Sequence[Any], events: int
    ) -> tuple[tuple[Any, ...], int] | None:
        """Run the loop slice after slice, on the arrays themselves."""
        state, floats = self.begun(operands)
        block = self.block(operands, state, floats)
        turns, interrupted = _FIRST_SLICE, list[BaseException]()
        if self.asks:
            listener = _LISTENER(listening(interrupted).__next__)
            block[CALLER] = ctypes.cast(listener, ctypes.c_void_p).value or 0
        while True:
            block[LIMIT] = turns
            state[STATUS] = LEFT
            start = time.perf_counter()
            seen = self.entry(self.address, block)
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

    def begun(self, operands: Sequence[Any]) -> tuple[Any, Any]:
        """The state before the first turn: integers and floats."""
        slots = SLOTS + len(self.emitted.carried)
        state: Any = (ctypes.c_int64 * slots)()
        floats: Any = (ctypes.c_double * slots)()
        for place, what, operand in self.starts:
            value = operands[operand]
            if what == "class":
                state[place] = isinstance(value, np.generic)
            elif what == "float" and isinstance(value, (int, float, np.generic)):
                floats[place] = value
            elif what == "integer" and isinstance(value, (int, np.integer, np.bool_)):
                state[place] = value  # others are bound before they are read
        return state, floats

    def block(self, operands: Sequence[Any], state: Any, floats: Any) -> Any:
        """The argument block."""
        words = [*self.words]
        words[STATE], words[FLOATS] = ctypes.addressof(state), ctypes.addressof(floats)
        for place, what, operand, axis in self.fills:
            value = operands[operand]
            if what == "address":
                words[place] = value.__array_interface__["data"][0]
            elif what == "extent":
                words[place] = value.shape[axis]
            elif what == "stride":
                words[place] = value.strides[axis] // value.itemsize
            elif what == "f64":
                (words[place],) = _WORD.unpack(_DOUBLE.pack(value))
            elif what == "f32":
                (words[place],) = _WORD.unpack(_SINGLE.pack(value))
            else:
                words[place] = int(value)
        made: Any = (ctypes.c_int64 * len(words))(*words)
        made[len(words) - 2] = ctypes.addressof(made) + 8 * (len(words) - 1)  # the event word
        return made

    def results(self, state: Any, floats: Any) -> tuple[Any, ...]:
        """The results of a loop that has ended."""
        if not self.emitted.results:
            return ()
        places = {name: place for place, (name, _) in enumerate(self.emitted.carried, SLOTS)}
        held = dict(self.emitted.carried)
        found = []
        for name, kinds in self.emitted.results:
            number = (floats if held[name] in _FLOATS else state)[places[name]]
            numpys = len(kinds) == 1 or state[places[tag(name)]]
            found.append(made(number, kinds[-1] if numpys else kinds[0]))
        return tuple(found)


STATE, FLOATS, LIMIT, CALLER = range(4)
"""Places of the parameters that every kernel has."""


def make_variant(
    emitted: Emitted, compiled: Any, entry: Any, chains: Sequence[Chain], tables: Mapping[str, int]
) -> Variant:
    """What runs a compiled kernel; ``chains``: the operands in order, ``tables``: addresses."""
    parameters = emitted.kernel.parameters
    words = [0] * (len(parameters) + 2)
    fills: list[tuple[int, str, int, int]] = []
    for place, parameter in enumerate(parameters):
        name = parameter.name
        if isinstance(parameter, Table):
            words[place] = tables[name]
        elif place in (STATE, FLOATS, LIMIT, CALLER):
            assert name == ("state", "floats", "limit", "caller")[place], "they come first"
        elif isinstance(parameter, Buffer):
            fills.append((place, "address", int(name[1:]), 0))
        elif name[0] == "x":
            fills.append((place, parameter.type, int(name[1:]), 0))
        else:
            number, axis = map(int, name[1:].split("_"))
            fills.append((place, "extent" if name[0] == "n" else "stride", number, axis))
    starts = []
    for place, (name, kind) in enumerate(emitted.carried, SLOTS):
        chain = Chain(name.removesuffix("?"))
        if chain in chains:
            what = "class" if name.endswith("?") else "float" if kind in _FLOATS else "integer"
            starts.append((place, what, list(chains).index(chain)))
    asks = any(instruction.op == "ask" for instruction in every_instruction(emitted.kernel.body))
    return Variant(
        emitted, compiled.address, entry, tuple(words), tuple(fills), tuple(starts), asks
    )


def may_write(array: np.ndarray, operands: Sequence[Any]) -> bool:
    """Whether an array can be written, and shows no other operand's elements."""
    if not array.flags.writeable or overlaps_itself(array):
        return False
    others = (other for other in operands if type(other) is np.ndarray and other is not array)
    return not any(np.may_share_memory(array, other) for other in others)


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


def overlaps_itself(array: np.ndarray) -> bool:
    """Whether elements of an array may be at one place; of odd strides it is taken for granted."""
    if array.flags.c_contiguous:
        return False
    steps = sorted((abs(s), e) for s, e in zip(array.strides, array.shape, strict=True) if e > 1)
    reach = array.itemsize
    for stride, extent in steps:
        if stride < reach:
            return True
        reach = stride * extent
    return False

"""Native runs of one kernel of a loop: slices, copies of what it writes, signals between them."""

from __future__ import annotations

import ctypes
import math
import struct
import time
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from runmat_jit.core.frozen import frozen, frozen_object
from runmat_jit.core.slotted import slotted
from runmat_jit.core.types import COMPILED_DTYPES, COMPLEX_DTYPES, NARROW_DTYPES
from runmat_jit.kernel.ir import Buffer, Scalar, Table
from runmat_jit.kernel.walk import every_instruction
from runmat_jit.loops.drawing import BITS, DRAWINGS, Drawing, NumpyDrawing, commit, signed
from runmat_jit.loops.draws import COUNTER, FIRST, WHOLE
from runmat_jit.loops.emit import (
    DONE,
    LEFT,
    SLOTS,
    STATUS,
    TURNS,
    ComplexResult,
    Emitted,
    FirstRows,
    Result,
    Same,
)
from runmat_jit.loops.emitter import extent_of, tag
from runmat_jit.loops.extents import shape_of, shapes
from runmat_jit.loops.forms import Form, Forms
from runmat_jit.loops.lanes import Lanes
from runmat_jit.loops.layouts import LastItem
from runmat_jit.loops.list_buffers import Filling, Rooms, is_of_lists, make_rooms
from runmat_jit.loops.memory import MEMORY, Pool, memory_of
from runmat_jit.loops.numpy_functions import FUNCTION, address_of
from runmat_jit.loops.products import CALL_WORDS, CALLS, CALLS_AT
from runmat_jit.loops.progress import LoopProgress
from runmat_jit.loops.source import Chain
from runmat_jit.loops.streams import NUMBERS, TABLE_TURNS
from runmat_jit.loops.values import parts_of

SLICE: Final = 0.02
"""Seconds that a slice of a loop takes about: Ctrl-C and other threads wait no longer."""
_FIRST_SLICE: Final = 256
_FIRST_WORK: Final = 1 << 22
"""Iterations of lanes in a first slice, some milliseconds of them."""
_LONGEST_SLICE: Final = 2**32
"""Iterations of a loop whose iterations take no time at all, as those of ``while True: pass``."""
WATCHED: Final = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)
"""Runs a kernel (its address) on an argument block; the bits of the events that happened."""
_LISTENER: Final = ctypes.CFUNCTYPE(ctypes.c_int64)
_DOUBLE, _SINGLE = struct.Struct("<d"), struct.Struct("<f4x")
_WORD: Final = struct.Struct("<q")
_FLOATS: Final = ("f32", "f64")
_OF_STREAMS: Final = {"k": "key", "c": "counter", BITS: "bits"}
_PARTS: Final = ("real", "imag")
_OF_COMPLEX: Final = {"re": "real", "im": "imag"}
_REALS: Final = (int, float, np.integer, np.floating, np.bool_)


class ArrayWords(NamedTuple):
    """Places of an argument block that are filled with facts of an array: an operand.

    Those of its address, and those of extents and strides with the numbers of the axes.
    """

    operand: int
    addresses: list[int]
    extents: list[tuple[int, int]]
    strides: list[tuple[int, int]]


@frozen_object
class Variant:
    """A kernel of a loop, with what it takes to run it.

    Attributes:
        emitted: The kernel.
        forms: Of the operands.
        code: Gives the address of its native code, which is made when it is first wanted.
        entry: Runs it.
        words: The argument block; what differs from run to run is 0.
        arrays: Of that, what is filled with facts of arrays.
        numbers: Likewise of numbers: the places, value types and operands.
        memory: Of that, the places of memory of the loop's own, with its dtype.
        calls: The places of what NumPy's inner loops are given.
        starts: Of the state: the places, what goes there, and the operand, if it is one.
        tables: Likewise of tables of numbers, with their sizes.
        firsts: Of the first lanes of tiles, by the numbers of extents.
        wholes: Of extents of what is cut into tiles: the places, operands and axes.
        asks: It asks now and then whether to go on.
        rooms: What it appends to lists.

    """

    emitted: Emitted
    forms: tuple[Form, ...]
    code: Callable[[], int]
    entry: Any
    words: bytes
    arrays: tuple[ArrayWords, ...]
    numbers: tuple[tuple[int, str, int], ...]
    memory: tuple[tuple[int, np.dtype], ...]
    calls: tuple[int, ...]
    starts: tuple[tuple[int, str, int], ...]
    tables: tuple[tuple[int, int], ...]
    firsts: Mapping[tuple[int, int], int]
    wholes: tuple[tuple[int, int, int], ...]
    asks: bool
    rooms: Rooms | None

    @property
    def address(self) -> int:
        """Address of its native code.

        Raises:
            NotCompiledError: there is none.

        """
        return self.code()

    @property
    def watched(self) -> int:
        """Address of what runs it."""
        return ctypes.cast(self.entry, ctypes.c_void_p).value or 0

    @property
    def made(self) -> list[Result]:
        """What the results are, but for those that are operands."""
        return [what for _, what in self.emitted.results if not isinstance(what, Same)]

    @property
    def counters(self) -> list[tuple[int, int]]:
        """Where in the state positions of streams are, and of which operands."""
        return [(place, operand) for place, what, operand in self.starts if what == "counter"]

    def run(
        self,
        operands: Sequence[Any],
        blank: frozenset[int],
        way: Callable[[], Results | None],
        spare: frozenset[int] = frozenset(),
    ) -> Results | None:
        """Run the loop in some way: its results and its turns; None where it left, or ran too few.

        Where it leaves, or ends by an exception, nothing has happened to the operands. ``blank``:
        those that are zeros, of which no copy is needed for that; ``spare``: those that may change.
        """
        written = self.emitted.written
        if not all(may_write(operands[number], operands) for number in written):
            return None
        backups = [
            (operands[number], 0 if number in blank else operands[number].copy())
            for number in written
            if number not in spare
        ]
        try:
            found = way()
            if found is None or not commit(drawings_in(operands)):
                return None
            backups.clear()
        except MemoryError:  # which Python may not come to ask for
            return None
        else:
            return found
        finally:
            for array, backup in backups:
                array[...] = backup

    def run_slices(self, operands: Sequence[Any], watch: Watch) -> Results | None:
        """Run the loop slice after slice, on the arrays themselves."""
        run = self.begin(operands)
        if not self.finish([run], watch, lambda _: [run.go()]):
            return None
        results = run.results()
        return None if results is None else (results, run.turns)

    def begin(self, operands: Sequence[Any]) -> Run:
        """A run that has not gone on yet."""
        state, floats = self.begun(operands)
        block = self.block(operands, state, floats)
        memory = self.allocated(operands)
        for place, dtype in self.memory:
            block[place] = memory[dtype].__array_interface__["data"][0]
        calls: Any = (ctypes.c_int64 * (CALL_WORDS * self.emitted.products))()
        for place in self.calls:
            block[place] = ctypes.addressof(calls)
        tables = [np.empty(size, np.int64) for _, size in self.tables]
        for (place, _), table in zip(self.tables, tables, strict=True):
            block[place] = table.__array_interface__["data"][0]
        rooms = self.rooms
        lists = None if rooms is None else Filling(rooms, block, operands, shapes(operands))
        return Run(self, operands, state, floats, block, memory, calls, lists, tables)

    def finish(
        self,
        runs: Sequence[Run],
        watch: Watch,
        go: Callable[[Sequence[Run]], Sequence[int]],
        *,
        lanes: int = 1,
    ) -> bool:
        """Run to the end, slice after slice; whether none has left, and none has ended too early.

        ``go`` runs the next slice of each that has not ended: the bits of the events of each.
        ``lanes``: of all runs together; the fewer, the longer is the first slice.

        Raises:
            NoRoomError: one has left, for it had too little room for what it appends to lists.

        """
        turns = max(_FIRST_SLICE, _FIRST_WORK // lanes if lanes > 1 else 0)
        interrupted = list[BaseException]()
        if self.asks:
            listener = _LISTENER(listening(interrupted).__next__)
            for run in runs:
                run.block[CALLER] = ctypes.cast(listener, ctypes.c_void_p).value or 0
        while pending := [run for run in runs if not run.is_done]:
            turns = min([run.room_for(turns) for run in pending])
            for run in pending:
                run.block[LIMIT] = turns
                run.state[STATUS] = LEFT
            start = time.perf_counter()
            words = go(pending)
            if interrupted:
                raise interrupted[0]
            if any(watch.sees(run, seen) for run, seen in zip(pending, words, strict=True)):
                for run in pending:
                    if run.lists is not None:
                        run.lists.left()
                return False
            if watch.progress is not None:
                watch.progress.tell(max(run.turns for run in pending))
            took = time.perf_counter() - start
            turns = max(1, min(turns * 32, int(turns * SLICE / max(took, 1e-6)), _LONGEST_SLICE))
        return all(run.turns >= self.emitted.begins for run in runs)

    def allocated(self, operands: Sequence[Any]) -> dict[np.dtype, np.ndarray]:
        """Memory of the arrays that the loop makes, by dtype."""
        sizes, given = {dtype: 1 for _, dtype in self.memory}, shapes(operands)
        for pool, places in self.emitted.pools.items():
            shape = shape_of(pool.dims, self.emitted.places, given)
            sizes[pool.dtype] += places * math.prod(shape)
        return {dtype: np.empty(size, dtype) for dtype, size in sizes.items()}

    def begun(self, operands: Sequence[Any]) -> tuple[Any, Any]:
        """The state before the first iteration: integers and floats."""
        for each in drawings_in(operands):
            each.begin()
        slots = SLOTS + len(self.emitted.carried)
        state: Any = (ctypes.c_int64 * slots)()
        floats: Any = (ctypes.c_double * slots)()
        for place, what, operand in self.starts:
            value = operands[operand]
            if what == "class":
                state[place] = isinstance(value, np.generic)
            elif what == "float" and isinstance(value, _REALS):
                floats[place] = value
            elif what in _PARTS and isinstance(value, (complex, np.complexfloating)):
                floats[place] = getattr(value, what)
            elif what == "integer" and isinstance(value, (int, np.integer, np.bool_)):
                state[place] = value  # others are bound before they are read
            elif what == "counter":
                state[place] = signed(value.counter)
        return state, floats

    def block(self, operands: Sequence[Any], state: Any, floats: Any) -> array[int]:
        """The argument block."""
        words = array("q", self.words)
        words[STATE], words[FLOATS] = ctypes.addressof(state), ctypes.addressof(floats)
        for operand, places, extents, strides in self.arrays:
            value = operands[operand]
            if places:
                address = value.__array_interface__["data"][0]
                for place in places:
                    words[place] = address
            if extents:
                shape = value.shape
                for place, axis in extents:
                    words[place] = shape[axis]
            if strides:
                steps, size = value.strides, value.itemsize
                for place, axis in strides:
                    words[place] = steps[axis] // size
        for place, kind, operand in self.numbers:
            words[place] = word_of(operands[operand], kind)
        for place, operand, axis in self.wholes:
            words[place] = operands[operand].shape[axis]
        words[-2] = words.buffer_info()[0] + 8 * (len(words) - 1)  # the event word
        return words

    def results(
        self,
        state: Any,
        floats: Any,
        memory: Mapping[np.dtype, np.ndarray],
        operands: Sequence[Any],
        items: Sequence[list[Any]],
    ) -> tuple[Any, ...] | None:
        """The results of a loop that has ended, but for those that are operands.

        ``items``: what it has appended to lists.

        None: which names hold one array is not known, for want of elements.
        """
        if not self.emitted.results:
            return ()
        places = {name: place for place, (name, _) in enumerate(self.emitted.carried, SLOTS)}
        held = dict(self.emitted.carried)
        found: list[Any] = []
        arrays: dict[Any, np.ndarray] = {}
        for name, kinds in self.emitted.results:
            if isinstance(kinds, Same):
                continue
            if isinstance(kinds, ComplexResult):
                re, im = (floats[places[part]] for part in parts_of(name))
                found.append(kinds.kind.scalar(complex(re, im)))
                continue
            if isinstance(kinds, LastItem):
                assert self.rooms is not None, "there are lists"
                found.append(self.rooms.last(kinds, items))
                continue
            if isinstance(kinds, Pool | FirstRows):
                at = int(state[places[name]])
                if (kinds, at) not in arrays:  # two names may hold one array
                    pool = kinds if isinstance(kinds, Pool) else kinds.pool
                    shape = shape_of(pool.dims, self.emitted.places, shapes(operands))
                    if isinstance(kinds, FirstRows):
                        shape = (int(state[places[extent_of(name)]]), *shape[1:])
                    part = memory[pool.dtype][at : at + math.prod(shape)]
                    arrays[kinds, at] = part.reshape(shape).copy()
                elif not arrays[kinds, at].size:
                    return None
                found.append(arrays[kinds, at])
                continue
            number = (floats if held[name] in _FLOATS else state)[places[name]]
            numpys = len(kinds) == 1 or state[places[tag(name)]]
            found.append(kinds[-1 if numpys else 0].scalar(number))
        return tuple(found)


@slotted
class Run:
    """A run of a kernel on some operands, as far as it has come."""

    variant: Variant
    operands: Sequence[Any]
    state: Any
    floats: Any
    block: array[int]
    memory: Mapping[np.dtype, np.ndarray]
    calls: Any
    lists: Filling | None
    tables: Sequence[np.ndarray]

    @property
    def address(self) -> int:
        """Of the argument block."""
        return self.block.buffer_info()[0]

    @property
    def turns(self) -> int:
        """So far."""
        return int(self.state[TURNS])

    @property
    def is_done(self) -> bool:
        """True if the loop has ended."""
        return bool(self.state[STATUS] == DONE)

    @property
    def has_left(self) -> bool:
        """True if the last slice has left."""
        return bool(self.state[STATUS] == LEFT)

    @property
    def has_noted(self) -> bool:
        """True if the kernel has taken note of an event."""
        return bool(self.block[-1])

    def is_part(self, lanes: Lanes, begin: int, extent: int) -> None:
        """Say that the operands are lanes from one on, of so many."""
        for place, operand, axis in self.variant.wholes:
            if lanes.axes.get(operand) == axis:
                self.block[place] = extent
                first = self.variant.firsts.get((operand, axis))
                if first is not None:
                    self.block[first] = begin

    def go(self) -> int:
        """Run the next slice: the bits of the events that happened."""
        return int(self.variant.entry(self.variant.address, self.address))

    def room_for(self, turns: int) -> int:
        """Make room for what a slice of so many iterations appends: how many it is to have."""
        if self.tables:
            turns = min(turns, TABLE_TURNS)
        return turns if self.lists is None else self.lists.fit(turns, self.turns)

    def results(self) -> tuple[Any, ...] | None:
        """The results, as of :meth:`Variant.results`, and what has been appended to lists."""
        items = () if self.lists is None else self.lists.items()
        for place, operand in self.variant.counters:
            self.operands[operand].reached = self.state[place]
        found = self.variant.results(self.state, self.floats, self.memory, self.operands, items)
        return None if found is None else (*found, *items)


@frozen
class Watch:
    """What ends a run: ``events``, bits of those that are to be reported.

    ``noted``: so are those that the kernel takes note of. ``progress`` is told how far it is.
    """

    events: int
    noted: bool
    progress: LoopProgress | None = None

    def sees(self, run: Run, seen: int) -> bool:
        """True if the last slice of a run has left, or met such an event."""
        return bool(seen & self.events) or run.has_left or (self.noted and run.has_noted)


Results = tuple[tuple[Any, ...], int]
"""The results of a loop, but for those that are operands, and its iterations."""
_IN_MEMORY: Final = (*COMPILED_DTYPES, *NARROW_DTYPES, *COMPLEX_DTYPES)
"""Dtypes of arrays that loops make."""
STATE, FLOATS, LIMIT, CALLER = range(4)
"""Places of the parameters that every kernel has."""


def word_of(value: Any, kind: str) -> int:
    """A number, a part of a complex one, or one of a stream's, as an argument block holds it."""
    kind, _, part = kind.partition(".")
    value = getattr(value, part) if part else value
    if kind in _FLOATS:
        packed = (_DOUBLE if kind == "f64" else _SINGLE).pack(value)
        return int(_WORD.unpack(packed)[0])
    return signed(getattr(value, kind)) if kind in _OF_STREAMS.values() else int(value)


def make_variant(
    emitted: Emitted,
    code: Callable[[], int],
    entry: Any,
    forms: Forms,
    tables: Mapping[str, int],
) -> Variant:
    """What runs a kernel; ``forms``: of the operands in order, ``tables``: addresses."""
    parameters, chains = emitted.kernel.parameters, tuple(forms)
    words = array("q", bytes(8 * (len(parameters) + 2)))
    places: dict[int, ArrayWords] = {}
    firsts: dict[tuple[int, int], int] = {}
    wholes: list[tuple[int, int, int]] = []
    numbers: list[tuple[int, str, int]] = []

    def of(operand: int) -> ArrayWords:
        return places.setdefault(operand, ArrayWords(operand, [], [], []))

    for place, parameter in enumerate(parameters):
        name = parameter.name
        if isinstance(parameter, Table):
            words[place] = tables[name]
        elif place in (STATE, FLOATS, LIMIT, CALLER):
            assert name == ("state", "floats", "limit", "caller")[place], "they come first"
        elif is_of_a_run(name):
            continue
        elif name.startswith(FUNCTION):
            words[place] = address_of(name.removeprefix(FUNCTION)) or 0
        elif name.startswith("p_a"):
            of(int(name[3:])).addresses.append(place)
        elif name.startswith(FIRST):
            firsts[place_of(name, FIRST)] = place
        elif name.startswith(WHOLE):
            wholes.append((place, *place_of(name, WHOLE)))
        elif isinstance(parameter, Buffer):
            of(int(name[1:])).addresses.append(place)
        elif (number := number_of(parameter)) is not None:
            numbers.append((place, *number))
        else:
            operand, axis = map(int, name[1:].split("_"))
            rows = of(operand).extents if name[0] == "n" else of(operand).strides
            rows.append((place, axis))
    memory = [
        (place, dtype)
        for place, parameter in enumerate(parameters)
        for dtype in _IN_MEMORY
        if parameter.name in (memory_of(dtype), f"p_{memory_of(dtype)}")
    ]
    calls = [n for n, parameter in enumerate(parameters) if parameter.name in (CALLS, CALLS_AT)]
    asks = any(instruction.op == "ask" for instruction in every_instruction(emitted.kernel.body))
    return Variant(
        emitted=emitted,
        forms=tuple(forms.values()),
        code=code,
        entry=entry,
        words=words.tobytes(),
        arrays=tuple(places.values()),
        numbers=tuple(numbers),
        memory=tuple(memory),
        calls=tuple(calls),
        starts=tuple(starts_of(emitted, chains)),
        tables=tables_of(emitted),
        firsts=firsts,
        wholes=tuple(wholes),
        asks=asks,
        rooms=make_rooms(parameters, emitted.lists, emitted.places),
    )


def number_of(parameter: Scalar) -> tuple[str, int] | None:
    """The kind of a number that a parameter is, see :func:`word_of`, and the operand."""
    name = parameter.name
    if name[:2] in _OF_COMPLEX:
        return f"{parameter.type}.{_OF_COMPLEX[name[:2]]}", int(name[2:])
    if name[0] in _OF_STREAMS:
        return _OF_STREAMS[name[0]], int(name[1:])
    return (parameter.type, int(name[1:])) if name[0] == "x" else None


def is_of_a_run(name: str) -> bool:
    """True if a parameter is memory of a run's own."""
    if name.startswith((MEMORY, f"p_{MEMORY}")) or name in (CALLS, CALLS_AT):
        return True
    return name in NUMBERS.values() or is_of_lists(name)


def starts_of(emitted: Emitted, chains: Sequence[Chain]) -> Iterator[tuple[int, str, int]]:
    """Of the state: the places, what goes there, and the operand."""
    for place, (name, kind) in enumerate(emitted.carried, SLOTS):
        chain = Chain(name.removesuffix("?"))
        whole, _, part = name.partition(".")
        if name.startswith(COUNTER):
            yield place, "counter", int(name.removeprefix(COUNTER))
        elif part in _PARTS and Chain(whole) in chains:
            yield place, part, list(chains).index(Chain(whole))
        elif chain in chains:
            what = "class" if name.endswith("?") else "float" if kind in _FLOATS else "integer"
            yield place, what, list(chains).index(chain)


def tables_of(emitted: Emitted) -> tuple[tuple[int, int], ...]:
    """The places of tables of numbers, and their sizes."""
    kinds = {name: kind for kind, name in NUMBERS.items()}
    return tuple(
        [
            (place, TABLE_TURNS * emitted.numbers[kinds[parameter.name]])
            for place, parameter in enumerate(emitted.kernel.parameters)
            if parameter.name in kinds
        ]
    )


def place_of(name: str, begin: str) -> tuple[int, int]:
    """The operand and the axis that a parameter is named after."""
    operand, axis = name.removeprefix(begin).split("_")
    return int(operand), int(axis)


def drawings_in(operands: Sequence[Any]) -> Iterable[Drawing | NumpyDrawing]:
    """The streams among operands, each once."""
    return {id(each): each for each in operands if type(each) in DRAWINGS}.values()


def may_write(array: np.ndarray, operands: Sequence[Any]) -> bool:
    """True if an array can be written, and shows no other operand's elements."""
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


def overlaps_itself(array: np.ndarray) -> bool:
    """True if elements of an array may be at one place; of odd strides it is taken for granted."""
    if array.flags.c_contiguous:
        return False
    steps = sorted((abs(s), e) for s, e in zip(array.strides, array.shape, strict=True) if e > 1)
    reach = array.itemsize
    for stride, extent in steps:
        if stride < reach:
            return True
        reach = stride * extent
    return False

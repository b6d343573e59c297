"""What warm calls of one kind do, as an entry of a gate: guards, kernels, a result.

Capture says what is to hold and to happen; this is where arrays, names and programs become
instructions. Nothing that an entry does may be seen before its last guard has held: the call can be
repeated by Python up to there.
"""

from __future__ import annotations

import struct
import types
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from runmat_jit.backends.llvm.gate import Entry, EntryWriter, Gate, GateCode
from runmat_jit.backends.llvm.gate_text import GUARDED_FLAGS
from runmat_jit.compiler.blocks import Blocks
from runmat_jit.compiler.compile_graph import CompiledGraph
from runmat_jit.compiler.events import AT_FIRST, report
from runmat_jit.compiler.host_step import HostArray, HostScalar, HostStep
from runmat_jit.compiler.native_code import Bound
from runmat_jit.compiler.native_program import BYTE, SMALL, NativeProgram
from runmat_jit.core.errstate import warnings_raise
from runmat_jit.core.gates import NotForGates
from runmat_jit.graph.node import Node
from runmat_jit.ops.promotion import fits
from runmat_jit.plan.layout import Buffer, Commit
from runmat_jit.runtime.session import Session

_PUT: Final[Mapping[tuple[type, str], str]] = {
    (float, "d"): "put_float_as_float64",
    (float, "f"): "put_float_as_float32",
    (int, "l"): "put_int_as_int64",
    (int, "q"): "put_int_as_int64",
    (int, "i"): "put_int_as_int32",
    (int, "d"): "put_int_as_float64",
    (int, "f"): "put_int_as_float32",
    (np.float64, "d"): "put_scalar64",
    (np.float32, "f"): "put_scalar32",
    (np.int64, "l"): "put_scalar64",
    (np.int32, "i"): "put_scalar32",
}
"""How a number of a class becomes one of a dtype in the block of a kernel."""

_AGAIN: Final = object()


class GateWriter:
    """Writes an entry of a gate: see :class:`runmat_jit.core.gates.GateWriter`."""

    def __init__(
        self, session: Session, code: GateCode, positional: int, names: Sequence[str]
    ) -> None:
        self._session = session
        self._entry = EntryWriter(code, positional, names)
        self._scalars: set[int] = set()  # registers of 0-d arrays that the program sees as scalars
        self._work = np.zeros(2, np.int64)  # launches and bytes, of all calls
        self._written, self._recovers = False, False
        self._rests: list[tuple[int, Callable[..., Any], Sequence[int], set[int]]] = []
        """Where Python makes the rest: label, function, registers, and the scalars among them."""

    # -- guards ------------------------------------------------------------------------------------
    def array(self, register: int, like: np.ndarray) -> None:
        """Dtype, extents, strides and flags of an array."""
        write = self._entry
        write.emit(
            "is_array",
            register,
            write.object(np.ndarray),
            write.object(like.dtype),
            like.ndim,
            like.flags.num & GUARDED_FLAGS,
            write.numbers([*like.shape, *like.strides]),
        )

    def instance(self, register: int, of: type) -> None:
        """Class of an object."""
        self._entry.emit("is_of", register, self._entry.object(of))

    def identity(self, register: int, value: Any) -> None:
        """Which object it is."""
        self._entry.emit("is_object", register, self._entry.object(value))

    def owner(self, register: int) -> None:
        """That an array owns its memory."""
        self._entry.emit("owns_memory", register)

    def same(self, a: int, b: int, *, is_same: bool) -> None:
        """Whether two registers hold one object."""
        self._entry.emit("are_same" if is_same else "are_others", a, b)

    def number(self, register: int, value: float) -> None:
        """Value of a Python number, whose class has been guarded."""
        if type(value) is int and -(1 << 63) <= value < 1 << 63:
            self._entry.emit("is_int", register, value)
        elif type(value) is float:
            self._entry.emit("is_float", register, *struct.unpack("q", struct.pack("d", value)))
        else:
            raise NotForGates(f"a {type(value).__name__} is looked at")

    def relation(self, a: tuple[int, np.ndarray], b: tuple[int, np.ndarray]) -> None:
        """How two arrays, each with its register, lie to each other."""
        (one, first), (two, second) = a, b
        if first is second:
            self._entry.emit("are_same", one, two)
        elif not np.may_share_memory(first, second):
            self._entry.emit("are_apart", one, *_ends(first), two, *_ends(second))
        else:
            self._entry.emit("is_distance", one, two, first.ctypes.data - second.ctypes.data)
            self._entry.emit("are_others", one, two)

    def word(self, address: int, value: int) -> None:
        """A word in memory."""
        self._entry.emit("is_word", address, value)

    def function(self, function: types.FunctionType) -> None:
        """Code of a function."""
        write = self._entry
        write.emit("has_code", write.object(function), write.object(function.__code__))

    def context(self, variable: Any, value: Any) -> None:
        """What a context variable holds."""
        write = self._entry
        write.emit("is_context", write.object(variable), write.object(value))

    def gives(self, callable_: Callable[..., Any], arguments: tuple[Any, ...], value: Any) -> None:
        """What a function of the interpreter says now."""
        write = self._entry
        operands = map(write.object, (callable_, *arguments, value))
        write.emit("gives_for" if arguments else "gives", *operands)

    # -- outside state -----------------------------------------------------------------------------
    def name(self, namespace: dict[str, Any], name: str, value: Any) -> None:
        """Meaning of a name."""
        self._entry.emit("name_is", *map(self._entry.object, (namespace, name, value)))

    def missing_name(self, namespace: dict[str, Any], name: str) -> None:
        """That a name has no meaning."""
        self._entry.emit("name_is_missing", *map(self._entry.object, (namespace, name)))

    def read_name(self, namespace: dict[str, Any], name: str) -> int:
        """Register with what a name means now."""
        found = self._entry.register()
        self._entry.emit("read_name", *map(self._entry.object, (namespace, name)), found)
        return found

    def cell(self, cell: types.CellType, value: Any) -> None:
        """What a cell holds."""
        self._entry.emit("cell_is", *map(self._entry.object, (cell, value)))

    def read_cell(self, cell: types.CellType) -> int:
        """Register with what a cell holds now."""
        found = self._entry.register()
        self._entry.emit("read_cell", self._entry.object(cell), found)
        return found

    def attribute(self, owner: Any, name: str, value: Any, *, in_register: bool) -> None:
        """An attribute of an object, or of that in a register."""
        write = self._entry
        one = owner if in_register else write.object(owner)
        operation = "attribute_is" if in_register else "attribute_of_is"
        write.emit(operation, one, write.object(name), write.object(value))

    def method(self, owner: int, name: str, function: types.FunctionType) -> None:
        """A method of the object in a register."""
        operands = map(self._entry.object, (name, function, types.MethodType))
        self._entry.emit("method_is", owner, *operands)

    def read_attribute(self, owner: Any, name: str, *, in_register: bool) -> int:
        """Register with an attribute of an object, or of that in a register."""
        write, found = self._entry, self._entry.register()
        one = owner if in_register else write.object(owner)
        operation = "read_attribute" if in_register else "read_attribute_of"
        write.emit(operation, one, write.object(name), found)
        return found

    # -- work --------------------------------------------------------------------------------------
    def run(
        self,
        program: Any,
        inputs: Sequence[int | np.ndarray | tuple[int, type, np.dtype]],
        scalars: Sequence[bool],
        warn: frozenset[str],
    ) -> list[int]:
        """Run a program; the registers of its fresh outputs.

        Args:
            program: As :meth:`Executor.compile` gave it.
            inputs: Registers of arrays, arrays, and numbers: register, class, dtype as operand.
            scalars: Which outputs are NumPy scalars.
            warn: The events to report.

        """
        native = native_of(program, warn)
        if type(native) is not NativeProgram:
            raise NotForGates("a program that is more than kernels and calls")
        if warn and native.blind:
            raise NotForGates("a program of which NumPy is always asked")
        self._require_repeatable()
        made = _ProgramWriter(self._entry, self._session, native, inputs)
        outputs = made.write(warn)
        work, launches = self._entry.memory(self._work), len(native.launches)
        self._entry.emit("tally", work, launches, native.nbytes)
        self._written = self._written or bool(native.layout.commits) or is_telling(native, warn)
        self._scalars.update(
            register for register, scalar in zip(outputs, scalars, strict=False) if scalar
        )
        return outputs

    @property
    def is_done(self) -> bool:
        """Whether what has been written must not be done again."""
        return self._written

    def call(self, function: Callable[..., Any], registers: Sequence[int], stop: Any) -> int:
        """Register with what a function of Python gives; the call is repeated if it is ``stop``."""
        if stop is not None:
            self._require_repeatable()
        write = self._entry
        given = list(map(self._shown, registers))
        found = write.register()
        write.emit("call", write.object(function), len(given), write.numbers(given), found)
        if stop is not None:
            write.emit("is_not", found, write.object(stop))
        return found

    def _require_repeatable(self) -> None:
        if self._written and not self._recovers:
            raise NotForGates("work that may have to be done again")

    def take(self, register: int, index: int) -> int:
        """Register with an item of the tuple in a register."""
        found = self._entry.register()
        self._entry.emit("take", register, index, found)
        return found

    def recover(self, rest: Callable[..., Any], registers: Sequence[int]) -> None:
        """Have Python make the rest of the call where the entry cannot go on from now on."""
        label = self._entry.label()
        self._entry.recover(label)
        self._recovers = True
        self._rests.append((label, rest, registers, self._scalars & {*registers}))

    def is_decision(self, register: int) -> bool:
        """Whether a register holds a truth value of a program's."""
        return register in self._scalars

    def drop(self, register: int) -> None:
        """Forget an object."""
        self._entry.emit("drop", register)

    def repeat(self) -> None:
        """Python makes the call again."""
        self._entry.emit("repeat")

    def branch(self, register: int, known: Mapping[bool, Callable[[], None]]) -> None:
        """Go on as a truth value says; ``known`` writes what follows, and gives a result.

        Raises:
            NotForGates: what is decided by is not a program's.

        """
        self._require_repeatable()
        other, scalars = self._entry.label(), set(self._scalars)
        state = self._written, self._recovers
        self._entry.jump_unless(register, other)
        for truth in (True, False):
            if not truth:
                self._entry.place(other)
            self._scalars = set(scalars)
            self._written, self._recovers = state
            if truth in known:
                known[truth]()
            else:
                self.repeat()

    def alternatives(self, ways: Sequence[Callable[[], None]]) -> None:
        """Go on in the first way that can; each writes its guards, then what holds from there on.

        That is :meth:`recover` or :meth:`begin`; the last way does so before its guards.
        """
        labels = [self._entry.label() for _ in ways[1:]]
        scalars, state = set(self._scalars), (self._written, self._recovers)
        for number, way in enumerate(ways):
            if number:
                self._entry.place(labels[number - 1])
            self._scalars = set(scalars)
            self._written, self._recovers = state
            if number < len(labels):
                self._entry.recover(labels[number])
            way()

    def begin(self) -> None:
        """Have Python make all of the call where the entry cannot go on from now on."""
        self._entry.begin()

    def show(self, registers: Sequence[int]) -> None:
        """Have NumPy scalars in registers whose values the program sees as such."""
        for register in registers:
            self._shown(register)

    # -- results -----------------------------------------------------------------------------------
    def give(self, register: int) -> None:
        """The result is the object in a register."""
        self._entry.emit("give", self._shown(register))

    def give_tuple(self, registers: Sequence[int]) -> None:
        """The result is a tuple of what is in registers."""
        given = list(map(self._shown, registers))
        self._entry.emit("give_tuple", len(given), self._entry.numbers(given))

    def hold(self, value: Any) -> int:
        """Register with an object."""
        found = self._entry.register()
        self._entry.emit("hold", self._entry.object(value), found)
        return found

    def entry(self, key: Hashable, count: Callable[[int], None]) -> Entry:
        """What has been written, for a kind of calls; ``count`` is told how many were made."""
        found = self._entry.register() if self._rests else 0
        for label, rest, registers, scalars in self._rests:
            self._entry.place(label)
            for register in scalars:
                self._entry.emit("as_scalar", register)
            given = self._entry.numbers(registers)
            self._entry.emit("call", self._entry.object(rest), len(registers), given, found)
            self._entry.emit("leave", found)
        run, work, told = self._session.telemetry.count_run, self._work, np.zeros(2, np.int64)

        def count_all(calls: int) -> None:
            count(calls)
            done = work.copy()  # to which other threads may be adding
            launches, nbytes = done - told
            told[:] = done
            run(int(launches), int(nbytes))

        return self._entry.entry(key, count_all)

    def _shown(self, register: int) -> int:
        """The register, with a NumPy scalar where the program sees one."""
        if register in self._scalars:
            self._scalars.discard(register)
            self._entry.emit("as_scalar", register)
        return register


class Gates:
    """Makes gates for one session."""

    def __init__(self, session: Session) -> None:
        self._session, self._code = session, GateCode(session.jit)

    def gate(self, fallback: Callable[..., Any]) -> Gate:
        """A gate without entries: all calls are the fallback's."""
        made = self._code.gate(fallback)
        self._session.telemetry.counts_of(made)
        return made

    def dispatch(
        self,
        known: dict[Any, Callable[..., Any]],
        methods: Mapping[str, Callable[..., Any]],
        fallback: Callable[..., Any],
    ) -> Callable[..., Any]:
        """A function that calls what it is given, or what is to be called for that."""
        return self._code.dispatch(known, methods, fallback)

    def writer(self, positional: int, names: Sequence[str]) -> GateWriter:
        """Writer of an entry for calls with as many arguments by position, and these by name."""
        return GateWriter(self._session, self._code, positional, names)


class _ProgramWriter:
    """Writes what one program does: its memory, its launches, its writes into inputs."""

    def __init__(
        self,
        write: EntryWriter,
        session: Session,
        native: NativeProgram,
        inputs: Sequence[int | np.ndarray | tuple[int, type, np.dtype]],
    ) -> None:
        self.write_entry, self.session, self.native = write, session, native
        self.registers: dict[int, int] = {}
        self.numbers: dict[int, tuple[int, type, np.dtype]] = {}
        self.fixed: dict[int, np.ndarray] = {}
        for place, given in enumerate(inputs):
            if isinstance(given, int):
                self.registers[place] = given
            elif isinstance(given, tuple):
                self.numbers[place] = given
            else:
                self.fixed[place] = given
        self.fixed.update(enumerate(native.code.tables, len(inputs)))
        self.sizes = {
            place: node.type.dtype.itemsize
            for node, place in native.layout.places.items()
            if isinstance(node, Node)
        }
        self.by_value = {place for bound in native.launches for _, place in bound.scalars}

    def write(self, warn: frozenset[str]) -> list[int]:
        """Write it; give the registers of its fresh results."""
        native, write = self.native, self.write_entry
        fresh = native.layout.fresh
        if len(set(fresh)) < len(fresh):
            raise NotForGates("two results are one array")
        kept = set(fresh)
        for buffer in reversed(native.layout.buffers):
            if buffer.place in kept and buffer.shares is not None:
                kept.add(buffer.shares)
        for buffer in native.layout.buffers:
            self.make(buffer, kept=buffer.place in kept)
        blocks = Blocks(native.launches)
        for calls, launches in native.stages:
            for call in calls:
                self.call(call, events=bool(warn))
            for number, bound, _, _ in launches:
                write.memory(blocks.words[number])
                self.launch(bound, blocks.words[number])
        word = write.memory(blocks.word)
        if warn and native.launches and native.way == AT_FIRST:
            write.emit("is_quiet", word)
        elif warn and native.launches:
            tell = teller(native, warn)
            write.emit("settle", word, write.object(tell), write.object(_AGAIN))
        for source, target in native.layout.copies:
            write.emit("copy", self.held(source), self.held(target))
        for commit in native.layout.commits:
            self.commit(commit)
        results = [self.registers[place] for place in fresh]
        inputs = {self.registers.get(place) for place in range(native.layout.inputs)}
        for register in set(self.registers.values()) - inputs - set(results):
            write.emit("drop", register)
        return results

    def make(self, buffer: Buffer, *, kept: bool) -> None:
        """The memory of one buffer: made anew, or the entry's own if it is small and not kept."""
        place, write = buffer.place, self.write_entry
        if buffer.returned:
            return
        if kept and buffer.sizes:
            raise NotForGates("a result on memory of another size")
        if buffer.shares is not None:
            if buffer.shares in self.registers:
                self.registers[place] = self.registers[buffer.shares]
            else:
                self.fixed[place] = self.fixed[buffer.shares]
            return
        shape, dtype = (
            ((max(buffer.sizes),), BYTE) if buffer.sizes else (buffer.shape, buffer.dtype)
        )
        if buffer.nbytes >= SMALL:
            found = self.registers[place] = write.register()
            function = write.object(self.session.allocator.empty)
            strides = None if buffer.sizes else buffer.strides
            given = write.object((tuple(map(int, shape)), dtype, strides))
            write.emit("call_with", function, given, found)
        elif kept or place in self.by_value:
            found = self.registers[place] = write.register()
            steps = 0 if buffer.strides is None else write.numbers(buffer.strides)
            numbers = write.numbers(shape)
            own, kind = write.object(np.ndarray), write.object(dtype)
            write.emit("new_array", own, kind, len(shape), numbers, steps, found)
        else:
            self.fixed[place] = self.session.allocator.empty(shape, dtype, buffer.strides)

    def launch(self, bound: Bound, words: np.ndarray) -> None:
        """One launch, whose block holds ``words``."""
        write = self.write_entry
        address = words.ctypes.data
        for slot, place in bound.scalars:
            self.put(place, words, slot)
        given: list[int] = []
        for index, (place, offset) in enumerate(zip(bound.places, bound.offsets, strict=True)):
            if place in self.registers:
                given += (index, self.registers[place], int(offset))
            elif place in self.fixed:
                array = self.fixed[place]
                words[index] = write.memory(array) + int(offset)
            else:
                given += (index, self.in_memory(place), int(offset))
        if not bound.parallel:
            count, arrays = len(given) // 3, write.numbers(given)
            write.emit("launch", bound.address, address, count, arrays, int(bound.total))
            return
        self.launch_long(bound, words)

    def call(self, step: HostStep, *, events: bool) -> None:
        """A call of the host; Python makes all of it again where it fails, or reports an event."""
        size, empty, whole = self.native.size, self.session.allocator.empty, step.whole

        def compute(*values: Any) -> Any:
            try:
                found, happened = step.compute(values, empty)
            except Exception:  # noqa: BLE001  (which Python is to raise)
                return _AGAIN
            return _AGAIN if happened and events else found

        def run(*values: Any) -> Any:
            memory: list[Any] = [None] * size
            for place, value in zip(places, values, strict=True):
                memory[place] = value
            try:
                happened = step.run(memory, empty)
            except Exception:  # noqa: BLE001  (which Python is to raise)
                return _AGAIN
            return _AGAIN if happened and events else memory[step.place]

        if whole is None:
            operands = (each for each in step.operands if isinstance(each, HostArray | HostScalar))
            places = tuple(dict.fromkeys(each.place for each in operands))
        else:
            places = whole
        registers = [self.held(place) for place in places]
        write, found = self.write_entry, self.write_entry.register()
        count, numbers = len(registers), write.numbers(registers)
        write.emit("call", write.object(run if whole is None else compute), count, numbers, found)
        write.emit("is_not", found, write.object(_AGAIN))
        self.registers[step.place] = found

    def launch_long(self, bound: Bound, words: np.ndarray) -> None:
        """A launch for several threads, by the launcher."""
        write = self.write_entry
        registers = [self.held(place) for place in bound.places]
        offsets = np.array(list(map(int, bound.offsets)), np.int64)
        numbers = (bound.address, words.ctypes.data, int(bound.total), int(bound.grain))
        kernel, block, total, grain = map(write.object, numbers)
        shift = write.object(write.memory(offsets))
        given = write.numbers([kernel, 0, block, total, grain, write.object(True), shift])
        launcher, arrays = write.object(self.session.launcher.run), write.numbers(registers)
        write.emit("launch_long", launcher, given, 7, len(registers), arrays)

    def held(self, place: int) -> int:
        """Register of the array at a place."""
        if place not in self.registers:
            if place not in self.fixed:
                return self.in_memory(place)
            found = self.registers[place] = self.write_entry.register()
            array = self.write_entry.object(self.fixed[place])
            self.write_entry.emit("hold", array, found)
        return self.registers[place]

    def put(self, place: int, words: np.ndarray, slot: int) -> None:
        """A number of this call, in a slot of a block."""
        write, address = self.write_entry, words.ctypes.data + 8 * slot
        if place in self.fixed:
            value = np.frombuffer(self.fixed[place].tobytes(), np.uint8)
            words[slot : slot + 1].view(np.uint8)[: value.size] = value
            return
        size = self.sizes.get(place)
        if place in self.numbers:
            register, kind, dtype = self.numbers[place]
            operation, size = _PUT.get((kind, dtype.char)), dtype.itemsize
            if operation is not None:
                write.emit(operation, register, address)
                return
        if size not in (1, 4, 8):
            raise NotForGates("a number of another size")
        write.emit(f"put_element{8 * size}", self.in_memory(place), address)

    def in_memory(self, place: int) -> int:
        """Register with a 0-d array of a number."""
        if place not in self.registers:
            register, _, dtype = self.numbers[place]
            found = self.registers[place] = self.write_entry.register()
            make, given = self.write_entry.object(_in_dtype(dtype)), [register]
            self.write_entry.emit("call", make, 1, self.write_entry.numbers(given), found)
        return self.registers[place]

    def commit(self, commit: Commit) -> None:
        """A write into an input."""
        write = self.write_entry
        source, target = self.held(commit.source), self.registers.get(commit.input)
        if target is None:
            raise NotForGates("a write into an array of the program's own")
        if commit.whole:
            write.emit("copy", source, target)
            return
        if 0 in commit.shape:
            return
        part, rank = write.register(), len(commit.shape)
        shape, strides = write.numbers(commit.shape), write.numbers(commit.strides)
        write.emit("part", target, commit.offset, rank, shape, strides, part)
        write.emit("copy", source, part)
        write.emit("drop", part)


def native_of(program: Any, warn: frozenset[str]) -> Any:
    """The kernels of a compiled program that run where these events are to be reported, if any."""
    native = program.program if isinstance(program, CompiledGraph) else None
    if warn and type(native) is NativeProgram and native.watch.program is not None:
        return native.watch.program
    return native


def is_telling(native: NativeProgram, warn: frozenset[str]) -> bool:
    """Whether a program tells of events, so that entries report them."""
    return bool(warn) and native.way[0] == "each"


def teller(native: NativeProgram, warn: frozenset[str]) -> Callable[[int], Any]:
    """Reports the events that a word tells of; gives ``_AGAIN`` where it is not known what it says."""
    watch, way = native.watch, native.way

    def tell(word: int) -> Any:
        found = watch.known(way, word, warn)
        if found is None or warnings_raise():
            return _AGAIN
        report(found)
        return None

    return tell


def _in_dtype(dtype: np.dtype) -> Callable[[Any], np.ndarray]:
    """Makes 0-d arrays of numbers; raises where one does not fit, of which Python warns."""

    def make(value: Any) -> np.ndarray:
        if type(value) in (int, float) and not fits(value, dtype):
            raise OverflowError(value)
        return np.asarray(value).astype(dtype, copy=False)

    return make


def _ends(array: np.ndarray) -> tuple[int, int]:
    """First byte of an array, and the one after its last, from where its data begin."""
    low, high = np.lib.array_utils.byte_bounds(array)
    begin = array.ctypes.data
    return low - begin, high - begin

"""What entries of gates do for programs: memory, launches, calls of the host, writes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from runmat_jit.backends.llvm.gate import EntryWriter
from runmat_jit.compiler.blocks import Blocks
from runmat_jit.compiler.events import AT_FIRST, Way, report
from runmat_jit.compiler.generate_wrapper import numbers_of
from runmat_jit.compiler.host_step import HostArray, HostScalar, HostStep
from runmat_jit.compiler.native_code import Bound, NativeCode
from runmat_jit.compiler.native_program import BYTE, SMALL, NativeProgram, stages
from runmat_jit.core.errstate import warnings_raise
from runmat_jit.core.extent import Extent, Scope, plain
from runmat_jit.core.gates import NotForGates
from runmat_jit.core.types import Part
from runmat_jit.graph.node import Node
from runmat_jit.ops.promotion import fits
from runmat_jit.plan.layout import Buffer, Commit
from runmat_jit.runtime.session import Session

if TYPE_CHECKING:
    from runmat_jit.compiler.dynamic_program import DynamicProgram

PUT: Final[Mapping[tuple[type, str], str]] = {
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

AGAIN: Final = object()


def ask_again(_word: int) -> Any:
    """Has Python make the call again, whatever events there were."""
    return AGAIN


class ProgramWriter:
    """Writes what one program does: its memory, its launches, its writes into inputs."""

    def __init__(
        self,
        write: EntryWriter,
        session: Session,
        code: NativeCode,
        inputs: Sequence[int | np.ndarray | tuple[int, type, np.dtype]],
    ) -> None:
        self.write_entry, self.session, self.code = write, session, code
        self.registers: dict[int, int] = {}
        self.numbers: dict[int, tuple[int, type, np.dtype | Part]] = {}
        self.fixed: dict[int, np.ndarray] = {}
        for place, given in enumerate(inputs):
            if isinstance(given, int):
                self.registers[place] = given
            elif isinstance(given, tuple):
                self.numbers[place] = given
            else:
                self.fixed[place] = given
        self.fixed.update(enumerate(code.tables, len(inputs)))
        self.sizes = {
            place: node.type.dtype.itemsize
            for node, place in code.layout.places.items()
            if isinstance(node, Node)
        }
        self.by_value = {place for bound in code.launches for _, place in bound.scalars}

    def write(
        self, warn: frozenset[str], way: Way, tell: Callable[[int], Any] = ask_again
    ) -> list[int]:
        """Write it; give the registers of its fresh results.

        ``way``: how its kernels note events; ``tell`` reports those of which a word tells.
        """
        code, write = self.code, self.write_entry
        fresh = code.layout.fresh
        if len(set(fresh)) < len(fresh):
            raise NotForGates("two results are one array")
        self.make_all()
        blocks = Blocks(code.launches)
        for calls, launches in stages(code, self.session.profile):
            for call in calls:
                self.call(call, events=bool(warn))
            for number, bound, _, _ in launches:
                write.memory(blocks.words[number])
                self.launch(bound, blocks.words[number])
        word = write.memory(blocks.word)
        if warn and code.launches:
            self.events(word, way, tell)
        for source, target in code.layout.copies:
            write.emit("copy", self.held(source), self.held(target))
        for commit in code.layout.commits:
            self.commit(commit)
        results = [self.registers[place] for place in fresh]
        inputs = {self.registers.get(place) for place in range(code.layout.inputs)}
        for register in set(self.registers.values()) - inputs - set(results):
            write.emit("drop", register)
        return results

    def events(self, word: int, way: Way, tell: Callable[[int], Any]) -> None:
        """What happens where kernels have noted events in a word."""
        write = self.write_entry
        if way == AT_FIRST:
            write.emit("is_quiet", word)
        else:
            write.emit("settle", word, write.object(tell), write.object(AGAIN))

    def make_all(self) -> None:
        """The memory of all buffers."""
        layout = self.code.layout
        kept = set(layout.fresh)
        for buffer in reversed(layout.buffers):
            if buffer.place in kept and buffer.shares is not None:
                kept.add(buffer.shares)
        for buffer in layout.buffers:
            self.make(buffer, kept=buffer.place in kept)

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
        shape, dtype, strides = buffer.shape, buffer.dtype, buffer.strides
        if buffer.sizes:
            shape, dtype, strides = (max(buffer.sizes),), BYTE, None
        if buffer.nbytes >= SMALL:
            found = self.registers[place] = write.register()
            function = write.object(self.session.allocator.empty)
            given = write.object((tuple(map(int, shape)), dtype, strides))
            write.emit("call_with", function, given, found)
        elif kept or place in self.by_value:
            found = self.registers[place] = write.register()
            steps = 0 if strides is None else write.numbers(strides)
            numbers = write.numbers(shape)
            own, kind = write.object(np.ndarray), write.object(dtype)
            write.emit("new_array", own, kind, len(shape), numbers, steps, found)
        else:
            self.fixed[place] = self.session.allocator.empty(shape, dtype, strides)

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
        if not bound.is_parallel(self.session.profile):
            count, arrays = len(given) // 3, write.numbers(given)
            write.emit("launch", bound.address, address, count, arrays, int(bound.total))
            return
        self.launch_long(bound, words)

    def call(self, step: HostStep, *, events: bool) -> None:
        """A call of the host; Python makes all of it again where it fails, or reports an event."""
        code, empty, whole = self.code, self.session.allocator.empty, step.whole
        size = len(code.layout.buffers) + len(code.tables) + code.layout.inputs

        def compute(*values: Any) -> Any:
            try:
                found, happened = step.compute(values, empty)
            except Exception:  # noqa: BLE001  (which Python is to raise)
                return AGAIN
            return AGAIN if happened and events else found

        def run(*values: Any) -> Any:
            memory: list[Any] = [None] * size
            for place, value in zip(places, values, strict=True):
                memory[place] = value
            try:
                happened = step.run(memory, empty)
            except Exception:  # noqa: BLE001  (which Python is to raise)
                return AGAIN
            return AGAIN if happened and events else memory[step.place]

        if whole is None:
            operands = (each for each in step.operands if isinstance(each, HostArray | HostScalar))
            places = tuple(dict.fromkeys(each.place for each in operands))
        else:
            places = whole
        registers = [self.held(place) for place in places]
        write, found = self.write_entry, self.write_entry.register()
        count, numbers = len(registers), write.numbers(registers)
        write.emit("call", write.object(run if whole is None else compute), count, numbers, found)
        write.emit("is_not", found, write.object(AGAIN))
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
            register, kind, how = self.numbers[place]
            dtype = how.dtype if isinstance(how, Part) else how
            operation = None if dtype is not how else PUT.get((kind, dtype.char))
            size = dtype.itemsize
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
            make, given = self.write_entry.object(in_dtype(dtype)), [register]
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


class Numbers:
    """Numbers of a scope in memory, where an entry computes them."""

    def __init__(self, write: EntryWriter, scope: Scope) -> None:
        self.write, self.scope = write, scope
        self._addresses: dict[str, int] = {}
        self._computed: set[str] = set()

    def address(self, number: int) -> int:
        """Address of a number that has been computed."""
        name = self.scope.name(number)
        assert name[0] not in "sf" or name in self._computed, f"{name} has not been computed"
        return self.named(name)

    def named(self, name: str) -> int:
        """Address of what has a name; of a constant, which is its own name."""
        found = self._addresses.get(name)
        if found is None:
            value = 0 if name[0] in "sf" else int(name.strip("()"))
            found = self._addresses[name] = self.write.memory(np.array([value], np.int64))
        return found

    def load(self, extents: Sequence[tuple[int, int]]) -> None:
        """The symbols: a register and an axis each."""
        for number, (register, axis) in enumerate(extents):
            self.write.emit("extent", register, axis, self.named(f"s{number}"))
            self._computed.add(f"s{number}")

    def compute(self, numbers: Iterable[int]) -> None:
        """What these need; goes on where the conditions hold."""
        for sign, left, right, kept in self.scope.steps(numbers):
            one, two = self.named(left), self.named(right)
            if isinstance(kept, bool):
                operation, swaps = _CONDITIONS[sign]
                self.write.emit(operation, one, two, kept is not swaps)
            else:
                self.write.emit(_FORMULAS[sign], one, two, self.named(f"f{kept}"))
                self._computed.add(f"f{kept}")

    def greatest(self, numbers: Sequence[int], at: int, limit: int) -> None:
        """The greatest of these at an address; goes on where it is no more than a limit."""
        self.write.emit("move", self.address(numbers[0]), at)
        for number in numbers[1:]:
            self.write.emit("greater", self.address(number), at, at)
        self.write.emit("is_at_most", at, self.named(str(limit)), 1)

    def at_most(self, number: int, limit: int) -> None:
        """Go on where a number is no more than that."""
        self.write.emit("is_at_most", self.address(number), self.named(str(limit)), 1)


_FORMULAS: Final = {"+": "add", "-": "sub", "*": "mul", "//": "floor_divide", "%": "remainder"}
_CONDITIONS: Final[Mapping[str, tuple[str, bool]]] = {
    "<": ("is_less", False),
    ">=": ("is_less", True),
    "<=": ("is_at_most", False),
    ">": ("is_at_most", True),
    "==": ("is_equal", False),
    "!=": ("is_equal", True),
}
"""The operation that asks, and whether it asks for the opposite."""


class ShapedWriter(ProgramWriter):
    """The same, for a program whose numbers are formulas; of kernels alone, on one thread."""

    def __init__(
        self,
        write: EntryWriter,
        session: Session,
        program: DynamicProgram,
        inputs: Sequence[int | tuple[int, type, np.dtype]],
        extents: Sequence[tuple[int, int]],
    ) -> None:
        code = program.code
        if code.calls or code.layout.copies or writes_inputs(code):
            raise NotForGates("a program for all shapes that is more than kernels")
        if len(extents) != program.scope.symbols:
            raise NotForGates("a program of numbers that are no extents")
        super().__init__(write, session, code, inputs)
        given = Numbers(write, program.given)
        given.load(extents)
        given.compute(())
        self.nbytes = sum(launch.nbytes for launch in code.launches)
        self.formulas = Numbers(write, program.scope)
        self.formulas.load(extents)
        self.formulas.compute([*numbers_of(code), self.nbytes])
        for launch in code.launches:
            self.formulas.at_most(launch.total, session.profile.most_serial(launch.iteration_us))
            self.formulas.at_most(launch.nbytes, session.profile.parallel_from_bytes)

    def make(self, buffer: Buffer, *, kept: bool) -> None:
        """The memory of one buffer."""
        place, write = buffer.place, self.write_entry
        if buffer.returned or (kept and buffer.sizes):
            raise NotForGates("a result on memory of another size")
        if buffer.shares is not None:
            self.registers[place] = self.registers[buffer.shares]
            return
        found = self.registers[place] = write.register()
        own = write.object(np.ndarray)
        if buffer.sizes:
            words = np.zeros(1, np.int64)
            self.formulas.greatest(buffer.sizes, int(words.ctypes.data), SMALL - 1)
            write.emit("new_array", own, write.object(BYTE), 1, write.memory(words), 0, found)
            return
        self.formulas.at_most(buffer.nbytes, SMALL - 1)
        steps = 0 if buffer.strides is None else self.listed(buffer.strides)
        kind, shape = write.object(buffer.dtype), self.listed(buffer.shape)
        write.emit("new_array", own, kind, len(buffer.shape), shape, steps, found)

    def listed(self, numbers: Sequence[int]) -> int:
        """Address of these numbers, one after the other."""
        words = np.array([*map(plain, numbers), 0], np.int64)
        self.store(numbers, words, 0)
        return self.write_entry.memory(words)

    def store(self, numbers: Sequence[int], words: np.ndarray, first: int) -> None:
        """Have those that depend on extents in memory, from a word on."""
        for place, number in enumerate(numbers, first):
            if isinstance(number, Extent):
                address = int(words.ctypes.data) + 8 * place
                self.write_entry.emit("move", self.formulas.address(number), address)

    def launch(self, bound: Bound, words: np.ndarray) -> None:
        """One launch, whose block holds ``words``."""
        write, address = self.write_entry, words.ctypes.data
        self.store(bound.block, words, len(bound.places))
        for slot, place in bound.scalars:
            self.put(place, words, slot)
        given: list[int] = []
        shifts: list[tuple[int, int]] = []
        for index, (place, offset) in enumerate(zip(bound.places, bound.offsets, strict=True)):
            if place in self.fixed and not isinstance(offset, Extent):
                array = self.fixed[place]
                words[index] = write.memory(array) + int(offset)
                continue
            given += (index, self.held(place), plain(offset))
            shifts.append((len(given) - 1, offset))
        arrays = np.array([*given, 0], np.int64)
        for place, offset in shifts:
            self.store((offset,), arrays, place)
        total = self.formulas.address(bound.total)
        listed = write.memory(arrays)
        write.emit("launch_counted", bound.address, address, len(given) // 3, listed, total)


def writes_inputs(code: NativeCode) -> bool:
    """True if a program writes into arrays that it is given."""
    return bool(code.layout.commits or code.layout.written)


def teller(native: NativeProgram, warn: frozenset[str]) -> Callable[[int], Any]:
    """Reports the events that a word tells of; ``AGAIN`` where it is not known what it says."""
    watch, way = native.watch, native.way

    def tell(word: int) -> Any:
        found = watch.known(way, word, warn)
        if found is None or warnings_raise():
            return AGAIN
        report(found)
        return None

    return tell


def in_dtype(how: np.dtype | Part) -> Callable[[Any], np.ndarray]:
    """Makes 0-d arrays of numbers; raises where one does not fit, of which Python warns."""
    part, dtype = (how.name, how.dtype) if isinstance(how, Part) else ("", how)

    def make(value: Any) -> np.ndarray:
        value = getattr(value, part) if part else value
        if type(value) in (int, float) and not fits(value, dtype):
            raise OverflowError(value)
        return np.asarray(value).astype(dtype, copy=False)

    return make

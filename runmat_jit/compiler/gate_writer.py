"""Writer of native entries: guards, kernels and a result become instructions.

Capture decides which guards and steps there are; here arrays, names and programs are translated.
An entry has no visible effect before its last guard has passed: up to there Python can repeat the
call.
"""

from __future__ import annotations

import itertools
import operator
import struct
import types
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy._core import umath

from runmat_jit.backends.llvm.gate import (
    Entry,
    EntryWriter,
    Gate,
    GateCode,
    Owed,
)
from runmat_jit.backends.llvm.gate_words import GUARDED_FLAGS
from runmat_jit.compiler.compile_graph import CompiledGraph
from runmat_jit.compiler.gate_programs import (
    AGAIN,
    Numbers,
    ProgramWriter,
    ShapedWriter,
    ask_again,
    in_dtype,
    teller,
    writes_inputs,
)
from runmat_jit.compiler.native_program import NativeProgram
from runmat_jit.core.extent import Scope
from runmat_jit.core.gates import DrawAtGate, NotForGates
from runmat_jit.runtime.session import Session
from runmat_jit.runtime.telemetry import Telemetry

if TYPE_CHECKING:
    from runmat_jit.compiler.dynamic_program import DynamicProgram
    from runmat_jit.compiler.gate_loops import Loop, Operand
    from runmat_jit.compiler.resident_gpu import ResidentGpuProgram
    from runmat_jit.loops.native_loop import NativeLoop


class GateWriter:
    """Writer of one native entry: see :class:`runmat_jit.core.gates.GateWriter`."""

    def __init__(
        self, session: Session, code: GateCode, positional: int, names: Sequence[str]
    ) -> None:
        self._session = session
        self._entry = EntryWriter(code, positional, names)
        self._scalars: set[int] = set()  # registers of 0-d arrays that the program sees as scalars
        self._new: set[int] = set()  # registers of arrays in memory that nobody else has
        self._work = np.zeros(2, np.int64)  # launches and bytes, of all calls
        self._written, self._recovers = False, False
        self._rests: list[tuple[int, Callable[..., Any], Sequence[int], set[int]]] = []
        """Where Python makes the rest: label, function, registers, and the scalars among them."""
        self._rest: int | None = None
        """The label where that is now."""
        self._undone: list[tuple[int, Sequence[tuple[int, int]], int | None]] = []
        """Where a loop has left: label, the arrays that get their elements back, and where Python
        makes the rest, if it does not make the whole call."""
        self._loops: list[Loop] = []
        self._drawn: int | None = None
        """Register with the draws so far, the last one first."""

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

    def array_like(self, register: int, like: np.ndarray) -> None:
        """Dtype, rank and flags of a contiguous array whose axes have two elements at least."""
        write, flags = self._entry, like.flags.num & GUARDED_FLAGS
        if not like.flags.forc or min(like.shape, default=2) < 2:
            raise NotForGates("an array whose flags do not tell its strides")
        kind, dtype = write.object(np.ndarray), write.object(like.dtype)
        write.emit("is_like", register, kind, dtype, like.ndim, flags, 2)

    def instance(self, register: int, of: type) -> None:
        """Class of an object."""
        self._entry.emit("is_of", register, self._entry.object(of))

    def container(self, register: int, like: Any) -> Sequence[int]:
        """Class and length of a tuple, list or dict, keys of a dict; registers of its items."""
        write, kind = self._entry, type(like)
        found = [write.register() for _ in like]
        first, given = found[0] if found else register, (write.object(kind), len(like))
        if kind is dict:
            keys = write.numbers([write.object(key) for key in like])
            write.emit("has_keys", register, *given, keys, first)
        else:
            write.emit("is_tuple_of" if kind is tuple else "is_list_of", register, *given, first)
        return found

    def identity(self, register: int, value: Any) -> None:
        """Guard: a register has this very object."""
        self._entry.emit("is_object", register, self._entry.object(value))

    def owner(self, register: int) -> None:
        """Guard: an array owns its memory."""
        self._entry.emit("owns_memory", register)

    def same(self, a: int, b: int, *, is_same: bool) -> None:
        """True if two registers hold one object."""
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
        """Guard: two arrays, each with its register, overlap in memory as they do now."""
        (one, first), (two, second) = a, b
        if first is second:
            self._entry.emit("are_same", one, two)
        elif not np.may_share_memory(first, second):
            self._entry.emit("are_apart", one, *_ends(first), two, *_ends(second))
        else:
            self._entry.emit("is_distance", one, two, first.ctypes.data - second.ctypes.data)
            self._entry.emit("are_others", one, two)

    def lie_apart(self, a: tuple[int, np.ndarray], b: tuple[int, np.ndarray]) -> None:
        """Guard: two contiguous arrays of any extents, each with its register, share no memory."""
        (one, first), (two, second) = a, b
        self._entry.emit("lie_apart", one, first.itemsize, two, second.itemsize)

    def word(self, address: int, value: int) -> None:
        """A word in memory."""
        self._entry.emit("is_word", address, value)

    def function(self, function: types.FunctionType) -> None:
        """Code of a function."""
        write = self._entry
        write.emit("has_code", write.object(function), write.object(function.__code__))

    def errstate(self, state: Any) -> None:
        """Guard: NumPy treats floating-point errors as it does now."""
        write = self._entry
        write.emit("is_errstate", write.object(umath._extobj_contextvar), write.object(state))

    def gives(self, callable_: Callable[..., Any], arguments: tuple[Any, ...], value: Any) -> None:
        """Guard: a function of the interpreter returns what it does now."""
        write = self._entry
        operands = map(write.object, (callable_, *arguments, value))
        write.emit("gives_for" if arguments else "gives", *operands)

    # -- outside state -----------------------------------------------------------------------------
    def name(self, namespace: dict[str, Any], name: str, value: Any) -> None:
        """Meaning of a name."""
        self._entry.emit("name_is", *map(self._entry.object, (namespace, name, value)))

    def missing_name(self, namespace: dict[str, Any], name: str) -> None:
        """Guard: a name is not defined."""
        self._entry.emit("name_is_missing", *map(self._entry.object, (namespace, name)))

    def read_name(self, namespace: dict[str, Any], name: str) -> int:
        """Register with what a name means now."""
        found = self._entry.register()
        self._entry.emit("read_name", *map(self._entry.object, (namespace, name)), found)
        return found

    def cell(self, cell: types.CellType, value: Any) -> None:
        """Guard: a closure's cell has this object."""
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
        *,
        exact: bool = False,
        tells: bool = True,
        draws: Sequence[DrawAtGate] = (),
    ) -> list[int]:
        """Run a program; the registers of its fresh outputs.

        Args:
            program: As :meth:`Executor.compile` gave it.
            inputs: Registers of arrays, arrays, and numbers: register, class, dtype as operand.
            scalars: Which outputs are NumPy scalars.
            warn: The events to report.
            exact: Use kernels that derive events from data.
            tells: Its lines are those of the call, so that events may be reported at them.
            draws: Generators; if Python makes the call after all, they are as before it.

        """
        resident = resident_of(program)
        if resident is not None and (resident.read or not draws):
            return self._run_there(resident, inputs, scalars, warn, draws)
        if draws:
            raise NotForGates("random numbers for no array on a device")
        warn = reported_by(program, warn)
        native = native_of(program, warn, exact=exact)
        if type(native) is not NativeProgram:
            raise NotForGates("a program that is more than kernels and calls")
        if warn and native.blind:
            raise NotForGates("a program of which NumPy is always asked")
        self._require_repeatable()
        code = native.code
        made = ProgramWriter(self._entry, self._session, code, inputs)
        telling = tells and is_telling(native, warn)
        tell = teller(native, warn) if telling else ask_again
        outputs = made.write(warn, native.way, tell)
        work, launches = self._entry.memory(self._work), len(code.launches)
        self._entry.emit("tally", work, launches, native.nbytes)
        self._written = self._written or writes_inputs(code) or telling
        return self._noted(outputs, scalars)

    def lengths(
        self, scope: Scope, extents: Sequence[tuple[int, int]], lengths: Sequence[int]
    ) -> list[int]:
        """Guard: the conditions of a scope hold; returns the registers of its scalars (`int`)."""
        if len(extents) != scope.symbols:
            raise NotForGates("a program of numbers that are no extents")
        numbers = Numbers(self._entry, scope)
        numbers.load(extents)
        numbers.compute(lengths)
        found = [self._entry.register() for _ in lengths]
        for number, register in zip(lengths, found, strict=True):
            self._entry.emit("int_from", numbers.address(number), register)
        return found

    def loop(
        self,
        loop: NativeLoop,
        operands: Sequence[Operand],
        outside: Mapping[int, np.ndarray],
        inside: Mapping[int, np.ndarray],
        classes: Sequence[Any],
    ) -> list[int]:
        """Run a loop; the registers of its results (see :class:`.gate_loops.LoopWriter`)."""
        from runmat_jit.compiler.gate_loops import LoopWriter  # noqa: PLC0415  (there are loops)

        self._require_repeatable()
        write, mark = self._entry, self._entry.mark()
        stored = {operands[number] for number in loop.variant.emitted.written}
        saved = [x for x in stored if isinstance(x, int) and (self._written or x not in self._new)]
        label = write.label() if saved else None
        try:
            made = LoopWriter(write, loop, operands, self._scalars)
            made.guard(outside, inside)
            made.prepare()
            copies = made.save(saved)
            if label is not None:
                write.recover(label)
            made.run()
            results = made.results(classes)
        except NotForGates:
            write.back(mark)
            raise
        self._loops.append(made.made)
        self._new.update(results)
        if label is not None:
            self._undone.append((label, copies, self._rest))
            self._go_on_from(self._rest)
            self._written = True
        return results

    def _go_on_from(self, rest: int | None) -> None:
        """Set the exit for steps that fail from here on: Python makes the rest, or all of it."""
        if rest is None:
            self._entry.begin()
        else:
            self._entry.recover(rest)

    def _run_there(
        self,
        program: ResidentGpuProgram,
        inputs: Sequence[int | np.ndarray | tuple[int, type, np.dtype]],
        scalars: Sequence[bool],
        warn: frozenset[str],
        draws: Sequence[DrawAtGate] = (),
    ) -> list[int]:
        """Run a program on a device whose arrays are there; registers of its outputs.

        These are new arrays, which stay there, and numbers.
        """
        are_numbers = [lies is None for lies, _ in program.news]
        stays = program.stays and not any(map(operator.gt, are_numbers, scalars))
        if not stays or (program.is_blind and warn):
            raise NotForGates("a program whose results are not just scalars, or arrays on a device")
        operands, draws = list(map(self._operand, inputs)), tuple(draws)
        if self._drawn is None and draws:
            self._drawn = self.hold(None)

        def run(*values: Any) -> Any:
            found = program.run_there(values, warn)
            return AGAIN if found is None else found

        def run_drawing(*values: Any) -> Any:
            given, (drawn, *generators) = list(values[: len(inputs)]), values[len(inputs) :]
            for draw, generator in zip(draws, generators, strict=True):
                key, counter = generator.take_blocks(draw.blocks)
                drawn = drawn, generator, draw.blocks, counter
                for place, value in ((draw.key, key), (draw.counter, counter)):
                    if place is not None:
                        given[place] = value
            found = None
            try:
                found = program.run_there(given, warn)
            finally:
                while found is None and drawn is not None:
                    drawn, generator, blocks, counter = drawn
                    generator.return_blocks(blocks, counter)
            return AGAIN if found is None else (*found, drawn)

        if self._drawn is None:
            found = self.call(run, operands, AGAIN)
        else:
            generators = [draw.generator for draw in draws]
            found = self.call(run_drawing, [*operands, self._drawn, *generators], AGAIN)
        self._written = self._written or bool(program.writes)
        taken = [self.take(found, number) for number in range(len(program.news))]
        if self._drawn is not None:
            self._drawn = self.take(found, len(taken))
        self.drop(found)  # or it would keep all of them alive
        self._scalars.update(itertools.compress(taken, are_numbers))
        return taken

    def _operand(self, given: int | np.ndarray | tuple[int, type, np.dtype]) -> int:
        """Register with an input of a program, numbers as 0-d arrays."""
        if isinstance(given, np.ndarray):
            return self.hold(given)
        return given if isinstance(given, int) else self.call(in_dtype(given[2]), [given[0]], None)

    def run_shaped(
        self,
        program: DynamicProgram,
        inputs: Sequence[int | tuple[int, type, np.dtype]],
        extents: Sequence[tuple[int, int]],
        scalars: Sequence[bool],
        warn: frozenset[str],
    ) -> list[int]:
        """Run a program for all extents for which it holds; the registers of its fresh outputs."""
        if warn and program.code.blind:
            raise NotForGates("a program of which NumPy is always asked")
        self._require_repeatable()
        made = ShapedWriter(self._entry, self._session, program, inputs, extents)
        outputs = made.write(warn, program.way)
        work, launches = self._entry.memory(self._work), len(program.code.launches)
        self._entry.emit("tally_counted", work, launches, made.formulas.address(made.nbytes))
        return self._noted(outputs, scalars)

    def _noted(self, outputs: list[int], scalars: Sequence[bool]) -> list[int]:
        """Note that the outputs of a program are new, and which are NumPy scalars."""
        self._new.update(outputs)
        self._scalars.update(
            register for register, scalar in zip(outputs, scalars, strict=False) if scalar
        )
        return outputs

    @property
    def is_done(self) -> bool:
        """True if what has been written must not be done again."""
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

    def new(self, register: int) -> None:
        """Note that an array is in memory of its own, which nobody else has."""
        self._new.add(register)

    def take(self, register: int, index: int) -> int:
        """Register with an item of the tuple in a register."""
        found = self._entry.register()
        self._entry.emit("take", register, index, found)
        return found

    def recover(self, rest: Callable[..., Any], registers: Sequence[int]) -> None:
        """Have Python make the rest of the call where the entry cannot go on from now on."""
        label = self._entry.label()
        self._entry.recover(label)
        self._recovers, self._rest = True, label
        self._rests.append((label, rest, registers, self._scalars & {*registers}))

    def is_decision(self, register: int) -> bool:
        """True if a register holds a truth value of a program's."""
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
        state = self._written, self._recovers, self._rest
        self._entry.jump_unless(register, other)
        for truth in (True, False):
            if not truth:
                self._entry.place(other)
            self._scalars = set(scalars)
            self._written, self._recovers, self._rest = state
            if truth in known:
                known[truth]()
            else:
                self.repeat()

    def alternatives(self, ways: Sequence[Callable[[], None]]) -> None:
        """Continue with the first of ``ways`` whose guards pass; each writes guards, then the rest.

        The rest begins with :meth:`recover` or :meth:`begin`; the last alternative's before guards.
        """
        labels = [self._entry.label() for _ in ways[1:]]
        scalars, state = set(self._scalars), (self._written, self._recovers, self._rest)
        for number, way in enumerate(ways):
            if number:
                self._entry.place(labels[number - 1])
            self._scalars = set(scalars)
            self._written, self._recovers, self._rest = state
            if number < len(labels):
                self._entry.recover(labels[number])
            way()

    def begin(self) -> None:
        """Have Python make all of the call where the entry cannot go on from now on."""
        self._rest = None
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

    def entry(self, key: Hashable, count: Callable[[int], None], *, replays: bool = False) -> Entry:
        """Finish the entry; ``count`` is called with the number of calls that it has made."""
        for label, copies, then in self._undone:
            self._entry.place(label)
            for copy in copies:
                self._entry.emit("restore", *copy)
            self._go_on_from(then)
            self._entry.emit("repeat")
        found = self._entry.register() if self._rests else 0
        for label, rest, registers, scalars in self._rests:
            self._entry.place(label)
            for register in scalars:
                self._entry.emit("as_scalar", register)
            given = self._entry.numbers(registers)
            self._entry.emit("call", self._entry.object(rest), len(registers), given, found)
            self._entry.emit("leave", found)
        telemetry, loops = self._session.telemetry, tuple(self._loops)

        def tell() -> None:
            for loop in loops:
                loop.tell()

        def count_all(calls: int, owed: Owed) -> None:
            count(calls)
            count_owed(telemetry, owed)

        return self._entry.entry(key, count_all, self._work, replays=replays, tell=tell)

    def _shown(self, register: int) -> int:
        """The register, with a NumPy scalar where the program sees one."""
        if register in self._scalars:
            self._scalars.discard(register)
            self._entry.emit("as_scalar", register)
        return register


class Gates:
    """Factory of a session's native functions."""

    def __init__(self, session: Session) -> None:
        self._session, self._code = session, GateCode(session.jit)
        session.telemetry.counts_of(self)

    def flush(self) -> None:
        """Count the calls of native functions that have been collected."""
        left = self._code.left
        for _ in range(len(left)):
            with suppress(IndexError):  # another thread may have been told of it
                count_owed(self._session.telemetry, left.popleft())

    def gate(self, fallback: Callable[..., Any]) -> Gate:
        """Create a native function without entries: all calls go to the fallback."""
        made = self._code.gate(fallback)
        self._session.telemetry.counts_of(made)
        return made

    def writer(self, positional: int, names: Sequence[str]) -> GateWriter:
        """Writer of an entry for calls with as many arguments by position, and these by name."""
        return GateWriter(self._session, self._code, positional, names)


def count_owed(telemetry: Telemetry, owed: Owed) -> None:
    """Count what entries have done."""
    telemetry.count("calls_replayed", owed.replays)
    telemetry.count_run(owed.launches, owed.nbytes)
    owed.tell()


def resident_of(program: Any) -> ResidentGpuProgram | None:
    """Program on the device of resident arrays behind a compiled one; None if there is none."""
    found = program.program if isinstance(program, CompiledGraph) else None
    if not hasattr(found, "stays"):
        return None
    from runmat_jit.compiler.resident_gpu import ResidentGpuProgram  # noqa: PLC0415  (it is one)

    return found if isinstance(found, ResidentGpuProgram) else None


def reported_by(program: Any, warn: frozenset[str]) -> frozenset[str]:
    """The events to report that a compiled program may have."""
    native = program.program if isinstance(program, CompiledGraph) else None
    return warn & native.watch.possible if type(native) is NativeProgram else warn


def native_of(program: Any, warn: frozenset[str], *, exact: bool) -> Any:
    """The kernels of a compiled program that run where these events are to be reported, if any."""
    native = program.program if isinstance(program, CompiledGraph) else None
    if not warn or type(native) is not NativeProgram:
        return native
    return native.watch.program or (native.watch.noting("rises") if exact else None) or native


def is_telling(native: NativeProgram, warn: frozenset[str]) -> bool:
    """True if a program reports events, so that entries do."""
    return bool(warn) and native.way[0] == "each"


def _ends(array: np.ndarray) -> tuple[int, int]:
    """First byte of an array, and the one after its last, from where its data begin."""
    low, high = np.lib.array_utils.byte_bounds(array)
    begin = array.ctypes.data
    return low - begin, high - begin

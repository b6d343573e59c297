"""What entries of gates do for native loops: guards, an argument block, a run, results.

An entry knows of its values what its guards say. All that a loop's kernel takes for granted beside
that is guarded here: the kernel may be one that another thread has just run on other operands.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

import numpy as np

from runmat_jit.backends.llvm.gate import EntryWriter
from runmat_jit.backends.llvm.gate_words import GUARDED_FLAGS
from runmat_jit.compiler.gate_programs import PUT
from runmat_jit.core.gates import NotForGates
from runmat_jit.core.slotted import slotted
from runmat_jit.loops.emit import SLOTS, FirstRows, Same
from runmat_jit.loops.emitter import tag
from runmat_jit.loops.extents import SINGLE, shape_of
from runmat_jit.loops.forms import LONG, ArrayForm, NumberForm, unit_axis
from runmat_jit.loops.memory import Pool
from runmat_jit.loops.native_loop import NativeLoop
from runmat_jit.loops.products import CALL_WORDS
from runmat_jit.loops.values import Kind, numpy_kind
from runmat_jit.loops.variant import CALLER, FLOATS, LIMIT, STATE, word_of

MOST_SAVED: Final = 1 << 20
"""Bytes of an array that a loop stores to, which may have to get its elements back: copying more
takes longer than what Python's way costs a call."""
_PACKED: Final = {0: 0x503, 1: 0x503}
"""Flags of new arrays by their rank; of others they are those of C's order alone."""
_MANY_AXES: Final = 0x501
_IN_C_ORDER: Final = 1
_PYTHONS: Final = {bool: np.dtype(np.bool_), int: np.dtype(np.int64), float: np.dtype(np.float64)}
_WIDENED: Final = {
    ("f", "float"): ("widen_float",),
    ("i", "integer"): ("widen_int",),
    ("i", "float"): ("widen_int", "float_of_int"),
    ("l", "float"): ("float_of_int",),
    ("q", "float"): ("float_of_int",),
}
"""How numbers of NumPy's come to be what the state holds, by their dtypes."""
_LARGE: Final = 1 << 62

Operand = int | tuple[int, type] | tuple[Any]
"""Register of an array, of a number of a program, or of one whose class is not known; register and
class of a number; or what is always the same."""


@slotted
class Loop:
    """Memory of a loop in an entry: its state, with the floats and the event word after that."""

    state: np.ndarray
    like: np.ndarray
    """What the state is before the first iteration."""
    block: np.ndarray
    tally: np.ndarray
    counted: tuple[int, int]
    """Runs and iterations that have been counted."""
    native: NativeLoop

    def tell(self) -> None:
        """Have counted what has not been yet."""
        runs, turns, last = self.tally.tolist()
        before, self.counted = self.counted, (runs, turns)
        if runs != before[0]:
            self.native.count(runs - before[0], turns - before[1], last)


class LoopWriter:
    """Writes what one native loop does; ``scalars``: registers of numbers of programs."""

    def __init__(
        self,
        write: EntryWriter,
        loop: NativeLoop,
        operands: Sequence[Operand],
        scalars: Collection[int],
    ) -> None:
        variant = loop.variant
        self.write, self.loop, self.variant = write, loop, variant
        self.operands, self.scalars = list(operands), scalars
        self.slots = SLOTS + len(variant.emitted.carried)
        state = np.zeros(2 * self.slots + 1, np.int64)
        block = np.frombuffer(variant.words, np.int64).copy()
        tally = np.zeros(3, np.int64)
        self.made = Loop(state, state.copy(), block, tally, (0, 0), loop)
        self.memory: dict[np.dtype, np.ndarray] = {}
        self._numbers: dict[int, int] = {}
        """Addresses of integers among the operands."""
        self._extents: dict[tuple[int, int], int] = {}
        """Addresses of extents, by operand and axis."""

    # -- guards ------------------------------------------------------------------------------------
    def guard(self, outside: Mapping[int, np.ndarray], inside: Mapping[int, np.ndarray]) -> None:
        """What the kernel takes for granted.

        ``outside``: arrays that have been guarded, so far; ``inside``: what others have been.
        """
        for number, form in enumerate(self.variant.forms):
            if isinstance(form, ArrayForm):
                self.array(number, form, outside, inside)
            elif isinstance(form, NumberForm):
                self.number(number, form)
        self.extents()

    def array(
        self,
        number: int,
        form: ArrayForm,
        outside: Mapping[int, np.ndarray],
        inside: Mapping[int, np.ndarray],
    ) -> None:
        """Dtype, rank and layout of an array; and that it is another operand, if it was."""
        register = self.operands[number]
        if not isinstance(register, int) or register in self.scalars:
            raise NotForGates("an operand of a loop that is no array of a call")
        like = outside.get(register, inside.get(register))
        if like is None:
            self.packed_array(register, form)
        else:
            packed = like.ndim < 2 or like.flags.c_contiguous
            found = like.dtype, like.ndim, unit_axis(like.strides, like.itemsize), packed
            if found != (form.dtype, form.ndim, form.unit, form.packed):
                raise NotForGates("a loop that has run on other arrays meanwhile")
            if register not in outside:
                self.made_array(register, form, like.flags.num & GUARDED_FLAGS)
        if form.number != number:
            first = self.operands[form.number]
            if not isinstance(first, int):
                raise NotForGates("a loop that has run on other operands meanwhile")
            if first != register:
                self.write.emit("are_same", first, register)

    def packed_array(self, register: int, form: ArrayForm) -> None:
        """Of an array that the call has made, and nobody has any more."""
        if not form.packed or form.unit != form.ndim - 1:
            raise NotForGates("an array with gaps that nobody has any more")
        self.made_array(register, form, _PACKED.get(form.ndim, _MANY_AXES) & GUARDED_FLAGS)

    def made_array(self, register: int, form: ArrayForm, flags: int) -> None:
        """Of an array that the call has made: it may be a part of another one."""
        kind, dtype = self.write.object(np.ndarray), self.write.object(form.dtype)
        self.write.emit("is_like", register, kind, dtype, form.ndim, flags, 0)
        if form.unit >= 0 and not flags & _IN_C_ORDER:
            at = self.address_of(np.zeros(1, np.int64))
            self.write.emit("stride", register, form.unit, form.dtype.itemsize, at)
            self.write.emit("is_equal", at, self.constant(1), 1)

    def number(self, number: int, form: NumberForm) -> None:
        """Class and bounds of a number."""
        operand = self.operands[number]
        if isinstance(operand, int) and operand in self.scalars:
            self.number_of_program(operand, form)
            return
        if isinstance(operand, int):
            cls = class_of(form.kind)
            self.write.emit("is_of", operand, self.write.object(cls))
            operand = self.operands[number] = operand, cls
        kind: Any = type(operand[0]) if len(operand) == 1 else operand[1]
        if kind_of(kind) != form.kind:
            raise NotForGates("a loop that has run on numbers of other classes meanwhile")
        if form.kind.dtype.kind == "i" and form.kind.python:
            self.bounded(number, form)
        elif form.narrow and form.kind.python:
            at = self.address_of(np.zeros(1))
            self.put(operand, at, "d")
            self.write.emit("is_narrow", at)

    def number_of_program(self, register: int, form: NumberForm) -> None:
        """Dtype of a number that a program has computed."""
        if form.kind.python:
            raise NotForGates("an operand of a loop that is no number of a call")
        kind, dtype = self.write.object(np.ndarray), self.write.object(form.kind.dtype)
        self.write.emit("is_like", register, kind, dtype, 0, _PACKED[0], 0)

    def bounded(self, number: int, form: NumberForm) -> None:
        """Bounds of an integer of Python's, and the extent that it equals."""
        at = self.integer(number)
        if form.high < _LARGE:
            self.write.emit("is_at_most", at, self.constant(form.high), 1)
            self.write.emit("is_at_most", self.constant(-form.high), at, 1)
        if form.extent is not None:
            self.write.emit("is_equal", at, self.extent_of(form.extent), 1)

    def extents(self) -> None:
        """That extents which were equal are, and none is long that was not."""
        first: dict[int, int] = {SINGLE: self.constant(1)}
        for number, form in enumerate(self.variant.forms):
            if not isinstance(form, ArrayForm):
                continue
            for axis, extent in enumerate(form.extents):
                at = self.extent(number, axis)
                if extent in first:
                    self.write.emit("is_equal", at, first[extent], 1)
                first.setdefault(extent, at)
                if not form.is_long:
                    self.write.emit("is_at_most", at, self.constant(LONG), 1)

    # -- numbers in memory -------------------------------------------------------------------------
    def address_of(self, array: np.ndarray) -> int:
        """Address of memory that the entry keeps."""
        return self.write.memory(array)

    def constant(self, value: int) -> int:
        """Address of a number that stays."""
        return self.write.numbers([value])

    def integer(self, number: int) -> int:
        """Address of an integer among the operands."""
        if number not in self._numbers:
            at = self._numbers[number] = self.address_of(np.zeros(1, np.int64))
            operand = self.operands[number]
            assert not isinstance(operand, int), "it is Python's"
            self.put(operand, at, "q")
        return self._numbers[number]

    def extent(self, number: int, axis: int) -> int:
        """Address of an extent of an operand."""
        if (number, axis) not in self._extents:
            at = self._extents[number, axis] = self.address_of(np.zeros(1, np.int64))
            register = self.operands[number]
            assert isinstance(register, int), "it is an array"
            self.write.emit("extent", register, axis, at)
        return self._extents[number, axis]

    def extent_of(self, extent: int) -> int:
        """Address of the first extent that has a number."""
        for number, form in enumerate(self.variant.forms):
            if isinstance(form, ArrayForm) and extent in form.extents:
                return self.extent(number, form.extents.index(extent))
        raise NotForGates("a number that equals an extent of nothing")

    def put(self, operand: Operand, at: int, char: str) -> None:
        """A number in memory, as one of a dtype; bytes beyond it stay."""
        if isinstance(operand, int):
            self.write.emit(f"put_element{8 * np.dtype(char).itemsize}", operand, at)
            return
        register, kind = operand if len(operand) == 2 else (self.hold(operand[0]), type(operand[0]))
        operation = PUT.get((int if kind is bool else kind, char))
        if operation is None:
            raise NotForGates("a number of another class")
        self.write.emit(operation, register, at)

    def hold(self, value: Any) -> int:
        """Register with an object."""
        found = self.write.register()
        self.write.emit("hold", self.write.object(value), found)
        return found

    # -- the run -----------------------------------------------------------------------------------
    def save(self, registers: Collection[int]) -> list[tuple[int, int]]:
        """Copies of arrays: the registers of each, and of its copy."""
        saved = []
        for register in registers:
            form = self.variant.forms[self.operands.index(register)]
            assert isinstance(form, ArrayForm), "it is stored to"
            if not form.packed or form.unit != form.ndim - 1:
                raise NotForGates("a loop that stores to an array with gaps")
            copy = self.write.register()
            self.write.emit("save", register, form.dtype.itemsize, MOST_SAVED, copy)
            saved.append((register, copy))
        return saved

    def prepare(self) -> None:
        """Memory, the state before the first iteration, and the argument block."""
        self.make_memory()
        made, write = self.made, self.write
        state, floats = made.state.ctypes.data, made.state[self.slots :].ctypes.data
        event = made.state[2 * self.slots :].ctypes.data
        block = made.block
        block[STATE], block[FLOATS], block[-2] = state, floats, event
        block[LIMIT], block[CALLER] = self.loop.limit, write.address("interrupt")
        write.emit(
            "reset", self.address_of(made.state), self.address_of(made.like), made.state.nbytes
        )
        for place, what, operand in self.variant.starts:
            self.start(place, what, operand)
        at = self.address_of(block)
        for operand, addresses, extents, strides in self.variant.arrays:
            register = self.operands[operand]
            assert isinstance(register, int), "it is an array"
            for place in addresses:
                write.emit("address", register, at + 8 * place)
            for place, axis in extents:
                write.emit("extent", register, axis, at + 8 * place)
            form = self.variant.forms[operand]
            assert isinstance(form, ArrayForm), "as above"
            for place, axis in strides:
                write.emit("stride", register, axis, form.dtype.itemsize, at + 8 * place)
        for place, kind, operand in self.variant.numbers:
            self.argument(place, kind, operand)

    def argument(self, place: int, kind: str, number: int) -> None:
        """A number in the argument block."""
        operand, form = self.operands[number], self.variant.forms[number]
        assert isinstance(form, NumberForm), "it is a number"
        if isinstance(operand, tuple) and len(operand) == 1:
            self.made.block[place] = word_of(operand[0], kind)
            return
        char = "q" if form.kind.python and kind in ("i1", "i64") else form.kind.dtype.char
        self.put(operand, self.made.block.ctypes.data + 8 * place, char)

    def start(self, place: int, what: str, number: int) -> None:
        """What a carried name is before the first iteration."""
        operand, form = self.operands[number], self.variant.forms[number]
        if not isinstance(form, NumberForm):
            return  # it is bound before it is read
        at = place if what != "float" else self.slots + place
        if what == "class":
            self.made.like[at] = not form.kind.python
        elif isinstance(operand, tuple) and len(operand) == 1:
            self.made.like[at] = word_of(operand[0], "f64" if what == "float" else "i64")
        else:
            char = "d" if what == "float" else "q"
            address = self.made.state.ctypes.data + 8 * at
            own = form.kind.dtype.char if not form.kind.python else char
            self.put(operand, address, own)
            for operation in _WIDENED.get((own, what), ()):
                self.write.emit(operation, address)

    def make_memory(self) -> None:
        """Memory of arrays that the loop makes: extents are what they were, where it has some."""
        emitted, given = self.variant.emitted, self.loop.given
        sizes = {dtype: 1 for _, dtype in self.variant.memory}
        for pool, places in emitted.pools.items():
            sizes[pool.dtype] += places * int(np.prod(shape_of(pool.dims, emitted.places, given)))
            for dim in pool.dims:
                self.as_it_was(dim.source, dim.number)
        self.memory = {dtype: np.empty(size, dtype) for dtype, size in sizes.items()}
        for place, dtype in self.variant.memory:
            self.made.block[place] = self.address_of(self.memory[dtype])
        calls = np.zeros(max(1, CALL_WORDS * emitted.products), np.int64)
        for place in self.variant.calls:
            self.made.block[place] = self.address_of(calls)

    def as_it_was(self, source: str, number: int) -> None:
        """That an extent is what it was when there was made memory for it."""
        given = self.loop.given
        if source == "number":
            self.write.emit("is_equal", self.integer(number), self.constant(int(given[number])), 1)
        elif source == "extent" and number != SINGLE:
            operand, axis = self.variant.emitted.places["extent", number]
            was = self.constant(given[operand][axis])
            self.write.emit("is_equal", self.extent(operand, axis), was, 1)

    def run(self) -> None:
        """The run; others make the call where it leaves."""
        made, write = self.made, self.write
        quiet = self.address_of(np.zeros(1, np.int64))
        noted = made.state[2 * self.slots :].ctypes.data if self.loop.watch.noted else quiet
        about = np.array(
            [
                made.state.ctypes.data,
                self.loop.watch.events,
                noted,
                self.variant.emitted.begins,
                self.address_of(made.tally),
            ],
            np.int64,
        )
        kernel, watched = self.variant.address, self.variant.watched
        block = self.address_of(made.block)
        write.emit("loop", watched, kernel, block, self.address_of(about))

    # -- results -----------------------------------------------------------------------------------
    def results(self, classes: Sequence[Any]) -> list[int]:
        """Registers of what the loop gives; ``classes``: of the numbers, as they were."""
        emitted = self.variant.emitted
        results = [(name, what) for name, what in emitted.results if not isinstance(what, Same)]
        is_open = any(isinstance(what, FirstRows) for _, what in results)
        if is_open or len(results) != len(classes):
            raise NotForGates("a loop whose results are others")
        places = {name: place for place, (name, _) in enumerate(emitted.carried, SLOTS)}
        types = dict(emitted.carried)
        found = []
        firsts: dict[Pool, list[int]] = {}
        for (name, what), cls in zip(results, classes, strict=True):
            is_float = types[name] in ("f32", "f64")
            place = places[name] + self.slots * is_float
            at = self.made.state[place:].ctypes.data
            if isinstance(what, Pool):
                self.as_structure(what, cls)
                for other in firsts.get(what, ()):  # two names of one array are one object
                    self.write.emit("is_equal", at, other, 0)
                firsts.setdefault(what, []).append(at)
                found.append(self.new(what, at))
                continue
            assert isinstance(what, tuple), "others are not for native code"
            kind = what[0]
            if len(what) == 2:
                numpys = self.made.state[places[tag(name)] :].ctypes.data
                is_numpys = issubclass(cls, np.generic)
                self.write.emit("is_equal", numpys, self.constant(int(is_numpys)), 1)
                kind = what[is_numpys]
            if kind_of(cls) != kind:
                raise NotForGates("a loop whose results are of other classes")
            if is_float and kind.dtype.kind != "f":  # a number of several kinds
                self.write.emit("int_of_float", at)
            found.append(self.new_number(kind, at))
        return found

    def new_number(self, kind: Kind, at: int) -> int:
        """A number that is somewhere in the state."""
        write, found = self.write, self.write.register()
        if not kind.python:
            if kind.dtype == np.float32:
                write.emit("narrow", at)
            write.emit("scalar_from", at, write.object(kind.dtype), found)
        elif kind.dtype.kind == "b":
            write.emit("bool_from", at, write.object(True), write.object(False), found)
        else:
            write.emit("float_from" if kind.dtype.kind == "f" else "int_from", at, found)
        return found

    def as_structure(self, pool: Pool, structure: Any) -> None:
        """See that an array which the loop makes is of a structure."""
        shape = shape_of(pool.dims, self.variant.emitted.places, self.loop.given)
        like = np.empty(shape, pool.dtype)
        *found, writeable = structure[1:]
        if not (like.size and writeable) or found != [pool.dtype, shape, like.strides]:
            raise NotForGates("a loop whose arrays are others")

    def new(self, pool: Pool, at: int) -> int:
        """An array that the loop has made."""
        shape = shape_of(pool.dims, self.variant.emitted.places, self.loop.given)
        nbytes = int(np.prod(shape)) * pool.dtype.itemsize
        write, found = self.write, self.write.register()
        memory = self.memory[pool.dtype].ctypes.data
        about = write.numbers([pool.dtype.itemsize, memory, *shape])
        own, dtype = write.object(np.ndarray), write.object(pool.dtype)
        write.emit("array_from", own, dtype, len(shape), about, nbytes, at, found)
        return found


def class_of(kind: Kind) -> type:
    """The class of numbers of a kind."""
    if not kind.python:
        return kind.dtype.type
    return next(cls for cls, dtype in _PYTHONS.items() if dtype == kind.dtype)


def kind_of(cls: Any) -> Kind | None:
    """The kind of the numbers of a class."""
    if cls in _PYTHONS:
        return Kind(python=True, dtype=_PYTHONS[cls])
    return numpy_kind(np.dtype(cls)) if issubclass(cls, np.generic) else None

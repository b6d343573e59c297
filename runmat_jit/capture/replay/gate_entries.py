"""Native entries for warm calls, written from the tree of a trace.

The key of the call becomes guards of its arguments, what the trace read outside guards of what is
there now; then come its steps. The guards ask for more than a replay does (the same object where an
equal one would do): where they hold, the replay would have taken this way.
"""

from __future__ import annotations

import builtins
import math
import operator
import types
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import field, replace
from typing import Any, Final

import numpy as np

from runmat_jit.capture.replay.direct_calls import direct_call
from runmat_jit.capture.replay.guards import is_fixed
from runmat_jit.capture.replay.key import Contents
from runmat_jit.capture.replay.plain_objects import in_class
from runmat_jit.capture.replay.raised import attempt
from runmat_jit.capture.replay.resume import placed_structure, structure_of
from runmat_jit.capture.replay.steps import (
    BatchStep,
    CallStep,
    CheckStep,
    DrawingBatchStep,
    FreeStep,
    LengthStep,
    ShapedBatchStep,
    ShapesStep,
    SingleStep,
    Step,
)
from runmat_jit.capture.replay.tree import Fork, Middle, Segment
from runmat_jit.capture.replay.unspecialized import MARK
from runmat_jit.capture.tape.entries import Nest, Read, Ref, Return, build, refs
from runmat_jit.capture.tape.lines import hide_our_frames
from runmat_jit.capture.tape.locations import Attribute, Cell, Global, Item, Keys, Length, Lent
from runmat_jit.capture.tape.values import is_number
from runmat_jit.core.epoch import EPOCH_ADDRESS, EXCEPTIONS_ADDRESS, epoch
from runmat_jit.core.errstate import current_errstate
from runmat_jit.core.gates import DrawAtGate, GateWriter, NotForGates
from runmat_jit.core.slotted import slotted
from runmat_jit.core.watching import guard_unwatched
from runmat_jit.runtime.arrays import ResidentArray, are_alike

_SEGMENTS: Final = 64
"""Of the tree of a call; others are for Python."""
_OUTCOMES: Final = 4
"""Of a decision that native code tells apart; others are for Python."""
_NUMBERS: Final = (int, float)
_BY_VALUE: Final = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis))
_BY_IDENTITY: Final = (
    types.ModuleType,
    types.BuiltinFunctionType,
    type,
    np.ufunc,
    np.dtype,
    type(np.sum),
    np.generic,
)
_CONTAINERS: Final = (list, dict)
_OF_NUMBERS: Final = frozenset(
    (int, float, bool, *(fn for fn in vars(math).values() if type(fn) is types.BuiltinFunctionType))
)
"""Functions of numbers of any class that warn of nothing: what they give depends on these alone,
and is of one class for numbers of some classes. They may raise."""
_OF_PYTHONS: Final = frozenset(
    {
        *(operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv),
        *(operator.mod, operator.neg, operator.lt, operator.le, operator.eq, operator.ne),
        *(operator.gt, operator.ge, abs),
    }
)
"""The same of Python's numbers."""
_MAKERS: Final = (
    np.empty,
    np.zeros,
    np.ones,
    np.full,
    np.empty_like,
    np.arange,
    np.linspace,
    np.eye,
)
"""Functions whose arrays are in memory of their own."""
_STOP: Final = object()

Rest = Callable[[tuple[tuple[Any, ...], dict[str, Any]], Middle, list[Any]], Any]
"""Makes the rest of a call: of its arguments, from where on, and what its slots hold."""


@slotted
class Known:
    """Contents of registers at one point of an entry."""

    registers: dict[int, int] = field(default_factory=dict)
    """By slot."""
    numbers: dict[int, type] = field(default_factory=dict)
    """Classes of the numbers among them, by slot."""
    constants: dict[int, Any] = field(default_factory=dict)
    """Values of slots that are always the same."""
    arrays: tuple[tuple[int, np.ndarray], ...] = ()
    """The arrays that came from outside, by register."""
    objects: tuple[tuple[int, Any], ...] = ()
    """Likewise the objects of the program's classes."""
    given: frozenset[int] = frozenset()
    """Registers that the entry must not empty."""
    fork: Fork | None = None
    path: tuple[tuple[Hashable, Segment], ...] = ()
    """The segments so far, each with the outcome that led to it; ``fork``: where the last hangs."""
    number: int = 0
    """Number of steps of the last one that have been made."""
    is_done: bool = False
    """What has been done must not be done again."""
    singles: frozenset[int] = frozenset()
    """Slots of numbers that programs have computed."""
    told: dict[tuple[int, ...], Any] = field(default_factory=dict)
    """Structures of what loops and functions of numbers have given, by its slots: always the same.
    """

    def copy(self) -> Known:
        return replace(
            self,
            registers=dict(self.registers),
            numbers=dict(self.numbers),
            constants=dict(self.constants),
            told=dict(self.told),
        )


class EntryMaker:
    """Writer of one entry; ``shaped``: for all extents that its programs permit.

    ``contents``: what containers among the arguments held when the call began. It may have written
    into them, and so may other threads.
    """

    def __init__(
        self,
        write: GateWriter,
        fn: types.FunctionType,
        slots: list[Any],
        rest: Rest,
        names: tuple[str, ...],
        *,
        contents: Contents,
        shaped: bool = False,
    ) -> None:
        self.write, self.fn, self.slots, self.contents = write, fn, slots, contents
        self.rest, self.names, self.shaped = rest, names, shaped
        self.extents: list[tuple[int, int]] = []
        """The register and the axis of each extent of the arguments, in order."""
        self.programs: list[Any] = []
        """Those for all extents."""
        self.known = Known()
        self.segments = self.arity = self.call_number = 0
        self.residents: list[tuple[int, ResidentArray]] = []
        """The arrays of ours among the arguments, by register."""
        self.defaults: set[int] = set()
        """Slots of dicts that hold the defaults of keyword parameters."""

    def make(self, root: Fork, arguments: Sequence[Any]) -> None:
        """The guards of a call, and what the tree says of it."""
        self.arity = len(arguments)
        self.arguments(arguments)
        self.process()
        first = self.first(root.outcomes.get(None, ()))
        self.call_number = first.used
        self.segment(root, None, first)

    # -- the key of the call -----------------------------------------------------------------------
    def arguments(self, values: Sequence[Any]) -> None:
        """Guards of the arguments; those that have slots come in the order of these."""
        for register, value in enumerate(values):
            self.argument(register, value)
        if self.residents:
            self.guard_residents()
        self.known.given = frozenset(range(len(values)))

    def guard_residents(self) -> None:
        """Guards of the arrays of ours so far: themselves, and how they lie to each other."""
        holds = are_alike([array for _, array in self.residents])
        if holds is None:
            raise NotForGates("arrays of ours that lie on each other, or on others' memory")
        self.holds(holds, [register for register, _ in self.residents])

    def argument(self, register: int, value: Any) -> None:
        """Guards of one argument, or of an item of one."""
        kind, slot = type(value), len(self.known.registers)
        leaf = slot < len(self.slots) and self.slots[slot] is value
        if kind is np.ndarray and self.shaped:
            self.array_of_any_extents(register, value)
        elif kind is np.ndarray:
            self.array(register, value)
        elif kind in _NUMBERS or kind is complex or is_number(value):
            self.write.instance(register, kind)
            self.known.numbers[slot] = kind
        elif isinstance(value, ResidentArray):
            self.write.instance(register, kind)
            self.residents.append((register, value))
        elif kind is tuple or (kind in _CONTAINERS and leaf):
            self.container(register, value)
            return
        elif not leaf:
            self.constant_argument(register, value)
            return
        elif kind is types.FunctionType:
            self.write.identity(register, value)
            self.write.function(value)
        elif is_plain_instance(value):
            self.object(register, value)
        else:
            raise NotForGates(f"an argument is a {kind.__name__}")
        self.known.registers[slot] = register

    def container(self, register: int, value: Any) -> None:
        """Guards of a tuple, list or dict among the arguments, and of its items."""
        items, like = value, value
        if type(value) is not tuple:
            self.known.registers[len(self.known.registers)] = register
            self.apart(register, value)
            structure, items = self.contents[id(value)]
            like = structure(items)
        for found, item in zip(self.write.container(register, like), items, strict=True):
            self.argument(found, item)

    def constant_argument(self, register: int, value: Any) -> None:
        if not isinstance(value, (*_BY_VALUE, *_BY_IDENTITY)):
            raise NotForGates(f"an argument is a {type(value).__name__}")
        self.write.identity(register, value)

    def array(self, register: int, value: np.ndarray) -> None:
        """Guards of an array from outside: itself, and how it lies to the others."""
        self.write.array(register, value)
        for other in self.known.arrays:
            self.write.relation((register, value), other)
        self.known.arrays = (*self.known.arrays, (register, value))

    def array_of_any_extents(self, register: int, value: np.ndarray) -> None:
        """The same, of an array among the arguments whose extents may be others."""
        self.write.array_like(register, value)
        for other, found in self.known.arrays:
            if value is found:
                self.write.same(register, other, is_same=True)
            elif np.may_share_memory(value, found):
                raise NotForGates("arrays of any extents that lie on each other")
            else:
                self.write.lie_apart((register, value), (other, found))
        self.extents += [(register, axis) for axis in range(value.ndim)]
        self.known.arrays = (*self.known.arrays, (register, value))

    def object(self, register: int, value: Any) -> None:
        """Guards of an object from outside: its class, and which of the others it is."""
        self.write.instance(register, type(value))
        self.apart(register, value)

    def apart(self, register: int, value: Any) -> None:
        """Guards: which of the other objects from outside it is."""
        for other, found in self.known.objects:
            self.write.same(register, other, is_same=value is found)
        self.known.objects = (*self.known.objects, (register, value))

    def process(self) -> None:
        """Guards of the state of the process."""
        write = self.write
        write.word(EPOCH_ADDRESS, epoch())
        write.word(EXCEPTIONS_ADDRESS, 0)
        write.function(self.fn)
        write.errstate(current_errstate())
        guard_unwatched(write)

    # -- outside state -----------------------------------------------------------------------------
    def segment(self, fork: Fork, outcome: Hashable, segment: Segment) -> None:
        """All of a segment, with what follows it."""
        self.segments += 1
        if self.segments > _SEGMENTS:
            raise NotForGates("a tree of many decisions")
        for step in segment.early:
            self.early(step)
        for names in segment.names:
            for name in names.names:
                self.write.name(exact(names.namespace), name, names.namespace[name])
        for read in segment.reads:
            self.read(read)
        known = self.known
        known.fork, known.path, known.number = fork, (*known.path, (outcome, segment)), 0
        for step in segment.steps:
            if known.is_done and not isinstance(step, FreeStep):
                if self.residents:
                    raise NotForGates("a step after a write into an array on a device")
                self.recover()
            is_native = isinstance(step, CallStep) and self.native_loop(step)
            if not is_native:
                self.step(step)
            known.number += 1
            is_once = is_final(step) and not (is_native or self.is_of_numbers(step))
            known.is_done = known.is_done or is_once or self.write.is_done
        if known.is_done and not self.residents and not is_one_value(segment.exit):
            self.recover()
        self.leave(segment.exit)

    def recover(self) -> None:
        """Set the exit for steps that fail from here on: Python makes the rest of the call."""
        if self.shaped:
            raise NotForGates("the rest of a call is one of certain extents")
        known, rest, names, arity = self.known, self.rest, self.names, self.arity
        assert known.fork is not None, "within a segment"
        middle = Middle(known.fork, known.path, known.number)
        held = [(slot, register) for slot, register in known.registers.items()]
        slots, blank = [slot for slot, _ in held], self.blank()

        def go_on(*values: Any) -> Any:
            found = blank.copy()
            for slot, value in zip(slots, values[arity:], strict=True):
                found[slot] = value
            positional = arity - len(names)
            given = dict(zip(names, values[positional:arity], strict=True))
            try:
                return rest((values[:positional], given), middle, found)
            except BaseException as error:
                hide_our_frames(error)
                raise

        self.write.recover(go_on, [*range(arity), *(register for _, register in held)])

    def early(self, step: Step) -> None:
        """Guards of a segment that precede its reads."""
        if isinstance(step, CheckStep):
            self.check(step)
        elif self.shaped and isinstance(step, ShapesStep):
            self.lengths(step)
        elif self.shaped and self.is_of_numbers(step):
            self.step(step)
        elif self.shaped:
            raise NotForGates("numbers that are no extents")
        elif isinstance(step, ShapesStep):
            step.run(self.slots)
            self.known.constants.update((slot, self.slots[slot]) for slot in step.slots)
        elif isinstance(step, LengthStep):
            step.run(self.slots)
            self.known.constants[step.slot] = self.slots[step.slot]
        elif isinstance(step, CallStep) and type(step.out) is Ref:
            step.run(self.slots)
            if self.places((*step.args, *step.kwargs.values())):
                self.call(step)
            else:
                self.known.constants[step.out.slot] = self.slots[step.out.slot]
        else:
            raise NotForGates("arithmetic on arguments")

    def is_of_numbers(self, step: Step) -> bool:
        """True if a step computes a number of numbers: again, if need be, and of one class."""
        if not isinstance(step, CallStep) or step.kwargs:
            return False
        known, numbers = self.known, _NUMBERS if step.fn in _OF_PYTHONS else (*_NUMBERS, np.generic)
        if step.fn not in _OF_PYTHONS and step.fn not in _OF_NUMBERS:
            return False
        for arg in step.args:
            if type(arg) is not Ref:
                is_number = isinstance(arg, numbers)
            elif arg.slot in known.constants:
                is_number = isinstance(known.constants[arg.slot], numbers)
            else:
                of_program = arg.slot in known.singles and np.generic in numbers
                is_number = of_program or issubclass(known.numbers.get(arg.slot, object), numbers)
            if not is_number:
                return False
        return True

    def lengths(self, step: ShapesStep) -> None:
        """Conditions on the extents of a call, and lengths that the program has asked for."""
        assert step.scope is not None, "it is a family's"
        found = self.write.lengths(step.scope, self.extents, step.lengths)
        for slot, register in zip(step.slots, found, strict=True):
            self.known.registers[slot] = register
            self.known.numbers[slot] = int

    def check(self, step: CheckStep) -> None:
        """A guard of a number."""
        slot, holds = step.guard.slot, step.guard.holds
        if slot in self.known.constants:
            return
        (register,) = self.registers([slot])
        if self.known.numbers.get(slot) in _NUMBERS:
            self.write.number(register, self.slots[slot])
        else:
            self.holds(lambda value: bool(holds(value)), [register])

    def holds(self, ask: Callable[..., bool], registers: list[int]) -> None:
        """Guard: a function of Python says so."""
        found = self.write.call(ask, registers, None)
        self.write.identity(found, value=True)
        self.write.drop(found)

    def read(self, read: Read) -> None:
        """A read of outside state: the object that is there now, or an array like it."""
        place = read.get
        if isinstance(place, Lent):
            self.lent(read, place)
            return
        if not isinstance(place, Global | Cell | Attribute | Item | Length | Keys):
            raise NotForGates(f"a read of {read.source}")
        value = place(self.slots)
        if not read.holds(value, self.slots):
            raise NotForGates(f"{read.source} is another one")
        self.slots[read.slot] = value
        any_number = read.source.endswith(MARK) and type(value) in _NUMBERS
        if isinstance(place, Item | Length | Keys) and not self.is_open(
            place, value, any_number=any_number
        ):
            self.part(place, value)
            self.known.constants[read.slot] = value
        elif type(value) is np.ndarray:
            self.array(self.found(place, read.slot), value)
        elif any_number:
            self.write.instance(self.found(place, read.slot), type(value))
            self.known.numbers[read.slot] = type(value)
        elif type(value) is types.MethodType:
            self.method(place, value)
        elif is_constant(value) or type(value) in _CONTAINERS:
            assert not isinstance(place, Item | Length | Keys), "these are parts"
            self.same(place, value)
            if isinstance(place, Attribute) and place.name == "__kwdefaults__":
                self.defaults.add(read.slot)
            if type(value) is types.FunctionType:
                self.write.function(value)
            self.known.constants[read.slot] = value
        elif is_plain_instance(value):
            self.object(self.found(place, read.slot), value)
        else:
            raise NotForGates(f"{read.source} is a {type(value).__name__}")

    def lent(self, read: Read, place: Lent) -> None:
        """A read of an array of ours: one like that is there now."""
        stands, array = place(self.slots), place.place(self.slots)
        if not read.holds(stands, self.slots):
            raise NotForGates(f"{read.source} is another one")
        self.slots[read.slot] = stands
        register = self.found(place.place, read.slot)
        self.write.instance(register, type(array))
        self.residents.append((register, array))
        self.guard_residents()

    def is_open(self, place: Item | Length | Keys, value: Any, *, any_number: bool) -> bool:
        """True if an item may be another one in each call: an array, a number of any value."""
        of_dict = isinstance(place, Item) and type(self.known.constants.get(place.slot)) is dict
        return type(value) is np.ndarray or (any_number and of_dict)

    def part(self, place: Item | Length | Keys, value: Any) -> None:
        """A part of a container that is the same object: of a tuple always the same."""
        owner = self.known.constants.get(place.slot)
        if type(owner) not in (*_CONTAINERS, tuple):
            raise NotForGates("a container that may change")
        if isinstance(place, Length):
            self.write.gives(len, (owner,), value)
        elif isinstance(place, Keys):
            if place.slot not in self.defaults:  # parameters have an order of their own
                slots = [*(None,) * place.slot, owner]
                self.holds(lambda: bool(place(slots) == value), [])
        elif not (is_constant(value) or type(value) in (*_CONTAINERS, tuple)):
            raise NotForGates("an item that may change")
        elif type(owner) is dict:
            self.write.name(owner, place.key, value)
        elif type(owner) is list:
            self.holds(lambda: len(owner) > place.key and owner[place.key] is value, [])

    def method(self, place: Any, value: types.MethodType) -> None:
        """A method of an object that is known."""
        if not isinstance(place, Attribute):
            raise NotForGates("a method that is no attribute")
        owner, inside = self.owner(place)
        function = value.__func__
        own = inside and value.__self__ is self.slots[place.owner.slot]
        if not own or type(function) is not types.FunctionType:
            raise NotForGates("a method of another object")
        self.write.method(owner, place.name, function)
        self.write.function(function)

    def found(self, place: Any, slot: int) -> int:
        """Register with the value that is read from a location."""
        write = self.write
        if isinstance(place, Global):
            if place.name not in place.namespace:
                raise NotForGates("a builtin name that has been given an array")
            register = write.read_name(exact(place.namespace), place.name)
        elif isinstance(place, Cell):
            register = write.read_cell(place.cell)
        elif isinstance(place, Attribute):
            owner, inside = self.owner(place)
            register = write.read_attribute(owner, place.name, in_register=inside)
        elif isinstance(place, Item) and type(self.known.constants.get(place.slot)) is dict:
            register = write.read_name(self.known.constants[place.slot], place.key)
        else:
            raise NotForGates("an array in a container")
        self.known.registers[slot] = register
        self.known.given |= {register}
        return register

    def same(self, place: Global | Cell | Attribute, value: Any) -> None:
        """Guard: the same object is there."""
        write = self.write
        if isinstance(place, Cell):
            write.cell(place.cell, value)
        elif isinstance(place, Attribute):
            owner, inside = self.owner(place)
            write.attribute(owner, place.name, value, in_register=inside)
        elif place.name in exact(place.namespace):
            write.name(place.namespace, place.name, value)
        else:
            write.missing_name(place.namespace, place.name)
            write.name(vars(builtins), place.name, value)

    def owner(self, place: Attribute) -> tuple[Any, bool]:
        """The object of an attribute, or its register, and whether it is that."""
        owner = place.owner
        if type(owner) is not Ref:
            value, found = owner, (owner, False)
        elif owner.slot in self.known.constants:
            value = self.known.constants[owner.slot]
            found = value, False
        elif owner.slot in self.known.registers:
            value = self.slots[owner.slot]
            found = self.known.registers[owner.slot], True
        else:
            raise NotForGates("an attribute of what was computed")
        kind = type(value)
        own = is_plain_instance(value) and type(getattr(kind, place.name, None)) is not property
        if not own and not isinstance(value, types.FunctionType | types.ModuleType | type):
            raise NotForGates(f"an attribute of a {kind.__name__}")
        return found

    # -- work --------------------------------------------------------------------------------------
    def step(self, step: Step) -> None:
        """One step of a replay."""
        if self.residents and not isinstance(step, BatchStep | FreeStep):
            raise NotForGates("a step that looks at the host's side of an array")
        shaped = isinstance(step, ShapedBatchStep | FreeStep) or self.is_of_numbers(step)
        if self.shaped and not shaped:
            raise NotForGates("a step of certain extents")
        if isinstance(step, ShapedBatchStep) and self.shaped:
            self.shaped_batch(step)
        elif isinstance(step, ShapedBatchStep):
            self.batch(step, step.template.at(step.extents(self.slots)))
        elif isinstance(step, DrawingBatchStep):
            self.drawing_batch(step)
        elif isinstance(step, BatchStep):
            self.batch(step, step.program)
        elif isinstance(step, FreeStep):
            self.free(step)
        elif isinstance(step, CallStep):
            self.call(step)
        elif isinstance(step, SingleStep):
            self.single(step)
        else:
            raise NotForGates("something that is not computed")

    def native_loop(self, step: CallStep) -> bool:
        """A loop by native code, if the step is one, and it may be."""
        native = getattr(type(step.fn), "native", None)
        if native is None or self.residents or type(step.out) is not Nest:
            return False
        loop = native(step.fn)
        operands = [] if loop is None else list(map(self.operand, step.args[: len(loop.given)]))
        if loop is None or None in operands:
            return False
        out, outside = tuple(refs(step.out)), dict(self.known.arrays)
        places = [item.slot for item in step.args if type(item) is Ref]
        inside = {
            self.known.registers[slot]: self.slots[slot]
            for slot in places
            if slot in self.known.registers and type(self.slots[slot]) is np.ndarray
        }
        try:
            found = self.write.loop(loop, operands, outside, inside, step.structure[1])
        except NotForGates:
            return False
        self.take_out(out, found, step.structure)
        return True

    def operand(self, template: Any) -> Any:
        """An operand of a loop, as a writer takes it; None where it has none."""
        known = self.known
        if type(template) is not Ref:
            return (template,) if type(template) in (bool, int, float) else None
        if template.slot in known.constants:
            return (known.constants[template.slot],)
        register = known.registers.get(template.slot)
        kind = known.numbers.get(template.slot)
        return register if kind is None or register is None else (register, kind)

    def take_out(self, out: tuple[int, ...], found: Sequence[int], structure: Any) -> None:
        """Move the results of a loop, whose classes never change, to registers."""
        for slot, register, cls in zip(out, found, structure[1], strict=True):
            self.known.registers[slot] = register
            self.known.numbers.pop(slot, None)
            self.is_number(slot, cls)
        self.known.told[out] = structure

    def batch(self, step: BatchStep, program: Any) -> None:
        """A program."""
        inputs = [self.input(slot, how) for slot, how in step.inputs]
        generic = [scalar for _, scalar in step.outputs]
        found = self.write.run(program, inputs, generic, step.warn)
        self.take_outputs(step, found)

    def drawing_batch(self, step: DrawingBatchStep) -> None:
        """A program that makes the next numbers of generators."""
        places = {slot: place for place, (slot, _) in enumerate(step.inputs)}
        draws = [
            DrawAtGate(
                *(self.generator(draw.generator), draw.blocks),
                *(places.get(draw.key), places.get(draw.counter)),
            )
            for draw in step.draws
        ]
        drawn = {slot for draw in step.draws for slot in (draw.key, draw.counter)}
        inputs = [
            np.zeros((), np.int64) if slot in drawn else self.input(slot, how)
            for slot, how in step.inputs
        ]
        generic = [scalar for _, scalar in step.outputs]
        found = self.write.run(step.program, inputs, generic, step.warn, draws=draws)
        self.take_outputs(step, found)

    def generator(self, template: Any) -> int:
        """Register with a generator of the call, or from outside."""
        known = self.known
        if type(template) is Ref and template.slot in known.registers:
            return known.registers[template.slot]
        if type(template) is Ref and template.slot in known.constants:
            return self.write.hold(known.constants[template.slot])
        raise NotForGates("a generator that the entry does not have")

    def take_outputs(self, step: BatchStep | ShapedBatchStep, found: Sequence[int]) -> None:
        """Move the results of a program to registers."""
        for (slot, _), register in zip(step.outputs, found, strict=False):
            self.known.registers[slot] = register
        self.known.singles |= {slot for slot, is_scalar in step.outputs if is_scalar}

    def shaped_batch(self, step: ShapedBatchStep) -> None:
        """A program for all extents."""
        program = step.template.shaped(step.extents(self.slots))
        if program is None or step.writes:
            raise NotForGates("no program for all extents")
        inputs = [self.input(slot, how) for slot, how in step.inputs]
        if any(isinstance(each, np.ndarray) for each in inputs):
            raise NotForGates("an array of the program's own")
        generic = [scalar for _, scalar in step.outputs]
        found = self.write.run_shaped(program, inputs, self.extents, generic, step.warn)
        self.take_outputs(step, found)
        self.programs.append(program)

    def input(self, slot: int, how: Any) -> Any:
        """An input of a program."""
        if isinstance(how, np.ndarray):
            return how
        known = self.known
        register, kind = known.registers.get(slot), known.numbers.get(slot, object)
        if register is None and how is not None and slot in known.constants:
            value = known.constants[slot]
            register, kind = self.write.hold(value), type(value)
        if register is None:
            raise NotForGates("an input that is no argument and was not computed")
        return register if how is None else (register, kind, how)

    def free(self, step: FreeStep) -> None:
        """Values that are not asked for again."""
        registers = self.known.registers
        for slot in step.slots:
            register = registers.pop(slot, None)
            kept = register in self.known.given or register in registers.values()
            if register is not None and not kept:
                self.write.drop(register)

    def single(self, step: SingleStep) -> None:
        """An operation on single numbers."""
        if step.raising is not None:
            self.take((step.out,), self.through_slots(step, (step.out,)))
            return
        places = self.places(step.args)
        call = direct_call(step, places, self.known.constants)
        if call is None:
            self.take((step.out,), self.through_slots(step, (step.out,)))
            return
        found = self.write.call(call, self.registers(places), None)
        self.known.registers[step.out] = found

    def call(self, step: CallStep) -> None:
        """A call of NumPy or Python."""
        templates = (*step.args, *step.kwargs.values())
        call, places = None, self.places(templates)
        known = self.known
        simple = step.out is None or (type(step.out) is Ref and self.can_tell(step.structure))
        if simple and type(step) is CallStep and not step.writes and step.errstate is None:
            call = direct_call(step, places, known.constants)
        if call is None:
            out = () if step.out is None else refs(step.out)
            self.take(out, self.through_slots(step, out))
            return
        found = self.write.call(call, self.registers(places), None)
        if step.out is not None:
            if step.check is not None:
                self.guard(found, step.structure)
            known.registers[step.out.slot] = found
            if any(step.fn is each for each in _MAKERS):
                self.write.new(found)
            self.is_number(step.out.slot, step.structure)
            if self.is_of_numbers(step):
                known.told[step.out.slot,] = step.structure

    def places(self, templates: Sequence[Any]) -> list[int]:
        """The slots of an operation's operands that are not always the same."""
        slots = dict.fromkeys(slot for item in templates for slot in refs(item))
        return [slot for slot in slots if slot not in self.known.constants]

    def registers(self, places: Sequence[int]) -> list[int]:
        """Registers of the values of slots."""
        if any(slot not in self.known.registers for slot in places):
            raise NotForGates("a value that the entry does not have")
        return [self.known.registers[slot] for slot in places]

    def through_slots(self, step: Any, out: tuple[int, ...]) -> int:
        """Register with a tuple of what a step puts into slots; as a replay makes it."""
        templates = (*step.args, *getattr(step, "kwargs", {}).values())
        places, blank = self.places(templates), self.blank()

        def replay(*values: Any) -> Any:  # the name of the boundary that warnings look for
            found = blank.copy()
            for slot, value in zip(places, values, strict=True):
                found[slot] = value
            try:
                step.run(found)
            except Exception:  # noqa: BLE001  (Python does it again, and raises it)
                return _STOP
            return tuple([found[slot] for slot in out])

        return self.write.call(replay, self.registers(places), _STOP)

    def blank(self) -> list[Any]:
        """Slots with what is always the same, and nothing else."""
        found: list[Any] = [None] * len(self.slots)
        for slot, value in self.known.constants.items():
            found[slot] = value
        return found

    def take(self, out: tuple[int, ...], made: int) -> None:
        """The items of a tuple are what slots hold."""
        for index, slot in enumerate(out):
            self.known.registers[slot] = self.write.take(made, index)
            self.known.numbers.pop(slot, None)

    def can_tell(self, structure: Any) -> bool:
        """True if :meth:`guard` takes a structure."""
        return structure is None or isinstance(structure, type) or structure[0] is np.ndarray

    def guard(self, register: int, structure: Any) -> None:
        """Guard: a value has this structure."""
        if isinstance(structure, type):
            self.write.instance(register, structure)
        else:
            self.write.array(register, like_of(structure))

    def is_number(self, slot: int, structure: Any) -> None:
        """Note the class of a number that a call has given."""
        if isinstance(structure, type) and issubclass(structure, (int, float, np.generic)):
            self.known.numbers[slot] = structure

    # -- the end -----------------------------------------------------------------------------------
    def leave(self, leave: Fork | Return) -> None:
        """A result, or a decision."""
        if isinstance(leave, Return):
            if leave.write_backs:
                raise NotForGates("containers are written")
            self.result(leave.tree)
            return
        if self.residents:
            raise NotForGates("a decision by what is on a device")
        told = self.known.told.get(tuple(refs(leave.value)))
        if told is not None and leave.outcome_of is structure_of and told in leave.outcomes:
            self.way(leave, told, self.known)()
            return
        value = leave.value
        register = self.known.registers.get(value.slot) if type(value) is Ref else None
        if leave.outcome_of is not bool or register is None or not self.write.is_decision(register):
            if self.shaped:
                raise NotForGates("a decision of certain extents")
            self.follow(leave)
            return
        self.write.branch(
            register,
            {
                truth: self.way(leave, truth, self.known)
                for truth in leave.outcomes
                if isinstance(truth, bool)
            },
        )

    def taken(self, leave: Fork) -> tuple[Hashable, Segment] | None:
        """The outcome in this call, and what followed; None if it did not come there."""
        for outcome, segments in leave.outcomes.items():
            for segment in segments:
                if segment.used == self.call_number:
                    return outcome, segment
        return None

    def follow(self, leave: Fork) -> None:
        """A decision that is no truth value of a program's: by guards of each outcome."""
        outcomes = sorted(leave.outcomes, key=leave.last_use, reverse=True)[:_OUTCOMES]
        places = [slot for slot in refs(leave.value) if slot in self.known.registers]
        self.write.show(self.registers(places))
        known, last = self.known, len(outcomes) - 1

        def way(number: int) -> Callable[[], None]:
            def write() -> None:
                self.known = known.copy()
                if number == last:
                    self.settle()
                self.decided(leave, outcomes[number])
                if number < last:
                    self.settle()
                self.way(leave, outcomes[number], self.known)()

            return write

        if last:
            self.write.alternatives([way(number) for number in range(len(outcomes))])
        else:
            self.decided(leave, outcomes[0])
            self.way(leave, outcomes[0], self.known)()

    def settle(self) -> None:
        """Set the exit for steps that fail from here on."""
        if self.known.is_done:
            self.recover()
        else:
            self.write.begin()

    def decided(self, leave: Fork, outcome: Hashable) -> None:
        """Guard: a decision has this outcome."""
        asks, value = leave.outcome_of, leave.value
        if asks is attempt:
            return
        first = value.items[0] if type(value) is Nest else value
        register = self.known.registers.get(first.slot) if type(first) is Ref else None
        structure: Any = outcome
        if register is not None and asks is placed_structure:
            structure, distances = structure
            if not distances and self.can_tell(structure) and type(structure) is tuple:
                self.guard(register, structure)
                self.write.owner(register)
                return
        elif register is not None and asks is structure_of and self.can_tell(structure):
            self.guard(register, structure)
            self.is_number(first.slot, structure)
            return
        self.asked(leave, outcome)

    def asked(self, leave: Fork, outcome: Hashable) -> None:
        """The same, by Python."""
        places, blank = self.places([leave.value]), self.blank()

        def is_same(*values: Any) -> bool:
            found = blank.copy()
            for slot, value in zip(places, values, strict=True):
                found[slot] = value
            return bool(leave.outcome(found) == outcome)

        self.holds(is_same, self.registers(places))

    def way(self, leave: Fork, outcome: Hashable, known: Known) -> Callable[[], None]:
        """Writes what follows one outcome."""
        taken = self.taken(leave)

        def write() -> None:
            self.known = known.copy()
            if taken is not None and taken[0] == outcome:
                self.room(taken[1])
                self.segment(leave, outcome, taken[1])
                return
            try:
                self.segment(leave, outcome, self.first(leave.outcomes[outcome]))
            except Exception:  # noqa: BLE001  (whatever is not there now: Python makes such calls)
                self.write.repeat()

        return write

    def room(self, segment: Segment) -> None:
        """Have slots for a segment."""
        self.slots.extend([None] * max(segment.size - len(self.slots), 0))

    def first(self, segments: Sequence[Segment]) -> Segment:
        """The continuation that a replay would take now."""
        for segment in segments:
            self.room(segment)
            if not segment.holds(self.slots):
                return segment
        raise NotForGates("no call has gone on like this")

    def result(self, tree: Any) -> None:
        """Build the result of the call."""
        registers = self.known.registers
        if type(tree) is Ref and tree.slot in registers:
            self.write.give(registers[tree.slot])
        elif tree is None or type(tree) in (bool, int, float, str):
            self.write.give(self.write.hold(tree))
        elif is_flat(tree):
            self.write.give_tuple([self.item(item) for item in tree.items])
        else:
            self.write.give(self.write.call(*self.builder(tree), None))

    def item(self, item: Any) -> int:
        """Register with an item of a result."""
        if type(item) is not Ref:
            return self.write.hold(item)
        if item.slot in self.known.constants:
            return self.write.hold(self.known.constants[item.slot])
        if item.slot not in self.known.registers:
            raise NotForGates("a value that the entry does not have")
        return self.known.registers[item.slot]

    def builder(self, tree: Any) -> tuple[Callable[..., Any], list[int]]:
        """A function that builds a result, and the registers of its arguments."""
        slots, blank = list(dict.fromkeys(refs(tree))), [None] * len(self.slots)

        def give(*values: Any) -> Any:
            found: list[Any] = blank.copy()
            for slot, value in zip(slots, values, strict=True):
                found[slot] = value
            return build(tree, found)

        return give, [self.item(Ref(slot)) for slot in slots]


def is_one_value(leave: Fork | Return) -> bool:
    """True if a call ends by giving a value that it has, so that nothing can fail any more."""
    if not isinstance(leave, Return) or leave.write_backs:
        return False
    return leave.tree is None or type(leave.tree) in (Ref, bool, int, float)


def is_final(step: Step) -> bool:
    """True if what a step has done must not be done again."""
    if isinstance(step, BatchStep):
        return step.writes
    if isinstance(step, CallStep):
        return bool(step.upto or step.writes)
    return isinstance(step, SingleStep) and step.may_warn


def like_of(structure: Any) -> np.ndarray:
    """An array of this structure, without memory of its own."""
    _, dtype, shape, strides, writeable = structure
    return np.lib.stride_tricks.as_strided(
        np.empty(0, dtype), shape, strides, writeable=bool(writeable)
    )


def is_flat(tree: Any) -> bool:
    """True if a result is a tuple of values and constants."""
    if type(tree) is not Nest or tree.slot is not None:
        return False
    is_tuple = tree.build is tuple or getattr(tree.build, "kind", None) is tuple
    return is_tuple and not any(type(item) is Nest for item in tree.items)


def is_constant(value: Any) -> bool:
    """True if the same object is always the same to a program."""
    if isinstance(value, (*_BY_VALUE, *_BY_IDENTITY, types.FunctionType)) or is_fixed(value):
        return True
    return type(value) is tuple and all(map(is_constant, value))


def exact(namespace: dict[str, Any]) -> dict[str, Any]:
    """A namespace whose items are found as those of any dict."""
    if type(namespace) is not dict:
        raise NotForGates("a namespace of another class")
    return namespace


def is_plain_instance(value: Any) -> bool:
    """True if attributes are found in an object as Python finds them without code of its class."""
    kind = type(value)
    if kind.__module__ == "builtins" or isinstance(value, np.generic):
        return False
    return (
        in_class(kind, "__getattribute__") is object.__getattribute__
        and in_class(kind, "__getattr__") is None
        and type(kind) is type
        and not isinstance(value, Mapping | list | tuple | set)
    )

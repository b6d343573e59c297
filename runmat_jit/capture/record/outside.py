"""Outside state: globals, cells, attributes and items that a function reads.

Each read is recorded with a test for what was found: scalars by value, functions by code, modules
and classes by identity, arrays as inputs by geometry and aliasing, containers by type and then by
what is read of them. A replay repeats the reads and tests before it computes anything.
"""

from __future__ import annotations

import builtins
import enum
import inspect
import sys
import types
from collections.abc import Hashable
from typing import Any

import numpy as np

from runmat_jit.capture import callables
from runmat_jit.capture.record import escape_barrier
from runmat_jit.capture.record.balance import ITEMS_OF_TURN
from runmat_jit.capture.record.constants import constant
from runmat_jit.capture.record.recording import Recording
from runmat_jit.capture.record.shadow_copies import ShadowCopy
from runmat_jit.capture.record.traced import Traced
from runmat_jit.capture.replay.guards import (
    Holds,
    array_facts,
    is_fixed,
    is_followed_method,
    relation,
    same_function,
    same_method,
)
from runmat_jit.capture.replay.plain_objects import (
    has_metaclass,
    is_plain_class,
    is_plain_metaclass,
    is_plain_object,
)
from runmat_jit.capture.replay.unspecialized import MARK, is_of_program, is_variable
from runmat_jit.capture.tape.entries import Read, Ref
from runmat_jit.capture.tape.locations import Attribute, Cell, Global, Item, Keys, Length
from runmat_jit.capture.tape.pytree import Structure, is_namedtuple, take_apart, write_back
from runmat_jit.capture.tape.values import (
    SCALARS,
    exact_value,
    is_bound,
    is_number,
    is_opaque,
    is_random_state,
    is_traceable,
)
from runmat_jit.core.protocols import Get
from runmat_jit.runtime.arrays import ResidentArray

_MISSING = object()
_BY_VALUE = (*SCALARS, str, bytes, type(None), type(Ellipsis))
_BY_IDENTITY = (
    property,
    types.ModuleType,
    types.BuiltinFunctionType,
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
    type,
    np.ufunc,
    np.dtype,
    type(np.sum),
)


_MADE_ANEW = (
    types.MethodType,
    types.BuiltinFunctionType,
    types.MethodWrapperType,
    types.MappingProxyType,
)
"""Classes of which the same attribute is another object each time."""
SHOWN_AFTER = 10_000
"""Iterations of loops after which what the call has changed is shown to others."""
LOOK_SHARE = 10
"""Containers are looked at again after turns of loops that take so many times as long as a look."""
CONTAINER_LIMIT = 200
"""Items of an outside container up to which a replay reads them all again."""


class Outside:
    """The outside reads of one recording."""

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self.memo: dict[Hashable, tuple[Any, Any]] = {}  # what was found, and what is seen of it
        self.epoch = 0
        self.classes: dict[int, type] = {}  # that the program found outside, by identity
        self.copying: set[int] = set()  # tuples whose items are being read
        self.splitting = False  # the items of a tuple that varies are being read
        self.turns = self.next_look = 0

    def register(self, value: Any, slot: int) -> None:
        """Remember which slot holds an outside object, whose class is outside, too."""
        self.found_class(type(value))
        self.recording.hold(value, slot)

    def found_class(self, kind: type) -> None:
        """Remember that a class and its bases come from outside: what they hold may change."""
        self.classes.update((id(base), base) for base in kind.__mro__[:-1])

    def read(self, key: Hashable, get: Get, value: Any, source: str) -> Any:
        """Record that ``get`` gave ``value``; give what the program sees of it."""
        recording = self.recording
        self.look_again()
        if isinstance(value, ResidentArray):
            value, get = recording.begin_boundary(value.boundary).read(value, get)
        if self.epoch != len(recording.tape.effects):  # an effect may have changed anything
            self.memo.clear()
            self.epoch = len(recording.tape.effects)
        known = self.memo.get(key)
        if known is not None:
            if recording.tape.feeding or recording.passive or is_unchanged(known[0], value):
                return known[1]
            self.notice(source)
        slot = recording.slot()
        value = recording.tape.fed_state(slot, value)
        varies = is_variable(value) and self.varies(source)
        name, kind = (source + MARK if varies else source), type(value)
        container = is_container(value) or (varies and type(value) is tuple)
        if container:
            seen, holds = self.guard_container(value)
        elif varies:
            seen, holds = recording.lift(value, slot), lambda other, _slots: type(other) is kind
        else:
            seen, holds = self.make_guard(value, slot)
        if recording.publishable:
            recording.tape.note(Read(slot, get, holds, name))
        if container and seen is value:  # after its own entry: a replay reads in this order
            around, self.splitting = self.splitting, varies
            seen = self.copy(value, slot)
            self.splitting = around
        elif is_followed_method(value) and self.recording.slot_of(value.__self__) is None:
            self.owner(value, slot)
        self.memo[key] = value, seen
        return seen

    def look_again(self) -> None:
        """Code that no hook sees may have changed what lies outside since it was read last."""
        recording = self.recording
        if recording.unseen_code and not recording.passive:
            self.synchronize()

    def notice(self, source: str) -> None:
        """Others have changed what the call has read: Python sees it, from here on."""
        self.recording.effect("outside-changed", f"{source} changed while the call ran")
        self.epoch = len(self.recording.tape.effects)
        self.synchronize()

    def synchronize(self) -> None:
        """Show others what the program has changed, and the program what they have."""
        recording = self.recording
        self.memo.clear()
        recording.shadows.push(recording.release)
        recording.shadows.pull(recording.lift)
        recording.balance.looked_at(recording.shadows.count_items())

    def turn(self) -> None:
        """A loop goes on, which may wait for others: look at the containers, every now and then."""
        recording, shadows = self.recording, self.recording.shadows
        if not shadows.all or recording.tape.feeding:
            return
        self.turns += 1
        if self.turns < self.next_look:
            return
        self.next_look = self.turns + max(1, LOOK_SHARE * shadows.count_items() // ITEMS_OF_TURN)
        if not recording.publishable:
            self.synchronize()
        elif shadows.find_changed_by_others():
            self.notice("a container")
        elif self.turns > SHOWN_AFTER and shadows.find_edited():
            self.share("a loop may wait for what it changes")

    def share(self, why: str) -> None:
        """Others are to see what the program has changed so far."""
        self.recording.effect("outside-store", f"{why} in a container")
        self.synchronize()

    def varies(self, source: str) -> bool:
        """True if a number is read as data: as a replay did that is being followed, if one is."""
        fed = self.recording.tape.fed_read()
        if fed is not None or self.recording.tape.feeding:
            return fed == source + MARK
        return source in self.recording.unspecialized or (self.splitting and is_of_program(source))

    def owner(self, method: types.MethodType, slot: int) -> None:
        """The object of a method: what the method reads of it is outside state, too."""
        key, owner = ("owner", id(method)), method.__self__
        self.read(key, lambda slots: slots[slot].__self__, owner, "the object of a method")

    def method(self, method: types.MethodType, slot: int) -> None:
        """A method among the arguments: its function and its object are read."""
        key, function = ("function", id(method)), method.__func__
        self.read(key, lambda slots: slots[slot].__func__, function, "the function of a method")
        self.owner(method, slot)

    def make_guard(self, value: Any, slot: int) -> tuple[Any, Holds]:
        """Guard of a value, and the value as the program sees it."""
        kind = type(value)
        if kind is np.ndarray and (is_traceable(value) or is_opaque(value)):
            return self.guard_array(value, slot)
        if is_constant(value):
            same = exact_value(value)
            number = isinstance(value, np.number) and is_number(value)
            seen = constant(self.recording, value) if number else value
            return seen, lambda other, _slots: other is value or same(other)
        if kind is types.FunctionType and self.recording.slot_of(value) is None:
            return value, same_function(value)
        if is_followed_method(value):
            return value, same_method(value, self.recording.slot_of(value.__self__))
        if is_bound(value) and not callables.of(value).ordered:
            self.recording.effect(
                "outside-object", f"a method of a {type(value.__self__).__name__}"
            )
        if isinstance(value, type):
            self.found_class(value)
            if has_metaclass(value) and not is_plain_metaclass(type(value)):
                escape_barrier.beware(
                    self.recording, f"the class {value.__qualname__} has operators"
                )
        ours = kind.__module__.partition(".")[0] == "runmat_jit" and not is_random_state(kind)
        if isinstance(value, _BY_IDENTITY) or ours:
            return value, lambda other, _slots: other is value
        if is_fixed(value):
            return value, lambda other, _slots: other is value
        return self.guard_object(value, slot)

    def guard_object(self, value: Any, slot: int) -> tuple[Any, Holds]:
        """An object is known by its slot; of a new one, another of its class does as well."""
        known, kind = self.recording.slot_of(value), type(value)
        if known is not None:
            return value, lambda other, slots: other is slots[known]
        self.register(value, slot)
        if not is_random_state(kind) and not is_plain_object(value):
            escape_barrier.beware(self.recording, f"a {kind.__qualname__} has operators of its own")
        return value, lambda other, _slots: type(other) is kind

    def guard_container(self, value: Any) -> tuple[Any, Holds]:
        """A container seen before is its copy; a new one is read whole (see :meth:`copy`)."""
        twins, kind = self.recording.shadows, type(value)
        twin = twins.of_original(value)
        if twin is not None:
            known = twin.slot
            return twin.copy, lambda other, slots: other is slots[known]
        if kind not in (list, dict, tuple) and not is_plain_class(kind):
            escape_barrier.beware(self.recording, f"a {kind.__qualname__} has operators of its own")
        arguments = [twin.slot for twin in twins.all if twin.argument]
        return (
            value,
            lambda other, slots: (
                type(other) is kind and all(other is not slots[at] for at in arguments)
            ),
        )

    def copy(self, value: Any, slot: int) -> Any:
        """A copy that holds what the program sees of a container's items.

        All of them are read: Python reads parts of containers that no hook sees.
        """
        recording = self.recording
        if len(value) > CONTAINER_LIMIT or id(value) in self.copying:
            detail = f"a {type(value).__name__} of {len(value)} items is read"
            recording.effect("outside-container", detail)
            recording.distrust(unseen_code=False)
            return value
        self.register(value, slot)
        apart = take_apart(value)
        assert apart is not None, "containers come apart"
        structure, children = apart
        if isinstance(value, tuple):
            self.copying.add(id(value))
            seen = self.items(value, slot, structure, children)
            self.copying.discard(id(value))
            made = structure(seen)
        else:
            made = type(value)()
        twin = ShadowCopy(
            slot, value, made, argument=False, structure=structure, real=children, whole=False
        )
        recording.shadows.add(twin)
        self.register(made, slot)
        if not isinstance(value, tuple):  # it may hold itself
            seen = self.items(value, slot, structure, children)
            write_back(made, structure(seen))
        twin.before, twin.whole = seen, True
        return made

    def items(self, owner: Any, slot: int, structure: Structure, children: list[Any]) -> list[Any]:
        """Items as the program sees them."""
        memo = ("length", id(owner))
        if type(owner) is dict:
            keys = structure.key
            self.read(memo, Keys(slot), keys, "keys")
        else:
            self.read(memo, Length(slot), len(children), "len")
        numbers = structure.names if type(owner) is dict else range(len(children))
        return [
            self.read(
                ("item", id(owner), type(key), key),
                Item(slot, key),
                child,
                f"item {key!r}",
            )
            for key, child in zip(numbers, children, strict=True)
        ]

    def guard_array(self, value: np.ndarray, slot: int) -> tuple[Any, Holds]:
        """An array becomes an input; how it lies to the arrays seen before is part of the test."""
        recording = self.recording
        facts = array_facts(value)
        others = [
            (traced._rm_slot, relation(value, traced._rm_held))
            for traced in recording.lifted
            if traced._rm_slot < slot and recording.is_input(traced)
        ]
        seen = recording.lift(value, slot)
        if type(seen) is Traced and seen._rm_slot == slot:
            recording.mark_input(seen)

        def holds(other: Any, slots: list[Any]) -> bool:
            return array_facts(other) == facts and all(
                relation(other, slots[at]) == wanted for at, wanted in others
            )

        return seen, holds

    def relate(self, a: int | None, b: int | None, *, same: bool) -> None:
        """The trace holds while two slots hold one object, or two."""
        assert a is not None, "slot_of() gave slots"
        assert b is not None, "slot_of() gave slots"
        key, source = ("same", min(a, b), max(a, b)), f"whether %{a} is %{b}"
        self.read(key, lambda slots: slots[a] is slots[b], same, source)

    # -- kinds of sources --------------------------------------------------------------------------
    def glob(self, namespace: dict[str, Any], name: str) -> Any:
        """A global or builtin name."""
        value = namespace.get(name, _MISSING)
        if value is _MISSING:
            value = getattr(builtins, name, _MISSING)
            if value is _MISSING:
                self.recording.effect("missing-name", f"there is no global {name}")
                raise NameError(f"name {name!r} is not defined", name=name)
        get = Global(namespace, name)
        return self.read(("global", id(namespace), name), get, value, f"global {name}")

    def module(self, name: str) -> None:
        """A module that is imported: to load one may do anything."""
        found = sys.modules.get(name)
        if found is None:
            self.recording.effect("unknown-call", f"the module {name} is loaded")
        else:
            self.read(("module", name), lambda _: sys.modules.get(name), found, f"module {name}")

    def free(self, fn: types.FunctionType, cell: types.CellType, name: str) -> Any:
        """A variable that encloses ``fn``; for an argument, that of whatever ``fn`` is then."""
        try:
            value = cell.cell_contents
        except ValueError:
            self.recording.effect("missing-name", f"the variable {name} has no value")
            message = (
                f"cannot access free variable {name!r} where it is not associated with a value"
            )
            raise NameError(f"{message} in enclosing scope") from None
        slot, source = self.recording.slot_of(fn), f"cell {name}"
        if slot is None:
            return self.read(("cell", id(cell)), Cell(cell), value, source)
        place = fn.__code__.co_freevars.index(name)

        def get(slots: list[Any]) -> Any:
            return slots[slot].__closure__[place].cell_contents

        return self.read(("cell", slot, place), get, value, source)

    def attribute(self, owner: Any, name: str, value: Any = _MISSING) -> Any:
        """An attribute of an outside object, module or class; ``value`` if it has been read."""
        slot = self.recording.slot_of(owner)
        if value is _MISSING:
            try:
                value = getattr(owner, name)
            except AttributeError:
                detail = f"a {type(owner).__name__} has no {name}"
                self.recording.effect("missing-attribute", detail)
                raise
        key, source = ("attribute", id(owner), name), f"attribute {name}"
        get = Attribute(owner if slot is None else Ref(slot), name)
        return self.read(key, get, value, source)

    def defaults(
        self, fn: types.FunctionType, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Arguments of a call with the function's defaults added, as reads of outside state."""
        code, given = fn.__code__, dict(kwargs)
        if len(args) > code.co_argcount and not code.co_flags & inspect.CO_VARARGS:
            return args, given  # Python will say so
        names = code.co_varnames[: code.co_argcount]
        missing = [name for name in names[len(args) :] if name not in kwargs]
        if missing and (values := self.of_function(fn, "__defaults__")):
            found = dict(zip(names[len(names) - len(values) :], values, strict=True))
            for name in missing:
                if name not in found:
                    break  # Python will say what is missing
                if names[len(args) : len(args) + 1] == (name,):
                    args = (*args, found[name])
                else:
                    given[name] = found[name]
        named = code.co_varnames[code.co_argcount :][: code.co_kwonlyargcount]
        if any(name not in kwargs for name in named):
            values = self.of_function(fn, "__kwdefaults__") or {}
            given = {**{name: values[name] for name in named if name in values}, **given}
        return args, given

    def of_function(self, fn: types.FunctionType, name: str) -> Any:
        """Defaults of a function: of an argument, whatever function it is then."""
        slot, key, value = self.recording.slot_of(fn), (name, id(fn)), getattr(fn, name)
        return self.read(key, Attribute(fn if slot is None else Ref(slot), name), value, name)


def is_unchanged(old: Any, new: Any) -> bool:
    """True if what is read again is what it was; methods are made anew at each read."""
    if old is new:
        return True
    if type(old) is not type(new):
        return False
    if isinstance(old, _MADE_ANEW):
        return bool(old == new)
    return is_constant(old) and exact_value(old)(new)


def is_constant(value: Any) -> bool:
    """True if a value is kept as it is and compared by value."""
    if type(value) in _BY_VALUE or isinstance(value, np.generic | enum.Enum):
        return True
    return type(value) is tuple and all(map(is_constant, value))


def is_container(value: Any) -> bool:
    """True if the program is to see a copy of the value."""
    kind = type(value)
    if kind is tuple or is_namedtuple(value):
        return not (kind is tuple and is_constant(value))
    return kind is list or kind is dict

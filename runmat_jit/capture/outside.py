"""Outside state: globals, cells, attributes and items that a function reads.

Each read is recorded with a test for what was found: scalars by value, functions by code, modules
and classes by identity, arrays as inputs by geometry and aliasing, containers by type and then by
what is read of them. A replay repeats the reads and tests before it computes anything.
"""

from __future__ import annotations

import builtins
import enum
import types
from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any

import numpy as np

from runmat_jit.capture.pytree import take_apart
from runmat_jit.capture.tape import Read
from runmat_jit.capture.traced import ARRAY, Traced
from runmat_jit.capture.values import SCALARS, exact_value, is_traceable

if TYPE_CHECKING:
    from runmat_jit.capture.tracer import Tracer

Get = Callable[[list[Any]], Any]
Holds = Callable[[Any, list[Any]], bool]

_MISSING = object()
_BY_VALUE = (*SCALARS, str, bytes, type(None), type(Ellipsis))
_BY_IDENTITY = (
    types.ModuleType,
    types.BuiltinFunctionType,
    type,
    np.ufunc,
    np.dtype,
    type(np.sum),
)


CONTAINER_LIMIT = 200
"""Items of an outside container up to which a replay reads them all again."""

_OPERATORS = frozenset(
    f"__{name}__"
    for name in (
        *("add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "rtruediv", "floordiv", "mod"),
        *("pow", "rpow", "matmul", "rmatmul", "neg", "pos", "abs", "invert", "and", "or", "xor"),
        *("lt", "le", "gt", "ge", "eq", "iter", "next", "contains", "len", "bool", "index"),
        *("float", "int", "enter", "getattr", "array_ufunc", "array_function", "array"),
    )
)
"""Special methods that Python runs without asking a hook."""


def is_plain_object(value: Any) -> bool:
    """Whether an object's attributes, items and calls are all that Python uses of it."""
    kind = type(value)
    return hasattr(value, "__dict__") and not any(
        name in _OPERATORS for base in kind.__mro__ if base is not object for name in vars(base)
    )


class Outside:
    """The outside reads of one recording."""

    def __init__(self, tracer: Tracer) -> None:
        self.tracer = tracer
        self.memo: dict[Hashable, Any] = {}
        self.epoch = 0
        self.objects: dict[int, tuple[Any, int]] = {}  # outside objects that a slot holds

    def slot_of(self, value: Any) -> int | None:
        """The slot that holds an outside object, if one does."""
        found = self.objects.get(id(value))
        return found[1] if found is not None and found[0] is value else None

    def register(self, value: Any, slot: int) -> None:
        """Remember which slot holds an outside object."""
        self.objects.setdefault(id(value), (value, slot))

    def read(self, key: Hashable, get: Get, value: Any, source: str) -> Any:
        """Record that ``get`` gave ``value``; give what the program sees of it."""
        tracer = self.tracer
        if self.epoch != len(tracer.effects):  # an effect may have changed anything
            self.memo.clear()
            self.epoch = len(tracer.effects)
        if key in self.memo:
            return self.memo[key]
        slot = tracer.slot()
        seen, holds = self.judge(value, slot)
        if tracer.publishable:
            read = Read(slot, get, holds, source)
            tracer.reads.append(read)
            tracer.note(read)
        self.memo[key] = seen
        if type(value) in (list, tuple, dict) and self.slot_of(value) == slot:
            self.read_all(value)  # after its own entry: a replay reads in this order
        return seen

    def judge(self, value: Any, slot: int) -> tuple[Any, Holds]:
        """What the program sees of a value, and when a later one is the same to the trace."""
        kind = type(value)
        if kind is np.ndarray and is_traceable(value):
            return self.judge_array(value, slot)
        if kind in _BY_VALUE or isinstance(value, np.generic | enum.Enum):
            same = exact_value(value)
            return value, lambda other, _slots: same(other)
        if kind is tuple and all(type(item) in _BY_VALUE for item in value):
            same = exact_value(value)
            return value, lambda other, _slots: same(other)
        if kind is types.FunctionType:
            return value, same_function(value)
        if kind is types.MethodType:
            return value, same_method(value)
        if isinstance(value, _BY_IDENTITY) or kind.__module__.partition(".")[0] == "runmat_jit":
            return value, lambda other, _slots: other is value
        self.register(value, slot)
        if kind not in (list, tuple, dict) and not is_plain_object(value):
            self.tracer.effect("outside-object", f"a {kind.__qualname__} has operators of its own")
        return value, lambda other, _slots: type(other) is kind

    def read_all(self, container: Any) -> None:
        """Read everything in a container at once: Python reads parts of it that no hook sees."""
        if len(container) > CONTAINER_LIMIT:
            detail = f"a {type(container).__name__} of {len(container)} items is read"
            self.tracer.effect("outside-container", detail)
        else:
            self.shadow(container)

    def judge_array(self, value: np.ndarray, slot: int) -> tuple[Any, Holds]:
        """An array becomes an input; how it lies to the arrays seen before is part of the test."""
        tracer = self.tracer
        facts = array_facts(value)
        others = [
            (traced._rm_slot, relation(value, array))
            for array, traced in list(tracer.known.values())
            if traced._rm_kind == ARRAY and traced._rm_slot < slot and tracer.is_input(traced)
        ]
        seen = tracer.lift(value, slot)
        if type(seen) is Traced and seen._rm_slot == slot:
            tracer.mark_input(seen)

        def holds(other: Any, slots: list[Any]) -> bool:
            return array_facts(other) == facts and all(
                relation(other, slots[at]) == wanted for at, wanted in others
            )

        return seen, holds

    # -- kinds of sources --------------------------------------------------------------------------
    def glob(self, namespace: dict[str, Any], name: str) -> Any:
        """A global or builtin name."""
        value = namespace.get(name, _MISSING)
        if value is _MISSING:
            value = getattr(builtins, name, _MISSING)
            if value is _MISSING:
                raise NameError(f"name {name!r} is not defined")

        def get(_slots: list[Any]) -> Any:
            found = namespace.get(name, _MISSING)
            return getattr(builtins, name) if found is _MISSING else found

        return self.read(("global", id(namespace), name), get, value, f"global {name}")

    def free(self, cell: types.CellType, name: str) -> Any:
        """A variable of an enclosing function."""
        try:
            value = cell.cell_contents
        except ValueError:
            message = (
                f"cannot access free variable {name!r} where it is not associated with a value"
            )
            raise NameError(f"{message} in enclosing scope") from None
        return self.read(
            ("cell", id(cell)), lambda _slots: cell.cell_contents, value, f"cell {name}"
        )

    def attribute(self, owner: Any, name: str) -> Any:
        """An attribute of an outside object, module or class."""
        slot = self.slot_of(owner)
        value = getattr(owner, name)

        def get(slots: list[Any]) -> Any:
            return getattr(owner if slot is None else slots[slot], name)

        return self.read(("attribute", id(owner), name), get, value, f"attribute {name}")

    def item(self, owner: Any, key: Any) -> Any:
        """An item of an outside list, tuple or dict."""
        slot = self.slot_of(owner)
        assert slot is not None, "items are read of objects that a slot holds"
        value = owner[key]
        memo = ("item", id(owner), type(key), key)
        return self.read(memo, lambda slots: slots[slot][key], value, f"item {key!r}")

    def shadow(self, owner: Any) -> Any:
        """A copy of an outside container whose items are read one by one."""
        slot = self.slot_of(owner)
        assert slot is not None, "containers are copied that a slot holds"
        memo = ("length", id(owner))
        if type(owner) is dict:
            keys = self.read(memo, lambda slots: tuple(slots[slot]), tuple(owner), "keys")
            return self.tracer.own({key: self.item(owner, key) for key in keys})
        count = self.read(memo, lambda slots: len(slots[slot]), len(owner), "len")
        items = [self.item(owner, number) for number in range(count)]
        apart = take_apart(owner)
        assert apart is not None, "lists and tuples come apart"
        return self.tracer.own(apart[0](items))


def same_method(value: types.MethodType) -> Holds:
    """A method of the same code, bound to the same object or to the call's own."""
    function: Any = value.__func__
    code = getattr(function, "__code__", function)

    def holds(other: Any, slots: list[Any]) -> bool:
        if type(other) is not types.MethodType:
            return False
        found: Any = other.__func__
        if getattr(found, "__code__", found) is not code:
            return False
        owner = other.__self__
        return owner is value.__self__ or any(slot is owner for slot in slots)

    return holds


def same_function(value: types.FunctionType) -> Holds:
    """A function with the same code that sees the same variables."""
    code, plain = value.__code__, not (value.__closure__ or value.__defaults__)
    plain = plain and not value.__kwdefaults__

    def holds(other: Any, _slots: list[Any]) -> bool:
        if other is value:
            return other.__code__ is code
        return (
            plain
            and type(other) is types.FunctionType
            and other.__code__ is code
            and other.__globals__ is value.__globals__
            and not (other.__closure__ or other.__defaults__ or other.__kwdefaults__)
        )

    return holds


def array_facts(value: Any) -> tuple[Any, ...]:
    """What a trace relies on of an input array."""
    if type(value) is not np.ndarray:
        return (type(value),)
    return value.dtype, value.shape, value.strides, value.flags.num & 0x500


def relation(a: np.ndarray, b: np.ndarray) -> Any:
    """How two arrays lie to each other: one object, apart, or overlapping at a distance."""
    if a is b:
        return "same"
    if not np.may_share_memory(a, b):
        return "apart"
    return a.__array_interface__["data"][0] - b.__array_interface__["data"][0]

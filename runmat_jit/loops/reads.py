"""Values that a loop reads: operands, objects, and functions of the program's that it calls.

Its operands are what the program's variables hold before its first iteration.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Container, Mapping
from dataclasses import field
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from runmat_jit.core.frozen import frozen
from runmat_jit.core.generators import is_numpys_generator, is_own_generator
from runmat_jit.core.installed import is_installed
from runmat_jit.core.slotted import slotted
from runmat_jit.loops.attributes import Objects
from runmat_jit.loops.objects import Pack, are_apart, packs_of
from runmat_jit.loops.source import (
    Chain,
    Given,
    Helper,
    HelperSource,
    LoopSource,
    OfProgram,
    default_of,
)
from runmat_jit.loops.tables import is_fixed

if TYPE_CHECKING:
    from runmat_jit.loops.program import Reads

MOST_HELPERS: Final = 8
"""Functions that call one another, from the one that a loop calls on."""
_WRITES_BACK: Final = sys.version_info < (3, 13)
"""True if a frame keeps the dict of its variables that was asked for."""
_OF_LIBRARIES: Final = frozenset(("builtins", "numpy"))
"""Modules of the classes that loops may call."""
_NUMBERS: Final = (bool, int, float, complex)
_MISSING: Final = object()


@frozen
class Found:
    """The operands and the objects of a loop, as the program has them now.

    ``owners``: functions that the loop calls, and chains, of operands that these read.
    """

    operands: dict[Chain, Any]
    objects: dict[Chain, Any]
    helpers: dict[types.FunctionType, Helper]
    owners: dict[Chain, tuple[types.FunctionType, Chain]]
    packs: list[Pack] = field(default_factory=list)
    bases: list[Any] = field(default_factory=list)

    @property
    def reads(self) -> Reads:
        """What the loop reads, without the values of operands."""
        from runmat_jit.loops.program import Reads  # noqa: PLC0415  (loaded by now)

        names = {
            fn: OfProgram(fn.__name__, fn.__code__, number)
            for number, fn in enumerate(self.helpers)
        }
        objects = {chain: of_program(value, names) for chain, value in self.objects.items()}
        helpers = {
            names[fn]: Helper(
                helper.source,
                {chain: of_program(value, names) for chain, value in helper.values.items()},
            )
            for fn, helper in self.helpers.items()
        }
        return Reads(tuple(self.operands), objects, helpers)


def of_program(value: Any, names: Mapping[Any, OfProgram]) -> Any:
    """Return an object as loops keep it: functions and classes of the program by code and name."""
    if type(value) is types.FunctionType and not is_installed(value):
        return names.get(value) or OfProgram(value.__name__, value.__code__)
    if type(value) is Objects:
        return value.with_methods(partial(of_program, names=names))
    if isinstance(value, type) and value.__module__ not in _OF_LIBRARIES:
        return OfProgram(value.__name__)
    return value


def is_operand(value: Any) -> bool:
    """Return True for an array, a number, and a generator that loops draw from."""
    kind = type(value)
    is_known = kind is np.ndarray or kind in _NUMBERS or isinstance(value, np.generic)
    return is_known or is_own_generator(kind) or is_numpys_generator(value)


def find(
    source: LoopSource,
    variables: dict[str, Any],
    outside: Callable[[str, str], Any],
    converter: Any,
    is_operand: Callable[[Any], bool] = is_operand,
    *,
    free: Container[str] = (),
    packs: bool = False,
) -> Found:
    """What a loop reads, of what has a value.

    ``outside`` gives a value by where it is found and its name; ``is_operand``: True for operands
    and what stands for one; ``free``: variables that are of functions around; ``packs``: lists of
    objects are packed (:mod:`.objects`).
    """
    found, lists = Found({}, {}, {}, {}), dict[Chain, Any]()
    own = {
        name: value
        for name, value in variables.items()
        if name not in source.assigned and name not in free
    }
    helpers = HelperFinder(found, converter, is_operand, own)
    for chain in source.chains:
        if chain.attributes and chain.name in source.assigned:
            continue  # of what the loop binds
        where = source.outside.get(chain.name)
        value = outside(where, chain.name) if where else variables.get(chain.name, _MISSING)
        taken = 0
        for name in chain.attributes:
            if is_operand(value) or type(value) in (list, np.ufunc):
                break
            found.bases.append(value)
            value, taken = attribute(value, name), taken + 1
        if value is _MISSING:
            continue
        whole = taken == len(chain.attributes)
        prefix = chain if whole else Chain(chain.name, chain.attributes[:taken])
        is_grown = prefix.name in source.grown and not prefix.attributes  # by the loop
        if is_operand(value) or (type(value) is list and is_grown):
            found.operands[prefix] = value
        elif is_fixed(value := converter.undecorated(value) or value):
            found.objects[prefix] = value
            helpers.add(value)
        elif packs and type(value) in (list, tuple):
            lists[prefix] = value
    for each in packs_of(lists, found.operands, source, converter):
        found.objects[each.chain] = each.known
        for _, method in each.known.methods:
            helpers.add(method)
        found.packs.append(each)
    if not are_apart(found.packs, found.bases):
        found.objects.clear()  # nothing is known
    return found


@slotted
class HelperFinder:
    """Functions of the program's that a loop may call, with those that they call.

    ``variables``: of the function that the loop stands in, the ones that it does not bind; a
    function that is defined there may read these alone.
    """

    found: Found
    converter: Any
    is_operand: Callable[[Any], bool]
    variables: Mapping[str, Any]

    def add(self, fn: Any) -> None:
        """Take in a function."""
        found, is_function = self.found, type(fn) is types.FunctionType and not is_installed(fn)
        if not is_function or fn in found.helpers or len(found.helpers) >= MOST_HELPERS:
            return
        source, reader = self.converter.helper(fn), Reader(fn)
        if source is None or (source.inner and not self.reads_variables(source, reader)):
            return
        values: dict[Chain, Any] = {}
        number = len(found.helpers)
        found.helpers[fn] = Helper(source, values)
        for name, value in zip(source.defaults, fn.__defaults__ or (), strict=False):
            if type(value) in (bool, int, float):
                values[default_of(name)] = value
        for chain in source.chains:
            where = source.outside[chain.name]
            value = outside(reader, where, chain.name)
            for name in chain.attributes:
                found.bases.append(value)
                value = attribute(value, name)
            if self.is_operand(value):
                given = chain
                if not source.inner or where != "free":
                    given = Chain(f"{chain} of function {number}")
                    found.owners[given] = fn, chain
                values[chain], found.operands[given] = Given(given), value
            elif is_fixed(value := self.converter.undecorated(value) or value):
                values[chain] = value
                self.add(value)

    def reads_variables(self, source: HelperSource, reader: Reader) -> bool:
        """Return True if all that a function reads of those around it are such variables."""
        names = [name for name, where in source.outside.items() if where == "free"]
        return all(
            self.variables.get(name, reader) is outside(reader, "free", name) for name in names
        )


class Reader:
    """Where the names of a function are found."""

    def __init__(self, fn: types.FunctionType) -> None:
        self.globals = fn.__globals__
        self.cells = dict(zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True))


def attribute(value: Any, name: str) -> Any:
    """An attribute that no code is run for."""
    if isinstance(value, types.ModuleType):
        return vars(value).get(name, _MISSING)
    cls: Any = type(value)
    if cls.__getattribute__ is not object.__getattribute__ or value is _MISSING:
        return _MISSING
    own = getattr(value, "__dict__", {})
    if name not in own or any(name in vars(base) for base in cls.__mro__):
        return _MISSING
    return own[name]


def outside(hooks: Any, where: str, name: str) -> Any:
    """A value from outside, of which nobody takes note yet."""
    if where == "free":
        try:
            return hooks.cells[name].cell_contents
        except ValueError:
            return _MISSING
    if name in hooks.globals:
        return hooks.globals[name]
    builtins = hooks.globals["__builtins__"]
    return (builtins if isinstance(builtins, dict) else vars(builtins)).get(name, _MISSING)


def variables_of(frame: types.FrameType) -> dict[str, Any]:
    """The variables of a frame, which keeps none of them alive for it."""
    variables = frame.f_locals
    found = dict(variables)
    if _WRITES_BACK:
        variables.clear()
    return found

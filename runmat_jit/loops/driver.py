"""Operands of a loop, and its runs in plain execution.

Its operands are what the program's variables hold before its first iteration. Where it may not run
natively, or leaves, it runs in Python from its beginning. Traced: ``capture.record.native_loops``.
"""

from __future__ import annotations

import ast
import sys
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field
from functools import partial
from itertools import repeat
from operator import length_hint
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from runmat_jit.core.epoch import DISABLED
from runmat_jit.core.frozen import frozen
from runmat_jit.core.generators import is_numpys_generator, is_own_generator
from runmat_jit.core.hotness import FAILURES, LOOKS
from runmat_jit.core.installed import is_installed
from runmat_jit.core.prices import ELEMENTS
from runmat_jit.core.watching import is_watched
from runmat_jit.loops.attributes import Objects
from runmat_jit.loops.objects import Pack, are_apart, packs_of, put_back
from runmat_jit.loops.source import Chain, Given, Helper, LoopSource, OfProgram, default_of
from runmat_jit.loops.tables import is_fixed

if TYPE_CHECKING:
    from runmat_jit.loops.program import LoopCall, Reads

MOST_HELPERS: Final = 8
"""Functions that call one another, from the one that a loop calls on."""
LONG: Final = 2000
"""Operations of Python's in a run that is worth a look each time."""
OF_ARRAYS, OF_NUMBERS = 4, 10
"""Times as many operations as Python runs in the time of a native call that is not recorded."""
_MISSING: Final = object()
_WRITES_BACK: Final = sys.version_info < (3, 13)
"""Whether a frame keeps the dict of its variables that was asked for."""
_OF_LIBRARIES: Final = frozenset(("builtins", "numpy"))
"""Modules of the classes that loops may call."""
_NUMBERS: Final = (bool, int, float, complex)


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
    packs: bool = False,
) -> Found:
    """What a loop reads, of what has a value.

    ``outside`` gives a value by where it is found and its name; ``is_operand``: True for operands
    and what stands for one; ``packs``: lists of objects are packed (:mod:`.objects`).
    """
    found, lists = Found({}, {}, {}, {}), dict[Chain, Any]()
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
            add_helper(found, value, converter)
        elif packs and type(value) in (list, tuple):
            lists[prefix] = value
    for each in packs_of(lists, found.operands, source, converter):
        found.objects[each.chain] = each.known
        for _, method in each.known.methods:
            add_helper(found, method, converter)
        found.packs.append(each)
    if not are_apart(found.packs, found.bases):
        found.objects.clear()  # nothing is known
    return found


def add_helper(found: Found, fn: Any, converter: Any) -> None:
    """Take in a function of the program's that a loop may call, and those that it calls."""
    helpers, is_function = found.helpers, type(fn) is types.FunctionType and not is_installed(fn)
    if not is_function or fn in helpers or len(helpers) >= MOST_HELPERS:
        return
    if (source := converter.helper(fn)) is None:
        return
    reader = Reader(fn)
    values: dict[Chain, Any] = {}
    number = len(helpers)
    helpers[fn] = Helper(source, values)
    for name, value in zip(source.defaults, fn.__defaults__ or (), strict=False):
        if type(value) in (bool, int, float):
            values[default_of(name)] = value
    for chain in source.chains:
        value = outside(reader, source.outside[chain.name], chain.name)
        for name in chain.attributes:
            found.bases.append(value)
            value = attribute(value, name)
        if is_operand(value):
            given = Chain(f"{chain} of function {number}")
            values[chain], found.operands[given] = Given(given), value
            found.owners[given] = fn, chain
        elif is_fixed(value := converter.undecorated(value) or value):
            values[chain] = value
            add_helper(found, value, converter)


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


def variables_of(frame: types.FrameType) -> dict[str, Any]:
    """The variables of a frame, which keeps none of them alive for it."""
    variables = frame.f_locals
    found = dict(variables)
    if _WRITES_BACK:
        variables.clear()
    return found


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


class PlainLoop:
    """A loop of a function that is not recorded.

    One that has not run natively some times in a row is looked at now and then only.
    """

    def __init__(self, hooks: Any, number: int) -> None:
        self.source: LoopSource = hooks.loops[number]
        self.name, self.converter = hooks.fn.__qualname__, hooks.converter
        self.outside = partial(outside, hooks)
        self.loops = hooks.executor.loops()
        self.declined = self.rest = self.skipped = 0
        """Looks in a row that did not run it natively; calls until the next one, since the last."""
        self.asked = self.runs = 0
        """Calls, and native runs of them, since :meth:`begin`."""
        self.is_inner = any(self.source.is_within(other) for other in hooks.loops)
        """True if it stands in a loop that may run natively, too: that one is compiled first."""
        self.unpaid = int(hooks.plain.loops_pay) * (1 + self.is_inner)
        """Operations of Python's that it has still to run before it is compiled."""
        self._unpaid = self.unpaid
        self.per_iteration = 1
        """Operations of Python's in an iteration, about."""
        self.iterations = 0
        """Iterations of the last run of a ``while``."""
        self._head: tuple[Iterator[tuple[()]], int] | None = None
        """Iterations of a ``while`` that are counted: those left, and how many there were."""
        self.last: tuple[Any, LoopCall] | None = None
        """What it read when it was last looked at, and the loop that reads that."""

    def run(self, frame: types.FrameType) -> tuple[tuple[Any, ...], ...]:
        """The values that the loop leaves in its variables, in a tuple; empty: it has not run."""
        self.asked += 1
        self._count()
        if self.rest or self.loops is None or DISABLED.depth or is_watched():
            self.rest -= self.rest > 0
            self.skipped += 1
            return ()
        self.declined += 1
        self.rest = LOOKS - 1 if self.declined >= FAILURES else 0
        found = find(self.source, variables_of(frame), self.outside, self.converter, packs=True)
        call, operands = self.call_of(found), found.operands
        iterations = max(self.iterations, call.turns)
        if not is_enough(call, operands, unknown=iterations) or not self.pays(call, operands):
            return ()
        values = tuple(operands.values())
        result = call.attempt(values)
        if result is None:
            return ()
        self.declined, self.rest, self.runs = 0, 0, self.runs + 1
        self.iterations = 0
        call.append(result, values)
        put_back(found.packs, call)
        return (call.merged(result, values),)

    def head(self) -> Iterable[tuple[()]]:
        """Return an iterable of the iterations that a ``while`` runs before it is asked again."""
        if self.unpaid <= 0 or self.loops is None:
            return ()
        count = 1 + self.unpaid // self.per_iteration
        self._head = repeat((), count), count
        return self._head[0]

    def again(self, frame: types.FrameType) -> tuple[tuple[Any, ...], ...]:
        """Run what is left of a ``while``, as :meth:`run`, if all of its head has run."""
        return () if self._head is None or length_hint(self._head[0]) else self.run(frame)

    def _count(self) -> None:
        """Count the iterations of the last ``while`` in Python."""
        if self._head is None:
            return
        left, count = self._head
        self.iterations, self._head = count - length_hint(left), None
        work = self.iterations * self.per_iteration
        self.unpaid -= work
        if work >= LONG:
            self.declined = self.rest = 0

    def begin(self) -> None:
        """Count calls, and native runs of them, from now on."""
        self.asked = self.runs = 0
        self._unpaid = self.unpaid

    @property
    def is_idle(self) -> bool:
        """True if it has not run natively, and will not soon."""
        comes = self.unpaid > 0 and LOOKS * (self._unpaid - self.unpaid) > self.unpaid
        return not self.runs and not comes

    def pays(self, call: LoopCall, operands: dict[Chain, Any]) -> bool:
        """Count a run: True if the loop has run for as long as compiling it takes."""
        if self.unpaid <= 0:
            return True
        sizes = [value.size for value in operands.values() if type(value) is np.ndarray]
        weight = call.weight if call.has_arrays or sizes else 1  # of single numbers
        operation = 1 + max(sizes, default=0) // ELEMENTS if call.has_arrays else 1
        self.per_iteration = max(1, call.per_turn * weight * operation)
        if isinstance(self.source.node, ast.While) and not self.is_inner:
            return False  # its iterations are counted
        work = call.expected * weight * operation
        self.unpaid -= work * (1 + self.skipped)
        self.skipped = 0
        if work >= LONG:
            self.declined = self.rest = 0  # look at the next one, too
        return self.unpaid <= 0

    def call_of(self, found: Found) -> LoopCall:
        """The loop that reads this."""
        objects = [repr(each) if type(each) is tuple else each for each in found.objects.values()]
        reads = tuple(found.operands), tuple(found.objects), tuple(objects)
        if self.last is None or self.last[0] != reads or found.helpers:
            self.last = reads, self.loops.call(self.source, self.name, found.reads)
        return self.last[1]


def plain_of(value: Any) -> Any:
    """A number, or the shape of an array."""
    return getattr(value, "shape", None) if isinstance(value, np.ndarray) else value


def is_enough(
    call: LoopCall,
    operands: dict[Chain, Any],
    plain_of: Callable[[Any], Any] = plain_of,
    *,
    recorded: bool = False,
    unknown: int = 0,
) -> bool:
    """Return True if Python would take longer than a native run; rarely looks at an iteration.

    ``plain_of`` gives an operand's number or shape. ``recorded``: or the operations would, recorded
    one by one. ``unknown``: iterations of the last run, for a loop of unknown length.
    """
    from runmat_jit.loops import program, sites  # noqa: PLC0415  (loaded by now)

    value_of = partial(sites.value_of, call.objects, operands, plain_of)
    known = partial(sites.evaluated, value=value_of)
    call.asked += 1
    if call.asked & (call.asked - 1) == 0 or not call.asked % LOOKS:
        call.per_turn = sites.operations_of(call.source, known)
    turns = sites.turns_of(call.source.node, known)
    if turns is None:  # of lists, many until runs of few have been seen
        turns = max(unknown, sites.TURNS * (program.LISTS if call.source.grown else 1))
    call.expected_turns, call.expected = turns, turns * call.per_turn
    if call.gave_up or (call.is_poor and call.asked % LOOKS):
        return False
    if not (recorded or call.source.grown):
        has_arrays = any(isinstance(each, np.ndarray) for each in operands.values())
        turns //= OF_ARRAYS if has_arrays else OF_NUMBERS
    return call.does_enough(turns, recorded=recorded)

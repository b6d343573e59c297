"""Loops that run natively: in a recording as one host call of the tape, in eager execution at once.

The loop is looked at before its first turn. Where it may run natively, its operands are what the
program's variables hold then; where it may not, or leaves, it runs as it stands, from its begin.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np

from runmat_jit.capture import callables
from runmat_jit.capture.record.host_calls import adopt, encoded, fork
from runmat_jit.capture.record.recording import Recording
from runmat_jit.capture.record.traced import Traced
from runmat_jit.capture.replay.resume import structure_of
from runmat_jit.capture.tape.entries import Call, refs
from runmat_jit.capture.tape.lines import Line, call_at
from runmat_jit.capture.tape.values import ARRAY, GENERIC, PYTHON
from runmat_jit.core.extent import plain
from runmat_jit.core.frozen import frozen
from runmat_jit.core.own_generator import is_own_generator
from runmat_jit.core.types import is_compiled_dtype
from runmat_jit.loops.source import Chain, HelperSource, LoopSource
from runmat_jit.runtime.arrays import host_written

if TYPE_CHECKING:
    from runmat_jit.loops.forms import Form
    from runmat_jit.loops.program import LoopCall, Reads
    from runmat_jit.loops.ways import Helper

MOST_HELPERS: Final = 8
"""Functions that call one another, from the one that a loop calls on."""
DECLINES: Final = 4
"""Calls in a row in which a loop did not run natively, after which it is looked at but rarely."""
LOOKS: Final = 64
"""Calls between such looks."""
MOST_ELEMENTS: Final = 1 << 15
"""Of arrays up to which one thread computes whole turns faster than each statement is launched."""
LONG: Final = 10_000
"""Operations whose recording takes longer than a native run of a loop that runs in tiles."""
_MISSING: Final = object()
_WRITES_BACK: Final = sys.version_info < (3, 13)
"""Whether a frame keeps the dict of its variables that was asked for."""
_NUMBERS: Final = (bool, int, float)
_FUNCTIONS: Final = (
    *(types.BuiltinFunctionType, types.FunctionType, type, np.ufunc),
    type(np.sum),
)


class LoopHooks(Protocol):
    """Hooks of a function that is recorded, as far as its loops need them."""

    converter: Any
    fn: types.FunctionType
    globals: dict[str, Any]
    cells: dict[str, Any]

    @property
    def tracer(self) -> Recording:
        """The recording."""

    @property
    def loops(self) -> tuple[LoopSource, ...]:
        """The loops of the function that may run natively, by number."""

    def glob(self, name: str, /) -> Any:
        """A global or builtin, noted as read."""

    def free(self, name: str, /) -> Any:
        """A variable of a function around, likewise."""

    def attr(self, obj: Any, name: str, /) -> Any:
        """An attribute, likewise."""

    def of(self, fn: types.FunctionType) -> LoopHooks:
        """Hooks of another function in the same recording."""


@frozen
class Found:
    """The operands and the objects of a loop, as the program has them now.

    ``owners``: of operands that functions which the loop calls read, those functions, and the
    chains by which they do.
    """

    operands: dict[Chain, Any]
    objects: dict[Chain, Any]
    helpers: dict[types.FunctionType, Helper]
    owners: dict[Chain, tuple[types.FunctionType, Chain]]

    @property
    def reads(self) -> Reads:
        """What the loop reads, without the values of operands."""
        from runmat_jit.loops.program import Reads  # noqa: PLC0415  (loaded by now)

        return Reads(tuple(self.operands), self.objects, self.helpers)


def find(
    source: LoopSource,
    variables: dict[str, Any],
    outside: Callable[[str, str], Any],
    converter: Any,
) -> Found:
    """What a loop reads, of what has a value.

    ``outside`` gives a value by where it is found and by its name.
    """
    found = Found({}, {}, {}, {})
    for chain in source.chains:
        where = source.outside.get(chain.name)
        value = outside(where, chain.name) if where else variables.get(chain.name, _MISSING)
        taken = 0
        for name in chain.attributes:
            if is_operand(value) or type(value) is list:
                break
            value, taken = attribute(value, name), taken + 1
        if value is _MISSING:
            continue
        whole = taken == len(chain.attributes)
        prefix = chain if whole else Chain(chain.name, chain.attributes[:taken])
        if is_operand(value) or (type(value) is list and is_grown(source, prefix)):
            found.operands[prefix] = value
        elif isinstance(value, _FUNCTIONS):
            found.objects[prefix] = value
            add_helper(found, value, converter)
    return found


def add_helper(found: Found, fn: Any, converter: Any) -> None:
    """Take in a function of the program's that a loop may call, and those that it calls."""
    helpers = found.helpers
    if type(fn) is not types.FunctionType or fn in helpers or len(helpers) >= MOST_HELPERS:
        return
    source = None if callables.is_installed(fn) else converter.helper(fn)
    if source is None:
        return
    from runmat_jit.loops.ways import Given, Helper  # noqa: PLC0415  (loaded by now)

    reader = Reader(fn)
    values: dict[Chain, Any] = {}
    number = len(helpers)
    helpers[fn] = Helper(source, values)
    for chain in source.chains:
        value = outside(reader, source.outside[chain.name], chain.name)
        for name in chain.attributes:
            value = attribute(value, name)
        if is_operand(value):
            given = Chain(f"{chain} of function {number}")
            values[chain], found.operands[given] = Given(given), value
            found.owners[given] = fn, chain
        elif isinstance(value, _FUNCTIONS):
            values[chain] = value
            add_helper(found, value, converter)


class Reader:
    """Where the names of a function are found."""

    def __init__(self, fn: types.FunctionType) -> None:
        self.globals = fn.__globals__
        self.cells = dict(zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True))


def is_grown(source: LoopSource, chain: Chain) -> bool:
    """Whether a loop appends to what a name of the function holds."""
    return not chain.attributes and chain.name in source.grown


def is_operand(value: Any) -> bool:
    """Whether a value is an array, a number, or a generator of ours, or stands for one."""
    kind = type(value)
    if kind in _NUMBERS or kind is Traced or kind is np.ndarray:
        return True
    return isinstance(value, np.generic) or is_own_generator(kind)


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


# -- in a recording --------------------------------------------------------------------------------
def looped(hooks: LoopHooks, number: int, frame: types.FrameType) -> tuple[tuple[Any, ...], ...]:
    """A loop of a function that is recorded."""
    recording = hooks.tracer
    loops = recording.executor.loops()
    if loops is None or recording.immediate or recording.boundary is not None or recording.leaving:
        return ()
    source = hooks.loops[number]
    variables = variables_of(frame)
    found = find(source, variables, partial(outside, hooks), hooks.converter)
    call = loops.call(source, hooks.fn.__qualname__, found.reads)
    if any(type(value) is list for value in found.operands.values()):
        return eagerly(hooks, number, call, found, frame)
    tape, line = recording.tape, recording.here()
    feeds = tape.feeding
    if feeds:
        if call.same is None:
            is_worth(call, found.operands)  # looks at it
        if not tape.feeds(call) or call.same is None:
            return ()
        result: tuple[Any, ...] = ()
    else:
        if not is_worth(call, found.operands):
            return ()
        attempted = attempt(recording, call, tuple(found.operands.values()), line)
        if attempted is None:
            return ()
        result = attempted
    # only now: what a loop that runs as it stands reads is noted where it does
    noted_of = partial(registered, hooks, source, variables=variables)
    known = {chain: noted_of(chain) for chain in found.operands if chain not in found.owners}
    for chain in found.objects:
        noted_of(chain)
    for fn, helper in found.helpers.items():
        own = {chain: registered(hooks.of(fn), helper.source, chain, {}) for chain in helper.values}
        known |= {chain: own[inner] for chain, (of, inner) in found.owners.items() if of is fn}
    values = tuple([known[chain] for chain in found.operands])
    made = noted(recording, call, values, result, line, fed=feeds)
    return (call.merged(made, values),)


def eagerly(
    hooks: LoopHooks, number: int, call: LoopCall, found: Found, frame: types.FrameType
) -> tuple[tuple[Any, ...], ...]:
    """A loop that appends to lists: where that gains more than it costs, the recording ends.

    A trace would follow each item of a list. Eager execution runs the loop natively.
    """
    from runmat_jit.loops.program import PER_CALL  # noqa: PLC0415  (loaded by now)

    recording = hooks.tracer
    if recording.tape.feeding or not recording.may_leave or not is_worth(call, found.operands):
        return ()
    gained = call.expected * call.weight // PER_CALL
    if call.replays_better or gained < recording.balance.work_with(recording.pending):
        return ()
    recording.run_away("a loop that appends to lists runs natively in eager execution")
    assert recording.eager is not None, "it may be left"
    recording.leave()
    return recording.eager.hooks(hooks.fn).loop_of(number).run(frame)  # type: ignore[no-any-return]  # of eager hooks


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


def registered(
    hooks: LoopHooks, source: LoopSource | HelperSource, chain: Chain, variables: dict[str, Any]
) -> Any:
    """A value as the recording knows it: what is read from outside is noted."""
    where = source.outside.get(chain.name)
    if where is None:
        value = variables[chain.name]
    else:
        value = hooks.glob(chain.name) if where == "glob" else hooks.free(chain.name)
    for name in chain.attributes:
        value = hooks.attr(value, name)
    return value


def is_worth(call: LoopCall, operands: dict[Chain, Any]) -> bool:
    """Whether a loop may run natively, and Python would take longer."""
    if not is_enough(call, operands):
        return False
    from runmat_jit.loops.extents import SINGLE  # noqa: PLC0415  (loaded by now)
    from runmat_jit.loops.values import Unknown  # noqa: PLC0415  (likewise)

    seen: dict[int, int] = {}
    extents = {1: SINGLE}
    for value in operands.values():
        shape = plain_of(value)
        for extent in shape if isinstance(shape, tuple) else ():
            extents.setdefault(extent, len(extents))
    forms = {c: form_of(v, n, seen, extents) for n, (c, v) in enumerate(operands.items())}
    found = call.look(forms)
    if isinstance(found, Unknown) or not is_enough(call, operands, recorded=True):
        return False
    if found.span([*map(plain_of, operands.values())]) <= MOST_ELEMENTS:
        return True
    has_gaps = any(lanes.gaps for lanes in found.lanes)
    return has_gaps or (bool(found.lanes) and call.expected >= LONG) or call.is_held(found, forms)


def plain_of(value: Any) -> Any:
    """A number, or the shape of an array; asking for it is no condition."""
    if type(value) is Traced:
        if value._rm_held is not None and value._rm_kind != ARRAY:
            return value._rm_held
        at = value._rm_geometry
        return None if at is None else tuple(map(plain, at.shape))
    return getattr(value, "shape", None) if isinstance(value, np.ndarray) else value


def form_of(value: Any, number: int, seen: dict[int, int], extents: dict[int, int]) -> Form:
    """What a kernel would be told of a value, as far as it is known without computing it."""
    from runmat_jit.loops.forms import OPAQUE, ArrayForm, NumberForm  # noqa: PLC0415  (loaded)
    from runmat_jit.loops.forms import form_of as form_of_real  # noqa: PLC0415  (likewise)
    from runmat_jit.loops.values import numpy_kind  # noqa: PLC0415  (likewise)

    if type(value) is list:
        return form_of_list(value, number, seen)
    if type(value) is not Traced:
        return form_of_real(value, number, seen, extents)
    at, held = value._rm_geometry, value._rm_held
    if value._rm_kind == ARRAY and at is not None and at.shape:
        if not is_compiled_dtype(at.dtype) or at.dtype != at.storage.dtype:
            return OPAQUE
        first = seen.setdefault(id(value), number)
        numbers = tuple([extents[plain(extent)] for extent in at.shape])
        rank = len(at.shape)
        return ArrayForm(at.dtype, rank, rank - 1, True, first, numbers)
    if value._rm_kind == PYTHON:
        return form_of_real(held, number, seen, extents)
    if value._rm_kind == GENERIC:
        dtype = held.dtype if at is None else at.dtype
        if is_compiled_dtype(dtype):
            return NumberForm(numpy_kind(dtype), narrow=dtype == np.float32)
    return OPAQUE


def form_of_list(value: list[Any], number: int, seen: dict[int, int]) -> Form:
    """The same of a list, whose items may be traced values."""
    from runmat_jit.loops.forms import FEW, ListForm, NumberForm  # noqa: PLC0415  (loaded)

    kinds = set()
    for item in value[: FEW + 1]:
        is_number = item._rm_kind != ARRAY if type(item) is Traced else np.isscalar(item)
        form = form_of(item, number, {}, {}) if is_number else None
        kinds.add(form.kind if isinstance(form, NumberForm) else None)
    alike = len(kinds) == 1 and len(value) <= FEW
    return ListForm(seen.setdefault(id(value), number), kinds.pop() if alike else None, not value)


def attempt(
    recording: Recording, call: LoopCall, values: tuple[Any, ...], line: Line | None
) -> tuple[Any, ...] | None:
    """The results of a native run on what the program has; None where there is none."""
    from runmat_jit.loops.program import PER_CALL  # noqa: PLC0415  (loaded by now)

    recording.flush()
    real = recording.raw(values)
    for value in real:
        host_written(value)
    result: tuple[Any, ...] | None = call_at(line, call.attempt, (real,), {})
    if result is not None:
        work = call.turns * call.per_turn * call.weight
        recording.balance.gained(work // PER_CALL, ours=call.ours)
    return result


def noted(
    recording: Recording,
    call: LoopCall,
    values: tuple[Any, ...],
    result: tuple[Any, ...],
    line: Line | None,
    *,
    fed: bool,
) -> tuple[Any, ...]:
    """The results of a loop as the recording knows them; ``fed``: a replay has run it.

    It is a host call of the tape: a replay that cannot run it natively ends there.
    """
    tape, found = recording.tape, encoded(recording, values, {})
    if isinstance(found, str):
        recording.effect("unknown-call", f"{call.__name__}: {found}")
        return tuple([adopt(recording, value, [])[0] for value in result])
    entry = Call(call, *found, None, line, writes=True)
    entry.errstate = recording.own_errstate
    if fed and tape.resume is not None:
        recording.flush()
        result = tape.resume.result(tape.count, {})
    first = recording.count
    adopted, entry.out = adopt(recording, result, [])
    entry.structure = structure_of(result)
    entry.new_slots = tuple([slot for slot in refs(entry.out) if slot >= first])
    tape.note(entry)
    tape.free()
    if result:
        fork(recording, entry, adopted, result)
    return adopted  # type: ignore[no-any-return]  # a tuple, as the result


# -- in eager execution ----------------------------------------------------------------------------
class EagerLoop:
    """A loop of a function that is executed eagerly.

    One that has not run natively some times in a row is looked at now and then only.
    """

    def __init__(self, hooks: Any, number: int) -> None:
        self.source: LoopSource = hooks.loops[number]
        self.name, self.converter = hooks.fn.__qualname__, hooks.converter
        self.ran = hooks.kernels.ran_loop
        self.outside = partial(outside, hooks)
        self.loops = hooks.kernels.executor.loops()
        self.declined = 0
        """Calls in a row that did not run it natively."""
        self.last: tuple[Any, LoopCall] | None = None
        """What it read when it was last looked at, and the loop that reads that."""

    def run(self, frame: types.FrameType) -> tuple[tuple[Any, ...], ...]:
        """The values that the loop leaves in its variables, in a tuple; empty: it has not run."""
        declined = self.declined
        self.declined = declined + 1
        if self.loops is None or (declined >= DECLINES and declined % LOOKS):
            return ()
        found = find(self.source, variables_of(frame), self.outside, self.converter)
        call, operands = self.call_of(found), found.operands
        if not is_enough(call, operands):
            return ()
        values = tuple(operands.values())
        result = call.attempt(values)
        if result is None:
            return ()
        self.declined = 0
        self.ran()
        call.append(result, values)
        return (call.merged(result, values),)

    def call_of(self, found: Found) -> LoopCall:
        """The loop that reads this."""
        reads = tuple(found.operands), tuple(found.objects), tuple(found.objects.values())
        if self.last is None or self.last[0] != reads or found.helpers:
            self.last = reads, self.loops.call(self.source, self.name, found.reads)
        return self.last[1]


def is_enough(call: LoopCall, operands: dict[Chain, Any], *, recorded: bool = False) -> bool:
    """Whether Python would take longer than a native run; what is in a turn is looked at rarely.

    ``recorded``: or whether the operations would, recorded one by one.
    """
    from runmat_jit.loops.program import LISTS  # noqa: PLC0415  (loaded by now)
    from runmat_jit.loops.sites import (  # noqa: PLC0415  (likewise)
        TURNS,
        evaluated,
        operations_of,
        turns_of,
    )

    known = partial(evaluated, value=lambda chain: plain_of(operands.get(chain)))
    call.asked += 1
    if call.asked & (call.asked - 1) == 0 or not call.asked % LOOKS:
        call.per_turn = operations_of(call.source, known)
    turns = turns_of(call.source.node, known)
    if turns is None:  # of lists, many until runs of few have been seen
        turns = TURNS * (LISTS if call.source.grown else 1)
    call.expected_turns, call.expected = turns, turns * call.per_turn
    if call.gave_up or (call.is_poor and call.asked % LOOKS):
        return False
    return call.does_enough(turns, recorded=recorded)

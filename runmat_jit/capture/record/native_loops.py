"""Loops that run natively in a recording: one host call of the tape (see ``loops.driver``)."""

from __future__ import annotations

import types
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np

from runmat_jit.capture.record.host_calls import adopt, encoded, fork
from runmat_jit.capture.record.recording import Recording
from runmat_jit.capture.record.traced import Traced
from runmat_jit.capture.replay.resume import structure_of
from runmat_jit.capture.tape.entries import Call, build, refs
from runmat_jit.capture.tape.lines import Line, call_at
from runmat_jit.capture.tape.storage import Storage
from runmat_jit.capture.tape.values import ARRAY, GENERIC, PYTHON
from runmat_jit.core.extent import plain
from runmat_jit.core.prices import OPERATIONS
from runmat_jit.loops import reads
from runmat_jit.loops.reads import Found
from runmat_jit.loops.source import Chain, LoopSource
from runmat_jit.runtime.arrays import host_written

if TYPE_CHECKING:
    from runmat_jit.loops.forms import Form
    from runmat_jit.loops.program import LoopCall

_ZEROS: Final = ("zeros", "zeros_like", "empty", "empty_like")
"""Rows whose results are zeros; ``empty`` may give any values."""
MOST_ELEMENTS: Final = 1 << 15
"""Of arrays up to which one thread computes whole turns faster than each statement is launched."""


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


def is_operand(value: Any) -> bool:
    """True if a value is an operand of a loop, or stands for one."""
    return type(value) is Traced or reads.is_operand(value)


def looped(hooks: LoopHooks, number: int, frame: types.FrameType) -> tuple[tuple[Any, ...], ...]:
    """A loop of a function that is recorded."""
    recording = hooks.tracer
    loops = recording.executor.loops()
    if loops is None or recording.immediate or recording.boundary is not None or recording.leaving:
        return ()
    source = hooks.loops[number]
    variables = reads.variables_of(frame)
    outside = partial(reads.outside, hooks)
    found = reads.find(source, variables, outside, hooks.converter, is_operand, free=hooks.cells)
    call = loops.call(source, hooks.fn.__qualname__, found.reads)
    if any(type(value) is list for value in found.operands.values()):
        return in_plain_execution(hooks, number, call, found, frame)
    tape, line = recording.tape, recording.here()
    feeds = tape.feeding
    if feeds:
        if call.same is None:
            is_worth(call, found.operands)  # looks at it
        fed = tape.fed_call(call, tuple(found.operands.values()))
        if fed is None or call.same is None:
            return ()
        result: tuple[Any, ...] = ()
        blank = tuple([build(each, []) for each in fed.args[len(found.operands) :]])
    else:
        if not is_worth(call, found.operands):
            return ()
        blank = blanks_among(recording, tuple(found.operands.values()))
        attempted = attempt(recording, call, (*found.operands.values(), *blank), line)
        if attempted is None:
            return ()
        result = attempted
    # only now: what a loop that runs as it stands reads is noted where it does
    noted_of = partial(registered, hooks, source.outside, variables=variables)
    known = {chain: noted_of(chain) for chain in found.operands if chain not in found.owners}
    for chain in found.objects:
        noted_of(chain)
    for fn, helper in found.helpers.items():
        if helper.source.defaults:
            recording.outside.of_function(fn, "__defaults__")
        places = helper.source.outside
        read = [chain for chain in helper.values if chain.name in places]
        if helper.source.inner:  # what it reads of functions around are variables of this one
            places = {name: where for name, where in places.items() if where != "free"}
        own = {chain: registered(hooks.of(fn), places, chain, variables) for chain in read}
        known |= {chain: own[inner] for chain, (of, inner) in found.owners.items() if of is fn}
    values = tuple([known[chain] for chain in found.operands])
    made = noted(recording, call, (*values, *blank), result, line, fed=feeds)
    return (call.merged(made, values),)


def in_plain_execution(
    hooks: LoopHooks, number: int, call: LoopCall, found: Found, frame: types.FrameType
) -> tuple[tuple[Any, ...], ...]:
    """A loop that appends to lists: where that gains more than it costs, the recording ends.

    A trace would follow each item of a list. Plain execution runs the loop natively.
    """
    recording = hooks.tracer
    if recording.tape.feeding or not recording.may_leave or not is_worth(call, found.operands):
        return ()
    gained = call.expected * call.weight // OPERATIONS
    if call.replays_better or gained < recording.balance.work_with(recording.pending):
        return ()
    recording.run_away("a loop that appends to lists runs natively in plain execution")
    assert recording.plain is not None, "it may be left"
    recording.leave()
    return recording.plain.hooks(hooks.fn).loop_of(number).run(frame)  # type: ignore[no-any-return]  # of plain hooks


def registered(
    hooks: LoopHooks, places: Mapping[str, str], chain: Chain, variables: dict[str, Any]
) -> Any:
    """A value as the recording knows it: what is read from outside (``places``) is noted."""
    where = places.get(chain.name)
    if where is None:
        value = variables[chain.name]
    else:
        value = hooks.glob(chain.name) if where == "glob" else hooks.free(chain.name)
    for name in chain.attributes:
        value = hooks.attr(value, name)
    return value


def is_worth(call: LoopCall, operands: dict[Chain, Any]) -> bool:
    """True if a loop may run natively, and Python would take longer."""
    from runmat_jit.loops.sites import is_enough  # noqa: PLC0415  (loaded by now)

    if not is_enough(call, operands, plain_of, recorded=True):
        return False
    from runmat_jit.loops.extents import SINGLE  # noqa: PLC0415  (likewise)
    from runmat_jit.loops.values import Unknown  # noqa: PLC0415  (likewise)

    seen: dict[int, int] = {}
    extents = {1: SINGLE}
    for value in operands.values():
        shape = plain_of(value)
        for extent in shape if isinstance(shape, tuple) else ():
            extents.setdefault(extent, len(extents))
    forms = {c: form_of(v, n, seen, extents) for n, (c, v) in enumerate(operands.items())}
    found, given = call.look(forms), [*map(plain_of, operands.values())]
    if isinstance(found, Unknown) or not found.knows(given):
        return False
    call.decide(found, forms, given)
    if not call.does_enough(call.expected_turns, recorded=True):
        return False
    if found.span(given) <= max(MOST_ELEMENTS, found.drawn_span(given)):
        return not call.is_kept(found, given)
    return call.gains_in_tiles(found, forms, given)


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
    from runmat_jit.loops.forms import (  # noqa: PLC0415  (loaded)
        LONG,
        OPAQUE,
        ArrayForm,
        NumberForm,
        is_loop_dtype,
    )
    from runmat_jit.loops.forms import form_of as form_of_real  # noqa: PLC0415  (likewise)
    from runmat_jit.loops.values import numpy_kind  # noqa: PLC0415  (likewise)

    if type(value) is list:
        return form_of_list(value, number, seen)
    if type(value) is not Traced:
        return form_of_real(value, number, seen, extents)
    at, held = value._rm_geometry, value._rm_held
    if value._rm_kind == ARRAY and at is not None and at.shape:
        if not is_loop_dtype(at.dtype) or at.dtype != at.storage.dtype:
            return OPAQUE
        first = seen.setdefault(id(value), number)
        numbers = tuple([extents[plain(extent)] for extent in at.shape])
        rank = len(at.shape)
        is_long = max(plain(extent) for extent in at.shape) > LONG
        return ArrayForm(at.dtype, rank, rank - 1, True, first, numbers, is_long)
    if value._rm_kind == PYTHON:
        return form_of_real(held, number, seen, extents)
    if value._rm_kind == GENERIC:
        dtype = held.dtype if at is None else at.dtype
        if is_loop_dtype(dtype):
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


def blanks_among(recording: Recording, values: tuple[Any, ...]) -> tuple[tuple[int, ...], ...]:
    """The places of arrays that are zeros as they were made: told to a loop after its operands."""
    made: dict[Storage, list[str]] = {}
    for operation in recording.pending:
        made.setdefault(operation.target.storage, []).append(operation.meaning.row.name)
    found = tuple(
        [
            place
            for place, value in enumerate(values)
            if type(value) is Traced
            and value._rm_geometry is not None
            and value._rm_geometry.whole()
            and value._rm_geometry.storage.memory is None
            and made.get(value._rm_geometry.storage, [""])[0] in _ZEROS
            and len(made[value._rm_geometry.storage]) == 1
        ]
    )
    return (found,) if found else ()


def attempt(
    recording: Recording, call: LoopCall, values: tuple[Any, ...], line: Line | None
) -> tuple[Any, ...] | None:
    """The results of a native run on what the program has; None where there is none."""
    recording.flush()
    real = recording.raw(values)
    for value in real:
        host_written(value)
    result: tuple[Any, ...] | None = call_at(line, call.attempt, (real,), {})
    if result is not None:
        work = call.turns * call.per_turn * call.weight
        recording.balance.gained(work // OPERATIONS, ours=call.rounds)
        recording.balance.loops += work // OPERATIONS
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

"""Single numbers: elements of memory that exists, and arithmetic on them, by NumPy.

NumPy's scalars compute faster than a kernel is called, and a loop that looks at one element after
another would need a kernel for each. What is done is noted, for replays to do it again; where
nothing is to be repeated, the program gets real numbers, and Python computes with them.

Beside work on arrays single numbers cost nothing in a kernel. So each instruction of the program is
deferred the first times, with a *recipe*: how NumPy computes it, if nothing but single numbers is
pending when a value is asked for, or if the instruction turns out to be part of a loop.
"""

from __future__ import annotations

import operator
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from runmat_jit.capture.record import views
from runmat_jit.capture.record.balance import count
from runmat_jit.capture.record.traced import Traced
from runmat_jit.capture.replay.steps import Apply, Call
from runmat_jit.capture.tape import call_forms
from runmat_jit.capture.tape.entries import Compute, Op, Ref
from runmat_jit.capture.tape.lines import Line, call_at
from runmat_jit.capture.tape.pending import Form
from runmat_jit.capture.tape.storage import Storage
from runmat_jit.capture.tape.values import GENERIC, NOTHING, PYTHON
from runmat_jit.core.errstate import call_under, current_errstate

if TYPE_CHECKING:
    from runmat_jit.capture.record.tracer import Tracer
    from runmat_jit.capture.tape.pending import KnownCall, Pending

DEFERRED: Final = 64
"""Operations on single numbers of a recording that may be deferred."""
TIMES_DEFERRED: Final = 1
"""Times that one instruction of the program is deferred: it is part of a loop if it comes again."""
UNKNOWN, _POWERS = object(), (operator.pow, operator.ipow, pow, np.power, np.float_power)
SCALARS: Final = (bool, int, float, np.generic)


def fed(tracer: Tracer, fn: Any, otherwise: Any = UNKNOWN) -> Any:
    """What a call of ``fn`` gave that a replay has made here, if one has."""
    steps = tracer.steps
    found = steps.fed_operation(fn) if steps.feeding else None
    if found is None or steps.feed is None:
        return otherwise
    return steps.feed.slots[found.out.slot]


def raw_position(key: Any) -> tuple[Any, ...] | None:
    """A key as whole numbers, one for each axis; None if it is anything else."""
    parts = key if type(key) is tuple else (key,)
    for part in parts:
        if type(part) is not int and (type(part) is Traced or not isinstance(part, np.integer)):
            return None
    return parts


def comes_again(tracer: Tracer) -> bool:
    """Whether the program has been at this instruction before, or at many others like it."""
    balance = tracer.balance
    if balance.native or balance.deferred >= DEFERRED:
        return True
    place = tracer.lines.place()
    times = balance.places[place] = balance.places.get(place, 0) + 1
    if times > TIMES_DEFERRED:
        return True
    balance.deferred += 1
    return False


# -- pending numbers -------------------------------------------------------------------------------
class Recipe(NamedTuple):
    """How NumPy computes a pending number.

    ``args`` is as a tape has it; ``values`` are real arrays and numbers, and storages of pending
    ones.
    """

    fn: Any
    args: tuple[Any, ...]
    values: tuple[Any, ...]


Recipes = dict[Storage, Recipe]
"""Those of a recording's pending numbers."""


def remember(tracer: Tracer, made: Any, fn: Any, args: tuple[Any, ...]) -> Any:
    """Keep how NumPy computes a number that is now pending, if it can; gives the number back."""
    at = made._rm_geometry if type(made) is Traced else None
    if at is None or at.storage.memory is not None or tracer.boundary is not None:
        return made
    if fn is call_forms.GETITEM:
        values: tuple[Any, ...] = views.shape_array(tracer, args[0]), raw_position(args[1])
    else:
        values = tuple([ingredient(tracer, arg) for arg in args])
        if any(value is UNKNOWN for value in values):
            return made
    tracer.recipes[at.storage] = Recipe(fn, tuple(map(tracer.encode, args)), values)
    return made


def ingredient(tracer: Tracer, value: Any) -> Any:
    """What a recipe keeps of an operand: a number, or its storage if that has a recipe too."""
    at = value._rm_geometry if type(value) is Traced else None
    if at is not None and at.storage in tracer.recipes:
        return at.storage
    return known(tracer, value)


def all_by_numpy(tracer: Tracer, pending: list[Pending]) -> bool:
    """Compute what is pending if that is single numbers alone: whether it was."""
    recipes = tracer.recipes
    found = bool(recipes) and all(operation.target.storage in recipes for operation in pending)
    if found:
        for operation in pending:
            follow(tracer, operation)
    recipes.clear()
    return found


def follow(tracer: Tracer, operation: Pending, quiet: Any = None) -> None:
    """Have NumPy compute a pending number, whose operands it has computed.

    Raises:
        FloatingPointError: there is something to warn of, which is not to be done under ``quiet``.

    """
    storage, line = operation.target.storage, operation.line
    recipe = tracer.recipes[storage]
    values = [
        value.memory[()] if type(value) is Storage and value.memory is not None else value
        for value in recipe.values
    ]
    state = tracer.token if quiet is None else quiet  # of the program where it was recorded
    made = called(tracer, line, recipe.fn, tuple(values), state)
    storage.memory = np.asarray(made)
    tracer.balance.elements += 1
    if tracer.steps.keeps_entries:
        single = Single(recipe.fn, recipe.args, line, operation.meaning, quiet)
        add_step(tracer, single, storage.slot, operation.entry)


def settle(tracer: Tracer) -> None:
    """Have NumPy compute the pending numbers, or all that is pending if there is a warning."""
    ours = [operation for operation in tracer.pending if operation.target.storage in tracer.recipes]
    if len(ours) == len(tracer.pending):
        tracer.flush()
        return
    feed = tracer.steps.feed
    try:
        for operation in ours if feed is None else feed.left_of(ours):
            follow(tracer, operation, quiet_for(tracer, operation.meaning))
    except FloatingPointError:
        done = {each.target.storage for each in ours if each.target.storage.memory is not None}
        tracer.pending = [each for each in tracer.pending if each.target.storage not in done]
        tracer.flush()
    else:
        tracer.pending = [e for e in tracer.pending if e.target.storage not in tracer.recipes]


def quiet_for(tracer: Tracer, meaning: Compute | None) -> Any:
    """The state of errors for what is computed before operations that came before it.

    None if that makes no difference: it warns of nothing.
    """
    events = meaning is not None and meaning.row.events and tracer.state.warn
    return tracer.state.raising if events and tracer.pending else None


# -- numbers that are known ------------------------------------------------------------------------
def known(tracer: Tracer, value: Any) -> Any:
    """The real number behind a value; nothing where it is no single number, or not to be had."""
    if type(value) is not Traced:
        return value if isinstance(value, SCALARS) else UNKNOWN
    if value._rm_kind not in (GENERIC, PYTHON) or value._rm_tracer is not tracer:
        return UNKNOWN
    if value._rm_held is not None:
        return value._rm_held
    at = value._rm_geometry
    if at is None or tracer.boundary is not None:
        return UNKNOWN
    if at.storage.memory is None:
        if at.storage not in tracer.recipes:
            return UNKNOWN
        settle(tracer)
    return tracer.materialize(value)


def compute(tracer: Tracer, fn: Any, args: tuple[Any, ...], call: KnownCall) -> Any:
    """An operation on single numbers, all of which are known; None where it is to be deferred."""
    operands = []
    if not comes_again(tracer):
        return None
    for arg in args:
        number = known(tracer, arg)
        if number is UNKNOWN:
            return None
        operands.append(number)
    line, made, pattern = tracer.lines.here(), fed(tracer, fn), call.pattern
    quiet = quiet_for(tracer, pattern.meaning)
    if made is UNKNOWN and quiet is not None:
        try:
            made = called(tracer, line, fn, tuple(operands), quiet)
        except FloatingPointError:
            tracer.flush()
            quiet = None
    if made is UNKNOWN:
        made = called(tracer, line, fn, tuple(operands))
    return note(tracer, Single(fn, args, line, pattern.meaning, quiet), made, pattern.form)


def called(
    tracer: Tracer, line: Line | None, fn: Any, args: tuple[Any, ...], state: Any = None
) -> Any:
    """A call on real values, under a state of errors; an exception is an effect.

    Raises:
        FloatingPointError: the state is one under which there is to be nothing to warn of.

    """
    try:
        if state is None or state is current_errstate():
            return call_at(line, fn, args, NOTHING)
        return call_under(state, partial(call_at, line, fn, args, NOTHING))
    except FloatingPointError:
        raise
    except Exception as error:
        tracer.effect("exception", f"{type(error).__name__} in {call_forms.name_of(fn)}")
        raise


class Single(NamedTuple):
    """A call that gives a single number."""

    fn: Any
    args: tuple[Any, ...]
    line: Line | None
    meaning: Compute | None = None
    quiet: Any = None
    """As of :class:`Apply`."""


def note(tracer: Tracer, call: Single, made: np.generic, form: Form) -> Any:
    """The traced form of a number that has just been computed; itself if the program gets those."""
    count(tracer)
    if tracer.balance.native:
        return made
    slot, steps = tracer.count, tracer.steps
    tracer.count = slot + 1
    traced = Traced(tracer, slot, GENERIC, held=made, form=form)
    if not steps.keeps_entries:
        return traced
    encode = tracer.encoder.encode
    args = tuple([Ref(a._rm_slot) if type(a) is Traced else encode(a) for a in call.args])
    steps.note(add_step(tracer, call._replace(args=args), slot, steps.count))
    return traced


def add_step(tracer: Tracer, call: Single, slot: int, entry: int) -> Op:
    """Have replays make a call, of encoded arguments: its entry."""
    fn, args, line, meaning, quiet = call
    steps, state = tracer.steps, tracer.state
    warns = meaning is not None and meaning.row.events and state.warn
    steps.need(args)
    op = Op(fn, args, NOTHING, Ref(slot), None if line is None else line.source, meaning)
    if tracer.token is tracer.first_token and line is not None:
        raising = state.raising if warns else None
        steps.add(Apply(fn, args, slot, line, raising, quiet is not None, entry))
    else:
        errstate = None if tracer.token is tracer.first_token else tracer.token
        done = entry + 1 if warns and quiet is None else 0
        steps.add(Call(op, None, line, upto=done, errstate=quiet or errstate))
    return op


def lifted(tracer: Tracer, fn: Any, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Real numbers that the program got as operands by value: no program is made for each.

    Exponents stay what they are: NumPy has ways of its own for some.
    """
    if fn in _POWERS:
        return args
    return tuple(
        [tracer.lift(a) if type(a) is float or isinstance(a, np.generic) else a for a in args]
    )

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

from runmat_jit.capture import classify, host, views
from runmat_jit.capture.balance import count, work_of
from runmat_jit.capture.lines import Line, call_at
from runmat_jit.capture.storage import Storage
from runmat_jit.capture.tape import Compute, Op, Ref
from runmat_jit.capture.trace import Apply, Call
from runmat_jit.capture.traced import ARRAY, GENERIC, NOTHING, PYTHON, Form, Traced
from runmat_jit.capture.values import NUMBERS
from runmat_jit.core.errstate import call_under, current_errstate
from runmat_jit.runtime.arrays import host_written

if TYPE_CHECKING:
    from runmat_jit.capture.patterns import KnownCall
    from runmat_jit.capture.pending import Pending
    from runmat_jit.capture.tracer import Tracer

DEFERRED: Final = 64
"""Operations on single numbers of a recording that may be deferred."""
TIMES_DEFERRED: Final = 1
"""Times that one instruction of the program is deferred: it is part of a loop if it comes again."""
WRITES_DEFERRED: Final = 4
"""Elements that a recording writes in kernels: the others are written at once where that can be."""
_NOTHING, _POWERS = object(), (operator.pow, operator.ipow, pow, np.power, np.float_power)
_NUMBERS: Final = (bool, int, float, np.generic)


def item(tracer: Tracer, array: Traced, key: Any) -> Any:
    """An item, as of :meth:`Tracer.getitem`."""
    found = read(tracer, array, key)
    return tracer.call(classify.GETITEM, (array, key), NOTHING) if found is None else found


def set_item(tracer: Tracer, array: Traced, key: Any, value: Any) -> None:
    """An item assignment."""
    if not write(tracer, array, key, value):
        tracer.call(classify.SETITEM, (array, key, value), NOTHING)


def read(tracer: Tracer, array: Traced, key: Any) -> Any:
    """``array[key]`` for a key of whole numbers, where the memory holds what it will show.

    A NumPy scalar, traced while the call may be repeated; None where it is not to be had so.
    """
    if tracer.passive:
        return None
    tracer.refresh_errstate()
    made = native_item(tracer, array, key) if tracer.balance.native else None
    if made is not None:
        return made
    position = raw_position(key)
    if position is None or tracer.writes_pending or not is_at_hand(tracer, array, len(position)):
        return None
    if not comes_again(tracer):
        made = tracer.call(classify.GETITEM, (array, key), NOTHING)
        return remember(tracer, made, classify.GETITEM, (array, key))
    try:
        there = views.shape_array(tracer, array)[position]
    except IndexError:
        return None  # NumPy raises it where the call is followed
    made = fed(tracer, classify.GETITEM, there)
    form = tracer.patterns.form_of_number(type(made))
    return note(tracer, Single(classify.GETITEM, (array, key), tracer.lines.here()), made, form)


def native_item(tracer: Tracer, array: Traced, key: Any) -> Any:
    """An element of an array that has been looked at before, for a program that gets real ones."""
    held = array._rm_held
    if (
        type(key) is not int
        or held is None
        or array._rm_kind != ARRAY
        or tracer.writes_pending
        or tracer.boundary
    ):
        return None
    try:
        made = held[key]
    except IndexError:
        return None  # as in read()
    return made if isinstance(made, np.generic) else None


def is_at_hand(tracer: Tracer, array: Traced, ndim: int) -> bool:
    """Whether the array, of ``ndim`` axes, has memory of this recording, and on the host."""
    at = array._rm_geometry
    if array._rm_kind != ARRAY or at is None or at.storage.memory is None or len(at.shape) != ndim:
        return False
    hollow = at.storage.hollow and not tracer.steps.feeding
    known = at.dtype.char in NUMBERS and array._rm_tracer is tracer
    return known and tracer.boundary is None and not hollow


def fed(tracer: Tracer, fn: Any, otherwise: Any = _NOTHING) -> Any:
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
    if fn is classify.GETITEM:
        values: tuple[Any, ...] = views.shape_array(tracer, args[0]), raw_position(args[1])
    else:
        values = tuple([ingredient(tracer, arg) for arg in args])
        if any(value is _NOTHING for value in values):
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
        return value if isinstance(value, _NUMBERS) else _NOTHING
    if value._rm_kind not in (GENERIC, PYTHON) or value._rm_tracer is not tracer:
        return _NOTHING
    if value._rm_held is not None:
        return value._rm_held
    at = value._rm_geometry
    if at is None or tracer.boundary is not None:
        return _NOTHING
    if at.storage.memory is None:
        if at.storage not in tracer.recipes:
            return _NOTHING
        settle(tracer)
    return tracer.materialize(value)


def compute(tracer: Tracer, fn: Any, args: tuple[Any, ...], call: KnownCall) -> Any:
    """An operation on single numbers, all of which are known; None where it is to be deferred."""
    operands = []
    if not comes_again(tracer):
        return None
    for arg in args:
        number = known(tracer, arg)
        if number is _NOTHING:
            return None
        operands.append(number)
    line, made, pattern = tracer.lines.here(), fed(tracer, fn), call.pattern
    quiet = quiet_for(tracer, pattern.meaning)
    if made is _NOTHING and quiet is not None:
        try:
            made = called(tracer, line, fn, tuple(operands), quiet)
        except FloatingPointError:
            tracer.flush()
            quiet = None
    if made is _NOTHING:
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
        tracer.effect("exception", f"{type(error).__name__} in {host.name_of(fn)}")
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


def write(tracer: Tracer, array: Traced, key: Any, value: Any) -> bool:
    """``array[key] = value`` for one element and a known number: whether it was done."""
    if tracer.passive:
        return False
    tracer.refresh_errstate()
    if tracer.balance.native and type(key) is int and native_store(tracer, array, key, value):
        return True
    position = raw_position(key)
    if position is None or array._rm_kind != ARRAY or tracer.boundary is not None:
        return False
    count(tracer)
    tracer.balance.writes += 1
    if tracer.balance.writes <= WRITES_DEFERRED:
        return False
    if tracer.pending and tracer.balance.writes >= tracer.balance.next_look:
        tracer.balance.next_look = 2 * tracer.balance.writes
        if 4 * sum(map(work_of, tracer.pending)) <= tracer.balance.writes:
            tracer.flush()
    number = known(tracer, value)
    if tracer.pending or number is _NOTHING or not is_at_hand(tracer, array, len(position)):
        return False
    if tracer.steps.keeps_entries:
        host.run_host(tracer, classify.SETITEM, (array, key, value), {}, writes=True)
    else:
        source = views.shape_array(tracer, array)
        host_written(source)
        called(tracer, tracer.lines.here(), operator.setitem, (source, position, number))
    return True


def native_store(tracer: Tracer, array: Traced, key: int, value: Any) -> bool:
    """Store a real number in a vector that has been looked at before: whether it was done."""
    held = array._rm_held
    if held is None or array._rm_kind != ARRAY or tracer.pending or tracer.boundary:
        return False
    if not isinstance(value, _NUMBERS) or held.ndim != 1:
        return False
    host_written(held)
    called(tracer, tracer.lines.here(), operator.setitem, (held, key, value))
    return True


def lifted(tracer: Tracer, fn: Any, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Real numbers that the program got as operands by value: no program is made for each.

    Exponents stay what they are: NumPy has ways of its own for some.
    """
    if fn in _POWERS:
        return args
    return tuple(
        [tracer.lift(a) if type(a) is float or isinstance(a, np.generic) else a for a in args]
    )

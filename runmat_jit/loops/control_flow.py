"""Branches of an iteration: where they join, types are joined and values selected."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from runmat_jit.kernel.ir import Instruction, Value
from runmat_jit.loops import registers
from runmat_jit.loops.emitter import DOUBT, Emitter, Known, tag
from runmat_jit.loops.values import (
    TRUTH,
    TYPES,
    UNBOUND,
    Array,
    Complex,
    ComplexName,
    Item,
    Never,
    Scalar,
    Unbound,
    held_as,
    in_register,
    is_held,
    joined,
    literal,
    parts_of,
    register,
    register_type,
    scalar,
)


def is_numpys(e: Emitter, made: Item) -> Item:
    """True if a number is one of NumPy's."""
    pythons = {kind.python for kind in made.kinds} if isinstance(made, Scalar) else set()
    if len(pythons) == 1:
        return literal(e.k, number=not pythons.pop())
    same = (name for name in e.told if e.names.get(name) is made and tag(name) in e.names)
    found = next((e.names[tag(name)] for name in same), UNBOUND)
    if isinstance(found, Unbound) and isinstance(made, Scalar):
        return e.numpys.get(made.value.number, UNBOUND)
    return found


def doubt(e: Emitter, condition: Value) -> None:
    """From here on there is doubt where the condition holds."""
    if e.around and e.around[-1].waits:
        e.k.leave_if(condition)  # nothing is gained by going on
        return
    before = e.names[DOUBT]
    assert isinstance(before, Scalar), "it is a truth value from the beginning"
    value = condition if before.literal is False else before.value | condition
    e.names[DOUBT] = Scalar(frozenset((TRUTH,)), value)


def choose(
    e: Emitter, condition: Value, then: Callable[[], None], otherwise: Callable[[], None] | None
) -> None:
    """One of two ways; what is known after both is joined."""
    if e.streams is None:
        _choose(e, condition, then, otherwise)
    else:
        _choose_in_lanes(e, condition, then, otherwise)


def _choose(
    e: Emitter, condition: Value, then: Callable[[], None], otherwise: Callable[[], None] | None
) -> None:
    """The same of one stream of code."""
    before = dict(e.names)
    first = _captured(e, then)
    after_first, e.names = e.names, dict(before)
    second = _captured(e, otherwise) if otherwise is not None else []
    after_second = e.names
    changed = sorted(
        name
        for name in {*after_first, *after_second}
        if after_first.get(name) is not before.get(name)
        or after_second.get(name) is not before.get(name)
    )
    met = {
        name: joined(after_first.get(name, UNBOUND), after_second.get(name, UNBOUND))
        for name in changed
    }
    chosen = [name for name in changed if register(met[name]) is not None]
    kinds = {name: register_type(met[name]) for name in chosen}
    starts = [start(e, before.get(name), kinds[name]) for name in chosen]
    telling = {
        name
        for name in changed
        for known in (after_first, after_second)
        if _is_new(e, known.get(name), before.get(name))
    }
    block = e.k.if_(condition, starts)
    with block:
        e.resume(first)
        _drop(e, after_first, telling.difference(chosen))
        block.yield_(*(held(e, after_first[name], kinds[name]) for name in chosen))
    values = block.out
    if otherwise is not None:
        opposite = e.k.prim("xor", condition, True)
        block = e.k.if_(opposite, values)
        with block:
            e.resume(second)
            _drop(e, after_second, telling.difference(chosen))
            block.yield_(*(held(e, after_second[name], kinds[name]) for name in chosen))
        values = block.out
    e.names = before
    e.names.update(met)
    for name, value in zip(chosen, values, strict=True):
        e.names[name] = in_register(met[name], value)
        if name in telling:  # who needs the one needs what it was chosen from
            e.arithmetic.made_at[value.number] = e.arithmetic.place


def _choose_in_lanes(
    e: Emitter, condition: Value, then: Callable[[], None], otherwise: Callable[[], None] | None
) -> None:
    """The same of numbers, and of what is computed in lanes."""
    k, streams, before = e.k, registers.streams_of(e), dict(e.names)
    with registers.in_lanes(e):
        condition_of_lanes = registers.for_lanes(e, condition)
    codes: list[list[Instruction]] = [[], []]
    ends: list[Known] = [before, before]

    def run(way: int, emit: Callable[[], None]) -> Callable[[], None]:
        def emitted() -> None:
            with registers.lane_code(e, codes[way]):
                emit()
            ends[way] = dict(e.names)

        return emitted

    both = run(0, then), None if otherwise is None else run(1, otherwise)
    _choose(e, condition, *both)
    met = [
        name
        for name, item in e.names.items()
        if isinstance(item, Array) and item.held and item is not before.get(name)
    ]
    values = [value for name in met for value in _held_before(e, before.get(name), e.names[name])]
    with registers.in_lanes(e):
        for way in range(1 if otherwise is None else 2):
            test = k.prim("xor", condition_of_lanes, True) if way else condition_of_lanes
            if codes[way] or met:
                block = k.if_(test, values)
                body = k.begin(block)
                body.extend(codes[way])
                k.end(block, body, [v for name in met for v in registers.held_by(ends[way][name])])
                values = list(block.out)
    either = [registers.held_by(known[name]) for known in ends for name in met]
    streams.shared.update({id(each): each for each in either})
    for place, name in enumerate(met):
        item, first = e.names[name], place * streams.width
        assert isinstance(item, Array), "it is held in lanes"
        e.names[name] = replace(item, held=tuple(values[first : first + streams.width]))


def _held_before(e: Emitter, old: Item | None, item: Item) -> Sequence[Value]:
    """What is held in lanes before two ways of which each gives a name an array like this one."""
    assert isinstance(item, Array), "it is held in lanes"
    if isinstance(old, Array) and old.held and old.dtype == item.dtype:
        return old.held
    with registers.in_lanes(e):
        zero = e.k.const(False if item.dtype.kind == "b" else 0, TYPES[item.dtype])
        return [e.k.splat(zero, zero.type)] * registers.streams_of(e).width


def _is_new(e: Emitter, item: Item | None, before: Item | None) -> bool:
    """True if a name has got a result that nobody has used yet."""
    if not isinstance(item, Scalar) or item is before:
        return False
    return item.value.number in e.arithmetic.made_at


def _drop(e: Emitter, known: Known, names: Iterable[str]) -> None:
    """The values of names that are known no more after a way."""
    for name in sorted(names):
        if isinstance(item := known.get(name), Scalar):
            e.arithmetic.dropped(item)


def held(e: Emitter, item: Item, kind: str) -> Value:
    if isinstance(item, Scalar):
        return held_as(e.k, item, kind)
    if isinstance(item, Never):
        return start(e, None, kind)
    found = register(item)
    assert found is not None, "it was joined with what is held in a register"
    return found


def start(e: Emitter, item: Item | None, kind: str) -> Value:
    """What a name is where a way is not taken; anything, where it will not be read then."""
    if isinstance(item, Scalar) and is_held(item, kind):
        return held_as(e.k, item, kind)
    if isinstance(item, Array) and item.whole and kind == "index":
        return held(e, item, kind)
    return e.k.const(False if kind == "i1" else 0, kind)


def _captured(e: Emitter, emit: Callable[[], None]) -> list[Instruction]:
    """The instructions that something emits, to be put in their place later."""
    place, e.arithmetic.place = e.arithmetic.place, e.k.placeholder("i1").number
    with e.memory.holding(), e.aside() as instructions:
        emit()
    e.arithmetic.place = place
    return instructions


def both(e: Emitter, first: Scalar, other: Callable[[], Scalar], *, when: bool) -> Scalar:
    """``first and other()`` (``when`` true) or ``first or other()``."""
    if first.literal is not None:
        return other() if bool(first.literal) is when else first
    condition = e.arithmetic.truth(first)
    if not when:
        condition = e.k.prim("xor", condition, True)
    return _chosen(e, condition, other, lambda: first)


def _chosen(
    e: Emitter, condition: Value, then: Callable[[], Scalar], otherwise: Callable[[], Scalar]
) -> Scalar:
    """One of two real numbers, each of which is computed only where it is wanted."""
    return scalar(chosen_number(e, condition, then, otherwise))


def chosen_number(
    e: Emitter,
    condition: Value,
    then: Callable[[], Scalar | Complex],
    otherwise: Callable[[], Scalar | Complex],
) -> Scalar | Complex:
    """The same of any numbers."""
    names = name, tagged, *parts = "%chosen", tag("%chosen"), *parts_of("%chosen")
    around = {each: e.names.pop(each) for each in names if each in e.names}

    def put(compute: Callable[[], Scalar | Complex]) -> Callable[[], None]:
        def emit() -> None:
            made = compute()
            e.names[tagged] = is_numpys(e, made)
            if isinstance(made, Complex):
                e.names |= dict(zip(parts, (made.re, made.im), strict=True))
                e.names[name] = ComplexName(made.kinds)
            else:
                e.names[name] = made

        return emit

    choose(e, condition, put(then), put(otherwise))
    found, numpys, *both = (e.names.pop(each, UNBOUND) for each in names)
    e.names |= around
    if isinstance(found, ComplexName):
        return Complex(found.kinds, *map(scalar, both))
    found = scalar(found)
    e.numpys[found.value.number] = numpys
    return found

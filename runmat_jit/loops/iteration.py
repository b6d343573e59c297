"""What ``for`` iterates: ranges, arrays, tuples, and several of these at once."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import replace

from runmat_jit.core.frozen import frozen
from runmat_jit.kernel.ir import Value
from runmat_jit.loops import elements, indexing, list_objects, lists
from runmat_jit.loops.attributes import Objects
from runmat_jit.loops.emitter import Emitter
from runmat_jit.loops.forms import FEW
from runmat_jit.loops.values import (
    EXTENT,
    INT,
    INT64,
    LEAST,
    MOST,
    Array,
    Grown,
    Item,
    Items,
    Lazy,
    Line,
    Object,
    Scalar,
    Thing,
    Unknown,
    literal,
    scalar,
)
from runmat_jit.loops.whole_arrays import known_dims


@frozen
class Turns:
    """Number of times that a ``for`` runs, and what its target is in iteration ``k``.

    ``unrolled``: it has so many turns, each written by itself, of which ``item`` gets the number.
    """

    count: Value
    item: Callable[[Value], Item]
    unrolled: int | None = None


def turns(e: Emitter, node: ast.expr, *, grows: bool) -> Turns:
    """What a ``for`` iterates; ``grows``: it appends to lists, of which it may be one."""
    if isinstance(node, ast.Call):
        made_by = e.item(node.func)
        fn = made_by.value if isinstance(made_by, Object) else None
        named = {str(each.arg): each.value for each in node.keywords}
        if fn in (range, reversed) and not named:
            if fn is range:
                return _range(e, node.args)
            if len(node.args) == 1 and not _is_iterator(e, node.args[0]):
                inner = turns(e, node.args[0], grows=grows)
                last = inner.count - 1 if inner.unrolled is None else inner.unrolled - 1
                return replace(inner, item=lambda k: inner.item(_before(e, last, k)))
        if fn is enumerate and set(named) <= {"start"} and node.args:
            return _numbered(e, [*node.args, *named.values()], grows=grows)
        if fn is zip and set(named) <= {"strict"} and node.args:
            return _zipped(e, node.args, named.get("strict"), grows=grows)
    iterated = _kept(e, e.item(node))
    if isinstance(iterated, Grown) and not grows:
        return Turns(
            lists.length(e, iterated).value,
            lambda k: lists.item_of_list(e, iterated, _counter(e, k)),
        )
    if isinstance(iterated, Object) and isinstance(iterated.value, Objects):
        of = iterated.value
        return Turns(list_objects.count(e, of).value, lambda k: Thing(of, _counter(e, k)))
    if isinstance(iterated, Array) and iterated.axes:
        first, axes = iterated.axes[0], iterated.axes[1:]
        extent = e.k.convert("sext", first.extent, "i64")

        def element(k: Value) -> Item:
            at = e.k.convert("sext", k, "index")
            return elements.load(e, elements.moved(e, iterated, axes, at, first))

        return Turns(extent, element)
    if isinstance(iterated, Items) and len(iterated.items) <= FEW:
        parts = [_kept(e, item) for item in iterated.items]
        return Turns(e.k.const(len(parts), "i64"), lambda k: parts[_number(k)], len(parts))
    raise Unknown("a loop over what is no range and no array", node.lineno)


def _number(k: Value) -> int:
    """The number of an iteration that is written by itself."""
    assert k.literal is not None, "it is known"
    return int(k.literal)


def _before(e: Emitter, last: Value | int, k: Value) -> Value:
    """The iteration that comes so many before the last one."""
    return e.k.const(last - _number(k), "i64") if isinstance(last, int) else last - k


def _is_iterator(e: Emitter, node: ast.expr) -> bool:
    """True if an expression makes what Python does not reverse."""
    made_by = e.item(node.func) if isinstance(node, ast.Call) else None
    return isinstance(made_by, Object) and made_by.value in (enumerate, zip, reversed)


def _numbered(e: Emitter, args: Sequence[ast.expr], *, grows: bool) -> Turns:
    """``enumerate(iterable, start=0)``."""
    (inner,) = (turns(e, arg, grows=grows) for arg in args[:1])
    starts = [scalar(e.item(arg)) for arg in args[1:]]
    if len(starts) > 1 or any(start.kinds != {INT} for start in starts):
        raise Unknown("enumerate with other arguments")

    def item(k: Value) -> Item:
        number = _counter(e, k)
        if starts:
            number = e.arithmetic.operate("Add", starts[0], number)
        return Items((number, inner.item(k)))

    return replace(inner, item=item)


def _zipped(e: Emitter, args: Sequence[ast.expr], strict: ast.expr | None, *, grows: bool) -> Turns:
    """``zip(..., strict=False)``; Python raises where it is to, and lengths differ."""
    every = [turns(e, arg, grows=grows) for arg in args]
    is_strict = False if strict is None else scalar(e.item(strict)).literal
    if not isinstance(is_strict, bool):
        raise Unknown("zip that may be strict")
    count, fixed = every[0].count, {each.unrolled for each in every}
    if len(fixed) > 1:
        raise Unknown("zip of a tuple and of what is not as long")
    for other in every[1:]:
        if is_strict:
            e.k.leave_if(e.k.ne(other.count, count))
        else:
            count = e.k.select(other.count < count, other.count, count)
    return Turns(count, lambda k: Items(tuple(each.item(k) for each in every)), every[0].unrolled)


def _kept(e: Emitter, item: Item) -> Item:
    """What is iterated, of which nothing is to be computed any more."""
    if e.begun is None or not isinstance(item, Lazy):
        return indexing.settled(e, item)
    made = e.memory.new(item.dtype, known_dims(item.axes), ())
    e.memory.copies.append(made)  # nothing else comes there
    is_first = e.k.eq(e.begun, 0)
    with e.aside() as instructions, e.k.if_(is_first) as first:
        indexing.fill_new(e, made, item)
        first.yield_()
    e.resume(instructions)
    e.computed_first.extend(instructions)
    return made


def _counter(e: Emitter, k: Value) -> Scalar:
    if k.literal is not None:
        return literal(e.k, _number(k))
    line = Line(e.arithmetic.loop, 1, (), 0)
    return Scalar(frozenset((INT,)), k, 0, EXTENT, line=line)


def _range_by(e: Emitter, start: Scalar, stop: Scalar, step: Scalar) -> Turns:
    """``range`` with a step that only the run knows; Python raises where it is 0."""
    k, operate = e.k, e.arithmetic.operate
    by = e.arithmetic.cast(step, INT64)
    k.leave_if(k.eq(by, 0))
    upwards = by > 0
    wide = [
        e.arithmetic.cast(operate("Sub", *pair), INT64) for pair in ((stop, start), (start, stop))
    ]
    distance = k.select(upwards, *wide)
    size = k.select(upwards, by, 0 - by)
    count = k.select(distance > 0, k.prim("sdiv", distance - 1, size) + 1, 0)
    first = e.arithmetic.cast(start, INT64)
    bounds = min(start.low, stop.low), max(start.high, stop.high)
    return Turns(count, lambda n: Scalar(frozenset((INT,)), first + n * by, *bounds))


def _range(e: Emitter, args: Sequence[ast.expr]) -> Turns:
    """``range`` of integers; the step is written in the program."""
    numbers = [scalar(e.item(arg)) for arg in args]
    are_integers = all(number.kinds == {INT} or number.type == "i64" for number in numbers)
    if len(numbers) == 1:
        numbers = [literal(e.k, 0), *numbers]
    step = numbers[2].literal if len(numbers) == 3 else 1
    if not are_integers or len(numbers) not in (2, 3) or step == 0:
        raise Unknown("a range of other numbers than Python takes")
    start, stop = numbers[:2]
    if type(step) is not int:
        return _range_by(e, *numbers)
    k = e.k
    distance = e.arithmetic.operate("Sub", *((stop, start) if step > 0 else (start, stop)))
    wide = e.arithmetic.cast(distance, INT64)
    size = abs(step)
    count = wide if size == 1 else k.prim("sdiv", wide + (size - 1), size)
    count = k.select(wide > 0, count, 0)
    lowest, highest = (start.low, stop.high - 1) if step > 0 else (stop.low + 1, start.high)
    lowest, highest = max(lowest, LEAST), min(highest, MOST)
    top = stop.top if step > 0 else start.top
    if top is not None and step > 0:
        top = top[0], top[1] - 1
    first = e.arithmetic.cast(start, INT64)

    def item(number: Value) -> Scalar:
        value = first + number * step
        begin = e.arithmetic.line_of(replace(start, line=None))
        moves = Line(e.arithmetic.loop, step, (), 0) if abs(step) < 1 << 16 else None
        line = None if begin is None or moves is None else begin.plus(moves, 1)
        return Scalar(frozenset((INT,)), value, lowest, max(lowest, highest), top, line=line)

    return Turns(count, item)

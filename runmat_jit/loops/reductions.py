"""Reductions of whole arrays in an iteration, in the order in which rows of the table combine."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

import numpy as np

from runmat_jit.kernel.ir import Value
from runmat_jit.kernel.math.casts import cast
from runmat_jit.kernel.primitives import FLOATS, TOTAL_BLOCKS, TOTAL_STEPS, identity, total_lanes
from runmat_jit.loops import elements, indexing
from runmat_jit.loops.elements import bounds_of
from runmat_jit.loops.emitter import Emitter
from runmat_jit.loops.extents import SINGLE, Dim
from runmat_jit.loops.values import (
    EXTENT,
    INT64,
    TYPES,
    Array,
    Axis,
    Item,
    Lazy,
    Position,
    Scalar,
    Unknown,
    is_narrow_dtype,
    numpy_kind,
)
from runmat_jit.loops.whole_arrays import Meant, Point, Whole, is_turned, tells
from runmat_jit.lower.exact_notes import ExactNotes
from runmat_jit.lower.index import smaller
from runmat_jit.ops.spec import Op, is_ours
from runmat_jit.ops.table import ROWS
from runmat_jit.passes.fusion.reduction_shape import COLUMN_BLOCK, COLUMN_CELL

_FEW: Final = 8
"""Elements that a sum adds in order where there are fewer."""
_OF_ANY_ORDER: Final = ("min", "max", "or", "and")
_COLUMN_PARTS: Final = (COLUMN_BLOCK, COLUMN_CELL, COLUMN_CELL * COLUMN_BLOCK, COLUMN_CELL**2)
"""Elements of a column that are combined in order, those of which the results are, and so on."""
_FEW_PARTS: Final = 2
"""Steps of a reduction over other axes than the first one."""


def reduced(e: Emitter, x: Item, meant: Meant) -> Item:
    """A reduction of all elements."""
    row, params, type_ = meant.row, meant.params, meant.type
    assert isinstance(x, Array | Lazy), "others are not reduced"
    rule = ROWS["sum"].reduction if row.name == "mean" else row.reduction
    assert rule is not None, "it is a reduction"
    if rule.is_position:
        return _positions(e, x, meant)
    if 0 < len(params["axis"]) < len(x.axes):
        return _over_some_axes(e, x, meant)
    if type_.shape or len(x.axes) != len(params["axis"]):
        raise Unknown(f"{row.name} over some axes")
    if x.mask is not None:
        return _of_mask(e, x, meant)
    if len(x.axes) > 1 and rule.combine not in _OF_ANY_ORDER:
        x = flat(e, x)
    value = _total_of(e, x, meant, ())
    return Scalar(
        frozenset((numpy_kind(type_.dtype),)),
        value,
        *bounds_of(type_.dtype),
        narrow=value.type == "f32",
    )


def _of_mask(e: Emitter, x: Whole, meant: Meant) -> Item:
    """A reduction of the elements that a mask chooses."""
    k, mask, dtype, combine = e.k, x.mask, x.dtype, combined_as(meant.row, TYPES[x.dtype])
    assert mask is not None, "it was asked"

    every = elements.spread(e, mask, len(x.axes))

    def chosen(first: Any, second: Value, dtype: np.dtype) -> Lazy:
        types = "i1", TYPES[dtype], TYPES[dtype]
        return Lazy(ROWS["where"], (every, first, second), types, {}, dtype, x.axes, e.stores)

    one, none = (k.const(number, "i64") for number in (1, 0))
    count = _combined(e, _one_axis(e, chosen(one, none, INT64)), "add", "i64", ())
    if meant.row.name == "mean" or combine in ("min", "max"):
        k.leave_if(k.eq(count, 0))  # NumPy warns, or raises
    outside = k.const(identity(combine, TYPES[dtype]), TYPES[dtype])
    inner = chosen(replace(x, mask=None), outside, dtype)
    row = ROWS["sum"] if meant.row.name == "mean" else meant.row
    with e.masked(mask):
        value = _total_of(e, _one_axis(e, inner), replace(meant, row=row), ())
    if meant.row.name == "mean":
        wide = cast(k, value, "f64") / k.convert("sitofp", count, "f64")
        value = cast(k, wide, TYPES[meant.type.dtype])
    kinds = frozenset((numpy_kind(meant.type.dtype),))
    return Scalar(kinds, value, *bounds_of(meant.type.dtype), narrow=value.type == "f32")


def _one_axis(e: Emitter, x: Whole) -> Whole:
    """The same elements along one axis."""
    return x if len(x.axes) == 1 else flat(e, x)


def flat(e: Emitter, x: Whole) -> Array:
    """The elements one after the other, in memory of their own."""
    if e.streams is not None:
        raise Unknown("a sum over several axes of arrays in registers")
    dtype = INT64 if is_narrow_dtype(x.dtype) else x.dtype
    made = indexing.blank(e, dtype, x.axes)
    indexing.fill_new(e, made, x)
    e.fix(*(axis.number for axis in x.axes), reduces=True)
    extent = functools.reduce(operator.mul, [axis.extent for axis in made.axes])
    limit = tuple([dim for axis in x.axes for dim in axis.most])
    row = Axis(elements.unknown_number(e), extent, 1, None, limit)
    return replace(made, axes=(row,), whole=False)


def _over_some_axes(e: Emitter, x: Whole, meant: Meant) -> Array:
    """A reduction over some of several axes."""
    along, rank = meant.params["axis"], len(x.axes)
    kept = [place for place in range(rank) if place not in along]
    if x.axes[kept[-1]].number == SINGLE or x.mask is not None:
        raise Unknown("a reduction to one element of an array")
    turned = None if rank - 1 in along else _permuted(e, x, (*along, *kept))
    if turned is not None and e.streams is None:
        made = _column_by_column(e, turned, meant, along)
    elif along == (1,) and rank == 2:
        made = _row_by_row(e, x, meant)
    else:
        made = _rest_by_rest(e, _permuted(e, x, (*kept, *along)), meant, len(kept))
    made = replace(made, turned=is_turned(x) and len(kept) > 1)
    if len(meant.type.shape) < rank:
        return made
    left = iter(made.axes)
    axes = [next(left) if place in kept else elements.single(e) for place in range(rank)]
    return replace(made, axes=tuple(axes), whole=False)


def _rest_by_rest(e: Emitter, x: Any, meant: Meant, kept: int) -> Array:
    """A reduction over all axes but some first ones: of each part that these leave."""
    if x is None or e.streams is not None:
        raise Unknown(f"{meant.row.name} over some axes of random numbers, or in registers")
    if len(x.axes) > kept + 1:
        copy = indexing.blank(e, x.dtype, x.axes)
        indexing.fill_new(e, copy, x)
        e.fix(*(axis.number for axis in x.axes[kept:]), reduces=True)
        extent = functools.reduce(operator.mul, [axis.extent for axis in x.axes[kept:]])
        rest = Axis(elements.unknown_number(e), extent, 1)
        x = replace(copy, axes=(*copy.axes[:kept], rest), whole=False)
    made = indexing.blank(e, meant.type.dtype, x.axes[:kept])
    _leave_without_elements(e, meant, x.axes[kept:])
    indexing.note_span(e, x.axes[:kept])
    k = e.k

    def put(outer: tuple[Value, ...]) -> None:
        place = made
        for axis, at in zip(made.axes, outer, strict=True):
            place = elements.moved(e, place, (), at, axis)
        k.store(made.buffer, elements.start_of(e, place), _total_of(e, x, meant, outer), 0)

    indexing.rows(e, made.axes, put)
    return made


def _row_by_row(e: Emitter, x: Whole, meant: Meant) -> Array:
    """A reduction of each row of a matrix."""
    made = indexing.blank(e, meant.type.dtype, x.axes[:1])
    assert made.offset is not None, "it is in memory of the loop's own"
    _leave_without_elements(e, meant, x.axes[1:])
    k, (rows, columns) = e.k, x.axes
    indexing.note_span(e, x.axes)
    turned = _permuted(e, x, (1, 0))
    few = k.const(False, "i1") if turned is None else columns.extent < _FEW
    if turned is not None:
        with k.if_(few):
            _short_rows(e, turned, meant, made)
    with k.if_(k.prim("xor", few, True)), k.loop(0, rows.extent) as loop:
        value = _total_of(e, x, meant, (loop.i,))
        k.store(made.buffer, made.offset + loop.i, value, 0)
        loop.yield_()
    return made


def _short_rows(e: Emitter, turned: Whole, meant: Meant, made: Array) -> None:
    """Reductions of rows with few elements, in order, in lanes across the rows."""
    k, (columns, rows) = e.k, turned.axes
    e.fix(columns.number, reduces=True)
    e.arithmetic.mark_ours(bits=is_ours(meant.row, meant.dtypes))
    assert made.offset is not None, "it is in memory of the loop's own"
    strided = set(e.strided)
    with k.lanes(0, rows.extent) as lanes:
        value = _column_at(e, turned, meant, lanes.i, parts=1)
        if meant.row.name == "mean":
            value = _mean_of(e, value, (columns,), meant.type.dtype)
        k.store(made.buffer, made.offset + lanes.i, value, 1)
    e.strided = strided  # few elements are no reason to copy all


def _permuted(e: Emitter, x: Any, order: tuple[int, ...]) -> Any:
    """An expression with its axes in another order; None where it counts positions."""
    if isinstance(x, Position):
        return None
    if not isinstance(x, Array | Lazy):
        return x
    padded = (*[elements.single(e)] * (len(order) - len(x.axes)), *x.axes)
    axes = tuple([padded[place] for place in order])
    if isinstance(x, Array):
        return replace(x, axes=axes, whole=False)
    operands = [_permuted(e, operand, order) for operand in x.operands]
    found = any(operand is None for operand in operands)
    return None if found else replace(x, axes=axes, operands=tuple(operands))


def _column_by_column(e: Emitter, x: Whole, meant: Meant, along: tuple[int, ...]) -> Array:
    """A reduction over first axes, which are these of NumPy's: in order, lanes along the last one.

    Sums over the first of all have the steps of columns, others fewer.
    """
    count, parts = len(along), len(_COLUMN_PARTS) if along == (0,) else _FEW_PARTS
    k, rows, kept = e.k, x.axes[:count], x.axes[count:]
    made = indexing.blank(e, meant.type.dtype, kept)
    _leave_without_elements(e, meant, rows)
    for axis in rows:
        k.leave_if(axis.extent > _COLUMN_PARTS[-1])
    k.leave_if(k.eq(kept[-1].extent, 1))
    e.fix(*(axis.number for axis in rows), reduces=True)
    e.arithmetic.mark_ours(bits=is_ours(meant.row, meant.dtypes))

    def put(point: Point) -> None:
        value = _column_at(
            e, x, meant, point.lane, parts=parts, outer=tuple(point.outer), count=count
        )
        if meant.row.name == "mean":
            value = _mean_of(e, value, rows, meant.type.dtype)
        offset, stride = indexing.target(e, made, point)
        k.store(made.buffer, offset, value, stride)

    indexing.everywhere(e, made.axes, put)
    return made


def _column_at(
    e: Emitter,
    x: Whole,
    meant: Meant,
    lane: Value,
    *,
    parts: int = len(_COLUMN_PARTS),
    outer: tuple[Value, ...] = (),
    count: int = 1,
) -> Value:
    """The reduction of the columns of some lanes, in the order of ``column`` steps.

    ``parts``: steps that there may be; one where columns are short. ``count``: first axes that are
    reduced, each after those behind it. ``outer``: coordinates of those between and the last.
    """
    k, kind = e.k, TYPES[meant.dtypes[0]]
    combine = combined_as(meant.row, kind)
    watched = kind in FLOATS and combine == "add"
    combines = [combine, *(["or", "or"] if watched and e.exact else [])]
    starts = [
        k.splat(identity(how, of), of)
        for how, of in zip(combines, (kind, "i1", "i1"), strict=False)
    ]

    def element(rows: tuple[Value, ...]) -> list[Value]:
        term = indexing.element(e, x, kind, Point((*rows, *outer), lane, ExactNotes(k)))
        if len(combines) == 1:
            return [term]
        return [term, k.prim("isnan", term), k.ne(term - term, 0.0)]

    def nested(before: tuple[Value, ...]) -> list[Value]:
        """The elements at some coordinates of the first axes."""
        if len(before) == count - 1:
            return part(parts - 1, 0, before)
        with k.loop(0, x.axes[len(before)].extent, starts) as loop:
            found = nested((*before, loop.i))
            loop.yield_(*map(partial(_pair, e), combines, loop.carry, found))
        return list(loop.out)

    def part(level: int, low: Value | int, before: tuple[Value, ...]) -> list[Value]:
        """The elements of a part, or one where it has no parts."""
        high = x.axes[count - 1].extent
        if level < len(_COLUMN_PARTS) - 1:
            end = low + _COLUMN_PARTS[level]
            high = k.select(end < high, end, high)
        with k.loop(low, high, starts, _COLUMN_PARTS[level - 1] if level else 1) as loop:
            found = part(level - 1, loop.i, before) if level else element((*before, loop.i))
            loop.yield_(*map(partial(_pair, e), combines, loop.carry, found))
        return list(loop.out)

    total, *odd = nested(())
    if watched:
        total = total + k.splat(0.0, kind)
    if odd:
        is_nan, is_odd = odd
        excused = k.select(k.prim("isnan", total), is_nan, is_odd)
        k.note(k.prim("isnan", total - total) & k.prim("xor", excused, True))
    elif not e.exact and (watched or tells(x)):
        k.note(total)
    return total


def _total_of(e: Emitter, x: Whole, meant: Meant, outer: tuple[Value, ...]) -> Value:
    """The reduction of all elements, or of those at the outer coordinates."""
    row, dtype, type_ = meant.row, meant.dtypes[0], meant.type
    left = x.axes[len(outer) :]
    e.fix(*(axis.number for axis in left), reduces=True)
    e.arithmetic.mark_ours(bits=is_ours(meant.row, meant.dtypes))
    k, kind = e.k, TYPES[dtype]
    if not outer:
        _leave_without_elements(e, meant, left)
    combine = combined_as(row, kind)
    value = _combined(e, x, combine, kind, outer)
    if kind in FLOATS and combine == "add":
        value = value + 0.0
        _watch_sum(e, x, kind, value, outer)
    elif not e.exact and tells(x):
        k.note(value)
    if row.name == "mean":
        value = _mean_of(e, value, left, type_.dtype)
    return value


def _leave_without_elements(e: Emitter, meant: Meant, axes: Sequence[Axis]) -> None:
    """Leave where there are none, if NumPy raises then, or warns."""
    row = meant.row
    if row.name == "mean" or (row.reduction is not None and row.reduction.identity is None):
        for axis in axes:
            e.k.leave_if(e.k.eq(axis.extent, 0))


def _watch_sum(e: Emitter, x: Whole, kind: str, total: Value, outer: tuple[Value, ...]) -> None:
    """Leave where a sum has an event: what is not finite though no term says so."""
    k = e.k
    if not e.exact:
        k.note(total)
        return
    extent, none = x.axes[-1].extent, k.const(False, "i1")
    most = longest_total(kind)
    with k.if_(k.prim("isnan", total - total)) as odd:
        with k.loop(0, extent, [none, none], most) as cells:
            end = smaller(cells.i + most, extent)
            with k.total(cells.i, end, [("or", "i1"), ("or", "i1")]) as terms:
                term = indexing.element(e, x, kind, Point(outer, terms.i, ExactNotes(k)))
                terms.yield_(k.prim("isnan", term), k.ne(term - term, 0.0))
            cells.yield_(*map(operator.or_, cells.carry, terms.out))
        is_nan, is_odd = cells.out
        excused = k.select(k.prim("isnan", total), is_nan, is_odd)
        k.leave_if(k.prim("xor", excused, True))
        odd.yield_()


def _mean_of(e: Emitter, total: Value, axes: Sequence[Axis], dtype: np.dtype) -> Value:
    """The sum divided in double precision."""
    k = e.k
    count = k.const(1, "index")
    for axis in axes:
        count = count * axis.extent
    wide = cast(k, total, "f64") / k.convert("sitofp", k.convert("sext", count, "i64"), "f64")
    return cast(k, wide, TYPES[dtype])


def _combined(e: Emitter, x: Whole, combine: str, kind: str, fixed: tuple[Value, ...]) -> Value:
    """All elements, combined in the order of the table's rows."""
    k = e.k
    extent, most = x.axes[-1].extent, longest_total(kind)
    if not e.has_long_rows:
        k.leave_if(extent > most)

    def cell(outer: tuple[Value, ...], low: Value | int, high: Value) -> Value:
        with k.total(low, high, [(combine, kind)]) as total:
            point = Point(outer, total.i, ExactNotes(k))
            total.yield_(indexing.element(e, x, kind, point))
        return total.out[0]

    def row(outer: tuple[Value, ...]) -> Value:
        if not e.has_long_rows:
            return cell(outer, 0, extent)
        return _in_cells(e, partial(cell, outer), extent, combine, kind)

    def few() -> Value:
        start = k.const(identity(combine, kind), kind)
        with k.loop(0, extent, [start]) as loop:
            found = cell(fixed, loop.i, loop.i + 1)
            loop.yield_(_pair(e, combine, loop.carry[0], found))
        return loop.out[0]

    def within(left: Sequence[Axis], outer: tuple[Value, ...]) -> Value:
        if len(left) == 1:
            return row(outer)
        start = k.const(identity(combine, kind), kind)
        with k.loop(0, left[0].extent, [start]) as loop:
            found = within(left[1:], (*outer, loop.i))
            loop.yield_(_pair(e, combine, loop.carry[0], found))
        return loop.out[0]

    left = x.axes[len(fixed) :]
    if len(left) > 1 or combine in _OF_ANY_ORDER:
        return within(left, fixed)
    zero = k.const(False if kind == "i1" else 0, kind)
    short = k.if_(extent < _FEW, [zero])
    with short:
        short.yield_(few())
    long = k.if_(k.prim("xor", extent < _FEW, True), [short.out[0]])
    with long:
        long.yield_(row(fixed))
    return long.out[0]


def _in_cells(
    e: Emitter, cell: Callable[[Value | int, Value], Value], extent: Value, combine: str, kind: str
) -> Value:
    """A row of any length: its cells, one after the other, and what they give likewise."""
    k, most = e.k, longest_total(kind)
    start = k.const(identity(combine, kind), kind)
    if combine in _OF_ANY_ORDER:
        with k.loop(0, extent, [start], most) as cells:
            found = cell(cells.i, smaller(cells.i + most, extent))
            cells.yield_(_pair(e, combine, cells.carry[0], found))
        return cells.out[0]
    count = k.prim("sdiv", extent + (most - 1), most)
    k.leave_if(count > most)
    (dtype,) = (dtype for dtype, name in TYPES.items() if name == kind)
    kept = e.memory.new(dtype, (Dim("literal", most),), e.held_arrays())
    assert kept.offset is not None, "it is in memory of the loop's own"
    with k.loop(0, extent, (), most) as cells:
        found = cell(cells.i, smaller(cells.i + most, extent))
        place = kept.offset + k.prim("sdiv", cells.i, most)
        k.store(kept.buffer, place, found, 0)
        cells.yield_()
    short = k.if_(count < _FEW, [start])
    with short:
        with k.loop(0, count, [start]) as loop:
            each = k.load(kept.buffer, kept.offset + loop.i, 0)
            loop.yield_(_pair(e, combine, loop.carry[0], each))
        short.yield_(loop.out[0])
    long = k.if_(k.prim("xor", count < _FEW, True), [short.out[0]])
    with long:
        with k.total(0, count, [(combine, kind)]) as total:
            total.yield_(k.load(kept.buffer, kept.offset + total.i, 1))
        long.yield_(total.out[0])
    return long.out[0]


def _pair(e: Emitter, combine: str, a: Value, b: Value) -> Value:
    """Two partial results; the extremes pass NaN on."""
    k = e.k
    if combine not in ("min", "max"):
        return k.binary(combine, a, b)
    chosen = k.binary({"min": "lt", "max": "gt"}[combine], a, b)
    if a.type in FLOATS:
        chosen = chosen | k.prim("isnan", a)
    return k.select(chosen, a, b)


def _position_in_vector(e: Emitter, x: Whole, combine: str) -> Item:
    """``np.argmax(x)`` (``max``) or ``np.argmin(x)`` (``min``): the first one; NaN wins."""
    (axis,), k = x.axes, e.k
    settled = indexing.settled(e, x)
    assert isinstance(settled, Array), "it is an array"
    e.fix(axis.number)
    k.leave_if(k.eq(axis.extent, 0))  # NumPy raises
    top = (axis.number, -1)
    kinds = frozenset((numpy_kind(np.dtype(np.int64)),))
    return Scalar(kinds, _first_extreme(e, settled, (), combine), 0, EXTENT, top)


def _first_extreme(e: Emitter, x: Array, outer: tuple[Value, ...], combine: str) -> Value:
    """The first position of the extreme of a row that has elements: ``x[*outer, :]``.

    The extreme is found first, then the first element that equals it, or is NaN if it is.
    """
    k, kind, extent = e.k, TYPES[x.dtype], x.axes[-1].extent
    number, convert = ("i64", "sext") if kind in ("f64", "i64") else ("i32", "trunc")
    if not e.has_long_rows:
        k.leave_if(extent > longest_total(kind))

    def element(lane: Value) -> Value:
        return indexing.element(e, x, kind, Point(outer, lane, ExactNotes(k)))

    def extreme_of(low: Value | int, high: Value) -> Value:
        with k.total(low, high, [(combine, kind)]) as extreme:
            extreme.yield_(element(extreme.i))
        return extreme.out[0]

    def first_of(low: Value | int, high: Value) -> Value:
        with k.total(low, high, [("min", number)]) as first:
            found = element(first.i)
            here = k.eq(found, sought)
            if kind in FLOATS:
                here = here | k.prim("isnan", found)
            place = k.convert(convert, first.i, number) + k.lane_id(number)
            first.yield_(k.select(here, place, identity("min", number)))
        return first.out[0]

    if e.has_long_rows:
        sought = _in_cells(e, extreme_of, extent, combine, kind)
        place = _in_cells(e, first_of, extent, "min", number)
    else:
        sought = extreme_of(0, extent)
        place = first_of(0, extent)
    return place if number == "i64" else k.convert("sext", place, "i64")


def _positions(e: Emitter, x: Whole, meant: Meant) -> Item:
    """The position of the first extreme of a vector, or of each row or column of a matrix."""
    k, row = e.k, meant.row
    assert row.reduction is not None, "its combination tells which extreme"
    combine = row.reduction.combine
    if TYPES[meant.dtypes[0]] == "i1":
        raise Unknown(f"{row.name} of truth values")
    if len(x.axes) == 1 and not meant.type.shape:
        return _position_in_vector(e, x, combine)
    if len(x.axes) != 2 or len(meant.type.shape) != 1:
        raise Unknown(f"{row.name} of these axes")
    (along,) = meant.params["axis"]
    sought, kept = x.axes[along], x.axes[1 - along]
    if kept.number == SINGLE:
        raise Unknown("a reduction to one element of an array")
    made = indexing.blank(e, meant.type.dtype, (kept,))
    e.fix(sought.number)
    k.leave_if(k.eq(sought.extent, 0))  # NumPy raises
    if along == 0:
        indexing.everywhere(e, made.axes, partial(partial(_put_position, e), made, x, combine))
        return made
    assert made.offset is not None, "it is in memory of the loop's own"
    settled = indexing.settled(e, x)
    assert isinstance(settled, Array), "it is an array"
    with k.loop(0, kept.extent) as rows:
        place = _first_extreme(e, settled, (rows.i,), combine)
        k.store(made.buffer, made.offset + rows.i, place, 0)
        rows.yield_()
    return made


def _put_position(e: Emitter, made: Array, x: Whole, combine: str, point: Point) -> None:
    """Store the positions of the extremes of the columns of some lanes."""
    k, kind = e.k, TYPES[x.dtype]

    def element(row: Value) -> Value:
        return indexing.element(e, x, kind, Point((row,), point.lane, ExactNotes(k)))

    first = element(k.const(0, "index"))
    starts = [first if first.lane else k.splat(first, kind), k.splat(0, "i64")]
    with k.loop(1, x.axes[0].extent, starts) as loop:
        (best, place), other = loop.carry, element(loop.i)
        wins = k.prim({"max": "gt", "min": "lt"}[combine], other, best)
        if kind in FLOATS:
            quiet = k.prim("xor", k.prim("isnan", best), True)
            wins = quiet & (wins | k.prim("isnan", other))
        at = k.convert("sext", loop.i, "i64")
        loop.yield_(k.select(wins, other, best), k.select(wins, at, place))
    offset, stride = indexing.target(e, made, point)
    k.store(made.buffer, offset, loop.out[1], stride)


def longest_total(kind: str) -> int:
    """The elements that one ``total`` of values of a type combines at most."""
    return TOTAL_STEPS * TOTAL_BLOCKS * total_lanes([kind])


def combined_as(row: Op, kind: str) -> str:
    """How two elements of a type are combined."""
    rule = ROWS["sum"].reduction if row.name == "mean" else row.reduction
    assert rule is not None, "it is a reduction"
    if kind == "i1":
        return {"max": "or", "min": "and"}.get(rule.combine, rule.combine)
    return rule.combine

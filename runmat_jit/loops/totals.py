"""Reductions of whole arrays in a turn, in the order in which rows of the table combine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from runmat_jit.kernel.ir import Value
from runmat_jit.kernel.math.casts import cast
from runmat_jit.kernel.primitives import (
    FLOATS,
    TOTAL_BLOCKS,
    TOTAL_STEPS,
    identity,
    total_lanes,
)
from runmat_jit.loops.elements import bounds_of
from runmat_jit.loops.extents import ONE
from runmat_jit.loops.values import (
    EXTENT,
    TYPES,
    Array,
    Axis,
    Item,
    Lazy,
    Scalar,
    Unknown,
    numpy_kind,
)
from runmat_jit.loops.wholes import Meant, Point, Whole, Wholes, known_dims, tells
from runmat_jit.lower.exact_notes import ExactNotes
from runmat_jit.ops.table import ROWS

_FEW: Final = 8
"""Elements that a sum adds in order where there are fewer."""
_OF_ANY_ORDER: Final = ("min", "max", "or", "and")


class Totals(Wholes):
    """Emits reductions."""

    __slots__ = ()

    def reduced(self, x: Item, meant: Meant) -> Item:
        """A reduction of all elements."""
        row, params, type_ = meant.row, meant.params, meant.type
        assert isinstance(x, Array | Lazy), "others are not reduced"
        rule = ROWS["sum"].reduction if row.name == "mean" else row.reduction
        assert rule is not None, "it is a reduction"
        if len(x.axes) == 2 and params["axis"] == (1,) and len(type_.shape) == 1:
            return self.row_by_row(x, meant)
        if type_.shape or len(x.axes) != len(params["axis"]):
            raise Unknown(f"{row.name} over some axes")
        if len(x.axes) > 1 and rule.combine not in _OF_ANY_ORDER:
            raise Unknown(f"{row.name} over several axes")
        value = self.total_of(x, meant, ())
        return Scalar(
            frozenset((numpy_kind(type_.dtype),)),
            value,
            *bounds_of(type_.dtype),
            narrow=value.type == "f32",
        )

    def row_by_row(self, x: Whole, meant: Meant) -> Item:
        """A reduction of each row of a matrix."""
        dims = known_dims(x.axes[:1])
        if dims == (ONE,):
            raise Unknown("a reduction to one element of an array")
        made = self.memory.new(meant.type.dtype, dims, self.held_arrays())
        assert made.offset is not None, "it is in memory of the loop's own"
        self.leave_without_elements(meant, x.axes[1:])
        with self.k.loop(0, x.axes[0].extent) as rows:
            value = self.total_of(x, meant, (rows.i,))
            self.k.store(made.buffer, made.offset + rows.i, value, 0)
            rows.yield_()
        return made

    def total_of(self, x: Whole, meant: Meant, outer: tuple[Value, ...]) -> Value:
        """The reduction of all elements, or of those at the outer coordinates."""
        row, dtype, type_ = meant.row, meant.dtypes[0], meant.type
        rule = ROWS["sum"].reduction if row.name == "mean" else row.reduction
        assert rule is not None, "it is a reduction"
        left = x.axes[len(outer) :]
        self.fixed.update(axis.number for axis in left)
        self.arithmetic.ours = True
        k, kind = self.k, TYPES[dtype]
        if not outer:
            self.leave_without_elements(meant, left)
        combine = rule.combine
        if kind == "i1":
            combine = {"max": "or", "min": "and"}.get(combine, combine)
        value = self.combined(x, combine, kind, outer)
        if kind in FLOATS and combine == "add":
            value = value + 0.0
            self.watch_sum(x, kind, value, outer)
        elif not self.exact and tells(x):
            k.note(value)
        if row.name == "mean":
            value = self.mean_of(value, left, type_.dtype)
        return value

    def leave_without_elements(self, meant: Meant, axes: Sequence[Axis]) -> None:
        """Leave where there are none, if NumPy raises then, or warns."""
        row = meant.row
        if row.name == "mean" or (row.reduction is not None and row.reduction.identity is None):
            for axis in axes:
                self.k.leave_if(self.k.eq(axis.extent, 0))

    def watch_sum(self, x: Whole, kind: str, total: Value, outer: tuple[Value, ...]) -> None:
        """Leave where a sum has an event: what is not finite though no term says so."""
        k = self.k
        if not self.exact:
            k.note(total)
            return
        with k.if_(k.prim("isnan", total - total)) as odd:
            with k.total(0, x.axes[-1].extent, [("or", "i1"), ("or", "i1")]) as terms:
                term = self.at(x, kind, Point(outer, terms.i, ExactNotes(k)))
                terms.yield_(k.prim("isnan", term), k.ne(term - term, 0.0))
            is_nan, is_odd = terms.out
            excused = k.select(k.prim("isnan", total), is_nan, is_odd)
            k.leave_if(k.prim("xor", excused, True))
            odd.yield_()

    def mean_of(self, total: Value, axes: Sequence[Axis], dtype: np.dtype) -> Value:
        """The sum divided in double precision."""
        k = self.k
        count = k.const(1, "index")
        for axis in axes:
            count = count * axis.extent
        wide = cast(k, total, "f64") / k.convert("sitofp", k.convert("sext", count, "i64"), "f64")
        return cast(k, wide, TYPES[dtype])

    def combined(self, x: Whole, combine: str, kind: str, fixed: tuple[Value, ...]) -> Value:
        """All elements, combined in the order of the table's rows."""
        k = self.k
        extent = x.axes[-1].extent
        most = TOTAL_STEPS * TOTAL_BLOCKS * total_lanes([kind])
        k.leave_if(extent > most)

        def row(outer: tuple[Value, ...]) -> Value:
            with k.total(0, extent, [(combine, kind)]) as total:
                point = Point(outer, total.i, ExactNotes(k))
                total.yield_(self.at(x, kind, point))
            return total.out[0]

        def few() -> Value:
            start = k.const(identity(combine, kind), kind)
            with k.loop(0, extent, [start]) as loop:
                with k.total(loop.i, loop.i + 1, [(combine, kind)]) as total:
                    total.yield_(self.at(x, kind, Point(fixed, total.i, ExactNotes(k))))
                loop.yield_(self.pair(combine, loop.carry[0], total.out[0]))
            return loop.out[0]

        def within(left: Sequence[Axis], outer: tuple[Value, ...]) -> Value:
            if len(left) == 1:
                return row(outer)
            start = k.const(identity(combine, kind), kind)
            with k.loop(0, left[0].extent, [start]) as loop:
                found = within(left[1:], (*outer, loop.i))
                loop.yield_(self.pair(combine, loop.carry[0], found))
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

    def pair(self, combine: str, a: Value, b: Value) -> Value:
        """Two partial results; the extremes pass NaN on."""
        k = self.k
        if combine not in ("min", "max"):
            return k.binary(combine, a, b)
        chosen = k.binary({"min": "lt", "max": "gt"}[combine], a, b)
        if a.type in FLOATS:
            chosen = chosen | k.prim("isnan", a)
        return k.select(chosen, a, b)

    def place_of_extreme(self, item: Item, beats: str) -> Item:
        """``np.argmax(x)`` (``gt``) or ``np.argmin(x)`` (``lt``): the first one; NaN wins."""
        x, k = self.settled(item), self.k
        if not isinstance(x, Array) or len(x.axes) != 1 or x.dtype.kind == "b":
            raise Unknown("the place of an extreme over several axes, or of truth values")
        (axis,) = x.axes
        self.fixed.add(axis.number)
        self.asks_numpy = True
        k.leave_if(k.eq(axis.extent, 0))  # NumPy raises

        def element(at: Value) -> Value:
            found = self.load(self.moved(x, (), at, axis))
            return self.scalar(found).value

        first = element(k.const(0, "index"))
        with k.loop(1, axis.extent, [first, k.const(0, "i64")]) as loop:
            best, place = loop.carry
            other = element(loop.i)
            wins = k.prim(beats, other, best)
            if other.type in FLOATS:
                quiet = k.prim("xor", k.prim("isnan", best), True)
                wins = quiet & (wins | k.prim("isnan", other))
            at = k.convert("sext", loop.i, "i64")
            loop.yield_(k.select(wins, other, best), k.select(wins, at, place))
        top = (axis.number, -1)
        kinds = frozenset((numpy_kind(np.dtype(np.int64)),))
        return Scalar(kinds, loop.out[1], 0, EXTENT, top)

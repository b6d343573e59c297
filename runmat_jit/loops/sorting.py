"""Sorted arrays, medians and percentiles in loops: arrays of some hundred elements.

NumPy sorts long arrays faster than a kernel here would, so that loops with those are left to
Python. So are arrays with NaN or -0.0, whose order NumPy does not say, and orders of equal numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Final

import numpy as np

from runmat_jit.core.types import NARROW_DTYPES
from runmat_jit.kernel.ir import Value
from runmat_jit.kernel.math.casts import cast
from runmat_jit.kernel.primitives import FLOATS
from runmat_jit.loops import creation, elements, indexing, reductions
from runmat_jit.loops.emitter import Emitter
from runmat_jit.loops.extents import Dim
from runmat_jit.loops.signatures import Signature, Table, array, is_floating, is_numeric
from runmat_jit.loops.values import (
    FLOAT32,
    FLOAT64,
    INT64,
    TYPES,
    Array,
    Axis,
    Item,
    Scalar,
    is_narrow_dtype,
    numpy_kind,
)

MOST, OF_MEDIAN, OF_QUANTILE = 32, 128, 512
"""Elements up to which NumPy's function takes longer: a sort, a median, a quantile."""
BINS: Final = 512
"""Bins that are counted here at most."""
_SORTED: Final = [dtype for dtype, kind in TYPES.items() if kind in (*FLOATS, "i32", "i64")]
"""Dtypes of what is sorted."""
_NARROW: Final = [dtype for dtype in NARROW_DTYPES if is_narrow_dtype(dtype)]
"""Dtypes of what is sorted as integers of 64 bits."""


def _sort(e: Emitter, x: Array, most: int, order: Array | None = None) -> None:
    """Sort a vector where it lies, by insertion with shrinking gaps (Shell's sort).

    ``most``: elements that it may have; ``order``: a vector of as many, which are moved as its own.
    """
    k, (axis,), kind = e.k, x.axes, TYPES[x.dtype]
    every = [x] if order is None else [x, order]
    e.fix(axis.number)
    k.leave_if(axis.extent > most)

    def load(at: Value) -> list[Value]:
        places = [elements.moved(e, each, (), at, each.axes[0]) for each in every]
        return [k.load(each.buffer, elements.start_of(e, each), 0) for each in places]

    def store(at: Value, values: Sequence[Value]) -> None:
        for each, value in zip(every, values, strict=True):
            place = elements.moved(e, each, (), at, each.axes[0])
            k.store(each.buffer, elements.start_of(e, place), value, 0)

    if kind in FLOATS:
        with k.loop(0, axis.extent, [k.const(False, "i1")]) as odd:
            found = load(odd.i)[0]
            is_minus_zero = k.eq(found, 0.0) & (1.0 / found < 0.0)
            odd.yield_(odd.carry[0] | k.prim("isnan", found) | is_minus_zero)
        k.leave_if(odd.out[0])
    with k.while_([axis.extent]) as narrower:
        less = k.prim("sdiv", narrower.carry[0] * 5 - 1, 11)
        gap = k.select(less < 1, 1, less)
        with k.loop(gap, axis.extent) as loop:
            sought = load(loop.i)
            with k.while_([loop.i]) as back:
                (at,) = back.carry
                before = k.select(at < gap, at, at - gap)
                others = load(before)
                moves = (others[0] > sought[0]) & (at > before)
                pairs = zip(others, sought, strict=True)
                store(at, [k.select(moves, other, own) for other, own in pairs])
                back.yield_(moves, before)
            loop.yield_()
        narrower.yield_(gap > 1, gap)


def sorted_copy(e: Emitter, x: Item, most: int = MOST) -> Array:
    """The elements of an array, sorted along one axis, in memory of their own."""
    own = indexing.settled_array(e, x)
    is_whole = len(own.axes) == 1 and not is_narrow_dtype(own.dtype)
    made = indexing.materialized(e, own) if is_whole else reductions.flat(e, own)
    _sort(e, made, most)
    e.arithmetic.mark_ours(bits=False)
    return made


def argsorted(e: Emitter, of: Item) -> Item:
    """``np.argsort(x)`` of a vector of different numbers: NumPy says no order of equal ones."""
    k, x = e.k, reductions.flat(e, indexing.settled_array(e, of))
    made = creation.number_elements(e, indexing.blank(e, INT64, x.axes))
    _sort(e, x, MOST, made)
    e.arithmetic.mark_ours(bits=False)
    with k.loop(1, x.axes[0].extent, [k.const(False, "i1")]) as loop:
        equal = k.eq(_at(e, x, loop.i), _at(e, x, loop.i - 1))
        loop.yield_(loop.carry[0] | equal)
    k.leave_if(loop.out[0])
    return made


def bins_counted(e: Emitter, of: Item) -> Item:
    """``np.bincount(x)`` of integers below :data:`BINS`."""
    k, x = e.k, indexing.settled_array(e, of)
    (axis,) = x.axes
    e.fix(axis.number)
    made = e.memory.new(INT64, (Dim("literal", BINS),), e.held_arrays())
    e.arithmetic.mark_ours(bits=False)
    assert made.offset is not None, "it is in memory of the loop's own"
    with k.lanes(0, BINS) as lanes:
        k.store(made.buffer, made.offset + lanes.i, k.const(0, "i64"), 1)
    with k.loop(0, axis.extent, [k.const(0, "i64")]) as loop:
        number = cast(k, _at(e, x, loop.i), "i64")
        k.leave_if(k.prim("xor", k.prim("ult", number, BINS), True))
        place = made.offset + k.convert("sext", number, "index")
        k.store(made.buffer, place, k.load(made.buffer, place, 0) + 1, 0)
        following = number + 1
        loop.yield_(k.select(loop.carry[0] < following, following, loop.carry[0]))
    extent = k.convert("sext", loop.out[0], "index")
    axis = Axis(elements.unknown_number(e), extent, 1, None, (Dim("literal", BINS),))
    return replace(made, axes=(axis,), whole=False)


def median(e: Emitter, of: Item) -> Item:
    """``np.median(x)``: the mean of the two elements in the middle, or of the one."""
    k, x = e.k, sorted_copy(e, of, OF_MEDIAN)
    extent = x.axes[0].extent
    k.leave_if(extent < 1)  # NumPy warns
    dtype = x.dtype if x.dtype.kind == "f" else FLOAT64
    low, high = (
        cast(k, _at(e, x, k.prim("sdiv", place, 2)), TYPES[dtype]) for place in (extent - 1, extent)
    )
    return _finite(e, (low + high) / 2.0, dtype)


def quantile(e: Emitter, of: Item, q: Scalar, *, divisor: float = 1.0) -> Item:
    """``np.quantile(x, q)`` of doubles or integers, by linear interpolation.

    The formula is the one of NumPy's documentation, in NumPy's order of operations.
    """
    k, x = e.k, sorted_copy(e, of, OF_QUANTILE)
    extent = x.axes[0].extent
    part = e.arithmetic.cast(q, FLOAT64) / divisor
    k.leave_if(k.prim("xor", (part >= 0.0) & (part <= 1.0) & (extent > 0), True))
    place = k.convert("sitofp", extent - 1, "f64") * part
    before = k.prim("floor", place)
    first = k.convert("fptosi", before, "index")
    low, high = _at(e, x, first), _at(e, x, k.select(first + 1 < extent, first + 1, first))
    t, difference = place - before, cast(k, high - low, "f64")
    low, high = cast(k, low, "f64"), cast(k, high, "f64")
    upwards, downwards = low + difference * t, high - difference * (1.0 - t)
    return _finite(e, k.select(t >= 0.5, downwards, upwards), FLOAT64)


def _at(e: Emitter, x: Array, place: Value) -> Value:
    return e.k.load(x.buffer, elements.start_of(e, elements.moved(e, x, (), place, x.axes[0])), 0)


def _finite(e: Emitter, value: Value, dtype: np.dtype) -> Scalar:
    """A number; where it is not finite, Python runs the loop."""
    e.k.leave_if(e.k.prim("isnan", value - value))
    return Scalar(frozenset((numpy_kind(dtype),)), value, narrow=value.type == "f32")


_SORTED_VECTOR: Final = (Signature((array(1, of=_SORTED),), sorted_copy),)
_ARGSORTED: Final = (Signature((array(1, of={*_SORTED, *_NARROW}),), argsorted),)
_OF_QUANTILES: Final = array(of={*_SORTED, *_NARROW} - {FLOAT32})
CALLS_OF_SORTING: Final[Table] = {
    np.sort: _SORTED_VECTOR,
    "sort": _SORTED_VECTOR,
    np.argsort: _ARGSORTED,
    "argsort": _ARGSORTED,
    np.bincount: [Signature((array(1, kinds="iu"),), bins_counted)],
    np.median: [Signature((array(of={*_SORTED, *_NARROW}),), median)],
    np.quantile: [Signature((_OF_QUANTILES, is_floating), quantile)],
    np.percentile: [Signature((_OF_QUANTILES, is_numeric), partial(quantile, divisor=100.0))],
}

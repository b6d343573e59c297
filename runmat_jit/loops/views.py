"""Views of the elements of arrays along other axes: ``ravel``, ``reshape``, diagonals.

An array whose elements do not lie at equal distances, of which NumPy would make a copy, is left to
Python.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np

from runmat_jit.kernel.ir import Value
from runmat_jit.loops import elements, indexing, operations, reductions, sizes
from runmat_jit.loops.emitter import Emitter
from runmat_jit.loops.extents import SINGLE, Dim
from runmat_jit.loops.signatures import ARRAY, MATRIX, Operand, Signature, Table, is_integer, listed
from runmat_jit.loops.values import Array, Axis, Item, Items, Scalar, Unknown
from runmat_jit.loops.whole_arrays import is_turned
from runmat_jit.ops.table import ROWS


def flattened(e: Emitter, of: Item) -> Array:
    """``x.flatten()``: a copy."""
    return reductions.flat(e, indexing.settled_array(e, of))


def raveled(e: Emitter, of: Item) -> Array:
    """``x.ravel()`` of an array without gaps; NumPy copies others."""
    found = _in_a_row(e, indexing.settled_array(e, of))
    e.k.leave_if(e.k.ne(_value(e, found.axes[0].stride), 1))
    return found


def _value(e: Emitter, number: Value | int) -> Value:
    return e.k.const(number, "index")


def _in_a_row(e: Emitter, x: Array) -> Array:
    """The elements along one axis; leaves where they do not lie at equal distances."""
    if is_turned(x) or e.streams is not None:
        raise Unknown("a view of an array in another order")
    k, stride, total = e.k, _value(e, 1), _value(e, 1)
    several = [axis for axis in x.axes if axis.number != SINGLE]
    e.fix(*(axis.number for axis in several))
    for axis in reversed(several):
        own = _value(e, axis.stride)
        if axis is several[-1]:
            stride = own
        else:
            k.leave_if(k.ne(own, stride * total))
        total = axis.extent if total.literal == 1 else total * axis.extent
    limit = tuple([dim for axis in x.axes for dim in axis.most])
    step: Value | int = 1 if stride.literal == 1 else stride
    row = Axis(elements.unknown_number(e), total, step, None, limit)
    return replace(x, axes=(row,), whole=False)


def reshaped(e: Emitter, of: Item, *given: Item) -> Array:
    """``x.reshape(2, -1)``: of its extents one may be open."""
    row = _in_a_row(e, indexing.settled_array(e, of))
    (line,), k = row.axes, e.k
    numbers = [n for item in given for n in (item.items if isinstance(item, Items) else (item,))]
    known = [sizes.dim_of_number(e, number) for number in numbers]
    are_open = [number.literal == -1 for number in numbers]
    if are_open != [dim is None for dim in known] or sum(are_open) > 1:
        raise Unknown("a shape of other extents than are known before the loop")
    product = _value(e, 1)
    for dim in known:
        product = product if dim is None else product * e.extents.value(dim)
    rest = k.prim("sdiv", line.extent, k.select(product < 1, 1, product))
    count = product if None not in known else product * rest
    k.leave_if(k.ne(count, line.extent) | (line.extent < 1))
    axes, stride = list[Axis](), _value(e, line.stride)
    for dim in reversed(known):
        extent = rest if dim is None else e.extents.value(dim)
        step: Value | int = 1 if stride.literal == 1 else stride
        axes.insert(0, _axis(e, dim, extent, step, line))
        stride = stride * extent
    return replace(row, axes=tuple(axes))


def _axis(e: Emitter, dim: Dim | None, extent: Value, step: Value | int, line: Axis) -> Axis:
    """An axis of a shape; one that is open has no more elements than all."""
    if dim is None:
        return Axis(elements.unknown_number(e), extent, step, None, line.limit)
    number = e.extents.number(dim)
    return elements.single(e) if number == SINGLE else Axis(number, extent, step, dim)


def turned_over(e: Emitter, of: Item, *_places: Item) -> Array:
    """``np.transpose(a)`` and ``np.swapaxes(a, 0, 1)``."""
    x = indexing.settled_array(e, of)
    return elements.turned_over(x)


def diagonal(e: Emitter, of: Item) -> Array:
    """``np.diagonal(a)``, which nobody may store to."""
    x = indexing.settled_array(e, of)
    k, (rows, columns) = e.k, x.axes
    e.fix(rows.number, columns.number)
    extent = k.select(rows.extent < columns.extent, rows.extent, columns.extent)
    stride = _value(e, rows.stride) + _value(e, columns.stride)
    axis = Axis(elements.unknown_number(e), extent, stride, None, rows.most)
    return replace(x, axes=(axis,), whole=False, copied=True)


def trace(e: Emitter, of: Item) -> Item:
    """``np.trace(a)``: the sum of the diagonal."""
    return operations.by_row(e, ROWS["sum"], [diagonal(e, of)], {})


def _is(number: int) -> Operand:
    return lambda x: isinstance(x, Scalar) and x.literal == number


_RAVELED: Final = (Signature((ARRAY,), raveled),)
_RESHAPED: Final = (
    Signature((ARRAY, is_integer), reshaped, more=True),
    Signature((ARRAY, listed(is_integer)), reshaped),
)
_TRANSPOSED: Final = (Signature((MATRIX,), turned_over),)
_SWAPPED: Final = (Signature((MATRIX, _is(0), _is(1)), turned_over),)
_DIAGONAL: Final = (Signature((MATRIX,), diagonal),)
_TRACE: Final = (Signature((MATRIX,), trace),)
CALLS_OF_VIEWS: Final[Table] = {
    np.ravel: _RAVELED,
    "ravel": _RAVELED,
    "flatten": [Signature((ARRAY,), flattened)],
    np.reshape: _RESHAPED[1:],
    "reshape": _RESHAPED,
    np.transpose: _TRANSPOSED,
    "transpose": _TRANSPOSED,
    np.swapaxes: _SWAPPED,
    "swapaxes": _SWAPPED,
    np.diagonal: _DIAGONAL,
    "diagonal": _DIAGONAL,
    np.diag: _DIAGONAL,
    np.trace: _TRACE,
    "trace": _TRACE,
}

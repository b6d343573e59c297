"""Matrix products of arrays in an iteration, by NumPy's own inner loop: its bits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

import numpy as np

from runmat_jit.core.types import is_complex
from runmat_jit.kernel.ir import Value
from runmat_jit.loops import creation, elements, indexing, operations
from runmat_jit.loops.elements import bounds_of
from runmat_jit.loops.emitter import Emitter
from runmat_jit.loops.numpy_functions import function, parameter, product_of
from runmat_jit.loops.signatures import VECTOR, Signature, Table, array
from runmat_jit.loops.values import (
    Array,
    Axis,
    Complex,
    Item,
    Items,
    Lazy,
    Scalar,
    Unknown,
    numpy_kind,
    scalar,
)
from runmat_jit.loops.whole_arrays import is_turned

CALL_WORDS: Final = 16
"""Of one call: three addresses, four dimensions, nine steps."""
_COUNTS, _STEPS = 3, 7
"""Indices of the first dimension, and of the first step."""
CALLS, CALLS_AT = "calls", "calls_at"
"""The parameters that hold what inner loops are given, and where that lies."""


Invoke = Callable[[], None]
Invoked = Callable[[Value, Sequence[Array], Invoke], None]


def product(e: Emitter, *operands: Item, by: Invoked | None = None) -> Item:
    """Emit ``a @ b`` of arrays with one or two axes.

    ``by``: emits what computes it; given the inner loop, the operands and the result, and what
    emits the call of the inner loop.
    """
    a, b = (_as_array(e, item) for item in operands)
    if any(x.home is not None and is_turned(x) and not x.mirrored for x in (a, b)):
        raise Unknown("a matrix product of a new array that may be in another order")
    if a.dtype != b.dtype:
        raise Unknown("a matrix product of two dtypes")
    inner_loop = function(e, product_of(a.dtype))
    e.fix(*(axis.number for axis in (*a.axes, *b.axes)))
    indexing.equal(e, a.axes[-1], b.axes[0])
    rows, columns = a.axes[:-1], b.axes[1:]
    made = indexing.blank(e, a.dtype, (*rows, *columns) or (elements.single(e),))
    arrays = a, b, made
    invoke = partial(_invoke, e, inner_loop, arrays, rows, columns)
    if by is None:
        invoke()
    else:
        by(inner_loop, arrays, invoke)
    e.arithmetic.mark_ours(bits=False)
    if not rows and not columns and is_complex(a.dtype):
        number = elements.load(e, replace(made, axes=()))
        assert isinstance(number, Complex), "so is its dtype"
        e.k.note(number.re.value)
        e.k.note(number.im.value)
        return number
    if not rows and not columns:
        value = e.k.load(made.buffer, elements.start_of(e, made), 0)
        e.k.note(value)
        kinds = frozenset((numpy_kind(a.dtype),))
        return Scalar(kinds, value, *bounds_of(a.dtype), narrow=value.type == "f32")
    _finite(e, made)
    return made


def dot(e: Emitter, *operands: Item) -> Item:
    """``np.dot(a, b)`` with a matrix: the same of arrays that NumPy takes as they are."""
    a, b = (_side_by_side(e, item) for item in operands)
    if a.buffer is b.buffer and len(a.axes) == len(b.axes) == 2:
        raise Unknown("dot of a matrix and itself")  # which NumPy may copy, or not
    return product(e, a, b)


def dot_of_vectors(e: Emitter, *operands: Item) -> Item:
    """``np.dot(a, b)`` of vectors."""
    vectors = a, _ = [_upwards(e, item) for item in operands]
    made = product(e, *vectors)
    assert isinstance(made, Scalar), "it is a number"
    # a product of two numbers may be -0.0, a sum of them is not
    single = e.k.if_(e.k.eq(a.axes[0].extent, 1), [made.value])
    with single:
        numbers = [e.k.load(x.buffer, elements.start_of(e, x), 0) for x in vectors]
        single.yield_(numbers[0] * numbers[1])
    return replace(made, value=single.out[0])


def outer_product(e: Emitter, *operands: Item) -> Item:
    """``np.outer(a, b)`` of vectors."""
    a, b = (_as_array(e, item) for item in operands)
    column = replace(a, axes=(a.axes[0], elements.single(e)), whole=False)
    row = replace(b, axes=(elements.single(e), b.axes[0]), whole=False)
    return operations.of_operator(e, "Mult", [column, row])


def cross_product(e: Emitter, *operands: Item) -> Item:
    """``np.cross(a, b)`` of vectors with three elements."""
    a, b = (creation.rows_of(e, _as_array(e, x), 3) for x in operands)
    operate = e.arithmetic.operate
    parts = []
    for one, other in ((1, 2), (2, 0), (0, 1)):
        terms = [
            operate("Mult", scalar(a[i]), scalar(b[j])) for i, j in ((one, other), (other, one))
        ]
        parts.append(operate("Sub", *terms))
    made = creation.array_of(e, Items(tuple(parts)))
    return replace(made, viewed=True)


def _upwards(e: Emitter, item: Item) -> Array:
    """A vector whose elements lie upwards in memory: NumPy copies others."""
    x = _as_array(e, item)
    (axis,) = x.axes
    if isinstance(axis.stride, int) and axis.stride < 0:
        return indexing.materialized(e, x)
    if not isinstance(axis.stride, int):
        e.fix(axis.number)
        e.k.leave_if(axis.stride < 1)
    return x


def _side_by_side(e: Emitter, item: Item) -> Array:
    """An array of which one axis has no gaps, so that NumPy takes it as it is."""
    x = _as_array(e, item)
    inner, *outers = x.axes[::-1] if x.axes[-1].stride == 1 else x.axes
    if inner.stride != 1:
        raise Unknown("a product of an array with gaps")
    if not outers:
        return x
    (outer,) = outers
    e.fix(inner.number, outer.number)
    e.k.leave_if(e.k.ne(outer.stride, inner.extent))  # rows with gaps between them
    e.k.leave_if((inner.extent < 2) | (outer.extent < 2))
    return x


def _as_array(e: Emitter, item: Item) -> Array:
    """An array; new ones lie in NumPy's order."""
    if isinstance(item, Lazy) and len(item.axes) == 2 and is_mirrored(item):
        made = indexing.materialized(e, mirrored(item))
        return replace(
            made, axes=made.axes[::-1], whole=False, turned=True, mirrored=not made.turned
        )
    found = indexing.settled(e, item)
    assert isinstance(found, Array), "it is an array"
    return found


def _finite(e: Emitter, made: Array) -> None:
    """Take note of results that may tell of events."""
    k, total = e.k, e.k.const(1, "index")
    for axis in made.axes:
        total = axis.extent if total.literal == 1 else total * axis.extent
    first = elements.start_of(e, made)
    if is_complex(made.dtype):
        first, total = first * 2, total * 2
    with k.lanes(0, total) as lanes:
        k.note(k.load(made.buffer, first + lanes.i, 1))


def _invoke(
    e: Emitter,
    inner_loop: Value,
    arrays: Sequence[Array],
    rows: Sequence[Axis],
    columns: Sequence[Axis],
) -> None:
    """Call the inner loop on two operands and a result."""
    k = e.k
    a, b, made = arrays
    inner, first = a.axes[-1], k.const(1, "index")
    extents = [
        first,
        rows[0].extent if rows else first,
        inner.extent,
        columns[0].extent if columns else first,
    ]
    of_made = list(made.axes)
    steps: list[Value | int] = [0, 0, 0]
    steps += [rows[0].stride if rows else 0, inner.stride]
    steps += [b.axes[0].stride, columns[0].stride if columns else 0]
    steps += [of_made.pop(0).stride if rows else 0, of_made.pop(0).stride if columns else 0]
    call_loop(e, inner_loop, arrays, extents, steps)


def call_loop(
    e: Emitter,
    inner_loop: Value,
    arrays: Sequence[Array],
    extents: Sequence[Value],
    steps: Sequence[Value | int],
) -> None:
    """Call a C function of NumPy's, which is given arrays of one dtype.

    ``extents``: of the loop and of the core's axes; ``steps``: in elements, from one round of the
    loop to the next for each array, then along the core's axes of each.
    """
    k, size = e.k, arrays[0].dtype.itemsize
    addresses = [_address_of(e, x) for x in arrays]
    counts = [k.convert("sext", extent, "i64") for extent in extents]
    wide = [
        k.const(step * size, "i64")
        if isinstance(step, int)
        else k.convert("sext", step, "i64") * size
        for step in steps
    ]
    if e.calls is None:
        e.calls = k.buffer(CALLS, "i64", written=True)
    base = CALL_WORDS * e.products
    e.products += 1
    e.asks_numpy = True
    for first, words in ((0, addresses), (_COUNTS, counts), (_STEPS, wide)):
        for place, word in enumerate(words):
            k.store(e.calls, base + first + place, word, 0)
    at = parameter(e, CALLS_AT) + 8 * base
    k.invoke(inner_loop, at, at + 8 * _COUNTS, at + 8 * _STEPS, k.const(0, "i64"))


def _address_of(e: Emitter, x: Array) -> Value:
    """Where the first element of an array lies."""
    k = e.k
    begin = parameter(e, f"p_{x.buffer.name}")
    if x.offset is None:
        return begin
    return begin + k.convert("sext", x.offset, "i64") * x.dtype.itemsize


def is_mirrored(x: Any) -> bool:
    """True if all arrays of an expression are matrices in the opposite order of their axes."""
    if isinstance(x, Array):
        return len(x.axes) == 2 and x.mirrored
    return not isinstance(x, Lazy) or all(map(is_mirrored, x.operands))


def mirrored(x: Any) -> Any:
    """The transpose of such an expression."""
    if isinstance(x, Array):
        return replace(x, axes=x.axes[::-1], whole=False, turned=False, mirrored=False)
    if isinstance(x, Lazy):
        return replace(x, axes=x.axes[::-1], operands=tuple(map(mirrored, x.operands)))
    return x


_FACTOR: Final = array(1, 2, kinds="fc")
_REAL_FACTOR: Final = array(1, 2, kinds="f")  # zeros of complex ones have other signs in ``dot``
_REAL_VECTOR: Final = array(1, kinds="f")
_DOT: Final = (
    Signature((_REAL_VECTOR, _REAL_VECTOR), dot_of_vectors),
    Signature((_REAL_FACTOR, _REAL_FACTOR), dot),
)
CALLS_OF_PRODUCTS: Final[Table] = {
    np.matmul: [Signature((_FACTOR, _FACTOR), product)],
    np.dot: _DOT,
    "dot": _DOT,
    np.inner: _DOT[:1],
    np.matvec: [Signature((array(2, kinds="fc"), array(1, kinds="fc")), product)],
    np.outer: [Signature((VECTOR, VECTOR), outer_product)],
    np.cross: [Signature((VECTOR, VECTOR), cross_product)],
}

"""Operations on whole arrays, by the rows of the table.

What a row means, its dtypes and its shape, is asked of the row, on extents that stand for those of
the arrays: equal numbers for equal extents.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from runmat_jit.core.types import TensorType, is_complex
from runmat_jit.kernel.ir import Value
from runmat_jit.loops import (
    complex_arrays,
    complex_numbers,
    elements,
    indexing,
    narrow_arrays,
    reductions,
)
from runmat_jit.loops.arithmetic import OF_PYTHON, sorted_kinds
from runmat_jit.loops.complex_arrays import Make, Typed
from runmat_jit.loops.emitter import Emitter
from runmat_jit.loops.extents import SINGLE
from runmat_jit.loops.values import (
    INT64,
    TYPES,
    Array,
    Axis,
    Complex,
    Item,
    Lazy,
    Scalar,
    Unknown,
    any_number,
    is_narrow_dtype,
    literal,
    numpy_kind,
    only,
)
from runmat_jit.loops.whole_arrays import Meant, is_whole, plain_of
from runmat_jit.ops.promotion import fits
from runmat_jit.ops.spec import Op, Weak, canonical_params, is_ours
from runmat_jit.ops.structure import constant_value
from runmat_jit.ops.table import ROWS, row_of

_STAND_IN: Final = 1009
"""Extents that are not known stand as numbers from here on."""


def of_operator(e: Emitter, name: str, items: Sequence[Item]) -> Item:
    """An operator, by its node of Python's syntax, on what are not all numbers."""
    row = row_of(OF_PYTHON[name])
    if row is None:
        raise Unknown(f"{name} of arrays")
    return by_row(e, row, items, {})


def by_row(e: Emitter, row: Op, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Item:
    """A call that a row of the table means."""
    plain = [plain_of(arg) for arg in args]
    bound = None if row.bind is None else row.bind(tuple(plain), kwargs)
    if bound is None or bound.out is not None or row.result is None:
        raise Unknown(f"{row.name} called in this way")
    operands = [_operand(e, value) for value in bound.operands]
    return _computed(e, row, operands, bound.params)


def by_method(
    e: Emitter, row: Op, base: Item, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Item:
    """A method that a row of the table means."""
    bind = row.bind_method or row.bind
    bound = None if bind is None else bind((base, *map(plain_of, args)), kwargs)
    if bound is None or bound.out is not None or row.result is None:
        raise Unknown(f"the method {row.name} called in this way")
    return _computed(e, row, [_operand(e, v) for v in bound.operands], bound.params)


def _operand(e: Emitter, value: Any) -> Item:
    """What a reader has passed on, as it was before :func:`plain_of`."""
    if type(value) in (bool, int, float):
        return literal(e.k, value)
    if isinstance(value, Scalar | Complex | Array | Lazy):
        return value
    raise Unknown("an operand that is no array and no number")


def _computed(e: Emitter, row: Op, operands: Sequence[Item], params: Mapping[str, Any]) -> Item:
    """A row of operands."""
    operands = _in_place(e, row, operands, params.get("axis"))
    known = indexing.matched(e, [x for x in operands if is_whole(x)])
    kinds = [sorted_kinds(x) if isinstance(x, Scalar | Complex) else [None] for x in operands]
    results = set()
    for chosen in itertools.product(*kinds):
        specs = tuple(_spec(x, kind, known) for x, kind in zip(operands, chosen, strict=True))
        assert row.result is not None, "it was called"
        found = row.result(specs, params)
        type_ = None if found is None else narrow_arrays.type_of(row, operands, chosen, found.type)
        if found is None or type_ is None:
            raise Unknown(f"{row.name} of these dtypes or shapes")
        named = frozenset(canonical_params(row, params, specs).items())
        results.add((type_, found.operand_dtypes, named))
    type_, dtypes, named = only(results, "an operation")
    meant = Meant(row, dtypes, dict(named), type_, known)
    if row.name == "mean" and is_complex(type_.dtype) and not type_.shape:
        return _complex_mean(e, operands[0])
    if any(map(is_complex, (type_.dtype, *dtypes))):
        return complex_arrays.computed(e, _maker(e, meant), _typed(operands, meant), meant)
    if row.expand is not None:
        return _lazily(e, operands, meant)
    if row.reduction is not None or row.name == "mean":
        return reductions.reduced(e, operands[0], meant)
    if row.name in ("var", "std"):
        return _spread(e, operands[0], meant)
    if row.kind in ("elementwise", "reduce") and row.decompose is not None:
        return _decomposed(e, operands, meant)
    raise Unknown(f"{row.name} of arrays")


def _complex_mean(e: Emitter, of: Item) -> Item:
    """Mean of all elements: their sum divided as NumPy's complex scalars divide."""
    x = indexing.settled_array(e, of)
    total, count = by_row(e, ROWS["sum"], [x], {}), literal(e.k, 1)
    for axis in x.axes:
        count = e.arithmetic.operate("Mult", count, elements.extent(e, axis))
    e.k.leave_if(count.value < 1)  # NumPy warns
    return complex_numbers.operate(e.arithmetic, "Div", [any_number(total), count])


def _spread(e: Emitter, x: Item, meant: Meant) -> Item:
    """Variance or standard deviation: the mean of squares of what the mean leaves."""
    x, params = indexing.settled(e, x), meant.params
    along: Any = params["axis"]
    ddof: Any = params["ddof"]
    assert isinstance(x, Array), "it has axes"
    is_one = len(along) == len(x.axes)
    mean = by_row(e, ROWS["mean"], [x], {"axis": along, "keepdims": not is_one})
    left = of_operator(e, "Sub", [x, mean])
    squares = of_operator(e, "Mult", [left, left])
    total = by_row(e, ROWS["sum"], [squares], {"axis": along, "keepdims": params["keepdims"]})
    count = literal(e.k, 1)
    for place in along:
        count = e.arithmetic.operate("Mult", count, elements.extent(e, x.axes[place]))
    count = e.arithmetic.operate("Sub", count, literal(e.k, ddof))
    e.k.leave_if(count.value < 1)  # NumPy warns
    if isinstance(total, Scalar):
        found = e.arithmetic.operate("Div", total, count)
        return found if meant.row.name == "var" else e.arithmetic.ufunc(np.sqrt, [found])
    made = of_operator(e, "Div", [total, count])
    return made if meant.row.name == "var" else by_row(e, ROWS["sqrt"], [made], {})


def _of_scalars(e: Emitter, row: Op, operands: Sequence[Item]) -> Item:
    """A ufunc of single numbers."""
    numbers = [x for x in operands if isinstance(x, Scalar)]
    if not isinstance(row.numpy, np.ufunc) or len(numbers) != len(operands):
        raise Unknown(f"{row.name} of arrays")
    return e.arithmetic.ufunc(row.numpy, numbers)


def _spec(x: Item, kind: Any, known: Mapping[int, Axis]) -> Any:
    """What a row is told of an operand."""
    if isinstance(x, Scalar | Complex):
        if kind.python:
            number = {"i": int, "f": float, "b": bool, "c": complex}[kind.dtype.kind]
            return Weak(number)
        return TensorType(INT64 if is_narrow_dtype(kind.dtype) else kind.dtype, ())
    assert isinstance(x, Array | Lazy), "others are no operands"
    dtype = INT64 if is_narrow_dtype(x.dtype) else x.dtype
    return TensorType(dtype, tuple(_extent_for(axis, known) for axis in x.axes))


def _extent_for(axis: Axis, known: Mapping[int, Axis]) -> int:
    """The number that stands for an extent."""
    number = known.get(axis.number, axis).number
    return 1 if number == SINGLE else stand_in(number)


def _lazily(e: Emitter, operands: Sequence[Item], meant: Meant) -> Item:
    """An elementwise operation, to be computed where it is stored or reduced."""
    by_stand_in = {_extent_for(axis, meant.known): axis for axis in meant.known.values()}
    by_stand_in[1] = elements.single(e)
    axes = tuple([replace(by_stand_in[extent], stride=0) for extent in meant.type.shape])
    numbers = [axis.number for axis in axes]
    e.fix(*(number for number in numbers if numbers.count(number) > 1))
    values: list[Lazy | Array | Value] = []
    for x, dtype in zip(operands, meant.dtypes, strict=True):
        if isinstance(x, Scalar):
            if x.literal is not None and not fits(x.literal, dtype):
                raise Unknown("a number that the dtype does not hold")
            e.arithmetic.used(x)
            held = meant.type.dtype if is_narrow_dtype(meant.type.dtype) else dtype
            values.append(e.arithmetic.cast(x, held if dtype == INT64 else dtype))
        else:
            assert isinstance(x, Array | Lazy), "others are no operands"
            values.append(x)
    e.arithmetic.mark_ours(bits=is_ours(meant.row, meant.dtypes))
    types = tuple([TYPES[dtype] for dtype in meant.dtypes])
    params, dtype, mask = meant.params, meant.type.dtype, _masks_of(operands)[0]
    return Lazy(meant.row, tuple(values), types, params, dtype, axes, e.stores, mask)


def _masks_of(operands: Sequence[Item]) -> list[Array | None]:
    """Masks that have chosen the elements of the arrays among some operands."""
    return [x.mask for x in operands if is_whole(x)] or [None]


def _in_place(e: Emitter, row: Op, operands: Sequence[Item], axis: Any) -> Sequence[Item]:
    """Operands whose elements are where a mask has chosen them, if one has chosen all of them.

    Where an operation needs them side by side, they are.
    """
    masks, rule = _masks_of(operands), row.reduction
    is_of_one = all(mask is masks[0] for mask in masks)
    is_elementwise = rule is None and row.kind == "elementwise"
    is_of_all = (rule is not None and not rule.is_position) or row.name == "mean"
    if is_of_one and (is_elementwise or (is_of_all and axis is None)):
        return operands
    return [x if getattr(x, "mask", None) is None else indexing.settled(e, x) for x in operands]


def _decomposed(e: Emitter, operands: Sequence[Item], meant: Meant) -> Item:
    """A row that is made of others."""
    assert meant.row.decompose is not None, "it was asked"
    typed = tuple(_typed(operands, meant))
    found: Typed = meant.row.decompose(_maker(e, meant), typed, meant.params, meant.type)
    return found.item  # type: ignore[no-any-return]  # an item


def _typed(operands: Sequence[Item], meant: Meant) -> list[Typed]:
    """Operands with the types that they are cast to."""
    return [
        Typed(x, TensorType(d, _spec(x, numpy_kind(d), meant.known).shape))
        for x, d in zip(operands, meant.dtypes, strict=True)
    ]


def _maker(e: Emitter, meant: Meant) -> Make:
    """Return what computes rows that a formula, or a row that is made of others, asks for."""

    def make(name: str, args: tuple[Any, ...], params: Any, made: TensorType) -> Typed:
        if name == "constant":
            return Typed(literal(e.k, constant_value(params["bits"], made.dtype).item()), made)
        row, items = ROWS[name], [arg.item for arg in args]
        inner = Meant(row, tuple([a.type.dtype for a in args]), params, made, meant.known)
        if row.reduction is not None:
            if made.shape and set(made.shape) == {1}:  # one number, which is broadcast
                inner = replace(inner, type=TensorType(made.dtype, ()))
            return Typed(reductions.reduced(e, items[0], inner), made)
        if row.expand is None:
            raise Unknown(f"{meant.row.name} of arrays")
        if any(map(is_whole, items)):
            return Typed(_lazily(e, items, inner), made)
        if name in ("where", "fma"):
            return Typed(_expanded(e, items, inner), made)
        return Typed(_of_scalars(e, row, items), made)

    return make


def _expanded(e: Emitter, items: Sequence[Scalar], meant: Meant) -> Scalar:
    """A row of single numbers that no ufunc of NumPy's is."""
    values = [e.arithmetic.cast(x, d) for x, d in zip(items, meant.dtypes, strict=True)]
    assert meant.row.expand is not None, "it was asked"
    value = meant.row.expand(e.k, *values, **meant.params)
    if meant.row.events:
        e.k.note(value)
    return Scalar(frozenset((numpy_kind(meant.type.dtype),)), value, narrow=value.type == "f32")


def stand_in(number: int) -> int:
    """Different extents, but 1, for different numbers."""
    return _STAND_IN + (2 * number if number >= 0 else -2 * number + 1)

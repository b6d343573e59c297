"""Whole arrays of complex numbers in loops: two real arrays each, and the formulas of their rows.

In memory an array has one place for each number, as NumPy has it. An expression is a
``complex_of`` of two real ones, which are computed as any other. See :mod:`runmat_jit.ops.parts`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from runmat_jit.core.slotted import slotted
from runmat_jit.core.types import TensorType, is_complex, part_dtype
from runmat_jit.kernel.ir import Value
from runmat_jit.loops.complex_numbers import number
from runmat_jit.loops.emitter import Emitter
from runmat_jit.loops.values import (
    TYPES,
    Array,
    Complex,
    Item,
    Lazy,
    Unknown,
    any_number,
    literal,
    numpy_kind,
    scalar,
)
from runmat_jit.loops.whole_arrays import Meant, Whole
from runmat_jit.ops import parts

_SIDES: Final = ("real", "imag")


@slotted
class Typed:
    """An operand with the type that it is cast to, as formulas of rows take it."""

    item: Any
    type: TensorType


Make = Callable[[str, tuple[Any, ...], Any, TensorType], Typed]


def part(e: Emitter, x: Whole, name: str) -> Any:
    """Return the real or the imaginary parts of an array: a view, or an expression."""
    side = _SIDES.index(name)
    if isinstance(x, Lazy):
        return x.operands[side]
    first = e.k.const(0, "index") if x.offset is None else x.offset * 2
    axes = tuple([replace(axis, stride=axis.stride * 2) for axis in x.axes])
    own = part_dtype(x.dtype)
    return replace(x, dtype=own, offset=first + side, axes=axes, whole=False)


def sides(e: Emitter, x: Item, dtype: np.dtype) -> tuple[Any, Any]:
    """Return both parts of what is stored to an array of complex numbers, each of a real dtype."""
    zero = e.k.const(0.0, TYPES[dtype])
    if isinstance(x, Array | Lazy):
        return (part(e, x, "real"), part(e, x, "imag")) if is_complex(x.dtype) else (x, zero)
    whole = any_number(x)
    numbers = (whole.re, whole.im) if isinstance(whole, Complex) else (whole,)
    for each in numbers:
        e.arithmetic.used(each)
    first, *second = (e.arithmetic.cast(each, dtype) for each in numbers)
    return first, second[0] if second else zero


def computed(e: Emitter, make: Make, operands: Sequence[Typed], meant: Meant) -> Item:
    """Return what a row says of operands some of which, or whose result, are complex."""
    formula, type_ = meant.row.parts, meant.type
    if formula is None or meant.row.name == "mean":
        raise Unknown(f"{meant.row.name} of arrays of complex numbers")
    params: dict[str, Any] = dict(meant.params)
    if meant.row.kind == "reduce":
        params["kind"] = type_
    found = formula(*(_operand(e, make, each) for each in operands), **params)
    if isinstance(found, parts.Complex) and not type_.shape:
        numbers = (scalar(each.node.item) for each in (found.re, found.im))
        return Complex(frozenset((numpy_kind(type_.dtype),)), *numbers)
    made: Item = parts.joined(make, found, type_).item
    return made


def _operand(e: Emitter, make: Make, x: Typed) -> parts.Number:
    """Return an operand, cast to its dtype, as formulas take it."""
    item, type_ = x.item, x.type
    if not is_complex(type_.dtype):
        return parts.Real(make, x)
    pair: tuple[Any, Any] = item, literal(e.k, 0.0)
    if isinstance(item, Complex):
        pair = item.re, item.im
    elif isinstance(item, Array | Lazy) and is_complex(item.dtype):
        pair = part(e, item, "real"), part(e, item, "imag")
    kind = TensorType(part_dtype(type_.dtype), type_.shape)
    own = numpy_kind(kind.dtype)
    both = (number(each, own) if isinstance(each, Value) else each for each in pair)
    return parts.Complex(*(parts.Real(make, Typed(each, kind)) for each in both))

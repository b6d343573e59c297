"""Facts about whole arrays in an iteration, and about operations on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, TypeGuard

import numpy as np

from runmat_jit.core.frozen import frozen_object
from runmat_jit.core.slotted import slotted
from runmat_jit.core.types import TensorType
from runmat_jit.kernel.ir import Value
from runmat_jit.kernel.primitives import FLOATS
from runmat_jit.loops.extents import Dim
from runmat_jit.loops.forms import NotKnown
from runmat_jit.loops.values import Array, Axis, Item, Items, Lazy, Object, Scalar, Unknown
from runmat_jit.lower.exact_notes import ExactNotes
from runmat_jit.ops.spec import Op

Whole = Array | Lazy


@slotted
class Point:
    """Where elements are computed: the coordinates of all axes but the last, and the lanes of it.

    ``values`` are those that are known there; ``notes`` writes tests for events.
    """

    outer: Sequence[Value]
    lane: Value
    notes: ExactNotes
    values: dict[int, Value] = field(default_factory=dict)


@frozen_object
class Meant:
    """What a row means for some operands: the dtypes that they are cast to, and the result's type.

    ``known``: axes by the numbers of extents, of which the type has stand-ins.
    """

    row: Op
    dtypes: tuple[np.dtype, ...]
    params: Mapping[str, Any]
    type: TensorType
    known: Mapping[int, Axis]


def is_whole(item: Item | None) -> TypeGuard[Whole]:
    """True if an item is an array with axes."""
    return isinstance(item, Lazy) or (isinstance(item, Array) and bool(item.axes))


def is_turned(x: Any) -> bool:
    """True if NumPy may have the elements of a new array in another order than C's."""
    if isinstance(x, Array):
        return x.turned and len(x.axes) > 1
    return isinstance(x, Lazy) and any(map(is_turned, x.operands))


def reports(x: Lazy) -> bool:
    """True if an operation may report an event that its result tells of."""
    if x.op.name == "cast":
        return x.dtype.kind == "f" and x.types[0] in FLOATS
    return bool(x.op.events - {"underflow"}) and x.dtype.kind == "f"


def tells(x: Any) -> bool:
    """True if elements that an event has made not finite may still be so."""
    if not isinstance(x, Lazy) or x.dtype.kind != "f":
        return False
    pairs = zip(x.operands, x.op.absorbs, strict=True)
    return reports(x) or any(not absorbs and tells(operand) for operand, absorbs in pairs)


def plain_of(x: Any) -> Any:
    """An argument as readers of calls know it: numbers and names that are written, as they are."""
    if isinstance(x, Scalar) and x.literal is not None and all(k.python for k in x.kinds):
        return x.literal
    if isinstance(x, Object):
        if isinstance(x.value, NotKnown):
            raise Unknown("an operand that is no number and no array of known numbers")
        return x.value
    if isinstance(x, Items):
        return tuple(map(plain_of, x.items))
    return x


def arrays_in(item: Item) -> list[Array]:
    """The arrays that an item holds."""
    if isinstance(item, Array):
        return [item]
    if isinstance(item, Items):
        return [x for each in item.items for x in arrays_in(each)]
    return []


def known_dims(axes: Sequence[Axis]) -> tuple[Dim, ...]:
    """The extents of axes.

    Raises:
        Unknown: they are not known before the loop.

    """
    dims = tuple([axis.dim for axis in axes if axis.dim is not None])
    if len(dims) < len(axes):
        raise Unknown("an array whose extent changes from turn to turn")
    return dims

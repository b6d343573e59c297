"""Laws of calls: the shape of a result by those of the arguments, and when a call cannot raise.

A law gives None where it does not tell. Shapes may hold symbolic extents.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from runmat_jit.core.types import broadcast_shapes

Shape = tuple[int, ...]
Shapes = Sequence[Shape | None]
"""Shapes of the positional arguments: None for what is neither an array nor a number."""
Law = Callable[[Shapes, Mapping[str, Any]], Shape | None]
Condition = Callable[[tuple[Any, ...]], bool]


def first(shapes: Shapes, _kwargs: Mapping[str, Any]) -> Shape | None:
    """Shape of the first operand."""
    return shapes[0]


def copied(shapes: Shapes, kwargs: Mapping[str, Any]) -> Shape | None:
    """Shape of the first operand, perhaps with more axes before."""
    least = kwargs.get("ndmin", 0)
    if shapes[0] is None or type(least) is not int:
        return None
    return (*[1] * (least - len(shapes[0])), *shapes[0])


def rearranged(shapes: Shapes, kwargs: Mapping[str, Any]) -> Shape | None:
    """Shape of the first operand, unless ``axis=None`` flattens it."""
    flat = kwargs["axis"] is None if "axis" in kwargs else len(shapes) > 1 and shapes[1] is None
    return None if flat or not shapes[0] else shapes[0]


def accumulated(shapes: Shapes, kwargs: Mapping[str, Any]) -> Shape | None:
    """Shape of the first operand, where there is an axis or it has only one."""
    known = kwargs.get("axis") is not None or (len(shapes) > 1 and shapes[1] is not None)
    one = shapes[0] is not None and len(shapes[0]) == 1
    return shapes[0] if one or (known and shapes[0]) else None


def broadcast(shapes: Shapes, kwargs: Mapping[str, Any]) -> Shape | None:
    """Shape of all operands broadcast together."""
    if kwargs.keys() & {"out", "where"}:
        return None
    made: Shape = ()
    for shape in shapes:
        if shape is None:
            return None
        made = broadcast_shapes(made, shape)
    return made


def chosen(shapes: Shapes, kwargs: Mapping[str, Any]) -> Shape | None:
    """Shape of a condition and two choices broadcast together."""
    return broadcast(shapes, kwargs) if len(shapes) == 3 else None


def clipped(shapes: Shapes, kwargs: Mapping[str, Any]) -> Shape | None:
    """Shape of an array and its bounds broadcast together; a bound may be None."""
    if kwargs:
        return None
    return broadcast([shape for shape in shapes if shape is not None], kwargs)


def product(shapes: Shapes, kwargs: Mapping[str, Any]) -> Shape | None:
    """Shape of a product of vectors and matrices that fit together."""
    if len(shapes) != 2 or not has_no_destination(kwargs):
        return None
    left, right = shapes
    if left is None or right is None or len(left) not in (1, 2) or len(right) not in (1, 2):
        return None
    return (*left[:-1], *right[1:]) if left[-1] == right[0] else None


def stacked_product(shapes: Shapes, kwargs: Mapping[str, Any]) -> Shape | None:
    """Shape of a product of vectors, matrices and stacks of them, of as many in two stacks."""
    if len(shapes) != 2 or not has_no_destination(kwargs):
        return None
    left, right = shapes
    if left is None or right is None or (len(left) < 3 and len(right) < 3):
        return product(shapes, kwargs)
    if not (left and right) or left[-1] != right[-2 if len(right) > 1 else 0]:
        return None
    if len(left) == 1:
        return (*right[:-2], right[-1])
    if len(right) == 1:
        return left[:-1]
    stacks = [shape[:-2] for shape in (left, right) if len(shape) > 2]
    if len(stacks) == 2 and stacks[0] != stacks[1]:
        return None
    return (*stacks[0], left[-2], right[-1])


def has_no_destination(kwargs: Mapping[str, Any]) -> bool:
    """True if keywords say nothing, but perhaps that the result is new."""
    return all(name == "out" and value is None for name, value in kwargs.items())


def has_two_choices(args: tuple[Any, ...]) -> bool:
    """True if ``where`` gets more than a condition, which alone selects positions."""
    return len(args) > 1


def repeats_alike(args: tuple[Any, ...]) -> bool:
    """True if ``tile`` gets constant counts."""
    counts = args[1] if len(args) == 2 and type(args[1]) is tuple else args[1:]
    return all(type(count) is int for count in counts)


def stores_in_range(args: tuple[Any, ...]) -> bool:
    """True if ``target[key] = value`` stays in range, and the value fits, whatever its numbers.

    The key holds truth values and plain positions; the value has no axes, and is of the target's
    kind or of a lesser one.
    """
    target, key, value = args
    parts = key if type(key) is tuple else (key,)
    masks = all(
        type(part) in (int, slice, type(None), type(Ellipsis))
        or getattr(part, "dtype", None) == np.dtype(bool)
        for part in parts
    )
    has_axes = bool(getattr(value, "shape", isinstance(value, (list, tuple))))
    return masks and not has_axes and is_lesser(value, target.dtype)


def is_lesser(value: Any, target: np.dtype) -> bool:
    """True if a number is of a dtype's kind, or of a lesser one."""
    order = "biufc"
    kinds = {bool: "b", int: "i", float: "f", complex: "c"}
    dtype = getattr(value, "dtype", None)
    kind = kinds.get(value.__class__) if dtype is None else dtype.kind
    return kind is not None and order.find(kind) <= order.find(target.kind)

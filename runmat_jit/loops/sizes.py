"""Shapes that calls are given, as extents that are known before the loop."""

from __future__ import annotations

import ast

from runmat_jit.loops.emitter import Emitter
from runmat_jit.loops.extents import ONE, SINGLE, Dim
from runmat_jit.loops.values import Array, Axis, Item, Lazy, Object, Scalar, Unknown, scalar
from runmat_jit.loops.whole_arrays import known_dims


def dims_of(e: Emitter, node: ast.expr) -> tuple[Dim, ...]:
    """The extents of a shape that a call is given.

    Raises:
        Unknown: they are not known before the loop.

    """
    match node:
        case ast.Attribute(value=ast.Name() as of, attr="shape"):
            x = e.item(of)
            if isinstance(x, Array | Lazy) and x.axes:
                return known_dims(x.axes)
        case ast.Tuple(elts=sizes) | ast.List(elts=sizes) if sizes:
            return tuple([dim_of(e, each) for each in sizes])
    return (dim_of(e, node),)


def dim_of(e: Emitter, node: ast.expr) -> Dim:
    """An extent: that of an array, or a number from before the loop."""
    number = e.item(node) if isinstance(node, ast.Name | ast.Attribute) else None
    found = dim_of_number(e, number) if isinstance(number, Scalar) else None
    if found is None:
        (found,) = known_dims([axis_of_size(e, node)])
    return found


def dim_of_number(e: Emitter, number: Scalar) -> Dim | None:
    """An extent that is a number from before the loop, or written in the program."""
    if type(number.literal) is int and number.literal > 0:
        return Dim("literal", number.literal)
    places = [place for place, item in enumerate(e.given.values()) if item is number]
    if number.type not in ("i32", "i64") or number.top is not None or not places:
        return None
    e.k.leave_if(number.value < 0)
    e.extents.bases["number", places[0]] = number.value
    e.extents.places["number", places[0]] = places[0], 0
    return Dim("number", places[0])


def dims_of_items(e: Emitter, node: ast.expr) -> tuple[Dim, ...]:
    """The number of items of a range from 0, or of an array, known before the loop."""
    if isinstance(node, ast.Call) and len(node.args) == 1 and not node.keywords:
        called = e.item(node.func)
        if isinstance(called, Object) and called.value is range:
            return dims_of(e, node.args[0])
    x = e.item(node)
    return known_dims(x.axes[:1]) if isinstance(x, Array | Lazy) and x.axes else ()


def axes_of_size(e: Emitter, node: ast.expr) -> tuple[Axis, ...]:
    """Axes of a shape that a call is given."""
    match node:
        case ast.Attribute(value=ast.Name() as of, attr="shape"):
            x = e.item(of)
            axes = x.axes if isinstance(x, Array | Lazy) else ()
            if axes and all(axis.number != SINGLE and axis.dim for axis in axes):
                return axes
        case ast.Tuple(elts=sizes) | ast.List(elts=sizes) if sizes:
            return tuple([axis_of_size(e, each) for each in sizes])
    return (axis_of_size(e, node),)


def axis_of_size(e: Emitter, node: ast.expr) -> Axis:
    """Axis of an extent that a call is given; no extent is asked for, to say how many."""
    match node:
        case ast.Attribute(value=ast.Name() as of, attr="size"):
            return _only_axis(e.item(of))
        case ast.Subscript(
            value=ast.Attribute(value=ast.Name() as of, attr="shape"),
            slice=ast.Constant(value=int(place)),
        ):
            return _only_axis(e.item(of), place)
        case ast.Call(func=ast.Name(id="len") as function, args=[ast.Name() as of]):
            called = e.item(function)
            if isinstance(called, Object) and called.value is len:
                return _only_axis(e.item(of), 0)
    number = scalar(e.item(node))
    if type(number.literal) is int and number.literal > 0:
        dim = Dim("literal", number.literal)
    elif number.top is not None and any(number is each for each in e.given.values()):
        dim = Dim("extent", number.top[0])  # an operand that is equal to it
    else:
        raise Unknown("as many numbers as no array has")
    return Axis(e.extents.number(dim), e.extents.value(dim), 0, dim)


def _only_axis(of: Item, place: int | None = None) -> Axis:
    """The axis of an array that has one, or the one in a place."""
    count = len(of.axes) if isinstance(of, Array | Lazy) else 0
    at = 0 if place is None and count == 1 else count if place is None else place
    if isinstance(of, Array | Lazy) and -count <= at < count:
        axis = of.axes[at]
        if axis.number != SINGLE and axis.dim not in (None, ONE):
            return axis
    raise Unknown("a shape that is no array's")

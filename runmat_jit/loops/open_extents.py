"""Names of arrays whose first extent changes from iteration to iteration: ``z = z[mask]``.

Such an array is the first part of memory as large as what it was chosen from. A loop carries the
memory, as it carries other arrays, and beside it the extent, a scalar under a name of its own.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from runmat_jit.loops import elements
from runmat_jit.loops.emitter import Emitter, extent_of
from runmat_jit.loops.memory import packed
from runmat_jit.loops.slices import is_sliced
from runmat_jit.loops.values import (
    EXTENT,
    INT,
    UNBOUND,
    Array,
    Axis,
    Item,
    Scalar,
    scalar,
)


def open_names(loop: ast.AST) -> frozenset[str]:
    """Return the names to which a loop may bind elements that a mask chooses."""
    pairs = [pair for node in ast.walk(loop) for pair in _bindings(node)]
    found = {name for name, value in pairs if _may_choose(value)}
    grows = True
    while grows:
        more = {n for n, v in pairs if isinstance(v, ast.Name) and v.id in found} - found
        found |= more
        grows = bool(more)
    return frozenset(found)


def _bindings(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    if not isinstance(node, ast.Assign):
        return
    for target in node.targets:
        if isinstance(target, ast.Name):
            yield target.id, node.value
        elif isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
            for each, value in zip(target.elts, node.value.elts, strict=False):
                if isinstance(each, ast.Name):
                    yield each.id, value


def _may_choose(value: ast.expr) -> bool:
    """Return True for a subscript that may be a mask."""
    if not isinstance(value, ast.Subscript):
        return False
    return not isinstance(value.slice, ast.Tuple | ast.Constant) and not is_sliced(value.slice)


def opened(e: Emitter, name: str, made: Item) -> Item:
    """Bind the extent of an array that a name is bound to; return the memory that it is part of."""
    extent: Item = UNBOUND
    if isinstance(made, Array) and made.axes and made.home is not None:
        is_part = _is_first_part(made)
        if is_part or made.whole:
            count = e.k.convert("sext", made.axes[0].extent, "i64")
            extent = Scalar(frozenset((INT,)), count, 0, EXTENT)
            e.open_axes[count.number] = made.axes[0].number
        if is_part:
            memory = packed(made.buffer, made.dtype, made.pool, made.home, e.extents)
            made = replace(made, axes=memory.axes, whole=True, open=True)
    e.names[extent_of(name)] = extent
    return made


def _is_first_part(x: Array) -> bool:
    """Return True for the first rows of an array of the loop's own."""
    first, rest = x.axes[0], x.axes[1:]
    is_first = x.offset is x.home and first.dim is None and len(first.limit) == 1
    return is_first and (*first.limit, *(axis.dim for axis in rest)) == x.pool


def current(e: Emitter, name: str, memory: Array) -> Array:
    """Return the part of an array's memory that a name holds now."""
    count = scalar(e.names.get(extent_of(name), UNBOUND))
    number = e.open_axes.get(count.value.number)
    if number is None:
        number = e.open_axes[count.value.number] = elements.unknown_number(e)
    extent = e.k.convert("sext", count.value, "index")
    axis = Axis(number, extent, memory.axes[0].stride, None, memory.pool[:1])
    return replace(memory, axes=(axis, *memory.axes[1:]), whole=False, open=False)

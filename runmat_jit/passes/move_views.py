"""Views of computed values become computations on views, so that the values are never stored."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from runmat_jit.core.hardware import ACCESS_FLOPS
from runmat_jit.core.types import TensorType, c_strides
from runmat_jit.graph.apply import make_node
from runmat_jit.graph.node import Graph, Node
from runmat_jit.graph.walk import roots, users
from runmat_jit.ops.product import product_in
from runmat_jit.ops.spec import Params
from runmat_jit.passes.events import reports_events
from runmat_jit.passes.rewrite import rewrite, rule
from runmat_jit.passes.rules.views import RULES, integers

Shape = tuple[int, ...]

VIEWS = ("transpose", "slice", "reshape")
REPEATED_FLOPS = 2 * ACCESS_FLOPS
"""What computing an element again may cost at most, in place of storing and loading it."""


def move_views(graph: Graph) -> Graph:
    """Move views towards the inputs, past elementwise values that nothing else reads.

    A value that several views read is computed again for each of them where that is cheap. A slice
    does not move past what may report a floating-point event: the elements that it leaves out
    would report none. Pure, keeps every bit.
    """
    for _ in graph.nodes:  # each round moves views past one more alternation with computations
        moved = _move_once(graph)
        if moved.nodes == graph.nodes:
            return moved
        graph = moved
    return graph


def _move_once(graph: Graph) -> Graph:
    passable = _passable(graph)

    @rule(*VIEWS, law="a view of an elementwise value is the value of views")
    def move(node: Node) -> Node | None:
        (value,) = node.args
        return _computed_on_views(node, value) if value in passable else None

    return rewrite(graph, (move, *RULES)) if passable else graph


def _passable(graph: Graph) -> AbstractSet[Node]:
    """Elementwise values that only views read, directly or through such values."""
    readers = users(graph.nodes)
    stored = set(roots(graph)) | _multiplied(graph)
    copies: dict[Node, int] = {}
    sliced: set[Node] = set()
    for node in reversed(graph.nodes):
        through = [r for r in readers[node] if r.op.name in VIEWS or r in copies]
        if node in stored or node.op.expand is None or len(through) != len(readers[node]):
            continue
        count = sum(copies.get(reader, 1) for reader in through)
        cut = any(reader.op.name == "slice" or reader in sliced for reader in through)
        if count > 1 and count * max(node.op.flops, 1.0) > REPEATED_FLOPS:
            continue
        if cut and reports_events(node):
            continue
        copies[node] = count
        sliced |= {node} if cut else set()
    return copies.keys()


def _multiplied(graph: Graph) -> set[Node]:
    """Values that products read through views: BLAS rounds by how these lie."""
    found: set[Node] = set()
    for node in graph.nodes:
        for operand in node.args if product_in(node.params) else ():
            value = operand
            while value.op.name in VIEWS:
                (value,) = value.args
            found.add(value)
    return found


def _computed_on_views(node: Node, value: Node) -> Node | None:
    args: list[Node] = []
    for arg in value.args:
        seen = _MOVE[node.op.name](node, value, arg)
        if seen is None:
            return None
        args.append(seen)
    moved = make_node(value.op.name, tuple(args), value.params, node.type)
    assert value.op.result is not None, f"{value.op.name} computes elements by a rule"
    found = value.op.result(tuple(arg.type for arg in args), value.params)
    return moved if found is not None and found.type == node.type else None


def _transposed(node: Node, value: Node, arg: Node) -> Node:
    if arg.type.ndim == 0:
        return arg
    axes = integers(node, "axes")
    full = _reshaped(arg, (1,) * (value.type.ndim - arg.type.ndim) + arg.type.shape)
    shape = tuple(full.type.shape[axis] for axis in axes)
    return _view("transpose", full, shape, {"axes": axes})


def _sliced(node: Node, value: Node, arg: Node) -> Node:
    if arg.type.ndim == 0:
        return arg
    missing = value.type.ndim - arg.type.ndim
    extents = zip(arg.type.shape, value.type.shape[missing:], strict=True)
    repeated = [extent != full for extent, full in extents]
    kept = [
        (0, 1, 1) if same else taken
        for same, taken in zip(repeated, _taken(node)[missing:], strict=True)
    ]
    starts, steps, shape = map(tuple, zip(*kept, strict=True))
    return _view("slice", arg, shape, {"starts": starts, "steps": steps, "shape": shape})


def _taken(node: Node) -> list[tuple[int, int, int]]:
    """Start, step and count of a slice along each axis."""
    return list(
        zip(integers(node, "starts"), integers(node, "steps"), node.type.shape, strict=True)
    )


def _reshaped_like(node: Node, value: Node, arg: Node) -> Node | None:
    """Only of operands whose elements lie in C order, or are not stored at all."""
    if arg.type.ndim == 0:
        return arg
    if arg.type.shape != value.type.shape:
        return None
    return _reshaped(arg, node.type.shape) if _reshapes_freely(arg, node.type.shape) else None


def _reshapes_freely(node: Node, shape: Shape) -> bool:
    if [n for n in node.type.shape if n != 1] == [n for n in shape if n != 1]:
        return True
    if node.op.name == "input":
        return node.params["strides"] == c_strides(node.type.shape)
    return node.op.kind != "move" or node.op.name == "reshape"


def _reshaped(arg: Node, shape: tuple[int, ...]) -> Node:
    return arg if arg.type.shape == shape else _view("reshape", arg, shape, {"shape": shape})


def _view(name: str, arg: Node, shape: Shape, params: Params) -> Node:
    return make_node(name, (arg,), params, TensorType(arg.type.dtype, shape))


_MOVE = {"transpose": _transposed, "slice": _sliced, "reshape": _reshaped_like}

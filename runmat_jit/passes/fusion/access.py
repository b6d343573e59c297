"""Where the elements of a value lie: views of stored values are strides, not computations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from runmat_jit.core.frozen import frozen
from runmat_jit.core.types import c_strides
from runmat_jit.graph.by_value import is_by_value
from runmat_jit.graph.constant import is_constant
from runmat_jit.graph.node import Fresh, Graph, Node
from runmat_jit.ops.product import product_in
from runmat_jit.passes.fusion.geometry import GEOMETRIES, Strides

Orders = Mapping[Node, tuple[int, ...]]
"""The order of axes in memory, outermost first, of nodes that are stored in another than C."""


@frozen
class View:
    """Elements of ``base``'s memory: offset and strides in elements, one an axis of the view."""

    base: Node
    offset: int
    strides: Strides


def memory_orders(graph: Graph) -> dict[Node, tuple[int, ...]]:
    """The order of axes in memory of nodes, were they stored: an output's own wish decides.

    What a product of NumPy's reads in columns is stored so: it would be copied otherwise.
    """
    wishes: dict[Node, Any] = {}
    for node in graph.nodes:
        product = product_in(node.params)
        for arg, lies in () if product is None else zip(node.args, product.lie, strict=True):
            if lies == "columns" and not is_view(arg):
                *outer, row, column = range(arg.type.ndim)
                wishes[arg] = (*outer, column, row)
    wishes |= {
        node.args[0]: node.params["order"] for node in graph.nodes if node.op.name == "strided"
    }
    for output in reversed(graph.outputs):
        if isinstance(output.target, Fresh):
            wishes[output.node] = output.target.order
    return wishes


def view_of(node: Node, orders: Orders) -> View:
    """How to read ``node`` from the memory of the value it is a view of.

    A value that is no view is read from its own memory, and so is a copy: a view that no strides
    describe (see :func:`is_copied`).
    """
    chain = []
    while is_view(node):
        chain.append(node)
        node = node.args[0]
    view = whole_view(node, orders)
    for move in reversed(chain):
        view = moved_view(move, view, orders)
    return view


def whole_view(node: Node, orders: Orders) -> View:
    """All of a node's own memory."""
    return View(node, 0, stored_strides(node, orders))


def moved_view(node: Node, source: View, orders: Orders) -> View:
    """How to read a view, given how its operand is read."""
    place = GEOMETRIES[node.op.name](node, source.offset, source.strides)
    return whole_view(node, orders) if place is None else View(source.base, *place)


def is_copied(node: Node, orders: Orders) -> bool:
    """True if the node moves elements as no strides do, so that it has memory of its own."""
    if is_view(node):
        return view_of(node, orders).base is node
    return node.op.kind == "move"


def stored_strides(node: Node, orders: Orders) -> Strides:
    """Strides in elements of the memory of an input or of a stored node."""
    if node.op.name == "input":
        strides = node.params["strides"]
        return strides if isinstance(strides, tuple) else ()
    return c_strides(node.type.shape, orders.get(node))


def read_by_host(node: Node, orders: Orders) -> View:
    """The memory that a host call reads an operand from.

    That of the value which the operand is a view of; its own where that has none.
    """
    view = view_of(node, orders)
    return view if _has_memory(view.base) else whole_view(node, orders)


def is_stored_for_host(node: Node, orders: Orders) -> bool:
    """True if an operand of a host call must be stored though nothing else asks for that."""
    return not is_by_value(node) and not _has_memory(view_of(node, orders).base)


def _has_memory(base: Node) -> bool:
    return not is_by_value(base) and base.op.name != "iota"


def is_computed(node: Node) -> bool:
    """True if kernels compute the node element by element, whatever they read for it."""
    return node.op.expand is not None or node.op.kind == "gather"


def is_leaf(node: Node) -> bool:
    """True if the node needs no computation: an input, a constant, or numbers that count."""
    return node.op.name in ("input", "iota", "count") or is_constant(node)


def is_view(node: Node) -> bool:
    """True if the node only moves elements of its first operand."""
    return node.op.name in GEOMETRIES

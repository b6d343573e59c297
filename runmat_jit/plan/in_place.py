"""Values that take the memory of what they are made of, which nobody reads afterwards."""

from __future__ import annotations

from collections.abc import Sequence

from runmat_jit.core.types import c_strides
from runmat_jit.graph.node import Graph, Node
from runmat_jit.passes.boxes import are_disjoint, box_of_strides, box_of_update
from runmat_jit.passes.fusion.access import Orders, stored_strides, view_of, whole_view
from runmat_jit.passes.fusion.matmul_epilogue import is_product
from runmat_jit.passes.fusion.region import Region


def updates_in_place(graph: Graph, regions: tuple[Region, ...], orders: Orders) -> dict[Node, Node]:
    """The updates that need no copy of their base: each with the stored node whose memory it takes.

    The memory may be that of the base, or of an earlier update of the same part of the same base,
    which differs from the base in that part alone. It must have been computed by the program, lie
    in C order, be no output, and be read by no later region. Where the region itself reads it over
    what is written (:func:`is_read_below`), the values go there afterwards: that is worth while for
    a small part.

    Args:
        graph: The graph.
        regions: Its regions, in the order in which they run.
        orders: The memory order of every stored node's axes.

    """
    wanted = {output.node for output in graph.outputs}
    stored = {node: n for n, region in enumerate(regions) for node in region.outputs}
    until = stored | {node: n for n, region in enumerate(regions) for node in region.inputs}
    earlier: dict[tuple[object, ...], list[Node]] = {}
    found: dict[Node, Node] = {}
    taken: set[Node] = set()
    for number, region in enumerate(regions):
        for node in region.updates:
            part = tuple(node.params[name] for name in ("offset", "shape", "strides"))
            alike = earlier.setdefault((node.args[0], *part), [])
            free = [
                memory
                for memory in (node.args[0], *alike)
                if memory in stored
                and memory not in wanted
                and memory not in taken
                and until[memory] <= number
                and _lie_alike(node, memory, orders)
            ]
            memory = next((m for m in free if not is_read_below(m, node, region, orders)), None)
            if memory is None and free and _is_small_part(node, region):
                memory = free[0]
            if memory is not None:
                found[node] = memory
                taken.add(memory)
            alike[:] = [*[each for each in alike if each not in taken], node]
    return found


def _is_small_part(update: Node, region: Region) -> bool:
    """True if it is less to move what is computed than to copy what is beside it."""
    return len(region.nodes) > 1 and 2 * update.args[1].type.size < update.type.size


def is_read_below(memory: Node, update: Node, region: Region, orders: Orders) -> bool:
    """True if a region reads elements of some memory that it has written by then.

    It may read each where it computes what is written over it, and others that are not written.
    """
    offset, shape, strides = (update.params[name] for name in ("offset", "shape", "strides"))
    written = box_of_update(update)
    for node in region.nodes:
        for arg in node.args:
            view = view_of(arg, orders)
            if view.base is not memory or (node is update and arg is update.args[0]):
                continue
            there = arg.type.shape == shape and (view.offset, view.strides) == (offset, strides)
            if there and node.op.kind == "elementwise":
                continue
            read = box_of_strides(memory.type.shape, view.offset, arg.type.shape, view.strides)
            if written is None or read is None or not are_disjoint(read, written):
                return True
    return False


def _lie_alike(node: Node, memory: Node, orders: Orders) -> bool:
    """True if both are arrays of one shape in C order."""
    plain = c_strides(node.type.shape)
    return stored_strides(node, orders) == plain and stored_strides(memory, orders) == plain


def epilogues_in_place(
    graph: Graph, regions: tuple[Region, ...], orders: Orders
) -> dict[Node, Node]:
    """The values of epilogues that lie in the memory of the product, each with that product.

    The epilogue reads of it each element once, where it computes that element of the value; and
    nothing reads the product later (arguments as ``updates_in_place``).
    """
    wanted = {output.node for output in graph.outputs}
    last = {node: number for number, region in enumerate(regions) for node in region.inputs}
    found: dict[Node, Node] = {}
    for number, region in enumerate(regions):
        if region.kind != "matmul_epilogue":
            continue
        free = [
            node
            for node in region.inputs
            if is_product(node) and node not in wanted and last[node] == number
        ]
        for value in region.outputs:
            taken = next((node for node in free if _may_take(value, node, region, orders)), None)
            if taken is not None:
                found[value] = taken
                free.remove(taken)
    return found


def _may_take(value: Node, memory: Node, region: Region, orders: Orders) -> bool:
    """True if a value of an elementwise region may lie where it reads another."""
    return (
        value.type == memory.type
        and value.type.shape == region.space
        and orders[value] == orders[memory]
        and _reads_in_place(memory, region.nodes, orders)
    )


def _reads_in_place(memory: Node, nodes: Sequence[Node], orders: Orders) -> bool:
    """True if nodes read each element of a value only where they compute that element."""
    reads = ((node, arg, view_of(arg, orders)) for node in nodes for arg in node.args)
    whole = whole_view(memory, orders)
    return all(
        arg.type == memory.type and view == whole and not is_product(node)
        for node, arg, view in reads
        if view.base is memory
    )

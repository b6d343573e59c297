"""Updates of part of an array that nobody reads afterwards, made in that array's own memory."""

from __future__ import annotations

from runmat_jit.core.types import c_strides
from runmat_jit.graph.node import Graph, Node
from runmat_jit.passes.fusion.access import Orders, stored_strides, view_of
from runmat_jit.passes.fusion.region import Region


def updates_in_place(graph: Graph, regions: tuple[Region, ...], orders: Orders) -> dict[Node, Node]:
    """The updates that need no copy of their base: each with the stored node whose memory it takes.

    The memory may be that of the base, or of an earlier update of the same part of the same base,
    which differs from the base in that part alone. It must have been computed by the program, lie
    in C order, be no output, and be read by no other part of the update and by no later region.

    Args:
        graph: The graph.
        regions: Its regions, in the order in which they run.
        orders: The memory order of every stored node's axes.

    """
    wanted = {output.node for output in graph.outputs}
    stored = {node: n for n, region in enumerate(regions) for node in region.outputs}
    until = stored | {node: n for n, region in enumerate(regions) for node in region.inputs}
    earlier: dict[tuple[object, ...], Node] = {}
    found: dict[Node, Node] = {}
    taken: set[Node] = set()
    for number, region in enumerate(regions):
        node = region.nodes[0]
        if node.op.name != "update":
            continue
        base, value = node.args[0], view_of(node.args[1], orders).base
        part = (base, *(node.params[name] for name in ("offset", "shape", "strides")))
        for memory in (base, earlier.get(part)):
            if (
                memory in stored
                and memory not in wanted
                and memory not in taken
                and memory is not value
                and until[memory] <= number
                and _lie_alike(node, memory, orders)
            ):
                found[node] = memory
                taken.add(memory)
                break
        earlier[part] = node
    return found


def _lie_alike(node: Node, memory: Node, orders: Orders) -> bool:
    """Whether both are arrays of one shape in C order."""
    plain = c_strides(node.type.shape)
    return stored_strides(node, orders) == plain and stored_strides(memory, orders) == plain

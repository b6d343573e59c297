"""The region grower: which operations of a graph run as one kernel."""

from __future__ import annotations

from runmat_jit.graph.node import Graph, Node
from runmat_jit.passes.fusion.access import is_copied, is_leaf, is_view, memory_orders, view_of
from runmat_jit.passes.fusion.region import Region

Key = tuple[int, object]


def grow(graph: Graph, disabled: frozenset[str] = frozenset()) -> tuple[Region, ...]:
    """Divide the graph into regions, in an order in which they can run."""
    orders = memory_orders(graph)
    wanted = {output.node for output in graph.outputs}
    depth: dict[Node, int] = {}
    groups: dict[Key, list[Node]] = {}
    where: dict[Node, Key] = {}
    used = set(wanted)
    inputs: dict[Key, dict[Node, None]] = {}
    for number, node in enumerate(graph.nodes):
        if node.op.name == "input" or (node not in wanted and is_leaf(node)):
            continue
        if node not in wanted and is_view(node) and not is_copied(node, orders):
            continue
        bases = [(arg, view_of(arg, orders).base) for arg in node.args]
        fused = node.op.expand is not None and "elementwise" not in disabled
        depth[node] = max(
            (
                depth[base] + (not (fused and base is arg and _same_space(arg, node)))
                for arg, base in bases
                if base in depth
            ),
            default=0,
        )
        key: Key = (depth[node], node.type.shape if fused else number)
        where[node] = key
        groups.setdefault(key, []).append(node)
        reads = inputs.setdefault(key, {})
        for _, base in bases:
            if where.get(base) != key and not (is_leaf(base) and base.op.name != "input"):
                reads[base] = None
                used.add(base)
    return tuple(
        Region(
            "host" if nodes[0].op.kind == "host" else "elementwise",
            tuple(nodes),
            tuple(inputs[key]),
            tuple(node for node in nodes if node in used),
        )
        for key, nodes in sorted(groups.items(), key=lambda item: item[0][0])
    )


def _same_space(producer: Node, consumer: Node) -> bool:
    return producer.op.expand is not None and producer.type.shape == consumer.type.shape

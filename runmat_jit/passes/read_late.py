"""What is computed after an update reads the part that it wrote from the updated array."""

from __future__ import annotations

from runmat_jit.graph.apply import make_node
from runmat_jit.graph.node import Graph, Node
from runmat_jit.graph.walk import roots, users
from runmat_jit.passes.boxes import box_of_update
from runmat_jit.passes.fusion.access import is_view
from runmat_jit.passes.rebuild import rebuilt


def read_late(graph: Graph) -> Graph:
    """Read written values from the arrays that they were written to, where these are there.

    An updated array is stored, and what is written to it need not be stored once more for what
    runs later anyway. Pure, keeps every bit. Afterwards reads are not forwarded any more.
    """
    updates = [node for node in graph.nodes if node.op.name == "update"]
    if not updates:
        return graph
    ready, due = _turns(graph)
    readers = users(graph.nodes)
    moved: dict[Node | None, dict[Node, Node]] = {}
    for update in updates:
        value = update.args[1]
        part = _part(update)
        if part is None or value.op.expand is None:
            continue
        for reader in readers[value]:
            if reader.op.name != "update" and due[reader] >= ready[update]:
                moved.setdefault(reader, {}).setdefault(value, part)
    nowhere: dict[Node, Node] = {}
    return (
        rebuilt(graph, lambda node, arg: moved.get(node, nowhere).get(arg, arg)) if moved else graph
    )


def _turns(graph: Graph) -> tuple[dict[Node, int], dict[Node, int]]:
    """Updates before each node: those that it needs, and those that whatever needs it needs.

    What an update needs, needs fewer updates than itself: so what runs no earlier may read it.
    """
    ready: dict[Node, int] = {}
    for node in graph.nodes:
        before = max([ready[arg] for arg in node.args], default=0)
        ready[node] = before + (node.op.name == "update")
    due, kept, readers = dict(ready), set(roots(graph)), users(graph.nodes)
    for node in reversed(graph.nodes):
        if node not in kept and (node.op.expand is not None or is_view(node)):
            due[node] = min([due[reader] for reader in readers[node]], default=ready[node])
    return ready, due


def _part(update: Node) -> Node | None:
    """What an update wrote, as a part of the updated array."""
    value, written = update.args[1], box_of_update(update)
    if written is None:
        return None
    counts = tuple(each.count for each in written)
    if counts != value.type.shape:
        return None
    params = {
        "starts": tuple(each.start for each in written),
        "steps": tuple(each.step for each in written),
        "shape": counts,
    }
    return make_node("slice", (update,), params, value.type)

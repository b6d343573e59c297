"""Stores through masks that a kernel makes in the memory of the array that the program gave."""

from __future__ import annotations

from collections.abc import Iterator

from runmat_jit.core.types import broadcast_shapes
from runmat_jit.graph.node import Graph, Into, Node, Output
from runmat_jit.passes.events import reports_events
from runmat_jit.passes.fusion.access import Orders, View, stored_strides, view_of, whole_view
from runmat_jit.passes.fusion.region import Region


def direct_stores(graph: Graph, regions: tuple[Region, ...], orders: Orders) -> dict[Node, Node]:
    """Values of the last region that go into an input at once, each with that input.

    Other values are written once everything has been computed: until then a program may be run
    again by NumPy, from the same inputs. So nothing in the graph reports an event or calls the
    host. Nothing reads the input but the last region, and that only at the element which it
    computes.

    Args:
        graph: The graph.
        regions: Its regions, in the order in which they run.
        orders: The memory order of every stored node's axes.

    """
    if not regions or any(region.is_host for region in regions):
        return {}
    wanted = [output for output in graph.outputs if _may_be(output, graph, orders)]
    if not wanted or any(map(reports_events, graph.nodes)):
        return {}
    last = regions[-1]
    pairs = {output.node: graph.inputs[_target(output).input] for output in wanted}
    return {
        node: base
        for node, base in pairs.items()
        if _is_alone(node, base, graph, orders) and _is_computed(node, base, last, orders)
    }


def stores_chosen(node: Node, base: Node) -> bool:
    """True if only what the mask chooses differs from what is in the input's memory."""
    return node.args[0] is base


def _may_be(output: Output, graph: Graph, orders: Orders) -> bool:
    """True if an output is a store through a mask, into a whole input."""
    node, target = output.node, output.target
    if not isinstance(target, Into) or node.op.name != "putmask":
        return False
    base = graph.inputs[target.input]
    own = stored_strides(node, orders)
    whole = target == Into(target.input, 0, own) and base.params["strides"] == own
    return whole and node.type == base.type


def _target(output: Output) -> Into:
    assert isinstance(output.target, Into), "_may_be() has seen it"
    return output.target


def _is_alone(node: Node, base: Node, graph: Graph, orders: Orders) -> bool:
    """True if no other output is the same value, goes to the same input or shows it."""
    others = [output for output in graph.outputs if output.node is not node]
    if len(others) != len(graph.outputs) - 1:
        return False
    number = base.params["index"]
    return not any(
        (isinstance(other.target, Into) and other.target.input == number)
        or view_of(other.node, orders).base in (base, node)
        for other in others
    )


def _is_computed(node: Node, base: Node, region: Region, orders: Orders) -> bool:
    """True if a region computes each element once, and reads of the input no other one."""
    if node not in region.outputs or any(each.op.kind != "elementwise" for each in region.nodes):
        return False
    if broadcast_shapes(*(each.type.shape for each in region.nodes)) != node.type.shape:
        return False
    return all(
        arg.type == base.type and view == whole_view(base, orders)
        for arg, view in _reads(region, orders)
        if view.base is base
    )


def _reads(region: Region, orders: Orders) -> Iterator[tuple[Node, View]]:
    """The operands of a region's members, and where they are read."""
    for node in region.nodes:
        for arg in node.args:
            yield arg, view_of(arg, orders)

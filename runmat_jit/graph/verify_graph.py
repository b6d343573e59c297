"""What a valid graph is."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np

from runmat_jit.graph.node import Fresh, Graph, Node, Output
from runmat_jit.graph.text import node_text
from runmat_jit.ops.host_call import HostCall
from runmat_jit.ops.spec import VARIADIC


class GraphError(AssertionError):
    """A graph that no pass may make."""


def verify_graph(graph: Graph) -> None:
    """Check a graph: inputs, order, sharing, each node against its row, outputs.

    Raises:
        GraphError: what is wrong, with the node in question.

    """
    for number, node in enumerate(graph.inputs):
        _verify_input(node, number)
    seen: set[Node] = set()
    identities: set[Hashable] = set()
    for node in graph.nodes:
        _verify_place(node, graph, seen)
        _verify_row(node)
        seen.add(node)
        identities.add(node.identity)
    if len(identities) != len(graph.nodes):
        raise GraphError("a computation has two nodes: nodes are made by one builder")
    for output in graph.outputs:
        _verify_output(output, graph, seen)


def _require(condition: object, sentence: str, node: Node) -> None:
    if not condition:
        raise GraphError(f"{sentence}: {node_text(node)}")


def _verify_input(node: Node, number: int) -> None:
    strides = node.params.get("strides", ())
    _require(node.op.name == "input", "an input is of the row input", node)
    _require(node.params.get("index") == number, f"input {number} has this number", node)
    if strides is None:
        _require(node.type.shape == (), "what is given by value is 0-d", node)
    else:
        _require(_integers(strides, node.type.ndim), "strides are integers, one an axis", node)


def _verify_place(node: Node, graph: Graph, seen: set[Node]) -> None:
    for arg in node.args:
        _require(arg in seen, "operands come before their users", node)
    if node.op.name == "input":
        index = node.params.get("index")
        listed = isinstance(index, int) and graph.inputs[index : index + 1] == (node,)
        _require(listed, "an input is listed by its number", node)


def _verify_row(node: Node) -> None:
    """Arity, parameters, and what the row's rule says of operand dtypes and of the type."""
    op = node.op
    _require(op.arity in (VARIADIC, len(node.args)), "the row has another arity", node)
    if op.kind == "host":
        named = list(node.params) == ["call"] and isinstance(node.params["call"], HostCall)
        _require(named, "a host call says what is called, and nothing else", node)
        return
    _require(all(map(_is_plain, node.params.values())), "parameters are plain values", node)
    if op.result is None or op.kind == "structure":
        return
    found = op.result(tuple(arg.type for arg in node.args), node.params)
    if found is None:
        raise GraphError(f"the rule does not cover these operands: {node_text(node)}")
    dtypes = tuple(arg.type.dtype for arg in node.args)
    if dtypes != found.operand_dtypes:
        wanted = ", ".join(map(str, found.operand_dtypes))
        raise GraphError(f"the row computes with operands of {wanted}: {node_text(node)}")
    if node.type != found.type:
        raise GraphError(f"the row's rule says {found.type}: {node_text(node)}")


def _is_plain(value: Hashable) -> bool:
    """Only such values have a text, and an equality that does not depend on when it is asked."""
    if isinstance(value, tuple):
        return all(map(_is_plain, value))
    return value is None or isinstance(value, (bool, int, float, str, bytes, np.dtype))


def _integers(value: object, count: int) -> bool:
    return isinstance(value, tuple) and len(value) == count and all(type(v) is int for v in value)


def _verify_output(output: Output, graph: Graph, seen: set[Node]) -> None:
    node, target = output.node, output.target
    _require(node in seen, "an output is a node of the graph", node)
    if isinstance(target, Fresh):
        axes = sorted(target.order)
        _require(axes == list(range(node.type.ndim)), "a fresh order names every axis once", node)
        return
    _require(0 <= target.input < len(graph.inputs), "an output goes into an input", node)
    memory = graph.inputs[target.input]
    strides = memory.params["strides"]
    _require(isinstance(strides, tuple), "what is given by value cannot be written", memory)
    _require(node.type.dtype == memory.type.dtype, "a write keeps the memory's dtype", node)
    _require(_integers(target.strides, node.type.ndim), "strides are integers, one an axis", node)
    if node.type.size:
        low, high = _span(target.offset, target.strides, node.type.shape)
        first, last = _span(0, strides, memory.type.shape)  # type: ignore[arg-type]  # checked
        _require(first <= low and high <= last, "a write stays within the input's memory", node)


def _span(offset: int, strides: tuple[int, ...], shape: tuple[int, ...]) -> tuple[int, int]:
    """The first and the last element that an array touches, counted from its memory's origin."""
    reaches = [stride * (extent - 1) for stride, extent in zip(strides, shape, strict=True)]
    return (
        offset + sum(reach for reach in reaches if reach < 0),
        offset + sum(reach for reach in reaches if reach > 0),
    )

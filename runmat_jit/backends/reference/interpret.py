"""Runs a graph with NumPy, one operation after the other: the oracle of passes and kernels."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from runmat_jit.core.frozen import frozen
from runmat_jit.graph.by_value import is_by_value
from runmat_jit.graph.node import Graph, Into, Node
from runmat_jit.graph.walk import last_uses

Step = Callable[[Node, Sequence[Any]], Any]
"""Gives the value of a node from those of its operands."""


def run(graph: Graph, inputs: Sequence[Any]) -> list[np.ndarray]:
    """The values of the graph's outputs, by NumPy's own operations.

    Args:
        graph: A valid graph.
        inputs: Arrays of the inputs' types; Python or NumPy scalars for inputs given by value.

    Returns:
        One array an output: new memory in the wanted order of axes for ``Fresh``; for ``Into`` the
        part of the input that was written, after every value had been computed.

    """
    wanted = {output.node for output in graph.outputs}
    with np.errstate(all="ignore"):
        pairs = evaluate(graph.nodes, Machine(inputs).compute)
        values = {node: value for node, value in pairs if node in wanted}
    arrays = {node: value.copy() for node, value in values.items()}  # before inputs are written
    results = []
    for output in graph.outputs:
        value = arrays[output.node]
        if isinstance(output.target, Into):
            results.append(_written(inputs[output.target.input], output.target, value))
        else:
            results.append(_laid_out(value, output.target.order))
    return results


def evaluate(nodes: Sequence[Node], step: Step) -> Iterator[tuple[Node, Any]]:
    """Every node with its value by ``step``, in order. A value is freed after its last use."""
    last = last_uses(nodes)
    values: dict[Node, Any] = {}
    for position, node in enumerate(nodes):
        values[node] = value = step(node, [values[arg] for arg in node.args])
        yield node, value
        for used in (*node.args, node):
            if last.get(used, position) == position:
                values.pop(used, None)


@frozen
class Machine:
    """Computes nodes: what they need beside their operands."""

    inputs: Sequence[Any]

    def compute(
        self, node: Node, args: Sequence[Any], meaning: Callable[..., Any] | None = None
    ) -> Any:
        """The value of one node, an array of the node's type; ``meaning``: by another spelling."""
        op, kind = node.op, node.type
        if op.kind == "host":
            args = [v[()] if is_by_value(n) else v for n, v in zip(node.args, args, strict=True)]
        if op.name == "input":
            index = node.params["index"]
            assert isinstance(index, int), "inputs are numbered"
            value = np.asarray(self.inputs[index], dtype=kind.dtype)
        else:
            extra: dict[str, Any] = {"type": kind} if op.kind == "structure" else {}
            value = np.asarray((meaning or op.numpy)(*args, **node.params, **extra))
        assert (value.dtype, value.shape) == (kind.dtype, kind.shape), (
            f"{op.name} gave {value.dtype}{list(value.shape)}, its type is {kind}"
        )
        return value


def _laid_out(value: np.ndarray, order: tuple[int, ...]) -> np.ndarray:
    """A copy in contiguous memory whose axes lie in ``order``, outermost first."""
    memory = np.empty([value.shape[axis] for axis in order], value.dtype)
    result = memory.transpose(np.argsort(order))
    result[...] = value
    return result


def _written(memory: np.ndarray, into: Into, value: np.ndarray) -> np.ndarray:
    """Write ``value`` into an input's memory, and give the part that was written."""
    if value.size == 0:
        return value
    step = memory.itemsize
    distance = abs(into.offset)
    line = as_strided(memory, (distance + 1,), (-step if into.offset < 0 else step,))
    strides = [stride * step for stride in into.strides]
    part = as_strided(line[distance:], value.shape, strides, writeable=True)
    part[...] = value
    return part

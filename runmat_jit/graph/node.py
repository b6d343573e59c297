"""The graph: immutable, hash-consed values of whole arrays.

A node's operands have exactly the dtypes that its operation computes with (casts are nodes of
their own); shapes of elementwise operands broadcast as NumPy broadcasts. Identity is operation,
operands, parameters and type; the user's line is carried along and is no part of it. Nothing here
recurses: a graph may be as deep as it is long.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import field
from typing import Any

from runmat_jit.core.frozen import frozen, frozen_object
from runmat_jit.core.slotted import slotted
from runmat_jit.core.source import SourceLine
from runmat_jit.core.types import TensorType
from runmat_jit.ops.spec import Op


@frozen_object
class Node:
    """One value: the result of ``op`` on ``args``. Equality is identity within one builder."""

    op: Op
    args: tuple[Node, ...]
    params: Mapping[str, Hashable]
    type: TensorType
    line: SourceLine | None = None

    @property
    def identity(self) -> Hashable:
        """Equal for two nodes exactly if they compute the same thing of the same operands."""
        return _identity(self.op, self.args, self.params, self.type)

    def __repr__(self) -> str:
        return f"<{self.op.name} {self.type}>"


@frozen
class Fresh:
    """A result in new contiguous memory whose axes lie in ``order``, outermost first."""

    order: tuple[int, ...]


@frozen
class Into:
    """A write into the memory of input number ``input``: offset and strides in elements.

    Committed after every value of the graph has been computed, in the order of the outputs.
    """

    input: int
    offset: int
    strides: tuple[int, ...]


@frozen
class Output:
    """A value that leaves the graph, and where it goes."""

    node: Node
    target: Fresh | Into


@frozen
class Computation:
    """One operation of the program, for what NumPy reports of it: each event once, by one name.

    Its nodes, by their numbers among the graph's, are its own and the casts of what it reads and
    writes, which have its name in NumPy's warnings. ``numpy`` is what the program calls.
    """

    nodes: tuple[int, ...]
    name: str
    numpy: Callable[..., Any]
    line: SourceLine | None


@frozen
class Graph:
    """Inputs by number, nodes in an order that computes operands first, outputs.

    ``computations`` are those of the program that may report floating-point events, in its order,
    where nodes do not tell: one value is computed several times, or with casts. Empty: each node is
    an operation, at its own line. Passes, which change no values, need not keep them.
    """

    inputs: tuple[Node, ...]
    nodes: tuple[Node, ...]
    outputs: tuple[Output, ...]
    computations: tuple[Computation, ...] = ()


@slotted
class GraphBuilder:
    """Makes nodes, one for each distinct computation."""

    _interned: dict[Hashable, Node] = field(default_factory=dict)
    _inputs: list[Node] = field(default_factory=list)

    def input(
        self, op: Op, kind: TensorType, strides: tuple[int, ...] | None, line: SourceLine | None
    ) -> Node:
        """A new input; ``strides`` in elements, or None for a scalar given by value."""
        params: dict[str, Hashable] = {"index": len(self._inputs), "strides": strides}
        node = self.make(op, (), params, kind, line)
        self._inputs.append(node)
        return node

    def make(
        self,
        op: Op,
        args: Iterable[Node],
        params: Mapping[str, Hashable],
        kind: TensorType,
        line: SourceLine | None = None,
    ) -> Node:
        """The node of this computation; the first one keeps its line."""
        args = tuple(args)
        key = _identity(op, args, params, kind)
        node = self._interned.get(key)
        if node is None:
            node = self._interned[key] = Node(op, args, dict(params), kind, line)
        return node

    def adopt(self, node: Node) -> Node:
        """The node of this builder that computes what ``node`` does; ``node`` itself if new.

        Its operands must be nodes of this builder.
        """
        return self._interned.setdefault(node.identity, node)

    def adopt_input(self, node: Node) -> Node:
        """Make an input of another graph the next input of this one.

        Raises:
            AssertionError: its number is not the next one.

        """
        assert node.params["index"] == len(self._inputs), "inputs are adopted in their order"
        self._inputs.append(node)
        return self.adopt(node)

    def finish(self, outputs: Iterable[Output]) -> Graph:
        """The graph of everything the outputs need; unused inputs stay."""
        outputs = tuple(outputs)
        return Graph(tuple(self._inputs), topological(o.node for o in outputs), outputs)


def _identity(
    op: Op, args: tuple[Node, ...], params: Mapping[str, Hashable], kind: TensorType
) -> Hashable:
    exact = tuple([(name, *_exact(params[name])) for name in sorted(params)]) if params else ()
    return op.name, tuple(map(id, args)), exact, kind


def _exact(value: Hashable) -> tuple[type, Hashable]:
    """A key that tells 1 from 1.0 and from True, and 0.0 from -0.0."""
    return type(value), value.hex() if isinstance(value, float) else value


def topological(roots: Iterable[Node]) -> tuple[Node, ...]:
    """Every node the roots need, operands before users, in a deterministic order."""
    done: dict[Node, None] = {}
    stack: list[tuple[Node, bool]] = [(r, False) for r in reversed(list(roots))]
    while stack:
        node, ready = stack.pop()
        if node in done:
            continue
        if ready:
            done[node] = None
            continue
        stack.append((node, True))
        stack.extend((a, False) for a in reversed(node.args) if a not in done)
    return tuple(done)

"""What is computed of joined arrays is computed in pieces, so that these need not be stored.

``np.roll`` puts two parts of an array into a new one, as padding and ``np.concatenate`` do. A
stencil of rolled arrays is one of views of the array itself, but for its border.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import field
from typing import Final

from runmat_jit.core.slotted import slotted
from runmat_jit.core.types import TensorType, c_strides
from runmat_jit.graph.constant import constant
from runmat_jit.graph.node import Graph, Node
from runmat_jit.graph.walk import roots, users
from runmat_jit.ops.table import ROWS
from runmat_jit.passes.boxes import Box, Progression, are_disjoint, box_of_update
from runmat_jit.passes.rebuild import rebuilt
from runmat_jit.passes.rules.views import integers

MOST_PIECES: Final = 27
"""Of three axes with a border on either side."""

Breaks = tuple[frozenset[int], ...]
"""For each axis the places at which a value begins to come from elsewhere."""


def cut_at_joins(graph: Graph) -> Graph:
    """Compute elementwise values of joined arrays piece by piece, into one array.

    That is done where one piece has half of all elements at least. Pure, keeps every bit.
    """
    if not any(node.op.name in ("update", "concatenate") for node in graph.nodes):
        return graph
    computed = _computed(graph)
    cutting = _Cutting({*computed, *_joined(graph)})
    instead = {node: made for node in computed if (made := cutting.in_pieces(node))}
    return rebuilt(graph, lambda _, arg: instead.get(arg, arg)) if instead else graph


def _computed(graph: Graph) -> list[Node]:
    """Elementwise values that others than elementwise operations of their shape read."""
    wanted, readers = set(roots(graph)), users(graph.nodes)
    return [
        node
        for node in graph.nodes
        if node.op.expand is not None
        and (
            node in wanted
            or any(r.op.expand is None or r.type.shape != node.type.shape for r in readers[node])
        )
    ]


def _joined(graph: Graph) -> set[Node]:
    """Joined arrays and parts of arrays that are read otherwise, and so are stored in any case."""
    found, wanted, readers = set[Node](), set(roots(graph)), users(graph.nodes)
    for node in reversed(graph.nodes):
        if node.op.expand is None and (
            node in wanted
            or any(r in found or (r.op.expand is None and not _sources(r)) for r in readers[node])
        ):
            found.add(node)
    return found


def _sources(node: Node) -> tuple[Node, ...]:
    """The operands whose pieces a piece of a value is made of."""
    if node.op.expand is not None or node.op.name == "concatenate":
        return node.args
    if node.op.name == "update":
        return node.args if _written(node) else ()
    plain = node.op.name == "slice" and all(step == 1 for step in integers(node, "steps"))
    return node.args if plain else ()


@slotted
class _Cutting:
    """Pieces of values; what is ``stored`` is read as it is."""

    stored: set[Node]
    _breaks: dict[Node, Breaks] = field(default_factory=dict)
    _cut: dict[tuple[Node, Box], Node] = field(default_factory=dict)

    def in_pieces(self, node: Node) -> Node | None:
        """A value put together from pieces; None where it need not be, or these are small."""
        self._look(node)
        shape, breaks = node.type.shape, self._of_args(node)
        if not any(breaks) or math.prod(len(each) + 1 for each in breaks) > MOST_PIECES:
            return None
        sides = [
            [Progression(a, 1, b - a) for a, b in itertools.pairwise([0, *sorted(each), extent])]
            for each, extent in zip(breaks, shape, strict=True)
        ]
        pieces = sorted(itertools.product(*sides), key=lambda piece: -_size(piece))
        if 2 * _size(pieces[0]) < node.type.size:
            return None
        whole = Node(
            ROWS["broadcast_to"], (constant(0, node.type.dtype),), {"shape": shape}, node.type
        )
        steps = c_strides(shape)
        for piece in pieces:
            params = {
                "offset": sum(p.start * step for p, step in zip(piece, steps, strict=True)),
                "shape": tuple(p.count for p in piece),
                "strides": steps,
            }
            value = self._computed(node, piece)
            whole = Node(ROWS["update"], (whole, value), params, node.type, node.line)
        return whole

    # -- where values break ----------------------------------------------------------------------
    def _look(self, root: Node) -> None:
        """Find the breaks of what a value is computed of."""
        stack = list(root.args)
        while stack:
            node = stack.pop()
            sources = () if node in self.stored else _sources(node)
            missing = [arg for arg in sources if arg not in self._breaks]
            if missing:
                stack += [node, *missing]
            else:
                self._breaks.setdefault(node, self._breaks_of(node))

    def _breaks_of(self, node: Node) -> Breaks:
        none = (frozenset[int](),) * node.type.ndim
        if node in self.stored or not _sources(node):
            return none
        if node.op.expand is not None:
            return self._of_args(node)
        if node.op.name == "slice":
            starts, shape = integers(node, "starts"), node.type.shape
            return _moved(self._breaks[node.args[0]], [-start for start in starts], shape)
        if node.op.name == "update":
            written = _written(node)
            assert written is not None, "it has sources"
            own = tuple(frozenset((p.start, p.start + p.count)) for p in written)
            starts = tuple(p.start for p in written)
            value = _moved(self._breaks[node.args[1]], starts, node.type.shape)
            found = _union(none, self._breaks[node.args[0]], own, value)
        else:
            found, first = none, 0
            axis = _axis(node)
            for arg in node.args:
                starts = tuple(first if n == axis else 0 for n in range(node.type.ndim))
                own = tuple(frozenset((start,)) for start in starts)
                found = _union(found, own, _moved(self._breaks[arg], starts, node.type.shape))
                first += arg.type.shape[axis]
        return _moved(found, (0,) * node.type.ndim, node.type.shape)

    def _of_args(self, node: Node) -> Breaks:
        """Those of the operands of an elementwise operation."""
        rank = node.type.ndim
        found = (frozenset[int](),) * rank
        for arg in node.args:
            before = (frozenset[int](),) * (rank - arg.type.ndim)
            found = _union(found, (*before, *self._breaks[arg]))
        return found

    # -- pieces ----------------------------------------------------------------------------------
    def _computed(self, node: Node, piece: Box) -> Node:
        """A piece of an elementwise value: what it is computed of, cut so."""
        wanted = self._of_operands(node, piece)
        stack = [*wanted]
        while stack:
            key = stack.pop()
            if key in self._cut:
                continue
            needs = self._needs(*key)
            missing = [each for each in needs if each not in self._cut]
            if missing:
                stack += [key, *missing]
            else:
                self._cut[key] = _made(*key, [self._cut[each] for each in needs])
        return _made(node, piece, [self._cut[each] for each in wanted])

    def _needs(self, node: Node, piece: Box) -> list[tuple[Node, Box]]:
        """The pieces that a piece of a value is made of; none where it is one of stored memory."""
        if node in self.stored or not piece:
            return []
        if node.op.expand is not None:
            return self._of_operands(node, piece)
        if not any(self._breaks[node]):
            return []
        if node.op.name == "slice":
            return [(node.args[0], _beside(piece, integers(node, "starts"), 1))]
        return [self._source(node, piece)]

    def _of_operands(self, node: Node, piece: Box) -> list[tuple[Node, Box]]:
        """The pieces of an elementwise operation's operands, which may be broadcast."""
        found = []
        for arg in node.args:
            along = zip(arg.type.shape, piece[node.type.ndim - arg.type.ndim :], strict=True)
            found.append((arg, tuple([_ALL_OF_ONE if n == 1 else part for n, part in along])))
        return found

    def _source(self, node: Node, piece: Box) -> tuple[Node, Box]:
        """The operand of a joined array that a piece of it comes from, and where in that."""
        if node.op.name == "update":
            base, value = node.args
            written = _written(node)
            assert written is not None, "it has breaks"
            if are_disjoint(piece, written):
                return base, piece
            return value, _beside(piece, tuple(p.start for p in written), -1)
        axis, first = _axis(node), 0
        for arg in node.args[:-1]:
            after = first + arg.type.shape[axis]
            if piece[axis].start < after:
                break
            first = after
        else:
            arg = node.args[-1]
        starts = tuple(first if n == axis else 0 for n in range(len(piece)))
        return arg, _beside(piece, starts, -1)


_ALL_OF_ONE: Final = Progression(0, 1, 1)


def _made(node: Node, piece: Box, parts: Sequence[Node]) -> Node:
    """A piece of a value, given what it is made of."""
    shape = tuple(p.count for p in piece)
    kind = TensorType(node.type.dtype, shape)
    if node.op.expand is not None and parts:
        return Node(node.op, tuple(parts), node.params, kind, node.line)
    if parts:
        return parts[0]
    if not piece:
        return node
    starts, steps = tuple(p.start for p in piece), (1,) * len(piece)
    params = {"starts": starts, "steps": steps, "shape": shape}
    return Node(ROWS["slice"], (node,), params, kind, node.line)


def _written(update: Node) -> Box | None:
    """The part that an update writes, if it is a box, and a part of another array comes there.

    What is computed is stored there at once.
    """
    found = None if update.args[1].op.expand is not None else box_of_update(update)
    if found is None or any(each.step != 1 for each in found):
        return None
    return found if tuple(each.count for each in found) == update.args[1].type.shape else None


def _axis(node: Node) -> int:
    axis = node.params["axis"]
    assert isinstance(axis, int), "arrays are joined along an axis"
    return axis


def _moved(breaks: Breaks, by: Sequence[int], shape: Sequence[int]) -> Breaks:
    """Breaks further along, as far as they are within a shape."""
    return tuple(
        [
            frozenset([at + step for at in each if 0 < at + step < extent])
            for each, step, extent in zip(breaks, by, shape, strict=True)
        ]
    )


def _union(first: Breaks, *others: Breaks) -> Breaks:
    return tuple([each.union(*more) for each, *more in zip(first, *others, strict=True)])


def _beside(piece: Box, starts: Sequence[int], sign: int) -> Box:
    """A piece, counted from elsewhere."""
    return tuple(
        [
            Progression(p.start + sign * start, 1, p.count)
            for p, start in zip(piece, starts, strict=True)
        ]
    )


def _size(piece: Box) -> int:
    return math.prod(each.count for each in piece)

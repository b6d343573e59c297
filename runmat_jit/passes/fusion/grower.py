"""The region grower: which operations of a graph run as one kernel.

One walk over the graph puts each node into the group of its operands where a merge permits it
(:mod:`edges`) and no other operand has to be finished first; then whole groups move to their only
reader, and groups that read the same arrays join. Time grows linearly with the graph.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace

from runmat_jit.core.hardware import ACCESS_FLOPS
from runmat_jit.core.reasons import Reason
from runmat_jit.core.slotted import slotted
from runmat_jit.core.types import c_strides
from runmat_jit.graph.constant import is_constant
from runmat_jit.graph.node import Graph, Node
from runmat_jit.graph.text import operation_name
from runmat_jit.graph.walk import users
from runmat_jit.passes.fusion.access import (
    Orders,
    View,
    is_computed,
    is_leaf,
    is_stored_for_host,
    is_view,
    memory_orders,
    moved_view,
    read_by_host,
    stored_strides,
    whole_view,
)
from runmat_jit.passes.fusion.edges import (
    Fit,
    Merge,
    Place,
    fit,
    is_position,
    reduced_axes,
    result_axes,
)
from runmat_jit.passes.fusion.groups import (
    ENOUGH_COPIES,
    ENOUGH_FLOPS,
    ENOUGH_FLOPS_OF_COPIES,
    ENOUGH_NODES,
    INPUTS,
    MOST_COPIES,
    Axes,
    Depth,
    Group,
    Site,
    behind,
    kept,
    makes_blocks,
    obstacle,
)
from runmat_jit.passes.fusion.kinds import label, permitted_merges
from runmat_jit.passes.fusion.reduction_shape import WHOLE_WORDS, next_step
from runmat_jit.passes.fusion.region import Region
from runmat_jit.passes.rules.views import integers

_UNROLLED = 2
"""Iterations of a loop that have code of their own: the first ones may read something else."""
_DIFFERENT_AXES = Reason("other-order", "results of different axes")
_TOO_LONG = Reason("kernel-too-long", "the kernel would be too long")
_DEAR_AGAIN = Reason("kernel-too-long", "each pass would compute again what earlier ones did")


def grow(
    graph: Graph, disabled: frozenset[str] = frozenset(), *, device: str = "cpu"
) -> tuple[Region, ...]:
    """Divide a graph into regions, in an order in which they can run.

    Args:
        graph: Any valid graph. Inputs, constants and views need no region; an input that is an
            output itself is left to whoever copies outputs.
        disabled: Names of fusion kinds that are switched off, with all kinds that build on them.
        device: Where they are to run: a ``gpu`` has iterations as a loop of the kernel, with the
            code of one, and computes again what takes less than to store it.

    """
    on_gpu = device == "gpu"
    shared = repeated(graph) if on_gpu else frozenset[Node]()
    grower = _Grower(graph, memory_orders(graph), permitted_merges(disabled), shared, on_gpu)
    for node in graph.nodes:
        grower.take(node)
    grower.sink()
    if on_gpu:
        grower.sink_single()
    grower.join_readers()
    return tuple(grower.regions(disabled))


@slotted
class _Grower:
    """Groups so far, and where every node that is computed stands."""

    graph: Graph
    orders: Orders
    merges: frozenset[Merge]
    shared: frozenset[Node]
    on_gpu: bool
    places: dict[Node, Place] = field(default_factory=dict)
    groups: list[Group] = field(default_factory=list)
    _wanted: set[Node] = field(default_factory=set)
    _apart: frozenset[Node] = field(init=False)
    """Draws that are for reductions: what they give is stored, in the order of memory."""
    _turns: dict[Node, int] = field(default_factory=dict)
    """How often elements are computed of results, of which elements are computed, before a node."""
    _passed: set[Node] = field(default_factory=set)
    """Elements of results that are computed for a reduction."""
    _views: dict[Node, View] = field(default_factory=dict)
    _readers: dict[Node, tuple[Node, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._wanted.update(output.node for output in self.graph.outputs)
        self._readers.update(users(self.graph.nodes))
        self._apart = frozenset(filter(makes_blocks, before_reductions(self.graph, self._readers)))
        for node in self.graph.nodes:
            if node.op.kind in ("host", "gather"):
                read = node.args if node.op.kind == "host" else node.args[:1]
                self._wanted.update(n for n in read if is_stored_for_host(n, self.orders))

    # -- one node --------------------------------------------------------------------------------
    def take(self, node: Node) -> None:
        """Put a node into a group; nodes that nothing computes have none."""
        self._views[node] = self._view(node)
        if node.op.name == "input" or (is_leaf(node) and node not in self._wanted):
            return
        if is_view(node) and self._views[node].base is not node:
            self._take_view(node)
        elif node.op.name == "update" and (group := self._group_of_written(node)) is not None:
            self._join(node, group, None)
            self._wanted.add(node)
        elif node in self._apart:
            self._alone(node)
        elif is_computed(node) or node.op.reduction is not None or node.op.scan is not None:
            self._take_computed(node)
        else:
            self._alone(node)

    def _view(self, node: Node) -> View:
        if is_view(node):
            return moved_view(node, self._views[node.args[0]], self.orders)
        return whole_view(node, self.orders)

    def _take_view(self, node: Node) -> None:
        """A view has a region only as an output, or as another shape of a reduction's result."""
        (operand,) = node.args
        place = self.places.get(operand)
        if place is not None and place.axes is not None and place.group.root().is_open:
            found = fit(node, operand, place)
            if isinstance(found, Fit) and found.merge in self.merges:
                self._join(node, place.group.root(), found.axes)
                return
        if node in self._wanted:
            self._alone(node)

    def _alone(self, node: Node) -> None:
        group = self._new_group(node, closed=True)
        if not group.is_host:
            group.explain(Reason("region-of-its-own", f"{node.op.name} is a region of its own"))

    def _group_of_written(self, node: Node) -> Group | None:
        """The group that stores what an update writes where that belongs, if one may."""
        base, value = node.args
        place, behind_base = self.places.get(value), self._group(self._views[base].base)
        if place is None or place.axes is not None or "elementwise" not in self.merges:
            return None
        group, shape = place.group.root(), node.params["shape"]
        if group.step is not None or group.walks or not (group.space == value.type.shape == shape):
            return None
        if stored_strides(node, self.orders) != c_strides(node.type.shape):
            return None  # the part is one of memory in C order
        if not _lies_side_by_side(node) and self._views[base].base not in group.reads:
            return None  # values of several columns are computed together and stored one by one
        if behind_base is group or obstacle((group,), node) is not None:
            return None
        depth = group.depth if behind_base is None else behind(behind_base.depth, node)
        if depth > group.depth:  # it may wait for the base, unless others wait for it
            if any(self._is_read_outside(member, group) for member in group.nodes):
                return None
            group.depth = depth
        return group

    def _is_read_outside(self, node: Node, group: Group) -> bool:
        """True if a node that has a place in another group reads a member of a group."""
        shown = [node]
        for each in shown:
            for reader in self._readers.get(each, ()):
                if self._group(reader) not in (None, group):
                    return True
                if is_view(reader) and reader not in self.places:
                    shown.append(reader)
        return False

    def _take_computed(self, node: Node) -> None:
        """Join the deepest groups among the operands', or begin a group behind them."""
        fits: dict[Group, Fit] = {}
        depth = behind(INPUTS, node)
        reasons: list[Reason] = []
        for operand in node.args:
            place = self.places.get(operand) or self.places.get(self._views[operand].base)
            if place is None:
                continue
            group = place.group.root()
            found = self._fit(node, operand, place)
            if isinstance(found, Fit) and fits.get(group, found).axes == found.axes:
                fits[group] = found
                depth = max(depth, group.depth)
            else:
                why = _DIFFERENT_AXES if isinstance(found, Fit) else found
                detail = f"{operation_name(operand)} is stored for {node.op.name}: {why.detail}"
                reasons.append(replace(why, detail=detail))
                depth = max(depth, behind(group.depth, node))
        joined = [group for group in fits if group.depth == depth]
        levels = {fits[group].axes for group in joined}
        against = obstacle(joined, node) if len(levels) <= 1 else _DIFFERENT_AXES
        if against is None and node.op.reduction is not None:
            against = self._against_phase(node, joined)
        if joined and against is None:
            (axes,) = levels
            group = joined[0]
            for other in joined[1:]:
                group = group.absorb(other)
            self._join(node, group, axes)
        else:
            if joined and against is not None:
                detail = f"{node.op.name} begins a region: {against.detail}"
                reasons.append(replace(against, detail=detail))
            group = self._new_group(node, closed=not self.merges)
        for reason in reasons:
            group.explain(reason)

    def _against_phase(self, node: Node, groups: Sequence[Group]) -> Reason | None:
        """Reason why a reduction begins no further phase of groups; None where it may.

        Each pass over elements computes again what passes before did. It may in a row, which stays
        in cache, and of one turn of results, as in softmax; elements of later iterations of a loop
        are stored. What registers keep nobody computes again.
        """
        steps = {group.step: group.space for group in groups if group.step is not None}
        if max([self._turns.get(arg, 0) for arg in node.args]) < _UNROLLED:
            return None
        if any(kept(step, space) > 1 for step, space in steps.items()):
            return None
        copies = max([group.in_registers for group in groups], default=0)
        by_rows = any(step.style == "row" for step in steps)
        if copies and (by_rows or self._has_whole_words(groups)):
            nodes = [each for group in groups for each in group.nodes]
            flops = sum(each.op.flops for each in nodes)
            most = min(ENOUGH_NODES, ENOUGH_COPIES // copies)
            enough = min(ENOUGH_FLOPS, ENOUGH_FLOPS_OF_COPIES / copies)
            return _TOO_LONG if len(nodes) >= most or flops >= enough else None
        again = sum(each.op.flops for each in self._late(node, groups) if each in self._passed)
        return _DEAR_AGAIN if again > (ACCESS_FLOPS if by_rows else 0) else None

    def _has_whole_words(self, groups: Sequence[Group]) -> bool:
        """True if all arrays that groups read or store have elements of 4 or 8 bytes."""
        stored = [n for group in groups for n in group.nodes if n in self._wanted]
        stored += [n for group in groups for n in group.reads]
        return all(n.type.dtype in WHOLE_WORDS for n in stored)

    def _late(self, node: Node, groups: Sequence[Group]) -> Iterable[Node]:
        """Elements of groups that need results, and that a reduction or what it takes is of."""
        found: dict[Node, None] = {}
        needed = [*node.args]
        while needed:
            each = needed.pop()
            late = each not in found and self._turns.get(each) and self._group(each) in groups
            if late and self.places[each].axes is None:
                found[each] = None
                needed += each.args
        return found

    def _fit(self, node: Node, operand: Node, place: Place) -> Fit | Reason:
        if place.group.root().is_host:
            return Reason("region-of-its-own", "NumPy computes it")
        if operand not in self.places or operand.op.name == "update":
            return Reason("read-through-view", "its elements are read through a view")
        found = fit(node, operand, place)
        if isinstance(found, Fit) and found.merge not in self.merges:
            return Reason("kind-switched-off", f"{found.merge} is switched off")
        return found

    def _join(self, node: Node, group: Group, axes: Axes | None) -> None:
        if node.op.reduction is not None:
            group.step = next_step(group.space, reduced_axes(node), node.type.dtype)
            group.ended = group.ended or is_position(node)
        group.ended = group.ended or node.op.scan is not None
        sites = [site for site in self._sites(node) if self._group(site[0]) is not group]
        group.add(node, sites, shared=node in self.shared)
        self.places[node] = Place(group, axes)
        self._turns[node] = max(
            [
                self._turns[arg] + (axes is None and self.places[arg].axes is not None)
                for arg in node.args
                if self._group(arg) is group
            ],
            default=0,
        )
        if node.op.reduction is not None:
            self._passed.update(self._late(node, [group]))

    def _group(self, node: Node) -> Group | None:
        place = self.places.get(node)
        return None if place is None else place.group.root()

    def _new_group(self, node: Node, *, closed: bool) -> Group:
        operands = [self.places.get(view.base) for view in self._reads(node)]
        depths = (place.group.root().depth for place in operands if place is not None)
        depth = behind(max(depths, default=INPUTS), node)
        reduces = node.op.reduction is not None
        space = node.args[0].type.shape if reduces else node.type.shape
        group = Group(depth, space, on_gpu=self.on_gpu, closed=closed)
        self.groups.append(group)
        self._join(node, group, result_axes(node) if reduces else None)
        return group

    def _sites(self, node: Node) -> list[Site]:
        return [
            (view.base, view.offset)
            for view in self._reads(node)
            if view.base in self.places or view.base.op.name == "input"
        ]

    def _reads(self, node: Node) -> list[View]:
        """The memory that its operands are read from, were they stored."""
        if node.op.kind == "host":
            return [read_by_host(operand, self.orders) for operand in node.args]
        if node.op.kind == "gather":
            base, index = node.args
            return [read_by_host(base, self.orders), self._views[index]]
        return [self._views[operand] for operand in node.args]

    # -- whole groups ----------------------------------------------------------------------------
    def sink(self) -> None:
        """Move groups into their only reader, the deepest first.

        Those with reductions only where the reader's kernel has the same elements in registers.
        """
        readers: dict[Group, list[tuple[Node, Node]]] = {}
        for node, place in self.places.items():
            for operand in node.args:
                source = self.places.get(self._views[operand].base)
                if source is not None and source.group.root() is not place.group.root():
                    readers.setdefault(source.group.root(), []).append((operand, node))
        for group in sorted(readers, key=lambda group: group.depth, reverse=True):
            if "elementwise" not in self.merges or not group.is_open:
                continue
            if group.step is None:
                self._sink_group(group, readers[group])
            elif group.in_registers:
                self._sink_reductions(group, readers[group])

    def _sink_group(self, group: Group, edges: list[tuple[Node, Node]]) -> None:
        targets = {self.places[node].group.root() for _, node in edges}
        target = next(iter(targets))
        if len(targets) > 1 or any(node in self._wanted for node in group.nodes):
            return
        if obstacle((group, target), before=target) is not None:
            return
        whole = group.space == target.space
        if not whole and not _is_prologue(group, target):
            return
        if all(self._may_sink(operand, node, whole=whole) for operand, node in edges):
            merged = target.absorb(group)
            for operand, _ in edges:
                merged.reads.pop(operand, None)

    def _sink_reductions(self, group: Group, edges: list[tuple[Node, Node]]) -> None:
        """Move reductions into the group that alone uses their results."""
        target, *others = {self.places[node].group.root() for _, node in edges}
        same = (group.step, group.space) == (target.step, target.space)
        if others or not same:
            return
        fitting = all(self._uses_results(node, operand) for operand, node in edges)
        copies = group.in_registers * (len(group.nodes) + len(target.nodes))
        if fitting and copies <= MOST_COPIES and obstacle((group, target)) is None:
            merged = target.absorb(group)
            for operand, _ in edges:
                merged.reads.pop(operand, None)

    def _uses_results(self, node: Node, operand: Node) -> bool:
        """True if an operation uses a reduction's result, and its value has the same axes."""
        place = self.places.get(operand)
        if place is None or place.axes is None or node.op.reduction is not None:
            return False
        found = fit(node, operand, place)
        axes = self.places[node].axes
        return isinstance(found, Fit) and found.merge in self.merges and found.axes == axes

    def _may_sink(self, operand: Node, node: Node, *, whole: bool) -> bool:
        """True if an edge permits its producer to be computed in the reader's group."""
        if operand not in self.places:  # read through a view
            return False
        if operand is node.args[0] and (node.op.kind == "gather" or node.op.name == "update"):
            return False
        if node.op.reduction is not None:
            return whole and "reduction" in self.merges
        return self.places[node].axes is None or (not whole and operand.type.size == 1)

    def sink_single(self) -> None:
        """Move cheap operations of what is stored in any case into their only reader's group."""
        if "elementwise" not in self.merges:
            return
        read = {site for group in self.groups for site in group.root().reads}
        for node in reversed(self.graph.nodes):
            place = self.places.get(node)
            if place is None or place.axes is not None or node in self._wanted:
                continue
            if not is_computed(node) or makes_blocks(node) or node.op.flops > ACCESS_FLOPS:
                continue
            group, target = place.group.root(), self._only_reader(node)
            stays = all(
                base not in self.places or self._group(base) is not group or base in read
                for base in (view.base for view in self._reads(node))
            )
            alone = len(group.nodes) == 1
            if target is not None and stays and not alone and obstacle((target,), node) is None:
                group.nodes.remove(node)
                target.reads.pop(node, None)
                self._join(node, target, None)

    def _only_reader(self, node: Node) -> Group | None:
        """The group in which all readers of an element are, if that could compute it itself."""
        group, readers = self._group(node), self._readers.get(node, ())
        targets = {self._group(reader) for reader in readers}
        target = next(iter(targets), None)
        if group is None or target is None or len(targets) != 1 or target is group:
            return None
        fits = target.is_open and target.space == group.space
        sinks = all(self._may_sink(node, reader, whole=True) for reader in readers)
        return target if fits and sinks else None

    def join_readers(self) -> None:
        """Join groups of one depth and space that read the same array."""
        if "elementwise" not in self.merges:
            return
        known: dict[tuple[Depth, tuple[int, ...], Node], Group] = {}
        for group in dict.fromkeys(group.root() for group in self.groups):
            if not group.is_open or (group.step is not None and "reduction" not in self.merges):
                continue
            for read in list(group.reads):
                mine = group.root()
                other = known.setdefault((mine.depth, mine.space, read), mine).root()
                if other is not mine and obstacle((mine, other)) is None:
                    known[mine.depth, mine.space, read] = mine.absorb(other)

    # -- regions ---------------------------------------------------------------------------------
    def regions(self, disabled: frozenset[str]) -> Iterable[Region]:
        """The groups as regions, in order of depth."""
        position = {node: number for number, node in enumerate(self.graph.nodes)}
        outputs = set(self._wanted)
        groups = list(dict.fromkeys(group.root() for group in self.groups))
        inputs: dict[Group, dict[Node, None]] = {group: {} for group in groups}
        for group in groups:
            group.nodes.sort(key=position.__getitem__)
            for node in group.nodes:
                for base, _ in self._sites(node):
                    if base not in self.places or self.places[base].group.root() is not group:
                        inputs[group][base] = None
                        outputs.add(base)
        for group in sorted(groups, key=lambda group: (group.depth, position[group.nodes[0]])):
            nodes = tuple(group.nodes)
            yield Region(
                label(nodes, group.space, disabled),
                nodes,
                tuple(inputs[group]),
                tuple(node for node in nodes if node in outputs),
                group.depth,
                tuple(group.reasons),
            )


def before_reductions(graph: Graph, readers: Mapping[Node, Sequence[Node]]) -> set[Node]:
    """Values that reductions take, as they are or with what is computed of them."""
    found: set[Node] = set()
    for node in reversed(graph.nodes):
        if any(reader.op.reduction or reader in found for reader in readers.get(node, ())):
            found.add(node)
    return found


def repeated(graph: Graph) -> frozenset[Node]:
    """Elementwise operations of a line that has come to the same ones twice before."""
    seen: dict[object, int] = {}
    found = set()
    for node in graph.nodes:
        if node.op.kind == "elementwise" and node.line is not None:
            numbers = tuple(
                [tuple(a.params.items()) if is_constant(a) else a for a in node.args if not a.args]
            )
            kind = id(node.op), tuple(node.params.items()), node.type, node.line, numbers
            seen[kind] = seen.get(kind, 0) + 1
            if seen[kind] > _UNROLLED:
                found.add(node)
    return frozenset(found)


def _lies_side_by_side(update: Node) -> bool:
    """True if the elements that an update writes lie in rows, not in columns."""
    shape, strides = integers(update, "shape"), integers(update, "strides")
    long = [stride for extent, stride in zip(shape, strides, strict=True) if extent != 1]
    return not long or long[-1] == 1


def _is_prologue(group: Group, target: Group) -> bool:
    """True if a smaller space is cheap to walk again: once a row, or in a few operations."""
    if len(group.space) > len(target.space) or math.prod(target.space) == 0:
        return False
    space = (1,) * (len(target.space) - len(group.space)) + group.space
    if any(n not in (1, extent) for n, extent in zip(space, target.space, strict=True)):
        return False
    last = max((axis for axis, n in enumerate(target.space) if n != 1), default=0)
    return not space or space[last] == 1 or group.flops <= ACCESS_FLOPS

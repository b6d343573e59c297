"""The members of a region with reductions: which axes each runs along, and when it is known."""

from __future__ import annotations

from dataclasses import field

from runmat_jit.core.slotted import slotted
from runmat_jit.graph.node import Node
from runmat_jit.lower.operands import aligned
from runmat_jit.passes.fusion.edges import is_moment, reduced_axes, renamed_axes, result_axes
from runmat_jit.passes.fusion.region import Region

Axes = tuple[int, ...]
Home = tuple[int, Axes, bool]


@slotted
class Levels:
    """What lowering has to know of each member.

    Attributes:
        shape: The space of elements: what all reductions of the region read.
        axes: For each member, the axis of the space that each of its axes runs along; -1 for an
            axis of extent 1 that stands for none.
        results: Members that do not vary along reduced axes, with those axes.
        phase: How many reductions, one after the other, a member needs before it is known.
        home: The phase and axes of the reductions whose last kernel can compute a result, and
            whether they are moments; no entry where it needs several such kernels of one phase.

    """

    shape: tuple[int, ...]
    axes: dict[Node, Axes] = field(default_factory=dict)
    results: dict[Node, Axes] = field(default_factory=dict)
    phase: dict[Node, int] = field(default_factory=dict)
    home: dict[Node, Home] = field(default_factory=dict)

    @property
    def phases(self) -> int:
        """Reductions that need one another."""
        return max(self.phase[node] for node in self.results)

    def is_element(self, node: Node) -> bool:
        """True if a member varies along reduced axes (or feeds what does)."""
        return node in self.phase and node not in self.results


def levels_of(region: Region) -> Levels:
    """Levels of a region that has at least one reduction."""
    levels = Levels(next(n.args[0].type.shape for n in region.nodes if n.op.reduction is not None))
    for node in region.nodes:
        _place(node, levels)
    return levels


def _place(node: Node, levels: Levels) -> None:
    phase = max((levels.phase[arg] for arg in node.args if arg in levels.phase), default=0)
    if node.op.reduction is not None:
        levels.phase[node] = phase + 1
        levels.results[node] = reduced_axes(node)
        levels.axes[node] = result_axes(node)
        levels.home[node] = phase, reduced_axes(node), is_moment(node)
        return
    levels.phase[node] = phase
    feeding = [arg for arg in node.args if arg in levels.results]
    if not feeding or node.type.shape == levels.shape:
        levels.axes[node] = aligned(node, len(levels.shape))
        return
    latest = [arg for arg in feeding if levels.phase[arg] == phase]
    homes = {levels.home.get(arg) for arg in latest}
    (home, *others) = homes
    if home is not None and not others:
        levels.home[node] = home
    like = next((arg for arg in feeding if arg.type.shape == node.type.shape), feeding[0])
    levels.results[node] = levels.results[like]
    levels.axes[node] = (
        levels.axes[like]
        if node.op.expand is not None
        else renamed_axes(levels.axes[like], like.type.shape, node.type.shape)
    )

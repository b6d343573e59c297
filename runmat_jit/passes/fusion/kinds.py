"""The fusion kinds: what each permits, how a region of it is recognized, and their order.

A kind builds on its parent: switching a kind off takes its merge and those of all kinds that build
on it, and regions take the nearest name that is left.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from runmat_jit.core.frozen import frozen
from runmat_jit.graph.node import Node
from runmat_jit.passes.fusion.edges import Merge
from runmat_jit.passes.fusion.image_normalize import is_image_normalize

Shape = tuple[int, ...]


@frozen
class Kind:
    """One kind: ``merge`` is what it adds to its parent's, None for a name alone.

    ``describes`` tells whether a region, given by its nodes and space, is of this kind.
    """

    name: str
    doc: str
    merge: Merge | None
    describes: Callable[[Sequence[Node], Shape], bool]


def _has_reduction(nodes: Sequence[Node], _space: Shape) -> bool:
    return any(node.op.reduction is not None for node in nodes)


def _has_result_in_space(nodes: Sequence[Node], space: Shape) -> bool:
    """Whether elements over the space need the result of a reduction over it."""
    results: set[Node] = set()
    for node in nodes:
        if node.op.reduction is not None:
            results.add(node)
        elif any(arg in results for arg in node.args):
            if node.type.shape == space:
                return True
            results.add(node)
    return False


KINDS = (
    Kind(
        "elementwise",
        "A producer into its consumer over one iteration space.",
        "elementwise",
        lambda _nodes, _space: True,
    ),
    Kind(
        "reduction",
        "Producers into a reduction, and what needs only its result.",
        "reduction",
        _has_reduction,
    ),
    Kind(
        "map_reduce_broadcast",
        "A reduction's result back into the space it was reduced from.",
        "map_reduce_broadcast",
        _has_result_in_space,
    ),
    Kind(
        "image_normalize",
        "Whitening of each image of a batch, gain, bias, clamp and gamma, perhaps with a metric.",
        None,
        is_image_normalize,
    ),
)
"""From the most general to the most special; each builds on the one before."""


def enabled_kinds(disabled: frozenset[str]) -> tuple[Kind, ...]:
    """The kinds that are left when some are switched off."""
    names = [kind.name for kind in KINDS]
    first = min((names.index(name) for name in disabled if name in names), default=len(names))
    return KINDS[:first]


def permitted_merges(disabled: frozenset[str]) -> frozenset[Merge]:
    """The merges of all enabled kinds."""
    return frozenset(kind.merge for kind in enabled_kinds(disabled) if kind.merge is not None)


def label(nodes: Sequence[Node], space: Shape, disabled: frozenset[str]) -> str:
    """The name of the most special enabled kind that describes a region.

    A single operation keeps the name of its own nature, whatever is switched off.
    """
    if nodes[0].op.kind == "host":
        return "host"
    kinds = enabled_kinds(disabled) if len(nodes) > 1 else KINDS[:2]
    return next((k.name for k in reversed(kinds) if k.describes(nodes, space)), KINDS[0].name)

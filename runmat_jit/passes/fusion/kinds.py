"""The fusion kinds: what each permits, how a region of it is recognized, and their order.

A kind builds on its parent: switching a kind off takes its merge and those of all kinds that build
on it, and regions take the nearest name that is left.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from runmat_jit.core.frozen import frozen
from runmat_jit.graph.node import Node
from runmat_jit.ops.product import product_in
from runmat_jit.passes.fusion.centered_gram import KIND as CENTERED_GRAM
from runmat_jit.passes.fusion.edges import Merge
from runmat_jit.passes.fusion.explained_variance import KIND as EXPLAINED_VARIANCE
from runmat_jit.passes.fusion.explained_variance import is_explained_variance
from runmat_jit.passes.fusion.image_normalize import is_image_normalize
from runmat_jit.passes.fusion.matmul_epilogue import is_matmul_epilogue
from runmat_jit.passes.fusion.power_step_normalize import KIND as POWER_STEP
from runmat_jit.passes.fusion.power_step_normalize import is_power_step

Shape = tuple[int, ...]


@frozen
class Kind:
    """One kind: ``merge`` is what it adds to its parent's, None for a name alone.

    ``describes`` tells whether a region, given by its nodes and space, is of this kind; a region of
    a single operation has only kinds that are ``for_one``. ``parent`` is empty for the first kind.
    """

    name: str
    doc: str
    merge: Merge | None
    describes: Callable[[Sequence[Node], Shape], bool]
    parent: str = ""
    for_one: bool = False


def is_symmetric(nodes: Sequence[Node]) -> bool:
    """True if this is a product of which half is computed."""
    product = product_in(nodes[0].params)
    return product is not None and product.symmetric


def _has_reduction(nodes: Sequence[Node], _space: Shape) -> bool:
    return any(node.op.reduction is not None for node in nodes)


def _has_result_in_space(nodes: Sequence[Node], space: Shape) -> bool:
    """True if elements over the space need the result of a reduction over it."""
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
        for_one=True,
    ),
    Kind(
        "reduction",
        "Producers into a reduction, and what needs only its result.",
        "reduction",
        _has_reduction,
        parent="elementwise",
        for_one=True,
    ),
    Kind(
        "map_reduce_broadcast",
        "A reduction's result back into the space it was reduced from.",
        "map_reduce_broadcast",
        _has_result_in_space,
        parent="reduction",
    ),
    Kind(
        "image_normalize",
        "Whitening of each image of a batch, gain, bias, clamp and gamma, perhaps with a metric.",
        None,
        is_image_normalize,
        parent="map_reduce_broadcast",
    ),
    Kind(
        "matmul_epilogue",
        "Elementwise operations on a product of matrices, in the product's memory.",
        None,
        is_matmul_epilogue,
        parent="elementwise",
        for_one=True,
    ),
    Kind(
        POWER_STEP,
        "A product by a square matrix, divided by values of reductions over it.",
        None,
        is_power_step,
        parent="map_reduce_broadcast",
    ),
    Kind(
        EXPLAINED_VARIANCE,
        "The diagonal of a product, of which nothing else is computed.",
        None,
        is_explained_variance,
        parent="reduction",
    ),
    Kind(
        CENTERED_GRAM,
        "A centered matrix times its transpose, half of which is computed.",
        None,
        lambda nodes, _space: is_symmetric(nodes),
        parent="matmul_epilogue",
        for_one=True,
    ),
)
"""From the most general to the most special; parents first."""


def enabled_kinds(disabled: frozenset[str]) -> tuple[Kind, ...]:
    """The kinds that are left when some are switched off, with all that build on those."""
    gone = set(disabled)
    for kind in KINDS:
        if kind.parent in gone:
            gone.add(kind.name)
    return tuple(kind for kind in KINDS if kind.name not in gone)


def permitted_merges(disabled: frozenset[str]) -> frozenset[Merge]:
    """The merges of all enabled kinds."""
    return frozenset(kind.merge for kind in enabled_kinds(disabled) if kind.merge is not None)


def label(nodes: Sequence[Node], space: Shape, disabled: frozenset[str]) -> str:
    """The name of the most special enabled kind that describes a region.

    A single operation keeps the name of its own nature, whatever is switched off.
    """
    if nodes[0].op.kind == "host":
        return CENTERED_GRAM if is_symmetric(nodes) else "host"
    kinds = enabled_kinds(disabled)
    if len(nodes) == 1:
        own = (kind for kind in (*KINDS[:2], *kinds) if kind.for_one)
        kinds = tuple(dict.fromkeys(own))
    return next((k.name for k in reversed(kinds) if k.describes(nodes, space)), KINDS[0].name)

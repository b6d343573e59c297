"""Products that kernels compute, alone or with the operations that read them.

On a GPU these are all products of floats. On a CPU they are the small ones: a call of BLAS takes a
microsecond before it begins, and a kernel of the product and of what follows it has done a small
one by then. Large ones are calls of BLAS, which keeps its own threads busy and is as fast as a
kernel could be; so is a product that the program returns, whose bits are NumPy's.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

from runmat_jit.core.hardware import IN_REGISTERS, L2, LANES
from runmat_jit.core.reasons import Reason
from runmat_jit.graph.node import Graph, Node
from runmat_jit.graph.text import operation_name
from runmat_jit.ops.product import product_in
from runmat_jit.passes.fusion.access import (
    Orders,
    memory_orders,
    read_by_host,
    view_of,
    whole_view,
)
from runmat_jit.passes.fusion.edges import reduced_axes
from runmat_jit.passes.fusion.kinds import enabled_kinds
from runmat_jit.passes.fusion.matrix_product import MatrixProduct, as_matrices, joins_rows
from runmat_jit.passes.fusion.reduction_shape import next_step
from runmat_jit.passes.fusion.region import PRODUCT, Region

EPILOGUE = "matmul_epilogue"
ROWS = IN_REGISTERS
"""Rows that a kernel computes together: with two vectors in flight 16 of 32 registers are sums."""
MOST_WORK = 300_000
"""Multiplications, with whole rows and lanes, up to which a kernel takes less time than BLAS."""
MOST_TERMS = 64
"""Terms of a product whose rows are reduced up to which a kernel takes less time than BLAS and what
stores and reads the product; half as many where as much is stored as the product has elements."""
LEAST_BYTES = 2 * L2
"""Of such a product: a smaller one lies in a cache, too."""
MOST_ELEMENTS = 48**2
"""Elements of a matrix up to which that is so of its product with a vector."""


def with_own_products(
    graph: Graph,
    regions: tuple[Region, ...],
    disabled: frozenset[str] = frozenset(),
    *,
    device: str = "cpu",
) -> tuple[Region, ...]:
    """The regions, whose products kernels compute: with an epilogue that alone reads it.

    Args:
        graph: The graph.
        regions: Its regions.
        disabled: Names of fusion kinds that are switched off.
        device: ``cpu``, where kernels compute small products that the program does not return, or
            ``gpu``, where they compute all.

    """
    fused = any(kind.name == EPILOGUE for kind in enabled_kinds(disabled))
    if not fused and device == "cpu":
        return regions
    outputs = {output.node for output in graph.outputs}

    def is_ours(node: Node) -> bool:
        if device == "gpu":
            return as_matrices(node) is not None
        product = product_in(node.params)
        returned = node in outputs and product is not None and not product.ours
        return not returned and is_own(node)

    orders = memory_orders(graph)
    taken = _with_epilogues(graph, regions, orders, is_ours, device) if fused else {}
    gone, found = set(taken.values()), []
    for region in regions:
        if region in taken:
            found.append(_merged(region, taken[region], orders))
        elif not region.is_host:
            found.append(replace(region, reasons=_told(region, is_ours)))
        elif region.nodes[0] not in gone:
            own = is_ours(region.nodes[0])
            found.append(replace(region, kind=PRODUCT) if own else region)
    return tuple(found)


def _with_epilogues(
    graph: Graph,
    regions: Sequence[Region],
    orders: Orders,
    is_ours: Callable[[Node], bool],
    device: str,
) -> dict[Region, Node]:
    """The epilogues whose product nothing else reads, with that."""
    outputs = {output.node for output in graph.outputs}
    readers: dict[Node, list[Region]] = {}
    for region in regions:
        for node in region.inputs:
            readers.setdefault(node, []).append(region)
    found: dict[Region, Node] = {}
    for region in regions:
        if region.is_host:
            continue
        reduces = any(node.op.reduction is not None for node in region.nodes)
        if (reduces and device == "gpu") or not (reduces or region.kind == EPILOGUE):
            continue  # tiles of a device take no reductions
        for node in region.inputs:
            if node in outputs or readers[node] != [region]:
                continue
            if reduces:
                fits = is_read_by_rows(node, region, orders)
            else:
                fits = is_ours(node) and _is_read_in_place(node, region.nodes, orders)
            if fits:
                found[region] = node
                break
    return found


def is_read_by_rows(product: Node, region: Region, orders: Orders) -> bool:
    """True if a region reduces the rows of a product, each in one cell, and that is worth while."""
    found = as_matrices(product)
    if found is None or not _may_be_rows(product):
        return False
    space, last = product.type.shape, product.type.ndim - 1
    stores = any(output.type.shape == space for output in region.outputs)
    if stores and found.terms > MOST_TERMS // 2:
        return False
    of_rows = True
    for node in region.nodes:
        if node.op.scan is not None or node.op.kind == "gather":
            return False
        if any(_shows_other(arg, product, orders) for arg in node.args):
            return False
        if node.op.reduction is None:
            continue
        step = next_step(space, reduced_axes(node), node.type.dtype)
        along = node.args[0].type.shape == space and step.axes == (last,)
        if not along or step.style != "row" or found.columns > step.cell:
            return False
        of_rows = of_rows and reduced_axes(node) == (last,)
    return of_rows or not stores


def _shows_other(node: Node, product: Node, orders: Orders) -> bool:
    """True if a value shows elements of a product in another place than its own."""
    view = view_of(node, orders)
    return view.base is product and (node is not product or view != whole_view(product, orders))


def _told(region: Region, is_ours: Callable[[Node], bool]) -> tuple[Reason, ...]:
    """The reasons of a region that reads products, which kernels compute."""
    names = tuple([f"{operation_name(n)} is stored for " for n in region.inputs if is_ours(n)])
    by_numpy, by_us = "NumPy computes it", "it has a kernel of its own"
    return tuple(
        [
            replace(each, detail=each.detail.replace(by_numpy, by_us))
            if each.detail.startswith(names)
            else each
            for each in region.reasons
        ]
    )


def has_own_products(graph: Graph) -> bool:
    """True if a kernel may compute a product of a graph, however it is divided."""
    read = {arg for node in graph.nodes for arg in node.args}
    return any(node in read and (is_own(node) or _may_be_rows(node)) for node in graph.nodes)


def _may_be_rows(node: Node) -> bool:
    """True if a kernel that reduces the rows of a product may compute it."""
    found = as_matrices(node)
    if found is None or None in found.axes:
        return False
    return node.type.nbytes >= LEAST_BYTES and found.terms <= MOST_TERMS


def own_product_of(region: Region) -> MatrixProduct | None:
    """The product that a region's kernel computes; None where it computes none."""
    if region.is_host:
        return None
    return next((found for found in map(as_matrices, region.nodes) if found is not None), None)


def is_own(node: Node) -> bool:
    """True if a kernel computes a product, if it may."""
    found = as_matrices(node)
    if found is None:
        return False
    if not node.type.ndim:
        return False  # all of it is one sum, which BLAS computes in lanes
    if any(arg.type.ndim == 1 for arg in node.args):
        return bool(found.rows * found.terms * found.columns <= MOST_ELEMENTS)
    whole = -(-found.rows // ROWS) * ROWS * max(found.columns, LANES)
    calls = math.prod(found.batch) if joins_rows(node) else 1  # BLAS is called once for all
    return bool(calls * whole * found.terms <= MOST_WORK)


def _is_read_in_place(product: Node, nodes: Sequence[Node], orders: Orders) -> bool:
    """True if nodes over the product's own space read each element where they compute it."""
    if any(
        node.op.kind != "elementwise" or node.type.shape != product.type.shape for node in nodes
    ):
        return False
    reads = ((arg, view_of(arg, orders)) for node in nodes for arg in node.args)
    whole = whole_view(product, orders)
    return all(arg is product and view == whole for arg, view in reads if view.base is product)


def _merged(region: Region, product: Node, orders: Orders) -> Region:
    """The region with the product as its first member."""
    inputs = [node for node in region.inputs if node is not product]
    inputs += [read_by_host(arg, orders).base for arg in product.args]
    stored = f"{operation_name(product)} is stored for "
    return replace(
        region,
        nodes=(product, *region.nodes),
        inputs=tuple(dict.fromkeys(inputs)),
        reasons=tuple([r for r in region.reasons if not r.detail.startswith(stored)]),
    )

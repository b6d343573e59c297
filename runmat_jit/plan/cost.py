"""The cost model: what regions move and compute, and how long kernels take."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

from runmat_jit.core.frozen import frozen
from runmat_jit.graph.node import Node

if TYPE_CHECKING:
    from runmat_jit.passes.fusion.region import Region

US_PER_INSTRUCTION = 4e-06
"""Of one thread, an instruction and element; measured on a core with 512-bit vectors."""
US_PER_BYTE = 0.0001
"""Of one thread: 10 GB/s."""
BYTES_BESIDE_BLAS = 1_000_000
"""Read and written by a share of a launch beside products of BLAS, some 100 us."""
PARALLEL_FROM_US = 8.0
"""Predicted time on one thread from which the thread pool is worth waking."""


@frozen
class Cost:
    """What a region reads and writes, each array once, and computes."""

    bytes_read: int
    bytes_written: int
    flops: float


def cost_of(region: Region, in_place: Mapping[Node, Node]) -> Cost:
    """The cost of a region; an update in place touches its part of the array alone."""
    flops = sum(node.op.flops * node.type.size for node in region.nodes)
    parts = [node for node in region.updates if node in in_place]
    bases = [node.args[0] for node in parts]
    read = sum(node.type.nbytes for node in region.inputs if node not in bases)
    whole = sum(node.type.nbytes for node in region.outputs if node not in parts)
    return Cost(read, whole + sum(map(_part_bytes, parts)), flops)


def _part_bytes(update: Node) -> int:
    """Of the part that an update writes."""
    return math.prod(cast("tuple[int, ...]", update.params["shape"])) * update.type.dtype.itemsize


def serial_us(total: int, nbytes: int, instructions: int) -> float:
    """Predicted time of a launch on one thread: the slower of arithmetic and memory.

    Args:
        total: Iterations of its top block.
        nbytes: Bytes that it reads and writes at least.
        instructions: Instructions of an iteration.

    """
    return max(US_PER_INSTRUCTION * total * instructions, US_PER_BYTE * nbytes)


def is_parallel(total: int, nbytes: int, instructions: int) -> bool:
    """Whether a launch is long enough to wake the thread pool for it."""
    return serial_us(total, nbytes, instructions) > PARALLEL_FROM_US


def share_beside_blas(total: int, nbytes: int) -> int:
    """Iterations of a launch that one thread takes at least, where BLAS runs before or after it.

    BLAS's threads wait for the next product on the cores that others need: a second thread gains
    only what is more than it costs to get one of them.
    """
    return total * BYTES_BESIDE_BLAS // (nbytes + 1) + 1


def longest_serial(instructions: int) -> tuple[int, int]:
    """The most elements, and the most bytes, with which no launch is for several threads."""
    elements = PARALLEL_FROM_US / (US_PER_INSTRUCTION * max(1, instructions))
    return int(elements), int(PARALLEL_FROM_US / US_PER_BYTE)


def is_parallel_text(total: str, nbytes: str, instructions: int) -> str:
    """The same as an expression in Python, of numbers that have names."""
    limit = PARALLEL_FROM_US
    arithmetic = f"{US_PER_INSTRUCTION!r} * {total} * {instructions}"
    return f"{arithmetic} > {limit!r} or {US_PER_BYTE!r} * {nbytes} > {limit!r}"

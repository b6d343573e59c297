"""Facts about a kernel's arguments that its shader relies on; part of the shader's key."""

from __future__ import annotations

from runmat_jit.core.frozen import frozen

FACTOR = 4
"""Numbers that are multiples of this make loads of whole vectors possible."""
SLICE, TILE = 16, 256
"""Divisors: products with such terms fill whole slices, with such rows or columns whole tiles."""
NEAR = 16
"""Largest distance of a window that a shader contains as a constant."""


@frozen
class Start:
    """Distance of a window from its lanes: ``elements`` if near, else its remainder by a vector."""

    elements: int
    is_near: bool

    @staticmethod
    def of(elements: int) -> Start:
        """Make the start of a distance: exact if near, since far ones depend on extents."""
        near = abs(elements) <= NEAR
        return Start(elements if near else elements % FACTOR, near)


@frozen
class Facts:
    """One bit a parameter, and near starts of windows: a new size seldom means a new shader.

    Attributes:
        multiples: Index scalars, and buffers whose origin is, multiples of ``FACTOR``.
        shifted: Buffers whose element 0 does not stand at the beginning of what is bound.
        shared: Buffers that share memory with a buffer that the kernel writes.
        aligned_part: The part of the parallel axis that is run begins at a multiple.
        whole_part: Its length is a multiple: no thread has lanes beyond the end.
        starts: Index scalars by which windows begin beside lanes.
        slices: Extents of products that are multiples of ``SLICE``.
        tiles: Extents of products that are multiples of ``TILE``.

    """

    multiples: frozenset[str] = frozenset()
    shifted: frozenset[str] = frozenset()
    shared: frozenset[str] = frozenset()
    aligned_part: bool = True
    whole_part: bool = False
    starts: frozenset[tuple[str, Start]] = frozenset()
    slices: frozenset[str] = frozenset()
    tiles: frozenset[str] = frozenset()


NO_FACTS = Facts()
"""Whole buffers, from their first element on."""

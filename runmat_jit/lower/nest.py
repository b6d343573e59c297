"""The loop nest of a problem: as few axes as its memory allows, the lanes' axis last."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field

from runmat_jit.core.frozen import frozen
from runmat_jit.core.types import is_complex
from runmat_jit.lower.problem import Read, Store

Access = Read | Store
FEW_LANES = 8
"""An axis shorter than this leaves most lanes of a vector empty."""
VECTOR = 4
"""Elements of the longest vectors that a thread of a GPU reads."""
NEAR = 16
"""A lane stride up to which neighbors still share cache lines."""


@frozen
class Period:
    """An access to what rows have in common, or each row: ``length`` lanes are a row."""

    length: int
    of_rows: bool

    def count(self, lanes: int) -> int:
        """Elements of so many lanes."""
        return lanes // self.length if self.of_rows else self.length


@frozen
class Nest:
    """Axes in the order in which loops enter them, at least one; strides by access."""

    extents: tuple[int, ...]
    strides: Mapping[Access, tuple[int, ...]]
    lanes: int
    """The axis whose iterations are lanes."""
    periods: Mapping[Access, Period] = field(default_factory=dict)
    """Iterations of lanes after which reads of a few elements come back to the first of them."""


def make_nest(
    extents: tuple[int, ...], accesses: Sequence[Access], *, cyclic: bool = False
) -> Nest:
    """Order the axes by the memory of what is stored, merge what lies evenly, choose the lanes.

    One element alone counts as one lane of a contiguous array, so that scalars and vectors share
    a kernel. ``cyclic``: lanes may run over a short last axis and the one before it together, where
    what has only the short one is read again and again.
    """
    axes = [axis for axis, extent in enumerate(extents) if extent != 1]
    columns = [[access.strides[axis] for axis in axes] for access in accesses]
    extent_list = [extents[axis] for axis in axes]
    order = _memory_order(extent_list, accesses, columns)
    extent_list, columns = merge_axes(*permute(order, extent_list, columns))
    periods = merge_rows(extent_list, columns, accesses) if cyclic else {}
    order = _lanes_last(extent_list)
    extent_list, columns = permute(order, extent_list, columns)
    if not extent_list:
        extent_list, columns = [1], [[int(access.memory is not None)] for access in accesses]
    return Nest(
        tuple(extent_list),
        {access: tuple(column) for access, column in zip(accesses, columns, strict=True)},
        len(extent_list) - 1,
        periods,
    )


def merge_rows(
    extents: list[int], columns: list[list[int]], accesses: Sequence[Access]
) -> dict[Access, Period]:
    """Merge the last axis with the one before it, in place: the accesses that have a period.

    Where rows are short, or do not begin where vectors of memory do: then whole vectors are read
    and written of what lies evenly. None, and nothing is merged, where some access neither lies
    evenly nor is of one of the two axes alone.
    """
    if len(extents) < 2 or (extents[-1] >= FEW_LANES and extents[-1] % VECTOR == 0):
        return {}
    length, periods = extents[-1], dict[Access, Period]()
    for access, column in zip(accesses, columns, strict=True):
        if column[-2] == column[-1] * length:
            continue
        if (column[-2] and column[-1]) or not _is_repeatable(access):
            return {}
        periods[access] = Period(length, of_rows=bool(column[-2]))
    if periods:
        extents[-2:] = [extents[-2] * length]
        for access, column in zip(accesses, columns, strict=True):
            of_rows = access in periods and periods[access].of_rows
            column[-2:] = column[-2:-1] if of_rows else column[-1:]
    return periods


def _is_repeatable(access: Access) -> bool:
    """True if its elements may be read at computed places."""
    if not isinstance(access, Read) or access.memory is None or access.along is not None:
        return False
    return not is_complex(access.dtype)


def permute(
    order: Sequence[int], extents: Sequence[int], columns: Sequence[Sequence[int]]
) -> tuple[list[int], list[list[int]]]:
    """Axes in another order."""
    return [extents[a] for a in order], [[column[a] for a in order] for column in columns]


def merge_axes(
    extents: Sequence[int], columns: Sequence[Sequence[int]]
) -> tuple[list[int], list[list[int]]]:
    """Merge neighboring axes that every access walks as one."""
    merged: list[int] = []
    kept: list[list[int]] = [[] for _ in columns]
    for axis, extent in enumerate(extents):
        if merged and all(
            k[-1] == column[axis] * extent for k, column in zip(kept, columns, strict=True)
        ):
            merged[-1] *= extent
            for k, column in zip(kept, columns, strict=True):
                k[-1] = column[axis]
        else:
            merged.append(extent)
            for k, column in zip(kept, columns, strict=True):
                k.append(column[axis])
    return merged, kept


def _memory_order(
    extents: Sequence[int], accesses: Sequence[Access], columns: Sequence[Sequence[int]]
) -> list[int]:
    """Axes as the first stored value lies in memory, the fastest last."""
    stored = [c for a, c in zip(accesses, columns, strict=True) if isinstance(a, Store)]
    axes = list(range(len(extents)))
    return sorted(axes, key=lambda axis: -abs(stored[0][axis])) if stored else axes


def _lanes_last(extents: Sequence[int]) -> list[int]:
    """The last axis stays last unless it is short and another is not."""
    axes = list(range(len(extents)))
    if not axes or extents[-1] >= FEW_LANES:
        return axes
    longest = max(axes, key=lambda axis: (extents[axis] >= FEW_LANES, axis))
    return [axis for axis in axes if axis != longest] + [longest]

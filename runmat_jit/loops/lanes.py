"""Lanes of a loop: an axis along which its iterations do the same for each element, by itself.

There a loop may run in tiles (:mod:`.tiles`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from runmat_jit.core.frozen import frozen
from runmat_jit.loops.extents import SINGLE, Dim
from runmat_jit.loops.forms import ArrayForm, Forms
from runmat_jit.loops.memory import Pool


@frozen
class Lanes:
    """An axis along which a loop does the same for each element.

    Attributes:
        number: Of its extent (see :class:`.forms.ArrayForm`).
        axes: Of the operands that have it, which axis it is.
        gaps: Operands with two axes, of which a turn takes elements that have gaps between them.

    """

    number: int
    axes: Mapping[int, int]
    gaps: frozenset[int]


def find_lanes(
    forms: Forms,
    pools: Iterable[Pool],
    written: frozenset[int],
    fixed: set[int],
    strided: set[tuple[int, int]],
) -> tuple[Lanes, ...]:
    """The axes along which elements are not told apart, and all that is written has some.

    ``fixed``: numbers of extents along which they are; ``strided`` as of :class:`.wholes.Wholes`.
    """
    arrays = {n: form for n, form in enumerate(forms.values()) if isinstance(form, ArrayForm)}
    found: list[Lanes] = []
    known = {number for form in arrays.values() for number in form.extents}
    for number in sorted(known - fixed - {SINGLE}):
        having = {
            n: form.extents.index(number) for n, form in arrays.items() if number in form.extents
        }
        own = any(lane_axis(pool.dims, number) is not None for pool in pools)
        shared = all(number in arrays[n].extents for n in written)
        once = all(arrays[n].extents.count(number) == 1 for n in having)
        if shared and once and (own or written):
            gaps = {n for n in having if arrays[n].ndim == 2 and (n, number) in strided}
            found.append(Lanes(number, having, frozenset(gaps)))
    return tuple(found)


def lane_axis(dims: Sequence[Dim], number: int) -> int | None:
    """Which axis of an array has lanes."""
    lane = Dim("extent", number)
    return dims.index(lane) if lane in dims else None

"""The order in which regions run."""

from __future__ import annotations

from collections.abc import Iterable

from runmat_jit.passes.fusion.region import Region


def in_running_order(regions: Iterable[Region]) -> tuple[Region, ...]:
    """Regions by depth, so that what a region reads has been computed.

    Among those of one depth, updates are last: what others read can be written in place then.
    """
    return tuple(sorted(regions, key=lambda r: (r.depth, bool(r.updates))))

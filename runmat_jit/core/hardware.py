"""How processors and GPUs are built, as far as it matters how kernels are cut.

These are round numbers of common ones, the same on every machine, so that a program has the same
kernels everywhere. How fast a machine is, its profile tells (``plan.profile``).
"""

from __future__ import annotations

from typing import Final

L1: Final = 1 << 15
"""Bytes of a core's first-level cache."""
L2: Final = 1 << 19
"""Bytes of its second-level cache."""
L3: Final = 1 << 25
"""Bytes that no cache keeps until they are read again."""
STREAMS: Final = 4
"""Rows, lines or elements that are walked side by side: of more streams, none is prefetched."""
IN_REGISTERS: Final = 8
"""Values of a lane that stay in registers: with two vectors in flight, 16 of 32."""
LANES: Final = 32
"""Lanes of the vectors in flight: two of the widest."""
ACCESS_FLOPS: Final = 4.0
"""Operations on an element in the time of one access to memory; another takes as long."""
CELL: Final = 1 << 14
"""Elements that a thread takes at least: below, handing out the work costs more than the work."""
CELLS: Final = 16
"""Cells that keep some threads busy."""
TILE: Final = 64
"""Rows, and columns, of a part of a matrix that is read along both."""

WARP: Final = 32
"""Threads of a GPU that run in step."""
WORKGROUP: Final = 256
"""Threads of a workgroup: more are not allowed everywhere, and gain nothing."""
CORES: Final = 132
"""Processors of a large GPU."""

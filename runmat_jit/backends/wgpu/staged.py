"""Workgroup memory of rows that have a thread each."""

from __future__ import annotations

KINDS = ("f32", "i32")
"""Elements that are staged: those of 4 bytes."""


def pitch_of(steps: int) -> int:
    """Elements of the tile from one row to the next."""
    return steps | 1


def tile_bytes(steps: int, threads: int, kinds: int) -> int:
    """Bytes of workgroup memory for rows of so many elements, of some kinds."""
    return 4 * threads * (kinds * pitch_of(steps) + 1)

"""Programs by the batch key of what they compute: a cache that recordings share."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import field
from typing import Any

import numpy as np

from runmat_jit.core.frozen import frozen
from runmat_jit.core.slotted import slotted

OPERATIONS_LIMIT = 100_000
"""Operations of all known batches together: bounds the memory of their keys."""


@frozen
class CachedBatch:
    """A program, and where its inputs come from.

    ``inputs`` are numbers of storages, with None, or of scalars, with the dtype that they are cast
    to and which part of it; ``written`` the storages whose memory it writes. ``work`` is what
    kernels do, see :func:`batches.work_of`; ``ours``: some of it in rows whose bits are our own.
    ``text`` is the graph's, where batches are checked.
    """

    program: Any
    inputs: tuple[tuple[int, np.dtype | None, str], ...]
    written: tuple[int, ...]
    work: int
    ours: bool
    text: str


@slotted
class BatchCache:
    """The batches of a session; ``checked``: what is known is compared with what is made anew."""

    checked: bool = False
    _known: dict[Hashable, CachedBatch] = field(default_factory=dict)
    _operations: int = 0

    def find(self, key: Hashable) -> CachedBatch | None:
        """Cached batch of operations with this key."""
        return self._known.get(key)

    def keep(self, key: Hashable, batch: CachedBatch, operations: int) -> None:
        """Remember a batch of some operations."""
        if self._operations + operations > OPERATIONS_LIMIT:
            self._known.clear()
            self._operations = 0
        self._known[key] = batch
        self._operations += operations

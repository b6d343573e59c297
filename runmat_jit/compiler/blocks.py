"""Argument blocks of a program's launches, reused from call to call."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from runmat_jit.compiler.native_code import Bound
from runmat_jit.core.extent import Extent, plain

_VIEWS = {"f": np.float32, "d": np.float64, "i": np.int32, "l": np.int64, "q": np.int64, "?": bool}


class Blocks:
    """One block a launch and one word in which kernels report events; for one call at a time.

    Extents have the values with which they were made.
    """

    __slots__ = ("addresses", "offset_addresses", "offsets", "views", "word", "words")

    def __init__(self, launches: Sequence[Bound]) -> None:
        self.word = np.zeros(1, np.int64)
        self.words: list[np.ndarray] = []
        self.addresses: list[int] = []
        self.offsets: list[np.ndarray] = []
        self.offset_addresses: list[int | None] = []
        """None where nothing is to be added to the arrays' addresses."""
        self.views: list[dict[str, np.ndarray]] = []
        for launch in launches:
            block, event = map(plain, launch.block), self.word.ctypes.data
            words = np.array([*(0,) * len(launch.places), *block, event], np.int64)
            self.words.append(words)
            self.addresses.append(words.ctypes.data)
            offsets = np.array(list(map(plain, launch.offsets)), np.int64)
            self.offsets.append(offsets)
            self.offset_addresses.append(offsets.ctypes.data if is_shifted(launch) else None)
            self.views.append({c: words.view(kind) for c, kind in _VIEWS.items()})

    def set_scalar(self, launch: int, slot: int, value: np.ndarray) -> None:
        """Put a 0-d array's bits into a block."""
        view = self.views[launch][value.dtype.char]
        view[slot * (8 // value.itemsize)] = value


def is_shifted(launch: Bound) -> bool:
    """True if a launch may begin elsewhere than at the beginning of its arrays."""
    return any(isinstance(offset, Extent) or offset != 0 for offset in launch.offsets)

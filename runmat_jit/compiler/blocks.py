"""Argument blocks of a program's launches, reused from call to call."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from runmat_jit.compiler.binding import Bound

_VIEWS = {"f": np.float32, "d": np.float64, "i": np.int32, "l": np.int64, "q": np.int64, "?": bool}


class Blocks:
    """One block a launch and one word in which kernels report events; for one call at a time."""

    __slots__ = ("addresses", "offsets", "views", "word", "words")

    def __init__(self, launches: Sequence[Bound]) -> None:
        self.word = np.zeros(1, np.int64)
        self.words: list[np.ndarray] = []
        self.addresses: list[int] = []
        self.offsets: list[np.ndarray | None] = []
        self.views: list[dict[str, np.ndarray]] = []
        for launch in launches:
            words = np.array(
                [*(0,) * len(launch.places), *launch.block, self.word.ctypes.data], np.int64
            )
            self.words.append(words)
            self.addresses.append(words.ctypes.data)
            shifted = any(launch.offsets)
            self.offsets.append(np.array(launch.offsets, np.int64) if shifted else None)
            self.views.append({c: words.view(kind) for c, kind in _VIEWS.items()})

    def set_scalar(self, launch: int, slot: int, value: np.ndarray) -> None:
        """Put a 0-d array's bits into a block."""
        view = self.views[launch][value.dtype.char]
        view[slot * (8 // value.itemsize)] = value

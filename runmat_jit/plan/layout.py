"""The memory of a program: which array each place holds, and what becomes of the results."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from runmat_jit.core.frozen import frozen
from runmat_jit.graph.node import Node
from runmat_jit.plan.argument import Scratch


@frozen
class Buffer:
    """Memory that a run makes: byte strides None for C order; ``place`` is its number."""

    place: int
    shape: tuple[int, ...]
    dtype: np.dtype
    strides: tuple[int, ...] | None
    nbytes: int
    shares: int | None = None
    """The place of a buffer of lower number on whose memory it lies."""
    returned: bool = False
    """A host call gives it: a run makes no memory for it."""
    sizes: tuple[int, ...] = ()
    """Bytes of all that lie on its memory, where they differ; no more than bytes is it then."""


@frozen
class Commit:
    """A write into an input after everything has been computed; strides in bytes."""

    source: int
    input: int
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    whole: bool


@frozen
class Layout:
    """What a program's memory holds, by number: inputs first, then tables and buffers."""

    inputs: int
    tables: tuple[str, ...]
    """The names of the constant tables that kernels read."""
    buffers: tuple[Buffer, ...]
    fresh: tuple[int, ...]
    copies: tuple[tuple[int, int], ...]
    """Results that are an input or another result: copied from, to."""
    commits: tuple[Commit, ...]
    places: Mapping[Node | Scratch | str, int]
    """The number of each input, stored node, scratch memory and table (by name)."""
    written: tuple[int, ...] = ()
    """The inputs that kernels write themselves."""

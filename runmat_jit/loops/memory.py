"""Memory of the arrays that a loop makes: as many places of each shape as are in use at once.

A place is in use while a name, or the statement that is emitted, holds the array in it. Which names
share one is decided when the loop runs: a new array takes the first place that no name holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field
from typing import Final

import numpy as np

from runmat_jit.core.frozen import frozen
from runmat_jit.core.slotted import slotted
from runmat_jit.core.types import KERNEL_ELEMENTS, is_complex
from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.ir import Buffer, Value
from runmat_jit.loops.extents import Dim, Extents
from runmat_jit.loops.values import Array, Axis, Unknown

MEMORY: Final = "memory_"
"""Begin of the names of parameters that are such memory."""


def memory_of(dtype: np.dtype) -> str:
    """Return the name of the parameter that is memory of a dtype."""
    return f"{MEMORY}{dtype.name if is_complex(dtype) else KERNEL_ELEMENTS[dtype]}"


@frozen
class Pool:
    """Places of arrays of one dtype and shape."""

    dtype: np.dtype
    dims: tuple[Dim, ...]


Pools = Mapping[Pool, int]
"""Number of scalars or addresses that each pool has."""


@slotted
class Memory:
    """Where the arrays of a loop lie; ``known`` are the pools, where they are known already."""

    k: Builder
    extents: Extents
    known: Pools = field(default_factory=dict)
    buffers: dict[np.dtype, Buffer] = field(default_factory=dict)
    used: dict[Pool, int] = field(default_factory=dict)
    begins: dict[Pool, Value] = field(default_factory=dict)
    pinned: list[Array] = field(default_factory=list)
    """Arrays that the statement holds which is emitted."""
    apart: dict[int, frozenset[int]] = field(default_factory=dict)
    """Of arrays, by where they begin: those that lie elsewhere for sure, likewise."""
    placed: dict[int, tuple[frozenset[int], int]] = field(default_factory=dict)
    """Of arrays, by where they begin: those that it lies beside, and its place among the others."""
    copies: list[Array] = field(default_factory=list)
    """Those that stand for operands: no other array takes their places."""

    @contextmanager
    def holding(self) -> Iterator[None]:
        """Hold what is made meanwhile, until then."""
        before = len(self.pinned)
        yield
        del self.pinned[before:]

    def declare(self) -> None:
        """Declare the memory of all known pools."""
        for pool in self.known:
            self.buffer(pool.dtype)

    def buffer(self, dtype: np.dtype) -> Buffer:
        """The memory of a dtype."""
        if dtype not in self.buffers:
            element = KERNEL_ELEMENTS[dtype]
            self.buffers[dtype] = self.k.buffer(memory_of(dtype), element, written=True)
        return self.buffers[dtype]

    def new(self, dtype: np.dtype, dims: tuple[Dim, ...], held: Iterable[Array]) -> Array:
        """An array in a place that none of those holds."""
        k, pool = self.k, Pool(dtype, dims)
        homes: dict[int, Value] = {}
        every = [*held, *self.pinned, *self.copies]
        for array in every:
            if array.home is not None and (array.dtype, array.pool) == (dtype, dims):
                homes[array.home.number] = array.home
        if self.known and len(homes) >= self.known.get(pool, 0):
            raise Unknown("more arrays than there is memory for")
        self.used[pool] = max(self.used.get(pool, 0), len(homes) + 1)
        others, place = self.slot_beside(homes)
        size = self.extents.product(dims)
        home = start = self.begin(pool) + size * place
        for _ in others:  # each may push it on, and then meet the next
            passed = [k.select(other <= home, size, 0) for other in others]
            home = sum(passed, start)
        self.placed[home.number] = frozenset(each.number for each in others), place
        made = packed(self.buffer(dtype), dtype, dims, home, self.extents)
        self.pinned.append(made)
        every_home = (array.home.number for array in every if array.home is not None)
        self.apart[home.number] = frozenset(every_home)
        return made

    def slot_beside(self, homes: Mapping[int, Value]) -> tuple[list[Value], int]:
        """The first place, among those that some arrays do not take, that no other one has.

        Arrays that come from other turns or branches lie anywhere; those that were made since take
        known places among the ones that these leave.
        """
        anywhere = frozenset(homes.keys() - self.placed.keys())
        known = {number: self.placed[number] for number in homes.keys() & self.placed.keys()}
        bases = {
            anywhere,
            *(base for base, _ in known.values() if anywhere <= base <= homes.keys()),
        }
        others = min(
            (b for b in bases if all(known[n][0] == b for n in homes.keys() - b)),
            key=len,
            default=frozenset(homes),
        )
        taken = {known[number][1] for number in homes.keys() - others}
        place = next(place for place in range(len(homes) + 1) if place not in taken)
        return [homes[number] for number in sorted(others)], place

    def are_apart(self, a: Array, b: Array) -> bool:
        """True if two arrays that the loop has made share no element for sure."""
        if a.home is None or b.home is None or (a.dtype, a.pool) != (b.dtype, b.pool):
            return True
        mine, its = a.home.number, b.home.number
        return its in self.apart.get(mine, ()) or mine in self.apart.get(its, ())

    def begin(self, pool: Pool) -> Value:
        """Where a pool begins in the memory of its dtype."""
        if pool not in self.begins:
            sizes = []
            for other, places in self.known.items():
                if other == pool:
                    break
                if other.dtype == pool.dtype:
                    sizes.append((self.extents.product(other.dims), places))
            with self.extents.before():
                begin = self.k.const(0, "index")
                for size, places in sizes:
                    begin = begin + size * places
            self.begins[pool] = begin
        return self.begins[pool]


def packed(
    buffer: Buffer, dtype: np.dtype, dims: tuple[Dim, ...], home: Value, extents: Extents
) -> Array:
    """An array without gaps."""
    axes = []
    for place, dim in enumerate(dims):
        inner = dims[place + 1 :]
        stride = extents.product(inner) if inner else 1
        axes.append(Axis(extents.number(dim), extents.value(dim), stride, dim))
    return Array(-1, buffer, dtype, home, tuple(axes), home, dims, whole=True)

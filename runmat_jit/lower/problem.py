"""What a kernel computes, before anything is said about loops.

A :class:`Problem` has axes with extents; every value that is read or stored says by one stride an
axis where its elements lie. An axis along which a value does not change has stride 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np

from runmat_jit.core.frozen import frozen
from runmat_jit.graph.node import Node
from runmat_jit.plan.argument import InputScalar, NodeBuffer, Scratch
from runmat_jit.plan.device import Device
from runmat_jit.plan.notes import RESULTS, Notes

Memory = NodeBuffer | Scratch


@frozen
class Iota:
    """Numbers ``start + step * i``, each operation rounded; ``i`` begins at ``offset``.

    They are not in memory: ``i`` advances by the read's strides. ``wide``: it may need 64 bits.
    """

    start: float
    step: float
    offset: int
    wide: bool


@frozen
class Along:
    """An axis along which elements are read at computed places: its extent and stride."""

    extent: int
    stride: int


@frozen
class Read:
    """A value from outside; ``strides`` in elements, one an axis of the problem.

    ``start``: how many elements into the memory the first one lies. ``along``: the place of the
    element along one more axis is computed. ``window``: as of a load.
    """

    source: Memory | InputScalar | Iota
    dtype: np.dtype
    strides: tuple[int, ...]
    start: int = 0
    along: Along | None = None
    window: str = ""

    @property
    def memory(self) -> Memory | None:
        """The memory it is read from, if it is in memory."""
        return self.source if isinstance(self.source, NodeBuffer | Scratch) else None


Operand = Node | Read
"""A value that the kernel computes (or a constant), or one that it reads."""


@frozen
class Compute:
    """One operation on elements.

    ``tested``: where kernels note results, note one that is not finite. ``watched``: note events
    in the other ways, and those that leave a finite result; false where another kernel has seen to
    that.
    """

    node: Node
    operands: tuple[Operand, ...]
    tested: bool = False
    watched: bool = True


@frozen
class Limit:
    """Range of flat indices: ``low <= index % period < high``; period 0 means no remainder."""

    period: int
    low: int
    high: int


@frozen
class Store:
    """A value that leaves the kernel; where a ``mask`` is false, its memory stays as it is.

    Outside of any of the ``limits``, the value ``outside`` is stored instead.
    """

    value: Operand
    memory: Memory
    dtype: np.dtype
    strides: tuple[int, ...]
    start: int = 0
    mask: Operand | None = None
    limits: tuple[Limit, ...] = ()
    outside: Operand | None = None

    @property
    def operands(self) -> tuple[Operand, ...]:
        """The value, then the mask and the outside value if there are any."""
        others = [other for other in (self.mask, self.outside) if other is not None]
        return self.value, *others


@frozen
class Problem:
    """Computations in an order that has operands first, and what they store.

    ``device`` and ``notes`` as of a plan.
    """

    extents: tuple[int, ...]
    computes: tuple[Compute, ...]
    stores: tuple[Store, ...]
    device: Device
    notes: Notes = RESULTS

    def reads(self) -> tuple[Read, ...]:
        """Everything read, each once, in the order of first use."""
        operands = [operand for compute in self.computes for operand in compute.operands]
        operands += [wanted for store in self.stores for wanted in store.operands]
        return tuple(dict.fromkeys(o for o in operands if isinstance(o, Read)))

    def reading(self, others: Mapping[Operand, Operand]) -> Problem:
        """The same problem with other operands instead of some."""

        def of(operand: Operand) -> Operand:
            return others.get(operand, operand)

        computes = [replace(c, operands=tuple(map(of, c.operands))) for c in self.computes]
        stores = [
            replace(
                store,
                value=of(store.value),
                mask=None if store.mask is None else of(store.mask),
                outside=None if store.outside is None else of(store.outside),
            )
            for store in self.stores
        ]
        return replace(self, computes=tuple(computes), stores=tuple(stores))

    def pruned(self) -> Problem:
        """The same problem without computations that nothing stored needs."""
        wanted = [wanted for store in self.stores for wanted in store.operands]
        return replace(self, computes=needed(self.computes, wanted))


def needed(computes: tuple[Compute, ...], wanted: Iterable[Operand]) -> tuple[Compute, ...]:
    """The computations that the wanted values need, operands first."""
    missing = set(wanted)
    kept = []
    for compute in reversed(computes):
        if compute.node in missing:
            missing.update(compute.operands)
            kept.append(compute)
    return tuple(reversed(kept))

"""Arrays that a turn makes of numbers: of some that are written, or of one everywhere."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from runmat_jit.loops.extents import SINGLE, Dim
from runmat_jit.loops.totals import Totals
from runmat_jit.loops.values import TYPES, Array, Item, Items, Lazy, Unknown
from runmat_jit.loops.wholes import Point, is_turned, known_dims


class Creation(Totals):
    """Emits new arrays."""

    __slots__ = ()

    def array_of(self, item: Item) -> Item:
        """``np.array([a, b])`` of numbers."""
        numbers = [self.scalar(each) for each in item.items] if isinstance(item, Items) else []
        kinds = [kind.dtype for number in numbers for kind in number.kinds]
        if not numbers or any(len({k.dtype for k in n.kinds}) != 1 for n in numbers):
            raise Unknown("an array of what are no numbers, or numbers of several classes")
        dtype = np.result_type(*kinds)
        if dtype not in TYPES or {k.kind == "b" for k in kinds} == {True, False}:
            raise Unknown("an array of numbers of these classes")
        made = self.memory.new(dtype, (Dim("literal", len(numbers)),), self.held_arrays())
        assert made.offset is not None, "it is in memory of the loop's own"
        for place, number in enumerate(numbers):
            value = self.arithmetic.stored(number, dtype)
            self.k.store(made.buffer, made.offset + place, value, 0)
        self.arithmetic.ours = True
        return made

    def like(self, item: Item, number: float) -> Item:
        """``np.zeros_like(x)`` and its siblings."""
        if not isinstance(item, Array | Lazy):
            raise Unknown("an array like what is none")
        item = self.settled(item)  # its events count
        assert isinstance(item, Array), "it is an array"
        made = self.memory.new(item.dtype, known_dims(item.axes), self.held_arrays())
        value = self.k.const(bool(number) if item.dtype.kind == "b" else number, TYPES[item.dtype])

        def put(point: Point) -> None:
            offset, stride = self.address(made, point)
            self.k.store(made.buffer, offset, value, stride)

        if made.axes[-1].number == SINGLE:
            raise Unknown("an array whose last axis has one element")
        self.everywhere(made.axes, put)
        return replace(made, turned=is_turned(item))

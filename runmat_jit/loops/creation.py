"""Arrays that a turn makes of numbers: of some that are written, or of one everywhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from runmat_jit.kernel.ir import Value
from runmat_jit.loops.extents import SINGLE, Dim
from runmat_jit.loops.totals import Totals
from runmat_jit.loops.values import TYPES, Array, Axis, Item, Items, Lazy, Scalar, Unknown
from runmat_jit.loops.wholes import Point, is_turned, is_whole, known_dims, plain_of


class Creation(Totals):
    """Emits new arrays."""

    __slots__ = ()

    def rows_of(self, x: Array, count: int) -> tuple[Item, ...]:
        """The parts of an array along its first axis, of which there are to be so many."""
        first, rest = x.axes[0], x.axes[1:]
        self.fixed.add(first.number)
        self.k.leave_if(self.k.ne(first.extent, count))
        places = [self.k.const(place, "index") for place in range(count)]
        return tuple([self.load(self.moved(x, rest, at, first)) for at in places])

    def stacked(self, items: Sequence[Item]) -> Item:
        """``np.stack([a, b])`` of arrays of one shape."""
        parts = items[0].items if len(items) == 1 and isinstance(items[0], Items) else ()
        if parts and all(isinstance(part, Scalar) for part in parts):
            return self.array_of(items[0])
        arrays = [part for part in parts if isinstance(part, Array | Lazy) and is_whole(part)]
        if not arrays or len(arrays) != len(parts) or len({x.dtype for x in arrays}) != 1:
            raise Unknown("a stack of what are no arrays of one dtype")
        first = arrays[0]
        for other in arrays[1:]:
            if len(other.axes) != len(first.axes):
                raise Unknown("a stack of arrays of several shapes")
            for a, b in zip(first.axes, other.axes, strict=True):
                self.equal(a, b)
        dims = Dim("literal", len(arrays)), *known_dims(first.axes)
        made = self.memory.new(first.dtype, dims, self.held_arrays())
        for row, value in zip(self.rows_of(made, len(arrays)), arrays, strict=True):
            assert isinstance(row, Array), "its parts have axes"
            self.fill_new(row, value)
        if any(map(is_turned, arrays)):
            raise Unknown("a stack of arrays in several orders")
        return made

    def rolled(self, items: Sequence[Item]) -> Item:
        """``np.roll(x, shift)`` of a vector, or along an axis that is written in the program."""
        if len(items) not in (2, 3):
            raise Unknown("roll with other arguments")
        x = self.settled(items[0])
        places = [plain_of(item) for item in items[2:]] or [0]
        if not isinstance(x, Array) or (len(items) == 2 and len(x.axes) != 1):
            raise Unknown("roll over several axes")
        place, shift = places[0], self.scalar(items[1])
        if type(place) is not int or not -len(x.axes) <= place < len(x.axes) or shift.is_float:
            raise Unknown("roll along what is no axis")
        self.asks_numpy = True
        if is_turned(x):
            raise Unknown("roll of an array in another order")
        k, at, axis = self.k, self.arithmetic.index(shift), x.axes[place]
        self.fixed.add(axis.number)
        made = self.memory.new(x.dtype, known_dims(x.axes), self.held_arrays())
        extent = k.select(axis.extent < 1, 1, axis.extent)
        rest = k.prim("srem", at, extent)
        ahead = k.select(rest < 0, rest + extent, rest)
        ahead = k.select(axis.extent < 1, 0, ahead)
        for begin, source, length in (
            (ahead, k.const(0, "index"), axis.extent - ahead),
            (k.const(0, "index"), axis.extent - ahead, ahead),
        ):
            to = self.cut(made, place, begin, length)
            self.fill_new(to, self.cut(x, place, source, length))
        return replace(made, viewed=len(items) == 2)

    def cut(self, x: Array, place: int, begin: Value, length: Value) -> Array:
        """A part along one axis."""
        axes, place = list(x.axes), place % len(x.axes)
        axis, number = axes[place], self.unknown_number()
        axes[place] = Axis(number, length, axis.stride, limit=axis.dim or axis.limit)
        return self.moved(x, tuple(axes), begin, axis)

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

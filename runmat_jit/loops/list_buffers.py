"""Buffers of the lists that a loop appends to; they grow between slices of its iterations.

Before a slice, a buffer has space for all that its iterations can append. Where that is not known
(an inner loop appends), a run may find it full: it starts again with several times the space.
"""

from __future__ import annotations

import ctypes
import math
from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from itertools import repeat
from typing import Any, Final

import numpy as np

from runmat_jit.core.frozen import frozen_object
from runmat_jit.core.slotted import slotted_object
from runmat_jit.kernel.ir import Parameter
from runmat_jit.loops.extents import Places, shape_of
from runmat_jit.loops.layouts import (
    Column,
    Constant,
    LastItem,
    Layout,
    ListLayout,
    Number,
    columns_of,
)
from runmat_jit.loops.lists import COUNTS
from runmat_jit.loops.memory import Pool
from runmat_jit.loops.values import INT

AHEAD: Final = 1 << 24
"""Bytes of a column for which there is room before a slice, but for one iteration at least."""
_GUESS: Final = 16
"""Items that an iteration is taken to append at first, where that is open."""
_MORE: Final = 8
"""By how much more room there is in the next run, after one for which there was too little."""
_MOST: Final = 1 << 30
"""Items for which there is no room."""
_FIRST: Final = 1 << 12
"""Iterations of a first slice, where a run before had as many."""
_SPARED: Final = 1 << 24
"""Bytes of memory that are kept from run to run: pages that are new cost more than what is done."""
_TAGS: Final = np.dtype(np.int32)


class NoRoomError(Exception):
    """A run has appended more than there was room for; the next one has more."""


@slotted_object
class Room:
    """Room for one list of a kernel, and the places of an argument block that say where it is.

    ``room``: of how many items there is room for; ``before``: of how many the list had;
    ``addresses``: of columns, and of tags as the last one. ``shapes`` are those of items, where
    they are the same in all calls. ``wanted``: how many items it had at most. ``spare``: memory of
    a run that is over.
    """

    layout: ListLayout
    columns: tuple[Column, ...]
    room: int
    before: int
    addresses: tuple[tuple[int, int], ...]
    shapes: tuple[tuple[int, ...], ...] | None
    wanted: int = 0
    spare: list[list[np.ndarray]] = field(default_factory=list)

    def shapes_of(self, places: Places, given: Sequence[Any]) -> Sequence[tuple[int, ...]]:
        """The shapes of items in columns, for operands that are given as numbers and shapes."""
        if self.shapes is not None:
            return self.shapes
        return [shape_of(dims, places, given) for *_, dims in self.columns]


@frozen_object
class Rooms:
    """Room for the lists of one kernel; ``counts`` is the place of how many items there are."""

    lists: tuple[Room, ...]
    counts: int
    places: Places

    def last(self, part: LastItem, items: Sequence[list[Any]]) -> Any:
        """A part of the last item of a list."""
        pairs = zip(self.lists, items, strict=True)
        found = next(of[-1] for room, of in pairs if room.layout.operand == part.operand)
        for place in part.path:
            found = found[place]
        return found


def make_rooms(
    parameters: Sequence[Parameter], lists: Sequence[ListLayout], places: Places
) -> Rooms | None:
    """What gives the lists of a kernel their room; None where it has none."""
    if not lists:
        return None
    at = {parameter.name: place for place, parameter in enumerate(parameters)}
    rooms = []
    for each in lists:
        number, columns = each.operand, each.columns
        names = [*(f"l{number}_{n}" for n in range(len(columns))), f"t{number}"]
        addresses = tuple([(at[name], n) for n, name in enumerate(names) if name in at])
        shapes = None if any(dims for *_, dims in columns) else ((),) * len(columns)
        rooms.append(Room(each, columns, at[f"m{number}"], at[f"b{number}"], addresses, shapes))
    return Rooms(tuple(rooms), at[COUNTS], places)


def is_of_lists(name: str) -> bool:
    """True if a parameter is one that :class:`Rooms` fills."""
    return name == COUNTS or (name[0] in "lbmt" and name[1:].replace("_", "").isdigit())


class Filling:
    """The lists of one run, whose argument block is ``block``; ``given`` as of :class:`Room`."""

    def __init__(
        self, rooms: Rooms, block: array[int], operands: Sequence[Any], given: Sequence[Any]
    ) -> None:
        self.counts: Any = (ctypes.c_int64 * len(rooms.lists))()
        self.lists = []
        for place, room in enumerate(rooms.lists):
            made = Filled(room, operands[room.layout.operand], room.shapes_of(rooms.places, given))
            self.counts[place] = made.begun
            block[room.before] = made.before
            self.lists.append(made)
        block[rooms.counts] = ctypes.addressof(self.counts)
        self.block = block

    def fit(self, turns: int, done: int) -> int:
        """Make room for some iterations more after those, or for fewer: how many."""
        wanted = []
        for each, count in zip(self.lists, self.counts, strict=True):
            per_turn = each.per_turn(count, done)
            wanted.append(per_turn)
            if not done:  # as many as there were
                turns = max(turns, min(_FIRST, each.of.wanted // per_turn + 1))
            turns = min(turns, max(1, AHEAD // (each.itemsize * per_turn)))
        for each, count, per_turn in zip(self.lists, self.counts, wanted, strict=True):
            need = count + turns * per_turn
            if need > each.room:
                each.make_room(count, need, self.block)
        return turns

    def left(self) -> None:
        """See why a run has left.

        Raises:
            NoRoomError: there was no room.

        """
        pairs = zip(self.lists, self.counts, strict=True)
        full = [e for e, count in pairs if e.of.layout.each is None and count >= e.room]
        for each in full:
            each.of.wanted = _MORE * each.room
        if full and all(each.of.wanted < _MOST for each in full):
            raise NoRoomError

    def items(self) -> tuple[list[Any], ...]:
        """What has been appended to each list; its memory is given back."""
        found = [e.items(count) for e, count in zip(self.lists, self.counts, strict=True)]
        for each in self.lists:
            each.over()
        return tuple(found)


class Filled:
    """One list of a run: ``memory`` are its columns, and its tags."""

    __slots__ = ("before", "begun", "items_before", "itemsize", "memory", "of", "room", "shapes")

    def __init__(self, of: Room, items: list[Any], shapes: Sequence[tuple[int, ...]]) -> None:
        self.of, self.before, self.shapes = of, len(items), shapes
        self.items_before = items if of.layout.begins else ()
        self.begun = len(self.items_before)
        self.itemsize, self.room = 8, 0
        if of.shapes is None:
            pairs = zip(of.columns, shapes, strict=True)
            self.itemsize = max([c[1].itemsize * math.prod(shape) for c, shape in pairs]) or 1
        self.memory: list[np.ndarray] = []

    def per_turn(self, count: int, done: int) -> int:
        """Number of items an iteration is taken to append, one at least."""
        each = self.of.layout.each
        if each is None:
            each = 2 * (count - self.begun) // done + 1 if done else _GUESS
        return each or 1

    def make_room(self, count: int, wanted: int, block: array[int]) -> None:
        """Have room for so many items, of which there are some; write where it is."""
        of, old = self.of, self.memory
        self.room = room = max(wanted, of.wanted, 2 * self.room)
        made = self.spare(room) if of.spare and not old else None
        if made is None:
            pairs = zip(of.columns, self.shapes, strict=True)
            made = [np.empty((room, *shape), column[1]) for column, shape in pairs]
            if len(of.layout.layouts) > 1:
                made.append(np.empty(room, _TAGS))
        self.memory = made
        if old:
            for before, now in zip(old, made, strict=True):
                now[:count] = before[:count]
        elif count:
            (column,) = columns_of(of.layout.layouts[0])
            made[of.columns.index(column)][:count] = self.items_before
            if len(made) > len(of.columns):
                made[-1][:count] = 0
        block[of.room] = self.room
        for place, number in of.addresses:
            block[place] = made[number].__array_interface__["data"][0]

    def spare(self, room: int) -> list[np.ndarray] | None:
        """Memory of a run that is over, if there is as much room in it."""
        try:
            found = self.of.spare.pop()
        except IndexError:  # another thread has taken it
            return None
        pairs = zip(found, self.shapes, strict=False)
        if not all(len(x) >= room and x.shape[1:] == shape for x, shape in pairs):
            return None
        self.room = min(map(len, found), default=room)
        return found

    def over(self) -> None:
        """Nobody reads the memory any more."""
        if not self.of.spare and sum(each.nbytes for each in self.memory) <= _SPARED:
            self.of.spare.append(self.memory)

    def items(self, count: int) -> list[Any]:
        """What has been appended."""
        of, begun, layouts = self.of, self.begun, self.of.layout.layouts
        of.wanted = max(of.wanted, count)
        parts = [memory[begun:count] for memory in self.memory]
        columns = dict(zip(of.columns, parts, strict=False))
        if len(layouts) == 1:
            return items_of(layouts[0], columns, count - begun)
        found: list[Any] = [None] * (count - begun)
        for tag, layout in enumerate(layouts):
            at = np.flatnonzero(parts[-1] == tag)
            chosen = {column: columns[column][at] for column in columns_of(layout)}
            items = items_of(layout, chosen, len(at))
            for place, item in zip(at.tolist(), items, strict=True):
                found[place] = item
        return found


def items_of(layout: Layout, columns: Mapping[Column, np.ndarray], count: int) -> list[Any]:
    """So many items of one layout."""
    leaves = iter([columns[column] for column in columns_of(layout)])
    return _items_of(layout, leaves.__next__, count)


def _items_of(layout: Layout, leaf: Callable[[], np.ndarray], count: int) -> list[Any]:
    if isinstance(layout, Number):
        kind, column = layout.kind, leaf()
        if not kind.python:
            return list(column)
        found = column.tolist()
        return [*map(int, found)] if kind == INT and layout.dtype.kind == "f" else found
    if isinstance(layout, Pool):
        return [each.copy() for each in leaf()]
    if isinstance(layout, Constant):
        return [layout.value] * count
    parts = [_items_of(item, leaf, count) for item in layout.items]
    if not parts:
        return [list[Any]() if layout.is_list else () for _ in repeat(None, count)]
    tuples = zip(*parts, strict=True)
    return [*map(list, tuples)] if layout.is_list else [*tuples]

"""What lists that a loop appends to hold: layouts of items, and the columns in which they lie.

An item is a number, a new array, a string, or a tuple or list of such; where the items of a list
are of several layouts, a tag tells which one each has.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import field
from typing import Any, Final

import numpy as np

from runmat_jit.core.frozen import frozen
from runmat_jit.core.slotted import slotted
from runmat_jit.kernel.ir import Buffer, Value
from runmat_jit.loops.forms import ListForm
from runmat_jit.loops.memory import Pool
from runmat_jit.loops.values import Array, Kind, Lazy, Scalar, Unknown

_MOST_LAYOUTS: Final = 8


class UnknownItems(Unknown):
    """Items are read of a list before any is appended: of which kind they are is not known yet."""


@frozen
class Number:
    """A number of a kind, in a column of a dtype."""

    kind: Kind
    dtype: np.dtype


@frozen
class Constant:
    """The same value in all items."""

    value: str | None


@frozen
class Nested:
    """A tuple, or a list."""

    items: tuple[Layout, ...]
    is_list: bool


Layout = Number | Pool | Constant | Nested
"""What an item of a list is."""
Column = tuple[int, np.dtype, Any]
"""Memory of the leaves of items that come at one place: that, their dtype, and their extents."""


@frozen
class ListLayout:
    """What a loop appends to one list.

    ``operand`` is its number; ``begins``: its items from before are the first ones of the column;
    ``each``: how many items an iteration appends at most; None: that is open.
    """

    operand: int
    layouts: tuple[Layout, ...]
    begins: bool
    each: int | None

    @property
    def keeps_arrays(self) -> bool:
        """True if arrays are among the items."""
        leaves = [leaf for layout in self.layouts for leaf in leaves_of(layout)]
        return any(isinstance(leaf, Pool) for leaf in leaves)

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns of its items, in order."""
        found = dict.fromkeys(each for layout in self.layouts for each in columns_of(layout))
        return tuple(found)


def columns_of(layout: Layout) -> list[Column]:
    """The columns of the leaves of an item, in their order."""
    return [
        (place, leaf.dtype, leaf.dims if isinstance(leaf, Pool) else ())
        for place, leaf in enumerate(leaves_of(layout))
    ]


def leaves_of(layout: Layout) -> list[Number | Pool]:
    """What of an item is held in columns."""
    if isinstance(layout, Nested):
        return [leaf for item in layout.items for leaf in leaves_of(item)]
    return [] if isinstance(layout, Constant) else [layout]


@frozen
class LastItem:
    """A part of the last item of the list that is this operand: the array itself, not a copy."""

    operand: int
    path: tuple[int, ...]


@slotted
class Appended:
    """What is found of an item: its leaves, and whether it is of the second of two layouts.

    ``held``: its arrays that names hold, and their places in it; ``path``: the place that is seen.
    """

    leaves: list[Scalar | Array | Lazy] = field(default_factory=list)
    second: Value | None = None
    held: list[tuple[Array, tuple[int, ...]]] = field(default_factory=list)
    path: tuple[int, ...] = ()

    @contextmanager
    def at(self, place: int) -> Iterator[None]:
        """See the item of a tuple or list at a place."""
        around, self.path = self.path, (*self.path, place)
        yield
        self.path = around

    def choose(self, second: Value) -> None:
        """An item is of one of two layouts."""
        if self.second is not None:
            raise Unknown("an item of a list of many classes")
        self.second = second


def nested(parts: Sequence[list[Layout]], *, is_list: bool) -> list[Layout]:
    """The layouts of a tuple or list of which at most one part has two."""
    count = max([len(part) for part in parts], default=1)
    return [
        Nested(tuple([part[min(n, len(part) - 1)] for part in parts]), is_list)
        for n in range(count)
    ]


@slotted
class Growing:
    """What is known of one list while the loop is emitted.

    ``room`` is how many items there is room for; ``before`` how many the list had; ``settled`` are
    the layouts that the loop was found to append before; ``layouts`` those that are met now;
    ``guess`` the kind of items that are read before.
    """

    operand: int
    place: int
    form: ListForm
    room: Value
    before: Value
    settled: tuple[Layout, ...] | None
    layouts: tuple[Layout, ...]
    guess: Kind | None
    each: int | None = 0
    buffers: dict[Any, Buffer] = field(default_factory=dict)

    @property
    def begins(self) -> bool:
        """True if its items from before the loop can be read."""
        return self.form.kind is not None

    def number(self, layout: Layout) -> int:
        """The tag of a layout."""
        if layout not in self.layouts:
            self.layouts = (*self.layouts, layout)
        if len(self.layouts) > _MOST_LAYOUTS:
            raise Unknown("a list of items of many classes")
        known = self.layouts if self.settled is None else self.settled
        return known.index(layout) if layout in known else 0

    def known(self) -> tuple[Layout, ...]:
        """The layouts that items may have, as far as is known."""
        more = [layout for layout in self.settled or () if layout not in self.layouts]
        return (*self.layouts, *more)

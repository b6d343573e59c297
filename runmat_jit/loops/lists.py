"""Lists that a loop appends to: their new items lie in columns of memory until it has ended.

An item is a number, a new array, a string, or a tuple or list of such; where the items of a list
are of several layouts, a tag tells which one each has. How many items there are is kept in memory,
too, and outlives a slice of the loop. Where there is no more room for one, the kernel leaves.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field, replace
from typing import Any, Final

import numpy as np

from runmat_jit.core.frozen import frozen
from runmat_jit.core.slotted import slotted
from runmat_jit.core.types import KERNEL_ELEMENTS
from runmat_jit.kernel.ir import Buffer, Value
from runmat_jit.loops.calls import Calls
from runmat_jit.loops.elements import bounds_of
from runmat_jit.loops.extents import Dim
from runmat_jit.loops.forms import ListForm
from runmat_jit.loops.memory import Pool, packed
from runmat_jit.loops.values import (
    EXTENT,
    INT,
    INT64,
    TRUTH,
    TYPES,
    Array,
    Grown,
    Item,
    Items,
    Kind,
    Lazy,
    Scalar,
    Unbound,
    Unknown,
)
from runmat_jit.loops.wholes import is_turned, known_dims

COUNTS: Final = "counts"
"""The parameter that holds how many items each list has."""
_DTYPES: Final[dict[str, Any]] = dict(zip(TYPES.values(), TYPES, strict=True))
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
    ``each``: how many items a turn appends at most; None: that is open.
    """

    operand: int
    layouts: tuple[Layout, ...]
    begins: bool
    each: int | None

    @property
    def keeps_arrays(self) -> bool:
        """Whether arrays are among the items."""
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
        """Whether its items from before the loop can be read."""
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


class Lists(Calls):
    """Emits what a loop does with lists."""

    __slots__ = ("changed", "counts", "lists", "shared", "turn_place")

    lists: Mapping[int, Growing]
    counts: Buffer | None
    shared: dict[int, tuple[Array, LastItem | None]]
    """Arrays that names hold, and lists, too, by where they lie; None: it is not in each turn."""
    changed: set[tuple[np.dtype, tuple[Dim, ...]]]
    """Of what dtype and shape arrays are that a list may hold, and that are stored to."""
    turn_place: int
    """Where a turn of the loop is emitted, outside of all decisions."""

    def open_lists(
        self,
        forms: Sequence[Any],
        known: Mapping[int, tuple[Layout, ...]] | None,
        guess: Kind | None,
    ) -> None:
        """Declare the lists among the operands; ``known``: what the loop appends to them.

        ``guess``: the kind of items that are read before any is appended.
        """
        k, found = self.k, dict[int, Growing]()
        for number, form in enumerate(forms):
            if isinstance(form, ListForm) and form.number == number:
                room, before = k.scalar(f"m{number}", "i64"), k.scalar(f"b{number}", "i64")
                first = () if form.kind is None else (Number(form.kind, form.kind.dtype),)
                settled = None if known is None else known[number]
                found[number] = Growing(
                    number, len(found), form, room, before, settled, settled or first, guess
                )
        self.lists = found
        self.counts = k.buffer(COUNTS, "i64", written=True) if found else None
        self.shared, self.changed, self.turn_place = {}, set(), -1

    def lists_as_they_are(self) -> tuple[ListLayout, ...]:
        """What has been appended to them."""
        return tuple(
            [
                ListLayout(each.operand, each.layouts, each.begins, each.each)
                for each in self.lists.values()
            ]
        )

    @contextmanager
    def nothing_appended(self) -> Iterator[None]:
        """What is emitted meanwhile will have no place."""
        before = self.lists_as_they_are()
        try:
            yield
        finally:
            for each, old in zip(self.lists.values(), before, strict=True):
                each.layouts, each.each = old.layouts, old.each

    # -- appending ---------------------------------------------------------------------------------
    def append(self, base: Item, node: ast.expr) -> None:
        """``xs.append(x)``."""
        if not isinstance(base, Grown):
            raise Unknown("append to what is no list from before the loop")
        if self.calling:
            raise Unknown("append in a function that the loop calls")
        growing, k = self.lists[base.operand], self.k
        appended = Appended()
        layouts = self.layouts_of(node, appended)
        for array, path in appended.held:
            self.share(array, LastItem(base.operand, path))
        count = self.count_of(growing)
        k.leave_if(k.prim("xor", count < growing.room, True))
        at = k.convert("sext", count, "index")
        numbers = [growing.number(layout) for layout in layouts]
        for column, leaf in zip(columns_of(layouts[0]), appended.leaves, strict=True):
            buffer = self.column(growing, column)
            if isinstance(leaf, Scalar):
                self.arithmetic.used(leaf)
                k.store(buffer, at, leaf.value, 0)
            else:
                home = self.extents.product(column[2]) * at
                self.fill_new(packed(buffer, column[1], column[2], home, self.extents), leaf)
        if len(growing.settled or ()) > 1:
            tag = k.const(numbers[0], "i32")
            if appended.second is not None:
                tag = k.select(appended.second, k.const(numbers[1], "i32"), tag)
            k.store(self.column(growing, None), at, tag, 0)
        assert self.counts is not None, "there are lists"
        k.store(self.counts, growing.place, count + 1, 0)
        inner = growing.each is None or len(self.around) > 1
        growing.each = None if inner else (growing.each or 0) + 1

    def count_of(self, growing: Growing) -> Value:
        """How many items lie in the columns."""
        assert self.counts is not None, "there are lists"
        return self.k.load(self.counts, growing.place, 0)

    def column(self, growing: Growing, column: Column | None) -> Buffer:
        """The memory of a column; None: of the tags."""
        found = growing.buffers.get(column)
        if found is None:
            name, element = f"t{growing.operand}", "i32"
            if column is not None:
                columns = ListLayout(growing.operand, growing.known(), begins=False, each=0).columns
                name = f"l{growing.operand}_{columns.index(column)}"
                element = KERNEL_ELEMENTS[column[1]]
            found = growing.buffers[column] = self.k.buffer(name, element, written=True)
        return found

    # -- layouts -----------------------------------------------------------------------------------
    def layouts_of(self, node: ast.expr, appended: Appended) -> list[Layout]:
        """What an item may be: one layout, or two; its leaves, and which it is, are noted."""
        match node:
            case ast.Constant(value=str() | None as value):
                return [Constant(value)]
            case ast.IfExp(test, ast.Constant(str() | None as first), ast.Constant(second)):
                if second is None or type(second) is str:
                    truth = self.arithmetic.truth(self.scalar(self.item(test)))
                    appended.choose(self.k.prim("xor", truth, True))
                    return [Constant(first), Constant(second)]
            case ast.Tuple(elts=nodes) | ast.List(elts=nodes):
                parts = []
                for place, each in enumerate(nodes):
                    with appended.at(place):
                        parts.append(self.layouts_of(each, appended))
                return nested(parts, is_list=isinstance(node, ast.List))
        return self.layouts_of_item(self.item(node), appended)

    def layouts_of_item(self, item: Item, appended: Appended) -> list[Layout]:
        """The same of a value."""
        if isinstance(item, Array) and not item.axes:
            item = self.load(item)
        if isinstance(item, Scalar):
            appended.leaves.append(item)
            kinds = sorted(item.kinds, key=lambda kind: not kind.python)
            if len(kinds) > 1:
                numpys = self.is_numpys(item)
                if [kind.python for kind in kinds] != [True, False] or isinstance(numpys, Unbound):
                    raise Unknown("an item of a list that is of several classes")
                appended.choose(self.scalar(numpys).value)
            return [Number(kind, _DTYPES[item.type]) for kind in kinds]
        if isinstance(item, Array | Lazy):
            self.look_at_array(item, appended)
            appended.leaves.append(item)
            return [Pool(item.dtype, known_dims(item.axes))]
        if isinstance(item, Items) and not item.is_list:
            return nested([self.layouts_of_item(x, appended) for x in item.items], is_list=False)
        raise Unknown("an item of a list that is no number, no new array and no tuple of such")

    # -- arrays ------------------------------------------------------------------------------------
    def look_at_array(self, item: Array | Lazy, appended: Appended) -> None:
        """See who holds an array besides the list: nobody, or names, from this turn on."""
        if is_turned(item):
            raise Unknown("an item of a list that may be in another order in memory")
        if isinstance(item, Lazy):
            return
        if item.home is None or not item.whole or item.copied or item.viewed:
            raise Unknown("an item of a list that is an array of others")
        home = item.home.number
        if home in {x.home.number for x in self.held_arrays() if x.home is not None}:
            if home not in self.memory.apart or home < self.arithmetic.loop or home in self.shared:
                raise Unknown("an item of a list that is an array from before")
            appended.held.append((item, appended.path))

    def share(self, array: Array, item: LastItem) -> None:
        """Note that a list holds an array which names hold, too."""
        assert array.home is not None, "the loop has made it"
        always = self.arithmetic.place == self.turn_place and len(self.around) == 1
        self.shared[array.home.number] = array, item if always else None

    def store(self, at: Array, made: Item) -> None:
        if at.home is not None:
            home = at.home.number
            if home not in self.memory.apart or home in self.shared:
                self.changed.add((at.dtype, at.pool))
        super().store(at, made)

    def last_item(self, name: str, array: Array) -> LastItem | None:
        """The item of a list that an array is after the loop; None: it is none.

        Raises:
            Unknown: it may be another one.

        """
        pools = {(kept.dtype, kept.pool) for kept, _ in self.shared.values()}
        if (array.dtype, array.pool) not in pools or array.home is None:
            return None
        found = self.shared.get(array.home.number)
        if found is None or found[1] is None:
            raise Unknown(f"{name} after the loop: an array that may be an item of a list")
        return found[1]

    def require_unchanged(self) -> None:
        """See that no array is stored to which a list may hold.

        Raises:
            Unknown: one may be.

        """
        if any((kept.dtype, kept.pool) in self.changed for kept, _ in self.shared.values()):
            raise Unknown("a store into an array that may be an item of a list")

    # -- reading -----------------------------------------------------------------------------------
    def length(self, of: Item) -> Scalar:
        if not isinstance(of, Grown):
            return super().length(of)
        growing = self.lists[of.operand]
        count = self.count_of(growing)
        if not growing.begins:
            count = count + growing.before
        return Scalar(frozenset((INT,)), count, 0, EXTENT)

    def item_of_list(self, of: Grown, index: Scalar) -> Scalar:
        """``xs[i]`` of a list whose items are numbers."""
        growing, k = self.lists[of.operand], self.k
        if not (growing.begins or growing.form.empty):
            raise Unknown("an item of a list with others from before the loop")
        if not growing.known():
            if growing.guess is None:
                raise UnknownItems("an item of a list that nothing is known of yet")
            growing.number(Number(growing.guess, growing.guess.dtype))
        layouts = growing.known()
        numbers = [layout for layout in layouts if isinstance(layout, Number)]
        kinds = sorted((number.kind for number in numbers), key=lambda kind: not kind.python)
        pythons = [kind.python for kind in kinds]
        if not layouts or len(numbers) < len(layouts) or pythons not in ([True], [False], [1, 0]):
            raise Unknown("an item of a list of others than numbers of one class")
        if len({number.dtype for number in numbers}) != 1 or index.is_float or index.type == "i1":
            raise Unknown("an item of a list of numbers of several classes")
        count = self.count_of(growing)
        at = self.arithmetic.cast(index, INT64)
        if index.low < 0:
            at = k.select(at < 0, at + count, at)
        k.leave_if(k.prim("xor", k.prim("ult", at, count), True))
        place = k.convert("sext", at, "index")
        dtype = numbers[0].dtype
        value = k.load(self.column(growing, (0, dtype, ())), place, 0)
        found = Scalar(frozenset(kinds), value, *bounds_of(dtype), narrow=value.type == "f32")
        if len(kinds) > 1:
            wanted = next(n for n, layout in enumerate(layouts) if layout.kind == kinds[1])  # type: ignore[union-attr]  # numbers
            tag = k.load(self.column(growing, None), place, 0)
            self.numpys[value.number] = Scalar(frozenset((TRUTH,)), k.eq(tag, wanted))
        return replace(found)

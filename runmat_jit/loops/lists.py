"""Lists that a loop appends to: their new items lie in columns of memory until it has ended.

An item is a number, a new array, a string, or a tuple or list of such; where the items of a list
are of several layouts, a tag tells which one each has. How many items there are is kept in memory,
too, and outlives a slice of the loop. Where there is no more room for one, the kernel leaves.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from runmat_jit.core.types import KERNEL_ELEMENTS
from runmat_jit.kernel.ir import Buffer, Value
from runmat_jit.loops import control_flow, elements, indexing, list_objects
from runmat_jit.loops.elements import bounds_of
from runmat_jit.loops.emitter import Emitter
from runmat_jit.loops.forms import ListForm
from runmat_jit.loops.layouts import (
    Appended,
    Column,
    Constant,
    Growing,
    LastItem,
    Layout,
    ListLayout,
    Number,
    UnknownItems,
    columns_of,
    nested,
)
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
    literal,
    scalar,
)
from runmat_jit.loops.whole_arrays import is_turned, known_dims

COUNTS: Final = "counts"
"""The parameter that holds how many items each list has."""
_DTYPES: Final[dict[str, Any]] = dict(zip(TYPES.values(), TYPES, strict=True))


def open_lists(
    e: Emitter,
    forms: Sequence[Any],
    known: Mapping[int, tuple[Layout, ...]] | None,
    guess: Kind | None,
) -> None:
    """Declare the lists among the operands; ``known``: what the loop appends to them.

    ``guess``: the kind of items that are read before any is appended.
    """
    k, found = e.k, dict[int, Growing]()
    for number, form in enumerate(forms):
        if isinstance(form, ListForm) and form.number == number:
            room, before = k.scalar(f"m{number}", "i64"), k.scalar(f"b{number}", "i64")
            first = () if form.kind is None else (Number(form.kind, form.kind.dtype),)
            settled = None if known is None else known[number]
            found[number] = Growing(
                number, len(found), form, room, before, settled, settled or first, guess
            )
    e.lists = found
    e.counts = k.buffer(COUNTS, "i64", written=True) if found else None
    e.shared, e.changed, e.turn_place = {}, set(), -1


def lists_as_they_are(e: Emitter) -> tuple[ListLayout, ...]:
    """What has been appended to them."""
    return tuple(
        [
            ListLayout(each.operand, each.layouts, each.begins, each.each)
            for each in e.lists.values()
        ]
    )


def forget(e: Emitter, before: Sequence[ListLayout]) -> None:
    """Forget what has been appended since the lists were like this."""
    for each, old in zip(e.lists.values(), before, strict=True):
        each.layouts, each.each = old.layouts, old.each


# -- appending -------------------------------------------------------------------------------------
def append(e: Emitter, base: Item, node: ast.expr) -> None:
    """``xs.append(x)``."""
    if not isinstance(base, Grown):
        raise Unknown("append to what is no list from before the loop")
    if e.calling:
        raise Unknown("append in a function that the loop calls")
    growing, k = e.lists[base.operand], e.k
    appended = Appended()
    layouts = _layouts_of(e, node, appended)
    for array, path in appended.held:
        _share(e, array, LastItem(base.operand, path))
    count = _count_of(e, growing)
    k.leave_if(k.prim("xor", count < growing.room, True))
    at = k.convert("sext", count, "index")
    numbers = [growing.number(layout) for layout in layouts]
    for column, leaf in zip(columns_of(layouts[0]), appended.leaves, strict=True):
        buffer = _column_of(e, growing, column)
        if isinstance(leaf, Scalar):
            e.arithmetic.used(leaf)
            k.store(buffer, at, leaf.value, 0)
        else:
            home = e.extents.product(column[2]) * at
            indexing.fill_new(e, packed(buffer, column[1], column[2], home, e.extents), leaf)
    if len(growing.settled or ()) > 1:
        tag = k.const(numbers[0], "i32")
        if appended.second is not None:
            tag = k.select(appended.second, k.const(numbers[1], "i32"), tag)
        k.store(_column_of(e, growing, None), at, tag, 0)
    assert e.counts is not None, "there are lists"
    k.store(e.counts, growing.place, count + 1, 0)
    inner = growing.each is None or len(e.around) > 1
    growing.each = None if inner else (growing.each or 0) + 1


def _count_of(e: Emitter, growing: Growing) -> Value:
    """Number of items that lie in the columns."""
    assert e.counts is not None, "there are lists"
    return e.k.load(e.counts, growing.place, 0)


def _column_of(e: Emitter, growing: Growing, column: Column | None) -> Buffer:
    """The memory of a column; None: of the tags."""
    found = growing.buffers.get(column)
    if found is None:
        name, element = f"t{growing.operand}", "i32"
        if column is not None:
            columns = ListLayout(growing.operand, growing.known(), begins=False, each=0).columns
            name = f"l{growing.operand}_{columns.index(column)}"
            element = KERNEL_ELEMENTS[column[1]]
        found = growing.buffers[column] = e.k.buffer(name, element, written=True)
    return found


# -- layouts ---------------------------------------------------------------------------------------
def _layouts_of(e: Emitter, node: ast.expr, appended: Appended) -> list[Layout]:
    """What an item may be: one layout, or two; its leaves, and which it is, are noted."""
    match node:
        case ast.Constant(value=str() | None as value):
            return [Constant(value)]
        case ast.IfExp(test, ast.Constant(str() | None as first), ast.Constant(second)):
            if second is None or type(second) is str:
                truth = e.arithmetic.truth(scalar(e.item(test)))
                appended.choose(e.k.prim("xor", truth, True))
                return [Constant(first), Constant(second)]
        case ast.Tuple(elts=nodes) | ast.List(elts=nodes):
            parts = []
            for place, each in enumerate(nodes):
                with appended.at(place):
                    parts.append(_layouts_of(e, each, appended))
            return nested(parts, is_list=isinstance(node, ast.List))
    return _layouts_of_item(e, e.item(node), appended)


def _layouts_of_item(e: Emitter, item: Item, appended: Appended) -> list[Layout]:
    """The same of a value."""
    if isinstance(item, Array) and not item.axes:
        item = elements.load(e, item)
    if isinstance(item, Scalar):
        appended.leaves.append(item)
        kinds = sorted(item.kinds, key=lambda kind: not kind.python)
        if len(kinds) > 1:
            numpys = control_flow.is_numpys(e, item)
            if [kind.python for kind in kinds] != [True, False] or isinstance(numpys, Unbound):
                raise Unknown("an item of a list that is of several classes")
            appended.choose(scalar(numpys).value)
        return [Number(kind, _DTYPES[item.type]) for kind in kinds]
    if isinstance(item, Array | Lazy):
        _look_at_array(e, item, appended)
        appended.leaves.append(item)
        return [Pool(item.dtype, known_dims(item.axes))]
    if isinstance(item, Items) and not item.is_list:
        return nested([_layouts_of_item(e, x, appended) for x in item.items], is_list=False)
    raise Unknown("an item of a list that is no number, no new array and no tuple of such")


# -- arrays ----------------------------------------------------------------------------------------
def _look_at_array(e: Emitter, item: Array | Lazy, appended: Appended) -> None:
    """See who holds an array besides the list: nobody, or names, from this turn on."""
    if is_turned(item) or (
        isinstance(item, Array)
        and (item.home is None or not item.whole or item.copied or item.viewed)
    ):
        raise Unknown("an item of a list that is an array of others, or in another order in memory")
    if isinstance(item, Lazy):
        return
    assert item.home is not None, "the loop has made it"
    home = item.home.number
    if home in {x.home.number for x in e.held_arrays() if x.home is not None}:
        if home not in e.memory.apart or home < e.arithmetic.loop or home in e.shared:
            raise Unknown("an item of a list that is an array from before")
        appended.held.append((item, appended.path))


def _share(e: Emitter, array: Array, item: LastItem) -> None:
    """Note that a list holds an array which names hold, too."""
    assert array.home is not None, "the loop has made it"
    always = e.arithmetic.place == e.turn_place and len(e.around) == 1
    e.shared[array.home.number] = array, item if always else None


def last_item(e: Emitter, array: Array) -> LastItem | str | None:
    """The item of a list that an array is after the loop, or why nobody knows; None: it is none."""
    pools = {(kept.dtype, kept.pool) for kept, _ in e.shared.values()}
    if (array.dtype, array.pool) not in pools or array.home is None:
        return None
    found = e.shared.get(array.home.number)
    item = None if found is None else found[1]
    return "it is an array that may be an item of a list" if item is None else item


def require_unchanged(e: Emitter) -> None:
    """See that no array is stored to which a list may hold.

    Raises:
        Unknown: one may be.

    """
    if any((kept.dtype, kept.pool) in e.changed for kept, _ in e.shared.values()):
        raise Unknown("a store into an array that may be an item of a list")


# -- reading ---------------------------------------------------------------------------------------
def length(e: Emitter, of: Item) -> Scalar:
    """``len(x)``."""
    if isinstance(of, Items):
        return literal(e.k, len(of.items))
    if (objects := list_objects.objects_in(of)) is not None:
        return list_objects.count(e, objects)
    if not isinstance(of, Grown):
        settled = indexing.settled(e, of)  # its events count
        if isinstance(settled, Array) and settled.axes:
            return elements.extent(e, settled.axes[0])
        raise Unknown("the length of what is no array")
    growing = e.lists[of.operand]
    count = _count_of(e, growing)
    if not growing.begins:
        count = count + growing.before
    return Scalar(frozenset((INT,)), count, 0, EXTENT)


def item_of_list(e: Emitter, of: Grown, index: Scalar) -> Scalar:
    """``xs[i]`` of a list whose items are numbers."""
    growing, k = e.lists[of.operand], e.k
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
    is_mixed = len(numbers) < len(layouts) or pythons not in ([True], [False], [1, 0])
    is_index = not index.is_float and index.type != "i1"
    if is_mixed or len({number.dtype for number in numbers}) != 1 or not is_index:
        raise Unknown("an item of a list of others than numbers of one class")
    count = _count_of(e, growing)
    at = e.arithmetic.cast(index, INT64)
    if index.low < 0:
        at = k.select(at < 0, at + count, at)
    k.leave_if(k.prim("xor", k.prim("ult", at, count), True))
    place = k.convert("sext", at, "index")
    dtype = numbers[0].dtype
    value = k.load(_column_of(e, growing, (0, dtype, ())), place, 0)
    found = Scalar(frozenset(kinds), value, *bounds_of(dtype), narrow=value.type == "f32")
    if len(kinds) > 1:
        wanted = next(n for n, layout in enumerate(layouts) if layout.kind == kinds[1])  # type: ignore[union-attr]  # numbers
        tag = k.load(_column_of(e, growing, None), place, 0)
        e.numpys[value.number] = Scalar(frozenset((TRUTH,)), k.eq(tag, wanted))
    return replace(found)

"""Whole arrays in a turn: operations by the rows of the table, and assignments.

An expression of arrays is computed element by element where it is stored or reduced, in lanes. What
a row means, its dtypes and its shape, is asked of the row, on extents that stand for those of the
arrays: equal numbers for equal extents.
"""

from __future__ import annotations

import itertools
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from typing import Any, Final

import numpy as np

from runmat_jit.core.frozen import frozen_object
from runmat_jit.core.slotted import slotted
from runmat_jit.core.types import COMPILED_DTYPES, TensorType
from runmat_jit.kernel.ir import Instruction, Value
from runmat_jit.kernel.math.casts import cast
from runmat_jit.kernel.primitives import FLOATS
from runmat_jit.loops.arithmetic import OF_PYTHON, sorted_kinds
from runmat_jit.loops.extents import SINGLE, Dim
from runmat_jit.loops.forms import NotKnown
from runmat_jit.loops.memory import Memory
from runmat_jit.loops.slices import Slices
from runmat_jit.loops.values import (
    TYPES,
    Array,
    Axis,
    Item,
    Items,
    Lazy,
    Object,
    Position,
    Scalar,
    Unknown,
    literal,
    numpy_kind,
)
from runmat_jit.loops.ways import Known
from runmat_jit.lower.exact_notes import ExactNotes
from runmat_jit.ops.promotion import fits
from runmat_jit.ops.spec import Op, Weak, canonical_params
from runmat_jit.ops.table import ROWS, row_of

_STAND_IN: Final = 1009
"""Extents that are not known stand as numbers from here on."""
Whole = Array | Lazy


@slotted
class Point:
    """Where elements are computed: the coordinates of all axes but the last, and the lanes of it.

    ``values`` are those that are known there; ``notes`` writes tests for events.
    """

    outer: Sequence[Value]
    lane: Value
    notes: ExactNotes
    values: dict[int, Value] = field(default_factory=dict)


@frozen_object
class Meant:
    """What a row means for some operands: the dtypes that they are cast to, and the result's type.

    ``known``: axes by the numbers of extents, of which the type has stand-ins.
    """

    row: Op
    dtypes: tuple[np.dtype, ...]
    params: Mapping[str, Any]
    type: TensorType
    known: Mapping[int, Axis]


def is_whole(item: Item | None) -> bool:
    """Whether an item is an array with axes."""
    return isinstance(item, Lazy) or (isinstance(item, Array) and bool(item.axes))


class Wholes(Slices):
    """Emits operations on whole arrays."""

    __slots__ = ("asks_numpy", "exact", "frames", "memory", "spans", "stores", "strided")

    memory: Memory
    stores: int
    exact: bool
    """Whether each operation on arrays looks for its own events; else results tell that there may
    have been some."""
    asks_numpy: bool
    """Whether something was emitted that no kernel of recorded operations does."""
    strided: set[tuple[int, int]]
    """Operands of which elements with gaps between them are taken side by side, and the numbers of
    the extents along which they are."""
    spans: set[tuple[Dim, ...]]
    """Extents of what is stored at once, where they are known before the loop."""
    frames: list[Known]
    """The names of those that call the function whose body is emitted."""

    def captured(self, emit: Callable[[], None]) -> list[Instruction]:
        with self.memory.holding():
            return super().captured(emit)

    # -- operations --------------------------------------------------------------------------------
    def operate_on(self, name: str, items: Sequence[Item]) -> Item:
        """An operator, by its node of Python's syntax, on what are not all numbers."""
        row = row_of(OF_PYTHON[name])
        if row is None:
            raise Unknown(f"{name} of arrays")
        return self.by_row(row, items, {})

    def by_row(self, row: Op, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Item:
        """A call that a row of the table means."""
        plain = [plain_of(arg) for arg in args]
        bound = None if row.bind is None else row.bind(tuple(plain), kwargs)
        if bound is None or bound.out is not None or row.result is None:
            raise Unknown(f"{row.name} called in this way")
        operands = [self.operand(value) for value in bound.operands]
        return self.computed(row, operands, bound.params)

    def by_method(
        self, row: Op, base: Item, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> Item:
        """A method that a row of the table means."""
        bind = row.bind_method or row.bind
        bound = None if bind is None else bind((base, *map(plain_of, args)), kwargs)
        if bound is None or bound.out is not None or row.result is None:
            raise Unknown(f"the method {row.name} called in this way")
        return self.computed(row, [self.operand(v) for v in bound.operands], bound.params)

    def operand(self, value: Any) -> Item:
        """What a reader has passed on, as it was before :func:`plain_of`."""
        if type(value) in (bool, int, float):
            return literal(self.k, value)
        if isinstance(value, Scalar | Array | Lazy):
            return value
        raise Unknown("an operand that is no array and no number")

    def computed(self, row: Op, operands: Sequence[Item], params: Mapping[str, Any]) -> Item:
        """A row of operands."""
        known = self.matched([x for x in operands if is_whole(x)])
        kinds = [sorted_kinds(x) if isinstance(x, Scalar) else [None] for x in operands]
        results = set()
        for chosen in itertools.product(*kinds):
            specs = tuple(
                self.spec(x, kind, known) for x, kind in zip(operands, chosen, strict=True)
            )
            assert row.result is not None, "it was called"
            found = row.result(specs, params)
            if found is None:
                raise Unknown(f"{row.name} of these dtypes or shapes")
            named = frozenset(canonical_params(row, params, specs).items())
            results.add((found.type, found.operand_dtypes, named))
        if len(results) != 1:
            raise Unknown("an operation is another one for each of several classes")
        type_, dtypes, named = results.pop()
        meant = Meant(row, dtypes, dict(named), type_, known)
        if row.expand is not None:
            return self.lazily(operands, meant)
        if row.reduction is not None or row.name == "mean":
            return self.reduced(operands[0], meant)
        if row.kind in ("elementwise", "reduce") and row.decompose is not None:
            return self.decomposed(operands, meant)
        raise Unknown(f"{row.name} of arrays")

    def of_scalars(self, row: Op, operands: Sequence[Item]) -> Item:
        """A ufunc of single numbers."""
        numbers = [x for x in operands if isinstance(x, Scalar)]
        if not isinstance(row.numpy, np.ufunc) or len(numbers) != len(operands):
            raise Unknown(f"{row.name} of arrays")
        return self.arithmetic.ufunc(row.numpy, numbers)

    @abstractmethod
    def reduced(self, x: Item, meant: Meant) -> Item:
        """A reduction of all elements."""

    def spec(self, x: Item, kind: Any, known: Mapping[int, Axis]) -> Any:
        """What a row is told of an operand."""
        if isinstance(x, Scalar):
            if kind.python:
                number = {"i": int, "f": float, "b": bool}[kind.dtype.kind]
                return Weak(number)
            return TensorType(kind.dtype, ())
        assert isinstance(x, Array | Lazy), "others are no operands"
        return TensorType(x.dtype, tuple(self.stand_in(axis, known) for axis in x.axes))

    def matched(self, arrays: Sequence[Any]) -> dict[int, Axis]:
        """Axes by the numbers of their extents; those of equal extents are the same one's.

        Leaves where extents are not equal that have to be, of which nothing is known before.
        """
        known: dict[int, Axis] = {}
        depth = max((len(array.axes) for array in arrays), default=0)
        for place in range(1, depth + 1):
            first: Axis | None = None
            for array in arrays:
                if len(array.axes) < place:
                    continue
                axis = array.axes[-place]
                if axis.number == SINGLE:
                    known.setdefault(SINGLE, axis)
                    continue
                if first is None:
                    first = known.get(axis.number, axis)
                elif known.get(axis.number, axis).number != first.number:
                    if (
                        axis.dim is not None
                        and first.dim is not None
                        and "literal" == axis.dim.source == first.dim.source
                    ):
                        raise Unknown("shapes that do not match")
                    self.equal(axis, first)
                known[axis.number] = first
        return known

    def equal(self, a: Axis, b: Axis) -> None:
        """Leave where two extents are not equal."""
        if a.number != b.number:
            self.fixed.update((a.number, b.number))
            self.k.leave_if(self.k.ne(a.extent, b.extent))

    def stand_in(self, axis: Axis, known: Mapping[int, Axis]) -> int:
        """The number that stands for an extent."""
        number = known.get(axis.number, axis).number
        return 1 if number == SINGLE else stand_in(number)

    def lazily(self, operands: Sequence[Item], meant: Meant) -> Item:
        """An elementwise operation, to be computed where it is stored or reduced."""
        by_stand_in = {self.stand_in(axis, meant.known): axis for axis in meant.known.values()}
        by_stand_in[1] = self.single()
        axes = tuple([replace(by_stand_in[extent], stride=0) for extent in meant.type.shape])
        numbers = [axis.number for axis in axes]
        self.fixed.update(number for number in numbers if numbers.count(number) > 1)
        values: list[Lazy | Array | Value] = []
        for x, dtype in zip(operands, meant.dtypes, strict=True):
            if isinstance(x, Scalar):
                if x.literal is not None and not fits(x.literal, dtype):
                    raise Unknown("a number that the dtype does not hold")
                self.arithmetic.used(x)
                values.append(self.arithmetic.cast(x, dtype))
            else:
                assert isinstance(x, Array | Lazy), "others are no operands"
                values.append(x)
        self.arithmetic.ours = True
        types = tuple([TYPES[dtype] for dtype in meant.dtypes])
        params, dtype = meant.params, meant.type.dtype
        return Lazy(meant.row, tuple(values), types, params, dtype, axes, self.stores)

    def decomposed(self, operands: Sequence[Item], meant: Meant) -> Item:
        """A row that is made of others."""
        typed = [
            _Typed(x, TensorType(d, self.spec(x, _NUMPYS[d], meant.known).shape))
            for x, d in zip(operands, meant.dtypes, strict=True)
        ]

        def make(name: str, args: tuple[Any, ...], params: Any, made: TensorType) -> Any:
            row, items = ROWS[name], [arg.item for arg in args]
            inner = Meant(row, tuple([a.type.dtype for a in args]), params, made, meant.known)
            if row.reduction is not None:
                return _Typed(self.reduced(items[0], inner), made)
            if row.expand is None:
                raise Unknown(f"{meant.row.name} of arrays")
            if any(map(is_whole, items)):
                return _Typed(self.lazily(items, inner), made)
            return _Typed(self.of_scalars(row, items), made)

        assert meant.row.decompose is not None, "it was asked"
        found: _Typed = meant.row.decompose(make, tuple(typed), meant.params, meant.type)
        return found.item

    # -- elements ----------------------------------------------------------------------------------
    def at(self, x: Lazy | Array | Value | Position, wanted: str, point: Point) -> Value:
        """An operand's element at a point, as a value of a type."""
        if isinstance(x, Value):
            return x
        if isinstance(x, Position):
            place = self.k.convert("trunc", point.lane, "i32") + self.k.lane_id("i32")
            return place + self.k.convert("trunc", x.first, "i32")
        found = point.values.get(id(x))
        if found is None:
            found = self.loaded(x, point) if isinstance(x, Array) else self.expanded(x, point)
            point.values[id(x)] = found
        if found.type == wanted:
            return found
        made = cast(self.k, found, wanted)
        if found.type == "f64" and wanted == "f32":
            if self.exact:
                point.notes.rise(made, (found,), ())
            else:
                self.k.note(made)
        return made

    def final(self, x: Lazy | Array | Value, wanted: str, point: Point) -> Value:
        """An element as it is stored; what it tells of events is noted."""
        found = self.at(x, wanted, point)
        if not self.exact and tells(x) and found.type in FLOATS:
            self.k.note(found)
        return found

    def expanded(self, x: Lazy, point: Point) -> Value:
        """The element of an operation; notes its events."""
        if x.stores != self.stores:
            raise Unknown("an expression whose operands are changed while it is computed")
        row = x.op
        assert row.expand is not None, "it is elementwise"
        pairs = zip(x.operands, x.types, strict=True)
        values = tuple([self.at(operand, wanted, point) for operand, wanted in pairs])
        made = row.expand(self.k, *values, **x.params)
        if self.exact:
            if reports(x) and made.type in FLOATS:
                floats = [v for v in values if v.type in FLOATS and v.literal is None]
                strict = [values[place] for place in row.strict]
                point.notes.rise(made, floats, [v for v in strict if v.literal is None])
        else:
            for operand, value, absorbs in zip(x.operands, values, row.absorbs, strict=True):
                if (absorbs or made.type not in FLOATS) and tells(operand):
                    self.k.note(value)
        if row.event_test is not None:
            condition = row.event_test(self.k, values, made)
            if condition is not None:
                self.k.note(condition)
        return made

    def loaded(self, x: Array, point: Point) -> Value:
        offset, stride = self.address(x, point)
        return self.k.load(x.buffer, offset, stride)

    def address(self, x: Array, point: Point) -> tuple[Value, Value | int]:
        """Where the elements of an array lie at a point, and how far from lane to lane."""
        offset = x.offset
        inner = point.outer[len(point.outer) + 1 - len(x.axes) :] if len(x.axes) > 1 else ()
        for axis, coordinate in zip(x.axes[:-1], inner, strict=True):
            if axis.number == SINGLE or axis.stride == 0:
                continue
            step = coordinate if axis.stride == 1 else coordinate * axis.stride
            offset = step if offset is None else offset + step
        last = x.axes[-1]
        if last.number == SINGLE or last.stride == 0:
            return self.k.const(0, "index") if offset is None else offset, 0
        if last.stride != 1:
            self.strided.add((x.operand, last.number))
        step = point.lane if last.stride == 1 else point.lane * last.stride
        return step if offset is None else offset + step, last.stride

    def everywhere(self, axes: Sequence[Axis], emit: Callable[[Point], None]) -> None:
        """Emit something for all elements of a shape, in lanes along the last axis."""
        k = self.k
        limits = [axis.dim or axis.limit for axis in axes]
        dims = tuple([limit for limit in limits if limit is not None])
        self.spans.update((dims,) if len(dims) == len(axes) else ())

        def within(left: Sequence[Axis], outer: tuple[Value, ...]) -> None:
            if len(left) == 1:
                with k.lanes(0, left[0].extent) as lanes:
                    emit(Point(outer, lanes.i, ExactNotes(k)))
                return
            with k.loop(0, left[0].extent) as loop:
                within(left[1:], (*outer, loop.i))
                loop.yield_()

        within(axes, ())

    # -- stores ------------------------------------------------------------------------------------
    def store(self, at: Array, made: Item) -> None:
        if at.copied:
            raise Unknown("a store into an array that may be the caller's")
        if not at.axes:
            if is_whole(made):
                raise Unknown("an array in the place of a number")
            super().store(at, made)
            self.stores += 1
            return
        if at.operand >= 0:
            self.written.add(at.operand)
        if isinstance(made, Lazy | Array) and self.may_overlap(made, at):
            made = self.materialized(made)
        self.fill(at, made)

    def fill(self, at: Array, made: Item) -> None:
        """Store a number, or the elements of an array, into an array."""
        wanted = TYPES[at.dtype]
        value: Value | Whole
        if isinstance(made, Scalar):
            value = self.arithmetic.stored(made, at.dtype)
        elif isinstance(made, Array) and not made.axes:
            value = self.arithmetic.stored(self.scalar(self.load(made)), at.dtype)
        elif isinstance(made, Array | Lazy):
            if made.dtype.kind == "f" and at.dtype.kind == "i":
                raise Unknown("floats become integers")
            if len(made.axes) > len(at.axes):
                raise Unknown("an array of more axes in the place of a part")
            place = replace(at, axes=at.axes)
            known = self.matched([place, made])
            for axis, own in zip(made.axes[::-1], at.axes[::-1], strict=False):
                if axis.number != SINGLE and own.number == SINGLE:
                    raise Unknown("an array in the place of one element")
            del known
            value = made
        else:
            raise Unknown("what is no array and no number is stored")
        self.arithmetic.ours = True

        def put(point: Point) -> None:
            self.put(at, self.final(value, wanted, point), point)

        if any(axis.number == SINGLE for axis in at.axes[-1:]):
            raise Unknown("a store along an axis of one element")
        self.everywhere(at.axes, put)
        self.stores += 1

    def put(self, at: Array, value: Value, point: Point) -> None:
        """Store an element."""
        offset, stride = self.address(at, point)
        self.k.store(at.buffer, offset, value, 1 if stride == 0 else stride)

    def may_overlap(self, x: Any, at: Array) -> bool:
        """Whether elements that an expression reads may be stored to before."""
        if isinstance(x, Lazy):
            return any(self.may_overlap(operand, at) for operand in x.operands)
        if not isinstance(x, Array) or x.operand != at.operand or x == at:
            return False
        return x.operand >= 0 or not self.memory.are_apart(x, at)

    # -- arrays of the loop's own ------------------------------------------------------------------
    def settled(self, item: Item) -> Item:
        """An item of which nothing is to be computed any more."""
        return self.materialized(item) if isinstance(item, Lazy) else item

    def materialized(self, x: Whole) -> Array:
        """The elements in memory of their own."""
        limits = tuple([axis.dim or axis.limit for axis in x.axes])
        dims = tuple([limit for limit in limits if limit is not None])
        if len(dims) < len(limits):
            raise Unknown("an array whose extent is not known before the loop")
        made = self.memory.new(x.dtype, dims, self.held_arrays())
        if any(axis.dim is None for axis in x.axes):
            made = replace(made, axes=self.side_by_side_axes(x.axes), whole=False)
        self.fill_new(made, x)
        return replace(made, turned=is_turned(x))

    def side_by_side_axes(self, axes: Sequence[Axis]) -> tuple[Axis, ...]:
        """Axes without gaps."""
        stride: Value | int = 1
        found: list[Axis] = []
        for axis in reversed(axes):
            found.append(replace(axis, stride=stride))
            stride = axis.extent if stride == 1 else stride * axis.extent
        return tuple(reversed(found))

    def fill_new(self, made: Array, x: Whole) -> None:
        """Store the elements into memory that nobody reads; no expression is changed by it."""
        wanted = TYPES[made.dtype]

        def put(point: Point) -> None:
            self.put(made, self.final(x, wanted, point), point)

        if made.axes[-1].number == SINGLE:
            raise Unknown("an array whose last axis has one element")
        self.everywhere(made.axes, put)

    def held_arrays(self) -> list[Array]:
        """The arrays that names hold."""
        names = (self.names, *self.frames)
        return [x for known in names for item in known.values() for x in arrays_in(item)]

    def bind(self, name: str, made: Item) -> None:
        super().bind(name, self.settled(made))


@slotted
class _Typed:
    """An operand with the type that it is cast to, as rows that decompose take it."""

    item: Item
    type: TensorType


_NUMPYS: Final = {np.dtype(dtype): numpy_kind(dtype) for dtype in COMPILED_DTYPES}


def is_turned(x: Any) -> bool:
    """Whether NumPy may have the elements of a new array in another order than C's."""
    if isinstance(x, Array):
        return x.turned and len(x.axes) > 1
    return isinstance(x, Lazy) and any(map(is_turned, x.operands))


def reports(x: Lazy) -> bool:
    """Whether an operation may report an event that its result tells of."""
    if x.op.name == "cast":
        return x.dtype.kind == "f" and x.types[0] in FLOATS
    return bool(x.op.events - {"underflow"}) and x.dtype.kind == "f"


def tells(x: Any) -> bool:
    """Whether elements that an event has made not finite may still be so."""
    if not isinstance(x, Lazy) or x.dtype.kind != "f":
        return False
    pairs = zip(x.operands, x.op.absorbs, strict=True)
    return reports(x) or any(not absorbs and tells(operand) for operand, absorbs in pairs)


def plain_of(x: Any) -> Any:
    """An argument as readers of calls know it: numbers and names that are written, as they are."""
    if isinstance(x, Scalar) and x.literal is not None and all(k.python for k in x.kinds):
        return x.literal
    if isinstance(x, Object):
        if isinstance(x.value, NotKnown):
            raise Unknown("an operand that is no number and no array of known numbers")
        return x.value
    if isinstance(x, Items):
        return tuple(map(plain_of, x.items))
    return x


def arrays_in(item: Item) -> list[Array]:
    """The arrays that an item holds."""
    if isinstance(item, Array):
        return [item]
    if isinstance(item, Items):
        return [x for each in item.items for x in arrays_in(each)]
    return []


def known_dims(axes: Sequence[Axis]) -> tuple[Dim, ...]:
    """The extents of axes.

    Raises:
        Unknown: they are not known before the loop.

    """
    dims = tuple([axis.dim for axis in axes if axis.dim is not None])
    if len(dims) < len(axes):
        raise Unknown("an array whose extent changes from turn to turn")
    return dims


def stand_in(number: int) -> int:
    """Different extents, but 1, for different numbers."""
    return _STAND_IN + (2 * number if number >= 0 else -2 * number + 1)

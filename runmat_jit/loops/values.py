"""What is known of the values of a loop's names before it runs: classes, dtypes, bounds.

Where ways through a program meet, a name may hold a Python number or one of NumPy's: ``s = 0.0``
before ``s += x[i]``. Such a value has several kinds and one form in registers, in which all of them
are the same number. An operation on it is known if it is the same for each of the kinds.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any, Final, TypeVar

import numpy as np

from runmat_jit.core.frozen import frozen, frozen_object
from runmat_jit.core.types import NARROW_DTYPES
from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.ir import Buffer, Value
from runmat_jit.loops.extents import Dim
from runmat_jit.ops.spec import Op

T = TypeVar("T")
EXACT: Final = 1 << 53
"""Integers up to this magnitude are float64 numbers."""
COUNTED: Final = 1 << 62
"""No counter comes as far."""
_LITTLE: Final = 16
LEAST, MOST = -(1 << 63), (1 << 63) - 1
"""Integers in registers."""
EXTENT: Final = 1 << 47
"""No array has as many elements along an axis."""


class Unknown(Exception):  # noqa: N818  (no error: the loop runs as it stands)
    """Something in a loop that does not run natively, with the line where it stands.

    ``final``: so it is in the first iteration already: it does not help to write that apart.
    """

    def __init__(self, why: str, line: int | None = None, *, final: bool = False) -> None:
        super().__init__(why)
        self.why, self.line, self.final = why, line, final


@frozen
class Kind:
    """A class of numbers: Python's own, or NumPy's of a dtype."""

    python: bool
    dtype: np.dtype

    def scalar(self, value: complex) -> Any:
        """Return a scalar of this class."""
        if not self.python:
            return self.dtype.type(value)
        return {"i": int, "f": float, "b": bool, "c": complex}[self.dtype.kind](value)

    def __str__(self) -> str:
        names = {"i": "int", "f": "float", "b": "bool", "c": "complex", "u": "uint"}
        return names[self.dtype.kind] * self.python or str(self.dtype)


INT64, FLOAT64, FLOAT32 = np.dtype(np.int64), np.dtype(np.float64), np.dtype(np.float32)
INT32, BOOL = np.dtype(np.int32), np.dtype(np.bool_)
INT, FLOAT, TRUTH = Kind(True, INT64), Kind(True, FLOAT64), Kind(True, BOOL)


def is_narrow_dtype(dtype: np.dtype) -> bool:
    """Return True for the integers of fewer than 32 bits, and for ``uint32``."""
    return dtype in NARROW_DTYPES and dtype.char in "BbHhI"


class _Types(dict[np.dtype, str]):
    """Value types of kernels, by dtype."""

    def __missing__(self, dtype: np.dtype) -> str:
        if is_narrow_dtype(dtype):  # held in 64 bits, and never beyond its own
            return "i64"
        if dtype == np.uint64:  # of sums alone, which are below 2**63
            return "i64"
        raise Unknown(f"arrays of {dtype}")


TYPES: Final[Mapping[np.dtype, str]] = _Types(
    {INT64: "i64", INT32: "i32", FLOAT64: "f64", FLOAT32: "f32", BOOL: "i1"}
)
"""Value types of kernels, by dtype; those that have none are not known to loops."""


def numpy_kind(dtype: np.dtype) -> Kind:
    """The kind of NumPy's scalars of a dtype."""
    return Kind(python=False, dtype=dtype)


@frozen
class Line:
    """``constant + sum(sign * value) + step * turn``, of a loop that has this ``number``."""

    loop: int
    step: int
    terms: tuple[tuple[int, Value], ...]
    constant: int

    def plus(self, other: Line, sign: int) -> Line | None:
        """The sum with a multiple (1 or -1) of another one; None where there is no use for it."""
        if other.loop != self.loop or len(self.terms) + len(other.terms) > _TERMS:
            return None
        terms = tuple([(sign * s, value) for s, value in other.terms])
        step, constant = self.step + sign * other.step, self.constant + sign * other.constant
        if abs(step) > _STEEP or abs(constant) > _STEEP:
            return None
        return Line(self.loop, step, (*self.terms, *terms), constant)


_TERMS: Final = 4
_STEEP: Final = 1 << 20


@frozen_object
class Scalar:
    """A number; ``value`` is that of the kernel.

    ``low`` and ``high`` bound integers; ``top`` is an axis of an array and how far a number stays
    from its extent at least: ``i <= extent + offset``. ``literal``: it is written in the program.
    ``narrow``: a float that is one of float32.
    ``line``: how an integer moves with the iterations of a loop, if it moves by as much in each.
    """

    kinds: frozenset[Kind]
    value: Value
    low: int = LEAST
    high: int = MOST
    top: tuple[int, int] | None = None
    literal: bool | float | None = None
    narrow: bool = False
    line: Line | None = None

    @property
    def type(self) -> str:
        """The value type that it has in registers."""
        return type_of(self.kinds)

    @property
    def is_float(self) -> bool:
        """True if it is held as a float."""
        return self.type in ("f32", "f64")


@frozen_object
class Complex:
    """A complex number of one of some kinds, all of one dtype, by its parts."""

    kinds: frozenset[Kind]
    re: Scalar
    im: Scalar

    @property
    def dtype(self) -> np.dtype:
        """The dtype of all of its kinds."""
        return next(iter(self.kinds)).dtype


@frozen
class ComplexName:
    """A name that holds a complex number of such kinds, whose parts two other names hold."""

    kinds: frozenset[Kind]


def parts_of(name: str) -> tuple[str, str]:
    """The names under which the parts of a complex number are followed."""
    return f"{name}.real", f"{name}.imag"


@frozen
class Axis:
    """An axis of an array that is still to be indexed; ``number`` is that of its extent.

    ``dim``: the extent, where it is known before the loop; ``limit``: ones whose product is no
    smaller.
    """

    number: int
    extent: Value
    stride: Value | int
    dim: Dim | None = None
    limit: tuple[Dim, ...] = ()

    @property
    def most(self) -> tuple[Dim, ...]:
        """Extents, known before the loop, whose product is no smaller; none: nobody knows any."""
        return self.limit if self.dim is None else (self.dim,)


@frozen
class Array:
    """An array, or part of one: the elements from ``offset`` on, along the axes that are left.

    ``operand`` is -1 for arrays that the loop makes. Of those, ``home`` is where in the memory of
    their dtype the array begins that this is, or is a part of, and ``pool`` are its extents.
    ``whole``: it is no part. ``copied``: it may stand for an operand, whose elements it has.
    ``turned``: NumPy may have its elements in another order than that of its axes; ``mirrored``: it
    has them in the opposite one, and so does this.
    ``viewed``: NumPy may have made it as a view of an array that nobody has.
    ``held``: its elements, in lanes, where it lies in no memory (:mod:`.registers`).
    ``mask``: of what is stored to, the array that says which elements (:mod:`.masks`).
    ``open``: only the first rows are those of the name that holds it (:mod:`.open_extents`).
    """

    operand: int
    buffer: Buffer
    dtype: np.dtype
    offset: Value | None
    axes: tuple[Axis, ...]
    home: Value | None = None
    pool: tuple[Dim, ...] = ()
    whole: bool = False
    copied: bool = False
    turned: bool = False
    mirrored: bool = False
    viewed: bool = False
    held: tuple[Value, ...] = ()
    mask: Array | None = None
    open: bool = False

    @property
    def dims(self) -> tuple[Dim | None, ...]:
        """The extents, where they are known before the loop."""
        return tuple([axis.dim for axis in self.axes])


@frozen_object
class Position:
    """The place of an element in a draw of which the first one here has this place.

    ``steps``: how far it is from one to the next along each axis but the last.
    """

    first: Value
    steps: tuple[Value, ...] = ()


@frozen_object
class Stream:
    """A generator of random numbers: an operand, and the key of its stream."""

    operand: int
    key: Value


@frozen_object
class NumpyStream:
    """A generator of NumPy's: where the generator of bits lies that a run draws from."""

    bits: Value


@frozen_object
class Lazy:
    """Elements that are computed where they are needed, by a row of the table.

    ``stores``: how many stores to arrays had been emitted before. ``mask``: the array that says
    which elements there are; the others are computed of numbers that say nothing.
    """

    op: Op
    operands: tuple[Lazy | Array | Value | Position, ...]
    types: tuple[str, ...]
    params: Mapping[str, Any]
    dtype: np.dtype
    axes: tuple[Axis, ...]
    stores: int
    mask: Array | None = None


@frozen
class Items:
    """A tuple; ``is_list``: a list that nothing is appended to."""

    items: tuple[Any, ...]
    is_list: bool = False


@frozen
class Grown:
    """A list from before the loop, which it may append to: the operand of this number."""

    operand: int


@frozen_object
class Object:
    """A value that does not change while the loop runs, such as a function."""

    value: Any


@frozen_object
class Thing:
    """An object of a list, by its index: ``of`` are the facts of the list (:mod:`.objects`)."""

    of: Any
    index: Scalar


@frozen
class Unbound:
    """A name that is, or may be, unbound or of several classes: reading it ends the attempt."""

    why: str = "it may be unbound"


UNBOUND: Final = Unbound()


@frozen
class Never:
    """A name that nobody reads before it is bound: it is whatever it is bound to later."""

    why: str = UNBOUND.why


Item = (
    Scalar
    | Complex
    | ComplexName
    | Array
    | Lazy
    | Items
    | Grown
    | Object
    | Thing
    | Stream
    | NumpyStream
    | Unbound
    | Never
)
NEVER: Final = Never()


def type_of(kinds: Iterable[Kind]) -> str:
    """The value type in which values of all these kinds are held.

    Raises:
        Unknown: there is none.

    """
    kinds = frozenset(kinds)
    dtypes = {kind.dtype for kind in kinds}
    if len(dtypes) == 1:
        return TYPES[next(iter(dtypes))]
    others = {kind.dtype for kind in kinds if not kind.python}
    if BOOL not in dtypes and len(others) <= 1:
        own = next(iter(others), FLOAT64)
        if own.kind == "f" or FLOAT64 not in dtypes:
            return TYPES[own]
    raise Unknown(f"a value is {' or '.join(sorted(map(str, kinds)))}")


def only(found: Collection[T], what: str) -> T:
    """The one element of a collection.

    Raises:
        Unknown: there are several; it says that ``what`` differs from class to class.

    """
    if len(found) != 1:
        raise Unknown(f"{what} is another one for each of several classes")
    return next(iter(found))


def literal(k: Builder, number: bool | float) -> Scalar:  # noqa: FBT001  (a value, as others)
    """A number that is written in the program."""
    if isinstance(number, bool):
        return Scalar(frozenset((TRUTH,)), k.const(number, "i1"), literal=number)
    if isinstance(number, int):
        if not LEAST <= number <= MOST:
            raise Unknown("an integer of more than 64 bits")
        value = k.const(number, "i64")
        narrow = abs(number) <= 1 << 24
        return Scalar(frozenset((INT,)), value, number, number, literal=number, narrow=narrow)
    value = k.const(number, "f64")
    return Scalar(frozenset((FLOAT,)), value, literal=number, narrow=is_narrow(number))


def constant(k: Builder, value: Any) -> Item:
    """A value that does not change; a tuple by what is in it."""
    if type(value) is tuple:
        return Items(tuple([constant(k, each) for each in value]))
    return literal(k, value) if type(value) in (bool, int, float) else Object(value)


def scalar(item: Item) -> Scalar:
    """A value that is a real number.

    Raises:
        Unknown: it is none.

    """
    if isinstance(item, Scalar):
        return item
    why = item.why if isinstance(item, Unbound) else "an operation on what is no number"
    raise Unknown(next((own for kind, own in _NO_NUMBERS.items() if isinstance(item, kind)), why))


_NO_NUMBERS: Final[Mapping[type, str]] = {
    Array: "an array where a number is needed",
    Lazy: "an array where a number is needed",
    Complex: "a complex number where a real one is needed",
}


def any_number(item: Item) -> Scalar | Complex:
    """A value that is a number, real or complex.

    Raises:
        Unknown: it is none.

    """
    return item if isinstance(item, Complex) else scalar(item)


def is_narrow(number: float) -> bool:
    """True if a float is a number of float32."""
    with np.errstate(all="ignore"):
        return float(np.float32(number)) == number or math.isnan(number)


def joined(a: Item, b: Item) -> Item:
    """What is known of a value that is one or the other; its ``value`` is left open."""
    if a is b or isinstance(b, Never):
        return a
    if isinstance(a, Never):
        return b
    if not (isinstance(a, Scalar) and isinstance(b, Scalar)):
        if isinstance(a, Unbound):
            return a
        if isinstance(b, Unbound):
            return b
        if isinstance(a, Array | Object | Grown) and a == b:
            return a
        if isinstance(a, ComplexName) and isinstance(b, ComplexName):
            kinds = a.kinds | b.kinds
            if len({kind.dtype for kind in kinds}) == 1:
                return ComplexName(kinds)
        if isinstance(a, Array) and isinstance(b, Array) and is_alike(a, b):
            return replace(
                a,
                copied=a.copied or b.copied,
                turned=a.turned or b.turned,
                mirrored=a.mirrored and b.mirrored,
                viewed=a.viewed or b.viewed,
                open=a.open or b.open,
            )
        return Unbound("it is of several classes")
    kinds = a.kinds | b.kinds
    try:
        held = type_of(kinds)
    except Unknown as unknown:
        return Unbound(unknown.why)
    if not (is_held(a, held) and is_held(b, held)):
        return Unbound("a Python number may not be one of NumPy's dtype")
    same = a.literal is not None and _exact(a.literal) == _exact(b.literal)
    return Scalar(
        kinds,
        a.value,
        min(a.low, b.low),
        max(a.high, b.high),
        literal=a.literal if same else None,
        narrow=a.narrow and b.narrow,
        top=a.top if a.top == b.top else None,
    )


def is_alike(a: Array, b: Array) -> bool:
    """True if two arrays that a loop has made differ by where they lie, at most."""
    return a.whole and b.whole and (a.dtype, a.pool) == (b.dtype, b.pool)


def register(item: Item | None) -> Value | None:
    """The one value that decides what an item is, of what is known of it; None: there is none."""
    if isinstance(item, Scalar):
        return item.value
    return item.home if isinstance(item, Array) and item.whole else None


def register_type(item: Item | None) -> str:
    """The type of that value, in which an item is held."""
    return item.type if isinstance(item, Scalar) else "index"


def in_register(item: Item, value: Value) -> Any:
    """The item of which this is the value."""
    if isinstance(item, Scalar):
        return replace(item, value=value)
    assert isinstance(item, Array), "others are not held in registers"
    return replace(item, offset=value, home=value)


def is_held(a: Scalar, held: str) -> bool:
    """True if a number is the same number in a type."""
    if a.type == held:
        return True
    if a.type == "i64" and held == "f64":
        return a.low >= -EXACT and a.high <= EXACT
    if a.type == "i64" and held == "i32":
        return a.low >= -(1 << 31) and a.high < 1 << 31
    if a.type == "i64" and held == "f32":
        return a.low >= -(1 << 24) and a.high <= 1 << 24
    return a.type == "f64" and held == "f32" and a.narrow


def held_as(k: Builder, a: Scalar, held: str) -> Value:
    """The number in a type that holds it (see :func:`is_held`)."""
    if a.type == held:
        return a.value
    if a.literal is not None:
        return k.const(a.literal, held)
    if held in ("f32", "f64"):
        if a.type == "f64":
            return k.convert("fptrunc", a.value, held)
        return k.convert("sitofp", a.value, held)
    return k.convert("trunc", a.value, held)


def is_same(a: Item, b: Item) -> bool:
    """True if as much is known of two values."""
    if isinstance(a, Scalar) and isinstance(b, Scalar):
        return bool(facts(a) == facts(b))
    if isinstance(a, Array) and isinstance(b, Array) and is_alike(a, b):
        return (a.copied, a.turned, a.open) == (b.copied, b.turned, b.open)
    return type(a) is type(b) and (isinstance(a, Unbound) or a == b)


def facts(a: Scalar) -> Any:
    """All that is known of a number."""
    return a.kinds, a.low, a.high, a.narrow, a.top, _exact(a.literal)


def widened(a: Item, before: Item) -> Item:
    """What is known at the head of a loop, whose bounds would move at each iteration."""
    if not isinstance(a, Scalar):
        return a
    old = before if isinstance(before, Scalar) else a
    low, high = -counted(-a.low, -old.low), counted(a.high, old.high)
    return replace(a, low=max(low, LEAST), high=high, literal=None, top=None)


def counted(bound: int, before: int) -> int:
    """An upper bound for all turns of a loop, given that for one turn more, and that before it.

    What grows by a little each time is a counter: no machine lives as long as one would take to
    come to 64 bits.
    """
    if bound <= before:
        return before
    return COUNTED if bound - before <= _LITTLE and before <= COUNTED else MOST


def _exact(number: float | None) -> Any:
    return type(number), number.hex() if isinstance(number, float) else number

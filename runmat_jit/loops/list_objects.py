"""Objects of lists as kernel code: their attributes are elements of packed arrays."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from runmat_jit.loops import elements, indexing
from runmat_jit.loops.attributes import Objects
from runmat_jit.loops.emitter import Emitter
from runmat_jit.loops.values import (
    FLOAT,
    INT,
    TRUTH,
    Array,
    Item,
    Kind,
    Object,
    Scalar,
    Thing,
    Unknown,
    scalar,
)

_PYTHONS: dict[str, Kind] = {"f": FLOAT, "i": INT, "b": TRUTH}


def count(e: Emitter, of: Objects) -> Scalar:
    """Return how many objects a list has."""
    return elements.extent(e, _packed(e, of, of.attributes[0].name).axes[0])


def at(e: Emitter, of: Objects, index: Scalar) -> Thing:
    """Return the object of a list at an index; leaves where it is out of range."""
    axis = _packed(e, of, of.attributes[0].name).axes[0]
    value = e.k.convert("sext", elements.checked(e, index, axis), "i64")
    return Thing(of, Scalar(frozenset((INT,)), value, 0, index.high, (axis.number, -1)))


def attribute(e: Emitter, x: Thing, name: str) -> Item:
    """Return an attribute of an object: a part of an array, or a number."""
    place = _place(e, x, name)
    if place.axes:
        return place
    found = scalar(elements.load(e, place))
    return replace(found, kinds=_kinds(place)) if x.of.attribute(name).is_python else found


def store(e: Emitter, x: Thing, name: str, made: Item) -> None:
    """Store a number as an attribute: one of the class that the attribute has.

    Raises:
        Unknown: it is an array, which would be another one then, or a number of another class.

    """
    place = _place(e, x, name)
    wanted = _kinds(place, python=x.of.attribute(name).is_python)
    if place.axes or not isinstance(made, Scalar) or made.kinds != wanted:
        raise Unknown(f"the attribute {name} becomes another array, or a number of another class")
    indexing.store(e, place, made)


def is_same(e: Emitter, a: Item, b: Item, *, same: bool) -> Scalar:
    """Emit ``a is b`` of objects of one list, or ``a is not b``."""
    if not (isinstance(a, Thing) and isinstance(b, Thing) and a.of == b.of):
        raise Unknown("an identity test of what are no objects of one list")
    compare = e.k.eq if same else e.k.ne
    return Scalar(frozenset((TRUTH,)), compare(a.index.value, b.index.value))


def method(x: Thing, name: str) -> Any:
    """Return the function that a method of an object is."""
    return _known(dict(x.of.methods).get(name), name)


def objects_in(item: Item) -> Objects | None:
    """Return the list of objects that a value is; None: it is another one."""
    found = item.value if isinstance(item, Object) else None
    return found if isinstance(found, Objects) else None


def _place(e: Emitter, x: Thing, name: str) -> Array:
    """Return where an attribute of an object is."""
    return elements.at(e, _packed(e, x.of, name), x.index)


def _packed(e: Emitter, of: Objects, name: str) -> Array:
    """Return the packed attributes of all objects."""
    found = e.given.get(_known(of.attribute(name), name).chain)
    assert isinstance(found, Array), "it is packed"
    return found


def _known(found: Any, name: str) -> Any:
    """Return what is found.

    Raises:
        Unknown: nothing is.

    """
    if found is None:
        raise Unknown(f"the attribute {name} of objects")
    return found


def _kinds(place: Array, *, python: bool = True) -> frozenset[Kind]:
    """Return the kinds of a number that is an attribute."""
    return frozenset((_PYTHONS[place.dtype.kind] if python else Kind(False, place.dtype),))

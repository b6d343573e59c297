"""``x(k) = value`` on values: the class of the result, growth, and data changed in place."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from matlab_frontend.concatenation import convert
from matlab_frontend.engine import Engine
from matlab_frontend.errors import MatlabError
from matlab_frontend.growth import appended, grow, shape_reaching
from matlab_frontend.indexing import write
from matlab_frontend.residency import spread
from matlab_frontend.rounding import saturate_number
from matlab_frontend.subscripts import (
    Everything,
    Span,
    Subscript,
    block_of,
    element_position,
    settled,
)
from matlab_frontend.values.array import (
    HANDLES,
    Array,
    Cell,
    Data,
    Struct,
    Value,
    as_array,
    count_of,
    kind_of,
)
from matlab_frontend.values.make import empty, objects, wrap


def put_element(data: np.ndarray, kind: str, subscripts: Sequence[Subscript], value: Value) -> bool:
    """Change one double or truth value in place, at plain numbers; False where that is not it."""
    if type(value) is float:
        if kind != "double":
            return False
    elif type(value) is not bool or kind != "logical":
        return False
    place = element_position(data, subscripts)
    if place is None or not data.flags.writeable:
        return False
    data[place] = value
    return True


def append_element(
    data: np.ndarray, kind: str, subscripts: Sequence[Subscript], value: Value
) -> np.ndarray | None:
    """A vector with a double or truth value after its last; None where that is not what is asked.

    For arrays that nobody else holds.
    """
    if len(subscripts) != 1 or subscripts[0] != data.size + 1.0 or data.ndim != 2:
        return None
    if type(value) is not (float if kind == "double" else bool if kind == "logical" else None):
        return None
    return appended(data, value)


def put_part(
    data: np.ndarray, kind: str, subscripts: Sequence[Subscript], value: Value, *, alone: bool
) -> np.ndarray | None:
    """An array with a plain element, row, column or range replaced, grown where it must reach.

    Changed in place where nobody else holds it. None where the general way must decide.
    """
    part: Any = known_scalar(kind, data.dtype, value)
    if part is None:
        part = _same_kind(kind, data.dtype, value)
    if part is None:
        return None
    shape = shape_reaching(data, subscripts) if data.size else None
    if type(part) is np.ndarray and part.shape != _extents(shape or data.shape, subscripts):
        return None
    if shape is not None:
        data, alone = grow(data, shape, alone=alone), True
    place: Any = element_position(data, subscripts) or block_of(data, subscripts)
    if place is None:
        return None
    if not alone or not data.flags.writeable:
        data = data.copy()
    data[place] = part
    return data


def _extents(shape: tuple[int, ...], subscripts: Sequence[Subscript]) -> tuple[int, ...] | None:
    """The shape of the data that subscripts mean; None where the general way must decide."""
    if len(subscripts) == 1 and isinstance(subscripts[0], Span) and 1 in shape:
        count = subscripts[0].count
        return (count, 1) if shape[1] == 1 else (1, count)
    if len(subscripts) != len(shape):
        return None
    extents = []
    for subscript, extent in zip(reversed(subscripts), shape, strict=True):
        if type(subscript) is float:
            extents.append(1)
        elif isinstance(subscript, Span):
            extents.append(subscript.count)
        elif isinstance(subscript, Everything):
            extents.append(extent)
        else:
            return None
    return tuple(extents)


def known_scalar(kind: str, dtype: np.dtype, value: Value) -> float | bool | None:
    """A known real scalar as an element of an array of numbers or truth values."""
    if type(value) is float:
        if kind == "double" or kind == "single":  # noqa: PLR1714  (twice as fast)
            return value
        if dtype.kind in "iu" and kind != "char":
            return saturate_number(value, np.iinfo(dtype))
        return None if kind != "logical" or math.isnan(value) else value != 0.0
    if type(value) is bool and kind not in ("char", "string"):
        return value if dtype.kind == "b" else float(value)
    return None


def _same_kind(kind: str, dtype: np.dtype, value: Value) -> Any:
    """A known array that another of its class can hold as it is."""
    if type(value) is not Array or value.kind != kind or type(value.data) is not np.ndarray:
        return None
    if value.data.dtype != dtype or value.on_device or value.data.ndim != 2:
        return None
    return value.data if value.data.size != 1 else value.data[0, 0]


def replace(
    engine: Engine,
    held: Value | None,
    subscripts: Sequence[Subscript],
    value: Value,
    *,
    alone: bool,
) -> Value:
    """``held`` with elements replaced; it keeps its class, unless it is empty or has none.

    ``alone`` says that nobody else holds it, so that it may change in place.

    Raises:
        MatlabError: sizes or classes do not go together.

    """
    if isinstance(held, Cell) or (_is_blank(held) and isinstance(value, Cell)):
        return _replace_cells(engine, held, subscripts, value, alone=alone)
    if isinstance(held, Struct) or (_is_blank(held) and isinstance(value, Struct)):
        return _replace_structs(engine, held, subscripts, value, alone=alone)
    if isinstance(value, HANDLES) and _is_blank(held):
        return value
    if type(held) is Array and not held.on_device:
        data = settled(engine, held, subscripts)
        if type(data) is np.ndarray:
            changed = put_part(data, held.kind, subscripts, value, alone=alone)
            if changed is not None:
                return held if changed is data else wrap(held.kind, changed)
    target = as_array(empty() if held is None else held)
    part = as_array(value)
    if target is None or part is None:
        raise MatlabError(
            "MATLAB:invalidConversion",
            f"Conversion to {kind_of(held or 0.0)} from {kind_of(value)} is not possible.",
        )
    if _is_blank(held):
        target = Array(part.kind, convert(engine, target, part.kind))
    data, new = _same_dtype(engine, target, part)
    alone = alone and data is target.data
    made = wrap(target.kind, write(engine, data, subscripts, new, exclusive=alone))
    return spread(engine, made, held, part)


def _same_dtype(engine: Engine, target: Array, part: Array) -> tuple[Data, Data]:
    """Both sides in the target's class; complex numbers make the target complex."""
    if target.kind == "logical" and part.kind != "logical":
        return target.data, engine.apply("not_equal", part.data, 0)
    new = convert(engine, part, target.kind)
    data = target.data
    if new.dtype.kind == "c" and data.dtype.kind != "c":
        data = engine.cast(data, new.dtype)
    elif data.dtype.kind == "c" and new.dtype.kind != "c":
        new = engine.cast(new, data.dtype)
    return data, new


def _is_blank(held: Value | None) -> bool:
    return held is None or (
        isinstance(held, Array) and held.kind == "double" and held.data.shape == (0, 0)
    )


def _replace_cells(
    engine: Engine,
    held: Value | None,
    subscripts: Sequence[Subscript],
    value: Value,
    *,
    alone: bool,
) -> Value:
    data = held.data if isinstance(held, Cell) else np.empty((0, 0), object)
    new = value.data if isinstance(value, Cell) else objects([value], (1, 1))
    made = write(engine, data, subscripts, new, exclusive=alone)
    _fill_new(made, data.shape, empty)
    return held if isinstance(held, Cell) and made is held.data else Cell(made)


def reach(
    data: np.ndarray, subscripts: Sequence[Subscript], blank: Callable[[], object], *, alone: bool
) -> tuple[np.ndarray, tuple[int, ...]] | None:
    """Cells or structs that may change, and the place of one element; they grow to reach it.

    None where the subscripts are no plain numbers.
    """
    shape = shape_reaching(data, subscripts)
    if shape is not None:
        grown = grow(data, shape, alone=alone)
        _fill_new(grown, data.shape, blank)
        data, alone = grown, True
    place = element_position(data, subscripts)
    if place is None:
        return None
    return (data if alone else data.copy()), place


def _fill_new(data: np.ndarray, old: tuple[int, ...], blank: Callable[[], object]) -> None:
    """Elements that growth made and nobody assigned."""
    if data.shape == old:
        return
    last = (-1,) * data.ndim
    if data.size == math.prod(old) + 1:  # one element more: of a vector, the last
        if data[last] is None:
            data[last] = blank()
        return
    old = (1,) * (data.ndim - len(old)) + old
    for axis, extent in enumerate(old):
        if extent < data.shape[axis]:
            new = data[(slice(None),) * axis + (slice(extent, None),)]
            for at in np.ndindex(new.shape):
                if new[at] is None:
                    new[at] = blank()


def _replace_structs(
    engine: Engine,
    held: Value | None,
    subscripts: Sequence[Subscript],
    value: Value,
    *,
    alone: bool,
) -> Value:
    if not isinstance(value, Struct):
        raise MatlabError(
            "MATLAB:invalidConversion",
            f"Conversion to struct from {kind_of(value)} is not possible.",
        )
    old = held if isinstance(held, Struct) else Struct(value.fields, np.empty((0, 0), object))
    fields = (*old.fields, *(name for name in value.fields if name not in old.fields))
    differ = set(value.fields) != set(old.fields)
    if isinstance(held, Struct) and differ and count_of(held):
        raise MatlabError(
            "MATLAB:heterogeneousStrucAssignment",
            "Subscripted assignment between dissimilar structures.",
        )
    if fields != old.fields:
        old, alone = Struct(fields, _complete(old, fields)), True
    made = write(engine, old.data, subscripts, _complete(value, fields), exclusive=alone)
    _fill_new(made, old.data.shape, lambda: dict.fromkeys(fields, empty()))
    return old if made is old.data else Struct(fields, made)


def _complete(value: Struct, fields: tuple[str, ...]) -> np.ndarray:
    """Copies of the elements with all fields."""
    elements = [{name: item.get(name, empty()) for name in fields} for item in value.data.flat]
    return objects(elements, value.data.shape[::-1])

"""``x(k) = value`` on values: the class of the result, growth, and data changed in place."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import numpy as np

from matlab_frontend.concatenation import convert
from matlab_frontend.engine import Engine
from matlab_frontend.errors import MatlabError
from matlab_frontend.indexing import write
from matlab_frontend.residency import spread
from matlab_frontend.subscripts import Subscript, element_position
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


def is_exclusive(engine: Engine, array: Array) -> bool:
    """Whether one variable and nobody else holds an array, so that it may change in place.

    Counted in references: the variable, the callers' locals that lead here, and the argument of
    ``getrefcount``; a second holder anywhere adds one. A NumPy view holds the array that owns the
    memory, so that the owner is counted too; memory that may be on a device has other owners.
    """
    if sys.getrefcount(array) > _ARRAY_REFERENCES or sys.getrefcount(array.data) > _ONE_HOLDER:
        return False
    if engine.owns_memory(array.data):
        return True
    base = array.data.base if type(array.data) is np.ndarray else None
    owns = isinstance(base, np.ndarray) and base.base is None
    return owns and sys.getrefcount(base) <= _BASE


_ARRAY_REFERENCES = 5
"""The variable; ``held`` in ``assign`` and in its helper; ``array`` here; the call's argument."""
_ONE_HOLDER = 2
"""The array's field; the call's argument."""
_BASE = 3
"""The view; ``base`` here; the call's argument."""


def set_element(data: Data, subscripts: Sequence[Subscript], value: Value) -> bool:
    """Change one known double in place, at plain numbers; False where that is not what is asked."""
    if type(value) is not float or type(data) is not np.ndarray or data.ndim != 2:
        return False
    if data.dtype != np.float64 or not data.flags.writeable:
        return False
    at = element_position(data, subscripts)
    if at is None:
        return False
    data[at] = value
    return True


def replace(
    engine: Engine,
    held: Value | None,
    subscripts: Sequence[Subscript],
    value: Value,
    *,
    exclusive: bool,
) -> Value:
    """``held`` with elements replaced; it keeps its class, unless it is empty or has none.

    Raises:
        MatlabError: sizes or classes do not go together.

    """
    if isinstance(held, Cell) or (_is_blank(held) and isinstance(value, Cell)):
        return _replace_cells(engine, held, subscripts, value)
    if isinstance(held, Struct) or (_is_blank(held) and isinstance(value, Struct)):
        return _replace_structs(engine, held, subscripts, value)
    if isinstance(value, HANDLES) and _is_blank(held):
        return value
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
    exclusive = exclusive and data is target.data
    made = wrap(target.kind, write(engine, data, subscripts, new, exclusive=exclusive))
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
    engine: Engine, held: Value | None, subscripts: Sequence[Subscript], value: Value
) -> Value:
    data = held.data if isinstance(held, Cell) else np.empty((0, 0), object)
    new = value.data if isinstance(value, Cell) else objects([value], (1, 1))
    made = write(engine, data, subscripts, new, exclusive=False)
    if made.shape != data.shape:
        _fill(made, empty())
    return Cell(made)


def _fill(data: np.ndarray, value: object) -> None:
    """Elements that growth made and nobody assigned."""
    for at in np.ndindex(data.shape):
        if data[at] is None:
            data[at] = value


def _replace_structs(
    engine: Engine, held: Value | None, subscripts: Sequence[Subscript], value: Value
) -> Value:
    if not isinstance(value, Struct):
        raise MatlabError(
            "MATLAB:invalidConversion",
            f"Conversion to struct from {kind_of(value)} is not possible.",
        )
    old = held if isinstance(held, Struct) else Struct(value.fields, np.empty((0, 0), object))
    fields = (*old.fields, *(name for name in value.fields if name not in old.fields))
    if isinstance(held, Struct) and set(value.fields) != set(fields) and count_of(value) != 1:
        raise MatlabError(
            "MATLAB:heterogeneousStrucAssignment",
            "Subscripted assignment between dissimilar structures.",
        )
    data = write(
        engine, _complete(old, fields), subscripts, _complete(value, fields), exclusive=True
    )
    _fill(data, dict.fromkeys(fields, empty()))
    return Struct(fields, data)


def _complete(value: Struct, fields: tuple[str, ...]) -> np.ndarray:
    """Copies of the elements with all fields."""
    elements = [{name: item.get(name, empty()) for name in fields} for item in value.data.flat]
    return objects(elements, value.data.shape[::-1])

"""Elements at subscripts: reading, assigning with growth, and deleting."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from matlab_frontend.engine import Engine
from matlab_frontend.errors import MatlabError
from matlab_frontend.growth import filling, grow, grown_vector
from matlab_frontend.subscripts import Everything, Positions, Subscript, fold, positions, size_text
from matlab_frontend.values.array import Data, Shape


def read(engine: Engine, data: Data, subscripts: Sequence[Subscript]) -> Data:
    """The elements at subscripts, as data of the same dtype.

    Raises:
        MatlabError: a subscript is none, or lies outside.

    """
    shape = data.shape[::-1]
    if len(subscripts) == 1:
        return _read_linear(engine, data, shape, subscripts[0])
    folded = fold(shape, len(subscripts))
    found = [
        positions(engine, subscript, folded[k], f"in position {k + 1} ")
        for k, subscript in enumerate(subscripts)
    ]
    for k, (position, extent) in enumerate(zip(found, folded, strict=True)):
        if position.highest > extent:
            raise MatlabError(
                "MATLAB:badsubscript",
                f"Index in position {k + 1} exceeds array bounds. Index must not exceed {extent}.",
            )
    key = tuple(position.key for position in reversed(found))
    taken = engine.take(_reshaped(engine, data, folded[::-1]), key)
    return _without_trailing_ones(engine, taken)


def write(
    engine: Engine, data: Data, subscripts: Sequence[Subscript], value: Data, *, exclusive: bool
) -> Data:
    """``data`` with the elements at subscripts replaced; it grows where they lie outside.

    ``exclusive`` says that nobody else holds ``data``, so that it may be changed in place.

    Raises:
        MatlabError: a subscript is none, or the sizes of both sides differ.

    """
    shape = data.shape[::-1]
    if len(subscripts) == 1:
        return _write_linear(engine, data, subscripts[0], value, exclusive=exclusive)
    value_shape = tuple(n for n in value.shape[::-1] if n != 1)
    extents = _extents_for(engine, shape, subscripts, value.shape[::-1])
    found = [
        positions(engine, subscript, extents[k], f"in position {k + 1} ")
        for k, subscript in enumerate(subscripts)
    ]
    counts = tuple(position.count for position in found)
    if value.size != 1 and tuple(n for n in counts if n != 1) != value_shape:
        raise MatlabError(
            "MATLAB:subsassigndimmismatch",
            "Unable to perform assignment because the size of the left side is "
            f"{size_text(counts)} and the size of the right side is "
            f"{size_text(value.shape[::-1])}.",
        )
    if 0 in counts:
        return data
    folded = fold(shape, len(subscripts))
    grown = tuple(max(p.highest, n) for p, n in zip(found, folded, strict=True))
    if grown != folded:
        if len(subscripts) < len(shape):
            raise MatlabError(
                "MATLAB:badsubscript",
                "Attempt to grow array along ambiguous dimension.",
            )
        data, exclusive = resize(engine, data, grown, exclusive=exclusive), True
    key = tuple(position.key for position in reversed(found))
    if value.size == 1:
        part = _reshaped(engine, value, (1,) * len(found))
    else:
        part = _reshaped(engine, value, counts[::-1])
    whole = data.shape
    made = engine.put(_reshaped(engine, data, grown[::-1]), key, part, exclusive=exclusive)
    return _reshaped(engine, made, whole if math.prod(whole) == math.prod(grown) else grown[::-1])


def delete(engine: Engine, data: Data, subscripts: Sequence[Subscript]) -> Data:
    """``data`` without the elements at subscripts.

    Raises:
        MatlabError: not whole rows, columns or pages, or a subscript lies outside.

    """
    shape = data.shape[::-1]
    if len(subscripts) == 1:
        return _delete_linear(engine, data, subscripts[0])
    folded = fold(shape, len(subscripts))
    found = [positions(engine, s, n) for s, n in zip(subscripts, folded, strict=True)]
    partial = [k for k, p in enumerate(found) if not _covers(p, folded[k])]
    if len(partial) > 1:
        raise MatlabError(
            "MATLAB:subsdeldimmismatch",
            "A null assignment can have only one non-colon index.",
        )
    axis = (
        partial[0] if partial else next((k for k, p in enumerate(found) if p.shape is not None), 0)
    )
    known = _reshaped(engine, engine.look(data), folded[::-1])
    left = _left(known, found[axis], len(folded) - 1 - axis)
    return _without_trailing_ones(engine, left)


def resize(engine: Engine, data: Data, shape: Shape, *, exclusive: bool) -> Data:
    """A larger array with ``data`` in its first corner and zeros (or empty cells) elsewhere."""
    known = engine.settle(data, 1)
    if type(known) is np.ndarray:
        return grow(known, shape[::-1], alone=exclusive and known is data)
    whole = engine.full(shape[::-1], filling(data.dtype), data.dtype)
    old = data.shape[::-1] + (1,) * (len(shape) - data.ndim)
    if 0 in old:
        return whole
    key = tuple(slice(0, extent) for extent in reversed(old))
    return engine.put(whole, key, _reshaped(engine, data, old[::-1]), exclusive=True)


def _read_linear(engine: Engine, data: Data, shape: Shape, subscript: Subscript) -> Data:
    size = math.prod(shape)
    found = positions(engine, subscript, size)
    if found.highest > size:
        raise MatlabError(
            "MATLAB:badsubscript",
            f"Index exceeds the number of array elements. Index must not exceed {size}.",
        )
    flat = engine.take(_reshaped(engine, data, (size,)), (found.key,))
    return _reshaped(engine, flat, linear_shape(found, shape)[::-1])


def linear_shape(found: Positions, shape: Shape) -> Shape:
    """The size of ``x(k)``: that of k, but vectors keep the direction of x."""
    if found.shape is None:
        return (found.count, 1)
    vector = len(shape) == 2 and 1 in shape and shape != (1, 1)
    if vector and len(found.shape) == 2 and 1 in found.shape:
        return (1, found.count) if shape[0] == 1 else (found.count, 1)
    return found.shape


def _write_linear(
    engine: Engine, data: Data, subscript: Subscript, value: Data, *, exclusive: bool
) -> Data:
    size = math.prod(data.shape)
    found = positions(engine, subscript, size)
    if value.size not in (1, found.count):
        raise MatlabError(
            "MATLAB:matrix:singleSubscriptNumelMismatch",
            "Unable to perform assignment because the left and right sides have a different "
            "number of elements.",
        )
    if found.count == 0:
        return data
    if found.highest > size:
        grown = grown_vector(data.shape[::-1], found.highest)
        data, exclusive = resize(engine, data, grown, exclusive=exclusive), True
    part = _reshaped(engine, value, (value.size,))
    flat = _reshaped(engine, data, (math.prod(data.shape),))
    made = engine.put(flat, (found.key,), part, exclusive=exclusive)
    return _reshaped(engine, made, data.shape)


def _delete_linear(engine: Engine, data: Data, subscript: Subscript) -> Data:
    shape = data.shape[::-1]
    size = math.prod(shape)
    found = positions(engine, subscript, size)
    if found.shape is None:
        return np.empty((0, 0), data.dtype)
    known = engine.look(data)
    if len(shape) == 2 and shape[1] == 1 and shape[0] != 1:
        return _left(known, found, 1)
    return _left(known.reshape(size, 1), found, 0)


def _left(data: np.ndarray, found: Positions, axis: int) -> np.ndarray:
    """What is left of an array without some positions of an axis.

    Without the first or the last one of a vector it stays where it is, as arrays with room do
    (see ``growth``), unless most of that memory is unused.
    """
    extent, key = data.shape[axis], found.key
    if found.highest > extent:
        raise MatlabError(
            "MATLAB:subsdeldimmismatch",
            f"Matrix index is out of range for deletion. Index must not exceed {extent}.",
        )
    one_of_vector = found.count == 1 and data.ndim == 2 and data.size == extent
    if one_of_vector and isinstance(key, slice) and key.start in (0, extent - 1):
        whole = data if data.base is None else data.base
        part = slice(1, None) if key.start == 0 else slice(extent - 1)
        if 4 * extent > whole.size:
            return data[part] if axis == 0 else data[:, part]
    return np.delete(data, key, axis)


def _covers(found: Positions, extent: int) -> bool:
    return found.shape is None or len(set(np.arange(extent)[found.key].tolist())) == extent


def _extents_for(
    engine: Engine, shape: Shape, subscripts: Sequence[Subscript], value: Shape
) -> Shape:
    """Extents that ``:`` means on the left side: those of the right side where there are none.

    Of a right side with other axes, those that are longer than 1 are taken in their order.
    """
    folded = fold(shape, len(subscripts))
    if math.prod(shape) != 0:
        return folded
    blank = not any(shape)
    free = [
        isinstance(s, Everything) and (extent == 0 or (blank and k >= len(shape)))
        for k, (s, extent) in enumerate(zip(subscripts, folded, strict=True))
    ]
    if sum(free) == 1 and sum(isinstance(s, Everything) for s in subscripts) == 1:
        return tuple(
            [math.prod(value) if is_free else n for is_free, n in zip(free, folded, strict=True)]
        )
    if len(value) == len(subscripts):
        return tuple(
            [v if is_free else n for is_free, v, n in zip(free, value, folded, strict=True)]
        )
    left = [n for n in value if n != 1]
    extents = list(folded)
    for k, (subscript, is_free) in enumerate(zip(subscripts, free, strict=True)):
        taken = 1
        if is_free:
            taken = extents[k] = left[0] if left else 1
        elif not isinstance(subscript, Everything):
            taken = positions(engine, subscript, folded[k]).count
        if left and taken == left[0]:
            left.pop(0)
    return tuple(extents)


def _reshaped(engine: Engine, data: Data, shape: tuple[int, ...]) -> Data:
    return data if data.shape == shape else engine.reshape(data, shape)


def _without_trailing_ones(engine: Engine, data: Data) -> Data:
    shape = data.shape
    while len(shape) > 2 and shape[0] == 1:
        shape = shape[1:]
    return _reshaped(engine, data, shape)

"""Sizes, and the same elements in other shapes."""

from __future__ import annotations

import math
from typing import cast as typed

import numpy as np

from matlab_frontend.builtins.registry import Call, builtin
from matlab_frontend.builtins.sizes import dimension_of, first_dimension, read_size, trimmed
from matlab_frontend.concatenation import concatenate
from matlab_frontend.errors import MatlabError
from matlab_frontend.operators import ARITHMETIC, arithmetic
from matlab_frontend.values.array import (
    Array,
    Cell,
    Data,
    MapObject,
    Shape,
    Struct,
    Value,
    count_of,
    shape_of,
)
from matlab_frontend.values.make import row, wrap
from matlab_frontend.values.read import array_of, integer_of, is_text, known


def data_of(value: Value) -> Data:
    """The elements of an array, a cell array or a struct array."""
    return value.data if isinstance(value, (Cell, Struct)) else array_of(value).data


def with_data(value: Value, data: Data) -> Value:
    """Other elements of the same class."""
    if isinstance(value, Cell):
        return Cell(data)
    if isinstance(value, Struct):
        return Struct(value.fields, data)
    return wrap(array_of(value).kind, data)


@builtin("size")
def size(call: Call, x: Value, *dimensions: Value) -> Value | tuple[Value, ...]:
    """The extents of an array, all or some of them, in one row or one an output."""
    shape = shape_of(x)
    if dimensions:
        if any(map(is_text, dimensions)):
            raise MatlabError("MATLAB:size:dimensions", "Dimensions must be positive integers.")
        wanted = [
            dimension_of(call.engine, float(number))
            for dimension in dimensions
            for number in known(call.engine, dimension).ravel()
        ]
        extents = [float(shape[d]) if d < len(shape) else 1.0 for d in wanted]
        return tuple(extents) if call.outputs > 1 else row(extents)
    if call.outputs <= 1:
        return row(map(float, shape))
    outputs = call.outputs
    padded = list(shape) + [1] * (outputs - len(shape))
    last = math.prod(padded[outputs - 1 :])
    return tuple(float(extent) for extent in [*padded[: outputs - 1], last])


@builtin("numel")
def numel(_: Call, x: Value) -> Value:
    """Number of elements."""
    return float(len(x.items)) if isinstance(x, MapObject) else float(count_of(x))


@builtin("length")
def length(_: Call, x: Value) -> Value:
    """The greatest extent, 0 for empty arrays."""
    return 0.0 if count_of(x) == 0 else float(max(shape_of(x)))


@builtin("ndims")
def ndims(_: Call, x: Value) -> Value:
    """Number of dimensions, two at least."""
    return float(len(shape_of(x)))


@builtin("isempty")
def isempty(_: Call, x: Value) -> Value:
    """True if there are no elements."""
    return count_of(x) == 0


@builtin("isscalar")
def isscalar(_: Call, x: Value) -> Value:
    """True if there is exactly one element."""
    return shape_of(x) == (1, 1)


@builtin("isvector")
def isvector(_: Call, x: Value) -> Value:
    """True if it is a row or a column."""
    return len(shape_of(x)) == 2 and 1 in shape_of(x)


@builtin("isrow")
def isrow(_: Call, x: Value) -> Value:
    """True if it is a row."""
    return len(shape_of(x)) == 2 and shape_of(x)[0] == 1


@builtin("iscolumn")
def iscolumn(_: Call, x: Value) -> Value:
    """True if it is a column."""
    return len(shape_of(x)) == 2 and shape_of(x)[1] == 1


@builtin("ismatrix")
def ismatrix(_: Call, x: Value) -> Value:
    """True if it has two dimensions."""
    return len(shape_of(x)) == 2


@builtin("reshape")
def reshape(call: Call, x: Value, *sizes: Value) -> Value:
    """The same elements in another size; one extent may be [], found from the others."""
    count = count_of(x)
    unknown = [at for at, size in enumerate(sizes) if count_of(size) == 0]
    if len(unknown) > 1 and len(sizes) > 1:
        raise MatlabError("MATLAB:getReshapeDims:unknownDim", "Size can only have one unknown.")
    if unknown and len(sizes) > 1:
        extents = [1 if at in unknown else integer_of(call.engine, s) for at, s in enumerate(sizes)]
        rest = math.prod(extents)
        if rest == 0 or count % rest:
            raise MatlabError(
                "MATLAB:getReshapeDims:notDivisible",
                f"Product of known dimensions, {rest}, not divisible into total number of "
                f"elements, {count}.",
            )
        extents[unknown[0]] = count // rest
        shape = trimmed(extents)
    else:
        shape = read_size(call.engine, sizes)
    if math.prod(shape) != count:
        raise MatlabError(
            "MATLAB:getReshapeDims:notSameNumel",
            "Number of elements must not change. Use [] as one of the size inputs to "
            "automatically calculate the appropriate size for that dimension.",
        )
    return with_data(x, call.engine.reshape(data_of(x), shape[::-1]))


@builtin("squeeze")
def squeeze(call: Call, x: Value) -> Value:
    """The same elements without extents of 1, where there are more than two dimensions."""
    shape = shape_of(x)
    if len(shape) == 2:
        return x
    kept = [extent for extent in shape if extent != 1]
    kept += [1] * (2 - len(kept))
    return with_data(x, call.engine.reshape(data_of(x), tuple(reversed(kept))))


@builtin("permute")
def permute(call: Call, x: Value, order: Value) -> Value:
    """Dimensions in another order."""
    wanted = [int(number) - 1 for number in known(call.engine, order).ravel()]
    return permuted(call, x, wanted)


def permuted(call: Call, x: Value, wanted: list[int]) -> Value:
    """Dimensions, from 0, in another order.

    Raises:
        MatlabError: some dimension is missing.

    """
    data = data_of(x)
    rank = len(wanted)
    if sorted(wanted) != list(range(rank)) or rank < data.ndim:
        raise MatlabError("MATLAB:permute:badIndex", "ORDER contains an invalid permutation index.")
    padded = call.engine.reshape(data, (1,) * (rank - data.ndim) + tuple(data.shape))
    axes = tuple(rank - 1 - axis for axis in reversed(wanted))
    moved = call.engine.permute(padded, axes)
    return with_data(x, call.engine.reshape(moved, trimmed(moved.shape[::-1])[::-1]))


@builtin("ipermute")
def ipermute(call: Call, x: Value, order: Value) -> Value:
    """Dimensions back in their order."""
    wanted = [int(number) - 1 for number in known(call.engine, order).ravel()]
    return permuted(call, x, [wanted.index(axis) for axis in range(len(wanted))])


@builtin("transpose")
def transpose(call: Call, x: Value) -> Value:
    """``x.'``."""
    return permuted(call, x, [1, 0])


@builtin("cat")
def cat(call: Call, dimension: Value, *parts: Value) -> Value:
    """Arrays joined along a dimension."""
    return concatenate(call.engine, parts, dimension_of(call.engine, dimension))


@builtin("horzcat")
def horzcat(call: Call, *parts: Value) -> Value:
    """Arrays side by side."""
    return concatenate(call.engine, parts, 1)


@builtin("vertcat")
def vertcat(call: Call, *parts: Value) -> Value:
    """Arrays below one another."""
    return concatenate(call.engine, parts, 0)


@builtin("repmat")
def repmat(call: Call, x: Value, *counts: Value) -> Value:
    """Copies of an array, side by side and below one another."""
    times = read_size(call.engine, counts)
    data = data_of(x)
    rank = max(len(times), data.ndim)
    shape = (1,) * (rank - data.ndim) + tuple(data.shape)
    repeats = tuple(reversed(times + (1,) * (rank - len(times))))
    # Each axis gets one of copies before it; then both are one axis.
    spread = call.engine.reshape(data, tuple(n for extent in shape for n in (1, extent)))
    full = tuple(n for pair in zip(repeats, shape, strict=True) for n in pair)
    tiled = call.engine.broadcast(spread, full)
    joined = tuple(a * b for a, b in zip(repeats, shape, strict=True))
    return with_data(x, call.engine.reshape(tiled, trimmed(joined[::-1])[::-1]))


@builtin("repelem")
def repelem(call: Call, x: Value, *counts: Value) -> Value:
    """Copies of each element of a vector, or of elements along each dimension of a matrix."""
    if not counts:
        raise MatlabError("MATLAB:minrhs", "Not enough input arguments.")
    data = call.engine.look(data_of(x))
    rank = len(shape_of(x))
    if len(counts) == 1:
        if rank != 2 or 1 not in data.shape:
            raise MatlabError(
                "MATLAB:repelem:mustBeVector", "One number of copies is for a scalar or a vector."
            )
        along = [0 if shape_of(x)[1] == 1 and shape_of(x)[0] != 1 else 1]
    else:
        along = list(range(len(counts)))
        data = data.reshape((1,) * max(len(counts) - rank, 0) + data.shape)
    for dimension, count in zip(along, counts, strict=True):
        numbers = known(call.engine, count).ravel()
        extent = data.shape[data.ndim - 1 - dimension]
        if np.any(numbers < 0) or np.any(numbers != np.floor(numbers)):
            raise MatlabError("MATLAB:repelem:invalidReplications", "Copies are counted from 0.")
        if numbers.size not in (1, extent):
            raise MatlabError(
                "MATLAB:repelem:mismatchedReplications",
                "There is one number of copies, or one for each element.",
            )
        data = np.repeat(data, numbers.astype(int), axis=data.ndim - 1 - dimension)
    return with_data(x, np.ascontiguousarray(data))


@builtin("shiftdim")
def shiftdim(call: Call, x: Value, count: Value | None = None) -> tuple[Value, ...]:
    """Dimensions moved to the left, those of extent 1 if no number is given, or to the right."""
    shape = shape_of(x)
    leading = next((k for k, extent in enumerate(shape) if extent != 1), 0)
    steps = leading if count is None else integer_of(call.engine, count)
    if steps >= 0:
        turns = steps % len(shape)
        order = [*range(turns, len(shape)), *range(turns)]
        moved = permuted(call, x, order)
    else:
        data = data_of(x)
        moved = with_data(x, call.engine.reshape(data, (*data.shape, *(1,) * -steps)))
    return moved, float(steps)


def flipped(call: Call, x: Value, dimension: int) -> Value:
    """Elements in reverse along a dimension, from 0."""
    data = data_of(x)
    if dimension >= data.ndim:
        return x
    key = [slice(None)] * data.ndim
    key[data.ndim - 1 - dimension] = slice(None, None, -1)
    return with_data(x, call.engine.take(data, tuple(key)))


@builtin("flipud")
def flipud(call: Call, x: Value) -> Value:
    """Rows in reverse."""
    return flipped(call, x, 0)


@builtin("fliplr")
def fliplr(call: Call, x: Value) -> Value:
    """Columns in reverse."""
    return flipped(call, x, 1)


@builtin("flip")
def flip(call: Call, x: Value, dimension: Value | None = None) -> Value:
    """Elements in reverse along a dimension."""
    axis = first_dimension(x) if dimension is None else dimension_of(call.engine, dimension)
    return flipped(call, x, axis)


@builtin("rot90")
def rot90(call: Call, x: Value, turns: Value = 1.0) -> Value:
    """A matrix turned to the left by quarters."""
    count = integer_of(call.engine, turns)
    made = call.engine.host(lambda data: np.rot90(data, count, (-1, -2)), data_of(x))
    return with_data(x, np.ascontiguousarray(made))


@builtin("circshift")
def circshift(call: Call, x: Value, count: Value, dimension: Value | None = None) -> Value:
    """Elements moved along dimensions; what leaves at one end comes in at the other."""
    data = data_of(x)
    counts = [int(number) for number in known(call.engine, count).ravel()]
    if len(counts) == 1:
        axis = first_dimension(x) if dimension is None else dimension_of(call.engine, dimension)
        shifts: dict[int, int] = {axis: counts[0]}
    else:
        shifts = dict(enumerate(counts))
    for axis, shift in shifts.items():
        if axis < data.ndim:
            data = call.engine.host(np.roll, data, shift, data.ndim - 1 - axis)
    return with_data(x, data)


def triangle(call: Call, x: Value, offset: Value, *, lower: bool) -> Value:
    """The elements on one side of a diagonal; zeros elsewhere."""
    array = array_of(x)
    rows, columns = shape_of(array)
    k = integer_of(call.engine, offset)
    mask = (
        np.tri(rows, columns, k, dtype=bool) if lower else ~np.tri(rows, columns, k - 1, dtype=bool)
    )
    kept = np.ascontiguousarray(mask.T)
    zero = np.zeros((), array.data.dtype)[()]
    return wrap(array.kind, call.engine.apply("where", kept, array.data, zero))


@builtin("triu")
def triu(call: Call, x: Value, offset: Value = 0.0) -> Value:
    """The elements on and above a diagonal."""
    return triangle(call, x, offset, lower=False)


@builtin("tril")
def tril(call: Call, x: Value, offset: Value = 0.0) -> Value:
    """The elements on and below a diagonal."""
    return triangle(call, x, offset, lower=True)


@builtin("ind2sub")
def ind2sub(call: Call, extents: Value, index: Value) -> Value | tuple[Value, ...]:
    """Subscripts from a linear index."""
    shape: Shape = tuple(int(number) for number in known(call.engine, extents).ravel())
    outputs = max(call.outputs, 1)
    shape = (*shape[: outputs - 1], math.prod(shape[outputs - 1 :]))
    flat = call.engine.look(array_of(index).data) - 1
    found = call.engine.host(np.unravel_index, flat.astype(np.int64), shape, "F")
    return tuple(wrap("double", part + 1.0) for part in found)


@builtin("sub2ind")
def sub2ind(call: Call, extents: Value, first: Value, *others: Value) -> Value:
    """A linear index from subscripts."""
    subscripts = (first, *others)
    shape = [int(number) for number in known(call.engine, extents).ravel()]
    made: Data = typed("Data", 1.0)
    step = 1
    shape = [*shape, *[1] * (len(subscripts) - len(shape))]
    shape = [*shape[: len(subscripts) - 1], math.prod(shape[len(subscripts) - 1 :])]
    for extent, subscript in zip(shape, subscripts, strict=True):
        data = call.engine.look(array_of(subscript).data)
        if data.size and (data.min() < 1 or data.max() > extent):
            raise MatlabError("MATLAB:sub2ind:IndexOutOfRange", "Out of range subscript.")
        made = made + (data - 1) * step
        step *= extent
    return wrap("double", np.asarray(made, float))


@builtin("kron")
def kron(call: Call, x: Value, y: Value) -> Value:
    """Kronecker product."""
    a, b = array_of(x), array_of(y)
    if max(a.data.ndim, b.data.ndim) > 2:
        raise MatlabError("MATLAB:kron:TwoDInput", "Inputs must be 2-D.")
    (m, n), (p, q) = a.data.shape, b.data.shape
    spread = Array(a.kind, call.engine.reshape(a.data, (m, 1, n, 1)))
    blocks = Array(b.kind, call.engine.reshape(b.data, (1, p, 1, q)))
    made = array_of(arithmetic(call.engine, ARITHMETIC[".*"], spread, blocks))
    return wrap(made.kind, call.engine.reshape(made.data, (m * p, n * q)))


@builtin("nnz")
def nnz(call: Call, x: Value) -> Value:
    """Number of elements that are not zero."""
    return float(np.count_nonzero(known(call.engine, x)))

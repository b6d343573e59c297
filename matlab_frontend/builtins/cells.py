"""Cell arrays, and functions applied to each element."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from matlab_frontend.builtins.options import word_of
from matlab_frontend.builtins.registry import Call, builtin
from matlab_frontend.builtins.sizes import read_size
from matlab_frontend.concatenation import concatenate
from matlab_frontend.errors import MatlabError
from matlab_frontend.values.array import (
    Cell,
    ErrorObject,
    Shape,
    Struct,
    Value,
    as_array,
    count_of,
    kind_of,
    shape_of,
)
from matlab_frontend.values.make import cell, empty, objects, struct, text, wrap
from matlab_frontend.values.read import (
    array_of,
    cell_of,
    integer_of,
    is_text,
    is_true,
    known,
    lines_of,
    struct_of,
    text_of,
)


@builtin("cell")
def cell_(call: Call, *sizes: Value) -> Value:
    """A cell array whose cells hold []."""
    shape = read_size(call.engine, sizes)
    if not sizes:
        shape = (0, 0)
    return cell([empty()] * int(np.prod(shape)), shape)


def elements(call: Call, x: Value) -> list[Value]:
    """Each element of an array as a value, column by column; cells stay cells."""
    if isinstance(x, Cell):
        return [Cell(item) for item in x.data.reshape(-1, 1, 1)]
    if isinstance(x, Struct):
        return [Struct(x.fields, item) for item in x.data.reshape(-1, 1, 1)]
    array = as_array(x)
    if array is None:
        return [x]
    flat = call.engine.look(array.data).reshape(-1, 1, 1)
    if array.kind == "double" and flat.dtype == np.float64:
        return flat.ravel().tolist()
    return [wrap(array.kind, item) for item in flat]


def _apply(
    call: Call,
    arguments: Sequence[Value],
    lists: list[list[Value]],
    shape: Shape,
    *,
    structs: bool = False,
) -> Value | tuple[Value, ...] | None:
    """Call a function for each step through the lists; options stand at the end.

    ``structs``: those that it gives become an array, too.
    """
    function, options = arguments[0], list(arguments[1:])
    uniform, handler = _options(call, options)
    outputs = call.outputs if uniform else max(call.outputs, 1)
    steps = list(zip(*lists, strict=True))
    made: list[list[Value]] = []
    for at, step in enumerate(steps):
        made.append(_call(call, function, step, outputs, handler, at=at))
    wanted = max(outputs, 1)
    if call.outputs == 0 and any(not results for results in made):
        return None
    columns = [[results[k] for results in made] for k in range(wanted)]
    if not uniform:
        return tuple(cell(column, shape) for column in columns)
    return tuple(_uniform(call, column, shape, structs=structs) for column in columns)


def _call(
    call: Call,
    function: Value,
    step: Sequence[Value],
    outputs: int,
    handler: Value | None,
    *,
    at: int,
) -> list[Value]:
    if handler is None:
        return call.interpreter.call(function, step, outputs)
    try:
        return call.interpreter.call(function, step, outputs)
    except MatlabError as error:
        details = struct(
            {
                "message": text(error.message),
                "identifier": text(error.identifier),
                "index": at + 1.0,
            }
        )
        return call.interpreter.call(handler, (details, *step), outputs)


def _options(call: Call, options: list[Value]) -> tuple[bool, Value | None]:
    uniform, handler = True, None
    for at in range(0, len(options), 2):
        name = word_of("cellfun", options[at], ("uniformoutput", "errorhandler"))
        if at + 1 == len(options):
            raise MatlabError("MATLAB:cellfun:option", "An option needs a value after its name.")
        if name == "uniformoutput":
            uniform = is_true(call.engine, options[at + 1])
        elif name == "errorhandler":
            handler = options[at + 1]
    return uniform, handler


def _struct_array(column: list[Struct], shape: Shape) -> Value:
    """Structs of one element each, all with the same fields, as one array."""
    fields = column[0].fields
    if any(set(item.fields) != set(fields) for item in column):
        message = "Subscripted assignment between dissimilar structures."
        raise MatlabError("MATLAB:heterogeneousStrucAssignment", message)
    elements = [{name: item.data.item()[name] for name in fields} for item in column]
    return Struct(fields, objects(elements, shape))


def _uniform(call: Call, column: list[Value], shape: Shape, *, structs: bool = False) -> Value:
    if not column:
        return wrap("double", np.zeros(shape[::-1]))
    if all(type(item) is float for item in column):
        return wrap("double", np.array(column, float).reshape(shape[::-1]))
    if all(type(item) is bool for item in column):
        return wrap("logical", np.array(column, bool).reshape(shape[::-1]))
    if structs and all(isinstance(x, Struct) and count_of(x) == 1 for x in column):
        return _struct_array([struct_of(item) for item in column], shape)
    if any(isinstance(item, (Cell, Struct, ErrorObject)) or count_of(item) != 1 for item in column):
        raise MatlabError(
            "MATLAB:cellfun:NotAScalarOutput",
            "Non-scalar in Uniform output, at index 1, output 1. Set 'UniformOutput' to false.",
        )
    joined = as_array(concatenate(call.engine, column, 1))
    assert joined is not None, "scalars join to arrays"
    return wrap(joined.kind, call.engine.reshape(joined.data, shape[::-1]))


def _split_arguments(arguments: Sequence[Value]) -> tuple[list[Value], list[Value]]:
    """Arrays to step through, and the options after them."""
    for at, argument in enumerate(arguments):
        if is_text(argument) and text_of(argument).lower() in ("uniformoutput", "errorhandler"):
            return list(arguments[:at]), list(arguments[at:])
    return list(arguments), []


@builtin("cellfun")
def cellfun(call: Call, function: Value, *arguments: Value) -> Value | tuple[Value, ...] | None:
    """A function of the contents of each cell."""
    arrays, options = _split_arguments(arguments)
    if is_text(function) and text_of(function) in _OLD_NAMES and len(arrays) == 2:
        question, extra = _OLD_NAMES[text_of(function)], arrays.pop()
        held = cell_of(arrays[0])
        made = [question(call, item, extra) for item in held.data.flat]
        return _uniform(call, made, shape_of(held))
    if is_text(function) and text_of(function) == "prodofsize":
        function = text("numel")
    for array in arrays:
        if not isinstance(array, Cell):
            raise MatlabError(
                "MATLAB:cellfun:NotACell",
                f"Input #2 expected to be a cell array, was {kind_of(array)} instead.",
            )
        _same_size("cellfun", arrays[0], array)
    lists = [list(array.data.flat) for array in arrays if isinstance(array, Cell)]
    return _apply(call, [function, *options], lists, shape_of(arrays[0]))


_OLD_NAMES: Mapping[str, Callable[[Call, Value, Value], Value]] = {
    "isclass": lambda _, x, name: kind_of(x) == text_of(name),
    "size": lambda call, x, k: float((*shape_of(x), *[1] * 99)[integer_of(call.engine, k) - 1]),
}
"""Old names that ``cellfun`` takes with one more argument."""


@builtin("arrayfun")
def arrayfun(call: Call, function: Value, *arguments: Value) -> Value | tuple[Value, ...] | None:
    """A function of each element."""
    arrays, options = _split_arguments(arguments)
    for array in arrays:
        _same_size("arrayfun", arrays[0], array)
    lists = [elements(call, array) for array in arrays]
    return _apply(call, [function, *options], lists, shape_of(arrays[0]), structs=True)


def _same_size(name: str, first: Value, other: Value) -> None:
    if shape_of(first) != shape_of(other):
        raise MatlabError(
            f"MATLAB:{name}:dimensionMismatch",
            "All of the input arguments must be of the same size and shape.",
        )


@builtin("structfun")
def structfun(
    call: Call, function: Value, x: Value, *options: Value
) -> Value | tuple[Value, ...] | None:
    """A function of each field of a struct."""
    element: dict[str, Value] = struct_of(x).data.item()
    uniform, _ = _options(call, list(options))
    made = _apply(call, [function, *options], [list(element.values())], (len(element), 1))
    if uniform or made is None:
        return made
    cells = cell_of(made[0] if isinstance(made, tuple) else made)
    return struct(dict(zip(element, cells.data.flat, strict=True)))


@builtin("num2cell")
def num2cell(call: Call, x: Value) -> Value:
    """A cell for each element."""
    items = list(x.data.flat) if isinstance(x, Cell) else elements(call, x)
    if isinstance(x, Cell):
        items = elements(call, x)
    return cell(items, shape_of(x))


@builtin("cell2mat")
def cell2mat(call: Call, x: Value) -> Value:
    """One array from the arrays in the cells."""
    table = cell_of(x).data.T
    if count_of(x) == 0:
        return empty()
    if len({kind_of(item) for item in table.flat}) > 1:
        raise MatlabError(
            "MATLAB:cell2mat:MixedDataTypes",
            "All contents of the input cell array must be of the same data type.",
        )
    rows = [concatenate(call.engine, list(line), 1) for line in table]
    return concatenate(call.engine, rows, 0)


@builtin("cellstr")
def cellstr(_: Call, x: Value) -> Value:
    """Texts as a column of cells."""
    if isinstance(x, Cell):
        return x
    lines = [line.rstrip() for line in lines_of(x)] or [""]
    return cell([text(line) for line in lines], (len(lines), 1))


@builtin("mat2cell")
def mat2cell(call: Call, x: Value, *sizes: Value) -> Value:
    """Blocks of a matrix, each in a cell."""
    array = array_of(x)
    if array.data.ndim != 2 or len(sizes) not in (1, 2):
        raise MatlabError(
            "MATLAB:mat2cell:dimensions", "Matrices with sizes of one or two dimensions."
        )
    for size, extent in zip(sizes, shape_of(x), strict=False):
        if known(call.engine, size).sum() != extent:
            raise MatlabError(
                "MATLAB:mat2cell:VectorSumMismatch",
                f"Sizes along a dimension must add up to its extent, {extent}.",
            )
    parts = [np.cumsum([0, *known(call.engine, size).ravel().astype(int)]) for size in sizes]
    if len(parts) == 1:
        parts.append(np.array([0, shape_of(x)[1]]))
    blocks: list[Value] = []
    for c0, c1 in zip(parts[1][:-1], parts[1][1:], strict=True):
        for r0, r1 in zip(parts[0][:-1], parts[0][1:], strict=True):
            blocks.append(
                wrap(array.kind, call.engine.take(array.data, (slice(c0, c1), slice(r0, r1))))
            )
    return cell(blocks, (len(parts[0]) - 1, len(parts[1]) - 1))

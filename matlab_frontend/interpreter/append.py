"""``v = [v, x]`` and ``v = [v; x]``: what is joined to a variable grows in its memory.

Such arrays have room to spare, as those that grow by assignment to elements do (see ``growth``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from matlab_frontend import nodes
from matlab_frontend.concatenation import concatenate
from matlab_frontend.growth import grow
from matlab_frontend.interpreter.evaluate import compile_elements, compile_row
from matlab_frontend.interpreter.frame import Frame
from matlab_frontend.interpreter.ownership import is_alone, references
from matlab_frontend.interpreter.replace import known_scalar
from matlab_frontend.residency import spread
from matlab_frontend.values.array import Array, Cell, Value

if TYPE_CHECKING:
    from matlab_frontend.engine import Engine
    from matlab_frontend.interpreter.interpreter import Interpreter


def compile_append(
    interpreter: Interpreter, name: str, node: nodes.Expression
) -> Callable[[Frame], None] | None:
    """Compile the assignment of a matrix to the variable that it begins with.

    None where the value is no such matrix.
    """
    if not isinstance(node, nodes.Matrix) or not node.rows or not node.rows[0]:
        return None
    first, axis = node.rows[0][0], int(len(node.rows) == 1)
    if not isinstance(first, nodes.Name) or first.name != name:
        return None
    if len(node.rows[0]) != 1 and not axis:
        return None
    engine, span = interpreter.engine, node.span
    general = interpreter.compile_value(node)
    rest = _compile_rest(interpreter, node, axis)

    def run(frame: Frame) -> None:
        variables = frame.variables
        held = variables.get(name)
        if type(held) is not Array and type(held) is not Cell:
            variables[name] = general(frame)
            return
        given = rest(frame)
        frame.span = span
        count = references(held)
        if is_alone(engine, held, count):
            data = extended(engine, held, given, axis)
            if data is not None:
                variables[name] = Cell(data) if type(held) is Cell else Array(held.kind, data)  # type: ignore[union-attr]  # an array or a cell
                return
        joined = concatenate(engine, [held, *given], axis)
        variables[name] = spread(engine, joined, held, *given)

    return run


def _compile_rest(
    interpreter: Interpreter, node: nodes.Matrix, axis: int
) -> Callable[[Frame], list[Value]]:
    """What is joined to the first element: the others of its row, or the other rows."""
    if axis:
        return compile_elements(interpreter, node.rows[0][1:])
    rows = [compile_row(interpreter, row, node.span) for row in node.rows[1:]]
    return lambda frame: [row(frame) for row in rows]


def extended(
    engine: Engine, held: Array | Cell, given: Sequence[Value], axis: int
) -> np.ndarray | None:
    """The data of a matrix that nobody else holds with others joined to it along an axis.

    None where :func:`concatenate` must decide: other classes, sizes that do not fit, values that
    are not computed yet.
    """
    data, at = held.data, 1 - axis
    if type(data) is not np.ndarray or data.ndim != 2 or not data.size:
        return None
    if type(held) is Array and held.on_device:
        return None
    parts = [_part(engine, held, value) for value in given]
    extent = data.shape[at]
    for part in parts:
        if part is None or part.ndim != 2 or part.shape[axis] != data.shape[axis]:
            return None
        extent += part.shape[at]
    shape = (extent, data.shape[1]) if axis else (data.shape[0], extent)
    made = grow(data, shape, alone=True)
    first = data.shape[at]
    for part in parts:
        last = first + part.shape[at]
        place = (slice(first, last),) if axis else (slice(None), slice(first, last))
        made[place] = part
        first = last
    return made


def _part(engine: Engine, held: Array | Cell, value: Value) -> Any:
    """The data of a value that an array or cell can be extended by as it is."""
    if type(held) is Array and (type(value) is float or type(value) is bool):
        if held.kind == "logical" and type(value) is float:
            return None
        scalar = known_scalar(held.kind, held.data.dtype, value)
        return None if scalar is None else np.full((1, 1), scalar, held.data.dtype)
    if type(value) is not type(held):
        return None
    data = value.data
    if type(value) is Array:
        assert type(held) is Array, "both are of one class"
        if value.kind != held.kind or data.dtype != held.data.dtype or value.on_device:
            return None
        data = engine.settle(data, data.size)
    return data if type(data) is np.ndarray else None

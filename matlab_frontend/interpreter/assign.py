"""Assignment into variables, elements, cells and fields, with growth and deletion."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from matlab_frontend import nodes
from matlab_frontend.errors import MatlabError
from matlab_frontend.indexing import delete
from matlab_frontend.indexing import read as read_elements
from matlab_frontend.interpreter.frame import Frame, SharedVariables
from matlab_frontend.interpreter.references import Step, chain, field_name, map_key
from matlab_frontend.interpreter.replace import is_exclusive, replace, set_element
from matlab_frontend.residency import spread
from matlab_frontend.subscripts import Subscript
from matlab_frontend.values.array import (
    Array,
    Cell,
    MapObject,
    ParserObject,
    Struct,
    Value,
    as_array,
    count_of,
    kind_of,
    shape_of,
)
from matlab_frontend.values.make import empty, objects, struct, wrap

if TYPE_CHECKING:
    from matlab_frontend.interpreter.interpreter import Interpreter


def assign(interpreter: Interpreter, target: nodes.Target, value: Value, frame: Frame) -> None:
    """Store a value in what a target means.

    Raises:
        MatlabError: an index is wrong, or sizes or classes do not go together.

    """
    if isinstance(target, nodes.Placeholder):
        return
    if isinstance(target, nodes.Name):
        frame.variables[target.name] = value
        return
    base, steps = chain(target)
    if not isinstance(base, nodes.Name):
        frame.span = target.span
        raise MatlabError("MATLAB:assignmentTarget", "This cannot be assigned to.")
    held = frame.variables.get(base.name)
    if len(steps) == 1 and isinstance(steps[0], nodes.Index) and isinstance(held, Array):
        made = _elements(interpreter, held, steps[0], value, frame)
    else:
        made = into(interpreter, held, steps, value, frame=frame)
    frame.variables[base.name] = made


def _elements(
    interpreter: Interpreter,
    held: Array,
    step: nodes.Index,
    value: Value,
    frame: Frame,
) -> Value:
    """``held(subscripts) = value``, in place where only this variable holds the array."""
    subscripts = interpreter.arguments(step.arguments, frame, held)
    frame.span = step.span
    engine = interpreter.engine
    exclusive = not isinstance(frame.variables, SharedVariables) and is_exclusive(engine, held)
    if exclusive and set_element(held.data, subscripts, value):
        return held
    return replace(engine, held, subscripts, value, exclusive=exclusive)


def remove(interpreter: Interpreter, node: nodes.Deletion, frame: Frame) -> str:
    """``x(k) = []``; gives the variable's name.

    Raises:
        MatlabError: an index is wrong, or not whole rows or columns.

    """
    base, steps = chain(node.target)
    if not isinstance(base, nodes.Name):
        raise MatlabError("MATLAB:assignmentTarget", "This cannot be assigned to.")
    frame.span = node.span
    made = into(interpreter, frame.variables.get(base.name), steps, None, frame=frame)
    frame.variables[base.name] = made
    return base.name


def assign_fields(target: nodes.Field, values: Sequence[Value], frame: Frame) -> None:
    """``[s.name] = ...``: one value for each element of a struct array."""
    base, _ = chain(target)
    assert isinstance(base, nodes.Name), "the field belongs to a variable"
    held = frame.variables[base.name]
    assert isinstance(held, Struct), "the caller counted its elements"
    elements = [
        {**element, target.name: value}
        for element, value in zip(held.data.flat, values, strict=True)
    ]
    fields = tuple(dict.fromkeys((*held.fields, target.name)))
    frame.variables[base.name] = Struct(fields, objects(elements, shape_of(held)))


def into(
    interpreter: Interpreter,
    held: Value | None,
    steps: list[Step],
    value: Value | None,
    *,
    frame: Frame,
) -> Value:
    """``held`` with ``value`` stored where the steps lead; no value means deletion.

    Raises:
        MatlabError: an index is wrong, or sizes or classes do not go together.

    """
    if not steps:
        assert value is not None, "a deletion ends with an index"
        return value
    step, rest = steps[0], steps[1:]
    if isinstance(step, nodes.Index):
        shown = empty() if held is None else held
        subscripts = interpreter.arguments(step.arguments, frame, shown)
        frame.span = step.span
        return _into_elements(interpreter, held, subscripts, rest, value, frame=frame)
    if isinstance(step, nodes.CellIndex):
        shown = empty() if held is None else held
        subscripts = interpreter.arguments(step.arguments, frame, shown)
        frame.span = step.span
        return _into_cell(interpreter, held, subscripts, rest, value, frame=frame)
    name = field_name(interpreter, step, frame)
    frame.span = step.span
    return _into_field(interpreter, held, name, rest, value, frame=frame)


def _into_elements(
    interpreter: Interpreter,
    held: Value | None,
    subscripts: list[Subscript],
    rest: list[Step],
    value: Value | None,
    *,
    frame: Frame,
) -> Value:
    engine = interpreter.engine
    if isinstance(held, MapObject):
        key = map_key(interpreter, subscripts[0])
        held.items[key] = into(interpreter, held.items.get(key), rest, value, frame=frame)
        return held
    if rest:
        element = _element_or_none(interpreter, held, subscripts)
        part = into(interpreter, element, rest, value, frame=frame)
        return replace(engine, held, subscripts, part, exclusive=False)
    if value is not None:
        return replace(engine, held, subscripts, value, exclusive=False)
    if isinstance(held, Cell):
        return Cell(delete(engine, held.data, subscripts))
    if isinstance(held, Struct):
        return Struct(held.fields, delete(engine, held.data, subscripts))
    array = as_array(held) if held is not None else None
    if array is None:
        raise MatlabError("MATLAB:UndefinedFunction", "There is nothing to delete elements of.")
    return spread(engine, wrap(array.kind, delete(engine, array.data, subscripts)), array)


def _element_or_none(
    interpreter: Interpreter, held: Value | None, subscripts: list[Subscript]
) -> Value | None:
    """The element that a longer chain goes on from; None where it does not exist yet."""
    if held is None or (isinstance(held, Array) and count_of(held) == 0):
        return None
    try:
        if isinstance(held, Struct):
            return Struct(held.fields, read_elements(interpreter.engine, held.data, subscripts))
        if isinstance(held, Cell):
            return Cell(read_elements(interpreter.engine, held.data, subscripts))
    except MatlabError:  # outside: the element is made by the assignment
        return Struct(held.fields, _blank(held)) if isinstance(held, Struct) else None
    raise MatlabError(
        "MATLAB:structAssToNonStruct",
        f"Unable to perform assignment because dot indexing is not supported for variables of "
        f"this type ('{kind_of(held)}').",
    )


def _blank(held: Struct) -> np.ndarray:
    return objects([dict.fromkeys(held.fields, empty())], (1, 1))


def _into_cell(
    interpreter: Interpreter,
    held: Value | None,
    subscripts: list[Subscript],
    rest: list[Step],
    value: Value | None,
    *,
    frame: Frame,
) -> Value:
    if held is None or (not isinstance(held, Cell) and count_of(held) == 0):
        held = Cell(np.empty((0, 0), object))
    if not isinstance(held, Cell):
        raise MatlabError(
            "MATLAB:cellAssToNonCell",
            "Unable to perform assignment because brace indexing is not supported for variables "
            "of this type.",
        )
    if rest:
        inner: Value | None = None
        try:
            found = list(read_elements(interpreter.engine, held.data, subscripts).flat)
            inner = found[0] if len(found) == 1 else None
        except MatlabError:  # outside: the cell is made by the assignment
            inner = None
        value = into(interpreter, inner, rest, value, frame=frame)
    assert value is not None, "a deletion ends with an index in parentheses"
    return replace(
        interpreter.engine, held, subscripts, Cell(objects([value], (1, 1))), exclusive=False
    )


def _into_field(
    interpreter: Interpreter,
    held: Value | None,
    name: str,
    rest: list[Step],
    value: Value | None,
    *,
    frame: Frame,
) -> Value:
    if isinstance(held, ParserObject) and name in held.settings:
        held.settings[name] = into(interpreter, held.settings[name], rest, value, frame=frame)
        return held
    if held is None or (isinstance(held, Array) and count_of(held) == 0):
        held = struct({})
    if not isinstance(held, Struct):
        raise MatlabError(
            "MATLAB:structAssToNonStruct",
            "Unable to perform assignment because dot indexing is not supported for variables of "
            "this type.",
        )
    if shape_of(held) != (1, 1):
        raise MatlabError(
            "MATLAB:index:expected_one_output_from_expression",
            "Assigning to a field of a struct array needs an index to one element.",
        )
    element: dict[str, Any] = dict(held.data.item())
    element[name] = into(interpreter, element.get(name), rest, value, frame=frame)
    return Struct(tuple(element), objects([element], (1, 1)))

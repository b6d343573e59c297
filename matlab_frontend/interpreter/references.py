"""Reading ``f(x)``, ``c{k}``, ``s.name`` and chains of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from matlab_frontend import nodes
from matlab_frontend.errors import MatlabError
from matlab_frontend.indexing import read as read_elements
from matlab_frontend.interpreter import calls
from matlab_frontend.interpreter.frame import Frame
from matlab_frontend.interpreter.unparse import unparse
from matlab_frontend.residency import spread
from matlab_frontend.source import Source
from matlab_frontend.subscripts import Subscript, element_position
from matlab_frontend.values.array import (
    HANDLES,
    Array,
    Cell,
    ErrorObject,
    MapObject,
    ParserObject,
    Struct,
    Value,
    as_array,
    kind_of,
)
from matlab_frontend.values.make import cell_row, empty, struct, text, wrap
from matlab_frontend.values.read import text_of

if TYPE_CHECKING:
    from matlab_frontend.interpreter.interpreter import Interpreter

Step: TypeAlias = nodes.Index | nodes.CellIndex | nodes.Field | nodes.DynamicField
_METHODS: Mapping[type, tuple[str, ...]] = {
    MapObject: ("isKey", "keys", "values", "remove", "length", "numel"),
    ErrorObject: ("getReport", "throw", "rethrow"),
    ParserObject: (
        *("addRequired", "addOptional", "addParameter", "addParamValue", "addSwitch", "parse"),
    ),
}
_STEPS = (nodes.Index, nodes.CellIndex, nodes.Field, nodes.DynamicField)


def chain(node: nodes.Expression) -> tuple[nodes.Expression, list[Step]]:
    """What a chain of references starts from, and its steps in order."""
    steps: list[Step] = []
    while isinstance(node, _STEPS):
        steps.append(node)
        node = node.target
    steps.reverse()
    return node, steps


def read(
    interpreter: Interpreter, node: nodes.Expression, frame: Frame, outputs: int
) -> list[Value]:
    """All values of a chain of references; the last call gets ``outputs``.

    Raises:
        MatlabError: a name is unknown, an index is wrong, or a called function raised it.

    """
    base, steps = chain(node)
    if isinstance(base, nodes.Name):
        held = frame.variables.get(base.name)
        if held is None:
            values, steps = _call_base(interpreter, base, steps, frame, outputs)
        else:
            values = [held]
    else:
        values = [interpreter.value(base, frame)]
    at = 0
    while at < len(steps):
        step = steps[at]
        if len(values) != 1:
            frame.span = step.span
            raise MatlabError(
                "MATLAB:index:expected_one_output_from_intermediate",
                "Intermediate dot '.' indexing produced a comma-separated list with "
                f"{len(values)} values, but it must produce a single value when followed by "
                "subsequent indexing operations.",
            )
        method = _method(values[0], step)
        arguments = steps[at + 1] if method and at + 1 < len(steps) else None
        at += 2 if isinstance(arguments, nodes.Index) else 1
        wanted = outputs if at == len(steps) else 1
        if method is None:
            values = _step(interpreter, values[0], step, frame, wanted)
        else:
            given = arguments.arguments if isinstance(arguments, nodes.Index) else ()
            passed = [values[0], *interpreter.arguments(given, frame, None)]
            frame.span = step.span
            values = interpreter.call(text(method), passed, wanted)  # type: ignore[arg-type]  # no ':' among the arguments of a call
    return values


def _method(value: Value, step: Step) -> str | None:
    """The function that ``object.name`` calls, for the classes that have methods."""
    if not isinstance(step, nodes.Field):
        return None
    methods = _METHODS.get(type(value), ())
    return step.name if step.name in methods else None


def _call_base(
    interpreter: Interpreter,
    base: nodes.Name,
    steps: list[Step],
    frame: Frame,
    outputs: int,
) -> tuple[list[Value], list[Step]]:
    """Call the function that a name means, with the first step's arguments if it has some."""
    name = base.name
    while steps and isinstance(steps[0], nodes.Field):  # containers.Map, a name in a package
        longer = f"{name}.{steps[0].name}"
        if interpreter.find_function(longer, frame.scope) is None:
            break
        name, steps = longer, steps[1:]
    arguments: list[Subscript] = []
    span = base.span
    if steps and isinstance(steps[0], nodes.Index):
        first, steps = steps[0], steps[1:]
        if interpreter.find_function(name, frame.scope) is None:
            frame.span = base.span
            raise calls.undefined(name, frame)
        arguments = interpreter.arguments(first.arguments, frame, None)
        span = first.span
    frame.span = span
    wanted = outputs if not steps else 1
    return (
        calls.call_name(interpreter, name, arguments, wanted, None, frame=frame),  # type: ignore[arg-type]  # no ':' among the arguments of a call
        steps,
    )


def _step(
    interpreter: Interpreter, value: Value, step: Step, frame: Frame, outputs: int
) -> list[Value]:
    if isinstance(step, nodes.Index):
        if isinstance(value, HANDLES):
            arguments = interpreter.arguments(step.arguments, frame, None)
            frame.span = step.span
            return interpreter.call(value, arguments, outputs)  # type: ignore[arg-type]  # likewise
        subscripts = interpreter.arguments(step.arguments, frame, value)
        frame.span = step.span
        return [index(interpreter, value, subscripts)]
    if isinstance(step, nodes.CellIndex):
        subscripts = interpreter.arguments(step.arguments, frame, value)
        frame.span = step.span
        return contents(interpreter, value, subscripts)
    name = field_name(interpreter, step, frame)
    frame.span = step.span
    return field_values(value, name)


def field_name(
    interpreter: Interpreter, step: nodes.Field | nodes.DynamicField, frame: Frame
) -> str:
    """The field that ``.name`` or ``.(expression)`` means."""
    if isinstance(step, nodes.Field):
        return step.name
    return text_of(interpreter.value(step.name, frame), "A dynamic field name")


def index(interpreter: Interpreter, value: Value, subscripts: list[Subscript]) -> Value:
    """``value(subscripts)``.

    Raises:
        MatlabError: a subscript is wrong, or the value cannot be indexed.

    """
    if not subscripts:
        return value
    engine = interpreter.engine
    if isinstance(value, Cell):
        return Cell(read_elements(engine, value.data, subscripts))
    if isinstance(value, Struct):
        return Struct(value.fields, read_elements(engine, value.data, subscripts))
    if isinstance(value, MapObject):
        return look_up(interpreter, value, subscripts[0])
    array = as_array(value)
    if array is None:
        raise MatlabError(
            "MATLAB:UndefinedFunction",
            f"Indexing with parentheses '()' is not supported for {kind_of(value)}.",
        )
    if type(array.data) is np.ndarray:
        element = _element(array.data, subscripts)
        if element is not None:
            return spread(engine, element, array)
    return spread(engine, wrap(array.kind, read_elements(engine, array.data, subscripts)), array)


def _element(data: np.ndarray, subscripts: list[Subscript]) -> Value | None:
    """One element of known doubles at plain numbers; None where the general way must decide."""
    if data.dtype != np.float64 or data.ndim != 2:
        return None
    at = element_position(data, subscripts)
    return None if at is None else float(data[at])


def contents(interpreter: Interpreter, value: Value, subscripts: list[Subscript]) -> list[Value]:
    """``value{subscripts}``: what the cells hold, as a list.

    Raises:
        MatlabError: the value is no cell array, or a subscript is wrong.

    """
    if isinstance(value, Array) and value.kind == "string":
        made = read_elements(interpreter.engine, value.data, subscripts)
        return [text(item) for item in made.flat]
    if not isinstance(value, Cell):
        raise MatlabError(
            "MATLAB:cellRefFromNonCell",
            "Brace indexing is not supported for variables of this type.",
        )
    return list(read_elements(interpreter.engine, value.data, subscripts).flat)


def field_values(value: Value, name: str) -> list[Value]:
    """``value.name``, one value for each element of a struct array.

    Raises:
        MatlabError: there is no such field.

    """
    if isinstance(value, Struct):
        if name not in value.fields:
            raise MatlabError("MATLAB:nonExistentField", f'Unrecognized field name "{name}".')
        return [element[name] for element in value.data.flat]
    if isinstance(value, ErrorObject):
        known = {"identifier": text(value.identifier), "message": text(value.message)}
        if name == "stack":
            return [empty()]
        if name in known:
            return [known[name]]
    if isinstance(value, MapObject):
        properties: dict[str, Value] = {
            "Count": float(len(value.items)),
            "KeyType": text(value.key_kind),
            "ValueType": text("any"),
        }
        if name in properties:
            return [properties[name]]
    if isinstance(value, ParserObject):
        return [parser_property(value, name)]
    raise MatlabError(
        "MATLAB:structRefFromNonStruct",
        "Dot indexing is not supported for variables of this type.",
    )


def parser_property(value: ParserObject, name: str) -> Value:
    """A property of an ``inputParser``.

    Raises:
        MatlabError: it has no such property.

    """
    names = sorted((*value.required, *value.optional, *value.parameters))
    found: dict[str, Value] = {
        **value.settings,
        "Results": struct({key: value.results[key] for key in sorted(value.results)}),
        "Unmatched": struct(value.unmatched),
        "UsingDefaults": cell_row([text(key) for key in value.using_defaults]),
        "Parameters": cell_row([text(key) for key in names]),
    }
    if name not in found:
        raise MatlabError(
            "MATLAB:noSuchMethodOrField",
            f"Unrecognized method, property, or field '{name}' for class 'inputParser'.",
        )
    return found[name]


def look_up(interpreter: Interpreter, value: MapObject, key: Subscript) -> Value:
    """``map(key)``.

    Raises:
        MatlabError: the map has no such key.

    """
    return value.at(map_key(interpreter, key))


def map_key(interpreter: Interpreter, key: Subscript) -> str | float:
    """A key as Python holds it: a text or a number."""
    array = as_array(key)  # type: ignore[arg-type]  # ':' and ranges are no keys and have no array
    if array is not None and array.kind in ("char", "string"):
        return text_of(array)
    if array is None or array.data.size != 1:
        raise MatlabError("MATLAB:Containers:Map:BadKey", "A key must be a text or a number.")
    return float(interpreter.engine.look(array.data).item())


def anonymous_text(node: nodes.AnonymousFunction, source: Source) -> str:
    """How MATLAB shows an anonymous function: parameters without blanks, then the body."""
    return f"@({','.join(node.parameters)}){unparse(node.body)}" if source else ""

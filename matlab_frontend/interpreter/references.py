"""Reading ``f(x)``, ``c{k}``, ``s.name`` and chains of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from matlab_frontend import nodes
from matlab_frontend.builtins.registry import Builtin
from matlab_frontend.builtins.scalars import SCALARS
from matlab_frontend.errors import MatlabError, Place
from matlab_frontend.indexing import read as read_elements
from matlab_frontend.interpreter import calls
from matlab_frontend.interpreter.captures import mentions_end
from matlab_frontend.interpreter.frame import Frame, Scope
from matlab_frontend.interpreter.library import ClassFile
from matlab_frontend.interpreter.unparse import unparse
from matlab_frontend.residency import spread
from matlab_frontend.source import Source
from matlab_frontend.subscripts import Subscript, block_of, element_position, settled
from matlab_frontend.values.array import (
    HANDLES,
    Array,
    Cell,
    CleanupObject,
    ErrorObject,
    Extension,
    MapObject,
    ParserObject,
    Struct,
    Value,
    as_array,
    kind_of,
)
from matlab_frontend.values.make import cell, cell_row, empty, objects, struct, text, wrap
from matlab_frontend.values.read import text_of

if TYPE_CHECKING:
    from matlab_frontend.interpreter.evaluate import Arguments, Code, Codes
    from matlab_frontend.interpreter.interpreter import Interpreter
    from matlab_frontend.interpreter.library import Function

Step: TypeAlias = nodes.Index | nodes.CellIndex | nodes.Field | nodes.DynamicField
_METHODS: Mapping[type, tuple[str, ...]] = {
    MapObject: ("isKey", "keys", "values", "remove", "length", "numel"),
    ErrorObject: ("getReport", "throw", "rethrow", "addCause", "throwAsCaller"),
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


def compile_one(interpreter: Interpreter, node: nodes.Expression) -> Code:
    """Compile a reference for its one value."""
    read, span = compile_read(interpreter, node), node.span

    def general(frame: Frame) -> Value:
        made = read(frame, 1)
        if len(made) == 1:
            return made[0]
        frame.span = span
        raise _not_one(node, len(made))

    if isinstance(node, nodes.Name):
        if (node.name, 0) in SCALARS:
            return _constant_name(interpreter, node.name, general)
        return _variable(node.name, general)
    if isinstance(node, nodes.Index) and isinstance(node.target, nodes.Name):
        return _element_of_name(interpreter, node, node.target.name, general)
    if isinstance(node, nodes.Field):
        return _field_of(interpreter, node, general)
    return general


def _not_one(node: nodes.Expression, count: int) -> MatlabError:
    """The error of an expression that should have one value."""
    if count == 0 and isinstance(node, (nodes.Name, nodes.Index)):
        return MatlabError("MATLAB:maxlhs", "Too many output arguments.")
    return MatlabError(
        "MATLAB:index:expected_one_output_from_expression",
        "Expected one output from a curly brace or dot indexing expression, but there were "
        f"{count} results.",
    )


def _variable(name: str, general: Code) -> Code:
    def run(frame: Frame) -> Value:
        held = frame.variables.get(name)
        return general(frame) if held is None else held

    return run


def _constant_name(interpreter: Interpreter, name: str, general: Code) -> Code:
    """``pi``, ``true`` and their like, where no variable and no file have the name."""
    made = SCALARS[name, 0]()
    assert made is not None, "a constant has a value"
    known: Scope | None = None

    def run(frame: Frame) -> Value:
        nonlocal known
        held = frame.variables.get(name)
        if held is not None:
            return held
        if frame.scope is not known:
            if not isinstance(interpreter.find_function(name, frame.scope), Builtin):
                return general(frame)
            known = frame.scope
        return made

    return run


def _field_of(interpreter: Interpreter, node: nodes.Field, general: Code) -> Code:
    """``variable.name`` of a struct scalar."""
    if not isinstance(node.target, nodes.Name):
        return general
    del interpreter
    variable, name = node.target.name, node.name

    def run(frame: Frame) -> Value:
        held = frame.variables.get(variable)
        if type(held) is Struct and held.data.size == 1:
            found: Value | None = held.data.item().get(name)
            if found is not None:
                return found
        return general(frame)

    return run


def _element_of_name(interpreter: Interpreter, node: nodes.Index, name: str, general: Code) -> Code:
    """``variable(subscripts)`` of an array, plain numbers first; else a call or what there is."""
    if not node.arguments:
        return general
    single = not isinstance(
        node.arguments[0],
        (*_STEPS[1:], nodes.Colon, nodes.Range, nodes.NamedArgument),
    )
    if len(node.arguments) == 1 and single and not mentions_end(node.arguments[0]):
        return _element_at_number(interpreter, node, name, general)
    arguments, span = interpreter.compile_arguments(node.arguments), node.span

    def run(frame: Frame) -> Value:
        held = frame.variables.get(name)
        if type(held) is not Array:
            return general(frame)
        subscripts = arguments(frame, held)
        data = held.data
        if type(data) is np.ndarray and not held.on_device:
            made = element_of(held.kind, data, subscripts)
            if made is not None:
                return made
        frame.span = span
        return index(interpreter, held, subscripts)

    return run


def _element_at_number(
    interpreter: Interpreter, node: nodes.Index, name: str, general: Code
) -> Code:
    """``variable(i)``, known doubles and truth values first."""
    code, span = interpreter.compile_value(node.arguments[0]), node.span

    def run(frame: Frame) -> Value:
        held = frame.variables.get(name)
        if type(held) is not Array:
            return general(frame)
        at, data = code(frame), held.data
        if type(at) is float and type(data) is np.ndarray and 1.0 <= at <= data.size:
            place = int(at)
            if place == at and not held.on_device and data.dtype in _KNOWN:
                return data.item(place - 1)  # type: ignore[no-any-return]  # a float or a bool
        frame.span = span
        return index(interpreter, held, [at])

    return run


def element_of(kind: str, data: np.ndarray, subscripts: list[Subscript]) -> Value | None:
    """One element at plain numbers; None where the general way must decide."""
    first = subscripts[0]
    if type(first) is not float:
        return None
    if len(subscripts) == 1:
        if not 1.0 <= first <= data.size or not first.is_integer():
            return None
        if data.dtype in _KNOWN:
            return data.item(int(first) - 1)  # type: ignore[no-any-return]  # a float or a bool
    place = element_position(data, subscripts)
    if place is None:
        return None
    if data.dtype in _KNOWN:
        return data.item(place)  # type: ignore[no-any-return]  # a float or a bool
    return wrap(kind, np.full((1, 1), data[place], data.dtype))


_KNOWN = frozenset((np.dtype(np.float64), np.dtype(np.bool_)))
"""Dtypes whose elements are Python's floats and bools."""


class _Step(NamedTuple):
    """A step of a chain: its node, and its arguments or its field's name, compiled."""

    node: Step
    arguments: Arguments | None
    name: Callable[[Frame], str]


def compile_read(interpreter: Interpreter, node: nodes.Expression) -> Codes:
    """Compile a chain of references for all its values; the last call gets the outputs."""
    base, chained = chain(node)
    steps = [_compile_step(interpreter, step) for step in chained]
    if isinstance(base, nodes.Name):
        call_base = _compile_call(interpreter, base, steps)
        name = base.name

        def run_name(frame: Frame, outputs: int) -> list[Value]:
            held = frame.variables.get(name)
            if held is None:
                values, done = call_base(frame, outputs)
                return _follow(interpreter, values, steps[done:], frame, outputs)
            return _follow(interpreter, [held], steps, frame, outputs)

        return run_name
    base_code = interpreter.compile_value(base)
    return lambda frame, outputs: _follow(interpreter, [base_code(frame)], steps, frame, outputs)


def _compile_step(interpreter: Interpreter, step: Step) -> _Step:
    arguments = None
    if isinstance(step, (nodes.Index, nodes.CellIndex)):
        arguments = interpreter.compile_arguments(step.arguments)
    return _Step(step, arguments, compile_field_name(interpreter, step))


def _follow(
    interpreter: Interpreter, values: list[Value], steps: list[_Step], frame: Frame, outputs: int
) -> list[Value]:
    """Take the steps of a chain from some values on.

    Raises:
        MatlabError: an index is wrong, or a called function raised it.

    """
    at = 0
    while at < len(steps):
        step = steps[at]
        if len(values) != 1:
            frame.span = step.node.span
            raise MatlabError(
                "MATLAB:index:expected_one_output_from_intermediate",
                "Intermediate dot '.' indexing produced a comma-separated list with "
                f"{len(values)} values, but it must produce a single value when followed by "
                "subsequent indexing operations.",
            )
        method = _method(values[0], step, frame)
        following = steps[at + 1] if method and at + 1 < len(steps) else None
        at += 2 if following is not None and isinstance(following.node, nodes.Index) else 1
        wanted = outputs if at == len(steps) else 1
        if method is None:
            values = _step(interpreter, values[0], step, frame, wanted)
        else:
            passed = [values[0]]
            if following is not None and isinstance(following.node, nodes.Index):
                passed += following.arguments(frame, None)  # type: ignore[arg-type, misc]  # no ':' among the arguments of a call
            frame.span = step.node.span
            values = interpreter.call(text(method), passed, wanted)
    return values


def _method(value: Value, step: _Step, frame: Frame) -> str | None:
    """The function that ``object.name`` calls, for the classes that have methods."""
    methods = _METHODS.get(type(value), ())
    if step.arguments is not None or not (methods or isinstance(value, Extension)):
        return None
    name = step.name(frame)
    if isinstance(value, Extension):
        return name if value.overload(name) is not None else None
    return name if name in methods else None


def _compile_call(
    interpreter: Interpreter, base: nodes.Name, steps: list[_Step]
) -> Callable[[Frame, int], tuple[list[Value], int]]:
    """Compile the call of the function that a name means.

    Gives its values, and how many steps of the chain the name and its arguments took. The function
    is looked for once in a file, not at each call.
    """
    known: tuple[Scope | None, int, Function | None, int] = (None, 0, None, 0)
    path = interpreter.session.path

    def run(frame: Frame, outputs: int) -> tuple[list[Value], int]:
        nonlocal known
        if known[0] is not frame.scope or known[1] != path.version:
            scope = frame.scope
            known = (scope, path.version, *_find(interpreter, base.name, steps, scope))
        _, _, found, at = known
        frame.span = base.span
        if found is None and not _may_be_method(interpreter, steps):
            raise calls.undefined(base.name, frame)
        if isinstance(found, ClassFile) and at < len(steps):
            member = steps[at].node
            if isinstance(member, nodes.Field):
                return [interpreter.class_of(found).member(member.name)], at + 1
        given: list[Value] = []
        if at < len(steps) and isinstance(steps[at].node, nodes.Index):
            step = steps[at]
            given = step.arguments(frame, None)  # type: ignore[assignment, misc]  # no ':' among the arguments of a call
            frame.span = step.node.span
            at += 1
        wanted = outputs if at == len(steps) else 1
        if not isinstance(found, Builtin):  # which ask the classes of their arguments themselves
            made = _dispatched(interpreter, base.name, found, given, wanted, frame=frame)
            if made is not None:
                return made, at
        if found is None:
            frame.span = base.span
            raise calls.undefined(base.name, frame)
        return calls.call_found(interpreter, found, given, wanted, frame), at

    return run


def _may_be_method(interpreter: Interpreter, steps: list[_Step]) -> bool:
    """True if a name that is no function may be a method of one of its arguments."""
    is_call = bool(steps) and isinstance(steps[0].node, nodes.Index)
    return is_call and interpreter.library.has_classes()


def _dispatched(
    interpreter: Interpreter,
    name: str,
    found: Function | None,
    given: list[Value],
    outputs: int,
    *,
    frame: Frame,
) -> list[Value] | None:
    """The values of a method of an argument's class, which precedes functions of other files."""
    if "@" in name:
        from matlab_frontend.interpreter.classes import call_superclass  # noqa: PLC0415  (few programs)

        return call_superclass(interpreter, name, given, outputs, frame)
    if isinstance(found, tuple) and found[1] is frame.scope:
        return None
    method = calls.overloaded(name, given)
    if method is None:
        return None
    return calls.call_overloaded(interpreter, method, given, outputs, frame)


def _find(
    interpreter: Interpreter, name: str, steps: list[_Step], scope: Scope
) -> tuple[Function | None, int]:
    """The function of a name, or of a name in a package, which takes steps of the chain."""
    found, at = interpreter.find_function(name, scope), 0
    taken = 0
    while taken < len(steps) and isinstance(field := steps[taken].node, nodes.Field):
        name = f"{name}.{field.name}"
        longer = interpreter.find_function(name, scope)
        taken += 1
        if longer is not None:
            found, at = longer, taken
        elif not interpreter.library.is_package(name):
            break
    return found, at


def _step(
    interpreter: Interpreter, value: Value, step: _Step, frame: Frame, outputs: int
) -> list[Value]:
    if step.arguments is None:
        name = step.name(frame)
        frame.span = step.node.span
        if isinstance(value, Extension):
            return [value.field(interpreter.engine, name)]
        return field_values(value, name)
    if isinstance(step.node, nodes.CellIndex):
        subscripts = step.arguments(frame, value)
        frame.span = step.node.span
        return contents(interpreter, value, subscripts)
    if isinstance(value, HANDLES):
        arguments = step.arguments(frame, None)
        frame.span = step.node.span
        return interpreter.call(value, arguments, outputs)  # type: ignore[arg-type]  # no ':' among the arguments of a call
    subscripts = step.arguments(frame, value)
    frame.span = step.node.span
    return [index(interpreter, value, subscripts)]


def compile_field_name(interpreter: Interpreter, step: Step) -> Callable[[Frame], str]:
    """Compile the field that ``.name`` or ``.(expression)`` means."""
    if isinstance(step, nodes.DynamicField):
        code = interpreter.compile_value(step.name)
        return lambda frame: text_of(code(frame), "A dynamic field name")
    name = step.name if isinstance(step, nodes.Field) else ""
    return lambda _: name


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
    if isinstance(value, Extension):
        return value.index(engine, subscripts)
    array = as_array(value)
    if array is None:
        raise MatlabError(
            "MATLAB:UndefinedFunction",
            f"Indexing with parentheses '()' is not supported for {kind_of(value)}.",
        )
    data = array.data
    if not array.on_device:
        data = settled(engine, array, subscripts)
        if type(data) is np.ndarray:
            made = element_of(array.kind, data, subscripts)
            if made is not None:
                return made
            block = block_of(data, subscripts)
            if block is not None:
                return wrap(array.kind, engine.take(data, block))
    return spread(engine, wrap(array.kind, read_elements(engine, data, subscripts)), array)


def contents(interpreter: Interpreter, value: Value, subscripts: list[Subscript]) -> list[Value]:
    """``value{subscripts}``: what the cells hold, as a list.

    Raises:
        MatlabError: the value is no cell array, or a subscript is wrong.

    """
    if type(value) is Cell and value.data.ndim == 2:
        at = element_position(value.data, subscripts)
        if at is not None:
            return [value.data[at]]
    if isinstance(value, Array) and value.kind == "string":
        made = read_elements(interpreter.engine, value.data, subscripts)
        return [text(item) for item in made.flat]
    if isinstance(value, Extension):
        return value.contents(interpreter.engine, subscripts)
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
        return [_of_error(value, name)]
    if isinstance(value, CleanupObject) and name == "task":
        return [value.task]
    if isinstance(value, MapObject):
        properties: dict[str, Value] = {
            "Count": Array("uint64", np.full((1, 1), len(value.items), np.uint64)),
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


def _of_error(value: ErrorObject, name: str) -> Value:
    """A property of an ``MException``.

    Raises:
        MatlabError: it has no such property.

    """
    if name == "stack":
        return stack_value(value.stack)
    known: dict[str, Value] = {
        "identifier": text(value.identifier),
        "message": text(value.message),
        "cause": cell(value.causes, (len(value.causes), 1) if value.causes else (0, 0)),
        "Correction": empty(),
    }
    if name not in known:
        message = f"Unrecognized method, property, or field '{name}' for class 'MException'."
        raise MatlabError("MATLAB:noSuchMethodOrField", message)
    return known[name]


def stack_value(stack: tuple[Place, ...]) -> Value:
    """A stack as a column of structs."""
    elements = [
        {"file": text(place.file), "name": text(place.name), "line": float(place.line)}
        for place in stack
    ]
    return Struct(("file", "name", "line"), objects(elements, (len(elements), 1)))


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

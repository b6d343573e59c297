"""``arguments`` blocks: what a function declares of its inputs and outputs, and how it is kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from matlab_frontend import nodes
from matlab_frontend.errors import MatlabError
from matlab_frontend.interpreter.frame import Frame
from matlab_frontend.matrices import transpose
from matlab_frontend.values.array import Struct, Value, as_array, count_of, kind_of, shape_of
from matlab_frontend.values.kinds import NUMERIC_KINDS
from matlab_frontend.values.make import cell_row, struct, text, wrap
from matlab_frontend.values.read import integer_of, is_text, text_of
from runmat_jit.core.slotted import slotted

if TYPE_CHECKING:
    from matlab_frontend.interpreter.interpreter import Interpreter

_FROM_NUMBERS = (*NUMERIC_KINDS, "logical", "char", "string")
_CONVERTED = {
    **dict.fromkeys((*NUMERIC_KINDS, "logical"), (*NUMERIC_KINDS, "logical", "char")),
    "char": (*NUMERIC_KINDS, "string"),
    "string": _FROM_NUMBERS,
}
"""For a declared class the classes whose values are converted to it."""


@slotted
class _Declared:
    """The inputs of a function: by place, repeating, and by name within structs."""

    places: list[nodes.ArgumentDeclaration]
    repeating: list[nodes.ArgumentDeclaration]
    named: dict[str, nodes.ArgumentDeclaration]

    @property
    def required(self) -> int:
        """Number of inputs that must be given."""
        return sum(declaration.default is None for declaration in self.places)


def _declared(function: nodes.Function) -> _Declared:
    made = _Declared([], [], {})
    for block in function.arguments:
        if "Output" in block.attributes:
            continue
        for declaration in block.declarations:
            if "." in declaration.name:
                made.named[declaration.name.partition(".")[2]] = declaration
            elif "Repeating" in block.attributes:
                made.repeating.append(declaration)
            else:
                made.places.append(declaration)
    return made


def bind_declared(
    interpreter: Interpreter,
    function: nodes.Function,
    arguments: Sequence[Value],
    frame: Frame,
) -> None:
    """Put arguments into the variables of a call as its declarations say.

    Raises:
        MatlabError: an argument is missing, too many, or not what its declaration wants.

    """
    declared, left = _declared(function), list(arguments)
    taken = _by_place(declared, left)
    for at, declaration in enumerate(declared.places):
        frame.span = declaration.span
        if at < len(taken):
            _store(interpreter, declaration, taken[at], frame, f"argument at position {at + 1}")
        elif declaration.default is not None:
            made = interpreter.compile_value(declaration.default)(frame)
            _store(interpreter, declaration, made, frame, f"default value of '{declaration.name}'")
    if declared.repeating:
        _bind_repeating(interpreter, declared, left, frame, first=len(taken))
    frame.inputs = len(arguments) - len(left)
    _bind_named(interpreter, declared, left, frame)


def _by_place(declared: _Declared, left: list[Value]) -> list[Value]:
    """Take the arguments that stand in their places off the front."""
    if len(left) < declared.required:
        missing = declared.required - len(left)
        message = f"Invalid argument list. Function requires {missing} more input(s)."
        raise MatlabError("MATLAB:minrhs", message)
    taken: list[Value] = []
    while left and len(taken) < len(declared.places):
        begins_names = _is_name(declared, left[0]) and len(left) % 2 == 0
        if begins_names and len(taken) >= declared.required:
            break
        taken.append(left.pop(0))
    return taken


def _is_name(declared: _Declared, value: Value) -> bool:
    return is_text(value) and text_of(value) in declared.named


def _bind_repeating(
    interpreter: Interpreter, declared: _Declared, left: list[Value], frame: Frame, *, first: int
) -> None:
    """Put groups of repeating arguments into cell arrays."""
    group = declared.repeating
    columns: list[list[Value]] = [[] for _ in group]
    while left and not _is_name(declared, left[0]):
        if len(left) < len(group):
            message = f"Invalid argument list. Arguments repeat in groups of {len(group)}."
            raise MatlabError("MATLAB:minrhs", message)
        for column, declaration in zip(columns, group, strict=True):
            frame.span = declaration.span
            first += 1
            where = f"argument at position {first}"
            column.append(valid(interpreter, declaration, left.pop(0), frame, where))
    for column, declaration in zip(columns, group, strict=True):
        frame.variables[declaration.name] = cell_row(column)


def _bind_named(
    interpreter: Interpreter, declared: _Declared, left: list[Value], frame: Frame
) -> None:
    """Put names and values into the structs that hold them, and defaults of what is not given."""
    if left and not (declared.named and is_text(left[0])):
        raise MatlabError("MATLAB:TooManyInputs", "Too many input arguments.")
    given: dict[str, Value] = {}
    for at in range(0, len(left), 2):
        name = text_of(left[at]) if is_text(left[at]) else ""
        found = _match(declared, name)
        if found is None or at + 1 == len(left):
            problem = "has no value" if found else "is not recognized"
            message = f"Invalid argument list. Name-value argument '{name}' {problem}."
            raise MatlabError("MATLAB:TooManyInputs", message)
        given[found] = left[at + 1]
    for declaration in declared.named.values():
        holder = declaration.name.partition(".")[0]
        if holder not in frame.variables:
            frame.variables[holder] = struct({})
    for name, declaration in declared.named.items():
        frame.span = declaration.span
        if name in given:
            _store(interpreter, declaration, given[name], frame, f"name-value argument '{name}'")
        elif declaration.default is not None:
            made = interpreter.compile_value(declaration.default)(frame)
            _store(interpreter, declaration, made, frame, f"default value of '{name}'")


def _match(declared: _Declared, name: str) -> str | None:
    """The declared name that a name means: itself, or the only one that begins with it."""
    if name in declared.named:
        return name
    begun = [key for key in declared.named if name and key.lower().startswith(name.lower())]
    return begun[0] if len(begun) == 1 else None


def _store(
    interpreter: Interpreter,
    declaration: nodes.ArgumentDeclaration,
    value: Value,
    frame: Frame,
    where: str,
) -> None:
    made = valid(interpreter, declaration, value, frame, where)
    holder, dot, name = declaration.name.partition(".")
    if not dot:
        frame.variables[holder] = made
        return
    held = frame.variables[holder]
    assert isinstance(held, Struct), "made before its fields"
    frame.variables[holder] = struct({**held.data.item(), name: made})


def valid(
    interpreter: Interpreter,
    declaration: nodes.ArgumentDeclaration,
    value: Value,
    frame: Frame,
    where: str,
) -> Value:
    """A value in its declared class and size, which its validators accept.

    Raises:
        MatlabError: it is not such a value; the message says which argument it is.

    """
    try:
        if declaration.class_name is not None:
            value = _in_class(interpreter, value, declaration.class_name)
        if declaration.dimensions:
            value = _in_size(interpreter, value, declaration.dimensions, frame)
        for validator in declaration.validators:
            _validate(interpreter, validator, declaration.name, value, frame)
    except MatlabError as error:
        message = f"Invalid {where}. {error.message}"
        raise MatlabError(error.identifier, message) from error
    return value


def _in_class(interpreter: Interpreter, value: Value, wanted: str) -> Value:
    """A value of a class, converted where its class allows it."""
    kind = kind_of(value)
    if kind == wanted or interpreter.is_a(value, wanted):
        return value
    if kind in _CONVERTED.get(wanted, ()):
        return interpreter.call_one(text(wanted), value)
    message = f"Value must be of type {wanted} or be convertible to {wanted}."
    raise MatlabError("MATLAB:validation:UnableToConvert", message)


def _in_size(
    interpreter: Interpreter, value: Value, dimensions: Sequence[nodes.Expression], frame: Frame
) -> Value:
    """A value of a declared size: scalars fill it, and vectors are turned as it says."""
    engine = interpreter.engine
    wanted = [
        None
        if isinstance(node, nodes.Colon)
        else integer_of(engine, interpreter.compile_value(node)(frame))
        for node in dimensions
    ]
    shape = shape_of(value)
    padded = (*shape, *[1] * (len(wanted) - len(shape)))
    if len(padded) == len(wanted) and all(
        extent in (None, own) for extent, own in zip(wanted, padded, strict=True)
    ):
        return value
    array = as_array(value)
    if array is not None and len(wanted) == len(shape) == 2 and 1 in wanted and 1 in shape:
        turned = all(x in (None, own) for x, own in zip(wanted, shape[::-1], strict=True))
        if turned:
            return transpose(engine, value, conjugate=False)
    if count_of(value) == 1 and None not in wanted and array is not None:
        data = engine.look(array.data)
        return wrap(array.kind, data.ravel()[[0] * _product(wanted)].reshape(wanted[::-1]))
    raise MatlabError("MATLAB:validation:IncompatibleSize", _size_message(wanted))


def _product(extents: Sequence[int | None]) -> int:
    made = 1
    for extent in extents:
        made *= extent or 0
    return made


def _size_message(wanted: Sequence[int | None]) -> str:
    if all(extent == 1 for extent in wanted):
        return "Value must be a scalar."
    if list(wanted) == [1, None]:
        return "Value must be a row vector."
    if list(wanted) == [None, 1]:
        return "Value must be a column vector."
    shown = "-by-".join(":" if extent is None else str(extent) for extent in wanted)
    return f"Value must have dimensions {shown}."


def _validate(
    interpreter: Interpreter, validator: nodes.Expression, name: str, value: Value, frame: Frame
) -> None:
    """Call a validation function with a value, or with the arguments that are written."""
    if isinstance(validator, nodes.Name):
        interpreter.call(text(validator.name), (value,), 0)
        return
    holder, dot, field = name.partition(".")
    before = frame.variables.get(holder)
    if dot:
        assert isinstance(before, Struct), "made before its fields"
        frame.variables[holder] = struct({**before.data.item(), field: value})
    else:
        frame.variables[holder] = value
    interpreter.compile_values(validator)(frame, 0)


def check_outputs(interpreter: Interpreter, function: nodes.Function, frame: Frame) -> None:
    """Keep what a function declares of its outputs.

    Raises:
        MatlabError: an output is not what its declaration wants.

    """
    for block in function.arguments:
        if "Output" not in block.attributes or "Repeating" in block.attributes:
            continue
        for declaration in block.declarations:
            value = frame.variables.get(declaration.name)
            if value is not None:
                where = f"output argument '{declaration.name}'"
                _store(interpreter, declaration, value, frame, where)

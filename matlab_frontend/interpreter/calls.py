"""Calls of functions: those of files, builtins, and handles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from matlab_frontend import nodes
from matlab_frontend.builtins.registry import Builtin, Call
from matlab_frontend.builtins.sizes import trimmed
from matlab_frontend.errors import MatlabError, underlined
from matlab_frontend.interpreter.frame import Frame, Scope
from matlab_frontend.residency import spread_call
from matlab_frontend.values.array import (
    AnonymousHandle,
    Array,
    Cell,
    NamedHandle,
    Struct,
    Value,
    kind_of,
    shape_of,
)
from matlab_frontend.values.make import cell_row
from matlab_frontend.values.read import text_of

if TYPE_CHECKING:
    from matlab_frontend.engine import Engine
    from matlab_frontend.interpreter.interpreter import Interpreter

RECURSION_LIMIT = 500
"""Calls within calls, as MATLAB limits them."""


def call_value(
    interpreter: Interpreter, function: Value, arguments: Sequence[Value], outputs: int
) -> list[Value]:
    """Call a handle, or a function by name.

    Raises:
        MatlabError: there is no such function, or it raised the error.

    """
    if isinstance(function, AnonymousHandle):
        return call_anonymous(interpreter, function, arguments, outputs)
    if isinstance(function, NamedHandle):
        return call_name(interpreter, function.name, arguments, outputs, function.scope)
    if isinstance(function, Array) and function.kind in ("char", "string"):
        return call_name(interpreter, text_of(function), arguments, outputs, None)
    raise MatlabError(
        "MATLAB:invalidFunction", f"A value of type '{kind_of(function)}' cannot be called."
    )


def call_name(
    interpreter: Interpreter,
    name: str,
    arguments: Sequence[Value],
    outputs: int,
    scope: Scope | None,
    *,
    frame: Frame | None = None,
) -> list[Value]:
    """Call a function by its name, as the code of a file sees it.

    Raises:
        MatlabError: ``MATLAB:UndefinedFunction`` where there is none.

    """
    seen = scope or (frame.scope if frame else interpreter.base)
    found = interpreter.find_function(name, seen)
    if found is None:
        raise undefined(name, frame)
    if isinstance(found, Builtin):
        return call_builtin(interpreter, found, arguments, outputs, frame)
    return call_function(interpreter, *found, arguments, outputs)


def undefined(name: str, frame: Frame | None = None) -> MatlabError:
    """The error of a name that is neither a variable nor a function."""
    if frame is not None and name in frame.missing:
        return MatlabError("MATLAB:minrhs", "Not enough input arguments.")
    return MatlabError("MATLAB:UndefinedFunction", f"Unrecognized function or variable '{name}'.")


def call_builtin(
    interpreter: Interpreter,
    builtin: Builtin,
    arguments: Sequence[Value],
    outputs: int,
    frame: Frame | None,
) -> list[Value]:
    """Call a builtin; it checks the number of its arguments.

    Raises:
        MatlabError: too few or too many arguments, or what the builtin raises.

    """
    count = len(arguments)
    if count < builtin.least:
        raise MatlabError("MATLAB:minrhs", "Not enough input arguments.")
    if builtin.most is not None and count > builtin.most:
        raise MatlabError("MATLAB:maxrhs", "Too many input arguments.")
    try:
        made = builtin.function(Call(interpreter, frame, outputs), *arguments)
    except (ValueError, TypeError, OverflowError, IndexError) as error:
        # NumPy refused the arguments: builtins leave such checks to it.
        raise MatlabError(f"MATLAB:{builtin.name}:invalidInput", f"{error}") from error
    if made is None:
        return []
    given = list(made[: max(outputs, 1)]) if isinstance(made, tuple) else [made]
    given = [_without_last_ones(interpreter.engine, value) for value in given]
    return spread_call(interpreter.engine, builtin.name, arguments, given)


def _without_last_ones(engine: Engine, value: Value) -> Value:
    """A value whose size does not end in ones beyond the second dimension."""
    if not isinstance(value, (Array, Cell, Struct)) or value.data.ndim <= 2:
        return value
    shape = trimmed(shape_of(value))[::-1]
    if shape == tuple(value.data.shape):
        return value
    return replace(value, data=engine.reshape(value.data, shape))


def call_function(
    interpreter: Interpreter,
    function: nodes.Function,
    scope: Scope,
    arguments: Sequence[Value],
    outputs: int,
) -> list[Value]:
    """Run a function of a file.

    Raises:
        MatlabError: too many arguments, an output was not assigned, or what the body raises.

    """
    session = interpreter.session
    if session.depth >= RECURSION_LIMIT:
        raise MatlabError(
            "MATLAB:recursionLimit",
            f"Maximum recursion limit of {RECURSION_LIMIT} reached.",
        )
    if outputs > len(function.outputs) and function.outputs[-1:] != ("varargout",):
        raise MatlabError("MATLAB:TooManyOutputs", "Too many output arguments.")
    if function.nested:
        scope = Scope(
            scope.source,
            {**scope.functions, **{inner.name: inner for inner in function.nested}},
            scope.persistent,
        )
    frame = Frame(scope, function.name, inputs=len(arguments), outputs=outputs)
    frame.body, frame.results = function.body, frozenset(function.outputs)
    bind_inputs(function, arguments, frame)
    session.depth += 1
    caller, interpreter.frame = interpreter.frame, frame
    try:
        interpreter.block(function.body, frame)
    finally:
        interpreter.frame = caller
        session.depth -= 1
        for name in frame.kept & frame.variables.keys():
            scope.persistent[function.name, name] = frame.variables[name]
    return collect_outputs(function, frame, outputs)


def bind_inputs(function: nodes.Function, arguments: Sequence[Value], frame: Frame) -> None:
    """Put arguments into the variables of a call; ``varargin`` takes what is left."""
    names = function.inputs
    variadic = bool(names) and names[-1] == "varargin"
    plain = names[:-1] if variadic else names
    if len(arguments) > len(plain) and not variadic:
        raise MatlabError("MATLAB:TooManyInputs", "Too many input arguments.")
    for name, value in zip(plain, arguments, strict=False):
        if name != nodes.IGNORED:
            frame.variables[name] = value
    frame.missing = frozenset(plain[len(arguments) :])
    if variadic:
        frame.variables["varargin"] = cell_row(list(arguments[len(plain) :]))


def collect_outputs(function: nodes.Function, frame: Frame, outputs: int) -> list[Value]:
    """The values of a call's outputs: as many as asked for, or the first if it was assigned."""
    names = function.outputs
    variadic = bool(names) and names[-1] == "varargout"
    plain = names[:-1] if variadic else names
    made: list[Value] = []
    for name in plain[: max(outputs, 1)]:
        value = frame.variables.get(name)
        if value is None:
            if len(made) >= outputs:
                break
            raise MatlabError(
                "MATLAB:unassignedOutputs",
                f'Output argument "{name}" (and possibly others) not assigned a value in the '
                f'execution with "{function.name}" function.',
            )
        made.append(value)
    if variadic and len(made) < max(outputs, 1):
        rest = frame.variables.get("varargout")
        if isinstance(rest, Cell):
            made += list(rest.data.flat)[: max(outputs, 1) - len(made)]
    return made


def call_anonymous(
    interpreter: Interpreter, function: AnonymousHandle, arguments: Sequence[Value], outputs: int
) -> list[Value]:
    """Evaluate the body of ``@(x) ...``.

    Raises:
        MatlabError: too many arguments, or what the body raises.

    """
    frame = Frame(function.scope, "", dict(function.captured), len(arguments), outputs)
    names = function.parameters
    if names and names[-1] == "varargin":
        frame.variables["varargin"] = cell_row(list(arguments[len(names) - 1 :]))
        names = names[:-1]
    elif len(arguments) > len(names):
        raise MatlabError("MATLAB:TooManyInputs", "Too many input arguments.")
    for name, value in zip(names, arguments, strict=False):
        frame.variables[name] = value
    session = interpreter.session
    if session.depth >= RECURSION_LIMIT:
        raise MatlabError(
            "MATLAB:recursionLimit", f"Maximum recursion limit of {RECURSION_LIMIT} reached."
        )
    session.depth += 1
    caller, interpreter.frame = interpreter.frame, frame
    try:
        return interpreter.values(function.body, frame, outputs)
    except MatlabError as error:
        locate(error, frame)
        raise
    finally:
        interpreter.frame = caller
        session.depth -= 1


def locate(error: Exception, frame: Frame) -> None:
    """Note the innermost line that an error came from; later calls leave it."""
    if frame.span is None or getattr(error, "__notes__", None):
        return
    source = frame.scope.source
    at = source.position(frame.span.start)
    name = f" in {frame.name}" if frame.name else ""
    error.add_note(f"{source.name}:{at.line}:{at.column}{name}\n{underlined(source, frame.span)}")

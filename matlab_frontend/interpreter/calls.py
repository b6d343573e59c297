"""Calls of functions: those of files, builtins, and handles."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePath
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from matlab_frontend import nodes
from matlab_frontend.builtins.registry import Builtin, Call
from matlab_frontend.builtins.scalars import SCALARS
from matlab_frontend.builtins.sizes import trimmed
from matlab_frontend.errors import MatlabError, Place, underlined
from matlab_frontend.interpreter import nesting
from matlab_frontend.interpreter.frame import Frame, Scope
from matlab_frontend.interpreter.library import ClassFile, Function, Script
from matlab_frontend.residency import spread_call
from matlab_frontend.source import Span
from matlab_frontend.values.array import (
    AnonymousHandle,
    Array,
    Cell,
    ErrorObject,
    Extension,
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
    from matlab_frontend.interpreter.execute import Run
    from matlab_frontend.interpreter.interpreter import Interpreter
    from matlab_frontend.session import Session

NOTHING: Mapping[str, Value] = MappingProxyType({})
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
    method = overloaded(name, arguments)
    if method is not None:
        return call_overloaded(interpreter, method, arguments, outputs, frame)
    seen = scope or (frame.scope if frame else interpreter.base)
    found = interpreter.find_function(name, seen)
    if found is None:
        raise undefined(name, frame)
    return call_found(interpreter, found, arguments, outputs, frame)


def call_found(
    interpreter: Interpreter,
    found: Function,
    arguments: Sequence[Value],
    outputs: int,
    frame: Frame | None,
) -> list[Value]:
    """Call a builtin, or a function of a file."""
    if isinstance(found, Builtin):
        scalar = SCALARS.get((found.name, len(arguments)))
        if scalar is not None and outputs <= 1 and _are_floats(arguments):
            known = scalar(*arguments)
            if known is not None:
                return [known]
        return call_builtin(interpreter, found, arguments, outputs, frame)
    if isinstance(found, Script):
        return run_script(interpreter, found, arguments, outputs, frame)
    if isinstance(found, ClassFile):
        return [interpreter.class_of(found).construct(arguments)]
    if outputs <= 1 and _are_numbers(arguments):
        number = interpreter.scalar_functions.call(*found, arguments)
        if number is not None:
            return [number]
    return call_function(interpreter, *found, arguments, outputs)


def run_script(
    interpreter: Interpreter,
    script: Script,
    arguments: Sequence[Value],
    outputs: int,
    frame: Frame | None,
) -> list[Value]:
    """Run the statements of a script among the variables of its caller.

    Raises:
        MatlabError: it was given arguments or asked for outputs, or what its statements raise.

    """
    if arguments or outputs:
        name = PurePath(script.scope.source.name).stem
        message = f"Attempt to execute SCRIPT {name} as a function."
        raise MatlabError("MATLAB:scriptNotAFunction", message)
    frame = frame or interpreter.frame
    assert frame is not None, "a script is called by something that runs"
    session = interpreter.session
    check_depth(session)
    outer, frame.scope = (frame.scope, frame.span), script.scope
    session.depth += 1
    try:
        interpreter.script_of(script.program)(frame)
    finally:
        session.depth -= 1
        frame.scope, frame.span = outer
    return []


def check_depth(session: Session) -> None:
    """Refuse calls within too many calls.

    Raises:
        MatlabError: ``MATLAB:recursionLimit``.

    """
    if session.depth >= RECURSION_LIMIT:
        raise MatlabError(
            "MATLAB:recursionLimit",
            f"Maximum recursion limit of {RECURSION_LIMIT} reached.",
        )


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
    function = overloaded(builtin.name, arguments)
    if function is None:
        function = builtin.function
        count = len(arguments)
        if count < builtin.least:
            raise MatlabError("MATLAB:minrhs", "Not enough input arguments.")
        if builtin.most is not None and count > builtin.most:
            raise MatlabError("MATLAB:maxrhs", "Too many input arguments.")
    try:
        made = function(Call(interpreter, frame, outputs), *arguments)
    except np.exceptions.ComplexWarning as error:
        raise MatlabError(
            f"MATLAB:{builtin.name}:complex",
            f"{builtin.name} does not support complex numbers here.",
        ) from error
    except (ValueError, TypeError, OverflowError, IndexError) as error:
        # NumPy refused the arguments: builtins leave such checks to it.
        raise MatlabError(f"MATLAB:{builtin.name}:invalidInput", f"{error}") from error
    if made is None:
        return []
    if type(made) is float or type(made) is bool:
        given: list[Value] = [made]
    else:
        given = list(made[: max(outputs, 1)]) if isinstance(made, tuple) else [made]
        given = [_without_last_ones(interpreter.engine, value) for value in given]
    if _are_floats(arguments):  # no gpuArray, and no text that asks for one
        return given
    return spread_call(interpreter.engine, builtin.name, arguments, given)


def overloaded(name: str, arguments: Sequence[Value]) -> Callable[..., Any] | None:
    """What a function does by the class of the first argument that has functions of its own."""
    for argument in arguments:
        if isinstance(argument, Extension):
            return argument.overload(name)
    return None


def call_overloaded(
    interpreter: Interpreter,
    function: Callable[..., Any],
    arguments: Sequence[Value],
    outputs: int,
    frame: Frame | None,
) -> list[Value]:
    """Call what a class does for a function."""
    made = function(Call(interpreter, frame, outputs), *arguments)
    if made is None:
        return []
    return list(made[: max(outputs, 1)]) if isinstance(made, tuple) else [made]


def _are_floats(arguments: Sequence[Value]) -> bool:
    for argument in arguments:  # noqa: SIM110  (twice as fast as all())
        if type(argument) is not float:
            return False
    return True


def _are_numbers(arguments: Sequence[Value]) -> bool:
    for argument in arguments:
        if type(argument) is not float and type(argument) is not bool:
            return False
    return True


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
    *,
    preset: Mapping[str, Value] = NOTHING,
) -> list[Value]:
    """Run a function of a file; some variables may be there from the start.

    Raises:
        MatlabError: too many arguments, an output was not assigned, or what the body raises.

    """
    session = interpreter.session
    check_depth(session)
    if outputs > len(function.outputs) and function.outputs[-1:] != ("varargout",):
        raise MatlabError("MATLAB:TooManyOutputs", "Too many output arguments.")
    frame = Frame(scope, function.name, {}, len(arguments), outputs, caller=interpreter.frame)
    outer = scope.enclosing.get(function.name) if scope.enclosing else None
    if function.nested or outer is not None:
        nesting.enter(function, frame, outer)
    if not function.arguments:
        bind_inputs(function, arguments, frame)
    for name, value in preset.items():
        frame.variables[name] = value
    body = interpreter.body_of(function, scope)
    interpreter.done += interpreter.size_of(function)
    session.depth += 1
    caller, interpreter.frame = interpreter.frame, frame
    try:
        if function.arguments:
            run_declared(interpreter, function, arguments, frame, body)
        else:
            body(frame)
        return collect_outputs(function, frame, outputs)
    finally:
        interpreter.frame = caller
        session.depth -= 1
        if session.has_cleanups and not function.nested:
            frame.variables.clear()  # what runs at the end of the call runs now


def run_declared(
    interpreter: Interpreter,
    function: nodes.Function,
    arguments: Sequence[Value],
    frame: Frame,
    body: Run,
) -> None:
    """Run the body of a function that declares its arguments."""
    from matlab_frontend.interpreter import declared_arguments  # noqa: PLC0415  (few programs)

    declared_arguments.bind_declared(interpreter, function, arguments, frame)
    body(frame)
    declared_arguments.check_outputs(interpreter, function, frame)


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
    if len(arguments) < len(plain):
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
    captured, caller = dict(function.captured), interpreter.frame
    frame = Frame(function.scope, "", captured, len(arguments), outputs, caller=caller)
    names = function.parameters
    if names and names[-1] == "varargin":
        frame.variables["varargin"] = cell_row(list(arguments[len(names) - 1 :]))
        names = names[:-1]
    elif len(arguments) > len(names):
        raise MatlabError("MATLAB:TooManyInputs", "Too many input arguments.")
    for name, value in zip(names, arguments, strict=False):
        frame.variables[name] = value
    if len(arguments) < len(names):
        frame.missing = frozenset(names[len(arguments) :])
        for name in frame.missing:  # a parameter hides what was captured under its name
            frame.variables.pop(name, None)
    session = interpreter.session
    check_depth(session)
    session.depth += 1
    interpreter.frame = frame
    body = function.body
    while isinstance(body, nodes.Parenthesized):  # which change no number of outputs here
        body = body.expression
    try:
        return interpreter.values_of(body)(frame, outputs)
    except MatlabError as error:
        locate(error, frame)
        raise
    finally:
        interpreter.frame = caller
        session.depth -= 1


def caught_error(error: MatlabError) -> ErrorObject:
    """What ``catch`` sees of an error."""
    notes = tuple(getattr(error, "__notes__", ()))
    return ErrorObject(error.identifier, error.message, error.stack, error.causes, notes)


_SHOWN_CALLS = 20
"""Calls that an error tells of."""


def locate(error: Exception, frame: Frame) -> None:
    """Note where an error came from, and the calls that led there; later calls leave it."""
    if frame.span is None or getattr(error, "__notes__", None):
        return
    places = [(one, one.span) for one in frame.chain() if one.span is not None]
    source = frame.scope.source
    error.add_note(f"{_place(frame, frame.span)}\n{underlined(source, frame.span)}")
    for one, span in places[1:_SHOWN_CALLS]:
        error.add_note(_place(one, span))
    if len(places) > _SHOWN_CALLS:
        error.add_note(f"and {len(places) - _SHOWN_CALLS} more calls")
    if isinstance(error, MatlabError) and not error.stack:
        error.stack = stack_of(frame)


def _place(frame: Frame, span: Span) -> str:
    source = frame.scope.source
    at = source.position(span.start)
    return f"{source.name}:{at.line}:{at.column}{f' in {frame.name}' if frame.name else ''}"


def stack_of(frame: Frame) -> tuple[Place, ...]:
    """Where the functions and files that run stand, the innermost first."""
    made: list[Place] = []
    for one in frame.chain():
        file = one.scope.file
        if one.span is not None and (file.endswith(".m") or one.name):
            name = one.name or PurePath(file).stem
            made.append(Place(file, name, one.scope.source.position(one.span.start).line))
    return tuple(made)

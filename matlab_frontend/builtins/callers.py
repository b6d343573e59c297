"""What a function finds out about its callers, and does to their variables."""

from __future__ import annotations

from typing import Any, Protocol

from matlab_frontend import nodes
from matlab_frontend.builtins.programming import frame_of
from matlab_frontend.builtins.registry import Call, builtin
from matlab_frontend.errors import MatlabError, MatlabSyntaxError
from matlab_frontend.parser import parse
from matlab_frontend.source import Source
from matlab_frontend.values.array import (
    AnonymousHandle,
    CleanupObject,
    NamedHandle,
    Struct,
    Value,
)
from matlab_frontend.values.make import cell, struct, text
from matlab_frontend.values.read import integer_of, text_of, wrong_class


class Running(Protocol):
    """A call that is running, as far as its text is asked for."""

    variables: dict[str, Value]
    scope: Any
    span: Any


def _workspace(call: Call, name: Value) -> Any:
    """The call whose variables ``'base'`` or ``'caller'`` means."""
    frame, shown = frame_of(call), text_of(name, "The workspace")
    if shown == "base":
        *_, last = frame.chain()
        return last
    if shown != "caller":
        message = "The workspace must be 'base' or 'caller'."
        raise MatlabError("MATLAB:evalin:InvalidWorkspace", message)
    return frame.caller or frame


@builtin("evalin")
def evalin(
    call: Call, workspace: Value, code: Value, handler: Value | None = None
) -> tuple[Value, ...] | None:
    """Run a text, or evaluate it, among the variables of the caller or of the program."""
    frame = _workspace(call, workspace)
    try:
        return _evaluate(call, text_of(code), frame)
    except (MatlabError, MatlabSyntaxError):
        if handler is None:
            raise
        return _evaluate(call, text_of(handler), frame)


def _evaluate(call: Call, code: str, frame: Any) -> tuple[Value, ...] | None:
    if call.outputs:
        return tuple(call.interpreter.evaluate_text(code, frame, call.outputs))
    call.interpreter.run_text(code, frame)
    return None


@builtin("assignin")
def assignin(call: Call, workspace: Value, name: Value, value: Value) -> None:
    """Assign to a variable of the caller or of the program."""
    shown = text_of(name, "The variable's name")
    if not (shown.isidentifier() and shown.isascii() and not shown.startswith("_")):
        message = f'Invalid variable name "{shown}" in ASSIGNIN.'
        raise MatlabError("MATLAB:assigninInvalidVariable", message)
    _workspace(call, workspace).variables[shown] = value


@builtin("inputname")
def inputname(call: Call, position: Value, *_: Value) -> Value:
    """The caller's variable that an argument was; no text where it was none."""
    frame = frame_of(call)
    at = integer_of(call.engine, position)
    caller = frame.caller
    if caller is None or frame.inputs is None:
        message = "Attempt to use inputname from a workspace that has no inputs."
        raise MatlabError("MATLAB:inputname:emptyStack", message)
    if not 1 <= at <= frame.inputs:
        message = f"Argument number {at} is not valid for this function."
        raise MatlabError("MATLAB:inputname:argNumberNotValid", message)
    names = argument_names(caller)
    return text(names[at - 1] if at <= len(names) else "")


def argument_names(caller: Running) -> list[str]:
    """The variables that are the arguments of the call that is at its start; no name for others."""
    node = _called(caller)
    if not isinstance(node, nodes.Index):
        return []
    return [x.name if isinstance(x, nodes.Name) else "" for x in node.arguments]


def _called(caller: Running) -> nodes.Expression | None:
    """The expression that a caller is at, read again from its text."""
    if caller.span is None:
        return None
    shown = caller.scope.source.excerpt(caller.span)
    try:
        program = parse(Source(shown), variables=caller.variables)
    except MatlabSyntaxError:
        return None
    (statement, *_) = (*program.statements, None)
    return statement.expression if isinstance(statement, nodes.ExpressionStatement) else None


@builtin("dbstack")
def dbstack(call: Call, *options: Value) -> tuple[Value, ...] | None:
    """The calls that led here: a column of structs, or printed lines."""
    del options
    stack = call.interpreter.stack_of(frame_of(call))
    if call.outputs:
        return stack, 1.0
    assert isinstance(stack, Struct), "a column of structs"
    for k, place in enumerate(stack.data.flat):
        mark = ">" if k == 0 else " "
        shown = f"{mark} In {text_of(place['name'])} (line {int(place['line'])})\n"
        call.session.write(shown)
    return None


@builtin("functions")
def functions(call: Call, handle: Value) -> Value:
    """What is known about a function handle, as a struct."""
    if isinstance(handle, AnonymousHandle):
        return struct(
            {
                "function": text(handle.text),
                "type": text("anonymous"),
                "file": text(handle.scope.file if handle.scope.file.endswith(".m") else ""),
                "workspace": cell([struct(dict(handle.captured))], (1, 1)),
                "within_file_path": text(""),
            }
        )
    if not isinstance(handle, NamedHandle):
        raise wrong_class("function_handle", handle)
    scope = handle.scope or frame_of(call).scope
    found = call.interpreter.find_function(handle.name, scope)
    is_local = isinstance(found, tuple) and found[1].file == scope.file
    kind = "scopedfunction" if is_local else "simple"
    file = call.interpreter.library.path_of(handle.name, scope)
    shown = "" if file is None or not str(file).endswith(".m") else str(file)
    return struct({"function": text(handle.name), "type": text(kind), "file": text(shown)})


@builtin("onCleanup")
def on_cleanup(call: Call, task: Value) -> Value:
    """An object that calls a function when it goes away: its function ends, or it is cleared."""
    if not isinstance(task, (AnonymousHandle, NamedHandle)):
        raise wrong_class("function_handle", task)
    session, interpreter = call.session, call.interpreter

    def run(function: Value) -> None:
        try:
            interpreter.call(function, (), 0)
        except MatlabError as error:
            message = "The following error was caught while executing 'onCleanup' class destructor:"
            session.write_error(f"Warning: {message}\n{error.message}\n")

    session.has_cleanups = True
    return CleanupObject(task, run)


@builtin("import")
def import_(call: Call, *names: Value) -> Value | None:
    """Let functions of packages be called by their last name in this file."""
    imports: list[str] = frame_of(call).scope.imports
    for name in map(text_of, names):
        if "." not in name:
            message = f"'{name}' is no name of a function in a package."
            raise MatlabError("MATLAB:import:InvalidName", message)
        if name not in imports:
            imports.append(name)
    if names:
        call.session.path.changed()
    if not call.outputs:
        return None
    return cell([text(name) for name in imports], (len(imports), 1))

"""Functions about functions, variables and the environment."""

from __future__ import annotations

import os
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

import numpy as np

from matlab_frontend.builtins.registry import Builtin, Call, builtin
from matlab_frontend.errors import MatlabError, MatlabSyntaxError
from matlab_frontend.parser import parse
from matlab_frontend.source import Source
from matlab_frontend.tokens import KEYWORDS
from matlab_frontend.values.array import (
    AnonymousHandle,
    ErrorObject,
    NamedHandle,
    Struct,
    Value,
)
from matlab_frontend.values.make import struct, text
from matlab_frontend.values.read import integer_of, is_text, text_of

if TYPE_CHECKING:
    from matlab_frontend.interpreter.frame import Frame


def frame_of(call: Call) -> Frame:
    """The frame that called.

    Raises:
        MatlabError: the builtin was called through a handle, which has none.

    """
    if call.frame is None:
        raise MatlabError("MATLAB:noCaller", "This function cannot be called through a handle.")
    return call.frame


@builtin("nargin")
def nargin(call: Call, function: Value | None = None) -> Value:
    """Number of arguments the running function was given, or a function takes."""
    if function is not None:
        return _declared(call, function, inputs=True)
    given = frame_of(call).inputs
    return float(given or 0)


@builtin("nargout")
def nargout(call: Call, function: Value | None = None) -> Value:
    """Number of outputs the caller of the running function wants, or a function has."""
    if function is not None:
        return _declared(call, function, inputs=False)
    return float(frame_of(call).outputs or 0)


def _declared(call: Call, function: Value, *, inputs: bool) -> Value:
    if isinstance(function, AnonymousHandle):
        names: tuple[str, ...] = function.parameters if inputs else ("ans",)
    else:
        name = function.name if isinstance(function, NamedHandle) else text_of(function)
        scope = frame_of(call).scope
        found = call.interpreter.find_function(name, scope)
        if not isinstance(found, tuple):
            raise MatlabError("MATLAB:nargin:unknown", f"'{name}' does not declare its arguments.")
        names = found[0].inputs if inputs else found[0].outputs
    variadic = bool(names) and names[-1] in ("varargin", "varargout")
    return float(-len(names) if variadic else len(names))


@builtin("exist")
def exist(call: Call, name: Value, kind: Value | None = None) -> Value:
    """1 for a variable, 2 for a file, 5 for a builtin, 7 for a folder, 0 for nothing."""
    wanted = "" if kind is None else text_of(kind, "The kind").lower()
    if kind is not None and wanted not in _KINDS_THAT_EXIST:
        message = f"'{wanted}' is not one of var, file, dir, builtin and class."
        raise MatlabError("MATLAB:exist:InvalidOption", message)
    shown = text_of(name)
    frame = frame_of(call)
    if wanted in ("", "var") and shown in frame.variables:
        return 1.0
    found = None if wanted in ("var", "dir") else call.interpreter.find_function(shown, frame.scope)
    if wanted in ("", "builtin") and isinstance(found, Builtin):
        return 5.0
    if found is not None and not isinstance(found, Builtin) and wanted != "builtin":
        is_class = call.interpreter.is_class(found)
        if wanted == "class" or (is_class and not wanted):
            return 8.0 if is_class else 0.0
        return 2.0
    path = call.session.path.find(shown) if shown and wanted in ("", "file", "dir") else None
    if path is None:
        return 0.0
    if path.is_dir():
        return 7.0
    return 0.0 if wanted == "dir" else 2.0


_KINDS_THAT_EXIST = ("var", "file", "dir", "builtin", "class")


@builtin("isvarname")
def isvarname(_: Call, name: Value) -> Value:
    """True if a text may name a variable."""
    shown = text_of(name)
    named = shown.isidentifier() and shown.isascii() and not shown.startswith("_")
    return named and shown not in KEYWORDS


@builtin("clear")
def clear(call: Call, *names: Value) -> None:
    """Forget variables, all or some; ``*`` stands for any characters."""
    variables = frame_of(call).variables
    words = [text_of(name) for name in names]
    patterns = [word for word in words if not word.startswith("-")]
    if not patterns or patterns in (["all"], ["variables"]):
        patterns = ["*"]
    for name in list(variables):
        if _matches(name, patterns):
            variables.pop(name, None)


@builtin("clearvars")
def clearvars(call: Call, *names: Value) -> None:
    """Forget variables, all or some, but for those after ``-except``; ``*`` as in ``clear``."""
    variables = frame_of(call).variables
    words = [text_of(name) for name in names]
    at = words.index("-except") if "-except" in words else len(words)
    patterns, kept = words[:at] or ["*"], words[at + 1 :]
    for name in list(variables):
        if _matches(name, patterns) and not _matches(name, kept):
            variables.pop(name, None)


def _matches(name: str, patterns: list[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


@builtin("who")
def who(call: Call, *_: Value) -> None:
    """Print the names of the variables."""
    names = sorted(frame_of(call).variables)
    call.session.write("\nYour variables are:\n\n" + "  ".join(names) + "\n\n")


@builtin("feval")
def feval(call: Call, function: Value, *arguments: Value) -> tuple[Value, ...]:
    """Call a function by its name or handle."""
    if is_text(function) and call.frame is not None:
        function = NamedHandle(text_of(function), call.frame.scope)
    return tuple(call.interpreter.call(function, arguments, call.outputs))


@builtin("func2str")
def func2str(_: Call, function: Value) -> Value:
    """The text of a function handle."""
    if isinstance(function, AnonymousHandle):
        return text(function.text)
    if isinstance(function, NamedHandle):
        return text(function.name)
    raise MatlabError("MATLAB:invalidType", "The argument must be a function handle.")


@builtin("str2func")
def str2func(call: Call, name: Value) -> Value:
    """A function handle from its text."""
    shown = text_of(name)
    frame = frame_of(call)
    if not shown.startswith("@"):
        return NamedHandle(shown, frame.scope)
    program = parse(Source(f"ans = {shown};", "str2func"))
    inner = call.interpreter.run(program, {})
    return inner.variables["ans"]


@builtin("eval")
def eval_(call: Call, code: Value, handler: Value | None = None) -> tuple[Value, ...] | None:
    """Run a text as statements, or as an expression with outputs; after an error, the second."""
    frame = frame_of(call)
    try:
        return _evaluate(call, text_of(code), frame)
    except (MatlabError, MatlabSyntaxError) as error:
        if handler is None:
            raise
        call.session.last_error = ErrorObject(error.identifier, error.message, error.stack)
        return _evaluate(call, text_of(handler), frame)


def _evaluate(call: Call, code: str, frame: Frame) -> tuple[Value, ...] | None:
    if call.outputs:
        return tuple(call.interpreter.evaluate_text(code, frame, call.outputs))
    call.interpreter.run_text(code, frame)
    return None


@builtin("evalc")
def evalc(call: Call, code: Value, handler: Value | None = None) -> Value:
    """What a text prints when it runs."""
    printed: list[str] = []
    session, call.outputs = call.session, 0
    write, session.write = session.write, printed.append
    try:
        eval_.function(call, code, *(() if handler is None else (handler,)))
    finally:
        session.write = write
    return text("".join(printed))


@builtin("deal")
def deal(call: Call, *values: Value) -> tuple[Value, ...]:
    """One output an argument, or the only argument for all outputs."""
    if len(values) == 1:
        return values * max(call.outputs, 1)
    if len(values) != max(call.outputs, 1):
        raise MatlabError(
            "MATLAB:deal:narginNargoutMismatch",
            "The number of outputs should match the number of inputs.",
        )
    return values


@builtin("narginchk")
def narginchk(call: Call, least: Value, most: Value) -> None:
    """Refuse a call of the running function with too few or too many arguments."""
    given = frame_of(call).inputs or 0
    if given < integer_of(call.engine, least):
        raise MatlabError("MATLAB:narginchk:notEnoughInputs", "Not enough input arguments.")
    if most != float("inf") and given > integer_of(call.engine, most):
        raise MatlabError("MATLAB:narginchk:tooManyInputs", "Too many input arguments.")


@builtin("isargout")
def isargout(call: Call, at: Value) -> Value:
    """True if the caller of the running function wants an output."""
    return integer_of(call.engine, at) <= max(frame_of(call).outputs or 0, 1)


@builtin("version")
def version(_: Call) -> Value:
    """The version of MATLAB's language that is followed."""
    return text("24.1.0 (R2024a)")


@builtin("ver")
def ver(call: Call, *name: Value) -> Value | None:
    """Name, version, release and date of what is installed."""
    made = struct(
        {
            "Name": text("MATLAB"),
            "Version": text("24.1"),
            "Release": text("(R2024a)"),
            "Date": text("19-Nov-2023"),
        }
    )
    if call.outputs:
        known = not name or text_of(name[0]).lower() == "matlab"
        return made if known else Struct(made.fields, np.empty((0, 1), object))
    call.session.write(f"MATLAB{' ' * 55}Version 24.1        (R2024a)\n")
    return None


@builtin("verLessThan")
def ver_less_than(_: Call, toolbox: Value, wanted: Value) -> Value:
    """True if the version of MATLAB that is followed is older than one."""
    return _less_than(text_of(wanted), text_of(toolbox))


@builtin("isMATLABReleaseOlderThan")
def is_release_older_than(_: Call, release: Value, *_more: Value) -> Value:
    """True if the release that is followed is older than one such as ``"R2023b"``."""
    return text_of(release) > "R2024a"


def _less_than(wanted: str, toolbox: str) -> bool:
    if toolbox.lower() != "matlab":
        raise MatlabError("MATLAB:verLessThan:toolboxNotFound", f"Toolbox '{toolbox}' not found.")
    return [int(part) for part in wanted.split(".") if part.isdigit()] > [24, 1]


@builtin("computer")
def computer(_: Call) -> Value:
    """The kind of machine."""
    return text("GLNXA64" if os.name == "posix" else "PCWIN64")

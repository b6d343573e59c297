"""The system around a program: its environment, other programs, and the person at the terminal."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable

from matlab_frontend.builtins.programming import frame_of
from matlab_frontend.builtins.registry import Builtin, Call, builtin
from matlab_frontend.errors import MatlabError, MatlabSyntaxError, ProgramExit
from matlab_frontend.values.array import Value
from matlab_frontend.values.make import empty, text
from matlab_frontend.values.read import integer_of, is_text, text_of


@builtin("getenv")
def getenv(_: Call, name: Value) -> Value:
    """The value of an environment variable, or an empty text."""
    return text(os.environ.get(text_of(name), ""))


@builtin("setenv")
def setenv(_: Call, name: Value, value: Value | None = None) -> None:
    """Set an environment variable of this process, to nothing if no value is given."""
    shown = text_of(name)
    if not shown or "=" in shown:
        raise MatlabError("MATLAB:setenv:InvalidName", f"'{shown}' is no name of a variable.")
    os.environ[shown] = "" if value is None else text_of(value)


@builtin("unsetenv")
def unsetenv(_: Call, name: Value) -> None:
    """Remove an environment variable of this process."""
    os.environ.pop(text_of(name), None)


def _system(call: Call, command: Value, echo: Value | None = None) -> tuple[Value, ...]:
    """Run a command in the system's shell: its status, and what it printed."""
    sys.stdout.flush()
    done = subprocess.run(  # noqa: S602  (what the program asks for)
        text_of(command, "The command"),
        shell=True,
        cwd=call.session.path.current,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    printed = done.stdout.decode("utf-8", "replace")
    if call.outputs < 2 or (echo is not None and text_of(echo) == "-echo"):
        call.session.write(printed)
    call.session.path.changed()
    return float(done.returncode), text(printed)


def _shell(name: str) -> Builtin:
    return Builtin(name, _system, 1, 2, "Runs a command in the system's shell.")


def _exit(call: Call, *options: Value) -> None:
    """End the program, with a status where a number is given."""
    statuses = [option for option in options if not is_text(option)]
    call.session.exit_status = integer_of(call.engine, statuses[0]) if statuses else 0
    raise ProgramExit


def _leaving(name: str) -> Builtin:
    return Builtin(name, _exit, 0, 2, "End the program, with a status where a number is given.")


def _is(name: str, answer: Callable[[], bool], doc: str) -> Builtin:
    def question(_: Call, *_more: Value) -> Value:
        return answer()

    return Builtin(name, question, 0, 1 if name == "usejava" else 0, doc)


_QUESTIONS = (
    _is("ispc", lambda: sys.platform == "win32", "Whether the system is Windows."),
    _is("isunix", lambda: os.name == "posix", "Whether the system is Linux or macOS."),
    _is("ismac", lambda: sys.platform == "darwin", "Whether the system is macOS."),
    _is("isdeployed", lambda: False, "Whether the program is a compiled application: never."),
    _is("ismcc", lambda: False, "Whether the program is being compiled to one: never."),
    _is("isstudent", lambda: False, "Whether this is MATLAB for students: never."),
    _is("usejava", lambda: False, "Whether a part of Java can be used: there is none."),
)
GENERATED = (*_QUESTIONS, _shell("system"), _shell("unix"), _leaving("exit"), _leaving("quit"))


def _ask(call: Call, prompt: str) -> str:
    """A line that is typed.

    Raises:
        MatlabError: there is nobody to type it.

    """
    call.session.write(prompt)
    line = call.session.read_line()
    if not line:
        raise MatlabError("MATLAB:input:EndOfInput", "There is no more input to read.")
    return line.rstrip("\r\n")


@builtin("input")
def input_(call: Call, prompt: Value, kind: Value | None = None) -> Value:
    """A value that is typed as an expression; with ``'s'`` the text as it is typed."""
    shown = text_of(prompt, "The prompt").replace("\\n", "\n")
    if kind is not None:
        if text_of(kind) != "s":
            raise MatlabError("MATLAB:input:InvalidSecondArgument", "The option must be 's'.")
        return text(_ask(call, shown))
    while True:
        line = _ask(call, shown)
        if not line.strip():
            return empty()
        try:
            return call.interpreter.evaluate_text(line, frame_of(call), 1)[0]
        except (MatlabError, MatlabSyntaxError) as error:  # asked again, as MATLAB does
            call.session.write_error(f"Error: {error.message}\n")


@builtin("keyboard")
def keyboard(call: Call) -> None:
    """Let a person type statements until ``return``, ``dbcont`` or the end of the input."""
    frame = frame_of(call)
    while True:
        call.session.write("K>> ")
        line = call.session.read_line()
        if not line or line.strip().rstrip(";") in ("return", "dbcont"):
            return
        try:
            call.interpreter.run_text(line, frame)
        except (MatlabError, MatlabSyntaxError) as error:
            call.session.write_error(f"Error: {error.message}\n")

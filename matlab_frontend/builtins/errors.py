"""Errors and warnings."""

from __future__ import annotations

from dataclasses import replace

from matlab_frontend.builtins.registry import Call, builtin
from matlab_frontend.errors import MatlabError
from matlab_frontend.format_text import format_values, unescape
from matlab_frontend.pattern import pattern
from matlab_frontend.values.array import ErrorObject, Struct, Value, shape_of
from matlab_frontend.values.make import empty, struct, text
from matlab_frontend.values.read import is_text, is_true, struct_of, text_of, wrong_class

_IDENTIFIER = pattern(r"[A-Za-z][\w-]*(:[\w-]+)+")


def read_message(call: Call, arguments: tuple[Value, ...]) -> tuple[str, str]:
    """Identifier and text from ``(identifier, template, values)`` or ``(template, values)``."""
    first = text_of(arguments[0], "The message")
    if len(arguments) > 1 and _IDENTIFIER.fullmatch(first):
        template = unescape(text_of(arguments[1], "The message"))
        return first, format_values(call.engine, template, arguments[2:])
    if len(arguments) == 1:
        return "", first  # escapes are undone only where there are values to format
    return "", format_values(call.engine, unescape(first), arguments[1:])


@builtin("error")
def error(call: Call, *arguments: Value) -> None:
    """Raise an error with an identifier and a formatted message."""
    if not arguments:
        raise MatlabError("MATLAB:minrhs", "Not enough input arguments.")
    first = arguments[0]
    if isinstance(first, ErrorObject):
        raise _raised(first)
    if isinstance(first, Struct):
        raise MatlabError(*_fields(first))
    raise MatlabError(*read_message(call, arguments))


def _fields(value: Struct) -> tuple[str, str]:
    element = value.data.item()
    identifier = text_of(element["identifier"]) if "identifier" in element else ""
    return identifier, text_of(element.get("message", text("")))


def _raised(made: ErrorObject) -> MatlabError:
    """The error that an ``MException`` raises here."""
    error = MatlabError(made.identifier, made.message)
    error.causes = made.causes
    return error


@builtin("rethrow")
def rethrow(_: Call, caught: Value) -> None:
    """Raise a caught error again, as one of the place where it came from."""
    if not isinstance(caught, ErrorObject):
        raise MatlabError(*_fields(struct_of(caught)))
    error = _raised(caught)
    error.stack = caught.stack
    for note in caught.notes:
        error.add_note(note)
    raise error


def _exception_of(value: Value) -> ErrorObject:
    if not isinstance(value, ErrorObject):
        raise wrong_class("MException", value)
    return value


@builtin("throw")
def throw(_: Call, made: Value) -> None:
    """Raise an error that ``MException`` made."""
    raise _raised(_exception_of(made))


@builtin("throwAsCaller")
def throw_as_caller(call: Call, made: Value) -> None:
    """Raise an error as if the caller of the running function did."""
    error = _raised(_exception_of(made))
    caller = None if call.frame is None else call.frame.caller
    if caller is not None:
        call.interpreter.locate(error, caller)
    raise error


@builtin("MException")
def exception(call: Call, identifier: Value, *message: Value) -> Value:
    """An error to be thrown."""
    shown = text_of(identifier)
    if not message:
        raise MatlabError("MATLAB:minrhs", "Not enough input arguments.")
    if not _IDENTIFIER.fullmatch(shown):
        problem = f"The identifier '{shown}' must be of the form 'component:mnemonic'."
        raise MatlabError("MATLAB:MException:InvalidIdentifier", problem)
    template = unescape(text_of(message[0]))
    return ErrorObject(shown, format_values(call.engine, template, message[1:]))


@builtin("addCause")
def add_cause(_: Call, made: Value, cause: Value) -> Value:
    """An error with one more error that led to it."""
    base = _exception_of(made)
    return replace(base, causes=(*base.causes, _exception_of(cause)))


@builtin("getReport")
def get_report(_: Call, caught: Value, *options: Value) -> Value:
    """The text of an error as it is shown: its message, its places, and its causes."""
    for option in options:
        if text_of(option) not in ("extended", "basic", "hyperlinks", "on", "off", "default"):
            message = "The report is 'extended' or 'basic'."
            raise MatlabError("MATLAB:MException:InvalidReport", message)
    extended = not options or text_of(options[0]) != "basic"
    return text(_report(_exception_of(caught), extended=extended))


def _report(caught: ErrorObject, *, extended: bool) -> str:
    if not caught.stack:
        shown = f"Error: {caught.message}"
    else:
        first = caught.stack[0]
        shown = f"Error using {first.name} (line {first.line})\n{caught.message}"
    if not extended:
        return shown
    for place in caught.stack[1:]:
        shown += f"\n\nError in {place.name} (line {place.line})"
    for cause in caught.causes:
        inner = _report(cause, extended=True).replace("\n", "\n    ")
        shown += f"\n\nCaused by:\n    {inner}"
    return shown


@builtin("lasterr")
def lasterr(call: Call) -> Value:
    """The message of the last error."""
    last = call.session.last_error
    return text(last.message if last is not None else "")


@builtin("lastwarn")
def lastwarn(call: Call, *message: Value) -> Value | tuple[Value, ...]:
    """Message and identifier of the last warning."""
    shown, identifier = call.session.last_warning
    if message:
        call.session.last_warning = (text_of(message[0]), "")
    return text(shown), text(identifier)


def _state(call: Call, name: str) -> str:
    """True if warnings of an identifier are printed."""
    silent = call.session.silent_warnings
    spoken = call.session.spoken_warnings
    off = name in silent or ("all" in silent and name not in spoken)
    return "off" if off else "on"


def _set_state(call: Call, name: str, state: str) -> None:
    silent, spoken = call.session.silent_warnings, call.session.spoken_warnings
    if name == "all":
        silent.clear()
        spoken.clear()
    (silent if state == "off" else spoken).add(name)
    (spoken if state == "off" else silent).discard(name)


@builtin("warning")
def warning(call: Call, *arguments: Value) -> Value | None:
    """Print a warning, or switch warnings on and off."""
    if not arguments:
        return None
    first = text_of(arguments[0]) if is_text(arguments[0]) else ""
    session = call.session
    if first in ("on", "off", "error", "query"):
        name = text_of(arguments[1]) if len(arguments) > 1 else "all"
        before = _state(call, name)
        if first != "query":
            _set_state(call, name, first)
        elif not call.outputs:
            call.session.write(f"The state of warning '{name}' is '{before}'.\n")
        if not call.outputs:
            return None
        return struct({"identifier": text(name), "state": text(before)})
    if isinstance(arguments[0], Struct):
        if set(arguments[0].fields) != {"identifier", "state"}:
            message = "A structure of states has the fields 'identifier' and 'state'."
            raise MatlabError("MATLAB:warning:invalidStructure", message)
        for each in arguments[0].data.flat:  # what an earlier call has given
            _set_state(call, text_of(each["identifier"]), text_of(each["state"]))
        return None
    if not first:
        return None
    identifier, message = read_message(call, arguments)
    session.last_warning = (message, identifier)
    if _state(call, identifier or "all") == "on":
        session.write_error(f"Warning: {message}\n")
    return None


@builtin("assert")
def assert_(call: Call, condition: Value, *message: Value) -> None:
    """Raise an error unless a condition holds, or two values are equal."""
    if message and not is_text(message[0]):
        expected = message[0]
        equal = call.interpreter.call_one(text("isequal"), condition, expected)
        if not is_true(call.engine, equal) and len(message) == 1:
            raise MatlabError("MATLAB:assertion:failed", "Assertion failed.")
        return
    if 0 not in shape_of(condition) and is_true(call.engine, condition):
        return
    if message:
        raise MatlabError(*read_message(call, message))
    raise MatlabError("MATLAB:assertion:failed", "Assertion failed.")


@builtin("print_usage")
def print_usage(_: Call) -> None:
    """Raise the error of a call that a function does not understand."""
    raise MatlabError("MATLAB:invalidCall", "Invalid call.")


@builtin("nargoutchk")
def nargoutchk(_: Call, *limits: Value) -> Value:
    """Accepted: outputs are counted where functions return."""
    del limits
    return empty()

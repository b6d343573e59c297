"""Open files: opening, closing, lines of text, and positions."""

from __future__ import annotations

import codecs

from matlab_frontend.builtins.registry import Call, builtin
from matlab_frontend.errors import MatlabError
from matlab_frontend.streams import STANDARD, Stream, check_permission, invalid_identifier
from matlab_frontend.values.array import Value
from matlab_frontend.values.make import empty, row, text
from matlab_frontend.values.read import integer_of, is_text, number_of, text_of

_MACHINES = {
    **dict.fromkeys(("n", "native", "l", "ieee-le", "a", "ieee-le.l64"), "ieee-le"),
    **dict.fromkeys(("b", "ieee-be", "s", "ieee-be.l64"), "ieee-be"),
}
_ORIGINS = {"bof": 0, "cof": 1, "eof": 2}
_STANDARD_NAMES = ("stdin", "stdout", "stderr")


def machine_of(name: str) -> str:
    """The order of bytes that a machine format means.

    Raises:
        MatlabError: there is no such format.

    """
    if name.lower() not in _MACHINES:
        raise MatlabError("MATLAB:FileIO:InvalidMachineFormat", f"Invalid machine format '{name}'.")
    return _MACHINES[name.lower()]


def stream_of(call: Call, identifier: Value) -> Stream:
    """The open file of an identifier.

    Raises:
        MatlabError: no file is open by it.

    """
    if is_text(identifier):
        raise invalid_identifier()
    return call.session.streams.get(number_of(call.engine, identifier, "The file identifier"))


@builtin("fopen")
def fopen(
    call: Call,
    name: Value,
    permission: Value | None = None,
    machine: Value | None = None,
    encoding: Value | None = None,
) -> tuple[Value, ...] | Value:
    """Open a file: its identifier, or -1 and why not; names and permissions of open ones."""
    streams = call.session.streams
    if not is_text(name):
        return _described(call, name)
    shown = text_of(name)
    if shown == "all":
        return row(sorted(streams.opened)) if streams.opened else empty()
    mode = "r" if permission is None else text_of(permission)
    check_permission(mode)
    order = machine_of("n" if machine is None else text_of(machine))
    code = "UTF-8" if encoding is None or not text_of(encoding) else text_of(encoding)
    try:
        codecs.lookup(code)
    except LookupError:
        message = f"Unsupported encoding '{code}'."
        raise MatlabError("MATLAB:FileIO:InvalidEncoding", message) from None
    path = call.session.path.resolve(shown)
    if mode[0] in "rR" and not path.exists():
        path = call.session.path.find(shown) or path
    try:
        number = streams.open(path, shown, mode)
    except (OSError, ValueError) as error:  # a name with a zero character is no name
        return -1.0, text(getattr(error, "strerror", None) or "Invalid file name.")
    opened = streams.opened[number]
    opened.machine, opened.encoding = order, code
    return float(number), text("")


def _described(call: Call, identifier: Value) -> tuple[Value, ...]:
    number = number_of(call.engine, identifier, "The file identifier")
    if number in STANDARD:
        shown = ("r", "w", "w")[int(number)]
        return tuple(map(text, (_STANDARD_NAMES[int(number)], shown, "ieee-le", "UTF-8")))
    stream = call.session.streams.opened.get(int(number)) if number == number // 1 else None
    if stream is None:
        return (text(""),) * 4
    names = (stream.name, f"{stream.permission[0]}b{stream.permission[1:]}")
    return tuple(map(text, (*names, stream.machine, stream.encoding)))


@builtin("fclose")
def fclose(call: Call, identifier: Value) -> Value | None:
    """Close a file, or ``'all'`` files; gives 0."""
    streams = call.session.streams
    if is_text(identifier):
        if text_of(identifier) != "all":
            raise invalid_identifier()
        streams.close_all()
    else:
        streams.close(number_of(call.engine, identifier, "The file identifier"))
    call.session.path.changed()
    return 0.0 if call.outputs else None


@builtin("fgetl")
def fgetl(call: Call, identifier: Value) -> Value:
    """The next line without its end; -1 where there is none."""
    line = stream_of(call, identifier)
    read = line.read_line()
    if not read:
        return -1.0
    shown = read.removesuffix(b"\n")
    return text(line.decode(shown.removesuffix(b"\r") if shown != read else shown))


@builtin("fgets")
def fgets(call: Call, identifier: Value, most: Value | None = None) -> tuple[Value, ...]:
    """The next line with its end, or so many of its characters; -1 where there is none."""
    stream = stream_of(call, identifier)
    read = stream.read_line(-1 if most is None else integer_of(call.engine, most))
    if not read:
        return -1.0, empty()
    shown = stream.decode(read)
    end = shown[len(shown.rstrip("\r\n")) :]
    return text(shown), row(map(ord, end)) if end else empty()


@builtin("feof")
def feof(call: Call, identifier: Value) -> Value:
    """1 if the end of a file was met by reading, else 0."""
    return float(stream_of(call, identifier).at_end)


@builtin("ferror")
def ferror(call: Call, identifier: Value, option: Value | None = None) -> tuple[Value, ...]:
    """What went wrong with a file last; ``'clear'`` forgets it."""
    stream = stream_of(call, identifier)
    problem = stream.problem
    if option is not None:
        if text_of(option) != "clear":
            raise MatlabError("MATLAB:ferror:invalidOption", "The option must be 'clear'.")
        stream.problem = ""
    return text(problem), -1.0 if problem else 0.0


@builtin("ftell")
def ftell(call: Call, identifier: Value) -> Value:
    """The position in a file, in bytes from its start."""
    return float(stream_of(call, identifier).file.tell())


@builtin("fseek")
def fseek(call: Call, identifier: Value, offset: Value, origin: Value = -1.0) -> Value:
    """Go to a position in a file: 0, or -1 where the file has no such place."""
    stream = stream_of(call, identifier)
    if is_text(origin):
        start = _ORIGINS.get(text_of(origin))
    else:
        start = {-1: 0, 0: 1, 1: 2}.get(integer_of(call.engine, origin))
    if start is None:
        raise MatlabError("MATLAB:FileIO:InvalidOrigin", "Invalid origin.")
    return 0.0 if stream.seek(integer_of(call.engine, offset), start) else -1.0


@builtin("frewind")
def frewind(call: Call, identifier: Value) -> None:
    """Go to the start of a file."""
    stream_of(call, identifier).seek(0, 0)


@builtin("fflush")
def fflush(call: Call, identifier: Value) -> None:
    """Write what waits to be written."""
    if not is_text(identifier) and number_of(call.engine, identifier) in STANDARD:
        return
    stream_of(call, identifier).file.flush()


@builtin("fileread")
def fileread(call: Call, name: Value, *options: Value) -> Value:
    """The text of a file."""
    code = "UTF-8"
    for at, option in enumerate(options):
        if text_of(option).lower() != "encoding" or at + 1 == len(options):
            raise MatlabError("MATLAB:fileread:invalidOption", "The only option is 'Encoding'.")
        code = text_of(options[at + 1])
        break
    shown = text_of(name, "The file name")
    path = call.session.path.find(shown)
    if path is None:
        message = f"Could not open file {shown}. No such file or directory."
        raise MatlabError("MATLAB:fileread:cannotOpenFile", message)
    try:
        return text(path.read_bytes().decode(code, "replace"))
    except (OSError, LookupError) as error:
        message = f"Could not open file {shown}. {getattr(error, 'strerror', None) or error}."
        raise MatlabError("MATLAB:fileread:cannotOpenFile", message) from error

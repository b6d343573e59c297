"""``save`` and ``load``: variables in MAT-files and in text."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np

from matlab_frontend.builtins.programming import frame_of
from matlab_frontend.builtins.registry import Call, builtin
from matlab_frontend.delimited_text import fields_of, guess_delimiter, number_in
from matlab_frontend.errors import MatlabError
from matlab_frontend.hdf5_values import is_hdf5, read_hdf5
from matlab_frontend.mat_values import for_scipy, read_mat, write_mat
from matlab_frontend.names_of_fields import valid_name
from matlab_frontend.values.array import Value, as_array, count_of
from matlab_frontend.values.make import from_numpy, struct
from matlab_frontend.values.read import known, struct_of, text_of
from runmat_jit.core.slotted import slotted

_VERSIONS = ("-v4", "-v6", "-v7", "-v7.3", "-mat", "-binary")
_TEXT = ("-ascii", "-double", "-tabs")


@slotted
class _Request:
    """The words of a call: a file, names or patterns of variables, and options."""

    file: str
    names: list[str] = field(default_factory=list)
    options: set[str] = field(default_factory=set)
    is_pattern: bool = False

    def wants(self, name: str) -> bool:
        """True if a variable is among those that are named; all are if none is."""
        if not self.names:
            return True
        if self.is_pattern:
            return any(re.search(pattern, name) for pattern in self.names)
        return any(fnmatchcase(name, pattern) for pattern in self.names)


def _request(words: Sequence[Value], options: Sequence[str], function: str) -> _Request:
    """Read the words of a call.

    Raises:
        MatlabError: an option is not known.

    """
    made = _Request("")
    for shown in map(text_of, words):
        if shown == "-regexp":
            made.is_pattern = True
        elif shown.startswith("-"):
            if shown not in options:
                message = f"'{shown}' is not an option that is supported."
                raise MatlabError(f"MATLAB:{function}:unknownOption", message)
            made.options.add(shown)
        elif not made.file:
            made.file = shown
        else:
            made.names.append(shown)
    made.file = made.file or "matlab.mat"
    return made


@builtin("save")
def save(call: Call, *words: Value) -> None:
    """Write variables to a file: all, those that are named, or the fields of a struct."""
    request = _request(words, (*_VERSIONS, *_TEXT, "-append", "-struct", "-nocompression"), "save")
    if "-v7.3" in request.options or "-v4" in request.options:
        message = "Files of versions 4 and 7.3 are not written here; use -v7 or -v6."
        raise MatlabError("MATLAB:save:unsupportedVersion", message)
    found = _chosen(call, request)
    is_text = "-ascii" in request.options
    suffix = "" if is_text or Path(request.file).suffix else ".mat"
    path = call.session.path.resolve(request.file + suffix)
    try:
        if is_text:
            _save_text(call, path, found, request.options)
        else:
            _save_mat(call, path, found, request.options)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        message = f"Unable to write file {request.file}: {reason}."
        raise MatlabError("MATLAB:save:couldNotWriteFile", message) from error


def _chosen(call: Call, request: _Request) -> dict[str, Value]:
    """The variables, or fields, that a call names.

    Raises:
        MatlabError: a name is that of none.

    """
    variables: Mapping[str, Value] = frame_of(call).variables
    if "-struct" in request.options:
        if not request.names or request.names[0] not in variables:
            message = "The argument to -STRUCT must be the name of a scalar structure variable."
            raise MatlabError("MATLAB:save:structNotFound", message)
        held = struct_of(variables[request.names.pop(0)])
        if count_of(held) != 1:
            message = "The argument to -STRUCT must be the name of a scalar structure variable."
            raise MatlabError("MATLAB:save:structNotScalar", message)
        variables = held.data.item()
    for name in request.names:
        known_one = request.is_pattern or any(fnmatchcase(key, name) for key in variables)
        if not known_one:
            raise MatlabError("MATLAB:save:variableNotFound", f"Variable '{name}' not found.")
    return {name: variables[name] for name in sorted(variables) if request.wants(name)}


def _save_mat(call: Call, path: Path, found: Mapping[str, Value], options: set[str]) -> None:
    made: dict[str, Any] = {}
    if "-append" in options and path.exists():
        before = read_mat(path)
        made = {k: for_scipy(call.engine, x) for k, x in before.items() if x is not None}
    for name, value in found.items():
        try:
            made[name] = for_scipy(call.engine, value)
        except MatlabError as error:
            warning = f"Warning: Variable '{name}' was not saved: {error.message}.\n"
            call.session.write_error(warning)
    write_mat(path, made, compressed="-v6" not in options and "-nocompression" not in options)


def _save_text(call: Call, path: Path, found: Mapping[str, Value], options: set[str]) -> None:
    """Numbers in rows, eight digits or sixteen."""
    digits, mark = (16 if "-double" in options else 8), ("\t" if "-tabs" in options else " ")
    lines: list[str] = []
    for name, value in found.items():
        if as_array(value) is None or known(call.engine, value).dtype.kind not in "fiubc":
            call.session.write_error(
                f"Warning: Attempt to write an unsupported data type: {name}.\n"
            )
            continue
        table = np.real(known(call.engine, value)).astype(float)
        for row in table.reshape(table.shape[0], -1, order="F").tolist():
            shown = (f"{item: .{digits - 1}e}" for item in row)
            lines.append(mark.join(f"{'' if mark == chr(9) else ' '}{item}" for item in shown))
    mode = "ab" if "-append" in options else "wb"
    with path.open(mode) as file:
        file.write("".join(f"{line}\n" for line in lines).encode())


@builtin("load")
def load(call: Call, *words: Value) -> Value | None:
    """Read the variables of a file into the program, or into a struct; or a matrix from text."""
    request = _request(words, ("-ascii", "-mat"), "load")
    path = _existing(call, request)
    is_text = "-ascii" in request.options or (
        path.suffix != ".mat" and "-mat" not in request.options and not _is_mat(path)
    )
    if is_text:
        made = _text_matrix(path, request.file)
        if call.outputs:
            return made
        frame_of(call).variables[valid_name(path.stem)] = made
        return None
    found = _variables(call, path, request)
    if call.outputs:
        return struct(found)
    variables = frame_of(call).variables
    for name, value in found.items():  # some may live elsewhere
        variables[name] = value
    return None


def _existing(call: Call, request: _Request) -> Path:
    names = [request.file]
    if not Path(request.file).suffix and "-ascii" not in request.options:
        names.insert(0, f"{request.file}.mat")
    for name in names:
        path = call.session.path.find(name)
        if path is not None and path.is_file():
            return path
    message = f"Unable to find file or directory '{names[0]}'."
    raise MatlabError("MATLAB:load:couldNotReadFile", message)


def _is_mat(path: Path) -> bool:
    with path.open("rb") as file:
        start = file.read(1024)
    return start.startswith(b"MATLAB 5.0 MAT-file") or is_hdf5(start)


def _variables(call: Call, path: Path, request: _Request) -> dict[str, Value]:
    """The variables of a MAT-file that a call names.

    Raises:
        MatlabError: the file is no MAT-file, or one that cannot be read here.

    """
    try:
        with path.open("rb") as file:
            is_new = is_hdf5(file.read(1024))
        read = read_hdf5(path) if is_new else read_mat(path)
    except MatlabError:
        raise
    except Exception as error:  # SciPy raises what it meets in broken files
        message = f"Unable to read MAT-file {request.file}. File might be corrupt."
        raise MatlabError("MATLAB:load:unableToReadMatFile", message) from error
    for name in request.names:
        if not request.is_pattern and not any(fnmatchcase(key, name) for key in read):
            call.session.write_error(f"Warning: Variable '{name}' not found.\n")
    made: dict[str, Value] = {}
    for name, value in read.items():
        if not request.wants(name):
            continue
        if value is None:
            call.session.write_error(f"Warning: Variable '{name}' has a class that is not read.\n")
        else:
            made[name] = value
    return made


def _text_matrix(path: Path, shown: str) -> Value:
    """The matrix that the lines of a text hold; ``%`` begins a comment.

    Raises:
        MatlabError: the lines are not rows of as many numbers.

    """
    lines = path.read_bytes().decode("utf-8", "replace").splitlines()
    lines = [re.split(r"[%#]", line)[0] for line in lines]
    rows = fields_of(lines, guess_delimiter(lines))
    widths = {len(row) for row in rows}
    numbers = [[number_in(item) for item in row] for row in rows]
    if len(widths) > 1:
        message = f"Number of columns in file {shown} must be the same on each line."
        raise MatlabError("MATLAB:load:numColumnsNotSame", message)
    if any(item is None for row in numbers for item in row):
        message = f"Unable to read '{shown}' as text: it holds what is no number."
        raise MatlabError("MATLAB:load:unknownText", message)
    table = np.array(numbers, complex).reshape(len(rows), next(iter(widths), 0))
    return from_numpy(table if np.any(table.imag) else table.real)

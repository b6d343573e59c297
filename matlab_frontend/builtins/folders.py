"""Folders and files as a whole: where they are, what is in them, making and removing them."""

from __future__ import annotations

import glob
import os
import shutil
import tempfile
import time
import uuid
from pathlib import Path

import numpy as np

from matlab_frontend.builtins.registry import Call, builtin
from matlab_frontend.dates import serial_of_timestamp
from matlab_frontend.errors import MatlabError
from matlab_frontend.values.array import Array, Cell, Struct, Value, kind_of
from matlab_frontend.values.make import empty, objects, text, text_rows, wrap
from matlab_frontend.values.read import is_text, lines_of, text_of


def problem(error: OSError) -> str:
    """What the system says of an error."""
    return error.strerror or str(error)


@builtin("pwd")
def pwd(call: Call) -> Value:
    """The current folder."""
    return text(str(call.session.path.current))


@builtin("cd")
def cd(call: Call, folder: Value | None = None) -> Value | None:
    """Change the current folder; gives the one before, or shows the one that is current."""
    path = call.session.path
    before = text(str(path.current))
    if folder is None:
        if call.outputs:
            return before
        call.session.write(f"{path.current}\n")
        return None
    shown = text_of(folder)
    wanted = path.resolve(shown)
    if not wanted.is_dir():
        message = f"Cannot CD to {shown} (Name is nonexistent or not a directory)."
        raise MatlabError("MATLAB:cd:NonExistentFolder", message)
    path.go(wanted.resolve())
    return before if call.outputs else None


def _outcome(call: Call, problem: str, identifier: str) -> tuple[Value, ...] | None:
    """Status, message and identifier; an error where nobody asked for a status."""
    if problem and not call.outputs:
        raise MatlabError(identifier, problem)
    if not call.outputs:
        return None
    return not problem, text(problem), text(identifier if problem else "")


@builtin("mkdir")
def mkdir(call: Call, parent: Value, name: Value | None = None) -> tuple[Value, ...] | None:
    """Make a folder and those above it."""
    shown = text_of(parent) if name is None else str(Path(text_of(parent), text_of(name)))
    path = call.session.path.resolve(shown)
    if path.is_dir():
        message = "Directory already exists."
        if call.outputs:
            return True, text(message), text("MATLAB:MKDIR:DirectoryExists")
        call.session.write_error(f"Warning: {message}\n")
        return None
    try:
        path.mkdir(parents=True)
    except (OSError, ValueError) as error:
        reason = problem(error) if isinstance(error, OSError) else str(error)
        return _outcome(call, reason, "MATLAB:MKDIR:OSError")
    call.session.path.changed()
    return _outcome(call, "", "")


@builtin("rmdir")
def rmdir(call: Call, name: Value, option: Value | None = None) -> tuple[Value, ...] | None:
    """Remove a folder; with ``'s'`` all that is in it."""
    shown = text_of(name)
    path = call.session.path.resolve(shown)
    if option is not None and text_of(option).lower() != "s":
        raise MatlabError("MATLAB:RMDIR:InvalidOption", "The only option is 's'.")
    if not path.is_dir():
        return _outcome(call, f"{shown} is not a directory.", "MATLAB:RMDIR:NotADirectory")
    try:
        if option is None:
            path.rmdir()
        else:
            shutil.rmtree(path)
    except OSError as error:
        identifier = "MATLAB:RMDIR:DirectoryNotRemoved"
        return _outcome(call, f"{shown}: {problem(error)}.", identifier)
    call.session.path.changed()
    return _outcome(call, "", "")


@builtin("delete")
def delete(call: Call, *names: Value) -> None:
    """Remove files; ``*`` stands for any characters. What is no file gives a warning."""
    for shown in (line for name in names for line in lines_of(name)):
        path = str(call.session.path.resolve(shown))
        found = [Path(match) for match in glob.glob(path)] if "*" in shown else [Path(path)]  # noqa: PTH207  (a pattern of whole paths)
        for file in found:
            if file.is_file() or file.is_symlink():
                file.unlink()
            elif "*" not in shown:
                call.session.write_error(f"Warning: File '{shown}' not found.\n")
    call.session.path.changed()


def _transfer(call: Call, source: Value, target: Value, *, moves: bool) -> tuple[Value, ...] | None:
    """Copy or move files and folders."""
    path = call.session.path
    shown = text_of(source)
    whole = str(path.resolve(shown))
    found = sorted(glob.glob(whole)) if "*" in shown else [whole]  # noqa: PTH207  (a pattern of whole paths)
    to = path.resolve(text_of(target))
    identifier = f"MATLAB:{'MOVEFILE' if moves else 'COPYFILE'}:FileNotFound"
    if not found or not all(map(os.path.exists, found)):
        message = f"No matching files were found for '{shown}'."
        return _outcome(call, message, identifier)
    try:
        for item in found:
            place = to / Path(item).name if to.is_dir() else to
            if moves:
                shutil.move(item, place)
            elif Path(item).is_dir():
                shutil.copytree(item, to, dirs_exist_ok=True)
            else:
                shutil.copy(item, place)
    except OSError as error:
        return _outcome(call, problem(error), identifier.replace("FileNotFound", "OSError"))
    path.changed()
    return _outcome(call, "", "")


@builtin("copyfile")
def copyfile(call: Call, source: Value, target: Value) -> tuple[Value, ...] | None:
    """Copy a file or a folder."""
    return _transfer(call, source, target, moves=False)


@builtin("movefile")
def movefile(call: Call, source: Value, target: Value) -> tuple[Value, ...] | None:
    """Move or rename a file or a folder."""
    return _transfer(call, source, target, moves=True)


def _asked(call: Call, names: Value, question: str) -> Value:
    """True if each of some names is a file, or a folder."""
    if not is_text(names) and not isinstance(names, (Array, Cell)):
        raise MatlabError("MATLAB:invalidType", f"Names must be texts, not {kind_of(names)}.")
    resolve = call.session.path.resolve
    answers = [bool(getattr(resolve(name), question)()) for name in lines_of(names)]
    if is_text(names):
        return answers[0] if answers else False
    return wrap("logical", np.array(answers, bool).reshape(names.data.shape))  # type: ignore[union-attr]  # an array or a cell array


@builtin("isfile")
def isfile(call: Call, names: Value) -> Value:
    """True if names are those of files."""
    return _asked(call, names, "is_file")


@builtin("isfolder")
def isfolder(call: Call, names: Value) -> Value:
    """True if names are those of folders."""
    return _asked(call, names, "is_dir")


@builtin("isdir")
def isdir(call: Call, names: Value) -> Value:
    """True if names are those of folders."""
    return _asked(call, names, "is_dir")


_FIELDS = ("name", "folder", "date", "bytes", "isdir", "datenum")


@builtin("dir")
def dir_(call: Call, name: Value | None = None) -> Value | None:
    """What is in a folder, or matches a pattern: a column of structs, or printed names."""
    shown = "." if name is None else text_of(name)
    entries = _entries(call.session.path.resolve(shown), shown)
    if not call.outputs:
        names = "  ".join(path.name or str(path) for path, _ in entries)
        call.session.write(f"\n{names}\n\n" if entries else f"\n{shown} not found.\n\n")
        return None
    made = [_entry(path, label) for path, label in entries]
    return Struct(_FIELDS, objects(made, (len(made), 1)))


def _entries(path: Path, shown: str) -> list[tuple[Path, str]]:
    """Paths and the names that they are listed by."""
    if path.is_dir() and "*" not in shown:
        inside = sorted(path.iterdir(), key=lambda item: item.name)
        return [(path, "."), (path.parent, ".."), *((item, item.name) for item in inside)]
    if "*" in shown:
        found = sorted(glob.glob(str(path), recursive=True))  # noqa: PTH207  (a pattern of whole paths)
        return [(Path(item), Path(item).name) for item in found]
    return [(path, path.name)] if path.exists() else []


def _entry(path: Path, label: str) -> dict[str, Value]:
    about = path.stat()
    folder = path if label == "." else path.parent
    when = time.localtime(about.st_mtime)
    return {
        "name": text(label),
        "folder": text(str((path if label in (".", "..") else folder).resolve())),
        "date": text(time.strftime("%d-%b-%Y %H:%M:%S", when)),
        "bytes": 0.0 if path.is_dir() else float(about.st_size),
        "isdir": path.is_dir(),
        "datenum": serial_of_timestamp(about.st_mtime),
    }


@builtin("ls")
def ls(call: Call, name: Value | None = None) -> Value | None:
    """The names in a folder, printed, or as the rows of a matrix."""
    shown = "." if name is None else text_of(name)
    names = [label for _, label in _entries(call.session.path.resolve(shown), shown)]
    names = [label for label in names if label not in (".", "..")]
    if not names and "*" in shown:
        raise MatlabError("MATLAB:ls:OSError", f"ls: cannot access '{shown}': No such file.")
    if call.outputs:
        return text_rows(names) if names else empty()
    call.session.write("  ".join(names) + "\n")
    return None


@builtin("tempdir")
def tempdir(_: Call) -> Value:
    """The folder for temporary files."""
    return text(os.path.join(tempfile.gettempdir(), ""))  # noqa: PTH118  (with a separator at its end)


@builtin("tempname")
def tempname(_: Call, folder: Value | None = None) -> Value:
    """A name that no temporary file has."""
    inside = tempfile.gettempdir() if folder is None else text_of(folder)
    return text(str(Path(inside, f"tp{uuid.uuid4()}".replace("-", "_"))))


@builtin("filesep")
def filesep(_: Call) -> Value:
    """What separates folders in a path."""
    return text(os.sep)


@builtin("pathsep")
def pathsep(_: Call) -> Value:
    """What separates the folders of the search path."""
    return text(os.pathsep)

"""The search path, and the files that names mean."""

from __future__ import annotations

import os
from pathlib import Path

from matlab_frontend.builtins.programming import frame_of
from matlab_frontend.builtins.registry import Call, builtin
from matlab_frontend.errors import MatlabError
from matlab_frontend.values.array import Value
from matlab_frontend.values.make import text
from matlab_frontend.values.read import is_text, lines_of, text_of


def _folders(call: Call, names: tuple[Value, ...], *, must_exist: bool) -> list[Path]:
    """The folders that arguments name, several in one text between separators."""
    shown = [part for name in names for line in lines_of(name) for part in line.split(os.pathsep)]
    made: list[Path] = []
    for name in filter(None, shown):
        path = call.session.path.resolve(name).resolve()
        if path.is_dir() or not must_exist:
            made.append(path)
        else:
            warning = f"Warning: Name is nonexistent or not a directory: {name}\n"
            call.session.write_error(warning)
    return made


def _shown(call: Call) -> Value:
    return text(os.pathsep.join(map(str, call.session.path.added)))


@builtin("addpath")
def addpath(call: Call, *names: Value) -> Value | None:
    """Put folders at the start of the search path, or with ``'-end'`` at its end."""
    if not names:
        raise MatlabError("MATLAB:minrhs", "Not enough input arguments.")
    before, path = _shown(call), call.session.path
    flags = ("-end", "-begin", "-frozen")
    named = [name for name in names if not (is_text(name) and text_of(name) in flags)]
    at_end = any(is_text(name) and text_of(name) == "-end" for name in names)
    folders = _folders(call, tuple(named), must_exist=True)
    left = [folder for folder in path.added if folder not in folders]
    path.added = [*left, *folders] if at_end else [*folders, *left]
    path.changed()
    return before if call.outputs else None


@builtin("rmpath")
def rmpath(call: Call, *names: Value) -> Value | None:
    """Take folders off the search path."""
    before, path = _shown(call), call.session.path
    for folder in _folders(call, names, must_exist=False):
        if folder in path.added:
            path.added.remove(folder)
        else:
            call.session.write_error(f'Warning: "{folder}" not found in path.\n')
    path.changed()
    return before if call.outputs else None


@builtin("path")
def path_(call: Call, *names: Value) -> Value | None:
    """The search path: shown, given, or set."""
    before = _shown(call)
    if names:
        call.session.path.added = _folders(call, names, must_exist=True)
        call.session.path.changed()
    elif not call.outputs:
        folders = "".join(f"    {folder}\n" for folder in call.session.path.added)
        call.session.write(f"\n\t\tMATLABPATH\n\n{folders}\n")
    return before if call.outputs else None


@builtin("genpath")
def genpath(call: Call, name: Value) -> Value:
    """A folder and those below it, as ``addpath`` takes them; no packages and no ``private``."""
    top = call.session.path.resolve(text_of(name))
    if not top.is_dir():
        return text("")
    made = []
    for folder, inside, _ in os.walk(top):
        inside[:] = sorted(
            x for x in inside if x[0] not in "+@." and x not in ("private", "resources")
        )
        made.append(folder)
    return text("".join(f"{folder}{os.pathsep}" for folder in made))


@builtin("rehash")
def rehash(call: Call, *_: Value) -> None:
    """Look for functions in files anew."""
    call.session.path.changed()


@builtin("which")
def which(call: Call, name: Value) -> Value | None:
    """What a name means: a variable, a file, a builtin, or nothing."""
    shown, frame = text_of(name), frame_of(call)
    if shown in frame.variables:
        answer = "variable"
    else:
        file = call.interpreter.library.path_of(shown, frame.scope)
        found = call.interpreter.find_function(shown, frame.scope)
        other = call.session.path.find(shown) if found is None else None
        answer = str(file or other or "") if found is None or file else f"built-in ({shown})"
    if call.outputs:
        return text(answer)
    missing = f"'{shown}' not found."
    call.session.write(
        f"{f'{shown} is a variable.' if answer == 'variable' else answer or missing}\n"
    )
    return None


@builtin("run")
def run(call: Call, name: Value) -> None:
    """Run a script where it stands, among the variables of the caller."""
    shown, path = text_of(name), call.session.path
    names = [shown] if shown.endswith(".m") else [f"{shown}.m", shown]
    found = next(
        (file for file in map(path.find, names) if file is not None and file.is_file()), None
    )
    if found is None:
        raise MatlabError("MATLAB:run:FileNotFound", f"{shown} not found.")
    file, before = found.resolve(), path.current
    path.go(file.parent)
    try:
        call.interpreter.run_file(file, frame_of(call))
    finally:
        if path.current == file.parent:  # or else the script went elsewhere
            path.go(before)

"""Names of files."""

from __future__ import annotations

import os
import re
from pathlib import PurePath

from matlab_frontend.builtins.programming import frame_of
from matlab_frontend.builtins.registry import Call, builtin
from matlab_frontend.values.array import Value, kind_of
from matlab_frontend.values.make import string, text
from matlab_frontend.values.read import text_of


@builtin("fullfile")
def fullfile(_: Call, *parts: Value) -> Value:
    """A path from its parts."""
    made = string if any(kind_of(part) == "string" for part in parts) else text
    words = [word for word in map(text_of, parts) if word]
    return made(re.sub(f"{re.escape(os.sep)}+", lambda _: os.sep, os.sep.join(words)))  # noqa: PTH118  (a path as typed: nothing is resolved)


@builtin("fileparts")
def fileparts(_: Call, path: Value) -> tuple[Value, ...]:
    """Folder, name and extension of a path."""
    made = string if kind_of(path) == "string" else text
    folder, separator, last = text_of(path).rpartition(os.sep)
    name, dot, extension = last.rpartition(".")
    if not dot:
        name, extension = extension, ""
    if separator and not folder:
        folder = os.sep
    return made(folder), made(name), made(dot + extension)


@builtin("mfilename")
def mfilename(call: Call, option: Value | None = None) -> Value:
    """The name of the file whose code runs, without its extension; or its whole path."""
    path = PurePath(frame_of(call).scope.file)
    if path.suffix != ".m":
        return text("")
    whole = option is not None and text_of(option) == "fullpath"
    return text(os.path.abspath(path.with_suffix("")) if whole else path.stem)  # noqa: PTH100  (no links are followed)

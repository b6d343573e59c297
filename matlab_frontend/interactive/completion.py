"""What the tab key offers: variables, fields, functions, keywords, files."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from matlab_frontend.builtins.names import MODULE_OF
from matlab_frontend.interactive.base_workspace import BaseWorkspace
from matlab_frontend.pattern import pattern
from matlab_frontend.tokens import KEYWORDS
from matlab_frontend.values.array import Struct

_TEXT = pattern(r"""(?:^|[\s([{,;=])['"]([^'"]*)$""")
_FILE_COMMAND = pattern(
    r"^\s*(?:cd|load|save|run|delete|ls|dir|mkdir|rmdir|addpath|rmpath)[ \t]+(?:\S+[ \t]+)*(\S*)$"
)
_NAME = pattern(r"(?:([A-Za-z]\w*(?:\.[A-Za-z]\w*)*)\.)?([A-Za-z]\w*)?$")


def completions(line: str, workspace: BaseWorkspace) -> list[str]:
    """What the end of a line may become, in alphabetical order.

    Each is the whole of what is completed: of ``x = s.na`` the field ``name`` is ``s.name``, of
    ``load da`` the file is ``data.mat``.
    """
    file = _TEXT.search(line) or _FILE_COMMAND.search(line)
    if file is not None:
        return _files(file.group(1), workspace)
    found = _NAME.search(line)
    assert found is not None, "the pattern matches nothing at all, too"
    owner, begun = found.group(1), found.group(2) or ""
    if owner is not None:
        return [f"{owner}.{name}" for name in _fields(owner, begun, workspace)]
    return _matching(_names(workspace), begun) if begun else []


def _matching(names: Iterable[str], begun: str) -> list[str]:
    return sorted({name for name in names if name.startswith(begun)})


def _names(workspace: BaseWorkspace) -> Iterable[str]:
    yield from workspace.frame.variables
    yield from workspace.interpreter.library.names(workspace.frame.scope)
    yield from MODULE_OF
    yield from KEYWORDS


def _fields(owner: str, begun: str, workspace: BaseWorkspace) -> list[str]:
    """Fields of a struct, or the functions of a builtin class such as ``gpuArray``."""
    first, *rest = owner.split(".")
    value = workspace.frame.variables.get(first)
    for name in rest:
        inner = isinstance(value, Struct) and value.data.size == 1 and name in value.fields
        value = value.data.flat[0][name] if inner and isinstance(value, Struct) else None
    if isinstance(value, Struct):
        return _matching(value.fields, begun)
    start = f"{owner}."
    return _matching((n.removeprefix(start) for n in MODULE_OF if n.startswith(start)), begun)


def _files(begun: str, workspace: BaseWorkspace) -> list[str]:
    """Files and folders whose name begins so, folders with a slash behind."""
    folder, slash, start = begun.rpartition("/")
    path = workspace.session.path.resolve(folder + slash) if slash else None
    try:
        entries = list((path or workspace.session.path.current).iterdir())
    except OSError:
        return []
    shown = [entry for entry in entries if start or not entry.name.startswith(".")]
    return _matching((f"{folder}{slash}{_with_slash(entry)}" for entry in shown), begun)


def _with_slash(entry: Path) -> str:
    return f"{entry.name}/" if entry.is_dir() else entry.name

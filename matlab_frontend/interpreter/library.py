"""The functions and scripts that a name means: those of the file, of folders, and builtins."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TypeAlias

from matlab_frontend import nodes
from matlab_frontend.builtins.registry import Builtin, find
from matlab_frontend.errors import MatlabSyntaxError
from matlab_frontend.interpreter.frame import Scope
from matlab_frontend.parser import parse
from matlab_frontend.pattern import pattern
from matlab_frontend.search_path import SearchPath
from matlab_frontend.source import Source


class File:
    """A file that is more than a function."""

    __slots__ = ("program", "scope")

    def __init__(self, program: nodes.Program, scope: Scope) -> None:
        self.program, self.scope = program, scope


class Script(File):
    """A file of statements, which run among the variables of whoever calls it."""

    __slots__ = ()


class ClassFile(File):
    """A file that defines a class, which is called to make its objects."""

    __slots__ = ()


Function: TypeAlias = Builtin | tuple[nodes.Function, Scope] | Script | ClassFile
"""A builtin, a function of a file and the file, a script, or a class."""


def scope_of(program: nodes.Program) -> Scope:
    """What the code of a program sees."""
    functions = {function.name: function for function in program.functions}
    return Scope(program.source, functions, file=program.source.name)


class Library:
    """Finds functions; a file is read once, and again after it changed."""

    def __init__(self, path: SearchPath) -> None:
        self._path = path
        self._version = path.version
        self._found: dict[tuple[str, str], Function | None] = {}
        self._names: dict[Path, frozenset[str]] = {}
        self._has_classes: bool | None = None
        self._files: dict[Path, tuple[tuple[int, int], Function]] = {}
        self.typed: dict[str, tuple[nodes.Function, Scope]] = {}
        """Functions that were typed at a prompt, which all code sees."""

    @property
    def version(self) -> int:
        """Changes when a name may mean something else."""
        return self._path.version

    def find(self, name: str, scope: Scope) -> Function | None:
        """The function of a name, as the code of a file sees it."""
        local = scope.functions.get(name)
        if local is not None:
            return local, scope
        self._refresh()
        key = (scope.file, name)
        if scope.imports or key not in self._found:
            typed = self.typed.get(name)
            self._found[key] = (
                typed or self._imported(name, scope) or self._file(name, scope) or find(name)
            )
        return self._found[key]

    def define(self, program: nodes.Program) -> None:
        """Make the functions of a text known to all code."""
        scope = scope_of(program)
        self.typed |= {function.name: (function, scope) for function in program.functions}
        self._path.changed()

    def names(self, scope: Scope) -> set[str]:
        """The functions that are not builtins, as the code of a file sees them."""
        self._refresh()
        found = {*scope.functions, *self.typed}
        return found.union(*(self._names_in(folder) for folder in self._folders(scope)))

    def _refresh(self) -> None:
        if self._version != self._path.version:
            self._version = self._path.version
            self._found.clear()
            self._has_classes = None
            self._names.clear()

    def _imported(self, name: str, scope: Scope) -> Function | None:
        for imported in scope.imports:
            package, _, last = imported.rpartition(".")
            if last in ("*", name):
                found = self._file(f"{package}.{name}", scope)
                if found is not None:
                    return found
        return None

    def _file(self, name: str, scope: Scope) -> Function | None:
        *packages, last = name.split(".")
        for folder in self._folders(scope):
            inside = folder.joinpath(*(f"+{package}" for package in packages))
            if last in self._names_in(inside):
                return self.read(inside / f"{last}.m")
        return None

    def _folders(self, scope: Scope) -> Iterable[Path]:
        """Where the code of a file looks for functions, ``private`` folders first."""
        if scope.file.endswith(".m"):
            own = self._path.resolve(scope.file).parent
            yield own / "private"
            if own.name == "private":
                yield own
        yield from self._path.folders()

    def _names_in(self, folder: Path) -> frozenset[str]:
        known = self._names.get(folder)
        if known is None:
            try:
                known = frozenset(path.stem for path in folder.iterdir() if path.suffix == ".m")
            except OSError:  # there is no such folder
                known = frozenset()
            self._names[folder] = known
        return known

    def is_package(self, name: str) -> bool:
        """True if a name begins that of a package."""
        folders = self._path.folders()
        inside = [f"+{package}" for package in name.split(".")]
        return any(folder.joinpath(*inside).is_dir() for folder in folders)

    def has_classes(self) -> bool:
        """True if a file that can be found defines a class, whose methods have any names."""
        self._refresh()
        if self._has_classes is None:
            files = (
                folder / f"{name}.m"
                for folder in self._path.folders()
                for name in self._names_in(folder)
            )
            self._has_classes = any(map(_begins_class, files))
        return self._has_classes

    def read(self, path: Path) -> Function:
        """What a file defines.

        Raises:
            OSError: it cannot be read.
            MatlabSyntaxError: it is no program.

        """
        about = path.stat()
        stamp = (about.st_mtime_ns, about.st_size)
        known = self._files.get(path)
        if known is not None and known[0] == stamp:
            return known[1]
        program = parse(Source.from_file(path))
        scope = scope_of(program)
        made: Function = Script(program, scope)
        if program.definition is not None:
            made = ClassFile(program, scope)
        elif program.functions and not program.statements:
            made = (program.functions[0], scope)
        self._files[path] = (stamp, made)
        return made

    def path_of(self, name: str, scope: Scope) -> Path | None:
        """The file of the function that a name means."""
        found = self.find(name, scope)
        if found is None or isinstance(found, Builtin):
            return None
        scope = found[1] if isinstance(found, tuple) else found.scope
        return Path(scope.file)

    def reads_callers(self, names: Iterable[str], scope: Scope) -> bool:
        """True if one of some names may mean a script, or code that looks at its caller."""
        if "evalin" in scope.source.text:
            return True
        self._refresh()
        here = set(names)
        for folder in self._folders(scope):
            for name in here & self._names_in(folder):
                try:
                    found = self.read(folder / f"{name}.m")
                except (OSError, MatlabSyntaxError):  # told where it is called
                    return True
                if isinstance(found, Script):
                    return True
                if isinstance(found, tuple) and "evalin" in found[1].source.text:
                    return True
        return False


_CLASS = pattern(rb"(?:\s|%[^\n]*\n)*classdef\b")


def _begins_class(path: Path) -> bool:
    """True if a class is what follows the comments at the start of a file."""
    try:
        return _CLASS.match(path.read_bytes()) is not None
    except OSError:  # it went meanwhile
        return False

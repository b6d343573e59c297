"""The files that are checked together, and what they define."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

from matlab_frontend import nodes
from matlab_frontend.builtins.names import MODULE_OF
from matlab_frontend.check.finding import Finding
from matlab_frontend.check.syntax import read
from matlab_frontend.errors import MatlabSyntaxError
from matlab_frontend.interpreter.captures import below
from matlab_frontend.parser import parse
from matlab_frontend.source import Source

_CHANGES_CALLERS = frozenset({"assignin", "evalin"})


class Tree:
    """Programs by file, those that are checked and those beside them.

    Attributes:
        programs: What is checked.
        errors: Syntax errors of the files.
        names: What may be called: functions, scripts, classes, packages, methods, builtins.
        methods: Names that classes have functions for, so that a call may mean those.
        changers: Names of files whose code may set variables of whoever calls it.

    """

    def __init__(self, files: Iterable[Path]) -> None:
        self.programs: dict[Path, nodes.Program] = {}
        self.errors: list[Finding] = []
        self._by_name: dict[str, list[nodes.Program]] = defaultdict(list)
        self.methods: set[str] = set()
        self.changers: set[str] = set()
        mentioned: dict[Path, set[str]] = {}
        checked = list(dict.fromkeys(files))
        for path in checked:
            program, errors = read(Source.from_file(path))
            self.errors += errors
            if program is not None:
                self.programs[path] = program
                mentioned[path] = self._add(path, program)
        for path in sorted(_beside(checked)):
            program = _parsed(path)
            if program is not None:
                mentioned[path] = self._add(path, program)
        self._files = {path.stem for path in (*checked, *_beside(checked))}
        self._mentioned = mentioned
        self.names = {name.partition(".")[0] for name in MODULE_OF} | set(MODULE_OF)
        self.names |= self._files | self.methods | set(_folders_of_names(checked))

    def _add(self, path: Path, program: nodes.Program) -> set[str]:
        """Note what a file defines; gives the names and texts that it mentions."""
        self._by_name[path.stem].append(program)
        parts: list[nodes.Node] = [*program.statements, *program.functions]
        if program.definition is not None:
            parts.append(program.definition)
            for block in program.definition.blocks:
                self.methods.update(function.name for function in block.functions)
                self.methods.update(block.signatures)
        if path.parent.name.startswith("@"):
            self.methods.add(path.stem)
        found = names_mentioned(parts)
        if found & _CHANGES_CALLERS:
            self.changers.add(path.stem)
        return found

    def is_called(self, path: Path) -> bool:
        """True if another file mentions a file's name, and may call it with own variables."""
        return any(path.stem in names for file, names in self._mentioned.items() if file != path)

    def has_file(self, name: str) -> bool:
        """True if a name is that of a file, which comes before a builtin."""
        return name in self._files

    def scripts(self) -> set[str]:
        """Names whose call may set variables of the caller."""
        return {
            name
            for name, programs in self._by_name.items()
            if any(program.statements for program in programs)
        }

    def function(self, name: str) -> nodes.Function | None:
        """The function of a file of that name, where there is one file and it is no script."""
        programs = self._by_name.get(name, [])
        if len(programs) != 1 or programs[0].statements or programs[0].definition is not None:
            return None
        return programs[0].functions[0] if programs[0].functions else None


def names_mentioned(parts: Iterable[nodes.Node]) -> set[str]:
    """Names of variables, functions and commands, and texts that may be names."""
    found: set[str] = set()
    for node in below(*parts):
        if isinstance(node, nodes.Name | nodes.FunctionHandle):
            found.add(node.name)
        elif isinstance(node, nodes.CharLiteral | nodes.StringLiteral):
            found.add(node.text.removesuffix(".m"))
        elif isinstance(node, nodes.Command):
            found.update((node.name, *(word.removesuffix(".m") for word in node.words)))
    return found


def files_of(paths: Iterable[str]) -> Iterator[Path]:
    """The files that paths name, and those in folders that they name.

    Raises:
        FileNotFoundError: There is none of a name.

    """
    for name in paths:
        path = Path(name)
        if path.is_dir():
            yield from sorted(found for found in path.rglob("*.m") if found.is_file())
        elif path.exists():
            yield path
        else:
            raise FileNotFoundError(2, "No such file or directory", name)


def _beside(files: list[Path]) -> set[Path]:
    """Files in the folders of the checked ones, and in ``private`` there."""
    folders = {path.parent for path in files}
    folders |= {folder / "private" for folder in folders}
    found = {path for folder in folders if folder.is_dir() for path in folder.glob("*.m")}
    return found - set(files)


def _folders_of_names(files: list[Path]) -> Iterator[str]:
    """Packages and classes that are folders."""
    for path in files:
        for folder in (path.parent, *path.parent.parents):
            if folder.name[:1] in "+@" and folder.name:
                yield folder.name[1:]
            elif folder == path.parent and folder.is_dir():
                inside = (entry.name for entry in folder.iterdir())
                yield from (name[1:] for name in inside if name[:1] in {"+", "@"})


def _parsed(path: Path) -> nodes.Program | None:
    try:
        return parse(Source.from_file(path))
    except (OSError, MatlabSyntaxError):
        return None

"""The command: prints what is found."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sized

from matlab_frontend.check.finding import Finding
from matlab_frontend.check.names import check_program
from matlab_frontend.check.tree import Tree, files_of


def check(paths: Iterable[str]) -> int:
    """Print the mistakes of files, and then what may be some; 1 if there are mistakes."""
    try:
        files = list(files_of(paths))
        found = findings(Tree(files))
    except OSError as error:
        sys.stderr.write(f"Error: {error.filename}: {error.strerror}.\n")
        return 1
    errors = [one for one in found if not one.is_warning]
    warnings = [one for one in found if one.is_warning]
    sys.stdout.writelines(f"{one}\n" for one in (*errors, *warnings))
    sys.stdout.flush()
    told = f"{_counted(errors, 'error')}, {_counted(warnings, 'warning')}"
    sys.stderr.write(f"{told} in {_counted(files, 'file')}\n")
    return 1 if errors else 0


def findings(tree: Tree) -> list[Finding]:
    """Everything that is found in the files of a tree, in the order of their lines."""
    found = {*tree.errors}
    for path, program in tree.programs.items():
        found.update(check_program(path, program, tree))
    return sorted(found)


def _counted(things: Sized, name: str) -> str:
    return f"{len(things)} {name}{'' if len(things) == 1 else 's'}"

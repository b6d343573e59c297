"""``%%matlab`` and ``%matlab`` of IPython and Jupyter."""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any, Protocol

from matlab_frontend.errors import MatlabError, MatlabSyntaxError
from matlab_frontend.interactive.base_workspace import BaseWorkspace
from matlab_frontend.interactive.error_report import error_report
from matlab_frontend.pattern import pattern
from runmat_jit.core.frozen import frozen

NAME = "<cell>"
"""What the sources of cells are called."""
_OPTION = pattern(r"\s*-([A-Za-z]+)(?:\s+([A-Za-z]\w*(?:,[A-Za-z]\w*)*))?(?=\s|$)")


class Shell(Protocol):
    """What is asked of IPython's shell."""

    user_ns: MutableMapping[str, Any]

    def push(self, variables: dict[str, Any]) -> None:
        """Set variables of the notebook."""


@frozen
class MagicArguments:
    """``-i x,y -o z`` and the code behind them."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    code: str


class MatlabMagic:
    """Run MATLAB code; its variables last from cell to cell.

    ``%%matlab -i x,y -o z`` runs the lines below: ``x`` and ``y`` of the notebook are pushed into
    MATLAB's workspace before, and ``z`` is pulled out of it afterwards, as NumPy and Python values.
    Both options may be left out, or stand several times. ``%matlab code`` runs one line.
    """

    # Braces and dollars belong to MATLAB's code, not to IPython's variables.
    _ipython_magic_no_var_expand = True

    def __init__(self, shell: Shell) -> None:
        self._shell = shell
        self._workspace = BaseWorkspace()

    def __call__(self, line: str, cell: str | None = None) -> None:
        arguments = read_arguments(line)
        workspace, notebook = self._workspace, self._shell.user_ns
        try:
            workspace.push({name: _looked_up(name, notebook) for name in arguments.inputs})
            workspace.run("\n".join(filter(None, (arguments.code, cell))), NAME)
            if arguments.outputs:
                self._shell.push(workspace.pull(arguments.outputs))
        except MatlabError as error:
            lines = error_report(error, workspace.interpreter.library.typed, NAME).splitlines()
            shown = error
            if isinstance(error, MatlabSyntaxError):  # which IPython shows as Python's
                shown = MatlabError(error.identifier, error.message)
            # What the cell shows instead of the interpreter's traceback.
            vars(shown)["_render_traceback_"] = lambda: lines
            raise shown from None


def _looked_up(name: str, notebook: MutableMapping[str, Any]) -> Any:
    if name not in notebook:
        message = f"The notebook has no variable '{name}' to push."
        raise MatlabError("MATLAB:UndefinedFunction", message)
    return notebook[name]


def read_arguments(line: str) -> MagicArguments:
    """The options at the start of a line, and the code that follows them.

    Raises:
        MatlabError: an option is not known, or has no names.

    """
    names: dict[str, list[str]] = {"i": [], "o": []}
    at = 0
    while (found := _OPTION.match(line, at)) is not None:
        option, listed = found.groups()
        if option not in names and at == 0 and not listed:
            break  # such as -x, an expression
        if option not in names or not listed:
            message = f"%matlab: '-{option}': there are '-i x,y' and '-o z'."
            raise MatlabError("MATLAB:magic:invalidOption", message)
        names[option] += listed.split(",")
        at = found.end()
    return MagicArguments(tuple(names["i"]), tuple(names["o"]), line[at:].strip())

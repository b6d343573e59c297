"""The prompt on a terminal."""

from __future__ import annotations

from functools import partial

from matlab_frontend.interactive.base_workspace import BaseWorkspace
from matlab_frontend.interactive.completion import completions
from matlab_frontend.interactive.line_editing import history_file, line_editing
from matlab_frontend.interactive.prompt import Prompt
from matlab_frontend.session import write_error

GREETING = "MATLAB programs in runmat_jit: 'help name' explains a function, 'exit' leaves.\n\n"


def converse(device: str) -> int:
    """Read statements from the terminal and run them; gives the exit status."""
    workspace = BaseWorkspace(device)
    workspace.session.write(GREETING)
    with line_editing(partial(completions, workspace=workspace), history_file()):
        return Prompt(workspace, input, write_error).run()

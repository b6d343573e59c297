"""MATLAB programs: run them from Python, or from the command line.

``python -m runmat_jit.matlab script.m`` runs a file, ``-e "code"`` a text; without arguments there
is a prompt. ``%load_ext runmat_jit.matlab`` adds ``%%matlab`` cells to IPython and Jupyter.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from matlab_frontend.errors import MatlabError, MatlabSyntaxError
from matlab_frontend.workspace import Workspace
from runmat_jit.core.config import DEVICES
from runmat_jit.core.errors import ArgumentError
from runmat_jit.core.loading import no_collections

if TYPE_CHECKING:
    from matlab_frontend.python_function import MatlabFunction

__all__ = ["MatlabError", "MatlabSyntaxError", "Workspace", "function", "run"]


def run(
    program: str | Path, variables: Mapping[str, Any] | None = None, *, device: str = "auto"
) -> Workspace:
    """Run a MATLAB program and give the variables that it left, as NumPy and Python values.

    Args:
        program: A path, or a text: a ``str`` is a path if it ends with ``.m`` and is one line.
        variables: What the program finds: NumPy arrays, numbers, texts, lists, dictionaries.
        device: Where large arrays are computed, and whether there are gpuArrays: ``cpu``; ``gpu``
            (the CPU where there is none); ``auto`` (today the CPU).

    Raises:
        ArgumentError: The device has another name.
        MatlabError: The program raised an error that it did not catch; ``identifier`` is MATLAB's,
            and the notes say where.
        MatlabSyntaxError: The text is no MATLAB program.
        OSError: The file cannot be read.

    >>> run("y = x.^2 + 1;", variables={"x": 3.0})["y"]
    np.float64(10.0)

    """
    from matlab_frontend.run import run_program  # noqa: PLC0415  (only programs need it)

    _check(device)
    return run_program(program, variables or {}, device)


def function(program: str | Path, *, device: str = "auto") -> MatlabFunction:
    r"""Make a Python callable of a MATLAB function.

    It takes NumPy arrays, numbers, texts, lists and dictionaries, and gives NumPy and Python
    values: the first output, or with ``nargout=2`` a tuple of two. ``name=value`` arguments go
    behind the others, as a name and a value.

    Args:
        program: A file whose first function is meant, or a text, as for ``run``.
        device: As for ``run``.

    Raises:
        ArgumentError: The device has another name, or the program is a script.
        MatlabSyntaxError: The text is no MATLAB program.
        OSError: The file cannot be read.

    >>> area = function("function [a, p] = area(w, h)\na = w*h; p = 2*(w + h);")
    >>> area(3, 4)
    np.float64(12.0)
    >>> area(3, 4, nargout=2)
    (np.float64(12.0), np.float64(14.0))

    """
    from matlab_frontend.python_function import MatlabFunction  # noqa: PLC0415  (likewise)

    _check(device)
    return MatlabFunction(program, device)


def load_ipython_extension(shell: Any) -> None:
    """Add ``%%matlab`` and ``%matlab``: what ``%load_ext runmat_jit.matlab`` calls."""
    from matlab_frontend.interactive.cell_magic import MatlabMagic  # noqa: PLC0415  (for notebooks)

    shell.register_magic_function(MatlabMagic(shell), "line_cell", "matlab")


def _check(device: str) -> None:
    if device not in DEVICES:
        raise ArgumentError(f"device={device!r}: there are {', '.join(DEVICES)}")


if __name__ == "__main__":
    with no_collections():
        from matlab_frontend.cli import main

    gc.freeze()  # modules stay until the end, where looking through them takes as long as loading
    sys.exit(main())

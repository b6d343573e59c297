"""MATLAB programs: run them from Python, or from the command line.

``python -m runmat_jit.matlab script.m`` runs a file, ``-e "code"`` a text.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from matlab_frontend.errors import MatlabError, MatlabSyntaxError
from matlab_frontend.workspace import Workspace
from runmat_jit.core.config import DEVICES
from runmat_jit.core.errors import ArgumentError
from runmat_jit.core.loading import no_collections

__all__ = ["MatlabError", "MatlabSyntaxError", "Workspace", "run"]


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

    if device not in DEVICES:
        raise ArgumentError(f"device={device!r}: there are {', '.join(DEVICES)}")
    return run_program(program, variables or {}, device)


if __name__ == "__main__":
    with no_collections():
        from matlab_frontend.cli import main

    gc.freeze()  # modules stay until the end, where looking through them takes as long as loading
    sys.exit(main())

"""Progress of long compilations. Oracle: what a terminal receives."""

import os
import pty
import subprocess
import sys

import pytest

CODE = """
import numpy as np
import runmat_jit as runmat
from runmat_jit.core import status_line
status_line.PATIENCE = {patience}

@runmat.jit(compile="first call")
def wave(x):
    return np.sin(x) * 2, np.sort(x) + 1

wave(np.ones(2000))
"""


def stderr_of(script, *, terminal, **variables):
    """Return what a process writes to its standard error stream, on a terminal or not."""
    environment = {**os.environ, "RUNMAT_CACHE_DIR": "none", "TERM": "xterm", **variables}
    if not terminal:
        made = subprocess.run(
            [sys.executable, str(script)], env=environment, capture_output=True, check=False
        )
        assert made.returncode == 0
        return made.stderr.decode()
    ours, theirs = pty.openpty()
    made = subprocess.Popen([sys.executable, str(script)], env=environment, stderr=theirs)
    os.close(theirs)
    found = b""
    while True:
        try:
            part = os.read(ours, 4096)
        except OSError:  # the other side is closed
            break
        if not part:
            break
        found += part
    os.close(ours)
    assert made.wait(60) == 0
    return found.decode()


@pytest.mark.parametrize(
    ("patience", "terminal", "asked", "shows"),
    [(0, True, "1", True), (0, True, "0", False), (0, False, "1", False), (600, True, "1", False)],
)
def test_compiling_is_shown_on_a_terminal_where_it_takes_long(
    tmp_path, patience, terminal, asked, shows
):
    script = tmp_path / "script.py"
    script.write_text(CODE.format(patience=patience))
    found = stderr_of(script, terminal=terminal, RUNMAT_PROGRESS=asked)
    assert ("compiling: 1 kernels" in found) is shows
    assert shows or not found

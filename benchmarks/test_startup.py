"""Costs that are paid once, each in a fresh process: importing, and the first call of a chain."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.conftest import record

CHAIN = """
import sys
from time import perf_counter
begin = perf_counter()
import numpy as np
numpy = perf_counter()
import runmat_jit as runmat
ours = perf_counter()
@runmat.jit
def f(x):
    return x * 2 + x - 1
x = np.ones(1000, np.float32)
called = perf_counter()
assert (f(x) == 2).all()
print(numpy - begin, ours - numpy, perf_counter() - called)
"""
PARTS = ("import numpy", "import runmat_jit", "first call")


def seconds(folder: Path) -> list[float]:
    """Return the seconds of the parts in a new process, whose disk cache is the folder."""
    environment = {name: value for name, value in os.environ.items() if name not in UNSET}
    environment |= {"PYTHONPATH": str(Path(__file__).parents[1]), "RUNMAT_CACHE_DIR": str(folder)}
    program = folder / "program.py"  # a file: of other programs Python does not know the source
    program.write_text(CHAIN)
    command = [sys.executable, str(program)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return [float(number) for number in done.stdout.split()]


UNSET = ("PYTHONDONTWRITEBYTECODE",)
"""Packages are installed with their byte code."""


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("cache", ["empty cache", "filled cache"])
def test_startup(cache, part, benchmark, tmp_path):
    rounds = []
    seconds(tmp_path)  # byte code is written, files are read
    for number in range(10):
        folder = tmp_path if cache == "filled cache" else tmp_path / str(number)
        folder.mkdir(exist_ok=True)
        rounds.append(seconds(folder)[PARTS.index(part)])
    benchmark.group = part
    record(benchmark, rounds)

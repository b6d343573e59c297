"""Costs that are paid once: importing, and the first call in a fresh process."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from benchmarks.cases.case import Case, Shape
from benchmarks.ratios import Ratio, ratio_of_rounds
from benchmarks.worker import Worker

TIMED_IMPORT = "from time import perf_counter as t; a = t(); import {}; print(t() - a)"
CACHE_VARIABLES = ("RUNMAT_CACHE_DIR", "TORCHINDUCTOR_CACHE_DIR", "NUMBA_CACHE_DIR")


@dataclass(frozen=True, slots=True)
class ImportTime:
    numpy_ms: float
    runmat_ms: float
    ratio: Ratio

    @property
    def beyond_numpy_ms(self) -> float:
        return self.runmat_ms - self.numpy_ms


@dataclass(frozen=True, slots=True)
class FirstCall:
    """Median milliseconds of the first call; `warm` finds the disk cache an earlier process left.

    A peer without a disk cache, or with one that is off by default, compiles in both.
    """

    cold_ms: float
    warm_ms: float
    samples: int


def measure_import(rounds: int) -> ImportTime:
    """Fresh processes that import NumPy or `runmat_jit` (which imports NumPy), in alternation."""
    _import_seconds("runmat_jit")  # byte code is written and files are read once
    numpy, runmat = [], []
    for _ in range(rounds):
        numpy.append(_import_seconds("numpy"))
        runmat.append(_import_seconds("runmat_jit"))
    return ImportTime(1e3 * median(numpy), 1e3 * median(runmat), ratio_of_rounds(runmat, numpy))


def measure_first_call(
    case: Case, peers: Sequence[str], shape: Shape, samples: int
) -> dict[str, FirstCall]:
    """First calls of each peer in fresh processes, peers in alternation; no samples, no figures."""
    cold: dict[str, list[float]] = {peer: [] for peer in peers}
    warm: dict[str, list[float]] = {peer: [] for peer in peers}
    for _ in range(samples):
        for peer in peers:
            with TemporaryDirectory(prefix="runmat-bench-") as directory:
                cold[peer].append(_first_call(case, peer, shape, Path(directory)))
                warm[peer].append(_first_call(case, peer, shape, Path(directory)))
    return {
        peer: FirstCall(1e3 * median(cold[peer]), 1e3 * median(warm[peer]), samples)
        for peer in (peers if samples else ())
    }


def _first_call(case: Case, peer: str, shape: Shape, cache: Path) -> float:
    environment = {name: str(cache / name.lower()) for name in CACHE_VARIABLES}
    with Worker(peer, case.name, shape, environment) as worker:
        return worker.call("first")


def _import_seconds(module: str) -> float:
    command = [sys.executable, "-c", TIMED_IMPORT.format(module)]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)

"""Printing of a comparison: figures on stdout, progress on stderr."""

from __future__ import annotations

import sys
from statistics import median
from typing import TYPE_CHECKING

from benchmarks.machine import Machine
from benchmarks.startup import ImportTime

if TYPE_CHECKING:
    from benchmarks.compare import Comparison

MODES = {
    "dropped": "results dropped (each freed before the next call)",
    "kept": "results kept (all stay alive)",
    "small": "small calls",
}


def progress(text: str) -> None:
    """One line that the next one overwrites; nothing where nobody watches."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def note(text: str) -> None:
    progress("")
    print(text, file=sys.stderr, flush=True)


def print_machine(machine: Machine) -> None:
    print(f"{machine.cpu}, {machine.cores} cores, {machine.vector_bits}-bit vectors")
    print(f"{machine.system}, Python {machine.python}, NumPy {machine.numpy}")
    print(f"commit {machine.commit}, load average {machine.load:.2f}")
    if machine.load > 0.3:
        note("the machine is not idle: peers that wait at barriers lose most, so repeat this later")


def print_import(times: ImportTime) -> None:
    progress("")
    print(
        f"import runmat_jit: {times.runmat_ms:.0f} ms, {times.beyond_numpy_ms:.0f} ms of it beyond "
        f"NumPy's {times.numpy_ms:.0f} ms; {times.ratio} of NumPy's"
    )


def print_comparison(found: Comparison, baseline: str) -> None:
    progress("")
    print(f"\n{found.case}")
    for peer, description in found.peers.items():
        versions = ", ".join(f"{name} {version}" for name, version in description.versions.items())
        threads = f"threads: {description.threads or 'its own choice'}"
        parts = (versions, threads, description.note, f"parity: {found.parity[peer].detail}")
        print(f"  {peer:14} {'; '.join(filter(None, parts))}")
    for measured, ratios in zip(found.rounds, found.ratios, strict=True):
        shape = " x ".join(map(str, measured.shape))
        rounds = len(measured.seconds[baseline])
        print(f"  {MODES[measured.mode]}, {shape}, {rounds} rounds")
        for peer, seconds in measured.seconds.items():
            against = f"  {ratios[peer]} of {baseline}" if peer in ratios else ""
            print(f"    {peer:14}{_duration(median(seconds)):>12}{against}")
    if found.first_call:
        print("  first call in a fresh process: no cache / cache of an earlier process")
    for peer, first in found.first_call.items():
        print(f"    {peer:14}{first.cold_ms:>9.1f} ms /{first.warm_ms:>9.1f} ms")
    print(f"  load average afterwards {found.load_after:.2f}")


def _duration(seconds: float) -> str:
    if seconds < 1e-3:
        return f"{1e6 * seconds:.2f} us"
    return f"{1e3 * seconds:.2f} ms"

"""Printing of a comparison: figures on stdout, progress on stderr."""

from __future__ import annotations

import sys

from benchmarks.machine import Machine


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

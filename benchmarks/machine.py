"""What a reader has to know about the machine to judge a figure."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np


@dataclass(frozen=True, slots=True)
class Machine:
    cpu: str
    vector_bits: int
    cores: int
    system: str
    python: str
    numpy: str
    commit: str
    load: float  # over the last minute, before anything was measured


def describe_machine() -> Machine:
    info = _cpuinfo()
    return Machine(
        cpu=info.get("model name", platform.processor() or platform.machine()),
        vector_bits=_vector_bits(info.get("flags", "").split()),
        cores=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        system=platform.platform(),
        python=sys.version.split()[0],
        numpy=np.__version__,
        commit=_commit(),
        load=load_average(),
    )


def load_average() -> float:
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")


def _cpuinfo() -> dict[str, str]:
    path = Path("/proc/cpuinfo")
    if not path.exists():
        return {}
    first = path.read_text(encoding="utf-8").split("\n\n", maxsplit=1)[0]
    pairs = (line.partition(":") for line in first.splitlines())
    return {key.strip(): value.strip() for key, _, value in pairs}


def _vector_bits(flags: list[str]) -> int:
    if "avx512f" in flags:
        return 512
    return 256 if "avx2" in flags else 128


def _commit() -> str:
    command = ["git", "describe", "--always", "--dirty"]
    found = subprocess.run(
        command, cwd=Path(__file__).parent, capture_output=True, text=True, check=False
    )
    return found.stdout.strip() or "unknown"

"""Costs that are paid once: importing, and the first call in a fresh process of a small chain.

``python -m benchmarks.startup [--against CHECKOUT]`` takes them of a small chain, in alternation
with those of another checkout: without and with a disk cache. Time on the wall and of the CPU,
which a busy machine disturbs less; the least of all rounds.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

# -- a small chain, against another checkout -------------------------------------------------------
SMALL_CHAIN = """
from time import perf_counter, process_time
def now():
    return perf_counter(), process_time()
times = [now()]
import numpy as np
times.append(now())
import runmat_jit as runmat
times.append(now())
@runmat.jit
def f(x):
    return x * 2 + x - 1
x = np.ones(1000, np.float32)
times.append(now())
assert (f(x) == 2).all()
times.append(now())
for after, before in ((1, 0), (2, 1), (4, 3)):
    print(*[1e3 * (a - b) for a, b in zip(times[after], times[before])])
"""
PARTS = ("import numpy", "import runmat_jit", "first call")


def measure_small_chain(checkouts: Sequence[Path], rounds: int) -> dict[tuple[Path, str], list]:
    """Milliseconds on the wall and of the CPU, of each part: the least of all rounds."""
    found = defaultdict(list)
    for _ in range(rounds):
        for checkout in checkouts:
            with TemporaryDirectory(prefix="runmat-bench-") as cache:
                for cached in ("no cache", "cached"):
                    found[checkout, cached].append(_small_chain(checkout, Path(cache)))
    return {key: [min(each) for each in zip(*times, strict=True)] for key, times in found.items()}


def _small_chain(checkout: Path, cache: Path) -> list[float]:
    environment = {name: value for name, value in os.environ.items() if name != NO_BYTE_CODE}
    environment |= {"PYTHONPATH": str(checkout), "RUNMAT_CACHE_DIR": str(cache)}
    program = cache / "program.py"  # a file: of other programs Python does not know the source
    program.write_text(SMALL_CHAIN)
    command = [sys.executable, str(program)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return [float(number) for number in done.stdout.split()]


NO_BYTE_CODE = "PYTHONDONTWRITEBYTECODE"
"""Packages are installed with their byte code."""


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.startup", description=__doc__)
    parser.add_argument("--against", type=Path, help="another checkout, to compare with")
    parser.add_argument("--rounds", type=int, default=10)
    options = parser.parse_args(arguments)
    here = Path(__file__).resolve().parents[1]
    checkouts = [here, *([options.against.resolve()] if options.against else [])]
    with TemporaryDirectory(prefix="runmat-bench-") as cache:
        for checkout in checkouts:  # byte code is written and files are read once
            _small_chain(checkout, Path(cache))
    for (checkout, cached), times in measure_small_chain(checkouts, options.rounds).items():
        parts = zip(PARTS, times[::2], times[1::2], strict=True)
        shown = ", ".join(f"{name} {wall:.1f} ms ({cpu:.1f} CPU)" for name, wall, cpu in parts)
        print(f"{checkout.name:20} {cached:9} {shown}")


if __name__ == "__main__":
    main()

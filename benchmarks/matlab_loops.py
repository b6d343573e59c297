"""MATLAB loops and functions of numbers against Octave: ``python -m benchmarks.matlab_loops``.

It takes two minutes. The scripts of ``benchmarks/matlab/loops`` and ``functions`` are run as users
run them, each in a process of its own, starts included; the texts that they print are compared
first. The kernel cache is that of the user, so that the first of the runs may compile; the table
shows the fastest of several.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

SCRIPTS = [
    script
    for folder in ("loops", "functions")
    for script in sorted((Path(__file__).parent / "matlab" / folder).glob("*.m"))
]
OCTAVE = "octave-cli"


def run(command: Sequence[str]) -> tuple[float, str]:
    """Seconds that a process takes, and what it prints."""
    begun = time.perf_counter()
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env=dict(os.environ)
    )
    return time.perf_counter() - begun, done.stdout.strip()


def main(given: Sequence[str] | None = None) -> None:
    """Print the table.

    Raises:
        AssertionError: a script printed another text than Octave did.

    """
    parser = argparse.ArgumentParser(prog="python -m benchmarks.matlab_loops", description=__doc__)
    parser.add_argument("--only", default="", help="names of scripts, with commas")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args(given)
    wanted = [name for name in options.only.split(",") if name]
    octave = shutil.which(OCTAVE)
    print(f"{'':<20}{'first s':>10}{'ours s':>10}{'Octave s':>10}  Octave / ours")
    ratios = []
    for script in SCRIPTS:
        if wanted and script.stem not in wanted:
            continue
        runs = [
            run([sys.executable, "-m", "runmat_jit.matlab", str(script)])
            for _ in range(options.rounds)
        ]
        ours = min(seconds for seconds, _ in runs)
        shown = f"{script.stem:<20}{runs[0][0]:>10.2f}{ours:>10.2f}"
        if octave is None:
            print(f"{shown}{'-':>10}  -")
            continue
        theirs, expected = run([octave, "--quiet", str(script)])
        found = {text for _, text in runs}
        assert found == {expected}, f"{script.stem}: {found}, not {expected}"
        ratios.append(theirs / ours)
        print(f"{shown}{theirs:>10.2f}  {ratios[-1]:.1f}")
    if ratios:
        product = 1.0
        for ratio in ratios:
            product *= ratio
        print(f"{'geometric mean':<50}  {product ** (1 / len(ratios)):.1f}")


if __name__ == "__main__":
    main()

"""A test has one name; oracle: what two processes collect whose strings hash differently.

Workers that run tests side by side agree on what there is by these names, and `pytest <name>` finds
a test of yesterday's report.
"""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
SEEDS = ("1", "2")


def collect(seed):
    command = [sys.executable, "-m", "pytest", "--collect-only", "-n0", "-p", "no:syrupy", "tests"]
    return subprocess.Popen(
        command, cwd=ROOT, env={**os.environ, "PYTHONHASHSEED": seed}, stdout=subprocess.PIPE
    )


def names(process):
    lines = process.communicate()[0].decode().splitlines()
    assert process.returncode == 0, "\n".join(lines[-40:])
    return [line for line in lines if "::" in line]


def test_every_process_gives_the_tests_the_same_names_in_the_same_order():
    first, second = [names(process) for process in [collect(seed) for seed in SEEDS]]
    assert len(first) > 1000
    assert [pair for pair in zip(first, second, strict=True) if pair[0] != pair[1]] == []

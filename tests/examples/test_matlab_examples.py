"""Every example in MATLAB runs from the command line; oracle: its own assertions, one output."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.m"))


def run(example, device, folder):
    return subprocess.run(
        [sys.executable, "-m", "runmat_jit.matlab", str(example), "--device", device],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_the_example_says_the_same_on_each_device(example, tmp_path):
    found = {device: run(example, device, tmp_path) for device in ("cpu", "gpu")}
    for result in found.values():
        assert result.returncode == 0, result.stderr
    assert found["cpu"].stdout.strip()
    assert found["cpu"].stdout == found["gpu"].stdout


def test_there_are_examples():
    assert EXAMPLES

"""Every example runs from the command line; oracle: its own assertions and exit status."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.py"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_the_example_runs_and_says_what_it_did(example, tmp_path):
    found = subprocess.run(
        [sys.executable, "-W", "error", "-W", "default::RuntimeWarning", str(example)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 0, found.stderr
    assert found.stdout.strip()
    assert not found.stderr


def test_there_are_examples():
    assert len(EXAMPLES) >= 3

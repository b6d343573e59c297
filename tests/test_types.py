"""Types of the public functions; oracle: mypy, which must report exactly the lines that say so."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.slow
def test_parameters_and_results_keep_their_types(tmp_path):
    options = ["--strict", "--warn-unused-ignores", f"--cache-dir={tmp_path}"]
    command = [sys.executable, "-m", "mypy", *options, "tests/typed_calls.py"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout

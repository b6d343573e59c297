"""Imports point down; the oracle is import-linter with the contracts of pyproject.toml."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
LINT = "import sys; from importlinter.cli import lint_imports_command as lint; lint()"


def test_imports_point_down():
    command = [sys.executable, "-c", LINT, "--no-cache"]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout + found.stderr

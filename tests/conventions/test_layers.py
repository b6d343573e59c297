"""Imports point down; the oracle is import-linter with the contracts of pyproject.toml."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LINT = "import sys; from importlinter.cli import lint_imports_command as lint; lint()"

PARTS = {path.stem for path in (ROOT / "runmat_jit").glob("[!.]*") if path.name[:3] != "py."}


@pytest.mark.parametrize("library", ["llvmlite", "wgpu"])
def test_only_one_part_may_import_a_library(library):
    """The contract names every other one: a new part must be added to it."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    (contract,) = [c for c in contracts["contracts"] if c.get("forbidden_modules") == [library]]
    named = {name.split(".")[1] for name in contract["source_modules"] if "." in name}
    assert named == PARTS - {"__init__", "__pycache__"}


def test_imports_point_down():
    command = [sys.executable, "-c", LINT, "--no-cache"]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout + found.stderr

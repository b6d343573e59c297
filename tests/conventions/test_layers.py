"""Which part may import which library; import-linter holds the contracts of pyproject.toml."""

import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

PARTS = {path.stem for path in (ROOT / "runmat_jit").glob("[!.]*") if path.name[:3] != "py."}


@pytest.mark.parametrize("library", ["llvmlite", "wgpu"])
def test_only_one_part_may_import_a_library(library):
    """The contract names every other one: a new part must be added to it."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    (contract,) = [c for c in contracts["contracts"] if c.get("forbidden_modules") == [library]]
    named = {name.split(".")[1] for name in contract["source_modules"] if "." in name}
    assert named == PARTS - {"__init__", "__pycache__"}

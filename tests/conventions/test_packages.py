"""The code stays readable: oracle is the limit itself, counted from the source text."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = [
    path
    for folder in ("runmat_jit", "matlab_frontend", "benchmarks", "examples", "tools")
    for path in sorted((ROOT / folder).rglob("*.py"))
]
MODULE_LINES = 400
FUNCTION_LINES = 60
FORBIDDEN_NAMES = {"utils", "util", "helpers", "helper", "common", "misc"}


def test_no_module_is_longer_than_anyone_wants_to_read():
    lengths = {str(path.relative_to(ROOT)): len(path.read_text().splitlines()) for path in SOURCES}
    assert {name: n for name, n in lengths.items() if n > MODULE_LINES} == {}


def test_every_function_fits_a_screen():
    found = {}
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = node.end_lineno - node.lineno + 1
                if lines > FUNCTION_LINES:
                    found[f"{path.relative_to(ROOT)}:{node.lineno} {node.name}"] = lines
    assert found == {}


def test_modules_are_named_after_what_they_hold():
    assert [path for path in SOURCES if path.stem in FORBIDDEN_NAMES] == []


@pytest.mark.parametrize("package", ["runmat_jit", "matlab_frontend"])
def test_packages_say_that_they_are_typed(package):
    assert (ROOT / package / "py.typed").is_file()

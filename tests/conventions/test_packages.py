"""What the files of the packages are called and declare; oracle: the list below."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("runmat_jit", "matlab_frontend", "benchmarks", "examples", "tools")
FORBIDDEN_NAMES = {"utils", "util", "helpers", "helper", "common", "misc"}


def test_modules_are_named_after_what_they_hold():
    modules = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")]
    assert [path for path in modules if path.stem in FORBIDDEN_NAMES] == []


@pytest.mark.parametrize("package", ["runmat_jit", "matlab_frontend"])
def test_packages_say_that_they_are_typed(package):
    assert (ROOT / package / "py.typed").is_file()

"""Everything a user can set or read is documented; oracle: the names found in the source text."""

import re
from pathlib import Path

import pytest

from docs import generate

ROOT = Path(__file__).parents[2]
VARIABLE = re.compile(r"\bRUNMAT_[A-Z][A-Z_]*[A-Z]\b")
INTERNAL = {"RUNMAT_TEST_PROFILE"}  # of the tests, documented in CONTRIBUTING.md


def names_in(*paths):
    return {name for path in paths for name in VARIABLE.findall(path.read_text(encoding="utf-8"))}


def test_every_environment_variable_is_documented_and_every_documented_one_exists():
    sources = [path for folder in ("runmat_jit",) for path in (ROOT / folder).rglob("*.py")]
    documented = names_in(ROOT / "docs" / "reference" / "config.md")
    assert names_in(*sources) - INTERNAL == documented


@pytest.mark.parametrize("name", generate.PAGES)
def test_a_generated_page_says_what_the_code_says(name):
    committed = (generate.DOCS / name).read_text(encoding="utf-8")
    assert committed == generate.NOTICE + generate.PAGES[name](), "run python docs/generate.py"


def test_the_test_profile_is_explained_to_contributors():
    assert "RUNMAT_TEST_PROFILE" in (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def test_the_readme_and_continuous_integration_run_the_same_command():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    commands = re.findall(r"^pip install -e .*&& pytest$", readme, re.MULTILINE)
    assert commands == ["pip install -e '.[test]' && pytest"]
    assert "README.md" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def test_the_table_of_contents_lists_every_page_once():
    contents = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    pages = [path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")]
    assert sorted(re.findall(r": (\S+\.md)$", contents, re.MULTILINE)) == sorted(pages)


def test_links_between_pages_lead_somewhere():
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), ROOT / "benchmarks" / "README.md"]
    broken = [
        f"{page.relative_to(ROOT)}: {target}"
        for page in pages
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text(encoding="utf-8"))
        if "://" not in target and not (page.parent / target).exists()
    ]
    assert broken == []

"""What must not stand in the project's files; the oracle is the list below."""

import re
from pathlib import Path

import pytest

from tests.conventions.test_ratchets import GLOSSARY

ROOT = Path(__file__).parents[2]
TEXT = {".py", ".md", ".toml", ".yml", ".yaml", ".cfg", ".ini", ".m", ".sh", ""}
PACKAGES = ("runmat_jit", "matlab_frontend")
FOLDERS = (*PACKAGES, "benchmarks", "examples", "tests", "docs", "tools", ".ci")
FORBIDDEN = {
    "paths of one machine": r"/work/|/root/|/home/\w+/",
    "unfinished work": r"\b(TODO|FIXME|XXX)\b",
    "how the text came about": r"\b(subagent|ChatGPT|co-?pilot|AI[- ]generated|prototypes?)\b",
    "numbers that only a tracker explains": r"\b(issue|ticket) #?\d+",
    "silenced tools without a code": r"# noqa(?!: [A-Z])|# type: ignore(?!\[)",
    "silenced errors": r"except Exception: *(pass|\.\.\.)|except:",
}
IN_PACKAGES_ONLY = {"promises of code": r"\bNotImplementedError\b"}
EXEMPT = {Path(__file__).resolve()}


def texts(folders=FOLDERS):
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.is_file() and path.suffix in TEXT and path.resolve() not in EXEMPT:
                if "__pycache__" not in path.parts:
                    yield path, path.read_text(encoding="utf-8")
    if folders == FOLDERS:
        for path in sorted(ROOT.glob("*.md")):
            yield path, path.read_text(encoding="utf-8")


def places(pattern, folders=FOLDERS):
    return [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path, text in texts(folders)
        for number, line in enumerate(text.splitlines(), 1)
        if re.search(pattern, line)
    ]


@pytest.mark.parametrize("reason", FORBIDDEN)
def test_no_file_contains(reason):
    assert places(FORBIDDEN[reason]) == []


@pytest.mark.parametrize("reason", IN_PACKAGES_ONLY)
def test_no_package_contains(reason):
    assert places(IN_PACKAGES_ONLY[reason], PACKAGES) == []


def test_the_patterns_find_what_they_are_for():
    bad = "see /work/x  # noqa\n# TODO\nexcept: pass\nissue 12\nprototype\nexcept Exception: pass"
    assert all(re.search(pattern, bad) for pattern in FORBIDDEN.values())


def test_a_silenced_finding_carries_its_reason():
    """On the same line, or in a comment among the three lines above."""
    unexplained = []
    for path, text in texts((*PACKAGES, "benchmarks", "examples", "tools")):
        lines = text.splitlines()
        for index, line in enumerate(lines):
            found = re.search(r"# (noqa: [A-Z0-9, ]+|type: ignore\[[\w, -]+\])(.*)$", line)
            above = (other.strip() for other in lines[max(0, index - 3) : index])
            if found and len(found[2].strip(" -#")) < 4 and not any(a[:1] == "#" for a in above):
                unexplained.append(f"{path.relative_to(ROOT)}:{index + 1}: {line.strip()}")
    assert unexplained == []


def test_pages_that_users_read_have_the_terms_of_the_field():
    """The glossary of the ratchets has the term for each word; these phrases are the language's."""
    phrases = r"in place|last\s+place|text files?|record 0053[^)]*"
    pages = [ROOT / name for name in ("README.md", "CHANGELOG.md", "benchmarks/README.md")]
    pages += [path for path in (ROOT / "docs").rglob("*.md") if "design" not in path.parts]
    words = "|".join(GLOSSARY).replace("(ours", "(?:ours")
    found = []
    for page in pages:
        if page.name == "builtins.md":  # MATLAB calls its characters and strings text
            continue
        prose = re.sub(
            rf"(?s)```.*?```|`[^`\n]*`|\]\([^)]*\)|{phrases}", "", page.read_text("utf-8")
        )
        found += [
            f"{page.relative_to(ROOT)}: {word}"
            for word in re.findall(rf"(?i)\b(?:{words})\b", prose)
        ]
    assert found == []

"""Every Python block of the documentation runs; oracles: its assertions and `>>>` outputs.

The blocks of a page run in order in one namespace, as a reader would type them. A block that holds
`>>>` is checked as a doctest, any other is executed. Commands are looked at, not run: the oracle is
that the modules and files that they name exist.
"""

import doctest
import importlib.util
import linecache
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FENCE = re.compile(r"^ *```(.*)$", re.MULTILINE)
COMMANDS = re.compile(r"^```bash\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def blocks(page):
    text = page.read_text(encoding="utf-8")
    return [(text.count("\n", 0, m.start(1)) + 1, m[1]) for m in BLOCK.finditer(text)]


def execute(name, line, source, namespace):
    filename = f"<{name} line {line}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    exec(compile(source, filename, "exec"), namespace)


def check(name, line, source, namespace):
    test = doctest.DocTestParser().get_doctest(source, namespace, name, name, line)
    test.globs = namespace  # the parser copies it; names defined here are used further down
    report = []
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    runner.run(test, out=report.append, clear_globs=False)
    assert runner.failures == 0, "".join(report)


# Where a RuntimeWarning is an error, as in our other tests, each operation runs by itself.
@pytest.mark.filterwarnings("default::RuntimeWarning")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_block_of_the_page_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    name, namespace = page.name, {"__name__": "documentation"}
    for line, source in blocks(page):
        run = check if ">>>" in source else execute
        run(name, line, source, namespace)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_no_block_of_the_page_is_passed_over(page):
    """A fence of another kind, or one that is indented, would never be run."""
    fences = FENCE.findall(page.read_text(encoding="utf-8"))
    assert set(fences[1::2]) <= {""}, "every other fence closes a block"
    kinds = [kind for kind in fences[::2] if kind not in ("bash", "text")]
    if page.parent.name == "reasons" and page.stem != "index":
        assert len(kinds) == 2, "test_reasons.py runs these, in whatever Python has their syntax"
    else:
        assert kinds == ["python"] * len(blocks(page))


def test_commands_name_modules_and_files_that_exist():
    if not (ROOT / "runmat_jit").is_dir():
        pytest.skip("only what was installed is here")
    pages = [*PAGES, ROOT / "benchmarks" / "README.md"]
    texts = [text for page in pages for text in COMMANDS.findall(page.read_text("utf-8"))]
    modules = {name for text in texts for name in re.findall(r"python -m ([\w.]+)", text)}
    files = {name for text in texts for name in re.findall(r"\b[\w/]+\.(?:m|py)\b", text)}
    assert {"runmat_jit", "runmat_jit.matlab"} <= modules
    assert files
    assert {name for name in modules if importlib.util.find_spec(name) is None} == set()
    assert {name for name in files if not (ROOT / name).is_file()} == set()


def test_a_wrong_output_is_noticed():
    with pytest.raises(AssertionError, match="Expected"):
        check("page", 1, ">>> 1 + 1\n3\n", {})

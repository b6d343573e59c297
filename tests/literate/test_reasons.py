"""Pages of reasons. Oracle: the page's own name, which its first example must report and its second
must not, by ``explain()`` and by the exception of ``fullgraph=True``.

Each call of a decorated function in an example is also explained, or the functions are decorated
with ``fullgraph=True``; nothing else of the example is changed.
"""

import ast
import linecache
import re
import sys
from pathlib import Path

import pytest

import runmat_jit as runmat
from runmat_jit.capture.record import tape_writer
from runmat_jit.core.errors import BackendError
from runmat_jit.core.reasons import CAUSES
from runmat_jit.jit_function import JitFunction
from runmat_jit.runtime.session import Session, use_session

PAGES = Path(__file__).parents[2] / "docs" / "reasons"
FENCE = r"^```(?:{.python .slow}|python(?:-([\d.]+))?)\n(.*?)^```$"
BLOCK = re.compile(FENCE, re.MULTILINE | re.DOTALL)
SLOW = 100  # how much shorter the limit is here, and the example that reaches it


class Explained(ast.NodeTransformer):
    """Turns the calls of decorated functions outside of functions into explained ones."""

    def __init__(self, names):
        self.names = names

    def visit_FunctionDef(self, node):
        return node

    def visit_Call(self, node):
        self.generic_visit(node)
        if getattr(node.func, "id", "") not in self.names:
            return node
        explained = ast.Name("explained_call", ast.Load())
        return ast.Call(explained, [node.func, *node.args], node.keywords)


class Whole(ast.NodeTransformer):
    """Adds ``fullgraph=True`` to the decorators."""

    def visit_Call(self, node):
        self.generic_visit(node)
        if ast.unparse(node.func) == "runmat.jit":
            node.keywords.append(ast.keyword("fullgraph", ast.Constant(value=True)))
        return node

    def visit_FunctionDef(self, node):
        self.generic_visit(node)
        node.decorator_list = [
            ast.copy_location(
                ast.Call(d, [], [ast.keyword("fullgraph", ast.Constant(value=True))]), d
            )
            if ast.unparse(d) == "runmat.jit"
            else d
            for d in node.decorator_list
        ]
        return node

    def visit_AsyncFunctionDef(self, node):
        return self.visit_FunctionDef(node)


def run(source, filename, namespace, change=None):
    """Execute an example, perhaps changed; its functions are found in the text as it stands."""
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    tree = ast.parse(source, filename)
    if change is not None:
        tree = ast.fix_missing_locations(change.visit(tree))
    exec(compile(tree, filename, "exec"), namespace)
    return namespace


def examples(page):
    """The two examples of a page, if this Python has their syntax."""
    found = BLOCK.findall((PAGES / f"{page}.md").read_text(encoding="utf-8"))
    assert len(found) == 2, "a page has an example with the reason and one without"
    versions = [tuple(map(int, version.split("."))) for version, _ in found if version]
    if any(version > sys.version_info[:2] for version in versions):
        pytest.skip(f"syntax of Python {max(versions)}")
    return found[0][1].replace("range(201_000)", f"range({201_000 // SLOW})"), found[1][1]


def explained(sources, name):
    """The explanation of the last call in the last of some examples."""
    namespace, explanations = {"__name__": "documentation"}, []

    def explained_call(f, *args, **kwargs):
        explanations.append(f.explain(*args, **kwargs))
        return f(*args, **kwargs)

    for number, source in enumerate(sources):
        filename = f"<{name} {number}>"
        plain = run(source, filename, dict(namespace))
        names = {key for key, value in plain.items() if isinstance(value, JitFunction)}
        namespace["explained_call"] = explained_call
        run(source, filename, namespace, Explained(names))
    return explanations[-1]


def reported(explanation):
    """The identifiers of all reasons, those of the call first."""
    regions = [reason.id for region in explanation.regions for reason in region.reasons]
    return [reason.id for reason in explanation.reasons], regions


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tape_writer, "ENTRY_LIMIT", tape_writer.ENTRY_LIMIT // SLOW)


@pytest.fixture(autouse=True, scope="module")
def no_adapter():
    """The pages tell of a machine on which no GPU can be used."""

    def refuse(_cache, _log, *, reproducible=False):
        raise BackendError("no adapter was found")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("runmat_jit.runtime.session.open_gpu", refuse)
        before = use_session(Session())
        yield
        use_session(before)


@pytest.mark.filterwarnings("default::RuntimeWarning")
@pytest.mark.parametrize("page", CAUSES)
def test_the_first_example_reports_the_reason(page):
    failing, _ = examples(page)
    explanation = explained([failing], page)
    of_call, of_regions = reported(explanation)
    if CAUSES[page].group == "fusion":
        assert page in of_regions
        assert of_call == []
    else:
        assert of_call[:1] == [page], str(explanation)
        assert f"{page}: " in str(explanation)


@pytest.mark.filterwarnings("default::RuntimeWarning")
@pytest.mark.parametrize("page", CAUSES)
def test_the_second_example_does_not(page):
    explanation = explained(examples(page), page)
    of_call, of_regions = reported(explanation)
    assert of_call == [], str(explanation)
    assert page not in of_regions, str(explanation)
    assert explanation.mode == "replayed"


@pytest.mark.filterwarnings("default::RuntimeWarning")
@pytest.mark.parametrize("page", CAUSES)
def test_fullgraph_refuses_the_first_example_and_takes_the_second(page):
    failing, fixed = examples(page)
    filename = f"<{page} whole>"
    if CAUSES[page].raises:
        with pytest.raises(runmat.CaptureError) as caught:
            run(failing, filename, {"__name__": "documentation"}, Whole())
        assert caught.value.reason.id == page
        message = str(caught.value)
        file = "negate.py" if page == "nested-too-deeply" else re.escape(filename)
        file = "<string>" if page == "no-source" else file
        assert re.search(rf"^  at {file}:\d+$", message, re.MULTILINE)
        assert CAUSES[page].hint in message
        assert f"See docs/reasons/{page}.md" in message
    else:
        run(failing, filename, {"__name__": "documentation"}, Whole())
    namespace = run(failing, f"<{page}>", {"__name__": "documentation"})
    run(fixed, f"<{page} mended>", namespace, Whole())


def test_every_reason_has_a_page_that_begins_with_its_name_and_cause():
    assert {path.stem for path in PAGES.glob("*.md")} - {"index"} == set(CAUSES)
    for name, cause in CAUSES.items():
        text = (PAGES / f"{name}.md").read_text(encoding="utf-8")
        assert text.startswith(f"# {name}\n\n")
        words = " ".join(text.split())
        assert cause.cause in words
        assert f"## Without it {cause.hint}" in words

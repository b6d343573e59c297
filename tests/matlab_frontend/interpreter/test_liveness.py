"""Oracle: what later statements read, by hand; and the same programs with nothing dropped."""

from pathlib import Path

import pytest

from matlab_frontend.interpreter.liveness import dead_names
from matlab_frontend.lazy_engine import LazyEngine
from matlab_frontend.parser import parse
from matlab_frontend.run import run_source
from matlab_frontend.session import Session
from matlab_frontend.source import Source
from runmat_jit.api import program_tracer

pytestmark = pytest.mark.sampled(4)

PROGRAMS = sorted((Path(__file__).parents[1] / "programs").glob("*.m"))


def dead_after(code, line, results=frozenset()):
    """The names that nothing reads after the statement that begins on a line."""
    program = parse(Source(code))
    dead = dead_names(program.statements, results)
    found = []
    left = list(program.statements)
    while left:
        node = left.pop()
        if isinstance(node, tuple):
            left += node
            continue
        for name in ("body", "otherwise", "handler", "branches", "cases"):
            left += getattr(node, name, ())
        if id(node) in dead and program.source.position(node.span.start).line == line:
            found += dead[id(node)]
    return set(found)


@pytest.mark.parametrize(
    ("code", "line", "names"),
    [
        ("a = 1;\nb = a + 1;\nc = b;", 2, {"a"}),
        ("a = 1;\nb = a + 1;\nc = b + a;", 2, set()),
        ("a = 1;\nb = a;\na = 2;\nc = a + b;", 2, {"a"}),
        ("a = 1;\nb = a;\na(2) = 2;\nc = a + b;", 2, set()),
        ("for k = 1:3\nz = k;\ns = z;\nend", 3, {"z", "s"}),
        ("z = 0;\nfor k = 1:3\ns = z;\nz = k;\nend", 4, set()),
        ("z = 0;\nwhile z < 3\ns = 1;\nz = z + s;\nend", 4, {"s"}),
        ("a = 1;\nif a, b = 1; else, b = 2; end\nc = b;", 2, {"a"}),
        ("a = 1;\ntry\nb = f(a);\nc = b;\ncatch\nd = a;\nend", 3, {"f"}),
        ("a = 1;\ntry\nb = f(a);\nc = b;\ncatch\nd = 2;\nend", 3, {"a", "f"}),
        ("a = 1;\nb = a;\nexist('a', 'var')", 2, {"b"}),
        ("a = 1;\nb = a;\neval('a')", 2, set()),
        ("a = 1;\nb = a;\nexist(b)", 2, set()),
        ("a = 1;\nb = a;\nclear a", 2, {"b"}),
        ("a = 1;\nb = a;\nf = @() a;\nf()", 2, {"b"}),
        ("global a\na = 1;\nb = a;\nc = 1;", 3, {"b"}),
        ("for k = 1:3\na = k;\nif k, break, end\nend\nb = a;", 2, set()),
        ("for k = 1:3\nif k, continue, end\na = 1;\nend\nb = a;", 3, set()),
        ("a = 1;\nswitch a\ncase 1\nb = a;\nend\nc = b;", 4, {"a"}),
    ],
)
def test_what_nothing_reads_any_more(code, line, names):
    assert dead_after(code, line) == names


def test_nothing_is_dead_that_is_looked_at_afterwards():
    assert dead_after("a = 1;\nb = a;", 2, frozenset({"a"})) == {"b"}
    assert dead_after("a = 1;\nb = a;", 2, None) == set()


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_a_program_prints_the_same_when_its_variables_are_not_kept(program):
    printed = []
    engine = LazyEngine(lambda where: program_tracer("cpu", where), 0)
    session = Session(engine, write=printed.append)
    run_source(Source.from_file(program), {}, session, frozenset())
    assert "".join(printed) == program.with_suffix(".txt").read_text(encoding="utf-8")

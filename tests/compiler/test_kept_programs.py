"""Oracle: undecorated Python, and the session that compiled what a later one finds."""

import linecache
import os
import re
import subprocess
import sys
import warnings
from dataclasses import replace

import numpy as np
import pytest

import runmat_jit as runmat
from runmat_jit.backends.llvm.object_cache import PROGRAM
from runmat_jit.compiler import kept_programs, lower_program
from runmat_jit.compiler.kept_programs import UnkeptError, decode, exact_text, without_lines
from runmat_jit.graph.structure import structure
from runmat_jit.runtime.session import Session, current_session, use_session
from tests.graph.written import written


def chain(x, y):
    return x * 2 + y - 1, x[::2] * 0.5


def mathematics(x, y):
    return np.exp(-x * x), np.sin(y * 1e6), np.tanh(y), x % 0.3


def reductions(x, y):
    return (
        x.sum(),
        x.mean(axis=0),
        (x * y).max(axis=1),
        (x - x.mean(axis=-1, keepdims=True, dtype="float32")) / 2,
    )


def writes(x, y):
    x[1:3] += y[:2]
    y *= x
    return x.T + y.T


def branches(x, y):
    return (x + y, "more") if (x * y).sum() > 0 else (np.where(x > y, x, -y), "less")


def events(x, y):
    return np.log(x - x), 1 / (y - y)


PROGRAMS = (chain, mathematics, reductions, writes, branches, events)


@pytest.fixture
def stages(monkeypatch):
    """The graphs that have gone through the stages since the last look."""
    seen = []
    through = lower_program.lower_program

    def counted(*args, **kwargs):
        seen.append(args[1])
        return through(*args, **kwargs)

    monkeypatch.setattr(lower_program, "lower_program", counted)
    return seen


def in_new_session(directory, work):
    """What work gives in a session that has nothing but a cache."""
    before = use_session(
        Session(replace(current_session().config, cache_dir=str(directory), num_threads=1))
    )
    try:
        return work()
    finally:
        use_session(before)


def outcome(function, dtype):
    """Results, arguments afterwards and warnings of two calls."""
    found = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for seed in range(2):
            args = np.random.default_rng(seed).standard_normal((2, 6, 8)).astype(dtype)
            found.append((function(*args), *args))
    return bits(found), [(str(each.message), each.filename, each.lineno) for each in caught]


def bits(value):
    if isinstance(value, list | tuple):
        return [bits(each) for each in value]
    if isinstance(value, np.ndarray | np.generic):
        return value.dtype, value.shape, value.tobytes()
    return value


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_what_is_kept_computes_and_warns_as_when_it_was_compiled(tmp_path, stages, program, dtype):
    first = in_new_session(tmp_path, lambda: outcome(runmat.jit(program), dtype))
    assert stages
    assert list((tmp_path / "objects").glob(f"*{PROGRAM}"))
    stages.clear()
    assert in_new_session(tmp_path, lambda: outcome(runmat.jit(program), dtype)) == first
    assert (stages == []) or program is events  # which is asked what it warns of
    assert outcome(program, dtype)[1] == first[1]


def test_lengths_never_seen_and_explanations_are_as_without(tmp_path, stages):
    def work():
        function = runmat.jit(chain)
        results = [function(np.ones(n), np.arange(float(n))) for n in range(3, 9)]
        told = str(function.explain(np.ones(4), np.ones(4)))
        return bits(results), re.sub(r"\d+ calls?", "", told)

    assert in_new_session(tmp_path, work) == in_new_session(tmp_path, work)
    assert in_new_session("none", work) == in_new_session(tmp_path, work)


TEXT = """
def f(x):
    return np.log(x) + 1
"""


def test_a_program_that_has_moved_is_found_and_warns_at_its_new_lines(tmp_path, stages):
    places = []
    for above in (0, 7):
        name, namespace = f"<moved by {above}>", {"np": np}
        text = "\n" * above + TEXT
        linecache.cache[name] = len(text), None, text.splitlines(True), name
        exec(compile(text, name, "exec"), namespace)
        stages.clear()
        with pytest.warns(RuntimeWarning, match="divide by zero") as caught:
            in_new_session(tmp_path, lambda: runmat.jit(namespace["f"])(np.zeros(3)))
        places.append([(each.filename, each.lineno) for each in caught])
    assert stages == []
    assert places == [[("<moved by 0>", 3)], [("<moved by 7>", 10)]]


def test_where_object_code_is_missing_the_program_is_made_anew(tmp_path, stages):
    first = in_new_session(tmp_path, lambda: outcome(runmat.jit(chain), float))
    for path in (tmp_path / "objects").glob("*.o"):
        path.unlink()
    stages.clear()
    assert in_new_session(tmp_path, lambda: outcome(runmat.jit(chain), float)) == first
    assert stages


# -- keys ------------------------------------------------------------------------------------------
GRAPHS = [
    (["float32[5]"], "add($0, 0.0)"),
    (["float32[5]"], "add($0, -0.0)"),
    (["float32[5]"], "add($0, 1.0)"),
    (["float64[5]"], "add($0, 1.0)"),
    (["float32[6]"], "add($0, 1.0)"),
    (["float32[5]"], "subtract($0, 1.0)"),
    (["float32[5]"], "add(1.0, $0)"),
    (["float32[5, 5]"], "sum($0, axis=(0,), keepdims=False, dtype='float32')"),
    (["float32[5, 5]"], "sum($0, axis=(1,), keepdims=False, dtype='float32')"),
    (["float32[5, 5]"], "sum($0, axis=(0,), keepdims=True, dtype='float32')"),
]


def key(graph, *disabled):
    return kept_programs.KeptPrograms(current_session()).key(graph, frozenset(disabled))


def test_graphs_that_differ_have_keys_that_differ(monkeypatch):
    graphs = [written(inputs, text) for inputs, text in GRAPHS]
    keys = [key(graph) for graph in graphs]
    assert None not in keys
    assert len(set(keys)) == len(keys)
    assert keys == [key(written(inputs, text)) for inputs, text in GRAPHS]
    others = {key(graphs[0], "elementwise"), key(graphs[0], "elementwise", "reduction")}
    monkeypatch.setattr(kept_programs, "sources", lambda: (("a file", 1, 2),))
    others.add(key(graphs[0]))
    monkeypatch.setattr(np, "__version__", "another")
    others.add(key(graphs[0]))
    assert len(others - set(keys)) == 4
    monkeypatch.setattr(kept_programs, "sources", lambda: None)
    assert key(graphs[0]) is None


VALUES = [
    *(None, True, 1, "1", b"1", "True", (), (1,), ((1,),), (1, 1), ("1, 1",), ("1", "1")),
    *(np.dtype("f4"), np.dtype("f8"), "<<f4>", float, int, np.add, np.subtract),
]


def test_values_that_differ_have_texts_that_differ():
    assert len({exact_text(value) for value in VALUES}) == len(VALUES)


@pytest.mark.parametrize(
    "value", [1.0, object(), np.ones(2), lambda: 1, np.dtype("i4, i4"), np.dtype(">f4"), [1]]
)
def test_what_no_text_says_is_not_kept(value):
    with pytest.raises(UnkeptError):
        exact_text(("a", value))


def test_a_graph_has_one_text():
    graph = written(["float32[5]"], "add($0, 1.0)")
    assert exact_text(without_lines(structure(graph))) == exact_text(
        without_lines(structure(written(["float32[5]"], "add($0, 1.0)")))
    )


def test_sources_are_all_modules_that_decide():
    names = {os.path.basename(path) for path, _, _ in kept_programs.sources()}  # noqa: PTH119
    assert {"grower.py", "exponential.py", "emitter.py", "link.py", "mathematical.py"} <= names


@pytest.mark.parametrize("data", [b"", b"N", b"(", b"\xff" * 9, b"i\0\0\0\0"])
def test_what_is_no_program_is_refused(data):
    with pytest.raises((EOFError, ValueError, TypeError)):
        decode(data, lambda _key: 0, lambda _name: None)


PROGRAM_TEXT = """
import sys
before = {*sys.modules}
import numpy as np
import runmat_jit as runmat

@runmat.jit
def f(x):
    return x * 2 + x - 1

assert (f(np.ones(1000, np.float32)) == 2).all()
print(*[name for name in sys.modules if name not in before and name.startswith((
    "llvmlite", "runmat_jit.lower", "runmat_jit.passes.pipeline", "runmat_jit.backends.llvm.lower",
    "logging", "hashlib", "tempfile", "platformdirs"))])
"""


def test_a_first_call_loads_what_it_needs_alone(tmp_path):
    """In a new process, whose kernels are kept: neither LLVM nor the stages nor other packages."""
    (tmp_path / "program.py").write_text(PROGRAM_TEXT)
    environment = {**os.environ, "RUNMAT_CACHE_DIR": str(tmp_path / "cache")}
    said = [
        subprocess.run(
            [sys.executable, "program.py"],
            capture_output=True,
            text=True,
            check=True,
            env=environment,
            cwd=tmp_path,
        ).stdout.split()
        for _ in range(2)
    ]
    assert "llvmlite" in said[0]
    assert said[1] == []

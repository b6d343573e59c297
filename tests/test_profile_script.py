"""``profile script.py``. Oracles: the calls that the script is written to make, and its output."""

import json
import textwrap

import pytest

from runmat_jit.__main__ import main
from runmat_jit.profile_script import drivers, profile_script, undecorated
from runmat_jit.profiled_run import wrapped_code

SCRIPT = """
    import functools
    import sys

    import numpy as np
    from beside import squares


    def term(a, b):
        return (a - b) ** 2


    def energy(x):
        total = 0.0
        for i in range(len(x)):
            for j in range(len(x)):
                total += term(x[i], x[j])
        return total


    class Model:
        def __init__(self, n):
            self.n = n

        def step(self, x):
            return np.tanh(x) + self.n

        @property
        def half(self):
            return self.n / 2


    def numbers(n):
        yield from range(n)


    @functools.lru_cache
    def known(n):
        return sum(numbers(n))


    if __name__ == "__main__":
        model = Model(300)
        x = np.linspace(0, 1, 300)
        for _ in range(4):
            x = model.step(x)
        print(round(energy(x)), known(5), model.half, squares(3), *sys.argv[1:])
"""
BESIDE = "def squares(n):\n    return [i * i for i in range(n)]\n"


@pytest.fixture
def script(tmp_path):
    (tmp_path / "beside.py").write_text(BESIDE)
    (tmp_path / "script.py").write_text(textwrap.dedent(SCRIPT))
    return str(tmp_path / "script.py")


def test_each_function_is_reported_with_its_calls_and_what_to_write(script, tmp_path, capsys):
    assert main(["profile", "--json", script, "--fast", "7"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["prints_the_same"] is True
    assert set(found["seconds"]) == {"plain", "jit", "first", "again"}
    rows = {row["function"].rsplit(":", 1)[1]: row for row in found["functions"]}
    assert rows["term"]["plain"]["calls"] == 300 * 300
    assert [name.rsplit(":", 1)[1] for name in rows["term"]["within"]] == ["energy"]
    assert rows["term"]["write"] == "in energy"
    energy = rows["energy"]
    assert [energy[run]["calls"] for run in found["seconds"]] == [1] * 4
    assert energy["first"]["seconds"] > 0
    assert "native loop" in energy["said"]["again"]["done"]
    assert not (tmp_path / "__pycache__").exists()  # code with timers is kept nowhere


def test_the_table_fits_a_terminal(script, capsys):
    assert profile_script(script) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert any(line.split()[:2] == ["energy", "1"] for line in lines)
    assert any(line.startswith("energy (script.py:") for line in lines)


@pytest.mark.parametrize(
    ("text", "status", "message"),
    [
        ("import sys\nsys.exit(3)\n", 1, "status 3"),
        ("1 / 0\n", 1, "status 1"),
        (None, 2, "there is no file"),
    ],
)
def test_scripts_that_fail_are_reported(tmp_path, capsys, text, status, message):
    path = tmp_path / "failing.py"
    if text is not None:
        path.write_text(text)
    assert profile_script(str(path)) == status
    assert message in capsys.readouterr().err


def test_a_script_without_functions_has_nothing_to_decorate(tmp_path, capsys):
    (tmp_path / "flat.py").write_text("print(1)\n")
    assert profile_script(str(tmp_path / "flat.py")) == 0
    assert "flat.py" in capsys.readouterr().out


def node(function, seconds, calls=1, callees=()):
    return {"function": function, "calls": calls, "seconds": seconds, "callees": list(callees)}


def test_functions_that_mostly_call_others_stay_undecorated():
    inner = [node("inner", 3.0, 100)]
    tree = [node("main", 10.0, callees=[node("work", 9.5, callees=inner), node("other", 0.1)])]
    assert drivers(tree) == {"main"}
    assert undecorated(tree) == {"main", "inner"}
    often = [node("loop", 10.0, calls=3, callees=[node("work", 9.9)])]
    assert drivers(often) == set()
    hot = [node("hot", 10.0, callees=[node("term", 9.9, calls=90_000)])]
    assert drivers(hot) == set()
    busy = [node("busy", 10.0, callees=[node("work", 8.0)])]
    assert drivers(busy) == set()


@pytest.mark.parametrize(
    ("source", "wrapped"),
    [
        ("def f(): return 1", True),
        ("def f(): yield 1", False),
        ("async def f(): return 1", False),
        ("class C:\n    def f(self): return [(yield_) for yield_ in '']", True),
        ("class C:\n    def __init__(self): pass", False),
        ("class C:\n    @staticmethod\n    def f(): return 1", True),
        ("@other\ndef f(): return 1", False),
        ("def f():\n    def g(): yield 1\n    return g", True),
    ],
)
def test_functions_that_can_be_decorated_are(source, wrapped):
    seen = []

    def decorator(function):
        seen.append(function.__name__)
        return function

    names = {"__runmat_profiled__": decorator, "other": lambda function: function}
    exec(wrapped_code(source, "<made>"), names)
    assert seen == ["f"] * wrapped

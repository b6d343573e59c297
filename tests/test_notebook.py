"""Magics and notebooks. Oracles: the cells without magics, and what they must show."""

from __future__ import annotations

import numpy as np
import pytest

import runmat_jit as runmat

nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed: no notebook is run")
nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed: no notebook is run")
pytest.importorskip("ipykernel", reason="ipykernel is not installed: no notebook is run")


def run(*cells: str) -> list[list[dict[str, str]]]:
    """Return the outputs of each cell: their data by media type, or the text of a stream."""
    notebook = nbformat.v4.new_notebook(cells=list(map(nbformat.v4.new_code_cell, cells)))
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    return [
        [dict(each.data) if "data" in each else {"text/plain": each.text} for each in cell.outputs]
        for cell in notebook.cells
    ]


def test_a_notebook_shows_an_explanation_with_its_source():
    *_, ((shown,)) = run(
        "import numpy as np, runmat_jit as runmat",
        "@runmat.jit\ndef wave(x):\n    return np.sin(x) * 2",
        "wave.explain(np.ones(50))",
    )
    assert "return np.sin(x) * 2" in shown["text/html"]
    assert "<div class=rm>" in shown["text/html"]
    assert "elementwise" in shown["text/plain"]


def test_a_cell_is_decorated_and_shows_its_gain():
    extension, defined, decorated, kept, both = run(
        "%load_ext runmat_jit",
        "import numpy as np\nx, seen = np.ones(20), []",
        "%%runmat --first\n"
        "def twice(x):\n    return np.sin(x) * 2\n"
        "def many(x):\n    return [twice(x) for _ in range(3)]\n"
        "seen.append(1)\nx += 1\nprint('once')\nmany(x)[2][:2]",
        "type(twice).__name__, len(seen), x[0], twice.explain(x).kinds",
        "%%matlab -i x -o y\ny = sum(x);",
    )
    assert (extension, defined, both) == ([], [], [])
    printed, table, value = (each["text/plain"] for each in decorated)
    assert printed == "once\n"
    assert value.startswith("array(")
    rows = [line.split() for line in table.splitlines()]
    assert [row[:2] for row in rows if row[:1] in (["many"], ["twice"])] == [["many", "1"]]
    assert kept[0]["text/plain"] == "('JitFunction', 1, np.float64(2.0), ['elementwise'])"


@pytest.fixture
def shell():
    shells = pytest.importorskip("IPython.core.interactiveshell", reason="IPython is not installed")
    made = shells.InteractiveShell()
    made.run_line_magic("load_ext", "runmat_jit")
    made.run_cell("import numpy as np, random").raise_error()
    return made


CELLS = {
    "arrays, lists and dictionaries": "a[0] += 5\nnames.append(1)\ntable['k'] = f(a)",
    "generators": "value = f(rng.random(3)), np.random.random(), random.random()",
    "a method": "class C:\n    def g(self, x):\n        return f(x) + 1\nvalue = C().g(a)",
    "a generator function": "def h():\n    yield f(a)\nvalue = list(h())",
    "an object of the notebook": "value = walk.step(a), walk.step(a), walk.x",
    "a function of the notebook": "value = bump(a), bump(a), names, count[0]",
    "a variable that cannot be copied": "with lock:\n    names.append(f(a))",
    "the last value": "f(a)",
    "an error": "names.append(2)\nf('no') + []",
    "a line magic": "%timeit -n1 -r1 -q f(a)\nvalue = 3",
    "no function is called": "value = 7",
    "no statement": "",
}
SETUP = (
    "a, names, table = np.arange(3.0), [], {}\nrng = np.random.default_rng(3)\n"
    "np.random.seed(5)\nrandom.seed(7)\n"
    "import threading\nlock, count = threading.Lock(), [0]\n"
    "class Walk:\n    x = 0.0\n    def step(self, d):\n        self.x += d.sum()\n"
    "        return self.x\n"
    "walk = Walk()\n"
    "import runmat_jit as runmat\n"
    "@runmat.jit\ndef bump(x):\n    count[0] += 1\n    names.append(float(x.sum()))\n"
    "    return x + count[0]\n"
)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("options", ["", "--first", "--hot", "--once"])
@pytest.mark.parametrize("name", CELLS)
def test_a_cell_does_what_it_does_without_the_magic(shell, name, options):
    cell = f"def f(x):\n    return x * 2.0\n{CELLS[name]}"
    variables = "(a, names, table, globals().get('value'), rng.random(), random.random())"

    def outcome(text):
        shell.run_cell(SETUP).raise_error()
        shell.user_ns.pop("value", None)
        ran = shell.run_cell(text)
        error = ran.error_in_exec
        return repr((ran.result, type(error), str(error), shell.ev(variables)))

    assert outcome(f"%%runmat {options}\n{cell}") == outcome(cell)


def test_decorated_functions_stay_and_are_ordinary_ones(shell):
    shell.run_cell("%%runmat --first\ndef f(x):\n    return np.sqrt(x) + 1\nf(np.ones(9))")
    f = shell.user_ns["f"]
    assert type(f) is runmat.JitFunction
    assert f.cache_info().misses == 1
    for _ in range(5):
        np.testing.assert_array_equal(f(np.ones(9)), np.full(9, 2.0))
    assert f.cache_info().misses == 1


@pytest.mark.parametrize("options", ["--last", "first"])
def test_an_option_that_is_not_known_is_an_error(shell, options):
    ran = shell.run_cell(f"%%runmat {options}\n1")
    assert "there are --first" in str(ran.error_in_exec)

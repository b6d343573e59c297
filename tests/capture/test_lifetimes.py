"""What a call leaves alive. Oracle: undecorated Python, by reference counts and weak references."""

import contextlib
import gc
import linecache
import subprocess
import sys
import types
import weakref

import numpy as np
import pytest

import runmat_jit as runmat
from tests.parity.parity import Configuration, fresh_arguments
from tests.parity.program import programs

PROGRAMS = programs()
ARRAYS = runmat.Array
"""Loaded: calls look for arrays of ours among their arguments then."""
CALLS = 8
"""Recorded, replayed, through the native entry, and after the function is left to Python."""


# -- arguments and results -------------------------------------------------------------------------
def objects_in(value, seen):
    """Arrays and plain objects in a value, each once."""
    if id(value) in seen:
        return
    seen[id(value)] = value
    if isinstance(value, list | tuple | set):
        for item in value:
            yield from objects_in(item, seen)
    elif isinstance(value, dict):
        yield from objects_in(list(value.values()), seen)
    elif isinstance(value, np.ndarray):
        yield value
    elif hasattr(value, "__dict__") and not isinstance(value, type) and not callable(value):
        yield value
        yield from objects_in(vars(value), seen)


def references(values):
    return [sys.getrefcount(value) for value in values]


def left_alive(fn, args, kwargs):
    """New references to arguments, those to results, and how many of both outlive the call."""
    given = list(objects_in((args, kwargs), {}))
    before, result = references(given), None
    with contextlib.suppress(Exception):
        result = fn(*args, **kwargs)
    new = [after - old for after, old in zip(references(given), before, strict=True)]
    made = list(objects_in(result, {}))
    held = references(made)
    watched = [[weakref.ref(value) for value in values] for values in (given, made)]
    args = kwargs = result = None
    given.clear()
    made.clear()
    return new, held, [sum(ref() is not None for ref in refs) for refs in watched]


@pytest.mark.sampled(8)
@pytest.mark.parametrize("name", PROGRAMS)
def test_what_a_program_lets_go_is_gone_after_each_call(name):
    """Nothing of ours refers to an argument or a result: not even until the next collection."""
    program = PROGRAMS[name]
    decorated = runmat.jit(program.fn)
    configuration = Configuration(program.shapes[0], program.dtypes[0])
    with collections_off():
        for call in range(CALLS):
            plain, ours = (
                left_alive(fn, *fresh_arguments(program, configuration, call % 2))
                for fn in (program.fn, decorated)
            )
            assert ours[0] == plain[0], call
            assert all(map(int.__le__, ours[1], plain[1])), call
            assert all(map(int.__le__, ours[2], plain[2])), call  # some keep cycles of their own


@contextlib.contextmanager
def collections_off():
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


# -- modules ---------------------------------------------------------------------------------------
MODULES = {
    "an expression": "def f(x):\n    return np.tanh(x) * 2 + 1\n",
    "a reduction": "def f(x):\n    return x.sum()\n",
    "a product": "W = np.ones((3, 3))\ndef f(x):\n    return x[:3] @ W\n",
    "a decision": "def f(x):\n    return x * 2 if x.sum() > 0 else x - 1\n",
    "effects": "import os\ndef f(x):\n    os.getpid()\n    return np.tanh(x) + np.sin(x)\n",
    "a helper": (
        "def g(x):\n    return np.exp(x)\ndef f(x):\n    os.getpid()\n    return g(x) + 1\n"
    ),
    "a loop": (
        "def f(x):\n    s = 0.0\n    for i in range(len(x)):\n        s += x[i] * i\n    return s\n"
    ),
    "a loop with a helper": (
        "def g(v):\n    return v * 2\n"
        "def f(x):\n    s = 0.0\n    for i in range(len(x)):\n        s += g(x[i])\n    return s\n"
    ),
    "a class": (
        "class C:\n    def __init__(self, v):\n        self.v = v\n    def g(self):\n"
        "        return np.cos(self.v)\n"
        "def f(x):\n    os.getpid()\n    return C(x).g() ** 3\n"
    ),
    "a warning": "def f(x):\n    return np.log(x - x)\n",
    "an exception": "def f(x):\n    return np.tanh(x)[99999]\n",
    "draws": "r = np.random.default_rng(1)\ndef f(x):\n    return x + r.random(len(x))\n",
    "a closure": "def f(x):\n    return lambda: x\n",
    "an error that is raised at once": "def f(x):\n    return 1 / (x - x)\n",
    "a recursion": "def f(x, n=5):\n    return x if n < 1 else f(x, n - 1) + 1\n",
    "a loop that is refused": (
        "def g(v):\n    return {}\n"
        "def f(x):\n    for i in range(500):\n        y = x * i\n        g(y)\n    return y\n"
    ),
}


class Sentinel:
    """Something that a module holds."""


def module_of(text):
    """A module whose source is known, as that of a file or of a notebook's cell."""
    text = f"import os\nimport numpy as np\n{text}"
    name = f"<module {abs(hash(text))}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    made = types.ModuleType("of_a_plugin")
    exec(compile(text, name, "exec"), made.__dict__)
    return made


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("size", [4, 3000])
@pytest.mark.parametrize("what", MODULES)
def test_a_module_that_is_dropped_is_freed(what, size):
    for calls in (1, 2, 3, 5, 40):
        module = module_of(MODULES[what])
        module.held = Sentinel()
        alive = weakref.ref(module.held)
        module.f = runmat.jit(module.f)
        for _ in range(calls):
            with (
                contextlib.suppress(IndexError),
                np.errstate(all="raise" if "at once" in what else "warn"),
                contextlib.suppress(FloatingPointError),
            ):
                module.f(np.linspace(0.5, 1.5, size))
        del module
        gc.collect()
        assert alive() is None, f"after {calls} calls"


# -- the end of the process ------------------------------------------------------------------------
PROGRAM = """
import numpy as np, runmat_jit
class Told:
    def __del__(self): print("gone")
told, out = Told(), open("left_open.txt", "w")
{definition}
f = runmat_jit.jit(f)
for _ in range({calls}):
    out.write(f"{{f(np.ones(3))}}\\n")
"""


@pytest.mark.parametrize("what", ["a reduction", "effects", "a loop with a helper"])
def test_files_that_are_left_open_are_written_and_finalizers_run(what, tmp_path):
    for calls in (1, 6):
        text = PROGRAM.format(definition="import os\n" + MODULES[what], calls=calls)
        path = tmp_path / "program.py"
        path.write_text(text, encoding="utf-8")
        done = subprocess.run(
            [sys.executable, "-W", "ignore", path],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.stdout, done.stderr) == ("gone\n", "")
        assert len((tmp_path / "left_open.txt").read_text("utf-8").splitlines()) == calls

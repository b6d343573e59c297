"""Names that are read after loops. Oracles: what runs of random programs read, and plain Python."""

import ast
import itertools
import random

import numpy as np
import pytest

import runmat_jit as runmat
from runmat_jit.loops.liveness import live_after
from tests.capture.behavior import compare, module, observe

NAMES = "abcd"


class Log(dict):
    """The names of a program, which notes what is read and bound, and where loops end."""

    def __init__(self, names):
        super().__init__(dict.fromkeys(names, 0))
        self.events = []

    def __getitem__(self, name):
        if name in NAMES:
            self.events.append(("read", name))
        return super().__getitem__(name)

    def __setitem__(self, name, value):
        if name in NAMES:
            self.events.append(("bind", name))
        super().__setitem__(name, value)


def block(rng, depth, loops):
    """Return random statements, as lines."""
    lines = []
    for _ in range(rng.randint(1, 3)):
        kind = rng.choice(("bind", "bind", "in place", "if", "for", "while", "jump", "list", "try"))
        name, other = rng.choices(NAMES, k=2)
        inner = [f"    {line}" for line in block(rng, depth - 1, loops)] if depth else ["    pass"]
        if kind == "bind":
            lines.append(f"{name} = {other} + 1")
        elif kind == "in place":
            lines.append(f"{name} += {other}")
        elif kind == "list":
            lines.append(f"{name} = len([{other} for {other} in range({name})])")
        elif kind == "if":
            lines += ["if toss():", *inner, "else:", f"    {other} = 2"]
        elif kind == "jump" and loops:
            lines += ["if toss():", f"    {rng.choice(('break', 'continue'))}"]
        elif kind == "try":
            lines += ["try:", *inner, "finally:", f"    {name} = {other}"]
        elif depth:
            head = f"for {name} in range(toss() + 1):" if kind == "for" else "while toss():"
            body = [f"    {line}" for line in block(rng, depth - 1, loops=True)]
            lines += [head, *body, "ended(LOOP)"]
    return lines or ["pass"]


def program(seed):
    """Return the syntax of a random program, whose loops say when they have ended."""
    lines = block(random.Random(seed), 3, loops=False)  # noqa: S311  (no secret)
    text = "\n".join(lines)
    while "LOOP" in text:
        number = text.count("ended(") - text.count("LOOP")
        text = text.replace("LOOP", str(number), 1)
    return ast.parse(text)


def loops_by_number(tree):
    """Return the loops of a program by the numbers that they say."""
    found = {}
    for node in ast.walk(tree):
        for block_of in ("body", "orelse", "finalbody"):
            statements = getattr(node, block_of, None)
            if isinstance(statements, list):
                for loop, said in itertools.pairwise(statements):
                    if isinstance(loop, ast.For | ast.While):
                        found[said.value.args[0].value] = loop
    return found


@pytest.mark.parametrize("first", range(0, 400, 50))
def test_what_is_read_is_live(first):
    """No run reads a name that is not live after the loop before it is bound again."""
    looked = 0
    for seed in range(first, first + 50):
        tree = program(seed)
        loops, live = loops_by_number(tree), live_after(tree)
        code = compile(tree, "<program>", "exec")
        for toss in range(6):
            rng, log = random.Random(seed * 7 + toss), Log(NAMES)  # noqa: S311  (likewise)
            log |= {"toss": lambda rng=rng: rng.random() < 0.5, "range": range, "len": len}
            log["ended"] = lambda number, log=log: log.events.append(("ended", number))
            exec(code, {"__builtins__": {}}, log)
            waiting = {}
            for what, name in log.events:
                if what == "ended":
                    waiting[name] = set(NAMES)
                    continue
                for number, names in waiting.items():
                    if what == "read" and name in names:
                        looked += 1
                        assert name in live[loops[number]], ast.unparse(tree)
                    names.discard(name)
    assert looked


AFTER = (
    "return s",
    "for j in range(3):\n    s += j\nreturn s",
    "return s, i",
    "if s > 0.0:\n    j = 1\nreturn s, j",
    "while s > 1e3:\n    j = 2\n    s -= j\nreturn s",
    "if s > 1e9:\n    return j\nreturn s",
    "for i in range(2):\n    if i == 1:\n        s += j\n    j = 5\nreturn s",
    "for _ in range(2):\n    t = j\n    j = t + 1\nreturn s, t",
    "def later():\n    return j\nj = 7\nreturn s, later()",
    "return s, (lambda: j)()",
    "return s, [j for j in range(3)]",
    "return s, [j + k for k in range(3)]",
    "return s, sum(j for _ in range(2))",
    "del i\nreturn s",
    "try:\n    s += j\nfinally:\n    j = 1\nreturn s, j",
    "with np.errstate(all='ignore'):\n    j = j + 1\nreturn s, j",
    "match s:\n    case 0.0:\n        return j\n    case _:\n        return i",
    "j += 1\nreturn s, j",
    "t = j = 3\nreturn s, t",
    "return s if s > 1e9 else j",
)


@pytest.mark.parametrize("size", [0, 1, 5])
@pytest.mark.parametrize("after", AFTER)
def test_what_comes_after_a_nest(after, size):
    """The names of both loops may be read then, bound anew, or unbound."""
    lines = "\n".join(f"    {line}" for line in after.split("\n"))
    text = (
        "import numpy as np\ndef f(x):\n    s = 0.0\n    for i in range(len(x)):\n"
        f"        for j in range(i):\n            s += x[i] * x[j]\n{lines}\n"
    )
    plain, ours = (module(text)["f"] for _ in range(2))
    decorated = runmat.jit(ours)
    for _ in range(3):
        expected = observe(plain, (np.arange(float(size)),), {})
        found = observe(decorated, (np.arange(float(size)),), {})
        compare(expected, found, exact=True)


def test_loops_whose_indices_have_one_name_run_natively(natively):
    def fn(a, y):
        n, m = a.shape
        s = 0.0
        for i in range(n):
            for j in range(m):
                s += a[i, j] * y[j]
        for j in range(m):
            y[j] = s * j
        for i in range(n):
            for j in range(m):
                y[j] += a[i, j]
        return s

    decorated = runmat.jit(fn)
    for _ in range(3):
        decorated(np.ones((4, 5)), np.ones(5))
    assert natively() == 9

"""What ``explain()`` says of each loop. Oracle: the constructs, as the programs below have them."""

import re

import numpy as np
import pytest

import runmat_jit as runmat
from runmat_jit.loops import nests
from tests.capture.behavior import module

BODIES = {
    "y = np.subtract.accumulate(x)\ntotal += y[0]": "a call of subtract.accumulate (line 5)",
    "y = np.zeros((3, i))\ntotal += x[i]": "as many numbers as no array has (line 5)",
    "with np.errstate(all='ignore'):\n    total += x[i]": "`with` (line 5)",
    "total += x[i]\nprint(end='')": "a call as a statement (line 6)",
    "total += x[i]\nif total < -1:\n    return [j for j in x]": "`return` of a comprehension",
    "total += len({x[i] for _ in range(2)})": "a set comprehension (line 5)",
    "total += x[i] * (x[i] is not None)": "`is` or `is not`",
    "total += x[i] * len({1: i})": "a dict (line 5)",
}
HEAD = "def f(x):\n    total = 0.0\n\n    for i in range(len(x)):\n"


def explained(body):
    lines = "".join(f"        {line}\n" for line in body.splitlines())
    decorated = runmat.jit(module(f"{HEAD}{lines}    return total\n")["f"])
    for _ in range(6):
        decorated(np.ones(300))
    return decorated.explain(np.ones(300))


@pytest.mark.parametrize("body", BODIES)
def test_the_construct_that_keeps_a_loop_in_python_is_named_with_its_line(body):
    (line,) = explained(body).loops
    assert line.startswith(f"line 4: in Python: {BODIES[body]}")


def test_a_loop_that_runs_natively_is_on_a_device():
    explanation = explained("total += x[i] * i")
    assert re.fullmatch(r"line 4: natively, by 1 kernel .*", explanation.loops[0])
    assert explanation.devices == ["cpu"]


def test_each_loop_has_one_line():
    text = (
        "def f(x):\n    total = 0.0\n    for i in range(len(x)):\n        total += x[i]\n"
        "    while total > 1e9:\n        d = {}\n        total -= 1\n"
        "    for i in range(3):\n        for j in range(3):\n            str(j)\n    return total\n"
    )
    decorated = runmat.jit(module(text)["f"])
    for _ in range(6):
        decorated(np.ones(300))
    loops = decorated.explain(np.ones(300)).loops
    assert [line.partition(":")[0] for line in loops] == ["line 3", "line 5", "line 8", "line 9"]
    assert "natively" in loops[0]
    assert "a dict (line 6)" in loops[1]
    assert all("a call as a statement (line 10)" in line for line in loops[2:])


def test_runs_that_left_are_told_from_loops_that_are_refused():
    """A loop of which each variant was refused has never run natively."""

    def fn(x):
        total = 0.0
        for i in range(len(x)):
            total += x[i] * len(str(i))
        return total

    decorated = runmat.jit(fn)
    for kind in ("f8", "f4", "i8", "i4", "f8", "f4", "i8", "i4"):
        decorated(np.ones(300, kind))
    (line,) = decorated.explain(np.ones(300)).loops
    assert "a call of str" in line


@pytest.mark.parametrize("depth", [1, 3, 6])
def test_a_refusal_in_a_first_iteration_is_final(monkeypatch, depth):
    """Each loop of a nest is analyzed once, with those in it, and not written in other ways."""
    turns = []
    turn = nests.turn
    monkeypatch.setattr(nests, "turn", lambda *a, **k: [turns.append(0), turn(*a, **k)][1])
    lines = ["def fn(x, n):", "    t = 0.0"]
    lines += [4 * (k + 1) * " " + f"for i{k} in range(n):" for k in range(depth)]
    lines += [4 * (depth + 1) * " " + "t = t + np.unwrap(x)[i0]", "    return t"]
    fn = module("\n".join([*lines, ""]))["fn"]
    assert runmat.jit(fn)(np.ones(3), 2) == fn(np.ones(3), 2)
    assert len(turns) <= depth * depth

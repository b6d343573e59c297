"""Loops with ``return``, and loops that run again. Oracle: the undecorated functions, to the bit.

A native run ends where the program returns; the value is computed after it.
"""

import itertools

import numpy as np
import pytest

import runmat_jit as runmat
from tests.capture.behavior import compare, module, observe

pytestmark = pytest.mark.sampled(8)

SHAPES = {
    "for": "for i in range(len(x)):\n    {work}\n    if x[i] > limit:\n        return {value}\n",
    "enumerate": (
        "for i, v in enumerate(x):\n    {work}\n    if v > limit:\n        return {value}\n"
    ),
    "while": (
        "i = 0\nwhile i < len(x):\n    {work}\n    if x[i] > limit:\n        return {value}\n"
        "    i += 1\n"
    ),
    "nested": (
        "for i in range(len(x)):\n    for j in range(i):\n        {work}\n"
        "        if x[i] * x[j] > limit:\n            return {value}\n"
    ),
    "in an else": (
        "for i in range(len(x)):\n    if x[i] <= limit:\n        {work}\n"
        "    else:\n        return {value}\n"
    ),
    "two returns": (
        "for i in range(len(x)):\n    {work}\n    if x[i] > limit:\n        return {value}\n"
        "    if s > 4.0:\n        return 'much', i\n"
    ),
    "beside break and continue": (
        "for i in range(len(x)):\n    {work}\n    if x[i] < -2.0:\n        continue\n"
        "    if s < -5.0:\n        break\n    if x[i] > limit:\n        return {value}\n"
    ),
    "after a nested loop": (
        "for i in range(len(x)):\n    for j in range(2):\n        {work}\n"
        "        if s > 9.0:\n            return -1\n    if x[i] > limit:\n        return {value}\n"
    ),
}
WORKS = ("s += x[i] * 0.5", "t = x[i] - s", "x[i] += 1.0", "s = s + x[i]\n{pad}t = s * 2.0")
VALUES = ("i", "(i, s)", "x[i] * 2", "x", "None", "{'at': i}", "s / (i - 3)", "x[i + 40]", "t")
LIMITS = (9.0, 0.75, 1.5, -9.0, float("nan"))
SIZES = (40, 7, 2, 1, 0)


def program(shape, work, value, after="return 'none', s"):
    """Return a function whose loop has this shape, and computes and returns this."""
    lines = SHAPES[shape].split("\n")
    at = next(line for line in lines if "{work}" in line)
    pad = at[: at.index("{")]
    body = SHAPES[shape].replace("{work}", work.replace("{pad}", pad)).replace("{value}", value)
    lines = [f"    {line}" for line in ("s = 0.0", *body.rstrip().split("\n"), after)]
    return "\n".join(["def f(x, limit):", *lines, ""])


def compared(text):
    """Compare calls of both forms of a program on all data, twice each."""
    plain, ours = (module(text)["f"] for _ in range(2))
    decorated = runmat.jit(ours)
    for _, size, limit in itertools.product(range(2), SIZES, LIMITS):
        given = [(np.random.default_rng(size).normal(size=size), limit) for _ in range(2)]
        expected = observe(plain, given[0], {})
        compare(expected, observe(decorated, given[1], {}), exact=True)
    return decorated


@pytest.mark.parametrize("work", WORKS)
@pytest.mark.parametrize("shape", SHAPES)
def test_what_is_returned(shape, work):
    for value in VALUES:
        compared(program(shape, work, value))


@pytest.mark.parametrize("shape", SHAPES)
def test_most_run_natively(shape, natively):
    compared(program(shape, "s += x[i] * 0.25", "(i, s)"))
    assert natively() > len(SIZES)


HELPED = """
def helper(x, limit, k):
    s = 0.0 * k
    t = 1.0
{body}
    return {last}
def f(x, limit):
    total = 0.0
    for k in range(4):
        total += helper(x, limit, k) * 0.5
    return total
"""


@pytest.mark.parametrize("shape", SHAPES)
def test_in_a_function_that_a_loop_calls(shape, natively):
    for value, last in itertools.product(("i", "x[i]", "s", "i > 2", "x[i] > s"), ("-1", "s")):
        text = program(shape, "s += x[i] * 0.5", value).replace("'much', i", "i * 2")
        lines = text.split("\n")[2:-2]
        compared(HELPED.format(body="\n".join(lines), last=last))
    assert natively() > len(SIZES)


UNBOUND = (
    "if x[i] > 0.5:\n    y = x[i]\nif x[i] > limit:\n    return y",
    "if i > 1 and y > limit:\n    return y\ny = x[i]",
    "if x[i] > 0.5:\n    y = x[i]\ns += y\ny = 2.0\nif x[i] > limit:\n    return y",
    "for j in range(i):\n    y = x[j]\nif x[i] > limit:\n    return y",
    "for j in range(i):\n    y = x[j]\n    if y > limit:\n        return y, j",
    "if x[i] > 0.5:\n    y = 1\nelse:\n    y = x[i]\nif x[i] > limit:\n    return y",
    "if x[i] > 0.5:\n    continue\nelse:\n    y = x[i]\nif x[i] > limit:\n    return y",
    "y = x * 2.0\nif x[i] > limit:\n    return y, y[i]",
    "x[i] += 1.0\ny += x[i]\nif x[i] > limit:\n    return y",
    "if x[i] > limit:\n    return [y for y in x]\ny = x[i]\ns += y",
    "if x[i] > limit:\n    return lambda: i\ns += x[i]",
)


@pytest.mark.parametrize("body", UNBOUND)
def test_names_that_may_be_unbound(body):
    """Where Python raises ``UnboundLocalError``, so does a native run: by leaving to Python."""
    lines = "\n".join(f"        {line}" for line in body.split("\n"))
    text = f"def f(x, limit):\n    s = 0.0\n    for i in range(len(x)):\n{lines}\n    return s\n"
    plain, ours = (module(text)["f"] for _ in range(2))
    decorated = runmat.jit(ours)
    for _, size, limit in itertools.product(range(2), SIZES, LIMITS):
        given = [(np.random.default_rng(size).normal(size=size), limit) for _ in range(2)]
        expected = observe(plain, given[0], {})
        found = observe(decorated, given[1], {})
        if "lambda" not in body:
            compare(expected, found, exact=True)


def test_no_name_of_ours_is_seen():
    """What a loop that returns leaves in its function is what the program has there."""
    text = (
        "import sys\n"
        "def seen():\n    return sorted(sys._getframe(1).f_locals)\n"
        "def f(x, limit):\n    s = 0.0\n    for i in range(len(x)):\n        s += x[i]\n"
        "        if s > limit:\n            return seen(), i\n    return seen(), s\n"
    )
    compared(text)


# -- loops that run again --------------------------------------------------------------------------
AGAIN = (
    "s += before * x[i]\nbefore = x[i]",
    "s += count\ncount += 1",
    "u, v = v, u + x[i]\ns += u",
    "if x[i] > before:\n    before = x[i]\n    s += 1.0",
    "s += w[i]\nw = w * 0.5 + x",
    "before = before if x[i] > 0.0 else x[i]\ns += before",
    "for j in range(2):\n    s += before\n    before = x[i] * j",
    "if i:\n    s += before\nbefore = x[i]",
    "s += flag\nflag = not flag",
)


@pytest.mark.parametrize("outer", ["for k in range(3):", "k = 0\n    while k < 3:"])
@pytest.mark.parametrize("body", AGAIN)
def test_a_loop_begins_with_what_it_left_before(body, outer):
    """The loop around runs in Python: what the inner one keeps for itself is kept, too."""
    lines = "\n".join(f"            {line}" for line in body.split("\n"))
    text = (
        "def f(x, limit):\n    s, before, count, u, v, flag = 0.0, 0.25, 0, 1.0, 2.0, True\n"
        f"    w = x * 1.0\n    {outer}\n        name = str(k)\n        for i in range(len(x)):\n"
        f"{lines}\n        k = k + 1\n    return s, name\n"
    )
    compared(text)

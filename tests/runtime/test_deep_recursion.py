"""Recursion as deep as plain Python's, where a program has raised the limit.

In a process of its own: what takes the C stack ends it. Oracle: the depth itself.
"""

import subprocess
import sys

import pytest

PROGRAM = """
import sys
import numpy as np
import runmat_jit as runmat

sys.setrecursionlimit(10**6)
DEPTH = 30_000

@runmat.jit
def count(k):
    return 0 if k == 0 else 1 + count(k - 1)

@runmat.jit
def search(graph, node, seen):
    seen.add(node)
    for other in graph[node]:
        if other not in seen:
            search(graph, other, seen)
    return len(seen)

@runmat.jit
def fill(a, i, j):
    if i < 0 or j < 0 or i >= a.shape[0] or j >= a.shape[1] or a[i, j] != 0:
        return 0
    a[i, j] = 1
    return 1 + fill(a, i + 1, j) + fill(a, i - 1, j) + fill(a, i, j + 1) + fill(a, i, j - 1)

class Tree:
    @runmat.jit
    def depth(self, k):
        return 0 if k == 0 else 1 + self.depth(k - 1)

def line(n):
    return {i: [i + 1] for i in range(n)} | {n: []}

CALLS = {
    "count": (lambda n: count(n), DEPTH),
    "search": (lambda n: search(line(n), 0, set()) - 1, DEPTH),
    "fill": (lambda n: fill(np.zeros((n, n)), 0, 0) ** 0.5, 150),
    "depth": (lambda n: Tree().depth(n), DEPTH),
}
call, deep = CALLS[sys.argv[1]]
for _ in range(int(sys.argv[2])):
    assert call(5) == 5
print(call(deep) == deep, call(7) == 7)
"""


@pytest.mark.sampled(3)
@pytest.mark.parametrize("before", [0, 3, 30])
@pytest.mark.parametrize("name", ["count", "search", "fill", "depth"])
def test_a_recursion_gets_as_deep_as_the_limit_allows(name, before, tmp_path):
    program = tmp_path / "deep.py"
    program.write_text(PROGRAM)
    command = [sys.executable, str(program), name, str(before)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.stdout == "True True\n", (done.returncode, done.stderr[-2000:])

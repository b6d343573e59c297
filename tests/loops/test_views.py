"""Views of arrays along other axes, in loops. Oracle: undecorated Python, to the bit."""

import numpy as np
import pytest

import runmat_jit as runmat
from tests.capture.behavior import compare, observe
from tests.capture.plain_hooks import function_from

pytestmark = pytest.mark.sampled(12)

BODIES = {
    "ravel": "s = s + a.ravel()[i]\nr = a.ravel() * 2",
    "ravel of a row": "s = s + a[i % 4].ravel()[1] + np.ravel(x)[i]",
    "a store into a raveled one": "q = a.ravel()\nq[i] = s\ns = s + a[0, i % 6]",
    "a store into a raveled column": "q = a[:, 1].ravel()\nq[i % 4] = s\ns = s + a[0, 1]",
    "ravel of a transposed one": "q = a.T.ravel()\nq[1] = i\ns = s + q[2] + a[0, 1]",
    "ravel of an expression": "q = (a + i).ravel()\nr = q * q",
    "ravel of a part": "q = a[:2].ravel()\nq[3] += 1\nr = q + 0",
    "ravel of a part with gaps": "q = a[:, :3].ravel()\nq[0] = i\ns = s + a[0, 0] + q[1]",
    "flatten": "q = a.flatten()\nq[i] = 0\ns = s + q[1] + a[0, i % 6]",
    "reshape": "q = x.reshape(4, 6)\nq[i % 4, 1] = s\nr = q @ np.ones(6)\ns = s + x[7]",
    "reshape by a tuple": "q = np.reshape(a, (6, 4)) * 1.0\ns = s + q[0, i % 4]",
    "an open extent": "q = a.reshape(-1, 3)\ns = s + q[i, 1] + a.reshape(-1)[i]",
    "extents from before": "q = a.reshape(n, -1)\ns = s + q[1, i]\nr = q + q",
    "every second": "q = x[::2].reshape(3, 4)\nq[1, 1] = i\ns = s + x[10]",
    "backwards": "q = x[::-1].reshape(4, 6)\nq[0, 0] = i\ns = s + x[-1]",
    "of one column": "q = x.reshape(-1, 1)\nr = q + q.T[:, :3]",
    "of one row": "q = x.reshape(1, -1)\ns = s + q[0, i]",
    "of three axes": "q = x.reshape(2, 3, 4)\ns = s + q[i % 2, 1, 2] + q.ravel()[5]",
    "back again": "q = a.reshape(-1)\nq = q * 0.5\na[:] = q.reshape(4, 6)",
    "transposed": "r = np.transpose(a) + 1\ns = s + a.swapaxes(0, 1)[1, 0]",
    "a diagonal": "q = a.diagonal()\ns = s + q[i % 4] + np.diag(a)[1] + len(q)",
    "a trace": "s = s + np.trace(a) + a[:3].trace() + np.trace(a.T)",
}
LEFT = (
    "a store into a raveled column",
    "ravel of a transposed one",
    "ravel of a part with gaps",
)
"""Bodies with views that NumPy makes copies of: Python runs them."""
OTHERS = {
    "too many": "q = x.reshape(5, 6)",
    "another number": "q = x.reshape(-1, 5)",
    "no elements": "q = x[:0].reshape(0, 3)",
    "two open ones": "q = x.reshape(-1, -1)",
    "an order": "r = a.reshape(-1, order='F')",
    "an extent of the loop's": "q = x.reshape(i + 1, -1)",
    "a store into a diagonal": "q = np.diagonal(a)\nq[0] = 1.0",
    "a new diagonal": "r = np.diag(x)",
    "another diagonal": "s = s + np.diag(a, 1)[0] + np.trace(a, 1)",
    "reversed axes": "s = s + np.transpose(a, (0, 1))[1, 0] + np.swapaxes(a, 1, 0)[0, 1]",
}


def loop(body):
    """The function that runs a body some times."""
    lines = "\n        ".join(body.split("\n"))
    text = f"def f(x, a, n):\n    s, r = 0.0, None\n    for i in range(6):\n        {lines}\n"
    return function_from(f"{text}    return s, r, x, a\n", np=np)


def data(kind, seed):
    """24 elements along one axis, and along two; seeds 1 to 3: columns first, reversed, a part."""
    rng = np.random.default_rng(seed)
    x, a = (rng.standard_normal(shape) * 9 for shape in (24, (4, 6)))
    x, a = x.astype(kind), a.astype(kind)
    if seed == 1:
        a, x = np.asfortranarray(a), np.repeat(x, 2)[::2]
    if seed == 2:
        a, x = a[::-1], x[::-1]
    if seed == 3:
        a = np.tile(a, 2)[:, 3:9]
    return x, a, 2 + seed


@pytest.mark.parametrize("kind", ["d", "f", "l"])
@pytest.mark.parametrize("body", {**BODIES, **OTHERS})
def test_results_and_exceptions_are_numpys(body, kind):
    fn = loop({**BODIES, **OTHERS}[body])
    decorated = runmat.jit(fn)
    for seed in (0, 1, 2, 3, 0):
        compare(observe(fn, data(kind, seed), {}), observe(decorated, data(kind, seed), {}))


@pytest.mark.parametrize(
    "body",
    [body for body in BODIES if body not in LEFT],
)
def test_they_run_natively(natively, body):
    lines = "\n".join(line for line in BODIES[body].split("\n") if not line.startswith("r ="))
    decorated = runmat.jit(loop(lines))
    for _ in range(3):
        decorated(*data("d", 0))
    assert natively() >= 3

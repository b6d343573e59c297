"""What ``device="auto"`` computes on the CPU runs there as ``device="cpu"`` says, step for step.

Oracle: the counts of the same calls of the same function, decorated for the CPU.
"""

import numpy as np
import pytest

import runmat_jit as runmat
from runmat_jit.runtime import session
from tests.capture.test_gates import hits


def chain(x):
    return np.tanh(x * 2 + 1) - x


def sorted_chain(x):
    return np.exp(np.sort(np.tanh(x)))


def softmax(x):
    y = np.exp(x - x.max())
    return y / y.sum()


def branch(x):
    return x + 1 if x.sum() > 1e9 else np.sqrt(x * x + 1)


def updated(x):
    x *= 0.5
    x += 1
    return x.mean()


def covariance(x):
    y = x.reshape(-1, 2)
    return (y - y.mean(0)).T @ (y - y.mean(0))


def elements(x):
    total = 0.0
    for i in range(len(x)):
        total += x[i] * x[i - 1]
    return total


def turns(x):
    for _ in range(40):
        x = x + 0.01 * np.sin(x)
    return x


def drawn(x):
    return x + np.random.default_rng(3).random(x.shape)


def printed(x):
    print("x", end="")
    return x * 3


@pytest.mark.parametrize(
    "fn",
    [chain, sorted_chain, softmax, branch, updated, covariance, elements, turns, drawn, printed],
)
@pytest.mark.parametrize("sizes", [(40,), (10, 12, 14, 1600)], ids=["one", "several"])
@pytest.mark.parametrize("card", [False, True], ids=["no card", "maybe a card"])
def test_what_auto_computes_on_the_cpu_takes_the_same_steps(fn, sizes, card, monkeypatch):
    monkeypatch.setattr(session, "might_have_gpu", lambda: card)
    monkeypatch.setattr(session.Session, "opened_gpu", None)  # whatever another test has opened
    assert steps(fn, sizes, "auto") == steps(fn, sizes, "cpu")


def steps(fn, sizes, device):
    """What is counted of some calls, and their results."""
    runmat.config(trials=False)
    decorated = runmat.jit(fn, device=device)
    before = runmat.telemetry.snapshot()
    results = [
        np.asarray(decorated(np.linspace(0.1, 1.0, size))).tobytes()
        for size in (*sizes,) * 3
        for _ in range(8)
    ]
    at_gate = hits(decorated)
    after = runmat.telemetry.snapshot()
    compiled = ("programs_built", "kernels_compiled")  # by whichever device came first
    kept = {
        name: after[name] - before[name]
        for name in after
        if isinstance(after[name], int) and name not in compiled
    }
    return results, at_gate, decorated.cache_info(), kept

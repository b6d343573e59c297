"""Kinds of loops that are switched off. Oracle: the undecorated functions, and counts of runs."""

import textwrap

import numpy as np
import pytest

import runmat_jit as runmat
from runmat_jit.core.config import LOOP_KINDS as CONFIGURED
from runmat_jit.loops.kinds import LOOP_KINDS
from tests.capture.behavior import compare, observe
from tests.capture.plain_hooks import function_from
from tests.loops.test_draws import HELD, check, counted, program, short_slices
from tests.loops.test_tiles import small_tiles

__all__ = ["counted", "short_slices", "small_tiles"]


@pytest.fixture
def without():
    """Switches kinds off, until the test ends."""
    before = runmat.config().disable_loop_fusion
    yield lambda *kinds: runmat.config(disable_loop_fusion=kinds)
    runmat.config(disable_loop_fusion=before)


@pytest.mark.usefixtures("short_slices")
@pytest.mark.parametrize(
    ("off", "runs", "registers"),
    [
        ((), {"plain": 2, "drawing": 2}, {"plain": 2, "drawing": 2}),
        (("recurrent_loop",), {"plain": 2, "drawing": 2}, {"plain": 0, "drawing": 0}),
        (("stochastic_evolution",), {"plain": 2, "drawing": 0}, {"plain": 2, "drawing": 0}),
        (("element_loop",), {"plain": 0, "drawing": 0}, {"plain": 0, "drawing": 0}),
        (("all",), {"plain": 0, "drawing": 0}, {"plain": 0, "drawing": 0}),
    ],
)
@pytest.mark.parametrize("name", ["plain", "drawing"])
def test_kinds_that_are_off(name, *, off, runs, registers, without, counted):
    without(*off)
    decorated = check(program("x = x * 0.5 + np.sin(x)" if name == "plain" else HELD["uniform"]))
    ran, _, held, _ = counted()
    assert (ran, held) == (runs[name], registers[name])
    report = str(decorated.explain(runmat.random.default_rng(1), np.ones(23), np.ones(23), 23, 5))
    assert ("natively" in report) == (runs[name] > 0)
    assert ("arrays in registers" in report) == (registers[name] > 0)
    assert ("random numbers drawn" in report) == (name == "drawing" and runs[name] > 0)


def test_unknown_kinds_are_mistakes(without):
    with pytest.raises(runmat.ConfigError, match="scan_loop"):
        without("scan_loop")


# -- names ----------------------------------------------------------------------------------------
BODIES = {
    "prefix_scan": [
        "y = 0.5 * y + x[t]\nout[t] = y",
        "out[t] = 0.5 * out[t - 1] + x[t]",
        "s += x[t]\nout[t] = s * 2",
        "s, r = s + x[t], s\nout[t] = r",
        "z = s * x[t]\ns = z + 1\nout[t] = z",
    ],
    "iterative_reduce": [
        "s += x[t] * x[t]",
        "s = s + x[t]\nr = max(r, x[t])",
        "if x[t] > 0:\n    s = 2.0 * x[t] + s",
        "z = x[t] * 3\ns += z",
    ],
    "element_loop": [
        "out[t] = x[t] * 2",  # nothing is left to the next turn
        "out[0] = s\ns = s * 0.5 + x[t]",  # all turns at one place
        "s = s * 0.5 + s",  # of itself twice
        "s += x[t] * s",
        "s += x[t]\nr = r + s",  # a sum of another's sums so far
        "s += x[t]\nz = s",  # a second name sees it
        "if s < 9:\n    s += x[t]",  # or a test
        "x[0] += x[t]",
    ],
}


@pytest.mark.parametrize(("kind", "body"), [(k, body) for k in BODIES for body in BODIES[k]])
def test_loops_have_the_kind_of_what_they_do(kind, body, without):
    text = (
        "def f(x):\n    out, s, r, y = np.zeros(len(x)), 1.0, 0.0, 0.0\n"
        f"    for t in range(1, len(x)):\n{textwrap.indent(textwrap.dedent(body), ' ' * 8)}\n"
        "    return out, s, r, y\n"
    )
    fn = function_from(text, np=np)
    decorated = runmat.jit(fn)
    for _ in range(2):
        runmat.telemetry.reset()
        compare(observe(fn, (np.arange(9.0),), {}), observe(decorated, (np.arange(9.0),), {}))
        assert runmat.telemetry.snapshot()["loops"] == {kind: {"runs": 1, "turns": 8}}
    assert f"natively, by 1 kernel ({kind})" in str(decorated.explain(np.arange(9.0)))
    without(kind)
    other = runmat.jit(function_from(text, np=np))
    runmat.telemetry.reset()
    compare(observe(fn, (np.arange(9.0),), {}), observe(other, (np.arange(9.0),), {}))
    assert runmat.telemetry.snapshot()["loops"] == {}


def test_the_switch_knows_all_kinds():
    assert tuple(kind.name for kind in LOOP_KINDS) == CONFIGURED


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("randomized_matmul", "z = rng.standard_normal(A.shape[0])\ns += z @ (A @ z)"),
        ("randomized_matmul", "z = rng.random(A.shape[1])\ns += A.dot(z)[0]"),
        ("stochastic_evolution", "s += rng.standard_normal() * A[0, t]"),  # no product
        ("iterative_reduce", "s += A[t] @ A[0]"),  # no random number
    ],
)
def test_products_of_random_numbers_have_a_kind(kind, body):
    text = (
        "def f(rng, A):\n    s = 0.0\n    for t in range(A.shape[0]):\n"
        f"{textwrap.indent(body, ' ' * 8)}\n    return s, rng.random()\n"
    )
    fn = function_from(text, np=np)
    decorated = runmat.jit(fn)
    a = np.arange(36.0).reshape(6, 6)
    for _ in range(2):
        runmat.telemetry.reset()
        expected = fn(runmat.random.default_rng(4), a)
        np.testing.assert_allclose(decorated(runmat.random.default_rng(4), a), expected, rtol=1e-12)
        assert runmat.telemetry.snapshot()["loops"] == {kind: {"runs": 1, "turns": 6}}

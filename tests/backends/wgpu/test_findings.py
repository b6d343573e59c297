"""Oracles: findings made by hand, and what they must mean for kernels simple enough to be read."""

from dataclasses import replace

import pytest

from runmat_jit.backends.wgpu.findings import Findings, FloatFindings
from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.math import exponential, rounding

GOOD = FloatFindings("none", "none", True, True, True, True, True)
COARSE = FloatFindings("or", "fma", True, False, False, False, True)
"""As of a GPU that flushes subnormal numbers and rounds neither quotients nor roots correctly."""

USES = {
    "copies": lambda _k, x: x,
    "comparisons": lambda k, x: k.select(x > 0.5, x, -x),
    "rounding to whole numbers": rounding.rint,
    "sums": lambda _k, x: x + 1.0,
    "quotients": lambda _k, x: 1.0 / x,
    "roots": lambda k, x: k.prim("sqrt", x),
    "functions": exponential.exp,
}


def kernel_of(expand, kind="f32"):
    b = Builder()
    x, out = b.buffer("x", kind), b.buffer("out", kind, written=True)
    n = b.scalar("n", "index")
    with b.lanes(0, n) as lanes:
        b.store(out, lanes.i, expand(b, b.load(x, lanes.i)))
    return b.finish()


def sum_kernel():
    b = Builder()
    x, out = b.buffer("x", "f32"), b.buffer("out", "f32", written=True)
    n = b.scalar("n", "index")
    with b.grid(1) as cell:
        with b.total(0, n, [("add", "f32")]) as total:
            total.yield_(b.load(x, total.i))
        b.store(out, cell.i, total.out[0], stride=0)
    return b.finish()


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("reproducible", [False, True])
def test_an_adapter_that_does_all_right_refuses_nothing(use, reproducible):
    found = Findings({"f32": GOOD}, {})
    assert found.refusal(kernel_of(USES[use]), reproducible=reproducible) is None


def test_what_rounds_no_float_is_reproducible_everywhere():
    found = Findings({"f32": COARSE}, {})
    exact = ("copies", "comparisons", "rounding to whole numbers")
    refused = {u for u, e in USES.items() if found.refusal(kernel_of(e), reproducible=True)}
    assert refused == set(USES) - set(exact)
    assert "subnormal" in found.refusal(sum_kernel(), reproducible=True)
    assert found.refusal(sum_kernel(), reproducible=False) is None


@pytest.mark.parametrize(
    ("changed", "refused"),
    [
        ({"exact_division": False}, {"quotients"}),
        ({"exact_sqrt": False}, {"roots"}),
        ({"fused_fma": False}, {"functions"}),
        ({"guard": None}, {"sums", "quotients", "roots", "functions"}),
    ],
    ids=lambda names: " ".join(sorted(names)),
)
def test_a_kernel_is_refused_for_what_it_uses_alone(changed, refused):
    """Of float64, which nothing can correct."""
    wide = replace(GOOD, **changed)
    found = Findings({"f32": GOOD, "f64": wide}, {})
    kernels = {use: kernel_of(expand, "f64") for use, expand in USES.items()}
    names = {u for u, kernel in kernels.items() if found.refusal(kernel, reproducible=True)}
    assert names == (refused if "fused_fma" not in changed else set())  # fma can be emulated
    assert not any(found.refusal(kernel, reproducible=False) for kernel in kernels.values())


def test_a_fma_that_is_split_and_cannot_be_emulated_is_not_reproducible():
    found = Findings({"f32": replace(GOOD, fused_fma=False)}, {})
    assert "twice" in found.refusal(kernel_of(USES["functions"]), reproducible=True)
    assert found.refusal(kernel_of(USES["sums"]), reproducible=True) is None


def test_what_no_guard_makes_accurate_stays_on_the_cpu():
    found = Findings({"f32": replace(GOOD, accurate_guard=None)}, {})
    assert "inaccurate" in found.refusal(kernel_of(USES["sums"]), reproducible=False)
    assert found.refusal(kernel_of(USES["copies"]), reproducible=False) is None


def test_the_default_takes_the_cheapest_guard_and_corrects_only_before_jumps():
    found = Findings({"f32": COARSE}, {})
    fast, exact = (found.arithmetic(reproducible=r) for r in (False, True))
    assert (fast.guard, exact.guard) == ("fma", "or")
    assert fast.correct == frozenset()
    assert exact.correct == fast.correct_before_jumps == {("div", "f32"), ("sqrt", "f32")}
    assert fast.flushed == {"f32"}

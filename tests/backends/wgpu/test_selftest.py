"""Oracles: what is known of Mesa's software adapter, and findings made by hand."""

from dataclasses import replace

import numpy as np
import pytest

from runmat_jit.backends.wgpu import selftest
from runmat_jit.backends.wgpu.arithmetic import GUARDS, Arithmetic
from runmat_jit.backends.wgpu.builtin_errors import builtin_errors
from runmat_jit.backends.wgpu.findings import Findings, FloatFindings
from runmat_jit.backends.wgpu.identities import FUNCTIONS, IDENTITIES, JUMPS, operands_of
from runmat_jit.backends.wgpu.selftest import self_test, shares_of
from tests.backends.wgpu.shaders import device, findings, need_the_cpus_bits

GOOD = FloatFindings("none", "none", True, True, True, True, True)


@pytest.mark.usefixtures("adapter")
def test_the_software_adapter_reassociates_sums_and_splits_fma():
    if not device().info.software or "llvmpipe" not in device().info.name:
        pytest.skip("what other adapters do is not known beforehand")
    found = self_test(device())
    usual = {
        kind: FloatFindings("sums", "sums", False, True, True, True, True)
        for kind in ("f32", "f64")
    }
    by_bits = replace(usual["f64"], rounds_to_whole=False)  # without 512-bit vectors
    newer = {
        kind: replace(each, fused_fma=True, keeps_subnormals=False) for kind, each in usual.items()
    }
    newer_by_bits = replace(newer["f64"], rounds_to_whole=False)
    known = (usual, {**usual, "f64": by_bits}, newer, {**newer, "f64": newer_by_bits})
    assert found.floats in known
    if found.floats in known[2:]:  # Mesa 26: fma is one instruction, subnormals are flushed
        assert not found.arithmetic(reproducible=False).emulate_fma
        return
    assert found.arithmetic(reproducible=False).emulate_fma == {"f32", "f64"}
    assert [found.irreproducible(kind) for kind in ("f32", "f64")] == [None, None]


@pytest.mark.usefixtures("adapter")
@pytest.mark.parametrize("kind", ["f32", "f64"])
def test_the_strongest_guard_restores_every_identity_and_function(kind):
    need_the_cpus_bits(kind)
    strongest = replace(findings().arithmetic(reproducible=True), guard="or", guards=())
    for formulas in (IDENTITIES, FUNCTIONS, JUMPS):
        shares = shares_of(device(), kind, strongest, formulas)
        assert shares == dict.fromkeys(formulas, 1.0)


@pytest.mark.usefixtures("adapter")
def test_a_function_whose_bits_are_not_the_cpus_asks_for_a_stronger_guard(monkeypatch):
    """The bits that are found are changed under all guards but the last."""
    need_the_cpus_bits("f32")
    computed = selftest._computed

    def changed(device, kind, arithmetic, formulas):
        rows = computed(device, kind, arithmetic, formulas)
        return rows if arithmetic.guard == "or" else np.nextafter(rows, 0)

    monkeypatch.setattr(selftest, "_computed", changed)
    needed = Arithmetic("none", frozenset({"f32"}))
    assert selftest._exact_guard(device(), "f32", needed, "none") == "or"
    assert selftest._accurate_guard(device(), "f32", needed) == "or"


@pytest.mark.usefixtures("adapter")
@pytest.mark.parametrize("guard", GUARDS)
def test_a_broken_identity_is_seen(guard):
    """A formula whose stated result is wrong holds under no guard."""
    wrong = {"sum": replace(IDENTITIES["error of a sum"], expect=lambda x, *_: x)}
    assert shares_of(device(), "f32", Arithmetic(guard), wrong) == {"sum": 0.0}


@pytest.mark.parametrize("name", ["rounding to float32", "integer to float32"])
def test_a_number_that_is_not_rounded_to_float32_is_seen(name):
    """A driver that takes the number before the conversion, where the one after it is meant."""
    operands = operands_of("f64")
    factor = 0.1 if name == "rounding to float32" else 1e9
    unrounded = operands[0] * factor if factor < 1 else np.trunc(operands[0] * factor)
    assert IDENTITIES[name].share(unrounded, operands) < 0.1
    assert IDENTITIES[name].share(unrounded.astype(np.float32).astype(float), operands) == 1


@pytest.mark.usefixtures("adapter")
def test_built_in_functions_are_measured():
    errors = builtin_errors(device())
    assert set(errors) >= {"exp2", "log2", "sin", "inverseSqrt"}
    assert all(0 < error < 1e4 for error in errors.values())


def test_an_adapter_that_does_all_right_needs_nothing():
    found = Findings({"f32": GOOD, "f64": GOOD}, {})
    arithmetic = found.arithmetic(reproducible=True)
    assert (arithmetic.guard, arithmetic.emulate_fma, arithmetic.correct) == ("none", set(), set())
    assert found.irreproducible("f32") is None


def test_float32_is_corrected_by_float64_where_that_is_exact():
    f32 = FloatFindings("or", "fma", True, False, False, True, True)
    found = Findings({"f32": f32, "f64": GOOD}, {})
    before_jumps = frozenset({("div", "f32"), ("sqrt", "f32")})
    assert found.arithmetic(reproducible=False) == Arithmetic(
        "fma",
        wide=True,
        correct_before_jumps=before_jumps,
        fused=frozenset({"f32", "f64"}),
        exact=False,
        guards=(("f32", "fma"), ("f64", "none")),
    )
    exact = found.arithmetic(reproducible=True)
    assert (exact.guard, exact.correct) == ("or", {("div", "f32"), ("sqrt", "f32")})
    assert found.irreproducible("f32") is None
    alone = Findings({"f32": f32}, {})
    assert not alone.arithmetic(reproducible=True).wide
    assert "division" in alone.irreproducible("f32")


def test_a_shader_has_the_guard_of_the_types_that_it_computes_with():
    found = Findings(
        {"f32": FloatFindings("or", "fma", True, True, True, True, True), "f64": GOOD}, {}
    )
    arithmetic = found.arithmetic(reproducible=False)
    guards = {kinds: arithmetic.of(kinds).guard for kinds in (("f32",), ("f64",), ("f32", "f64"))}
    assert guards == {("f32",): "fma", ("f64",): "none", ("f32", "f64"): "fma"}
    assert arithmetic.of(()).guard == "fma"


@pytest.mark.parametrize(
    ("findings", "reason"),
    [
        (FloatFindings(None, "none", True, True, True, True, True), "rearranges"),
        (FloatFindings("none", "none", True, True, True, False, True), "subnormal"),
        (FloatFindings("none", "none", False, True, True, True, True), "twice"),
    ],
)
def test_what_cannot_be_repaired_is_said(findings, reason):
    assert reason in Findings({"f32": findings}, {}).irreproducible("f32")
    assert Findings({"f32": findings}, {}).irreproducible("f64") == "it has no float64"

"""Oracle: uses of floats that can be read off each kernel."""

import re

from runmat_jit.backends.wgpu.arithmetic import GUARDS, Arithmetic
from runmat_jit.backends.wgpu.print_shader import print_shader
from runmat_jit.backends.wgpu.schedule import Schedule
from runmat_jit.backends.wgpu.uses import rounding_of, uses_of
from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.math import division
from tests.backends.wgpu.test_findings import kernel_of, sum_kernel

BEFORE_JUMPS = Arithmetic("fma", correct_before_jumps=frozenset({("div", "f32"), ("sqrt", "f32")}))


def printed(expand, arithmetic=BEFORE_JUMPS):
    return print_shader(kernel_of(expand), Schedule(), arithmetic)


def test_only_quotients_that_are_rounded_to_whole_numbers_are_corrected():
    assert "div_f32_4(" not in printed(lambda _k, x: 1.0 / x)
    assert "div_f32_4(" in printed(lambda k, x: k.prim("floor", 1.0 / x + 3.0))
    assert "sqrt_f32_4(" in printed(lambda k, x: k.prim("rint", k.prim("sqrt", x)))
    text = printed(lambda k, x: (1.0 / x) + division.fmod(k, x, k.const(0.3, "f32")))
    assert re.search(r" / v\d+;", text)  # the user's own
    assert "div_f32_4(" in text


def test_a_quotient_reaches_a_jump_through_what_a_loop_carries():
    def expand(k, x):
        with k.loop(0, 3, [x]) as loop:
            (rest,) = loop.carry
            loop.yield_(rest / 3.0)
        return k.prim("trunc_float", loop.out[0])

    assert "div_f32_4(" in printed(expand)


def test_a_float_in_memory_is_no_longer_followed():
    b = Builder()
    x, out = b.buffer("x", "f32"), b.buffer("out", "f32", written=True)
    n = b.scalar("n", "index")
    with b.lanes(0, n) as lanes:
        quotient = 1.0 / b.load(x, lanes.i)
        b.store(out, lanes.i, quotient)
        b.store(out, n + lanes.i, b.prim("floor", b.load(x, lanes.i)))
    assert quotient.number not in uses_of(b.finish()).before_jumps


def test_what_rounds_is_named_with_its_type():
    assert rounding_of(sum_kernel()) == {("add", "f32")}
    assert rounding_of(kernel_of(lambda k, x: k.prim("sqrt", x) * 2.0, "f64")) == {
        ("sqrt", "f64"),
        ("mul", "f64"),
    }
    assert rounding_of(kernel_of(lambda k, x: k.prim("abs", x))) == frozenset()


def test_sums_of_sums_are_kept_where_nothing_may_be_reassociated():
    def expand(_k, x):
        return (x + 0.1) * 2.0 + ((x + 0.2) + 0.3)

    counts = {g: printed(expand, Arithmetic(g)).count("= keep_f32_4(") for g in GUARDS}
    assert counts == {"none": 0, "fma": 0, "sums": 2, "or": 4}


F32 = frozenset({"f32"})


def test_sums_are_kept_by_an_unknown_one_where_fma_is_fused():
    text = printed(lambda _k, x: (x + 0.2) - (x - 0.3), Arithmetic("sums", fused=F32))
    assert text.count("fma(") == 2
    assert "= keep_f32_4(" not in text


def test_products_are_kept_from_sums_and_constants():
    """Where results need not be the CPU's, other products are as they are written."""

    def count(expand, *, exact):
        return printed(expand, Arithmetic("sums", exact=exact)).count("fma(")

    formulas = {
        "a sum": lambda _k, x: x * 3.0 + x,
        "a sum by way of a choice": lambda k, x: k.select(x > 0.0, x * 3.0, x) + x,
        "two constants": lambda _k, x: (x * 3.0) * 5.0,
        "factors": lambda _k, x: (x * x) * x,
        "a quotient": lambda _k, x: (x * x) / x,
    }
    found = {name: count(expand, exact=False) for name, expand in formulas.items()}
    assert found == dict(zip(formulas, (1, 1, 1, 0, 0), strict=True))
    assert all(count(expand, exact=True) == 1 for expand in formulas.values())

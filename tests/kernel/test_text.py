"""Oracle: what text must tell apart and what it must not, listed by hand."""

import math

import pytest

from runmat_jit.kernel.build import Builder, Matrix
from runmat_jit.kernel.text import constant, to_text


def scaled(factor, *, unused=0, name="out", kind="f32"):
    b = Builder()
    for _ in range(unused):
        b.const(float(unused), kind)  # numbers of values depend on history, the text does not
    x, out = b.buffer("x", kind), b.buffer(name, kind, written=True)
    n = b.scalar("n", "index", multiple_of=4)
    with b.lanes(0, n) as lanes:
        b.store(out, lanes.i, b.load(x, lanes.i) * factor)
    return b.finish()


def test_text_is_one_instruction_a_line():
    assert to_text(scaled(3.0)) == (
        "kernel(x: f32[], out: f32[] written, n: index multiple of 4)\n"
        "lanes %0 in [0, n)\n"
        "  %1: <f32> = load x[%0] stride 1\n"
        "  %2: <f32> = mul %1, 0x1.8000000000000p+1:f32\n"
        "  store out[%0] stride 1 = %2\n"
    )


def test_equal_kernels_have_equal_text():
    assert to_text(scaled(3.0)) == to_text(scaled(3.0, unused=7))


@pytest.mark.parametrize(
    "other",
    [scaled(3.0000002), scaled(-3.0), scaled(3.0, name="y"), scaled(3.0, kind="f64")],
    ids=["constant", "sign", "parameter", "type"],
)
def test_different_kernels_have_different_text(other):
    assert to_text(scaled(3.0)) != to_text(other)


@pytest.mark.parametrize(
    ("number", "kind", "text"),
    [
        (0.0, "f64", "0x0.0p+0:f64"),
        (-0.0, "f64", "-0x0.0p+0:f64"),
        (0.1, "f32", "0x1.99999a0000000p-4:f32"),
        (0.1, "f64", "0x1.999999999999ap-4:f64"),
        (math.inf, "f32", "inf:f32"),
        (5, "index", "5"),
        (-5, "i32", "-5:i32"),
        (1, "i64", "1:i64"),
        (True, "i1", "true"),
    ],
)
def test_constants_stand_with_their_bits(number, kind, text):
    assert constant(number, kind) == text


def test_the_sign_of_a_nan_is_kept():
    assert constant(math.nan, "f64") != constant(math.copysign(math.nan, -1.0), "f64")


def test_blocks_functions_and_carried_values(snapshot):
    """Every structured instruction once."""
    b = Builder()
    x, table = b.buffer("x", "f64"), b.table("table", "f64")
    out, flags = b.buffer("out", "f64", written=True), b.buffer("flags", "bool", written=True)
    n, step, limit = b.scalar("n", "index"), b.scalar("step", "index"), b.scalar("limit", "f64")

    def cold(k, args):
        return (k.gather(table, k.convert("fptosi", args[0], "index")),)

    with b.grid(n) as cell:
        with b.total(0, n, [("add", "f64"), ("or", "i1")]) as total:
            value = b.load(x, cell.i + total.i)
            total.yield_(value, value > limit)
        with b.if_(total.out[1], [total.out[0]]) as branch:
            branch.yield_(branch.carry[0] * 0.5)
        b.note(branch.out[0])
        with b.lanes(0, n) as lanes:
            value = b.load(x, lanes.i * step, step)
            with b.loop(0, 10, [value, b.splat(0.0, "f64")], step=2) as loop:
                loop.yield_(loop.carry[0] + branch.out[0], loop.carry[1] - limit)
            with b.if_any(loop.out[0] > 1e5, [loop.out[1]]) as rare:
                rare.yield_(*b.call("slow", [rare.carry[0]], ["f64"], cold, [table]))
            b.store(out, -lanes.i, rare.out[0], -1)
            b.store(flags, lanes.i, b.lane_id() < 5)
        b.store(out, n, total.out[0], 0)
    assert to_text(b.finish()) == snapshot


def test_the_order_of_a_total_is_shown():
    texts = []
    for lanes in (1, None):
        b = Builder()
        x, out = b.buffer("x", "f32"), b.buffer("out", "f32", written=True)
        with b.grid(1) as cell:
            with b.total(0, 9, [("add", "f32")], lanes=lanes) as total:
                total.yield_(b.load(x, total.i))
            b.store(out, cell.i, total.out[0], 0)
        texts.append(to_text(b.finish()))
    assert texts[0].replace(" in one lane", "") == texts[1] != texts[0]


def test_a_product_is_one_line_before_its_block():
    b = Builder()
    x, out = b.buffer("x", "f32"), b.buffer("out", "f32", written=True)
    n, k = b.scalar("n", "index"), b.scalar("k", "index")
    with b.grid(1), b.contract(n, 8, k, Matrix(x, 0, (k, 1)), Matrix(x, 5, (1, k))) as each:
        row, total = each.carry
        b.store(out, row * 8 + each.i, total)
    assert to_text(b.finish()) == (
        "kernel(x: f32[], out: f32[] written, n: index, k: index)\n"
        "grid %0 in [0, 1)\n"
        "  contract %1 in [0, n), %3 in [0, 8) sum %2: <f32> = x[0, k, 1] @ x[5, 1, k] of k\n"
        "    %4: index = mul %1, 8\n"
        "    %5: index = add %4, %3\n"
        "    store out[%5] stride 1 = %2\n"
    )

"""Oracle: the instructions that were asked for, read back from the finished kernel."""

import pytest

from runmat_jit.kernel.build import Builder


def ops(body):
    return [i.op for i in body]


def test_operators_emit_primitives():
    b = Builder()
    x, i = b.scalar("x", "f32"), b.scalar("i", "i32")
    values = [x + 1, 1 - x, -x, x / 2, x < 3, (i & 7) << 2, i >> 1, i | 1, i ^ i]
    assert [v.type for v in values] == ["f32"] * 4 + ["i1"] + ["i32"] * 4
    with b.grid(1):
        pass
    assert ops(b.finish().body) == [
        "add", "sub", "neg", "div", "lt", "and", "shl", "ashr", "or", "xor", "grid",
    ]  # fmt: skip


def test_constants_are_shared_by_bits():
    b = Builder()
    assert b.const(1.5, "f64") is b.const(1.5, "f64")
    assert b.const(0.0, "f64") is not b.const(-0.0, "f64")
    assert b.const(1, "i32") is not b.const(1, "i64")


def test_a_result_is_of_lanes_where_an_operand_is():
    b = Builder()
    x, n, scale = b.buffer("x", "f32"), b.scalar("n", "index"), b.scalar("scale", "f32")
    with b.lanes(0, n) as lanes:
        value = b.load(x, lanes.i)
        assert (value * scale).lane
        assert not (scale * 2.0).lane
        assert b.splat(scale, "f32").lane
        assert not b.load(x, 0, 0).lane


def test_a_rare_path_of_a_uniform_mask_is_a_branch():
    b = Builder()
    x = b.scalar("x", "f64")
    with b.grid(1), b.if_any(x > 1.0, [x]) as rare:
        rare.yield_(*b.call("root", [x], ["f64"], lambda k, args: (k.prim("sqrt", args[0]),)))
    inner = b.finish().body[-1].block.body
    assert ops(inner) == ["gt", "if"]
    assert not rare.out[0].lane


def test_a_cold_function_is_built_once():
    b = Builder()
    x, n = b.buffer("x", "f64"), b.scalar("n", "index")

    def body(k, args):
        return (args[0] + 1.0,)

    with b.lanes(0, n) as lanes:
        for _ in range(3):
            b.call("next", [b.load(x, lanes.i)], ["f64"], body)
    assert [f.name for f in b.finish().functions] == ["next"]


def test_a_table_is_declared_once():
    b = Builder()
    assert b.table("t", "f64") is not None
    assert b.table("t", "f64") in b.parameters
    assert len(b.parameters) == 1


def test_mistakes_are_said_at_once():
    b = Builder()
    x, i = b.scalar("x", "f32"), b.scalar("i", "i32")
    with pytest.raises(AssertionError, match="a f32 value stands where i32"):
        assert i + x
    with pytest.raises(AssertionError, match="and does not take f32"):
        assert x & x
    with pytest.raises(AssertionError, match="fma takes 3 operands"):
        b.prim("fma", x, x)
    with pytest.raises(AssertionError, match="read-only"):
        b.store(b.buffer("y", "f32"), 0, x, 0)

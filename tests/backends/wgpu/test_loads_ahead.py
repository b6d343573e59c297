"""Loops of lanes whose loads come several iterations early. Oracle: the interpreter, to the bit."""

import numpy as np
import pytest

from runmat_jit.backends.wgpu.cells import early_of
from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.interpret import interpret
from runmat_jit.kernel.walk import every_instruction
from tests.backends.wgpu.shaders import hardware_runner, run

pytestmark = pytest.mark.usefixtures("adapter")


def running(form):
    """Running results of lines: of what is read, what is stored, or at computed indices."""
    b = Builder()
    x, out = b.buffer("x", "f32"), b.buffer("out", "f32", written=True)
    n, length = (b.scalar(name, "index") for name in ("n", "length"))
    with b.lanes(0, n) as lanes:
        begin = lanes.i * (length + 8)
        start = b.splat(1.0, "f32")
        with b.loop(0, length, (start,)) as loop:
            at = begin + loop.i
            if form == "reads what is stored":
                value = b.load(x, at, stride=length + 8) + b.load(out, at, stride=length + 8)
                b.store(out, at + 1, value, stride=length + 8)
            elif form == "two arrays":
                value = b.load(x, at, stride=length + 8) * b.load(x, at + 1, stride=length + 8)
            elif form == "some lanes":
                value = b.load(x, at, stride=length + 8)
                with b.if_any(value > 0.0, ()):
                    b.store(out, at + 2, value, stride=length + 8)
            else:
                value = b.load(x, at, stride=length + 8)
            after = loop.carry[0] * 0.5 + value
            b.store(out, at, after, stride=length + 8)
            loop.yield_(after)
        b.store(out, begin + length + 4, loop.out[0], stride=length + 8)
    return b.finish()


FORMS = ["one array", "two arrays", "reads what is stored", "some lanes"]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("length", [0, 1, 7, 8, 9, 16, 31])
def test_loops_have_the_interpreters_bits(form, length):
    kernel, found = running(form), []
    for compute in (
        interpret,
        lambda k, a: run(k, a, (0, 9), using=hardware_runner()),
    ):
        rng = np.random.default_rng(length)
        x, out = (rng.integers(-8, 9, 9 * (length + 8) + 8).astype(np.float32) for _ in range(2))
        compute(kernel, {"x": x, "out": out, "n": 9, "length": length})
        found.append(out)
    assert np.array_equal(*found)


@pytest.mark.parametrize(("form", "loads"), list(zip(FORMS, (1, 2, 1, 1), strict=True)))
def test_loads_of_what_the_loop_stores_stay_where_they_are(form, loads):
    block = next(i.block for i in every_instruction(running(form).body) if i.op == "loop")
    found = [each for each in early_of(block, ()) if each.op == "load"]
    assert [each.attrs["buffer"].name for each in found] == ["x"] * loads
    assert not [each for each in early_of(block, {"x"}) if each.op == "load"]

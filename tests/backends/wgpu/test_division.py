"""Quotients on adapters that round none right, as most GPUs. Oracle: NumPy, within 2.5 units.

The adapter at hand divides exactly: what is tested is what surrounds its division.
"""

import numpy as np
import pytest

from runmat_jit.backends.wgpu.arithmetic import Arithmetic
from runmat_jit.backends.wgpu.run import KernelRun
from runmat_jit.kernel.build import Builder
from tests.backends.wgpu.shaders import runner

pytestmark = pytest.mark.usefixtures("adapter")

F32 = frozenset({"f32"})
INEXACT = Arithmetic(
    "sums", correct_before_jumps=frozenset({("div", "f32")}), fused=F32, exact=False
)
ORDINARY = (0.0, -0.0, 1.0, -3.0, 10.0, 0.1, 7e-3, 1e-30, 1e30, 2.0**100, 2.0**-100)
EXTREME = (1.3e38, 3.4e38, 2.0**126, 2.0**-126, np.inf, -np.inf, np.nan)
NUMBERS = np.array(ORDINARY + EXTREME, np.float32)


def divided(kernel, **arguments):
    memory = runner(INEXACT).backend.memory
    arrays = {
        name: memory.upload(a) if isinstance(a, np.ndarray) else a for name, a in arguments.items()
    }
    size = arguments["out"].size
    runner(INEXACT).run([KernelRun(kernel, {**arrays, "n": size}, (0, size))])
    found = memory.download(arrays["out"])
    memory.free([a for a in arrays.values() if hasattr(a, "buffer")])
    return found


def check(found, expected):
    with np.errstate(all="ignore"):
        near = np.abs(found - expected) <= 2.5 * np.spacing(np.abs(expected))
    tiny = np.abs(expected) < 2.0**-125  # may be flushed, or rounded twice
    same = (found == expected) | (np.isnan(found) & np.isnan(expected))
    assert (same | near | tiny).all(), (found[~(same | near | tiny)], expected)


def test_by_numbers_of_each_lane():
    b = Builder()
    x, y = b.buffer("x", "f32"), b.buffer("y", "f32")
    out, n = b.buffer("out", "f32", written=True), b.scalar("n", "index")
    with b.lanes(0, n) as lanes:
        b.store(out, lanes.i, b.load(x, lanes.i) / b.load(y, lanes.i))
    kernel = b.finish()
    assert "div_by_large" in runner(INEXACT).backend.source(kernel)
    left, right = (m.ravel().copy() for m in np.meshgrid(NUMBERS, NUMBERS))
    with np.errstate(all="ignore"):
        check(divided(kernel, x=left, y=right, out=np.zeros_like(left)), left / right)


@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize("number", NUMBERS, ids=str)
def test_by_one_number(number, known):
    b = Builder()
    x = b.buffer("x", "f32")
    divisor = b.const(float(number), "f32") if known else b.scalar("y", "f32")
    out, n = b.buffer("out", "f32", written=True), b.scalar("n", "index")
    with b.lanes(0, n) as lanes:
        b.store(out, lanes.i, b.load(x, lanes.i) / divisor)
    kernel = b.finish()
    assert "div_uniform" in runner(INEXACT).backend.source(kernel)
    given = {} if known else {"y": float(number)}
    with np.errstate(all="ignore"):
        check(divided(kernel, x=NUMBERS, out=np.zeros_like(NUMBERS), **given), NUMBERS / number)

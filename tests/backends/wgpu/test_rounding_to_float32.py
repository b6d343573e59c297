"""What shaders round to float32 stays float32, whatever a driver knows of where it came from.

Oracle: the interpreter of kernels, and NumPy's casts.
"""

import numpy as np
import pytest

from runmat_jit.backends.wgpu.arithmetic import GUARDS, Arithmetic
from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.evaluate import DTYPES
from runmat_jit.kernel.math.casts import cast
from tests.backends.wgpu.shaders import check, runner

pytestmark = pytest.mark.usefixtures("adapter")


@pytest.mark.parametrize("guard", GUARDS)
@pytest.mark.parametrize("before", ["f64", "i32", "i64"])
def test_what_is_rounded_to_float32_stays_rounded(before, guard):
    """A driver that sees where it came from takes that, where float64 is wanted next."""
    b = Builder()
    x, out, n = b.buffer("x", before), b.buffer("out", "f64", written=True), b.scalar("n", "index")
    with b.lanes(0, n) as lanes:
        b.store(out, lanes.i, cast(b, cast(b, b.load(x, lanes.i), "f32"), "f64"))
    numbers = (np.random.default_rng(5).uniform(1, 2, 50) * 1e9).astype(DTYPES[before])
    memory = {"x": numbers, "out": np.zeros(50), "n": 50}
    after = check(b.finish(), memory, (0, 50), using=runner(Arithmetic(guard)))
    assert (after["out"] == numbers.astype(np.float32)).all()


@pytest.mark.parametrize("op", ["fma", "div", "sqrt"])
def test_what_is_computed_in_float64_is_rounded_to_float32_before_it_is_used(op):
    """Two steps of Horner's scheme, or two quotients, would else have the digits of float64."""
    wide = Arithmetic("sums", frozenset({"f32"}), frozenset({("div", "f32"), ("sqrt", "f32")}))
    b = Builder()
    x, out, n = b.buffer("x", "f32"), b.buffer("out", "f32", written=True), b.scalar("n", "index")
    with b.lanes(0, n) as lanes:
        first = b.load(x, lanes.i)
        value = first
        for _ in range(3):
            value = b.prim(
                op, *{"fma": (value, first, first), "div": (first, value)}.get(op, (value,))
            )
        b.store(out, lanes.i, value)
    numbers = np.random.default_rng(6).uniform(1, 2, 500).astype(np.float32)
    check(
        b.finish(),
        {"x": numbers, "out": np.zeros(500, np.float32), "n": 500},
        (0, 500),
        using=runner(wide),
    )

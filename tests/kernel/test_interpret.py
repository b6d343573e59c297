"""Oracles: mpmath for what is rounded once; values worked out by hand for the rest."""

import mpmath
import numpy as np
import pytest

from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.evaluate import evaluate
from runmat_jit.kernel.interpret import Memory, interpret


def rounded(exact, dtype):
    """An exact number rounded once, to nearest and even, subnormals included."""
    form = np.finfo(dtype)
    if exact == 0:
        return dtype(0)
    exponent = max(int(mpmath.floor(mpmath.log(abs(exact), 2))), form.minexp)
    step = mpmath.ldexp(1, exponent - form.nmant)
    return dtype(float(mpmath.nint(exact / step) * step))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_fma_rounds_once(dtype):
    rng = np.random.default_rng(5)
    n = 300
    a, b = (np.ldexp(rng.standard_normal(n), rng.integers(-40, 40, n)).astype(dtype) for _ in "ab")
    c = (-a * b * (1 + rng.choice([0, 1e-8, 1e-17, 3.0], n))).astype(dtype)
    got = evaluate("fma", (a, b, c), "f32" if dtype is np.float32 else "f64")
    with mpmath.workprec(400):
        for x, y, z, result in zip(a, b, c, got, strict=True):
            exact = mpmath.mpf(float(x)) * mpmath.mpf(float(y)) + mpmath.mpf(float(z))
            assert result == rounded(exact, dtype)


@pytest.mark.parametrize(
    ("a", "b", "c", "result"),
    [
        (1e300, 1e300, -np.inf, -np.inf),
        (1e300, -1e300, 1.0, -np.inf),
        (np.inf, 0.0, 1.0, np.nan),
        (0.0, -1.0, -0.0, -0.0),
        (1.0, 1.0, -1.0, 0.0),
        (5e-324, -0.25, 0.0, -0.0),
    ],
)
def test_fma_of_extremes(a, b, c, result):
    got = evaluate("fma", tuple(np.float64(v) for v in (a, b, c)), "f64")
    assert (
        np.float64(got).tobytes() == np.float64(result).tobytes() or np.isnan([got, result]).all()
    )


@pytest.mark.parametrize(
    ("op", "args", "result"),
    [
        ("sdiv", (-7, 2), -3),
        ("srem", (-7, 2), -1),
        ("mulhi", (-1, -1), -2),
        ("lshr", (-1, 28), 15),
        ("ashr", (-16, 2), -4),
        ("ult", (1, -1), True),
        ("abs", (-(2**31),), -(2**31)),
        ("add", (2**31 - 1, 1), -(2**31)),
    ],
)
def test_integers_mean_what_machines_do(op, args, result):
    got = evaluate(op, tuple(np.asarray(a, np.int32) for a in args), "i32")
    assert got == result


def shifted():
    b = Builder()
    x, out = b.buffer("x", "f32"), b.buffer("out", "f32", written=True)
    n = b.scalar("n", "index")
    with b.lanes(0, n) as lanes:
        value = b.load(x, lanes.i - 1)
        b.note(value)
        b.store(out, lanes.i, value * 2.0)
    return b.finish()


def test_a_part_of_the_axis_runs_alone():
    x, out = np.arange(6, dtype=np.float32), np.zeros(6, np.float32)
    assert not interpret(shifted(), {"x": Memory(x, 1), "out": out, "n": 6}, (2, 4))
    assert out.tolist() == [0, 0, 4, 6, 0, 0]


def test_an_event_is_told():
    x = np.array([1, np.inf, 2], np.float32)
    assert interpret(shifted(), {"x": Memory(x, 1), "out": np.zeros(3, np.float32), "n": 2})


def test_an_access_outside_of_its_buffer_is_refused():
    memory = {"x": np.zeros(4, np.float32), "out": np.zeros(4, np.float32), "n": 4}
    with pytest.raises(AssertionError, match="load outside of its buffer"):
        interpret(shifted(), memory)

"""Oracle: the shape of ``total`` written down once more, over whole arrays, in NumPy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.evaluate import DTYPES
from tests.backends.llvm.native import Native, check, same, without_avx512

SCHEDULES = ((2, 1), (4, 2), (8, 4), (4, 8), (16, 2), (16, 8), (32, 1), (2, 16))
LENGTHS = (0, 1, 2, 3, 15, 31, 32, 33, 63, 64, 65, 127, 511, 512, 513, 1024, 1025, 5000, 8192)
LANES = {"f32": 64, "i32": 64, "i1": 64, "f64": 32, "i64": 32}


def minimum(a, b):
    return np.where((a < b) | np.isnan(a), a, b)


def maximum(a, b):
    return np.where((a > b) | np.isnan(a), a, b)


COMBINE = {
    "add": (np.add, -0.0, 0),
    "mul": (np.multiply, 1.0, 1),
    "min": (minimum, np.inf, None),
    "max": (maximum, -np.inf, None),
    "and": (np.bitwise_and, None, -1),
    "or": (np.bitwise_or, None, 0),
}


def start_of(combine, dtype):
    _, of_floats, of_integers = COMBINE[combine]
    if dtype.kind == "f":
        return of_floats
    if combine in ("min", "max"):
        info = np.iinfo(dtype)
        return info.max if combine == "min" else info.min
    return dtype.type(of_integers)


def model(x, combine, lanes):
    """Blocks x 16 steps x lanes, padded with the identity: which changes no bit of any value."""
    function, start = COMBINE[combine][0], start_of(combine, x.dtype)
    block = 16 * lanes
    padded = np.full(-(-max(x.size, 1) // block) * block, start, x.dtype)
    padded[: x.size] = x
    with np.errstate(all="ignore"):
        blocks = padded.reshape(-1, 16, lanes)
        sums = np.full(lanes, start, x.dtype)
        for steps in blocks:
            partial = np.full(lanes, start, x.dtype)
            for step in steps:
                partial = function(partial, step)
            sums = function(sums, partial)
        while sums.size > 1:
            sums = function(sums[: sums.size // 2], sums[sums.size // 2 :])
    return sums


def kernel(kind, combine):
    """``out[g]`` = total of ``x[lo:hi]``, for each cell."""
    b = Builder()
    element = "bool" if kind == "i1" else kind
    x, out = b.buffer("x", element), b.buffer("out", element, written=True)
    lo, hi = b.scalar("lo", "index"), b.scalar("hi", "index")
    with b.grid(1) as cell:
        with b.total(lo, hi, [(combine, kind)]) as total:
            total.yield_(b.load(x, total.i))
        b.store(out, cell.i, total.out[0], stride=0)
    return b.finish()


def numbers(kind, n, seed=0):
    rng = np.random.default_rng(seed)
    if kind == "i1":
        return rng.random(n) < 0.5
    if kind.startswith("f"):
        return (rng.standard_normal(n) * 10.0 ** rng.integers(-3, 4, n)).astype(DTYPES[kind])
    return rng.integers(-(2**31), 2**31, n).astype(DTYPES[kind])


@pytest.mark.parametrize("schedule", SCHEDULES, ids=str)
@pytest.mark.parametrize("kind", ["f32", "f64"])
def test_a_sum_has_one_shape_for_all_vectors(kind, schedule):
    native = Native(kernel(kind, "add"), *schedule)
    for n in LENGTHS:
        x = numbers(kind, n + 3, n)
        memory = {"x": x, "out": np.zeros(1, x.dtype), "lo": 3, "hi": n + 3}
        native(memory, 0, 1)
        assert same(memory["out"], model(x[3:], "add", LANES[kind])), n


CASES = [
    *((kind, combine) for kind in ("f32", "f64") for combine in ("add", "mul", "min", "max")),
    *((k, c) for k in ("i32", "i64") for c in ("add", "mul", "min", "max", "and", "or")),
    *(("i1", combine) for combine in ("and", "or")),
]


@pytest.mark.parametrize(("kind", "combine"), CASES)
def test_every_combination_equals_its_model_and_the_interpreter(kind, combine):
    natives = [
        Native(kernel(kind, combine)),
        Native(kernel(kind, combine), 4, 2),
        Native(kernel(kind, combine), target=without_avx512()),
    ]
    for n in (0, 1, 5, 32, 64, 100, 600, 1030, 2100):
        x = numbers(kind, n, n)
        if x.dtype.kind == "f" and n > 50:
            x[n // 2 :] *= 0.0  # zeros of both signs
        if x.dtype.kind == "f" and combine == "mul":
            x = np.sign(x) + x * x.dtype.type(1e-4)
        if x.dtype == bool and n % 3:
            x[...] = combine == "and"
        want = model(x, combine, 64 if kind == "i1" else LANES[kind])
        for native in natives:
            memory = {"x": x, "out": np.zeros(1, x.dtype), "lo": 0, "hi": n}
            assert same(check(native, memory, 0, 1)["out"], want), n


@pytest.mark.parametrize("combine", ["min", "max", "add"])
@pytest.mark.parametrize("kind", ["f32", "f64"])
def test_nan_passes_from_every_position(kind, combine):
    native = Native(kernel(kind, combine))
    for n in (1, 70, 1100):
        for at in sorted({0, n // 2, n - 1}):
            x = numbers(kind, n)
            x[at] = np.nan
            memory = {"x": x, "out": np.zeros(1, x.dtype), "lo": 0, "hi": n}
            native(memory, 0, 1)
            assert np.isnan(memory["out"][0])


def test_the_sum_of_negative_zeros_is_negative():
    memory = {"x": np.full(100, -0.0), "out": np.ones(1), "lo": 0, "hi": 100}
    Native(kernel("f64", "add"))(memory, 0, 1)
    assert np.signbit(memory["out"][0])


@pytest.mark.parametrize("schedule", [(8, 4), (4, 2), (2, 8)], ids=str)
def test_types_of_two_widths_share_the_lanes_of_the_wider(schedule):
    """A sum in f64 beside a maximum in f32: 32 lanes for both."""
    b = Builder()
    x = b.buffer("x", "f32")
    sums, tops = b.buffer("sums", "f64", written=True), b.buffer("tops", "f32", written=True)
    n = b.scalar("n", "index")
    with b.grid(1) as cell:
        with b.total(0, n, [("add", "f64"), ("max", "f32")]) as total:
            value = b.load(x, total.i)
            total.yield_(b.convert("fpext", value, "f64"), value)
        b.store(sums, cell.i, total.out[0], stride=0)
        b.store(tops, cell.i, total.out[1], stride=0)
    native = Native(b.finish(), *schedule)
    x = numbers("f32", 3000)
    memory = {"x": x, "n": 3000, "sums": np.zeros(1), "tops": np.zeros(1, np.float32)}
    check(native, memory, 0, 1)
    native(memory, 0, 1)
    assert same(memory["sums"], model(x.astype(np.float64), "add", 32))
    assert memory["tops"][0] == x.max()


@given(n=st.integers(0, 3000), seed=st.integers(0, 100))
def test_any_length_any_schedule(n, seed):
    x = numbers("f32", n, seed)
    native = Native(kernel("f32", "add"), *SCHEDULES[seed % len(SCHEDULES)])
    memory = {"x": x, "out": np.zeros(1, np.float32), "lo": 0, "hi": n}
    native(memory, 0, 1)
    assert same(memory["out"], model(x, "add", 64))

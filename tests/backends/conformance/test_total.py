"""Oracles: the interpreter of kernels; the shape of ``total`` written down once more, over whole
arrays, in NumPy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.evaluate import DTYPES
from tests.backends.conformance.compare import same

pytestmark = pytest.mark.sampled(4)

LENGTHS = (0, 1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 24, 31, 32, 33, 63, 64, 65, 127, 511, 512, 513)
LENGTHS += (1000, 1024, 1025, 2100, 5000, 8192)
FEW_LENGTHS = (0, 1, 5, 63, 64, 65, 1000, 1024, 1025, 2100, 8192)
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


def kernel(kind, combine, lanes=None):
    """``out[g]`` = total of ``x[lo:hi]``, for each cell."""
    b = Builder()
    element = "bool" if kind == "i1" else kind
    x, out = b.buffer("x", element), b.buffer("out", element, written=True)
    lo, hi = b.scalar("lo", "index"), b.scalar("hi", "index")
    with b.grid(1) as cell:
        with b.total(lo, hi, [(combine, kind)], lanes=lanes) as total:
            total.yield_(b.load(x, total.i))
        b.store(out, cell.i, total.out[0], stride=0)
    return b.finish()


SUM = kernel("f32", "add")


def numbers(kind, n, seed=0):
    rng = np.random.default_rng(seed)
    if kind == "i1":
        return rng.random(n) < 0.5
    if kind.startswith("f"):
        return (rng.standard_normal(n) * 10.0 ** rng.integers(-3, 4, n)).astype(DTYPES[kind])
    return rng.integers(-(2**31), 2**31, n).astype(DTYPES[kind])


def whole(x):
    """The arguments of a total of all elements."""
    return {"x": x, "out": np.zeros(1, x.dtype), "lo": 0, "hi": x.size}


@pytest.mark.parametrize("kind", ["f32", "f64"])
def test_a_sum_has_one_shape_for_all_schedules(with_totals, kind):
    run = with_totals.compile(kernel(kind, "add"))
    for n in LENGTHS if with_totals.quick else FEW_LENGTHS:
        x = numbers(kind, n + 3, n)
        memory = {"x": x, "out": np.zeros(1, x.dtype), "lo": 3, "hi": n + 3}
        run(memory, 0, 1)
        assert same(memory["out"], model(x[3:], "add", LANES[kind])), n


def test_a_total_of_all_blocks(with_totals):
    x = numbers("f32", 16_384)
    memory = whole(x)
    with_totals.compile(SUM)(memory, 0, 1)
    assert same(memory["out"], model(x, "add", 64))


CASES = [
    *((kind, combine) for kind in ("f32", "f64") for combine in ("add", "mul", "min", "max")),
    *((k, c) for k in ("i32", "i64") for c in ("add", "mul", "min", "max", "and", "or")),
    *(("i1", combine) for combine in ("and", "or")),
]


@pytest.mark.parametrize(("kind", "combine"), CASES)
def test_every_combination_equals_its_model_and_the_interpreter(of_every_width, kind, combine):
    made = kernel(kind, combine)
    for n in (0, 1, 64, 600, 1030, *((5, 32, 100, 2100) if of_every_width.quick else ())):
        x = numbers(kind, n, n)
        if x.dtype.kind == "f" and n > 50:
            x[n // 2 :] *= 0.0  # zeros of both signs
        if x.dtype.kind == "f" and combine == "mul":
            x = np.sign(x) + x * x.dtype.type(1e-4)
        if x.dtype == bool and n % 3:
            x[...] = combine == "and"
        want = model(x, combine, LANES[kind])
        assert same(of_every_width.check(made, whole(x), 0, 1)["out"], want), n


@pytest.mark.parametrize(("kind", "combine"), CASES)
def test_one_lane_takes_blocks_of_sixteen_in_order(backend, kind, combine):
    made = kernel(kind, combine, lanes=1)
    for n in (0, 1, 2, 16, 17, 31, 32, 100, 255, 256):
        x = numbers(kind, n, n)
        if combine == "mul" and x.dtype.kind == "f":
            x = np.sign(x) + x * x.dtype.type(1e-4)
        found = backend.check(made, whole(x), 0, 1)["out"]
        assert same(found, model(x, combine, 1)), n


@pytest.mark.parametrize("combine", ["min", "max", "add"])
@pytest.mark.parametrize("kind", ["f32", "f64"])
def test_nan_passes_from_every_position(backend, kind, combine):
    run = backend.compile(kernel(kind, combine))
    for n in (1, 70, 1100):
        for at in sorted({0, n // 2, n - 1}):
            x = numbers(kind, n)
            x[at] = np.nan
            memory = whole(x)
            run(memory, 0, 1)
            assert np.isnan(memory["out"][0])


@pytest.mark.parametrize("kind", ["f32", "f64"])
def test_the_sum_of_negative_zeros_is_negative(backend, kind):
    memory = whole(np.full(100, -0.0, DTYPES[kind])) | {"out": np.ones(1, DTYPES[kind])}
    backend.compile(kernel(kind, "add"))(memory, 0, 1)
    assert np.signbit(memory["out"][0])


def two_widths(*, then_narrow):
    """A sum in f64 beside a maximum in f32: 32 lanes for both; then two in f32, of 64 lanes."""
    b = Builder()
    x = b.buffer("x", "f32")
    sums, tops = b.buffer("sums", "f64", written=True), b.buffer("tops", "f32", written=True)
    n = b.scalar("n", "index")
    with b.grid(2) as cell:
        with b.total(0, n, [("add", "f64"), ("max", "f32")]) as total:
            value = b.load(x, total.i)
            total.yield_(b.convert("fpext", value, "f64"), value)
        b.store(sums, cell.i, total.out[0], stride=0)
        top = total.out[1]
        if then_narrow:
            with b.total(0, n, [("add", "f32"), ("max", "f32")]) as narrow:
                value = b.load(x, narrow.i)
                narrow.yield_(value, value)
            top = narrow.out[0]
        b.store(tops, cell.i, top, stride=0)
    return b.finish()


def check_two_widths(backend, *, then_narrow):
    x = numbers("f32", 3000)
    memory = {"x": x, "n": 3000, "sums": np.zeros(2), "tops": np.zeros(2, np.float32)}
    found = backend.check(two_widths(then_narrow=then_narrow), memory, 0, 2)
    assert same(found["sums"], np.repeat(model(x.astype(np.float64), "add", 32), 2))
    return x, found["tops"]


def test_types_of_two_widths_share_the_lanes_of_the_wider(with_two_widths):
    x, tops = check_two_widths(with_two_widths, then_narrow=False)
    assert (tops == x.max()).all()


def test_a_total_may_have_other_lanes_than_the_one_before(with_blocks):
    x, sums = check_two_widths(with_blocks, then_narrow=True)
    assert same(sums, np.repeat(model(x, "add", 64), 2))


@settings(max_examples=max(settings.default.max_examples // 5, 1))
@given(n=st.integers(0, 3000), seed=st.integers(0, 100))
def test_any_length_any_schedule(with_totals, n, seed):
    x = numbers("f32", n, seed)
    memory = whole(x)
    with_totals.compile(SUM)(memory, 0, 1)
    assert same(memory["out"], model(x, "add", 64))

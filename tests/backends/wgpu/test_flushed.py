"""What is done by bits where an adapter flushes subnormal numbers.

Oracle: the interpreter of kernels. The adapter at hand keeps them, so that the results must be the
same with and without; that the text holds no operation on floats that could flush is read off it.
"""

import numpy as np
import pytest

from runmat_jit.backends.wgpu.arithmetic import Arithmetic
from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.math import extrema
from runmat_jit.lower.lane_reduction import combine_two
from tests.backends.wgpu.shaders import check, device, hardware_runner, runner
from tests.kernel.math.expansions import any_bits, special_floats

pytestmark = pytest.mark.usefixtures("adapter")

KINDS = {"f32": np.float32, "f64": np.float64}
FLUSHED = Arithmetic(
    "or", frozenset(KINDS), flushed=frozenset(KINDS), whole_by_bits=frozenset(KINDS)
)
UNARY = {
    "neg": lambda _k, x: -x,
    "abs": lambda k, x: k.prim("abs", x),
    "floor": lambda k, x: k.prim("floor", x),
    "ceil": lambda k, x: k.prim("ceil", x),
    "trunc": lambda k, x: k.prim("trunc_float", x),
    "rint": lambda k, x: k.prim("rint", x),
}
BINARY = {
    **{op: (lambda k, a, b, op=op: getattr(k, op)(a, b)) for op in ("eq", "ne")},
    "lt": lambda _k, a, b: a < b,
    "le": lambda _k, a, b: a <= b,
    "gt": lambda _k, a, b: a > b,
    "ge": lambda _k, a, b: a >= b,
    "maximum": extrema.maximum,
    "fmin": extrema.fmin,
}


def numbers(kind):
    rng = np.random.default_rng(5)
    x = np.concatenate([special_floats(KINDS[kind]), any_bits(rng, KINDS[kind], 100)])
    subnormal = (np.arange(1, 40) * np.finfo(KINDS[kind]).smallest_subnormal).astype(KINDS[kind])
    return rng.permutation(np.concatenate([x, subnormal, -subnormal]))


def elementwise(expand, kinds, result):
    b = Builder()
    inputs = [b.buffer(f"x{i}", kind) for i, kind in enumerate(kinds)]
    out = b.buffer("out", "bool" if result == "i1" else result, written=True)
    n = b.scalar("n", "index")
    with b.lanes(0, n) as lanes:
        b.store(out, lanes.i, expand(b, *(b.load(x, lanes.i) for x in inputs)))
    return b.finish()


def checked(kernel, **arrays):
    n = arrays["out"].size
    check(kernel, {**arrays, "n": n}, (0, n), using=runner(FLUSHED))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", UNARY)
def test_a_function_of_one_number(name, kind):
    x = numbers(kind)
    checked(elementwise(UNARY[name], [kind], kind), x0=x, out=np.zeros_like(x))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", BINARY)
def test_a_comparison_of_two_numbers(name, kind):
    x = numbers(kind)
    a, b = (m.ravel()[::3] for m in np.meshgrid(x, x))
    result = kind if name in ("maximum", "fmin") else "i1"
    out = np.zeros(a.size, KINDS.get(result, np.bool_))
    kernel = elementwise(BINARY[name], [kind, kind], result)
    checked(kernel, x0=np.ascontiguousarray(a), x1=np.ascontiguousarray(b), out=out)


@pytest.mark.parametrize(
    ("before", "after", "op"), [("f32", "f64", "fpext"), ("f64", "f32", "fptrunc")]
)
def test_a_conversion_between_the_formats(before, after, op):
    x = numbers(before)
    if before == "f64":
        narrow = numbers("f32").astype(np.float64)
        with np.errstate(all="ignore"):
            x = np.concatenate([x, narrow, narrow * (1 + 2.0**-30), narrow * 1.5])
    kernel = elementwise(lambda k, v: k.convert(op, v, after), [before], after)
    checked(kernel, x0=x, out=np.zeros(x.size, KINDS[after]))


ZEROS = np.array([0.0, -0.0, -0.0, 0.0, 0.0, -0.0])
DATA = {
    "any": lambda kind, rng, size: rng.choice(numbers(kind), size),
    "zeros": lambda _kind, rng, size: rng.choice(ZEROS, size),
    "none above zero": lambda kind, rng, size: -np.abs(rng.choice(finite(kind), size)),
    "none below zero": lambda kind, rng, size: np.abs(rng.choice(finite(kind), size)),
    "one NaN": lambda kind, rng, size: with_a_nan(rng.choice(finite(kind), size), rng),
}


def finite(kind):
    x = numbers(kind)
    return np.concatenate([x[np.isfinite(x)], ZEROS]).astype(KINDS[kind])


def with_a_nan(x, rng):
    """One NaN of either sign in each row."""
    where = rng.integers(0, x.shape[1], len(x))
    x[np.arange(len(x)), where] = np.copysign(np.nan, rng.choice([-1.0, 1.0], len(x)))
    return x


@pytest.mark.sampled(4)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("combine", ["min", "max"])
@pytest.mark.parametrize("n", [1, 4, 9, 27, 64, 100, 1000, 1024, 3000])
@pytest.mark.parametrize("data", DATA)
def test_extremes_of_rows_in_registers(data, n, combine, kind):
    """The extreme, and the row less it: two walks; zeros have the sign of the last of them."""
    b = Builder()
    x, out, top = (b.buffer(name, kind, written=name != "x") for name in ("x", "out", "top"))
    rows, length = (b.scalar(name, "index") for name in ("rows", "n"))
    with b.grid(rows) as cell:
        with b.total(0, length, [(combine, kind)]) as total:
            total.yield_(b.load(x, cell.i * length + total.i))
        b.store(top, cell.i, total.out[0], stride=0)
        with b.lanes(0, length) as lanes:
            at = cell.i * length + lanes.i
            b.store(
                out, at, b.select(b.eq(b.load(x, at), total.out[0]), total.out[0], b.load(x, at))
            )
    values = DATA[data](kind, np.random.default_rng(n), (12, n)).astype(KINDS[kind])
    memory = {"x": values.ravel(), "out": np.zeros_like(values).ravel()}
    memory |= {"top": np.zeros(12, KINDS[kind]), "rows": 12, "n": n}
    check(b.finish(), memory, (0, 12), using=hardware_runner(FLUSHED))


FORMS = {"both": 2, "and a count": 1, "the other order": 1, "of itself": 1}
"""Extremes of columns, and how many of them are computed by bits."""


def extremes_of_columns(form, kind):
    b = Builder()
    x = b.buffer("x", kind)
    outs = [b.buffer(f"out{k}", kind, written=True) for k in range(2)]
    n, rows = (b.scalar(name, "index") for name in ("n", "rows"))
    with b.lanes(0, n) as lanes:
        start = b.load(x, lanes.i)
        counted = form == "and a count"
        with b.loop(0, rows, (start, b.splat(1.0, kind) if counted else start)) as loop:
            value, (top, other) = b.load(x, loop.i * n + lanes.i), loop.carry
            taken = b.select(b.eq(top, value), value, -value) if form == "of itself" else value
            pair = (taken, top) if form == "the other order" else (top, taken)
            top = combine_two(b, "max", *pair)
            other = other + 1.0 if counted else combine_two(b, "min", other, value)
            loop.yield_(top, other)
        for out, value in zip(outs, loop.out, strict=True):
            b.store(out, lanes.i, value)
    return b.finish()


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("length", [0, 1, 7, 8, 40])
@pytest.mark.parametrize("data", DATA)
def test_extremes_of_columns(data, length, form, kind):
    kernel = extremes_of_columns(form, kind)
    values = DATA[data](kind, np.random.default_rng(length), (length + 1, 37)).astype(KINDS[kind])
    memory = {"x": values.ravel(), "n": 37, "rows": length}
    memory |= {f"out{k}": np.zeros(37, KINDS[kind]) for k in range(2)}
    memory = {p.name: memory[p.name] for p in kernel.parameters}
    with np.errstate(all="ignore"):
        check(kernel, memory, (0, 37), using=hardware_runner(FLUSHED))


@pytest.mark.parametrize("kind", ["i32", "i64"])
@pytest.mark.parametrize("form", ["both", "the other order", "of itself"])
def test_extremes_of_columns_of_integers(form, kind):
    if kind not in ("i32", *device().info.kinds):
        pytest.skip(f"this adapter has no {kind}")
    values = np.random.default_rng(0).integers(-99, 99, (41, 37)).astype(kind.replace("i", "int"))
    memory = {"x": values.ravel(), "n": 37, "rows": 40}
    memory |= {f"out{k}": np.zeros(37, values.dtype) for k in range(2)}
    kernel = extremes_of_columns(form, kind)
    memory = {p.name: memory[p.name] for p in kernel.parameters}
    check(kernel, memory, (0, 37), using=hardware_runner(FLUSHED))


@pytest.mark.parametrize(("form", "count"), FORMS.items())
def test_which_extremes_of_columns_are_computed_by_bits(form, count):
    backend, kernel = hardware_runner(FLUSHED).backend, extremes_of_columns(form, "f32")
    text = backend.source(kernel, backend.schedule(kernel))
    assert text.count("var h") == count


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("combine", ["min", "max"])
def test_an_extremum_of_many(combine, kind):
    b = Builder()
    x, out = b.buffer("x", kind), b.buffer("out", kind, written=True)
    rows, n = (b.scalar(name, "index") for name in ("rows", "n"))
    with b.grid(rows) as cell:
        with b.total(0, n, [(combine, kind)]) as total:
            total.yield_(b.load(x, cell.i * n + total.i))
        b.store(out, cell.i, total.out[0], stride=0)
    values = np.resize(numbers(kind), (30, 9))
    memory = {"x": values.ravel(), "out": np.zeros(30, KINDS[kind]), "rows": 30, "n": 9}
    check(b.finish(), memory, (0, 30), using=runner(FLUSHED))


def test_no_float_operation_that_may_flush_is_left():
    kernel = elementwise(lambda k, a, b: k.select(-a < k.prim("abs", b), a, b), ["f32"] * 2, "f32")
    text = runner(FLUSHED).backend.source(kernel)
    body = text[text.index("fn main") :]
    assert {"neg_f32_4", "abs_f32_4", "order_f32_4"} <= set(body.replace("(", " ").split())
    assert " abs(" not in body
    assert "-(" not in body

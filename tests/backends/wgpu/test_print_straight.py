"""Oracle: the interpreter of kernels, on the operands that the LLVM backend is tested with."""

import itertools

import numpy as np
import pytest

from runmat_jit.backends.wgpu.arithmetic import GUARDS, Arithmetic
from runmat_jit.backends.wgpu.schedule import Schedule
from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.evaluate import DTYPES
from runmat_jit.kernel.math.casts import cast
from runmat_jit.kernel.primitives import PRIMITIVES
from tests.backends.llvm.test_lower_straight import (
    CONVERSIONS,
    SAME_TYPE,
    SPECIAL,
    TYPES,
    kernel,
    legal,
    operands,
    scale_cases,
)
from tests.backends.wgpu.shaders import check, runner

pytestmark = pytest.mark.usefixtures("adapter")


def run(name, kinds, result, columns, *, to=None):
    """Every value meets full vectors and a tail."""
    n = columns[0].size
    memory = {f"x{i}": c for i, c in enumerate(columns)}
    memory |= {"out": np.zeros(n + 3, DTYPES[result]), "n": n}
    made = kernel(name, kinds, result, to=to)
    check(made, memory, (0, n))
    check(made, memory, (n // 8 * 4, n - 1))


def has_tiny_product(a, b):
    """What the emulation of float64 does not cover: nothing wider holds such a product's error."""
    with np.errstate(all="ignore"):
        return (np.abs(a * b) < 2.0**-960) & (a != 0) & (b != 0)


@pytest.mark.parametrize(("name", "kind"), SAME_TYPE)
def test_a_primitive_means_what_numpy_says(name, kind):
    primitive = PRIMITIVES[name]
    columns = legal(name, operands(kind, primitive.arity))
    if (name, kind) == ("fma", "f64"):
        columns = [c[~has_tiny_product(*columns[:2])] for c in columns]
    run(name, [kind] * primitive.arity, "i1" if primitive.result == "i1" else kind, columns)


@pytest.mark.parametrize(
    ("name", "before", "after"), [(n, a, b) for n, ab in CONVERSIONS.items() for a, b in ab]
)
def test_a_conversion_means_what_numpy_says(name, before, after):
    (column,) = operands(before, 1)
    if name == "fptosi":
        limit = 2.0 ** (8 * DTYPES[after]().itemsize - 1)
        column = column[np.abs(column) < limit]
    run(name, [before], after, [np.resize(column, 77)], to=after)


@pytest.mark.parametrize("kind", TYPES)
def test_select_takes_either_bits(kind):
    a, b = operands(kind, 2)
    run("select", ["i1", kind, kind], kind, [np.arange(a.size) % 3 == 0, a, b])


@pytest.mark.parametrize("kind", ["f32", "f64"])
def test_scale2_rounds_once(kind):
    x, n = scale_cases(kind)
    rng = np.random.default_rng(5)
    some = rng.permutation(x.size)[:20_000]
    run("scale2", [kind, kind], kind, [x[some], n[some]])


def test_scale2_beyond_its_clamp_is_zero_or_infinite():
    n = np.array([252, 253, 300, 1e6, np.inf] * 4, np.float32)
    x = np.repeat(np.array([1.0, -1.0, 0.5, 3.0], np.float32), 5)
    run("scale2", ["f32", "f32"], "f32", [np.tile(x, 2), np.concatenate([n, -n])])


@pytest.mark.parametrize("kind", ["f32", "f64"])
def test_an_emulated_fma_rounds_once(kind):
    rng = np.random.default_rng(3)
    n = 2000
    a, b = (np.ldexp(rng.standard_normal(n), rng.integers(-60, 60, n)) for _ in range(2))
    a, b = a.astype(DTYPES[kind]), b.astype(DTYPES[kind])
    c = (-a * b * (1 + rng.choice([0, 1e-7, 1e-16, 1.0], n))).astype(DTYPES[kind])
    run("fma", [kind] * 3, kind, [a, b, c])


@pytest.mark.parametrize("kind", ["f32", "f64"])
def test_uniform_primitives_have_the_bits_of_lanes(kind):
    b = Builder()
    x, y = b.scalar("x", kind), b.scalar("y", kind)
    u, v = b.buffer("u", kind, written=True), b.buffer("v", kind, written=True)

    def formula(a, c):
        d = b.fma(a, c, b.prim("sqrt", b.prim("abs", a)))
        e = b.prim("scale2", d, b.prim("rint", c))
        return b.select(b.prim("isnan", e), 0.0, b.prim("copysign", b.prim("floor", e), a) / c)

    with b.grid(1) as cell:
        b.store(u, cell.i, formula(x, y), stride=0)
        with b.lanes(0, 40) as lanes:
            b.store(v, lanes.i, formula(b.splat(x, kind), b.splat(y, kind)))
    made = b.finish()
    for pair in itertools.product(SPECIAL[kind][:8], (0.7, -3.2, 100.0)):
        a, c = (float(DTYPES[kind](number)) for number in pair)
        memory = {"x": a, "y": c, "u": np.zeros(1, DTYPES[kind]), "v": np.zeros(40, DTYPES[kind])}
        check(made, memory, (0, 1))


@pytest.mark.parametrize("lanes", [1, 2])
def test_threads_of_fewer_lanes_give_the_same_bits(lanes):
    columns = operands("f32", 2)
    memory = {"x0": columns[0], "x1": columns[1], "n": columns[0].size}
    for name in ("mul", "copysign", "scale2", "lt"):
        primitive = PRIMITIVES[name]
        result = "i1" if primitive.result == "i1" else "f32"
        memory["out"] = np.zeros(columns[0].size, DTYPES[result])
        if name == "scale2":
            memory["x1"] = np.rint(np.clip(np.nan_to_num(columns[1]), -99, 99))
        made = kernel(name, ["f32", "f32"], result)
        check(made, memory, (0, columns[0].size), Schedule(lanes, 64, 64))


def test_constants_alone_are_computed_by_the_shader():
    """Among them what WGSL refuses to compute: infinity, NaN, overflow, division by zero."""
    b = Builder()
    out = b.buffer("out", "f32", written=True)
    zero, large = b.const(0.0, "f32"), b.const(3e38, "f32")
    values = [zero / zero, 1.0 / zero, large * large, b.prim("neg", zero), large - large]
    values += [b.const(number, "f32") for number in SPECIAL["f32"]]
    with b.grid(1):
        for place, value in enumerate(values):
            b.store(out, place, value, stride=0)
    check(b.finish(), {"out": np.zeros(len(values), np.float32)}, (0, 1))


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

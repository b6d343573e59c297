"""Oracle: the interpreter of kernels, whose primitives are NumPy's and exact fractions."""

import itertools

import numpy as np
import pytest

from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.evaluate import DTYPES
from runmat_jit.kernel.primitives import PRIMITIVES, accepts

pytestmark = pytest.mark.sampled(4)

LANES = 77  # with every width: full vectors, single vectors and a masked one
_FLOATS = [0.0, -0.0, 1.0, -1.5, 2.5, 0.5, np.inf, -np.inf, np.nan]
SPECIAL = {
    "f32": [*_FLOATS, 1e-45, -1.1e-38, 3.4e38, 8.5e6],
    "f64": [*_FLOATS, 5e-324, -2e-308, 1.7e308, 4e15],
    "i32": [0, 1, -1, 2, -7, 31, 2**31 - 1, -(2**31), 0x12345678, 65536],
    "i64": [0, 1, -1, 2, -7, 63, 2**63 - 1, -(2**63), 0x123456789ABCDEF0, 2**32],
    "i1": [False, True],
}
TYPES = tuple(SPECIAL)
CONVERSIONS = {
    "sitofp": [(a, b) for a in ("i32", "i64") for b in ("f32", "f64")],
    "uitofp": [(a, b) for a in ("i32", "i64", "i1") for b in ("f32", "f64")],
    "fptosi": [(a, b) for a in ("f32", "f64") for b in ("i32", "i64")],
    "fpext": [("f32", "f64")],
    "fptrunc": [("f64", "f32")],
    "trunc": [("i64", "i32"), ("i32", "i1"), ("i64", "i1")],
    "zext": [("i32", "i64"), ("i1", "i32"), ("i1", "i64")],
    "sext": [("i32", "i64"), ("i1", "i32"), ("i1", "i64")],
    "bitcast": [("f32", "i32"), ("i32", "f32"), ("f64", "i64"), ("i64", "f64")],
}
SAME_TYPE = [
    (name, kind)
    for name, p in PRIMITIVES.items()
    for kind in TYPES
    if p.result != "given"
    and accepts(p.domain, kind)
    and (name != "mulhi" or kind == "i32")
    and name != "scale2"
]


def element(kind):
    return "bool" if kind == "i1" else kind


def operands(kind, arity):
    """Columns that hold every combination of special values, or many of them."""
    rows = list(itertools.product(SPECIAL[kind], repeat=arity))
    if len(rows) > 500:
        rows = [rows[i] for i in np.random.default_rng(1).permutation(len(rows))[:500]]
    return [np.array(column, DTYPES[kind]) for column in zip(*rows, strict=True)]


def legal(name, columns):
    """The operands that the contract of a primitive allows."""
    if name in ("shl", "lshr", "ashr"):
        bits = 8 * columns[1].itemsize
        columns[1] = np.abs(columns[1] % bits).astype(columns[1].dtype)
    if name in ("sdiv", "srem"):
        low = np.iinfo(columns[0].dtype).min
        kept = (columns[1] != 0) & ~((columns[0] == low) & (columns[1] == -1))
        columns = [c[kept] for c in columns]
    if name == "nearest":
        (x,) = columns
        usual = np.abs(x) <= {4: 2.0**22, 8: 2.0**51}[x.itemsize]
        negative_zero = (np.rint(x) == 0) & np.signbit(x)  # its sign is open
        columns = [x[(usual & ~negative_zero) | np.isnan(x)]]
    return columns


def has_tiny_product(a, b):
    """What an emulated fma of float64 does not cover: nothing wider holds the error."""
    with np.errstate(all="ignore"):
        return (np.abs(a * b) < 2.0**-960) & (a != 0) & (b != 0)


def kernel(name, kinds, result, *, to=None):
    b = Builder()
    buffers = [b.buffer(f"x{i}", element(k)) for i, k in enumerate(kinds)]
    out = b.buffer("out", element(result), written=True)
    n = b.scalar("n", "index")
    with b.lanes(0, n) as lanes:
        values = [b.load(x, lanes.i) for x in buffers]
        made = b.select(*values) if name == "select" else b.prim(name, *values, to=to)
        b.store(out, lanes.i, made)
    return b.finish()


def run(backend, name, kinds, result, columns, *, to=None):
    """Every column rotated, so that each value meets each position of vector and tail."""
    made = kernel(name, kinds, result, to=to)
    n = columns[0].size
    for shift in (0, n // 3):
        memory = {f"x{i}": np.roll(c, shift) for i, c in enumerate(columns)}
        memory |= {"out": np.zeros(n + 3, DTYPES[result]), "n": n}
        backend.check(made, memory, 0, n)
        backend.check(made, memory, n // 2, n - 1)


@pytest.mark.parametrize(("name", "kind"), SAME_TYPE)
def test_a_primitive_means_what_numpy_says(backend, name, kind):
    primitive = PRIMITIVES[name]
    columns = legal(name, operands(kind, primitive.arity))
    if (name, kind) == ("fma", "f64"):  # the others have a test of their own
        columns = [c[~has_tiny_product(*columns[:2])] for c in columns]
    result = "i1" if primitive.result == "i1" else kind
    run(backend, name, [kind] * primitive.arity, result, columns)


def test_fma_of_tiny_products_rounds_once(backend):
    if "f64" in backend.emulated_fma:
        pytest.skip("fma of float64 is emulated, and nothing wider holds a tiny product's error")
    columns = operands("f64", 3)
    columns = [c[has_tiny_product(*columns[:2])] for c in columns]
    run(backend, "fma", ["f64"] * 3, "f64", columns)


@pytest.mark.parametrize(
    ("name", "before", "after"), [(n, a, b) for n, ab in CONVERSIONS.items() for a, b in ab]
)
def test_a_conversion_means_what_numpy_says(backend, name, before, after):
    (column,) = operands(before, 1)
    if name == "fptosi":
        limit = 2.0 ** (8 * DTYPES[after]().itemsize - 1)
        column = column[np.abs(column) < limit]
    run(backend, name, [before], after, [np.resize(column, LANES)], to=after)


@pytest.mark.parametrize("kind", TYPES)
def test_select_takes_either_bits(backend, kind):
    a, b = operands(kind, 2)
    chosen = np.arange(a.size) % 3 == 0
    run(backend, "select", ["i1", kind, kind], kind, [chosen, a, b])


def scale_cases(kind):
    """Every exponent, with fractions that round up, down and to even, and all special values."""
    form = np.finfo(DTYPES[kind])
    limit = {"f32": 252, "f64": 2044}[kind]
    near = np.concatenate([np.arange(-limit, -limit + 90), np.arange(limit - 90, limit + 1)])
    inner = np.arange(-190, 191) if kind == "f32" else np.arange(-1200, 1201, 7)
    n = np.concatenate([near, inner])
    fractions = np.array([1, 1.5, 1 + form.eps, 2 - form.eps, 1 + 5 * form.eps, 1.25, 1.75])
    scales = np.ldexp(1.0, np.array([0, -1, 3, -20, -60, form.minexp + 3, form.maxexp - 2]))
    x = np.concatenate([np.outer(fractions, scales).ravel(), SPECIAL[kind]]).astype(DTYPES[kind])
    return np.repeat(x, n.size), np.tile(n, x.size).astype(DTYPES[kind])


@pytest.mark.parametrize("kind", ["f32", "f64"])
def test_scale2_rounds_once(of_every_target, kind):
    x, n = scale_cases(kind)
    run(of_every_target, "scale2", [kind, kind], kind, [x, n])


@pytest.mark.parametrize("kind", ["f32", "f64"])
def test_scale2_down_to_subnormals_rounds_once(of_every_target, kind):
    """Results around the smallest numbers, where a second rounding would show."""
    rng = np.random.default_rng(7)
    form = np.finfo(DTYPES[kind])
    bits = form.nmant
    size = 4000
    n = -rng.integers(1, 2 * bits + 30, size)
    exponent = rng.integers(form.minexp - bits - 2, form.minexp + 2, size) - n
    x = np.ldexp(1 + rng.random(size), exponent).astype(DTYPES[kind])
    run(of_every_target, "scale2", [kind, kind], kind, [x, n.astype(DTYPES[kind])])


def test_scale2_beyond_its_clamp_is_zero_or_infinite(of_every_target):
    n = np.array([252, 253, 300, 1e6, np.inf] * 4, np.float32)
    x = np.repeat(np.array([1.0, -1.0, 0.5, 3.0], np.float32), 5)
    columns = [np.tile(x, 2), np.concatenate([n, -n])]
    run(of_every_target, "scale2", ["f32", "f32"], "f32", columns)


@pytest.mark.parametrize("kind", ["f32", "f64"])
def test_fma_of_random_operands_rounds_once(backend, kind):
    rng = np.random.default_rng(3)
    n = 2000
    a, b = (np.ldexp(rng.standard_normal(n), rng.integers(-60, 60, n)) for _ in range(2))
    a, b = a.astype(DTYPES[kind]), b.astype(DTYPES[kind])
    c = (-a * b * (1 + rng.choice([0, 1e-7, 1e-16, 1.0], n))).astype(DTYPES[kind])
    run(backend, "fma", [kind] * 3, kind, [a, b, c])


@pytest.mark.parametrize("op", ["sdiv", "srem"])
def test_dead_lanes_never_divide(backend, op):
    """They load zeros, and dividing by zero traps."""
    b = Builder()
    x, out = b.buffer("x", "i32"), b.buffer("out", "i32", written=True)
    n = b.scalar("n", "index")
    with b.lanes(0, n) as lanes:
        b.store(out, lanes.i, b.prim(op, 100, b.load(x, lanes.i)))
    x = np.arange(1, 4, dtype=np.int32)
    backend.check(b.finish(), {"x": x, "out": np.zeros_like(x), "n": 3}, 0, 3)


@pytest.mark.parametrize("kind", ["f32", "f64"])
def test_uniform_primitives_have_the_bits_of_lanes(backend, kind):
    """Scalar code for a uniform value, vectors for lanes: one result."""
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
    for pair in itertools.product(SPECIAL[kind][:8], (0.7, -3.2, 100.0, 1000.0)):
        a, c = (float(DTYPES[kind](number)) for number in pair)
        memory = {"x": a, "y": c, "u": np.zeros(1, DTYPES[kind]), "v": np.zeros(40, DTYPES[kind])}
        seen = backend.check(made, memory, 0, 1)
        assert np.array_equal(seen["v"], np.broadcast_to(seen["u"], 40), equal_nan=True)


def test_vectors_of_every_width_give_the_same_bits(of_every_width):
    x, y = operands("f32", 2)
    for name in ("mul", "copysign", "scale2", "lt"):
        if name == "scale2":
            y = np.rint(np.clip(np.nan_to_num(y), -99, 99))
        result = "i1" if PRIMITIVES[name].result == "i1" else "f32"
        run(of_every_width, name, ["f32", "f32"], result, [x, y])


def test_constants_alone_are_computed(backend):
    """Among them what a compiler may refuse to compute: infinity, overflow, division by zero."""
    b = Builder()
    out = b.buffer("out", "f32", written=True)
    zero, large = b.const(0.0, "f32"), b.const(3e38, "f32")
    values = [zero / zero, 1.0 / zero, large * large, b.prim("neg", zero), large - large]
    values += [b.const(number, "f32") for number in SPECIAL["f32"]]
    with b.grid(1):
        for place, value in enumerate(values):
            b.store(out, place, value, stride=0)
    backend.check(b.finish(), {"out": np.zeros(len(values), np.float32)}, 0, 1)

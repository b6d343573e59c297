"""Oracle: the interpreter of kernels, whose primitives are NumPy's and exact fractions."""

import itertools

import numpy as np
import pytest

from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.evaluate import DTYPES
from runmat_jit.kernel.primitives import PRIMITIVES, accepts
from tests.backends.llvm.native import Native, check, without_avx512

LANES = 77  # with every width: full vectors, single vectors and a masked one
SPECIAL = {
    "f32": [
        0.0,
        -0.0,
        1.0,
        -1.5,
        2.5,
        0.5,
        np.inf,
        -np.inf,
        np.nan,
        1e-45,
        -1.1e-38,
        3.4e38,
        8.5e6,
    ],
    "f64": [
        0.0,
        -0.0,
        1.0,
        -1.5,
        2.5,
        0.5,
        np.inf,
        -np.inf,
        np.nan,
        5e-324,
        -2e-308,
        1.7e308,
        4e15,
    ],
    "i32": [0, 1, -1, 2, -7, 31, 2**31 - 1, -(2**31), 0x12345678, 65536],
    "i64": [0, 1, -1, 2, -7, 63, 2**63 - 1, -(2**63), 0x123456789ABCDEF0, 2**32],
    "i1": [False, True],
}
TYPES = tuple(SPECIAL)
SAFE_SHIFT = {"i32": 31, "i64": 63}
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
    rows = list(itertools.islice(itertools.product(SPECIAL[kind], repeat=arity), 0, None))
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


def run(name, kinds, result, columns, *, to=None, target=None):
    """Every column rotated, so that each value meets each position of vector and tail."""
    native = Native(kernel(name, kinds, result, to=to), target=target)
    n = columns[0].size
    for shift in (0, n // 3):
        memory = {f"x{i}": np.roll(c, shift) for i, c in enumerate(columns)}
        memory |= {"out": np.zeros(n + 3, DTYPES[result]), "n": n}
        check(native, memory, 0, n)
        check(native, memory, n // 2, n - 1)


@pytest.mark.parametrize(("name", "kind"), SAME_TYPE)
def test_a_primitive_means_what_numpy_says(name, kind):
    primitive = PRIMITIVES[name]
    columns = legal(name, operands(kind, primitive.arity))
    result = "i1" if primitive.result == "i1" else kind
    run(name, [kind] * primitive.arity, result, columns)


@pytest.mark.parametrize(
    ("name", "before", "after"), [(n, a, b) for n, ab in CONVERSIONS.items() for a, b in ab]
)
def test_a_conversion_means_what_numpy_says(name, before, after):
    (column,) = operands(before, 1)
    if name == "fptosi":
        limit = 2.0 ** (8 * DTYPES[after]().itemsize - 1)
        column = column[np.abs(column) < limit]
    run(name, [before], after, [np.resize(column, LANES)], to=after)


@pytest.mark.parametrize("kind", TYPES)
def test_select_takes_either_bits(kind):
    a, b = operands(kind, 2)
    chosen = np.arange(a.size) % 3 == 0
    run("select", ["i1", kind, kind], kind, [chosen, a, b])


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
@pytest.mark.parametrize("narrow", [False, True], ids=["own vectors", "without AVX-512"])
def test_scale2_rounds_once(kind, narrow):
    target = without_avx512() if narrow else None
    x, n = scale_cases(kind)
    run("scale2", [kind, kind], kind, [x, n], target=target)


@pytest.mark.parametrize("kind", ["f32", "f64"])
@pytest.mark.parametrize("narrow", [False, True], ids=["own vectors", "without AVX-512"])
def test_scale2_down_to_subnormals_rounds_once(kind, narrow):
    """Results around the smallest numbers, where a second rounding would show."""
    rng = np.random.default_rng(7)
    form = np.finfo(DTYPES[kind])
    bits = form.nmant
    size = 4000
    n = -rng.integers(1, 2 * bits + 30, size)
    exponent = rng.integers(form.minexp - bits - 2, form.minexp + 2, size) - n
    x = np.ldexp(1 + rng.random(size), exponent).astype(DTYPES[kind])
    target = without_avx512() if narrow else None
    run("scale2", [kind, kind], kind, [x, n.astype(DTYPES[kind])], target=target)


@pytest.mark.parametrize("narrow", [False, True], ids=["own vectors", "without AVX-512"])
def test_scale2_beyond_its_clamp_is_zero_or_infinite(narrow):
    n = np.array([252, 253, 300, 1e6, np.inf] * 4, np.float32)
    x = np.repeat(np.array([1.0, -1.0, 0.5, 3.0], np.float32), 5)
    target = without_avx512() if narrow else None
    run("scale2", ["f32", "f32"], "f32", [np.tile(x, 2), np.concatenate([n, -n])], target=target)


@pytest.mark.parametrize("kind", ["f32", "f64"])
def test_fma_of_random_operands_rounds_once(kind):
    rng = np.random.default_rng(3)
    n = 600
    a, b = (np.ldexp(rng.standard_normal(n), rng.integers(-60, 60, n)) for _ in range(2))
    a, b = a.astype(DTYPES[kind]), b.astype(DTYPES[kind])
    c = (-a * b * (1 + rng.choice([0, 1e-7, 1e-16, 1.0], n))).astype(DTYPES[kind])
    run("fma", [kind] * 3, kind, [a, b, c])


@pytest.mark.parametrize("op", ["sdiv", "srem"])
def test_dead_lanes_never_divide(op):
    """They load zeros, and dividing by zero traps."""
    b = Builder()
    x, out = b.buffer("x", "i32"), b.buffer("out", "i32", written=True)
    n = b.scalar("n", "index")
    with b.lanes(0, n) as lanes:
        b.store(out, lanes.i, b.prim(op, 100, b.load(x, lanes.i)))
    native = Native(b.finish())
    x = np.arange(1, 4, dtype=np.int32)
    check(native, {"x": x, "out": np.zeros_like(x), "n": 3}, 0, 3)


def test_uniform_primitives_have_the_bits_of_lanes():
    """Scalar code for a uniform value, vectors for lanes: one result."""
    b = Builder()
    x, y = b.scalar("x", "f64"), b.scalar("y", "f64")
    u = b.buffer("u", "f64", written=True)
    v = b.buffer("v", "f64", written=True)

    def formula(a, c):
        d = b.fma(a, c, b.prim("sqrt", b.prim("abs", a)))
        e = b.prim("scale2", d, b.prim("rint", c))
        return b.select(b.prim("isnan", e), 0.0, b.prim("copysign", b.prim("floor", e), a) / c)

    with b.grid(1) as cell:
        b.store(u, cell.i, formula(x, y), stride=0)
        with b.lanes(0, 40) as lanes:
            b.store(v, lanes.i, formula(b.splat(x, "f64"), b.splat(y, "f64")))
    native = Native(b.finish())
    for a, c in itertools.product(SPECIAL["f64"][:8], (0.7, -3.2, 1000.0)):
        memory = {"x": a, "y": c, "u": np.zeros(1), "v": np.zeros(40)}
        seen = check(native, memory, 0, 1)
        assert np.array_equal(seen["v"], np.broadcast_to(seen["u"], 40), equal_nan=True)
